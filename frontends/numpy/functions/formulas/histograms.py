"""The formula of np.histogram with a number of bins, all of one width (numpy/lib/_histograms_impl.py)."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.functions.formulas.primitives import counted_in_bins, has_even_bins, histogram_by_numpy
from tracebuf.frontends.numpy.record.registry import formula

CHUNK = 65536
"""Elements whose weights NumPy sums before it adds them to those before."""


@formula(np.histogram)
def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    if not has_even_bins(a, bins, range, weights):
        return histogram_by_numpy(a, bins, range, density, weights)
    if weights is not None and weights.shape != a.shape:
        raise ValueError("weights should have the same shape as a.")
    n = operator.index(bins)
    if n < 1:
        raise ValueError("`bins` must be positive, when an integer")
    kind: Any = np.float32 if a.dtype == np.float32 else np.float64
    first, last, width = ends_of(a, kind) if range is None else ends_given(float(range[0]), float(range[1]))
    edges = np.linspace(first, last, n + 1, dtype=kind)
    if np.any(edges[:-1] >= edges[1:]):
        raise ValueError(f"Too many bins for data range. Cannot create {n} finite-sized bins.")
    if width == np.inf and (range is None or np.any((a <= last) & (a - first == np.inf))):
        raise IndexError(f"index -9223372036854775808 is out of bounds for axis 0 with size {n + 1}")
    if (
        a.dtype.kind != "f" and (last - first) / width * n >= n + 1
    ):  # large ints, as float64 further apart than they are
        raise IndexError(f"index {n + 1} is out of bounds for axis 0 with size {n + 1}")
    counts = counts_of(a, weights, n, edges, (first, last), width)
    if density:
        return counts / np.diff(edges).astype(float) / counts.sum(), edges
    return counts, edges


def ends_of(a: Any, kind: Any) -> Any:
    """The least and the greatest element, or what stands for them, and how far they are apart, ints in uint64."""
    if a.size == 0:
        return 0.0, 1.0, np.float64(1)
    least, most = a.min(), a.max()
    first, last = kind(least), kind(most)
    if not (np.isfinite(first) & np.isfinite(last)):
        raise ValueError(f"autodetected range of [{first}, {last}] is not finite")
    if least == most:
        first, last = kind(first - 0.5), kind(last + 0.5)
        return first, last, last - first
    if a.dtype.kind == "f":
        return first, last, last - first
    return first, last, kind(most.astype(np.uint64) - least.astype(np.uint64))


def ends_given(first: Any, last: Any) -> Any:
    """The ends, if they are a range, and how far they are apart."""
    if first > last:
        raise ValueError("max must be larger than min in range parameter.")
    if not (np.isfinite(first) & np.isfinite(last)):
        raise ValueError(f"supplied range of [{first}, {last}] is not finite")
    if first == last:
        first, last = first - 0.5, last + 0.5
    return first, last, np.subtract(last, first)


def counts_of(a: Any, weights: Any, n: Any, edges: Any, ends: Any, width: Any) -> Any:
    """The counts, or the sums of weights, which NumPy adds up in chunks."""
    if weights is None:
        counts = np.zeros(n, np.intp)
        counted_in_bins(a, None, counts, edges, ends, width)
        return counts
    x, w = a.reshape(-1), weights.reshape(-1)
    counts, sums = np.zeros(n, weights.dtype), np.empty(n)
    for start in range(0, len(x), CHUNK):
        sums[:] = 0
        counted_in_bins(x[start : start + CHUNK], w[start : start + CHUNK], sums, edges, ends, width)
        counts += sums.astype(weights.dtype)
    return counts
