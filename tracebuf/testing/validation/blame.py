"""Which op is to blame for a value that differs: the first one of a run whose value no run before it has had.

Two programs of neighbouring stages are run with the same arguments, each op watched. What an op computed (its results;
of buffers what it has written) is compared with what ops of the same place in the source computed in the program
before: the first value of a known dtype and shape that is none of those is the wrong one. A pass that moves or merges
ops keeps their places and values, so that they are not blamed. Of a trace, which no program comes before, the values
are compared with those of eager's variables after each line.
"""

from __future__ import annotations

import linecache
import sys
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FrameType
from typing import Any

import numpy as np

from tracebuf.frozen import frozen
from tracebuf.interpret import Watch
from tracebuf.interpret.memory import MemRef
from tracebuf.ir.core import Op
from tracebuf.location import Location
from tracebuf.ops.memory import memref

__all__ = ["Blame", "blamed", "blamed_line", "last_writer"]

MOST_WRITES = 100_000
"""Of how many writes it is remembered what they wrote."""
MOST_BYTES = 1 << 28
"""The most memory that is taken for values; later ones are not looked at."""
UNDEFINED = ("tensor.empty", "memref.alloc", "memref.alloca")
"""Ops whose elements are not defined."""


@frozen(slots=False)
class Blame:
    """An op, its place, its value and the one that was expected (None where these are not known)."""

    op: str
    location: Location
    value: Any
    expected: Any = None
    whose: str = "before"
    """What had the value that was expected."""

    def __str__(self) -> str:
        source = linecache.getline(self.location.file, self.location.line).strip()
        parts = [f"{self.op}, line {self.location.line}"] + ([f"    {source}"] if source else [])
        if self.expected is not None:
            parts.append(f"its value {self.whose}: {short(self.expected)}")
        return "\n".join(parts if self.value is None else [*parts, f"its value here: {short(self.value)}"])


def short(value: Any) -> str:
    return np.array2string(value, threshold=12, edgeitems=3) if isinstance(value, np.ndarray) else repr(value)


Run = Callable[[Watch], object]
Form = tuple[str, tuple[int, ...]]


def blamed(before: Run, after: Run) -> Blame | None:
    """The op that is to blame for what `after` does otherwise than `before`; None where no op's value says so."""
    known: set[tuple[Form, bytes]] = set()
    by_place: dict[tuple[Location, Form], list[Any]] = defaultdict(list)
    taken = 0

    def learn(op: Op, operands: Sequence[Any], made: Sequence[Any]) -> None:
        nonlocal taken
        for value in values_of(op, operands, made):
            known.add(digest(value))
            if taken < MOST_BYTES:
                taken += np.asarray(value).nbytes
                by_place[op.loc, form(value)].append(np.array(value))

    found: list[Blame] = []

    def look(op: Op, operands: Sequence[Any], made: Sequence[Any]) -> None:
        if found:
            return
        for value in values_of(op, operands, made):
            if digest(value) not in known and (earlier := by_place.get((op.loc, form(value)))):
                found.append(Blame(op.name, op.loc, np.array(value)[()], earlier[-1][()]))
                return

    for run, watch in ((before, learn), (after, look)):
        try:
            run(watch)
        except Exception:  # what was seen until then will do
            continue
    return found[0] if found else None


def blamed_line(eager: Callable[[], object], code: CodeType, run: Run) -> Blame | None:
    """What a trace has wrong: the first line after which a variable of eager's has a value that the program never
    computed, where an op of that line has another one of its dtype and shape: the last of these ops."""
    computed: set[tuple[Form, bytes]] = set()
    by_line: dict[tuple[int, Form], tuple[Op, Any]] = {}

    def learn(op: Op, operands: Sequence[Any], made: Sequence[Any]) -> None:
        for value in values_of(op, operands, made):
            computed.add(digest(value))
            by_line[op.loc.line, form(value)] = op, np.array(value)[()]

    try:
        run(learn)
    except Exception:
        return None
    for line, value in values_by_line(eager, code):
        if digest(value) not in computed and (found := by_line.get((line, form(value)))) is not None:
            return Blame(found[0].name, found[0].loc, found[1], value, "in eager NumPy")
    return None


def values_by_line(eager: Callable[[], object], code: CodeType) -> list[tuple[int, Any]]:
    """The arrays that the function's variables hold, each with the line that gave it a new value, in order."""
    found: list[tuple[int, Any]] = []
    before: dict[str, tuple[Form, bytes]] = {}
    line, taken = 0, 0

    def step(frame: FrameType, event: str, _: object) -> Any:
        nonlocal line, taken
        if frame.f_code is not code or taken > MOST_BYTES:
            return None
        for name, x in frame.f_locals.items():
            if isinstance(x, np.ndarray) and x.dtype.kind in "biufc" and before.get(name) != digest(x):
                before[name] = digest(x)
                found.append((line, x.copy()))
                taken += x.nbytes
        line = frame.f_lineno
        return step

    outer = sys.gettrace()
    sys.settrace(step)
    try:
        eager()
    finally:
        sys.settrace(outer)
    return found


def last_writer(run: Callable[[Watch], np.ndarray | None], eager: Any, wrong: Any) -> Blame | None:
    """What computed a value that differs: the last op that wrote the memory of its element, which the run gives; where
    there are no buffers, the last one whose value was equal to the wrong one, or else to eager's."""
    wanted = [digest(x) for x in (wrong, eager) if isinstance(x, np.ndarray | np.generic)]
    found: dict[int, Blame] = {}
    writes: deque[tuple[Op, np.ndarray]] = deque(maxlen=MOST_WRITES)

    def look(op: Op, operands: Sequence[Any], made: Sequence[Any]) -> None:
        writes.extend((op, ref.array) for ref in written_by(op, operands))
        for value in values_of(op, operands, made):
            if (mine := digest(value)) in wanted:
                found[wanted.index(mine)] = Blame(op.name, op.loc, np.array(value)[()])

    try:
        element = run(look)
    except Exception:
        return None
    if element is not None:
        for op, array in reversed(writes):
            if np.shares_memory(array, element):
                return Blame(op.name, op.loc, None)
    if not found:
        return None
    blame = found[min(found)]
    return blame if min(found) == 0 else Blame(blame.op, blame.location, wrong, blame.value)


def values_of(op: Op, operands: Sequence[Any], made: Sequence[Any]) -> Iterator[Any]:
    """What an op has computed: its results, or the contents of the buffers that it has written."""
    if op.name in UNDEFINED:
        return
    yield from (ref.array for ref in written_by(op, operands))
    yield from (x for x in made if isinstance(x, np.ndarray | np.generic))


def written_by(op: Op, operands: Sequence[Any]) -> list[MemRef]:
    """The buffers that an op has written."""
    written = [operands[u.index] for u in getattr(op, "out_uses", ())]
    written += [operands[1]] if isinstance(op, memref.Copy | memref.Store) else []
    return [ref for ref in written if isinstance(ref, MemRef)]


def form(value: Any) -> Form:
    return value.dtype.str, value.shape


def digest(value: Any) -> tuple[Form, bytes]:
    """What tells values apart; all NaNs are one."""
    array = np.array(value, order="C")
    if array.dtype.kind in "fc":
        array[array != array] = np.nan
    data = array.tobytes()
    if len(data) > 64:
        import hashlib

        data = hashlib.blake2b(data, digest_size=16).digest()
    return form(array), data
