"""What a name may hold where paths meet: kinds of numbers, the leaves of containers, and when two bindings are equal.

A tuple or list is joined and carried item by item: its *leaves* are numbers, arrays and anything else. `Maybe` is the
value of a name that is bound on some paths only; a value whose type is path-dependent is a `Cond`, which may be
returned, or used after a test that decides the type (paths/choices).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.call.containers import attributes_of, is_named_tuple
from tracebuf.frontends.numpy.call.static import exact
from tracebuf.frontends.numpy.numbers.operands import scalar_value
from tracebuf.frontends.numpy.numbers.python_ints import is_exactly
from tracebuf.frontends.numpy.record.cond import Cond, ways_of
from tracebuf.frontends.numpy.record.conditions import both, either, negation
from tracebuf.frontends.numpy.record.heap import Fixed, Record, items_of, with_items
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.regions import RAISED
from tracebuf.frontends.numpy.record.scalar_checks import compare_floats, is_nan
from tracebuf.frontends.numpy.record.values import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    ArrayRef,
    Kind,
    NpScalar,
    PyBool,
    PyComplex,
    PyFloat,
    PyInt,
    Scalar,
    Unsure,
    kind_of,
)
from tracebuf.frozen import plain
from tracebuf.ir.core import Value
from tracebuf.ir.types import F64, I1, ScalarType

JUMP, RETURN = "<jump>", "<return>"
"""Names that only the tracer binds: how the statements traced so far ended, and what the function returns."""
GO_ON, CONTINUE, BREAK, LEAVE, DONE = range(5)
"""How a block of statements ended: at its end, by `continue`, by `break` or by `return`; DONE: by the loop's
condition."""


@plain(eq=False)
class Maybe:
    """The value of a name that is bound on some paths only: those where `bound` (a PyBool or a bool) is True. `left`:
    it is unbound only where the loop has been left. `otherwise`: None, or the number, that it is where an array or
    container is not bound (`without_maybes`)."""

    bound: Any
    value: Any
    left: bool = False
    otherwise: Any = None


def stands_by(x: Any) -> bool:
    """Whether a value may be there in place of an array: None, or a number."""
    return x is None or is_number(x)


def as_maybe(r: Recorder, x: Any) -> Maybe | None:
    """A container that is None on the other paths, or an array that is None or a number there, as a `Maybe`; None for
    anything else."""
    if type(x) is not Cond or not any(map(stands_by, x.arms)):
        return None
    side = 1 if stands_by(x.arms[0]) else 0
    value, otherwise = x.arms[side], x.arms[1 - side]
    if not (isinstance(value, ArrayRef) or (otherwise is None and is_container(value))):
        return None
    return Maybe(PyBool(negation(r, x.condition) if side else x.condition), value, otherwise=otherwise)


def with_maybes(r: Recorder, x: Any, like: Any) -> Any:
    """A value with what may not be there as a `Maybe`, where `like` has one."""
    if isinstance(like, Maybe):
        found, otherwise = x if isinstance(x, Maybe) else as_maybe(r, x), like.otherwise
        if found is None:
            there = not same_value(x, otherwise)
            return Maybe(there, x if there else like.value, otherwise=otherwise)
        return found if found.otherwise is otherwise or same_value(found.otherwise, otherwise) else x
    if type(like) is tuple and type(x) is tuple and len(x) == len(like):
        return tuple(with_maybes(r, a, b) for a, b in zip(x, like))
    return x


def without_maybes(x: Any) -> Any:
    """A value whose `Maybe`s are None, or another value that stands by, where they are not bound."""
    if type(x) is tuple:
        return tuple(map(without_maybes, x))
    if not isinstance(x, Maybe):
        return x
    if isinstance(x.bound, bool):
        return x.value if x.bound else x.otherwise
    return choice(x.bound.value, x.value, x.otherwise)


def choice(condition: Value, then: Any, otherwise: Any, leaving: int | None = None) -> Cond[Any]:
    """A path-dependent value of different types; `leaving`: the side that has left the loop."""
    return Cond(condition, then, otherwise, ways_of(ways(then), ways(otherwise)), leaving)


def ways(x: Any) -> int:
    """The paths by which a value is one thing or another; of a container, those of all its items."""
    if isinstance(x, Cond):
        return x.ways
    return sum(map(ways, items_of(x))) if is_container(x) else 1


def unify(a: Kind | None, b: Kind | None) -> Kind | None:
    """The kind that both kinds widen to, or None. A Python number beside a NumPy one is marked (see
    `NpScalar.python`)."""
    if a is None or b is None or a == b:
        return a if a == b else None
    if a.name == b.name == "np":
        alike = a.element is b.element and not (a.python and b.python)
        return Kind("np", a.element, a.python or b.python) if alike else None
    python, numpy = (a, b) if b.name == "np" else (b, a)
    if numpy.name != "np":
        return None
    if numpy.element.is_complex:
        fits = python in (INT, FLOAT, COMPLEX)
    else:
        fits = python in (INT, FLOAT) if numpy.element.is_float else python is BOOL and numpy.element is I1
    fits = fits or (python is INT and numpy.element.is_integer)
    return Kind("np", numpy.element, python.name) if fits and numpy.python in ("", python.name) else None


def unify_values(r: Recorder, a: Any, b: Any) -> Kind | None:
    """`unify` of what two values are; None also where NumPy's type does not hold the value of a Python float."""
    kind = unify(kind_of(a), kind_of(b))
    if kind is None or kind.python != "float" or kind.element is F64:
        return kind
    return kind if is_exactly(r, a, kind.element) and is_exactly(r, b, kind.element) else None


