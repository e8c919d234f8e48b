"""Run-time checks before every op that could access memory outside of a buffer: native code relies on what MLIR text
only promises.

An index out of bounds, a slice that leaves its base, a cast to sizes that are not there and operands that differ in
size are undefined in MLIR; here they are IndexError and ValueError. What types or constants prove needs no check. Not
for NumPy programs, whose tracer adds its own checks. MLIR counterpart: -generate-runtime-verification.
"""

from __future__ import annotations

from collections.abc import Sequence

from tracebuf.ir.core import Mixed, Op, OpT, Value
from tracebuf.ir.func import Func
from tracebuf.ir.types import I1, INDEX, MemRefType
from tracebuf.ops.arrays.linalg import DestinationOp
from tracebuf.ops.control import scf
from tracebuf.ops.control.checks import Check
from tracebuf.ops.memory import memref
from tracebuf.ops.scalars import arith
from tracebuf.ops.scalars.integers import Overflows

OUTSIDE = "index {} is out of bounds for a size of {}"
SLICE = "a slice leaves the tensor that it is taken from"
NEGATIVE = "a tensor of size {}"
TOO_MANY = "a tensor of more elements than memory has"
STEP = "a loop whose step is {}"
SIZES = "sizes {} and {} should be one"


def add_runtime_checks(func: Func) -> None:
    """Adds the checks for every load, store, view, cast, copy and structured op of a memref program."""
    for op in list(func.walk()):
        if not isinstance(op.parent_op, DestinationOp):
            _Checks(op).add_all()


def constant_of(value: Mixed) -> int | None:
    if isinstance(value, int):
        return value
    op = value.defining_op
    return int(op.attrs["value"]) if isinstance(op, arith.Constant) and value.type is INDEX else None


def limit_of(value: Mixed) -> int | None:
    """An upper bound (exclusive) of an index that is certainly not negative."""
    if (known := constant_of(value)) is not None:
        return known + 1 if known >= 0 else None
    loop = value.block.parent_op if isinstance(value, Value) and value.defining_op is None else None
    if not isinstance(loop, scf.For) or loop.body.args[0] is not value:
        return None
    lower, upper = (constant_of(v) for v in loop.operands[:2])
    return upper if lower is not None and lower >= 0 else None


