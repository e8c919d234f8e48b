"""What a call leaves behind: nothing but its results, and these live no longer than their names (rules B6, C1).

Memory that is freed late is memory that the next call must take fresh, page by page, at many times the cost of a loop.
"""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree
from tests.support.growth import kept
from tests.support.params import one_in, slow_but
from tracebuf.backend.runtime.memory_hook import counting
from tracebuf.testing.arrays import array

N = 100_000


@pytest.fixture(autouse=True)
def _without_collector() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


def fresh(a: Any) -> Any:
    return a + 1


def nested(a: Any) -> Any:
    b = a * 2
    return [b, (b, b[1:])], 3, a


def view(a: Any) -> Any:
    return (a * 2)[::-2]


def read_only(a: Any) -> Any:
    return np.broadcast_to(a * 2, (2, len(a)))


def picked(a: Any) -> Any:
    return a if a[0] > 1 else a - 1


def arrays_of(x: Any) -> Iterator[np.ndarray]:
    if isinstance(x, np.ndarray):
        yield x
    elif isinstance(x, (tuple, list)):
        for item in x:
            yield from arrays_of(item)


@pytest.mark.parametrize("f", [fresh, nested, view, read_only, picked])
def test_results_and_arguments_die_with_their_last_name(f: Callable[..., Any]) -> None:
    """C1: no call keeps an array, the first call with its tracing and compiling included."""
    g = tracebuf.bufferize(f)
    for _ in range(3):
        a = np.ones(10)
        result = g(a)
        seen = [weakref.ref(x) for x in (a, *arrays_of(result))]
        assert len(seen) > 1
        del a, result
        assert [r() for r in seen] == [None] * len(seen)


def sizes_differ(a: Any, b: Any) -> Any:
    return a + b


def found_late(a: Any, b: Any) -> Any:
    return a[np.cumsum(b)[-1]]


def refused_there(a: Any, b: Any) -> Any:
    return memoryview(a + b[0])


@pytest.mark.parametrize("f", [sizes_differ, found_late, refused_there])
@pytest.mark.parametrize("verify", [False, True])
def test_an_error_keeps_no_argument(f: Callable[..., Any], verify: bool) -> None:
    """C1: raised in tracing or in compiled code, once it is handled nothing holds the arguments; where programs are not
    verified, our frames are taken out of the traceback, which held itself."""
    g = tracebuf.bufferize(f, verify=verify)
    b = np.arange(20) + 1
    for _ in range(3):
        a = np.ones(10)
        seen = weakref.ref(a)
        try:
            g(a, b)
        except (IndexError, ValueError, tracebuf.UnsupportedError):
            del a
        assert seen() is None


def test_no_more_than_one_result_lives_when_each_is_dropped() -> None:
    """B6: NumPy's memory for the second result is the first one's, freed."""
    g = tracebuf.bufferize(fresh)
    a = np.ones(N)
    g(a)
    with counting() as seen:
        for _ in range(5):
            g(a)
    assert (seen.allocations, seen.frees, seen.live_bytes, seen.peak_bytes) == (5, 5, 0, 8 * N)


def test_a_dropped_result_is_freed_before_a_name_takes_the_next_but_one() -> None:
    """B6: as in eager, a name that is rebound keeps two results alive for a moment, not more."""
    g = tracebuf.bufferize(fresh)
    a = np.ones(N)
    g(a)
    with counting() as seen:
        for _ in range(5):
            a = g(a)
    assert (seen.allocations, seen.peak_bytes) == (5, 16 * N)


def test_temporaries_of_later_calls_take_no_memory() -> None:
    """B6: buffers that cannot escape stay in the arena from call to call."""

    @tracebuf.bufferize
    def f(a: Any, b: Any) -> Any:
        t = np.cumsum(a)
        b[:] = t[::-1] + a

    a, b = np.ones((2, N))
    f(a, b)
    with counting() as seen:
        for _ in range(5):
            f(a, b)
    assert seen.allocated_bytes == 0


def replaced(v: Any, n: Any) -> Any:
    for _ in range(n):
        v = np.roll(v, 1) / 2 + v
    return v.sum()


def replaced_by_the_data(v: Any, n: Any) -> Any:
    while n > 0:
        if v[n] > 0.5:
            v = np.roll(v, 1) / 2
        n -= 1
    return v.sum()


def three_in_turn(v: Any, n: Any) -> Any:
    a, b = v, v
    for _ in range(n):
        a, b = b, np.roll(a, 1) + b
    return (a - b).sum()


