"""Moves frees up to behind the last use of the buffer, under whatever name: of a buffer that is allocated and freed in
one block, by one free. MLIR counterpart: -optimize-allocation-liveness."""

from __future__ import annotations

from tracebuf.analysis.flow.blocks import blocks_of, op_in
from tracebuf.analysis.flow.views import Views, allocated, frees
from tracebuf.ir.core import Block, Op, Value
from tracebuf.ir.func import Func


def optimize_allocation_liveness(func: Func) -> None:
    """Moves each such free."""
    views = Views(func)
    for block in list(blocks_of(func)):
        for op in list(block.ops):
            for buffer in allocated(op):
                _move_up(op, buffer, block, views)


def _move_up(op: Op, buffer: Value, block: Block, views: Views) -> None:
    aliases = views.resolve(buffer)
    found = list(dict.fromkeys(free for alias in aliases for free in frees(alias)))
    if len(found) != 1 or found[0].block is not block or len(found[0].uses) != 1:
        return
    free, last = found[0], op
    for alias in aliases:
        for use in alias.uses:
            at = None if use.op is free else op_in(block, use.op)
            if use.op is not free and at is None:
                return
            if at is not None and block.op_index(at) > block.op_index(last):
                last = at
    if block.op_index(last) < block.op_index(free):
        block.remove(free)
        block.insert(block.op_index(last) + 1, free)
