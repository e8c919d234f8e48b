"""Empty tensors become `bufferization.alloc_tensor`: each a buffer of its own, that no later pass merges or moves; and
the other way round, for the passes that save buffers.

MLIR counterpart of the first: -empty-tensor-to-alloc-tensor (EmptyTensorToAllocTensor.cpp).
"""

from __future__ import annotations

from tracebuf.ir.func import Func
from tracebuf.ops.arrays.bufferization import AllocTensor
from tracebuf.ops.arrays.tensor import Empty


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


def alloc_tensor_to_empty(func: Func) -> None:
    """Replaces every alloc_tensor that is neither a copy nor told where to be."""
    for op in list(func.walk()):
        if isinstance(op, AllocTensor) and op.attrs == {"copies": False, "hinted": False}:
            assert op.block is not None
            rest, type_ = iter(op.operands), op.result.tensor_type
            made = Empty.of(type_, [d if isinstance(d, int) else next(rest) for d in type_.shape], op.loc)
            op.block.insert_before(op, made)
            func.symbols |= {s: made.result for s, v in func.symbols.items() if v is op.result}
            op.result.replace_all_uses(made.result)
            op.erase()
