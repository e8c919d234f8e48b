"""Loops that return an array which a name holds for the next iteration too (rules S8, S9, S11)."""

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused
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
@pytest.mark.parametrize("begin", ["np.ones(len(m))", "m[0]", "m[0].copy()"])
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
