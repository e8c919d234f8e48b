"""Where array memory is asked for, line by line: how much, how often, how long it lives, what is alive at the peak."""

from __future__ import annotations

import linecache
import math
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from types import CodeType
from typing import Any

import numpy as np

from tracebuf.backend.runtime.memory_hook import Allocations, counting
from tracebuf.explain.report import Entry, Explanation, human
from tracebuf.frozen import frozen
from tracebuf.measuring.places import is_users
from tracebuf.measuring.recorder import Log, recording
from tracebuf.measuring.whole import Whole
from tracebuf.measuring.within import Called, watching_calls
from tracebuf.process.display import is_ours

__all__ = ["OBJECTS", "Line", "beside", "lines_of", "record", "with_whole"]

SMALL = 16
"""Up to so many bytes are a Python number of which NumPy makes an array."""
OBJECTS = 4096
"""Up to so many bytes beside arrays are Python's usual objects, of which nothing is told."""


@frozen(slots=False)
class Line:
    """What one line of Python asks NumPy for, in one call of the measured function; and where it calls a bufferized
    function what that takes, its buffers included.

    `allocations` and `allocated_bytes` count all, `small` those of them that are a Python number made an array;
    `peak_bytes` is the most that was alive at once of this line's, `at_peak_bytes` what of it was alive when the whole
    call had most; `kept_bytes` what was alive when the call ended (results, and what it stores in objects); `seconds`
    is how long NumPy's arrays live, on average. `whole_peak_bytes` and `whole_at_peak_bytes` are of all memory, as
    tracemalloc counts it: with the buffers of NumPy's iterator and Python's own objects, which may come at another
    time. `line` is 0 where none is known: in C code, and beyond the recorder's limits.
    """

    file: str
    line: int
    function: str
    allocations: int
    allocated_bytes: int
    small: int
    peak_bytes: int
    at_peak_bytes: int
    kept_bytes: int
    seconds: float
    native: tuple[str, ...] = ()
    """What compiled code still allocates and copies here, in words, where the function is bufferized."""
    native_bytes: int | None = 0
    """That in bytes; None where it is not known."""
    whole_peak_bytes: int = 0
    whole_at_peak_bytes: int = 0

    @property
    def takes_more(self) -> bool:
        """Whether it takes more than its arrays: a hundredth, and more than some objects."""
        return self.whole_peak_bytes - self.peak_bytes > max(OBJECTS, self.peak_bytes // 100)

    @property
    def text(self) -> str:
        """The line of source."""
        return linecache.getline(self.file, self.line).strip() if self.line else ""

    def to_dict(self) -> dict[str, Any]:
        """The fields and the text, for JSON."""
        return {**asdict(self), "native": list(self.native), "text": self.text}


def record(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], within: bool = False
) -> tuple[Log, Allocations, list[Called]]:
    """Calls a function and says what it asks for: each allocation, and all in sum; with `within`, also the calls of
    compiled programs. Raises what the function raises."""
    seen = recording(_called.__code__)
    with counting() as counted, seen:
        with watching_calls(_called.__code__, seen.count) if within else nullcontext(list[Called]()) as calls:
            result = _called(function, args, kwargs)  # alive to the end of the window
    del result
    return seen.log, counted, calls


