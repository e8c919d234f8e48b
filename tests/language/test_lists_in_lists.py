"""Lists that are items of lists, read and changed at places that only the run time knows: they are one object wherever
they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree
from tests.support.params import slow_but
from tracebuf.errors import UnsupportedError
from tracebuf.testing.ladder import climb

R = np.random.default_rng(5)
K = np.array([2, 0, 1, 2, 2])
A = R.normal(size=(4, 4)) + 4 * np.eye(4)
EDGES = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [4, 5]])


def stored(k):
    m = [[0.0, 1.0, 2.0] for _ in range(3)]
    for i in k:
        m[i][1] += 1
        m[-1][i] = m[i][1] * 2
    return m


def exchanged(k):
    m = [[1, 2], [3, 4], [5, 6]]
    i, j = int(k[0]), int(k[1])
    first = m[i]
    m[i], m[j] = m[j], m[i]
    row = m[i]
    row[0] = 9
    m[j][1] += 10
    return m, row, first, first[1]


def one_row_twice(k):
    m = [[0, 0], [1, 1], [2, 2]]
    m[k[0]] = m[k[1]]
    m[k[0]][0] = 7
    return m, m[k[1]][0]


def replaced_row(k):
    m = [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    old = m[k[0]]
    m[k[0]] = [x * 2 for x in m[k[1]]]
    old[1] = -1.0
    return m, old, m[k[0]][1], m[k[1]]


def named_then_item(k):
    m = [[1.0], [2.0], [3.0]]
    row = [5.0, 6.0]
    m[k[0]] = row
    row[0] = 7.0
    m[k[0]][1] = 8.0
    row.append(9.0)
    return m, row, len(m[k[0]]), m[k[0]][0], row[1]


def in_two_lists(k):
    a, b = [[0], [1], [2]], [[3], [4], [5]]
    row = [9]
    a[k[0]] = row
    b[k[1]] = row
    b[k[1]][0] = 8
    return a, b, row


def grown_in_loop(k):
    rows = []
    for i in k:
        row = [i]
        for j in range(i):
            row.append(j * i)
        rows.append(row)
        rows[0][0] = 100
        row.append(-1)
    return rows, rows[k[0]][-1]


def neighbours(edges):
    adj = [[] for _ in range(6)]
    for u, v in edges:
        adj[u].append(v)
        adj[v].append(u)
    sizes = [len(a) for a in adj]
    seen, stack, order = [False] * 6, [int(edges[0, 0])], []
    while stack:
        u = stack.pop()
        if seen[u]:
            continue
        seen[u] = True
        order.append(u)
        for v in adj[u]:
            if not seen[v]:
                stack.append(v)
    return adj, sizes, order


def with_weights(edges):
    graph = {i: [] for i in range(6)}
    for n, (u, v) in enumerate(edges):
        graph[int(u)].append((int(v), n * 0.5))
    total = 0.0
    for u in range(6):
        for v, w in graph[u]:
            total += w * v
    return total, len(graph[int(edges[0, 1])])


def solved(a):
    m = [[float(x) for x in row] + [1.0] for row in a]
    n = len(m)
    for c in range(n):
        p = c
        for r in range(c + 1, n):
            if abs(m[r][c]) > abs(m[p][c]):
                p = r
        m[c], m[p] = m[p], m[c]
        m[c] = [x / m[c][c] for x in m[c]]
        for r in range(n):
            if r != c:
                f = m[r][c]
                m[r] = [x - f * y for x, y in zip(m[r], m[c])]
    return np.array([row[n] for row in m]), np.array(m)


def methods(k):
    m = [[1, 2, 3], [4, 5], [6]]
    i, j = k[0], k[1]
    m[i].extend([7, 8])
    m[j].insert(1, 50)
    m[i].insert(0, 0)
    got = m[j].pop(), m[i].pop(0), m[i].index(7), m[j].count(50)
    m[j].remove(50)
    del m[i][0]
    m[k[2]] += [9, 9]
    m[i][0:1] = [3, 3]
    copies = m[i][1:], m[i].copy(), list(m[j]), m[j] + [1], m[j] * 2, sorted(m[i]), m[i][::-1]
    m[i].reverse()
    m[j].clear()
    return m, got, copies, 9 in m[i], m[j] == [], not m[j], bool(m[i])


def folds(k):
    m = [[1.0, 5.0, 2.0], [0.5, 4.0, 8.0], [3.0, 3.0, 3.0]]
    i = k[0]
    a, b, c = m[i]
    best = max(m[i]), min(m[k[1]]), sum(m[i]), len(m[i])
    pairs = [x * y for x, y in zip(m[i], m[k[1]])]
    flags = any(x > 4 for x in m[i]), all(x > 0 for x in m[i])
    rows = [sum(row) for row in m]
    return a, b, c, best, pairs, flags, rows, np.mean(m[i]), np.array(m[i]) * 2


def on_paths(k):
    m = [[1, 2], [3, 4], [5, 6]]
    row = m[k[0]] if k[1] > 0 else m[k[2]]
    row[0] = 10
    for i in k:
        if row[1] > 2:
            row = m[i]
        row[1] += 1
    best = m[0]
    for r in m:
        if r[0] > best[0]:
            best = r
    best[0] = 0
    return m, row, best


def item_on_a_path(k):
    m = [[1], [2], [3]]
    row = [9, 9]
    if k[1] == 0:
        m[k[0]] = row
    else:
        m[k[0]][0] = 4
    found = []
    for i in k:
        row = [i, i]
        if i > 0:
            found.append(row)
    return m, found


def generations(k):
    pop = [[i, i + 1, 0] for i in range(4)]
    for g in range(3):
        new = []
        for n in range(4):
            mother, father = pop[(k[g] + n) % 4], pop[(k[g] * n) % 4]
            child = mother[:2] + father[2:]
            child[g] += 1
            new.append(child)
        pop = new
    return pop


def called(m, i, v):
    m[i].append(v)
    row = m[i]
    return row


def by_helper(k):
    m = [[0] for _ in range(3)]
    for i in k:
        row = called(m, i, i + 1)
        row[0] += 1
    return m


def by_key(k):
    d, e, total = {}, {}, 0
    for i in k:
        if i not in d:
            d[i] = []
        d[i].append(i * 2)
        e[int(i)] = [int(i), len(d[i])]
    for key, values in d.items():
        total += key * sum(values)
    return total, d, e, d[k[0]], sorted(d[k[0]])


def as_queue(edges):
    queue = [(int(edges[0, 0]), [int(edges[0, 0])])]
    longest, paths = 0, []
    while queue:
        u, path = queue.pop(0)
        longest = max(longest, len(path))
        paths.append(path)
        for a, b in edges:
            if a == u and b not in path:
                queue.append((int(b), path + [int(b)]))
    return longest, paths


def three_deep(k):
    m = [[[0, 1], [2, 3]], [[4, 5], [6, 7]], [[8, 9], [10, 11]]]
    m[k[0]][k[2]][0] += 100
    plane = m[k[0]]
    plane[0], plane[1] = plane[1], plane[0]
    m[k[1]].append([1])
    return m, plane[k[2]]


def arrays_in_rows(a):
    groups = [[] for _ in range(3)]
    for row in a:
        groups[int(abs(row[0])) % 3].append(row)
    return [np.mean(g, axis=0) if g else np.zeros(4) for g in groups], [len(g) for g in groups]


def ints_and_floats(k):
    m = [[0] * 3 for _ in range(3)]
    for i in k:
        m[i][0] += 1
        m[i][i] = m[i][0] / 2
    return m


def large(n):
    m = [[0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            m[i][j] = m[i - 1][j] + m[i][j - 1] + 1 if i and j else 1
            m[i][j] %= 1000
    return m[n - 1][n - 1], sum(m[n // 2])


PROGRAMS = {
    f.__name__: (f, x)
    for f, x in [
        (stored, K), (exchanged, K), (one_row_twice, K), (replaced_row, K), (named_then_item, K), (in_two_lists, K),
        (grown_in_loop, K), (neighbours, EDGES), (with_weights, EDGES), (solved, A), (methods, K), (folds, K),
        (on_paths, K), (item_on_a_path, K), (generations, K), (by_helper, K), (by_key, K), (as_queue, EDGES),
        (three_deep, K), (arrays_in_rows, A), (ints_and_floats, K), (large, 60),
    ]
}  # fmt: skip


@pytest.mark.parametrize("name", slow_but(("stored", "exchanged", "one_row_twice", "in_two_lists"), PROGRAMS))
@pytest.mark.cases(4)
def test_programs(name: str) -> None:
    f, x = PROGRAMS[name]
    agree(f, x)


@pytest.mark.slow
def test_identity() -> None:
    """An item and what is returned beside it are one object; two items that are one list stay one."""
    m, row, first, _ = tracebuf.bufferize(exchanged)(K)
    assert m[2] is row and m[0] is first and row is not first
    m, _ = tracebuf.bufferize(one_row_twice)(K)
    assert m[2] is m[0]
    m, old, _, other = tracebuf.bufferize(replaced_row)(K)
    assert other is m[0] and all(row is not old for row in m)
    a, b, row = tracebuf.bufferize(in_two_lists)(K)
    assert a[2] is b[0] is row


def kept_outside(k):
    rows, row = [], [0, 0]
    for i in k:
        rows.append(row)
        row[0] += i
    return rows


def used_after_a_path(k):
    m, row = [[1], [2], [3]], [9]
    if k[0] > 1:
        m[k[0]] = row
    row[0] = 4
    return m


def grows_meanwhile(k):
    m = [[1], [2], [3]]
    for x in m[k[0]]:
        if x < 5:
            m[k[0]].append(x + 1)
    return m


def given_list(k, row):
    m = [[1], [2], [3]]
    m[k[0]] = row
    return m


REFUSED = {
    "made outside of a loop": (kept_outside, K), "on some paths only": (used_after_a_path, K),
    "changes its length, or another one does": (grows_meanwhile, K),
    "a list of the caller's": (given_list, K, [5]),
}  # fmt: skip


@pytest.mark.parametrize("reason", REFUSED)
def test_refused(reason: str) -> None:
    f, *args = REFUSED[reason]
    with pytest.raises(UnsupportedError, match=reason):
        tracebuf.bufferize(f)(*args)


def asked_which(k):
    m = [[1], [2], [3]]
    first = m[k[0]]
    m[k[2]] = first
    return m[k[0]] is m[k[1]], first is m[k[2]], m[k[0]] is not m[k[3]], first is None


def test_which_list_it_is() -> None:
    agree(asked_which, K)


def out_of_range(k):
    m = [[1, 2], [3, 4], [5, 6]]
    return m[k[0]][k[1] + 2]


def too_many(k):
    m = [[1, 2], [3, 4], [5, 6]]
    m[k[0]].append(1)
    a, b = m[k[0]]
    return a + b


def popped_empty(k):
    m = [[1], [3], [5]]
    return m[k[0]].pop(), m[k[0]].pop()


def uneven(k):
    m = [[1, 2], [3, 4], [5, 6]]
    m[k[0]].append(1)
    return np.array(m)


@pytest.mark.parametrize("f", [out_of_range, too_many, popped_empty, uneven], ids=lambda f: f.__name__)
@pytest.mark.cases(4)
def test_errors(f: Any) -> None:
    agree(f, K)


def inserted_and_counted(w, n):
    g = [[0.5, 1.0], [2.0, 3.0], [4.0, 5.0]]
    k = 1
    for _ in g[:2]:
        g[k % 3].insert(0, max(w))
        for _ in range(n):
            for k in range(n):  # noqa: B007 (read below)
                g[1].append(len(g))
        g[k % len(g)][k % 2] = w[-1]
    return g


@pytest.mark.slow
def test_lengths_among_floats() -> None:
    """A length is an index of MLIR's, which became a number by a cast that keeps bits."""
    climb(inserted_and_counted, (A[0], 4))


