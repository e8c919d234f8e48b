"""Which buffers of a memref program lie in C order without gaps though their types do not say so.

What control flow hands on has a type without a layout; where all that may come there has the plain one, a cast back to
it holds whenever the program runs, and no copy is needed. MLIR infers such types beforehand (getBufferType).
"""

from __future__ import annotations

from collections.abc import Sequence

from tracebuf.ir.core import Block, Op, Value
from tracebuf.ir.types import MemRefType
from tracebuf.ops.control import cf, scf
from tracebuf.ops.memory import memref


def lies_dense(value: Value) -> bool:
    """Whether the buffer certainly lies so. What is met again on the way is what it began as."""
    work, met = [value], {value}
    while work:
        current = work.pop()
        if isinstance(current.type, MemRefType) and current.type.is_identity:
            continue
        sources = handed_on(current)
        if not sources:
            return False
        work += [v for v in sources if v not in met]
        met.update(sources)
    return True


def handed_on(value: Value) -> Sequence[Value]:
    """The values that one may be, where an op merely hands it on; none where it is made anew, or nobody knows."""
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
