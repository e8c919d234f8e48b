"""Moves each free up to right after the last use of its buffer: memref.dealloc, alone or in an scf.if by itself.

Uses count through views, selects, loop-carried values and results of control flow, and in nested regions, where the
last use is the op that holds the region. What a loop carries is freed in the body once no op may reach it, so that the
next array is not made beside one that is dead already. Runs after deallocs are lowered: the facts used for lowering
rest on frees at the ends of blocks. MLIR counterpart: the pass optimize-allocation-liveness, which leaves conditional
frees and loop-carried buffers where they are.
"""

from __future__ import annotations

from tracebuf.deallocate.facts import Origins, flow_blocks, sharers, targets
from tracebuf.ir.core import Block, Op, Value, happens_in
from tracebuf.ir.func import Func
from tracebuf.ops.control import scf
from tracebuf.ops.memory import memref


def shorten_liveness(func: Func) -> None:
    """Moves every free within its block."""
    origins = Origins()
    for block in list(flow_blocks(func)):
        after: dict[int, list[Op]] = {}
        for op in block.ops:
            if (dealloc := freed_by(op)) is not None:
                place = last_use(op, dealloc, block, origins)
                if place is not None:
                    after.setdefault(place, []).append(op)
        if after:
            moved = {op for ops in after.values() for op in ops}
            ops = after.get(-1, [])
            for k, op in enumerate(block.ops):
                ops += [op] if op not in moved else []
                ops += after.get(k, [])
            block.replace_ops(ops)


def freed_by(op: Op) -> memref.Dealloc | None:
    """The memref.dealloc that an op is, or that is all of an scf.if without else branch."""
    if isinstance(op, scf.If) and not op.results:
        then, orelse = op.branches
        op = then.ops[0] if (len(then.ops), len(orelse.ops)) == (2, 1) else op
    return op if isinstance(op, memref.Dealloc) else None


def last_use(free: Op, dealloc: memref.Dealloc, block: Block, origins: Origins) -> int | None:
    """Where in `block` the last op stands that may touch the buffer, or that the free needs (-1: before the first);
    None where the free cannot move."""
    buffer = memref.base_of(dealloc.operand(0))
    fresh = isinstance(buffer.defining_op, memref.Alloc) and buffer.block is block
    reached = users(buffer) if fresh else [u.op for v in sharers(buffer, origins) for u in v.uses]
    needed = [op for v in (buffer, *free.operands) if (op := v.defining_op) is not None]
    anchors = {a for op in (*needed, *reached) if (a := happens_in(op, block)) is not None and a is not free}
    if block.terminator in anchors:
        return None
    return max(map(block.op_index, anchors), default=-1)


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
