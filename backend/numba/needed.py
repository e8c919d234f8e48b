"""Which ops and values of a memref program a text of Python needs: Python frees arrays by itself, so that frees and
what only decides about them are left out."""

from __future__ import annotations

from collections.abc import Iterable

from tracebuf.ir.core import Block, Op, Use, Value
from tracebuf.ir.func import Func
from tracebuf.ops.arrays.linalg import DestinationOp
from tracebuf.ops.control import scf
from tracebuf.ops.control.checks import Check
from tracebuf.ops.control.func import Call, Return
from tracebuf.ops.memory import memref

_ACTS = (memref.Store, memref.Copy, DestinationOp, Check, Call, Return)


class Needed:
    """`ops` and `values` that are needed."""

    def __init__(self, func: Func) -> None:
        self.ops: set[Op] = set()
        self.values: set[Value] = set()
        self._work: list[Value] = []
        for op in func.walk():
            if isinstance(op, _ACTS):
                self._act(op)
        while self._work:
            self._follow(self._work.pop())

    def _want(self, values: Iterable[Value]) -> None:
        for v in values:
            if v not in self.values:
                self.values.add(v)
                self._work.append(v)

    def _act(self, op: Op) -> None:
        """An op that runs, and so what it stands in."""
        if op in self.ops:
            return
        self.ops.add(op)
        match op:
            case scf.If():
                self._want(op.operands)
            case scf.For():
                self._want(op.operands[:3])
            case scf.While():
                self._want(op.before.terminator.operands[:1])
            case _:
                self._want(op.operands)
                for inner in (i for region in op.regions for i in region.walk()):
                    self._want(inner.operands)
        if (parent := op.parent_op) is not None:
            self._act(parent)

    def _follow(self, value: Value) -> None:
        owner = value.owner
        op = owner if isinstance(owner, Op) else owner.parent_op
        if op is None:
            return
        self._act(op)
        self._want(self._sources(op, owner, value.index))

    def _sources(self, op: Op, owner: Op | Block, k: int) -> list[Value]:
        """What a value of control flow comes from, and what it is called elsewhere."""
        match op:
            case scf.If():
                return [b.terminator.operand(k) for b in op.branches]
            case scf.For():
                k -= owner is not op
                return [] if k < 0 else [op.inits[k].value, op.passed[k].value, op.args[k]]
            case scf.While():
                if owner is op.before:
                    return [op.operand(k), op.yielded[k].value]
                return [op.passed[k].value]
        return []

    def counts(self, use: Use) -> bool:
        """Whether a needed op, or a passing on of a needed value, is what uses it."""
        op, parent = use.op, use.op.parent_op
        if isinstance(op, scf.Yield):
            match parent:
                case scf.If():
                    return parent.results[use.index] in self.values
                case scf.For():
                    return parent.args[use.index] in self.values
                case scf.While():
                    return parent.before.args[use.index] in self.values
        if isinstance(op, scf.Condition):
            assert isinstance(parent, scf.While)
            k = use.index - 1
            return k < 0 or parent.after.args[k] in self.values or parent.results[k] in self.values
        if isinstance(op, scf.For) and use.index >= 3:
            return op.args[use.index - 3] in self.values
        if isinstance(op, scf.While):
            return op.before.args[use.index] in self.values
        return op in self.ops or parent is not None and op.terminator and parent in self.ops

    def uses(self, value: Value) -> list[Use]:
        return [use for use in value.uses if self.counts(use)]
