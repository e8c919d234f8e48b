"""Formulas of ranges, grids and diagonals (numpy/_core/function_base.py, numpy/lib)."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from tracebuf.frontends.numpy.functions.formulas.primitives import (
    as_vector,
    broadcast_view,
    check_apart,
    check_writable,
    is_array,
    linspace_of_numbers,
    refuse,
    slice_range,
)
from tracebuf.frontends.numpy.record.registry import formula


@formula(np.linspace)
def linspace(
    start: Any, stop: Any, num: Any = 50, endpoint: Any = True, retstep: Any = False, dtype: Any = None,
    axis: Any = 0,
) -> Any:  # fmt: skip
    num = operator.index(num)
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    if start is None or stop is None:
        raise TypeError("unsupported operand type(s) for -: 'NoneType'")
    kind = np.result_type(start, stop)
    loop = np.dtype(np.float64) if kind.kind in "iub" else kind
    if loop == np.float64 and not is_array(start) and not is_array(stop):
        if axis != 0:
            normalize_axis_index(axis, 1)
        return linspace_of_numbers(as_double(start), as_double(stop), num, endpoint, retstep, dtype)
    start, stop = np.asanyarray(start), np.asanyarray(stop)
    delta = np.subtract(stop, start, dtype=loop)
    places = np.arange(0, num, dtype=loop)[(slice(None),) + (None,) * np.ndim(delta)]
    count, step = (num - 1 if endpoint else num), np.nan
    if count > 0:
        step = delta / count
        points = np.where(np.any(step == 0), places / count * delta, places * step) + start
    else:
        points = places * delta + start
    if endpoint and num > 1:
        points[-1, ...] = stop
    if axis != 0:
        points = np.moveaxis(points, 0, axis)
    if dtype is not None and np.dtype(dtype).kind in "iu":
        points = np.floor(points)
    points = points.astype(loop if dtype is None else dtype, copy=False)
    return (points, step) if retstep else points


def as_double(x: Any) -> Any:
    """A number as np.float64, unless it is a Python int or float."""
    return x if isinstance(x, (int, float)) and not isinstance(x, bool) else np.float64(x)


@formula(np.logspace)
def logspace(
    start: Any, stop: Any, num: Any = 50, endpoint: Any = True, base: Any = 10.0, dtype: Any = None, axis: Any = 0
) -> Any:
    if not isinstance(base, (float, int)) and np.ndim(base):
        most = max(np.ndim(start), np.ndim(stop), np.ndim(base))
        np.broadcast_shapes(np.shape(start), np.shape(stop), np.shape(base))  # or ValueError
        start, stop = np.array(start, copy=None, ndmin=most), np.array(stop, copy=None, ndmin=most)
        base = np.expand_dims(np.array(base, copy=None, ndmin=most), axis=axis)
    points = np.power(base, linspace(start, stop, num, endpoint, axis=axis))
    return points if dtype is None else points.astype(dtype, copy=False)


# -- grids


def laid(x: Any, axis: int, ndim: int) -> Any:
    """A vector along one of `ndim` axes."""
    return x[(None,) * axis + (slice(None),) + (None,) * (ndim - 1 - axis)]


def stacked(vectors: Any, sizes: Any, dtype: Any) -> Any:
    """For each vector, an array of the common shape that holds it along its axis."""
    n = len(vectors)
    made = np.empty((n, *sizes), dtype)
    for k, x in enumerate(vectors):
        made[k] = laid(x, k, n)
    return made


@formula(np.broadcast_arrays)
def broadcast_arrays(*args: Any, subok: Any = False) -> Any:
    arrays = [np.asanyarray(x) for x in args]
    shape = np.broadcast_shapes(*[x.shape for x in arrays])
    return tuple([x if x.ndim == len(shape) and x.shape == shape else broadcast_view(x, shape) for x in arrays])


def grid_step(part: Any) -> Any:
    """(start, step, size, the numbers that determine the dtype) of one slice of np.mgrid."""
    start, step = 0 if part.start is None else part.start, 1 if part.step is None else part.step
    if isinstance(step, complex):
        size = int(abs(step))
        if size == 1:
            return start, 1.0, size, (start, part.stop, abs(step))
        return start, (part.stop - start) / float(size - 1), size, (start, part.stop, abs(step))
    if isinstance(start, int) and isinstance(part.stop, int) and isinstance(step, int):
        size = -((start - part.stop) // step)
    else:
        size = math.ceil((part.stop - start) / step)
    return start, step, size, (start, part.stop, step)


def grid_steps(key: Any) -> Any:
    """`grid_step` of each slice of a tuple or list; NumPy takes one that it cannot count with for a single slice."""
    if any(isinstance(part, slice) and part.stop is None for part in key):
        raise AttributeError(f"'{type(key).__name__}' object has no attribute 'step'")
    return [grid_step(part) for part in key]


def mgrid(key: Any) -> Any:
    """np.mgrid[key]."""
    if not isinstance(key, (tuple, list)):
        return ranged(key)
    steps = grid_steps(key)
    dtype = np.result_type(0, *[x for step in steps for x in step[3]])
    vectors = [np.arange(size, dtype=dtype) * step + start for start, step, size, _ in steps]
    return stacked(vectors, [step[2] for step in steps], dtype)


def ogrid(key: Any) -> Any:
    """np.ogrid[key]."""
    if not isinstance(key, (tuple, list)):
        return ranged(key)
    steps = grid_steps(key)
    dtype = np.result_type(0, *[x for step in steps for x in step[3]])
    vectors = [np.arange(max(size, 0), dtype=dtype) * step + start for start, step, size, _ in steps]
    return tuple([laid(x, k, len(steps)) for k, x in enumerate(vectors)])


def ranged(part: Any) -> Any:
    """The grid of a single slice."""
    if isinstance(part.step, complex):
        start, step, size, kinds = grid_step(part)
        return np.arange(0, size, 1, dtype=np.result_type(*kinds)) * step + start
    return np.arange(0 if part.start is None else part.start, part.stop, 1 if part.step is None else part.step)


def joined_along(key: Any, columns: bool) -> Any:
    """np.r_[key], or np.c_[key] (`columns`)."""
    items, kinds = [], []
    for item in key if isinstance(key, tuple) else (key,):
        if isinstance(item, str):
            refuse("np.r_ and np.c_ with a directive", "np.concatenate, np.stack or np.block")
        elif isinstance(item, slice):
            start, step = 0 if item.start is None else item.start, 1 if item.step is None else item.step
            if isinstance(step, complex):
                item = linspace(start, item.stop, int(abs(step)))
            else:
                item = np.arange(start, item.stop, step)
        kinds.append(item.dtype if is_array(item) else np.asarray(item).dtype if np.ndim(item) else item)
        items.append(item)
    dtype = np.result_type(*kinds)
    arrays = [np.atleast_1d(np.asarray(x, dtype=dtype) if np.ndim(x) else np.array([x], dtype=dtype)) for x in items]
    if not columns:
        return np.concatenate(arrays)
    return np.concatenate([x[:, None] if x.ndim == 1 else x for x in arrays], axis=-1)


def rows(key: Any) -> Any:
    return joined_along(key, False)


def columns(key: Any) -> Any:
    return joined_along(key, True)


GRIDS: dict[Any, Callable[..., Any]] = {
    type(np.mgrid): mgrid, type(np.ogrid): ogrid, type(np.r_): rows, type(np.c_): columns
}  # fmt: skip
"""By type of an object that is indexed like an array: the formula of its `[key]`."""

# -- matrices


@formula(np.diagflat)
def diagflat(v: Any, k: Any = 0) -> Any:
    return np.diag(np.ravel(v), k)


@formula(np.fill_diagonal)
def fill_diagonal(a: Any, val: Any, wrap: Any = False) -> None:
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim > 2 and not all(n == a.shape[0] for n in a.shape):
        raise ValueError("All dimensions of input must be of equal length")
    check_writable(a)
    values = np.ravel(val if isinstance(val, (np.ndarray, np.generic)) else np.array(val, a.dtype)).astype(a.dtype)
    if len(values) == 0:
        return
    if wrap and a.ndim == 2:
        columns = a.shape[1]
        for i in range((a.size + columns) // (columns + 1)):
            at = i * (columns + 1)
            a[at // columns, at % columns] = values[i % len(values)]
        return
    for i in range(min(a.shape)):
        a[(i,) * a.ndim] = values[i % len(values)]


def store_flat_at(a: Any, places: Any, value: Any) -> None:
    """`a.flat[places] = value` of an array of ints: the elements of `value` in turn, as often as they are needed."""
    check_writable(a)
    check_apart(a, value)
    check_apart(a, places)
    values = np.ravel(value if isinstance(value, (np.ndarray, np.generic)) else np.array(value, a.dtype))
    if len(values) > 0:
        np.put(a, np.ravel(places), values.astype(a.dtype, copy=False))


def store_flat(a: Any, key: Any, value: Any) -> None:
    """`a.flat[key] = value` of a slice: the elements of `value` in turn, as often as they are needed
    (iter_ass_subscript of numpy/_core/src/multiarray/iterators.c)."""
    check_writable(a)
    check_apart(a, value)
    values = np.ravel(value if isinstance(value, (np.ndarray, np.generic)) else np.array(value, a.dtype))
    values, whole = values.astype(a.dtype, copy=False), as_vector(a)
    start, step, count = slice_range(key, a.size)
    if whole is not None and (len(values) == 1 or len(values) == count):
        whole[key] = values
    elif len(values) > 0:
        for i in range(count):
            a.flat[start + step * i] = values[i % len(values)]
