"""Recursions that change lists, dicts, objects and names of around them, are given lists, and return lists
(interpreter/recursion): depth-first searches, backtracking, sorts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import refused
from tests.support.params import one_in
from tracebuf.testing.ladder import climb

A = np.random.default_rng(0).random((6, 6)) < 0.4
V = np.array([0.4, 0.2, 0.9, 0.3])


# -- what is around
def depth_first(adj, start):
    n, order = len(adj), []
    visited = [False] * n

    def go(u):
        visited[u] = True
        order.append(u)
        for v in range(n):
            if adj[u, v] and not visited[v]:
                go(v)

    go(start)
    return order, visited


def given_by_name(adj, start):
    def go(u, seen, out):
        seen[u] = True
        out.append(u)
        for v in range(len(adj)):
            if adj[u, v] and not seen[v]:
                go(v, seen, out)

    seen, out = [False] * len(adj), []
    go(start, seen, out)
    return out


def counted(adj, start):
    n, seen, calls, best = len(adj), np.zeros(len(adj), bool), 0, -1.0

    def go(u, d):
        nonlocal calls, best
        seen[u] = True
        calls += 1
        if d * 1.5 > best:
            best = d * 1.5
        for v in range(n):
            if adj[u, v] and not seen[v]:
                go(v, d + 1)

    go(start, 0)
    return calls, best


class Search:
    def __init__(self, adj):
        self.adj = adj
        self.seen = np.zeros(len(adj), bool)
        self.n, self.total, self.out = 0, 0.0, []

    def go(self, u):
        self.seen[u] = True
        self.n += 1
        self.out.append(u)
        self.total += 0.5 * u
        for v in range(len(self.adj)):
            if self.adj[u, v] and not self.seen[v]:
                self.go(v)


def of_an_object(adj, start):
    s = Search(adj)
    s.go(start)
    return s.n, s.total, np.array(s.out)


def components(adj, start):
    n = len(adj)
    index, low, on = np.full(n, -1), np.zeros(n, int), np.zeros(n, bool)
    stack, sizes, counter = [], [], [0]

    def strong(v):
        index[v] = low[v] = counter[0]
        counter[0] += 1
        stack.append(v)
        on[v] = True
        for w in range(n):
            if adj[v, w]:
                if index[w] < 0:
                    strong(w)
                    low[v] = min(low[v], low[w])
                elif on[w]:
                    low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            k = 0
            while True:
                w = stack.pop()
                on[w] = False
                k += 1
                if w == v:
                    break
            sizes.append(k)

    for v in range(n):
        if index[v] < 0:
            strong(v)
    return sizes


def colors(adj, start):
    n = len(adj)
    color = [-1] * n

    def fits(u, c):
        for w in range(n):
            if adj[u, w] and color[w] == c:
                return False
        return True

    def solve(u):
        if u == n:
            return True
        for c in range(3):
            if fits(u, c):
                color[u] = c
                if solve(u + 1):
                    return True
                color[u] = -1
        return False

    return solve(start), color


def backtracking(v):
    out, path = [], []

    def rec(i, s):
        if i == len(v):
            if s < 1.0:
                out.append(len(path))
            return
        rec(i + 1, s)
        path.append(v[i])
        rec(i + 1, s + v[i])
        path.pop()

    rec(0, 0.0)
    return out, path


def adaptive(v):
    points = []

    def rec(a, b, fa, fb):
        m = (a + b) / 2
        fm = np.sin(m) * m
        if abs(fm - (fa + fb) / 2) < 1e-2:
            points.append(m)
            return (b - a) * (fa + 4 * fm + fb) / 6
        return rec(a, m, fa, fm) + rec(m, b, fm, fb)

    return rec(v[0], v[0] + 3, np.sin(v[0]) * v[0], np.sin(v[0] + 3) * (v[0] + 3)), len(points)


def of_a_dict(v):
    """The sum is Python's number or NumPy's."""
    d = {"n": 0, "s": 0.0}

    def rec(k, s):
        d["n"] += 1
        if s > v.sum():
            return
        d["s"] = d["s"] + v[k % len(v)]
        rec(k + 1, s + v[k % len(v)])
        rec(k + 2, s + 1.5)

    rec(0, 0.0)
    return d["n"], d["s"]


def arrays_in_a_list(v):
    held = [v.copy(), v * 2]

    def rec(k, s):
        if s > 4:
            return
        held[0] += s
        held[1] = held[1] + held[0]
        rec(k + 1, s + v[k % len(v)] + 0.5)

    rec(0, 0.0)
    return held[0], held[1]


class Held:
    def __init__(self):
        self.a, self.items, self.other = np.zeros(3), [], None


def arrays_of_an_object(v):
    p = Held()

    def rec(k, s):
        if s > 3:
            return
        p.a = p.a + s
        p.items.append(s)
        p.a[0] -= 1
        rec(k + 1, s + v[k % len(v)] + 0.1)
        p.items.append(-s)

    before = p.a
    rec(0, 0.0)
    return p.a, before, p.items, p.other


def tuples_in_a_list(v):
    out = []

    def rec(lo, hi):
        if hi - lo < 2:
            out.append((lo, v[lo]))
            return 1
        m = (lo + hi) // 2
        n = rec(lo, m)
        out.append((m, v[m] * n))
        return n + rec(m, hi)

    return rec(0, len(v)), out


# -- lists that are given
def merge_sort(a):
    if len(a) > 1:
        m = len(a) // 2
        left, right = a[:m], a[m:]
        merge_sort(left)
        merge_sort(right)
        i = j = k = 0
        while i < len(left) and j < len(right):
            if left[i] < right[j]:
                a[k] = left[i]
                i += 1
            else:
                a[k] = right[j]
                j += 1
            k += 1
        while i < len(left):
            a[k] = left[i]
            i += 1
            k += 1
        while j < len(right):
            a[k] = right[j]
            j += 1
            k += 1


def sorted_halves(v):
    a = list(v)
    merge_sort(a)
    return a


def grown_behind_its_call(v):
    def rec(a, out):
        if len(a) == 0:
            return
        out.append(a[0])
        rec(a[1:], out)
        a.append(9.0)

    a, out = list(v), []
    rec(a, out)
    return a, out


# -- lists that are returned
def quick(a):
    if len(a) <= 1:
        return a
    p = a[len(a) // 2]
    return quick([x for x in a if x < p]) + [x for x in a if x == p] + quick([x for x in a if x > p])


def quicksort(v):
    return quick(list(v))


def merged(left, right):
    out, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            out.append(left[i])
            i += 1
        else:
            out.append(right[j])
            j += 1
    out += left[i:]
    out += right[j:]
    return out


def halves(a):
    if len(a) <= 1:
        return a
    m = len(a) // 2
    return merged(halves(a[:m]), halves(a[m:]))


def merge_sorted(v):
    return halves(v.tolist())


def sums_of_subsets(v):
    def rec(i):
        if i == len(v):
            return [0.0]
        r = rec(i + 1)
        return r + [x + v[i] for x in r]

    return sorted(rec(0))


def changed_after_it_is_returned(v):
    total = []

    def rec(a):
        total.append(len(a))
        if len(a) < 2:
            return [a[0] * 2]
        r = rec(a[:-1])
        r.append(a[-1])
        total.append(len(r))
        return r

    r = rec(list(v))
    r[0] = 5.0
    return r, total


def what_is_around_is_returned(v):
    seen = []

    def rec(s):
        if len(seen) > 6:
            return seen
        seen.append(s)
        return rec(s * 1.5 + v[0])

    return rec(v[1]), seen


def longer_at_each_depth(v):
    def rec(a, k):
        if k <= v[0]:
            return a
        return rec(a + [k], k - 1)

    return rec(list(v), v[0] + 3)


def in_both_branches(adj, start):
    """The lists of one branch are not there in the other."""
    if adj[0, 1]:
        order, visited = depth_first(adj, start)
    else:
        order, visited = depth_first(adj.T, start)
    return len(order), [len(depth_first(adj, k)[0]) for k in range(3)], visited


OF_GRAPHS = [
    depth_first, given_by_name, counted, of_an_object, components, colors, in_both_branches,
]  # fmt: skip
OF_NUMBERS = [
    backtracking, of_a_dict, arrays_in_a_list, quicksort, sorted_halves, adaptive, arrays_of_an_object,
    tuples_in_a_list, grown_behind_its_call, merge_sorted, sums_of_subsets, changed_after_it_is_returned,
    what_is_around_is_returned, longer_at_each_depth,
]  # fmt: skip


@pytest.mark.parametrize("function", one_in(3, OF_GRAPHS))
@pytest.mark.cases(3)
def test_searches(function: Callable[..., Any]) -> None:
    climb(function, (A, 0), again=[(~A, 0)])


@pytest.mark.parametrize("function", one_in(4, OF_NUMBERS))
@pytest.mark.cases(4)
def test_lists_of_numbers(function: Callable[..., Any]) -> None:
    climb(function, (V,), again=[(np.random.default_rng(1).random(5) + 0.1,)])


def test_what_stays_refused() -> None:
    def which_list(v):
        def rec(a, k):
            return a if k <= v[0] else rec(a + [k], k - 1)

        a = list(v)
        return rec(a, v[0] + 3) is a

    def exchanged(v):
        def rec(a, b, k):
            if k > v[0]:
                a.append(k)
                rec(b, a, k - 1)

        a, b = list(v), [1.0]
        rec(a, b, v[0] + 3)
        return a, b

    def caught(v):
        out = []

        def rec(x):
            if x > 20:
                raise ValueError(len(out))
            out.append(x)
            rec(x * 1.5 + 0.1)

        try:
            rec(v[0])
        except ValueError:
            out.append(-1.0)
        return out

    assert "whether it is another one" in refused(which_list, V).reason
    assert "at another depth" in refused(exchanged, V).reason
    assert "in a `try`" in refused(caught, V).reason


def test_a_list_is_handed_over_without_a_trace_for_each_length() -> None:
    f = tracebuf.bufferize(quicksort)
    for n in (1, 2, 7, 40, 300):
        v = np.random.default_rng(n).random(n)
        assert f.call_counted(v)[0] == quicksort(v)
    assert len(f.specializations()) <= 3
