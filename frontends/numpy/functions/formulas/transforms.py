"""Formulas of np.fft.hfft and ihfft (numpy/fft/_pocketfft.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

SWAPPED = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def swapped(norm: Any) -> Any:
    """The norm of the transform in the other direction."""
    if norm not in SWAPPED:
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    return SWAPPED[norm]


def hfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Any:
    a = np.asarray(a)
    if n is None:
        n = (a.shape[axis] - 1) * 2
    return np.fft.irfft(np.conjugate(a), n, axis, norm=swapped(norm))


def ihfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Any:
    a = np.asarray(a)
    if n is None:
        n = a.shape[axis]
    out = np.fft.rfft(a, n, axis, norm=swapped(norm), out=out)
    return np.conjugate(out, out=out)


FORMULAS: dict[Any, Callable[..., Any]] = {np.fft.hfft: hfft, np.fft.ihfft: ihfft}
"""By NumPy's function: its formula."""
