"""Empty tensors become `bufferization.alloc_tensor`: each a buffer of its own, that no later pass merges or moves.
MLIR counterpart: -empty-tensor-to-alloc-tensor (EmptyTensorToAllocTensor.cpp)."""

from __future__ import annotations

from tracebuf.ir.core import Func
from tracebuf.ops.bufferization import AllocTensor
from tracebuf.ops.tensor import Empty


def empty_to_alloc_tensor(func: Func) -> None:
    """Replaces every tensor.empty of the function."""
    for op in list(func.walk()):
        if isinstance(op, Empty):
            assert op.block is not None
            made = AllocTensor.of(op.result.tensor_type, op.operands, op.loc)
            op.block.insert_before(op, made)
            func.symbols |= {s: made.result for s, v in func.symbols.items() if v is op.result}
            op.result.replace_all_uses(made.result)
            op.erase()
