"""Lists of a few items that are not alike (`[name, 0, x]`), items of lists that the run time picks from, reads and
changes: they are one object wherever they are."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program, refused
from tests.support.params import one_in
from tracebuf.testing.ladder import climb

X = np.random.default_rng(1).random(8)
IDX = np.array([0, 2, 1, 2, 2, 0, 1, 1])


def counted_by_index(x, idx):
    lines = [["a", x[0], 0], ["b", x[1], 0], ["c", x[2], 0]]
    for i in idx:
        lines[i][2] += 1
    return lines


def named_row(x, idx):
    lines = [["a", x[0], 0], ["b", x[1], 0], ["c", x[2], 0]]
    for i in idx:
        line = lines[i]
        line[2] += 1
        line[1] += 0.5
    return [line[2] for line in lines], sum(line[1] for line in lines)


def ordered_by_a_number(x, idx):
    n = len(x)
    rows = [[i, float(x[i]), 0] for i in range(n)]
    for i in idx:
        rows[i][2] += 1
        if rows[i][1] < 0.5:
            rows[i][1] = rows[i][1] * 2
    rows.sort(key=lambda r: r[1])
    return rows


def statistics(x, idx):
    stats = [["low", 0, 0.0], ["mid", 0, 0.0], ["high", 0, 0.0]]
    for v in x:
        k = 0 if v < 0.3 else (1 if v < 0.6 else 2)
        stats[k][1] += 1
        stats[k][2] += v
    for name, n, s in stats:
        if n:
            print(name, n, s / n)
    return stats


def picked(x):
    lines = [["a", x[0], 0], ["b", x[1], 0], ["c", x[2], 0]]
    line = lines[x[:3].argmax()]
    line[2] += 1
    return lines, line[0]


def kruskal(x, idx):
    edges = [[i, (i + 1) % 5, x[i]] for i in range(5)]
    edges.sort(key=lambda e: e[2])
    parent = list(range(5))
    rank = [0] * 5
    def find(parent, i):
        while parent[i] != i:
            i = parent[i]
        return i
    tree = []
    for u, v, w in edges:
        a, b = find(parent, u), find(parent, v)
        if a != b:
            tree.append([u, v, w])
            if rank[a] < rank[b]:
                parent[a] = b
            elif rank[a] > rank[b]:
                parent[b] = a
            else:
                parent[b] = a
                rank[a] += 1
    return tree


def clustered(x, eps):
    clusters = []
    for v in x:
        for c in clusters:
            if abs(c[0] - v) < eps:
                c[0] = (c[0] * c[1] + v) / (c[1] + 1)
                c[1] += 1
                break
        else:
            clusters.append([v, 1])
    return clusters


def ints_and_floats(x, idx):
    rows = [[0, 0] for _ in range(4)]
    for v, i in zip(x, idx):
        rows[i][0] += 1
        rows[i][1] += v
    rows.sort(key=lambda r: r[1])
    return rows


def people(x, idx):
    people = [["ann", 30, 1.5], ["bob", 25, 2.5], ["cy", 41, 0.5]]
    for k, i in enumerate(idx):
        people[i][2] += x[k]
        people[i][1] += 1
        if people[i][2] > 2:
            people[i][0] = "rich"
    people.sort(key=lambda p: -p[2])
    oldest = max(people, key=lambda p: p[1])
    for name, age, money in people:
        print(f"{name}: {age} {money:.3f}")
    return people, oldest, [p[0] for p in people], oldest is people[0], len(oldest), oldest[-1], oldest[1:]


def stock(x, idx):
    inv = [["a", 3], ["b", 1], ["c", 0]]
    for i in idx:
        item = inv[i]
        if item[1] > 0:
            item[1] -= 1
        else:
            item[1] = 5
    total = sum(row[1] for row in inv)
    return total, inv


def exchanged(x, idx):
    rows = [["a", 0], ["b", 0]]
    i = idx[0] % 2
    rows[i], rows[1 - i] = rows[1 - i], rows[i]
    rows[i][1] += 3
    rows[0] = ["z", 4]
    keep = rows[i]
    rows[i] = ["q", 9]
    keep[1] = 11
    return rows, keep


def logged(x, idx):
    hist = []
    for k in range(len(x)):
        hist.append(["step", k, x[k]])
        if x[k] < 0.3:
            hist[-1][0] = "low"
    return hist


def round_robin(x, idx):
    procs = [["P1", 0, 5, 0], ["P2", 1, 3, 0], ["P3", 2, 8, 0]]
    t = 0
    while any(p[2] > 0 for p in procs):
        for p in procs:
            if p[2] > 0:
                run = min(2, p[2])
                t += run
                p[2] -= run
                if p[2] == 0:
                    p[3] = t
    return [(p[0], p[3]) for p in procs], t + x[0] * 0


def events(x, idx):
    found = []
    for k in range(len(x)):
        if x[k] > 0.5:
            found.append([k, "up", x[k]])
        else:
            found.append([k, "down", -x[k]])
    found.sort(key=lambda e: e[2])
    for e in found:
        e[0] += 10
    return found


PROGRAMS = [
    counted_by_index, named_row, ordered_by_a_number, statistics, picked, kruskal, ints_and_floats, people, stock,
    exchanged, logged, round_robin, events,
]  # fmt: skip


@pytest.mark.parametrize("f", one_in(8, PROGRAMS))
def test_programs(f: Any) -> None:
    args = (X,) if f.__code__.co_argcount == 1 else (X, IDX)
    climb(f, args)


@pytest.mark.slow
def test_loops_with_else_that_append_to_what_they_go_over() -> None:
    def distinct(x: Any, eps: float) -> Any:
        found: list[Any] = []
        counts = []
        for v in x:
            for k, c in enumerate(found):
                if abs(c - v) < eps:
                    counts[k] += 1
                    break
            else:
                found.append(v)
                counts.append(1)
        return found, counts

    climb(clustered, (X, 0.1), again=[(X[:3], 0.5), (X[:1], 0.1)])
    climb(distinct, (X, 0.1), again=[(X[:3], 0.5), (X[:0], 0.1)])


MADE = """def f(idx):
    rows = [["a", 0, 1.5], ["b", 2, 0.5], ["c", 3, 2.5]]
    out = []
    row = rows[idx[0] % 3]
    row[1] += 1
    other = ["a", 1, 1.5]
    {}
    return rows, row, out
