"""Watches a run by `sys.setprofile` and by NumPy's memory handler: time, calls and allocations of each of the user's
functions, and the arguments of a call.

The time that watching takes is not counted, but for the interpreter's own share, which makes functions of many short
calls look a little slower than they are.
"""

from __future__ import annotations

import gc
import sys
import threading
import time
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType
from typing import Any

import numpy as np

from tracebuf.api import BufferizedFunction
from tracebuf.backend.runtime.memory_hook import Allocations, by_handler, counting, counting_on, numpy_api
from tracebuf.suggest.owned import Owner
from tracebuf.suggest.records import Record, given_to, record, top_bytes

__all__ = ["Profiler", "Seen"]

_LONGER = 1.2
"""A call is kept rather than another if it takes so many times as much of the processor, whatever else runs ..."""
_LARGER = 1.5
"""... and looked at if its arrays are so many times as large."""


class Seen:
    """What the run did with one function. `seconds` counts what it calls, `own` does not count what it calls of the
    user's functions; `callers` has the seconds by the code of the user's function that called it, None for none.
    `allocations` and `allocated_bytes` are of NumPy's arrays in all calls, with those of what it calls; `own_bytes`
    without what it calls of the user's functions."""

    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.function: FunctionType | BufferizedFunction | None = None
        self.calls = 0
        self.seconds = self.own = 0.0
        self.allocations = self.allocated_bytes = self.own_bytes = 0
        self.uses_numpy = False
        self.callers: dict[CodeType | None, float] = {}
        self.record: Record | None = None
        self.record_seconds = 0.0
        self.sought = False
        self.depth = 0

    def add(self, other: Seen) -> None:
        """Another thread's."""
        self.calls += other.calls
        self.seconds += other.seconds
        self.own += other.own
        self.allocations += other.allocations
        self.allocated_bytes += other.allocated_bytes
        self.own_bytes += other.own_bytes
        self.uses_numpy |= other.uses_numpy
        for code, seconds in other.callers.items():
            self.callers[code] = self.callers.get(code, 0.0) + seconds
        if other.record is not None and (self.record is None or other.record_seconds > self.record_seconds):
            self.record, self.record_seconds = other.record, other.record_seconds
        self.function = self.function or other.function


class _Entered:
    """A call that has not ended."""

    __slots__ = ("allocated", "begin", "below", "bytes_below", "frame", "record", "seen", "worked")

    def __init__(
        self, seen: Seen, frame: FrameType, record: Record | None, begin: float, allocated: tuple[int, int]
    ) -> None:
        self.seen, self.frame, self.record, self.begin, self.allocated = seen, frame, record, begin, allocated
        self.below, self.bytes_below = 0.0, 0
        self.worked = 0.0 if record is None else time.thread_time()


class Profiler:
    """Watches all threads inside of `with`. `limit`: the bytes that all copies of arguments may take."""

    def __init__(self, owner: Owner, limit: int) -> None:
        self.owner, self.room = owner, limit
        self.seconds = 0.0
        self.allocations = self.allocated_bytes = self.peak_bytes = 0
        """Of NumPy's arrays, in the whole run; the peak is the main thread's."""
        self._threads: list[_Thread] = []

    def __enter__(self) -> Profiler:
        threading.setprofile(self._other_thread)
        below, self._window = numpy_api().get_handler(), counting()
        self._main = self._thread(self._window.__enter__(), below)
        self._begin = time.perf_counter()
        sys.setprofile(self._main.event)
        return self

    def __exit__(self, *error: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)
        self.seconds = time.perf_counter() - self._begin - self._main.lost
        self.peak_bytes = self._main.counted.peak_bytes
        self._window.__exit__(None, None, None)
        for thread in self._threads:
            thread.stopped = True
            allocations, size = thread.allocated()
            self.allocations += allocations
            self.allocated_bytes += size

    def functions(self) -> list[Seen]:
        """Those that work with NumPy, the longest first."""
        found: dict[CodeType, Seen] = {}
        for thread in self._threads:
            for code, seen in list(thread.seen.items()):
                if isinstance(seen, Seen):
                    found.setdefault(code, Seen(code)).add(seen)
        return sorted((s for s in found.values() if s.uses_numpy and s.seconds), key=lambda s: -s.seconds)

    def _thread(self, counted: Allocations, below: Any) -> _Thread:
        made = _Thread(self, counted, below)
        self._threads.append(made)
        return made

    def _other_thread(self, frame: FrameType, kind: str, arg: Any) -> None:
        below = numpy_api().get_handler()
        made = self._thread(counting_on(), below)  # each thread has a memory handler of its own
        sys.setprofile(made.event)
        made.event(frame, kind, arg)


