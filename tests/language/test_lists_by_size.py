"""Lists that are as long as an int or a size of the call says: a program serves all lengths, once more than one was
seen, or where a list is long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree
from tests.support.params import one_in
from tracebuf import bufferize
from tracebuf.testing.ladder import climb


def table(n, m):
    cost = [[0.0] * (m + 1) for _ in range(n + 1)]
    for i in range(1, n + 1):
        for c in range(m + 1):
            cost[i][c] = cost[i - 1][c] + 1.0
    return cost[n][m], cost


def knapsack(values, weights, cap):
    best = [[0.0] * (cap + 1) for _ in range(len(weights) + 1)]
    for i in range(1, len(weights) + 1):
        for c in range(cap + 1):
            best[i][c] = best[i - 1][c]
            if weights[i - 1] <= c:
                best[i][c] = max(best[i][c], best[i - 1][c - weights[i - 1]] + values[i - 1])
    return best[-1][cap]


def sieve(n):
    crossed = [False] * (n + 1)
    for p in range(2, n + 1):
        if not crossed[p]:
            for k in range(p * p, n + 1, p):
                crossed[k] = True
    return [p for p in range(2, n + 1) if not crossed[p]]


def filled(x):
    out = [None] * len(x)
    for i in range(len(x)):
        out[i] = x[i] * 2.0
    return out


def listed(x):
    whole = [int(v) for v in x]
    total = 0
    for i in range(1, len(whole) + 1):
        total += whole[i - 1] * i
    return total, whole


def all_uses(n):
    x = [1.0] * n
    return sum(x), len(x), sorted(x), x[::-1], x + [2.0], 1.0 in x, tuple(x), list(zip(x, x))


X = np.array([3.0, 4, 5, 6, 7, 1, 2])
W = np.array([2, 3, 4, 5, 1, 2, 2])
CALLS = [
    (table, [(n, m) for n, m in ((3, 4), (5, 6), (7, 3), (2, 2), (9, 9), (1, 5), (0, 3))], 3),
    (knapsack, [(X[:n], W[:n], cap) for n, cap in ((5, 7), (5, 9), (7, 4), (6, 12), (2, 3))], 3),
    (sieve, [(n,) for n in (9, 30, 5, 60, 2)], 2),
    (filled, [(X[:n],) for n in (3, 5, 7, 2)], 2),
    (listed, [(X[:n],) for n in (3, 5, 7, 2, 1)], 3),
]


@pytest.mark.parametrize(("function", "calls", "most"), one_in(3, CALLS, rows=True))
@pytest.mark.cases(2)
def test_one_program_serves_lists_of_all_lengths(
    function: Callable[..., Any], calls: list[tuple[Any, ...]], most: int
) -> None:
    """Each length was compiled for itself."""
    f = bufferize(function)
    for args in calls:
        assert repr(f(*args)) == repr(function(*args))
    assert len(f.specializations()) <= most, f.specializations()


@pytest.mark.slow
def test_a_long_list_is_of_run_time_length_at_once() -> None:
    f = bufferize(table)
    for n, m in ((30, 40), (50, 60), (33, 90)):
        assert f(n, m) == table(n, m)
    assert len(f.specializations()) == 1, f.specializations()


@pytest.mark.slow
def test_what_needs_the_length_is_compiled_for_each() -> None:
    """Where lists of run-time length cannot be traced, or the list has no items."""
    f = bufferize(all_uses)
    for n in (3, 5, 0, 40):
        assert repr(f(n)) == repr(all_uses(n))


@pytest.mark.slow
def test_arrays_of_lists_by_size() -> None:
    def as_array(n):
        return np.array([[0] * n for _ in range(n)])

    f = bufferize(as_array)
    for n in (3, 5, 0, 7, 1, 40):
        assert np.array_equal(f(n), as_array(n)) and f(n).shape == as_array(n).shape


@pytest.mark.slow
@pytest.mark.parametrize(("function", "calls", "most"), CALLS)
def test_lists_by_size_on_the_ladder(function: Callable[..., Any], calls: list[tuple[Any, ...]], most: int) -> None:
    climb(function, calls[0], again=calls[1:])


def test_indices_beyond_a_list_by_size() -> None:
    def beyond(n, k):
        x = [0.0] * n
        for i in range(k):
            x[i] = 1.0
        return x

    for n, k in ((3, 2), (5, 5), (4, 6), (40, 50), (0, 1)):
        agree(beyond, n, k)
    f = bufferize(beyond)
    for n, k in ((3, 2), (5, 5), (4, 6), (40, 50), (0, 1)):
        if k > n:
            with pytest.raises(IndexError, match="list assignment index out of range"):
                f(n, k)
        else:
            assert f(n, k) == beyond(n, k)


def test_arrays_in_lists_that_are_known_are_not_copied() -> None:
    def summed(x, k, n):
        parts = [x * (i + 1) for i in range(k)]
        total = parts[0]
        for part in parts:
            total = total + part
        out = [0.0] * n
        for i in range(n):
            out[i] = total[i % 2]
        return total, out

    f = bufferize(summed)
    for k, n in ((3, 4), (3, 5)):
        (total, out), counters = f.call_counted(X, k, n)
        assert np.array_equal(total, summed(X, k, n)[0]) and out == summed(X, k, n)[1]
        assert counters is not None and (counters.allocations, counters.copies) == (1, 0), counters
