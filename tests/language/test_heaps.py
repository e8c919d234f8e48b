"""heapq: heaps of numbers and of tuples, whose items are where Python's list has them at each moment."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program
from tracebuf.errors import UnsupportedError

X = np.random.default_rng(3).normal(size=40)
ROUND = np.round(X)
NANS = np.array([1.0, np.nan, 2.0, 0.0, np.nan, -1.0])
WEIGHTS = np.where((w := np.random.default_rng(4).random((12, 12))) < 0.6, 0, w)


def pushed(x):
    heap = []
    for v in x:
        heappush(heap, v)
    return heap


def pairs(x):
    heap = []
    for k in range(len(x)):
        heapq.heappush(heap, (x[k], k % 3, -k))
    first = heapq.heappop(heap)
    again = heapq.heapreplace(heap, first)
    return heap, first, again, heap[0], len(heap), heap[0][1]


def sort(x):
    heap, out = list(x), []
    heapq.heapify(heap)
    kept = heap.copy()
    while heap:
        out.append(heappop(heap))
    return out, kept


def dijkstra(w, source):
    distance, seen = np.full(len(w), np.inf), np.zeros(len(w), bool)
    distance[source] = 0
    heap = [(0, source)]
    while heap:
        d, u = heapq.heappop(heap)
        if seen[u]:
            continue
        seen[u] = True
        for v in range(len(w)):
            if w[u, v] > 0 and d + w[u, v] < distance[v]:
                distance[v] = d + w[u, v]
                heapq.heappush(heap, (distance[v], v))
    return distance


def prim(w):
    total, edges, done, heap = 0.0, [], np.zeros(len(w), bool), [(0.0, 0, 0)]
    while heap:
        cost, u, before = heappop(heap)
        if not done[u]:
            done[u] = True
            total += cost
            edges.append((before, u))
            for v in range(len(w)):
                if not done[v]:
                    heappush(heap, (w[u, v] + w[v, u], v, u))
    return total, edges


def greatest(x, k):
    heap = []
    for v in x:
        if len(heap) < k:
            heapq.heappush(heap, v)
        elif v > heap[0]:
            heapq.heapreplace(heap, v)
    pairs = [(v, j) for j, v in enumerate(x)]
    largest = heapq.nlargest(k, x), heapq.nlargest(k, x.tolist()), heapq.nlargest(2, pairs, key=lambda p: p[0])
    return sorted(heap, reverse=True), heap, largest, heapq.nsmallest(k, x), heapq.nsmallest(-k, x)


def through(x, k):
    heap, gone = [0.5, 0.25, 1.0], []
    heapq.heapify(heap)
    for v in x:
        gone.append(heapq.heappushpop(heap, float(v)))
    none = []
    heapq.heapify(none)
    for v in x[:k]:
        heapq.heappush(none, -v)
        gone.append(heapq.heappop(none) + heapq.heappushpop(none, 2.5))
    return heap, gone, none


def running_median(x):
    low, high, out = [], [], np.empty(len(x))
    for k, v in enumerate(x):
        heapq.heappush(low, -v)
        heapq.heappush(high, -heapq.heappop(low))
        if len(high) > len(low):
            heapq.heappush(low, -heapq.heappop(high))
        out[k] = -low[0] if len(low) > len(high) else (high[0] - low[0]) / 2
    return out


def emptied(x):
    heap = []
    for v in x:
        heapq.heappush(heap, v)
    while True:
        heapq.heappop(heap)


def replaced_in_nothing(x):
    heap = []
    for v in x:
        if v > 10:
            heappush(heap, v)
    return heapq.heapreplace(heap, 1.0)


@pytest.mark.slow
def test_shortest_paths() -> None:
    agree(dijkstra, WEIGHTS, 0)
    agree(pairs, ROUND)


CASES: tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...] = (
    (pushed, (X,)), (pushed, (NANS,)), (pushed, (X[:0],)), (pushed, (np.array([3, 1, 2, 1]),)), (pairs, (X,)),
    (sort, (X,)), (sort, (ROUND,)), (sort, (NANS,)), (sort, (X[:1],)), (prim, (WEIGHTS,)), (greatest, (X, 4)),
    (greatest, (ROUND, 7)), (through, (X, 3)), (running_median, (X,)), (running_median, (ROUND,)),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("f, args", CASES)
def test_heaps(f: Any, args: Any) -> None:
    agree(f, *args)


@pytest.mark.slow
def test_empty_heaps() -> None:
    assert isinstance(agree(emptied, X), IndexError)
    assert isinstance(agree(replaced_in_nothing, X), IndexError)


def test_an_order_of_tuples() -> None:
    agree(program("""
    def f(x, n):
        best, a, b = (x[0], 0), (x[0], 1), (x[1], n)
        for k in range(1, len(x)):
            if (x[k], k) <= best:
                best = (x[k], k)
        pairs = a < b, a <= b, a > b, a >= b, a < (x[0], n), a <= (x[0], n), (x[0],) < a, [x[2], x[0]] > [x[2], x[1]]
        return best, pairs
    """), ROUND, 1)  # fmt: skip


@pytest.mark.slow
def test_an_order_of_nans() -> None:
    with pytest.raises(UnsupportedError, match="NaN"):
        tracebuf.bufferize(pairs)(NANS)


def of_the_callers(xs, a):
    heapq.heapify(xs)
    heapq.heappush(xs, a[0])
    return heapq.heappop(xs), xs


@pytest.mark.slow
def test_a_heap_in_a_list_of_the_callers() -> None:
    agree(of_the_callers, [np.float64(2.0), np.float64(1.0), np.float64(1.5)], X)


REFUSED = {
    "heapq with anything but a list": "heapq.heapify(a)\nreturn a",
    "a heap of items that are": "heap = []\nfor v in a:\n    heapq.heappush(heap, a * v)\nreturn heap",
}


@pytest.mark.parametrize("reason", REFUSED)
def test_refused(reason: str) -> None:
    f = program("def f(xs, a):\n" + "\n".join("    " + line for line in REFUSED[reason].splitlines()), heapq=heapq)
    with pytest.raises(UnsupportedError, match=reason):
        tracebuf.bufferize(f)([2.0, 1.0], X)