class _Thread:
    """What one thread does."""

    def __init__(self, profiler: Profiler, counted: Allocations, below: Any) -> None:
        self.profiler, self.counted, self.below = profiler, counted, below
        self.seen: dict[CodeType, Seen | bool] = {}
        """True for NumPy's code, False for other libraries'."""
        self.stack: list[_Entered] = []
        self.lost = 0.0
        """Seconds that watching took."""
        self.stopped = False

    def allocated(self) -> tuple[int, int]:
        """The arrays and bytes that the program has allocated until now."""
        return self.counted.allocations, self.counted.allocated_bytes

    def event(self, frame: FrameType, kind: str, arg: Any) -> None:
        """What the interpreter calls."""
        if self.stopped:  # a thread that goes on after the run
            sys.setprofile(None)
        elif kind == "c_call":
            if self.stack and not self.stack[-1].seen.uses_numpy and _is_numpys(arg):
                self.stack[-1].seen.uses_numpy = True
        elif kind == "call":
            if (seen := self.seen.get(frame.f_code)) is None:
                seen = self.seen[frame.f_code] = self._first(frame)
            if isinstance(seen, Seen):
                self._enter(seen, frame)
            elif seen and self.stack:
                self.stack[-1].seen.uses_numpy = True
        elif kind == "return" and self.stack and self.stack[-1].frame is frame:
            self._leave(arg)

    def _first(self, frame: FrameType) -> Seen | bool:
        if self.profiler.owner.is_users(frame.f_code):
            return Seen(frame.f_code)
        return str(frame.f_globals.get("__name__", "")).partition(".")[0] == "numpy"

    def _enter(self, seen: Seen, frame: FrameType) -> None:
        begin = time.perf_counter()
        seen.calls += 1
        seen.depth += 1
        args, kwargs = given_to(frame)
        size = top_bytes((*args, *kwargs.values()))
        seen.uses_numpy = seen.uses_numpy or size > 0
        kept = None
        if not seen.calls & (seen.calls - 1) or (seen.record is not None and size > _LARGER * seen.record.bytes):
            freed = 0 if seen.record is None else seen.record.bytes
            with by_handler(self.below):  # copies are not the program's
                kept = record(args, kwargs, self.profiler.room + freed)
        end = time.perf_counter()
        self.lost += end - begin
        self.stack.append(_Entered(seen, frame, kept, end - self.lost, self.allocated()))

    def _leave(self, result: Any) -> None:
        start = time.perf_counter()
        entered = self.stack.pop()
        seen, seconds = entered.seen, start - self.lost - entered.begin
        above = self.stack[-1] if self.stack else None
        allocations, size = (now - then for now, then in zip(self.allocated(), entered.allocated))
        seen.own += seconds - entered.below
        seen.own_bytes += size - entered.bytes_below
        seen.depth -= 1
        seen.uses_numpy = seen.uses_numpy or size > entered.bytes_below or isinstance(result, np.ndarray)
        if above is not None:
            above.below += seconds
            above.bytes_below += size
            above.seen.uses_numpy = above.seen.uses_numpy or seen.uses_numpy
        if not seen.depth:
            seen.seconds += seconds
            seen.allocations += allocations
            seen.allocated_bytes += size
            caller = None if above is None else above.seen.code
            seen.callers[caller] = seen.callers.get(caller, 0.0) + seconds
        if (kept := entered.record) is not None and seen.uses_numpy:
            worked = time.thread_time() - entered.worked
            if seen.record is None or worked > _LONGER * seen.record_seconds:
                self.profiler.room -= kept.bytes - (0 if seen.record is None else seen.record.bytes)
                seen.record, seen.record_seconds = kept, worked
        if seen.uses_numpy and not seen.sought:
            seen.sought, seen.function = True, _function_of(entered.frame)
        self.lost += time.perf_counter() - start


def _is_numpys(called: Any) -> bool:
    """Whether a C function is NumPy's, or a method of an array."""
    if isinstance(getattr(called, "__self__", None), np.ndarray | np.generic):
        return True
    module = called.__module__ if isinstance(called, BuiltinFunctionType) else None
    return isinstance(module, str) and module.partition(".")[0] == "numpy"


def _function_of(frame: FrameType) -> FunctionType | BufferizedFunction | None:
    """The function that a frame runs; the bufferized one where that is what its name means."""
    code, found = frame.f_code, None
    if "<" not in code.co_qualname:
        first, *names = code.co_qualname.split(".")
        found = frame.f_globals.get(first)
        for name in names:
            found = next((vars(c)[name] for c in getattr(found, "__mro__", ()) if name in vars(c)), None)
        found = _unwrapped(found, code)
    if found is None:
        found = next((f for f in gc.get_referrers(code) if isinstance(f, FunctionType) and f.__code__ is code), None)
    return found


def _unwrapped(found: Any, code: CodeType) -> FunctionType | BufferizedFunction | None:
    """What a name holds of a function, below the decorators that say what they wrap."""
    for _ in range(20):
        if isinstance(found, BufferizedFunction) and found.__wrapped__.__code__ is code:
            return found
        if isinstance(found, FunctionType) and found.__code__ is code:
            return found
        if isinstance(found, property):
            found = found.fget
        else:
            found = getattr(found, "__wrapped__", None)
        if found is None:
            break
    return None
