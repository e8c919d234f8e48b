"""Benchmarks: tracebuf beside NumPy, NumPy with `out=` by hand, and Numba on explicit loops.

    python benchmarks/run.py [NAME ...] [--rounds N] [--size N]

One process, one core: the contestants of a job take turns, `--rounds` times, and CPU time is counted. A table gives the
least and the median time of a call and the ratio of the least times to tracebuf's: above 1, tracebuf is faster. Results
are compared before anything is timed. Compilation is timed in fresh processes, from the first call's begin to its end.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import kernels
import numpy as np

import tracebuf


Call = Callable[[], Any]
OURS = "tracebuf"
ROUND_SECONDS = 0.02


@dataclass(frozen=True)
class Job:
    """One comparison. `calls` do the same work on data of their own; `floors` do less, and are not checked."""

    name: str
    calls: Mapping[str, Call]
    results: Mapping[str, Any] = field(default_factory=dict)
    floors: frozenset[str] = frozenset()
    rtol: float = 0.0


def bind(function: Callable[..., Any] | None, *args: Any) -> Call | None:
    return None if function is None else partial(function, *args)


def job(name: str, calls: Mapping[str, Call | None], results: Mapping[str, Any], **options: Any) -> Job:
    """A job without the contestants that are not installed."""
    return Job(name, {k: c for k, c in calls.items() if c is not None}, results, **options)


def wave_job(n: int) -> Job:
    rng = np.random.default_rng(0)
    u = rng.random((n, n))
    state = {k: (u.copy(), np.zeros((n, n))) for k in (OURS, "numpy", "numpy out=", "numba loops", "same traffic")}
    room = np.empty((2, n - 2, n - 2))
    ours = tracebuf.bufferize(kernels.wave)
    calls = {
        OURS: bind(ours, *state[OURS], 0.1),
        "numpy": bind(kernels.wave, *state["numpy"], 0.1),
        "numpy out=": bind(kernels.wave_out, *state["numpy out="], 0.1, *room),
        "numba loops": bind(kernels.numba_jit(kernels.wave_loops), *state["numba loops"], 0.1),
        "same traffic": bind(kernels.wave_traffic, *state["same traffic"]),
    }
    floors = frozenset({"same traffic"})
    return job(f"wave step, {n} x {n}", calls, {k: s[0] for k, s in state.items()}, floors=floors, rtol=1e-12)


def chain_job(n: int) -> Job:
    a, b, c = np.random.default_rng(0).random((3, n))
    out = {k: np.empty(n) for k in (OURS, "numpy", "numpy out=", "numba loops")}
    calls = {
        OURS: bind(tracebuf.bufferize(kernels.chain), a, b, c, out[OURS]),
        "numpy": bind(kernels.chain, a, b, c, out["numpy"]),
        "numpy out=": bind(kernels.chain_out, a, b, c, out["numpy out="], np.empty(n)),
        "numba loops": bind(kernels.numba_jit(kernels.chain_loops), a, b, c, out["numba loops"]),
    }
    return job(f"chain of 6 operations, {n:,}", calls, out)


def bell_job(n: int) -> Job:
    a, b = np.random.default_rng(0).random((2, n))
    out = {k: np.empty(n) for k in (OURS, "numpy", "numpy out=", "numba loops")}
    calls = {
        OURS: bind(tracebuf.bufferize(kernels.bell), a, b, out[OURS]),
        "numpy": bind(kernels.bell, a, b, out["numpy"]),
        "numpy out=": bind(kernels.bell_out, a, b, out["numpy out="]),
        "numba loops": bind(kernels.numba_jit(kernels.bell_loops), a, b, out["numba loops"]),
    }
    return job(f"exp chain, {n:,}", calls, out, rtol=1e-13)


def sum_jobs(n: int) -> Iterator[Job]:
    a, b = np.random.default_rng(0).random((2, n, n))
    pairs = (
        ("sum", kernels.total, kernels.total_loops, (a,)),
        ("distance", kernels.distance, kernels.distance_loops, (a, b)),
    )
    for name, plain, loops, args in pairs:
        calls = {
            OURS: bind(tracebuf.bufferize(plain), *args),
            "numpy": bind(plain, *args),
            "numba loops": bind(kernels.numba_jit(loops, fast=True), *args),
        }
        yield job(f"{name}, {n} x {n}", calls, {k: c() for k, c in calls.items() if c is not None}, rtol=1e-9)
    out = {k: np.empty(n) for k in (OURS, "numpy", "numba loops")}
    calls = {
        OURS: bind(tracebuf.bufferize(kernels.columns), a, out[OURS]),
        "numpy": bind(kernels.columns, a, out["numpy"]),
        "numba loops": bind(kernels.numba_jit(kernels.columns_loops), a, out["numba loops"]),
    }
    yield job(f"sum over axis 0, {n} x {n}", calls, out, rtol=1e-12)


def call_job() -> Job:
    a, b, c = np.random.default_rng(0).random((3, 4))
    out = {k: np.empty(4) for k in (OURS, "numpy", "numba loops")}
    calls = {
        OURS: bind(tracebuf.bufferize(kernels.small), a, b, c, out[OURS]),
        "numpy": bind(kernels.small, a, b, c, out["numpy"]),
        "numba loops": bind(kernels.numba_jit(kernels.small_loops), a, b, c, out["numba loops"]),
        "np.add alone": bind(np.add, a, b),
    }
    return job("call with 4 arrays of 4", calls, out, floors=frozenset({"np.add alone"}))


def check(j: Job) -> None:
    """Runs every contestant once and compares the results; AssertionError where they differ."""
    for call in j.calls.values():
        call()
    for name in j.calls.keys() - j.floors:
        np.testing.assert_allclose(j.results[name], j.results["numpy"], rtol=j.rtol, err_msg=f"{j.name}: {name}")


def cpu_seconds(call: Call, times: int) -> float:
    start = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - start) / times


def run(j: Job, rounds: int) -> None:
    """Checks, times and prints one job."""
    check(j)
    times = {k: max(1, int(ROUND_SECONDS / max(cpu_seconds(c, 3), 1e-7))) for k, c in j.calls.items()}
    taken: dict[str, list[float]] = {k: [] for k in j.calls}
    for _ in range(rounds):
        for k, c in j.calls.items():
            taken[k].append(cpu_seconds(c, times[k]))
    table(j.name, taken)


def table(title: str, taken: Mapping[str, Sequence[float]]) -> None:
    print(f"\n{title:<32}{'least':>12}{'median':>12}{'/ tracebuf':>12}")
    ours = min(taken[OURS])
    for k, seconds in taken.items():
        print(f"  {k:<30}{shown(min(seconds)):>12}{shown(statistics.median(seconds)):>12}{min(seconds) / ours:>12.2f}")


def shown(seconds: float) -> str:
    unit, factor = next(((u, f) for u, f in (("s", 1.0), ("ms", 1e3), ("us", 1e6)) if seconds * f >= 1), ("ns", 1e9))
    return f"{seconds * factor:.3g} {unit}" if seconds * factor < 1000 else f"{seconds * factor:.0f} {unit}"


COMPILE = """
import sys, time
sys.path[:0] = [{here!r}, {root!r}]
import numpy as np, kernels
u, v = np.zeros((2, 50, 50))
start = time.process_time()
{prepare}
imported = time.process_time()
f(u, v, 0.1)
print(imported - start, time.process_time() - imported)
"""


def compile_job(rounds: int) -> None:
    """CPU time until the demo's step has run once, in a fresh process each; imports apart."""
    here = Path(__file__).resolve().parent
    prepare = {
        OURS: "import tracebuf; f = tracebuf.bufferize(kernels.wave)",
        "numba loops": "f = kernels.numba_jit(kernels.wave_loops)",
    }
    taken: dict[str, dict[str, list[float]]] = {"import": {}, "compile": {}}
    for _ in range(rounds):
        for k, code in prepare.items():
            script = COMPILE.format(here=str(here), root=str(here.parent), prepare=code)
            done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
            if done.returncode:
                continue
            for part, seconds in zip(taken, done.stdout.split()):
                taken[part].setdefault(k, []).append(float(seconds))
    table("import (beside NumPy)", taken["import"])
    table("first call of the wave step", taken["compile"])


def jobs(n: int) -> dict[str, Callable[[], Iterator[Job]]]:
    """The jobs by name, made when asked for: arrays of n x n, or of n*n/4."""
    return {
        "wave": lambda: iter([wave_job(n)]),
        "chain": lambda: iter([chain_job(n * n // 4), chain_job(10_000)]),
        "exp": lambda: iter([bell_job(n * n // 4), bell_job(10_000)]),
        "sum": lambda: sum_jobs(n),
        "call": lambda: iter([call_job()]),
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the named benchmarks, or all."""
    parser = argparse.ArgumentParser(description="tracebuf beside NumPy and Numba")
    names = [*jobs(0), "compile"]
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(names)}; all by default")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--size", type=int, default=2000, help="n, where arrays are n x n")
    options = parser.parse_args(argv)
    chosen = options.names or names
    if unknown := set(chosen) - set(names):
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(names)}")
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.machine()}; CPU time of a call")
    for name, make in jobs(options.size).items():
        if name in chosen:
            for j in make():
                run(j, options.rounds)
    if "compile" in chosen:
        compile_job(max(1, options.rounds // 3))


if __name__ == "__main__":
    main()
