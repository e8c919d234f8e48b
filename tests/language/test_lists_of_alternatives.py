"""Lists of run-time length whose items are ints or floats, or None, by the path (rules S8, C1)."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, refused

X = np.random.default_rng(5).normal(size=40)


def coins_needed(coins, amount):
    needed = [0] + [float("inf")] * amount
    for a in range(1, amount + 1):
        for c in coins:
            if c <= a:
                needed[a] = min(needed[a], needed[a - c] + 1)
    known = [v for v in needed if v != float("inf")]
    return needed, needed[amount] if needed[amount] != float("inf") else -1, len(known), needed[::2], needed * 2


def totals(x, n):
    out = []
    for k in range(n):
        total = 0
        for v in x:
            if v > 0.5:
                total += 0.5
            if v < k - 5:
                break
        out.append(total)
    out.append(out.pop(3) * 2)
    return out, sum(out), max(out), min(out), [v / 2 for v in out], any(out)


def distances(adjacent, start):
    n = len(adjacent)
    found, before = [None] * n, [None] * n
    found[start] = 0
    queue = deque([start])
    while queue:
        u = queue.popleft()
        for v in range(n):
            if adjacent[u, v] and found[v] is None:
                found[v], before[v] = found[u] + 1, u
                queue.append(v)
    path, v = [], n - 1
    while v is not None:
        path.append(v)
        v = before[v]
    return found, path[::-1]


def filled(a):
    parts = [None, None, None]
    for i in range(len(a)):
        parts[i] = a[i] * 2
    return np.array(parts), np.sum(parts), parts


def remembered(n):
    memo = [None] * (n + 1)
    memo[0], memo[1] = 0, 1
    for k in range(2, n + 1):
        if memo[k] is None:
            memo[k] = memo[k - 1] + memo[k - 2]
    return np.array(memo), memo[n], memo


def shortest(graph, start):
    n = len(graph)
    dist, before, done = [float("inf")] * n, [None] * n, [False] * n
    dist[start] = 0
    for _ in range(n):
        u = -1
        for i in range(n):
            if not done[i] and (u == -1 or dist[i] < dist[u]):
                u = i
        if dist[u] == float("inf"):
            break
        done[u] = True
        for v in range(n):
            if graph[u][v] and dist[u] + graph[u][v] < dist[v]:
                dist[v], before[v] = dist[u] + graph[u][v], u
    return dist, before


def pairs(x, n):
    out = []
    for k in range(n):
        out.append((k, None) if x[k] > 0 else (k, float(x[k])) if x[k] > -1 else (k, 1j))
    worst = 0.0
    for _, v in out:
        if v is not None:
            worst = max(worst, abs(v))
    return out, worst


def nothing(n):
    return [None] * n, [[None] * n, 1][1]


def as_arrays(x, n):
    out = [1] * n
    for k in range(n):
        if x[k] > 0:
            out[k] = float(x[k])
    x[: len(out)] += np.array(out)
    return np.asarray(out, dtype=float), np.array(out) * 2, np.isfinite(out), x


def of_three(x, n):
    out = []
    for v in x:
        out.append(v)
    for k in range(n):
        out.append(1.0)
        out.append(k)
    out[0] = out[-1]
    return out, out[0] + out[1], out[-2] * out[-1]


def shuffled(x, rng):
    out = []
    for v in x:
        out.append(v)
    rng.shuffle(out)
    return out


def ordered(x, n):
    out = [1] * n
    for k in range(n):
        if x[k] > 0:
            out[k] = float(x[k])
    return sorted(out)


@pytest.mark.slow
def test_ints_that_become_floats_by_the_path() -> None:
    agree(coins_needed, np.array([3, 5, 7]), 17)
    agree(coins_needed, np.array([6, 5]), 4)
    for x in (X, -abs(X)):
        agree(totals, x, 30)
        agree(as_arrays, np.append(X, [0.5]), 41) if x is X else None


@pytest.mark.slow
def test_none_or_numbers() -> None:
    adjacent = np.array([[0, 1, 0, 0, 0], [0, 0, 1, 1, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 1], [0, 0, 0, 0, 0]])
    for start in (0, 4, 2):
        agree(distances, adjacent, start)
    rng = np.random.default_rng(8)
    graph = (rng.random((6, 6)) < 0.5) * rng.integers(1, 9, (6, 6))
    for dtype in (np.int64, np.float64, np.int32):
        agree(shortest, graph.astype(dtype), 0)
    agree(filled, X[:3])
    agree(remembered, 50)
    agree(pairs, X, 30)
    agree(of_three, X, 5)
    mine, eager = (f(X, np.random.default_rng(2)) for f in (tracebuf.bufferize(shuffled), shuffled))
    assert mine == eager and {type(x) for x in mine} == {np.float64}
    for n in (0, 3, 40):
        agree(nothing, n)


@pytest.mark.slow
def test_what_is_refused() -> None:
    """Python compares ints and floats exactly; the array of ints alone is one of ints."""
    assert "an order, or an equality, of items that are a float or an int" in refused(ordered, X, 30).reason
    with pytest.raises(tracebuf.UnsupportedError, match="of which some are None"):
        tracebuf.bufferize(filled)(X[:2])
    with pytest.raises(tracebuf.UnsupportedError, match="is of ints alone"):
        tracebuf.bufferize(as_arrays)(-abs(X), 40)


@pytest.mark.slow
def test_tracing_ends_where_a_list_has_a_form_that_lists_in_lists_do_not() -> None:
    """What the list of floats gets was news in each tracing: the lists in `g` had made its form a wider one."""

    def program(v, t):
        k, a = 1, v.tolist()
        g = [[v[0], t], [v[1], v[2]]]
        if t > v[0]:
            g[k % 2].append(a[k % len(a)])
            for k, _ in enumerate(v):
                row = g[k % 2]
                g[1].append(len(row))
            while len(a) < 12:
                a.append(t)
        return g, a

    assert "a list of a float gets np.float64" in refused(program, np.arange(5.0), np.float64(3)).reason
