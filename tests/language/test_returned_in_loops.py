"""Loops that return an array which a name holds for the next iteration too (rules S8, S9, S11)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused
from tests.support.params import slow_but
from tracebuf import UnsupportedError, bufferize

BODIES = [
    "v = m @ v\n  if v[0] > most: return v\n return v",
    "last = v\n  v = m @ v\n  if abs(v - last).sum() < most: return v, i\n return v, n",
    "v = v * 2\n  if v[0] > most: return v, v\n return v, None",
    "w = v * 2\n  v = w\n  if v[0] > most: return w\n return v",
    "v = v * 2\n  try:\n   if v[0] > most: return v\n  finally:\n   v[1] = 7\n return v",
    "v = v * 2\n  if v[0] > most: return v\n  v += 1\n return v",
]
OR_REFUSED = [
    "v = v * 2\n  if v[0] > most: return v[1:], v\n return v[:1], v",
    "v = v * 2\n  if v[0] > most:\n   if i % 2: return v\n   break\n  v = v + 1\n v[0] = 9\n return v",
    "w, v = v, v + 1\n  if v[0] > most: return v\n  if v[1] > most: return w\n return w",
    "v = v * 2\n  h = lambda: v.sum()\n  if h() > most: return v\n return v",
    "for j in range(2):\n   v = v * 2\n   if v[0] > most: return v\n return v",
]


@pytest.mark.parametrize("body", BODIES + OR_REFUSED)
@pytest.mark.parametrize("begin", slow_but(["m[0]"], ["np.ones(len(m))", "m[0]", "m[0].copy()"]))
@pytest.mark.cases(5)
def test_an_array_that_is_returned_and_carried_on(body, begin):
    g = bufferize(verify=True)(program(f"def f(m, n, most):\n v = {begin}\n for i in range(n):\n  {body}"))
    for n, most in ((5, 1.0), (5, 9.0), (0, 1.0), (40, 1e300)):
        try:
            agree(g, np.eye(3) + 0.5, n, most)
        except AssertionError as error:
            if body in BODIES or type(error.__cause__) is not UnsupportedError:
                raise


def test_what_finally_reads_after_the_return():
    def f(v, n):
        seen = np.zeros(3)
        v = v + 0
        try:
            for _ in range(n):
                v = v * 2
                if v[0] > 9:
                    return v, seen
        finally:
            seen += v
            v[0] = -1
        return v, seen

    agree(f, np.ones(3), 2)
    error = refused(f, np.ones(3), 9)  # `finally` reads `v`, which is the result
    assert "`v`" in error.reason


def test_what_is_returned_in_a_loop_raises() -> None:
    """Then nothing is returned on any path; that was an InternalError."""

    def not_bound(a):
        for _ in range(2):
            return nowhere  # noqa: F821
        return a

    def by_zero(a, n):
        for _ in range(n):
            return 1 // (len(a) * 0)
        a += 1

    def no_value(a):
        for _ in range(2):
            return nowhere  # noqa: F821
        flag = nowhere  # noqa: F821, F841

    for f, args in ((not_bound, ()), (by_zero, (2,)), (by_zero, (0,)), (no_value, ())):
        agree(f, np.ones(2), *args)


@dataclass
class Root:
    x: float
    steps: int
    history: list = field(default_factory=list)


def newton(c, x, most):
    history = [x]
    for k in range(most):
        p = dp = 0.0
        for a in c:
            dp = dp * x + p
            p = p * x + a
        if dp == 0:
            raise ValueError(f"zero derivative at iteration {k}")
        x = x - p / dp
        history.append(x)
        if abs(p / dp) < 1e-9:
            return Root(x, k + 1, history)
    return Root(x, most, history)


def halved(c, x, most):
    found = []
    while True:
        x = x / 2
        found.append(x)
        if len(found) >= most:
            return found, "many"
        if x < c[0] / 100:
            return found


def first_pair(c, x, most):
    seen = {}
    for i in range(len(c)):
        for j in range(i):
            seen[int(c[j]) % 3] = j
            if c[i] + c[j] < 0:
                return (i, j), seen
            if c[i] == x:
                return None, seen
        else:
            if i > most:
                return i, seen
    return seen


def found_or_not(c, x, most):
    tried = []
    for k in range(most):
        tried.append(c[k % len(c)] * x)
        if tried[-1] < 0:
            return tried
    raise ValueError(f"none among {len(tried)}")


LISTS = (newton, halved, first_pair, found_or_not)


@pytest.mark.parametrize("f", slow_but((newton, halved), LISTS))
def test_lists_that_a_loop_changes_and_returns(f: Callable[..., Any]) -> None:
    c = np.array([1.0, 0.0, -2.0, -5.0])
    for x, most in ((2.0, 50), (2.0, 2), (0.5, 0), (-5.0, 7)):
        if most or f is not halved:
            agree(f, c, x, most)
    agree(f, np.array([1.0, 0.0, 1.0]), 0.0, 9)
