"""Operators with a container or an object as operand: a list beside an array becomes an array, as in NumPy; an object's
special methods are inlined.

Limitations: operators of NumPy's on objects (arrays of objects) are refused.
"""

from __future__ import annotations

import ast
import dataclasses
import operator
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.creation import asarray
from tracebuf.frontends.numpy.arrays.new_arrays import as_array
from tracebuf.frontends.numpy.arrays.reshape import ViewOrCopy
from tracebuf.frontends.numpy.call.containers import is_named_tuple
from tracebuf.frontends.numpy.interpreter import dicts, records, text_questions
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.interpreter.lists import calls as list_calls
from tracebuf.frontends.numpy.interpreter.lists import groups, growing, keyed, references
from tracebuf.frontends.numpy.numbers.scalars import BINARY, SPECIAL, SWAPPED, compare
from tracebuf.frontends.numpy.paths.choices import asked_for_none
from tracebuf.frontends.numpy.paths.identity import same_thing
from tracebuf.frontends.numpy.record.callees import Drawer, NestedFunction, SetOfOne, Text
from tracebuf.frontends.numpy.record.cond import ends
from tracebuf.frontends.numpy.record.growing import is_growing, is_inner
from tracebuf.frontends.numpy.record.heap import DictView, GroupRef, Record, is_groups
from tracebuf.frontends.numpy.record.raises import Raises, ask
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.refusals import name_of
from tracebuf.frontends.numpy.record.scalar_checks import check_origin
from tracebuf.frontends.numpy.record.values import (
    NUMBERS,
    ArrayRef,
    Env,
    NpScalar,
    PyBool,
    PyComplex,
    PyFloat,
    PyInt,
    Scalar,
    is_traced,
)

RESHAPE = np.reshape  # somebody may replace NumPy's functions later
CONTAINERS = (list, tuple, dict, DictView, Record)
"""The classes of containers and objects."""
NUMPYS = (NpScalar, np.number, np.bool_)
"""The classes of NumPy's numbers, whose operators take a list or tuple for an array."""


def is_operand(x: Any) -> bool:
    """Whether a value is a container or an object, whose operators are looked up here."""
    return isinstance(x, CONTAINERS)


def method(i: Evaluator, node: ast.AST, x: Any, name: str) -> Any:
    """A special method of an object; None if its class has none."""
    if not isinstance(x, (Record, tuple)) or type(x) is tuple:
        return None
    kind = records.kind_of_object(x)
    found = records.in_class(kind.__mro__, f"__{name}__")
    if isinstance(x, Record):
        records.keeps(i, kind, f"__{name}__")
    if isinstance(found, NestedFunction):
        return records.from_class(i, node, x, found, f"__{name}__")
    if not isinstance(found, Callable) or not hasattr(found, "__code__"):  # type: ignore[arg-type]
        return None
    return records.from_class(i, node, x, found, f"__{name}__")


SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "** or pow()",
    "matmul": "@", "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>", "lt": "<", "le": "<=", "gt": ">",
    "ge": ">=",
}  # fmt: skip
"""By special method: its operator, as Python's TypeErrors have it."""


