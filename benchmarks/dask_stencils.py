"""`tracebuf.dask.distribute` beside `map_overlap` written by hand, of the same compiled functions, and one call each.

    python -m benchmarks.dask_stencils [--size N] [--chunk N] [--rounds N] [--workers N]

Five stencils: results are compared to the bit; times are the least of several rounds, in one process (the synchronous
scheduler) where `--workers` is 0. Also prints what a task costs, and what the model of exchanges says beside what they
take.
"""

from __future__ import annotations

import argparse
import itertools
import os
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import dask
import dask.array as da
import numpy as np

from tracebuf import bufferize
from tracebuf.dask import distribute
from tracebuf.dask.model import cost


def laplace(u: np.ndarray) -> np.ndarray:
    out = np.zeros_like(u)
    out[1:-1, 1:-1] = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
    return out


def heat(u: np.ndarray) -> np.ndarray:
    u = u.copy()
    for _ in range(4):
        u[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
    return u


def blur(u: np.ndarray) -> np.ndarray:
    out = u.copy()
    out[1:-1] = (u[:-2] + u[1:-1] + u[2:]) / 3
    final = out.copy()
    final[:, 2:-2] = (out[:, :-4] + out[:, 2:-2] + out[:, 4:]) / 3
    return final


def upwind(u: np.ndarray) -> np.ndarray:
    out = u.copy()
    out[2:] = u[2:] - 0.3 * (u[2:] - u[:-2])
    return out


def edges(u: np.ndarray) -> np.ndarray:
    out = np.zeros_like(u)
    down = u[2:, 1:-1] - u[:-2, 1:-1]
    right = u[1:-1, 2:] - u[1:-1, :-2]
    out[1:-1, 1:-1] = np.sqrt(down * down + right * right)
    return out


STENCILS: dict[str, tuple[Callable[[np.ndarray], np.ndarray], dict[int, Any]]] = {
    "laplace": (laplace, {0: 1, 1: 1}),
    "heat, 4 steps": (heat, {0: 4, 1: 4}),
    "blur": (blur, {0: 1, 1: 2}),
    "upwind": (upwind, {0: (2, 0), 1: 0}),
    "edges": (edges, {0: 1, 1: 1}),
}


def least(run: Callable[[], Any], rounds: int) -> float:
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


def compare(size: int, chunk: int, rounds: int, client: Any) -> None:
    source = np.random.default_rng(0).random((size, size))
    x = da.from_array(source, chunks=chunk)
    if client is not None:
        x = client.persist(x)
    else:
        x = x.persist()
    names = map(str, itertools.count(time.time_ns()))  # else results that are there would be taken
    print(f"{'':16}{'map_overlap':>12}{'distribute':>12}{'ratio':>8}{'one call':>12}  same")
    for name, (f, depth) in STENCILS.items():
        g = bufferize(f)
        g(source[:64, :64])
        g.wait()
        by_hand = lambda g=g, depth=depth: da.map_overlap(  # noqa: E731
            g, x, depth=depth, boundary="none", dtype=x.dtype, meta=np.empty((0, 0)), token=next(names)
        )
        ours = lambda g=g: distribute(g)(x)  # noqa: E731
        a, b = by_hand().compute(), ours().compute()
        same = np.array_equal(a, b) and np.array_equal(b, g(source))
        del a, b
        t_hand = least(lambda f=by_hand: finished(f(), client), rounds)  # type: ignore[misc]
        t_ours = least(lambda f=ours: finished(f(), client), rounds)  # type: ignore[misc]
        t_one = least(lambda g=g: g(source), rounds)  # type: ignore[misc]
        print(f"{name:16}{t_hand:11.3f}s{t_ours:11.3f}s{t_ours / t_hand:8.2f}{t_one:11.3f}s  {same}")


def finished(x: Any, client: Any) -> None:
    """Waits until all chunks are there."""
    made = dask.persist(x)
    if client is not None:
        from distributed import wait

        wait(made)


def task_costs(client: Any) -> float:
    """Seconds that a task takes which does nothing."""
    n = 2_000
    x = da.zeros(n, chunks=1)
    start = time.perf_counter()
    finished(da.map_blocks(lambda b: b, x, dtype=x.dtype, meta=np.empty(0)), client)
    return (time.perf_counter() - start) / (2 * n)


def waves(u: np.ndarray, v: np.ndarray, dt: float, T: int) -> None:
    for _ in range(T):
        v[1:-1, 1:-1] += dt * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])
        u += dt * v


def exchanges(size: int, chunk: int, rounds: int, workers: int, client: Any) -> None:
    """The model of exchanges beside what they take."""
    print(f"\n{'steps':>8}{'measured':>12}{'model':>12}   seconds for an iteration")
    total = 16
    u = da.from_array(np.random.default_rng(0).random((size, size)), chunks=chunk).persist()
    v = da.zeros((size, size), chunks=chunk).persist()

    def run(steps: int) -> None:
        a, b = u.copy(), v.copy()
        distribute(waves, steps=steps)(a, b, 0.1, total)
        made = dask.persist(a, b)
        if client is not None:
            from distributed import wait

            wait(made)

    run(16)
    for steps in (1, 2, 4, 8, 16):
        seconds = least(lambda steps=steps: run(steps), rounds) / total  # type: ignore[misc]
        said = cost(steps, [chunk, chunk], [2, 2], 2) * (size // chunk) ** 2 / max(min(workers, os.cpu_count() or 1), 1)
        print(f"{steps:8}{seconds:11.4f}s{said:11.4f}s")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=8_000)
    parser.add_argument("--chunk", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=0)
    args = parser.parse_args()
    if args.workers:
        from distributed import Client, LocalCluster

        cluster: Any = LocalCluster(n_workers=args.workers, threads_per_worker=1, dashboard_address=None)
        context: Any = Client(cluster)
    else:
        cluster, context = nullcontext(), nullcontext()
    with dask.config.set({} if args.workers else {"scheduler": "synchronous"}), cluster, context as client:
        print(f"a task takes {task_costs(client) * 1e3:.2f} ms")
        compare(args.size, args.chunk, args.rounds, client)
        exchanges(args.size, args.chunk, args.rounds, args.workers, client)


if __name__ == "__main__":
    main()
