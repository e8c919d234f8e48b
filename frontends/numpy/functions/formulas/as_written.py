"""NumPy's functions that are traced as NumPy wrote them: nothing is allocated that a formula of ours would not."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.record.registry import formula

AS_WRITTEN: tuple[Callable[..., Any], ...] = (
    np.allclose, np.angle, np.apply_over_axes, np.asarray_chkfinite, np.astype, np.bartlett, np.blackman,
    np.column_stack, np.common_type, np.corrcoef, np.cumulative_prod, np.cumulative_sum, np.diag_indices,
    np.diag_indices_from, np.dsplit, np.dstack, np.fft.hfft, np.fft.ihfft,
    np.fix, np.fliplr, np.flipud, np.fromfunction, np.geomspace, np.hamming, np.hanning, np.hsplit, np.hstack,
    np.identity, np.indices, np.iscomplex, np.iscomplexobj, np.isfortran, np.isneginf, np.isposinf, np.isreal,
    np.isrealobj, np.isscalar, np.iterable, np.ix_, np.linalg.cross, np.linalg.diagonal, np.linalg.matmul,
    np.linalg.outer, np.linalg.tensordot, np.linalg.trace, np.meshgrid, np.nanstd, np.polyder, np.polyval, np.ptp,
    np.rollaxis, np.select, np.sinc, np.split, np.trapezoid, np.tril, np.tril_indices, np.tril_indices_from,
    np.trim_zeros, np.triu, np.triu_indices, np.triu_indices_from, np.vander, np.vsplit, np.vstack,
)  # fmt: skip

WRITTEN = {function: inspect.unwrap(function) for function in AS_WRITTEN}
"""By function: NumPy's Python, in which what is refused is refused in its own words."""
WRITTEN[getattr(np, "row_stack", np.vstack)] = WRITTEN[np.vstack]
for function, source in WRITTEN.items():
    formula(function)(source)
