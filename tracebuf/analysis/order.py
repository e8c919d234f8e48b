"""Where ops stand: pre-order numbers, what happens before what, repetitive and mutually exclusive regions.

MLIR counterpart: DominanceInfo with `happensBefore`, `getEnclosingRepetitiveRegion`, `insideMutuallyExclusiveRegions`.
For structured control flow: every region has one block.
"""

from __future__ import annotations

from collections.abc import Iterator

from tracebuf.ir.core import Block, Func, Op, Region, Value, happens_in
from tracebuf.ops import scf


def post_order(func: Func) -> Iterator[Op]:
    """Every op, after those inside it."""

    def visit(block: Block) -> Iterator[Op]:
        for op in block.ops:
            for region in op.regions:
                yield from visit(region.block)
            yield op

    return visit(func.block)


class Order:
    """Numbers of a function's ops, taken once; the function must not change while they are used."""

    __slots__ = ("end", "place", "repetitive")

    def __init__(self, func: Func) -> None:
        self.place: dict[Op, int] = {}
        self.end: dict[Op, int] = {}
        self.repetitive: dict[Block, Region | None] = {}
        self._number(func.block, None)

    def _number(self, block: Block, around: Region | None) -> None:
        self.repetitive[block] = around
        for op in block.ops:
            self.place[op] = len(self.place)
            for region in op.regions:
                self._number(region.block, region if op.repetitive else around)
            self.end[op] = len(self.place) - 1

    def contains(self, outer: Op, op: Op) -> bool:
        """Whether `op` is `outer` or inside it."""
        return self.place[outer] <= self.place[op] <= self.end[outer]

    def happens_before(self, a: Op, b: Op) -> bool:
        """Whether `a`, or an op around it, stands before `b` or an op around that, neither inside the other."""
        current: Op | None = a
        while current is not None:
            if current is b or self.contains(current, b):
                return False
            assert current.block is not None
            anchor = happens_in(b, current.block)
            if anchor is not None:
                return self.place[current] < self.place[anchor]
            current = current.parent_op
        return False

    def repetitive_region(self, at: Op | Value) -> Region | None:
        """The innermost region around `at` that may run many times."""
        block = at.block
        assert block is not None
        return self.repetitive[block]

    def mutually_exclusive(self, a: Op, b: Op) -> bool:
        """Whether one run of the function around both can only meet one of them: two branches of an scf.if."""
        region: Region | None = a.block.region if a.block is not None else None
        while region is not None and region.op is not None:
            if self.contains(region.op, b):
                return region.op is not b and isinstance(region.op, scf.If) and happens_in(b, region.block) is None
            region = region.op.block.region if region.op.block is not None else None
        return False
