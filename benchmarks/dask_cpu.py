"""CPU time on a cluster of processes beside that of one process: the three programs of examples/ on chunks.

    python -m benchmarks.dask_cpu [--size N] [--chunk N] [--rounds N] [--workers N] [--memory 4GB]

All of it counts: the workers, the scheduler, and the process that asks. All sides begin with the same arrays in memory,
make their results anew, and take turns; the first round, which loads programs, is not counted. With `--sources` they
also make or read the arrays, as the examples do: the bump of the wave, a stack on disk, random numbers.

There are three measures of one process: the function on whole arrays with nothing else to do (`alone`); the same while
another process does it too (`beside`), for workers share caches, memory and perhaps the units of a core, which costs
CPU time whoever schedules them; and the same graph of chunks by dask's synchronous scheduler (`chunks`). The table has
the cluster's time over each, least by least, and (medians).
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np

from tracebuf.dask import Mapped, distribute

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import chunks_images
import chunks_monte_carlo
import chunks_wave

STEPS, DAYS, IMAGES = 16, 50, 4
OPTION = (100.0, 100.0, 0.03, 0.2)


class Program:
    """One example: its arrays, and its function on arrays of either kind."""

    def __init__(self, arrays: list[Any], chunks: tuple[int, ...], call: Callable[..., Any], f: Any) -> None:
        self.arrays, self.chunks, self.call, self.f = arrays, chunks, call, f


def wave(f: Any, u: Any, v: Any) -> list[Any]:
    f(u, v, 0.1, STEPS)
    return [u, v]


def programs(size: int, chunk: int) -> dict[str, Program]:
    rng = np.random.default_rng(0)
    square = rng.random((size, size))
    stack = rng.random((IMAGES, size, size), np.float32) * 100
    draws = rng.standard_normal((DAYS, size * size // DAYS))
    return {
        "wave": Program([square, np.zeros_like(square)], (chunk, chunk), wave, chunks_wave.wave),
        "images": Program([stack], (IMAGES, chunk, chunk), lambda f, x: list(f(x)), chunks_images.pipeline),
        "monte carlo": Program(
            [draws], (DAYS, chunk * chunk // DAYS), lambda f, x: list(f(x, *OPTION)), chunks_monte_carlo.price
        ),
    }


def sources(name: str, size: int, chunk: int, folder: Path) -> tuple[Callable[[], list[Any]], Callable[[], list[Any]]]:
    """What makes the arrays of an example, in one process and as dask arrays."""
    if name == "wave":
        info = {None: {"array-location": [(0, size), (0, size)]}}
        return (
            lambda: [chunks_wave.drop(np.zeros(0), size, info), np.zeros((size, size))],
            lambda: [
                da.map_blocks(
                    chunks_wave.drop, da.zeros((size, size), chunks=chunk), size=size, dtype=np.float64,
                    meta=np.empty((0, 0)),
                ),
                da.zeros((size, size), chunks=chunk),
            ],
        )  # fmt: skip
    if name == "images":
        path = folder / "stack.npy"
        stack = np.load(path, mmap_mode="r") if path.exists() else chunks_images.photographs(path, IMAGES, size)
        return lambda: [np.array(stack)], lambda: [da.from_array(Mapped(stack), chunks=(IMAGES, chunk, chunk))]
    shape, chunks = (DAYS, size * size // DAYS), (DAYS, chunk * chunk // DAYS)
    return (
        lambda: [np.random.default_rng(1).standard_normal(shape)],
        lambda: [da.random.default_rng(1).standard_normal(shape, chunks=chunks)],
    )


class Companion:
    """A process that does what the one process does, again and again, in a `with` block."""

    def __init__(self, name: str, args: argparse.Namespace, folder: Path) -> None:
        new = multiprocessing.get_context("spawn")
        self.go, self.works = new.Event(), new.Event()
        events = self.go, self.works
        self.process = new.Process(target=works_beside, args=(name, args, folder, *events), daemon=True)
        self.process.start()

    def __enter__(self) -> None:
        self.go.set()
        self.works.wait()

    def __exit__(self, *error: object) -> None:
        self.go.clear()
        while self.works.is_set():
            time.sleep(0.01)

    def stop(self) -> None:
        self.process.kill()
        self.process.join()


def works_beside(name: str, args: argparse.Namespace, folder: Path, go: Any, works: Any) -> None:
    """What a companion does while `go` is set; `works` says whether it is at it."""
    p = programs(args.size, args.chunk)[name]
    whole = sources(name, args.size, args.chunk, folder)[0] if args.sources else lambda: p.arrays
    p.call(p.f, *whole())
    while go.wait():
        works.set()
        while go.is_set():
            p.call(p.f, *whole())
        works.clear()


def cpu(processes: list[Any]) -> float:
    return sum(t.user + t.system for t in (p.cpu_times() for p in processes))


def main() -> None:
    import psutil
    from distributed import Client, LocalCluster, wait

    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=8_000)
    parser.add_argument("--chunk", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--sources", action="store_true")
    args = parser.parse_args()
    print(f"{'':14}{'alone':>9}{'beside':>9}{'chunks':>9}{'cluster':>9}   cluster/alone  /beside  /chunks  same")
    for name in ("wave", "images", "monte carlo"):
        p = programs(args.size, args.chunk)[name]
        cluster = LocalCluster(
            n_workers=args.workers, threads_per_worker=1, memory_limit=args.memory, dashboard_address=None
        )
        with cluster, Client(cluster) as client, tempfile.TemporaryDirectory() as folder:
            processes = [psutil.Process(), *map(psutil.Process, client.run(os.getpid).values())]
            if args.sources:
                whole, parts = sources(name, args.size, args.chunk, Path(folder))
            else:
                whole = lambda p=p: [a.copy() for a in p.arrays]  # noqa: E731
                there = client.persist([da.from_array(a, chunks=p.chunks) for a in p.arrays])
                wait(there)
                parts = lambda there=there: [x.copy() for x in there]  # noqa: E731
            companion = Companion(name, args, Path(folder))
            seconds: dict[str, list[float]] = {"alone": [], "beside": [], "chunks": [], "cluster": []}

            def one(p: Program = p, whole: Any = whole) -> tuple[float, Any]:
                arrays = None if args.sources else whole()
                gc.collect()
                begin = time.process_time()
                found = p.call(p.f, *(whole() if arrays is None else arrays))
                return time.process_time() - begin, found

            for turn in range(args.rounds + 1):
                alone, expected = one()
                with companion:
                    beside, _ = one()
                lazy = parts() if args.sources else [da.from_array(a.copy(), chunks=p.chunks) for a in p.arrays]
                begin = time.process_time()
                with dask.config.set(scheduler="synchronous"):
                    found = dask.persist(p.call(distribute(p.f), *lazy))
                chunks = time.process_time() - begin
                del lazy, found
                begin = cpu(processes)
                found = client.persist(p.call(distribute(p.f), *parts()))
                wait(found)
                many = cpu(processes) - begin
                if turn:
                    for side, found_here in zip(seconds.values(), (alone, beside, chunks, many)):
                        side.append(found_here)
                else:
                    drawn = args.sources and name == "monte carlo"  # other numbers
                    same = all(agree(a, b, drawn) for a, b in zip(expected, found))
                del expected, found
                time.sleep(0.3)
            companion.stop()
        least, middle = ({k: f(v) for k, v in seconds.items()} for f in (min, statistics.median))
        ratios = "".join(
            f"{least['cluster'] / least[k]:9.2f} ({middle['cluster'] / middle[k]:.2f})"
            for k in ("alone", "beside", "chunks")
        )
        print(f"{name:14}" + "".join(f"{t:8.3f}s" for t in least.values()) + ratios + f"   {same}", flush=True)


def agree(a: Any, b: Any, drawn: bool) -> bool:
    """Whether results are the same, but for how sums are rounded, relative to the largest; of numbers that are `drawn`
    in chunks, which are others, only means are compared."""
    if drawn:
        return np.ndim(a) > 0 or abs(a - b.compute()) < 0.1
    error = 1e-6 if np.asarray(a).dtype == np.float32 else 1e-12
    return bool(np.abs(np.subtract(a, b.compute())).max() <= error * np.abs(a).max())


if __name__ == "__main__":
    main()
