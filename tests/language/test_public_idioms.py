"""Idioms of public code: orders of tuples, views of keys as sets, lists repeated by what only the run time knows."""

from __future__ import annotations

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree
from tracebuf.errors import UnsupportedError
from tracebuf.testing.ladder import climb

X = np.random.default_rng(3).random(5)
K = np.array([2, 0, 1, 3])


def later_than(y, m, d):
    if (y, m, d) >= (1582, 10, 15):
        return 1
    return (y, m) < (1500, m), (d, y) > (d, 3), (y,) <= (y, m), (y, m) >= (y,)


def smallest_pair(x, k):
    best, place = (np.inf, -1), -1
    for i in range(len(k)):
        t = (x[i], k[i])
        if t < best:
            best, place = t, i
    return best, place, [x[0], x[1]] < [x[0], x[2]], (1, x[0]) < (1.5, x[1]), (1, x[0], 3) >= (1, x[0])


def beside_a_nan(x, nan):
    return (nan, x[0]) < (2.0, x[1]), (x[0], nan) < (x[0], 3), (2.0, x[0]) <= (nan, x[0])


def two_nans(x, nan):
    return (nan, x[0]) < (nan * x[0], x[1])


def test_orders_of_tuples() -> None:
    for given in ((2024, 2, 29.5), (1582, 10, 4.0), (1582, 10, 15), (1582, 10, 15.5)):
        agree(later_than, *given)
    climb(smallest_pair, (X, K), again=[(X[:3], K[:3])])
    agree(beside_a_nan, X, np.nan)
    with pytest.raises(UnsupportedError, match="among which is a NaN"):
        tracebuf.bufferize(two_nans)(X, np.nan)


def between_alternatives(w):
    key = [float("inf")] * len(w)
    key[0] = 0
    many = 0
    for v in range(len(w)):
        if 0 < w[v] < key[v]:
            key[v] = w[v]
        if 0 <= key[v] <= 0.5 < 3:
            many += 1
    return many, key


def test_comparisons_in_a_chain_of_what_may_be_an_int() -> None:
    climb(between_alternatives, (X,), again=[(X[:2],)])


def keys_as_sets(d):
    o = {"a": 1, **d}
    odd = o.keys() - {"a", "b"}
    if odd:
        return sorted(o.keys() | {"z"}), o.keys() & {"a"} == {"a"}, o.keys() <= {"a", "b", "d"}, o.keys() == {"a", "b"}
    return sorted(o.keys() ^ {"q"}), o.keys() >= {"a"}, o.keys() == {"a": 3, "b": 4}.keys(), {"a"} < o.keys()


def test_views_of_keys_are_sets() -> None:
    agree(keys_as_sets, {"a": 1, "b": 2})
    agree(keys_as_sets, {"b": 1, "d": 3})
    agree(keys_as_sets, {})


def repeated(k):
    out, total = [0] * int(k[0]), 0
    for v in k:
        row = [1.5] * v
        total += len(row)
        if len(row) > 1:
            row[1] = 2.0
            total += sum(row)
    return out, total, k[0] * [1, 2], (1, 2) * len(k)


def triangle(n):
    rows = []
    for i in range(n):
        row = [1] * (i + 1)
        for j in range(1, i):
            row[j] = rows[i - 1][j - 1] + rows[i - 1][j]
        rows.append(row)
    return rows


def of_an_empty_list(k):
    made = []
    return made[int(k[0])]


def test_lists_repeated_by_what_the_run_time_knows() -> None:
    climb(repeated, (K,), again=[(K[:2],), (-K,)])
    climb(triangle, (6,), again=[(1,), (0,)])
    agree(of_an_empty_list, K)


def ints_of_two_origins(x):
    def place(row):
        return row.argmax() if row[0] else 0

    return np.array([place(x[i]) for i in range(len(x))])


def test_arrays_of_numbers_of_python_or_numpy() -> None:
    """An array is of one dtype, whichever of its numbers are Python's, where both would be."""
    climb(ints_of_two_origins, (K.reshape(4, 1),), again=[(K.reshape(1, 4),)])
