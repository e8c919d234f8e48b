"""An exception that comes while something runs: for what may never end, and for tests of signals."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Alarm(BaseException):
    """What the handler raises; no Exception, since those are results of a program."""


@contextmanager
def alarm(seconds: float, error: type[BaseException] = Alarm) -> Iterator[None]:
    """The error is raised on the main thread that many seconds from now; and again each second after, for where a
    finalizer or a weak reference's callback is running then, Python ignores it."""

    def ring(*_: Any) -> None:
        raise error

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
