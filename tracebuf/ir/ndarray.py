"""The address of an ndarray's elements, and arrays on given addresses: for arguments, results and call backs."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterable, Sequence
from weakref import ref

import numpy as np

_HEADER = object.__basicsize__


def address(x: np.ndarray) -> int:
    """The address of element 0: field `data` of PyArrayObject, behind the object's header (numpy/ndarraytypes.h)."""
    return ctypes.c_size_t.from_address(id(x) + _HEADER).value


class Lent:
    """Memory that NumPy sees as an array: the `base` of that array, and so alive as long as any view of it. `owner`
    keeps the memory alive, or else the caller must."""

    def __init__(
        self, pointer: int, shape: tuple[int, ...], strides: tuple[int, ...], typestr: str, read_only: bool
    ) -> None:
        self.owner: object = None
        self.__array_interface__ = {
            "data": (pointer, read_only), "shape": shape, "strides": strides, "typestr": typestr, "version": 3,
        }  # fmt: skip


def leases(values: Iterable[object]) -> list[ref[Lent]]:
    """The lent memory that arrays among these view."""
    bases: list[object] = [x.base for x in values if isinstance(x, np.ndarray)]
    return [ref(base) for base in bases if isinstance(base, Lent)]


def still_lent(leases: Sequence[ref[Lent]]) -> list[Lent]:
    """The lent memory that arrays still view."""
    if any(lease() is not None for lease in leases):
        gc.collect()
    return [found for lease in leases if (found := lease()) is not None]


def array_at(
    pointer: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype, read_only: bool = False
) -> np.ndarray:
    """The array whose element 0 is at an address; strides in bytes."""
    if 0 not in shape:
        return np.asarray(Lent(pointer, shape, strides, dtype.str, read_only))
    empty = np.empty(shape, dtype)
    empty.flags.writeable = not read_only
    return empty


def recast(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """An array's memory as elements of a type of equal size; complex numbers as pairs of floats, pairs as complex
    numbers (the last axis, whose elements follow one another)."""
    if array.dtype.kind == "c" and dtype.itemsize * 2 == array.itemsize:
        return array[..., None].view(dtype)
    if dtype.kind == "c" and array.itemsize * 2 == dtype.itemsize:
        return np.asarray(array.view(dtype)[..., 0])
    return array.view(dtype)
