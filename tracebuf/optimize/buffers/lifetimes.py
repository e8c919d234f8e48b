"""When buffers are alive, in a memref program with frees: by ticks of a clock that passes through it in program order.

A value is alive from where it is made to its last use: views count, frees do not, and what a loop uses from outside is
alive until its end. What a block passes on ends there, and goes on as what it becomes: the loop's next iteration, its
result, that of scf.if. So a buffer is alive while one of the values is that may be it. Of two branches, one is as if it
came first; what only the second one uses still is dead in the first (`gaps`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tracebuf.deallocate.facts import Origins
from tracebuf.ir.core import Block, Op, Value
from tracebuf.ir.func import Func
from tracebuf.ir.types import MemRefType
from tracebuf.ops.control import scf
from tracebuf.ops.memory import memref


class Span(NamedTuple):
    """From one tick to another."""

    first: int
    last: int

    def around(self, other: Span) -> Span:
        return Span(min(self.first, other.first), max(self.last, other.last))


class Lifetimes:
    """The clock of a function: `span` of its ops, and `alive` of its memrefs that are no views."""

    def __init__(self, func: Func) -> None:
        self.func, self.origins = func, Origins()
        self.span: dict[Op, Span] = {}
        self.blocks: dict[Block, Span] = {}
        self._ends: dict[Block, list[int]] = {}
        self._tick = 0
        self._pass(func.block)
        self.gaps: dict[Value, list[Span]] = {}
        """In first branches, after the last use there, of values whose last use is in the second one."""
        self.alive: dict[Value, Span] = {v: self._life(v) for v in self._bases(self.blocks)}

    def _pass(self, block: Block) -> None:
        first = self._tick = self._tick + 1
        for op in block.ops:
            self._tick += 1
            begun = self._tick
            if isinstance(op, (scf.Loop, scf.If)):
                for region in op.regions:
                    self._pass(region.block)
                self._tick += 1
            self.span[op] = Span(begun, self._tick)
        self._tick += 1
        self.blocks[block] = Span(first, self._tick)

    def _bases(self, blocks: Iterable[Block]) -> Iterable[Value]:
        for block in blocks:
            yield from (a for a in block.args if isinstance(a.type, MemRefType))
            for op in block.ops:
                if not isinstance(op, memref.VIEW_OPS):
                    yield from (r for r in op.results if isinstance(r.type, MemRefType))

    def _life(self, value: Value) -> Span:
        born = self.blocks[value.owner].first if isinstance(value.owner, Block) else self.span[value.owner].last
        ticks, work = [born], [value]
        while work:
            for use in work.pop().uses:
                if isinstance(use.op, memref.VIEW_OPS) and use.index == 0:
                    work.append(use.op.result)
                elif not isinstance(use.op, memref.Dealloc):
                    ticks.append(self._used(use.op, value.block))
        last = max(ticks)
        self._note_gaps(value, last, ticks)
        return Span(born, last)

    def _note_gaps(self, value: Value, last: int, ticks: Sequence[int]) -> None:
        """Goes from the value's block to its last use, through second branches: no loop is between them, or the last
        use would be where that ends."""
        block = value.block
        while True:
            around = self._reaching(block, last + 1)
            if not isinstance(around, scf.If) or self.span[around].first >= last:
                return
            first, second = (self.blocks[b] for b in around.branches)
            if last > second.first:
                used = max((t for t in ticks if first.first <= t <= first.last), default=first.first)
                self.gaps.setdefault(value, []).append(Span(used, first.last))
            block = around.branches[last > second.first]

    def _used(self, op: Op, home: Block) -> int:
        """When an op uses a value of the block `home` for the last time."""
        tick = self.span[op].first
        while op.block is not home:
            parent = op.parent_op
            assert parent is not None
            if isinstance(parent, scf.Loop):
                tick = self.span[parent].last
            op = parent
        return tick

    def across(self, op: Op) -> list[Value]:
        """The values that are alive before an op and after it."""
        tick = self.span[op].first
        return [
            v for v, life in self.alive.items()
            if life.first < tick < life.last and not any(g.first < tick <= g.last for g in self.gaps.get(v, ()))
        ]  # fmt: skip

    def hull(self, values: Iterable[Value]) -> Span:
        """While one of the values is alive, or may be again: the whole of a loop that carries one."""
        spans = []
        for value in values:
            spans.append(self.alive[value])
            if isinstance(value.owner, Block) and value.owner.parent_op is not None:
                spans.append(self.span[value.owner.parent_op])
        return Span(min(s.first for s in spans), max(s.last for s in spans))

    def _reaching(self, block: Block, tick: int) -> Op | None:
        """The first op of a block that does not end before a tick."""
        ends = self._ends.get(block)
        if ends is None:
            ends = self._ends[block] = [self.span[op].last for op in block.ops]
        place = bisect_left(ends, tick)
        return block.ops[place] if place < len(ends) else None

    def home(self, span: Span) -> Op:
        """The op that begins the span, in the innermost block that all of it passes in."""
        block = self.func.block
        while True:
            op = self._reaching(block, span.first)
            assert op is not None
            if not isinstance(op, (scf.Loop, scf.If)):
                return op
            inner = [r.block for r in op.regions if within(span, self.blocks[r.block])]
            if not inner:
                return op
            (block,) = inner


def within(inner: Span, outer: Span) -> bool:
    return outer.first < inner.first and inner.last < outer.last
