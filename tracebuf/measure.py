"""What a function costs: memory, copies, time; of a bufferized one, beside the NumPy function it was made from.

All sides run on the same data, on clones, so the caller's arrays stay as they are; captured arrays, which cannot be
cloned, are put back as they were after each count and each round. Eager NumPy's allocations are counted by a memory
handler (NEP 49) under every array it makes, and written down with the line that asks (measuring/recorder); NumPy's
copies cannot be observed, so they are None. Native allocations and copies are counted by the compiled code itself, the
arrays it returns included.

What NumPy allocates during a native call is seen by the same handler, and the two views are put together so that
nothing counts twice and nothing is missed: the arrays that the compiled code makes are in both, so they are taken out
of what the handler saw, and what remains (an array the call path made on the side) is added to what the compiled code
counted. The peak is the most that both had at once: the handler asks the compiled code what it has
(`whole_peak_bytes`). When the original function ran instead (`call_counted` gives None for the counters), native is
what the handler saw. A plain function may call bufferized ones: their buffers count for the line of the call
(measuring/within).

Beside the data of arrays, NumPy's iterator takes buffers (64 KiB for each operand that is strided, broadcast or
converted) and Python's objects take memory (lists of numbers), which no memory handler sees: in further calls hooks of
Python's allocators count them, on all sides, and for NumPy by line (measuring/whole). Up to 4 KiB are taken for the
usual objects.

Time is CPU time of the process, the least of some rounds in which the sides take turns, without compilation and
without counting. Not a profiler, nor a benchmark of first calls.
"""

from __future__ import annotations

import ctypes
import gc
import inspect
import sys
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, field, replace
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any, Protocol, get_args

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.call.containers import blank
from tracebuf.frontends.numpy.call.flatten import is_object
from tracebuf.frozen import frozen
from tracebuf.options import CONTRACTS, Strategy
from tracebuf.process.display import aligned, displayed, escaped, table

if TYPE_CHECKING:
    from tracebuf.measuring.lines import Line
    from tracebuf.measuring.whole import Whole

__all__ = ["Counts", "Measurement", "attributes_of", "clone_arguments", "kept_in_place", "measure", "restored"]

Array = np.ndarray[Any, np.dtype[Any]]

_ROUND_SECONDS = 2e-3
"""A round of short calls is as many calls as fill this time, up to `_ROUND_CALLS`."""
_ROUND_CALLS = 50
_ROUND_BYTES = 1 << 28
"""Most memory for the clones of one round."""
_WARM_SECONDS = 0.5
"""Calls shorter than this are timed after one that is not."""
_ALIGNMENT = 64


@frozen(slots=False)
class Counts:
    """One side of a measurement, per call.

    `allocations` and `allocated_bytes` are of arrays and temporaries; `peak_bytes` is the most that was alive at once,
    above what was alive before the call; `copies` and `copied_bytes` are None where they cannot be observed; `seconds`
    is CPU time.
    """

    allocations: int
    allocated_bytes: int
    peak_bytes: int
    copies: int | None
    copied_bytes: int | None
    seconds: float
    buffer_bytes: int = 0
    """What all memory, with Python's objects and the buffers of NumPy's iterator, takes at most beyond `peak_bytes`; 0
    up to 4 KiB."""
    page_faults: int = 0
    """How often the processor touched memory that the system had to find first: 4 KiB, as a rule."""


_SHOWN: Mapping[str, Callable[[Any], str]] = {
    "allocations": lambda n: _count(n),
    "allocated_bytes": lambda n: shown_bytes(n),
    "peak_bytes": lambda n: shown_bytes(n),
    "copies": lambda n: _count(n),
    "copied_bytes": lambda n: shown_bytes(n),
    "buffer_bytes": lambda n: shown_bytes(n),
    "page_faults": lambda n: _count(n),
    "seconds": lambda t: shown_seconds(t),
}
"""The rows of the table, and how a number is written."""
_ONLY_IF_ANY = ("buffer_bytes", "page_faults")


