"""A vector copied onto itself through a temporary (`b[1:] = b[:-1]`) is copied one by one in a safe order instead.

`b[d0 + i*p] = b[s0 + i*q]` for all i, as if everything were read first: element i overwrites what j(i) = (d0 - s0 +
i*p)/q reads, so i comes after j(i). With p and q of one sign, j > i holds on one side of a fixed point and j < i on
the other, so one side runs upwards and the other downwards, and no temporary is needed. A row stored from a column or
the diagonal of the same matrix meets it in one element, which decides the direction; so do real or imaginary parts.
Where the source turns out to be one element at run time, it is read first and stored to all.

Why: eager NumPy makes no temporary for one-dimensional copies in one direction either (though it picks a wrong order
where p and q differ, rules C4 and S2). Limitations: not for more dimensions or opposite directions, for which NumPy
copies as well. MLIR has no counterpart; the C library's memmove is the special case p = q = 1.
"""

from __future__ import annotations

from collections.abc import Sequence

from tracebuf.deallocate.facts import flow_blocks
from tracebuf.frozen import frozen
from tracebuf.ir.core import Block, Mixed, Op, Value
from tracebuf.ir.func import Func
from tracebuf.ir.types import INDEX
from tracebuf.ops.arrays import linalg
from tracebuf.ops.control import scf
from tracebuf.ops.memory import memref
from tracebuf.ops.memory.indexing import constant_index
from tracebuf.ops.scalars.division import FloorDivIndex
from tracebuf.optimize.buffers.writer import IndexWriter, leaves_buffers, step_of


def order_copies(func: Func) -> None:
    """Replaces allocation, copy into it and copy out of it, where both ends are vectors of one buffer."""
    for block in list(flow_blocks(func)):
        new: dict[Op, list[Op]] = {}
        for op in block.ops:
            if isinstance(op, memref.Alloc) and (found := _round_trip(op)) is not None:
                there, views, back = found
                replacement = _replacement(there, views, back)
                if replacement is not None:
                    new |= {op: [], there: [], **{v: [] for v in views}, back: replacement}
                    for gone in (there, back, *reversed(views), op):
                        gone.drop_uses()
        if new:
            block.replace_ops([o for op in block.ops for o in new.get(op, [op])])


def _round_trip(alloc: memref.Alloc) -> tuple[Op, list[Op], Op] | None:
    """The copy into a temporary, the views of it, each of the one before, and the copy out of the last one, if it
    serves nothing else and no effect lies between."""
    block, views = alloc.block, list[Op]()
    if block is None or len(alloc.result.uses) != 2:
        return None
    there, back = sorted((u.op for u in alloc.result.uses), key=lambda o: block.op_index(o) if o.block is block else -1)
    while isinstance(back, (memref.Subview, memref.Recast, memref.Diagonal)) and len(back.result.uses) == 1:
        views.append(back)
        back = next(iter(back.result.uses)).op
    last = views[-1].result if views else alloc.result
    if any(o.block is not block for o in (there, *views, back)):
        return None
    if not isinstance(back, memref.Copy) or back.operand(0) is not last:
        return None
    if not (isinstance(there, memref.Copy) or (_copies(there) and not views)) or there.operand(1) is not alloc.result:
        return None
    between = block.ops[block.op_index(there) + 1 : block.op_index(back)]
    return (there, views, back) if all(map(leaves_buffers, between)) else None


def _viewed(w: IndexWriter, buffer: Value, views: Sequence[Op]) -> Value:
    """The same views of another buffer with equal elements."""
    for op in views:
        if isinstance(op, memref.Subview):
            buffer = w.emit(memref.Subview.of(buffer, op.slice, op.result.memref_type.shape, op.loc))
        elif isinstance(op, memref.Diagonal):
            buffer = w.emit(memref.Diagonal.of(buffer, op.attrs["axes"], op.result.memref_type.shape, op.loc))
        else:
            buffer = w.emit(memref.Recast.of(buffer, op.result.memref_type.element, op.loc))
    return buffer


def _copies(op: Op) -> bool:
    """Whether loops copy one operand into the other, which may repeat elements."""
    if not isinstance(op, linalg.Generic) or len(op.operands) != 2 or op.n_ins != 1 or len(op.body.ops) != 1:
        return False
    return op.all_parallel and all(m.is_identity for m in op.maps) and op.body.ops[0].operand(0) is op.body.args[0]


