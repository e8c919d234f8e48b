"""Where eager NumPy allocates: the function runs on copies of its arguments under a counting memory handler, and what
was counted between two lines belongs to the first of them. What it calls belongs to the line of the call.
"""

from __future__ import annotations

import linecache
import sys
from types import CodeType, FrameType, FunctionType
from typing import Any

import numpy as np

from tracebuf.backend.runtime.memory_hook import counting
from tracebuf.explain.report import human
from tracebuf.frozen import frozen
from tracebuf.measure import clone_arguments, restored
from tracebuf.process.display import displayed


@frozen(slots=False)
@displayed
class Saved:
    """What a line allocates in eager NumPy, and what is left of that in the compiled program: arrays and bytes of a
    call. `left_bytes` is None where it is not known."""

    file: str
    line: int
    allocations: int
    bytes: int
    left_bytes: int | None

    @property
    def saved_bytes(self) -> int | None:
        return None if self.left_bytes is None else self.bytes - self.left_bytes

    @property
    def source(self) -> str:
        return linecache.getline(self.file, self.line).strip()

    def __str__(self) -> str:
        kept = f", of which {human(self.left_bytes)} are left" if self.left_bytes else ""
        kept = "; what is left of it varies" if self.left_bytes is None else kept
        return f"line {self.line}: {self.allocations} array{'s' * (self.allocations != 1)}, {human(self.bytes)}{kept}"

    def to_dict(self) -> dict[str, Any]:
        names = ("file", "line", "source", "allocations", "bytes", "left_bytes", "saved_bytes")
        return {name: getattr(self, name) for name in names}


@frozen()
class Step:
    """A line that ran: the arrays and bytes that it allocated, and the bytes that were alive after it."""

    file: str
    line: int
    allocations: int
    bytes: int
    live: int


def by_line(steps: list[Step]) -> dict[tuple[str, int], tuple[int, int]]:
    """The arrays and bytes that each line allocates, by file and line."""
    found: dict[tuple[str, int], tuple[int, int]] = {}
    for step in steps:
        if step.allocations:
            a, b = found.get((step.file, step.line), (0, 0))
            found[step.file, step.line] = a + step.allocations, b + step.bytes
    return found


def codes_of(function: FunctionType) -> list[CodeType]:
    """The code of a function, and of those that it wraps (`functools.wraps`), the innermost last."""
    found, inner = [function.__code__], getattr(function, "__wrapped__", None)
    while isinstance(inner, FunctionType) and inner.__code__ not in found:
        found.append(inner.__code__)
        inner = getattr(inner, "__wrapped__", None)
    return found


def eager_steps(
    function: FunctionType, given: tuple[tuple[Any, ...], dict[str, Any]], kept: list[Any]
) -> list[Step]:
    """The lines of a call of the function as they run, and of those that it wraps. Raises what the function raises."""
    args, kwargs = clone_arguments(*given, kept)
    found: list[Step] = []
    codes = set(codes_of(function))
    running: list[tuple[str, int]] = []
    """The line of each of these functions that runs now."""
    seen = [0, 0]

    with restored(kept), counting() as counted:

        def settle() -> None:
            if running and running[-1][1]:
                more = counted.allocations - seen[0], counted.allocated_bytes - seen[1]
                found.append(Step(*running[-1], *more, counted.live_bytes))
            seen[:] = counted.allocations, counted.allocated_bytes

        def inside(frame: FrameType, event: str, _: Any) -> Any:
            if event in ("line", "return"):
                settle()
                running[-1] = frame.f_code.co_filename, frame.f_lineno
            if event == "return":
                running.pop()
            return inside

        def enter(frame: FrameType, event: str, _: Any) -> Any:
            if frame.f_code not in codes:
                return None
            settle()
            running.append((frame.f_code.co_filename, 0))
            return inside

        before = sys.gettrace()
        sys.settrace(enter)
        try:
            with np.errstate(all="ignore"):
                result = function(*args, **kwargs)
        finally:
            sys.settrace(before)
    del result
    return found
