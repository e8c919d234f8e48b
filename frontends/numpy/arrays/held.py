"""Arrays that growing lists hold: the lists have copies of them, which is right while nobody can tell.

In Python an array in a list is the very object that was appended. A copy is the same as long as neither is stored to
later, and the program does not ask which object is which. So each array that is appended is noted, and each store; a
store that may be to an array that a list holds is refused, whichever of the two is traced first. Where paths meet,
storages stand for others; so does one at the head of a loop, for which others is known once the loop has been traced:
a store to one waits until then.
"""

from __future__ import annotations

from collections.abc import Iterable

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.record.by_identity import ByIdentity
from tracebuf.frontends.numpy.record.cond import ends
from tracebuf.frontends.numpy.record.regions import Frame, Regions
from tracebuf.frontends.numpy.record.values import ArrayRef, Storage
from tracebuf.frozen import frozen
from tracebuf.ir.core import Value
from tracebuf.ir.types import ScalarType
from tracebuf.location import Location

OWN = "append a copy, which the list alone has: items.append(x.copy())"


Sort = tuple[ScalarType, int]
"""The element type of an array, and how many axes it has: arrays of two sorts are two objects."""


@frozen(eq=False)
class Event:
    """A store to an array, or its way into or out of a list: when, where, in which loops, and on which path."""

    storage: Storage
    turn: int
    place: Location | None
    loops: frozenset[Frame]
    path: frozenset[tuple[Value, bool]] = frozenset()

    def excludes(self, other: Event) -> bool:
        """Whether the two are in the two branches of a condition."""
        return any((condition, not holds) in other.path for condition, holds in self.path)


