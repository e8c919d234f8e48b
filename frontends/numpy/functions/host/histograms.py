"""np.histogram and its kin as host calls. A rule for bins (`bins="auto"`) gives their number first, as in NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.creation import asarray
from tracebuf.frontends.numpy.arrays.indexing import as_int, read_item
from tracebuf.frontends.numpy.functions.host.calls import Arguments, Given, HostEntry, Shape
from tracebuf.frontends.numpy.functions.joining.padding import pad_rows
from tracebuf.frontends.numpy.record.raises import Raises
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.registry import traces
from tracebuf.frontends.numpy.record.values import ArrayRef
from tracebuf.ir.dims import add, sub


def bins_of(r: Recorder, bins: Any) -> tuple[Shape, Shape]:
    """The shapes of a histogram of one axis and of its edges."""
    if isinstance(bins, (ArrayRef, tuple, list)) and (not isinstance(bins, ArrayRef) or bins.ndim):
        edges = bins.shape[0] if isinstance(bins, ArrayRef) else len(bins)
        if edges == 0:
            raise r.refuse("no edges", "give their number: bins=10")
        return (sub(edges, 1),), (edges,)
    n = as_int(r, bins)
    if n is None:  # though NumPy takes it
        raise r.refuse("`bins` of this type", "give their number: bins=10")
    r.require_nonneg(sub(n, 1), "ValueError", "`bins` must be positive, when an integer")
    return (n,), (add(n, 1),)


def histogram_shapes(r: Recorder, given: Given) -> Sequence[Shape]:
    return bins_of(r, given.get("bins", 10))


def edges_shapes(r: Recorder, given: Given) -> Sequence[Shape]:
    return bins_of(r, given.get("bins", 10))[1:]


def histogram2d_shapes(r: Recorder, given: Given) -> Sequence[Shape]:
    bins = given.get("bins", 10)
    one, other = bins if isinstance(bins, (tuple, list)) and len(bins) == 2 else (bins, bins)
    (m, edges), (n, others) = bins_of(r, one), bins_of(r, other)
    return [(*m, *n), edges, others]


def histogram2d_results(r: Recorder, given: Given, results: Sequence[Any]) -> list[Any]:
    """Those of np.histogram2d: the counts are the middle of an array with the outliers around it, unless they become
    densities; edges that are given as an array are given back."""
    counts, *edges = results
    bins = given.get("bins")
    if isinstance(bins, (tuple, list)) and len(bins) == 2:
        edges = [b if isinstance(b, ArrayRef) and b.ndim else e for b, e in zip(bins, edges)]
    if not given.get("density"):
        counts = middle_of(r, counts)
    return [counts, *edges]


def middle_of(r: Recorder, counts: ArrayRef) -> Any:
    """Counts as the middle of an array with the outliers around it."""
    return read_item(r, pad_rows(r, counts, 1, "constant"), (slice(1, -1),) * counts.ndim)


# -- bins by a rule


def number_of_bins(a: Any, rule: str, range: Any = None) -> int:
    """How many bins NumPy takes by a rule."""
    a = np.asarray(a)
    a = a.astype(np.uint8) if a.dtype == bool else a  # as np.histogram does, which warns
    return len(np.histogram_bin_edges(a, rule, range)) - 1


NUMBER_OF_BINS = HostEntry(number_of_bins, ("a",), lambda r, given: [()], ("range",), label="numpy.histogram_bin_edges")


class ByRule(HostEntry):
    """A function whose bins may be the name of a rule, in whose place their number comes."""

    def bind(self, r: Recorder, args: Sequence[Any], kwargs: Given) -> Arguments:
        given = super().bind(r, args, kwargs)
        ends = given.get("range")
        if isinstance(ends, ArrayRef) and ends.ndim == 1 and r.ask_equal(ends.shape[0], 2) is True:
            given["range"] = tuple(r.number(ends, (k,)) for k in range(2))
        if isinstance(given.get("bins"), str) and given.get("weights") is None:
            given["bins"] = NUMBER_OF_BINS(r, given["a"], given["bins"], given.get("range"))
        return given


# -- several dimensions


def flat_histogramdd(sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """np.histogramdd, with the edges beside the counts."""
    counts, edges = np.histogramdd(sample, bins, range, density, weights)
    return counts, *edges


def each_of(bins: Any, n: int) -> list[Any]:
    """The bins of each dimension."""
    return list(bins) if isinstance(bins, (tuple, list)) else [bins] * n


def histogramdd_shapes(r: Recorder, given: Given) -> Sequence[Shape]:
    n = given["sample"].shape[1]
    found = [bins_of(r, b) for b in each_of(given.get("bins", 10), n)]
    return [tuple(d for (d,), _ in found), *(edges for _, edges in found)]


HISTOGRAMDD = HostEntry(
    flat_histogramdd, ("sample", "weights"), histogramdd_shapes, ("bins", "range"),
    size=lambda given: given["sample"].shape[1], label="numpy.histogramdd",
)  # fmt: skip


@traces(np.histogramdd)
def histogramdd(
    r: Recorder, sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Any, list[Any]]:
    """np.histogramdd: a list of columns, or an array with one for each dimension. Its edges are a list."""
    a = asarray(r, sample)
    if isinstance(sample, (tuple, list)) or a.ndim != 2:
        if a.ndim > 2:
            raise Raises(ValueError("too many values to unpack (expected 2)"))
        for _ in (0, 1)[a.ndim :]:
            a = a.derive(lambda view: view.new_axis(0))
        a = a.derive(lambda view: view.transpose((1, 0)))
    n = r.static_int(a.shape[1], "the number of dimensions")
    a = a.derive(lambda view: view.narrow(1, 0, 1, n))
    if isinstance(bins, ArrayRef):
        raise r.refuse("`bins` that are an array", "a list with the bins of each dimension")
    given = each_of(bins, n)
    if len(given) != n:
        raise Raises(ValueError("The dimension of bins must be equal to the dimension of the sample x."))
    counts, *edges = HISTOGRAMDD(r, a, bins, range, density, weights)
    if not density and n > 1:
        counts = middle_of(r, counts)
    return counts, [b if isinstance(b, ArrayRef) and b.ndim else e for b, e in zip(given, edges)]


HISTOGRAM = ByRule(np.histogram, ("a", "weights"), histogram_shapes, ("bins", "range"))
ENTRIES: tuple[HostEntry, ...] = (
    ByRule(np.histogram_bin_edges, ("a", "weights"), edges_shapes, ("bins", "range")),
    HostEntry(
        np.histogram2d, ("x", "y", "weights"), histogram2d_shapes, ("bins", "range"), given_back=histogram2d_results,
    ),
)  # fmt: skip
"""The functions that run on the host."""
for entry in ENTRIES:
    traces(entry.function)(entry)