def by_pivots(a):
    a = a.tolist()
    n = len(a)
    order = [[float(i == j) for i in range(n)] for j in range(n)]
    for j in range(n):
        row = max(range(j, n), key=lambda i: abs(a[i][j]))
        if j != row:
            order[j], order[row] = order[row], order[j]
    columns = list(zip(*a))
    return [[sum(x * y for x, y in zip(row, column)) for column in columns] for row in order]


@pytest.mark.slow
def test_known_numbers_beside_a_list_that_may_be_shorter() -> None:
    agree(by_pivots, np.random.default_rng(0).normal(size=(3, 3)))

    def f(x):
        held = [v for v in x if v > 0]
        return [a * b for a, b in zip(held, (2, 3, 5))], sum(b for _, b in zip(held, (1.5, 2.5)))

    for x in ([1.0, -2, 3, 4, 5], [-1.0, 2], [-1.0]):
        agree(f, np.array(x))


@pytest.mark.slow
def test_rows_in_reverse_are_swapped_in_place() -> None:
    """What stands for the rows was copied."""

    def f(n):
        g = [[2.0, 3.0], [5.0]]
        g.reverse()
        for k in range(n):
            g[k % len(g)][k % 2] = 1
        return g[0][0] + g[1][1]

    climb(f, (4,), again=[(9,)])


@pytest.mark.slow
def test_arrays_in_reverse() -> None:
    def f(x, n):
        out = []
        for k in range(n):
            if x[k, 0] > 0:
                out.append(x[k] * 2)
        out.reverse()
        return np.array(out)

    x = np.array([[1.0, -1], [2, 3], [-4, 5], [6, 7], [8, 9]])
    climb(f, (x, 5), again=[(x, 4), (x, 1)])