def operate(i: Evaluator, node: ast.AST, name: str, a: Any, b: Any) -> Any:
    """a OP b; NotImplemented where no operand is a container or an object."""
    if isinstance(a, Record) or isinstance(b, Record) or is_named_tuple(a) or is_named_tuple(b):
        found = by_methods(i, node, SPECIAL[name], "r" + SPECIAL[name], a, b)
        if found is not NotImplemented:
            return found
    if name == "Mult" and any(isinstance(x, (list, tuple)) for x in (a, b)):
        a, b = (list_calls.times_numpys(i, node, x) if isinstance(x, NUMPYS) else x for x in (a, b))
    if any(isinstance(x, (ArrayRef, *NUMPYS)) for x in (a, b)) and any(isinstance(x, (list, tuple)) for x in (a, b)):
        check_origin(i.r, a, b)  # Python's numbers do not take a list for an array
        if name == "MatMult" and not any(isinstance(x, ArrayRef) for x in (a, b)):
            raise Raises(TypeError(f"unsupported operand type(s) for @: '{name_of(a)}' and '{name_of(b)}'"))
        pairs = ((a, b), (b, a))
        return i.operate(name, *(listed(i.r, x, y) if isinstance(x, (list, tuple)) else x for x, y in pairs))
    if name == "Mult" and isinstance(a, (int, PyInt)) and isinstance(b, (list, tuple, str)):
        a, b = b, a
    if name == "Mult" and isinstance(b, PyInt) and isinstance(a, (list, tuple, str)):
        if not i.r.entry_only(b.expr):
            i.note_growth(a)
        elif type(a) is list and i.r.growth.leaves(i.r.in_this_call(b.expr)):
            i.note_growth(a)
            raise i.r.refuse("a list is as long as an int says", "make an array, for example np.zeros(n)")
        b = i.r.static_int(b.expr, "the number of repetitions")
    if is_traced(a) or is_traced(b) or isinstance(a, Record) or isinstance(b, Record):
        return NotImplemented
    if name == "Mult" and isinstance(a, (tuple, str)):
        return ask(operator.mul, a, b)
    plain = (list, dict) if name in ("Add", "Mult") else dict if name == "BitOr" else ()
    if not (isinstance(a, plain) or isinstance(b, plain)) or any(map(is_number_of_numpy, (a, b))):
        return NotImplemented
    return i.own(ask(BINARY[name][0], a, b))


def listed(r: Recorder, x: Any, other: Any) -> ArrayRef:
    """The array of a list or tuple that is an operand beside an array or a number of NumPy's."""
    return as_array(r, x, other.dtype) if isinstance(other, (ArrayRef, *NUMPYS)) else asarray(r, x)


def as_sets(a: Any, b: Any) -> tuple[Any, Any]:
    """Operands, with the set of the keys in the place of each view of a dict's keys, if the other is a set or view."""
    sets = (set, frozenset, DictView)
    if not (isinstance(a, sets) and isinstance(b, sets)):
        return a, b
    first, second = (set(x.of) if isinstance(x, DictView) and x.sort == "keys" and type(x.of) is dict else x
                     for x in (a, b))  # fmt: skip
    return first, second


def is_number_of_numpy(x: Any) -> bool:
    """Whether a value is of a NumPy type, whose operators would make an array of an object."""
    return hasattr(type(x), "__array_interface__")


def by_methods(i: Evaluator, node: ast.AST, first: str, second: str, a: Any, b: Any) -> Any:
    """The result of an operator by the special methods of two objects."""
    if any(isinstance(x, (ArrayRef, NpScalar)) for x in (a,)):
        reason = f"an operator of NumPy's on an object ({records.kind_of_object(b).__name__})"
        raise i.r.refuse(reason, "put the object on the left, or use its arrays")
    for owner, other, name in in_order(a, b, first, second, overridden=True):
        found = method(i, node, owner, name)
        if found is not None:
            result = i.call(node, found, [other], {})
            if result is not NotImplemented:
                return result
    asked = any(isinstance(x, Record) and has_code(x, n) for x, n in ((a, first), (b, second)))
    if asked and all(isinstance(x, Record) or is_plain_number(x) for x in (a, b)):
        raise Raises(TypeError(f"unsupported operand type(s) for {SIGNS[first]}: '{name_of(a)}' and '{name_of(b)}'"))
    known = (Record, Scalar, int, float, str, list, dict, tuple, type(None))
    if not all(isinstance(x, known) and not isinstance(x, NpScalar) for x in (a, b)):
        raise i.r.refuse("an operator on an object", "use its numbers and arrays")
    return NotImplemented


def in_order(a: Any, b: Any, first: str, second: str, overridden: bool) -> list[tuple[Any, Any, str]]:
    """The special methods of two operands in the order in which Python asks them: of b first where its class is derived
    from that of a (and overrides the method, if `overridden`), which then is not asked among objects of one class."""
    asked = [(a, b, first), (b, a, second)]
    if isinstance(a, Record) and isinstance(b, Record):
        ours, theirs = records.kind_of_object(a), records.kind_of_object(b)
        if overridden and ours is theirs:
            return asked[:1]
        found = [records.in_class(kind.__mro__, f"__{second}__") for kind in (ours, theirs)]
        if ours is not theirs and issubclass(theirs, ours) and not (overridden and found[0] is found[1]):
            return asked[::-1]
    return asked


