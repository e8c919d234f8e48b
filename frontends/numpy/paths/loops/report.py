"""What a loop of the traced program carries, and why: what `f.lower(...).loops()` prints."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from tracebuf.frontends.numpy.paths.loops.plan import OWNED, WHICH, ArrayCarry, Item, Mend
from tracebuf.frontends.numpy.record.values import ArrayRef, Storage
from tracebuf.frozen import frozen
from tracebuf.ir.core import Value
from tracebuf.location import Location
from tracebuf.process.display import displayed


@frozen()
class Carried:
    """A name, or an argument that a loop stores to, and how the loop carries it."""

    name: str
    how: str


@frozen()
@displayed
class LoopReport:
    """One loop: where it is, what it carries from one iteration to the next, what an iteration did that the plan did
    not expect (`mends`), how many iterations before it were traced by themselves, and why it is unrolled, if it is."""

    location: Location
    carried: tuple[Carried, ...]
    mends: tuple[Mend, ...]
    peeled: int = 0
    unrolled: str = ""

    def __str__(self) -> str:
        how = f"unrolled: {self.unrolled}" if self.unrolled else f"carries {'' if self.carried else 'nothing'}"
        after = f" (from iteration {self.peeled + 1} on)" if self.peeled else ""
        lines = [f"line {self.location.line}{after}: {how}".rstrip()]
        width = max((len(c.name) for c in self.carried), default=0)
        lines += [f"    {c.name:{width}}  {c.how}" for c in self.carried]
        return "\n".join([*lines, *(f"    because {mend}" for mend in self.mends)])


@frozen()
@displayed
class Loops:
    """The loops of a program, in the order of their lines; as text a paragraph for each."""

    reports: tuple[LoopReport, ...] = ()

    def __iter__(self) -> Iterator[LoopReport]:
        return iter(self.reports)

    def __len__(self) -> int:
        return len(self.reports)

    def __str__(self) -> str:
        return "\n".join(map(str, self.reports)) or "no loops"


def carried_by(
    items: Sequence[Item], storages: Collection[Storage], results: Collection[Value], called: Callable[[Any], str]
) -> Iterator[Carried]:
    """What a loop carries, of its items, the storages that it stores to, and the block arguments that were kept;
    `called` are the names as the user knows them."""
    for item in items:
        how, name = how_carried(item, results), called(item.path[0])
        if how and name:
            plain = name == f"`{item.path[0]}`"
            whole = str(item.path[0]) if item.path[1] == 0 else f"an item of {name}"
            yield Carried(whole if plain else name, how)
    for storage in storages:
        yield Carried(storage.name or "an array", "its elements: the loop stores to it")


def how_carried(item: Item, results: Collection[Value]) -> str:
    """How a leaf is carried; the empty string where it stays as it is."""
    kept = any(phi in results for phi in (*item.phis, *(p for p in item.parts if p is not None)))
    if item.how is OWNED:
        return "arrays of the loop's own, which names hold in turn"
    if item.how is WHICH:
        return "which of the arrays of before the loop it is"
    if item.kinds:
        return " or ".join("None" if kind is None else kind.words for kind in item.kinds)
    if item.kind is not None:
        return item.kind.words if kept else ""
    if isinstance(item.how, ArrayCarry) and isinstance(item.entry, ArrayRef):
        what = "a new array in each iteration" if item.how.by_value else "a view"
        changes = [*(["its size"] * any(item.how.sizes)), *(["its place"] * any(item.how.parts))]
        return f"{what}, which changes {' and '.join(changes)}" if changes else what
    return ""

