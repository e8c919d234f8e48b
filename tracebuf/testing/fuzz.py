"""Random programs up the ladder for a given time: `python -m tracebuf.testing.fuzz --seconds 600 --seed 1`.

Each program is drawn from a seed of its own (see `programs`) and climbs the ladder in a worker process, so that a crash
or a hang is a failure like another, with its program. Programs that fail are made smaller and written to a directory,
as files that run on their own. Prints counts; the exit code is 1 if anything failed.

Keeps no corpus; equal seeds draw equal programs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import selectors
import signal
import subprocess
import sys
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO

from tracebuf.errors import UnsupportedError
from tracebuf.testing.boxes import check_boxed
from tracebuf.testing.ladder import STRATEGIES, Mismatch, call, climb
from tracebuf.testing.minimise import minimise
from tracebuf.testing.programs import Program, generate, loaded

__all__ = ["Report", "attempt", "main"]

BATCH = 100
"""Programs of one seed; its number is with what they report."""
BATCHES = 8
"""Batches in one worker process."""
PATIENCE = 60.0
"""Seconds after which a program counts as hanging."""


@dataclass(frozen=True)
class Report:
    """What became of one program: kind is "ok", "raised" (as eager did), "refused" or "failed"."""

    kind: str
    text: str = ""
    rung: str = ""
    what: str = ""

    @property
    def signature(self) -> str:
        """Failures of one signature are taken for one bug."""
        if self.rung == "crash":
            return "crash"
        head = re.sub(r"line \d+ of \S+:?|%\w+|'[^']*'", "", self.what.partition("\n")[0])
        named = re.match(r"\w*(Error|Fault|Exception)\b.{0,60}", head) or re.match(r"eager (raises \w+|returns)", head)
        rung = "counts" if self.rung.endswith("counts") else self.rung.partition(",")[0]
        return f"{rung}: {re.sub(r'[0-9]+|size .', 'N', named[0]) if named else 'differs'}"


def attempt(program: Program) -> Report:
    """Climbs the ladder with one program, under the default strategy, copy-before-write and one of the others."""
    try:
        with loaded(program) as module:
            args = module.arguments()
            one = STRATEGIES[1 + zlib.crc32(program.text.encode()) % (len(STRATEGIES) - 2)]
            tried = (STRATEGIES[0], one, STRATEGIES[-1])
            climb(
                module.program, args, again=[module.arguments_again()], strategies=tried, tolerance=module.TOLERANCE,
                donate=module.DONATED,
            )  # fmt: skip
            if hasattr(module, "boxed"):
                check_boxed(module, program.text)
            return Report("ok" if call(module.program, args).error is None else "raised")
    except UnsupportedError as error:
        return Report("refused", program.text, what=error.reason)
    except Mismatch as error:
        return Report("failed", program.text, error.rung, error.what)
    except Exception as error:
        return Report("failed", program.text, "ladder", f"{type(error).__name__}: {error}")


def smaller(report: Report, seconds: float = 20.0) -> Report:
    """The report of a smaller program that fails in the same way, run in this process."""

    def fails(text: str) -> bool:
        try:
            with ends_within(5.0):
                return attempt(Program(text)).signature == report.signature
        except TooLong:
            return False

    text = minimise(report.text, fails, seconds)
    return attempt(Program(text))


class TooLong(BaseException):
    """No Exception, since those are results of a program."""


@contextmanager
def ends_within(seconds: float) -> Iterator[None]:
    """Raises TooLong in what runs longer: a loop may have lost what ends it."""

    def stop(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# -- the worker


def work(seed: int, first: int, folder: Path) -> None:
    """Runs some batches, one line of JSON a program; the program under way is in a file of the folder."""
    current = folder / f"current-{os.getpid()}.py"
    seen: set[str] = set()
    for batch in range(first, first + BATCHES):
        for report in run_batch(seed, batch, current):
            if report.kind == "failed" and report.signature not in seen:
                seen.add(report.signature)
                report = smaller(report)
            print(json.dumps({"batch": batch, **asdict(report)}), flush=True)
    current.unlink(missing_ok=True)


def run_batch(seed: int, batch: int, current: Path) -> Iterator[Report]:
    for number in range(BATCH):
        try:
            with ends_within(20.0):
                program = generate(random.Random(f"{seed} {batch} {number}"))
        except TooLong:
            continue  # some loops run long in eager NumPy
        current.write_text(program.text)
        yield attempt(program)


# -- the driver


@dataclass
class Tally:
    """What was seen so far."""

    counts: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    failures: dict[str, list[Report]] = field(default_factory=dict)

    def add(self, report: Report) -> None:
        self.counts[report.kind] += 1
        if report.kind == "refused":
            self.refusals[report.what] += 1
        if report.kind == "failed":
            self.failures.setdefault(report.signature, []).append(report)

    def __str__(self) -> str:
        kinds = ", ".join(f"{self.counts[k]:,} {k}" for k in ("ok", "raised", "refused", "failed"))
        lines = [f"{sum(self.counts.values()):,} programs: {kinds} (raised: the same exception as eager NumPy)"]
        lines += [f"  refused {n} times: {reason}" for reason, n in self.refusals.most_common(12)]
        lines += [f"  FAILED {len(r)} times: {s}" for s, r in self.failures.items()]
        return "\n".join(lines)


class Worker:
    """A worker process and the lines it sends."""

    def __init__(self, seed: int, first: int, folder: Path) -> None:
        self.folder, self.first, self.batch = folder, first, first
        self.log = folder / f"log-{os.getpid()}-{first}.txt"
        command = [
            sys.executable,
            "-X",
            "faulthandler",
            "-m",
            __spec__.name if __spec__ else __name__,
            "--worker",
            str(first),
            "--seed",
            str(seed),
            "--out",
            str(folder),
        ]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        assert self.process.stdout is not None
        self.lines: IO[str] = self.process.stdout

    def reports(self, until: float) -> Iterator[Report]:
        """Reports as they come; a last one if the process crashed or hangs. Stops at the time given."""
        selector = selectors.DefaultSelector()
        selector.register(self.lines, selectors.EVENT_READ)
        last = time.monotonic()
        while time.monotonic() < until:
            if not selector.select(min(1.0, max(until - time.monotonic(), 0.0))):
                if time.monotonic() - last > PATIENCE:
                    yield self.crashed(f"no end after {PATIENCE:.0f} seconds")
                    return
                continue
            line = self.lines.readline()
            if not line:
                if self.process.wait() != 0:
                    yield self.crashed(f"exit code {self.process.returncode}: {self.errors()}")
                return
            found = json.loads(line)
            self.batch, last = found.pop("batch"), time.monotonic()
            yield Report(**found)

    def crashed(self, what: str) -> Report:
        current = self.folder / f"current-{self.process.pid}.py"
        text = current.read_text() if current.exists() else ""
        return Report("failed", text, "crash", what)

    def errors(self) -> str:
        return self.log.read_text()[-600:]

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()
        self.log.unlink()
        (self.folder / f"current-{self.process.pid}.py").unlink(missing_ok=True)


def drive(seed: int, seconds: float, folder: Path) -> Tally:
    """Workers one after the other until the time is up."""
    folder.mkdir(parents=True, exist_ok=True)
    start, shown = time.monotonic(), 0.0
    tally, first = Tally(), 0
    while time.monotonic() < start + seconds:
        worker = Worker(seed, first, folder)
        try:
            for report in worker.reports(start + seconds):
                tally.add(report)
                if report.kind == "failed" and len(tally.failures[report.signature]) == 1:
                    write(report, folder)
                if time.monotonic() - start > shown + 60:
                    shown = time.monotonic() - start
                    print(f"{shown:.0f} s: {tally}", flush=True)
        finally:
            worker.end()
        first = max(worker.batch + 1, first + 1)
    return tally


def write(report: Report, folder: Path) -> Path:
    """The failing program as a file that runs, headed by what went wrong."""
    name = re.sub(r"\W+", "-", report.signature).strip("-")[:60]
    path = folder / f"{name}-{abs(hash(report.text)) % 10_000:04}.py"
    what = "\n".join(f"# {line}" for line in f"{report.rung}: {report.what}".splitlines())
    path.write_text(f"{what}\n{report.text}\n")
    print(f"FAILED {report.signature}\n  {path}", flush=True)
    return path


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; the number of failing kinds of programs decides the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tracebuf.testing.fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=600.0, help="how long to run (600)")
    parser.add_argument("--seed", type=int, default=0, help="which programs (0)")
    parser.add_argument("--out", type=Path, default=Path("build/fuzz"), help="where failing programs go (build/fuzz)")
    parser.add_argument("--worker", type=int, default=None, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.worker is not None:
        work(options.seed, options.worker, options.out)
        return 0
    tally = drive(options.seed, options.seconds, options.out)
    print(tally)
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
