"""Decides where each buffer lives: on the stack, in the arena, or as a NumPy array from birth (rule B6).

Stack (memref.alloca): small, of static size, freed unconditionally in the block that allocates it. Arena (kind "arena",
attr "slot"): freed unconditionally in its own block; lifetimes that do not overlap share a slot. Array (kind "array"):
everything else, above all what may be returned, which ownership frees under a condition or never. A buffer allocated in
a loop's body lives in one iteration only, and shares no slot with buffers that live around the loop, because the walk
meets it while they hold theirs.

MLIR counterparts: promote-buffers-to-stack; the arena has none. Runs after deallocs are lowered and moved up.
"""

from __future__ import annotations

from tracebuf.ir.core import Block, Op
from tracebuf.ir.dims import Dim
from tracebuf.ir.func import Func
from tracebuf.ops.arrays.host import HostCall
from tracebuf.ops.control import scf
from tracebuf.ops.memory import memref
from tracebuf.optimize.buffers.shorten_liveness import users

STACK = 64 * 1024
"""Bytes of stack that one function may use for buffers."""


def assign_storage(func: Func) -> None:
    """Sets `kind` (and `slot`) of each memref.alloc, or makes it a memref.alloca; sets func.attrs["arena_slots"]."""
    plan = _Plan()
    plan.run(func.block)
    func.attrs["arena_slots"] = plan.n_slots


class _Plan:
    """One walk in program order: a slot is taken at an alloc and given back at its dealloc."""

    __slots__ = ("free", "n_slots", "stack")

    def __init__(self) -> None:
        self.free: list[tuple[Dim, int]] = []
        self.n_slots = 0
        self.stack = 0

    def run(self, block: Block) -> None:
        freed = {op.operand(0).owner: op for op in block.ops if isinstance(op, memref.Dealloc)}
        held: dict[Op, tuple[Dim, int]] = {}
        dropped: set[Op] = set()
        ops: list[Op] = []
        for op in block.ops:
            if type(op) is memref.Alloc:
                free = freed.get(op)
                if free is None:
                    op.attrs["kind"] = "array"
                elif self._fits_stack(op):
                    op = _to_stack(op)
                    dropped.add(free)
                else:
                    size = op.result.memref_type.byte_size
                    held[free] = (size, self._slot(size))
                    op.attrs |= {"kind": "arena", "slot": held[free][1]}
            elif isinstance(op, (scf.Loop, scf.If)):
                for region in op.regions:
                    self.run(region.block)
            elif op in held:
                self.free.append(held[op])
            if op in dropped:
                op.drop_uses()
            else:
                ops.append(op)
        block.replace_ops(ops)

    def _slot(self, size: Dim) -> int:
        """A free slot, of equal size if there is one, else the one freed last; a new slot if none is free."""
        for i in reversed(range(len(self.free))):
            if self.free[i][0] == size:
                return self.free.pop(i)[1]
        if self.free:
            return self.free.pop()[1]
        self.n_slots += 1
        return self.n_slots - 1

    def _fits_stack(self, op: memref.Alloc) -> bool:
        size = op.result.memref_type.byte_size
        if not isinstance(size, int) or size > memref.ON_STACK or self.stack + size > STACK:
            return False
        if any(isinstance(user, HostCall) and user.loop is None for user in users(op.result)):
            return False  # what a function may keep must be memory that can be kept
        self.stack += size
        return True


def _to_stack(op: memref.Alloc) -> memref.Alloca:
    new = memref.Alloca(op.operands, [op.result.type], op.loc, dict(op.attrs))
    new.result.name = op.result.name
    op.result.replace_all_uses(new.result)
    op.drop_uses()
    return new
