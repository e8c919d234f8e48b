"""`measure` of any function: where eager NumPy takes memory, by line, and that it is what tracemalloc sees."""

from __future__ import annotations

import ctypes
import functools
import gc
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tracebuf
from benchmarks.programs import load
from tracebuf import bufferize
from tracebuf.backend.runtime.callable import VECTORCALL
from tracebuf.measure import Measurement, clone_arguments, measure
from tracebuf.measuring import recorder
from tracebuf.measuring.lines import SMALL, Line
from tracebuf.measuring.places import is_users
from tracebuf.measuring.recorder import recording

OBJECTS = 4096
"""What tracemalloc sees beside arrays and is of Python's objects, at most: `measure` takes so much for those."""
K = 1000
ARRAY = 8 * K


def traced_peak(f: Callable[..., Any], args: tuple[Any, ...]) -> int:
    positional, _ = clone_arguments(args, {})
    gc.collect()
    tracemalloc.start()
    try:
        f(*positional)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def sums_are_right(measured: Measurement) -> None:
    assert not measured.lost
    sums = [sum(getattr(x, of) for x in measured.lines) for of in ("allocations", "allocated_bytes", "at_peak_bytes")]
    assert sums == [measured.eager.allocations, measured.eager.allocated_bytes, measured.eager.peak_bytes]


def line(measured: Measurement, text: str) -> Line:
    (found,) = [x for x in measured.lines if text in x.text]
    return found


def large(events: np.ndarray) -> list[int]:
    """The sizes of what is allocated, but for single numbers."""
    return [int(size) for size in events["size"] if size > SMALL]


PROGRAMS = (
    "nbody", "fir", "rolling", "standard_scores", "sobel", "shrink", "jacobi_2d", "heat_3d", "fdtd_2d", "shallow_water"
)  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_peak_is_what_tracemalloc_sees(name: str) -> None:
    program = load()[name]
    args = program.init(program.small)
    program.function(*clone_arguments(args, {})[0])  # what modules keep from a first call
    measured = measure(program.function, *args, repeat=1)
    sums_are_right(measured)
    seen, told = traced_peak(program.function, args), measured.eager.peak_bytes + measured.eager.buffer_bytes
    assert measured.native is None and abs(seen - told) <= max(0.02 * seen, OBJECTS), (seen, told)
    assert all(x.file == program.function.__code__.co_filename and x.line for x in measured.lines)


def helper(a: Any) -> Any:
    b = np.tile(a, 2)
    return b + b


def by_line(a: Any, kept: list[Any]) -> Any:
    big = helper(a)
    del big
    for _ in range(3):
        a = a + 1.0
    kept.append(a)
    return np.concatenate([a, a])


def test_each_line_has_its_share() -> None:
    kept: list[Any] = []
    measured = measure(by_line, np.ones(K), kept, repeat=1)
    sums_are_right(measured)
    assert not kept  # containers are cloned
    looped, twice, tiled, last = (line(measured, t) for t in ("a = a + 1.0", "return b + b", "np.tile", "np.concat"))
    assert (looped.allocations - looped.small, looped.allocated_bytes - 8 * looped.small) == (3, 3 * ARRAY)
    assert (looped.kept_bytes, looped.at_peak_bytes, looped.function) == (ARRAY, 0, "by_line")
    assert 2 * ARRAY <= looped.peak_bytes <= 2 * ARRAY + 8 * looped.small
    assert (twice.allocations, twice.at_peak_bytes, twice.kept_bytes) == (1, 2 * ARRAY, 0)
    assert (tiled.at_peak_bytes, tiled.function) == (2 * ARRAY, "helper")
    assert (last.kept_bytes, last.native) == (2 * ARRAY, ())
    assert all(x.seconds >= 0 for x in measured.lines)
    text = str(measured)
    assert "eager" in text and "native" not in text and "return b + b" in text and "numbers that NumPy makes" in text
    assert [x["text"] for x in measured.to_dict()["lines"]] == [x.text for x in measured.lines]


