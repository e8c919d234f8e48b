"""Alias sets that know the reads and in-place writes of their members, and equivalence classes.

MLIR counterpart: the EquivalenceClasses of OneShotAnalysisState. MLIR tests all reads against all writes of the joint
set for each decision. Here a pair of one set is never tested twice, and only the writes that stand between a read's
definition and the read are tested at all: each read has a span of op numbers outside of which no write can conflict
with it, and a set finds the reads whose span holds a number, and the writes within a span, in logarithmic time.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator

from tracebuf.analysis.one_shot.dataflow import Dataflow
from tracebuf.frozen import frozen
from tracebuf.ir.core import Op, Region, Use, Value
from tracebuf.ops.control import scf


@frozen()
class Read:
    """An operand that reads, its definitions, and the span (numbers of ops, inclusive) of writes that may conflict with
    it. `around`: the numbers before the span of ops that hold its begin, which may be such writes as well.
    """

    use: Use
    definitions: tuple[Value, ...]
    first: int
    last: int
    around: tuple[int, ...] = ()


def read_of(flow: Dataflow, use: Use) -> Read | None:
    """The read with its span; None where it never conflicts, having no definition (MLIR behaviour 22).

    Before the first definition no write matters (MLIR behaviour 31), after the read only one that runs again in a loop
    around the read and not around the definition does (MLIR behaviours 23, 25, 27). Regions that follow one another in
    one op join the span.
    """
    definitions = flow.definitions(use.value)
    if not definitions:
        return None
    order = flow.order
    first, last = order.place[use.op], order.end[use.op]
    for definition in definitions:
        owner = definition.owner if isinstance(definition.owner, Op) else definition.owner.parent_op
        start = 0 if owner is None else order.place[owner] + (owner is not definition.owner)
        first = min(first, start)
        region = loop_between(flow, use.op, definition)
        if region is not None and region.op is not None:
            last = max(last, order.end[region.op])
    around = use.op.parent_op
    if len(flow.func.body.blocks) > 1:
        return Read(use, definitions, 0, len(order.place))
    while around is not None:
        if (len(around.regions) > 1 and not isinstance(around, scf.If)) or len(around.regions[0].blocks) > 1:
            first, last = min(first, order.place[around]), max(last, order.end[around])
        around = around.parent_op
    holders = [use.op.parent_op, *(d.owner.parent_op for d in definitions)]
    outer = {order.place[op] for holder in dict.fromkeys(holders) for op in ancestors(holder)}
    return Read(use, definitions, first, last, tuple(place for place in sorted(outer) if place < first))


def ancestors(op: Op | None) -> Iterator[Op]:
    """An op and those around it."""
    while op is not None:
        yield op
        op = op.parent_op


def loop_between(flow: Dataflow, op: Op, definition: Value) -> Region | None:
    """The outermost repetitive region around `op` that is not around the definition."""
    outer, region, found = flow.order.repetitive_region(definition), flow.order.repetitive_region(op), None
    while region is not None and region is not outer:
        found = region
        region = flow.order.repetitive_region(region.op) if region.op is not None else None
    return found if region is outer else None


class AliasSet:
    """Values that may share a buffer, with the reads and the in-place writes of all of them."""

    __slots__ = ("_buckets", "_writes", "is_read", "read_only", "reads", "values")

    def __init__(self, value: Value) -> None:
        self.values = [value]
        self.reads: list[Read] = []
        self.is_read = False
        """Whether anything reads it, be its contents defined or not."""
        self.read_only: list[Value] = []
        self._writes: list[tuple[int, int, Use]] = []
        """Sorted: number of the op, operand index, operand."""
        self._buckets: dict[tuple[int, int], list[Read]] = {}

    def add_read(self, read: Read) -> None:
        """Kept in the smallest block of 2^level numbers that holds the span."""
        self.reads.append(read)
        level = (read.first ^ read.last).bit_length()
        self._buckets.setdefault((level, read.first >> level), []).append(read)

    def add_write(self, flow: Dataflow, use: Use) -> None:
        insort(self._writes, (flow.order.place[use.op], use.index, use))

    def writes(self) -> Iterator[Use]:
        """Those by ops with regions come last."""
        return iter(sorted((use for _, _, use in self._writes), key=_has_regions))

    @property
    def n_writes(self) -> int:
        return len(self._writes)

    def _writes_between(self, first: int, last: int) -> list[Use]:
        """Those by ops with these numbers."""
        start, end = bisect_left(self._writes, (first, -1)), bisect_right(self._writes, (last + 1, -1))
        return [use for _, _, use in self._writes[start:end]]

    def writes_near(self, read: Read) -> list[Use]:
        """The writes that may conflict with a read: by ops within its span, or around its begin. Those by ops with
        regions come last."""
        found = [use for place in read.around for use in self._writes_between(place, place)]
        return sorted((*found, *self._writes_between(read.first, read.last)), key=_has_regions)

    def reads_near(self, flow: Dataflow, write: Use) -> Iterator[Read]:
        """The reads that a write may conflict with."""
        start, end = flow.order.place[write.op], flow.order.end[write.op]
        if len(self.reads) <= max(32, end - start):
            yield from (r for r in self.reads if r.first <= end and start <= r.last)
            return
        for level in range(len(flow.order.place).bit_length() + 1):
            for block in range(start >> level, (end >> level) + 1):
                for read in self._buckets.get((level, block), ()):
                    if read.first <= end and start <= read.last:
                        yield read

    def absorb(self, other: AliasSet) -> None:
        self.values += other.values
        for read in other.reads:
            self.add_read(read)
        for item in other._writes:
            insort(self._writes, item)
        self.read_only, self.is_read = self.read_only + other.read_only, self.is_read or other.is_read


def _has_regions(use: Use) -> bool:
    return bool(use.op.regions)


class Classes:
    """Equivalence classes of values (union-find)."""

    __slots__ = ("_parents",)

    def __init__(self) -> None:
        self._parents: dict[Value, Value] = {}

    def find(self, value: Value) -> Value:
        root = value
        while (parent := self._parents.get(root)) is not None:
            root = parent
        while value is not root:
            self._parents[value], value = root, self._parents[value]
        return root

    def union(self, a: Value, b: Value) -> None:
        a, b = self.find(a), self.find(b)
        if a is not b:
            self._parents[b] = a
