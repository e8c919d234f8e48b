"""From which sizes a bufferized function pays, and what its first call costs: the numbers of README.

    python benchmarks/sizes.py

Eager NumPy and native code take turns in one process, on arrays that both find warm; the least CPU time of a call over
all turns counts. First calls are timed in fresh processes, from the call's begin to its end, without imports.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import tracebuf

SIZES = (10, 1_000, 10_000, 30_000, 100_000, 1_000_000)
TURNS, ELEMENTS, MOST = 21, 3e6, 300


def fresh(x: np.ndarray, y: np.ndarray) -> Any:
    """Six operations, a new array."""
    return (x + y) * 0.5 - x * y + (x - y)


def updates(x: np.ndarray, y: np.ndarray) -> None:
    """Six operations, in place."""
    x += 0.5 * (y - x)
    x -= y * 0.25
    x *= 0.5


def stencil(u: np.ndarray, v: np.ndarray, dt: float) -> Any:
    """README's step."""
    lap = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
    v[1:-1, 1:-1] += dt * lap
    u += dt * v
    return u.max()


FIRST: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "fresh": (fresh, (np.ones(100), np.ones(100))),
    "stencil": (stencil, (np.ones((50, 50)), np.ones((50, 50)), 0.1)),
}


def seconds(f: Callable[..., Any], args: tuple[Any, ...], calls: int) -> float:
    """CPU seconds of a call, over some calls."""
    begin = time.process_time()
    for _ in range(calls):
        f(*args)
    return (time.process_time() - begin) / calls


def row(f: Callable[..., Any]) -> str:
    """eager/native for each size."""
    native = tracebuf.bufferize(f, tier="fast")
    ratios = []
    for n in SIZES:
        args = tuple(np.random.default_rng(0).random((2, n)))
        calls = int(max(1, min(MOST, ELEMENTS / n)))
        native(*args)
        turns = [(seconds(f, args, calls), seconds(native, args, calls)) for _ in range(TURNS)]
        eager, ours = (min(times) for times in zip(*turns, strict=True))
        ratios.append(f"{eager / ours:.2g}")
    return f"| {f.__doc__} | {' | '.join(ratios)} |"


def first(name: str) -> None:
    """Two first calls of one function: of the process, and of a function like it."""
    f, args = FIRST[name]
    print(*(f"{seconds(tracebuf.bufferize(f), args, 1):.2f} s" for _ in range(2)), sep=", then ")


def main() -> None:
    """The table and the first calls."""
    print(f"| eager / native, elements: | {' | '.join(f'{n:,}' for n in SIZES)} |")
    for f in (fresh, updates):
        print(row(f), flush=True)
    with tempfile.TemporaryDirectory() as cache:
        for name in FIRST:
            for what in ("", ", kept on disk by a process before"):
                print(f"first call of {name}{what}:", end=" ", flush=True)
                environment = os.environ | {"TRACEBUF_CACHE_DIR": cache}
                subprocess.run([sys.executable, __file__, name], check=True, env=environment)


if __name__ == "__main__":
    first(sys.argv[1]) if len(sys.argv) > 1 else main()
