"""Arrays that growing lists hold: the lists have copies of them, which is right while nobody can tell.

In Python an array in a list is the very object that was appended. A copy is the same as long as neither is stored to
later, and the program does not ask which object is which. So each array that is appended is noted, and each store; a
store that may be to an array that a list holds is refused, whichever of the two is traced first. Where paths meet,
storages stand for others; one at the head of a loop may be any array of its element type and rank.
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
from tracebuf.location import Location

OWN = "append a copy, which the list alone has: items.append(x.copy())"


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
        self.shared = False
        """Whether a list may hold an array that something else holds too, or twice."""
        self.shared_in_dicts = False
        """Whether a dict by run-time keys may."""
        self.copied = False
        """Whether arrays of one list are in another too."""
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
                self.check(one, now)

    def note_held(self, r: Regions, ref: ArrayRef, in_dict: bool = False) -> None:
        """Notes that a list, or a dict, gets an array; refuses one that may be stored to later."""
        for end in ends(ref):
            now, made = self.event(r, end.storage), self.origins(end.storage) or []
            known = any(self.may_be_now(one.storage, end.storage) and not one.excludes(now) for one in self.held)
            new = all(self.made.get(one.storage) is one and not now.loops - one.loops for one in made)
            if not made or not new or known or not end.is_whole or end is not ref:
                self.shared = True
                self.shared_in_dicts |= in_dict
            self.held.append(now)
            for store in self.stores:
                self.check(now, store)

    def note_read(self, r: Regions, ref: ArrayRef) -> None:
        """Notes that a copy was read from a list."""
        now = self.event(r, ref.storage)
        self.held.append(now)
        self.read.append(now)

    def note_sources(self, made: Storage, sources: Iterable[Storage | None]) -> None:
        """Notes which storages one stands for where paths have met, or a loop has ended."""
        self.sources[made] = tuple(s for s in sources if s is not None)

    def origins(self, storage: Storage) -> list[Event] | None:
        """Where the storages were made that one may be; None where it may be any: at the head of a loop."""
        if storage.arg is not None:
            return [self.arguments.setdefault(storage, Event(storage, 0, None, frozenset()))]
        if (made := self.made.get(storage)) is not None:
            return [made]
        found: list[Event] = []
        for source in self.sources.get(storage, ()):
            if (inner := self.origins(source)) is None:
                return None
            found += inner
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

    def check(self, held: Event, store: Event) -> None:
        """Refuses a store that may reach an array after a list got it."""
        if not self.may_be(held, store.storage):
            return
        made = self.origins(store.storage)
        around = frozenset.intersection(*(one.loops for one in made)) if made is not None else frozenset()
        inside = held.loops & store.loops - around
        if held.turn < store.turn or inside:
            raise UnsupportedError(
                "an array is stored to that may be an item of a list of run-time length", location=store.place,
                instead=OWN,
            )  # fmt: skip

    def check_layout(self, r: Regions, ref: ArrayRef) -> None:
        """Refuses to ask how an array lies in memory that was read from a list, which may hold views."""
        if self.shared and self.is_touched(ref, self.read):
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


def alike(a: Storage, b: Storage) -> bool:
    """Whether one of two storages may stand for the other at the head of a loop."""
    return a.element is b.element and len(a.shape) == len(b.shape)
