"""The designs of bufferization over all programs of tests/programs: allocations, bytes, copies and peak of each, in
sum, and how often each needs more than eager NumPy at its peak.

    python benchmarks/designs.py               # the sums
    python benchmarks/designs.py --each        # and a table for each program
    python benchmarks/designs.py --seconds 60  # as many programs as there is time for
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from importlib import import_module
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.programs.registry import PROGRAMS
from tracebuf import bufferize, designs
from tracebuf.errors import TracebufError

SIZE = 24
FIELDS = ("allocations", "allocated_bytes", "copies", "copied_bytes", "peak_bytes")


def load() -> None:
    """Registers the programs of all families."""
    for path in sorted((Path(__file__).resolve().parents[1] / "tests" / "programs").glob("*.py")):
        if not path.stem.startswith(("test_", "_", "registry")):
            import_module(f"tests.programs.{path.stem}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", action="store_true", help="a table for each program")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    chosen = parser.parse_args()
    load()
    begin, sums, above, done, left = time.monotonic(), dict[str, Counter[str]](), Counter[str](), 0, Counter[str]()
    for program in PROGRAMS.values():
        if time.monotonic() - begin > chosen.seconds:
            break
        args = program.at(SIZE)
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = designs.compare(bufferize(program.function), *args)
        except (TracebufError, ValueError, ArithmeticError, IndexError) as error:
            left[type(error).__name__] += 1
            continue
        done += 1
        if chosen.each:
            print(found, end="\n\n", flush=True)
        for design, counts in found.designs.items():
            sums.setdefault(design, Counter()).update({f: getattr(counts, f) or 0 for f in FIELDS})
            above[design] += counts.peak_bytes > found.designs["eager NumPy"].peak_bytes
    total = {}
    for name, c in sums.items():
        made, nbytes, copies, copied, peak = (c[field] for field in FIELDS)
        seen = (None, None) if name == "eager NumPy" else (copies, copied)
        total[name] = designs.Counts(made, nbytes, peak, *seen)
    print(designs.Comparison(f"{done} programs", total))
    print("with a higher peak than eager NumPy:", ", ".join(f"{name} {above[name]}" for name in total))
    if left:
        print("not run:", dict(left))


if __name__ == "__main__":
    main()
