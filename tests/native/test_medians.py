"""np.median of rows of a few elements, by a network of comparisons (backend/llvm/host_calls.py, lower/networks.py)."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import tracebuf
from tests.support.agreement import agree
from tests.support.params import slow_but
from tracebuf.lower.networks import comparisons


@pytest.mark.parametrize("n", slow_but([1, 2, 3, 5, 8, 9], range(1, 17)))
def test_comparisons_find_the_middle(n: int) -> None:
    """What sorts all zeros and ones sorts all (Knuth's 0-1 principle)."""
    for wanted in ([(n - 1) // 2, n // 2], range(n)) if n < 13 else ([n // 2],):
        rows = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
        right = np.sort(rows, axis=1)
        for a, b in comparisons(n, list(wanted)):
            rows[:, a], rows[:, b] = np.minimum(rows[:, a], rows[:, b]), np.maximum(rows[:, a], rows[:, b])
        assert (rows[:, list(wanted)] == right[:, list(wanted)]).all()


def test_what_no_place_needs_is_not_compared() -> None:
    assert comparisons(1, [0]) == []
    assert len(comparisons(16, [7, 8])) < len(comparisons(16, range(16))) == 63


def windows(x):
    return np.median(sliding_window_view(x, 5), axis=1)


def stacked(a):
    return np.median(np.stack([a, a[::-1], a[:, ::-1], 2 * a]), axis=0)


def of_rows(a):
    return np.median(a[:, :3], axis=1), np.median(a[:, 1:7], axis=-1), np.median(a[:4, 0]), np.median(a[2:4], axis=0)


@pytest.mark.slow
def test_windows_are_not_sorted() -> None:
    """They were copied and sorted one by one, and NumPy's function was called for many of them."""
    f, x = tracebuf.bufferize(windows), np.random.default_rng(0).random(50)
    text = f.lower(x).as_text("llvm")
    assert "numpy_sort" not in text and "fcmp olt double" in text
    for n in (0, 5, 6, 9000):
        agree(f, np.random.default_rng(n).random(n + 4))
    long = np.random.default_rng(1).random(20_000)
    taken = tracebuf.measure(f, long, repeat=1)
    assert taken.native.allocations == 1 and taken.native.peak_bytes < taken.eager.peak_bytes


@pytest.mark.parametrize("dtype", slow_but(["d"], "bhilqBHILQfd"))
@pytest.mark.slow
def test_each_dtype(dtype: str) -> None:
    r = np.random.default_rng(3)
    most = 2**62 if dtype in "lqLQ" else 100
    a = (r.integers(0, most, (6, 9)) - (dtype in "bhilqfd") * most // 2).astype(dtype)
    for one in (a, np.asfortranarray(a), a[::-1, ::-1]):
        for f in (of_rows, stacked):
            agree(tracebuf.bufferize(f), one)


def test_zeros_nan_and_infinities_are_numpys() -> None:
    """Which of two zeros is in the middle, NumPy's partition decides."""
    f = tracebuf.bufferize(windows)
    values = [0.0, -0.0, 1.0, -1.0, np.inf]
    for row in itertools.islice(itertools.product(values, repeat=5), 0, None, 13):
        agree(f, np.array(row))
    x = np.random.default_rng(4).random(100)
    for odd in (np.nan, np.inf, -np.inf, -0.0, np.finfo(float).max):
        agree(f, np.where(x > 0.7, odd, x))
        agree(f, np.where(x > 0.2, odd, x))
        agree(tracebuf.bufferize(of_rows), np.where(x > 0.6, odd, -x).reshape(10, 10))
    agree(f, np.zeros(50))
    agree(f, np.where(x > 0.5, 0.0, -1.0))
