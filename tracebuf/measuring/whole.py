"""All memory that a call takes, array data and the rest, by the line of the user's that asks for it.

A trace function (`sys.settrace`) tells the tally (tally.py) the line that runs, in frames of the user's only: what a
library takes belongs to the line that calls it. One that was there before is back after the call. What this function
itself takes is not counted. Garbage is collected before, which also gives back what Python keeps of released objects
(thousands of tuples): reused, these would not be seen.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

from tracebuf.frozen import frozen
from tracebuf.measuring.places import is_users
from tracebuf.measuring.tally import PLACES, Place, tallying

__all__ = ["Whole", "traced_once", "whole_of"]


@frozen()
class Whole:
    """The most of a call, and of each line of it: by file and line, with the name of the function. What no line of the
    user's asks for is under "", 0."""

    peak_bytes: int
    lines: Mapping[tuple[str, int], tuple[str, Place]]


def whole_of(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], code: CodeType | None = None
) -> Whole:
    """Calls a function, whose code is `code`, and says what it takes. Raises what it raises."""
    seen = _Lines(None if code is None else os.path.dirname(code.co_filename))
    before = sys.gettrace()
    gc.collect()
    with seen.tally:
        sys.settrace(seen.enter)
        try:
            result = function(*args, **kwargs)  # alive to the end
        finally:
            sys.settrace(before)
    del result
    found = {("", 0): ("", seen.tally.places[0])}
    for (file, line), (number, name) in seen.numbers.items():
        if number and number < len(seen.tally.places):
            found[file, line] = name, seen.tally.places[number]
    return Whole(seen.tally.most, found)


@contextmanager
def traced_once() -> Iterator[None]:
    """A call within has Python 3.11 make the tables of lines that it keeps of each function once that is traced, a few
    KiB of a large one: a later call that is tallied does not take them."""
    before = sys.gettrace()
    sys.settrace(before or _nothing)
    try:
        yield
    finally:
        sys.settrace(before)


def _nothing(frame: FrameType, event: str, arg: Any) -> None:
    """Traces nothing."""


class _Lines:
    """The trace function: it numbers the lines as they come."""

    def __init__(self, folder: str | None) -> None:
        self.tally = tallying()
        self.numbers: dict[tuple[str, int], tuple[int, str]] = {}
        self._folder = folder
        self._lines: dict[CodeType, dict[int, int]] = {}
        self._others: set[CodeType] = set()
        self._outer: list[int] = [0] * 64
        """The places of the callers."""
        self._depth = 0
        self._now = 0

    def enter(self, frame: FrameType, event: str, arg: Any) -> Any:
        """A function is called, or a generator goes on."""
        code = frame.f_code
        if event != "call" or code in self._others:
            return None
        if code not in self._lines and not self._is_users(code):
            return None
        if self._depth == len(self._outer):
            self.tally.count(False)
            self._outer.extend([0] * len(self._outer))
            self.tally.count(True)
        self._outer[self._depth] = self._now
        self._depth += 1
        self._go(code, frame.f_lineno)
        return self.within

    def within(self, frame: FrameType, event: str, arg: Any) -> Any:
        """In a frame of the user's."""
        if event == "line":
            self._go(frame.f_code, frame.f_lineno)
        elif event == "return":
            self._depth -= 1
            self._now = self._outer[self._depth]
            self.tally.place(self._now)
        return self.within

    def _go(self, code: CodeType, line: int) -> None:
        number = self._lines[code].get(line)
        self._now = self._numbered(code, line) if number is None else number
        self.tally.place(self._now)

    def _is_users(self, code: CodeType) -> bool:
        self.tally.count(False)
        users = is_users(code.co_filename) or os.path.dirname(code.co_filename) == self._folder
        if users:
            self._lines[code] = {}
        else:
            self._others.add(code)
        self.tally.count(True)
        return users

    def _numbered(self, code: CodeType, line: int) -> int:
        self.tally.count(False)
        at, name = (code.co_filename, line), code.co_name
        number, known = self.numbers.get(at, (len(self.numbers) + 1, name))
        number = number if number < PLACES else 0
        self.numbers[at] = number, name if known.startswith("<") else known
        self._lines[code][line] = number
        self.tally.count(True)
        return number
