"""Recursion whose depth only the run time knows: the function is traced once and calls itself (`tracebuf.call`)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tracebuf
from tracebuf.testing.ladder import climb


# -- numbers
def gcd(a, b):
    if b == 0:
        return a
    return gcd(b, a % b)


def factorial(n):
    return 1 if n <= 1 else n * factorial(n - 1)


def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def power(x, n):
    if n == 0:
        return 1.0
    half = power(x, n // 2)
    return half * half if n % 2 == 0 else half * half * x


def collatz(n):
    if n == 1:
        return 0
    return 1 + (collatz(n // 2) if n % 2 == 0 else collatz(3 * n + 1))


def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


def f(x):
    return x * x * np.sin(x)


def simpson(a, b, fa, fm, fb, whole, eps):
    m = (a + b) / 2
    lm, rm = (a + m) / 2, (m + b) / 2
    flm, frm = f(lm), f(rm)
    left = (m - a) / 6 * (fa + 4 * flm + fm)
    right = (b - m) / 6 * (fm + 4 * frm + fb)
    if abs(left + right - whole) <= 15 * eps:
        return left + right + (left + right - whole) / 15
    return simpson(a, m, fa, flm, fm, left, eps / 2) + simpson(m, b, fm, frm, fb, right, eps / 2)


def integral(a, b, eps):
    fa, fm, fb = f(a), f((a + b) / 2), f(b)
    return simpson(a, b, fa, fm, fb, (b - a) / 6 * (fa + 4 * fm + fb), eps)


def moves(n, a="a", b="b", c="c"):
    if n == 0:
        return 0
    return moves(n - 1, a, c, b) + 1 + moves(n - 1, c, b, a)


def half_and_rest(n):
    if n < 2:
        return n, 1.0
    q, depth = half_and_rest(n // 2)
    return q + n % 2, depth + 1.0


NUMBERS: dict[str, tuple[Callable[..., Any], list[tuple[Any, ...]]]] = {
    "gcd": (gcd, [(48, 36), (7, 0), (17, 5)]),
    "factorial": (factorial, [(1,), (10,)]),
    "fibonacci": (fibonacci, [(0,), (9,)]),
    "ackermann": (ackermann, [(2, 2), (1, 3)]),
    "power": (power, [(1.5, 0), (1.5, 11)]),
    "collatz": (collatz, [(1,), (6,)]),
    "mutual": (is_even, [(0,), (7,)]),
    "adaptive Simpson": (integral, [(0.0, 3.0, 1e-4), (0.0, 0.0, 1e-4)]),
    "tuples": (half_and_rest, [(1,), (77,)]),
}


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.cases(3)
def test_numbers(name: str) -> None:
    function, calls = NUMBERS[name]
    for args in calls:
        climb(function, args)


def test_one_program_serves_every_depth() -> None:
    g = tracebuf.bufferize(factorial)
    assert [g(n) for n in (3, 8, 15, 0)] == [6, 40320, 1307674368000, 1]
    assert len(g.specializations()) == 1


def ackermanns(v, n):
    for _ in range(n):
        if v[0] > 2:
            v = v * 2
        o = ackermann(1, n % 3)
    return o, v


@pytest.mark.slow
def test_in_a_loop_that_is_traced_more_than_once() -> None:
    """A constant that a call of itself gives has been made outside of the function, by the tracing before."""
    g = tracebuf.bufferize(ackermanns)
    for n in (3, 8):
        (o, v), (expected, w) = g(np.ones(2), n), ackermanns(np.ones(2), n)
        assert o == expected and v.tolist() == w.tolist()


def count(n):
    return 0 if n == 0 else 1 + count(n - 1)


def test_it_is_as_deep_as_pythons() -> None:
    """The interpreters take many frames of Python's for each call; so only native code is looked at."""
    g, limit = tracebuf.bufferize(count), sys.getrecursionlimit()

    def deepest(f: Callable[[int], int]) -> int:
        low, high = 0, 4 * limit
        while low < high - 1:
            mid = (low + high) // 2
            try:
                f(mid)
                low = mid
            except RecursionError:
                high = mid
        return low

    assert abs(deepest(g) - deepest(count)) <= 10  # some calls of C functions count too
    sys.setrecursionlimit(limit + 500)
    try:
        assert abs(deepest(g) - deepest(count)) <= 10  # some calls of C functions count too
    finally:
        sys.setrecursionlimit(limit)
    assert len(g.specializations()) == 1


# -- arrays that are read
def search(a, lo, hi, x):
    if lo >= hi:
        return -1
    mid = (lo + hi) // 2
    if a[mid] == x:
        return mid
    if a[mid] < x:
        return search(a, mid + 1, hi, x)
    return search(a, lo, mid, x)


def total(a):
    if len(a) == 0:
        return 0.0
    if len(a) == 1:
        return a[0]
    m = len(a) // 2
    return total(a[:m]) + total(a[m:])


def tree_height(left, right, node):
    if node < 0:
        return 0
    return 1 + max(tree_height(left, right, left[node]), tree_height(left, right, right[node]))


