"""Formulas of np.block, and of arrays with parts inserted or deleted (numpy/_core/shape_base.py,
numpy/lib/_function_base_impl.py)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from tracebuf.frontends.numpy.functions.formulas.primitives import is_array, known_ints, order_of_memory, refuse
from tracebuf.frontends.numpy.functions.formulas.statistics import along
from tracebuf.frontends.numpy.record.registry import formula

# -- np.block


def depth_of(blocks: Any) -> int:
    """The depth of nested lists; ValueError where it differs."""
    if isinstance(blocks, tuple):
        raise TypeError("arrays is a tuple. Only lists can be used to arrange blocks")
    if not isinstance(blocks, list):
        return 0
    if len(blocks) == 0:
        raise ValueError("List at arrays cannot be empty")
    depths = [depth_of(x) for x in blocks]
    if any(d != depths[0] for d in depths):
        raise ValueError("List depths are mismatched.")
    return 1 + depths[0]


def most_axes(blocks: Any) -> int:
    """The most axes that any of the blocks has."""
    return max([most_axes(x) for x in blocks]) if isinstance(blocks, list) else np.ndim(blocks)


def block_of(blocks: Any, depth: int, ndim: int) -> Any:
    """The nested blocks joined along their axes."""
    if depth:
        return np.concatenate([block_of(x, depth - 1, ndim) for x in blocks], axis=-depth)
    x = np.asanyarray(blocks)
    return x[(None,) * (ndim - x.ndim) + (...,)] if x.ndim < ndim else x


@formula(np.block)
def block(arrays: Any) -> Any:
    depth = depth_of(arrays)
    made = block_of(arrays, depth, max(most_axes(arrays), depth))
    return made if depth else made.copy()


# -- parts inserted and deleted


def sized(shape: Any, axis: int, n: Any) -> Any:
    """A shape with another size of one axis."""
    return tuple([n if k == axis else size for k, size in enumerate(shape)])


def inserted_along(arr: Any, axis: Any) -> Any:
    """The array and the axis that np.insert and np.delete work on: ravelled, without an axis."""
    if axis is not None:
        return arr, normalize_axis_index(axis, arr.ndim)
    arr = arr if arr.ndim == 1 else arr.ravel()
    return arr, arr.ndim - 1


@formula(np.insert)
def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    arr = np.asarray(arr)
    order = order_of_memory(arr)
    arr, axis = inserted_along(arr, axis)
    n = arr.shape[axis]
    if isinstance(obj, slice):
        obj = np.arange(n)[obj]
    if is_array(obj) and obj.ndim:
        if obj.ndim > 1:
            raise ValueError("index array argument obj to insert must be one dimensional or scalar")
        if obj.dtype == bool and np.ndim(values):
            refuse("np.insert of several values where a mask holds", "np.insert(a, np.flatnonzero(mask), values)")
        if obj.dtype == bool or len(obj) != 1:
            return insert_at(arr, np.flatnonzero(obj) if obj.dtype == bool else obj.copy(), values, axis, order)
        return insert(arr, [obj[0]], values, axis)
    single = isinstance(obj, (list, tuple)) and len(obj) == 1
    if isinstance(obj, (list, tuple)) and not single:
        return insert_several(arr, known_ints(obj), values, axis, order)
    at = obj[0] if single else obj
    kind = np.asarray(at).dtype.kind
    if isinstance(obj, bool):
        raise AttributeError("'bool' object has no attribute 'ndim'")
    if kind == "b":
        raise ValueError("boolean array argument obj to insert must be one dimensional")
    if at < -n or at > n:
        raise IndexError(f"index {at} is out of bounds for axis {axis} with size {n}")
    if kind not in "iu":
        raise TypeError("slice indices must be integers or None or have an __index__ method")
    at = at + n if at < 0 else at
    values = np.array(values, copy=None, ndmin=arr.ndim, dtype=arr.dtype)
    if not single:
        values = np.moveaxis(values, 0, axis)
    more = values.shape[axis]
    made = np.empty(sized(arr.shape, axis, n + more), arr.dtype, order)
    made[along(axis, slice(None, at))] = arr[along(axis, slice(None, at))]
    made[along(axis, slice(at, at + more))] = values
    made[along(axis, slice(at + more, None))] = arr[along(axis, slice(at, None))]
    return made


def insert_at(arr: Any, places: Any, values: Any, axis: int, order: Any) -> Any:
    """The array with one item of the values inserted at each of these indices, an array of the formula's own."""
    n, more = arr.shape[axis], len(places)
    places[places < 0] += n
    rising = places.argsort(kind="stable")
    places[rising] += np.arange(more)
    old = np.ones(n + more, bool)
    old[places] = False
    made = np.empty(sized(arr.shape, axis, n + more), arr.dtype, order)
    made[along(axis, places)] = np.asarray(values, dtype=arr.dtype)
    made[along(axis, old)] = arr
    return made


