"""Tries a function decorated, on the arguments of a call: what it gains, or why it does not.

It is traced first, which has no effects: what is refused never runs again. Both ways run on copies, without output, and
results, arguments and captured arrays are compared by the rules of `validate`. Only then is it measured.
"""

from __future__ import annotations

import io
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from types import FunctionType
from typing import Any

from tracebuf.api import BufferizedFunction, bufferize
from tracebuf.errors import InternalError, TracebufError, UnsupportedError
from tracebuf.frontends.numpy.call.arguments import RunOriginal
from tracebuf.frozen import frozen
from tracebuf.location import Location
from tracebuf.measure import Measurement, measure
from tracebuf.suggest.records import Record
from tracebuf.testing.checks.validate import NATIVE, TOLERANCE, Climb, Given

__all__ = ["Trial", "tried"]

_LONG = 0.5
"""Calls that take so many seconds are timed once."""


@frozen(slots=False)
class Trial:
    """What trying a function found. `verdict`: "measured", "refused", "differs", or "untried" where it cannot be run
    again or NumPy would run it anyway; `reason` says why, `instead` what to write, at `location`."""

    verdict: str
    measured: Measurement | None = None
    first_call: float = 0.0
    reason: str = ""
    instead: str = ""
    location: Location | None = None


def tried(function: FunctionType, given: Record) -> Trial:
    """Tries a function on the arguments of a call."""
    f = bufferize(function)
    try:
        with _without_output():
            return _tried(f, given.args, given.kwargs)
    except UnsupportedError as refusal:
        return Trial("refused", reason=refusal.reason, instead=refusal.instead, location=refusal.location)
    except InternalError as bug:
        return Trial("refused", reason=f"a bug of tracebuf: {bug}")
    except TracebufError as error:
        return Trial("refused", reason=str(error))
    except RunOriginal as said:
        return Trial("untried", reason=f"NumPy would run it: {said}")
    except Exception as error:
        return Trial("untried", reason=f"it raises {type(error).__name__} on these arguments: {error}")


def _tried(f: BufferizedFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Trial:
    call, traced = f._traced(args, kwargs)
    if (why := call.overlap(traced.stored)) is not None:
        raise RunOriginal(why)
    outside = [h for h in call.hidden if h.root is None]
    if traced.writes and any(h.from_object for h in outside):
        return Trial("untried", reason="it changes an object that is no argument, and cannot be run twice")
    given = Given(f, args, kwargs, call.hidden, tuple(h.value() for h in outside), TOLERANCE)
    climb = Climb(given, given.eager(), frozenset(call.donated))
    first = _seconds_of(given)
    wrong = climb.compared(given.run(f), NATIVE)
    if wrong is not None:
        return Trial("differs", reason=climb.words(wrong))
    if (why := _original_ran(f)) is not None:
        raise RunOriginal(why)
    again = _seconds_of(given)
    measured = measure(f, *args, repeat=1 if again > _LONG else 3, **kwargs)
    return Trial("measured", measured, max(0.0, first - again))


def _seconds_of(given: Given) -> float:
    """Of this thread's CPU, for a call."""
    begin = time.thread_time()
    given.run(given.f)
    return time.thread_time() - begin


def _original_ran(f: BufferizedFunction) -> str | None:
    """Why no compiled program took the calls."""
    kinds = list(f.specializations())
    if any(not hasattr(k, "reason") for k in kinds):
        return None
    return next((k.reason for k in kinds if hasattr(k, "reason")), "nothing was compiled")


@contextmanager
def _without_output() -> Iterator[None]:
    """What the function prints and logs was seen in the run."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            yield
    finally:
        logging.disable(before)