def augmented(i: Evaluator, node: ast.AST, name: str, old: Any, right: Any) -> Any:
    """old OP= right in place, for lists, dicts and objects; NotImplemented for other values."""
    if isinstance(old, list) and not isinstance(right, ArrayRef):
        if name == "Add" and not isinstance(right, NUMPYS):
            dicts.extend(i, node, old, right)
            return old
        if name == "Mult":
            items = operate(i, node, name, old, right)
            i.change(node, old)
            old[:] = items
            return old
    if isinstance(old, dict) and name == "BitOr":
        dicts.update(i, node, old, right)
        return old
    if isinstance(old, Record) and (found := method(i, node, old, "i" + SPECIAL[name])) is not None:
        return i.call(node, found, [right], {})
    return NotImplemented


def compared(i: Evaluator, node: ast.AST, name: str, a: Any, b: Any) -> Any:
    """a == b, a < b ...; NotImplemented where no operand is a container or an object."""
    sequences = [isinstance(x, (list, tuple)) for x in (a, b)]
    if any(sequences) and any(isinstance(x, (ArrayRef, *NUMPYS)) for x in (a, b)):
        check_origin(i.r, a, b)
        pairs = ((a, b), (b, a))
        return compare(i.r, name, *(listed(i.r, *pair) if of else pair[0] for of, pair in zip(sequences, pairs)))
    if not any(isinstance(x, (Record, dict, DictView)) for x in (a, b)):
        return NotImplemented
    first, second = SPECIAL[name], SWAPPED.get(SPECIAL[name], SPECIAL[name])
    for owner, other, special in in_order(a, b, first, second, overridden=False):
        result = by_method(i, node, owner, special, other)
        if result is not NotImplemented:
            return result
    if any(x is None or isinstance(x, str) for x in (a, b)) and name in ("Eq", "NotEq"):
        return name == "NotEq"
    if any(is_plain_number(x) for x in (a, b)) and name in ("Eq", "NotEq"):
        if any(isinstance(x, (dict, DictView)) or (isinstance(x, Record) and by_identity(x)) for x in (a, b)):
            return name == "NotEq"
    if all(isinstance(x, Record) and by_identity(x) for x in (a, b)) and name in ("Eq", "NotEq"):
        same = same_thing(i.r, a, b)
        return same if name == "Eq" or isinstance(same, PyBool) else not same
    if name in ("Eq", "NotEq") and all(isinstance(x, Record) and is_generated(x, "eq") for x in (a, b)):
        if a.kind is not b.kind:
            return name == "NotEq"
        if sys.version_info < (3, 13):  # later, items are not compared as those of tuples are
            names = [f.name for f in dataclasses.fields(a.kind) if f.compare]
            return i.compared(node, name, *(tuple(i.attribute(node, x, n) for n in names) for x in (a, b)))
    if name not in ("Eq", "NotEq") and any(isinstance(x, Record) and has_code(x, first) for x in (a, b)):
        text = f"'{SIGNS[first]}' not supported between instances of '{name_of(a)}' and '{name_of(b)}'"
        raise Raises(TypeError(text))
    raise i.refuse(node, "a comparison of objects or dicts", "compare their items")


def by_method(i: Evaluator, node: ast.AST, owner: Any, special: str, other: Any) -> Any:
    """The result of a comparison by an object's own method; NotImplemented where it has none. Without `__ne__` it is
    the opposite of what `__eq__` gives."""
    if not isinstance(owner, Record):
        return NotImplemented
    found, negated = method(i, node, owner, special), False
    if found is None and special == "ne":
        found, negated, special = method(i, node, owner, "eq"), True, "eq"
    if found is None or is_generated(owner, special):
        return NotImplemented
    result = i.call(node, found, [other], {})
    if not negated or result is NotImplemented:
        return result
    known = i.truth(node, result)
    return not known if isinstance(known, bool) else i.negate(known)


def is_plain_number(x: Any) -> bool:
    """Whether a value is a number of Python's."""
    return isinstance(x, (bool, int, float, complex, PyBool, PyInt, PyFloat, PyComplex)) and not is_number_of_numpy(x)


def is_generated(x: Record, special: str) -> bool:
    """Whether a special method is one that `dataclass` made."""
    code = getattr(records.in_class(x.kind.__mro__, f"__{special}__"), "__code__", None)
    return code is not None and code.co_filename == "<string>"


