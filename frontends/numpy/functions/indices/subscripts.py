"""`a[index]`, `a[index] = value` and `a[index] += value` of the user's program, for indices of any kind.

Basic indices (integer arrays without axes too) go to arrays/indexing; all others to `read_advanced` and
`store_advanced` of `masks`, which hands arrays of integers on to `gathers`.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import methodcaller
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.creation import asarray
from tracebuf.frontends.numpy.arrays.indexing import read_item, store_item
from tracebuf.frontends.numpy.arrays.new_arrays import as_array, copy_of, filled, k_order
from tracebuf.frontends.numpy.functions.indices.index_arrays import advanced_index, is_advanced, is_one_bool
from tracebuf.frontends.numpy.functions.indices.masks import is_one_mask, mask_view, read_advanced, store_advanced
from tracebuf.frontends.numpy.numbers.operands import Operand
from tracebuf.frontends.numpy.record.each_path import on_each_path
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import ArrayRef, Scalar, storages_of
from tracebuf.ir.core import Value
from tracebuf.ir.types import I64

__all__ = ["holds_scalar_array", "is_advanced", "masked", "read", "state", "store"]


def arrays_in(r: Recorder, index: Any) -> Any:
    """The index with lists of numbers, also those in a tuple, made arrays."""
    if isinstance(index, tuple):
        return tuple(arrays_in(r, list(i) if isinstance(i, tuple) else i) for i in index)
    if isinstance(index, (list, np.ndarray)):
        return filled(r, (0,), I64, None) if isinstance(index, list) and not index else asarray(r, index)
    return index


def state(r: Recorder, ref: ArrayRef, index: Any) -> list[Value]:
    """The current values of the storages of the array and of the arrays in the index."""
    items = index if isinstance(index, tuple) else (index,)
    refs = [ref, *(i for i in items if isinstance(i, ArrayRef))]
    return [r.value(s) for ref in refs for s in storages_of(ref)]


def masked(r: Recorder, ref: ArrayRef, index: Any) -> tuple[ArrayRef, ArrayRef] | None:
    """The array that a mask picks from and the mask, as arrays that broadcast; None for an index with other arrays."""
    if is_one_bool(index):
        ref, index = with_axis(r, ref), with_axis(r, index)
    at = advanced_index(r, ref, arrays_in(r, index))
    return mask_view(at) if is_one_mask(at) else None


def holds_scalar_array(index: Any) -> bool:
    """Whether an integer array without axes is in a basic index: an int of which NumPy makes a copy, not a view."""
    return any(isinstance(i, (ArrayRef, np.ndarray)) for i in (index if type(index) is tuple else (index,)))


def with_axis(r: Recorder, x: Any) -> ArrayRef:
    """An array, or a number as one, with a new first axis."""
    return as_array(r, x).derive(methodcaller("new_axis", 0))


def read(r: Recorder, ref: ArrayRef, index: Any) -> ArrayRef | Scalar:
    """`ref[index]`: a view for a basic index, a fresh array for index arrays and masks, or a number."""
    if is_one_bool(index):
        ref, index = with_axis(r, ref), with_axis(r, index)
    if not is_advanced(index):
        found = read_item(r, ref, index)
        if isinstance(found, ArrayRef) and holds_scalar_array(index):
            return copy_of(r, found, found.element, k_order(found))
        return found
    return read_advanced(r, advanced_index(r, ref, arrays_in(r, index)))


def store(r: Recorder, ref: ArrayRef, index: Any, value: Operand | Sequence[Operand]) -> None:
    """`ref[index] = value`: converted (unsafe casting) and broadcast; raises what NumPy raises."""
    if is_one_bool(index):
        ref, index = with_axis(r, ref), with_axis(r, index)
    if not is_advanced(index):
        return store_item(r, ref, index, value)
    r.check_writable(ref)
    parts = list(index) if isinstance(index, tuple) else [index]

    def on_path(to: list[Any], read: list[Any]) -> None:
        store(r, to[0], tuple(read[1:]) if isinstance(index, tuple) else read[1], read[0])

    if on_each_path(r, [ref], [value, *parts], on_path):
        return
    at = advanced_index(r, ref, arrays_in(r, index))  # whether it is an index is asked first
    store_advanced(r, at, asarray(r, list(value), ref.dtype) if isinstance(value, Sequence) else value)
