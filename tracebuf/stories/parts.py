"""Parts of arrays that are stored and taken again, by the numbers of their values: a part that was stored is what was
stored there, one within it a part of that, one that is disjoint from it is what it was before; storing what is there
already is nothing; and of an array all of whose elements are stored nothing is left of what it was before.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from tracebuf.frozen import frozen
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, add, mul, sub
from tracebuf.ir.facts import SizeFacts

Mixed = int | tuple[str, int]
"""A constant, or a value by its number."""


@frozen()
class Part:
    """A part of an array, as `Slice` of ir/slices.py."""

    offsets: tuple[Mixed, ...]
    sizes: tuple[Mixed, ...]
    strides: tuple[Mixed, ...]
    dims: tuple[int | None, ...]


@frozen()
class Stored:
    """The numbers of what is stored and of the array that it is stored to; `kind` is the type of what is stored."""

    source: int
    dest: int
    part: Part
    kind: str


class Parts:
    """What is known of the arrays of one program."""

    def __init__(self, number: Callable[[Hashable], int]) -> None:
        self.number = number
        self.stored: dict[int, Stored] = {}
        self.dims: dict[int, Dim] = {}
        """Integers as expressions, by their numbers."""
        self.named: dict[Value, Dim] = {}
        """Those that a size of the program is the name of."""
        self.covered = 0
        """How often all of an array was stored to, part by part, or a part taken that was stored."""
        self.facts = SizeFacts()

    def taken(self, base: int, part: Part, kind: str) -> int:
        """The number of a part of an array."""
        while (made := self.stored.get(base)) is not None:
            if made.part == part and made.kind == kind:
                self.covered += 1
                return made.source
            if self.within(part, made.part):
                self.covered += 1
                return self.taken(made.source, part, kind)
            shape = [self.dim(size) for size in part.sizes]
            if self.within(made.part, part) and None not in shape:
                new = Stored(made.source, self.taken(made.dest, part, kind), made.part, made.kind)
                return self.put(new, shape, kind)  # type: ignore[arg-type]
            if not self.disjoint(part, made.part):
                break
            base = made.dest
        return self.number(("part", base, part, kind))

    def put(self, new: Stored, shape: Sequence[Dim], type: str) -> int:
        """The number of an array of this shape and type after a part of it is stored. Of disjoint parts the order does
        not count: they are stored in one of their own."""
        above, base = list[Stored](), new.dest
        while (made := self.stored.get(base)) is not None:
            if made.part == new.part and made.kind == new.kind:  # overwritten
                base = made.dest
                break
            if not self.disjoint(new.part, made.part):
                break
            above.append(made)
            base = made.dest
        place = next((k for k, made in enumerate(above) if repr(made.part) < repr(new.part)), len(above))
        return self.built([*above[:place], new, *above[place:]], base, shape, type)

    def built(self, chain: Sequence[Stored], base: int, shape: Sequence[Dim], type: str) -> int:
        """The number of an array that has disjoint parts stored to it, the last one first."""
        if self.cover([made.part for made in chain], shape):
            self.covered += 1
            base = self.number(("whatever", type))
        for made in reversed(chain):
            if made.source == self.taken(base, made.part, made.kind):
                continue
            found = self.number(("stored to", made.source, base, made.part, type))
            self.stored[found] = Stored(made.source, base, made.part, made.kind)
            base = found
        return base

    def dim(self, x: Mixed) -> Dim | None:
        return x if isinstance(x, int) else self.dims.get(x[1])

    def disjoint(self, a: Part, b: Part) -> bool:
        """Whether no element is in both, as far as is seen."""
        return any(self.apart(a, b, d) or self.apart(b, a, d) for d in range(len(a.offsets)))

    def within(self, a: Part, b: Part) -> bool:
        """Whether all of `a` is in `b`, which begins where the array does, so that places in it are those in the
        array."""
        n = len(b.offsets)
        if (b.offsets, b.strides, b.dims) != ((0,) * n, (1,) * n, tuple(range(n))):
            return False
        return all(self.reaches(a, d, self.dim(b.sizes[d])) for d in range(n))

    def reaches(self, a: Part, d: int, end: Dim | None) -> bool:
        """Whether, along an axis, all of a part is before an end."""
        first, size, step = self.dim(a.offsets[d]), self.dim(a.sizes[d]), a.strides[d]
        if first is None or size is None or end is None or not isinstance(step, int):
            return False
        last = first if step < 1 else add(first, mul(sub(size, 1), step))
        return self.facts.nonneg(sub(sub(end, 1), last))

    def apart(self, a: Part, b: Part, d: int) -> bool:
        """Whether, along an axis, all of `a` is before `b`, or lies between its elements."""
        steps = a.strides[d], b.strides[d]
        first, other, size = map(self.dim, (a.offsets[d], b.offsets[d], a.sizes[d]))
        if first is None or other is None or not all(isinstance(s, int) and s > 0 for s in steps):
            return False
        gap = sub(other, first)
        if steps[0] == steps[1] and isinstance(gap, int) and gap % steps[0]:  # type: ignore[operator]
            return True
        if size is None:
            return False
        room = sub(gap, add(mul(sub(size, 1), steps[0]), 1))  # type: ignore[arg-type]
        return isinstance(room, int) and room >= 0

    def cover(self, parts: Sequence[Part], shape: Sequence[Dim]) -> bool:
        """Whether parts are all of an array: they follow each other along one axis."""
        for d in range(len(shape)):
            others = [(k, n) for k, n in enumerate(shape) if k != d]
            along = [p for p in parts if p.strides[d] == 1 and all(self.whole(p, k, n) for k, n in others)]
            pieces = [(self.dim(p.offsets[d]), self.dim(p.sizes[d])) for p in along]
            ends = {o: n for o, n in pieces if o is not None and n is not None}
            at: Dim = 0
            while at in ends and at != shape[d]:
                at = add(at, ends.pop(at))
            if at == shape[d] and parts:
                return True
        return False

    def whole(self, p: Part, d: int, size: Dim) -> bool:
        return (p.offsets[d], p.strides[d]) == (0, 1) and self.dim(p.sizes[d]) == size
