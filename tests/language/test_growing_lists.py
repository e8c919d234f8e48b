"""Lists whose length only the run time knows: what is appended in loops that are traced once, stacks, queues, lists
that are indexed by counters and data."""

from __future__ import annotations

import bisect
import textwrap
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program, refused
from tests.support.params import one_in
from tracebuf.errors import UnsupportedError

X = np.random.default_rng(3).normal(size=40)
INTS = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4])


# -- what is appended
def doubled(x):
    out = []
    for v in x:
        out.append(v * 2)
    return np.array(out)


def returned(x):
    out = []
    for v in x:
        out.append(v * 2)
    return out


def positive(x):
    out, places = [], []
    for k, v in enumerate(x):
        if v > 0:
            out.append(v)
            places.append(k)
    return np.array(out), places, len(out)


def several(x):
    out = []
    for v in x:
        out.append(v)
        out += [v + 1, v * v]
        out.extend((v - 1,))
    return np.asarray(out)


def floats(x):
    out = []
    for v in x:
        out.append(float(v))
    return out, np.array(out)


def ints(x):
    out = []
    for k in range(len(x)):
        out.append(k * k)
    return out


def bools(x):
    out = []
    for k in range(len(x)):
        out.append(x[k] > 0)
    return out, np.array(out, dtype=bool)


def complexes(x):
    out = []
    for v in x:
        out.append(complex(v, 1.0))
    return out


def mixed(x):
    out = [0.0]
    for v in x:
        out.append(out[-1] + v)
    return out, np.array(out)


def nested(x):
    out = []
    for k in range(len(x)):
        for j in range(k):
            if x[j] < x[k]:
                out.append(j + k)
    return out, sum(out), len(out)


def collatz(n):
    out = []
    while n != 1:
        out.append(n)
        n = n // 2 if n % 2 == 0 else 3 * n + 1
    out.append(n)
    return out


def euler(y, dt, n):
    t = 0.0
    ts, ys = [t], [y]
    for _ in range(n):
        y = y - dt * y
        t = t + dt
        ts.append(t)
        ys.append(y)
    return np.array(ts), np.array(ys)


def folded(x):
    out = []
    for v in x:
        if v > -1:
            out.append(v)
    folds = sum(out), min(out), max(out), any(out), all(out), np.sum(out), np.mean(out)
    return folds, out[0], out[-1], out[2], out[1:5]


def iterated(x):
    out = []
    for v in x:
        if v > 0:
            out.append(v)
    total = 0.0
    for v in out:
        total += v
    for k in range(len(out)):
        total += out[k] * k
    for k, v in enumerate(out):
        total += k * v
    return total


def stacked(x):
    a, b = [], []
    for v in x:
        a.append(v)
        b.append(v * v)
    return np.array([a, b]), np.column_stack((a, b)), np.concatenate([a, b]), np.vstack([a, b])


def alias(x):
    out = []
    other = out
    for v in x:
        out.append(v)
    other.append(1.0 * x[0])
    copied = list(out)
    copied.append(x[0])
    return out, other, len(copied), out is other


def inner(x, out):
    for v in x:
        if v > 0:
            out.append(v)


def called(x):
    out = []
    inner(x, out)
    inner(-x, out)
    return np.array(out)


APPENDED = (doubled, returned, positive, several, floats, ints, bools, complexes, mixed, nested, folded, iterated,
            stacked, alias, called)  # fmt: skip


@pytest.mark.parametrize("f", APPENDED)
@pytest.mark.cases(3)
def test_appended(f: Any) -> None:
    agree(f, X)


@pytest.mark.slow
def test_appended_by_numbers() -> None:
    agree(collatz, 27)
    agree(euler, 1.0, 0.1, 30)
    agree(euler, np.float64(1.0), 0.1, 30)
    agree(doubled, X[:0])
    agree(returned, X[:0])
    agree(doubled, X.astype(np.float32))


# -- stacks and queues
def depth_first(children, root):
    stack, order = [root], []
    while stack:
        k = stack.pop()
        order.append(k)
        for c in children[k]:
            if c >= 0:
                stack.append(int(c))
    return np.array(order), order


