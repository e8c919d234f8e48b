"""Where an allocation may move to: what the hoisting passes share.

From its block upwards, through immediate dominators and out of ops with regions, no further than the values that it
needs and the bound that a pass gives. An allocation that is freed in the program stays: it would have to be freed where
it then stands. MLIR counterpart: BufferAllocationHoisting of BufferOptimizations.cpp.
"""

from __future__ import annotations

from collections.abc import Callable

from tracebuf.analysis.flow.blocks import Dominance, blocks_of, op_in
from tracebuf.analysis.flow.views import Views, frees
from tracebuf.ir.core import Block, Op, Value
from tracebuf.ir.func import Func


class Placement:
    """What is known of a function in which allocations move. Moving one changes nothing of it."""

    def __init__(self, func: Func) -> None:
        self.func, self.dominance, self.views = func, Dominance(), Views(func)

    def freed(self, buffer: Value) -> bool:
        return any(frees(alias) for alias in self.views.resolve(buffer))

    def bound_by_uses(self, buffer: Value) -> Block:
        """The nearest block that dominates the uses of the buffer under all its names."""
        aliases = self.views.resolve(buffer)
        homes = [u.op.block for v in aliases for u in v.uses if u.op.block is not None]
        found = self.dominance.common([buffer.block, *homes, *(v.block for v in aliases)])
        return found if found is not None else self.func.block

    def bound_by_needs(self, op: Op) -> Block | None:
        """The innermost of the blocks in which the op's operands are defined."""
        found: Block | None = None
        for value in op.operands:
            if found is None or self.dominance.dominates(found, value.block):
                found = value.block
        return found

    def climb(self, start: Block, bound: Block | None, leaves: Callable[[Op], bool], dominators: bool) -> Block:
        """The block to move to: `leaves` tells which ops with regions may be left; `dominators` whether the blocks that
        dominate count, or only those around such ops."""
        found = current = start
        while bound is None or self.dominance.properly(bound, current):
            parent = current.parent_op
            above = self.dominance.immediate(current)
            if above is not None:
                current = above
                found = current if dominators else found
            elif parent is None or parent.block is None or not followed(parent) or not leaves(parent):
                break
            else:
                current = found = parent.block
        return found

    def move(self, op: Op, block: Block) -> None:
        """Moves an allocation into the block, before what uses it there, else to its end."""
        if block is op.block:
            return
        users = [at for at in (op_in(block, u.op) for u in op.result.uses) if at is not None]
        place = min(users, key=block.op_index, default=block.terminator)
        assert op.block is not None
        op.block.remove(op)
        block.insert_before(place, op)


def followed(op: Op) -> bool:
    """Whether it is known how control goes through an op's regions."""
    return op.flows() is not None


def allocations(func: Func, *kinds: type[Op]) -> list[Op]:
    """The allocations of exactly these classes, in the order of the text."""
    return [op for block in blocks_of(func) for op in block.ops if type(op) in kinds]