def test_beside_compiled_code_a_line_says_what_is_left() -> None:
    @tracebuf.bufferize
    def f(a: Any, b: Any) -> Any:
        c = a * a + b
        a[1:] = a[:-1] + c[1:]
        return a - b

    measured = measure(f, np.ones(K), np.ones(K), repeat=1, strategies=["copy-before-write"])
    sums_are_right(measured)
    assert line(measured, "c = a * a").allocations == 2
    assert len(line(measured, "return a - b").native) == 1
    assert list(measured.sides()) == ["eager", "native", "copy-before-write"]
    assert "native still takes" in str(measured)


def test_a_function_that_falls_back_is_measured_as_what_it_was_made_from() -> None:
    """What it captures cannot be found, and so not be put back: measuring itself is refused."""
    f = tracebuf.bufferize(lambda a: a + id(a) * 0, fallback="numpy")
    with pytest.raises(tracebuf.TracebufError, match="a call of id"):
        measure(f, np.ones(K))
    measured = measure(f.__wrapped__, np.ones(K), repeat=1)
    sums_are_right(measured)
    assert measured.native is None and [x.allocations - x.small for x in measured.lines] == [1]


class Model:
    def __init__(self) -> None:
        self.state = np.zeros(K)

    def __call__(self, a: Any) -> Any:
        self.state = self.state + a
        return self.state

    def step(self, a: Any) -> Any:
        return self(a) * a


def items(a: Any) -> Iterator[Any]:
    for _ in range(3):
        yield np.add(a, a)


def lazily(a: Any) -> Iterator[Any]:
    return items(a)


