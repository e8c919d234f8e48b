"""`c[i:j] += a @ b` as a product that accumulates into the slice, without a temporary for the product.

What: an element-wise addition of a slice's old contents and a fresh product, stored back into that slice, becomes the
product with the slice as its destination (BLAS with beta = 1). What not: integers (their sums are exact either way,
but there is no BLAS to gain), a product with another use, operands that lie in the storage that is stored to.
The addition may round differently than eager's two steps: products are BLAS's (rule C2). No MLIR counterpart.
"""

from __future__ import annotations

from tracebuf.ir.core import Func, Use, Value
from tracebuf.ops import arith
from tracebuf.ops.linalg import Contraction, Fill, Generic
from tracebuf.ops.tensor import ExtractSlice, InsertSlice
from tracebuf.optimize.versions import Versions


def accumulate_products(func: Func) -> None:
    """Rewrites every such addition."""
    additions = [op for op in func.walk() if isinstance(op, Generic) and is_float_addition(op)]
    if not additions:
        return
    versions = Versions(func)
    for addition in additions:
        for product_use, old_use in (addition.uses[:2], addition.uses[1::-1]):
            product = fresh_product(product_use)
            if product is None or not stores_back(addition, old_use.value):
                continue
            if is_apart(product, old_use.value, addition, versions):
                rewrite(product, old_use.value, addition)
                break


def is_float_addition(op: Generic) -> bool:
    """`x + y` of two float arrays of the full shape, and nothing else."""
    ops = op.body.ops
    return (
        op.on_tensors
        and op.n_ins == 2
        and len(ops) == 2
        and isinstance(ops[0], arith.AddF)
        and set(ops[0].operands) == set(op.body.args[:2])
        and all(m.is_identity for m in op.maps)
        and op.uses[0].value.type == op.uses[1].value.type
    )


def fresh_product(use: Use) -> Contraction | None:
    """The product that made this operand, if it has no other use and started from zero."""
    op = use.value.defining_op
    if not isinstance(op, Contraction) or len(use.value.uses) != 1 or op.block is not use.op.block:
        return None
    start = op.operand(2).defining_op
    if not isinstance(start, Fill) or len(start.result.uses) != 1:
        return None
    value = start.operand(0).defining_op
    return op if isinstance(value, arith.Constant) and value.attrs["value"] == 0 else None


def stores_back(addition: Generic, old: Value) -> bool:
    """The sum is stored exactly where the old contents were read, and used nowhere else."""
    if len(addition.result.uses) != 1:
        return False
    store = next(iter(addition.result.uses)).op
    if not isinstance(store, InsertSlice) or store.source is not addition.result:
        return False
    if store.dest is old:
        return store.overwrites_all()
    read = old.defining_op
    return isinstance(read, ExtractSlice) and read.source is store.dest and read.same_subset(store)


def is_apart(product: Contraction, old: Value, addition: Generic, versions: Versions) -> bool:
    """The factors lie in other storages, and nothing stores to them before the addition (rule S4)."""
    assert addition.block is not None
    first, last = versions.place(product), versions.place(addition)
    return not any(
        versions.same_storage(factor, old) or versions.written_between(factor, addition.block, first, last)
        for factor in product.operands[:2]
    )


def rewrite(product: Contraction, old: Value, addition: Generic) -> None:
    """The product into the old contents takes the addition's place, and the store's where that overwrote everything."""
    assert addition.block is not None
    store = next(iter(addition.result.uses)).op
    fused = Contraction.of(product.operand(0), product.operand(1), old, addition.loc)
    addition.block.insert_before(addition, fused)
    addition.result.replace_all_uses(fused.result)
    if store.operand(1) is old:
        store.results[0].replace_all_uses(fused.result)
        store.erase()
    addition.erase()
