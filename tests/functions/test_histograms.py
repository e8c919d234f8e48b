"""Histograms as host calls: bins by a rule, and several dimensions."""

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
