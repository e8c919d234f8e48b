"""What a first call costs, in fresh processes: tracebuf without and with what its cache on disk has, JAX and Numba.

Run with `python benchmarks/first_calls.py [--rounds 10] [--svg FILE]`. CPU milliseconds, medians, the engines in turn.
"first": until the result is there, of a process that has compiled another small program before; "ready": until the
fast code is there too; "kept": a process that finds the program in the cache, with all that it has to import for it;
"no imports": one that has loaded another program before; "import": over NumPy's. JAX and Numba where they are installed
(Numba with its own cache for "kept"), and take it.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = ("five", "stencils", "spectrum", "bodies", "cavity", "recurrent")
COLUMNS = ("tracebuf: first", "ready", "kept", "jax: first", "numba: first", "kept ")
COLOURS = ("#1b6ca8", "#7fb3d9", "#0d3a5c", "#d1495b", "#66a182", "#2f5d42")
CHILD = """
import sys, time
sys.path.insert(0, {here!r})
import numpy as np
start = time.process_time()
engine, name = {engine!r}, {name!r}
import first_programs as programs
if engine == "tracebuf":
    import tracebuf
elif engine == "jax":
    import jax
elif engine == "numba":
    import numba
imported = time.process_time() - start
made = {{"tracebuf": lambda f: tracebuf.bufferize(f), "numba": lambda f: numba.njit(cache={kept})(f)}}
make = (lambda f: programs.for_jax(f.__name__)) if engine == "jax" else made[engine]
if not {kept} or {imported}:
    make(programs.five)(np.ones((2, 2)), np.ones((2, 2)))
    if engine == "tracebuf":
        tracebuf.wait()
f, args = make(programs.PROGRAMS[name]), programs.arguments(name)
start = time.process_time()
f(*args)
first = time.process_time() - start
if engine == "tracebuf":
    tracebuf.wait()
print(imported, first, time.process_time() - start)
"""


def child(
    engine: str, name: str, cache: str, kept: bool, imported: bool = False
) -> tuple[float, float, float] | None:
    """CPU seconds of the import, the first call, and until the fast code is there; None where it does not run."""
    environment = os.environ | {
        "TRACEBUF_CACHE_DIR": cache, "NUMBA_CACHE_DIR": cache or "/nowhere", "OPENBLAS_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join([str(HERE.parent), os.environ.get("PYTHONPATH", "")]),
    }  # fmt: skip
    environment.pop("TRACEBUF_TIER", None)
    code = CHILD.format(here=str(HERE), engine=engine, name=name, kept=kept, imported=imported)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    return None if done.returncode else tuple(map(float, done.stdout.split()[-3:]))  # type: ignore[return-value]


def measure(name: str, rounds: int, peers: list[str]) -> dict[str, float]:
    """Milliseconds by column."""
    taken: dict[str, list[float]] = {}

    def note(column: str, seconds: float) -> None:
        taken.setdefault(column, []).append(1e3 * seconds)

    with tempfile.TemporaryDirectory() as cache:
        for turn in range(rounds + 1):
            ours, again = child("tracebuf", name, "", False), child("tracebuf", name, cache, True)
            beyond = child("tracebuf", name, cache, True, imported=True)
            if turn and ours and again and beyond:
                note("tracebuf: first", ours[1])
                note("ready", ours[2])
                note("kept", again[1])
                note("no imports", beyond[1])
                note("import", again[0])
            if "jax" in peers and (found := child("jax", name, "", False)) and turn:
                note("jax: first", found[1])
            if "numba" in peers and (found := child("numba", name, "", False)) and turn:
                note("numba: first", found[1])
                if again := child("numba", name, cache, True):
                    note("kept ", again[1])
    return {column: statistics.median(times) for column, times in taken.items()}


def svg(found: dict[str, dict[str, float]]) -> str:
    """A group of bars a program, the axis logarithmic."""
    width, height, edge = 150, 260, 44
    top, decades = 10_000.0, 5
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * edge + width * len(found)}" height="{height + 24}" '
        'font-family="sans-serif" font-size="10"><rect width="100%" height="100%" fill="white"/>'
    ]

    def at(value: float) -> float:
        share = 1 - decade(value, top) / decades
        return height - edge - max(share, 0.0) * (height - 2 * edge)

    for power in range(decades + 1):
        y = at(top / 10**power)
        parts.append(f'<path d="M{edge} {y:.0f}H{edge + width * len(found)}" stroke="#ddd"/>')
        parts.append(f'<text x="{edge - 6}" y="{y + 3:.0f}" text-anchor="end">{top / 10**power:g} ms</text>')
    for k, (name, row) in enumerate(found.items()):
        left = edge + width * k + 12
        parts.append(f'<text x="{left + 60}" y="{height - edge + 16}" text-anchor="middle">{name}</text>')
        for i, (column, colour) in enumerate(zip(COLUMNS, COLOURS)):
            if column in row:
                x, y = left + 20 * i, at(row[column])
                size = f'width="18" height="{height - edge - y:.0f}"'
                parts.append(f'<rect x="{x}" y="{y:.0f}" {size} fill="{colour}"/>')
    labels = ("tracebuf", "fast code ready", "kept on disk", "JAX", "Numba", "Numba, kept")
    for k, (label, colour) in enumerate(zip(labels, COLOURS)):
        parts.append(f'<text x="{edge + 120 * k}" y="{height + 12}" fill="{colour}">{label}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def decade(value: float, top: float) -> float:
    """How many powers of ten a value is below the top."""
    found = 0.0
    while value < top and found < 9:
        value, found = value * 10**0.02, found + 0.02
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--programs", nargs="+", choices=PROGRAMS, default=list(PROGRAMS))
    parser.add_argument("--svg", type=Path, default=HERE / "first_calls.svg")
    given = parser.parse_args()
    peers = [name for name in ("jax", "numba") if importlib.util.find_spec(name) is not None]
    found = {name: measure(name, given.rounds, peers) for name in given.programs}
    columns = (*COLUMNS, "no imports", "import")
    print("CPU ms".ljust(12), *(c.rjust(16) for c in columns))
    for name, row in found.items():
        print(name.ljust(12), *(f"{row[c]:16.1f}" if c in row else " " * 15 + "-" for c in columns))
    given.svg.write_text(svg(found))
    print(f"plot: {given.svg}")


if __name__ == "__main__":
    main()
