"""Where ops stand: pre-order numbers, what happens before what, repetitive, parallel and mutually exclusive regions.

MLIR counterpart: DominanceInfo with `happensBefore`, `getEnclosingRepetitiveRegion`, `insideMutuallyExclusiveRegions`,
Block::isReachable. A region mostly has one block; those with several (cf.br) have dominators and paths as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tracebuf.ir.core import Block, Op, Region, Value
from tracebuf.ir.func import Func
from tracebuf.ops.control import scf
from tracebuf.ops.control.forall import InParallel
from tracebuf.ops.scalars.arith import negated


def post_order(func: Func) -> list[Op]:
    """Every op, after those inside it."""
    found: list[Op] = []

    def visit(region: Region) -> None:
        for block in region.blocks:
            for op in block.ops:
                for inner in op.regions:
                    visit(inner)
                found.append(op)

    visit(func.body)
    return found


def inner_first(func: Func) -> list[Op]:
    """Every op from the last to the first, after those inside it."""
    found: list[Op] = []

    def visit(region: Region) -> None:
        for block in reversed(region.blocks):
            for op in reversed(block.ops):
                for inner in reversed(op.regions):
                    visit(inner)
                found.append(op)

    visit(func.body)
    return found


class Order:
    """Numbers of a function's ops, taken once; the function must not change while they are used."""

    __slots__ = ("_dominators", "_loops", "_span", "_unordered", "branches", "end", "parallel", "place", "repetitive")

    def __init__(self, func: Func, *, as_mlir: bool = False, allowed: Callable[[Op], bool] = lambda op: True) -> None:
        """`as_mlir`: in scf.forall.in_parallel, a graph region, every op happens before every op, itself included; and
        loops that are not `allowed` (MLIR: dialect-filter) are not known to repeat anything."""
        self._unordered, self._loops = as_mlir, allowed if as_mlir else lambda op: True
        self.place: dict[Op, int] = {}
        self.end: dict[Op, int] = {}
        self.repetitive: dict[Block, Region | None] = {}
        self.parallel: dict[Block, Region | None] = {}
        self.branches: dict[Block, list[Op]] = {}
        """The terminators that may go to a block."""
        self._dominators: dict[Block, set[Block]] = {}
        self._span: dict[Region, tuple[int, int]] = {}
        """The first number in a region, and the first one after it."""
        self._number(func.body, None, None)

    def _number(self, region: Region, repetitive: Region | None, parallel: Region | None) -> None:
        first = len(self.place)
        for block in region.blocks:
            self.repetitive[block], self.parallel[block] = repetitive, parallel
            for op in block.ops:
                self.place[op] = len(self.place)
                for inner in op.regions:
                    repeats, at_once = op.is_repetitive and self._loops(op), op.is_parallel and self._loops(op)
                    self._number(inner, inner if repeats else repetitive, inner if at_once else parallel)
                self.end[op] = len(self.place) - 1
                for target in op.successors:
                    self.branches.setdefault(target, []).append(op)
        self._span[region] = first, len(self.place)

    def contains(self, outer: Op, op: Op) -> bool:
        """Whether `op` is `outer` or inside it."""
        return self.place[outer] <= self.place[op] <= self.end[outer]

    def is_within(self, op: Op, region: Region) -> bool:
        """Whether `op` stands in a region, or inside an op of it."""
        first, end = self._span[region]
        return first <= self.place[op] < end

    def happens_before(self, a: Op, b: Op) -> bool:
        """Whether `a`, or an op around it, stands before `b` or an op around that, neither inside the other."""
        place, goal = self.place, self.place[b]
        current = a
        while True:
            block = current.block
            assert block is not None
            region, parent = block.region, block.region.op
            if self._unordered and isinstance(parent, InParallel) and parent is b.parent_op:
                return True
            if place[current] <= goal <= self.end[current]:
                return False
            first, end = self._span[region]
            if first <= goal < end:
                if len(region.blocks) == 1:
                    return place[current] < goal
                anchor = within(b, region)
                assert anchor is not None and anchor.block is not None
                if anchor.block is block:
                    return place[current] < goal
                if self.dominates(block, anchor.block):
                    return True
            if parent is None:
                return False
            current = parent

    def dominates(self, a: Block, b: Block) -> bool:
        """Whether every path from the region's first block to `b` passes `a`."""
        if b not in self._dominators:
            self._find_dominators(b.region)
        return a in self._dominators[b]

    def _find_dominators(self, region: Region) -> None:
        everything = set(region.blocks)
        dominators = {b: everything if k else {b} for k, b in enumerate(region.blocks)}
        before: dict[Block, set[Block]] = {}
        while dominators != before:
            before = dict(dominators)
            for block in region.blocks[1:]:
                of_predecessors = [dominators[op.block] for op in self.branches.get(block, ()) if op.block is not None]
                dominators[block] = {block} | (set.intersection(*of_predecessors) if of_predecessors else set())
        self._dominators.update(dominators)

    def reaches(self, start: Block, goal: Block, without: Block) -> bool:
        """Whether a path of at least one step leads from `start` to `goal`, not through `without`."""
        work, seen = [start], {without}
        if goal is without:
            return False
        while work:
            for target in work.pop().ops[-1].successors:
                if target is goal:
                    return True
                if target not in seen:
                    seen.add(target)
                    work.append(target)
        return False

    def repetitive_region(self, at: Op | Value) -> Region | None:
        """The innermost region around `at` that may run many times."""
        block = at.block
        assert block is not None
        return self.repetitive[block]

    def parallel_region(self, at: Op | Value) -> Region | None:
        """The innermost region around `at` that may run several times at once."""
        block = at.block
        assert block is not None
        return self.parallel[block]

    def mutually_exclusive(self, a: Op, b: Op) -> bool:
        """Whether one run of the function around both can only meet one of them: two branches of an scf.if."""
        region: Region | None = a.block.region if a.block is not None else None
        while region is not None and region.op is not None:
            if self.contains(region.op, b):
                return region.op is not b and isinstance(region.op, scf.If) and not self.is_within(b, region)
            region = region.op.block.region if region.op.block is not None else None
        return False

    def of_other_conditions(self, a: Op, b: Op) -> bool:
        """Whether a condition that holds where one of them is met does not hold where the other is: as
        `mutually_exclusive`, also of two scf.ifs of one condition."""
        taken = dict(conditions(a))
        return not self.branches and any(taken.get(condition, holds) is not holds for condition, holds in conditions(b))


def conditions(op: Op) -> Iterator[tuple[Value, bool]]:
    """The conditions of the scf.ifs around an op, and whether they hold there."""
    block = op.block
    while block is not None and (parent := block.parent_op) is not None:
        if isinstance(parent, scf.If):
            condition, holds = parent.operand(0), block is parent.branches[0]
            while (other := negated(condition)) is not None:
                condition, holds = other, not holds
            yield condition, holds
        block = parent.block


def within(op: Op, region: Region) -> Op | None:
    """The ancestor of `op` (or itself) that stands in a block of `region`, or None."""
    current: Op | None = op
    while current is not None and (current.block is None or current.block.region is not region):
        current = current.parent_op
    return current
