"""What threads gain: the table of docs/threads.md.

    python benchmarks/threads.py

Each program with `parallel=True` and without takes turns in one process, on arrays that both find warm; the least time
of a call over all turns counts, and the CPU time of all threads in the turn with the least. Columns are numbers of
threads, as many as the machine has.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import tracebuf
from tracebuf.backend.runtime import threads

COUNTS = (1, 2, 4, 8)
TURNS = 25
RNG = np.random.default_rng(0)
N, SIDE = 4_000_000, 2000


def fresh(a: Any, b: Any) -> Any:
    """Six operations, a new array"""
    return (a + b) * 0.5 - a * b + (a - b)


def updates(a: Any, b: Any) -> None:
    """Two operations, in place"""
    a *= b
    a += 0.5


def wave(u: Any, v: Any) -> None:
    """A step of a 2-D wave"""
    v[1:-1, 1:-1] += 0.1 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])
    u += 0.1 * v


def total(a: Any, b: Any) -> Any:
    """A sum of products"""
    return (a * b).sum()


def columns(m: Any) -> Any:
    """Sums of columns"""
    return m.sum(axis=0)


def picked(a: Any, i: Any) -> Any:
    """A gather, at random"""
    return a[i] * 2


def softmax(m: Any) -> Any:
    """Softmax of rows"""
    e = np.exp(m - m.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def calls(a: Any) -> Any:
    """exp(sin(a))"""
    return np.exp(np.sin(a))


def distances(p: Any, q: Any) -> Any:
    """Distances, all to all"""
    return np.sqrt(((p[:, None] - q[None]) ** 2).sum(axis=2))


def vectors(*count: int) -> tuple[Any, ...]:
    return tuple(RNG.random(n) for n in count)


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (fresh, vectors(N, N)),
    (updates, vectors(N, N)),
    (wave, tuple(RNG.random((2, SIDE, SIDE)))),
    (total, vectors(N, N)),
    (columns, (RNG.random((SIDE, SIDE)),)),
    (picked, (RNG.random(N), RNG.integers(0, N, N // 2))),
    (softmax, (RNG.random((SIDE, SIDE)),)),
    (calls, vectors(N)),
    (distances, (RNG.random((1000, 8)), RNG.random((1000, 8)))),
]


def timed(f: Callable[..., Any], args: tuple[Any, ...], calls: int) -> tuple[float, float]:
    """Seconds and CPU seconds of a call."""
    begin, used = time.perf_counter(), time.process_time()
    for _ in range(calls):
        f(*args)
    return (time.perf_counter() - begin) / calls, (time.process_time() - used) / calls


def compared(f: Callable[..., Any], args: tuple[Any, ...], calls: int = 1) -> tuple[float, float, float]:
    """The seconds of one thread, those of several, and the CPU time of the latter in times of the former's."""
    one, several = (tracebuf.bufferize(f, tier="fast", parallel=parallel) for parallel in (False, True))
    for g in (one, several):
        for _ in range(5):
            g(*args)
    turns = [(timed(one, args, calls), timed(several, args, calls)) for _ in range(TURNS)]
    alone, shared = (min(times) for times in zip(*turns, strict=True))
    return alone[0], shared[0], shared[1] / alone[1]


def main() -> None:
    if "NUMBA_NUM_THREADS" not in os.environ and len(os.sched_getaffinity(0)) < 2:
        sys.exit("one core alone: there is nothing to measure")
    threads.start()
    from numba import config, set_num_threads, threading_layer

    counts = [n for n in COUNTS if n <= config.NUMBA_NUM_THREADS]
    load = " ".join(f"{x:.1f}" for x in os.getloadavg())
    print(f"layer {threading_layer()}, {config.NUMBA_NUM_THREADS} threads, load {load}\n")
    print("| time of one thread / of several (CPU time, in times of one's) | ms, one thread |", end="")
    print(" | ".join(f" {n} threads" for n in counts), "|")
    print("|" + "---|" * (2 + len(counts)))
    for f, args in PROGRAMS:
        cells = []
        for n in counts:
            set_num_threads(n)
            with threads.shared_from(threads.LEAST):
                alone, several, used = compared(f, args)
            cells.append(f"{alone / several:.2f} ({used:.2f})")
        print(f"| {f.__doc__} | {alone * 1e3:.2f} | {' | '.join(cells)} |", flush=True)
    set_num_threads(counts[-1])
    print("\n| " + str(fresh.__doc__) + ", elements: | " + " | ".join(f"{n:,}" for n in SIZES) + " |")
    print("|" + "---|" * (1 + len(SIZES)))
    found = [compared(fresh, vectors(n, n), max(1, 100_000 // n)) for n in SIZES]
    print("| time of one thread / of several | " + " | ".join(f"{a / s:.2f}" for a, s, _ in found) + " |")


SIZES = (10, 1_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)

if __name__ == "__main__":
    main()
