"""Looks through `bufferization.to_buffer` at what the memref is used for: where it is only read, at once, the op is
marked `read_only`, and the analysis need not take it for a write.

At once: from the op to the last use of the memref, under any name, no op stores to a tensor or to the buffer of one. So
the reads are as if they stood where the op does, which is what the analysis takes them for. MLIR counterpart: none;
One-Shot stops at to_buffer.
"""

from __future__ import annotations

from tracebuf.analysis.flow.blocks import op_in
from tracebuf.analysis.flow.views import Views
from tracebuf.analysis.one_shot.dataflow import Dataflow
from tracebuf.ir.attributes import Attr
from tracebuf.ir.core import Effect, Op, Value, is_buffer
from tracebuf.ir.func import Func
from tracebuf.ops.arrays.bufferization import ToBuffer, ToTensor


def mark_read_only(func: Func) -> None:
    """Marks each such op."""
    found = [op for op in func.walk() if isinstance(op, ToBuffer) and "read_only" not in op.attrs]
    if not found:
        return
    views, flow = Views(func), Dataflow(func)
    for op in found:
        if is_read_at_once(op, views, flow):
            op.attrs["read_only"] = Attr("unit", inherent=True)


def is_read_at_once(op: ToBuffer, views: Views, flow: Dataflow) -> bool:
    block, aliases, last = op.block, views.resolve(op.result), 0
    assert block is not None
    for alias in aliases:
        for use in alias.uses:
            place = op_in(block, use.op)
            if place is None or place is block.terminator or not only_reads(use.op, alias):
                return False
            last = max(last, block.op_index(place))
    for between in block.ops[block.op_index(op) + 1 : last + 1]:
        if any(may_store(inner, flow) for inner in (between, *between.walk())):
            return False
    return True


def only_reads(op: Op, buffer: Value) -> bool:
    """Whether all that an op does to a buffer is to read it; what it passes on is another name of it."""
    effects = op.effects()
    if effects is None or isinstance(op, ToTensor):
        return False
    return not any(effect in (Effect.WRITE, Effect.FREE) and value in (buffer, None) for effect, value in effects)


def may_store(op: Op, flow: Dataflow) -> bool:
    """Whether an op may store to a tensor, or to what a tensor's buffer may be."""
    effects = op.effects()
    if any(flow.writes(use) for use in op.tensor_uses() if not isinstance(op, ToBuffer)):
        return True
    if effects is None:
        return not op.regions and not any(True for _ in op.tensor_uses())
    return any(effect is Effect.WRITE and (value is None or is_buffer(value)) for effect, value in effects)
