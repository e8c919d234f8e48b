"""Lowers `bufferization.dealloc` to memref.dealloc, in MLIR's own ops.

Without memrefs nothing is owned. One memref alone is freed under scf.if. One with retained memrefs is compared with
each by its address. In the general case all are compared in line: MLIR calls a helper there, on five index arrays that
it allocates for each dealloc; and it does not free a memref where an earlier one has its base, whether or not that is
freed, which here only one that is freed prevents. MLIR counterpart: -bufferization-lower-deallocations.
"""

from __future__ import annotations

from tracebuf.deallocate.general.canonical import deallocs, known
from tracebuf.deallocate.lower import free_if
from tracebuf.ir.core import Op, Value
from tracebuf.ir.func import Func
from tracebuf.ir.types import I1
from tracebuf.ops.arrays.bufferization import Dealloc
from tracebuf.ops.memory import memref
from tracebuf.ops.memory.metadata import ExtractAlignedPointer
from tracebuf.ops.scalars import arith


def lower_deallocations(func: Func) -> None:
    """Replaces every bufferization.dealloc."""
    for op in deallocs(func):
        _Lowering(op).run()


class _Lowering:
    def __init__(self, op: Dealloc) -> None:
        self.op, self.ops = op, list[Op]()
        self.addresses: dict[Value, Value] = {}

    def run(self) -> None:
        op, loc = self.op, self.op.loc
        frees: list[tuple[Value, Value]] = []
        owned: list[Value | None] = [None] * len(op.retained)
        memrefs, conditions = op.memrefs, op.conditions
        for k, (m, c) in enumerate(zip(memrefs, conditions)):
            free = c
            for i, r in enumerate(op.retained):
                differs = self.differs(m, r)
                free = self.both(differs, free) if i else self.both(differs, c)
                if op.results[i].uses:
                    mine = self.both(self.negated(differs), c)
                    before = owned[i]
                    owned[i] = mine if before is None else self.add(arith.OrI.of(before, mine, loc))
            for other, condition in zip(memrefs[:k], conditions[:k]):
                free = self.both(self.negated(self.both(self.negated(self.differs(m, other)), condition)), free)
            frees.append((m, free))
        for m, free in frees:
            self.free(m, free)
        block = op.block
        assert block is not None
        for result, flag in zip(op.results, owned):
            if result.uses:
                result.replace_all_uses(self.constant(False) if flag is None else flag)
        at = block.op_index(op)
        op.drop_uses()
        op.block = None
        block.replace_ops([*block.ops[:at], *self.ops, *block.ops[at + 1 :]])

    def add(self, op: Op) -> Value:
        self.ops.append(op)
        return op.result

    def constant(self, value: bool) -> Value:
        return self.add(arith.Constant.of(value, I1, self.op.loc))

    def address(self, value: Value) -> Value:
        if value not in self.addresses:
            self.addresses[value] = self.add(ExtractAlignedPointer.of(value, self.op.loc))
        return self.addresses[value]

    def differs(self, a: Value, b: Value) -> Value:
        return self.add(arith.CmpI.of("ne", self.address(a), self.address(b), self.op.loc))

    def both(self, a: Value, b: Value) -> Value:
        return b if known(a) is True else a if known(b) is True else self.add(arith.AndI.of(a, b, self.op.loc))

    def negated(self, a: Value) -> Value:
        return self.add(arith.XorI.of(a, self.constant(True), self.op.loc))

    def free(self, buffer: Value, condition: Value) -> None:
        if known(condition) is True:
            self.ops.append(memref.Dealloc.of(buffer, self.op.loc))
        elif known(condition) is None:
            self.ops.append(free_if(condition, buffer, self.op.loc))