def insert_several(arr: Any, places: Any, values: Any, axis: int, order: Any) -> Any:
    """The array with one item of the values inserted at each of these known indices, counted from the front."""
    n, more = arr.shape[axis], len(places)
    if any(p < 0 for p in places):
        return insert_at(arr, np.array(places), values, axis, order)
    for p in places:
        if p > n:
            raise IndexError(f"index {p} is out of bounds for axis {axis} with size {n}")
    made = np.empty(sized(arr.shape, axis, n + more), arr.dtype, order)
    rising = sorted([(p, k) for k, p in enumerate(places)])
    values = np.broadcast_to(np.asarray(values, dtype=arr.dtype), sized(arr.shape, axis, more))
    start = 0
    for i, (p, k) in enumerate(rising):
        made[along(axis, slice(start + i, p + i))] = arr[along(axis, slice(start, p))]
        made[along(axis, p + i)] = values[along(axis, k)]
        start = p
    made[along(axis, slice(start + more, None))] = arr[along(axis, slice(start, None))]
    return made


@formula(np.delete)
def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    arr = np.asarray(arr)
    order = order_of_memory(arr)
    arr, axis = inserted_along(arr, axis)
    n = arr.shape[axis]
    if isinstance(obj, (list, tuple)) and len(obj) == 1:
        obj = obj[0]
    if isinstance(obj, slice):
        return delete_slice(arr, obj, axis, order)
    if isinstance(obj, (list, tuple)) or (is_array(obj) and obj.ndim):
        keep = np.ones(n, bool)
        if is_array(obj) and obj.dtype == np.bool_:
            if obj.shape != (n,):
                raise ValueError("boolean array argument obj to delete must be one dimensional and match the axis")
            keep = ~obj
        elif is_array(obj) or len(obj):
            keep[obj,] = False
        return arr[along(axis, keep)[:-1]]
    if isinstance(obj, (bool, np.bool_)):
        raise ValueError("boolean array argument obj to delete must be one dimensional and match the axis")
    if np.asarray(obj).dtype.kind not in "iu":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    if obj < -n or obj >= n:
        raise IndexError(f"index {obj} is out of bounds for axis {axis} with size {n}")
    obj = obj + n if obj < 0 else obj
    made = np.empty(sized(arr.shape, axis, n - 1), arr.dtype, order)
    made[along(axis, slice(None, obj))] = arr[along(axis, slice(None, obj))]
    made[along(axis, slice(obj, None))] = arr[along(axis, slice(obj + 1, None))]
    return made


def delete_slice(arr: Any, gone: Any, axis: int, order: Any) -> Any:
    """The array without a slice of an axis: in the order of memory of a new array, not in that of a masked one."""
    n = arr.shape[axis]
    if gone.step is not None and gone.step != 1:
        keep = np.ones(n, bool)
        keep[gone] = False
        kept = arr[along(axis, keep)[:-1]]
        if arr.ndim == 1:
            return kept
        made = np.empty(kept.shape, arr.dtype, order)
        made[...] = kept
        return made
    places = np.arange(n)
    start = 0 if gone.start is None else len(places[: gone.start])
    several = len(places[gone])
    made = np.empty(sized(arr.shape, axis, n - several), arr.dtype, order)
    made[along(axis, slice(None, start))] = arr[along(axis, slice(None, start))]
    made[along(axis, slice(start, None))] = arr[along(axis, slice(start + several, None))]
    return made


@formula(np.resize)
def resize(a: Any, new_shape: Any) -> Any:
    shape = new_shape if isinstance(new_shape, (tuple, list)) else (new_shape,)
    a, size = np.ravel(a), math.prod(shape)
    if any(n < 0 for n in shape):
        raise ValueError("all elements of `new_shape` must be non-negative")
    if a.size == 0 or size == 0:
        return np.zeros_like(a, shape=shape)
    return np.reshape(np.tile(a, (size + a.size - 1) // a.size)[:size], shape)


# -- ravelled indices


def check_size(dims: Any) -> None:
    """ValueError for more elements than an array may have."""
    total = 1
    for n in dims:
        if n > 0 and total > MOST_ELEMENTS // n:
            raise ValueError("invalid dims: array size defined by dims is larger than the maximum possible size.")
        total = total * n


@formula(np.ravel_multi_index)
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: Any = "C") -> Any:
    if np.ndim(dims) == 0:
        dims = (dims,)
    if len(multi_index) != len(dims):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(dims)}")
    check_size(dims)
    modes = (mode,) * len(dims) if isinstance(mode, str) else mode
    if len(modes) != len(dims):
        raise ValueError(f"list of clipmodes has wrong length ({len(modes)} instead of {len(dims)})")
    at = 0
    pairs = list(zip(multi_index, dims, modes))
    for index, n, how in pairs if order == "C" else pairs[::-1]:
        if np.asarray(index).dtype.kind not in "iub":
            raise TypeError("only int indices permitted")
        index = np.asarray(index).astype(np.intp)
        if how != "raise":
            if how not in ("wrap", "clip"):
                raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got '{how}')")
            if n == 0:
                raise ValueError("cannot unravel if shape has zero entries (is empty).")
            index = index % n if how == "wrap" else np.clip(index, 0, n - 1)
        elif np.any((index < 0) | (index >= n)):
            raise ValueError("invalid entry in coordinates array")
        at = at * n + index
    return at


MOST_ELEMENTS = int(np.iinfo(np.intp).max)
