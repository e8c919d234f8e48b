"""Index arithmetic and tests written into a list of ops, for passes that decide something at run time.

Constants are folded as they are written; nothing else is. MLIR counterpart: OpBuilder with OpFoldResult.
"""

from __future__ import annotations

from tracebuf.ir.core import Mixed, Op, Value
from tracebuf.ir.effects import is_effect_free
from tracebuf.ir.types import INDEX
from tracebuf.location import Location
from tracebuf.ops.control.checks import Check
from tracebuf.ops.memory.indexing import constant_index
from tracebuf.ops.scalars import arith
from tracebuf.ops.scalars.division import FloorDivIndex

Test = bool | Value
"""A condition: known, or an i1 value."""


def step_of(stride: Mixed) -> tuple[int | None, Value | None]:
    """The step of an axis, and the condition under which it is 0 instead: an axis that is repeated where its size turns
    out to be 1."""
    op = None if isinstance(stride, int) else stride.defining_op
    if isinstance(op, arith.Select) and constant_index(op.operand(1)) == 0:
        return constant_index(op.operand(2)), op.operand(0)
    return constant_index(stride), None


def leaves_buffers(op: Op) -> bool:
    """Whether buffers are after the op what they were before it; it may raise."""
    return isinstance(op, Check) or is_effect_free(op)


class IndexWriter:
    """Puts ops into `ops`, each at the location `loc`."""

    def __init__(self, ops: list[Op], loc: Location) -> None:
        self.ops, self.loc = ops, loc

    def emit(self, op: Op) -> Value:
        self.ops.append(op)
        return op.result

    def value(self, x: Mixed) -> Value:
        return self.emit(arith.Constant.of(x, INDEX, self.loc)) if isinstance(x, int) else x

    def op(self, kind: type[arith.BinaryOp], a: Mixed, b: Mixed) -> Value:
        return self.emit(kind.of(self.value(a), self.value(b), self.loc))

    def add(self, a: Mixed, b: Mixed) -> Mixed:
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        return a if b == 0 else b if a == 0 else self.op(arith.AddI, a, b)

    def sub(self, a: Mixed, b: Mixed) -> Mixed:
        return a - b if isinstance(a, int) and isinstance(b, int) else a if b == 0 else self.op(arith.SubI, a, b)

    def mul(self, a: Mixed, b: int) -> Mixed:
        if isinstance(a, int) or b == 0:
            return a * b if isinstance(a, int) else 0
        return a if b == 1 else self.op(arith.MulI, a, b)

    def product(self, a: Mixed, b: Mixed) -> Mixed:
        if isinstance(b, int):
            return self.mul(a, b)
        return self.mul(b, a) if isinstance(a, int) else self.op(arith.MulI, a, b)

    def quotient(self, a: Mixed, b: int) -> Mixed:
        """floor(a / b) for any b but 0."""
        a, b = (a, b) if b > 0 else (self.sub(0, a), -b)
        return a // b if isinstance(a, int) else a if b == 1 else self.op(FloorDivIndex, a, b)

    def clamped(self, a: Mixed, high: Mixed) -> Mixed:
        return self.op(arith.MinSI, self.op(arith.MaxSI, a, 0), high)

    def test(self, predicate: str, a: Mixed, b: Mixed) -> Test:
        """a < b ("slt"), a >= b ("sge"), a == b ("eq") or a != b ("ne")."""
        if isinstance(a, int) and isinstance(b, int):
            return {"slt": a < b, "sge": a >= b, "eq": a == b, "ne": a != b}[predicate]
        if a is b:
            return predicate in ("sge", "eq")
        return self.emit(arith.CmpI.of(predicate, self.value(a), self.value(b), self.loc))

    def both(self, a: Test, b: Test) -> Test:
        if isinstance(a, bool) or isinstance(b, bool):
            return (b if a else False) if isinstance(a, bool) else (a if b else False)
        return self.emit(arith.AndI.of(a, b, self.loc))

    def either(self, a: Test, b: Test) -> Test:
        if isinstance(a, bool) or isinstance(b, bool):
            return (True if a else b) if isinstance(a, bool) else (True if b else a)
        return self.emit(arith.OrI.of(a, b, self.loc))

    def choose(self, test: Test, x: Mixed, y: Mixed) -> Mixed:
        """x if the test holds, else y."""
        if isinstance(test, bool):
            return x if test else y
        return self.emit(arith.Select.of(test, self.value(x), self.value(y), self.loc))
