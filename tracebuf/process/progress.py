"""Progress of long work, on a terminal: by tqdm where that is installed, else a line that is written over.

Who begins the work says that it is `shown`; what does it tells its `step`s, which are nothing where nobody shows them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TextIO

__all__ = ["shown", "step"]

_bars: list[Bar] = []


@contextmanager
def shown(what: str, steps: int | None = None, file: TextIO | None = None) -> Iterator[None]:
    """Work whose steps are shown while it goes on, where standard error is a terminal; nothing stays of it."""
    out = sys.stderr if file is None else file
    if _bars or not (out is not None and out.isatty()):
        yield
        return
    _bars.append(Bar(what, steps, out))
    try:
        yield
    finally:
        _bars.pop().close()


def step(said: str) -> None:
    """What is done now."""
    if _bars:
        _bars[-1].step(said)


class Bar:
    """How far a piece of work is: its steps, of how many where that is known, and what is done now."""

    def __init__(self, what: str, steps: int | None, out: TextIO) -> None:
        self.what, self.steps, self.out, self.done, self.width = what, steps, out, 0, 0
        self.bar: Any = None
        try:
            tqdm: Any = import_module("tqdm").tqdm  # no part of this package
        except ImportError:
            return
        form = None if steps else "{desc}: {n_fmt} [{elapsed}] {postfix}"
        self.bar = tqdm(total=steps, desc=what, file=out, leave=False, bar_format=form, mininterval=0)

    def step(self, said: str) -> None:
        self.done += 1
        if self.bar is not None:
            self.bar.set_postfix_str(said, refresh=False)
            self.bar.update()
            return
        of = f"/{self.steps}" if self.steps else ""
        text = f"{self.what}: {self.done}{of} {said}"[:79]
        self.out.write(f"\r{text:<{self.width}}")
        self.out.flush()
        self.width = len(text)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
        elif self.width:
            self.out.write(f"\r{'':<{self.width}}\r")
            self.out.flush()
