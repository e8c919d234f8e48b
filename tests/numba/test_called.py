"""Bufferized functions called from code that Numba compiles: results, effects, sharing, errors, threads, memory."""

from __future__ import annotations

import gc
import resource
import threading
from typing import Any

import numpy as np
import pytest

import tracebuf
from benchmarks.programs import load
from tests.support.agreement import program
from tests.support.params import one_in

numba = pytest.importorskip("numba")
njit = numba.njit


def caller(f: Any, names: str = "a, b") -> Any:
    """A function of Numba's that calls `f` alone."""
    return njit(program(f"def call({names}):\n    return f({names})", f=f))


def copied(x: Any) -> Any:
    return x.copy(order="K") if isinstance(x, np.ndarray) else x


def check(f: Any, *args: Any, call: Any = None) -> Any:
    """A call by Numba's code gives what the function itself does, and changes the same; the caller."""
    names = ", ".join("abcdefg"[: len(args)])
    call = call or caller(tracebuf.bufferize(f), names)
    mine, theirs = [copied(x) for x in args], [copied(x) for x in args]
    for _ in range(2):
        got, want = call(*mine), f(*theirs)
        assert type(got) is type(want) or not isinstance(want, (tuple, np.ndarray))
        for x, y in zip(*([r] if not isinstance(r, tuple) else r for r in (got, want)), strict=True):
            np.testing.assert_array_equal(x, y)
            assert getattr(x, "shape", ()) == np.shape(y) and getattr(x, "strides", 0) == getattr(x, "strides", 0)
        for x, y in zip(mine, theirs):
            np.testing.assert_array_equal(x, y)
    return call


def updates(a: Any, b: Any) -> Any:
    a[1:] += b[:-1] * 2
    b *= a.sum()


def several(a: Any, b: Any) -> Any:
    t = np.sqrt(a) + b
    return t, t[::-1], a.max(), (a > b).any(), a.argmin(), t.sum() / 2


def views(a: Any, b: Any) -> Any:
    return a[1:], a, b[::2]


def sized(a: Any, b: Any) -> Any:
    return a[a > b], np.nonzero(a)[0]


def product(a: Any, b: Any) -> Any:
    return a @ b + 1, (a.T @ b).T


def host(a: Any, b: Any) -> Any:
    return np.sort(a) + b, np.median(a)


def numbers(a: Any, b: Any) -> Any:
    return a + b, a * 1.5, a > b, a // b


A, B = np.array([3.0, 1.0, 4.0, 1.5, 5.0]), np.array([2.0, 7.0, 1.0, 8.0, 2.5])
SQUARE = np.arange(9.0).reshape(3, 3)


@pytest.mark.parametrize("f", [updates, several, views])
@pytest.mark.cases(3)
def test_calls(f: Any) -> None:
    call = check(f, A, B)
    check(f, A[:2], B[:2], call=call)


@pytest.mark.slow
@pytest.mark.parametrize("f", [updates, several, views, sized, host, product, numbers])
def test_calls_of_all_sizes(f: Any) -> None:
    x, y = (SQUARE, SQUARE + 1) if f is product else (A, B)
    call = check(f, x, y)
    for n in (3, 1, 2) if f is not product else (3, 2):
        check(f, x[:n, :n].copy() if x.ndim > 1 else x[:n], y[:n, :n].copy() if y.ndim > 1 else y[:n], call=call)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["i8", "i4", "u2", "f4", "c8", "c16", "?"])
def test_dtypes(dtype: str) -> None:
    check(lambda a, b: (a + b, a[0], a), np.array([1, 0, 2, 1]).astype(dtype), np.array([1, 1, 0, 3]).astype(dtype))


@pytest.mark.slow
def test_numbers() -> None:
    check(numbers, 7, 2)
    check(numbers, 7.5, 2)
    check(lambda a, b: (a, b + a), 1 + 2j, True)
    call = check(lambda a, b: b + a, 3, A)
    check(lambda a, b: b + a, 2**40, A, call=call)


@pytest.mark.slow
def test_layouts() -> None:
    def f(a: Any, b: Any) -> Any:
        a[:, 0] += b[0]
        return a.T + 1, a.T, a.sum(axis=0)

    for x in (SQUARE, np.asfortranarray(SQUARE), np.arange(36.0).reshape(6, 6)[::2, ::2], SQUARE[::-1]):
        mine, theirs = x.copy(order="K"), x.copy(order="K")
        got, want = caller(tracebuf.bufferize(f))(mine, A), f(theirs, A)
        for p, q in zip(got, want):
            np.testing.assert_array_equal(p, q)
        np.testing.assert_array_equal(mine, theirs)
    base, twin = np.arange(36.0).reshape(6, 6), np.arange(36.0).reshape(6, 6)
    caller(tracebuf.bufferize(f))(base[::2, ::2], A)
    f(twin[::2, ::2], A)
    np.testing.assert_array_equal(base, twin)


