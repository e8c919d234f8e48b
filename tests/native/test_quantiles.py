"""np.percentile and np.quantile of short rows, by sorting copies (`_call_quantile` of backend/llvm/host_calls.py)."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program
from tests.support.params import slow_but
from tracebuf.running.host import ROW
from tracebuf.testing.ladder import climb

NATIVE = {
    "two": "np.percentile(a, [2.5, 97.5], axis=-1)", "one": "np.percentile(a[0], 30)",
    "ends": "np.quantile(a, [0.0, 1.0], axis=0)", "a tuple": "np.percentile(a, (25, 50, 75), axis=1)",
    "a number of rows": "np.quantile(a, 0.1, axis=1)", "three axes": "np.percentile(a.reshape(2, -1, 3), [10.0], 1)",
    "in turn": "np.percentile(np.percentile(a, [5, 95], axis=0), 40, axis=1)", "columns": "np.quantile(a[:, 0], [0.7])",
}  # fmt: skip
CALLED = {
    "all axes": "np.percentile(a, 30)", "another method": "np.percentile(a, 30, axis=0, method='nearest')",
    "kept": "np.quantile(a, 0.3, axis=0, keepdims=True)", "a traced place": "np.percentile(a[0], x)",
    "integers": "np.quantile(a, [0, 1], axis=0)", "an array": "np.percentile(a, np.array([1.0, 2.0]), axis=0)",
    "beyond": "np.percentile(a, 100.5, axis=0)", "none": "np.percentile(a, [], axis=0)",
    "into": "np.percentile(a, 30, axis=0, out=np.zeros(a.shape[1]))", "another axis": "np.percentile(a, 30, axis=2)",
}  # fmt: skip


@pytest.mark.parametrize("name", [*NATIVE, *CALLED])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.cases(3)
def test_quantiles_are_numpys_to_the_bit(name: str) -> None:
    f = tracebuf.bufferize(program(f"def f(a, x): return {(NATIVE | CALLED)[name]}"))
    r = np.random.default_rng(0)
    for shape in ((4, 30), (10, 9), (2, 3)):
        a = r.normal(size=shape)
        for one in (a, np.asfortranarray(a), a[::-1, ::-1], np.where(a > 1, np.nan, a), np.round(a), -np.round(a)):
            agree(f, one, 40.0)
    if name in NATIVE:
        assert "numpy_sort" in f.lower(a, 40.0).as_text("llvm")


@pytest.mark.parametrize("dtype", slow_but(["l", "B"], "bhilqBHILQfe?"))
def test_each_dtype(dtype: str) -> None:
    """Differences of integers wrap, as NumPy's do."""
    r = np.random.default_rng(3)
    most = 2**62 if dtype in "lqLQ" else 100
    a = (r.integers(0, most, (6, 9)) * 2 - (dtype in "bhilqfe") * most).astype(dtype)
    for text in ("np.percentile(a, [10, 60.5], axis=1)", "np.percentile(a[0], 33)", "np.quantile(a, 0.25, axis=0)"):
        agree(program(f"def f(a): return {text}"), a)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_zeros_nan_and_infinities_are_numpys() -> None:
    """Which of two zeros is at a place, NumPy's partition decides."""
    f = tracebuf.bufferize(program("def f(a): return np.percentile(a, [0, 20, 50, 81.5, 100], axis=-1)"))
    for row in itertools.islice(itertools.product([0.0, -0.0, 1.0, -1.0, np.inf, np.nan], repeat=5), 0, None, 97):
        agree(f, np.array(row))
    big = np.finfo(float).max
    for row in ([-big, big, 1.0], [big, big], [np.nan], [0.0], [-0.0, 0.0], [np.inf, np.inf], [-np.inf, 1.0, 2.0]):
        agree(f, np.array(row))
    agree(f, np.zeros((3, 0)))
    agree(f, np.zeros((0, 3)))


def test_long_rows_are_numpys_own() -> None:
    f = tracebuf.bufferize(program("def f(a): return np.percentile(a, [0.1, 99.9], axis=-1)"))
    for n in (1, 2, ROW - 1, ROW, ROW + 1, 5 * ROW):
        agree(f, np.random.default_rng(n).normal(size=(3, n)))


def test_on_every_rung_and_without_more_memory() -> None:
    f = program("def f(a): return np.percentile(a, [2.5, 97.5]), np.quantile(a, 0.5)")
    a = np.random.default_rng(1).random(200)
    climb(f, (a,), again=[(a[:7].copy(),)])
    taken = tracebuf.measure(tracebuf.bufferize(f), a, repeat=1)
    assert taken.native.allocations == 1 and taken.native.peak_bytes < taken.eager.peak_bytes
