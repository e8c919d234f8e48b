"""Formulas of np.fft.hfft and ihfft (numpy/fft/_pocketfft.py), and of shifts (numpy/fft/_helper.py)."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.record.registry import formula

SWAPPED = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def swapped(norm: Any) -> Any:
    """The norm of the transform in the other direction."""
    if norm not in SWAPPED:
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    return SWAPPED[norm]


@formula(np.fft.hfft)
def hfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Any:
    a = np.asarray(a)
    if n is None:
        n = (a.shape[axis] - 1) * 2
    return np.fft.irfft(np.conjugate(a), n, axis, norm=swapped(norm))


@formula(np.fft.ihfft)
def ihfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Any:
    a = np.asarray(a)
    if n is None:
        n = a.shape[axis]
    out = np.fft.rfft(a, n, axis, norm=swapped(norm), out=out)
    return np.conjugate(out, out=out)


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
