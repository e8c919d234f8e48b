"""`f.lower(...).loops()` says what each loop carries, and what an iteration did that its plan did not expect."""

from __future__ import annotations

import inspect
import textwrap
from typing import Any

import numpy as np
import pytest

import tracebuf

A = np.ones(9)


def newton(x, rounds):
    step = 0
    for _ in range(rounds):
        step = (step + x * x - 2) / (2 * x)
        x -= step
    return x, step


def decay(a, n):
    for _ in range(n):
        a = a / 2
    return a


def power(m, n):
    x = np.ones(m.shape[0])
    best = None
    for _ in range(n):
        x = m @ x
        largest = np.abs(x).max()
        if best is None or largest > best:
            best = largest
    return x, best


def stencil(u, v, n):
    for _ in range(n):
        v[1:-1] = (u[2:] + u[:-2]) / 2
        u, v = v, u
    return u


def in_a_dict(a, n):
    d = {"most": 0.0}
    for i in range(n):
        d["most"] = max(d["most"], a[i])
    return d["most"]


def swapped(a, b, n):
    x, y = a, b
    for i in range(n):
        if a[i] > 0:
            x, y = y, x
    return x


def in_turn(a, n):
    best = a + 1
    x = a * 2
    for i in range(n):
        x = x * 0.5 - i
        if x.sum() < best.sum():
            best = x
    return best


def appended(a):
    out = []
    for i in range(4):
        out.append(a[i] * i)
    return out


def first(a):
    for i in range(len(a)):
        if a[i] > 3:
            return i
    return -1


def no_loop(a):
    return a + 1


REPORTS: list[tuple[Any, tuple[Any, ...], str]] = [
    (newton, (1.0, 9), """
        line 3 (from iteration 2 on): carries
            step  a float
            x     a float
            because `step` begins as an int and becomes a float
    """),
    (decay, (A, 9), """
        line 2 (from iteration 2 on): carries
            a  a new array in each iteration
            because `a` begins as an array that something else holds too
    """),
    (power, (np.ones((9, 9)), 5), """
        line 4 (from iteration 2 on): carries
            x     a new array in each iteration
            best  np.float64
            because `best` is another object after an iteration
    """),
    (stencil, (A, A + 1, 5), """
        line 2: carries
            u  its elements: the loop stores to it
            v  its elements: the loop stores to it
    """),
    (in_a_dict, (A, 5), """
        line 3: carries
            an item of `d`  np.float64
            because a list, dict or object is changed
            because an item of `d` may be np.float64 after an iteration
    """),
    (swapped, (A, A + 1, 5), """
        line 3: carries
            x  which of the arrays of before the loop it is
            y  which of the arrays of before the loop it is
            because `x` is another of the arrays of before the loop
            because `y` is another of the arrays of before the loop
    """),
    (in_turn, (A, 5), """
        line 4: carries
            x     a new array in each iteration
            best  arrays of the loop's own, which names hold in turn
            because `x` gets an array of its own in each iteration
            because `best` holds arrays of the loop's in turn
    """),
    (appended, (A,), """
        line 3: unrolled: a list changes its length in a loop that is traced once
            because a list, dict or object is changed
    """),
    (first, (A,), """
        line 2: carries
            the result  an int
            because the result is first bound in the loop
    """),
    (no_loop, (A,), "no loops"),
]  # fmt: skip


@pytest.mark.parametrize("f, args, report", REPORTS, ids=[f.__name__ for f, *_ in REPORTS])
def test_loops(f: Any, args: tuple[Any, ...], report: str) -> None:
    loops = tracebuf.bufferize(f).lower(*args).loops()
    begins = inspect.getsourcelines(f)[1]
    text = str(loops)
    for loop in loops:
        text = text.replace(f"line {loop.location.line}", f"line {loop.location.line - begins + 1}")
    assert text == textwrap.dedent(report).strip()


def test_loops_of_loops() -> None:
    """In the order of lines, as data too."""

    def nested(a, n):
        s = 0
        for i in range(n):
            for j in range(i):
                s += a[j]
        return s

    outer, inner = tracebuf.bufferize(nested).lower(A, 5).loops()
    assert outer.location.line + 1 == inner.location.line
    assert [c.name for c in outer.carried] == [c.name for c in inner.carried] == ["s"]
    assert [str(m) for m in outer.mends] == ["`s` may be np.float64 after an iteration"]