def has_code(x: Record, special: str) -> bool:
    """Whether the class of an object has a special method written in Python, which has been asked."""
    found = records.in_class(x.kind.__mro__, f"__{special}__")
    return isinstance(found, NestedFunction) or (hasattr(found, "__code__") and not is_generated(x, special))


def by_identity(x: Record) -> bool:
    """Whether the equality of an object is its identity: its class has no `__eq__`, or one that gave NotImplemented."""
    return has_code(x, "eq") or "__eq__" not in {n for c in x.kind.__mro__[:-1] for n in vars(c)}


def signed(i: Evaluator, node: ast.AST, name: str, a: Any) -> Any:
    """-a, +a or ~a of an object."""
    found = method(i, node, a, SPECIAL[name])
    return NotImplemented if found is None else i.call(node, found, [], {})


def truth_of(i: Evaluator, node: ast.AST, a: Any) -> Any:
    """A value with the truth of an object or of a view of a dict, whose truth is known."""
    if isinstance(a, GroupRef):
        return i.compared(node, "NotEq", groups.length(i, node, a), 0)
    if is_inner(a):
        return i.compared(node, "NotEq", references.length(i, a), 0)
    if (view := keyed.view_in(a)) is not None:
        return i.compared(node, "NotEq", growing.length(view[0]), 0)
    if isinstance(a, DictView) and is_groups(a.of):
        return truth_of(i, node, a.of)
    if isinstance(a, DictView):
        return bool(a.items())
    if isinstance(a, records.Variables):
        return bool(a.of.fields)
    if is_growing(a):
        return list_calls.truth(i, node, a)
    if isinstance(a, Text):
        return text_questions.truth(i, node, a)
    for name in ("bool", "len"):
        found = method(i, node, a, name) if isinstance(a, Record) else None
        if found is not None:
            return records.checked(i, node, a, f"__{name}__", i.call(node, found, [], {}))
    return True if isinstance(a, (Record, Drawer, SetOfOne)) else a


def holds(i: Evaluator, node: ast.expr, env: Env) -> bool | PyBool:
    """The truth of an expression: the operands of `and`, `or` and `not` in it count by their truth only, so that they
    may be of any types."""
    if isinstance(node, ast.BoolOp):
        return holds_in_turn(i, node, node.values, env)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        known = holds(i, node.operand, env)
        return (not known) if isinstance(known, bool) else i.negate(known)
    if (asked := asked_for_none(node)) is not None:
        value, name = i.any_expr(asked.left, env), type(asked.ops[0]).__name__
        i.at(node)
        if not all(x is None or isinstance(x, (Scalar, *NUMBERS)) for x in ends(value)):
            return i.truth(node, i.by_type(node, (value,), env, lambda x: i.compared(asked, name, x, None)))
        known = same_thing(i.r, value, None)  # no number equals None: which it is is known, as after `is`
        return known if name == "Eq" else (not known) if isinstance(known, bool) else i.negate(known)
    value = i.any_expr(node, env)
    i.at(node)
    return i.truth(node, i.by_type(node, (value,), env, lambda x: i.truth(node, x)))


def holds_in_turn(i: Evaluator, node: ast.BoolOp, values: Sequence[ast.expr], env: Env) -> bool | PyBool:
    """The truth of `and` or `or`; evaluates no more operands than Python would (rule F1)."""
    first = holds(i, values[0], env)
    if len(values) == 1:
        return first
    known, stops = i.decided(values[0], first), isinstance(node.op, ast.Or)
    if isinstance(known, bool):
        return known if known == stops else holds_in_turn(i, node, values[1:], env)
    arms: list[Callable[[Env], Any]] = [lambda _: stops, lambda inner: holds_in_turn(i, node, values[1:], inner)]
    return i.truth(node, i.choose(node, known, arms if stops else arms[::-1], env))


def reshape_to_read(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """A call whose result is only read as an operand: where only the run time knows whether a reshape is a view, a copy
    serves as well (of one axis: the order of several would be visible in the result's)."""
    try:
        return i.call(node, function, args, kwargs)
    except ViewOrCopy:
        if function is not RESHAPE and getattr(function, "name", "") != "reshape" or "copy" in kwargs:
            raise
        made = i.call(node, function, args, {**kwargs, "copy": True})
        if made.ndim > 1:
            raise
        return made
