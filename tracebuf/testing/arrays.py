"""Arrays for tests: small data in every memory layout, deterministic in a seed, written into programs as calls.

Why: a failing program must be a file that runs on its own, so its arguments are expressions. Deterministic: equal calls
give equal arrays, without random state.
"""

from __future__ import annotations

import random
from functools import lru_cache
from typing import Any, Literal

import numpy as np

__all__ = ["COMPLEX_DTYPES", "DTYPES", "LAYOUTS", "RARE_DTYPES", "Layout", "array", "laid_out"]

DTYPES = ("float64", "float32", "int64", "bool")
COMPLEX_DTYPES = ("complex128", "complex64")
RARE_DTYPES = ("int8", "int16", "int32", "uint8", "uint16", "uint32", "uint64", "float16")
Layout = Literal["C", "F", "reversed", "stepped", "rows", "inner", "rotated", "repeated"]
LAYOUTS: tuple[Layout, ...] = ("C", "F", "reversed", "stepped", "rows", "inner", "rotated", "repeated")
_SPECIAL = (float("nan"), float("inf"), float("-inf"), -0.0, 0.0, 1e30, -1e30, 1e-30, 0.1, 2.5, -2.5, 1.0, -1.0, 3.0)


def array(
    dtype: str, shape: tuple[int, ...], seed: int, layout: Layout = "C", special: bool = False, writable: bool = True
) -> np.ndarray[Any, np.dtype[Any]]:
    """An array of a supported dtype with small whole numbers (so that sums are exact), or with special values.

    `layout`: "C" and "F" dense; "reversed" every axis backwards; "stepped" every second element of the last axis;
    "rows" every second of the first; "inner" a block inside a larger array; "rotated" the last axis outermost;
    "repeated" broadcast along the first axis (read-only). Layouts need rank 1 or more; rank 0 is always dense.
    """
    chosen = _values(dtype, shape, seed, special).copy()
    result = laid_out(chosen, layout) if shape else chosen
    result.flags.writeable = writable and layout != "repeated"
    return result


@lru_cache(maxsize=64)
def _values(dtype: str, shape: tuple[int, ...], seed: int, special: bool) -> np.ndarray[Any, np.dtype[Any]]:
    draw = random.Random(f"{dtype} {seed}")
    count = int(np.prod(shape, dtype=int))
    if dtype == "bool":
        items: list[Any] = [draw.random() < 0.5 for _ in range(count)]
    elif special and dtype.startswith("float"):
        items = [draw.choice(_SPECIAL) for _ in range(count)]
    elif special and dtype in RARE_DTYPES:
        info = np.iinfo(dtype)
        items = [draw.choice((info.min, info.max, info.max - 1, info.max // 2, 0, 1, 2, 3, 7)) for _ in range(count)]
    elif dtype in COMPLEX_DTYPES:
        items = [complex(draw.randint(-4, 5), draw.randint(-4, 5)) for _ in range(count)]
    else:
        items = [draw.randint(0 if dtype.startswith("u") else -4, 5) for _ in range(count)]
    return np.array(items, dtype).reshape(shape)


def laid_out(values: np.ndarray[Any, np.dtype[Any]], layout: Layout) -> np.ndarray[Any, np.dtype[Any]]:
    """The values in a memory layout (see `array`); of rank 1 or more."""
    shape = values.shape
    if layout == "repeated":
        return np.broadcast_to(values[:1] if shape[0] else values, shape)
    room = np.zeros(tuple(2 * n + 2 for n in shape), values.dtype)
    if layout == "F":
        view = np.empty(shape, values.dtype, order="F")
    elif layout == "reversed":
        view = np.empty(shape, values.dtype)[(slice(None, None, -1),) * len(shape)]
    elif layout == "stepped":
        view = room[(*(slice(n) for n in shape[:-1]), slice(0, 2 * shape[-1], 2))]
    elif layout == "rows":
        view = room[(slice(1, 2 * shape[0] + 1, 2), *(slice(1, n + 1) for n in shape[1:]))]
    elif layout == "inner":
        view = room[tuple(slice(1, n + 1) for n in shape)]
    elif layout == "rotated":
        view = np.moveaxis(np.empty((shape[-1], *shape[:-1]), values.dtype), 0, -1)
    else:
        view = np.empty(shape, values.dtype)
    view[...] = values
    return view