@frozen(slots=False)
@displayed
class Measurement:
    """One call of the function `name`, measured: `eager` and `native` Counts (None where it is not bufferized).
    `strategies` has the Counts of others, by name; `lines` what each line of the source asks NumPy for, the most at the
    peak first, and what compiled code still does there. `lost` allocations and releases are in no line: they came after
    the first two millions. As text, tables."""

    name: str
    eager: Counts
    native: Counts | None
    lines: tuple[Line, ...] = ()
    strategies: Mapping[str, Counts] = field(default_factory=dict)
    lost: int = 0

    def sides(self) -> dict[str, Counts]:
        """Each side by its name: eager, native, other strategies."""
        native = {} if self.native is None else {"native": self.native}
        return {"eager": self.eager, **native, **self.strategies}

    def rows(self) -> list[tuple[str, ...]]:
        """The table, its head first."""
        sides = self.sides()
        compared = list(sides) == ["eager", "native"]
        rows: list[tuple[str, ...]] = [(self.name, *sides, *(("eager/native",) if compared else ()))]
        for name, shown in _SHOWN.items():
            values = [getattr(counts, name) for counts in sides.values()]
            if any(values) or name not in _ONLY_IF_ANY:
                title = "CPU time" if name == "seconds" else name.replace("_", " ")
                ratio = (_ratio(*values),) if compared else ()
                rows.append((title, *(_cell(value, shown) for value in values), *ratio))
        return rows

    def line_rows(self, most: int | None = None, all: bool = True) -> list[tuple[str, ...]]:
        """The table of the lines, its head first; the source is last. Not `all`: without the small ones."""
        home = self.lines[0].file if self.lines else ""
        native = ("native still takes",) if self.native is not None else ()
        shown = self._shown(all)
        whole = ("in all",) if any(x.takes_more for x in shown) else ()
        head = "line", "allocations", "bytes", "most at once", "at the peak", *whole, "lives", *native, ""
        rows: list[tuple[str, ...]] = [head]
        for x in shown[:most]:
            place = "in C" if not x.line else str(x.line) if x.file == home else f"{x.file.rpartition('/')[2]}:{x.line}"
            eager = (_count(x.allocations), *map(shown_bytes, (x.allocated_bytes, x.peak_bytes, x.at_peak_bytes)))
            left = ("; ".join(x.native) or "-",) if native else ()
            eager += (shown_bytes(x.whole_peak_bytes),) if whole else ()
            rows.append((place, *eager, shown_seconds(x.seconds) if x.seconds else "-", *left, x.text))
        return rows

    def _shown(self, all: bool) -> list[Line]:
        """The lines; not `all`: without those of less than 1 KiB, where there are larger ones."""
        from tracebuf.explain.report import LITTLE

        large = [x for x in self.lines if x.native_bytes is None
                 or max(x.allocated_bytes, x.native_bytes) >= LITTLE or x.takes_more]  # fmt: skip
        return list(self.lines) if all or not large else large

    def notes(self, most: int | None = None, all: bool = True) -> list[str]:
        """What the reader of the table of lines should know."""
        from tracebuf.explain.report import and_more
        from tracebuf.measuring.lines import SMALL

        shown, small = self._shown(all), sum(x.small for x in self.lines)
        hidden, little = len(shown[most:]) if most else 0, len(self.lines) - len(shown)
        return [
            *([f"and {hidden} more: text(all=True) has all"] if hidden else []),
            *([and_more(little)] if little else []),
            *(["lives: how long an array lives, from allocation to release, on average"] if self.lines else []),
            *([_IN_ALL] if "in all" in self.line_rows(0, all)[0] else []),
            *([f"{_count(small)} of the allocations are of up to {SMALL} bytes: {_SMALL_ARE}"] if small else []),
            *([f"{_count(self.lost)} allocations and releases came too late to be told by line"] if self.lost else []),
            *([_SUGGEST] if self.lines and self.native is None else []),
        ]

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {
            "name": self.name,
            "eager": asdict(self.eager),
            "native": None if self.native is None else asdict(self.native),
            "strategies": {name: asdict(counts) for name, counts in self.strategies.items()},
            "lines": [x.to_dict() for x in self.lines],
            "lost": self.lost,
        }

    def text(self, all: bool = False) -> str:
        """The tables as text.

        Args:
            all: all lines, those of less than 1 KiB too, which else are only counted where there are larger ones.
        """
        if not self.lines:
            return aligned(self.rows())
        head = f"Where eager NumPy takes memory in {self.name}, the most at the peak first:"
        most = None if all else _LINES
        lines = _aligned_source(self.line_rows(most, all))
        return "\n".join([aligned(self.rows()), "", head, lines, *self.notes(most, all)])

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{escaped(note)}</p>" for note in self.notes(all=False))
        return table(self.rows()) + (table(self.line_rows(all=False), last_left=True) + notes if self.lines else "")


