"""A loop whose body sweeps over a vector, reading others in strides, takes a few elements at a time through all of its
iterations.

    for k in range(n):                          for j in range(0, m, 8):
        y += s[k] * a[:, k]         is              for k in range(n):
                                                        y[j : j + 8] += s[k] * a[j : j + 8, k]

The elements stay in registers, and parts of rows are read where a column has a line of the cache for each of its
elements. Each element takes the same steps in the same order, so the bits are the same. What is computed once an
iteration is computed once for every `WIDTH` elements, so it has to be cheap.
"""

from __future__ import annotations

from tracebuf.frozen import frozen
from tracebuf.ir.core import Op, Value
from tracebuf.ir.types import MemRefType, ScalarType
from tracebuf.ops.arrays.gather import Element
from tracebuf.ops.arrays.linalg import Generic, Index
from tracebuf.ops.control import scf
from tracebuf.ops.memory import memref
from tracebuf.ops.scalars import arith
from tracebuf.ops.scalars.libm import Libm

WIDTH = 8
"""Elements that are taken at a time: an addition takes as long as four are apart."""
MOST = 16
"""Scalar ops of an iteration."""


@frozen()
class Sweep:
    """The only op of the loop that is no number or view; the buffers that must be apart from the vector that it stores
    to."""

    op: Generic
    read: tuple[Value, ...]


def sweep_of(loop: scf.For) -> Sweep | None:
    """The sweep that a loop consists of, if its elements may be taken a few at a time."""
    step, body = loop.operand(2).defining_op, loop.body.ops[:-1]
    if loop.results or not isinstance(step, arith.Constant) or step.attrs["value"] != 1 or len(body) > MOST:
        return None
    sweeps = [op for op in body if isinstance(op, Generic)]
    if len(sweeps) != 1 or not all(op is sweeps[0] or _is_cheap(op) for op in body):
        return None
    op = sweeps[0]
    if not _is_simple(op) or (owner := op.operand(op.n_ins).defining_op) is not None and owner.block is loop.body:
        return None
    target = op.operand(op.n_ins)
    vectors = [v for v in op.operands[: op.n_ins] if v is not target and isinstance(v.type, MemRefType)]
    strides = [v.memref_type.strides[0] for v in vectors]
    if None in strides or all(s == 1 for s in strides):
        return None
    return Sweep(op, (*vectors, *(o.operand(0) for o in body if isinstance(o, memref.Load))))


def _is_cheap(op: Op) -> bool:
    if isinstance(op, memref.Load | memref.Subview | memref.Cast):
        return True
    numbers = not any(isinstance(v.type, MemRefType) for v in (*op.operands, *op.results))
    return numbers and _is_plain(op)


def _is_plain(op: Op) -> bool:
    """Whether an op is some instructions on numbers that are not complex."""
    plain = isinstance(op, arith.ScalarOp) and not isinstance(op, arith.Ufunc | Libm | Index | Element)
    return plain and not op.may_raise and not any(_is_complex(v) for v in (*op.operands, *op.results))


def _is_complex(v: Value) -> bool:
    return isinstance(v.type, ScalarType) and v.type.is_complex


def _is_simple(op: Generic) -> bool:
    """Whether an op computes each element of a vector from that element of others, and numbers."""
    if type(op) is not Generic or len(op.iterators) != 1 or not op.all_parallel or op.attrs.get("ordered"):
        return False
    vectors = [(v.memref_type, m) for v, m in zip(op.operands, op.maps, strict=True) if isinstance(v.type, MemRefType)]
    alike = all(m.is_identity and not t.element.is_complex for t, m in vectors)
    one = len(op.operands) == op.n_ins + 1 and alike
    return one and len(op.body.ops) <= MOST and all(map(_is_plain, op.body.ops[:-1]))
