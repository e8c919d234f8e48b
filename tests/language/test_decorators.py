"""Decorators of inner functions, and functools.lru_cache, inside and outside (rules X1, B5)."""

from __future__ import annotations

import functools
from functools import cache, lru_cache, wraps
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program, refused
from tests.support.params import one_in
from tracebuf.testing.ladder import climb

A = np.array([3.0, 1.0, 2.0, 5.0])
COUNTS = np.array([5, 3, 7, 3])


def doubled(f):
    @wraps(f)
    def run(*args, **kwargs):
        return 2 * f(*args, **kwargs)

    return run


def scaled(by):
    return lambda f: lambda *args: by * f(*args)


def decorated(a, n):
    table = {}

    def register(name):
        def keep(f):
            table[name] = f
            return f

        return keep

    @register("sum")
    @doubled
    def total(x, power=1):
        return (x**power).sum()

    @scaled(n)
    @scaled(0.5)
    def least(x):
        return x.min()

    @register("vector")
    @np.vectorize
    def clipped(x):
        return x if x < 3 else 3.0

    return total(a), table["sum"](a, power=2), least(a), table["vector"](a), sorted(table)


def test_decorators_of_inner_functions() -> None:
    climb(decorated, (A, 3))


def steps(a, k):
    @lru_cache(None)
    def ways(n):
        print("ways", n)
        return 1 if n < 2 else ways(n - 1) + ways(n - 2)

    @functools.cache
    def cost(i, j):
        if i == 0 or j == 0:
            return 0.0
        return a[i] * a[j] + max(cost(i - 1, j), cost(i, j - 1))

    return ways(k), ways(k), cost(len(a) - 1, 2), cost(0, 0), cost(len(a) - 1, 2)


def by_data(x, keys):
    @cache
    def weighed(k, scale):
        print(k)
        return scale * x[k % len(x)]

    total = 0.0
    for k in keys:
        total += weighed(k, 2.0) - weighed(int(k) + 1, 3.0)
    return total


def two_results(keys):
    @lru_cache(2)
    def square(k):
        return k * k

    return [square(k) for k in keys]


def of_arrays(a):
    @cache
    def row(k):
        return a[k:].copy()

    row(1)[0] = 7
    return row(1), row(1) is row(1), row(0)


@pytest.mark.parametrize("keys", one_in(4, [np.array([2.5]), COUNTS, COUNTS[:0], np.array([2, 2])]))
def test_caches_by_what_only_the_run_time_knows(keys: np.ndarray, capsys: pytest.CaptureFixture[str]) -> None:
    if keys.dtype == float:
        agree(two_results, keys)
        return
    want = by_data(A, keys)
    said = capsys.readouterr().out
    assert tracebuf.bufferize(by_data)(A, keys) == want
    assert capsys.readouterr().out == said


@pytest.mark.slow
def test_caches_of_inner_functions(capsys: pytest.CaptureFixture[str]) -> None:
    want = steps(A, 5)
    said = capsys.readouterr().out
    got = tracebuf.bufferize(steps)(A, 5)
    assert (got, capsys.readouterr().out) == (want, said)
    climb(of_arrays, (A,))
    agree(two_results, np.array([4, 4, 4, 5, 5]))
    with pytest.raises(tracebuf.UnsupportedError, match="a cache of functools.lru_cache for 2 results"):
        tracebuf.bufferize(two_results)(COUNTS)


RAISED = {
    "what it raises": "@cache\ndef g(k):\n    if k > 2:\n        raise ValueError(k)\n    return k\ng(1)\n"
    "try:\n    g(3)\nexcept ValueError:\n    a[0] = -1\nreturn g(2), a",
    "an array as an argument": "@cache\ndef g(x):\n    return x.sum()\nreturn g(a)",
    "too few arguments": "@cache\ndef g(x):\n    return x\nreturn g()",
}


@pytest.mark.parametrize("body", RAISED.values(), ids=list(RAISED))
def test_what_caches_raise(body: str) -> None:
    agree(program("def f(a):\n" + "".join(f"    {line}\n" for line in body.splitlines()), cache=cache), A)


REFUSED = {
    "@cache\ndef g(x, k=1):\n    return x\nreturn g(1, k=2)": "called with keywords",
    "@lru_cache(typed=True)\ndef g(x):\n    return x\nreturn g(1)": "typed",
}


@pytest.mark.parametrize("body", REFUSED)
def test_caches_that_are_refused(body: str) -> None:
    source = "def f(a):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    assert REFUSED[body] in refused(program(source, cache=cache, lru_cache=lru_cache), A).reason


@lru_cache(maxsize=1)
def zeros(n: int) -> Any:
    return np.zeros(n)


def asks_for_two(n):
    a = zeros(n)
    a += 1
    return zeros(n + 1), zeros(n)


def asks_for_one(n):
    a = zeros(n)
    a += 1
    return zeros(n) is a, zeros(n)


def test_a_cache_from_outside_that_drops_results() -> None:
    """Eager makes anew what was dropped; called once for each call, it would be the one that was changed."""
    assert "for 1 results is asked for 2" in refused(asks_for_two, 2).reason
    for f in (asks_for_one, tracebuf.bufferize(asks_for_one)):
        zeros.cache_clear()
        same, found = f(2)
        assert same and found.tolist() == [1, 1]


SCALE = [2.0]


@lru_cache(None)
def window(n: int, kind: str = "ramp") -> Any:
    return np.arange(float(n)) * SCALE[0] if kind == "ramp" else np.ones(n)


@lru_cache(None)
def factors(n: int) -> Any:
    return tuple(k for k in range(1, n + 1) if n % k == 0)


@cache
def power(x: float, k: int) -> Any:
    return x**k, k


def weighed(a):
    return a * window(len(a)), window(len(a)), window(len(a), kind="flat"), factors(12), factors(len(a))[-1]


def test_caches_from_outside() -> None:
    f = tracebuf.bufferize(weighed)
    for a in (A, A[:2], A):
        got, want = f(a), weighed(a)
        assert all(np.array_equal(x, y) for x, y in zip(got, want))
        assert got[1] is want[1]
    SCALE[0] = 3.0  # what is kept stays, till the cache is cleared
    assert np.array_equal(f(A)[0], weighed(A)[0])
    window.cache_clear()
    assert np.array_equal(f(A)[0], A * np.arange(4.0) * 3)
    agree(program("def f(a):\n    return power(a[0], 3), power(a[1], 2)[0] + a.sum()", power=power), A)
    assert "gives more than numbers" in refused(program("def f(a):\n    return w(int(a[0]))", w=window), A).reason
