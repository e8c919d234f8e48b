"""`c += a @ b` or `c[i:j] += a @ b`, or `-=`, as a product that goes into the array or slice, without a temporary.

An element-wise sum (or difference) of an array's or a slice's old contents and a fresh product, stored back there,
becomes the product with that as its destination (BLAS with beta = 1, alpha = 1 or -1). Not for integers (their sums are
exact either way, but there is no BLAS to gain), a product with another use, or factors that may share elements with the
destination. The addition may round differently than eager's two steps: products are BLAS's (rule C2). No MLIR
counterpart.
"""

from __future__ import annotations

from collections.abc import Callable

from tracebuf.analysis.one_shot.dataflow import Dataflow
from tracebuf.analysis.one_shot.parts import Parts
from tracebuf.ir.core import Use, Value
from tracebuf.ir.func import Func
from tracebuf.ops.arrays.linalg import Contraction, Dot, Fill, Generic
from tracebuf.ops.arrays.tensor import ExtractSlice, InsertSlice
from tracebuf.ops.scalars import arith, complex
from tracebuf.optimize.tensors.versions import Versions


def accumulate_products(func: Func) -> None:
    """Rewrites every such sum and difference."""
    versions: Versions | None = None
    for op in [op for op in func.walk() if isinstance(op, Generic) and is_float_sum(op)]:
        for old, product_use in old_and_product(op):
            product = fresh_product(product_use)
            if product is None or not stores_back(op, old.value) or (isinstance(product, Dot) and is_difference(op)):
                continue
            versions = versions or Versions(func)
            if is_disjoint(product, old.value, op, versions, lambda: Parts(Dataflow(func))):
                rewrite(product, old.value, op)
                break


def is_difference(op: Generic) -> bool:
    return isinstance(op.body.ops[0], arith.SubF | complex.Sub)


def is_float_sum(op: Generic) -> bool:
    """`x + y` or `x - y` of two arrays of floats or complex numbers of the full shape, and nothing else."""
    ops = op.body.ops
    return (
        op.on_tensors
        and op.n_ins == 2
        and len(ops) == 2
        and isinstance(ops[0], arith.AddF | arith.SubF | complex.Add | complex.Sub)
        and set(ops[0].operands) == set(op.body.args[:2])
        and all(m.is_identity for m in op.maps)
        and op.uses[0].value.type == op.uses[1].value.type
    )


def old_and_product(op: Generic) -> list[tuple[Use, Use]]:
    """Which operands may be the old contents and the product: in a difference the product comes second."""
    first, second = (op.uses[op.body.args.index(v)] for v in op.body.ops[0].operands)
    return [(first, second)] if is_difference(op) else [(first, second), (second, first)]


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


def stores_back(op: Generic, old: Value) -> bool:
    """Whether the sum is stored exactly where the old contents were read, and used nowhere else."""
    if len(op.result.uses) != 1:
        return False
    store = next(iter(op.result.uses)).op
    if not isinstance(store, InsertSlice) or store.source is not op.result:
        return False
    if store.dest is old:
        return store.overwrites_all()
    read = old.defining_op
    return isinstance(read, ExtractSlice) and read.source is store.dest and read.same_subset(store)


def is_disjoint(product: Contraction, old: Value, op: Generic, versions: Versions, parts: Callable[[], Parts]) -> bool:
    """Whether the factors are in other storages, or disjoint parts of this one, and nothing stores to them meanwhile
    (rule S4)."""
    assert op.block is not None
    first, last = versions.place(product), versions.place(op)
    return not any(
        versions.written_between(factor.value, op.block, first, last)
        or (versions.same_storage(factor.value, old) and not is_other_part(factor, op, parts))
        for factor in product.uses[:2]
    )


def is_other_part(factor: Use, op: Generic, parts: Callable[[], Parts]) -> bool:
    """Whether the factor is a disjoint part of the version that is stored to, in the same iteration."""
    store = next(iter(op.result.uses)).op
    assert isinstance(store, InsertSlice)
    value = factor.value
    while isinstance(view := value.defining_op, ExtractSlice):
        value = view.source
    return value is store.dest and value.block is op.block and parts().disjoint(factor, store.uses[1])


def rewrite(product: Contraction, old: Value, op: Generic) -> None:
    """The product into the old contents takes the sum's place, and the store's where that overwrote everything."""
    assert op.block is not None
    store = next(iter(op.result.uses)).op
    a, b = product.operands[:2]
    fused = Contraction.of(a, b, old, op.loc, negative=is_difference(op), conjugated=product.conjugated)
    op.block.insert_before(op, fused)
    op.result.replace_all_uses(fused.result)
    if store.operand(1) is old:
        store.results[0].replace_all_uses(fused.result)
        store.erase()
    op.erase()
