"""The logger named "tracebuf". Python's `logging` is not loaded before there is something to say: that takes a tenth of
what all else takes that `import tracebuf` loads."""

from __future__ import annotations

import sys
from typing import Any

from tracebuf.process.late import importing


def _logger(logging: Any) -> Any:
    """Not by `getLogger` once it is there, which takes a lock at each call: an exception of a signal's handler between
    two of its steps would leave it taken, for all other threads for ever."""
    found = logging.Logger.manager.loggerDict.get("tracebuf")
    return found if isinstance(found, logging.Logger) else logging.getLogger("tracebuf")


def warning(text: str, *args: object) -> None:
    with importing():
        import logging

    _logger(logging).warning(text, *args, stacklevel=2)


def info(text: str, *args: object) -> None:
    """Where `logging` is not loaded nobody has asked for it: it shows warnings and worse."""
    if (loaded := sys.modules.get("logging")) is not None:
        _logger(loaded).info(text, *args, stacklevel=2)


def debug(text: str, *args: object) -> None:
    if (loaded := sys.modules.get("logging")) is not None:
        _logger(loaded).debug(text, *args, stacklevel=2)


def exception(text: str, *args: object) -> None:
    """An error, with the exception that is being handled."""
    with importing():
        import logging

    _logger(logging).exception(text, *args, stacklevel=2)


SLOW = 2.0
"""The seconds from which on it is told that a call had to wait for its program."""
_told: list[str] = []
"""The function of which this process was told."""


def is_read(stream: Any) -> bool:
    """Whether somebody reads a stream as it is written: at a terminal, or in a notebook."""
    return stream is not None and (stream.isatty() or type(stream).__module__.partition(".")[0] == "ipykernel")


def compiled(name: str, seconds: float) -> None:
    """Says that a call waited long for its program: in the log, and once on a terminal or in a notebook."""
    if seconds < SLOW:
        return
    info("the first call of %s for such arguments took %.1f s to compile", name, seconds)
    if not _told and is_read(sys.stderr):
        _told.append(name)
        later = "calls like it do not wait again, nor do later processes that use the cache on disk (tracebuf.cache)"
        print(f"tracebuf: compiling {name} took {seconds:.1f} s; {later}", file=sys.stderr)
