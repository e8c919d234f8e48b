"""Formulas of averages, functions that skip NaN, and differences (numpy/lib/_function_base_impl.py,
_nanfunctions_impl.py)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import _NoValue
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from tracebuf.frontends.numpy.functions.formulas.primitives import (
    argsort_of,
    divide_by_count,
    has_repeated_axis,
    is_array,
)
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


def skipping(a: Any) -> Any:
    """The array as NumPy reduces it: a copy, whose axes are in another order only where one is repeated."""
    a = np.asanyarray(a)
    return a.copy("K") if a.dtype.kind in "fc" and has_repeated_axis(a) else a


def replaced(a: Any, value: Any) -> Any:
    """The array with a number in place of NaN."""
    return np.where(np.isnan(a), value, a) if a.dtype.kind in "fc" else a


@formula(np.nansum)
def nansum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = _NoValue, initial: Any = _NoValue,
    where: Any = _NoValue,
) -> Any:  # fmt: skip
    return np.sum(replaced(skipping(a), 0), axis, dtype, out, keepdims, initial, where)


@formula(np.nanprod)
def nanprod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = _NoValue, initial: Any = _NoValue,
    where: Any = _NoValue,
) -> Any:  # fmt: skip
    return np.prod(replaced(skipping(a), 1), axis, dtype, out, keepdims, initial, where)


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
    a = skipping(a)
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
    a = skipping(a)
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


@formula(np.gradient)
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: Any = 1) -> Any:
    f = np.asanyarray(f)
    axes = tuple(range(f.ndim)) if axis is None else normalize_axis_tuple(axis, f.ndim)
    if len(varargs) == 0:
        steps = (1.0,) * len(axes)
    elif len(varargs) == 1 and np.ndim(varargs[0]) == 0:
        steps = varargs * len(axes)
    elif len(varargs) == len(axes):
        steps = tuple([distances(f.shape[k], x) for k, x in zip(axes, varargs)])
    else:
        raise TypeError("invalid number of arguments")
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    dtype = f.dtype if f.dtype.kind in "fc" else np.dtype(np.float64)
    if f.dtype.kind in "iu":
        f = f.astype(np.float64)
    found = [gradient_along(f, k, step, dtype, edge_order) for k, step in zip(axes, steps)]
    return found[0] if len(axes) == 1 else tuple(found)


def distances(n: Any, x: Any) -> Any:
    """The spacing along an axis of n elements: a number, or the differences of the coordinates."""
    if np.ndim(x) == 0:
        return x
    x = np.asanyarray(x)
    if x.ndim != 1:
        raise ValueError("distances must be either scalars or 1d")
    if len(x) != n:
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    if n < 2:
        raise IndexError("index 0 is out of bounds for axis 0 with size 0")
    return np.diff(x.astype(np.float64) if x.dtype.kind in "iu" else x)


def gradient_along(f: Any, axis: Any, step: Any, dtype: Any, edge_order: Any) -> Any:
    """The derivative along one axis; equal distances become one number, as in NumPy."""
    if f.shape[axis] < edge_order + 1:
        text = "Shape of array too small to calculate a numerical gradient, "
        raise ValueError(text + "at least (edge_order + 1) elements are required.")
    out = np.empty_like(f, dtype=dtype)
    f, inner = np.moveaxis(f, axis, -1), np.moveaxis(out, axis, -1)
    if np.ndim(step) == 0:
        evenly(inner, f, step, edge_order)
    elif np.all(step == step[0]):
        evenly(inner, f, step[0], edge_order)
    else:
        unevenly(inner, f, step, edge_order)
    return out


def evenly(out: Any, f: Any, h: Any, edge_order: Any) -> None:
    """Stores the differences of points at the equal distance `h`, along the last axis."""
    out[..., 1:-1] = (f[..., 2:] - f[..., :-2]) / (2.0 * h)
    if edge_order == 1:
        out[..., 0] = (f[..., 1] - f[..., 0]) / h
        out[..., -1] = (f[..., -1] - f[..., -2]) / h
    else:
        out[..., 0] = -1.5 / h * f[..., 0] + 2.0 / h * f[..., 1] + -0.5 / h * f[..., 2]
        out[..., -1] = 0.5 / h * f[..., -3] + -2.0 / h * f[..., -2] + 1.5 / h * f[..., -1]


def unevenly(out: Any, f: Any, h: Any, edge_order: Any) -> None:
    """Stores the differences of points at the distances `h`, along the last axis."""
    p, q = h[:-1], h[1:]
    a, b, c = -q / (p * (p + q)), (q - p) / (p * q), p / (q * (p + q))
    out[..., 1:-1] = a * f[..., :-2] + b * f[..., 1:-1] + c * f[..., 2:]
    if edge_order == 1:
        out[..., 0] = (f[..., 1] - f[..., 0]) / h[0]
        out[..., -1] = (f[..., -1] - f[..., -2]) / h[-1]
        return
    p, q = h[0], h[1]
    a, b, c = -(2.0 * p + q) / (p * (p + q)), (p + q) / (p * q), -p / (q * (p + q))
    out[..., 0] = a * f[..., 0] + b * f[..., 1] + c * f[..., 2]
    p, q = h[-2], h[-1]
    a, b, c = q / (p * (p + q)), -(q + p) / (p * q), (2.0 * q + p) / (q * (p + q))
    out[..., -1] = a * f[..., -3] + b * f[..., -2] + c * f[..., -1]
