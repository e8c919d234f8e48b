"""Moves each unconditional memref.dealloc up to right after the last use of its buffer.

Uses count through views, selects, loop-carried values and results of control flow, and in nested regions, where the
last use is the op that holds the region. Runs after deallocs are lowered: the facts used for lowering rest on frees at
the ends of blocks. MLIR counterpart: the pass optimize-allocation-liveness.
"""

from __future__ import annotations

from tracebuf.deallocate.facts import flow_blocks, targets
from tracebuf.ir.core import Block, Op, Value, happens_in
from tracebuf.ir.func import Func
from tracebuf.ops.memory import memref


def shorten_liveness(func: Func) -> None:
    """Moves deallocs of buffers that are defined in the dealloc's own block."""
    for block in list(flow_blocks(func)):
        after: dict[Op, list[Op]] = {}
        for op in block.ops:
            if isinstance(op, memref.Dealloc) and (anchor := last_use(op, block)) is not None:
                after.setdefault(anchor, []).append(op)
        if after:
            moved = {op for ops in after.values() for op in ops}
            kept = (op for op in block.ops if op not in moved)
            block.replace_ops([o for op in kept for o in (op, *after.get(op, ()))])


def last_use(dealloc: memref.Dealloc, block: Block) -> Op | None:
    """The op of `block` that last touches the buffer (its definition if none does); None where the free cannot move."""
    buffer = memref.base_of(dealloc.operand(0))
    last = buffer.defining_op
    if last is None or last.block is not block:
        return None
    for op in users(buffer):
        if op is dealloc:
            continue
        anchor = happens_in(op, block)
        if anchor is None or anchor is block.terminator:
            return None
        if block.op_index(anchor) > block.op_index(last):
            last = anchor
    return last


def users(buffer: Value) -> list[Op]:
    """Every op that uses the buffer or a value that may be (a view of) it."""
    found, seen, work = [], {buffer}, [buffer]
    while work:
        for use in work.pop().uses:
            found.append(use.op)
            new = [v for v in targets(use) if v not in seen]
            seen.update(new)
            work += new
    return found
