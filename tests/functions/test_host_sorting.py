"""Sorting, order statistics, sets and histograms as host calls: values, dtypes, layouts, sizes, errors, in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, outcome, program, refused
from tests.support.forms import check_forms
from tests.support.params import slow_but
from tracebuf import bufferize

RNG = np.random.default_rng(0)
A = np.round(RNG.normal(0, 3, (5, 6)), 0)
A[1, 2] = A[3, 3] = np.nan
INT = RNG.integers(-4, 5, (5, 6))
DTYPES = [np.float32, np.float16, np.int8, np.uint64, np.bool_, np.complex64]
LAYOUTS: list[Callable[[np.ndarray], np.ndarray]] = [
    np.asfortranarray, lambda a: np.pad(a, 1)[1:-1, 1:-1], lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    lambda a: np.repeat(a, 2, 1)[:, ::2], lambda a: np.broadcast_to(a[:, :1], a.shape),
    lambda a: a[:0], lambda a: a[:1], lambda a: a[:, :1],
]  # fmt: skip
SORTED = [
    "np.sort(a)", "np.sort(a, axis=0)", "np.sort(a, axis=None)", "np.sort(a.T, kind='stable')", "np.sort(a[::-2, 1:])",
    "np.argsort(a, kind='stable')", "np.argsort(a, 0, kind='stable')", "a.argsort(axis=None, kind='stable')",
    "np.lexsort((a[0], a[1]))", "np.lexsort(a)", "np.lexsort((a, a[::-1]), axis=0)", "np.unique(a)",
    "np.unique(a, return_index=True, return_inverse=True, return_counts=True)",
    "np.unique(a[:, 0], return_counts=True)", "np.unique(a, equal_nan=False)",
    "np.isin(a, [1, 2])", "np.union1d(a, a[0] + 1)", "np.setdiff1d(a, a[0])",
    "np.intersect1d(a, a[0])", "np.setxor1d(a[0], a[1])", "np.intersect1d(a[0], a[1], return_indices=True)",
]  # fmt: skip
PARTITIONED = [
    "np.partition(a, k)",
    "np.partition(a, (k, 0), axis=0)",
    "np.partition(a, -1, axis=None)",
    "np.partition(a, 1)[:, 1]",
    "np.argpartition(a[0], k)",
]
STATISTICS = [
    "np.median(a)", "np.median(a, axis=0)", "np.median(a, 1, keepdims=True)", "np.median(a, axis=(0, 1))",
    "np.percentile(a, 30)", "np.percentile(a, [25, 50.0], axis=1)", "np.percentile(a, 10.5, method='lower')",
    "np.quantile(a, q)", "np.quantile(a, [q, 0.5], axis=0)", "np.percentile(a, np.arange(4) * 30, axis=-1)",
    "np.nanmedian(a)", "np.nanmedian(a, axis=0)", "np.nanpercentile(a, 30, axis=1)", "np.nanquantile(a, q)",
    "np.quantile(a, [[0.1, q], [0.2, 1]], axis=(0, 1), keepdims=True)",
]  # fmt: skip
BINNED = [
    "np.histogram(a)", "np.histogram(a, 4)", "np.histogram(a, k)", "np.histogram(a, bins=k + 1, range=(-2, 2.5))",
    "np.histogram(a, range=(a.min(), a.max() + 1), density=True)", "np.histogram(a, weights=a * 0.5)",
    "np.histogram(a, [-2, 0, 1, 1, 8])", "np.histogram(a, np.linspace(-3, 3, 5))[0]", "np.histogram_bin_edges(a, k)",
    "np.histogram(a, a.astype(int).max() + 1)[0]", "np.digitize(a, [-1, 0, 2])",
    "np.digitize(a, [2, 1, 0], right=True)", "np.digitize(q, [0, 0.2, 0.4])",
    "np.histogram2d(a[0], a[1], 2)[1:]", "np.histogram2d(a[0], a[1], [2, k])[0] + 0",
    "np.histogram2d(a[0], a[1], [[-3, 0, 3], 4], range=[[0, 1], [-2, 2]])[2]",
]  # fmt: skip
ALL = [*SORTED, *PARTITIONED, *STATISTICS, *BINNED]


def made(text: str) -> Any:
    return program(f"def f(a, k, q):\n    return {text}")


@pytest.mark.parametrize("text", slow_but([SORTED[0], PARTITIONED[0], *STATISTICS[::8]], ALL[: -len(BINNED)]))
def test_values(text: str) -> None:
    g = tracebuf.bufferize(verify=True)(made(text))
    agree(g, A, 2, 0.3)
    agree(g, np.vstack([A, A + 1]), 3, 0.7)
    assert len(g.specializations()) == 1


def test_counts_of_two_axes_are_the_middle_of_a_larger_array() -> None:
    """They were an array of their own, and so were edges that a call gives in a pair."""

    def program(a, edges):
        h, x, y = np.histogram2d(a, a, bins=(edges, edges))
        flat = h.reshape(-1)
        flat[0] = x[0] = -7
        dense = np.histogram2d(a, a, 3, density=True)[0]
        return h, flat, x, y, edges[0], dense, dense.ravel(), np.histogram2d(a, a, [edges, 4], weights=a)

    agree(program, np.arange(9.0), np.array([0.0, 4.0, 9.0]))


@pytest.mark.parametrize("text", slow_but(BINNED[:1], BINNED))
@pytest.mark.slow
def test_bins(text: str) -> None:
    agree(made(text), INT, 2, 0.3)
    agree(made(text), INT * 0.5, 3, 0.3)


KINDS = [SORTED, PARTITIONED, STATISTICS, BINNED]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("texts", KINDS)
def test_dtypes(texts: list[str], dtype: Any) -> None:
    check_forms(texts, values={"a": np.abs(INT).astype(dtype), "k": 2, "q": 0.3})


@pytest.mark.slow
@pytest.mark.parametrize("layout", range(len(LAYOUTS)))
@pytest.mark.parametrize("texts", KINDS)
def test_layouts(texts: list[str], layout: int) -> None:
    check_forms(texts, values={"a": LAYOUTS[layout](A if texts is not BINNED else INT * 1.0), "k": 0, "q": 0.3})


@pytest.mark.slow
@pytest.mark.parametrize("text", ["np.unique(a, axis=0)", "np.unique(a, True, True, True, axis=1)"])
def test_distinct_rows(text: str) -> None:
    for a in (np.tile(INT, (2, 1)), np.repeat(INT, 2, axis=1) * 0.5, INT[:1], INT[:, :0]):
        agree(made(text), a, 0, 0)


@pytest.mark.slow
def test_what_is_found_is_computed_with() -> None:
    def f(a):
        values, counts = np.unique(a, return_counts=True)
        total = 0.0
        for i in range(len(values)):
            total += values[i] * counts[i]
        best = values[np.argmax(counts)]
        return (
            (values * counts).sum() / counts.sum(),
            total,
            best,
            values[counts > 1].size if False else values + counts,
        )

    agree(f, INT)
    agree(f, INT.ravel()[:7] * 1.5)


# -- in place

IN_PLACE = [
    "a.sort()", "a.sort(axis=0)", "a[:, ::2].sort()", "a[::-2].T.sort(axis=0, kind='stable')", "a.partition(k)",
    "a[1:].partition((0, k), axis=0)", "a[0].sort()", "a[:] = np.sort(a[::-1])", "a.T[1:] = np.sort(a, axis=0).T[:-1]",
    "a.ravel()[3:].sort()",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["one-shot", *slow_but((), ["copy-before-write", "optimal"])])
@pytest.mark.parametrize("text", slow_but(IN_PLACE[:4], IN_PLACE))
def test_in_place(text: str, strategy: Any) -> None:
    f = program(f"def f(a, k):\n    b = a[1]\n    {text}\n    return b, a.sum()")
    for a in (A, np.asfortranarray(A), np.pad(A, 1)[1:-1, 1:-1], INT):
        agree(tracebuf.bufferize(verify=True, strategy=strategy)(f), a, 3)


def test_a_view_is_sorted_where_it_is() -> None:
    f = tracebuf.bufferize(program("def f(a):\n    a[:, ::2].sort()\n    return a"))
    report = f.explain(INT)
    assert not report.allocations and not report.copies and report.host_calls[0].reason == "numpy.ndarray.sort"


def test_np_sort_is_one_buffer() -> None:
    f = tracebuf.bufferize(program("def f(a):\n    a = a + 1\n    b = np.sort(a)\n    return b"))
    assert len(f.explain(INT).allocations) == 1


# -- NumPy's sorts, called without the functions

ROWS = [
    "np.sort(a)", "np.argsort(a)", "a.argsort(-1)", "np.sort(a, axis=0)", "np.argsort(a, axis=0)",
    "np.sort(a, kind='heapsort')", "np.argsort(a, stable=True)", "np.sort(a, stable=False)", "np.argsort(a.T)",
    "np.sort(a.T, axis=0, kind='mergesort')", "(a.sort(), a.sum())",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("text", ROWS)
def test_rows_are_sorted_by_numpys_sorts(text: str) -> None:
    """Also unstable sorts give what NumPy's give: they are NumPy's."""
    f = made(text)
    rng = np.random.default_rng(1)
    for dtype in "?bBhHiIqQefdFD":
        a = (rng.integers(0, 9, (6, 70)) - (dtype in "bhiqefdFD") * 4).astype(dtype)
        if dtype in "efdFD":
            a[rng.random(a.shape) < 0.1] = np.nan
            a[0, :4] = 0.0, -0.0, np.inf, -np.inf
        agree(f, a, 0, 0)
        agree(f, np.asfortranarray(a)[::-1], 0, 0)
        agree(f, np.asfortranarray(a.T[:1]), 0, 0)
    agree(f, rng.random((2, 9000)), 0, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ["np.median(a, axis=0)", "np.median(a, 1)", "np.median(a[0])", "np.median(a[::-2], -1)"]
)
def test_medians(text: str) -> None:
    f = tracebuf.bufferize(made(text))
    rng = np.random.default_rng(2)
    for dtype in "?bBhHiIqQefdFD":
        for shape in ((6, 7), (3, 513), (1, 1), (5, 2)):
            a = (rng.integers(0, 9, shape) - (dtype in "bhiqefdFD") * 4).astype(dtype)
            agree(f, a, 0, 0)
            if dtype in "efd":
                agree(f, a * -0.0, 0, 0)
                agree(f, np.where(a > 3, np.inf, a * 0.3), 0, 0)
                agree(f, np.where(a == 1, np.nan, a * 0.3).T, 0, 0)
                agree(f, np.where(a > 0, np.finfo(dtype).max, -a), 0, 0)
    for a in (np.zeros((3, 0)), np.zeros((0, 3)), np.arange(3.0)):
        agree(f, a, 0, 0)


def test_a_median_is_native() -> None:
    f = tracebuf.bufferize(made("np.median(a), np.median(a[0])"))
    assert "@numpy_sort_d_0" in f.lower(INT * 0.5, 0, 0).as_text("llvm")
    agree(f, INT * 0.5, 0, 0)
    agree(f, np.abs(INT) + 1.5, 0, 0)


@pytest.mark.slow
def test_native_code_sorts() -> None:
    for text, name in (("np.sort(a)", "@numpy_sort_d_0"), ("a.argsort(kind='stable')", "@numpy_argsort_d_2")):
        f = tracebuf.bufferize(made(text))
        assert name in f.lower(A, 0, 0).as_text("llvm")
        agree(f, A, 0, 0)


def test_errors_of_sorts_are_numpys() -> None:
    for text in ("np.sort(a, axis=2)", "np.argsort(a, kind='odd')", "np.sort(a, kind='stable', stable=True)"):
        assert isinstance(agree(made(text), A, 0, 0), (ValueError, TypeError)), text


# -- in loops and branches


def sorted_in_a_loop(a, n):
    best = np.zeros(a.shape[1])
    for i in range(n):
        if np.median(a[i]) > 0:
            a[i].sort()
        else:
            a[:, i] = np.sort(a[:, i])[::-1]
        best += np.partition(a[i], 2)
    return best


@pytest.mark.slow
def test_loops_and_branches() -> None:
    for n in (0, 1, 4):
        agree(sorted_in_a_loop, INT * 1.0, n)


# -- errors

ERRORS = [
    "np.sort(a, axis=2)", "a.sort(axis=2)", "a.sort(axis=None)", "np.sort(a, kind='odd')", "a.sort(kind=3)",
    "np.partition(a, 9)", "a.partition(9)", "a.partition(1.5)", "np.partition(a, k)", "np.argsort(a, -3)",
    "np.percentile(a, 101)", "np.quantile(a, q)", "np.quantile(a, 0.5, axis=5)", "np.histogram(a, 0)",
    "np.histogram(a, k)", "np.histogram(a, range=(3, 1))", "np.histogram(a, 2.5)", "np.histogram(a, [3, 1])",
    "np.digitize(a, [1, 3, 2])", "np.sort(a, order='x')", "np.median(a, axis='x')", "np.sort()", "np.lexsort(3)",
    "np.sort(a, 0, None, None, 3)", "np.sort(q)", "np.sort(a, axis=1.5)", "np.lexsort((a, a[0]))",
]  # fmt: skip


@pytest.mark.parametrize("text", slow_but(ERRORS[::9], ERRORS))
def test_errors(text: str) -> None:
    assert isinstance(agree(made(text), INT, -9, 2.0), Exception)


OUT = [
    "np.median(a, axis=0, out=a[1])", "np.median(a, axis=1, out=b[:5, 0])", "np.percentile(a, 30, axis=0, out=b[0])",
    "np.fft.ifft2(b, out=b)", "np.fft.fft(a, axis=0, out=b)", "np.median(a, out=a[0])", "np.fft.fft(a, out=a)",
    "np.linalg.multi_dot([a, a.T, a], out=b)", "np.nanmedian(a, 0, a[2])",
]  # fmt: skip


@pytest.mark.parametrize("text", slow_but(OUT[:1], OUT))
def test_into_an_array(text: str) -> None:
    f = program(f"def f(a, b):\n    x = {text}\n    return x, b[:2], a[1]")
    agree(f, INT * 1.0, np.zeros((5, 6), complex))
    agree(f, INT * 1.0, np.zeros((5, 6)))
    frozen = INT * 1.0
    frozen.flags.writeable = False
    agree(f, frozen, np.zeros((6, 5)).T)


def test_a_read_only_array_is_not_sorted() -> None:
    a = INT.copy()
    a.flags.writeable = False
    assert isinstance(agree(program("def f(a):\n    a.sort()"), a), ValueError)


@pytest.mark.parametrize(
    "text",
    [
        "np.sort(a, axis=a[0, 0])",
    ],
)
def test_refused(text: str) -> None:
    refused(program(f"def f(a):\n    return {text}"), INT)


@pytest.mark.parametrize(
    "source",
    [
        "np.partition(a, k)", "np.argpartition(a, k)", "np.partition(a, -k)", "np.partition(a, (1, k))",
        "np.partition(a, [k, 0], axis=None)", "np.argpartition(a, k, axis=0)", "np.partition(a + 1, k)[:2]",
        "np.partition(a, len(a) + k)", "np.partition(np.empty(0), k)", "np.partition(a[:0], k)",
        "np.partition(a, k, axis=4)", "np.partition(a if a[0] > 2 else a[1:], k)", "np.partition(a, 1.5 * k)",
        "np.partition(a, k) if a[0] < 2 else a", "(a.sort(), np.partition(a, k))",
    ],
)  # fmt: skip
def test_places_out_of_bounds(source: str) -> None:
    """NumPy's error, and one program for all places within."""
    f = program(f"def f(a, k): return {source}")
    g, x = bufferize(f), np.array([4.0, 1.0, 3.0, 2.0])
    for k in (2, 3, 4, 5, 4, 0, 900, -900):
        agree(f, x, k)
        for a in (x, np.stack([x, x])):
            results = [outcome(h, (a.copy(), k), {}) for h in (g, f)]
            (mine, error), (its, eager) = results
            assert type(error) is type(eager) and str(error) == str(eager)
            if eager is None:
                assert repr(mine) == repr(its)


@pytest.mark.parametrize("source", ["np.partition(np.unique(a), 0)", "np.argpartition(np.unique(a), -1)"])
def test_any_place_of_an_array_that_must_be_empty(source: str) -> None:
    """Its size is only known at run time, but not above 0."""
    f = program(f"def f(a): return {source}")
    g = bufferize(f)
    for a in (np.array([2, 1, 2]), np.empty(0, int), np.array([5])):
        assert repr(g(a)) == repr(f(a))


@pytest.mark.parametrize("dtype", ["int64", "complex64", "bool"])
def test_how_many_a_called_function_gives_takes_no_memory(dtype: str) -> None:
    """The number is on the stack (eager makes two arrays)."""
    f = bufferize(program("def f(a): return np.unique(a)"))
    a = np.array([3, 1, 3, 2, 1]).astype(dtype)
    assert f.call_counted(a)[1].allocations == 2
    agree(program("def f(a): return np.unique(a)"), a[::2])
