"""Histograms: bins of one width in a loop; bins by a rule, and several dimensions, as host calls."""

from __future__ import annotations

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program
from tests.support.params import one_in
from tracebuf.testing.ladder import climb

RULES = [
    "np.histogram(x, 'auto')", "np.histogram(x, bins='fd', density=True)", "np.histogram(x, 'sturges', (-1.0, 1.0))",
    "np.histogram_bin_edges(x, 'scott')", "np.histogram(x, 'doane')[0] * 2",
    "np.histogram((x * 4).astype(int), 'auto')",
    "np.histogram(x > 0, 'auto')", "np.histogram(x.astype(np.float32), 'rice')", "np.histogram(x[:0], 'auto')",
    "np.histogram(x, 'auto', weights=x)", "np.histogram(x, 'nonsense')", "np.histogram(x, 'stone')",
    "np.histogram(x, 'sqrt', range=(x.min(), x.max()))", "np.histogram(x + 1j, 'sqrt')",
    "[np.histogram(x * (i + 1), 'auto')[0].max() for i in range(k)]", "np.histogram(p[::2, 0], 'auto', (1.0, 0.0))",
]  # fmt: skip
SEVERAL = [
    "np.histogramdd(p)", "np.histogramdd(p, 4)", "np.histogramdd(p, (2, 3, 4), density=True)",
    "np.histogramdd([x, y], 5)", "np.histogramdd((x, y), [k, 3])", "np.histogramdd(x)",
    "np.histogramdd(x, density=True)",
    "np.histogramdd(p, [2, x[:0].size + 1, [-1.0, 0, 1.0]])", "np.histogramdd([x, y], [np.sort(y), 3], weights=x)",
    "np.histogramdd(p, range=[(0, 1)] * 3)", "np.histogramdd(p, range=((0, 1), None, (-1.0, 1)))",
    "np.histogramdd(p, (2, 3))", "np.histogramdd(p, 0)", "np.histogramdd(p[None])", "np.histogramdd(p, 2.5)",
    "np.histogramdd(p.astype(np.float32), 2)", "np.histogramdd((x, x), 2)[0].T.sum(1)",
    "np.histogramdd(p[:, :2], 3, weights=x)", "np.histogramdd(p[::2, ::-1].astype(int), 3)", "np.histogramdd(p[:0], 2)",
    "np.histogramdd(p[:, :2])", "np.histogramdd(p[:, :1], [e])", "np.histogramdd((x, y, x, y), 2)",
    "np.histogram(x, 4, e[1:3])",
    "np.histogramdd([x[:0], y[:0]], bins=([0, 1], [0, 1]))", "np.histogramdd((x, y), bins=(e, e))",
    "np.histogramdd((x, y), bins=(e, e), density=True)[1][0]", "np.histogramdd((x, y), bins=(e[::-1], 2))",
]  # fmt: skip
DRAW = np.random.default_rng(0)
GIVEN = (DRAW.normal(size=50), DRAW.normal(size=50), DRAW.normal(size=(50, 3)), 3, np.linspace(-2, 2, 6))


