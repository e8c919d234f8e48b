"""Formulas of averages, functions that skip NaN, and differences (numpy/lib/_function_base_impl.py,
_nanfunctions_impl.py)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import _NoValue
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from tracebuf.frontends.numpy.functions.formulas.primitives import argsort_of, divide_by_count, is_array
from tracebuf.frontends.numpy.record.registry import formula


def along(axis: int, index: Any) -> Any:
    """The index that applies `index` to one axis."""
    return (slice(None),) * axis + (index, ...)


# -- averages


def weights_of(a: Any, axis: Any, weights: Any) -> Any:
    """The weights, broadcast to the shape of the array."""
    w = np.asanyarray(weights)
    if w.ndim == a.ndim and a.shape == w.shape:
        return w
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    if w.ndim != len(axis) or w.shape != tuple([a.shape[k] for k in axis]):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    w = w.transpose(argsort_of(axis))
    return w[tuple([slice(None) if k in axis else None for k in range(a.ndim)])]


@formula(np.average)
def average(
    a: Any, axis: Any = None, weights: Any = None, returned: Any = False, *, keepdims: Any = _NoValue
) -> Any:
    a = np.asanyarray(a)
    if axis is not None:
        axis = normalize_axis_tuple(axis, a.ndim, argname="axis")
    if weights is None:
        mean = np.mean(a, axis, keepdims=keepdims)
        scale = mean.dtype.type(a.size / np.size(mean))
    else:
        w = weights_of(a, axis, weights)
        dtype = np.result_type(a.dtype, w.dtype, "f8") if a.dtype.kind in "iub" else np.result_type(a.dtype, w.dtype)
        scale = np.sum(w, axis=axis, dtype=dtype, keepdims=keepdims)
        if np.any(scale == 0.0):
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        mean = np.sum(np.multiply(a, w, dtype=dtype), axis, keepdims=keepdims) / scale
    if not returned:
        return mean
    if is_array(mean) and np.shape(scale) != mean.shape:
        scale = np.broadcast_to(scale, mean.shape).copy()
    return mean, scale


# -- functions that skip NaN


def replaced(a: Any, value: Any) -> Any:
    """The array with a number in place of NaN."""
    return np.where(np.isnan(a), value, a) if a.dtype.kind in "fc" else a


@formula(np.nansum)
def nansum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = _NoValue, initial: Any = _NoValue,
    where: Any = _NoValue,
) -> Any:  # fmt: skip
    return np.sum(replaced(np.asanyarray(a), 0), axis, dtype, out, keepdims, initial, where)


@formula(np.nanprod)
def nanprod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = _NoValue, initial: Any = _NoValue,
    where: Any = _NoValue,
) -> Any:  # fmt: skip
    return np.prod(replaced(np.asanyarray(a), 1), axis, dtype, out, keepdims, initial, where)


def copy_without(a: Any, value: Any) -> Any:
    """A copy with a number in place of NaN, in the axis order of NumPy's copy: what is computed from it keeps that
    order."""
    if a.dtype.kind not in "fc":
        return a
    made = np.empty_like(a)
    made[...] = replaced(a, value)
    return made


@formula(np.nancumsum)
def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return np.cumsum(copy_without(np.asanyarray(a), 0), axis, dtype, out)


@formula(np.nancumprod)
def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return np.cumprod(copy_without(np.asanyarray(a), 1), axis, dtype, out)


def check_inexact(dtype: Any, out: Any) -> None:
    """Raises TypeError for a result whose dtype has no NaN."""
    if dtype is not None and np.dtype(dtype).kind not in "fc":
        raise TypeError("If a is inexact, then dtype must be inexact")
    if out is not None and out.dtype.kind not in "fc":
        raise TypeError("If a is inexact, then out must be inexact")


@formula(np.nanmean)
def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = _NoValue, *, where: Any = _NoValue
) -> Any:
    a = np.asanyarray(a)
    if a.dtype.kind not in "fc":
        return np.mean(a, axis, dtype, out, keepdims, where=where)
    check_inexact(dtype, out)
    count = np.sum(~np.isnan(a), axis, np.intp, None, keepdims, where=where)
    total = np.sum(replaced(a, 0), axis, dtype, out, keepdims, where=where)
    return divide_by_count(total, count, out)


@formula(np.nanvar)
def nanvar(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = _NoValue, *,
    where: Any = _NoValue, mean: Any = _NoValue, correction: Any = _NoValue,
) -> Any:  # fmt: skip
    a = np.asanyarray(a)
    if a.dtype.kind not in "fc":
        return np.var(a, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction)
    check_inexact(dtype, out)
    if correction is not _NoValue:
        if ddof != 0:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        ddof = correction
    count = np.sum(~np.isnan(a), axis, np.intp, None, True, where=where)
    if mean is _NoValue:
        mean = divide_by_count(np.sum(replaced(a, 0), axis, dtype, None, True, where=where), count)
    distance = np.where(np.isnan(a), 0, np.asarray(np.subtract(a, mean)).astype(a.dtype))
    squares = (distance * np.conj(distance)).real if a.dtype.kind == "c" else distance * distance
    total = np.sum(squares, axis, dtype, out, keepdims, where=where)
    if keepdims is _NoValue or not keepdims:
        count = np.squeeze(count, None if axis is None else normalize_axis_tuple(axis, a.ndim))
    left = count - ddof
    found = divide_by_count(total, left, out)
    made = np.where(left <= 0, np.nan, found)
    if out is not None:
        out[...] = made
        return out
    return made if is_array(found) else made[()]


@formula(np.nanstd)
def nanstd(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = _NoValue, *,
    where: Any = _NoValue, mean: Any = _NoValue, correction: Any = _NoValue,
) -> Any:  # fmt: skip
    return np.sqrt(nanvar(a, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction), out=out)


@formula(np.nanargmax)
def nanargmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = _NoValue) -> Any:
    a = np.asanyarray(a)
    if a.dtype.kind not in "fc":
        return np.argmax(a, axis, out, keepdims=keepdims)
    found = np.argmax(np.where(np.isnan(a), -np.inf, a), axis, out, keepdims=keepdims)
    if np.any(np.all(np.isnan(a), axis=axis)):
        raise ValueError("All-NaN slice encountered")
    return found


@formula(np.nanargmin)
def nanargmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = _NoValue) -> Any:
    a = np.asanyarray(a)
    if a.dtype.kind not in "fc":
        return np.argmin(a, axis, out, keepdims=keepdims)
    found = np.argmin(np.where(np.isnan(a), np.inf, a), axis, out, keepdims=keepdims)
    if np.any(np.all(np.isnan(a), axis=axis)):
        raise ValueError("All-NaN slice encountered")
    return found


# -- differences


@formula(np.ediff1d)
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    a = np.ravel(ary)
    if to_begin is None and to_end is None:
        return a[1:] - a[:-1]
    parts = []
    for name, part in (("to_begin", to_begin), ("", a), ("to_end", to_end)):
        if not name:
            parts.append(a[1:] - a[:-1])
        elif part is not None:
            part = np.asanyarray(part)
            if not np.can_cast(part.dtype, a.dtype, "same_kind"):
                raise TypeError(f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule.")
            parts.append(part.ravel())
    return np.concatenate(parts, dtype=a.dtype)


@formula(np.unwrap)
def unwrap(p: Any, discont: Any = None, axis: Any = -1, *, period: Any = 2 * np.pi) -> Any:
    p = np.asarray(p)
    if p.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    axis = normalize_axis_index(axis, p.ndim)
    difference = np.diff(p, axis=axis)
    if discont is None:
        discont = period / 2
    dtype = np.result_type(difference, period)
    high, ambiguous = period / 2, True
    if dtype.kind in "iu":
        high, ambiguous = period // 2, period % 2 == 0
    low = -high
    turned = np.mod(difference - low, period) + low
    if ambiguous:
        turned = np.where((turned == low) & (difference > 0), high, turned)
    correction = np.where(np.abs(difference) < discont, 0, turned - difference)
    made = np.array(p, copy=True, dtype=dtype)
    later = along(axis, slice(1, None))
    made[later] = p[later] + np.cumsum(correction, axis)
    return made


# -- np.gradient


