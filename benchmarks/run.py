"""Benchmarks: tracebuf beside NumPy, NumPy with `out=` by hand, and Numba on explicit loops.

    python benchmarks/run.py [NAME ...] [--rounds N] [--size N]

One process, one core: the contestants of a job take turns, `--rounds` times, and CPU time is counted. A table gives the
least and the median time of a call and the ratio of the least times to tracebuf's: above 1, tracebuf is faster. Results
are compared before anything is timed. Compilation is timed in fresh processes, from the first call's begin to its end.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
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
Functions = Mapping[str, Callable[..., Any] | None]
OURS = "tracebuf"
ROUND_SECONDS = 0.05


@dataclass(frozen=True)
class Job:
    """One comparison: functions of the same arguments, that store into them or give a result.

    `rooms` are further arguments, for those that want memory prepared. `floors` do less work, and are not checked.
    """

    name: str
    functions: Functions
    args: tuple[Any, ...]
    rooms: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    floors: Mapping[str, Call] = field(default_factory=dict)
    rtol: float = 0.0

    def calls(self) -> dict[str, Call]:
        """The contestants that are installed, all on the same arrays: where these lie in memory matters."""
        functions = {k: f for k, f in self.functions.items() if f is not None}
        return {k: partial(f, *self.args, *self.rooms.get(k, ())) for k, f in functions.items()} | dict(self.floors)

    def check(self) -> None:
        """Runs every contestant once on copies; AssertionError where results or stored-to arguments differ."""
        expected: list[Any] | None = None
        for k in ("numpy", *self.functions):
            f = self.functions[k]
            if f is None:
                continue
            args = [a.copy() if isinstance(a, np.ndarray) else a for a in self.args]
            got = [f(*args, *self.rooms.get(k, ())), *args]
            expected = expected or got
            for x, y in zip(got, expected):
                if y is not None:
                    np.testing.assert_allclose(x, y, rtol=self.rtol, err_msg=f"{self.name}: {k}")


def contestants(name: str, *, out: bool = True, fast: bool = False) -> Functions:
    """A kernel bufferized and plain, its form with `out=` by hand if it has one, and its loops for Numba."""
    plain, loops = getattr(kernels, name), getattr(kernels, f"{name}_loops")
    by_hand = {"numpy out=": getattr(kernels, f"{name}_out")} if out else {}
    jitted = kernels.numba_jit(loops, fast=fast)
    return {OURS: tracebuf.bufferize(plain, tier="fast"), "numpy": plain, **by_hand, "numba loops": jitted}


def wave_job(n: int) -> Job:
    u, v = np.random.default_rng(0).random((2, n, n))
    rooms = {"numpy out=": tuple(np.empty((2, n - 2, n - 2)))}
    floors = {"same traffic": partial(kernels.wave_traffic, np.zeros_like(u), np.zeros_like(v))}
    return Job(f"wave step, {n} x {n}", contestants("wave"), (u, v, 0.1), rooms, floors, rtol=1e-9)


def chain_job(n: int) -> Job:
    args = tuple(np.random.default_rng(0).random((4, n)))
    return Job(f"chain of 6 operations, {n:,}", contestants("chain"), args, {"numpy out=": (np.empty(n),)})


def bell_job(n: int) -> Job:
    return Job(f"exp chain, {n:,}", contestants("bell"), tuple(np.random.default_rng(0).random((3, n))), rtol=1e-13)


def sum_jobs(n: int) -> Iterator[Job]:
    a, b = np.random.default_rng(0).random((2, n, n))
    jobs: tuple[tuple[str, str, tuple[Any, ...]], ...] = (
        ("sum", "total", (a,)), ("distance", "distance", (a, b)), ("sum over axis 0", "columns", (a, b[0])),
    )  # fmt: skip
    for title, name, args in jobs:
        yield Job(f"{title}, {n} x {n}", contestants(name, out=False, fast=True), args, rtol=1e-9)


def fresh_job(n: int) -> Job:
    """The result takes new memory at each call; it should cost what NumPy's own costs."""
    args = (np.random.default_rng(0).random(n),)
    return Job(f"fresh result, {n:,}", contestants("fresh"), args, {"numpy out=": (np.empty(n),)})


def pick_jobs(n: int) -> Iterator[Job]:
    """Reads and stores by masks and by index arrays."""
    r = np.random.default_rng(0)
    args = (r.random(n), r.integers(0, n, n), r.random(n))
    titles = {"gather": "a[i] * w, summed", "compress": "a[w > 0.5]", "masked": "a[w > 0.5] *= 0.5",
              "deposit": "np.add.at(a, i, w)"}  # fmt: skip
    for name, title in titles.items():
        yield Job(f"{title}, {n:,}", contestants(name, out=False), args, rtol=1e-9)


def complex_job(n: int) -> Job:
    z, c = np.random.default_rng(0).random((2, n)) * (0.15 + 0.15j)  # the orbit stays small
    return Job(f"z * z + c, {n:,} complex128", contestants("iterate", out=False), (z, c), rtol=1e-12)


def call_job() -> Job:
    a, b, c, d = np.random.default_rng(0).random((4, 4))
    floors = {"np.add alone": partial(np.add, a, b)}
    return Job("call with 4 arrays of 4", contestants("small", out=False), (a, b, c, d), floors=floors)


def cpu_seconds(call: Call, times: int) -> float:
    start = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - start) / times


def run(j: Job, rounds: int) -> None:
    """Checks, times and prints one job."""
    j.check()
    calls = j.calls()
    times = {k: max(1, int(ROUND_SECONDS / max(cpu_seconds(c, 3), 1e-7))) for k, c in calls.items()}
    taken: dict[str, list[float]] = {k: [] for k in calls}
    for _ in range(rounds):
        for k, c in calls.items():
            c()  # the last one's data leaves the caches
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
NUMBA = "f = kernels.numba_jit(kernels.wave_loops)"


def compile_job(rounds: int) -> None:
    """CPU time until the demo's step has run once, in a fresh process each; imports apart. Once without a cache on
    disk, and once with one that has the machine code of a process before."""
    here = Path(__file__).resolve().parent
    ours = "import tracebuf; f = tracebuf.bufferize(kernels.wave, tier='fast')"
    taken: dict[str, dict[str, list[float]]] = {"import": {}, "compile": {}}
    with tempfile.TemporaryDirectory() as kept:
        prepare = {OURS: (ours, ""), f"{OURS}, kept": (ours, kept), "numba loops": (NUMBA, "")}
        for turn in range(rounds + 1):
            for k, (code, cache) in prepare.items():
                script = COMPILE.format(here=str(here), root=str(here.parent), prepare=code)
                environment = os.environ | {"TRACEBUF_CACHE_DIR": cache}
                done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
                if done.returncode or turn == 0:
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
        "fresh": lambda: iter([fresh_job(n * n // 4), fresh_job(10_000)]),
        "picks": lambda: pick_jobs(n * n // 4),
        "complex": lambda: iter([complex_job(n * n // 4)]),
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
