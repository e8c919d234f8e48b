"""Python's sum, min, max, any and all of an array, which iterate over its elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.functions.reductions.reduce import Fold, fold, reduce
from tracebuf.frontends.numpy.numbers.bodies import Body
from tracebuf.frontends.numpy.numbers.operands import BOOL
from tracebuf.frontends.numpy.numbers.python_complex import lexicographic
from tracebuf.frontends.numpy.numbers.rules import apply_rule
from tracebuf.frontends.numpy.numbers.scalars import truth
from tracebuf.frontends.numpy.record import refusals
from tracebuf.frontends.numpy.record.conditions import both, either
from tracebuf.frontends.numpy.record.raises import NO_ITEMS, Raises
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.registry import traces
from tracebuf.frontends.numpy.record.values import ArrayRef, NpScalar, PyBool, Unsure, is_traced
from tracebuf.ir.core import Value
from tracebuf.ir.dims import sub
from tracebuf.ir.types import F64, I1, I64
from tracebuf.ops.arrays import linalg
from tracebuf.ops.scalars import arith

EXACT = 2**53
"""The largest int up to which each int is a float64."""


def vector(r: Recorder, name: str, a: ArrayRef) -> ArrayRef:
    """The array, if it is a vector; refused otherwise."""
    if not a.ndim:
        raise Raises(TypeError("iteration over a 0-d array"))
    if a.ndim > 1:
        raise r.refuse(f"{name}() of an array of more axes", f"np.{name}(a, axis=0)")
    return a


def sum_of_array(r: Recorder, a: ArrayRef, start: Any) -> Any:
    """sum(a): `start` where there is no element, else in the dtype that adding them one by one gives (rule C2)."""
    ref = vector(r, "sum", a)
    if is_traced(start) or not isinstance(start, (bool, int, float, complex)):
        raise r.refuse("sum() from this start", "start + np.sum(a)")
    filled = r.ask_nonneg(sub(ref.shape[0], 1))
    if filled is False:
        return start
    one = ref.dtype.type(1)
    first = type(start)(1) + one
    if not isinstance(first, np.generic):
        raise r.refuse("sum() from this start", "start + np.sum(a)")
    dtype = (first + one).dtype
    if first.dtype != dtype or dtype == np.float16:
        raise r.refuse(f"sum() of {ref.dtype}", "np.sum(a)")
    total = reduce(r, np.add, ref, Fold(dtype=dtype, initial=start))
    return total if filled else or_start(r, total, ref, start)


def or_start(r: Recorder, total: Any, ref: ArrayRef, start: bool | int | float | complex) -> NpScalar:
    """The sum of a vector that may be empty: there it is `start`, Python's number, of the same value; refused where the
    sum's type may not hold that."""
    held = {F64: (int, float), I64: (int,)}.get(total.element, ())
    if type(start) not in held or (type(start) is int and abs(start) > EXACT):
        raise r.refuse("sum() of what may be empty", "np.sum(a)")
    return NpScalar(total.value, total.element, Unsure(r.compare("eq", ref.shape[0], 0), type(start).__name__))


def extreme_of_array(r: Recorder, name: str, a: ArrayRef) -> NpScalar:
    """min(a) or max(a): the first element that no later one beats, so that a NaN in front stays."""
    ref = vector(r, name, a)
    r.require_nonneg(sub(ref.shape[0], 1), "ValueError", name + NO_ITEMS)
    ufunc = np.less if name == "min" else np.greater
    rest = ref.derive(lambda view: view.narrow(0, 1, 1, sub(view.sizes[0], 1)))

    def combine(body: Body, best: Value, args: Sequence[Value]) -> Value:
        if ref.element.is_complex:  # NumPy's scalars are compared, and not as its ufuncs compare
            better = lexicographic(body, "lt" if name == "min" else "gt", args[0], best)
        else:
            better = apply_rule(ufunc, body, [args[0], best], (ref.dtype, ref.dtype, BOOL))
        return body.add(arith.Select.of(better, args[0], best))

    found = fold(r, rest, [0], False, r.load(ref, (0,)), [(r.read(rest), linalg.identity_map(1))], combine)
    return NpScalar(r.load(found, ()), ref.element)


@traces(any, of="any")
@traces(all, of="all")
def truth_of_all(name: str, r: Recorder, items: Any) -> Any:
    """any() or all() of a vector, a tuple or a list."""
    if isinstance(items, ArrayRef):
        ufunc = np.logical_or if name == "any" else np.logical_and
        found = reduce(r, ufunc, vector(r, name, items), Fold(dtype=np.bool_))
        assert isinstance(found, NpScalar)
        return PyBool(found.value)
    if not isinstance(items, (tuple, list)):
        raise r.refuse(f"{name}() of a {refusals.name_of(items)}", f"np.{name}(a), or {name}() of a tuple")
    values: list[Value] = []
    for x in items:
        known = truth(r, x)
        if known is (name == "any"):
            return known
        if isinstance(known, PyBool):
            values.append(known.value)
    if not values:
        return name == "all"
    total = either(r, *values) if name == "any" else both(r, *values)
    assert total.type is I1
    return PyBool(total)
