"""Formulas of np.packbits and np.unpackbits (numpy/_core/src/multiarray/compiled_base.c)."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.record.registry import formula


@formula(np.packbits)
def packbits(a: Any, /, axis: Any = None, bitorder: str = "big") -> Any:
    bits = np.asarray(a)
    if bits.dtype.kind not in "biu":
        raise TypeError("Expected an input array of integer or boolean data type")
    bits = np.ravel(bits) if axis is None else bits
    axis = -1 if axis is None else axis
    bits, place = np.moveaxis(bits, axis, -1), shifts(bitorder)
    made = empty_like(bits, axis, (bits.shape[-1] + 7) // 8)
    packed = np.moveaxis(made, axis, -1)
    packed[...] = 0
    for k in range(8):
        part = bits[..., k::8]
        packed[..., : part.shape[-1]] |= (part != 0).astype(np.uint8) << np.uint8(place[k])
    return made


@formula(np.unpackbits)
def unpackbits(a: Any, /, axis: Any = None, count: Any = None, bitorder: str = "big") -> Any:
    packed = np.asarray(a)
    if packed.dtype != np.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    packed = np.ravel(packed) if axis is None else packed
    axis = -1 if axis is None else axis
    packed, place = np.moveaxis(packed, axis, -1), shifts(bitorder)
    n = 8 * packed.shape[-1]
    size = n if count is None else operator.index(count)
    if size < 0:
        size = n + size
    made = empty_like(packed, axis, size)
    bits = np.moveaxis(made, axis, -1)
    if size > n:
        bits[..., n:] = 0
    for k in range(8):
        part = bits[..., k : n : 8]
        part[...] = packed[..., : part.shape[-1]] >> np.uint8(place[k]) & np.uint8(1)
    return made


def shifts(bitorder: str) -> Any:
    """By number of a bit in the array: its place in the byte."""
    if bitorder not in ("big", "little"):
        raise ValueError("'order' must be either 'little' or 'big'")
    return range(7, -1, -1) if bitorder == "big" else range(8)


def empty_like(rows: Any, axis: Any, n: Any) -> Any:
    """An array of bytes with n elements along the axis that is the last of `rows`, and the order of NumPy's result."""
    shape = [*rows.shape[:-1]]
    shape.insert(axis % rows.ndim, n)
    return np.empty(shape, np.uint8, order="F" if np.isfortran(np.moveaxis(rows, -1, axis)) else "C")
