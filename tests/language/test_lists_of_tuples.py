"""Lists of run-time length whose items are tuples, named tuples and lists of numbers."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program
from tests.support.params import one_in, slow_but
from tracebuf.errors import UnsupportedError

X = np.random.default_rng(3).normal(size=40)
Y = np.random.default_rng(4).integers(0, 4, size=30)
Point = namedtuple("Point", "x y")


def peaks(x):
    out = []
    for i in range(1, len(x) - 1):
        if x[i - 1] < x[i] > x[i + 1]:
            out.append((i, x[i]))
    return out


def peaks_used(x):
    out = peaks(x)
    total = 0.0
    for i, v in out:
        total += i * v
    for k in range(len(out)):
        i, v = out[k]
        total += i * v - out[k][1]
    places = [p[0] for p in out]
    last = out[-1]
    return total, out[-1][0], len(out), places, last, out[1:3], out[0], sum(v for i, v in out)


def folds(more):
    return np.mean(more, axis=0), np.max(more)


def arrays(x):
    out, more = [], [(0.5, -1.0)]
    for i, v in enumerate(x):
        out.append((i, v))
        more.append((v, float(i)))
    a = np.array(out)
    columns = np.asarray(more)[:, 0], np.asarray(out)[:, 0] * 2
    return a, columns, folds(more), np.array(out, dtype=float), np.array(out).T, a[:, 0].sum()


def ints(x):
    out = []
    for i in range(len(x)):
        out.append((i, i * i, i > 3))
    return np.array(out), out


def quicksort(x):
    x = x.copy()
    stack = [(0, len(x) - 1)]
    while stack:
        lo, hi = stack.pop()
        if lo >= hi:
            continue
        pivot, i = x[hi], lo
        for j in range(lo, hi):
            if x[j] < pivot:
                x[i], x[j] = x[j], x[i]
                i += 1
        x[i], x[hi] = x[hi], x[i]
        stack.append((lo, i - 1))
        stack.append((i + 1, hi))
    return x


def breadth_first(grid):
    rows, columns = grid.shape
    distance = np.full(grid.shape, -1)
    distance[0, 0] = 0
    queue = [(0, 0)]
    while queue:
        r, c = queue.pop(0)
        for dr, dc in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            i, j = r + dr, c + dc
            if 0 <= i < rows and 0 <= j < columns and grid[i, j] == 0 and distance[i, j] < 0:
                distance[i, j] = distance[r, c] + 1
                queue.append((i, j))
    return distance


def run_lengths(y):
    out = []
    count = 1
    for k in range(1, len(y)):
        if y[k] == y[k - 1]:
            count += 1
        else:
            out.append((y[k - 1], count))
            count = 1
    out.append((y[-1], count))
    return out


def intervals(x):
    out, start = [], -1
    for k in range(len(x)):
        if x[k] > 0 and start < 0:
            start = k
        elif x[k] <= 0 and start >= 0:
            out.append((start, k))
            start = -1
    if start >= 0:
        out.append((start, len(x)))
    longest = max(out, key=lambda p: p[1] - p[0])
    return out, longest, [b - a for a, b in out]


def changed(x):
    out = []
    for i, v in enumerate(x):
        out.append((i, v))
        if len(out) > 6:
            out.pop(2)
        out[0] = (i + 1, v)
        out.insert(1, (7, v + v))
    del out[1]
    more = out + [(1, x[0])]
    more += out
    copied = out.copy()
    copied.clear()
    more.extend(((2, x[1]), (3, x[2])))
    return out, more, copied, bool(copied), len(more)


def visited(y):
    seen = []
    for k in range(len(y) - 1):
        pair = (int(y[k]), int(y[k + 1]))
        if pair not in seen:
            seen.append(pair)
    return seen, (1, 2) in seen, seen.count((0, 0))


def nested(x):
    out = []
    for k in range(len(x)):
        out.append((k, (x[k], k > 3), complex(x[k], k)))
    a, (b, c), d = out[-1]
    return out, a, b, c, d


def named(x):
    out = []
    for k in range(len(x)):
        out.append(Point(x[k], k))
    return out, out[2].x + out[-1].y, out[0]


def written_lists(x):
    out = []
    for k in range(len(x)):
        out.append([k, x[k]])
    a, b = out[-1]
    return out, a, b, np.array(out)


def with_python_numbers(x):
    out = [(0, 0.0)]
    for k in range(len(x)):
        if x[k] > 0:
            out.append((k, x[k]))
    return out, np.array(out)


TUPLES = (peaks, peaks_used, arrays, ints, quicksort, intervals, changed, nested, named, written_lists,
          with_python_numbers)  # fmt: skip


@pytest.mark.parametrize("f", one_in(4, TUPLES))
def test_tuples(f: Any) -> None:
    agree(f, X)


@pytest.mark.slow
def test_of_ints() -> None:
    agree(run_lengths, Y)
    agree(visited, Y)
    agree(breadth_first, (np.random.default_rng(1).random((9, 11)) > 0.7).astype(int))


# -- in order
def in_order(x):
    out, whole = [], []
    for k, v in enumerate(x):
        out.append((k * 7 % 5, v))
        whole.append((k % 3, k % 2 == 0, -k))
    falling = sorted(out, reverse=True)
    by_value = sorted(out, key=lambda p: p[1])
    by_both = sorted(whole, key=lambda p: (p[2] % 4, p[0]), reverse=True)
    whole.sort()
    out.sort(key=lambda p: p[0])
    low, high = min(whole), max(out)
    return out, falling, by_value, by_both, whole, low, high, min(out, key=lambda p: p[1])


def numbers_by_key(x):
    out = []
    for v in x:
        out.append(v)
    out.sort(key=lambda v: abs(v))
    return out, sorted(out, key=lambda v: -v)


@pytest.mark.parametrize("f", [in_order, numbers_by_key])
@pytest.mark.slow
def test_in_order(f: Any) -> None:
    agree(f, X)
    agree(f, np.concatenate([X[:5], [0.0, -0.0, 0.0], X[:5]]))


@pytest.mark.slow
def test_order_among_nan_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="NaN"):
        tracebuf.bufferize(in_order)(np.append(X, np.nan))


def short_lists(x):
    none, one, known, made = [], [(0, x[0])], [3, 1.5, 2], [x[1], x[0], x[2]]
    none.sort()
    one.sort()
    known.sort(reverse=True)
    made.sort()
    return none, one, known, made, max([(0, x[0]), (1, x[1])])


def test_short_lists_are_sorted() -> None:
    agree(short_lists, X)


def best_of_few(x):
    states = ("H", "F", "L")
    prob, state = max((x[k], s) for k, s in enumerate(states))
    low = min([(x[k] + 1, k) for k in range(3)])
    both = max((x[0], 1), (x[1], 2)), max((1, x[0], "b"), (1, x[1], "a"))
    return prob, state, low, both, {"H": 1, "F": 2, "L": 3}[state]


def test_the_largest_of_few_tuples() -> None:
    for a in ([1.0, 2, 3], [3.0, 2, 1], [2.0, 2, 1], [1.0, 1, 1]):
        agree(best_of_few, np.array(a))
    with pytest.raises(UnsupportedError, match="among which is a NaN"):
        tracebuf.bufferize(best_of_few)(np.array([np.nan, 1, 2]))


# -- what is refused
REFUSED = {
    "of a list of items that are a tuple of": "for v in x:\n    out.append((v, (v, v)))\nreturn np.array(out)",
    "and a tuple of": "for v in x:\n    out.append((v, v))\n    out.append((v, v, v))\nreturn out",
    "a list of a tuple of": "for v in x:\n    out.append((v, 1))\n    out.append((v, (1.0, 2)))\nreturn out",
    "changes its length": "for v in x:\n    out.append((v, str))\nreturn out",
    "a search for tuples of anything but ints": "for v in x:\n    out.append((v, 1))\nreturn (x[0], 1) in out",
}


CHANGED = (
    "for v in x:\n    row = [v, v]\n    out.append(row)\n    row[0] = v * 2\nreturn out",
    "for v in x:\n    out.append([v, v])\nout[-1][0] = x[0]\nreturn out",
)


@pytest.mark.parametrize("text", CHANGED)
def test_lists_that_change(text: str) -> None:
    agree(program("def f(x):\n    out = []\n" + "\n".join("    " + line for line in text.splitlines())), X)


@pytest.mark.parametrize("reason", REFUSED)
def test_refused(reason: str) -> None:
    f = program("def f(x):\n    out = []\n" + "\n".join("    " + line for line in REFUSED[reason].splitlines()))
    with pytest.raises(UnsupportedError, match=reason):
        tracebuf.bufferize(f)(X)


def transposed(x):
    places, values = zip(*peaks(x))
    a, b = map(list, zip(*peaks(x)))
    a.append(len(x))
    c = np.array(list(zip(*peaks(x))))
    total = 0.0
    for i, v in zip(places, values):
        total += i * v
    last = places[-1], values[1:], sorted(values), list(values), max(places), len(places), places[0] in places
    return places, values, a, b, c, np.array(values) * 2, total, last, isinstance(places, tuple), tuple(a)


@pytest.mark.slow
def test_the_largest_of_tuples_that_are_made_in_turn():
    f = program("""
        def f(x, n):
            value, place = max((x[i] * n, i) for i in range(len(x)))
            low = min(((x[i] > 0, n - i) for i in range(len(x)) if x[i] < 1), default=(False, -1))
            return value, place, low, max((v, i) for i, v in enumerate(x))
    """)
    agree(f, X, 3)
    agree(f, np.array([1.0, 2.0, 2.0]), 0)
    agree(f, np.zeros(0), 1)
    agree(f, np.array([1.0, np.nan] * 9), 2)  # the place of a NaN that follows a greater tuple says nothing
    with pytest.raises(UnsupportedError, match="NaN"):
        tracebuf.bufferize(f)(np.array([np.nan, 1.0] * 9), 2)


def columns_then(line: str) -> Any:
    """A program that takes a list of pairs apart, and then does this."""
    return program(f"""
        def f(x):
            out = []
            for i in range(len(x)):
                out.append((i, x[i]))
            a, b = zip(*out)
            {line}
    """)


@pytest.mark.slow
def test_zip_of_the_items():
    agree(transposed, X)
    f = program("""
        def f(x, n):
            out = []
            for i in range(len(x)):
                if x[i] > 0:
                    out.append((i, i * n))
            if out:
                a, b = zip(*out)
            else:
                a, b = (), ()
            return len(out) and sum(a) + sum(b)
    """)
    agree(f, X, 3)
    agree(f, -abs(X), 3)
    for line, error in (("a[0] = 1", TypeError), ("del a[0]", TypeError), ("return a[99]", IndexError),
                        ("return a.index(-1)", ValueError)):  # fmt: skip
        g = columns_then(line)
        with pytest.raises(error):
            g(X)
        agree(g, X)
    with pytest.raises(UnsupportedError, match="empty"):
        tracebuf.bufferize(transposed)(np.zeros(5))
    for line in ("a.append(1)", "a += a", "a += [1]", "a.sort()"):
        with pytest.raises((UnsupportedError, AttributeError)):
            tracebuf.bufferize(columns_then(f"{line}; return a"))(X)


def convex_hull(points):
    def turns(o, a, b):
        return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])

    found = []
    for ordered in (sorted(map(tuple, points)), sorted((tuple(p) for p in points), reverse=True)):
        chain = []
        for p in ordered:
            while len(chain) >= 2 and turns(chain[-2], chain[-1], p) <= 0:
                chain.pop()
            chain.append(p)
        found.append(np.array(chain[:-1]))
    return np.concatenate(found)


def test_what_iterators_give_is_sorted() -> None:
    rng = np.random.default_rng(3)
    agree(convex_hull, (rng.random((20, 2)),), (np.round(rng.random((30, 2)), 1),))


def tuples_of_rows(a):
    points = [tuple(p) for p in a.tolist()]
    points.sort()
    return points, sorted(map(tuple, a.tolist())), len(set(map(tuple, a.tolist())))


def rows_as_lists(a):
    rows = a.tolist()
    first = rows[:]
    first[0][0] += 1
    rows.append([7, 8])
    return rows, first, [max(row) for row in rows], [list(column) for column in zip(*a.tolist())]


@pytest.mark.parametrize("f", [tuples_of_rows, rows_as_lists])
@pytest.mark.parametrize("dtype", slow_but([float], [float, int]))
@pytest.mark.slow
def test_rows_by_tolist(f: Any, dtype: type) -> None:
    agree(f, np.array([[2, 1], [1, 3], [1, 2]], dtype))
    agree(f, np.array([[2, 1]], dtype))


@pytest.mark.parametrize("item", ["(v, v * 2)", "np.array([v, 2 * v])"])
@pytest.mark.parametrize("dtype", ["np.float32", "np.complex64"])
def test_floats_are_rounded_by_the_dtype_of_the_array(item: str, dtype: str) -> None:
    f = program(f"def f(x, k):\n out = [{item} for v in x if v > k]\n return np.array(out, dtype={dtype})")
    for k in (1.5, 100.0):
        agree(f, np.array([1.0, 2.0, 3.7, 0.1]), k)
