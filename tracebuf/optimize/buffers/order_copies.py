"""A vector copied onto itself through a temporary (`b[1:] = b[:-1]`) is copied one by one in a safe order instead.

`b[d0 + i*p] = b[s0 + i*q]` for all i, as if everything were read first: element i overwrites what j(i) = (d0 - s0 +
i*p)/q reads, so i comes after j(i). With p and q of one sign, j > i holds on one side of a fixed point and j < i on
the other, so one side runs upwards and the other downwards, and no temporary is needed. A row stored from a column of
the same matrix meets it in one element, which decides the direction. Where the source turns out to be one element at
run time, which is stored to all, any order is right.

Why: eager NumPy makes no temporary for one-dimensional copies in one direction either (though it picks a wrong order
where p and q differ, rules C4 and S2). Limitations: not for more dimensions or opposite directions, for which NumPy
copies as well. MLIR has no counterpart; the C library's memmove is the special case p = q = 1.
"""

from __future__ import annotations

from tracebuf.deallocate.facts import flow_blocks
from tracebuf.frozen import frozen
from tracebuf.ir.clone import clone_op
from tracebuf.ir.core import Block, Mixed, Op, Value
from tracebuf.ir.effects import is_effect_free
from tracebuf.ir.func import Func
from tracebuf.ir.types import INDEX
from tracebuf.ops.arrays import linalg
from tracebuf.ops.control import scf
from tracebuf.ops.memory import memref
from tracebuf.ops.memory.indexing import constant_index
from tracebuf.ops.scalars import arith
from tracebuf.optimize.buffers.writer import IndexWriter


def order_copies(func: Func) -> None:
    """Replaces allocation, copy into it and copy out of it, where both ends are vectors of one buffer."""
    for block in list(flow_blocks(func)):
        new: dict[Op, list[Op]] = {}
        for op in block.ops:
            if isinstance(op, memref.Alloc) and (found := _round_trip(op)) is not None:
                there, back = found
                replacement = _replacement(there, back)
                if replacement is not None:
                    new |= {op: [], there: [], back: replacement}
                    for gone in (there, back, op):
                        gone.drop_uses()
        if new:
            block.replace_ops([o for op in block.ops for o in new.get(op, [op])])


def _round_trip(alloc: memref.Alloc) -> tuple[Op, Op] | None:
    """The copy into a temporary and the copy out of it, if it serves nothing else and no effect lies between."""
    users, block = [u.op for u in alloc.result.uses], alloc.block
    if block is None or len(users) != 2 or any(o.block is not block for o in users):
        return None
    there, back = sorted(users, key=block.op_index)
    if not isinstance(back, memref.Copy) or back.operand(0) is not alloc.result:
        return None
    if not (isinstance(there, memref.Copy) or _copies(there)) or there.operand(1) is not alloc.result:
        return None
    between = block.ops[block.op_index(there) + 1 : block.op_index(back)]
    return (there, back) if all(map(is_effect_free, between)) else None


def _copies(op: Op) -> bool:
    """Whether loops copy one operand into the other, which may repeat elements."""
    if not isinstance(op, linalg.Generic) or len(op.operands) != 2 or op.n_ins != 1 or len(op.body.ops) != 1:
        return False
    return op.all_parallel and all(m.is_identity for m in op.maps) and op.body.ops[0].operand(0) is op.body.args[0]


@frozen()
class _Vector:
    """Elements `offsets[axis] + i * step` of a buffer along one axis, at fixed indices along the others; the first one
    again and again where `repeated` holds."""

    base: Value
    axis: int
    step: int
    offsets: tuple[Mixed, ...]
    size: Mixed
    repeated: Value | None


def _vector(w: IndexWriter, buffer: Value) -> _Vector | None:
    op = (buffer := _uncast(buffer)).defining_op
    if buffer.memref_type.rank != 1 or not isinstance(op, memref.Subview):
        return None
    base, s = _uncast(op.operand(0)), op.slice
    axis, offsets = s.dims[0], list(s.offsets)
    if axis is None:
        return None
    size, (step, repeated) = s.sizes[axis], _step(s.strides[axis])
    if not step:
        return None
    while isinstance(outer := base.defining_op, memref.Subview):  # a view of a view
        strides, along = [constant_index(x) for x in outer.slice.strides], outer.slice.dims[axis]
        if None in strides or along is None:
            break
        inner, offsets = offsets, list(outer.slice.offsets)
        for k, d in enumerate(outer.slice.dims):
            if d is not None:
                offsets[d] = w.add(offsets[d], w.mul(inner[k], strides[d] or 0))
        base, axis, step = _uncast(outer.operand(0)), along, step * (strides[along] or 0)
    return _Vector(base, axis, step, tuple(offsets), size, repeated) if step else None


