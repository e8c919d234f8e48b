"""`measure` says of each line the most that is alive at once as tracemalloc sees it: arrays, the buffers of NumPy's
iterator, and Python's own objects."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import tracemalloc
from collections import defaultdict
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import numpy as np
import pytest

from tracebuf.measure import clone_arguments, measure
from tracebuf.measuring.tally import tallying
from tracebuf.measuring.whole import whole_of

N = 20_000
R = np.random.default_rng(0)


def luminance(image: Any) -> Any:
    """Integers that meet floats: each ufunc converts by the iterator's buffers."""
    grey = np.add(image[..., 0] * np.float32(0.2125), image[..., 1] * 0.7154, dtype=np.float64)
    grey += image[..., 2]
    low, high = grey.min(), grey.max()
    np.subtract(grey, low, out=grey)
    return (grey / max(high - low, 1)).astype(np.float32)


def run_lengths(labels: Any) -> Any:
    """Runs of equal labels, as lists of Python's integers."""
    edges = np.flatnonzero(np.diff(labels)) + 1
    starts = np.concatenate(([0], edges)).tolist()
    ends = edges.tolist() + [len(labels)]
    return list(zip(starts, [e - s for s, e in zip(starts, ends)]))


def blocks(x: Any, size: int) -> Iterator[Any]:
    for first in range(0, len(x), size):
        part = x[first : first + size].astype(np.float64)
        yield part - part.mean()


def block_energies(x: Any) -> Any:
    total = 0.0
    seen = []
    for part in blocks(x, 4_000):
        seen.append(float(part @ part))
        total += np.sum(part, dtype=np.longdouble)
    return total, seen


def parsed(count: int) -> Any:
    """A table that is read line by line."""
    text = "\n".join(f"{k},{k / 7:.6f}" for k in range(count))
    rows = [row.split(",") for row in text.split("\n")]
    keys = [int(key) for key, _ in rows]
    values = np.array([float(value) for _, value in rows])
    order = np.argsort(-values)
    return np.array(keys)[order], values[order]


def grouped(keys: Any, values: Any) -> Any:
    groups: dict[int, list[float]] = {}
    for key, value in zip(keys.tolist(), values.tolist()):
        groups.setdefault(key, []).append(value)
    return {key: np.mean(group) for key, group in groups.items()}


def smoothed(image: Any, weights: Any) -> Any:
    padded = np.pad(image, len(weights) // 2, mode="reflect")
    for axis in range(image.ndim):
        padded = along(padded, weights, axis)
    return padded


def along(image: Any, weights: Any, axis: int) -> Any:
    windows = np.lib.stride_tricks.sliding_window_view(image, len(weights), axis=axis)
    return np.einsum("...k,k->...", windows, weights)


def neighbours(points: Any, k: int) -> Any:
    squares = np.sum(points**2, axis=1)
    distances = squares[:, None] - 2 * points @ points.T + squares
    np.fill_diagonal(distances, np.inf)
    nearest = np.argpartition(distances, k, axis=1)[:, :k]
    return nearest, np.sqrt(np.maximum(np.take_along_axis(distances, nearest, axis=1), 0))


def converted(x: Any) -> Any:
    """numpy.nditer with buffers of its own."""
    total = 0.0
    with np.nditer(x, flags=["buffered", "external_loop"], op_dtypes=["f8"], casting="same_kind") as every:
        for part in every:
            total += float(np.sqrt(part).sum())
    return total


def orthonormal(vectors: Any) -> Any:
    basis: list[Any] = []
    for v in vectors:
        w = v.astype(np.float64)
        for b in basis:
            w -= (w @ b) * b
        norm = np.linalg.norm(w)
        if norm > 1e-10:
            basis.append(w / norm)
    return np.array(basis)


def clipped(x: Any) -> Any:
    """Quantiles, a mask, and stores under it."""
    low, high = np.percentile(x, [2, 98])
    outside = (x < low) | (x > high)
    kept = np.where(outside, np.nan, x)
    kept[outside] = np.nanmedian(kept)
    return (kept - np.mean(kept)) / np.std(kept)


def histograms(image: Any) -> Any:
    counts = [np.bincount(row, minlength=256) for row in image]
    table = np.stack(counts).astype(np.float32)
    table /= table.sum(axis=1, keepdims=True, dtype=np.float64)
    return np.cumsum(table, axis=1, dtype=np.float64)


def ranked(x: Any) -> Any:
    pairs = sorted((value, k) for k, value in enumerate(x.tolist()))
    ranks = np.empty(len(x), np.int32)
    ranks[[k for _, k in pairs]] = range(len(pairs))
    return ranks


PUBLIC: tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...] = (
    (luminance, (R.integers(0, 255, (120, 170, 3)).astype(np.uint8),)),
    (run_lengths, (R.integers(0, 3, N),)),
    (block_energies, (R.integers(0, 99, N).astype(np.int16),)),
    (parsed, (2_000,)),
    (grouped, (R.integers(0, 9, 4_000), R.random(4_000))),
    (smoothed, (R.random((320, 330)), np.array([1.0, 4, 6, 4, 1]) / 16)),
    (neighbours, (R.random((400, 3)), 15)),
    (converted, (R.integers(0, 99, N).astype(np.int32),)),
    (orthonormal, (R.integers(0, 9, (12, 4_000)),)),
    (clipped, (R.random(5 * N),)),
    (histograms, (R.integers(0, 255, (60, 300)),)),
    (ranked, (R.random(3_000).astype(np.float32),)),
)  # fmt: skip


