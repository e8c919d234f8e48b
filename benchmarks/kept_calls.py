"""The CPU time of first calls in fresh processes: the first one's, which compiles, and later ones', which find the
program in the cache on disk. `python benchmarks/kept_calls.py [NAME ...]`: five operations, and programs of
tests/programs (by default some that are large, with products, and with host calls), each in a cache of its own; the
least of ten processes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LARGE = (
    "mandelbrot_shrinking", "julia_shrinking", "rows_where_largest", "carve_a_seam", "lstm", "kalman_filter",
    "low_pass_by_fft", "median_by_stacking",
)  # fmt: skip
PROCESSES = 10
CALL = """
import sys, time
import numpy as np, tracebuf
from tests.programs import PROGRAMS

def five(a, b):
    return (a + b) * 2 - a / b + 1

if sys.argv[1] == "five":
    f, args = five, (np.ones(1000), np.full(1000, 2.0))
else:
    program = PROGRAMS[sys.argv[1]]
    f, args = program.function, program.arguments(np.random.default_rng(0), program.sizes[0])
f = tracebuf.bufferize(f)
begin = time.process_time()
f(*args)
print(time.process_time() - begin, f.specializations()[0].loaded)
"""


def first_call(name: str, folder: str) -> tuple[float, bool]:
    """The seconds that a program's first call takes in a process, and whether it was loaded."""
    set_ = {"TRACEBUF_CACHE_DIR": str(Path(folder) / "cache"), "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    file = Path(folder) / "call.py"
    file.write_text(CALL)
    command = [sys.executable, "-W", "ignore", str(file), name]
    done = subprocess.run(command, env={**os.environ, **set_}, capture_output=True, text=True, check=True)
    seconds, loaded = done.stdout.split()
    return float(seconds), loaded == "True"


def main(names: list[str]) -> None:
    print(f"{'first call, CPU ms':32}{'compiled':>10}{'kept':>8}")
    for name in names or ["five", *LARGE]:
        with tempfile.TemporaryDirectory() as folder:
            first, later = first_call(name, folder), [first_call(name, folder) for _ in range(PROCESSES)]
        kept = f"{1e3 * min(later)[0]:.1f}" if all(loaded for _, loaded in later) else "no"
        print(f"{name:32}{1e3 * first[0]:10.1f}{kept:>8}")


if __name__ == "__main__":
    main(sys.argv[1:])