@pytest.mark.slow
def test_arrays_that_are_read() -> None:
    a = np.arange(0, 40, 2)
    climb(search, (a, 0, 20, 14))
    climb(search, (a, 0, 20, 15))
    climb(total, (np.arange(7.0),))
    climb(total, (np.arange(14.0)[::2],))
    left, right = np.array([1, 3, -1, -1, -1]), np.array([2, 4, -1, -1, -1])
    climb(tree_height, (left, right, 0))


# -- arrays that are stored to
def quicksort(a, lo, hi):
    if lo < hi:
        p, i = a[hi], lo
        for j in range(lo, hi):
            if a[j] < p:
                a[i], a[j] = a[j], a[i]
                i += 1
        a[i], a[hi] = a[hi], a[i]
        quicksort(a, lo, i - 1)
        quicksort(a, i + 1, hi)


def sort(a):
    quicksort(a, 0, len(a) - 1)
    return a


def merge_sort(a, work, lo, hi):
    if hi - lo < 2:
        return
    mid = (lo + hi) // 2
    merge_sort(a, work, lo, mid)
    merge_sort(a, work, mid, hi)
    i, j = lo, mid
    for k in range(lo, hi):
        if i < mid and (j >= hi or a[i] <= a[j]):
            work[k] = a[i]
            i += 1
        else:
            work[k] = a[j]
            j += 1
    a[lo:hi] = work[lo:hi]


def merge_sorted(a):
    merge_sort(a, np.empty_like(a), 0, len(a))
    return a


def flood(g, i, j, old, new):
    if i < 0 or j < 0 or i >= g.shape[0] or j >= g.shape[1]:
        return
    if g[i, j] != old:
        return
    g[i, j] = new
    for di, dj in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        flood(g, i + di, j + dj, old, new)


def visit(graph, node, seen, order, count):
    seen[node] = True
    order[count] = node
    count += 1
    for other in range(graph.shape[0]):
        if graph[node, other] and not seen[other]:
            count = visit(graph, other, seen, order, count)
    return count


def depth_first(graph, start):
    n = graph.shape[0]
    seen, order = np.zeros(n, bool), np.full(n, -1)
    return visit(graph, start, seen, order, 0), order, seen


def queens(n):
    board = np.zeros(n, np.int64)

    def place(row):
        if row == n:
            return 1
        count = 0
        for column in range(n):
            free = True
            for k in range(row):
                if board[k] == column or abs(board[k] - column) == row - k:
                    free = False
                    break
            if free:
                board[row] = column
                count += place(row + 1)
        return count

    return place(0), board


def permutations(a, k):
    if k == len(a):
        return 1 if a[0] < a[-1] else 0
    count = 0
    for i in range(k, len(a)):
        a[k], a[i] = a[i], a[k]
        count += permutations(a, k + 1)
        a[k], a[i] = a[i], a[k]
    return count


def latin_square(grid):
    n = len(grid)

    def fits(r, c, v):
        for i in range(n):
            if grid[r, i] == v or grid[i, c] == v:
                return False
        return not np.any(grid[r, :] == v)

    def solve():
        for r in range(n):
            for c in range(n):
                if grid[r, c] == 0:
                    for v in range(1, n + 1):
                        if fits(r, c, v):
                            grid[r, c] = v
                            if solve():
                                return True
                            grid[r, c] = 0
                    return False
        return True

    return solve(), grid


def emptied(x):
    rest = [1, 2, 3, 4, 5, 6]

    def count():
        if not rest:
            return 0
        return rest.pop() + count()

    return count() + x, rest


def in_halves(a):
    if len(a) > 1:
        m = len(a) // 2
        in_halves(a[:m])
        in_halves(a[m:])
        a[:m] += a[m : 2 * m]


@pytest.mark.slow
def test_arrays_that_are_stored_to() -> None:
    rng = np.random.default_rng(3)
    climb(sort, (rng.random(9),))
    climb(merge_sorted, (rng.integers(0, 9, 9),))
    climb(flood, ((rng.random((4, 5)) > 0.6).astype(int), 0, 0, 0, 7))
    climb(depth_first, (rng.random((6, 6)) > 0.6, 2))
    climb(queens, (4,))
    climb(permutations, (np.arange(4), 0))
    climb(in_halves, (rng.random(9),))


@pytest.mark.slow
def test_what_the_function_changes_ends_the_recursion() -> None:
    """Calls with the same arguments, one in another, were inlined 40 deep."""
    climb(latin_square, (np.array([[1, 0, 3], [0, 0, 0], [0, 0, 2]]),))
    climb(latin_square, (np.array([[1, 0, 0], [0, 2, 0], [0, 0, 3]]) * [1, 1, 0],))
    climb(latin_square, (np.array([[1, 2, 0], [0, 0, 3], [0, 0, 0]]),))
    climb(emptied, (2.5,))