@pytest.mark.parametrize("f, arrays", [(replaced, 2), (replaced_by_the_data, 2), (three_in_turn, 3)])
def test_a_loop_that_replaces_an_array_makes_none(f: Callable[..., Any], arrays: int) -> None:
    """B6: it made one in each iteration; now they take turns in the arena."""
    g = tracebuf.bufferize(f)
    a = np.random.default_rng(0).random(N)
    assert g(a, 10) == pytest.approx(f(a, 10), rel=1e-12)
    with counting() as seen:
        g(a, 10)
        g(a, 11)
    assert seen.allocations == 0
    assert held(g) < (arrays + 0.1) * a.nbytes


def returned(v: Any, n: Any) -> Any:
    for _ in range(n):
        v = np.roll(v, 1) / 2 + v
    return v


def returned_by_the_data(v: Any, n: Any) -> Any:
    while n > 0:
        if v[n] < 100:
            v = np.roll(v, 1) + v
        n -= 1
    return v


def two_returned(v: Any, n: Any) -> Any:
    w = np.outer(v[:3], v)
    for _ in range(n):
        v = np.roll(v, 1) * 0.5 + v
        w = np.roll(w, 1) + v
    return v, w


@pytest.mark.parametrize("size", [100, N])
@pytest.mark.parametrize("f", one_in(6, [two_returned, returned, returned_by_the_data]))
@pytest.mark.slow
def test_a_loop_that_replaces_a_result_makes_its_results(f: Callable[..., Any], size: int) -> None:
    """B6: what an iteration frees, the next one or the next call makes anew; by Python, then by machine code."""
    g = tracebuf.bufferize(f)
    a = np.random.default_rng(0).random(size)
    kept, more = [g(a, 10)], 0
    for k in range(400 if size == 100 else 10):
        with counting() as seen:
            kept.append(g(a, 10 + k % 2))
        more += seen.allocations > len(list(arrays_of(kept[-1])))
        del kept[1:-1]
    assert more <= 2  # when calls become native
    for values, n in ((kept[0], 10), (kept[-1], 11)):
        for got, wanted in zip(
            arrays_of(values if f is two_returned else (values,)), arrays_of((f(a, n),)), strict=True
        ):
            np.testing.assert_allclose(got, wanted, rtol=1e-12)


def folded(x: Any) -> Any:
    y = x.reshape(1, -1)
    while y.shape[1] > 1:
        half = y.shape[1] // 2
        y = np.concatenate((y[:, :half] + 2 * y[:, half:], y[:, :half] - y[:, half:]))
    return y


@pytest.mark.parametrize("size", slow_but([4096], [64, 4096]))
@pytest.mark.slow
def test_a_result_of_another_shape_in_each_iteration_is_made_anew_too(size: int) -> None:
    """B6: an array of as many elements, whose shape is another one. It was an array in each iteration."""
    g = tracebuf.bufferize(folded)
    x = np.random.default_rng(0).random(size)
    wanted, flags = folded(x), folded(x).flags
    more = 0
    for _ in range(400 if size == 64 else 6):
        with counting() as seen:
            got = g(x)
        more += seen.allocations > 1
        np.testing.assert_array_equal(got, wanted)
        assert (got.shape, got.strides, str(got.flags)) == (wanted.shape, wanted.strides, str(flags))
    assert more <= 3  # the first call, and two when they become native


def test_arrays_that_are_made_anew_are_given_back() -> None:
    """B6: after some calls that have no use for them, and by `release`."""
    g = tracebuf.bufferize(returned)
    large, small = np.ones((2, N))[0], np.ones(50)
    with counting() as seen:
        g(large, 5)
        assert seen.live_bytes > 0
        for _ in range(8):
            g(small, 5)
        assert seen.live_bytes < 8 * N
        g(large, 5)
        g.release()
        assert seen.live_bytes < 8 * N


@pytest.mark.slow
def test_what_a_called_function_keeps_is_not_made_anew() -> None:
    kept: list[Any] = []

    def keep(x: Any) -> Any:
        if not kept:
            kept.append(x)
        return x[0]

    @tracebuf.bufferize
    def f(v: Any, n: Any) -> Any:
        for k in range(n):
            v = np.roll(v, 1) + k
            tracebuf.host_call(keep, v, result_shape=())
        return v

    with pytest.raises(tracebuf.TracebufError, match="keeps an array"):
        f(np.arange(50.0), 6)
    for _ in range(3):
        f(np.zeros(50), 6)
    np.testing.assert_array_equal(kept[0], np.roll(np.arange(50.0), 1))


def known_late(a: Any) -> Any:
    t = np.cumsum(a)
    w = np.cumsum(t[::-1])
    s = np.cumsum(a[a > 0.5])
    return np.cumsum(w[::-1]).max() + np.cumsum(s[::-1]).max()