def to_value(r: Recorder, x: Any, kind: Kind) -> Value:
    """A number as an SSA value of a kind."""
    if kind is INT:
        return r.index(x.expr if isinstance(x, PyInt) else int(x))
    if kind.python and kind.element is not I1 and not is_exactly(r, x, kind.element):
        reason = f"a Python number that {kind.element.dtype} may not hold exactly is bound to the name of one"
        if kind.element.is_float and isinstance(x, (PyInt, PyFloat)):
            r.check(holds_exactly(r, x, kind.element), UnsupportedError, reason)
        else:
            instead = f"start it as np.{kind.element.dtype.name}(...)"
            r.doubt(r.refuse(reason, instead))
    return scalar_value(r, x, kind.element)


def holds_exactly(r: Recorder, x: PyInt | PyFloat, element: ScalarType) -> Value:
    """Whether a float type represents this value exactly, tested at run time."""
    if isinstance(x, PyInt):
        limit = 2 ** (np.finfo(element.dtype).nmant + 1)
        return both(r, r.compare("sge", x.expr, -limit), r.compare("sle", x.expr, limit))
    back = scalar_value(r, NpScalar(scalar_value(r, x, element), element), F64)
    return either(r, compare_floats(r, "oeq", back, x.value), is_nan(r, x.value))


def to_values(r: Recorder, x: Any, kind: Kind) -> list[Value]:
    """A number as the SSA values that stand for one of this kind (`Kind.types`)."""
    return [python_flag(r, x), to_value(r, x, kind)] if kind.python else [to_value(r, x, kind)]


def python_flag(r: Recorder, x: Any) -> Value:
    """The flag (i1) that eager has a Python number here, for a number of an unsure kind."""
    if isinstance(x, NpScalar) and x.python is not None:
        return x.python.flag
    return r.constant(not isinstance(x, (NpScalar, np.generic)), I1)


def from_values(r: Recorder, values: Sequence[Value], kind: Kind, name: str) -> Any:
    """The traced number for the SSA values that stand for it."""
    if kind == INT:
        shown = name if name == JUMP or name.isidentifier() else "length"  # of a list, which has no name
        bounds = {JUMP: (GO_ON, DONE), RAISED: (0,)}
        return PyInt(r.symbol(values[0], shown, *bounds.get(name, ())))
    if kind.name == "np":
        return NpScalar(values[-1], kind.element, Unsure(values[0], kind.python) if kind.python else None)
    return {FLOAT: PyFloat, COMPLEX: PyComplex, BOOL: PyBool}[kind](values[0])


def zeros(r: Recorder, kind: Kind) -> list[Value]:
    """A placeholder number that is never read, as the SSA values that stand for it."""
    return [zero(r, element) for element in kind.types]


def zero(r: Recorder, element: ScalarType) -> Value:
    """A zero of an element type."""
    return r.constant(element.dtype.type(0).item() if element is not I1 else False, element)


