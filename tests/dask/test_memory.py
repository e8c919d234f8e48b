"""Chunks for a given memory: they fit, and what a chunk takes is what was said at most."""

from __future__ import annotations

import gc
import tracemalloc
from typing import Any

import numpy as np
import pytest

from tests.dask.functions import CASES
from tracebuf import bufferize
from tracebuf.dask import suggest_chunks
from tracebuf.dask.memory import SHARE, bytes_of
from tracebuf.errors import UnsupportedError


def test_amounts() -> None:
    assert [bytes_of(x) for x in ("1GB", "500 MiB", "7", 12)] == [10**9, 500 * 2**20, 7, 12]
    with pytest.raises(ValueError, match="no amount of memory"):
        bytes_of("much")


def test_what_is_small_is_not_cut_and_whole_axes_stay_whole() -> None:
    f = bufferize(CASES["laplace"][0])
    assert suggest_chunks(f, [(300, 200)]) == {"u": (300, 200)}
    running = bufferize(CASES["running"][0])
    assert suggest_chunks(running, [(10_000, 10_000)], memory="400MB")["x"][0] == 10_000


def test_more_memory_gives_larger_chunks() -> None:
    f = bufferize(CASES["wave"][0])
    sizes = [
        np.prod(suggest_chunks(f, [(20_000, 20_000), (20_000, 20_000), 0.1], memory=m)["u"])
        for m in ("100MB", "1GB", "10GB")
    ]
    assert sizes == sorted(sizes) and sizes[0] < sizes[2]


def test_what_can_never_fit_is_refused() -> None:
    f = bufferize(CASES["running"][0])
    with pytest.raises(UnsupportedError, match="whatever its chunks"):
        suggest_chunks(f, [(10**9, 4)], memory="1GB")


@pytest.mark.parametrize("name", ["wave", "laplace", "chain"])
@pytest.mark.cases(3)
def test_a_chunk_takes_at_most_what_was_said(name: str) -> None:
    """Measured: the arrays that are made while all chunks are computed, one after the other, and thrown away."""
    da, dask = pytest.importorskip("dask.array"), pytest.importorskip("dask")
    from tracebuf.dask import distribute

    f = bufferize(CASES[name][0])
    square = (900, 900)
    shapes: dict[str, list[Any]] = {"wave": [square, square, 0.1], "laplace": [square], "chain": [square, square]}
    memory = 16_000_000
    chunks = next(iter(suggest_chunks(f, shapes[name], memory=memory).values()))
    args = [da.zeros(s, chunks=chunks) if isinstance(s, tuple) else s for s in shapes[name]]
    assert args[0].npartitions > 1
    result = distribute(f)(*args)
    changed = [result, *(a for a in args if isinstance(a, da.Array))] if name == "wave" else [result]
    with dask.config.set(scheduler="synchronous"):
        dask.compute(*(x.sum() for x in changed))
        tracemalloc.start()
        dask.compute(*(x.sum() for x in changed))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    held = 3 * 8 * chunks[0] * 900 * len(changed)  # rows of chunks that wait for their neighbours
    assert peak < memory / SHARE + held


@pytest.mark.parametrize(("name", "rest"), [("laplace", ()), ("wave", (0.1,)), ("heat", (4,))])
@pytest.mark.cases(3)
def test_never_more_than_two_copies_of_a_chunk_are_alive(
    name: str, rest: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a chunk is computed there is what it was and what it becomes; what is beside these is small."""
    da, dask = pytest.importorskip("dask.array"), pytest.importorskip("dask")
    from tracebuf.dask import distribute, tiles, worker

    f, n = bufferize(CASES[name][0]), 1_000
    run, peaks = worker.run, list[int]()

    def measured(*given: Any) -> Any:
        worker._kept.clear()
        tracemalloc.start()
        found = run(*given)
        peaks.append(tracemalloc.get_traced_memory()[1])  # inputs are there before
        tracemalloc.stop()
        return found

    monkeypatch.setattr(tiles, "BYTES", 1 << 19)
    monkeypatch.setattr(worker, "run", measured)
    args = [da.ones((2 * n, 2 * n), chunks=n).persist() for _ in range(2 if name == "wave" else 1)]
    before = [a.copy() for a in args]
    result = distribute(f)(*args, *rest)
    made = [result] if name == "laplace" else args
    assert before[0].npartitions == 4
    with dask.config.set(scheduler="synchronous"):
        dask.compute(*(x.sum() for x in made))
        peaks.clear()
        dask.compute(*(x.sum() for x in made))
    assert len(peaks) == 4 and max(peaks) < 1.25 * len(made) * n * n * 8, max(peaks) / (len(made) * n * n * 8)


def test_memory_is_kept_as_long_as_with_what_is_in_use_there_is_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    from tracebuf.dask import worker

    monkeypatch.setattr(worker, "limit", lambda: 1 << 20)
    monkeypatch.setattr(worker, "_kept", {})
    monkeypatch.setattr(worker, "_lent", {})

    def kept() -> int:
        return sum(m.nbytes for m in worker._kept.values())

    many = [worker.memory((1 << 16,), np.dtype(np.float64)) for _ in range(6)]
    assert sum(worker._lent.values()) == 6 << 19 and kept() == 0
    del many[4:]
    assert kept() == 2 << 19, "what is kept whatever is in use"
    del many[1:]
    assert kept() == 3 << 19 and len(worker._lent) == 1
    again = [worker.memory((1 << 16,), np.dtype(np.float64)) for _ in range(3)]
    assert kept() == 0 and sum(worker._lent.values()) == 4 << 19
    del again, many
    assert kept() == 4 << 19 and not worker._lent


def test_memory_that_is_given_back_while_other_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The collector may run at any allocation, and finalizers change what is kept: it was gone over meanwhile."""
    from tracebuf.dask import worker

    monkeypatch.setattr(worker, "limit", lambda: 1 << 24)
    monkeypatch.setattr(worker, "_kept", {})
    monkeypatch.setattr(worker, "_lent", {})
    shape, dtype, before = (1 << 14,), np.dtype(np.float64), gc.get_threshold()
    pairs = list[tuple[int, int]]()
    gc.disable()
    try:
        for later in range(40):  # allocations until the collector runs
            kept = [worker.memory(shape, dtype) for _ in range(20)]
            cycle: list[Any] = [worker.memory(shape, dtype)]
            cycle.append(cycle)
            del kept, cycle
            pairs += [(k, k) for k in range(3000)]  # Python has no freed ones left, for which nothing is allocated
            gc.enable()
            gc.set_threshold(gc.get_count()[0] + later, 1000, 1000)
            worker.memory((1 << 20,), dtype)
            gc.disable()
            gc.set_threshold(*before)
            gc.collect()
    finally:
        gc.set_threshold(*before)
        gc.enable()


def test_large_arrays_have_whole_large_pages() -> None:
    from tracebuf.dask import worker

    small, large = worker.fresh(3 << 20), worker.fresh((17 << 20) + 8)
    assert small.nbytes == 3 << 20
    assert large.ctypes.data % worker.HUGE == 0 and large.nbytes == 18 << 20
