"""Ends bufferization: to_tensor and to_buffer that undo one another go, and no tensor may be left.

MLIR counterpart: -finalizing-bufferize of the documents (gone from MLIR 22): one error that names the op left over,
which is not one of these two where there is another.
"""

from __future__ import annotations

from tracebuf.errors import UnsupportedError
from tracebuf.ir.core import Op, Value
from tracebuf.ir.func import Func
from tracebuf.ir.types import MemRefType, same_type
from tracebuf.location import Location
from tracebuf.ops.arrays.bufferization import ToBuffer, ToTensor
from tracebuf.ops.memory import memref
from tracebuf.optimize.memrefs.convert_bufferization_to_memref import new_buffer


def finalizing_bufferize(func: Func) -> None:
    """Eliminates the materializations; UnsupportedError for the first op that still has a tensor."""
    for back in [o for o in func.walk() if isinstance(o, ToBuffer)]:
        made = back.operand(0).defining_op
        if isinstance(made, ToTensor):
            _replace(back, made.operand(0))
    for there in reversed([o for o in func.walk() if isinstance(o, ToTensor)]):
        if not there.result.uses:
            there.erase()
    left = [op for op in func.walk() if any(v.is_tensor for v in (*op.operands, *op.results, *_arguments(op)))]
    others = [op for op in left if not isinstance(op, ToBuffer | ToTensor)]
    for op in [*others, *left]:
        raise _left_over(op.name, op.loc)
    if any(a.is_tensor for b in func.body.blocks for a in b.args):
        raise _left_over("func.func", func.loc)


def _arguments(op: Op) -> list[Value]:
    return [a for r in op.regions for b in r.blocks for a in b.args]


def _left_over(name: str, loc: Location) -> UnsupportedError:
    return UnsupportedError(f"failed to legalize operation '{name}': it is on tensors still", location=loc)


def _replace(op: Op, buffer: Value) -> None:
    """The buffer instead of the op's result, cast where its type says more or less; where it has a layout that the
    result's type does not allow, a copy."""
    result, block = op.result, op.block
    assert block is not None
    if not same_type(buffer.type, result.type):
        if not memref.cast_is_safe(buffer.type, result.type):
            if not isinstance(result.type, MemRefType) or not result.type.is_identity:
                text = f"failed to legalize operation '{op.name}': a {buffer.type} need not be a {result.type}"
                raise UnsupportedError(text, location=op.loc)
            buffer = dense_copy(buffer, op)
        if not same_type(buffer.type, result.type):
            cast = memref.Cast.of(buffer, result.type, op.loc)
            block.insert_before(op, cast)
            buffer = cast.result
    result.replace_all_uses(buffer)
    op.erase()


def dense_copy(source: Value, before: Op) -> Value:
    """A copy that lies dense."""
    made, block = new_buffer(before, source), before.block
    assert block is not None
    block.insert_before(before, memref.Copy.of(source, made, "", before.loc))
    return made
