"""Sample arrays: small, of both signs, no two elements alike."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def vector(n: int = 7, period: int = 2) -> Array:
    """1, -2, 3, -4, ...: every `period`-th number is negative."""
    return np.arange(1.0, n + 1) * np.where(np.arange(n) % period == 1, -1, 1)


def floats(*shape: int) -> Array:
    """-3, -2, -1, 0, ... in C order."""
    return np.arange(float(np.prod(shape, dtype=int))).reshape(shape) - 3


def complexes(shape: Any, dtype: Any = np.complex128, seed: int = 0) -> Array:
    """Normally distributed parts."""
    rng = np.random.default_rng(seed)
    return np.asarray(rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)


DTYPES = ("bool", *(f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64)), "float16", "float32", "float64")


def values(dtype: str, seed: int = 0, count: int = 53) -> np.ndarray:
    """Extremes, small numbers and random bits of a dtype."""
    d = np.dtype(dtype)
    draw = np.random.default_rng([seed, DTYPES.index(dtype)])
    if d.kind == "b":
        return draw.random(count) < 0.5
    with np.errstate(all="ignore"):
        return draw.permutation(_with_extremes(draw, d, count))


def _with_extremes(draw: np.random.Generator, d: np.dtype, count: int) -> np.ndarray:
    random = draw.integers(0, 256, (count, d.itemsize), np.uint8).view(d)[:, 0]
    if d.kind == "f":
        special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 2.5, -2.5, 0.1, 7, -3, 300, 70000], d)
        random[::3] = draw.normal(0, 20, count).astype(d)[::3]
    else:
        info = np.iinfo(d)
        special = np.array([info.min, info.max, info.min + 1, info.max - 1, 0, 1, 2, 3, 7, info.max // 2], d)
        random[::3] = draw.integers(0, 10, count).astype(d)[::3]
    random[: len(special)] = special
    return random


def line(n: int = 4) -> np.ndarray:
    return np.arange(n) + 1.0


LAYOUTS = {
    "rows": lambda a: a, "columns": np.asfortranarray, "reversed": lambda a: a[(slice(None, None, -1),) * a.ndim],
    "steps": lambda a: np.repeat(a, 2, axis=-1)[..., ::2] if a.ndim else a,
}  # fmt: skip
"""An array of the same values in another layout."""
