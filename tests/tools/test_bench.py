"""The programs of `make bench`: ours gives NumPy's results at a tiny size; the harness finds what is wrong and late."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks.bench import report
from benchmarks.bench.contest import Row, Times, contest
from benchmarks.bench.peers import NUMPY, OURS, ours
from benchmarks.programs import load
from benchmarks.programs.registry import Program
from tests.support.params import one_in
from tracebuf import bufferize

PROGRAMS = load()


@pytest.mark.parametrize("name", one_in(12, PROGRAMS))
@pytest.mark.cases(3)
def test_programs_give_numpys_results(name: str) -> None:
    p = PROGRAMS[name]
    args, eager = p.init(p.tiny), p.init(p.tiny)
    expected = p.results(p.function(*eager), eager)
    p.check(p.results(bufferize(p.function)(*args), args), expected)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, p in PROGRAMS.items() if p.loops])
def test_loops_give_numpys_results(name: str) -> None:
    """As plain Python, which needs no peer."""
    p = PROGRAMS[name]
    args, eager = p.init(p.tiny), p.init(p.tiny)
    expected = p.results(p.function(*eager), eager)
    assert p.loops
    p.check(p.results(p.loops(*args), args), expected)


def grow(x: np.ndarray) -> None:
    x *= 2


GROW = Program("grow", "none", grow, lambda n: (np.ones(n),), 10, 20, 3, stores=(0,))


def test_a_contest_restores_arguments_and_rejects_wrong_results() -> None:
    def idle(p, args):
        return lambda: None

    def absent(p, args):
        raise ImportError

    def broken(p, args):
        raise TypeError("no such type")

    peers = {OURS: ours, NUMPY: lambda p, args: lambda: grow(*args), "Numba": idle, "JAX": absent, "C": broken}
    row = contest(GROW, "small", peers, rounds=2)
    assert set(row.times) == {OURS, NUMPY} and row.best() == NUMPY
    assert "Not equal to tolerance" in row.wrong["Numba"] and row.missing == {"JAX"}
    assert row.failed == {"C": "TypeError: no such type"}


def test_a_report_marks_rows_behind() -> None:
    row = Row(GROW, "small", {k: Times((t,), (t,)) for k, t in ((OURS, 2e-3), (NUMPY, 8e-3), ("JAX", 1e-3))})
    text = report.table([row])
    assert "| grow, 10 | 2 ms | **0.50 JAX** | 4.00 | 0.50 |" in text
    assert "- grow, 10: 0.50 of JAX: no reason yet" in text
    assert json.loads(report.as_json([row]))["rows"][0]["NumPy / tracebuf"] == 4.0
    assert report.svg([row]).count("<circle") == 2
