"""Errors, each written as a manual page: what was met, where (line and caret), why it is refused, what to write
instead.

`TracebufError` is the root of every error of tracebuf's own. What NumPy or Python itself would raise (IndexError,
ValueError, ZeroDivisionError ...) is raised as that class, from compiled code too, with the user's line in a note (PEP
678).

>>> import numpy as np
>>> import tracebuf
>>> def parts(a):
...     yield a.sum()
>>> try:
...     tracebuf.bufferize(parts)(np.ones(3))
... except UnsupportedError as error:
...     print(f"{error.reason}; instead: {error.instead}")
generators and coroutines cannot be traced; instead: return an array or a tuple
"""

from __future__ import annotations

import functools
import linecache
import sys
from typing import Any

from tracebuf.location import Location


class TracebufError(Exception):
    """Root of all errors of tracebuf's own; raised itself where no subclass fits.

    `url` is the place of the page about it, from the top of the repository, where there is one: a program that is
    refused so, and one that works.
    """

    url = ""


class InternalError(TracebufError):
    """A bug of tracebuf: a broken invariant, or an exception in a handler that the traced language does not raise.

    Of a handler it names the user's line, the exception, the function that raised it and the handler, whose exception
    is its `__cause__`; of a later stage the program and the stage. `fallback="numpy"` does not hide it.
    """


class DecisionError(TracebufError):
    """The user's own analysis (`Options(strategy=...)`), or MLIR's where a program is run by it, does not answer what
    it is asked, or decides what would change the results; the message lists each such operand with its line."""


class TracebufWarning(UserWarning):
    """Warns that a function runs as it is, in NumPy, because `fallback="numpy"` allows it, or that an axis of a dask
    array is rechunked. The text says why."""


class UnsupportedError(TracebufError):
    """The function, or an argument, is outside the supported language.

    Attributes: `location` (file, line, columns; of an argument, the function's `def`), `reason` (why it is
    refused), `instead` (what to write), `url` (of the page about it).
    """

    _noted: Any = None  # what a function with a fallback keeps of it
    _under: Any = None  # what tracing had assumed of the call until then, if it had begun
    _stored = False  # whether the function, run until then, may have stored to arguments

    def __init__(self, reason: str, *, instead: str = "", location: Location | None = None) -> None:
        self.reason, self.instead, self.location = reason, instead, location
        self.url = _page_of(reason)
        super().__init__(render(reason, instead, location, self.url))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled without what only this process knows."""
        made = functools.partial(type(self), instead=self.instead, location=self.location)
        return made, (self.reason,), {k: v for k, v in self.__dict__.items() if k not in ("_noted", "_under")}


class DonationError(TracebufError):
    """A parameter that `donate` names could not be overwritten. `donate_optional` names parameters for which this is no
    error.

    Attributes: `parameter` (its name), `reason`, `location` (of what prevents it; of the function where that is its
    arguments).
    """

    def __init__(self, parameter: str, reason: str, location: Location | None, instead: str = "") -> None:
        self.parameter, self.reason, self.location = parameter, reason, location
        instead += f'take "{parameter}" out of donate=, or name it in donate_optional='
        text = f"`{parameter}` is donated to no use: {reason}"
        self.url = _page_of(text)
        super().__init__(render(text, instead, location, self.url))


class ContractError(TracebufError):
    """A program takes more memory than `max_allocations`, `max_copies`, `max_bytes` or `in_place` allow; raised when it
    is compiled, before it runs. `fallback="numpy"` does not hide it.

    Attributes: `contract` (the option as it was given), `entries` (of `explain`, those that break it, the first at
    `location`), `stories` (of these entries, with the edits that would remove them; looked for two seconds at most).
    """

    def __init__(
        self, contract: str, reason: str, location: Location | None, instead: str, entries: tuple[Any, ...] = (),
        stories: tuple[Any, ...] = (),
    ) -> None:  # fmt: skip
        self.contract, self.reason, self.location, self.entries = contract, reason, location, entries
        self.instead, self.stories = instead, stories
        self._given = (contract, reason, location, instead)
        super().__init__(render(reason, instead, location))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled without the entries and their stories, which hold the program."""
        return type(self), self._given


def excerpt(location: Location) -> str:
    """The user's line with carets under the expression; the line alone where the columns are unknown."""
    return _marked(location, linecache.getline(location.file, location.line).rstrip("\n"))


@functools.lru_cache(maxsize=256)
def _marked(location: Location, line: str) -> str:
    if not line.strip():
        return ""
    stripped, encoded = line.lstrip(), line.encode()  # columns count UTF-8 bytes, as in the syntax tree
    column, end_column = (len(encoded[:n].decode(errors="ignore")) for n in (location.column, location.end_column))
    start = max(column - (len(line) - len(stripped)), 0)
    end = min(end_column - (len(line) - len(stripped)), len(stripped))
    caret = "" if end <= start else "\n        " + " " * start + "^" * (end - start)
    return f"    {location.line:>4} | {stripped}{caret.replace(' ' * 8, ' ' * 11, 1)}"


def _page_of(reason: str) -> str:
    from tracebuf.process.error_pages import page_of  # of errors alone

    return page_of(reason)


def render(reason: str, instead: str, location: Location | None, url: str = "") -> str:
    """The whole message: file and line, the line with its caret, the reason, the rewrite, the page about it."""
    parts = []
    if location is not None and location.file:
        parts.append(place(location))
        if shown := excerpt(location):
            parts.append(shown)
    parts.append(reason)
    if instead:
        parts.append(f"Instead: {instead}")
    if url:
        parts.append(f"See {url}")
    return "\n".join(parts)


def note_location(error: BaseException, location: Location | None) -> BaseException:
    """Adds a note with the user's line to an exception of NumPy's or Python's class, and returns it."""
    if (note := note_of(location)) is not None:
        error.add_note(note)
    return error


def note_of(location: Location | None) -> str | None:
    """The note that `note_location` adds."""
    if location is None or not location.file:
        return None
    return f"{place(location)}\n{excerpt(location)}"


def place(location: Location) -> str:
    """File or notebook cell, line and function."""
    cell = cell_of(location.file)
    file = f'File "{location.file}"' if cell is None else f"Cell In[{cell}]"
    return f"{file}, line {location.line}, in {location.function}"


def cell_of(file: str) -> int | None:
    """The number of the notebook cell that code is from, by IPython's own table; None for a file."""
    get: Any = getattr(sys.modules.get("IPython"), "get_ipython", None)
    cells: Any = getattr(getattr(get and get(), "compile", None), "_filename_map", None)
    found = cells.get(file) if isinstance(cells, dict) else None
    return found if isinstance(found, int) else None
