"""Calls between Numba's functions and ours, in nanoseconds of CPU time: `python benchmarks/njit_calls.py`.

The first line is of loops that call three functions (an array changed in place, an array summed, a number computed): of
`@njit` code that calls `@njit` functions, which are not inlined, and with bufferized functions in one of the two roles.
The second line is of a function that makes an array. The contestants take turns; the least time of all rounds counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

import tracebuf

CALLS, ROUNDS = 20_000, 15
Function = Callable[..., Any]


def bump(a: Any, by: Any) -> None:
    a += by


def total(a: Any) -> Any:
    return a.sum()


def square(x: Any) -> Any:
    return x * x + 1


def doubled(a: Any) -> Any:
    return a * 2


def caller(decorate: Function, bump: Function, total: Function, square: Function) -> Function:
    """A function that calls three."""

    def run(a: Any, n: int) -> Any:
        s = 0.0
        for _ in range(n):
            bump(a, 1.0)
            s = square(s * 1e-9 + total(a) * 1e-9)
        return s

    return decorate(run)


def maker(decorate: Function, doubled: Function) -> Function:
    """A function that calls one which makes an array."""

    def run(a: Any, n: int) -> Any:
        s = 0.0
        for _ in range(n):
            s += doubled(a)[0]
        return s

    return decorate(run)


def measure(title: str, contestants: dict[str, Function], calls: int) -> None:
    """Prints a line: nanoseconds a call of each contestant, and over the first."""
    least = dict.fromkeys(contestants, float("inf"))
    a = np.ones(4)
    for f in contestants.values():
        f(a.copy(), 400)
    tracebuf.wait()
    for _ in range(ROUNDS):
        for name, f in contestants.items():
            x = a.copy()
            began = time.thread_time_ns()
            f(x, CALLS)
            least[name] = min(least[name], (time.thread_time_ns() - began) / CALLS / calls)
    own = next(iter(least.values()))
    print(f"{title:22}", *(f"{name} {ns:6.1f} ns ({ns - own:+.1f})" for name, ns in least.items()), sep="   ")


def main() -> None:
    functions = (bump, total, square)
    native = [numba.njit(inline="never")(f) for f in functions]
    ours = [tracebuf.bufferize(f) for f in functions]
    three = {
        "Numba calls Numba": caller(numba.njit, *native), "Numba calls ours": caller(numba.njit, *ours),
        "ours call Numba": caller(tracebuf.bufferize, *native),
    }  # fmt: skip
    measure("three functions", three, 3)
    made, by_us = numba.njit(doubled), tracebuf.bufferize(doubled)
    new = {
        "Numba calls Numba": maker(numba.njit, made), "Numba calls ours": maker(numba.njit, by_us),
        "ours call Numba": maker(tracebuf.bufferize, made),
    }  # fmt: skip
    measure("a new array", new, 1)


if __name__ == "__main__":
    main()
