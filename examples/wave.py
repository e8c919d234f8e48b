"""The 2-D wave equation: two arrays updated in place, hundreds of times, without one temporary.

    python examples/wave.py [--size N] [--steps N] [--measured-steps N]

`wave` and `energy` are NumPy as anybody would write it. In every step eager NumPy allocates two arrays of the size of
`u` and sweeps over memory once for each of eight operations; the compiled function allocates nothing and sweeps twice.
The program prints what both cost (`tracebuf.measure`), what is left and why (`explain`), and the memref program of the
time loop.

What it is not: a good solver. The rim is held at zero, the scheme is leapfrog (symplectic, stable for c <= 1/2).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

import tracebuf

Array = np.ndarray[Any, np.dtype[np.float64]]


def energy(u: Array, v: Array, c: float) -> Any:
    """Kinetic plus elastic energy."""
    stretch = np.sum((u[1:] - u[:-1]) ** 2) + np.sum((u[:, 1:] - u[:, :-1]) ** 2)
    return 0.5 * (np.sum(v**2) + c * stretch)


@tracebuf.bufferize
def wave(u: Array, v: Array, c: float, steps: int) -> Any:
    """Moves a membrane of height `u` and speed `v` by some steps, in place. Gives its energy."""
    for _ in range(steps):
        v[1:-1, 1:-1] += c * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])
        u += v
    return energy(u, v, c)


def drop(size: int) -> tuple[Array, Array]:
    """A membrane at rest with a bump off its centre."""
    x = np.linspace(-1, 1, size)
    u = np.exp(-200 * ((x[:, None] + 0.3) ** 2 + x**2))
    u[[0, -1]] = u[:, [0, -1]] = 0
    return u, np.zeros_like(u)


def excerpt(program: str, start: str = "scf.for", end: str = "  }\n", width: int = 118) -> str:
    """The time loop of the memref program, long lines cut."""
    first = program.index(start)
    first = program.rindex("\n", 0, first) + 1
    lines = program[first : program.index("\n" + end, first) + 1 + len(end)].splitlines()
    return "\n".join(line if len(line) <= width else line[: width - 3] + "..." for line in lines)


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the example; ValueError where eager and compiled results differ."""
    parser = argparse.ArgumentParser(description="2-D wave equation")
    parser.add_argument("--size", type=int, default=2000, help="points on a side")
    parser.add_argument("--steps", type=int, default=400, help="steps of the compiled run")
    parser.add_argument("--measured-steps", type=int, default=40, help="steps of the runs beside eager NumPy")
    options = parser.parse_args(argv)
    size, c = options.size, 0.25

    u, v = drop(size)
    print(f"2-D wave equation, {size} x {size} float64: two arrays of {u.nbytes / 2**20:.3g} MiB\n")
    before = energy(u, v, c)
    start = time.process_time()
    wave(u, v, c, 0)
    compiled = time.process_time()
    after = wave(u, v, c, options.steps)
    done = time.process_time()
    print(f"tracing and compiling: {compiled - start:.2f} s of CPU; {options.steps} steps: {done - compiled:.2f} s")
    print(f"energy before {before:.6f}, after {after:.6f}\n")

    steps = options.measured_steps
    (u, v), (eager_u, eager_v) = drop(size), drop(size)
    wave(u, v, c, steps)
    wave.__wrapped__(eager_u, eager_v, c, steps)
    if not (np.array_equal(u, eager_u) and np.array_equal(v, eager_v)):
        raise ValueError("compiled and eager results differ")
    print(f"beside eager NumPy, {steps} steps (same bits in u and v):\n")
    print(f"{tracebuf.measure(wave, *drop(size), c, steps, repeat=2)}\n")
    print(f"{wave.explain(u, v, c, steps)}\n")
    print("the time loop as a memref program:\n")
    print(excerpt(wave.lower(u, v, c, steps).as_text("memref")))


if __name__ == "__main__":
    main()
