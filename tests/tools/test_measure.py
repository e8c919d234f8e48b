"""What is counted and timed, and that the caller's arrays are not touched: memory hook, clones, measure."""

from __future__ import annotations

import ctypes
import gc
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from tracebuf import bufferize
from tracebuf.backend.runtime.arena import WINDOW
from tracebuf.backend.runtime.memory_hook import counting
from tracebuf.measure import Counts, Measurement, clone_arguments, measure

MEGA = 8_000_000


# --- the memory hook


def test_temporaries_are_counted() -> None:
    x = np.ones(1_000_000)
    two = np.array(2.0)
    with counting() as seen:
        y = np.multiply(x, two)
        y = np.add(y, two)
        del y
    assert (seen.allocations, seen.frees) == (2, 2)
    assert seen.allocated_bytes == seen.peak_bytes == 2 * MEGA
    assert seen.live_bytes == 0


def test_numbers_stand_after_the_window() -> None:
    with counting() as seen:
        kept = np.zeros(1000)
        assert seen.live_bytes == 8000
    del kept
    np.ones(5)
    assert (seen.allocations, seen.frees, seen.live_bytes) == (1, 0, 8000)


def test_small_blocks_from_numpys_cache_are_counted() -> None:
    with counting() as seen:
        for _ in range(10):
            np.empty(4)
    assert (seen.allocations, seen.allocated_bytes, seen.peak_bytes) == (10, 320, 32)


@pytest.mark.slow
def test_windows_nest_and_arrays_outlive_them() -> None:
    kept: list[Any] = []
    with counting() as outer:
        kept.append(np.empty(100))
        with counting() as inner:
            kept.append(np.empty(100))
        kept.append(np.empty(100))
    assert (inner.allocations, outer.allocations) == (1, 3)
    gc.collect()
    kept[1][:] = 1.0
    del kept[1], kept[0]
    gc.collect()
    kept[0].resize(10_000, refcheck=False)
    assert kept[0].size == 10_000 and (inner.allocations, outer.allocations) == (1, 3)


def test_reallocation_releases_the_old_block() -> None:
    with counting() as seen:
        a = np.zeros(1000)
        a.resize(100_000, refcheck=False)
    assert seen.allocations == 2
    assert seen.allocated_bytes == 808_000
    assert 700_000 < seen.peak_bytes <= 800_000


def test_arrays_from_before_and_from_other_threads_do_not_count() -> None:
    before = np.ones(1000)
    with counting() as seen:
        del before
        thread = threading.Thread(target=lambda: np.ones(1000))
        thread.start()
        thread.join()
    assert (seen.allocations, seen.frees, seen.peak_bytes) == (0, 0, 0)


def test_an_exception_closes_the_window() -> None:
    with pytest.raises(ZeroDivisionError), counting() as seen:
        raise ZeroDivisionError
    np.empty(3)
    assert seen.allocations == 0


# --- clones


def clone(*args: Any) -> tuple[Any, ...]:
    clones, named = clone_arguments(args, {"k": args[0]})
    assert named["k"] is clones[0]
    for a, b in zip(args, clones, strict=True):
        assert type(a) is type(b)
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype and not np.shares_memory(a, b)
        assert a.flags.writeable == b.flags.writeable and a.flags.aligned == b.flags.aligned
        assert a.strides == b.strides or not a.size
    for i, a in enumerate(args):
        for j, b in enumerate(args):
            assert (a is b) == (clones[i] is clones[j])
            assert np.shares_memory(a, b) == np.shares_memory(clones[i], clones[j])
    return clones


@pytest.fixture
def x() -> Any:
    return np.arange(100.0).reshape(10, 10).copy()


def test_identity_and_overlap_survive(x: Any) -> None:
    clones = clone(x, x, x[1:, ::-1], x.T, x[::2], x[1::2])
    clones[0][3, 4] = -1
    assert clones[3][4, 3] == -1 and x[3, 4] == 34
    assert clones[2].base is clones[0]


