"""Watching the calls of bufferized functions: each is compared, or counted, on copies of its arguments first.

The call itself is left as it is. So that every call is seen none is taken by machine code (api.py, `NATIVE`): programs
are called by Python, which makes no other difference.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

import numpy as np

from tracebuf import api
from tracebuf.api import BufferizedFunction
from tracebuf.errors import TracebufError, UnsupportedError
from tracebuf.testing.checks.memory import FIELDS, MemoryUsed, broken_limits, captured_by, counted_call, explained
from tracebuf.testing.checks.validate import TOLERANCE, Given, Known, validate
from tracebuf.testing.plugin import memory

__all__ = ["Watcher"]


class Watcher:
    """Sees the calls of all bufferized functions while it is on: always, where a whole run is watched, or `during` a
    test. Of each function no more than the `most` first calls of a test are compared."""

    def __init__(self, validates: bool, counts: bool, most: int | None = None) -> None:
        self.validates, self.counts, self.most = validates, counts, most
        self.rows: memory.Rows = {}
        self.validated = self.passed_over = 0
        self._compared = Counter[BufferizedFunction]()
        self._limits: dict[str, int] = {}
        self._asked = False
        self._failures: list[str] = []
        self._known: Known = WeakKeyDictionary()
        self._warm = WeakSet[api.Specialization]()
        self._here = threading.local()
        self._called: Any = BufferizedFunction._called
        self._native = vars(api)["NATIVE"]
        vars(api)["NATIVE"] = False
        if validates or counts:
            self._on()

    def _on(self) -> None:
        watcher, called = self, self._called

        def seen(f: BufferizedFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            __tracebackhide__ = True
            watcher.look(f, args, kwargs)
            return called(f, args, kwargs)

        BufferizedFunction._called = seen  # type: ignore[method-assign, assignment]

    def close(self) -> None:
        BufferizedFunction._called = self._called  # type: ignore[method-assign]
        vars(api)["NATIVE"] = self._native

    @contextmanager
    def during(self, asked: dict[str, Any]) -> Iterator[None]:
        """A test, with what its marker asks for."""
        validate = bool(asked.pop("validate", False))
        if unknown := [name for name in asked if name not in FIELDS]:
            raise TypeError(f"pytest.mark.tracebuf: no limit {unknown[0]!r}; there are {', '.join(FIELDS)}, validate")
        self._compared.clear()
        self._limits = {FIELDS[name]: limit for name, limit in asked.items() if limit is not None}
        self._asked = validate
        off = BufferizedFunction._called is self._called
        if off and (self._limits or validate):
            self._on()
        try:
            yield
        finally:
            self._limits, self._asked = {}, False
            if off:
                BufferizedFunction._called = self._called  # type: ignore[method-assign]

    def failures(self) -> list[str]:
        """What was found since this was asked last, each text once."""
        found, self._failures = list(dict.fromkeys(self._failures)), []
        return found

    # -- a call
    def look(self, f: BufferizedFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Compares and counts a call; those inside of that are not looked at."""
        if getattr(self._here, "busy", False):
            return
        self._here.busy = True
        originals = dict(f._originals)
        try:
            if self._asked or self.validates and self.is_one_of_the_first(f):
                self.compare(f, args, kwargs)
            if self.counts or self._limits:
                self.count(f, args, kwargs)
        finally:
            f._originals.clear()  # the call itself warns where it is the first one
            f._originals.update(originals)
            self._here.busy = False

    def is_one_of_the_first(self, f: BufferizedFunction) -> bool:
        self._compared[f] += 1
        first = self.most is None or self._compared[f] <= self.most
        self.passed_over += not first
        return first

    def compare(self, f: BufferizedFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A call that is refused, or has met a bug, raises by itself, or its original runs."""
        try:
            found = validate(f, args, kwargs, TOLERANCE, self._known)
        except TracebufError:
            return
        self.validated += 1
        if not found.ok:
            self._failures.append(f"a call of {f.__wrapped__.__qualname__} is not what NumPy gives:\n{found}")

    def count(self, f: BufferizedFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        try:
            captured, served = captured_by(f, args, kwargs), None
            served = f._specialization(args, kwargs, count=False)
        except UnsupportedError:
            pass  # the call raises it too, or its original runs
        except Exception:  # the call raises it too
            return
        used: list[MemoryUsed] = []

        def counted(*positional: Any, **named: Any) -> None:
            used.append(counted_call(f, positional, named)[1])

        given = Given(f, args, kwargs, (), tuple(x for x in captured if isinstance(x, np.ndarray)), TOLERANCE)
        try:
            if served is None or served[0] not in self._warm:  # a first call makes room
                given.run(f)
                if served is not None:
                    self._warm.add(served[0])
            given.run(counted)
        except TracebufError:
            return
        if not used:
            return
        if self.counts:
            memory.note(self.rows, f"{f.__wrapped__.__module__}.{f.__wrapped__.__qualname__}", used[0])
        if broken := broken_limits(used[0], self._limits):
            self._failures.append(explained(f, args, kwargs, used[0], self._limits, broken))
