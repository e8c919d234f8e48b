"""A tensor that is stored over all of an array replaces that array, where this saves the store.

`insert_slice y into x` at all of `x` is `y`; nothing of `x` is left. Only where the program is cheaper then: where `y`
is needed afterwards as it was, and the result is changed, `x` is the better place. Not for NumPy functions, in which
the caller, or an alias, sees the array that is stored to. MLIR folds every one of them wherever it runs a pattern
(InsertSliceOp::fold).
"""

from __future__ import annotations

from collections.abc import Sequence

from tracebuf.ir.core import Value
from tracebuf.ir.func import Func
from tracebuf.ops.arrays.tensor import Empty, ExtractSlice, InsertSlice
from tracebuf.optimize.tensors.canonicalize import puts_back
from tracebuf.optimize.tensors.trial import Trial, tried

ROUNDS = 8
"""How many stores are tried one by one at the most; more are tried together."""


def fold_whole_stores(func: Func) -> None:
    """Tries one after the other, or, of many, all at once: each trial asks the analysis."""
    stores = [op for op in func.walk() if isinstance(op, InsertSlice) and is_whole(op)]
    before = tried(func) if stores else None
    for group in [[op] for op in stores] if len(stores) <= ROUNDS else [stores]:
        before = None if before is None else without(func, group, before) or before


def fold_stores_back(func: Func) -> None:
    """A slice that is stored back where it was just read changes nothing (MLIR: folded wherever it runs a pattern)."""
    for op in list(func.walk()):
        if isinstance(op, InsertSlice) and op.results and puts_back(op):
            read = op.source.defining_op
            op.result.replace_all_uses(op.dest)
            op.erase()
            if read is not None and not read.result.uses:
                read.erase()


def without(func: Func, stores: Sequence[InsertSlice], before: Trial) -> Trial | None:
    """The program without the stores, where it is cheaper; else None, and it is as it was."""
    undone = []
    for op in stores:
        assert op.block is not None
        undone.append((op, op.block, op.block.op_index(op), op.operands, [(u.op, u.index) for u in op.result.uses]))
        op.result.replace_all_uses(op.source)
        op.erase()
    after = tried(func)
    if after is not None and after.is_cheaper(before):
        for dest in {operands[1].defining_op: None for _, _, _, operands, _ in undone}:
            if isinstance(dest, Empty) and not dest.result.uses:
                dest.erase()
        return after
    for op, block, place, operands, uses in reversed(undone):
        op.set_operands(operands)
        block.insert(place, op)
        for user, index in uses:
            user.uses[index].set(op.result)
    return None


def is_whole(op: InsertSlice) -> bool:
    """Whether source and result are the same tensor (a parallel loop's store has no result), which may be changed."""
    same = bool(op.results) and op.overwrites_all() and op.source.type == op.result.type
    return same and not is_repeated(op.source)


def is_repeated(v: Value) -> bool:
    """Whether a tensor is a view of which several elements may be one in memory: a store into it would change them."""
    while isinstance(op := v.defining_op, ExtractSlice):
        if not all(isinstance(s, int) and s for s in op.slice.strides):
            return True
        v = op.source
    return False