@pytest.mark.slow
def test_sizes_that_are_known_late_are_of_the_same_block_after_a_call() -> None:
    """B6: during the first call they have a block of their own."""
    g = tracebuf.bufferize(known_late)
    a = np.random.default_rng(0).random(N)
    blocks = []
    for _ in range(3):
        assert g(a) == pytest.approx(known_late(a), rel=1e-12)
        blocks.append(len(blocks_of(g)))
    assert blocks == [1, 1, 1]
    with counting() as seen:
        g(a)
    assert seen.allocations == 0
    for _ in range(8):
        assert g(a[:100]) == pytest.approx(known_late(a[:100]), rel=1e-12)
    assert held(g) < 10_000


def shifted(a: Any) -> Any:
    for _ in range(2):
        a[1:] = a[:-1] * 2 + a[1:]
    return a.sum()


def held(*functions: Any) -> int:
    """The bytes that the kernels keep from call to call."""
    return sum(b.nbytes for b in blocks_of(*functions))


def blocks_of(*functions: Any) -> list[np.ndarray]:
    kernels = [s.kernel for f in functions for s in f.specializations()]
    contexts = [c for k in kernels for c in (*k._idle, *([] if k.shared is None else [k.shared.context]))]
    return [b for c in contexts for b in c.blocks if b is not None]


def test_a_large_calls_memory_is_given_back_by_small_ones() -> None:
    """B6: the arena of one large call does not stay for ever; of calls that take turns it does."""
    f = tracebuf.bufferize(shifted)
    small, large = np.ones(100), np.ones(N)
    f(large)
    assert held(f) > 8 * N - 100
    for _ in range(4):
        f(small)
    assert held(f) < 10_000
    for _ in range(4):
        f(large)
        f(small)
    with counting() as seen:
        for _ in range(3):
            f(large)
            f(small)
    assert seen.allocations == 0


@pytest.mark.slow
def test_release_gives_all_back() -> None:
    f, g = tracebuf.bufferize(shifted), tracebuf.bufferize(lambda a: np.cumsum(a)[::-1] * a + shifted(a))
    a = np.ones(N)
    before = [f(a.copy()), *g(a.copy())]
    assert held(f) > 0 and held(g) > 0
    f.release()
    assert held(f) == 0 and held(g) > 0
    tracebuf.release()
    assert held(g) == 0
    np.testing.assert_array_equal([f(a.copy()), *g(a.copy())], before)


@pytest.mark.slow
def test_all_is_released_while_other_threads_make_functions() -> None:
    """Going over a WeakSet raised where a thread added to it."""
    ended, before = threading.Event(), sys.getswitchinterval()

    def make() -> None:
        while not ended.is_set():
            _ = [tracebuf.bufferize(lambda a: a + 1) for _ in range(100)]

    threads = [threading.Thread(target=make) for _ in range(3)]
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for _ in range(300):
            tracebuf.release()
    finally:
        ended.set()
        sys.setswitchinterval(before)
        for thread in threads:
            thread.join()


def test_a_function_that_is_gone_leaves_no_program() -> None:
    """Its arena goes with it, and its machine code, but for loops that programs to come may share (docs/calling.md)."""
    f = tracebuf.bufferize(lambda a: np.cumsum(a)[::-1] * a)
    f(np.ones(5))
    kernel = f.specializations()[0].kernel  # type: ignore[union-attr]
    seen = [weakref.ref(x) for x in (f, kernel, kernel.library)]
    del f, kernel
    gc.collect()
    assert [r() for r in seen[:2]] == [None] * 2
    tracebuf.release()
    assert seen[2]() is None


@pytest.mark.slow
def test_functions_that_come_and_go_keep_no_memory() -> None:
    """Every compilation kept 70 KiB and more of LLVM's for ever."""

    def once() -> None:
        tracebuf.bufferize(lambda a: np.cumsum(a)[::-1] * a)(np.ones(5))

    gc.enable()
    assert kept(once, 150, warm=150) < 20 * 1024


@pytest.mark.slow
def test_calls_keep_no_memory() -> None:
    f, g = tracebuf.bufferize(shifted), tracebuf.bufferize(nested)
    a = np.ones(50)

    def once() -> None:
        f(a)
        g(a)

    assert kept(once, 10_000, warm=1000) < 20  # what makes calls native is compiled meanwhile, once


def spread_of_one_of_two(b, c, n):
    for _ in range(1):
        c = b
    if c is b:
        b = np.unique(c)
        b = np.var(b, keepdims=True)
    b[[1]] = 2


@pytest.mark.slow
def test_places_of_buffers_in_a_block_that_is_larger_for_another_reason() -> None:
    """Where a buffer ends is asked for in lines that the size of the block does not need: this was an InternalError."""
    b, c = (array("complex64", (2, 3, 2), seed, "stepped") for seed in (17, 5))
    agree(spread_of_one_of_two, b, c, 3)
    agree(spread_of_one_of_two, b.copy(), c, 3)
