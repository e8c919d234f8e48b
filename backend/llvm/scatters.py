"""`tracebuf.scatter` as LLVM text: the loops of a nest, one step after the other, each with a store that may be left
out. How many steps have counted stands in a stack slot, which LLVM makes a register."""

from __future__ import annotations

from tracebuf.backend.llvm.loops import NestWriter, Row
from tracebuf.ir.core import Value


class ScatterWriter(NestWriter):
    """A nest whose body says whether, what and where it stores."""

    def write(self) -> None:
        self.steps = self.code.fresh_slot("i64")
        self.code.do(f"store i64 0, ptr {self.steps}")
        super().write()

    def _read(self, value: Value, row: Row, index: str, values: dict[Value, str], group: str) -> str:
        if value is self.nest.spec.body.args[-1] and value not in values:
            values[value] = self.code.inst(f"load i64, ptr {self.steps}")
        return super()._read(value, row, index, values, group)

    def _store_outs(self, row: Row, index: str, values: dict[Value, str], group: str) -> None:
        code, end, dest = self.code, self.nest.spec.body.terminator, self.nest.spec.n_ins
        do, count, new, *place = (self._read(v, row, index, values, group) for v in end.operands)
        store, after = code.new_label(), code.new_label()
        code.branch(do, store, after)
        code.place(store)
        code.store(self.buffers[dest].type.element, new, self.address(dest, place), self._access(dest, group))
        code.jump(after)
        code.place(after)
        steps = code.inst(f"load i64, ptr {self.steps}")
        code.do(f"store i64 {code.add(steps, code.inst(f'zext i1 {count} to i64'))}, ptr {self.steps}")