def test_whatever_can_be_called() -> None:
    a, model = np.ones(K), Model()
    called: list[tuple[Callable[..., Any], int, str]] = [
        (model, 1, "Model"), (model.step, 2, "step"), (functools.partial(helper, a=np.ones(K // 2)), 2, "helper"),
        (lambda a: a + a, 1, "<lambda>"), (np.sqrt, 1, "sqrt"), (items, 3, "items"), (lazily, 3, "lazily"),
        (functools.partial(np.add, 1), 1, "add"),
    ]  # fmt: skip
    for f, count, name in called:
        args = () if isinstance(f, functools.partial) and f.func is helper else (a,)
        measured = measure(f, *args, repeat=1)
        sums_are_right(measured)
        made = measured.eager.allocations - sum(x.small for x in measured.lines)
        assert (made, name in measured.name) == (count, True), measured
    assert [x.line for x in measure(np.sqrt, a).lines] == [0] and "in C" in str(measure(np.sqrt, a))
    assert measure(items, a).eager.peak_bytes == ARRAY  # nothing holds what a generator gives
    np.testing.assert_array_equal(a, 1.0)
    with pytest.raises(TypeError, match="returns its result at once"):
        measure(3, a)  # type: ignore[arg-type]

    async def later(a: Any) -> Any:
        return a + a

    for f in (later, lambda a: later(a)):
        with pytest.raises(TypeError, match="returns its result at once"):
            measure(f, a)


def test_an_exception_passes_and_leaves_no_handler() -> None:
    before = recorder.numpy_api().get_handler()

    def fails(a: Any) -> Any:
        b = a + a
        raise KeyError(b.size)

    with pytest.raises(KeyError, match="1000"):
        measure(fails, np.ones(K))
    assert recorder.numpy_api().get_handler() == before
    with pytest.raises(ZeroDivisionError), recording() as seen:
        np.ones(K)
        raise ZeroDivisionError
    assert large(seen.log.events) == [ARRAY]


def test_threads_run_and_do_not_count() -> None:
    def f(a: Any) -> Any:
        results: list[Any] = []

        def work() -> None:
            for _ in range(200):
                results.append(a + a)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for t in threads:
            t.start()
        for _ in range(200):
            a = a + 1.0
        for t in threads:
            t.join()
        assert len(results) == 600
        return a

    measured = measure(f, np.ones(K), repeat=1)
    sums_are_right(measured)
    assert sum(x.allocations - x.small for x in measured.lines) == 200


def test_measures_nest() -> None:
    inner: list[Measurement] = []

    def f(a: Any) -> Any:
        b = a + a
        inner.append(measure(helper, a, repeat=1))
        return b

    measured = measure(f, np.ones(K), repeat=1)
    sums_are_right(measured)
    assert line(measured, "b = a + a").allocations == 1
    alone = measure(helper, np.ones(K), repeat=1).eager
    assert inner and {(x.eager.allocations, x.eager.peak_bytes) for x in inner} == {(alone.allocations, 4 * ARRAY)}
    assert all([y.text for y in x.lines] == ["b = np.tile(a, 2)", "return b + b"] for x in inner)


def test_arrays_outlive_the_window_and_are_freed_later() -> None:
    kept: list[Any] = []
    for round in range(50):
        with recording() as seen:
            kept += [np.full(K, float(round)), np.empty(3), np.zeros((10, 10))]
        assert len(seen.log.events) >= 3 and len(seen.log.stacks) >= 2
        del seen
    gc.collect()
    assert [float(x[0]) for x in kept[::3]] == [float(r) for r in range(50)]
    kept[3].resize(10 * K, refcheck=False)
    kept[3][:] = 1.0
    thread = threading.Thread(target=kept.clear)
    thread.start()
    thread.join()
    gc.collect()
    with recording() as seen:
        a = np.ones(K)
        a.resize(2 * K, refcheck=False)
    assert large(seen.log.events) == [ARRAY, 2 * ARRAY] and seen.log.lost == 0


@pytest.mark.slow
def test_limits_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """More different stacks than there is room for: those are of no line, and all are counted."""
    code = "\n".join(f"def f{k}(a): return a + a" for k in range(recorder.STACKS + 100))
    made: dict[str, Any] = {}
    exec(compile(code, "<string>", "exec"), made)

    def f(a: Any) -> None:
        for k in range(recorder.STACKS + 100):
            made[f"f{k}"](a)

    measured = measure(f, np.ones(K), repeat=1)
    sums_are_right(measured)
    assert measured.eager.allocations == recorder.STACKS + 100
    assert [x.allocations for x in measured.lines if not x.line] == [101]


def test_recursion_and_deep_stacks() -> None:
    def deep(a: Any, k: int) -> Any:
        return deep(a, k - 1) if k else a + a

    measured = measure(deep, np.ones(K), 100, repeat=1)
    (only,) = measured.lines
    assert (only.allocations, only.function) == (1, "deep")


def test_whose_code_a_file_is() -> None:
    assert is_users(__file__) and is_users("<stdin>") and is_users("<ipython-input-3-abc>")
    for file in (np.__file__, functools.__file__, tracebuf.__file__, recorder.__file__, "<frozen importlib>"):
        assert not is_users(file)


@bufferize
def two_cumsums(u: Any) -> Any:
    w = np.cumsum(u)
    return np.cumsum(w[::-1])[::-1] * w


class Totals:
    @bufferize
    def total(self, u: Any) -> Any:
        return np.cumsum(u)[::-1].cumsum().sum()


@pytest.mark.parametrize("native", [False, True])
def test_a_plain_function_that_calls_bufferized_ones(native: bool) -> None:
    """Their buffers count, for its lines, whoever takes the calls; which is as before afterwards."""

    def plain(u: Any) -> Any:
        big = np.ones(50_000)
        a = two_cumsums(u)
        t = Totals().total(a)
        return big[0] * t

    u = np.ones(100_000)
    of_one, of_two = (tracebuf.measure(f, u).native for f in (two_cumsums, Totals().total))
    assert of_one is not None and of_two is not None
    if native:
        for _ in range(10):
            plain(u)
        two_cumsums.wait()
    taken = ctypes.c_void_p.from_address(id(two_cumsums) + VECTORCALL)
    before = taken.value
    measured = tracebuf.measure(plain, u)
    first = plain.__code__.co_firstlineno
    by_line = {x.line - first: x for x in measured.lines}
    assert by_line[2].allocated_bytes == of_one.allocated_bytes and by_line[2].allocations == of_one.allocations
    assert by_line[3].allocated_bytes == of_two.allocated_bytes >= 800_000
    assert by_line[1].allocated_bytes - 8 * by_line[1].small == 400_000
    assert measured.eager.allocated_bytes == sum(x.allocated_bytes for x in measured.lines)
    most = max(by_line[1].at_peak_bytes + x.peak_bytes for x in (by_line[2], by_line[3]))
    assert measured.eager.peak_bytes >= most and by_line[1].at_peak_bytes == 400_000
    assert sum(x.at_peak_bytes for x in measured.lines) == measured.eager.peak_bytes
    assert all(x.peak_bytes >= x.at_peak_bytes for x in measured.lines)
    assert taken.value == before and (before or not native)