_SUGGEST = "what decorating it would gain, in a program of yours: python -m tracebuf suggest SCRIPT"
_IN_ALL = "in all: the most at once with the buffers of NumPy's iterator and with Python's objects (lists, numbers)"
_SMALL_ARE = "Python numbers that NumPy makes arrays of, and single numbers that it computes"
_LINES = 12
"""The most lines in a text."""


def _aligned_source(rows: Sequence[Sequence[str]]) -> str:
    """A table whose last column is source, which stands at the left."""
    head, rule, *texts = aligned([row[:-1] for row in rows]).splitlines()
    return "\n".join([head, rule, *(f"{text}  {row[-1]}".rstrip() for text, row in zip(texts, rows[1:]))])


class _Counters(Protocol):
    """What compiled code counted in one call."""

    @property
    def allocations(self) -> int: ...
    @property
    def allocated_bytes(self) -> int: ...
    @property
    def peak_bytes(self) -> int: ...
    @property
    def copies(self) -> int: ...
    @property
    def copied_bytes(self) -> int: ...
    @property
    def arrays(self) -> int: ...
    @property
    def array_bytes(self) -> int: ...


class _Bufferized(Protocol):
    @property
    def __wrapped__(self) -> Callable[..., Any]: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def call_counted(self, *args: Any, **kwargs: Any) -> tuple[Any, _Counters | None]: ...


def measure(
    f: Callable[..., Any], *args: Any, repeat: int = 3, strategies: bool | Sequence[str] = False, **kwargs: Any
) -> Measurement:
    """Measures a call of a function, line by line: what it allocates and how long that lives, its peak, its time. A
    bufferized function is measured beside the function it was made from.

    Args:
        f: any Python function; a bufferized one, or a bufferized method of an object.
        args, kwargs: the call's arguments. Each call gets fresh clones of them; they stay untouched. What the function
            changes elsewhere (globals, files) it changes in each of its calls, of which there are some. A function that
            has a parameter `repeat` or `strategies` of its own takes it by functools.partial.
        repeat: the number of timed rounds; each takes as many calls as fill 2 ms.
        strategies: measure the other strategies of `tracebuf.Options` too, or those of these names. Contracts do not
            count there.

    Returns a Measurement: `eager` and `native` (None if `f` is not bufferized), each with `allocations`,
    `allocated_bytes`, `peak_bytes`, `copies`, `copied_bytes` (None in eager NumPy, where they cannot be observed),
    `buffer_bytes`, `page_faults` and `seconds` of CPU time; `strategies`; and `lines`. A generator that the function
    returns is run to its end, and what it gives is dropped.

    Raises TypeError if `f` is no function that returns a result at once, or for strategies of a function that is not
    bufferized; ValueError for `repeat` under 1 or an unknown strategy, and whatever the function raises on these
    arguments.

    >>> import tracebuf
    >>> double = tracebuf.bufferize(lambda a: np.multiply(a, 2, out=a))
    >>> measure(double, np.ones(1000)).native.allocations
    0
    >>> [(x.allocations, x.allocated_bytes) for x in measure(lambda a: np.sqrt(a + a), np.ones(1000)).lines]
    [(2, 16000)]
    """
    from tracebuf.measuring.lines import with_whole
    from tracebuf.measuring.places import code_of
    from tracebuf.process.progress import step

    if (instance := getattr(f, "__self__", None)) is not None and hasattr(getattr(f, "__func__", None), "call_counted"):
        f, args = f.__func__, (instance, *args)  # type: ignore[attr-defined]
    if repeat < 1:
        raise ValueError(f"repeat must be at least 1, not {repeat}")
    if not (hasattr(f, "call_counted") and hasattr(f, "__wrapped__")):
        return _measure_eager(f, args, kwargs, repeat, strategies)
    original: Callable[..., Any] = getattr(f, "eager", f.__wrapped__)
    others = {name: _with_strategy(f, name) for name in _names(strategies, f)}
    captured = f.captured(*args, **kwargs) if hasattr(f, "captured") else []
    given = _Given(args, kwargs, kept_in_place((args, kwargs), captured))
    step("NumPy's memory")
    eager, lines, lost = _count_eager(original, given, code_of(f.__wrapped__))
    compiled = [f, *others.values()]
    for g in compiled:
        step("compiling")
        _timed(g, given, 1)  # compiles, and fills the arena
        if hasattr(g, "wait"):
            g.wait()
    step("memory of compiled code")
    native = [_count_native(g, given) for g in compiled]
    rest, whole = _rest([original, *compiled], given, repeat, code_of(f.__wrapped__))
    lines = with_whole(lines, whole)
    sides = [Counts(*memory, *more) for memory, more in zip([eager, *native], rest)]
    name = getattr(f.__wrapped__, "__name__", repr(f.__wrapped__))
    return Measurement(name, sides[0], sides[1], _beside(f, args, kwargs, lines), dict(zip(others, sides[2:])), lost)


