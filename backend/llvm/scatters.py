"""`tracebuf.scatter` as LLVM text: a sequential nest, each iteration with a store under a condition. The number of
iterations that have counted is in a stack slot, which LLVM promotes to a register."""

from __future__ import annotations

from collections.abc import Sequence

from tracebuf.backend.llvm.code import OpenLoop
from tracebuf.backend.llvm.folds import FoldState
from tracebuf.backend.llvm.loops import NestWriter, Row
from tracebuf.ir.core import Op, Value
from tracebuf.lower.plan import Stage
from tracebuf.ops.arrays.gather import CheckedIndex, Element
from tracebuf.ops.scalars import arith

CHEAP = 8
"""This many ops cost less than an unpredictable branch."""


class ScatterWriter(NestWriter):
    """A nest whose body says whether, what and where it stores; the last two are computed only if it does."""

    def write(self) -> None:
        self.steps = self.code.fresh_slot("i64")
        self.code.do(f"store i64 0, ptr {self.steps}")
        super().write()

    def _read(self, value: Value, row: Row, index: str, values: dict[Value, str], group: str) -> str:
        if value is self.nest.spec.body.args[-1] and value not in values:
            values[value] = self.code.inst(f"load i64, ptr {self.steps}")
        return super()._read(value, row, index, values, group)

    def _iteration(
        self,
        stage: Stage,
        row: Row,
        loop: OpenLoop,
        last: bool,
        gathered: Sequence[Value],
        group: str,
        states: list[FoldState],
    ) -> None:
        self._step(row, loop.index)

    def _once(self, row: Row) -> None:
        self._step(row, "0")

    def _step(self, row: Row, index: str) -> None:
        code, body, dest = self.code, self.nest.spec.body, self.nest.spec.n_ins
        first = needed(body.terminator.operands[:2])
        values, later = dict(row.values), [op for op in self.nest.stages[0].scalars if op not in first]
        for op in self.nest.stages[0].scalars:
            if op in first:
                values[op.result] = self._compute(op, row, index, values, "")
        do, count = (self._read(v, row, index, values, "") for v in body.terminator.operands[:2])
        if self._eager(later):
            do = self._room()
        store, after = code.new_label(), code.new_label()
        code.branch(do, store, after)
        code.place(store)
        inside = dict(values)
        for op in later:
            inside[op.result] = self._compute(op, row, index, inside, "")
        new, *place = (self._read(v, row, index, inside, "") for v in body.terminator.operands[2:])
        code.store(self.buffers[dest].type.element, new, self.address(dest, place), self._access(dest))
        code.jump(after)
        code.place(after)
        self._count(count)

    def _count(self, count: str) -> None:
        steps = self.code.inst(f"load i64, ptr {self.steps}")
        self.code.do(f"store i64 {self.code.add(steps, self.code.inst(f'zext i1 {count} to i64'))}, ptr {self.steps}")

    def _eager(self, later: Sequence[Op]) -> bool:
        """Whether every iteration may store: an element that does not count is overwritten by the next iteration, and
        costs less than an unpredictable branch. Not with `Element`, `CheckedIndex` or a ufunc, which must run under the
        condition only."""
        lazy = (Element, CheckedIndex, arith.Ufunc)
        return self.nest.spec.fills and len(later) <= CHEAP and not any(isinstance(op, lazy) for op in later)

    def _room(self) -> str:
        """Whether the destination has room for another element."""
        step, place = self.nest.spec.body.args[-1], self.nest.spec.body.terminator.operands[3:]
        size = self.buffers[self.nest.spec.n_ins].sizes[place.index(step)]
        return self.code.icmp("slt", self.code.inst(f"load i64, ptr {self.steps}"), size)


def needed(values: Sequence[Value]) -> set[Op]:
    """The ops of the body that these values are computed by."""
    ops: set[Op] = set()
    work = [v.defining_op for v in values]
    while work:
        op = work.pop()
        if op is not None and op not in ops:
            ops.add(op)
            work += [v.defining_op for v in op.operands]
    return ops
