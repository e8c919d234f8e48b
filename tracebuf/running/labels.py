"""Arrays of text among a call's arguments, as ints: a table of the texts that occur, and the place of each in it.

A text's code is twice its place, so that codes are equal, and in order, where texts are; a text that does not occur has
the odd number between its neighbours' codes. All of it is made anew at each call.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from tracebuf.frozen import frozen

LEAST = 2
"""The table has so many rows and columns more than it needs, or at least: its key is one for all texts."""


@frozen()
class Known:
    """Texts that the program makes an array of."""

    texts: tuple[str, ...]


@frozen()
class Coding:
    """How the codes of the arrays of text of a call are made, of all that it has: the arguments at these positions,
    what is captured at these places, and what the program makes."""

    positions: tuple[Any, ...]

    @property
    def given(self) -> tuple[Any, ...]:
        """The positions of what the call gives."""
        return tuple(p for p in self.positions if not isinstance(p, Known))

    def array(self, position: Any, given: Sequence[Any], memo: dict[Any, Any]) -> Any:
        """The array at a position; None where there is none."""
        if isinstance(position, Known):
            return np.array(position.texts)
        if not isinstance(position, int):
            return memo.get(position)
        return given[position] if position < len(given) else None

    def table(self, given: Sequence[Any], memo: dict[Any, Any]) -> np.ndarray | None:
        """The texts that occur, in order; None where these arguments are no such arrays."""
        if self not in memo:
            arrays = [self.array(p, given, memo) for p in self.positions]
            memo[self] = None
            if self not in latest(tuple(memo[WHOLE])):
                return None
            texts = [x for x in arrays if type(x) is np.ndarray and x.dtype.kind == "U"]
            if len(texts) == len(arrays):
                memo[self] = np.unique(np.concatenate([x.ravel() for x in texts]))
        found: np.ndarray | None = memo[self]
        return found


WHOLE = -1
"""By which a memo has the fetches of all codes and tables of a function."""


@lru_cache(maxsize=64)
def latest(fetches: Sequence[Letters | Codes | CodesOfKnown]) -> frozenset[Coding]:
    """The codings that are in use, of a function's: of those of the same values, the one with most of what the program
    makes."""
    found: dict[tuple[Any, ...], Coding] = {}
    for coding in (f.coding for f in fetches):
        before = found.get(coding.given)
        if before is None or len(coding.positions) > len(before.positions):
            found[coding.given] = coding
    return frozenset(found.values())


@frozen()
class Letters:
    """The table as the code points of its texts, one text a row."""

    coding: Coding

    def __call__(self, given: Sequence[Any], memo: dict[Any, Any]) -> np.ndarray | None:
        table = self.coding.table(given, memo)
        if table is None:
            return None
        letters = np.zeros((len(table) + LEAST, max(table.dtype.itemsize // 4, LEAST)), np.uint32)
        letters[: len(table), : table.dtype.itemsize // 4] = points_of(table)
        return letters


@frozen()
class Codes:
    """The codes of the array at a position."""

    coding: Coding
    position: Any

    def __call__(self, given: Sequence[Any], memo: dict[Any, Any]) -> np.ndarray | None:
        table = self.coding.table(given, memo)
        if table is None:
            return None
        x = self.coding.array(self.position, given, memo)
        codes = np.empty_like(x, np.int64)
        if x.ndim == 1 and not x.flags.c_contiguous:  # nor are they: views are made, and copies, where eager does
            codes = np.empty((len(x), 2), np.int64)[:: -1 if x.strides[0] < 0 else 1, 0]
        codes[...] = np.searchsorted(table, x)
        codes *= 2
        return codes


@frozen()
class CodesOfKnown:
    """The codes of texts that are known."""

    coding: Coding
    texts: tuple[str, ...]

    def __call__(self, given: Sequence[Any], memo: dict[Any, Any]) -> np.ndarray | None:
        table = self.coding.table(given, memo)
        if table is None:
            return None
        texts = np.array(self.texts, dtype=str)
        places = np.searchsorted(table, texts)
        there = np.zeros(len(texts), bool)
        within = places < len(table)
        there[within] = table[places[within]] == texts[within]
        return np.asarray(2 * places - ~there, np.int64)


def points_of(table: np.ndarray) -> np.ndarray:
    """The code points of texts of one axis, one text a row."""
    whole = np.ascontiguousarray(table)
    return whole.view(np.uint32).reshape(len(table), table.dtype.itemsize // 4)


def texts_of(letters: np.ndarray) -> np.ndarray:
    """The texts of a table."""
    whole = np.ascontiguousarray(letters, np.uint32)
    return whole.view(f"<U{whole.shape[1]}").reshape(len(whole))


def array_of(letters: np.ndarray, codes: np.ndarray, dtype: str) -> np.ndarray:
    """The array of text with these codes, laid out as they are."""
    made = np.empty_like(codes, dtype)
    if codes.size and [s * codes.itemsize for s in made.strides] != [s * made.itemsize for s in codes.strides]:
        strides = [s // codes.itemsize * made.itemsize for s in codes.strides]
        reaches = [s * (n - 1) for s, n in zip(strides, codes.shape)]
        low, high = sum(r for r in reaches if r < 0), sum(r for r in reaches if r > 0)
        memory = np.empty((high - low) // made.itemsize + 1, dtype)
        made = np.ndarray(codes.shape, dtype, memory, -low, strides)
    made[...] = texts_of(letters)[np.asarray(codes) // 2]
    return made


def view_of(of: np.ndarray, codes: np.ndarray, part: np.ndarray) -> np.ndarray:
    """The view of an array of text that a view of its codes is."""
    row = of if of.ndim == 1 else (of if of.flags.c_contiguous else of.T).reshape(-1)
    if not part.size:
        return row[:0].reshape(part.shape)
    step = codes.strides[0] if codes.ndim == 1 and len(codes) > 1 else codes.itemsize
    first = (part.__array_interface__["data"][0] - codes.__array_interface__["data"][0]) // step
    strides = [s // step * row.strides[0] for s in part.strides]
    return np.lib.stride_tricks.as_strided(row[first:], part.shape, strides)


def item_of(letters: np.ndarray, code: int) -> Any:
    """The text with this code, as NumPy gives it out."""
    return texts_of(letters)[code // 2]
