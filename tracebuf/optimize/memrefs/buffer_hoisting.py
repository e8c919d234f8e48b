"""Moves allocations up, out of branches and into blocks that dominate, so that others may be found beside them. Not out
of loops. MLIR counterpart: -buffer-hoisting."""

from __future__ import annotations

from tracebuf.ir.func import Func
from tracebuf.ops.memory.memref import Alloc
from tracebuf.optimize.memrefs.placement import Placement, allocations


def buffer_hoisting(func: Func) -> None:
    """Moves each memref.alloc as far up as its uses and its sizes allow."""
    placement = Placement(func)
    for op in allocations(func, Alloc):
        if op.block is None or placement.freed(op.result):
            continue
        bound, needs = placement.bound_by_uses(op.result), placement.bound_by_needs(op)
        if needs is not None and placement.dominance.properly(bound, needs):
            bound = needs
        placement.move(op, placement.climb(op.block, bound, lambda parent: not parent.is_repetitive, dominators=True))
