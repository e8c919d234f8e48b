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