def test_layouts_survive(x: Any) -> None:
    strided = np.lib.stride_tricks
    clone(np.asfortranarray(x), x[:, 3], x[3:7, 2:5], np.broadcast_to(x[0], (4, 10)))
    clone(strided.sliding_window_view(x, 3, 0), x)
    clone(strided.as_strided(x, (3, 3), (8, 8)))
    clone(np.zeros((0, 3)), np.array(2.0), np.zeros((3, 1, 2))[:, :, ::-1], x[5:5])
    clone(x.transpose().reshape(2, 5, 10).transpose(2, 0, 1).copy(order="K"))


def test_flags_survive(x: Any) -> None:
    frozen = x[2:]
    frozen.flags.writeable = False
    clone(frozen, x)
    clone(np.frombuffer(b"a" * 65, np.uint8)[1:].view("f8"))
    x.flags.writeable = False
    clone(x)


def test_other_dtypes_and_fields() -> None:
    s = np.zeros(10, [("a", "i4"), ("b", "f8")])
    clone(s["b"], s["a"], s)
    clone(np.array([True, False]), np.arange(5, dtype=">i4"), np.array(["a", None], object))


class Pair(NamedTuple):
    left: Any
    right: Any


def test_containers_are_rebuilt_and_the_rest_passes() -> None:
    a, b = np.ones(3), np.ones(3)
    shared = [a, b]
    (one, two, pair, number, text), named = clone_arguments((shared, shared, Pair(a, 1), 3, "t"), {"d": {"a": a}})
    assert one is two and one is not shared and one[0] is pair.left is named["d"]["a"] and one[0] is not a
    assert isinstance(pair, Pair) and (number, text) == (3, "t")


# --- measure


@dataclass(frozen=True)
class FakeCounters:
    allocations: int = 0
    allocated_bytes: int = 0
    peak_bytes: int = 0
    copies: int = 0
    copied_bytes: int = 0
    arrays: int = 0
    array_bytes: int = 0


class Fake:
    """A bufferized function whose native side is another NumPy function with counters of its own."""

    def __init__(self, original: Callable[..., Any], native: Callable[..., Any], counters: FakeCounters | None) -> None:
        self.__wrapped__ = original
        self.native, self.counters, self.calls = native, counters, 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        return self.native(*args, **kwargs)

    def call_counted(self, *args: Any, **kwargs: Any) -> tuple[Any, FakeCounters | None]:
        window, alive = WINDOW.get(), ctypes.c_int64()
        if self.counters is None or window is None:
            return self.native(*args, **kwargs), None
        window.begin(ctypes.addressof(alive))
        result = self.native(*args, **kwargs)
        window.hold(self.counters.array_bytes)
        window.end(self.counters.peak_bytes)
        return result, self.counters


def original(x: Any, y: Any) -> Any:
    x += np.sqrt(np.multiply(y, y))
    return x[1:] + y[1:]


def native(x: Any, y: Any) -> Any:
    out = np.empty(x.size - 1)
    return np.add(x[1:], y[1:], out=out)


def aside(x: Any, y: Any) -> Any:
    np.empty(1000)
    return native(x, y)


SIZE = 100_000
RESULT = 8 * (SIZE - 1)


def arguments() -> tuple[Any, Any]:
    return np.arange(float(SIZE)), np.ones(SIZE)


@pytest.mark.slow
def test_both_sides_are_counted_and_the_data_stays() -> None:
    x, y = arguments()
    f = Fake(original, native, FakeCounters(1, RESULT, RESULT, 2, 160, 1, RESULT))
    measured = measure(f, x, y=y)
    np.testing.assert_array_equal(x, np.arange(float(SIZE)))
    assert (measured.eager.allocations, measured.eager.copies) == (3, None)
    assert measured.eager.allocated_bytes == 2 * 8 * SIZE + RESULT
    assert measured.eager.peak_bytes == 2 * 8 * SIZE
    assert measured.native == Counts(1, RESULT, RESULT, 2, 160, measured.native.seconds)
    assert measured.native.seconds > 0 < measured.eager.seconds
    assert f.calls >= 5


