"""The logger named "tracebuf". Python's `logging` is not loaded before there is something to say: that takes a tenth of
what all else takes that `import tracebuf` loads."""

from __future__ import annotations

import sys

from tracebuf.process.late import importing


def warning(text: str, *args: object) -> None:
    with importing():
        import logging

    logging.getLogger("tracebuf").warning(text, *args, stacklevel=2)


def info(text: str, *args: object) -> None:
    """Where `logging` is not loaded nobody has asked for it: it shows warnings and worse."""
    if (loaded := sys.modules.get("logging")) is not None:
        loaded.getLogger("tracebuf").info(text, *args, stacklevel=2)


def debug(text: str, *args: object) -> None:
    if (loaded := sys.modules.get("logging")) is not None:
        loaded.getLogger("tracebuf").debug(text, *args, stacklevel=2)


def exception(text: str, *args: object) -> None:
    """An error, with the exception that is being handled."""
    with importing():
        import logging

    logging.getLogger("tracebuf").exception(text, *args, stacklevel=2)
