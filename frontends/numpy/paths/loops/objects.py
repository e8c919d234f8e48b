"""Which container a name holds in a loop and after it (rules S3, C1).

At the head of a loop each container that the loop carries item by item is an object of its own (`HeadObject`). Where it
is compared with another object, the loop carries a flag that says whether they are one: what is asked is carried. After
the loop, flags say which object that something else knows too each name holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tracebuf.frontends.numpy.numbers.lattice import containers_in, is_container
from tracebuf.frontends.numpy.paths.identity import (
    HeadObject,
    container_identity,
    one_object,
    one_of_known,
    truth_value,
)
from tracebuf.frontends.numpy.record.by_identity import ByIdentity, PairsByIdentity, distinct
from tracebuf.frontends.numpy.record.cond import ends
from tracebuf.frontends.numpy.record.heap import items_of
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.regions import Frame
from tracebuf.frontends.numpy.record.values import Env, PyBool
from tracebuf.frozen import frozen
from tracebuf.ir.core import Block, Value
from tracebuf.ir.types import I1


class Carried(dict[Value, tuple[Value, Value, Callable[[Value], None]]]):
    """What a loop carries, by argument of its body: the initial value, the one that is yielded at the end of the body
    (`frame`), and what takes the result."""

    def __init__(self, r: Recorder, block: Block, frame: Frame) -> None:
        self.r, self.block, self.frame = r, block, frame

    def add(
        self, phis: Sequence[Value], inits: Sequence[Value], lasts: Sequence[Value], done: Callable[[list[Value]], None]
    ) -> None:
        """Adds values of which `done` takes the results together."""
        results: list[Value] = []

        def take(value: Value) -> None:
            results.append(value)
            if len(results) == len(phis):
                done(results)

        self.update((phi, (init, last, take)) for phi, init, last in zip(phis, inits, lasts, strict=True))

    def flag(
        self, first: bool | PyBool, last: bool | PyBool, take: Callable[[Value], None], phi: Value | None = None
    ) -> None:
        """Adds a flag, as an argument of its own if there is none yet."""
        with self.r.inside(self.frame):
            yielded = truth_value(self.r, last)
        self[self.block.add_arg(I1) if phi is None else phi] = (truth_value(self.r, first), yielded, take)


@frozen(eq=False)
class EndObject:
    """An object that a name holds at the end of an iteration: the one before the loop (None: the loop first binds the
    name), what it may be, and what it is after the loop if it is none that something else knows."""

    entry: Any
    end: Any
    may_be: ByIdentity[Any, None]
    own: object


class ContainerObjects:
    """The containers that one attempt at a loop carries, as objects."""

    def __init__(self, r: Recorder, block: Block, env: Env, live: frozenset[str]) -> None:
        self.r, self.block, self.env, self.live = r, block, env, live
        self.mark = len(r.heap.known)
        self.entries: ByIdentity[HeadObject, Any] = ByIdentity()
        self.ends: ByIdentity[HeadObject, Any] = ByIdentity()
        self.heads: dict[str, list[HeadObject]] = {}
        self.flags: PairsByIdentity[Value] = PairsByIdentity()
        self.before: ByIdentity[Any, None] | None = None
        self.slots: ByIdentity[Any, None] = ByIdentity()
        self.known: ByIdentity[Any, None] | None = None
        self.found: list[EndObject] = []
        self.closed = False

    # -- in the loop
    def at_head(self, name: str, before: Any, made: Any) -> None:
        """Notes the containers that stand at the head for those of before the loop."""
        depth, heads = sum(1 for _ in self.r.frames()), self.heads.setdefault(name, [])
        for x, y in zip(carried_containers(before), carried_containers(made)):
            head = HeadObject(self.ask, depth)
            heads.append(head)
            self.slots[x] = None
            self.entries[head] = container_identity(self.r, x)
            self.r.heap.origins[y] = head

    def ask(self, head: HeadObject, other: Any) -> bool | PyBool:
        """Whether the object at the head is another object: a flag that the loop carries; one that an iteration makes
        is not at its head."""
        if self.closed:
            raise self.r.refuse("`is` between containers that a loop has bound", "give each a number, compare that")
        if other not in self.entries and not isinstance(other, HeadObject) and other not in self.objects_before():
            return False
        key = (other, head) if (other, head) in self.flags else (head, other)
        if key not in self.flags:
            self.flags[key] = self.block.add_arg(I1)
        return PyBool(self.flags[key])

    def array_at_head(self, entry: Any) -> HeadObject:
        """The object of an array at the head that is none of the ones of before the loop that its name may hold."""
        head = HeadObject(self.ask_array, sum(1 for _ in self.r.frames()))
        self.entries[head] = entry
        return head

    def ask_array(self, head: HeadObject, other: Any) -> bool | PyBool:
        """Whether two names hold one array object at the head; after the loop flags say so."""
        return False if self.closed or other not in self.entries else self.ask(head, other)

    def objects_before(self) -> ByIdentity[Any, None]:
        """The containers that there were before the loop."""
        if self.before is None:
            values = (*self.env.values(), *self.r.outer_values())
            found = self.objects_of(x for v in values for x in containers_in(v))
            self.before = distinct([*list(self.r.heap.known)[: self.mark], *found])
        return self.before

    def objects_of(self, containers: Iterable[Any]) -> Iterator[Any]:
        """The objects that containers may be."""
        return (o for x in containers for o in ends(container_identity(self.r, x)))

    # -- at its end
    def note_ends(self, name: str, value: Any) -> None:
        """Notes what the containers of a name are at the end of the body."""
        for head, x in zip(self.heads.get(name, ()), carried_containers(value)):
            self.ends[head] = container_identity(self.r, x)

    def entry(self, x: Any) -> Any:
        """What an object at the head is before the loop; any other object itself."""
        return self.entries.get(x, x)

    def end(self, x: Any) -> Any:
        """What is in the place of an object at the head at the end of the body; any other object itself."""
        return self.ends.get(x, x)

    def may_be(self, *found: Any) -> ByIdentity[Any, None]:
        """The objects, other than those at the head, that identities may be in any iteration."""
        known, new = ByIdentity[Any, None](), [o for x in found for o in ends(x)]
        while new:
            x = new.pop()
            if x not in known:
                known[x] = None
                new += [o for y in (self.entry(x), self.end(x)) if y is not x for o in ends(y)]
        return ByIdentity((x, None) for x in known if x not in self.entries)

    def after(self, carried: Carried, entry: Any, end: Any) -> Callable[[], Any]:
        """The identity after the loop of what a name holds at the end of the body; `entry` before the loop."""
        if entry is not None and self.entries.get(end) is entry and self.end(end) is end:
            return lambda: entry
        mine = EndObject(entry, end, self.may_be(end) if entry is None else self.may_be(end, entry), object())
        outer = [(x, x, x) for x in mine.may_be if x in self.objects_before() and self.is_known(x)]
        others = [(o.entry, o.end, o.own) for o in self.found if any(x in mine.may_be for x in o.may_be)]
        self.found.append(mine)
        choices: list[tuple[list[Value], Any]] = []
        other = mine.own
        for before, last, found in (*outer, *others):
            with self.r.inside(carried.frame):
                is_one = one_object(self.r, end, last)
            bound = entry is not None and before is not None
            was_one = one_object(self.r, entry, before) if bound else is_one if isinstance(is_one, bool) else False
            if is_one is True and was_one is True:
                other = found
                break
            if not (is_one is False and was_one is False):
                choices.append((list[Value](), found))
                carried.flag(was_one, is_one, choices[-1][0].append)
        return lambda: one_of_known([(results[0], x) for results, x in choices], other)

    def is_known(self, x: Any) -> bool:
        """Whether an object of before the loop is known other than by what the loop carries, and may replace: for all
        names that may hold it, or for none."""
        if self.known is None:
            named = [(n in self.heads, v) for n, v in self.env.items() if n in self.live or not n.isidentifier()]
            outer = [(False, v) for v in self.r.outer_values()]
            found = ((carried, x) for carried, v in (*named, *outer) for x in containers_in(v))
            others = self.objects_of(x for carried, x in found if not (carried and x in self.slots))
            kept = (o for head, entry in self.entries.items() if self.end(head) is head for o in ends(entry))
            self.known = distinct((*others, *kept))
        return isinstance(x, HeadObject) or self.r.heap.number(x) is not None or x in self.known

    def carry(self, carried: Carried) -> None:
        """Adds the flags that were asked for; a flag's last value may ask for others."""
        while missing := [(pair, phi) for pair, phi in self.flags.items() if phi not in carried]:
            for (a, b), phi in missing:
                first = one_object(self.r, self.entry(a), self.entry(b))
                with self.r.inside(carried.frame):
                    last = one_object(self.r, self.end(a), self.end(b))
                carried.flag(first, last, lambda value: None, phi)
        self.closed = True



def carried_containers(x: Any) -> Iterator[Any]:
    """The containers in a value that are carried item by item, itself among them, in order."""
    if is_container(x):
        yield x
        for item in items_of(x):
            yield from carried_containers(item)