@frozen()
class _Vector:
    """Elements `offsets[k] + i * steps[k]`, for each axis k, of a buffer (its real and imaginary parts are one axis
    more); the first one again and again where `repeated` holds."""

    base: Value
    steps: tuple[int, ...]
    offsets: tuple[Mixed, ...]
    size: Mixed
    repeated: Value | None
    pace: Value | None = None
    """The step along the one axis, where the run time alone knows it: more than 0."""

    @property
    def axis(self) -> int | None:
        """The axis along which it is; None if there are more."""
        axes = [k for k, step in enumerate(self.steps) if step]
        return axes[0] if len(axes) == 1 else None


def _vector(w: IndexWriter, buffer: Value) -> _Vector | None:
    """What a buffer of one axis is, or what it is in the buffer that it is a view of."""
    op = (buffer := memref.uncast(buffer)).defining_op
    if buffer.memref_type.rank != 1:
        return None
    size: Mixed = -1  # of a diagonal, which is only asked of targets
    repeated: Value | None = None
    offsets: list[Mixed] = [0]
    steps = [1]
    components: list[tuple[Mixed, int]] = []
    if isinstance(op, memref.Subview):
        if (axis := op.slice.dims[0]) is None:
            return None
        size, (step, repeated) = op.slice.sizes[axis], step_of(op.slice.strides[axis])
        if not step:
            return None
        offsets, steps = list(op.slice.offsets), [step if k == axis else 0 for k in range(len(op.slice.offsets))]
        buffer = memref.uncast(op.operand(0))
    elif not isinstance(op, memref.Diagonal):
        n = buffer.memref_type.shape[0]
        size = n if isinstance(n, int) else w.emit(memref.Dim.of(buffer, 0, w.loc))
    while (op := buffer.defining_op) is not None:
        if isinstance(op, memref.Subview):
            strides = [constant_index(x) for x in op.slice.strides]
            inner = [(offsets[k], steps[k], d) for k, d in enumerate(op.slice.dims) if d is not None]
            if None in strides or any(steps[k] for k, d in enumerate(op.slice.dims) if d is None):
                break
            offsets, steps = list(op.slice.offsets), [0] * len(strides)
            for offset, step, d in inner:
                offsets[d] = w.add(offsets[d], w.mul(offset, strides[d] or 0))
                steps[d] = step * (strides[d] or 0)
        elif isinstance(op, memref.Diagonal):
            a, b = op.attrs["axes"]
            rest = iter(zip(offsets[:-1], steps[:-1]))
            found = [(offsets[-1], steps[-1]) if k in (a, b) else next(rest) for k in range(len(offsets) + 1)]
            offsets, steps = [o for o, _ in found], [step for _, step in found]
        elif isinstance(op, memref.Recast) and op.operand(0).memref_type.rank == len(offsets) - 1 and not components:
            components = [(offsets.pop(), steps.pop())]
        else:
            break
        buffer = memref.uncast(op.operand(0))
    offsets += [o for o, _ in components]
    steps += [step for _, step in components]
    return _Vector(buffer, tuple(steps), tuple(offsets), size, repeated) if any(steps) else None


def _flat(w: IndexWriter, v: _Vector) -> _Vector | None:
    """The vector in its buffer as one axis, of which the other may be under another shape; None where it may go
    backwards by steps that are not known."""
    type_, root = v.base.memref_type, memref.base_of(v.base)
    if not type_.is_identity or len(v.steps) != type_.rank or root.memref_type.element != type_.element:
        return None
    offset: Mixed = 0
    step: Mixed = 1
    along: Mixed = 0
    for axis in reversed(range(type_.rank)):
        offset, along = w.add(offset, w.product(v.offsets[axis], step)), w.add(along, w.product(v.steps[axis], step))
        if axis:
            n = type_.shape[axis]
            step = w.product(step, n if isinstance(n, int) else w.emit(memref.Dim.of(v.base, axis, w.loc)))
    if isinstance(along, int):
        return _Vector(root, (along,), (offset,), v.size, v.repeated)
    return None if min(v.steps) < 0 else _Vector(root, (1,), (offset,), v.size, v.repeated, along)


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


