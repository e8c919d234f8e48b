"""Draws programs, runs them in worker processes, makes those that fail smaller and writes them to files.

What a program does is in `attempt`; which are drawn is in `kinds`; the command and its manual are the package's.
"""

from __future__ import annotations

import json
import os
import re
import selectors
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import IO

from tracebuf.errors import UnsupportedError
from tracebuf.frozen import frozen
from tracebuf.testing import ladder
from tracebuf.testing.alarm import Alarm
from tracebuf.testing.boxes import check_boxed
from tracebuf.testing.fuzz import kinds
from tracebuf.testing.fuzz.calls import check_calls
from tracebuf.testing.fuzz.exits import check_exit
from tracebuf.testing.fuzz.patience import Patience, finished, within
from tracebuf.testing.fuzz.peaks import check_peak
from tracebuf.testing.fuzz.threads import check_threads
from tracebuf.testing.ladder import STRATEGIES, Mismatch, call, climb
from tracebuf.testing.minimise import minimise
from tracebuf.testing.programs import Program, loaded

__all__ = ["MODULE", "Drawn", "Report", "Tally", "attempt", "drive", "work"]

MODULE = "tracebuf.testing.fuzz"
"""The command, in texts and for processes of its own."""
BATCH = 100
"""Programs of one seed; its number is with what they report."""
BATCHES = 8
"""Batches in one worker process."""
LONG = 0.5
"""Seconds of processor time of eager from which on only native code is compared with it."""
ENDLESS = 10.0
"""Seconds of processor time after which eager is taken to have no end: there is nothing to compare with then."""
PATIENCE = 60.0
"""Seconds of processor time after which a program counts as hanging."""


@frozen(slots=False)
class Report:
    """What became of one program: kind is "ok", "raised" (as eager did), "refused" or "failed"; `again` is the command
    that draws it again."""

    kind: str
    text: str = ""
    rung: str = ""
    what: str = ""
    again: str = ""

    @property
    def signature(self) -> str:
        """Failures of one signature are taken for one bug."""
        if self.rung == "crash":
            return "crash"
        if bug := re.search(r"a bug of tracebuf: (\w+) in \S+", self.what):
            return f"bug: {bug[1]}"
        head = re.sub(r"line \d+ of \S+:?|%\w+|'[^']*'|\"/\S*\"", "", self.what.partition("\n")[0])
        named = re.match(r"\w*(Error|Fault|Exception)\b.{0,60}", head) or re.match(r"eager (raises \w+|returns)", head)
        rung = "counts" if self.rung.endswith("counts") else self.rung.partition(",")[0]
        return f"{rung}: {re.sub(r'[0-9]+|size .', 'N', named[0]) if named else 'differs'}"


def attempt(program: Program) -> Report:
    """Climbs the ladder with one program, under the default strategy, copy-before-write and one of the others, and some
    of them in the quick tier; or runs its threads, or its script."""
    try:
        with loaded(program) as module:
            if hasattr(module, "EXPECTED"):
                check_exit(program.text, module.EXPECTED)
                return Report("ok")
            if hasattr(module, "steps"):
                check_calls(program.text)
                return Report("ok")
            if hasattr(module, "THREADS"):
                check_threads(module, program.text)
                return Report("ok")
            try:
                with within(ENDLESS):
                    interpreted = not takes_long(module)
            except Alarm:
                return Report("refused", program.text, what=f"eager has no end within {ENDLESS:.0f} seconds")
            args = module.arguments()
            chosen = zlib.crc32(program.text.encode())
            one = STRATEGIES[1 + chosen % (len(STRATEGIES) - 2)]
            tried = (STRATEGIES[0], one, STRATEGIES[-1])
            climb(
                module.program, args, again=[module.arguments_again()], strategies=tried, tolerance=module.TOLERANCE,
                donate=module.DONATED, quick=chosen % 4 == 0, interpreted=interpreted,
            )  # fmt: skip
            if hasattr(module, "boxed"):
                check_boxed(module, program.text)
            if hasattr(module, "large"):
                check_peak(module, program.text)
            return Report("ok" if call(module.program, args).error is None else "raised")
    except UnsupportedError as error:
        return Report("refused", program.text, what=error.reason)
    except Mismatch as error:
        return Report("failed", program.text, error.rung, error.what)
    except Exception as error:
        return Report("failed", program.text, "ladder", f"{type(error).__name__}: {error}")


def takes_long(module: ModuleType) -> bool:
    """Whether eager computes so long that interpreting the program would take minutes."""
    started = time.process_time()
    for given in (module.arguments(), module.arguments_again()):
        call(module.program, given)
    return time.process_time() - started > LONG


def smaller(report: Report, seconds: float = 20.0) -> Report:
    """The report of a smaller program that fails in the same way, run in this process; one that crashes or hangs, in
    others."""
    crashed = report.rung == "crash"

    def tried(text: str) -> Report:
        return in_a_child(text) if crashed else attempt(Program(text))

    def fails(text: str) -> bool:
        try:
            with within(5.0):
                return any(tried(text).signature == report.signature for _ in range(3 if "THREADS = " in text else 1))
        except Alarm:
            return False

    text = report.text if report.rung == "exit" else minimise(report.text, fails, seconds)
    found = tried(text)
    return replace(found if found.signature == report.signature else replace(report, text=text), again=report.again)


