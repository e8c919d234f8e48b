"""Operators, and calls of functions that are not the user's, with growing lists."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.new_arrays import as_it_is
from tracebuf.frontends.numpy.call import talk
from tracebuf.frontends.numpy.functions.formulas import prelude
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.interpreter.lists import arrays, cursors, growing, order
from tracebuf.frontends.numpy.paths.iteration import OneShotIterator, reversed_of
from tracebuf.frontends.numpy.record.callees import made_text
from tracebuf.frontends.numpy.record.growing import (
    Elements,
    Form,
    Several,
    Texts,
    filled,
    form_in,
    is_growing,
    python_of,
)
from tracebuf.frontends.numpy.record.heap import Record
from tracebuf.frontends.numpy.record.raises import NO_ITEMS, Raises
from tracebuf.frontends.numpy.record.scalar_checks import unknown_origin
from tracebuf.frontends.numpy.record.values import NpScalar, PyBool, PyInt

METHODS: dict[str, Callable[..., Any]] = {**growing.METHODS, **order.METHODS}
"""By name of the method of a list: its handler."""
ITERATING = (sum, min, max, any, all, enumerate, zip, map, filter, reduce)
"""Builtins that go through the items of a list once, at once or while nothing has changed it."""
HANDED_ON = (itertools.groupby,)
"""Those that take such lists as they are."""


def operate(i: Evaluator, node: ast.AST, name: str, a: Any, b: Any) -> Any:
    """`a OP b` of lists, of which one is such a list, or of one and an int; NotImplemented for anything else."""
    check_lists(i, node, a, b)
    if name == "Add" and all(is_growing(x) or type(x) is list for x in (a, b)):
        made = growing.copy(i, node, a) if is_growing(a) else growing.begin(i, form_in(b), a)
        growing.extend(i, node, made, b)
        return made
    if name == "Mult":
        x, times = (a, b) if is_growing(a) else (b, a)
        if isinstance(times, (NpScalar, np.generic)):
            times = times_numpys(i, node, times)
        if isinstance(times, (int, PyInt)):
            return growing.repeated(i, node, x, times)
    return NotImplemented


def repeats(i: Evaluator, node: ast.AST, x: Record, times: Any) -> bool:
    """`x *= times` of such a list, in place; False for what is no list, or not repeated."""
    if isinstance(times, (NpScalar, np.generic)):
        times = times_numpys(i, node, times)
    if python_of(x) is not list or not isinstance(times, (int, PyInt)):
        return False
    growing.repeat(i, node, x, times)
    return True


def times_numpys(i: Evaluator, node: ast.AST, number: NpScalar | np.generic) -> Any:
    """How often a number of NumPy's repeats a list or tuple: an int does, as an int of Python's would."""
    dtype = number.element.dtype if isinstance(number, NpScalar) else number.dtype
    if dtype.kind in "iu":
        return i.call(node, int, [number], {})
    if isinstance(number, NpScalar) and number.maybe_python:
        raise unknown_origin(i.r.loc)
    raise Raises(TypeError(f"can't multiply sequence by non-int of type 'numpy.{dtype.name}'"))


def compared(i: Evaluator, node: ast.AST, name: str, a: Any, b: Any) -> Any:
    """`a == b` and `a != b` of lists, of which one is such a list; NotImplemented for anything else."""
    if name not in ("Eq", "NotEq") or not all(is_growing(x) or type(x) is list for x in (a, b)):
        return NotImplemented
    check_lists(i, node, a, b)
    x, other = (a, b) if is_growing(a) else (b, a)
    if not is_growing(other) and other:
        other = growing.begin(i, form_in(x), other)
    if not is_growing(other):
        equal = i.compared(node, "Eq", growing.length(x), 0)
    else:
        if not same_parts(form_in(x), form_in(other)):
            raise i.refuse(node, "an equality of lists of unlike items", "compare the items one by one")
        columns = [order.comparable(i, node, y) for y in (x, other)]
        given = [*columns, growing.length(x), growing.length(other)]
        equal = i.truth(node, i.call_function(prelude.are_equal, given, {}))
    return equal if name == "Eq" else i.negate(equal) if isinstance(equal, PyBool) else not equal


def check_lists(i: Evaluator, node: ast.AST, *values: Any) -> None:
    """Refuses operators on deques and tuples."""
    for x in values:
        if is_growing(x) and python_of(x) is not list:
            raise i.refuse(node, f"an operator on a {python_of(x).__name__} of run-time length", "use list(x)")


def same_parts(a: Form, b: Form) -> bool:
    """Whether items consist of as many numbers in the same tuples."""
    if isinstance(a, Several) and isinstance(b, Several):
        return a.of is b.of and len(a.parts) == len(b.parts) and all(map(same_parts, a.parts, b.parts))
    return not isinstance(a, Several) and not isinstance(b, Several)


def truth(i: Evaluator, node: ast.AST, x: Record) -> Any:
    """The truth of a list."""
    return i.compared(node, "NotEq", growing.length(x), 0)


def takes(function: Any, given: Sequence[Any]) -> bool:
    """Whether a call is one of those made here: with such lists among its arguments. What takes the items of a list in
    turn takes one whose items are such lists as it takes any."""
    shows = getattr(function, "__name__", "") == "format" and isinstance(getattr(function, "__self__", None), str)
    if shows or any(function is f for f in HANDED_ON):
        return False
    if any(function is f for f in ITERATING):
        return any(map(is_growing, given))
    return arrays.among(given)


def call(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any], numpys: bool) -> Any:
    """A call of a function that is not the user's, with such lists among its arguments. `numpys`: whether it is
    NumPy's."""
    first = args[0] if args else None
    if function is len and len(args) == 1 and not kwargs and is_growing(first):
        return growing.length(first)
    if function is list and len(args) == 1 and not kwargs and is_growing(first):
        return growing.copy(i, node, first)
    if function is tuple and len(args) == 1 and not kwargs and is_growing(first):
        return growing.sliced(i, node, first, slice(None), tuple)
    if getattr(function, "__name__", "") == "join" and isinstance(of := getattr(function, "__self__", None), str):
        if len(args) == 1 and not kwargs and is_growing(first) and isinstance(form := form_in(first), Texts):
            columns = [as_it_is(i.r, column) for column in filled(i.r.facts, first)]
            return made_text(talk.joined_texts, [of, form.rows, *columns])
    if function is bool and len(args) == 1 and not kwargs and is_growing(first):
        return truth(i, node, first)
    if function is isinstance and len(args) == 2 and is_growing(first) and not arrays.among(args[1:]):
        return isinstance(python_of(first)(), args[1])
    if function is type and len(args) == 1 and is_growing(first):
        return python_of(first)
    if function is sorted and len(args) == 1 and is_growing(first) and kwargs.keys() <= {"key", "reverse"}:
        return order.ordered(i, node, first, **kwargs)
    if function is reversed and len(args) == 1 and not kwargs and is_growing(first):
        found = reversed_of(i.r, growing.items(i, first))
        return OneShotIterator("reversed", lambda _: found, i.r.frame)
    if function is sum and 1 <= len(args) <= 2 and kwargs.keys() <= {"start"} and is_growing(first):
        if isinstance(form_in(first), Elements):
            start = args[1] if len(args) == 2 else kwargs.get("start", 0)
            (column,) = filled(i.r.facts, first)
            return i.call_function(prelude.sum_of_arrays, [column, growing.length(first), start], {})
    extreme = (function is min or function is max) and len(args) == 1 and kwargs.keys() <= {"default"}
    if extreme and is_growing(first) and isinstance(form_in(first), Several):
        return order.extreme(i, node, function, first, **kwargs)
    by_key = (function is min or function is max) and len(args) == 1 and kwargs.keys() == {"key"}
    if by_key and kwargs["key"] is not None and is_growing(first):
        given = [first, function is max, f"{function.__name__}{NO_ITEMS}", kwargs["key"]]
        return growing.item(i, node, first, i.call_function(prelude.place_of_extreme, given, {}))
    if function is iter and len(args) == 1 and not kwargs and is_growing(first):
        return cursors.begin(i, "iterator", growing.items(i, first), of=first)
    if function is itertools.pairwise and len(args) == 1 and not kwargs and is_growing(first):
        return i.call_function(prelude.pairwise_of, [first], {})
    if function is itertools.accumulate and is_growing(first):
        return accumulated(i, *args, **kwargs)
    direct = ITERATING if isinstance(function, type) or callable(function) else ()
    if any(function is f for f in direct):
        return i.call(node, function, [growing.iterator(i, x) for x in args], kwargs)
    if numpys:
        return arrays.call(i, node, function, args, kwargs)
    name = getattr(function, "__name__", "this")
    raise i.refuse(node, f"a call of {name} with a list whose length is only known at run time", "use np.array(x)")


def accumulated(i: Evaluator, items: Any, func: Any = None, *, initial: Any = None) -> Any:
    """itertools.accumulate(items, func, initial=initial) of such a list."""
    f = prelude.plus if func is None else func
    if initial is None:
        return i.call_function(prelude.accumulate_of, [items, f], {})
    return i.call_function(prelude.accumulate_from, [items, f, initial], {})
