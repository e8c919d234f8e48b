"""Formulas of np.interp, np.digitize, np.place (arr_interp, arr__monotonicity and arr_place in
numpy/_core/src/multiarray/compiled_base.c) and np.choose."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.functions.formulas.primitives import (
    as_vector,
    interpolated,
    is_own,
    place_apart,
    taken_as_it_is,
    values_for,
)
from tracebuf.frontends.numpy.functions.host.left_to_numpy import interp_by_numpy
from tracebuf.frontends.numpy.record.registry import formula


def check_safe(dtype: Any) -> None:
    """TypeError where what NumPy computes with in float64 cannot be cast to it safely."""
    if not np.can_cast(dtype, np.float64):
        raise TypeError(f"Cannot cast array data from {dtype!r} to dtype('float64') according to the rule 'safe'")


@formula(np.interp)
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    if np.asarray(fp).dtype.kind == "c":
        return interp_by_numpy(x, xp, fp, left, right, period)
    if period is None:  # with one, NumPy discards imaginary parts; of numbers it does
        check_safe(np.asarray(xp).dtype)
        if np.ndim(x):
            check_safe(np.asarray(x).dtype)
    x, xp, fp = np.asarray(x, np.float64, order="C"), np.asarray(xp, np.float64), np.asarray(fp, np.float64)
    if period is not None:
        if period == 0:
            raise ValueError("period must be a non-zero value")
        if xp.ndim != 1 or fp.ndim != 1:
            raise ValueError("Data points must be 1-D sequences")
        if xp.shape[0] != fp.shape[0]:
            raise ValueError("fp and xp are not of the same length")
        period, left, right = abs(period), None, None
        x, xp = x % period, xp % period
        order = np.argsort(xp)
        xp, fp = xp[order], fp[order]
        xp = np.concatenate((xp[-1:] - period, xp, xp[0:1] + period))
        fp = np.concatenate((fp[-1:], fp, fp[0:1]))
    if xp.ndim != 1 or fp.ndim != 1:
        raise ValueError("object too deep for desired array")
    n = xp.shape[0]
    if n == 0:
        raise ValueError("array of sample points is empty")
    if n != fp.shape[0]:
        raise ValueError("fp and xp are not of the same length.")
    low, high = fp[0] if left is None else left, fp[-1] if right is None else right
    if n == 1:
        return np.where(x < xp[0], low, np.where(x > xp[0], high, fp[0]))[()]
    return interpolated(x, xp, fp, low, high)


@formula(np.digitize)
def digitize(x: Any, bins: Any, right: Any = False) -> Any:
    x, bins = np.asarray(x), np.asarray(bins)
    if x.dtype.kind == "c":
        raise TypeError("x may not be complex")
    check_safe(bins.dtype)
    edges = bins.astype(np.float64, copy=False)
    if edges.ndim != 1:
        raise ValueError(f"object {'too deep' if edges.ndim else 'of too small depth'} for desired array")
    side: Any = "left" if right else "right"
    before, after = edges[:-1], edges[1:]
    if np.any(before < after):
        # the first two that differ tell which way the edges should go
        first = np.argmax(before != after)
        if np.any(before > after) or not before[first] < after[first]:
            raise ValueError("bins must be monotonically increasing or decreasing")
        place = np.searchsorted(bins, x, side)
    elif np.all(before == after):
        place = np.searchsorted(bins, x, side)
    else:
        place = len(bins) - np.searchsorted(bins[::-1], x, side)
    return place


@formula(np.choose)
def choose(a: Any, choices: Any, out: Any = None, mode: Any = "raise") -> Any:
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    which, count = np.asarray(a), len(choices)
    if not np.can_cast(which.dtype, np.intp):
        raise TypeError(f"Cannot cast array data from {which.dtype!r} to dtype('int64') according to the rule 'safe'")
    dtype = np.result_type(*choices)
    shape = np.broadcast_shapes(which.shape, *[np.shape(x) for x in choices])
    if out is not None and out.shape != shape:
        raise TypeError("choose: invalid shape for output array.")
    choices = [np.asarray(x).astype(dtype, copy=False) for x in choices]
    if mode == "clip":
        which = np.minimum(np.maximum(which, 0), count - 1)
    elif mode == "wrap":
        which = which % count
    elif math.prod(shape) > 0 and np.any((which < 0) | (which >= count)):  # of what is repeated no time, nothing
        raise ValueError("invalid entry in choice array")
    result = np.asarray(choices[count - 1])
    for k in range(count - 2, -1, -1):
        result = np.where(which == k, choices[k], result)
    made = np.empty(shape, dtype) if out is None else out
    made[...] = result
    return made[()] if out is None or not made.ndim else out


@formula(np.place)
def place(arr: Any, mask: Any, vals: Any) -> None:
    if not (is_own(arr, mask) or is_own(arr, vals)) or not arr.flags.writeable or not taken_as_it_is(arr, arr.dtype):
        place_apart(arr, mask, vals)
        return
    if arr.size != np.size(mask):
        raise ValueError("place: mask and data must be the same size")
    held, here, given = as_vector(arr), in_one_row(arr, mask, bool), in_one_row(arr, values_for(arr, vals), arr.dtype)
    if not given.size:
        if np.count_nonzero(here):
            raise ValueError("Cannot insert from an empty array!")
        return
    j = 0
    for i in range(held.size):  # reads elements that it has just written, of the values and of the mask
        if here[i]:
            held[i] = given[j]
            j = j + 1 if j + 1 < given.size else 0


def in_one_row(arr: Any, x: Any, dtype: Any) -> Any:
    """The elements of `x` as NumPy has them while it stores to `arr`: its own, or as they were before."""
    if is_own(arr, x):
        if x.flags.writeable and taken_as_it_is(x, dtype):  # what may not be written NumPy copies
            return as_vector(x)
        return x.astype(dtype).ravel()
    return np.asarray(x, dtype).ravel()