EVEN = [
    "np.histogram(x)", "np.histogram(x, k)", "np.histogram(x, 7, (-1.0, 1.0))", "np.histogram(x, 4, weights=y)",
    "np.histogram(p[::2, ::2], k)", "np.histogram(x, 5, density=True)", "np.histogram(p.T, 6, weights=p.T)",
    "np.histogram(x, 5, (-1, 2), weights=y, density=True)", "np.histogram(x.astype(np.float32))",
    "np.histogram(x.astype(np.float32), 9, (-0.3, 0.7), weights=y.astype(np.float32))",
    "np.histogram((x * 90).astype(np.int8), 6)", "np.histogram((x * 9).astype(int), 9, weights=(y * 9).astype('i4'))",
    "np.histogram((x * 9).astype(int), k, (-4, 4))", "np.histogram(x, 3, (k, k))", "np.histogram(x * 0 + 2.5, 3)",
    "np.histogram(x[:0], 2)", "np.histogram(x[:0].astype(np.float32))", "np.histogram(x, 0)", "np.histogram(e, 5)",
    "np.histogram(x, 3, (1.0, 0.5))", "np.histogram(x, 3, (0.0, np.inf))", "np.histogram(x, 3, weights=y[1:])",
    "np.histogram(x * np.nan)", "np.histogram(np.array([1e17, 1e17 + 16]), 5)", "np.histogram(x, 3, (-1e308, 1e308))",
    "np.histogram(np.array([-1e308, 1e308]), 3)", "np.histogram(np.array([0, 2**63 - 1]), 3)",
    "np.histogram(np.array([2**53 + 1, 2**53 + 3, 2**53 + 7]), 3)", "np.histogram(np.array([127, -128], 'i1'), 7)",
    "np.histogram(x, 3, (x.min(), x.max()))", "np.histogram(x, np.int64(4))", "np.histogram(x > 0, 2)",
    "np.histogram(x + 1j, 2)", "np.histogram(x.astype(np.float16), 2)", "np.histogram(x, 4, weights=y + 1j)",
    "np.histogram([1.0, 2.0, 2.5], 2)", "np.histogram(x, e)", "np.histogram(x, 2, (np.float32(0), np.float32(1)))",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("text", one_in(8, EVEN))
@pytest.mark.cases(3)
def test_bins_of_one_width(text: str) -> None:
    agree(program(f"def f(x, y, p, k, e):\n    return {text}"), *GIVEN, ulp=8 if "density" in text else 0)


@pytest.mark.parametrize("dtype", "df")
@pytest.mark.slow
def test_elements_at_the_edges_of_bins(dtype: str) -> None:
    """The computed place of an element may be one beside its bin, which the edges tell."""
    r = np.random.default_rng(3)
    f, g = (
        tracebuf.bufferize(h) for h in (lambda a, n: np.histogram(a, n), lambda a, n, t: np.histogram(a, n, (0.0, t)))
    )
    for n in range(1, 60):
        e = np.linspace(0, top := float(r.random()) + 0.01, n + 1)
        a = np.concatenate([e, np.nextafter(e, -9), np.nextafter(e, 9), r.choice(e, 50)]).astype(dtype)
        for ours, eager in [(f(a, n), np.histogram(a, n)), (g(a, n, top), np.histogram(a, n, (0.0, top)))]:
            assert all(np.array_equal(x, y) and x.dtype == y.dtype for x, y in zip(ours, eager, strict=True))


@pytest.mark.parametrize("dtype", "dfi")
@pytest.mark.cases(3)
def test_weights_are_added_up_in_numpys_chunks(dtype: str) -> None:
    r = np.random.default_rng(4)
    a, w = r.normal(size=150_000), (r.normal(size=150_000) * 99).astype(dtype)
    f = tracebuf.bufferize(lambda a, w: np.histogram(a, 7, weights=w)[0])
    for ours, eager in (
        (f(a, w), np.histogram(a, 7, weights=w)),
        (f(a[::2], w[::2]), np.histogram(a[::2], 7, weights=w[::2])),
    ):
        np.testing.assert_array_equal(ours, eager[0], strict=True)


@pytest.mark.slow
def test_a_histogram_is_one_loop() -> None:
    def f(a, w):
        return np.histogram(a, 20, (0.0, 1.0), weights=w), np.histogram(a, 9)[0]

    args = DRAW.normal(size=90), DRAW.normal(size=90)
    text = tracebuf.bufferize(f).lower(*args).as_text()
    assert "host_call" not in text and "memref.copy" not in text
    climb(f, args, again=[(args[0][:7], args[1][:7])])


@pytest.mark.parametrize("text", one_in(8, [*RULES, *SEVERAL]))
def test_values(text: str) -> None:
    agree(program(f"def f(x, y, p, k, e):\n    return {text}"), *GIVEN)


def test_one_program_serves_all_numbers_of_bins() -> None:
    f = tracebuf.bufferize(verify=True)(program("def f(a):\n    return np.histogram(a, 'auto')"))
    for n in (5, 30, 300):
        agree(f, DRAW.normal(size=n))
    assert len(f.specializations()) == 1


def test_bins_of_run_time_number_on_the_ladder() -> None:
    climb(program("def f(a):\n    h, e = np.histogram(a, 'auto')\n    return (h * np.diff(e)).sum(), h"), GIVEN[0])
    climb(program("def f(a):\n    h, (x, y) = np.histogramdd(a[:, :2], 4)\n    return h / h.sum(), x"), GIVEN[2])
