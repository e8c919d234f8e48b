"""What MLIR folds and drops wherever it runs patterns (applyPatternsGreedily): stores that change nothing or
everything, splats of constants, unused ops. It also folds arithmetic, and drops loops and blocks' arguments that
nothing needs: that is for `-canonicalize` here.
"""

from __future__ import annotations

from tracebuf.ir.attributes import Attr, number
from tracebuf.ir.func import Func
from tracebuf.ops.arrays.made import Splat
from tracebuf.ops.arrays.tensor import InsertSlice
from tracebuf.ops.scalars.arith import Constant
from tracebuf.optimize.tensors.canonicalize import remove_dead
from tracebuf.optimize.tensors.fold_whole_stores import fold_stores_back, is_whole


def fold_as_mlir(func: Func) -> None:
    """Folds; `remove_all_dead` drops what is unused then."""
    fold_stores_back(func)
    for op in list(func.walk()):
        if isinstance(op, InsertSlice) and is_whole(op):
            op.result.replace_all_uses(op.source)
            op.erase()
        elif isinstance(op, Splat):
            _fold_splat(op)


def _fold_splat(op: Splat) -> None:
    scalar, type_ = op.operand(0).defining_op, op.result.tensor_type
    known = all(isinstance(size, int) for size in type_.shape) and not type_.element.is_complex
    if isinstance(scalar, Constant) and known:
        assert op.block is not None
        value = scalar.attrs["value"]
        text = value.text if isinstance(value, Attr) else number(value, type_.element).text
        dense = Attr(f"dense<{text.partition(' :')[0]}> : {type_}")
        made = Constant.rebuilt([], [type_], op.loc, {"value": dense})
        op.block.insert_before(op, made)
        op.result.replace_all_uses(made.result)
        op.erase()


def remove_all_dead(func: Func) -> None:
    """Drops pure ops whose results are unused."""
    for block in func.body.blocks:
        remove_dead(block, set(func.symbols.values()))
    left = set(func.values())
    func.symbols = {s: v for s, v in func.symbols.items() if v in left}