def in_a_child(text: str, seconds: float = 6.0) -> Report:
    """The report of a program that may crash or hang."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tried.py"
        path.write_text(text)
        command = [sys.executable, "-m", MODULE, "--run", str(path)]
        done = finished(command, seconds)
        if done is None and not eager_ends(path, seconds / 2):
            return Report("raised", text, what="eager NumPy has no end either")
    if done is None:
        return Report("failed", text, "crash", "no end")
    if done.returncode in (0, 1) and (lines := done.stdout.strip().split("\n"))[-1].startswith("{"):
        return Report(**json.loads(lines[-1]))
    return Report("failed", text, "crash", f"exit code {done.returncode}: {done.stderr[-600:]}")


def eager_ends(path: Path, seconds: float) -> bool:
    """Whether the program in a file ends in eager NumPy, called once; True where the file has none to call."""
    code = "import runpy; m = runpy.run_path({!r}); 'program' in m and m['program'](*m['arguments']())"
    return finished([sys.executable, "-c", code.format(str(path))], seconds) is not None


# -- the worker


@frozen(slots=False)
class Drawn:
    """Which programs are drawn, and how they run; the options of the command."""

    seed: int = 0
    weights: dict[str, float] = field(default_factory=lambda: dict(kinds.WEIGHTS))
    guard: bool = False

    @property
    def options(self) -> list[str]:
        texts = [f"{name}={weight:g}" for name, weight in self.weights.items()]
        return ["--seed", str(self.seed), "--weights", ",".join(texts), *(["--guard"] if self.guard else [])]

    def program(self, batch: int, number: int) -> Program | None:
        """A program; None where one takes too long to draw, as some loops run long in eager NumPy."""
        try:
            with within(20.0):
                return kinds.generate(f"{self.seed} {batch} {number}", self.weights)
        except Alarm:
            return None

    def command(self, batch: int, number: int) -> str:
        return " ".join(["python -m", MODULE, *self.options, "--only", f"{batch}.{number}"])


def work(drawn: Drawn, first: int, folder: Path) -> None:
    """Runs some batches, one line of JSON a program; the program under way is in a file of the folder."""
    ladder.NUMBA = 100
    current = folder / f"current-{os.getpid()}.py"
    seen: set[str] = set()
    for batch in range(first, first + BATCHES):
        for report in run_batch(drawn, batch, current):
            if report.kind == "failed" and report.signature not in seen:
                seen.add(report.signature)
                report = smaller(report)
            print(json.dumps({"batch": batch, **asdict(report)}), flush=True)
    current.unlink(missing_ok=True)


def run_batch(drawn: Drawn, batch: int, current: Path) -> Iterator[Report]:
    for number in range(BATCH):
        program = drawn.program(batch, number)
        if program is not None:
            again = drawn.command(batch, number)
            current.write_text(f"{again}\n{program.text}")
            yield replace(attempt(program), again=again)


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

    def __init__(self, drawn: Drawn, first: int, folder: Path) -> None:
        self.folder, self.first, self.batch = folder, first, first
        self.log = folder / f"log-{os.getpid()}-{first}.txt"
        command = [sys.executable, "-X", "faulthandler", "-m", MODULE, "--worker", str(first), "--out", str(folder)]
        environment = {"TRACEBUF_CACHE_DIR": "", **os.environ, **({"TRACEBUF_GUARD": "1"} if drawn.guard else {})}
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [*command, *drawn.options], stdout=subprocess.PIPE, stderr=log, text=True, env=environment
            )
        assert self.process.stdout is not None
        self.lines: IO[str] = self.process.stdout

    def reports(self, until: float) -> Iterator[Report]:
        """Reports as they come; a last one if the process crashed or hangs. Stops at the time given."""
        selector = selectors.DefaultSelector()
        selector.register(self.lines, selectors.EVENT_READ)
        patience = Patience(self.process.pid, PATIENCE)
        while time.monotonic() < until:
            if not selector.select(min(1.0, max(until - time.monotonic(), 0.0))):
                if patience.is_over:
                    yield self.crashed(f"no end after {PATIENCE:.0f} seconds")
                    return
                continue
            line = self.lines.readline()
            if not line:
                if self.process.wait() != 0:
                    yield self.crashed(f"exit code {self.process.returncode}: {self.errors()}")
                return
            found = json.loads(line)
            self.batch = found.pop("batch")
            patience.again()
            yield Report(**found)

    def crashed(self, what: str) -> Report:
        current = self.folder / f"current-{self.process.pid}.py"
        again, _, text = current.read_text().partition("\n") if current.exists() else ("", "", "")
        return smaller(Report("failed", text, "crash", what, again), 60.0)

    def errors(self) -> str:
        return self.log.read_text()[-600:]

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()
        self.log.unlink()
        (self.folder / f"current-{self.process.pid}.py").unlink(missing_ok=True)


def drive(drawn: Drawn, seconds: float, folder: Path) -> Tally:
    """Workers one after the other until the time is up."""
    folder.mkdir(parents=True, exist_ok=True)
    start, shown = time.monotonic(), 0.0
    tally, first = Tally(), 0
    while time.monotonic() < start + seconds:
        worker = Worker(drawn, first, folder)
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
    what = "\n".join(f"# {line}" for line in f"{report.rung}: {report.what}\n{report.again}".splitlines())
    path.write_text(f"{what}\n{report.text}\n")
    print(f"FAILED {report.signature}\n{path.read_text()}\n# python {path}\n", flush=True)
    return path