def _measure_eager(
    f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], repeat: int, strategies: bool | Sequence[str]
) -> Measurement:
    """A function that is not bufferized."""
    from tracebuf.measuring.lines import with_whole
    from tracebuf.measuring.places import code_of
    from tracebuf.process.progress import step

    if not callable(f) or inspect.iscoroutinefunction(f) or inspect.isasyncgenfunction(f):
        raise _not_at_once(f)
    if strategies:
        raise TypeError(f"strategies are those of a bufferized function, not of {f!r}")
    run, given = _to_the_end(f), _Given(args, kwargs, ())
    step("memory")
    memory, lines, lost = _count_eager(run, given, code_of(f), within=True)
    ((seconds, buffers, faults),), whole = _rest([run], given, repeat, code_of(f))
    name = str(getattr(f, "__name__", None) or getattr(getattr(f, "func", None), "__name__", repr(f)))
    return Measurement(name, Counts(*memory, seconds, buffers, faults), None, with_whole(lines, whole), lost=lost)


def _to_the_end(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which runs a generator that it returns and drops the items; TypeError for what is to be awaited."""

    def run(*args: Any, **kwargs: Any) -> Any:
        result = f(*args, **kwargs)
        if isinstance(result, Generator):
            deque(result, maxlen=0)
            return None
        if isinstance(result, Coroutine | AsyncGenerator):
            if isinstance(result, Coroutine):
                result.close()
            raise _not_at_once(f)
        return result

    return run


def _not_at_once(f: Any) -> TypeError:
    return TypeError(f"measure wants a function that returns its result at once, not {f!r}")


def _names(strategies: bool | Sequence[str], f: Any) -> list[str]:
    """The strategies that are asked for, but for the function's own."""
    if not strategies:
        return []
    names = list(get_args(Strategy)) if strategies is True else list(strategies)
    if unknown := [name for name in names if name not in get_args(Strategy)]:
        raise ValueError(f"strategy must be one of {', '.join(get_args(Strategy))}, not {unknown[0]!r}")
    return [name for name in names if name != f.options.strategy]


def _with_strategy(f: Any, name: str) -> Any:
    free = {contract: () if contract == "in_place" else None for contract in CONTRACTS}
    return type(f)(f.__wrapped__, replace(f.options, strategy=name, **free))


def _rest(
    sides: Sequence[Callable[..., Any]], given: _Given, repeat: int, code: Any
) -> tuple[list[tuple[float, int, int]], Whole]:
    """Seconds, bytes of buffers and page faults of each side; all memory of the first, by line."""
    from tracebuf.measuring.whole import traced_once, whole_of
    from tracebuf.process.progress import step

    step("a call to time by")
    with traced_once():
        once = [_timed(side, given, 1)[0] for side in sides]
    calls = [_calls_per_round(seconds, given) for seconds in once]
    warm = max(once) < _WARM_SECONDS
    rounds = []
    for k in range(repeat):
        step(f"round {k + 1} of {repeat}")
        rounds.append([_timed(side, given, n, warm) for side, n in zip(sides, calls)])
    least = [tuple(map(min, zip(*times))) for times in zip(*rounds)]
    step("buffers")
    buffers = [_beside_arrays(side, given) for side in sides]
    args, kwargs = given.clones()
    with restored(given.kept):
        whole = whole_of(sides[0], args, kwargs, code)
    return [(seconds, beside, round(faults)) for (seconds, faults), beside in zip(least, buffers)], whole


def _beside(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """The lines with what compiled code still does on them; without, where the original function runs."""
    if not hasattr(f, "explain"):
        return lines
    from tracebuf.measuring.lines import beside

    try:
        return beside(lines, f.explain(*args, **kwargs))
    except UnsupportedError:
        return lines


_Memory = tuple[int, int, int, int | None, int | None]
"""allocations, allocated_bytes, peak_bytes, copies, copied_bytes"""


@frozen(slots=False)
class _Given:
    """A call's arguments, and the arrays that cannot be cloned for it: captured ones and arguments on them."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    kept: Sequence[Array]

    def clones(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return clone_arguments(self.args, self.kwargs, self.kept)


def _count_eager(
    original: Callable[..., Any], given: _Given, code: Any, within: bool = False
) -> tuple[_Memory, tuple[Line, ...], int]:
    """What NumPy allocated, by line, and how much is in no line; `within`: with the buffers of the bufferized functions
    that it calls."""
    from tracebuf.measuring.lines import lines_of, record

    for _ in range(1 + within):
        args, kwargs = given.clones()
        with restored(given.kept):
            log, seen, calls = record(original, args, kwargs, within)
        if not calls:
            break  # else once more: the first calls have traced and compiled, which takes arrays too
    whole = seen.whole_peak_bytes if calls else seen.peak_bytes
    number = seen.allocations + sum(call.allocations for call in calls)
    size = seen.allocated_bytes + sum(call.allocated_bytes for call in calls)
    return (number, size, whole, None, None), lines_of(log, code, calls), log.lost


def _count_native(f: _Bufferized, given: _Given) -> _Memory:
    """What the compiled code counted, and what NumPy allocated beside it (see the module's docstring)."""
    from tracebuf.backend.runtime.memory_hook import counting

    args, kwargs = given.clones()
    with restored(given.kept), counting() as seen:
        result, counters = f.call_counted(*args, **kwargs)
    if counters is None:
        return seen.allocations, seen.allocated_bytes, seen.peak_bytes, None, None
    del result
    return (
        counters.allocations + max(0, seen.allocations - counters.arrays),
        counters.allocated_bytes + max(0, seen.allocated_bytes - counters.array_bytes),
        seen.whole_peak_bytes,
        counters.copies,
        counters.copied_bytes,
    )


def _beside_arrays(function: Callable[..., Any], given: _Given) -> int:
    """The most that all memory of a call takes beyond that of its arrays; 0 where that is the usual objects."""
    from tracebuf.backend.runtime.memory_hook import counting
    from tracebuf.measuring.lines import OBJECTS
    from tracebuf.measuring.tally import tallying

    args, kwargs = given.clones()
    gc.collect()  # as in measuring/whole
    with restored(given.kept), counting() as seen, tallying() as all:
        result = function(*args, **kwargs)  # alive to the end
    del result
    beside = all.most - seen.peak_bytes
    return beside if beside > OBJECTS else 0


def _calls_per_round(seconds: float, given: _Given) -> int:
    size = buffer_bytes((given.args, given.kwargs))
    return max(1, min(_ROUND_CALLS, int(_ROUND_SECONDS / max(seconds, 1e-9)), _ROUND_BYTES // max(size, 1)))


def _timed(function: Callable[..., Any], given: _Given, calls: int, warm: bool = False) -> tuple[float, float]:
    """CPU seconds and page faults per call, over some calls on fresh clones; `warm`: after one that is not timed.

    Without it a round begins with a heap that was given back to the system, and NumPy pays page faults for temporaries
    that come once in a program which calls the function again and again.
    """
    clones = [given.clones() for _ in range(calls + warm)]
    with restored(given.kept):
        if warm:
            positional, named = clones[0]
            function(*positional, **named)
        faults, start = _page_faults(), time.process_time()
        for positional, named in clones[warm:]:
            function(*positional, **named)
        return (time.process_time() - start) / calls, (_page_faults() - faults) / calls


def _page_faults() -> int:
    if sys.platform == "win32":
        return 0
    import resource

    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_minflt + usage.ru_majflt


def kept_in_place(arguments: Any, captured: Sequence[Array]) -> list[Array]:
    """The captured arrays, and the arguments that may share memory with one."""
    return [*captured, *(a for a in _arrays(arguments) if any(np.may_share_memory(a, c) for c in captured))]


@contextmanager
def restored(arrays: Sequence[Array]) -> Iterator[None]:
    """Puts the elements of the arrays back as they were."""
    before = [(a, a.copy()) for a in arrays if a.flags.writeable]
    try:
        yield
    finally:
        for a, elements in before:
            a[...] = elements


def clone_arguments(
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    kept: Sequence[Array] = (),
    room: Callable[[int], Array] | None = None,
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments on copied memory: each buffer is copied once and the views on it are rebuilt.

    Overlap, strides, offsets, alignment, read-only flags and identity (one array passed twice) survive. Arrays are
    found in tuples, lists, dicts and objects at any depth, which are rebuilt too. Subclasses of ndarray and arrays of
    Python objects are copied one by one. Anything else passes through, arrays in `kept` too. `room` gives the memory,
    as bytes, where it is to be of a special kind.
    """
    plain: dict[int, Array] = {}
    memo: dict[int, Any] = {id(a): a for a in kept}
    for a in _arrays((args, kwargs)):
        if id(a) in memo:
            continue
        if type(a) in (np.ndarray, np.memmap) and a.size and not a.dtype.hasobject:
            plain[id(a)] = a
        else:
            memo[id(a)] = a.copy(order="K")
            memo[id(a)].flags.writeable = a.flags.writeable
    for low, high, group in _segments(list(plain.values())):
        _clone_segment(low, high, group, memo, room)
    positional, named = _rebuilt((args, kwargs), memo)
    return positional, named


def _root(a: Array) -> Array:
    while isinstance(a.base, np.ndarray):
        a = a.base
    return a


def buffer_bytes(value: Any) -> int:
    """The bytes of the buffers that the arrays in a value are views of, each counted once: what a clone takes."""
    return sum({id(root): root.nbytes for root in map(_root, _arrays(value))}.values())


def _arrays(value: Any, seen: set[int] | None = None) -> Iterator[Array]:
    seen = set() if seen is None else seen
    if isinstance(value, np.ndarray):
        yield value
    elif id(value) not in seen:
        seen.add(id(value))
        for item in _items(value):
            yield from _arrays(item, seen)


def _items(value: Any) -> list[Any]:
    """What a container or an object holds."""
    if isinstance(value, tuple | list):
        return list(value)
    return list(value.values() if isinstance(value, dict) else attributes_of(value).values())


def attributes_of(value: Any) -> dict[str, Any]:
    """The attributes of an object of a class of the user's."""
    if isinstance(value, type) or not is_object(value):
        return {}
    members = [n for c in type(value).__mro__ for n, d in vars(c).items() if isinstance(d, MemberDescriptorType)]
    slots = [n for n in members if n != "__dict__" and hasattr(value, n)]
    return {**{n: getattr(value, n) for n in slots}, **getattr(value, "__dict__", {})}


def _rebuilt(value: Any, memo: dict[int, Any]) -> Any:
    """Rebuilds the containers, each once, with the arrays of `memo` in place of the old ones."""
    if id(value) in memo:
        return memo[id(value)]
    if type(value) is list:
        new: Any = memo.setdefault(id(value), [])
        new.extend(_rebuilt(item, memo) for item in value)
    elif type(value) is dict:
        new = memo.setdefault(id(value), {})
        new.update({key: _rebuilt(item, memo) for key, item in value.items()})
    elif isinstance(value, tuple):
        items = [_rebuilt(item, memo) for item in value]
        new = value._make(items) if hasattr(value, "_make") else tuple(items)
    elif attributes := attributes_of(value):
        new = memo.setdefault(id(value), blank(type(value)))
        for name, item in attributes.items():
            object.__setattr__(new, name, _rebuilt(item, memo))
    else:
        new = value
    return new


def _bounds(a: Array) -> tuple[int, int]:
    """First address of an array's elements and the one after the last."""
    low, high = np.lib.array_utils.byte_bounds(a)
    return int(low), int(high)


def _segments(arrays: list[Array]) -> list[tuple[int, int, list[Array]]]:
    """Arrays grouped by memory: each with the whole buffer it is a view of, overlapping ones together."""
    extents = []
    for a in arrays:
        (low, high), root = _bounds(a), _root(a)
        if root.size and root is not a:
            root_low, root_high = _bounds(root)
            low, high = min(low, root_low), max(high, root_high)
        extents.append((low, high, a))
    segments: list[tuple[int, int, list[Array]]] = []
    for low, high, a in sorted(extents, key=lambda extent: extent[:2]):
        if segments and low < segments[-1][1]:
            first, last, group = segments[-1]
            segments[-1] = (first, max(last, high), [*group, a])
        else:
            segments.append((low, high, [a]))
    return segments


def _clone_segment(
    low: int, high: int, group: list[Array], memo: dict[int, Any], given: Callable[[int], Array] | None
) -> None:
    """Copy the bytes once and put the clone of each array of the group into `memo`.

    Where the segment is one owning, dense array, its clone owns its memory too.
    """
    roots = {id(root): root for root in map(_root, group)}
    (owner, *others) = roots.values()
    copied = owner.copy(order="K")
    if given is not None:
        memory = given(high - low)
        ctypes.memmove(memory.ctypes.data, low, high - low)
    elif not others and owner.nbytes == high - low and owner.flags.owndata and copied.strides == owner.strides:
        memo[id(owner)] = copied
        memory = copied.ravel(order="K").view(np.uint8)
    else:
        room = np.empty(high - low + _ALIGNMENT, np.uint8)
        shift = (low - room.ctypes.data) % _ALIGNMENT
        memory = room[shift : shift + high - low]
        ctypes.memmove(memory.ctypes.data, low, high - low)
    for a in group:
        if id(a) not in memo:
            memo[id(a)] = np.ndarray(a.shape, a.dtype, memory, a.ctypes.data - low, a.strides)
    for a in group:
        memo[id(a)].flags.writeable = a.flags.writeable


def _cell(value: Any, shown: Callable[[Any], str]) -> str:
    return "not observable" if value is None else shown(value)


def _count(value: int) -> str:
    return f"{value:,}"


def shown_bytes(value: int) -> str:
    if abs(value) < 1024:
        return f"{value} B"
    power = next((p for p in (1, 2) if abs(value) < 1024 ** (p + 1)), 3)
    amount = value / 1024**power
    return f"{amount:.3g} {' KMG'[power]}iB" if abs(amount) < 1000 else f"{amount:.0f} {' KMG'[power]}iB"


def shown_seconds(value: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if value * factor >= 1:
            return f"{value * factor:.3g} {unit}" if value * factor < 1000 else f"{value * factor:.0f} {unit}"
    return f"{value * 1e9:.0f} ns"


def _ratio(eager: float | None, native: float | None) -> str:
    if eager is None or native is None or (eager == 0 and native == 0):
        return "-"
    if native == 0:
        return "inf"
    ratio = eager / native
    return f"{ratio:.2f}" if ratio < 100 else f"{ratio:,.0f}"
