"""Python's full garbage collections are put off while a program is made.

What tracing and the passes make lives until they end, in tens of thousands of objects: collections of the oldest
generation would walk through these and the whole process's again and again, a fifth of the time, and find nothing.
"""

from __future__ import annotations

import gc
import os
import threading
from types import TracebackType

RARE = 100
"""The third threshold meanwhile, at least: full collections come after so many of the middle generation (CPython's own
is 10), so that what cyclic garbage holds stays bounded; https://docs.python.org/3/library/gc.html#gc.set_threshold."""


class _Later:
    """A context that may be entered by several threads at once, and within itself."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._before, self._meanwhile = (0, 0, 0), (0, 0, 0)

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                young, middle, old = self._before = gc.get_threshold()
                self._meanwhile = young, middle, max(old, RARE)
                gc.set_threshold(*self._meanwhile)
            self._inside += 1

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with self._lock:
            self._inside = max(0, self._inside - 1)
            if not self._inside:
                self._restore()

    def _restore(self) -> None:
        if gc.get_threshold() == self._meanwhile:  # else somebody has set others
            gc.set_threshold(*self._before)

    def after_fork(self) -> None:
        """In the child, the threads that were inside are no more."""
        self._lock = threading.Lock()
        if self._inside:
            self._restore()
            self._inside = 0


full_collections_later = _Later()
"""While `with full_collections_later:` lasts."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=full_collections_later.after_fork)