def _replacement(there: Op, views: Sequence[Op], back: Op) -> list[Op] | None:
    """What copies without the temporary; None where that is not known."""
    w, target = IndexWriter([], back.loc), back.operand(1)
    source = _viewed(w, there.operand(0), views)
    s, d = _vector(w, source), _vector(w, target)
    if s is not None and d is not None and s.base is not d.base:
        s, d = _flat(w, s), _flat(w, d)
    if s is None or d is None or s.base is not d.base or len(s.steps) != len(d.steps) or d.repeated is not None:
        found = False
    elif s.repeated is None:
        found = _ordered(w, source, target, s, d)
    elif found := not views and _ordered(inner := IndexWriter([], back.loc), source, target, s, d):
        filled, ordered, view = Block(), Block(), memref.uncast(source).defining_op
        assert isinstance(view, memref.Subview)
        once = IndexWriter([], back.loc)
        element = once.emit(memref.Load.of(view.operand(0), list(map(once.value, view.slice.offsets)), back.loc))
        filled.replace_ops([*once.ops, linalg.Fill.of(element, target, back.loc), scf.Yield.of([], back.loc)])
        ordered.replace_ops([*inner.ops, scf.Yield.of([], back.loc)])
        w.ops.append(scf.If.of(s.repeated, [], filled, ordered, back.loc))
    if not found:
        for unused in w.ops:
            unused.drop_uses()
    return w.ops if found else None


def _ordered(w: IndexWriter, source: Value, target: Value, s: _Vector, d: _Vector) -> bool:
    """Writes loops that copy one vector onto another of the same buffer as if the source had been read first; whether
    there are any."""
    n, parts = d.size, list[tuple[Mixed, Mixed, bool]]()
    if n == -1:
        return False
    if s.pace is not None or d.pace is not None:
        if s.steps[0] < 0 or d.steps[0] < 0:
            return False
        parts = _by_pace(w, s, d)
    elif s.axis is None or d.axis is None or s.axis != d.axis:
        if (meeting := _meeting(w, s, d)) is None:
            return False
        turn: Mixed = w.choose(w.test("sge", *meeting), n, 0)
        parts = [(0, turn, False), (turn, n, True)]
    elif (s.steps[s.axis] > 0) != (d.steps[d.axis] > 0):
        return False
    else:
        p, q = d.steps[d.axis], s.steps[s.axis]
        sign = 1 if q > 0 else -1
        shift = w.sub(d.offsets[d.axis], s.offsets[s.axis])
        shift, growth = (shift if sign > 0 else w.sub(0, shift)), sign * (p - q)
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


def _by_pace(w: IndexWriter, s: _Vector, d: _Vector) -> list[tuple[Mixed, Mixed, bool]]:
    """The two parts, and whether each is copied downwards, of vectors along one axis whose steps the run time knows."""
    (p, q), n = (x.steps[0] if x.pace is None else x.pace for x in (d, s)), d.size
    shift, growth = w.sub(d.offsets[0], s.offsets[0]), w.sub(p, q)
    grows, equal = w.test("sge", growth, 0), w.test("eq", growth, 0)
    by = w.choose(equal, 1, w.choose(grows, growth, w.sub(0, growth)))
    above = w.choose(grows, w.sub(0, shift), w.add(shift, w.sub(by, 1)))
    turn: Mixed = w.op(FloorDivIndex, above, by)
    turn = w.clamped(w.add(turn, w.choose(grows, 1, 0)), n)
    turn = w.choose(equal, w.choose(w.test("sge", 0, shift), n, 0), turn)
    return [
        (w.choose(grows, 0, turn), w.choose(grows, turn, n), False),
        (w.choose(grows, turn, 0), w.choose(grows, n, turn), True),
    ]


def _meeting(w: IndexWriter, s: _Vector, d: _Vector) -> tuple[Mixed, Mixed] | None:
    """(i, j) where vectors in different directions meet in one place, or nowhere: element i of `d` is element j of `s`.
    """
    axes = range(len(s.steps))
    ours, theirs = [k for k in axes if d.steps[k]], [k for k in axes if s.steps[k]]
    if alone := [k for k in theirs if not d.steps[k]]:
        j = w.quotient(w.sub(d.offsets[alone[0]], s.offsets[alone[0]]), s.steps[alone[0]])
        k = ours[0]
        there = w.add(s.offsets[k], w.mul(j, s.steps[k])) if s.steps[k] else s.offsets[k]
        return w.quotient(w.sub(there, d.offsets[k]), d.steps[k]), j
    if alone := [k for k in ours if not s.steps[k]]:
        i = w.quotient(w.sub(s.offsets[alone[0]], d.offsets[alone[0]]), d.steps[alone[0]])
        k = theirs[0]
        there = w.add(d.offsets[k], w.mul(i, d.steps[k])) if d.steps[k] else d.offsets[k]
        return i, w.quotient(w.sub(there, s.offsets[k]), s.steps[k])
    return None
