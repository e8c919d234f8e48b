"""Which loops of a program have independent iterations, so that threads may share them: `independent`.

    for i in range(len(a)):                         for i in range(1, len(a)):
        out[i] = a[i] / a[i].sum()                      a[i] += a[i - 1]

The first has: what it stores to, it touches at place i of one axis only, in each iteration. Not so the second, which
reads what another iteration stores. A loop is shared if

- it carries nothing from one iteration to the next, and counts by 1;
- each buffer from outside that it stores to is accessed, be it read or stored to, at its index of one and the same axis
  only, and by no other name;
- its buffers of its own are on the stack, so that each thread has one;
- it calls nothing that is not known to run in any thread, and multiplies no matrices by BLAS.

Checks may be in it: the one that fails in the earliest iteration raises, as in order; later iterations may have run.

MLIR's counterpart: affine-parallelize.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field

from tracebuf.frozen import plain
from tracebuf.ir.core import Block, Op, Value
from tracebuf.ir.types import MemRefType
from tracebuf.lower.plan import spec_of
from tracebuf.lower.split import runs_anywhere
from tracebuf.ops.arrays import linalg
from tracebuf.ops.arrays.gather import CheckedIndex
from tracebuf.ops.arrays.scatter import Scatter
from tracebuf.ops.control import scf
from tracebuf.ops.control.checks import Check
from tracebuf.ops.memory import memref
from tracebuf.ops.scalars import arith

WHILE = 16
"""A `while` is taken to run so many times."""


@plain(eq=True, slots=True)
class Touched:
    """A buffer from outside of a loop: the axes at whose place of the iteration each access is, and whether there are
    stores."""

    axes: frozenset[int]
    stored: bool = False


@plain(eq=True, slots=True)
class Independent:
    """A loop whose iterations are independent: the buffers that it touches; what it takes, in times of these bytes, as
    far as one can tell by its ops; whether checks are among them."""

    touched: dict[Value, Touched]
    cost: int
    checks: bool


def independent(loop: scf.For, near: Callable[[Value, Value], bool]) -> Independent | None:
    """What a loop touches if threads may share it; `near`: whether two buffers may have bytes in common."""
    if len(loop.operands) > 3:
        return None
    step = loop.operand(2).defining_op
    if not isinstance(step, arith.Constant) or step.attrs["value"] != 1:
        return None
    body = _Body(loop)
    if not body.look(loop.body):
        return None
    stored = {v: t for v, t in body.touched.items() if t.stored}
    if not stored or not all(t.axes for t in stored.values()):
        return None
    if any(v is not w and near(v, w) for v in stored for w in body.touched):
        return None
    return Independent(body.touched, (1 + body.ops // 2) * body.rounds, body.checks)


@plain(eq=True, slots=True)
class _Body:
    """What is found of a loop's body."""

    loop: scf.For
    touched: dict[Value, Touched] = field(default_factory=dict)
    views: dict[Value, tuple[Value, frozenset[int]] | None] = field(default_factory=dict)
    """By value of the body: the buffer from outside and the axes at whose place it is, or None for one of its own."""
    ops: int = 0
    rounds: int = 1
    checks: bool = False

    def look(self, block: Block) -> bool:
        """Notes what the ops touch; whether all of them may be there."""
        return all(map(self._op, block.ops))

    def _op(self, op: Op) -> bool:
        self.ops += 1
        if isinstance(op, memref.Alloca):
            self.views[op.result] = None
            return True
        if isinstance(op, Check):
            self.checks = True
            return not any(isinstance(v.type, MemRefType) for v in op.operands)
        if isinstance(op, memref.Subview):
            return self._subview(op)
        if isinstance(op, memref.Load | memref.Store):
            k = int(isinstance(op, memref.Store))
            self._touch(op.operand(k), self._pinned(op.operands[k + 1 :]), stored=bool(k))
            return True
        if isinstance(op, memref.Dim):
            return op.operand(0) not in self.views
        if isinstance(op, scf.For | scf.While | scf.If):
            blocks = [b for region in op.regions for b in region.blocks]
            self.rounds = WHILE if isinstance(op, scf.While) else self.rounds
            values = [*op.results, *(a for b in blocks for a in b.args)]
            return not any(isinstance(v.type, MemRefType) for v in values) and all(map(self.look, blocks))
        if isinstance(op, scf.Yield | scf.Condition):
            return True
        if isinstance(op, linalg.DestinationOp | memref.Copy):
            return self._nest(op)
        return isinstance(op, arith.ScalarOp) and not isinstance(op.result.type, MemRefType) and runs_anywhere([op])

    def _subview(self, op: memref.Subview) -> bool:
        source, s = op.operand(0), op.slice
        if source in self.views:
            self.views[op.result] = self.views[source]
            return True
        pinned = frozenset(
            d for d, (at, size) in enumerate(zip(s.offsets, s.sizes, strict=True)) if at is self._index and size == 1
        )
        self.views[op.result] = source, pinned
        return True

    def _nest(self, op: linalg.DestinationOp | memref.Copy) -> bool:
        if isinstance(op, memref.Copy):
            n_ins, fits = 1, op.attrs.get("reason") == "store"
        else:
            n_ins, fits = op.n_ins, not isinstance(op, linalg.Contraction | Scatter)
        if not fits:
            return False
        spec = spec_of(op, [v.type for v in op.operands])
        if spec is None or not runs_anywhere(spec.body.ops) or any(isinstance(o, CheckedIndex) for o in spec.body.ops):
            return False
        self.ops += len(spec.body.ops)
        for k, v in enumerate(op.operands):
            if isinstance(v.type, MemRefType):
                self._touch(v, frozenset(), stored=k >= n_ins)
        return True

    @property
    def _index(self) -> Value:
        return self.loop.body.args[0]

    def _pinned(self, indices: Sequence[Value]) -> frozenset[int]:
        return frozenset(d for d, v in enumerate(indices) if v is self._index)

    def _touch(self, buffer: Value, pinned: frozenset[int], stored: bool) -> None:
        """`pinned`: the axes of the buffer at whose place of the iteration this is."""
        base: tuple[Value, frozenset[int]] | None = (buffer, pinned)
        if buffer in self.views:
            base = self.views[buffer]
        if base is None:
            return
        value, axes = base
        before = self.touched.get(value)
        if before is None:
            self.touched[value] = Touched(axes, stored)
        else:
            before.axes, before.stored = before.axes & axes, before.stored or stored