def _step(stride: Mixed) -> tuple[int | None, Value | None]:
    """The step of a vector, and the condition under which it is 0 instead."""
    op = None if isinstance(stride, int) else stride.defining_op
    if isinstance(op, arith.Select) and constant_index(op.operand(1)) == 0:
        return constant_index(op.operand(2)), op.operand(0)
    return constant_index(stride), None


def _uncast(buffer: Value) -> Value:
    while isinstance(op := buffer.defining_op, memref.Cast):
        buffer = op.operand(0)
    return buffer


def _copy(w: IndexWriter, source: Value, target: Value, low: Mixed, high: Mixed, down: bool) -> None:
    """Copies the elements low to high, the last one first if `down`."""
    body = Block([INDEX])
    inner = IndexWriter([], w.loc)
    i: Mixed = body.args[0]
    if down:
        i = inner.sub(inner.sub(inner.add(low, high), 1), i)
    place = [inner.value(i)]
    element = inner.emit(memref.Load.of(source, place, w.loc))
    inner.ops += [memref.Store.of(element, target, place, w.loc), scf.Yield.of([], w.loc)]
    body.replace_ops(inner.ops)
    w.ops.append(scf.For.of([w.value(b) for b in (low, high, 1)], [], body, w.loc))


def _replacement(there: Op, back: Op) -> list[Op] | None:
    """What copies without the temporary; None where that is not known."""
    w, target = IndexWriter([], back.loc), back.operand(1)
    s, d = _vector(w, there.operand(0)), _vector(w, target)
    if s is None or d is None or s.base is not d.base or d.repeated is not None:
        found = False
    elif s.repeated is None:
        found = isinstance(there, memref.Copy) and _ordered(w, there.operand(0), target, s, d)
    elif found := _ordered(inner := IndexWriter([], back.loc), there.operand(0), target, s, d):
        direct, ordered = Block(), Block()
        clone_op(there, {there.operand(1): target}, lambda op: (direct.append(op), op)[1])  # type: ignore[func-returns-value]
        direct.ops[0].attrs["ordered"] = True  # LLVM must not take its iterations for independent
        direct.append(scf.Yield.of([], back.loc))
        ordered.replace_ops([*inner.ops, scf.Yield.of([], back.loc)])
        w.ops.append(scf.If.of(s.repeated, [], direct, ordered, back.loc))
    if not found:
        for unused in w.ops:
            unused.drop_uses()
    return w.ops if found else None


def _ordered(w: IndexWriter, source: Value, target: Value, s: _Vector, d: _Vector) -> bool:
    """Writes loops that copy one vector onto another of the same buffer as if the source had been read first; whether
    there are any."""
    n = d.size
    if s.axis != d.axis:
        i = w.quotient(w.sub(s.offsets[d.axis], d.offsets[d.axis]), d.step)
        j = w.quotient(w.sub(d.offsets[s.axis], s.offsets[s.axis]), s.step)
        turn: Mixed = w.choose(w.test("sge", i, j), n, 0)
        parts = [(0, turn, False), (turn, n, True)]
    elif (s.step > 0) != (d.step > 0):
        return False
    else:
        sign = 1 if s.step > 0 else -1
        shift = w.sub(d.offsets[d.axis], s.offsets[s.axis])
        shift, growth = (shift if sign > 0 else w.sub(0, shift)), sign * (d.step - s.step)
        if growth == 0:
            turn = w.choose(w.test("sge", 0, shift), n, 0)
            parts = [(0, turn, False), (turn, n, True)]
        elif growth > 0:
            turn = w.clamped(w.add(w.quotient(w.sub(0, shift), growth), 1), n)
            parts = [(0, turn, False), (turn, n, True)]
        else:
            turn = w.clamped(w.quotient(w.add(shift, -growth - 1), -growth), n)
            parts = [(turn, n, False), (0, turn, True)]
    for low, high, down in parts:
        if low is not high and low != high:
            _copy(w, source, target, low, high, down)
    return True
