"""The plan of an arena: which bytes of it each buffer has, as expressions of the sizes.

A block of the arena is used in *phases*, at whose beginnings nothing in it is alive: there it is asked for, for all the
buffers of the phase. A buffer's offset is the greatest of some sums of sizes: the ends of the buffers below it that may
be alive with it. Which of two is below is decided when the plan is made (optimize/buffers/pack.py), for all sizes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import lru_cache
from math import prod

from tracebuf.frozen import frozen, plain
from tracebuf.ir.core import Op, Value
from tracebuf.ir.dims import Dim, Sym, evaluate, floordiv, sub, terms_of
from tracebuf.running.lines import LINE, rounded

MOST_SUMS = 12
"""Of an extent; more become one that is above them."""

Sum = tuple[tuple[Dim, int], ...]
"""So many times the lines of each number of bytes; constants are of one line."""


@frozen()
class Extent:
    """The greatest of some sums of sizes, each in whole lines; none is below another one for all sizes."""

    sums: tuple[Sum, ...] = ((),)

    def plus(self, size: Dim, count: int = 1) -> Extent:
        size, count = (LINE, count * rounded(size) // LINE) if isinstance(size, int) else (size, count)
        if not count:
            return self
        return Extent(tuple(_added(s, size, count) for s in self.sums))

    @staticmethod
    def sum(parts: Iterable[tuple[Dim, int]]) -> Extent:
        """The sum of so many times each size."""
        total: dict[Dim, int] = {}
        for size, count in parts:
            size, count = (LINE, count * rounded(size) // LINE) if isinstance(size, int) else (size, count)
            if count:
                total[size] = total.get(size, 0) + count
        return Extent((tuple(total.items()),))

    @staticmethod
    def greatest(extents: Iterable[Extent]) -> Extent:
        """The least that is above all of them, or little more; that of none is 0."""
        kept: list[Sum] = []
        for s in reversed({id(s): s for e in extents for s in e.sums}.values()):  # the last are mostly the largest
            if not any(_below(s, other) for other in kept):
                kept = [s, *(other for other in kept if not _below(other, s))]
        if len(kept) > MOST_SUMS:
            most: dict[Dim, int] = {}
            for s in kept:
                for size, count in s:
                    most[size] = max(most.get(size, 0), count)
            kept = [tuple(most.items())]
        return Extent(tuple(kept) or ((),))

    @property
    def sizes(self) -> list[Dim]:
        return list(dict.fromkeys(size for s in self.sums for size, _ in s))

    def value(self, env: Mapping[Sym, int]) -> int:
        return max(sum(rounded(evaluate(size, env)) * count for size, count in s) for s in self.sums)

    def __str__(self) -> str:
        shown = [" + ".join(_shown(size, count) for size, count in s) or "0" for s in self.sums]
        return shown[0] if len(shown) == 1 else f"max({', '.join(shown)})"


def _shown(size: Dim, count: int) -> str:
    if isinstance(size, int):
        return str(size * count)
    whole = f"{size}" if lines_exactly(size) else f"lines({size})"
    return whole if count == 1 else f"{count}*{whole if whole[0] == 'l' else f'({whole})'}"


def lines_exactly(size: Dim) -> bool:
    """Whether so many bytes are whole lines, whatever the sizes."""
    return all(c % LINE == 0 for c in terms_of(size).values())


def _added(s: Sum, size: Dim, count: int) -> Sum:
    found = dict(s)
    found[size] = found.get(size, 0) + count
    return tuple(found.items())


@lru_cache(65536)
def _below(a: Sum, b: Sum) -> bool:
    """Whether one sum is at most another for all sizes, as far as is seen: each of its sizes has one there that is at
    least as large."""
    room = dict(b)
    rest = []
    for size, count in a:
        taken = min(count, room.get(size, 0))
        if taken:
            room[size] -= taken
        if count > taken:
            rest.append((size, count - taken))
    for size, count in rest:
        for other in room:
            taken = min(count, room[other])
            if taken and at_most(size, other):
                room[other] -= taken
                count -= taken
        if count:
            return False
    return True


@lru_cache(4096)
def at_most(a: Dim, b: Dim) -> bool:
    """Whether one size is at most another, by what their difference shows."""
    least = 0
    for mono, c in terms_of(sub(b, a)).items():
        bounds = [x.lo for x in mono if isinstance(x, Sym) and x.lo is not None and x.lo >= 0]
        if mono and (c < 0 or len(bounds) < len(mono)):
            return False
        least += c * prod(bounds)
    return least >= 0


@frozen(eq=False, slots=False)
class Phase:
    """From a point at which nothing in this block of the arena is alive: what its buffers need together.

    That of a buffer whose size is known late floats, where that is possible: it is in the first block, in the lowest
    gap between those `beside` it that is large enough for it; where the block ends before, it is in its own, and from
    the next call on the first one is as large as that. `above`: what all those are below, wherever they are. `next`:
    one that will float beside it; where both end lower so, that one is in the lowest gap.
    """

    block: int
    total: Extent
    sizes: tuple[Dim, ...]
    """Of all its buffers."""
    floats: bool = False
    beside: tuple[Range, ...] = ()
    above: Extent = Extent()
    next: Next | None = None


@frozen(slots=False)
class Range:
    """Bytes of the first block that are in use: in one of its phases from an offset to another; or all of a phase that
    floats."""

    phase: Phase
    first: Extent = Extent()
    end: Extent = Extent()


@frozen(slots=False)
class Next:
    """A buffer that will float: what it needs, and of what is alive with it what is in use already."""

    total: Extent
    beside: tuple[Range, ...]
    above: Extent


@frozen(slots=False)
class Place:
    """Where a buffer lives: at an offset of its phase, or, where it has none, in a slot of its own; there too where the
    memory for a phase cannot be had. `turns`: how many places of one size it takes turns between; `beside`: the values
    that are alive when it is made and may be in one of them."""

    slot: int
    phase: Phase | None
    offset: Extent
    size: Dim
    turns: int = 1
    beside: tuple[Value, ...] = ()


@plain(eq=True, slots=True)
class Roaming:
    """The buffers of sizes that vary in loops which carry them, and those that are alive with them: each is in a gap of
    a block between those in use; where there is none, an array; after the call the block is made as large as the same
    placing needs. `block`: its slot, mostly that of the first block, no phase of which goes on while something roams;
    `turns` slots after `table` say what is where (backend/llvm/roaming.py)."""

    block: int
    table: int
    turns: int
    others: dict[Op, tuple[Value, ...]]
    """By buffer the arrays that are alive when it is made."""
    near: dict[Op, frozenset[Op]]
    """By buffer those that may share bytes with it."""
    over: frozenset[int]
    """The slots of the places that may share bytes with all of them."""
    frees: frozenset[Op]


@plain(eq=True, slots=True)
class Plan:
    """The arena of a function: `blocks` for phases, `slots` in all; where phases begin, where the buffers live, and by
    slot those that may share bytes; the blocks in which nothing is alive where a phase of the first block begins."""

    blocks: int = 0
    idle: tuple[int, ...] = ()
    slots: int = 0
    phases: dict[Op, list[Phase]] = field(default_factory=dict)
    places: dict[Op, Place] = field(default_factory=dict)
    frees: set[Op] = field(default_factory=set)
    """The deallocs of buffers in the arena."""
    sharing: dict[int, frozenset[int]] = field(default_factory=dict)
    roaming: Roaming | None = None
    spares: dict[Op, int] = field(default_factory=dict)
    """The number of arrays that one free or another may free, of those that make them and of the frees: what was
    freed is made anew."""
    nowhere: bool = False
    """Whether there are arrays that are absent."""


__all__ = [
    "Extent",
    "Next",
    "Phase",
    "Place",
    "Plan",
    "Range",
    "Roaming",
    "Sum",
    "at_most",
    "floordiv",
    "lines_exactly",
]
