"""Blocks that branch as blocks of LLVM, their arguments as phi nodes. A branch back polls, as a loop does.

Blocks are written so that what dominates comes first; what a block's arguments are is filled in when all ways to it are
known. MLIR counterpart: -convert-cf-to-llvm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tracebuf.backend.llvm.code import Code
from tracebuf.backend.llvm.polls import Polls
from tracebuf.ir.core import Block, Op, Region, Value
from tracebuf.ir.emitter import llvm_type, value_types
from tracebuf.ir.types import ScalarType
from tracebuf.ops.control.cf import BranchOp

BACK = "16"
"""Units of work of a branch back."""
Parts = list[tuple[str, str]]


def part_types(value: Value) -> list[str]:
    """The LLVM types of what stands for a value: of a memref two pointers, and what its type does not fix."""
    if isinstance(value.type, ScalarType):
        return [llvm_type(t) for t in value_types(value.type)]
    type_ = value.memref_type
    return ["ptr", "ptr", *("i64" for n in (*type_.shape, *type_.strides) if not isinstance(n, int))]


class BlockWriter:
    """Writes regions. `parts(values, like)` gives values as (type, name), `bind` names values, `ops` writes a block."""

    def __init__(
        self,
        code: Code,
        polls: Polls,
        parts: Callable[[Sequence[Value], Sequence[Value]], Parts],
        bind: Callable[[Sequence[Value], list[str]], None],
        ops: Callable[[Block], None],
    ) -> None:
        self.code, self.polls, self.parts, self.bind, self.ops = code, polls, parts, bind, ops
        self.labels: dict[Block, str] = {}
        self.ways: dict[Block, list[tuple[str, list[str]]]] = {}
        self.order: dict[Block, int] = {}

    def region(self, region: Region, results: Sequence[Value] | None = None) -> list[str]:
        """Writes a region's blocks. Those that do not branch leave the function, or where there are `results`, the
        region, with these values: their names."""
        blocks = region.in_order()
        self.order.update({block: k for k, block in enumerate(blocks)})
        self.labels.update({block: self.code.new_label() for block in blocks[1:]})
        heads: list[tuple[int, list[str], list[str], list[tuple[str, list[str]]]]] = []
        ends: list[tuple[str, list[str]]] = []
        end = "" if results is None else self.code.new_label()
        for block in blocks:
            if block is not region.block:
                self.code.place(self.labels[block])
                names = self._open(block.args, heads, self.ways.setdefault(block, []))
                self.bind(block.args, names)
            self.ops(block)
            if results is not None and not isinstance(block.terminator, BranchOp):
                self._leave(block.terminator.operands, results, end, ends)
        found: list[str] = []
        if results is not None:
            self.code.place(end)
            found = self._open(results, heads, ends)
        for at, types, names, ways in heads:
            for k, (type_, name) in enumerate(zip(types, names)):
                came = ", ".join(f"[ {values[k]}, %{label} ]" for label, values in ways)
                self.code.lines[at + k] = f"  {name} = phi {type_} {came}"
        return found

    def _open(
        self,
        values: Sequence[Value],
        heads: list[tuple[int, list[str], list[str], list[tuple[str, list[str]]]]],
        ways: list[tuple[str, list[str]]],
    ) -> list[str]:
        """Room for the phi nodes of values at the beginning of a block; their names."""
        types = [t for v in values for t in part_types(v)]
        names = [self.code.name() for _ in types]
        heads.append((len(self.code.lines), types, names, ways))
        self.code.lines += [""] * len(names)
        return names

    def _leave(
        self, passed: Sequence[Value], like: Sequence[Value], label: str, ways: list[tuple[str, list[str]]]
    ) -> None:
        ways.append((self.code.label, [v for _, v in self.parts(passed, like)]))
        self.code.jump(label)

    def branch(self, op: Op, condition: Sequence[str]) -> None:
        """A branch to one block, or under a condition to one of two."""
        assert isinstance(op, BranchOp)
        if not condition:
            return self._go(op.operands, op.successors[0], op)
        labels = self.code.new_label(), self.code.new_label()
        self.code.branch(condition[0], *labels)
        n = op.attrs["n_then"]
        for label, target, passed in zip(labels, op.successors, (op.operands[1 : 1 + n], op.operands[1 + n :])):
            self.code.place(label)
            self._go(passed, target, op)

    def _go(self, passed: Sequence[Value], target: Block, op: Op) -> None:
        assert op.block is not None
        if self.order[target] <= self.order[op.block]:
            self.polls.poll(BACK)
        self._leave(passed, target.args, self.labels[target], self.ways.setdefault(target, []))
