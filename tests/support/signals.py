"""Signals that come while something runs."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Alarm(BaseException):
    """What the handler raises."""


def ring(*_: Any) -> None:
    raise Alarm(time.perf_counter())


@contextmanager
def alarm(seconds: float, again: float = 0.0) -> Iterator[None]:
    """`Alarm` is raised on the main thread that many seconds from now, and then again."""
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, again)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