"""
READ = [
    "list(row), rows", "copy.copy(row[:2])", "[k for k in enumerate(row)]",
    "isinstance(row, list), type(row) is list, isinstance(row, dict)",
    "row is rows[0], row is None", "row[1:], row[:2], row[::-1], row[-2]", "row + ['z'], row * 2",
    "[list(r) for r in rows]", "tuple(row)",
    "','.join(map(str, row)), str(row), f'{row}'", "{r[0]: r[1] for r in rows}", "sorted(rows, key=lambda r: -r[2])",
    "min(rows, key=lambda r: r[1])[0]", "np.array([r[1:] for r in rows])",
    "any(r[0] == 'b' for r in rows), all(r for r in rows), bool(row), not row",
    "[*row, 1], (lambda n, k, v: (k, n))(*row)", "len(rows), len(row), rows[-1], rows[:2]",
    "[name for name, *_ in rows]", "list(reversed(row))",
    "rows[::-1], rows", "[(r, r[0]) for r in rows], {'r': row, 'all': rows}", "row[1.0]", "row['a']", "row.values()",
    "row[3]", "row[0].upper() + 'x'",
]  # fmt: skip
CHANGED = [
    "row[0], row[1] = 'q', row[1] + 1", "n, *rest = row\n    rest[0] = 9",
    "for k, v in enumerate(row):\n        row[2] = 7.5\n        out.append((k, v))",
    "rows.append(rows[0])\n    rows[-1][1] = 99", "rows.append(row)\n    row[0] = 'new'",
    "rows.insert(0, ['n', 5, 5.5])\n    rows[idx[1] % 3][1] = 4",
    "del rows[idx[0] % 3]\n    row[1] = 77", "x = rows.pop(idx[0] % 3)\n    x[1] = 5\n    out.append(x)",
    "new = list(row)\n    new[0] = 'copy'\n    out.append(new)",
    "def g(r):\n        r[1] = -1\n    g(row)", "row[3] = 1", "row[1] = None", "row[1] = 2.5",
    "for r in rows:\n        r[1] += 1\n        if r[0] == 'b':\n            r[0] = 'B'",
    "rows[:] = [r for r in rows if r[1] > 0]\n    row[1] = 5",
    "other[1] = 100\n    rows[0] = other\n    other[1] = 200",
    "rows.extend([['y', 2, 2.0], ['z', 1, 1.0]])\n    rows[-1][1] = idx[0] % 3",
    "rows.sort(key=lambda r: r[2], reverse=True)\n    rows[0][0] = 'top'",
    "again = sorted(rows, key=lambda r: r[2])\n    again[0][0] = 'low'\n    out.append(again)",
    "cp = [r[:] for r in rows]\n    cp[idx[0] % 3][1] = 66\n    out.append(cp)",
    "if idx[0] > 0:\n        rows.append(['n', 1, 1.0])\n    rows[-1][1] += 5",
    "row = rows[0] if idx[0] > 0 else rows[1]\n    row[1] = 12", "row[2] = np.float64(1.0)\n    row[2] = idx[0]",
    "rows.clear()\n    row[1] = 4\n    out.append(row)",
    "for v in row:\n        row[2] = 7.5\n        out.append(v)",
    "for v in reversed(row):\n        row[0] = 'z'\n        out.append(v)",
]  # fmt: skip


@pytest.mark.parametrize("text", one_in(6, READ))
def test_reading(text: str) -> None:
    f = program(MADE.format("pass").replace("rows, row, out", text), copy=copy)
    for idx in ([2, 0, 1], [0, 0, 1]):
        agree(f, np.array(idx))


@pytest.mark.parametrize("text", one_in(6, CHANGED))
def test_changing(text: str) -> None:
    f = program(MADE.format(text))
    for idx in ([2, 0, 1], [0, 0, 1]):
        agree(f, np.array(idx))


def test_identity() -> None:
    f = program(MADE.format("rows.append(row)"))
    rows, row, _ = tracebuf.bufferize(f)(np.array([2, 0, 1]))
    assert rows[2] is row and rows[3] is row and type(row) is list


REFUSED = [
    "row.append(3)", "row += [3]", "row *= 2", "del row[0]", "row.insert(0, 'k')", "row.pop()", "row.reverse()",
    "row[0:2] = ['u', 8]", "row[idx[1]] = 'x'", "out.append(row[idx[1]])", "row[-1] = 'text'", "row[0] = 3",
    "out.append(max(rows))", "out.append(row < rows[0])", "rows.remove(row)",
    "grid = [[row]]\n    grid[idx[1]][0][1] = 2",
]  # fmt: skip


@pytest.mark.parametrize("text", one_in(6, REFUSED))
def test_what_is_refused(text: str) -> None:
    refused(program(MADE.format(text)), np.array([2, 0, 1]))


@pytest.mark.slow
def test_lists_of_numbers_that_are_walked_or_repeated_are_as_they_are_then() -> None:
    ""
    "Of lists that are items, `enumerate`, `zip`, `map` and `reversed` give the items of then; `*=` changes the list."
    ""
    walks = ["for v in reversed(row):\n        row[0] = 9", "for k, v in enumerate(row):\n        row[2] = 9",
             "for v, w in zip(row, row[1:]):\n        row[1] = 9\n        v += w",
             "for v in map(lambda t: t + 1, row):\n        row[2] = 9"]  # fmt: skip
    text = "def f(idx):\n    m, out = [[1, 2, 3], [4, 5, 6]], []\n    row = m[idx[0]]\n    {}\n    return m, out"
    for walk in walks:
        agree(program(text.format(walk + "\n        out.append(v)")), np.array([1]))
    agree(program(text.format("row *= 2")), np.array([1]))
    agree(program(text.format("m[idx[0]] *= 2\n    out.append(row)")), np.array([1]))


def test_the_greatest_of_lists_of_numbers_is_refused() -> None:
    """It raised the TypeError of objects without an order."""
    f = program("def f(idx):\n    m = [[3, 1], [2, 4]]\n    m[idx[0]][0] += 1\n    return max(m)")
    refused(f, np.array([1]))
