"""Python's garbage collections are put off while a program is made, and while modules are imported.

What tracing and the passes make lives until they end, in tens of thousands of objects: collections of the oldest
generation would walk through these and the whole process's again and again, a fifth of the time, and find nothing;
those of the younger ones would walk through each object twice.
Code, classes and tables live as long as the process: no collection finds anything among them, in a tenth of the time.
`Living`: what is alive of a kind, which collections and other threads change at any time.
"""

from __future__ import annotations

import gc
import os
import threading
import weakref
from types import TracebackType
from typing import Generic, TypeVar

T = TypeVar("T")

RARE = 100
"""The third threshold meanwhile, at least: full collections come after so many of the middle generation (CPython's own
is 10), so that what cyclic garbage holds stays bounded; https://docs.python.org/3/library/gc.html#gc.set_threshold."""
MANY = 100_000
"""The first threshold meanwhile, at least: the new objects after which the youngest are looked at."""


def promote() -> None:
    """All objects that there are become old, so that the next collection of young ones does not walk through them."""
    if not gc.get_freeze_count():  # else somebody has frozen some, which are to stay so
        gc.freeze()
        gc.unfreeze()


class Living(Generic[T]):
    """The objects that are alive of those that were added. A WeakSet raises where a thread adds to it while another one
    goes over it."""

    def __init__(self) -> None:
        self._references = set[weakref.ref[T]]()

    def add(self, x: T) -> None:
        self._references.add(weakref.ref(x, self._references.discard))

    def all(self) -> list[T]:
        return [x for reference in self._references.copy() if (x := reference()) is not None]


class _Thresholds:
    """The process's thresholds, and how many are inside of the two contexts at once, in threads or one another."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._full, self._all = 0, 0
        self._before, self._meanwhile = (0, 0, 0), (0, 0, 0)

    def change(self, full: int, all_: int) -> None:
        """So many more, or fewer, are inside."""
        with self._lock:
            if not self._full and not self._all:
                self._before = self._meanwhile = gc.get_threshold()
            self._full, self._all = max(0, self._full + full), max(0, self._all + all_)
            self._set()

    def _set(self) -> None:
        if gc.get_threshold() != self._meanwhile:  # somebody has set others
            return
        young, middle, old = self._before
        if young and (self._all or self._full):
            young = max(young, MANY)
        if self._full:
            old = max(old, RARE)
        self._meanwhile = young, middle, old
        gc.set_threshold(*self._meanwhile)

    def after_fork(self) -> None:
        """In the child, the threads that were inside are no more."""
        self._lock = threading.Lock()
        if self._full or self._all:
            self._full = self._all = 0
            self._set()


_thresholds = _Thresholds()


class _Later:
    """A context that may be entered by several threads at once, and within itself."""

    def __init__(self, full: int, all_: int) -> None:
        self._inside = full, all_

    def __enter__(self) -> None:
        _thresholds.change(*self._inside)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        full, all_ = self._inside
        _thresholds.change(-full, -all_)


full_collections_later, collections_later = _Later(1, 0), _Later(0, 1)
"""While `with full_collections_later:` or `with collections_later:` lasts: the latter leaves full ones as they are."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_thresholds.after_fork)
