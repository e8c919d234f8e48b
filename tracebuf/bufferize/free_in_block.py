"""Frees of One-Shot's own: a buffer that does not leave its block is freed at the end of it; the others are left to a
pass. MLIR counterpart: the option create-deallocs of -one-shot-bufferize, gone from MLIR 22."""

from __future__ import annotations

from tracebuf.analysis.flow.blocks import ancestor, blocks_of, op_in
from tracebuf.analysis.flow.views import Views, forwarded, frees
from tracebuf.ir.core import Block, Value
from tracebuf.ir.func import Func
from tracebuf.ops.memory.memref import Alloc, Dealloc


def free_in_block(func: Func) -> None:
    """Adds a free for each allocation that may have one."""
    views = Views(func)
    for block in list(blocks_of(func)):
        for op in [o for o in block.ops if type(o) is Alloc]:
            if stays(op.result, block, views):
                block.insert_before(block.terminator, Dealloc.of(op.result, op.loc))


def stays(buffer: Value, block: Block, views: Views) -> bool:
    """Whether no alias of a buffer is passed on by the end of its block, or is freed."""
    aliases = views.resolve(buffer)
    passed = {use.value for use in forwarded(block.terminator)}
    inside = all(ancestor(a.block, block.region) is block for a in aliases)
    used_inside = all(op_in(block, use.op) is not None for a in aliases for use in a.uses)
    return inside and used_inside and aliases.isdisjoint(passed) and not any(frees(a) for a in aliases)