def seen_by_tracemalloc(f: Callable[..., Any], args: tuple[Any, ...]) -> tuple[int, dict[int, int]]:
    """The peak, and that of each line: what it had when it began, and the most that was added while it ran."""
    f(*clone_arguments(args, {})[0])
    file, most, running = __file__, defaultdict[int, int](int), [0, 0, 0]
    known: dict[int, tuple[int, int]] = {}

    def alive(line: int) -> int:
        found = 0
        for _, size, frames, _ in tracemalloc.take_snapshot().traces._traces:  # type: ignore[attr-defined]
            found += size * (next((at for name, at in frames if name == file), 0) == line)
        gc.collect()  # Python keeps thousands of tuples of the snapshot, which the function would take
        return found

    def goes_on(frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename != file or event not in ("call", "line", "return"):
            return goes_on if frame.f_code.co_filename == file else None
        line, had, began = running
        now, peak = tracemalloc.get_traced_memory()
        most[line] = max(most[line], had + peak - began)
        caller = frame.f_back if event == "return" else frame
        next_line = caller.f_lineno if caller and caller.f_code.co_filename == file else 0
        if next_line == line:
            return goes_on
        at, had = known.get(next_line, (-whole, 0))
        if abs(now - at) > 0.005 * whole:  # else as it was, about: a snapshot takes time
            had = alive(next_line)
            known[next_line] = now, had
        running[:] = next_line, had, tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        return goes_on

    positional, _ = clone_arguments(args, {})
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        result = f(*positional)
        whole = tracemalloc.get_traced_memory()[1] - before
        del result
    finally:
        tracemalloc.stop()
    positional, _ = clone_arguments(args, {})
    gc.collect()
    gc.freeze()  # so that the next ones are quick
    tracemalloc.start(25)
    before_trace = sys.gettrace()
    sys.settrace(goes_on)
    try:
        f(*positional)
    finally:
        sys.settrace(before_trace)
        tracemalloc.stop()
        gc.unfreeze()
    most.pop(0, None)
    return whole, most


@pytest.mark.slow
@pytest.mark.parametrize(("f", "args"), PUBLIC, ids=[f.__name__ for f, _ in PUBLIC])
def test_each_large_line_is_what_tracemalloc_sees(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    whole, seen = seen_by_tracemalloc(f, args)
    measured = measure(f, *args, repeat=1)
    told = {x.line: x.whole_peak_bytes for x in measured.lines}
    large = {line for line in {*seen, *told} if max(seen.get(line, 0), told.get(line, 0)) >= 0.05 * whole}
    wrong = [(line, seen.get(line), told.get(line)) for line in sorted(large)
             if abs(seen.get(line, 0) - told.get(line, 0)) > max(0.02 * seen.get(line, 0), 256)]  # fmt: skip
    assert large and not wrong, (whole, wrong)
    all_told = measured.eager.peak_bytes + measured.eager.buffer_bytes
    assert abs(whole - all_told) <= max(0.02 * whole, 4096)


def listed(x: Any) -> Any:
    kept = x.tolist()
    half = [value / 2 for value in kept]
    return np.add(x, np.arange(len(x)), out=np.empty(len(x), np.float32), casting="same_kind"), len(half)


def test_lines_of_python_objects_and_of_buffers_are_told() -> None:
    measured = measure(listed, np.ones(N), repeat=1)
    first = listed.__code__.co_firstlineno
    lines = {x.line - first: x for x in measured.lines}
    assert lines[1].allocations == 0 and 630_000 <= lines[1].whole_peak_bytes <= 655_000  # a place, a float of 24 bytes
    assert lines[2].allocations == 0 and 630_000 <= lines[2].whole_peak_bytes <= 690_000  # a list has room to grow
    assert lines[3].peak_bytes == 240_000 and lines[3].whole_peak_bytes >= 240_000 + 2 * 65_536
    at_peak, counts = sum(x.whole_at_peak_bytes for x in measured.lines), measured.eager
    assert abs(at_peak - counts.peak_bytes - counts.buffer_bytes) <= 4096
    assert "in all: the most at once" in measured.text() and "kept = x.tolist()" in measured.text()
    assert "in all" not in measure(lambda a: a + a, np.ones(N), repeat=1).line_rows()[0]


def test_one_line_of_several_functions_is_one() -> None:
    def rows(x: Any) -> Any:
        return sum(np.sum([row * 2 for row in x], axis=0) + [row + 1 for row in x])

    (line,) = [x for x in measure(rows, np.ones((4, 1_000)), repeat=1).lines if x.allocated_bytes > 1_000]
    assert line.function == "rows" and line.allocated_bytes >= 8 * 4_000 + 32_000


def test_a_tally_nests_and_knows_what_other_threads_release() -> None:
    kept: list[Any] = []
    with tallying() as outer:
        outer.place(1)
        with tallying() as inner:
            inner.place(2)
            kept.append(bytearray(100_000))
            kept.append(np.ones(10_000))
            kept[0].extend(bytes(100_000))
        thread = threading.Thread(target=kept.clear)
        thread.start()
        thread.join()
        kept.append(np.ones(20_000))
    assert 280_000 <= inner.places[2].most <= 400_000 and inner.places[2].at_peak == inner.places[2].most
    assert 280_000 <= outer.places[1].most <= 400_000 and outer.most < 420_000
    kept.clear()


def test_tracemalloc_may_run_beside() -> None:
    """Started before, within, and stopped within or after."""

    def starts(x: Any) -> Any:
        tracemalloc.start()
        return x.tolist()

    def stops(x: Any) -> Any:
        kept = x.tolist()
        tracemalloc.stop()
        return kept

    x = np.ones(1_000)
    for f in (starts, stops, starts, lambda x: x.tolist(), stops):
        assert 30_000 <= whole_of(f, (x,), {}, f.__code__).peak_bytes <= 60_000
    assert not tracemalloc.is_tracing()


def test_what_raises_and_what_traces_itself() -> None:
    def fails(x: Any) -> Any:
        raise KeyError(x.tolist()[0])

    def traces(x: Any) -> Any:
        sys.settrace(None)
        return x.tolist()

    def given(frame: Any, event: str, arg: Any) -> Any:
        return given

    before = sys.gettrace()
    sys.settrace(given)
    try:
        with pytest.raises(KeyError):
            whole_of(fails, (np.ones(9),), {}, fails.__code__)
        assert whole_of(traces, (np.ones(1_000),), {}, traces.__code__).peak_bytes >= 30_000
        assert sys.gettrace() is given
    finally:
        sys.settrace(before)


def test_generators_and_deep_calls_have_their_lines() -> None:
    def deep(k: int) -> Any:
        if k:
            return deep(k - 1)
        return list(range(10_000, 12_000))

    def chunks() -> Iterator[Any]:
        for _ in range(3):
            yield list(range(10_000, 14_000))

    def both() -> int:
        total = sum(len(x) for x in chunks())
        return total + len(deep(200))

    lines = {x.text: x for x in measure(both, repeat=1).lines}
    assert 170_000 <= lines["yield list(range(10_000, 14_000))"].whole_peak_bytes <= 400_000
    assert 70_000 <= lines["return list(range(10_000, 12_000))"].whole_peak_bytes <= 100_000


@pytest.mark.slow
def test_allocators_that_take_of_others_count_once() -> None:
    """Python's debug allocators give other addresses than those that they take of the ones below."""
    code = "import numpy as np; from tracebuf import measure; m = measure(np.ndarray.tolist, np.ones(20_000), repeat=1)"
    command = [sys.executable, "-c", f"{code}; print(m.eager.buffer_bytes)"]
    environment = {**os.environ, "PYTHONMALLOC": "debug"}
    ran = subprocess.run(command, capture_output=True, text=True, timeout=100, env=environment)
    assert 630_000 <= int(ran.stdout) <= 660_000, ran.stderr
