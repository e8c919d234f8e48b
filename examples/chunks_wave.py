"""The wave equation in chunks, on worker processes with a limit of memory.

    python examples/chunks_wave.py [--size N] [--chunk N] [--steps N] [--workers N] [--memory 1GB] [--out FILE.png]

`--size 20000` takes 6.4 GB for its two arrays: more than two workers of 1 GB, which write to disk what is not needed.
The function is an ordinary one on NumPy's arrays; how it may be cut, and with what halos, tracebuf finds out.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from image_filter import write_png

import tracebuf
from tracebuf.dask import distribute, suggest_chunks

Array = np.ndarray[Any, np.dtype[np.float64]]


@tracebuf.bufferize
def wave(u: Array, v: Array, dt: float, steps: int) -> None:
    """Some steps of the wave equation, in place; the border of `u` stays."""
    for _ in range(steps):
        lap = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
        v[1:-1, 1:-1] += dt * lap
        u += dt * v


def drop(block: Array, size: int, block_info: Any = None) -> Array:
    """A chunk of what it begins with: a smooth bump."""
    (a0, a1), (b0, b1) = block_info[None]["array-location"]
    i, j = np.arange(a0, a1)[:, None], np.arange(b0, b1)
    found: Array = np.exp(-((i - size / 3) ** 2 + (j - size / 2) ** 2) / (size / 30) ** 2)
    return found


def main(argv: Sequence[str] | None = None) -> None:
    import dask.array as da
    from distributed import Client, LocalCluster, wait

    parser = argparse.ArgumentParser(description="The wave equation in chunks.")
    parser.add_argument("--size", type=int, default=2_000)
    parser.add_argument("--chunk", type=int, default=500, help="0: as suggest_chunks says")
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--out", type=Path, default=None)
    args = parser.parse_args(argv)
    n = args.size
    chunks: tuple[int, ...] = (args.chunk, args.chunk)
    if not args.chunk:
        chunks = suggest_chunks(wave, [(n, n), (n, n), 0.1, args.steps], memory=args.memory)["u"]
    print(wave.cut(tracebuf.spec("f8[n,m]"), tracebuf.spec("f8[n,m]"), 0.1, args.steps), end="\n\n")
    cluster = LocalCluster(
        n_workers=args.workers, threads_per_worker=1, memory_limit=args.memory, dashboard_address=":0"
    )
    with cluster, Client(cluster) as client:
        v = da.zeros((n, n), chunks=chunks)
        u = da.map_blocks(drop, v, size=n, dtype=np.float64, meta=np.empty((0, 0)))
        start = time.perf_counter()
        distribute(wave)(u, v, 0.1, args.steps)
        step = max(n // 400, 1)
        u, v = client.persist([u, v])
        wait([u, v])
        seconds = time.perf_counter() - start
        small, energy = da.compute(u[::step, ::step], (v * v).sum())
        most = max(client.run(peak).values())
    print(f"{'size':>10}{'chunks':>16}{'workers':>9}{'steps':>7}{'seconds':>9}{'most of a worker':>18}{'kinetic':>12}")
    print(f"{n:10}{v.numblocks!s:>16}{args.workers:9}{args.steps:7}{seconds:9.2f}{most / 1e6:15.0f} MB{energy:12.3e}")
    if args.out is not None:
        low, high = float(small.min()), float(small.max())
        write_png(args.out, (small - low) / (high - low or 1) * 255)
        print(f"wrote {args.out}")


def peak() -> int:
    """The most memory that a process has had."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main()