def breadth_first(children):
    queue, order = [0], []
    while len(queue) > 0:
        k = queue.pop(0)
        order.append(k)
        for j in range(children.shape[1]):
            if children[k, j] >= 0:
                queue.append(children[k, j].item())
    return order


def too_often(x):
    stack = []
    for v in x:
        stack.append(v)
    total = 0.0
    for _ in range(len(x) + 1):
        total += stack.pop()
    return total


def past(x):
    out = []
    for v in x:
        if v > 0:
            out.append(v)
    return out[len(x)]


def stored_past(x):
    out = []
    for v in x:
        if v > 0:
            out.append(v)
    out[-len(x) - 1] = 0.0
    return out


# -- lists that are made outside of the loop
def counted(digits):
    counts = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    for d in digits:
        counts[d] += 1
    return counts, max(counts)


def table(x):
    squares = [0.5, 1.5, 2.5]
    total = 0.0
    for k in range(len(x)):
        total += squares[k % 3] * x[k]
        squares[(k + 1) % 3] = total
    return total, squares


def sieve(n):
    prime = [True] * 30
    for k in range(2, n):
        if prime[k]:
            for j in range(k * k, n, k):
                prime[j] = False
    return prime


TREE = np.array([[1, 2], [3, 4], [5, -1], [-1, -1], [6, -1], [-1, -1], [-1, -1]])


@pytest.mark.slow
def test_stacks_and_queues() -> None:
    agree(depth_first, TREE, 0)
    agree(breadth_first, TREE)
    for f in (too_often, past, stored_past):
        assert isinstance(agree(f, X), IndexError)


def test_made_outside() -> None:
    agree(counted, INTS)
    agree(table, X)
    agree(sieve, 30)
    agree(sieve, 12)


def changed(x):
    out, pairs = [], []
    for v in x:
        out.append(v)
    out[0] += 1
    out[-1] = x[0] + 5
    copied = out.copy()
    copied.clear()
    for v in x:
        if not pairs or v > pairs[-1]:
            pairs.append(v)
        elif len(pairs) > 2:
            pairs.pop()
    return out, copied, pairs, {"a": out, "n": len(out)}, isinstance(out, list), type(out) is list


def as_indices(x):
    where = []
    for k in range(len(x)):
        if x[k] > 0:
            where.append(k)
    x[where] = 0
    return x[where], x * where[0], np.array(where) + x.dot(x)


def rows(x):
    totals = []
    for k in range(len(x)):
        row = []
        for j in range(k):
            row.append(x[j])
        totals.append(sum(row))
        if sum(totals) > 1e3:
            break
    return np.array(totals)


def joined(x):
    a, b = [], []
    for v in x:
        if v > 0:
            a.append(v)
        else:
            b.append(v)
    c = a + b
    a += b
    a.extend(x)
    a.extend(v * 2 for v in x if v > 0)
    a += [v for v in x if v < 0]
    return a, c, x + (a[: len(x)])


def in_order(x):
    a, best = [], []
    for v in x:
        a.append(v)
        best.append(v)
        best.sort()
        if len(best) > 10:
            best.pop(0)
    falling = sorted(a, reverse=True)
    a.sort()
    return a, falling, best, sorted(x), sorted(x > 0, reverse=True), sorted([k * 7 % 31 for k in range(len(x))])


def listed(x):
    total = 0.0
    for v in x.tolist():
        total += v
    parts = (x > 0).tolist(), x.astype(np.float32).tolist(), x.astype(np.int8).tolist(), (x + 1j).tolist()
    return total, x.tolist(), parts, sorted(x.tolist())[3], list(x), list(range(len(x))), list(map(abs, x))


def comprehended(x):
    i = 5
    chosen = [v * 2 for v in x if v > 0]
    places = [i for i in range(len(x)) if x[i] > 0]
    pairs = [i * j for i in range(len(x)) for j in range(i) if x[i] > 2]
    sums = [x[k : k + 2].sum() for k in range(len(x) - 1)]
    return chosen, np.array(chosen), places, pairs, sums, [u * 2 for u in chosen if u > 1], [v + 1 for v in x], i


SIGNED = np.concatenate([X, [0.0, -0.0, 0.0, 1.0, -0.0, 1.0]])