def same_value(a: Any, b: Any) -> bool:
    """Whether two bindings are interchangeable: the same object, reference, expression or plain value."""
    if a is b:
        return True
    if isinstance(a, ArrayRef) and isinstance(b, ArrayRef):
        return isinstance(a, Cond) and a.same_object(b)
    if isinstance(a, PyInt) and isinstance(b, PyInt):
        return a.expr == b.expr
    if isinstance(a, NpScalar) and isinstance(b, NpScalar):
        return a.value is b.value and a.python == b.python
    if isinstance(a, (PyFloat, PyComplex, PyBool)) and type(a) is type(b):
        return a.value is b.value
    if is_container(a) and is_container(b):
        return bool(structure(a) == structure(b)) and all(same_value(x, y) for x, y in zip(items_of(a), items_of(b)))
    plain = (bool, int, float, complex, str, type(None), np.dtype, np.generic, slice)
    return type(a) is type(b) and isinstance(a, plain) and repr(a) == repr(b)


def is_container(x: Any) -> bool:
    """Whether a value is joined and carried item by item; an object of the caller's is one leaf."""
    kind = type(x)  # `in` would ask for ==, which a class of classes may define
    if kind is tuple or kind is list or kind is dict:
        return True
    return x.actual is None if isinstance(x, Record) else is_named_tuple(x)


def parts(x: Any) -> Sequence[Any] | None:
    """What a value consists of, one level deep: the items of a container, or what is there on some paths; None for a
    leaf."""
    if isinstance(x, (tuple, list, dict, Record)):
        return items_of(x)
    return (x.value,) if isinstance(x, Maybe) else x.arms if type(x) is Cond else None


def leaves(x: Any) -> Iterator[Any]:
    """The numbers, arrays and other values that a value consists of, in order."""
    inside = parts(x)
    if inside is None:
        yield x
    else:
        for part in inside:
            yield from leaves(part)


def containers_in(x: Any) -> Iterator[Any]:
    """The containers in a value, itself among them."""
    if isinstance(x, (tuple, list, dict, Record)):
        yield x
    for part in (x.of,) if isinstance(x, Fixed) else parts(x) or ():
        yield from containers_in(part)


def parts_of(x: Any) -> Iterator[Any]:
    """The leaves of a value as `structure` counts them: a path-dependent value is one leaf."""
    if is_container(x):
        for item in items_of(x):
            yield from parts_of(item)
    elif isinstance(x, Maybe):
        yield x.bound
        yield from parts_of(x.value)
    else:
        yield x


def carried_parts(x: Any) -> list[Any]:
    """What a loop carries for a name, one by one: whether it is bound, if that is in doubt, and the leaves."""
    return list(parts_of(x))


def shell(x: Any) -> Any:
    """A container without its items: its type, length, keys."""
    if not is_container(x):
        return None
    if isinstance(x, Record):
        return x.kind, *x.known
    return type(x), tuple(map(exact, x)) if isinstance(x, dict) else (len(x), *attributes_of(x))


def structure(x: Any) -> Any:
    """How a value is composed of its leaves; equal for values that can be carried leaf by leaf."""
    if isinstance(x, Maybe):
        return Maybe, structure(x.value)
    return (shell(x), tuple(structure(i) for i in items_of(x))) if is_container(x) else None


def rebuild(like: Any, parts: Iterator[Any]) -> Any:
    """A value of the structure of `like` with other leaves."""
    if isinstance(like, Maybe):
        return Maybe(next(parts), rebuild(like.value, parts), otherwise=like.otherwise)
    return with_items(like, [rebuild(i, parts) for i in items_of(like)]) if is_container(like) else next(parts)


def path_dependent(r: Recorder, name: str, what: str) -> UnsupportedError:
    """The refusal of a name whose type depends on the path taken."""
    plain = name if name.isidentifier() else "x"
    shown = f"`{name}`" if name.isidentifier() else "this value"
    instead = {
        "values of different types": f"give {shown} one type on all paths, for example 1.0 in place of None, "
        "or use it inside of the branches",
    }.get(what, f"begin with an array of its own, {plain} = {plain}.copy(), or store into one: {plain}[...] = ...")
    if r.growth.made and what == "values of different types":
        instead += "; the array of a list that may be empty is of float64 unless its dtype is given: "
        instead += "np.array(items, dtype=...)"
    what = what.replace("types", "types or numbers of axes")
    return r.refuse(f"{shown} is bound to {what}, depending on the path", instead)


def check_one_type(r: Recorder, *values: Any, name: str = "<value>") -> None:
    """Refuses what is of different types on different paths."""
    if any(type(x) is Cond for x in values):
        r.growth.unlike = r.growth.made
        raise path_dependent(r, name, "values of different types")


def is_number(x: Any) -> bool:
    """Whether a value is a number, traced or not."""
    return isinstance(x, Scalar) or kind_of(x) is not None
