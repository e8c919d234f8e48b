"""NumPy's functions that are traced as NumPy wrote them: nothing is allocated that a formula of ours would not."""

from __future__ import annotations

import inspect

import numpy as np

from tracebuf.frontends.numpy.record.registry import formula

AS_WRITTEN = (
    np.apply_over_axes, np.asarray_chkfinite, np.astype, np.bartlett, np.blackman, np.cumulative_prod,
    np.cumulative_sum, np.diag_indices, np.diag_indices_from, np.fft.hfft,
    np.fft.ihfft, np.fix, np.fromfunction, np.hamming, np.hanning, np.indices, np.isneginf, np.isposinf,
    np.linalg.cross, np.polyder, np.polyval, np.sinc, np.trapezoid, np.tril_indices,
    np.tril_indices_from, np.trim_zeros, np.triu_indices, np.triu_indices_from, np.vander,
)  # fmt: skip

for function in AS_WRITTEN:
    formula(function)(inspect.unwrap(function))
