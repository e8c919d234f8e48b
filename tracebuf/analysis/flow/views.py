"""Which memrefs a memref may become: through views, selects, branches, regions, calls and ops that nobody knows.

`Flow` is one way that control takes with values into, within or out of an op with regions. An op that gives none has
regions that only run. MLIR counterpart: BufferViewFlowAnalysis.cpp, RegionBranchOpInterface.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from tracebuf.analysis.flow.blocks import blocks_of
from tracebuf.ir.core import Effect, Op, Use, Value, is_buffer
from tracebuf.ir.func import Func
from tracebuf.ops.control.cf import BranchOp

T = TypeVar("T")


class Views:
    """What flows where in a function; valid while memrefs and what passes them on stay as they are. `makes` tells which
    ops, beside those that allocate, give buffers of their own."""

    def __init__(self, func: Func, makes: Callable[[Op], bool] = lambda op: False) -> None:
        self.makes = makes
        self.forward: dict[Value, list[Value]] = {}
        self.back: dict[Value, list[Value]] = {}
        for block in blocks_of(func):
            for op in block.ops:
                self._add(op)

    def _add(self, op: Op) -> None:
        flows = op.flows()
        for flow in flows or ():
            for use, received in zip(flow.passed, flow.received):
                self._edge(use.value, received)
        if isinstance(op, BranchOp):
            for use in op.uses:
                target = op.target(use)
                if target is not None:
                    self._edge(use.value, target)
        elif flows is None and not op.terminator and not self.makes(op):
            made = allocated(op)
            for result in op.results:
                if result not in made:
                    for value in op.operands:
                        self._edge(value, result)

    def _edge(self, source: Value, target: Value) -> None:
        if is_buffer(source) and is_buffer(target):
            self.forward.setdefault(source, []).append(target)
            self.back.setdefault(target, []).append(source)

    def resolve(self, value: Value) -> set[Value]:
        """The value and all that may be (a view of) it because it flows there."""
        return reached([value], self.forward)

    def origins(self, value: Value) -> set[Value]:
        """The memrefs without a source that the value may be (a view of)."""
        return {v for v in reached([value], self.back) if not self.back.get(v)}


def reached(start: Iterable[T], edges: dict[T, list[T]]) -> set[T]:
    """Everything that can be reached from here."""
    work = list(start)
    found = set(work)
    while work:
        for v in edges.get(work.pop(), ()):
            if v not in found:
                found.add(v)
                work.append(v)
    return found


def allocated(op: Op) -> list[Value]:
    """The memrefs among an op's results that it allocates."""
    effects = op.effects() or ()
    return [r for r in op.results if is_buffer(r) and (Effect.ALLOCATE, r) in effects]


def freed(op: Op) -> list[Value]:
    """The memrefs that an op frees."""
    return [v for e, v in op.effects() or () if e is Effect.FREE and v is not None]


def frees(value: Value) -> list[Op]:
    """The ops that free a memref under this very name."""
    return list(dict.fromkeys(use.op for use in value.uses if value in freed(use.op)))


def forwarded(op: Op) -> list[Use]:
    """The operands that a terminator passes on: to blocks, or to what is around its region."""
    if isinstance(op, BranchOp):
        return [use for use in op.uses if op.target(use) is not None]
    parent = op.parent_op
    flows = None if parent is None else parent.flows()
    if flows is None:
        return list(op.uses)
    return list(dict.fromkeys(use for flow in flows if flow.end is op for use in flow.passed))
