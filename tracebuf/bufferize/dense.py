"""Which buffers of a memref program are C-contiguous though their types do not say so.

A value that control flow passes on has a type without a layout; where all its sources have the identity layout, a cast
back to it holds at run time, and no copy is needed. MLIR infers such types beforehand (getBufferType). In a program
that is not complete yet, not all sources of a block's argument are there: `known` says of which it is known otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tracebuf.ir.core import Block, Op, Value
from tracebuf.ir.types import MemRefType
from tracebuf.ops.control import cf, scf
from tracebuf.ops.memory import memref

NONE: Mapping[Value, bool] = {}


def lies_dense(value: Value, *, ranked: bool = False, known: Mapping[Value, bool] = NONE) -> bool:
    """Whether the buffer certainly is C-contiguous: all sources are, followed back through control flow, each visited
    once. `ranked`: not through types without a rank, in which MLIR loses the layout."""
    work, met = [value], {value}
    while work:
        current = work.pop()
        if isinstance(current.type, MemRefType) and current.type.is_identity:
            continue
        if current in known:
            if not known[current]:
                return False
            continue
        sources = handed_on(current)
        if not sources or (ranked and not isinstance(current.type, MemRefType)):
            return False
        work += [v for v in sources if v not in met]
        met.update(sources)
    return True


def handed_on(value: Value) -> Sequence[Value]:
    """The values that this one may be, where an op only passes it on; none where it is a new buffer, or unknown."""
    op = value.owner
    if isinstance(op, memref.Cast):
        return [op.operand(0)]
    if isinstance(op, scf.If):
        return [block.terminator.operand(value.index) for block in op.branches]
    if isinstance(op, scf.For):
        return _round(op, value.index)
    if isinstance(op, scf.While):
        return [op.passed[value.index].value]
    if isinstance(op, scf.ExecuteRegion):
        return [op.yielded[value.index].value]
    return _of_argument(op, value.index) if isinstance(op, Block) else ()


def _round(loop: scf.For, k: int) -> Sequence[Value]:
    return [loop.inits[k].value, loop.passed[k].value]


def _of_argument(block: Block, k: int) -> Sequence[Value]:
    op: Op | None = block.region.op if block.region is not None else None
    if isinstance(op, scf.For):
        return _round(op, k - 1) if k else ()
    if isinstance(op, scf.While):
        return [op.passed[k].value] if block is op.after else [op.inits[k].value, op.yielded[k].value]
    ends = [end for b in block.region.blocks for end in b.ops[-1:] if block in end.successors]
    branches = [end for end in ends if isinstance(end, cf.BranchOp)]
    passed = [use.value for end in branches for use in end.uses if end.target(use) is block.args[k]]
    return passed if len(branches) == len(ends) else ()
