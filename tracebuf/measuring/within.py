"""What bufferized functions take that a measured function calls: their buffers are not NumPy's, so compiled code counts
them, each call for the line of the user's that makes it.

While this watches no call is taken by machine code (api.py, `NATIVE`), so that each comes by.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

from tracebuf.frozen import frozen

__all__ = ["Called", "watching_calls"]

Frames = tuple[tuple[CodeType, int], ...]


@frozen()
class Called:
    """A call of a compiled program: from where (the innermost frame first), after how many events of NumPy's, and what
    it took: `allocations` and `allocated_bytes` without NumPy's arrays, which are seen anyway, `peak_bytes` with
    them."""

    stack: Frames
    events: int
    allocations: int
    allocated_bytes: int
    peak_bytes: int


@contextmanager
def watching_calls(base: CodeType, events: Callable[[], int]) -> Iterator[list[Called]]:
    """The calls of compiled programs in a window. `base` is the code whose frame ends a stack, `events` says how many
    of NumPy's were seen."""
    found: list[Called] = []
    api: Any = sys.modules.get("tracebuf.api")  # which imports this room
    if api is None:  # nothing is bufferized
        yield found
        return
    kind = api.BufferizedFunction
    usual, native = kind._called, api.NATIVE
    functions = [calls for f in api._functions.all() if (calls := f._native) is not None]

    def counted(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        stack, before = frames(base), events()
        result, counters = f.call_counted(*args, **kwargs)
        if counters is not None:
            own = counters.allocations - counters.arrays, counters.allocated_bytes - counters.array_bytes
            found.append(Called(stack, before, *own, counters.peak_bytes))
        return result

    api.NATIVE = False
    for calls in functions:
        calls.rest()
    kind._called = counted
    try:
        yield found
    finally:
        kind._called, api.NATIVE = usual, native
        for calls in functions:
            calls.go_on()


def frames(base: CodeType) -> Frames:
    """The frames that led here, but for our own."""
    found, frame = list[tuple[CodeType, int]](), sys._getframe(2)
    while frame is not None and frame.f_code is not base:
        found.append((frame.f_code, frame.f_lasti))
        frame = frame.f_back  # type: ignore[assignment]
    return tuple(found)