def test_results_share_memory_as_eager_ones_do() -> None:
    f = tracebuf.bufferize(lambda a: (a[1:], a, a + 1))

    @njit
    def use(a):
        part, whole, fresh = f(a)
        part[0] = 100.0
        whole[0] = 50.0
        fresh[:] = -1.0
        return part

    a = A.copy()
    part = use(a)
    assert a[1] == 100.0 and a[0] == 50.0 and part[0] == 100.0
    a[1] = 7.0
    assert part[0] == 7.0


def test_results_share_memory_with_each_other() -> None:
    def f(a: Any) -> Any:
        t = np.sort(a)
        return t, t[::-1]

    @njit
    def use(a):
        t, turned = g(a)
        t[0] = 100.0
        return turned[-1]

    g = tracebuf.bufferize(f)
    for n in (5, 1, 1, 2):  # of 1 element: by Python, then by a program of its own
        assert use(A[:n]) == 100.0


def test_arrays_that_overlap() -> None:
    f = tracebuf.bufferize(lambda a, b: np.add(a, b, out=a).sum())

    @njit
    def use(a):
        return f(a[1:], a[:-1]), f(a, a)

    mine, theirs = A.copy(), A.copy()
    want = np.add(theirs[1:], theirs[:-1], out=theirs[1:]).sum(), np.add(theirs, theirs, out=theirs).sum()
    assert use(mine) == want
    np.testing.assert_array_equal(mine, theirs)


@pytest.mark.slow
def test_defaults_and_names() -> None:
    @tracebuf.bufferize
    def f(a, k=2, how=None, text="x"):
        return a * k if how is None else a - k

    @njit
    def use(a):
        return f(a), f(a, 3), f(k=4, a=a), f(a, text="y")

    for x, k in zip(use(A), (2, 3, 4, 2)):
        np.testing.assert_array_equal(x, A * k)


@pytest.mark.slow
def test_errors() -> None:
    add = tracebuf.bufferize(lambda a, b: a + b)
    at = tracebuf.bufferize(lambda a, i: a[i] * 2)

    @tracebuf.bufferize
    def refused(x):
        if x < 0:
            raise ValueError("negative")
        return x**0.5

    sums, items, roots = caller(add), caller(at), caller(refused, "a")
    for _ in range(3):
        with pytest.raises(ValueError, match="could not be broadcast"):
            sums(A, B[:3])
        with pytest.raises(IndexError):
            items(A, 7)
        with pytest.raises(ValueError, match="negative"):
            roots(-1.0)
    assert items(A, 2) == 8.0 and roots(4.0) == 2.0


def test_refusals() -> None:
    with pytest.raises(numba.TypingError, match="cannot be traced"):
        caller(tracebuf.bufferize(lambda a: a + id(a)), "a")(A)
    with pytest.raises(numba.TypingError, match="Numba's code cannot take"):
        caller(tracebuf.bufferize(lambda a: {"a": a}), "a")(A)


def test_a_caller_outlives_the_name_of_what_it_calls() -> None:
    space: dict[str, Any] = {"f": tracebuf.bufferize(program("def f(a):\n    return a.sum() + len(a)"))}
    exec("def call(a):\n    return f(a)", space)
    call = njit(space["call"])
    assert call(A) == A.sum() + 5
    space["f"] = None
    gc.collect()
    assert call(A) == A.sum() + 5
    assert call(A[:1]) == A[0] + 1  # for which there is no program yet


def test_parameters_that_no_call_has() -> None:
    f = tracebuf.bufferize(program("def f(a, *more):\n    return a + len(more)"))
    assert f._numba_type_ is not None
    with pytest.raises(numba.TypingError, match=r"takes \*more"):
        caller(f, "a")(A)


@pytest.mark.slow
def test_what_is_done_before_an_error() -> None:
    def f(a: Any, i: Any) -> Any:
        a += 1
        if i > 1:
            raise KeyError(i)
        return a[i]

    call = caller(tracebuf.bufferize(f))
    for n in (5, 1, 5):
        mine, theirs = A[:n].copy(), A[:n].copy()
        assert call(mine, 0) == f(theirs, 0)
        with pytest.raises(KeyError):
            call(mine, 2)
        with pytest.raises(KeyError):
            f(theirs, 2)
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.slow
def test_both_ways() -> None:
    @njit
    def inner(x):
        return x + 1

    @tracebuf.bufferize
    def middle(a):
        return a * inner(a[0])

    np.testing.assert_array_equal(caller(middle, "a")(A), A * 4)


WEIGHTS = np.array([1.0, -1.0, 2.0, 0.5, 3.0])


@njit
def inner(x):
    return x + 1


