"""python -m benchmarks.bench [PROGRAM ...] [--rounds N] [--sizes small] [--without JAX] [--json FILE] [--svg FILE]

In one process on one core all contestants of a program take turns; each call is timed by itself, on arguments that are
restored before it, and CPU time counts. Compiling is outside of the timing. Each contestant's results are checked
against NumPy's, before and after. Peers that are not installed (`pip install .[bench]`) are named and left out.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path


def one_core() -> None:
    """Before NumPy, JAX and others are imported: threads would make times of one core and of several look alike."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_MAX_THREADS"):
        os.environ[name] = "1"
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.environ["JAX_PLATFORMS"] = "cpu"


def main() -> int:
    """Runs the contests and writes what they found; 1 where results of ours are wrong or a program is refused."""
    one_core()
    from benchmarks.bench import report
    from benchmarks.bench.contest import contest
    from benchmarks.bench.peers import BUILT, NUMPY, OURS, PEERS
    from benchmarks.programs import load
    from benchmarks.programs.registry import SIZES

    programs = load()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=f"some of {', '.join(programs)}, or families")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=SIZES)
    parser.add_argument("--without", nargs="+", choices=[p for p in PEERS if p not in (OURS, NUMPY)], default=[])
    parser.add_argument("--json", type=Path, default=BUILT / "bench.json")
    parser.add_argument("--svg", type=Path, default=BUILT / "bench.svg")
    parser.add_argument("--page", type=Path, help="write the page of the documentation too (docs/performance.md)")
    given = parser.parse_args()
    known = {*programs, *(p.family for p in programs.values())}
    if unknown := set(given.programs) - known:
        parser.error(f"no program {', '.join(sorted(unknown))}; there are {', '.join(programs)}")
    peers = {name: peer for name, peer in PEERS.items() if name not in given.without}
    chosen = [p for p in programs.values() if not given.programs or {p.name, p.family} & set(given.programs)]
    rows = []
    try:
        for p, size in ((p, size) for p in chosen for size in given.sizes):
            rows.append(contest(p, size, peers, given.rounds))
            print(report.line(rows[-1]), file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print("interrupted: what there is", file=sys.stderr)
    print(report.table(rows))
    written = [(given.json, report.as_json(rows)), (given.svg, report.svg(rows))]
    if given.page is not None:
        written += [(given.page, report.page(rows)), (given.page.parent / "pictures/bench.svg", report.svg(rows))]
    for path, text in written:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        print(f"written: {path}")
    return int(any(OURS not in row.times for row in rows))


if __name__ == "__main__":
    sys.exit(main())