@pytest.mark.parametrize("f", one_in(4, [changed, as_indices, rows, joined, in_order, listed, comprehended]))
def test_used(f: Any) -> None:
    agree(f, SIGNED)


@pytest.mark.slow
@pytest.mark.parametrize("f", [in_order, listed, comprehended])
def test_of_many(f: Any) -> None:
    agree(f, np.random.default_rng(4).normal(size=600))


# -- searches, and items put in and taken out anywhere
def sought(digits, k):
    seen, counts = [], []
    for d in digits:
        if d not in seen:
            seen.append(d)
        counts.append(int(d))
    return seen, counts.count(5), counts.count(k), seen.count(True), 5 in counts, k in counts, k in seen


def put_and_taken(digits, k):
    out, places = [], []
    for d in digits:
        out.insert(0, d)
        out.insert(len(out) // 2, d)
        out.insert(-2, d)
        out.insert(k, d * d)
        out.insert(-k - 99, d)
        places.insert(d, int(d))
    del out[0]
    del out[-1]
    del out[k]
    while 9 in places:
        places.remove(9)
    places.remove(k)
    return out, places


def insertion_sort(x):
    out = [x[0]]
    for v in x[1:]:
        k = len(out)
        while k > 0 and out[k - 1] > v:
            k -= 1
        out.insert(k, v)
    return np.array(out)


def removed_too_often(digits, k):
    out = []
    for d in digits:
        out.append(d)
    for _ in range(len(digits)):
        digits[0] += 1
        out.remove(k)


def deleted_past(digits, k):
    out = []
    for d in digits:
        out.append(d)
    digits[0] = 0
    del out[k * 100]


@pytest.mark.parametrize("f", one_in(2, [removed_too_often, sought, deleted_past, put_and_taken]))
def test_anywhere(f: Any) -> None:
    agree(f, INTS, 3)
    agree(f, INTS, 77)


def test_inserted_in_order() -> None:
    agree(insertion_sort, X)


def more_of_lists(digits, k):
    out, pairs = [], []
    for d in digits:
        if d > k:
            out.append(int(d))
            pairs.append((int(d), k))
    backwards, weighted = list(reversed(out)), 0
    for j, v in enumerate(reversed(out)):
        weighted += j * v
    again = out * k + [k] + 2 * out
    none = out * -1
    turned = out[::-1]
    out.reverse()
    same = out == turned, turned == out[::-1], out != again, out == [], none == [], pairs == pairs[:], [k] == out
    steps = sum(abs(b - a) for a, b in zip(out, out[1:]))
    place = out.index(9), pairs.index((5, k))
    return backwards, weighted, again, none, turned, out, same, steps, place, min(out, default=3), max(none, default=4)


def not_there(digits, k):
    out = []
    for d in digits:
        out.append(int(d))
    digits[0] = 7
    return out.index(k)


@pytest.mark.slow
def test_more_of_lists() -> None:
    agree(more_of_lists, INTS, 3)
    agree(not_there, INTS, 3)
    assert isinstance(agree(not_there, INTS, 77), ValueError)
    assert isinstance(agree(more_of_lists, INTS, 77), ValueError)


def spliced(n, i, j):
    tour = list(range(n))
    for k in range(n - 2):
        tour[k : k + i] = tour[k : k + i][::-1]
    tour[i:j] = reversed(tour[i:j])
    more = tour[:]
    more[2:4] = [7, 8, 9]
    more[j:i] = tour
    del more[1:3]
    tour[:] = tour
    del tour[-3:]
    tour[100:] = [5]
    tour[-2:-1] = []
    return tour, more, len(tour)


def copies_that_get_others(x, n):
    a = []
    for k in range(n):
        a.append(1.0 * k)
    b, c, d, e = a[:], a * 2, a + [3], list(a)
    for v in x:
        b.append(v)
        c.append(int(v > 0))
        d.append(v)
        e.append(None)
    b[0] = 2
    return a, b, c, d, e


def spliced_with_itself(x):
    out = []
    for v in x:
        out.append(v)
    out[1:1] = out
    del out[:]
    return out


def spliced_with_floats(n):
    out = list(range(n))
    for k in range(n):
        out[k : k + 1] = [1.5, 2]
    return out


@pytest.mark.slow
def test_parts_of_lists_are_replaced() -> None:
    for i, j in ((3, 7), (7, 2), (-5, -2)):
        agree(spliced, 9, i, j)
    agree(spliced, 700, 3, 600)
    for n in (30, 1):
        agree(copies_that_get_others, X, n)
    agree(spliced_with_itself, X)
    agree(spliced_with_floats, 600)


def searched(x, value):
    out = []
    for v in x:
        if v > 0:
            out.append(v)
    first = out.index(value) if value in out else -1
    many = out.count(value)
    if value in out:
        out.remove(value)
    return out, first, many, out[0] in out, 2 in out


@pytest.mark.slow
def test_floats_are_looked_for() -> None:
    """A list whose length is only known at run time was searched for ints alone."""
    x = np.array([0.5, -1, 2, 2, np.nan, 3, -0.0, np.inf])
    for value in (2.0, 2, np.float32(2), 0.1, np.inf, -1.0):
        agree(searched, x, value)
        agree(searched, x.astype(np.float32), value)


# -- what is refused
REFUSED = {
    "is one or another": "other = []\nfor v in x:\n    chosen = out if v > 0 else other\n"
    "    kept = (chosen, 1)\n    chosen.append(v)",
    "operator on a list": "return out * 2.5",
    "np.block of a list": "return np.block([out[k:] for k in range(2)] if len(x) < 0 else out)",
    "a part of a list": "return [int(v) for v in out if v > 0].index(1, 2)",
    "a NaN is looked for": "return np.nan in out",
    "changes in a loop": "for v in reversed(out):\n    out.append(v)\nreturn out",
    "a list of a tuple of": "for v in x:\n    out.append((v, v))\nreturn out",
}


@pytest.mark.parametrize("reason", REFUSED)
def test_refused(reason: str) -> None:
    begin = "out = []\nfor v in x:\n    out.append(v)\n"
    lines = (begin + REFUSED[reason]).splitlines()
    f = program("def f(x):\n" + "\n".join("    " + line for line in lines))
    with pytest.raises(UnsupportedError, match=reason):
        tracebuf.bufferize(f)(X)


def found(x):
    out = []
    for k in range(len(x)):
        if x[k] > 0:
            out.append(k)
    return np.array(out)


def found_sums(x):
    places, small = [], []
    for k in range(len(x)):
        if x[k] > 0:
            places.append(k)
            small.append(np.float32(x[k]))
    x[0] = 3.0
    folds = np.sum(places), np.mean(small), np.max(places, initial=0), np.sum(small, axis=0), len(np.array(places, int))
    return folds, np.diff(places), np.cumsum(small), np.array(places, dtype=np.int8) * 2, x[places]


def found_used(x):
    places = []
    for k in range(len(x)):
        if x[k] > 0:
            places.append(k)
    x[0] = 3.0
    p = np.array(places)
    x[p] = 1.0
    return x


def found_doubled(x):
    return found(x) * 2


def found_many(x):
    places = []
    for k in range(len(x)):
        if x[k] > 0:
            places.append(k)
    return np.concatenate([places, places])


def chosen_by_truths(x):
    chosen = []
    for v in x:
        chosen.append(v > 0)
    return x[chosen]


def chosen_by_some_truths(x):
    chosen = []
    for v in x:
        if v < 9:
            chosen.append(v > 0)
    return x[chosen]


def as_long_as_counted(x, n):
    places, rows, k = [7], [], 3
    for v in x:
        places.append(int(v > 0))
    for _ in range(n, 0, -2):
        rows.append(x + k)
        k -= 2
    return np.zeros(len(x)) + np.array(places)[1:], np.array(rows) + x, k, len(rows), np.arange(k, 20)


@pytest.mark.slow
@pytest.mark.parametrize("f", [found, found_sums, found_used, found_doubled])
def test_the_array_of_an_empty_list_is_one_of_floats(f: Any) -> None:
    for x in (X, -np.abs(X), X[:0] if f is found else X[:1]):
        agree(f, x)


def found_twice(x):
    places = []
    for k in range(len(x)):
        if x[k] > 0:
            places.append(k)
    return np.array(places) * 2 + np.array(places), np.mean(np.concatenate([places, places]))


def mixed_with_numpys(x):
    out = [0]
    for v in x:
        if v > 0:
            out.append(v)
    return np.array(out)


@pytest.mark.slow
def test_where_the_dtype_of_an_empty_list_matters() -> None:
    """A statement is traced for lists with items and without, but not a function's result."""
    for x in (X, -abs(X)):
        agree(found_many, x)
        agree(found_twice, x)
    with pytest.raises(UnsupportedError, match=r"np.array\(.*, dtype="):
        tracebuf.bufferize(chosen_by_some_truths)(X)


@pytest.mark.slow
def test_a_loop_that_counts_gives_known_lengths() -> None:
    """What each iteration adds one number to is known after the loop: a list that each appends to is as long as that,
    and its array needs no path for none."""
    for x in (X, X[:1], X[:0]):
        agree(chosen_by_truths, x)
    for n in (5, 1, 0, -3, 30):
        agree(as_long_as_counted, X, n)


@pytest.mark.slow
def test_where_the_dtype_depends_on_which_items_are_pythons() -> None:
    agree(mixed_with_numpys, X)
    assert "Python's numbers alone" in refused(mixed_with_numpys, -abs(X)).reason
    assert "np.float32 and Python's numbers" in refused(mixed_with_numpys, X.astype(np.float32)).reason


@pytest.mark.slow
def test_nan_is_ordered_as_python_does() -> None:
    for x in (np.append(X, np.nan), np.array([2.0, np.nan, 1.0, -0.0, 0.0, np.nan, 0.5])):
        agree(in_order, x)


def hundreds(x, dtype):
    out = []
    for k in range(len(x)):
        if x[k] > 0:
            out.append(k * 100)
    return np.array(out, dtype=dtype)


def as_floats(x, dtype):
    out = []
    for v in x:
        out.append(float(v))
    return np.asarray(out, dtype)


@pytest.mark.slow
def test_an_array_of_another_dtype() -> None:
    """NumPy converts Python's numbers one by one, and raises where they do not fit: they wrapped around."""
    assert "may not fit" in refused(hundreds, X, np.float32).reason
    for dtype in (np.int64, float, complex, bool, np.uint8, np.int16, np.uint64):  # uint8: OverflowError
        for x in (X, X[:2]):
            agree(hundreds, x, dtype)
    assert "may not fit" in refused(as_floats, X, int).reason
    for dtype in (np.float32, np.complex64, complex, bool):
        agree(as_floats, X, dtype)



def list_by_slice(x: Any) -> Any:
    out = [1.0, 2.0, x[0]]
    return np.array(out[np.argmax(x) :])


def trimmed(x: Any) -> Any:
    return np.trim_zeros(x)


def test_a_slice_of_a_list_by_data() -> None:
    agree(list_by_slice, np.array([0.5, 1.5, 0.5]))
    with pytest.raises(UnsupportedError, match="np.trim_zeros of a list"):
        tracebuf.bufferize(trimmed)([0, 0, 1, 2, 0])


def chosen(x: Any, n: int) -> list[int]:
    out = []
    for k in range(n):
        if x[k] > 0:
            out.append(k)
    return out


def empty_by_truth(x):
    found = chosen(x, len(x))
    if not found:
        return np.zeros(0)
    return x[np.array(found)] * np.array(found)


def empty_by_length(x):
    found = chosen(x, len(x))
    if len(found) == 0:
        return -1.0
    return (np.array(found) * 2).sum() + 0.5


def not_empty_inside(x):
    found, total = chosen(x, len(x)), 0.0
    if found:
        total = (np.array(found) + 1).max() + 0.0
    return total


@pytest.mark.parametrize("f", [empty_by_truth, empty_by_length, not_empty_inside])
def test_a_list_that_is_not_empty_here_is_an_array_of_its_type(f: Any) -> None:
    for x in (X, -abs(X)):
        agree(f, x)


def as_indices(x, k):
    found, firsts, y, table = chosen(x, k), [], x.copy(), np.outer(x, x)
    for _ in found:
        firsts.append(0)
    np.add.at(y, found, 1)
    np.put(y, firsts, 2)
    table[found, firsts] = 3
    picked = np.take(x, found), x.take(found), table[found, firsts], table[np.ix_(found, firsts)], np.bincount(found)
    return picked, np.delete(x, found), np.delete(table, obj=found, axis=0), np.insert(x, found, 0.5), y, table


@pytest.mark.slow
def test_an_empty_list_is_an_index_where_functions_take_one() -> None:
    for x in (X, -abs(X), np.where(np.arange(40) == 7, 1.0, -1.0)):
        agree(as_indices, x, 40)


def times_float(x):
    found = chosen(x, len(x))
    return found * np.float64(2)


def test_a_list_times_a_number_of_numpys_is_no_array() -> None:
    assert isinstance(agree(times_float, X), TypeError)


@pytest.mark.parametrize(
    "text",
    [
        "a.tolist()", "[row[0] + row[-1] for row in a.tolist()]", "[[x + 1 for x in row] for row in a.tolist()]",
        "[x for row in b.tolist() for x in row]", "len(a.tolist()), a.T.tolist()[1][0], (a > 1).tolist()",
        "a[:, None].tolist()", "a.astype(int).tolist() + b.tolist()[:1]",
        "a[1, 1, ...].tolist(), a.sum(keepdims=True)[0, 0, ...].tolist()",
    ],
)  # fmt: skip
def test_lists_of_the_rows_of_an_array(text: str) -> None:
    a = np.arange(6.0).reshape(3, 2)
    agree(program(f"def f(a, b):\n    return {text}"), a, np.arange(8).reshape(2, 4))


@pytest.mark.parametrize("put", ["out.extend([v] * int(n))", "out += [v] * int(n)", "out += [v, v] * int(n)"])
@pytest.mark.cases(3)
def test_extended_by_lists_of_run_time_length(put: str) -> None:
    text = f"def f(ns, vs):\n    out = []\n    for n, v in zip(ns, vs):\n        {put}\n    return out, len(out)"
    for ns in ([1, 2, 0, 3], [0, 0], [], [-1, 4]):
        agree(program(text), np.array(ns, int), np.arange(float(len(ns))))


def extended_by_generators(k):
    near, seen, out = [0], np.zeros(len(k), dtype=bool), [1]
    while near:
        j = near.pop()
        if not seen[j]:
            seen[j] = True
            near.extend(i for i in range(len(k)) if abs(k[i] - k[j]) < 2 and not seen[i])
    fixed = [1]
    fixed.extend(len(fixed) for _ in range(3))
    for x in k:
        if x > 1:
            out.extend(len(out) + j for j in range(2))
            out += (v for v in k if v > 2)
    try:
        out.extend(10 // (3 - i) for i in range(int(k[0]) + 3))
    except ZeroDivisionError:
        out.append(-1)
    return seen, fixed, out


def in_containers(k):
    large, groups = [], defaultdict(list)
    for i, x in enumerate(k):
        groups[int(x)].append(i)
        if x > 1:
            large.append(float(x))
    total = 0
    for key in sorted(groups):
        rows = groups[key]
        total += k[rows].sum() * len(rows)
        k[rows] = key + 1
    found = dict(large=large, n=len(large))  # noqa: C408
    found["large"].append(2.5)
    return total, found, large, dict({"b": 1}, more=large)


@pytest.mark.slow
def test_extended_by_generators() -> None:
    for k in ([2, 0, 1, 3, 3, 5, 9], [0, 0], [3]):
        agree(extended_by_generators, np.array(k))


@pytest.mark.slow
def test_lists_that_index_and_are_named_values_of_dict() -> None:
    for k in ([2, 0, 1, 3, 3, 5, 2], [0, 0], [3]):
        agree(in_containers, np.array(k))


# -- names that are bound to new lists, in a loop or branch
def begun_again(x):
    runs, cur, sums, few, chunk, last = [], [0], [], [], [], [1.0, 2.0]
    for i in range(1, len(x)):
        if x[i] > x[i - 1]:
            cur.append(i)
        else:
            runs.append(cur)
            cur = [i]
        few.append((i, x[i]))
        if few and len(few) == 3:
            sums.append(float(np.sum([v for _, v in few])))
            few = []
        if x[i] > 0:
            chunk = []
        chunk.append(x[i])
        if len(last) > 3:
            last = [last[-1], last[0]]
        last.append(x[i])
    if cur:
        runs.append(cur)
    return runs, sums, few, chunk, last


HELD = {
    "by another name": "best = cur",
    "by a container": "held['k'] = cur",
    "by an attribute of a class": "S.cur = cur",
    "by a default": "f = lambda c=cur: len(c)",
    "by an iterator": "it = iter(cur)",
    "by a bound method": "add = cur.append",
    "by an object": "s.cur = cur",
    "by what a function gives": "get = getter(cur)",
}


@pytest.mark.parametrize("statement", HELD.values(), ids=HELD)
def test_lists_that_something_else_holds(statement: str) -> None:
    """Binding a name anew leaves what else holds the list as it is: the value is eager's, or it is refused."""
    source = f"""
def f(a):
    class S:
        cur = None
    def getter(c):
        def get():
            return c
        return get
    s, held, best, add, it, get, f = S(), {{}}, None, None, None, None, None
    cur = [0.0]
    {statement}
    for v in a:
        if v > 0:
            cur = []
        cur.append(float(v))
    shown = [list(y) for y in (best, S.cur, s.cur, get and get()) if y is not None]
    return shown, list(it) if it else 0, f() if f else 0, len(held.get('k', ())), cur
    """
    f = program(source)
    for a in (X[:6], -np.abs(X[:4]), np.abs(X[:1])):
        try:
            agree(f, a)
        except (UnsupportedError, AssertionError) as error:
            assert "UnsupportedError" in repr(error)


@pytest.mark.slow
def test_lists_begun_again() -> None:
    x = np.round(X * 8) / 8  # of which sums are exact in any order
    for part in (x, x[:1], x[:2], -np.abs(x[:7])):
        agree(begun_again, part)


def stored_into_arrays(x):
    out, n = np.zeros((3, len(x))), np.zeros(len(x), dtype=int)
    rows, few, places = [], [], []
    for k in range(3):
        kept = []
        for v in x:
            if v > 0.3 * k:
                kept.append(v)
        out[k, : len(kept)] = kept
        out[k, : len(kept)] *= kept
        rows.append(kept)
    for i in range(len(x)):
        places.append(i * 50)
        if len(few) < 2:
            few.append((x[i], 2.0))
    n[:] = places
    n += places
    out[0, : len(rows[1])] += rows[1]
    pairs = np.zeros((len(few), 2))
    pairs[:] = tuple(few)
    return out, n, pairs


def of_another_length(x):
    out, kept = np.zeros(3), []
    for v in x:
        kept.append(v)
    out[:] = kept
    return out


@pytest.mark.slow
def test_lists_are_stored_into_arrays() -> None:
    for x in (X, X[:1], X[:3], -np.abs(X[:4])):
        agree(stored_into_arrays, x)
        agree(of_another_length, x)


def begun_after_the_result(x):
    cur = [1.0]
    for v in x:
        cur.append(v)
    try:
        return cur
    finally:
        cur = []


def begun_in_handlers(x):
    cur, out = [], []
    for v in x:
        try:
            cur.append(v)
            if v > 0.5:
                raise ValueError
            if v < -0.5:
                cur = []
        except ValueError:
            out.append(len(cur))
            cur = [0.0]
    return out, cur


@pytest.mark.slow
def test_lists_begun_again_beside_exceptions() -> None:
    for x in (X[:9], X[:1], -np.abs(X[:4])):
        agree(begun_after_the_result, x)
        agree(begun_in_handlers, x)


@pytest.mark.slow
def test_a_length_below_zero_stands_in_code_that_is_not_reached() -> None:
    """Seven `pop` of one item: what came after asked NumPy about an array of -6 elements."""

    def popped(v, w):
        x, t = v[0], w[0]
        a, b, out, m = [v[0]], [0.0], [], {0: w * 2}
        k = 1
        for x in reversed(b[:9]):
            for x in w:  # noqa: B007
                m[k % 3] = w * max(b)
            a.extend(w)
            for k, _ in m.items():
                m.update([(k % 3, v * t)])
                if x > 0:
                    a.sort()
                    a = b
                for x in v:
                    t = b.pop()
                    bisect.insort(out, len(b) * x)

    with pytest.raises(IndexError, match="pop from empty list"):
        popped(np.ones(7), np.ones(7))
    with pytest.raises((IndexError, UnsupportedError)):
        tracebuf.bufferize(popped)(np.ones(7), np.ones(7))


@pytest.mark.slow
def test_lists_that_get_what_data_select() -> None:
    def f(x):
        first, second, third = [], [], [0]
        for k in range(3):
            places = np.flatnonzero(x > k)
            first.extend(places)
            second += list(places * 2)
        third += x[x > 1].tolist()
        return np.asarray(first), second, third

    for x in ([2.0, 0.0, 3.0], [0.0]):
        agree(f, np.array(x))


REPEATED = (
    "l = [v for v in x if v > 0]\n    m = l\n    l *= 2", "l = [v for v in x if v > 0]\n    m = l\n    l *= k[0]",
    "l = [1.0, x[0]]\n    m = l\n    l *= k[0]",
    "l = [v for v in x if v > 0]\n    m = l\n    l *= -1\n    l.append(1.0)",
    "l = [v for v in x if v > 0]\n    m = l\n    for i in range(k[0]):\n        l *= 2",
    "d = {1: [v for v in x if v > 0]}\n    m = d[1]\n    d[1] *= int(k[0])\n    l = d[1]",
    "l = [v for v in x if v > 0]\n    m = l\n    l = 2 * l",
    "l = [(v, 1) for v in x if v > 0]\n    m = l\n    if k[0] > 2:\n        l *= k[0] - 1",
)  # fmt: skip


@pytest.mark.parametrize("body", one_in(3, REPEATED))
@pytest.mark.cases(9)
def test_a_list_is_repeated_in_place(body: str) -> None:
    """Another name of it did not see what `*=` does."""
    f = program(f"def f(x, k):\n    {body}\n    return l, m, l is m")
    for k in (3, 0, 2):
        for x in ([1.5, -2.0, 3.0], [-1.0]):
            agree(f, np.array(x), np.array([k]))


REPLACED = {
    "rotated": "tour = tour[i:] + tour[:i]",
    "reversed within, by the path": "found = tour[:i] + tour[i:4][::-1] + tour[4:]\n"
    "if x[found[0]] > 1:\n    tour = found",
    "swapped in a copy, by the path": "found = tour[:]\nfound[0], found[i] = found[i], found[0]\n"
    "if x[found[0]] > 1:\n    tour, best = found, tour[:]",
}


@pytest.mark.parametrize("body", REPLACED.values(), ids=list(REPLACED))
@pytest.mark.parametrize("first", ["list(range(len(x)))", "[4, 2, 0, 1, 3]", "[int(v) for v in y]"])
@pytest.mark.cases(12)
def test_a_list_that_others_of_its_length_replace(first: str, body: str) -> None:
    """As tours are annealed: the length was looked for in another place of new lists, and lists by the path were not
    taken to be of run-time length."""
    f = program(f"def f(x, y):\n    tour, best = {first}, None\n    for k in range(40):\n        i = int(y[k % 5])\n"
                f"{textwrap.indent(body, ' ' * 8)}\n    return tour, best")  # fmt: skip
    for seed in range(3):
        x = np.random.default_rng(seed).integers(0, 3, 5).astype(float)
        agree(f, x, np.array([1.0, 3.0, 2.0, 0.0, 4.0]))


def written_with_stars(x):
    out = [v for v in x if v > 0]
    places = [k for k in range(len(x)) if x[k] > 0]
    return [*out, 1.0], [0.5, *out, 2.0, *out], (*out, x[0]), [*places, *places], {*places, 99}


def by_its_own_getitem(x):
    out = [v for v in x if v > 0]
    return max(range(len(out)), key=out.__getitem__), sorted(range(len(x)), key=x.__getitem__)


@pytest.mark.slow
@pytest.mark.parametrize("f", [written_with_stars, by_its_own_getitem])
def test_displays_with_stars_and_bound_getitem(f: Callable[..., Any]) -> None:
    for x in (X, np.array([3.0, -1, 2, 5]), np.array([0.5])):
        agree(f, x)
