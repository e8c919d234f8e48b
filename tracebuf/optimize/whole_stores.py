"""What is stored over all of an array is that array from then on, where this saves the store.

What: `insert_slice y into x` at all of `x` is `y`; nothing of `x` is left. Only where the program is cheaper then:
where `y` is needed afterwards as it was, and the result is changed, `x` is the better place. What not: functions of
NumPy's, in which the array that is stored to is the one that the caller, or somebody else, looks at. MLIR folds every
one of them wherever it runs a pattern (InsertSliceOp::fold).
"""

from __future__ import annotations

from tracebuf.ir.core import Func
from tracebuf.ops.tensor import Empty, InsertSlice
from tracebuf.optimize.trial import tried


def fold_whole_stores(func: Func) -> None:
    """Tries every such store."""
    for op in [op for op in func.walk() if isinstance(op, InsertSlice) and is_whole(op)]:
        before, uses, operands, block = tried(func), list(op.result.uses), op.operands, op.block
        assert block is not None
        place, dest = block.op_index(op), op.dest.owner
        op.result.replace_all_uses(op.source)
        op.erase()
        after = tried(func)
        if before is None or after is None or not after.is_cheaper(before):
            op.set_operands(operands)
            block.insert(place, op)
            for use in uses:
                use.set(op.result)
        elif isinstance(dest, Empty) and not dest.result.uses:
            dest.erase()


def is_whole(op: InsertSlice) -> bool:
    """Whether source and result are the same tensor (a parallel loop's store has no result)."""
    return bool(op.results) and op.overwrites_all() and op.source.type == op.result.type
