"""Lists of ints that are Python's or NumPy's, by the path or by which was stored last, as items and as indices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.params import one_in
from tracebuf.testing.ladder import climb

X = np.random.default_rng(1).random(6)
EDGES = np.array([[0, 1], [2, 3], [1, 2], [4, 5]])


def find(p, i):
    while p[i] != i:
        p[i] = p[p[i]]
        i = p[i]
    return i


def joined_sets(x, e):
    parent = list(range(6))
    for u, v in e:
        a, b = find(parent, u), find(parent, v)
        parent[a] = b
    groups = {}
    for i in range(6):
        groups.setdefault(int(find(parent, i)), []).append(i)
    return groups


def ranks(x, e):
    order = np.argsort(x)
    rank = [0] * len(x)
    for r, i in enumerate(order):
        rank[i] = r
    return rank


def tour(x, e):
    nxt = [0] * len(x)
    cur = int(x.argmin())
    start = cur
    for _ in range(len(x) - 1):
        d = np.abs(x - x[cur])
        d[cur] = np.inf
        j = d.argmin()
        nxt[cur] = j
        cur = j
    nxt[cur] = start
    return nxt


def pivots(x, e):
    perm = [0] * len(x)
    a = x.copy()
    for k in range(len(x)):
        p = k if a[k] > 0.5 else k + a[k:].argmax()
        perm[k] = p
        a[[k, p]] = a[[p, k]]
    return perm, a


def exchanges(x, e):
    perm = list(range(len(x)))
    for k in range(len(x)):
        p = k if x[k] > 0.5 else np.argmax(x)
        perm[k], perm[p] = perm[p], perm[k]
    return perm


def heads(x, e):
    found = [None] * 6
    for u, v in e:
        found[u] = v
    return [h for h in found if h is not None], found


@pytest.mark.parametrize("f", one_in(6, [pivots, ranks, tour, joined_sets, exchanges, heads]))
def test_programs(f: Any) -> None:
    climb(f, (X, EDGES), again=[(X[::-1].copy(), EDGES[::-1].copy())])
