"""`tracebuf.scatter` as LLVM text: a sequential nest, each iteration with a store under a condition. The number of
iterations that have counted is in a stack slot, which LLVM promotes to a register.

Where a row stores as a whole or not at all (`a[mask]` of a matrix), the condition stands around the row's loop, whose
iterations are then independent."""

from __future__ import annotations

from collections.abc import Sequence

from tracebuf.backend.llvm.code import OpenLoop
from tracebuf.backend.llvm.folds import FoldState
from tracebuf.backend.llvm.loops import NestWriter, Row, computing
from tracebuf.ir.core import Op, Value
from tracebuf.ir.types import I1
from tracebuf.lower.plan import Operand, Stage
from tracebuf.ops.arrays.gather import CheckedIndex, Element, SortedPlace
from tracebuf.ops.arrays.linalg import Index
from tracebuf.ops.scalars import arith

WORD = 8
"""How many bools are a word of memory."""
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

    def _stage(self, stage: Stage, row: Row, count: str, last: bool, gathered: Sequence[Value] = ()) -> None:
        do = self._whole_rows(row)
        if do is None and (flags := self._flags(row)) is not None:
            self._by_words(flags, row, count)
            return
        if do is None:
            super()._stage(stage, row, count, last, gathered)
            return
        code, body, dest = self.code, self.nest.spec.body, self.nest.spec.n_ins
        values = dict(row.values)
        condition = self._values_of([do], row, "0", values, "")[0]
        some = code.icmp("sgt", count, "0")
        store, after = code.new_label(), code.new_label()
        code.branch(code.every([condition, some]), store, after)
        code.place(store)
        values[body.args[-1]] = code.inst(f"load i64, ptr {self.steps}")
        group, back = code.parallel_group(row.vectorize)
        with code.loop(count, metadata=back) as loop:
            new, *place = self._values_of(body.terminator.operands[2:], row, loop.index, dict(values), group)
            element = self.buffers[dest].type.element
            code.store(element, new, self.address(dest, place), self._access(dest, group))
        end = code.sub(count, "1")
        self._count(self._values_of(body.terminator.operands[1:2], row, end, dict(values), "")[0])
        code.jump(after)
        code.place(after)

    def _stay(self, places: Sequence[Operand]) -> bool:
        """Only what is stored to certainly no part of."""
        roots = self.buffers[self.nest.spec.n_ins].roots
        near = frozenset[int]().union(*(self.scopes.near[r] for r in roots)) if len(self.scopes) > 1 else roots
        others = [self.buffers[o.index].roots for o in places]
        return bool(roots) and len(self.scopes) > 1 and all(o and near.isdisjoint(o) for o in others)

    def _flags(self, row: Row) -> Operand | None:
        """The bools that say of each step whether it stores and counts, if they lie side by side and no store is to
        them."""
        do, counted = self.nest.spec.body.terminator.operands[:2]
        flags = self.memory.get(do)
        if flags is None or counted is not do or flags.element is not I1 or self.nest.blocked:
            return None
        dest = self.buffers[self.nest.spec.n_ins].pointer
        beside = row.strides[flags.index] == "1" and self.buffers[flags.index].pointer != dest
        return flags if beside and do not in row.values else None

    def _by_words(self, flags: Operand, row: Row, count: str) -> None:
        """A loop over words of `WORD` bools: nothing is done for those of which none is set."""
        code = self.code
        whole = code.inst(f"and i64 {count}, {-WORD}")
        back = code.loop_metadata(*code.as_it_stands())
        with code.loop(whole, step=str(WORD)) as words:
            word = code.inst(f"load i64, ptr {self._element_at(flags, row, words.index)}, align 1")
            some, none = code.new_label(), code.new_label()
            code.branch(code.icmp("ne", word, "0"), some, none)
            code.place(some)
            with code.loop(str(WORD), metadata=back) as loop:
                self._step(row, code.add(words.index, loop.index))
            code.jump(none)
            code.place(none)
        with code.loop(code.sub(count, whole), metadata=back) as loop:
            self._step(row, code.add(whole, loop.index))

    def _values_of(
        self, wanted: Sequence[Value], row: Row, index: str, values: dict[Value, str], group: str
    ) -> list[str]:
        """Values of the body at an index of the row."""
        ops = computing(*wanted)
        for op in self.nest.stages[0].scalars:
            if op in ops and op.result not in values:
                values[op.result] = self._compute(op, row, index, values, group)
        return [self._read(v, row, index, values, group) for v in wanted]

    def _whole_rows(self, row: Row) -> Value | None:
        """The condition of the stores, where it is the same all over a row that counts as one step at most, with its
        last element, and where what is stored, and where to, is computed by ops that may be done in any order."""
        body, dims = self.nest.spec.body, self.nest.loops[-1].dims
        if self.nest.blocked or len(dims) != 1:
            return None
        do, counted, *stored = body.terminator.operands
        inside = computing(*stored)
        if any(isinstance(op, CheckedIndex | SortedPlace | arith.Ufunc) for op in inside | computing(do, counted)):
            return None
        varies = {op for op in computing(do) if isinstance(op, Element) or _index_of(op, dims[0])}
        memory = {v for op in computing(do) for v in op.operands} | {do}
        if varies or any(v in self.memory and v not in row.values or v is body.args[-1] for v in memory):
            return None
        along = any(_index_of(v.defining_op, dims[0]) for v in stored[1:])
        return do if along and _last_of(counted, do, dims[0]) else None

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
        first = computing(*body.terminator.operands[:2])
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


def _index_of(op: Op | None, dim: int) -> bool:
    return isinstance(op, Index) and op.dim == dim


def _last_of(counted: Value, do: Value, dim: int) -> bool:
    """Whether an iteration counts if it stores, and is the last one of the loop of `dim`, and perhaps of others."""
    terms = [counted]
    while ands := [v for v in terms if isinstance(v.defining_op, arith.AndI) and v is not do]:
        terms = [v for v in terms if v not in ands]
        for v in ands:
            assert v.defining_op is not None
            terms += v.defining_op.operands
    ends = [v.defining_op for v in terms if v is not do]
    equal = all(isinstance(op, arith.CmpI) and op.attrs["predicate"] == "eq" for op in ends)
    return equal and do in terms and any(_index_of(op.operand(0).defining_op, dim) for op in ends if op is not None)
