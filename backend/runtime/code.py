"""The machine code of one program: a library, in whose place better code may come (`tiers`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tracebuf.backend.llvm.jit import Library
from tracebuf.backend.runtime.parts import origin_of
from tracebuf.options import Tier


class Code:
    """The machine code of one program.

    `library` is what runs now, `cpu_seconds` it took so far. `switched` is called when better code is there, `busy`
    says whether a call may be in it.
    """

    def __init__(self, library: Library | None = None) -> None:
        self.cpu_seconds = 0.0
        if library is not None:
            self.library = library
            self.cpu_seconds = library.cpu_seconds
        self.pending = False
        """Whether better code is to come."""
        self.switched: Callable[[], None] = _nothing
        self.busy: Callable[[], bool] = _never
        self._then: list[Callable[[], None]] = []

    library: Library

    @property
    def lenders(self) -> Mapping[str, Library]:
        """The libraries of functions that it took from others."""
        return origin_of(self.library).lenders

    @property
    def shared(self) -> tuple[str, ...]:
        """The functions that it has for others."""
        return origin_of(self.library).shared

    @property
    def tier(self) -> Tier:
        """That of the code which runs now."""
        return "fast"

    def improve_later(self) -> None:
        """Has the thread make what is pending."""

    def wait(self) -> None:
        """Until the fast code runs, or cannot be made."""

    def when_fast(self, then: Callable[[], None]) -> None:
        """Has this done as soon as the fast code is there, perhaps now, perhaps by the thread, perhaps never."""
        self._then.append(then)
        if not self.pending:
            self._do_then()

    def _do_then(self) -> None:
        while self.tier == "fast":
            try:
                then = self._then.pop()
            except IndexError:  # all is done, here or by another thread
                return
            then()


def _nothing() -> None:
    pass


def _never() -> bool:
    return False
