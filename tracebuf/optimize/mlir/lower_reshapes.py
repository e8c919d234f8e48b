"""memref.reshape as a collapse to one axis and an expansion of it, with a check that the sizes fit.

Why: the interpreter and native code know those two, and the sizes come from memory, so that nothing but a run-time
check can verify them. Limitations: not for buffers of rank 0, or of unknown rank. MLIR counterpart:
-expand-strided-metadata in part.
"""

from __future__ import annotations

from functools import reduce

from tracebuf.ir.core import Mixed, OpT, Value
from tracebuf.ir.dims import mul
from tracebuf.ir.func import Func
from tracebuf.ir.types import INDEX, MemRefType
from tracebuf.ops.control.checks import Check
from tracebuf.ops.memory import memref
from tracebuf.ops.scalars import arith


def lower_reshapes(func: Func) -> None:
    """Replaces each reshape of a ranked buffer to a ranked one."""
    for op in list(func.walk()):
        if not isinstance(op, memref.Reshape):
            continue
        source, result = op.operand(0).type, op.result.type
        if isinstance(source, MemRefType) and isinstance(result, MemRefType) and source.rank and result.rank:
            _Lowering(op).run()


class _Lowering:
    def __init__(self, op: memref.Reshape) -> None:
        self.op, self.loc = op, op.loc

    def add(self, op: OpT) -> OpT:
        assert self.op.block is not None
        self.op.block.insert_before(self.op, op)
        return op

    def index(self, value: Mixed) -> Value:
        return value if isinstance(value, Value) else self.add(arith.Constant.of(value, INDEX, self.loc)).result

    def product(self, sizes: list[Value]) -> Value:
        total = sizes[0]
        for size in sizes[1:]:
            total = self.add(arith.MulI.of(total, size, self.loc)).result
        return total

    def run(self) -> None:
        op, loc = self.op, self.loc
        source, shape = op.operands
        before, after = source.memref_type, op.result.memref_type
        old = [self.add(memref.Dim.of(source, d, loc)).result for d in range(before.rank)]
        new = [self.loaded(shape, d) for d in range(after.rank)]
        for size, declared in zip(new, after.shape, strict=True):
            self.check("eq" if isinstance(declared, int) else "sge", size, declared if isinstance(declared, int) else 0)
        count = self.product(old)
        self.check("eq", self.product(new), count)
        if before.rank > 1:
            flat = MemRefType((reduce(mul, before.shape),), before.element, (1,), before.offset)
            groups = (tuple(range(before.rank)),)
            source = self.add(memref.CollapseShape([source], [flat], loc, {"groups": groups})).result
        if after.rank > 1:
            static = tuple(d if isinstance(d, int) else None for d in after.shape)
            dynamic = [v for d, v in zip(static, new, strict=True) if d is None]
            attrs = {"groups": (tuple(range(after.rank)),), "static_sizes": static}
            source = self.add(memref.ExpandShape([source, *dynamic], [after], loc, attrs)).result
        elif source.type != after:
            source = self.add(memref.Cast.of(source, after, loc)).result
        op.result.replace_all_uses(source)
        op.erase()

    def loaded(self, shape: Value, place: int) -> Value:
        found = self.add(memref.Load.of(shape, [self.index(place)], self.loc)).result
        return found if found.type is INDEX else self.add(arith.IndexCast.of(found, INDEX, self.loc)).result

    def check(self, predicate: str, a: Value, b: Mixed) -> None:
        other = self.index(b)
        ok = self.add(arith.CmpI.of(predicate, a, other, self.loc)).result
        self.add(Check.of(ok, "ValueError", "a reshape to sizes that do not fit", [], self.loc))

