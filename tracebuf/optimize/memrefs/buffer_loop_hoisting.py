"""Moves allocations out of loops that do not pass them on to the next iteration. MLIR counterpart:
-buffer-loop-hoisting, which does not know scf.while (here: out of both its regions)."""

from __future__ import annotations

from tracebuf.ir.core import Block, Op
from tracebuf.ir.func import Func
from tracebuf.ops.memory.memref import Alloc, Alloca
from tracebuf.optimize.memrefs.placement import Placement, allocations


def buffer_loop_hoisting(func: Func) -> None:
    """Moves each memref.alloc and memref.alloca out of the loops that it may leave."""
    placement = Placement(func)
    for op in allocations(func, Alloc, Alloca):
        if op.block is None or placement.freed(op.result):
            continue
        uses, needs = placement.bound_by_uses(op.result), placement.bound_by_needs(op)

        def leaves(parent: Op, uses: Block = uses) -> bool:
            home = parent.block
            return parent.is_repetitive and home is not None and not placement.dominance.dominates(uses, home)

        placement.move(op, placement.climb(op.block, needs, leaves, dominators=False))
