"""`assert_memory`: what one real call of a function may take of memory, and the lines that took more.

Of a bufferized function the compiled code counts its allocations and copies, and NumPy's memory handler what is made
beside it (an array of a called function's); of a plain function the handler alone, which sees no copies. The contracts
of `bufferize` (explain/contracts.py) say the same of all sizes, before a program runs; this is for tests, and for what
no formula knows: sizes that depend on data, the original function where it runs instead.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

from tracebuf.backend.runtime.memory_hook import Allocations, counting
from tracebuf.errors import UnsupportedError
from tracebuf.explain.report import human
from tracebuf.frozen import frozen
from tracebuf.measure import clone_arguments, kept_in_place, restored
from tracebuf.process.display import aligned, displayed

__all__ = ["MemoryUsed", "assert_memory"]

FIELDS = {
    "max_allocations": "allocations",
    "max_copies": "copies",
    "max_bytes": "allocated_bytes",
    "max_peak": "peak_bytes",
    "max_copied_bytes": "copied_bytes",
}
"""What each limit is of."""
MAX_LINES = 12
"""How many lines a failure shows."""


@frozen(slots=False)
@displayed
class MemoryUsed:
    """What one call took. `copies` and `copied_bytes` are None where only NumPy ran, whose copies nobody can count;
    `original` says why it did, of a bufferized function."""

    name: str
    allocations: int
    allocated_bytes: int
    peak_bytes: int
    copies: int | None
    copied_bytes: int | None
    original: str = ""
    """Why the original function ran instead of compiled code."""

    def rows(self) -> list[tuple[str, str]]:
        return [(self.name, "counted"), *((f.replace("_", " "), shown(f, getattr(self, f))) for f in FIELDS.values())]

    def __str__(self) -> str:
        return aligned(self.rows())


def assert_memory(
    f: Callable[..., Any],
    *args: Any,
    max_allocations: int | None = None,
    max_copies: int | None = None,
    max_bytes: int | None = None,
    max_peak: int | None = None,
    max_copied_bytes: int | None = None,
    **kwargs: Any,
) -> MemoryUsed:
    """Calls a function on copies of the arguments, and raises AssertionError where that took more memory than allowed.

    Args:
        f: a bufferized function, a bufferized method of an object, or a plain function that uses NumPy.
        args, kwargs: the call's arguments, which stay untouched. A function with a parameter that has a limit's name
            is wrapped in another one.
        max_allocations: how many arrays and temporaries may be allocated, results included.
        max_copies: how many copies may be made because a later line reads the old contents, or a result needs memory of
            its own. Stores that the function writes itself are none. Of compiled code only.
        max_bytes: how many bytes all the allocations may have.
        max_peak: how many bytes may be alive at once, above what was before the call. This is what the option
            `max_bytes` of `bufferize` limits.
        max_copied_bytes: how many bytes the copies may have. Of compiled code only.

    Returns the `MemoryUsed`. What is counted is a second call: the first one compiles, and warms NumPy's caches. Raises
    AssertionError with the numbers and the lines; TypeError where no limit is given, or one on copies for a plain
    function; and whatever the function raises.

    >>> import numpy as np, tracebuf
    >>> from tracebuf.testing import assert_memory
    >>> double = tracebuf.bufferize(lambda a: np.multiply(a, 2, out=a))
    >>> assert_memory(double, np.ones(1000), max_allocations=0, max_copies=0).peak_bytes
    0
    """
    __tracebackhide__ = True
    given = (max_allocations, max_copies, max_bytes, max_peak, max_copied_bytes)
    f, args = with_instance(f, args)
    limits = {FIELDS[name]: limit for name, limit in zip(FIELDS, given) if limit is not None}
    if not limits:
        raise TypeError(f"assert_memory wants a limit: {', '.join(FIELDS)}")
    if not hasattr(f, "call_counted") and limits.keys() & {"copies", "copied_bytes"}:
        raise TypeError("the copies that NumPy makes cannot be counted: max_copies is for bufferized functions")
    used = memory_used(f, args, kwargs)
    if broken := broken_limits(used, limits):
        raise AssertionError(explained(f, args, kwargs, used, limits, broken))
    return used


def with_instance(f: Any, args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """The function of a bound method, and the arguments behind its object, which is copied as they are."""
    if (instance := getattr(f, "__self__", None)) is not None and hasattr(f, "__func__"):
        return f.__func__, (instance, *args)
    return f, args


def captured_by(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """The arrays from outside that a call may read or store to, where they are known."""
    try:
        return list(f.captured(*args, **kwargs)) if hasattr(f, "captured") else []
    except UnsupportedError:
        return []


def broken_limits(used: MemoryUsed, limits: dict[str, int]) -> list[str]:
    """The fields that are over their limits; what could not be counted is."""
    return [f for f, limit in limits.items() if (found := getattr(used, f)) is None or found > limit]


def memory_used(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> MemoryUsed:
    """What a call on copies of the arguments takes, after another one."""
    kept = kept_in_place((args, kwargs), captured_by(f, args, kwargs))
    for _ in range(2):
        positional, named = clone_arguments(args, kwargs, kept)
        with restored(kept):
            used = counted_call(f, positional, named)[1]
    return used


def counted_call(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, MemoryUsed]:
    """The result of a call on these very arguments, and what it took."""
    name = getattr(f, "__name__", None) or repr(f)
    counters: Any = None
    with counting() as seen:
        if hasattr(f, "call_counted"):
            result, counters = f.call_counted(*args, **kwargs)
        else:
            result = f(*args, **kwargs)
    if counters is None:
        why = reason_of_original(f) if hasattr(f, "call_counted") else ""
        return result, MemoryUsed(name, seen.allocations, seen.allocated_bytes, seen.peak_bytes, None, None, why)
    return result, MemoryUsed(
        name,
        counters.allocations + max(0, seen.allocations - counters.arrays),
        counters.allocated_bytes + max(0, seen.allocated_bytes - counters.array_bytes),
        seen.whole_peak_bytes,
        counters.copies,
        counters.copied_bytes,
    )


def reason_of_original(f: Any) -> str:
    """Why the original function has run, as far as its table says."""
    reasons = [item.reason for item in f.specializations() if hasattr(item, "reason")]
    return reasons[-1] if reasons else "these arguments are not compiled"


# -- the failure
def explained(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], used: MemoryUsed, limits: dict[str, int], broken: list[str]
) -> str:
    """The failure in words: what is over its limit, all numbers, the lines."""
    said = [f"{amount(f, getattr(used, f))}, {allowed(f, limits[f])}" for f in broken]
    rows = [(used.name, "counted", "allowed")]
    for field in FIELDS.values():
        limit = shown(field, limits[field]) if field in limits else ""
        rows.append((field.replace("_", " "), shown(field, getattr(used, field)), limit))
    parts = [f"{used.name}: {'; '.join(said)}", aligned(rows)]
    if used.original:
        parts.append(f"the original function ran, not compiled code: {used.original}")
    if used.copies is None:
        parts += lines_of_numpy(getattr(f, "eager", f), args, kwargs)
    else:
        parts += lines_of_compiled(f, args, kwargs, used, broken)
    return "\n".join(parts)


def amount(field: str, n: int | None) -> str:
    """A number with its noun."""
    if n is None:
        return f"{field.replace('_', ' ')} cannot be counted"
    if field.endswith("bytes"):
        return f"{n:,} {'bytes at once' if field == 'peak_bytes' else field.replace('_', ' ')}"
    one, many = {"allocations": ("allocation", "allocations"), "copies": ("copy", "copies")}[field]
    return f"{n:,} {one if n == 1 else many}"


def allowed(field: str, limit: int) -> str:
    name = next(name for name, f in FIELDS.items() if f == field)
    return f"where {name}={limit}"


def shown(field: str, n: int | None) -> str:
    if n is None:
        return "not observable"
    return f"{n:,}" if not field.endswith("bytes") or n < 1024 else f"{n:,} ({human(n)})"


def lines_of_compiled(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], used: MemoryUsed, broken: list[str]
) -> list[str]:
    """The entries of `explain` that are of what is over its limit."""
    explanation = f.explain(*args, **kwargs)
    kinds = {"copy" if field.startswith("cop") else "allocation" for field in broken}
    entries = [str(e) for e in explanation.entries if e.kind in kinds]
    if "allocation" in kinds and not explanation.allocations:
        entries.append("the compiled code allocates nothing: functions that it calls did")
    return cut(entries)


def cut(lines: list[str]) -> list[str]:
    more = len(lines) - MAX_LINES
    return lines if more <= 0 else [*lines[:MAX_LINES], f"... and {more} more"]


def lines_of_numpy(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
    """The lines of a plain function, and of what it calls in its file, on which NumPy allocated, the most first."""
    positional, named = clone_arguments(args, kwargs)
    code = getattr(f, "__code__", None) or getattr(getattr(f, "__wrapped__", None), "__code__", None)
    if code is None:
        return []
    with counting() as seen, lines_watched(code, seen) as found:
        f(*positional, **named)
    ranked = sorted(found.items(), key=lambda item: -item[1][1])
    return cut([text_of(code.co_filename, line, n, size) for line, (n, size) in ranked if n])


def text_of(file: str, line: int, n: int, size: int) -> str:
    source = linecache.getline(file, line).strip()
    head = f"line {line}: {amount('allocations', n)}, {human(size)}"
    return f"{head}\n    {source}" if source else head


@contextmanager
def lines_watched(code: CodeType, seen: Allocations) -> Iterator[dict[int, tuple[int, int]]]:
    """Counts allocations and their bytes by line of the code's file, while lines of it run in this thread."""
    found: dict[int, tuple[int, int]] = {}
    line, before = 0, (0, 0)

    def step(frame: FrameType, event: str, _: object) -> Any:
        nonlocal line, before
        if frame.f_code.co_filename != code.co_filename:
            return None
        now = (seen.allocations, seen.allocated_bytes)
        n, size = found.get(line, (0, 0))
        found[line] = (n + now[0] - before[0], size + now[1] - before[1])
        caller = frame.f_back if event == "return" else frame
        line = caller.f_lineno if caller is not None and caller.f_code.co_filename == code.co_filename else 0
        before = now
        return step

    outer = sys.gettrace()
    sys.settrace(step)
    try:
        yield found
    finally:
        sys.settrace(outer)