class _Checks:
    """Adds the checks of one op before it."""

    def __init__(self, op: Op) -> None:
        self.op, self.loc = op, op.loc

    def add_all(self) -> None:
        op = self.op
        if isinstance(op, memref.Load):
            self.element(op.operand(0), op.operands[1:])
        elif isinstance(op, memref.Store):
            self.element(op.operand(1), op.operands[2:])
        elif isinstance(op, memref.Subview):
            self.slice(op)
        elif isinstance(op, memref.Alloc):
            self.new(op)
        elif isinstance(op, memref.Cast):
            self.sizes(op)
        elif isinstance(op, memref.Copy):
            source, target = op.operands
            for d in range(source.memref_type.rank):
                self.same(self.size(source, d), self.size(target, d))
        elif isinstance(op, memref.ExpandShape):
            self.expanded(op)
        elif isinstance(op, scf.For):
            if not isinstance(op.operand(2).defining_op, arith.Constant):
                self.require(self.compare("sgt", op.operand(2), 0), "ValueError", STEP, op.operand(2))
        elif isinstance(op, DestinationOp):
            self.structured(op)

    # -- small ops
    def add(self, op: OpT) -> OpT:
        assert self.op.block is not None
        self.op.block.insert_before(self.op, op)
        return op

    def value(self, value: Mixed) -> Value:
        return value if isinstance(value, Value) else self.add(arith.Constant.of(value, INDEX, self.loc)).result

    def compare(self, predicate: str, a: Mixed, b: Mixed) -> Value:
        return self.add(arith.CmpI.of(predicate, self.value(a), self.value(b), self.loc)).result

    def require(self, condition: Value, exception: str, message: str, *values: Mixed) -> None:
        self.add(Check.of(condition, exception, message, [self.value(v) for v in values], self.loc))

    def size(self, buffer: Value, dim: int) -> Mixed:
        size = buffer.memref_type.shape[dim]
        return size if isinstance(size, int) else self.add(memref.Dim.of(buffer, dim, self.loc)).result

    # -- what may go wrong
    def element(self, buffer: Value, indices: Sequence[Value]) -> None:
        for d, index in enumerate(indices):
            declared, limit = buffer.memref_type.shape[d], limit_of(index)
            if isinstance(declared, int) and limit is not None and limit <= declared:
                continue
            size = self.size(buffer, d)
            self.require(self.compare("ult", index, size), "IndexError", OUTSIDE, index, size)

    def new(self, op: memref.Alloc) -> None:
        """Checks that no size is negative and that the number of elements is at most 2**56."""
        if op.operands:
            self.require(self.compare("sle", self.count(op.sizes), 2**56), "MemoryError", TOO_MANY)

    def count(self, sizes: Sequence[Mixed]) -> Mixed:
        """The number of elements of these sizes, with checks that no size is negative and the product does not
        overflow."""
        total: Mixed = 1
        for k, size in enumerate(sizes):
            if isinstance(size, Value):
                self.require(self.compare("sge", size, 0), "ValueError", NEGATIVE, size)
            if k == 0:
                total = size
                continue
            one, other = self.value(total), self.value(size)
            wraps = self.add(Overflows.of("mul", one, other, self.loc)).result
            fits = self.add(arith.XorI.of(wraps, self.add(arith.Constant.of(True, I1, self.loc)).result, self.loc))
            self.require(fits.result, "MemoryError", TOO_MANY)
            total = self.add(arith.MulI.of(one, other, self.loc)).result
        return total

    def slice(self, op: memref.Subview) -> None:
        base, s = op.operand(0), op.slice
        for d, (offset, size, stride) in enumerate(zip(s.offsets, s.sizes, s.strides, strict=True)):
            if all(isinstance(v, int) for v in (base.memref_type.shape[d], offset, size, stride)):
                continue
            n = self.size(base, d)
            for part in (offset, size, stride):
                if not isinstance(part, int):
                    self.require(self.compare("sge", part, 0), "IndexError", SLICE)
            for part in (offset, size) if stride != 0 else (offset,):  # what is repeated has any size
                if not isinstance(part, int) or not isinstance(n, int):
                    self.require(self.compare("sle", part, n), "IndexError", SLICE)
            steps = self.add(arith.SubI.of(self.value(size), self.value(1), self.loc)).result
            if stride != 1:
                self.require(self.either("sle", size, 1, "sle", stride, n), "IndexError", SLICE)
                steps = self.add(arith.MulI.of(steps, self.value(stride), self.loc)).result
            last = self.add(arith.AddI.of(steps, self.value(offset), self.loc)).result
            self.require(self.either("eq", size, 0, "slt", last, n), "IndexError", SLICE)

    def either(self, first: str, a: Mixed, b: Mixed, second: str, c: Mixed, d: Mixed) -> Value:
        one, other = self.compare(first, a, b), self.compare(second, c, d)
        return self.add(arith.OrI.of(one, other, self.loc)).result

    def sizes(self, op: memref.Cast) -> None:
        source, type_ = op.operand(0), op.result.type
        if isinstance(type_, MemRefType) and isinstance(source.type, MemRefType):
            for d, (known, declared) in enumerate(zip(source.type.shape, type_.shape, strict=True)):
                if isinstance(declared, int) and known != declared:
                    self.same(self.size(source, d), declared)

    def expanded(self, op: memref.ExpandShape) -> None:
        """Checks that the product of the sizes that an axis is split into is its own size."""
        for d, group in enumerate(op.attrs["groups"]):
            sizes = [op.sizes[a] for a in group]
            if any(isinstance(size, Value) for size in sizes):
                self.same(self.count(sizes), self.size(op.operand(0), d))

    def structured(self, op: DestinationOp) -> None:
        spec = op.spec([v.type for v in op.operands])
        if spec is None:
            return
        found: dict[int, tuple[Value, int]] = {}
        for value, map_ in zip(op.operands, spec.maps, strict=True):
            for axis, d in enumerate(map_.results):
                if not isinstance(value.type, MemRefType) or d is None:
                    continue
                first, at = found.setdefault(d, (value, axis))
                if value.type.shape[axis] != first.memref_type.shape[at]:
                    self.same(self.size(first, at), self.size(value, axis))

    def same(self, a: Mixed, b: Mixed) -> None:
        if a is not b and a != b:
            self.require(self.compare("eq", a, b), "ValueError", SIZES, a, b)