@pytest.mark.slow
def test_what_is_inlined_after_all_ends() -> None:
    """A function that cannot be one of the program, and calls itself twice, was inlined 2**30 times."""

    def tree(n, a):
        if n == 0:
            return {"sum": a * 1.0}
        return {"sum": tree(n - 1, a)["sum"] + tree(n - 1, a[::-1])["sum"]}

    climb(tree, (3, np.arange(3.0)))
    with pytest.raises(tracebuf.UnsupportedError, match="returns a dict"):
        tracebuf.bufferize(tree)(30, np.arange(3.0))


def nested(a, rest):
    if a[0] > 0:
        if a[0] > 1:
            if a[0] > 2:
                if a[0] > 3:
                    if rest:
                        a[0] = nested(a, rest[1:])
    return a[0] + 1


def test_what_is_nested_too_deep_for_the_tracer_is_refused() -> None:
    """It was an InternalError."""
    with pytest.raises(tracebuf.UnsupportedError, match="nested too deep"):
        tracebuf.bufferize(nested)(np.ones(3), list(range(39)))


def quicksort_of_all(a, lo=0, hi=None):
    if hi is None:
        hi = len(a) - 1
    if lo < hi:
        i = lo
        for j in range(lo, hi):
            if a[j] < a[hi]:
                a[i], a[j] = a[j], a[i]
                i += 1
        a[i], a[hi] = a[hi], a[i]
        quicksort_of_all(a, lo, i - 1)
        quicksort_of_all(a, i + 1, hi)
    return a


@pytest.mark.slow
def test_an_argument_that_is_none_at_first() -> None:
    climb(quicksort_of_all, (np.array([5.0, 2, 9, 1, 7, 3.5, 8, 0.5]),), again=[(np.zeros(0),)])


NO_ROOM = """
import inspect, sys, warnings
import numpy as np
import tracebuf

def of_paths(a):
    s = 0.0
    for x in a:
        if x > 0:
            s = [1.0, 2.0, 3.0][int(x) % 3]
    return s

def deep(n, f):
    return f() if n == 0 else deep(n - 1, f)

a, errors, around, seen = np.arange(4.0), np.geterr(), len(inspect.stack(0)), set()
for room in range(10, 200, 3):
    g = tracebuf.bufferize(of_paths)
    try:
        assert deep(sys.getrecursionlimit() - around - room, lambda: g(a)) == of_paths(a)
    except tracebuf.UnsupportedError as refusal:
        seen.add(refusal.reason.partition(":")[0])
    except RecursionError:
        seen.add("RecursionError")
    assert g(a) == of_paths(a) and np.geterr() == errors
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", append=True)
        warnings.warn("said", UserWarning)
    assert len(heard) == 1
assert seen == {"RecursionError", "Python's stack has no room to trace this"}, seen
"""


@pytest.mark.slow
def test_no_room_on_pythons_stack_to_trace(tmp_path: Path) -> None:
    """No bug of ours: a refusal that says so, after which the function works where there is room, and warnings and
    floating-point errors are reported as before. In a process of its own, for what else is called may break."""
    (tmp_path / "deep.py").write_text(NO_ROOM)
    done = subprocess.run([sys.executable, "deep.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


# -- numbers that only count the depth
def by_halves(f, a, b, least, depth):
    """An integral: to a precision, and no deeper than `depth`."""
    c = (a + b) / 2
    whole = (b - a) * f(c)
    halves = (c - a) * f((a + c) / 2) + (b - c) * f((c + b) / 2)
    if depth == 0 or abs(halves - whole) < least:
        return halves
    return by_halves(f, a, c, least / 2, depth - 1) + by_halves(f, c, b, least / 2, depth - 1)


def integral_of_a_known_depth(b):
    return by_halves(np.sin, 0.0, b, 1e-3, 12)


def integral_of_a_small_depth(b):
    return by_halves(np.sin, 0.0, b, 1e-3, 3)


def by_levels(x, level, widths):
    """What is known of the level is needed: inlined."""
    if level == 6:
        return x
    y = np.ones(widths[level]).sum() * x
    return by_levels(y + 1.0, level + 1, widths) - by_levels(y * 0.5, level + 1, widths)


def levels_of_known_widths(b):
    return by_levels(b, 0, (1, 2, 3, 4, 5, 6))


@pytest.mark.slow
def test_numbers_that_count_the_depth_do_not_unroll_a_recursion() -> None:
    """Such recursions were inlined, 2 ** depth calls."""
    for f in (integral_of_a_known_depth, integral_of_a_small_depth):
        climb(f, (2.0,), again=[(0.5,), (7.0,)], strategies=(tracebuf.Options(verify=True),))
    g = tracebuf.bufferize(integral_of_a_known_depth)
    assert g(2.0) == integral_of_a_known_depth(2.0)
    assert len(g.lower(2.0).as_text("traced").splitlines()) < 200


@pytest.mark.slow
def test_what_needs_a_known_depth_is_inlined() -> None:
    climb(levels_of_known_widths, (2.0,), again=[(7.0,)], strategies=(tracebuf.Options(verify=True),))
