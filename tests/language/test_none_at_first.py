"""Names, and items of tuples, that are None before a loop, and arrays, tuples or dicts after an iteration (S8, S11)."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.agreement import agree
from tests.support.params import one_in
from tracebuf.testing.ladder import climb

X = np.array([3.5, 9.0, 1.0, 6.25, 2.0, 8.0])


def a_tuple(x, n):
    best = None
    for k in range(n):
        if x[k] > 3:
            best = (k, x[k])
    return best


def an_array(x, n):
    best, least = None, np.inf
    for k in range(n):
        y = x * k - 20
        if abs(y.sum()) < least:
            least, best = abs(y.sum()), y.copy()
    return best, least


def a_dict(x, n):
    best = None
    for k in range(n):
        if x[k] > 4:
            best = {"k": k, "part": x * k}
    return best


def a_view_then_left(x, n):
    best = None
    for k in range(n):
        if x[k] > 4:
            best = x[k:]
        if x[k] > 8:
            break
    if best is not None:
        best[0] = 7
    return best


def the_argument(x, n):
    best = None
    for k in range(n):
        if x[k] > 4:
            best = x
    if best is not None:
        best[0] = 7
    return best, best is x


def none_again(x, n):
    best = None
    for k in range(n):
        if x[k] > 4:
            best = x * k
        elif x[k] < 2:
            best = None
    return best


def items_of_a_tuple(x, n):
    best = (np.inf, None, None)
    for k in range(n):
        y = x * k - 20
        if abs(y.sum()) < best[0]:
            best = (abs(y.sum()), k, y)
    return best


def two_arrays_in_a_tuple(x, n):
    best, total = (np.inf, None, None), 0.0
    for k in range(n):
        y = x * k - 20
        if abs(y.sum()) < best[0]:
            best = (abs(y.sum()), y, x[:2] + k)
        total += y.sum()
    return best, total


def unless_it_goes_on(x, n):
    best = None, 0.0
    for k in range(n):
        if x[k] > 3:
            continue
        best = x * k, x[k]
    return best


def within_two_loops(x, n):
    best = None
    for k in range(n):
        for j in range(3):
            if x[k] > 4 + j and (best is None or x[j] > best[1]):
                best = (k, x[j], x[: j + 1].copy())
    return best


def in_a_while(x, n):
    best, least, k = None, np.inf, 0
    while k < n:
        y = x * k - 20
        if best is None or abs(y.sum()) < least:
            best, least = y, abs(y.sum())
        k += 1
    if best is None:
        return x
    best[0] = 99
    return best, least


def the_last_that_was_large(x, n):
    previous, found = None, []
    for k in range(n):
        y = x * k
        if previous is not None:
            found.append(np.abs(y - previous).sum())
        if x[k] > 4:
            previous = y
        y += 1
    return np.array(found), previous


def in_a_callee(x, n):
    def largest(part):
        best = None
        for k in range(len(part)):
            if best is None or part[k] > best[1]:
                best = (k, part[k])
        return best

    return largest(x[:n])


PROGRAMS = [
    a_tuple, an_array, a_dict, a_view_then_left, the_argument, none_again, items_of_a_tuple, two_arrays_in_a_tuple,
    unless_it_goes_on, within_two_loops, in_a_while, the_last_that_was_large, in_a_callee,
]  # fmt: skip


@pytest.mark.parametrize("f", one_in(2, PROGRAMS))
def test_s8_none_before_a_loop(f):
    for n in (5, 1, 0):
        agree(f, X.copy(), n)


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
@pytest.mark.parametrize("f", [the_argument, none_again, a_view_then_left], ids=lambda f: f.__name__)
def test_s8_none_before_a_loop_of_other_types(f, dtype):
    agree(f, X.astype(dtype), 6)


def test_s8_none_where_an_array_is_used():
    """Where no iteration has bound it, eager's exception: None has no operators."""

    def f(x, n):
        best = None
        for k in range(n):
            if x[k] > 8:
                best = x * k
        return best + 1

    agree(f, X, 4)
    agree(f, X[2:], 3)


def kept_and_read_after(x, n):
    best, total = x + 1, 0.0
    for k in range(n):
        y = x * k - 3
        if y[0] > total:
            best = y
        y += 1
        total += y.sum()
    return best, total


def test_s11_an_array_that_is_kept_and_read_after_it():
    """It was refused: the size of what the one name of its kind holds was not seen to stay."""
    for n in (5, 1, 0):
        agree(kept_and_read_after, X, n)


@pytest.mark.slow
@pytest.mark.parametrize("f", [*PROGRAMS, kept_and_read_after], ids=lambda f: f.__name__)
def test_s8_none_before_a_loop_on_every_rung(f):
    climb(f, (X.copy(), 5), again=[(X[::-1].copy(), 6)])


def merged(col):
    new, before, j = np.zeros_like(col), None, 0
    for i in range(col.size):
        if col[i] != 0:
            if before == None:  # noqa: E711
                before = col[i]
            elif before == col[i]:
                new[j] = 2 * col[i]
                j += 1
                before = None
            else:
                new[j] = before
                j += 1
                before = col[i]
    if before != None:  # noqa: E711
        new[j] = before
    return new, before == None  # noqa: E711


class Odd:
    def __eq__(self, other):
        return other is None

    def __ne__(self, other):
        return other is None


def of_objects(col):
    odd, found = Odd(), []
    if odd == None:  # noqa: E711
        found.append(1)
    if odd != None:  # noqa: E711
        found.append(2)
    return found


def test_compared_with_none_by_equality() -> None:
    """`x == None` of a number or None says which it is, as `x is None` does."""
    for col in ([0, 2, 2, 4], [2, 0, 0, 0], [0, 0, 0, 0], [2, 4, 4, 2]):
        agree(merged, np.array(col))
    agree(of_objects, np.ones(2))
