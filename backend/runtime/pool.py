"""The functions that programs share (backend/llvm/shared.py), as they are compiled: which library has each.

No lock is held, which a fork could find taken: each step is one operation on a dict. What another thread takes away
meanwhile is compiled again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from tracebuf.backend.llvm.jit import IMAGES, Library

if TYPE_CHECKING:
    from tracebuf.backend.llvm.kernel_text import KernelText

K = TypeVar("K")
T = TypeVar("T")
MOST = 512
"""How many functions are kept for programs to come, each with the program that it came with."""


class Pool:
    """The last functions that were compiled or used. Whoever uses one holds its library."""

    def __init__(self) -> None:
        self._libraries: dict[str, Library] = {}
        self._written: dict[str, tuple[str, tuple[str, ...]]] = {}
        """By a program's whole text what of it was compiled last, and the functions that were elsewhere: of an equal
        program the object image may be there still."""
        self._noted: dict[bytes, bytes] = {}

    def written(self, emitted: KernelText, whole: str) -> tuple[str, dict[str, Library]]:
        """The text to compile, and where the functions are that it only declares."""
        if (before := _taken(self._written, whole)) is not None:
            lenders = self.lenders(before[1])
            if len(lenders) == len(before[1]):
                return before[0], lenders
        lenders = self.lenders(emitted.shared)
        return emitted.write(lenders) if lenders else whole, lenders

    def note_written(self, whole: str, text: str, elsewhere: Iterable[str]) -> None:
        """`text` was compiled of it, without the functions that are elsewhere."""
        self._written[whole] = text, tuple(elsewhere)
        _trim(self._written, IMAGES)

    def note(self, marker: bytes) -> None:
        """The fast code of a program was made."""
        self._noted[marker] = marker
        _trim(self._noted, IMAGES)

    def has(self, marker: bytes) -> bool:
        """Whether that of an equal one was."""
        return _taken(self._noted, marker) is not None

    def lenders(self, symbols: Iterable[str]) -> dict[str, Library]:
        """The libraries that have these functions, where one has."""
        found = ((s, _taken(self._libraries, s)) for s in symbols)
        return {s: library for s, library in found if library is not None}

    def lend(self, library: Library, symbols: Sequence[str]) -> None:
        """From now on this library has these functions."""
        self._libraries.update(dict.fromkeys(symbols, library))
        _trim(self._libraries, MOST)

    def clear(self) -> None:
        """Forgets all of them."""
        self._libraries.clear()
        self._written.clear()
        self._noted.clear()


pool = Pool()


def _taken(kept: dict[K, T], key: K) -> T | None:
    """What is kept under a key, which now is the last of all."""
    value = kept.pop(key, None)
    if value is not None:
        kept[key] = value
    return value


def _trim(kept: dict[K, Any], most: int) -> None:
    for key in list(kept)[: max(len(kept) - most, 0)]:
        kept.pop(key, None)
