"""Blocks of a function, those inside ops too: who branches to whom, who dominates whom, what lives where.

MLIR counterpart: mlir/lib/IR/Dominance.cpp, mlir/lib/Analysis/Liveness.cpp. A block inside an op's region is dominated
by the blocks that dominate the op's. Valid while no block or branch changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tracebuf.frozen import cached_property
from tracebuf.ir.core import Block, Op, Region, Value
from tracebuf.ir.func import Func


def blocks_of(func: Func) -> Iterator[Block]:
    """Every block, outer before inner, in the order of the text."""
    work = [func.body]
    while work:
        region = work.pop()
        yield from region.blocks
        work += reversed([r for block in region.blocks for op in block.ops for r in op.regions])


def predecessors(region: Region) -> dict[Block, list[Block]]:
    """For each block those that branch to it."""
    found: dict[Block, list[Block]] = {block: [] for block in region.blocks}
    for block in region.blocks:
        for target in block.following:
            found[target].append(block)
    return found


def repeats(block: Block) -> bool:
    """Whether a block may run again because its region's blocks branch back."""
    seen, work = set[Block](), list(block.following)
    while work:
        current = work.pop()
        if current is block:
            return True
        if current not in seen:
            seen.add(current)
            work += current.following
    return False


def ancestor(block: Block, region: Region) -> Block | None:
    """The block of `region` that `block` is, or stands in."""
    current: Block | None = block
    while current is not None and current.region is not region:
        parent = current.parent_op
        current = None if parent is None else parent.block
    return current


def op_in(block: Block, op: Op) -> Op | None:
    """The op of `block` that `op` is, or stands in."""
    current: Op | None = op
    while current is not None and current.block is not block:
        current = current.parent_op
    return current


class Dominance:
    """Which blocks every way to a block goes through; with `post`, every way from it to the end."""

    def __init__(self, *, post: bool = False) -> None:
        self.post = post
        self._sets: dict[Region, dict[Block, set[Block]]] = {}

    def _dominators(self, region: Region) -> dict[Block, set[Block]]:
        if region not in self._sets:
            before = {b: list(b.following) for b in region.blocks} if self.post else predecessors(region)
            every = set(region.blocks)
            ends = [b for b in region.blocks if not b.following] if self.post else [region.block]
            found = {b: {b} if b in ends else every for b in region.blocks}
            changed = True
            while changed:
                changed = False
                for block in region.blocks:
                    if block in ends:
                        continue
                    new = every.intersection(*(found[b] for b in before[block])) | {block}
                    if new != found[block]:
                        found[block], changed = new, True
            self._sets[region] = found
        return self._sets[region]

    def dominates(self, a: Block, b: Block) -> bool:
        """Whether every way to `b` (or one of the blocks around it) goes through `a`; true of a block itself."""
        place = ancestor(b, a.region)
        return place is not None and a in self._dominators(a.region)[place]

    def properly(self, a: Block, b: Block) -> bool:
        return a is not b and self.dominates(a, b)

    def immediate(self, block: Block) -> Block | None:
        """The nearest dominator in the block's own region."""
        others = self._dominators(block.region)[block] - {block}
        return max(others, key=lambda b: len(self._dominators(block.region)[b]), default=None)

    def common(self, blocks: Iterable[Block]) -> Block | None:
        """The nearest block that dominates all of them; None where there is none."""
        found: Block | None = None
        for block in blocks:
            if found is None:
                found = block
                continue
            while found is not None and not self.dominates(found, block):
                above = self.immediate(found)
                parent = found.parent_op
                found = above if above is not None else None if parent is None else parent.block
            if found is None:
                return None
        return found


class Liveness:
    """The values that live at the beginning and the end of each block: those that are used there or later, also in
    regions, and are defined before."""

    def __init__(self, func: Func) -> None:
        self.func = func
        self._inside: dict[Block, set[Value]] = {}

    @cached_property
    def _live(self) -> dict[Block, tuple[set[Value], set[Value]]]:
        found: dict[Block, tuple[set[Value], set[Value]]] = {}
        regions = list(dict.fromkeys(block.region for block in blocks_of(self.func)))
        for region in reversed(regions):
            self._solve(region, found)
        return found

    def _solve(self, region: Region, found: dict[Block, tuple[set[Value], set[Value]]]) -> None:
        used, made = {}, {}
        for block in region.blocks:
            made[block] = {*block.args, *(r for op in block.ops for r in op.results)}
            used[block] = {v for op in block.ops for v in self._used_by(op, found)} - made[block]
        for block in region.blocks:
            found[block] = (set(used[block]), set())
        changed = True
        while changed:
            changed = False
            for block in reversed(region.blocks):
                out = {v for b in block.following for v in found[b][0]}
                into = used[block] | (out - made[block])
                if (into, out) != found[block]:
                    found[block], changed = (into, out), True

    def _used_by(self, op: Op, found: dict[Block, tuple[set[Value], set[Value]]]) -> Iterator[Value]:
        yield from op.operands
        for region in op.regions:
            if region.blocks:
                yield from found[region.block][0]

    def into(self, block: Block) -> set[Value]:
        return self._live[block][0]

    def out_of(self, block: Block) -> set[Value]:
        return self._live[block][1]
