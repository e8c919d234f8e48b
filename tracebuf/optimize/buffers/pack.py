"""Places in a block of the arena for buffers of one phase: offsets for all sizes, small ones for sizes that are likely.

Buffers that may be alive together get places one above the other; each as low as those below it allow. Which of two is
below is tried out for sizes in some proportions: the larger one first, or the one that is made first, each as low as
it fits; where that is not as little as is alive, some orders by chance too. Nothing is lost if all buffers have one
size. Counterparts: XLA's heap simulator, TVM's USMP (for constant sizes).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from random import Random

from tracebuf.frozen import plain
from tracebuf.ir.dims import Dim, Sym, evaluate, symbols
from tracebuf.ops.memory.arena import Extent
from tracebuf.running.lines import rounded

LIKELY = 1000
"""Of a size that is not known."""

FEW = 16
"""Up to so many items, the best one of the orders is made better,"""
MOVES = 3
"""by so many items that come first instead,"""
SHUFFLES = 40
"""and so many orders by chance are tried where that is not enough."""


@plain()
class Item:
    """What has a place: so many places of a size, from one tick to another; `beside`: items that it may be alive
    with."""

    size: Dim
    turns: int
    first: int
    last: int
    beside: set[Item]

    def bytes_at(self, env: dict[Sym, int]) -> int:
        return rounded(max(evaluate(self.size, env), 1)) * self.turns


@plain()
class Later:
    """What comes on top of the items that are alive then, of sizes that are known late."""

    beside: set[Item]
    total: Extent


def packed(items: Sequence[Item], later: Sequence[Later] = ()) -> tuple[dict[Item, Extent], Extent]:
    """The offset of each item, and what all need."""
    envs = likely(items, later)
    inside, below = set(items), set[Item]().union(*(late.beside for late in later))

    def tried(order: Sequence[Item]) -> Tried:
        places = stacked(order, inside, envs[0])
        return max(excess(items, places, later, env) for env in envs), places, order

    best = least(map(tried, orders(items, below, envs[0])))
    for _ in range(MOVES):
        moved = least(map(tried, first_ones(best[2]))) if 1 < best[0] and len(items) <= FEW else best
        if moved[0] >= best[0]:
            break
        best = moved
    if 1 < best[0] and len(items) <= FEW:
        best = least(chain([best], map(tried, shuffled(items))))
    return extents(items, best[1])


Tried = tuple[float, dict[Item, int], Sequence[Item]]
"""What an order needs over the most that is alive at once; the places; the order."""


def least(found: Iterable[Tried]) -> Tried:
    """The first one that needs no more than what is alive, or the one that needs least."""
    best: Tried | None = None
    for one in found:
        best = one if best is None or one[0] < best[0] else best
        if best[0] <= 1:
            break
    assert best is not None
    return best


def first_ones(order: Sequence[Item]) -> Iterable[list[Item]]:
    """The order with another one of the items first."""
    for item in order[1:]:
        yield [item, *(other for other in order if other is not item)]


def shuffled(items: Sequence[Item]) -> Iterable[list[Item]]:
    """Orders by chance, the same ones each time."""
    chance = Random(0)
    return (chance.sample(items, len(items)) for _ in range(SHUFFLES))


def likely(items: Iterable[Item], later: Iterable[Later]) -> list[dict[Sym, int]]:
    """Sizes in some proportions: all alike, and each ten times as large as the others."""
    sizes = [*(item.size for item in items), *(size for late in later for size in late.total.sizes)]
    found = sorted({s for size in sizes for s in symbols(size)}, key=lambda s: s.serial)

    def env(large: Sym | None) -> dict[Sym, int]:
        return {s: bounded(s, LIKELY * (10 if s is large else 1)) for s in found}

    return [env(None), *(env(s) for s in found[:4] if len(found) > 1)]


def bounded(s: Sym, n: int) -> int:
    return min(max(n, n if s.lo is None else s.lo), n if s.hi is None else s.hi)


def orders(items: Sequence[Item], below: set[Item], env: dict[Sym, int]) -> Iterable[list[Item]]:
    """Orders to place the items in, most promising ones first; where something comes on top of some, these are lowest
    in some."""
    keys: list[Callable[[Item], tuple[int, ...]]] = [
        lambda i: (-i.bytes_at(env), i.first),
        lambda i: (i.first,),
        lambda i: (i.first - i.last, i.first),
        lambda i: (-i.last,),
        lambda i: (-i.bytes_at(env) * (i.last - i.first + 1),),
    ]
    for key in keys:
        order = sorted(items, key=key)
        yield order
        if below:
            yield [i for i in order if i in below] + [i for i in order if i not in below]


def stacked(order: Sequence[Item], inside: set[Item], env: dict[Sym, int]) -> dict[Item, int]:
    """Each item in turn as low as it fits."""
    places: dict[Item, int] = {}
    for item in order:
        size, at = item.bytes_at(env), 0
        near = sorted((places[o], places[o] + o.bytes_at(env)) for o in item.beside & inside if o in places)
        for first, end in near:
            if at + size <= first:
                break
            at = max(at, end)
        places[item] = at
    return places


def excess(items: Sequence[Item], places: dict[Item, int], later: Sequence[Later], env: dict[Sym, int]) -> float:
    """What the items need with these sizes, with what comes on top, over the most that is alive at once."""
    ends: dict[Item, int] = {}
    for item in sorted(items, key=lambda i: places[i]):
        ends[item] = max((ends[o] for o in item.beside if o in ends), default=0) + item.bytes_at(env)
    need, least = max(ends.values()), most_alive(items, env)
    for late in later:
        on_top = late.total.value(env)
        need = max(need, max((ends[i] for i in late.beside), default=0) + on_top)
        least = max(least, sum(i.bytes_at(env) for i in late.beside) + on_top)
    return need / max(least, 1)


def most_alive(items: Sequence[Item], env: dict[Sym, int]) -> int:
    """The most bytes of items that are alive together where one of them is made."""
    inside = set(items)
    return max(
        item.bytes_at(env) + sum(o.bytes_at(env) for o in item.beside & inside if o.first <= item.first <= o.last)
        for item in items
    )


def extents(items: Sequence[Item], places: dict[Item, int]) -> tuple[dict[Item, Extent], Extent]:
    """The offsets for all sizes of items that are below one another as in these places."""
    offsets: dict[Item, Extent] = {}
    ends: dict[Item, Extent] = {}
    for item in sorted(items, key=lambda i: places[i]):
        below = sorted((o for o in item.beside if o in ends), key=lambda o: (places[o], o.first, o.last))
        last = [o for o in below if not any(o in other.beside and places[o] < places[other] for other in below)]
        offsets[item] = Extent.greatest(ends[o] for o in last)
        ends[item] = offsets[item].plus(item.size, item.turns)
    return offsets, Extent.greatest(ends.values())