def weighted(a: Any, b: Any) -> Any:
    a += WEIGHTS
    return a @ WEIGHTS + b.sum()


def solved(a: Any, b: Any) -> Any:
    return np.linalg.solve(a + 10 * np.eye(3), b[:3]), np.median(a), a.argmax()


def nested(a: Any, b: Any) -> Any:
    return (a * inner(a[0])).sum() + inner(b[1])


def summed(a: Any, b: Any) -> Any:
    s = 0.0  # Python's where there are no iterations, else NumPy's: a float for Numba
    for i in range(len(a)):
        s += a[i] * b[i]
    return s, a if s > 1e9 else b


@pytest.mark.slow
@pytest.mark.parametrize("f", [several, views, sized, host, product, weighted, solved, nested, summed])
def test_programs_take_the_calls(f: Any) -> None:
    x, y = (SQUARE, SQUARE + 1) if f is product else (SQUARE, B) if f is solved else (A, B)
    g = tracebuf.bufferize(f)
    check(f, x, y, call=(call := caller(g)))
    before = sum(s.calls for s in g.specializations())
    for _ in range(20):
        call(x.copy(), y.copy())
    assert sum(s.calls for s in g.specializations()) == before


BENCHMARKS = load()


@pytest.mark.slow
@pytest.mark.parametrize("name", one_in(6, BENCHMARKS))
def test_programs_of_the_benchmarks(name: str) -> None:
    p = BENCHMARKS[name]
    f = tracebuf.bufferize(p.function)
    args = p.init(p.tiny)
    want = p.results(f(*args), args)
    call = caller(f, ", ".join(f"a{k}" for k in range(len(args))))
    for _ in range(2):
        args = p.init(p.tiny)
        for x, y in zip(p.results(call(*args), args), want, strict=True):
            np.testing.assert_array_equal(x, y)


@pytest.mark.slow
def test_errors_of_called_functions() -> None:
    call = caller(tracebuf.bufferize(lambda a: np.linalg.solve(a, a[0]) + 1), "a")
    check(lambda a: np.linalg.solve(a, a[0]) + 1, SQUARE + 10 * np.eye(3), call=call)
    for _ in range(3):
        with pytest.raises(np.linalg.LinAlgError):
            call(np.ones((3, 3)))


@pytest.mark.slow
def test_memory_is_given_back() -> None:
    from numba.core.runtime import _nrt_python, rtsys

    if not _nrt_python.memsys_stats_enabled():
        _nrt_python.memsys_enable_stats()
    f = tracebuf.bufferize(several)
    failing = caller(tracebuf.bufferize(lambda a, b: (a * 2)[b.astype(int)] + 1))

    @njit
    def use(a, b, n):
        s = 0.0
        for _ in range(n):
            s += f(a, b)[0][0]
        return s

    def fail() -> None:
        with pytest.raises(IndexError):
            failing(A, B)

    use(A, B, 2)
    fail()
    gc.collect()
    before = rtsys.get_allocation_stats()
    use(A, B, 100)
    after = rtsys.get_allocation_stats()
    assert after.alloc - before.alloc == after.free - before.free >= 100
    fail()
    last = rtsys.get_allocation_stats()  # Numba itself loses what it has of two arrays of Python's
    assert (last.alloc - after.alloc, last.free - after.free) == (3, 1)


@pytest.mark.slow
def test_four_threads() -> None:
    f, g, h = (tracebuf.bufferize(x) for x in (updates, several, lambda a, b: (np.cumsum(a)[::-1] * b).sum()))

    @njit(nogil=True)
    def use(a, b, n):
        s = 0.0
        for _ in range(n):
            f(a, b)
            a[:] = 1.0
            b[:] = 2.0
            s += g(a, b)[0][1] + h(a, b)
        return s

    def many(n: int) -> list[Any]:
        found = [None] * 4

        def run(k: int) -> None:
            found[k] = use(np.ones(64 + k), np.ones(64 + k), n)

        threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        return found

    want = many(10)
    many(5000)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    many(50_000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - most < 8192
    assert many(10) == want and None not in want


@pytest.mark.slow
@pytest.mark.parametrize("by", [1, 2, 3])
def test_threads_that_compile_in_both_directions(by: int) -> None:
    caller(tracebuf.bufferize(nested))(A, B)
    plus = njit(program(f"def plus(x):\n    return x + {by}"))
    outer = tracebuf.bufferize(program("def outer(a):\n    return a * plus(a[0])", plus=plus))
    both = threading.Barrier(2)
    found: list[Any] = []

    def trace() -> None:
        both.wait()
        found.append(outer(A.astype(np.float32))[1])

    def compiles() -> None:
        both.wait()
        found.append(caller(outer, "a")(A)[1])

    threads = [threading.Thread(target=f, daemon=True) for f in (trace, compiles)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(120)
    assert found == [A[0] + by] * 2
