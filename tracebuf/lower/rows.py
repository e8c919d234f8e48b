"""A matrix that is made for one product with a vector: its rows may be made and multiplied a few at a time.

`alpha * A @ x` is a product of a matrix that is as large as A. A few of its rows stay in the cache until BLAS has
multiplied them, so that A is read from memory once, and nothing is written there. The product of each row is that of
the whole matrix, to the bit, where the rows are as many as BLAS takes together or a multiple (`STEP`), and one thread
computes it: how several share a product depends on its size.
"""

from __future__ import annotations

from tracebuf.ir.core import Op, Value
from tracebuf.ir.types import MemRefType
from tracebuf.ops.arrays.linalg import Fill, Generic, Index, MatVec
from tracebuf.ops.memory import memref
from tracebuf.ops.scalars import arith

STEP = 16
"""BLAS takes 4 or 8 rows together, and those that are left alone in another way."""
BYTES = 2**15
"""Of the rows that are made at a time, if `STEP` rows are not more."""


def product_of(op: Generic) -> MatVec | None:
    """The product that the rows of an op's result are for, if all that the op reads is as it is until then; whether
    the product stores to anything of that is left to be asked (`read_of`)."""
    if type(op) is not Generic or len(op.iterators) != 2 or not op.all_parallel or len(op.operands) != op.n_ins + 1:
        return None
    made = op.operand(op.n_ins)
    if type(made.defining_op) is not memref.Alloc or made.memref_type.strides[1] != 1 or op.block is None:
        return None
    products = [use.op for use in made.uses if isinstance(use.op, MatVec) and use.index == 0]
    others = [use.op for use in made.uses if use.op is not op and use.op not in products]
    if len(products) != 1 or not all(isinstance(o, memref.Dealloc) for o in others):
        return None
    product = products[0]
    return product if product.block is op.block and _is_simple(op) and _stays(op, product) else None


def _is_simple(op: Generic) -> bool:
    """Whether an op computes each element of its result from elements of its operands alone."""
    body, simple = op.body, all(isinstance(o, arith.ScalarOp) and not o.may_raise for o in op.body.ops[:-1])
    once = all(not m.whole and m.results.count(0) <= 1 for m in op.maps)
    new = op.maps[op.n_ins].is_identity and not body.args[op.n_ins].uses
    return simple and once and new and not op.attrs.get("ordered") and not any(isinstance(o, Index) for o in body.ops)


def _stays(op: Generic, product: MatVec) -> bool:
    """Whether nothing between the two stores to what the op reads."""
    assert op.block is not None
    places, read = op.block.op_index(op), {memref.base_of(v) for v in read_of(op)}
    for other in op.block.ops[places + 1 : op.block.op_index(product)]:
        if isinstance(other, Fill):
            target = memref.base_of(other.operand(1))
            if type(target.defining_op) is not memref.Alloc or target in read:
                return False
        elif not isinstance(other, arith.ScalarOp | memref.Alloc | memref.Dim | memref.Subview | memref.Cast):
            return False
    return op.block.op_index(product) > places


def read_of(op: Op) -> list[Value]:
    """The buffers that an op with one out reads."""
    return [v for v in op.operands[:-1] if isinstance(v.type, MemRefType)]