def test_what_the_call_path_allocates_aside_is_added() -> None:
    counters = FakeCounters(3, RESULT + 500, RESULT + 300, arrays=1, array_bytes=RESULT)
    measured = measure(Fake(original, aside, counters), *arguments(), repeat=1)
    assert measured.native.allocations == 4
    assert measured.native.allocated_bytes == RESULT + 8500
    assert measured.native.peak_bytes == RESULT + 300


def sorted_at_last(x: Any) -> Any:
    total = (np.cumsum(x)[::-1] * np.roll(np.cumsum(x), 1)).sum()
    return np.linalg.slogdet(x[:16].reshape(4, 4) + total)[1]


def test_the_peak_is_of_both_at_once() -> None:
    """It was the sum of what compiled code had at one time and NumPy at another."""
    f, x = bufferize(sorted_at_last), np.ones(1000)
    measured = measure(f, x, repeat=1)
    assert 2 * x.nbytes <= measured.native.peak_bytes <= measured.eager.peak_bytes
    with counting() as seen:
        _, counters = f.call_counted(x)
    assert counters is not None and seen.whole_peak_bytes == counters.peak_bytes == measured.native.peak_bytes


def test_a_fallback_is_counted_by_the_hook() -> None:
    measured = measure(Fake(original, original, None), *arguments(), repeat=1)
    assert measured.native.allocations == measured.eager.allocations
    assert measured.native.allocated_bytes == measured.eager.allocated_bytes
    assert measured.native.copies is None


def test_misuse_is_refused() -> None:
    with pytest.raises(TypeError, match="strategies are those of a bufferized function"):
        measure(np.sin, 1.0, strategies=True)
    with pytest.raises(ValueError, match="strategy must be one of"):
        measure(Fake(original, native, None), *arguments(), strategies=["best"])
    with pytest.raises(ValueError, match="repeat"):
        measure(Fake(original, native, None), *arguments(), repeat=0)


def test_the_table() -> None:
    eager = Counts(12, 24_000_072, 16_000_000, None, None, 4.0625e-3)
    table = str(Measurement("step", eager, Counts(1, 512, 0, 0, 0, 1.3e-3)))
    assert table == "\n".join(
        [
            "step                      eager  native  eager/native",
            "-----------------------------------------------------",
            "allocations                  12       1         12.00",
            "allocated bytes        22.9 MiB   512 B        46,875",
            "peak bytes             15.3 MiB     0 B           inf",
            "copies           not observable       0             -",
            "copied bytes     not observable     0 B             -",
            "CPU time                4.06 ms  1.3 ms          3.13",
        ]
    )


def test_the_buffers_of_numpys_iterator_are_counted() -> None:
    measured = measure(bufferize(lambda a: a[::2, ::2] + a[0, 0]), np.ones((200, 200), np.float32), repeat=1)
    assert measured.native.buffer_bytes == 0 < measured.eager.buffer_bytes


@pytest.mark.slow
def test_m6_the_buffers_of_numpys_iterator() -> None:
    """64 KiB for each operand that is strided, broadcast or converted, of which no memory handler knows."""

    def f(a: Any, b: Any) -> Any:
        return a[::2, ::2] + b

    a, b = np.ones((400, 500)), np.ones((200, 1))
    measured = measure(bufferize(f), a, b, repeat=1)
    assert 100_000 < measured.eager.buffer_bytes < 150_000 and measured.native.buffer_bytes == 0
    assert "buffer bytes" in str(measured)
    plain = measure(bufferize(lambda a: a + a), a, repeat=1)
    assert plain.eager.buffer_bytes == plain.native.buffer_bytes == 0
