"""The command `python -m tracebuf.testing.fuzz`; its manual is the docstring of the package."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tracebuf.testing.fuzz import kinds
from tracebuf.testing.fuzz.driver import MODULE, Drawn, attempt, drive, work
from tracebuf.testing.programs import Program

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; the number of failing kinds of programs decides the exit code."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {MODULE}", description="Random programs up the ladder of interpreters, for a given time."
    )
    parser.add_argument("--seconds", type=float, default=600.0, help="how long to run (600)")
    parser.add_argument("--seed", type=int, default=0, help="which programs (0)")
    parser.add_argument("--out", type=Path, default=Path("build/fuzz"), help="where failing programs go (build/fuzz)")
    parser.add_argument(
        "--weights", type=kinds.parsed, default=dict(kinds.WEIGHTS), metavar="KIND[=WEIGHT],...",
        help=f"which kinds of programs, and how often: {', '.join(kinds.KINDS)} (all)",
    )  # fmt: skip
    parser.add_argument("--guard", action="store_true", help="memory of native calls at guard pages")
    parser.add_argument("--only", metavar="BATCH.NUMBER", help="one program, here; as failures name it")
    parser.add_argument("--run", type=Path, help="a program in a file, here")
    parser.add_argument("--worker", type=int, default=None, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    drawn = Drawn(options.seed, options.weights, options.guard)
    if options.worker is not None:
        work(drawn, options.worker, options.out)
        return 0
    if options.run is not None or options.only is not None:
        return one(drawn, options)
    tally = drive(drawn, options.seconds, options.out)
    print(tally)
    return 1 if tally.failures else 0


def one(drawn: Drawn, options: argparse.Namespace) -> int:
    """One program in this process; its report as JSON, or its text and what became of it."""
    if drawn.guard:
        os.environ["TRACEBUF_GUARD"] = "1"
    if options.run is not None:
        report = attempt(Program(options.run.read_text()))
        print(json.dumps(asdict(report)))
    else:
        program = drawn.program(*map(int, options.only.split(".")))
        assert program is not None
        print(program.text, flush=True)
        report = attempt(program)
        print(f"# {report.kind} {report.rung}: {report.what}")
    return int(report.kind == "failed")