class HeldArrays:
    """What one tracing has found out."""

    def __init__(self) -> None:
        self.made: ByIdentity[Storage, Event] = ByIdentity()
        """The storages that stand for no other: where they were made."""
        self.sources: ByIdentity[Storage, tuple[Storage, ...]] = ByIdentity()
        self.arguments: ByIdentity[Storage, Event] = ByIdentity()
        self.held: list[Event] = []
        self.stores: list[Event] = []
        self.read: list[Event] = []
        """Of those held: copies that were read from lists."""
        self.shared: set[Sort] = set()
        """Of which sorts a list may hold an array that something else holds too, or twice."""
        self.viewed: set[Sort] = set()
        """Of which one may hold a view of memory that is the function's own, all whose elements are side by side."""
        self.shared_in_dicts: set[Sort] = set()
        """Of which a dict by run-time keys may hold one that is shared."""
        self.copied = False
        """Whether arrays of one list are in another too."""
        self.waiting: list[tuple[Event, Event]] = []
        """What a list got, and stores that may be to it: where a storage at the head of a loop decides."""
        self.paused = 0
        self.turn = 0

    def event(self, r: Regions, storage: Storage) -> Event:
        """What happens now."""
        self.turn += 1
        frames = list(r.frames())
        loops = frozenset(f for f in frames if f.kind == "loop")
        return Event(storage, self.turn, r.loc, loops, frozenset(f.taken for f in frames if f.taken is not None))

    def note_made(self, r: Regions, storage: Storage) -> None:
        """Notes a new array."""
        self.made[storage] = self.event(r, storage)

    def note_store(self, r: Regions, storage: Storage) -> None:
        """Notes a store; refuses one to what a list may hold."""
        if not self.paused:
            self.stores.append(now := self.event(r, storage))
            for one in self.held:
                self.check(r, one, now)

    def note_held(self, r: Regions, ref: ArrayRef, in_dict: bool = False) -> None:
        """Notes that a list, or a dict, gets an array; refuses one that may be stored to later."""
        for end in ends(ref):
            now, made = self.event(r, end.storage), self.origins(end.storage) or []
            known = any(self.may_be_now(one.storage, end.storage) and not one.excludes(now) for one in self.held)
            new = all(self.made.get(one.storage) is one and not now.loops - one.loops for one in made)
            if made and new and not known and end is ref and not end.is_whole and is_own_row(end, made):
                self.viewed.add(sort_of(ref))
            elif not made or not new or known or not end.is_whole or end is not ref:
                self.shared.add(sort_of(ref))
                self.shared_in_dicts |= {sort_of(ref)} if in_dict else set()
            self.held.append(now)
            for store in self.stores:
                self.check(r, now, store)

    def note_read(self, r: Regions, ref: ArrayRef) -> None:
        """Notes that a copy was read from a list."""
        now = self.event(r, ref.storage)
        self.held.append(now)
        self.read.append(now)

    def note_sources(self, made: Storage, sources: Iterable[Storage | None]) -> None:
        """Notes which storages one stands for where paths have met, or a loop has ended."""
        self.sources[made] = tuple(s for s in sources if s is not None)

    def note_heads(self, r: Regions, heads: Iterable[tuple[Storage, Iterable[Storage]]]) -> None:
        """Notes which storages those at the head of a loop stand for, once it has been traced: what has waited for
        this is checked."""
        for head, sources in heads:
            self.note_sources(head, sources)
        waiting, self.waiting = self.waiting, []
        for held, store in waiting:
            self.check(r, held, store)

    def mark(self) -> tuple[int, ...]:
        """How much has been noted."""
        return len(self.held), len(self.stores), len(self.read), len(self.waiting)

    def forget(self, mark: tuple[int, ...]) -> None:
        """Drops what an attempt has noted that is given up."""
        held, stores, read, waiting = mark
        del self.held[held:], self.stores[stores:], self.read[read:], self.waiting[waiting:]

    def origins(self, storage: Storage) -> list[Event] | None:
        """Where the storages were made that one may be; None where it may be any: at the head of a loop that is being
        traced."""
        seen, work, found = set[Storage](), [storage], list[Event]()
        while work:
            if (one := work.pop()) in seen:
                continue
            seen.add(one)
            if one.arg is not None:
                found.append(self.arguments.setdefault(one, Event(one, 0, None, frozenset())))
            elif (made := self.made.get(one)) is not None:
                found.append(made)
            elif sources := self.sources.get(one):
                work += sources
            else:
                return None
        return found or None

    def may_be(self, held: Event, storage: Storage) -> bool:
        """Whether an array in a list may be that of a storage."""
        if held.storage is storage:
            return True
        there, here = self.origins(held.storage), self.origins(storage)
        if there is not None and here is not None:
            return any(a is b for a in there for b in here)
        if not alike(held.storage, storage):
            return False
        return here is None or held.turn > min(one.turn for one in here)

    def check(self, r: Regions, held: Event, store: Event) -> None:
        """Refuses a store that may reach an array after a list got it."""
        if not self.may_be(held, store.storage):
            return
        made = self.origins(store.storage)
        if held.storage is not store.storage and (made is None or self.origins(held.storage) is None):
            if any(f.kind == "loop" for f in r.frames()):
                self.waiting.append((held, store))
                return
        around = frozenset.intersection(*(one.loops for one in made)) if made is not None else frozenset()
        inside = held.loops & store.loops - around
        if held.turn < store.turn or inside:
            raise UnsupportedError(
                "an array is stored to that may be an item of a list of run-time length", location=store.place,
                instead=OWN,
            )  # fmt: skip

    def check_layout(self, r: Regions, ref: ArrayRef) -> None:
        """Refuses to ask how an array lies in memory that was read from a list, which may hold views."""
        if (self.shared or self.viewed) and self.is_touched(ref, self.read):
            raise r.refuse("the memory of an array of a list of run-time length, which may hold views", "ask before")

    def is_touched(self, ref: ArrayRef, events: Iterable[Event]) -> bool:
        """Whether an array may be one that some events are about."""
        return any(self.may_be_now(one.storage, end.storage) for end in ends(ref) for one in events)

    def may_be_now(self, a: Storage, b: Storage) -> bool:
        """Whether two storages may be one, whenever."""
        there, here = self.origins(a), self.origins(b)
        if there is None or here is None:
            return a is b or alike(a, b)
        return any(x is y for x in there for y in here)

    def check_identity(self, r: Regions, *values: object) -> None:
        """Refuses to ask which object an array is that a list may hold."""
        refs = [x for x in values if isinstance(x, ArrayRef)]
        if len(refs) > 1 and any(self.is_touched(x, self.held) for x in refs):
            raise r.refuse("`is` of an array that a list of run-time length may hold", "compare numbers")


def sort_of(ref: ArrayRef) -> Sort:
    """The sort of an array."""
    return ref.element, ref.ndim


def is_own_row(ref: ArrayRef, made: Iterable[Event]) -> bool:
    """Whether an array of one axis is a view of what the function has made, and as a copy of it would lie in memory."""
    return ref.ndim == 1 and ref.strides == (1,) and all(one.storage.arg is None for one in made)


def alike(a: Storage, b: Storage) -> bool:
    """Whether one of two storages may stand for the other at the head of a loop."""
    return a.element is b.element and len(a.shape) == len(b.shape)
