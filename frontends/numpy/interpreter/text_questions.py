"""What is asked of texts that only the run time knows: their length, letters, order, truth, numbers in them. Each
question is a call of Python's on the text, where the program comes there."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any

from tracebuf.frontends.numpy.interpreter import talk
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.numbers.python_ints import as_int_value
from tracebuf.frontends.numpy.paths.iteration import Items
from tracebuf.frontends.numpy.record.callees import Partial, Text, made_text, text_of_loop
from tracebuf.frontends.numpy.record.conditions import both, either
from tracebuf.frontends.numpy.record.values import PyBool, PyInt
from tracebuf.ir.dims import neg
from tracebuf.ir.types import F64, I1, I64, ScalarType
from tracebuf.running.kept import call_method

COMPARISONS: dict[str, Callable[..., Any]] = {
    "Eq": operator.eq, "NotEq": operator.ne, "Lt": operator.lt, "LtE": operator.le, "Gt": operator.gt,
    "GtE": operator.ge,
}  # fmt: skip
METHODS: dict[str, ScalarType] = {
    "startswith": I1, "endswith": I1, "isdigit": I1, "isalpha": I1, "isalnum": I1, "isupper": I1, "islower": I1,
    "isspace": I1, "isnumeric": I1, "isdecimal": I1, "find": I64, "rfind": I64, "count": I64, "index": I64,
    "rindex": I64,
}  # fmt: skip
"""By name of a method of str that gives a number: the type of that."""
FUNCTIONS: tuple[tuple[Callable[..., Any], ScalarType], ...] = ((int, I64), (float, F64), (ord, I64))
"""Builtins that make a number of a text, with the type of that."""


def compared(i: Evaluator, node: ast.AST, name: str, a: Any, b: Any) -> Any:
    """a == b, a < b ... of texts of which one is not known; NotImplemented for anything else."""
    if name not in COMPARISONS or not any(isinstance(x, Text) for x in (a, b)):
        return NotImplemented
    if not all(isinstance(x, (str, Text)) for x in (a, b)):
        return NotImplemented
    return talk.say(i, node, COMPARISONS[name], [a, b], {}, I1)


def contains(i: Evaluator, node: ast.AST, items: Any, x: Any) -> Any:
    """`x in items` of texts, or of a tuple or list of such; NotImplemented for anything else."""
    if isinstance(x, Text) and type(items) in (tuple, list) and items and all(type(t) is str for t in items):
        return PyBool(either(i.r, *(compared(i, node, "Eq", item, x).value for item in items)))
    if not all(isinstance(t, (str, Text)) for t in (items, x)):
        return NotImplemented
    return talk.say(i, node, operator.contains, [items, x], {}, I1)


def truth(i: Evaluator, node: ast.AST, x: Text) -> bool | PyBool:
    """Whether a text has a letter."""
    if any(isinstance(part, str) and part for part in x.parts):
        return True
    found: PyBool = talk.say(i, node, bool, [x], {}, I1)
    return found


def length(i: Evaluator, node: ast.AST, x: Text) -> PyInt:
    """len(x)."""
    found: PyInt = talk.say(i, node, len, [x], {}, I64)
    i.r.facts.assume_nonneg(found.expr, entry=False)
    return found


def letters(i: Evaluator, node: ast.AST, x: Text) -> Items:
    """What a loop over a text goes through. The text is made once."""
    whole = text_of_loop(i.r.keep_text(x))
    return Items(length(i, node, whole).expr, lambda k: made_text(operator.getitem, [whole, as_int_value(k)]), [whole])


def part(i: Evaluator, node: ast.AST, x: Text, index: Any) -> Any:
    """x[index] of an int or a slice of ints; NotImplemented for other indices."""
    if isinstance(index, slice):
        bounds = index.start, index.stop, index.step
        known = all(b is None or isinstance(b, (int, PyInt)) for b in bounds) and not isinstance(index.step, PyInt)
        return made_text(part_of, [x, *bounds]) if known and index.step != 0 else NotImplemented
    if not isinstance(index, (int, PyInt)):
        return NotImplemented
    n, k = length(i, node, x).expr, index.expr if isinstance(index, PyInt) else int(index)
    within = both(i.r, i.r.compare("sge", k, neg(n)), i.r.compare("slt", k, n))
    i.r.check(within, IndexError, "string index out of range")
    return made_text(operator.getitem, [x, index])


def part_of(text: str, start: int | None, stop: int | None, step: int | None) -> str:
    """text[start:stop:step]."""
    return text[start:stop:step]


def method(base: Any, name: str) -> Any:
    """A method of a text that gives a number; NotImplemented for anything else."""
    return Partial(getattr(str, name), (base,), {}) if isinstance(base, Text) and name in METHODS else NotImplemented


def call(i: Evaluator, node: ast.AST, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """A call that asks something of a text; NotImplemented for other calls."""
    if not args or kwargs or not any(isinstance(x, Text) for x in args):
        return NotImplemented
    if not all(isinstance(x, (str, Text, int, PyInt)) for x in args):
        return NotImplemented
    if function is len and len(args) == 1:
        return length(i, node, args[0])
    if function is bool and len(args) == 1:
        return truth(i, node, args[0])
    for asked, element in FUNCTIONS:
        if function is asked:
            return talk.say(i, node, asked, args, {}, element)
    name = getattr(function, "__name__", "")
    if name in METHODS and function is getattr(str, name, None):
        return talk.say(i, node, call_method, [args[0], name, *args[1:]], {}, METHODS[name])
    return NotImplemented
