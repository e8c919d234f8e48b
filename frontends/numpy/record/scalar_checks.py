"""Conditions on scalars, as ops: the building blocks of the front end's checks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.record.conditions import either, negation
from tracebuf.frontends.numpy.record.raises import Raises, call_as
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import UNSURE_TYPES, NpScalar, PyBool
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, sub
from tracebuf.ir.types import F64
from tracebuf.location import Location
from tracebuf.ops.scalars import arith

FLAGS = frozenset((
    "keepdims", "endpoint", "retstep", "sparse", "copy", "rowvar", "bias", "equal_nan", "returned", "right", "invert",
    "full_matrices", "compute_uv", "hermitian", "return_index", "return_inverse", "return_counts", "density", "upper",
    "assume_unique", "subok", "unbiased", "include_initial", "optimize",
))  # fmt: skip
"""The names of those parameters of NumPy's functions that are flags: True or False, known while tracing."""


def static_flags(r: Recorder, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The keyword arguments with every flag known: a guard fixes one that is an argument of the caller's."""
    decided = {
        k: known
        for k, x in kwargs.items()
        if k in FLAGS and isinstance(x, PyBool) and x.nonneg is not None
        if (known := r.ask_nonneg(x.nonneg)) is not None
    }
    return {**kwargs, **decided} if decided else kwargs


class UnknownOrigin(UnsupportedError):
    """The refusal of a number of which only the run time knows whether it is Python's or NumPy's. What only computes
    with numbers is traced again where it is met, once for each (`by_type` of the interpreter)."""


def unknown_origin(loc: Location, instead: str = "give it one type on all paths, for example np.float64(0)",
                   reason: str = "") -> UnknownOrigin:  # fmt: skip
    """The refusal; another reason where the question is which function computes it."""
    reason = reason or "this number is Python's or NumPy's, depending on the path; here it makes a difference"
    return UnknownOrigin(reason, location=loc, instead=instead)


def check_origin(r: Recorder, *numbers: Any) -> None:
    """Refuses numbers of which only the run time knows whether they are Python's or NumPy's."""
    if any(isinstance(x, NpScalar) and x.python is not None for x in numbers):
        raise unknown_origin(r.loc)


def origins(x: NpScalar) -> list[Any]:
    """Stand-ins for what a number is that may be Python's or NumPy's: NumPy's first."""
    return [x.dtype.type(0), *(kind() for kind in (() if x.python is None else UNSURE_TYPES[x.python.kind]))]


def by_origin(r: Recorder, x: NpScalar, ask: Callable[[Any], bool]) -> bool | PyBool:
    """The answer to a question about a number's type: a condition, where it depends on whether it is Python's."""
    numpys, *pythons = map(ask, origins(x))
    if all(answer == numpys for answer in pythons):
        return numpys
    if x.python is None or numpys in pythons:
        raise unknown_origin(r.loc)
    return PyBool(negation(r, x.python.flag) if numpys else x.python.flag)


def as_reached(handler: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps `handler(r, ...)` so that what Python or NumPy raises for its operands is raised where and when it is
    reached (rule F3): a branch that is not taken raises nothing, and an earlier error wins."""

    @wraps(handler)
    def run(r: Recorder, *args: Any, **kwargs: Any) -> Any:
        try:
            return call_as(None, handler, (r,), args, kwargs)
        except Raises as said:
            if said.placed:
                raise
            operands = [x for a in args for x in (a if isinstance(a, (tuple, list)) else (a,))]
            if any(isinstance(x, NpScalar) and x.maybe_python for x in operands):
                raise unknown_origin(r.loc) from None
            r.fail(said.error)

    return run


def compare_floats(r: Recorder, predicate: str, a: Value, b: Value | float) -> Value:
    """a OP b on f64; predicate: oeq, une, olt, ole, ogt, oge, uno."""
    other = b if isinstance(b, Value) else r.constant(b, F64)
    return r.emit(arith.CmpF.of(predicate, a, other))


def is_nan(r: Recorder, x: Value) -> Value:
    """Whether a float is NaN."""
    return compare_floats(r, "uno", x, x)


def is_number(r: Recorder, x: Value) -> Value:
    """Whether a float is not NaN."""
    return compare_floats(r, "oeq", x, x)


def is_infinite(r: Recorder, x: Value) -> Value:
    """Whether a float is an infinity."""
    return compare_floats(r, "oeq", r.emit(arith.AbsF.of(x)), math.inf)


def is_finite(r: Recorder, x: Value) -> Value:
    """Whether a float is neither NaN nor an infinity."""
    return compare_floats(r, "olt", r.emit(arith.AbsF.of(x)), math.inf)


def or_empty(r: Recorder, ok: Value, sizes: Iterable[Dim]) -> Value:
    """The condition, or that one of the sizes is 0."""
    for size in sizes:
        if not r.facts.nonneg(sub(size, 1)):
            ok = either(r, ok, r.compare("eq", size, 0))
    return ok


def require_nonzero(r: Recorder, value: Value, message: str) -> None:
    """ZeroDivisionError where a Python divisor is 0."""
    op = value.defining_op
    if isinstance(op, arith.Constant):
        if op.attrs["value"] == 0:
            r.fail("ZeroDivisionError", message)
        return
    r.check(compare_floats(r, "une", value, 0.0), "ZeroDivisionError", message)


def choose(r: Recorder, condition: Value, *arms: Callable[[], Value]) -> Value:
    """The scalar of the first arm if the condition holds, else that of the second; only one is computed."""
    return r.either(condition, lambda side: [arms[side]()])[0]
