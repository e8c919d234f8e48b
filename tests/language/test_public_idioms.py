"""Idioms of public code: orders of tuples, views of keys as sets, lists repeated by what only the run time knows."""

from __future__ import annotations

import bisect
import heapq
from collections import defaultdict, deque

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program
from tests.support.params import one_in
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


def bisected(x, edges):
    kept, places = [], []
    for v in x:
        bisect.insort(kept, v)
        places.append((bisect.bisect(edges, v), bisect.bisect_left(edges, v), bisect.bisect_right(edges, v, 1, 2)))
    return kept, places, bisect.bisect_left(x, 0.5), bisect.bisect([], 2.0)


def by_distance(x, k):
    places = [(0, 1), (2, 3), (5, 5)]
    return bisect.bisect(places, k[0], key=lambda p: p[1] + x[0])


@pytest.mark.parametrize("edges", one_in(3, [[], [0.2, 0.8], [1, 1, 2]]))
@pytest.mark.slow
def test_bisect(edges: list[float]) -> None:
    agree(bisected, X, edges)
    agree(bisected, np.arange(4)[::-1].copy(), edges)


def test_bisect_by_a_key_and_before_the_first() -> None:
    agree(by_distance, X, K)
    before = "import bisect\ndef f(a):\n    return bisect.bisect(a, 1.0, -1)"
    assert isinstance(agree(program(before), X), ValueError)


def nearest_first(g):
    heap, n, total = [(0.0, (0, 0))], 0, 0.0
    while heap and n < 12:
        far, (r, c) = heapq.heappop(heap)
        n, total = n + 1, total + far
        for dr, dc in ((0, 1), (1, 0)):
            if r + dr < g.shape[0] and c + dc < g.shape[1]:
                heapq.heappush(heap, (far + g[r + dr, c + dc], (r + dr, c + dc)))
    return n, total, len(heap), heap[0]


@pytest.mark.slow
def test_heaps_of_tuples_in_tuples() -> None:
    for g in (np.random.default_rng(0).random((4, 4)), np.ones((3, 5))):
        agree(nearest_first, g)


def queue_of_neighbours(x):
    near = [i for i in range(len(x)) if x[i] > 0.4]
    queue, total = deque(near), 0
    while queue:
        total = total * 2 + queue.popleft()
        if total < 100 and len(queue) < 3:
            queue.extend(near)
    return total, near


@pytest.mark.slow
def test_a_deque_of_a_list() -> None:
    agree(queue_of_neighbours, X)
    agree(queue_of_neighbours, X[:0])


def padded(n, w):
    bits, m = [], n
    while m > 0:
        bits.append(str(m % 2))
        m //= 2
    return "".join(reversed(bits)).zfill(w), "ab".rjust(w) + "x".center(w, "*"), str(n).ljust(w) + "."


def test_widths_that_the_call_decides() -> None:
    agree(padded, 7, 3)
    agree(padded, 100, 9)


def ranked(names, scores):
    by_name = dict(zip(names, scores))
    best = sorted(by_name, key=by_name.get, reverse=True)
    worst = sorted(range(len(names)), key=lambda i: (scores[i], -i))
    return best, by_name[best[0]], worst, sorted(by_name.items(), key=lambda item: item[1])


@pytest.mark.slow
def test_known_items_in_the_order_of_what_the_run_time_knows() -> None:
    agree(ranked, ["ann", "bob", "cy"], np.array([2.0, 1.0, 3.0]))
    agree(ranked, ["ann", "bob", "cy"], np.array([1, 1, 0]))
    with pytest.raises(UnsupportedError, match="among which is a NaN"):
        tracebuf.bufferize(ranked)(["a", "b"], np.array([np.nan, 1.0]))


def duplicates(a):
    where = defaultdict(list)
    for i, v in enumerate(a):
        where[int(v)].append(i)
    return {k: places for k, places in where.items() if len(places) > 1}


@pytest.mark.slow
def test_lists_of_a_defaultdict_in_another_dict() -> None:
    agree(duplicates, np.array([3, 1, 3, 2, 1, 3]))
    agree(duplicates, np.array([3, 1]))
