"""Functions that Numba compiles, called from traced code: what eager gives, natively; effects, errors, layouts."""

from __future__ import annotations

import gc
import resource
import threading
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program
from tests.support.params import slow_but
from tracebuf.testing.ladder import climb

numba = pytest.importorskip("numba")
njit = numba.njit


@njit
def poly(x):
    return x * x + 1


@njit
def total(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
    return s


@njit
def bump(a, by):
    for i in range(a.shape[0]):
        a[i] += by


@njit
def axpy(y, x, c=2.0):
    for i in range(y.shape[0]):
        y[i] += c * x[i]
    return y[0], x.shape[0]


@njit
def squares(a):
    out = np.empty_like(a)
    for i in range(a.shape[0]):
        out[i] = a[i] * a[i]
    return out


@njit
def found(a, limit):
    return np.nonzero(a > limit)[0], a[a > limit], a.shape[0]


@njit
def inverse(x):
    if x == 0:
        raise ValueError("no inverse")
    return 1 / x


@njit
def itself(a):
    return a


def scalars(x, n, z, b):
    return poly(x) + poly(n), poly(z), poly(x) > 1, poly(n), poly(b), poly(2)


def sums(a, b):
    return total(a) + total(a + 1) + total(a[::2]) + total(b[:, 0])


def changes(a, b):
    bump(a, 2)
    t = a * 2
    bump(t[1:], 1.0)
    b[:, 1] = 3.0
    bump(b[:, 1], a.sum())
    return a.sum(), t


def two(a, b):
    first, n = axpy(a, b)
    second, _ = axpy(y=b, x=a, c=first)
    return first, second, n, axpy(a, a[:3] + 1, 3.0) if False else a + b


def arrays(a):
    s = squares(a)
    places, larger, n = found(s, 4.0)
    return s + 1, places, larger * 2, n, squares(squares(a))


def looped(a):
    s = 0.0
    for i in range(len(a)):
        if a[i] > 1:
            s += poly(a[i])
    return s


A, B = np.arange(6.0), np.arange(12.0).reshape(6, 2)
CALLS: dict[str, Any] = {
    "scalars": (scalars, (2.5, 7, 1 + 2j, True)),
    "sums": (sums, (A, B)),
    "changes": (changes, (A, B)),
    "two": (two, (A, A + 1)),
    "arrays": (arrays, (A,)),
    "looped": (looped, (A,)),
}


@pytest.mark.parametrize("name", slow_but(("scalars", "looped"), CALLS))
@pytest.mark.cases(2)
def test_calls_agree(name: str) -> None:
    f, args = CALLS[name]
    agree(f, *args)
    agree(f, *[np.concatenate([x, x]) if isinstance(x, np.ndarray) else x for x in args])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["changes", "arrays", "looped"])
def test_all_rungs_agree(name: str) -> None:
    f, args = CALLS[name]
    climb(f, args)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["i4", "u1", "f4", "c8", "c16", "?"])
def test_dtypes(dtype: str) -> None:
    @njit
    def both(a, x):
        return a + x, x, a[0]

    agree(lambda a: both(a, a[1]), np.array([1, 0, 1]).astype(dtype))


@pytest.mark.slow
@pytest.mark.parametrize("order", ["C", "F", "A"])
def test_layouts(order: str) -> None:
    @njit
    def fill(a):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                a[i, j] += 10 * i + j
        return a.sum(), a * 2

    base = np.arange(24.0).reshape(4, 6)
    agree(lambda a: fill(a), base if order == "C" else np.asfortranarray(base) if order == "F" else base[::2, ::3])


def test_a_buffer_that_is_laid_out_otherwise_is_copied() -> None:
    def f(a: Any, b: Any) -> Any:
        t = a + 1
        bump(t, 2.0)
        b[::2] = t

    agree(f, np.arange(3.0), np.zeros(6))


def test_what_numba_code_raises() -> None:
    f = tracebuf.bufferize(lambda x: inverse(x) + 1)
    assert f(2.0) == 1.5
    for _ in range(3):
        with pytest.raises(ValueError, match="no inverse"):
            f(0.0)
    assert f(4.0) == 1.25

    def caught(x: Any) -> Any:
        try:
            return inverse(x)
        except ValueError:
            return -1.0

    agree(caught, 0.0)
    agree(caught, 2.0)
    agree(lambda a: total(a, 1), A)
    agree(lambda a: a + poly("x"), A)


@pytest.mark.slow
def test_results_with_memory_of_arguments_are_refused() -> None:
    f = tracebuf.bufferize(lambda a: itself(a) + 1)
    for _ in range(2):
        with pytest.raises(tracebuf.UnsupportedError, match="memory of its arguments"):
            f(A)


def test_an_array_that_is_written_is_passed_once() -> None:
    with pytest.raises(tracebuf.UnsupportedError, match="passed to it twice"):
        tracebuf.bufferize(lambda a: axpy(a[1:], a[:-1]))(A.copy())


@pytest.mark.slow
def test_results_are_given_back() -> None:
    from numba.core.runtime import _nrt_python, rtsys

    if not _nrt_python.memsys_stats_enabled():
        _nrt_python.memsys_enable_stats()
    f = tracebuf.bufferize(arrays)
    f(A)
    gc.collect()
    before = rtsys.get_allocation_stats()
    for _ in range(50):
        f(A)
    after = rtsys.get_allocation_stats()
    assert after.alloc - before.alloc == after.free - before.free > 0


@pytest.mark.slow
def test_another_function_of_the_same_name_is_another() -> None:
    found = []
    for k in (1, 2):
        source = f"def f(a):\n    s = 0.0\n    for i in range(len(a)):\n        s += g(a[i])\n    return s + {k} - {k}"
        one = njit(program(f"def g(x):\n    return x + {k}"))
        found.append(tracebuf.bufferize(program(source, g=one))(A))
    assert found == [21.0, 27.0]


@pytest.mark.slow
def test_four_threads() -> None:
    def calls(a: Any, n: int) -> Any:
        s = 0.0
        for _ in range(n):
            t = squares(a)
            bump(t, 1)
            s += total(t)
        return s

    f = tracebuf.bufferize(calls)

    def many(n: int) -> list[Any]:
        found = [None] * 4

        def run(k: int) -> None:
            found[k] = f(np.arange(60.0 + k), n)

        threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        return found

    want = [calls(np.arange(60.0 + k), 10) for k in range(4)]
    many(5000)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    many(50_000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - most < 8192
    assert many(10) == want
