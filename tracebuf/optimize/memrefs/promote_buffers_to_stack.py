"""Makes small buffers that do not leave their function (or the scope of stack memory around them) stack buffers.

Options as MLIR has them: `max-alloc-size-in-bytes` (1024), `max-rank-of-allocated-memref` (1, for buffers whose sizes
are ranks). Beyond MLIR: not where a call, or an op of which nothing is known, may keep the buffer in a result that
escapes. MLIR counterpart: -promote-buffers-to-stack.
"""

from __future__ import annotations

from math import prod

from tracebuf.analysis.flow.blocks import repeats
from tracebuf.analysis.flow.views import Views, forwarded, frees
from tracebuf.ir.core import Op, Region, Value
from tracebuf.ir.func import Func
from tracebuf.ops.control import scf
from tracebuf.ops.control.forall import Forall
from tracebuf.ops.memory.memref import Alloc, Alloca, Rank
from tracebuf.optimize.memrefs.placement import allocations, followed

SCOPES = (scf.For, Forall)
"""Ops whose regions give back stack memory at their end (MLIR: AutomaticAllocationScope); a function does too."""


def promote_buffers_to_stack(func: Func, max_bytes: int = 1024, max_rank: int = 1) -> None:
    """Replaces each memref.alloc that may be one by a memref.alloca."""
    views = Views(func)
    for op in allocations(func, Alloc):
        aliases = views.resolve(op.result)
        freed = any(frees(alias) for alias in aliases)
        if is_small(op, max_bytes, max_rank) and not freed and has_scope(op, aliases) and not in_loop_of_blocks(op):
            block = op.block
            assert block is not None
            attrs = dict(op.attrs)
            new = Alloca.rebuilt(op.operands, [op.result.type], op.loc, attrs)
            new.result.name = op.result.name.replace("alloc", "alloca")
            block.insert_before(op, new)
            op.result.replace_all_uses(new.result)
            op.erase()


def is_small(op: Op, max_bytes: int, max_rank: int) -> bool:
    type_ = op.result.memref_type
    if any(not isinstance(n, int) for n in type_.shape):
        return type_.rank <= max_rank and all(isinstance(v.defining_op, Rank) for v in op.operands)
    sizes = [n for n in type_.shape if isinstance(n, int)]
    return prod(sizes) * type_.element.bits <= max_bytes * 8


def has_scope(op: Op, aliases: set[Value]) -> bool:
    """Whether there is a scope around the allocation that no alias leaves, with no loop in between."""
    block = op.block
    while block is not None:
        region, parent = block.region, block.parent_op
        if (parent is None or isinstance(parent, SCOPES)) and not leaves(region, aliases):
            return True
        if parent is None or parent.is_repetitive or not followed(parent):
            return False
        block = parent.block
    return False


def leaves(region: Region, aliases: set[Value]) -> bool:
    """Whether the end of a region passes an alias on to what is around it."""
    ends = [block.terminator for block in region.blocks if block.ops and not block.terminator.successors]
    return any(use.value in aliases for end in ends for use in forwarded(end))


def in_loop_of_blocks(op: Op) -> bool:
    """Whether the op's block, or one around it, may run again as blocks branch back: each time takes more stack."""
    block = op.block
    while block is not None:
        if repeats(block):
            return True
        parent = block.parent_op
        block = None if parent is None else parent.block
    return False