def _called(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return function(*args, **kwargs)


Place = tuple[str, int, str]
"""File, line, function."""
NOWHERE = "", 0, ""


def beside(lines: Sequence[Line], explained: Explanation) -> tuple[Line, ...]:
    """Lines with what compiled code still does on them; lines where eager NumPy asks for nothing come last."""
    left: dict[tuple[str, int], list[str]] = defaultdict(list)
    amounts: Counter[tuple[str, int]] = Counter()
    functions: dict[tuple[str, int], str] = {}
    for entry in explained.entries:
        if entry.kind in ("allocation", "copy"):
            place = entry.location.file, entry.location.line
            functions[place] = entry.location.function
            left[place].append(_in_words(entry))
            amounts[place] += entry.amount  # type: ignore[assignment]
    known = {place: int(n) if math.isfinite(n) else None for place, n in amounts.items()}
    found = [replace(x, native=_counted(left.pop((x.file, x.line), [])), native_bytes=known.get((x.file, x.line), 0))
             for x in lines]  # fmt: skip
    rest = (Line(*p, functions[p], 0, 0, 0, 0, 0, 0, 0.0, _counted(words), known[p]) for p, words in left.items())
    return (*found, *rest)


def _in_words(entry: Entry) -> str:
    amount = f"{entry.size} bytes" if entry.bytes is None else human(entry.bytes)
    kind = "" if entry.kind == "allocation" else f"{entry.kind} of "
    return f"{kind}{amount}{' each iteration' * entry.in_loop}{f' [{entry.lives}]' if entry.lives else ''}"


def _counted(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{n} x {word}" if n > 1 else word for word, n in Counter(words).items())


def lines_of(log: Log, code: CodeType | None = None, calls: Sequence[Called] = ()) -> tuple[Line, ...]:
    """A log by line, the most bytes at the peak first. `code` is the measured function's, whose folder counts as the
    user's; `calls` are those of compiled programs, whose buffers count for the line of the call."""
    folder = None if code is None else os.path.dirname(code.co_filename)
    places = [_place(stack, folder) for stack in log.stacks]
    callers = [_place(call.stack, folder) for call in calls]
    found = _one_for_each_line([*places, *callers])
    number_of = {place[:2]: k for k, place in enumerate(found)}
    line_of_stack = np.array([number_of[place[:2]] for place in places])
    births, deaths = _lives(log.events)
    events = log.events[births]
    line, size = line_of_stack[events["stack"]], events["size"]
    steps = np.zeros(len(log.events), np.int64)
    steps[births] = size
    steps[deaths[deaths >= 0]] = -size[deaths >= 0]
    alive = np.cumsum(steps)
    peak = int(alive.argmax()) if len(alive) and alive.max() > 0 else -1
    most, at_peak = int(alive[peak]) if peak >= 0 else 0, None
    for call in calls:  # with its buffers, beside what was alive when it began
        if (whole := call.peak_bytes + (int(alive[call.events - 1]) if call.events else 0)) > most:
            most, peak, at_peak = whole, call.events - 1, call
    dead = np.where(deaths < 0, len(log.events), deaths)
    end = log.events["time"][-1] if len(log.events) else 0
    times = np.where(deaths < 0, end, log.events["time"][deaths]) - events["time"]
    made = []
    for k, (file, number, function) in enumerate(found):
        here = line == k
        inside = [call for call, place in zip(calls, callers) if place[:2] == (file, number)]
        if not here.any() and not inside:
            continue
        own = np.concatenate([births[here], dead[here]])
        moves = np.concatenate([size[here], -size[here]])[np.argsort(own, kind="stable")]
        beside = [size[here & (births < c.events) & (dead >= c.events)].sum() + c.peak_bytes for c in inside]
        at_once = max([int(np.cumsum(moves).max()) if here.any() else 0, *map(int, beside)])
        made.append(
            Line(
                file,
                number,
                function,
                allocations=int(here.sum()) + sum(c.allocations for c in inside),
                allocated_bytes=int(size[here].sum()) + sum(c.allocated_bytes for c in inside),
                small=int((size[here] <= SMALL).sum()),
                peak_bytes=at_once,
                at_peak_bytes=int(size[here & (births <= peak) & (dead > peak)].sum())
                + sum(c.peak_bytes for c in inside if c is at_peak),
                kept_bytes=int(size[here & (deaths < 0)].sum()),
                seconds=float(times[here].mean()) * 1e-9 if here.any() else 0.0,
            )
        )
    return tuple(sorted(made, key=_by_size))


def with_whole(lines: Sequence[Line], whole: Whole) -> tuple[Line, ...]:
    """Lines with all memory that they take; those that ask NumPy for nothing come too where they take more than some
    objects."""
    told = {(x.file, x.line): x for x in lines}
    for place, (function, taken) in whole.lines.items():
        if place in told or taken.most > OBJECTS:
            line = told.get(place, Line(*place, function, 0, 0, 0, 0, 0, 0, 0.0))
            most = max(taken.most, line.peak_bytes)  # compiled code's buffers are only in the other
            told[place] = replace(line, whole_peak_bytes=most, whole_at_peak_bytes=taken.at_peak)
    rest = {place: replace(x, whole_peak_bytes=x.peak_bytes) for place, x in told.items() if not x.whole_peak_bytes}
    return tuple(sorted((told | rest).values(), key=_by_size))


def _by_size(x: Line) -> Any:
    most = max(x.at_peak_bytes, x.whole_at_peak_bytes if x.takes_more else 0)
    return -most, -max(x.peak_bytes, x.whole_peak_bytes), -x.allocated_bytes, x.file, x.line


def _one_for_each_line(places: Sequence[Place]) -> list[Place]:
    """Each line once, by the name of its function rather than of a comprehension in it."""
    found: dict[tuple[str, int], str] = {}
    for file, line, function in places:
        if found.get((file, line), "<").startswith("<"):
            found[file, line] = function
    return [(*at, function) for at, function in found.items()]


def _lives(events: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The events that are allocations, and for each the one that releases it; -1 where none does."""
    order = np.argsort(events["address"], kind="stable")
    address, born = events["address"][order], events["size"][order] >= 0
    ends = np.full(len(events), -1)
    if len(events) > 1:
        paired = born[:-1] & ~born[1:] & (address[:-1] == address[1:])
        ends[order[:-1][paired]] = order[1:][paired]
    births = np.flatnonzero(events["size"] >= 0)
    return births, ends[births]


def _place(stack: Sequence[tuple[CodeType, int]], folder: str | None) -> Place:
    """The innermost line of the user's; where there is none, the innermost of all but ours."""
    for code, last in stack:
        if is_users(code.co_filename) or os.path.dirname(code.co_filename) == folder:
            return _at(code, last)
    frames = [frame for frame in stack if not is_ours(frame[0].co_filename)]
    return _at(*frames[0]) if frames else NOWHERE


def _at(code: CodeType, last: int) -> Place:
    positions = list(code.co_positions())
    line = positions[last // 2][0] if 0 <= last // 2 < len(positions) else None
    return code.co_filename, line or code.co_firstlineno, code.co_name
