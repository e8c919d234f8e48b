"""Formulas of the shifts of np.fft (numpy/fft/_helper.py)."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.record.registry import formula


@formula(np.fft.fftshift)
def fftshift(x: Any, axes: Any = None) -> Any:
    return shifted(np.asarray(x), axes, lambda n: n // 2)


@formula(np.fft.ifftshift)
def ifftshift(x: Any, axes: Any = None) -> Any:
    return shifted(np.asarray(x), axes, lambda n: n - n // 2)


def shifted(x: Any, axes: Any, shift: Any) -> Any:
    """The array rolled along each axis by what `shift` gives for its size."""
    if x.ndim == 0:
        raise ValueError("not enough values to unpack (expected 2, got 0)")
    given = range(x.ndim) if axes is None else axes if isinstance(axes, (tuple, list, range)) else (axes,)
    axes = [operator.index(k) for k in given]
    return np.roll(x, [shift(x.shape[k]) for k in axes], axes)
