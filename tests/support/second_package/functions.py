"""The package's functions, which are NumPy when they run eagerly, and ops in a traced function."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracebuf.extend import ArrayRef, Tracing, traced_as

from .ops import Evens, Lerp, Ranked


def lerp(x: Any, y: Any, w: float) -> Any:
    """x at w = 0, y at w = 1."""
    return x + w * (y - x)


@traced_as(lerp)
def _(t: Tracing, x: ArrayRef, y: ArrayRef, w: Any) -> ArrayRef:
    a, b = (t.tensor(v, dtypes=(np.float64, np.float32)) for v in (x, y))
    t.same_shape(x, y)
    if x.dtype != y.dtype or t.dtype_of(x, w) != x.dtype:
        raise t.refuse("lerp of different dtypes", "convert the arguments: y.astype(x.dtype)")
    order = t.order_of(x, y)
    out = t.empty(x.shape, x.dtype, order)
    return t.array_of(t.add(Lerp.of(a, b, t.scalar(w, x.dtype), out, t.loc)).result, order)


def ranked(x: Any) -> Any:
    """The elements in order."""
    return np.sort(x)


@traced_as(ranked)
def _(t: Tracing, x: ArrayRef) -> ArrayRef:
    if isinstance(x, ArrayRef) and not x.ndim:
        t.fail(np.exceptions.AxisError, "axis -1 is out of bounds for array of dimension 0")
    value = t.tensor(x, ndim=1)
    return t.array_of(t.add(Ranked.of(value, t.empty(x.shape, x.dtype), t.loc)).result)


def evens(x: Any) -> Any:
    """The elements 0 and 2 of a vector of four."""
    return lerp(x[:4:2], x[:4:2], 0.0)


@traced_as(evens)
def _(t: Tracing, x: ArrayRef) -> ArrayRef:
    value = t.tensor(x, ndim=1, dtypes=(np.float64,))
    if x.shape != (4,):
        raise t.refuse("evens of a vector of another size than four", "pass x[:4]")
    part = t.add(Evens.of(value, 2, t.loc)).result
    out = t.empty((2,), np.float64)
    zero = t.scalar(0.0, np.float64)
    return t.array_of(t.add(Lerp.of(part, part, zero, out, t.loc)).result)
