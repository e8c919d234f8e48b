"""When something counts as hanging: by its own processor time, so that other load on the machine makes no failures; by
the clock only after ten times as long, for what waits.

Limits: where there is no /proc, a child's time is that of the clock.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tracebuf.testing.alarm import Alarm

__all__ = ["Patience", "finished", "within"]

IDLE = 10.0
"""How many times as long by the clock as by the processor."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raises Alarm on the main thread once this process has computed for so long; again each second, since Python
    ignores it in a finalizer. One around it goes on afterwards."""

    def ring(*_: Any) -> None:
        raise Alarm

    timers = (signal.ITIMER_PROF, signal.SIGPROF, seconds), (signal.ITIMER_REAL, signal.SIGALRM, IDLE * seconds)
    before = [signal.signal(number, ring) for _, number, _ in timers]
    around = [(0.0, 0.0)] * len(timers)
    try:
        around = [signal.setitimer(timer, limit, 1.0) for timer, _, limit in timers]
        yield
    finally:
        for (timer, _, _), left in zip(timers, around, strict=True):
            signal.setitimer(timer, *left)
        for (_, number, _), handler in zip(timers, before, strict=True):
            signal.signal(number, handler)


class Patience:
    """How long a child process has computed since `again`."""

    def __init__(self, pid: int, seconds: float) -> None:
        self.pid, self.seconds = pid, seconds
        self.again()

    def again(self) -> None:
        """Begins anew."""
        self.computed, self.clock = computed(self.pid), time.monotonic()

    @property
    def is_over(self) -> bool:
        if time.monotonic() - self.clock > IDLE * self.seconds:
            return True
        return computed(self.pid) - self.computed > self.seconds


def computed(pid: int) -> float:
    """The processor time of a child and of its children that have ended."""
    try:
        times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]
    except OSError:
        return time.monotonic()
    return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")


def finished(command: Sequence[str], seconds: float, **options: Any) -> subprocess.CompletedProcess[str] | None:
    """A command that has run, with what it wrote; None where it did not end, and was killed."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options) as process:
        patience = Patience(process.pid, seconds)
        while True:
            try:
                out, err = process.communicate(timeout=0.2)
            except subprocess.TimeoutExpired:
                if patience.is_over:
                    process.kill()
                    process.communicate()
                    return None
            else:
                return subprocess.CompletedProcess(command, process.returncode, out, err)
