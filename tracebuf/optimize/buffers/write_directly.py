"""A store through a temporary writes directly where, at run time, source and target turn out not to overlap.

`a[n:] += a[:m]` needs a temporary only if the slices share elements and are not the same; NumPy looks at the addresses
and makes none otherwise, so the compiled program looks too (rule S2): an `scf.if` with the direct form in one branch.
Two parts of a buffer are disjoint if on some axis their ranges are, or their steps never meet; parts of it under two
shapes (`c[1] |= c.ravel()[:2]`) if one ends before the other begins, and the same if both are one run. `a[:-1] +=
a[1:]` needs none either: compiled loops count up, one element after the other, and read ahead of what they write.
Along an axis of one index, steps do not matter. An axis that is repeated where its size turns out to be 1 (`a[:n] *=
a`) is one of step 1 elsewhere.

Why here: the analysis decides for all sizes at once. Limitations: not for stores whose value NumPy computes into a
temporary of its own. MLIR has no counterpart.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from tracebuf.deallocate.facts import flow_blocks
from tracebuf.ir.clone import clone_op
from tracebuf.ir.core import Block, Mixed, Op, Use, Value
from tracebuf.ir.func import Func
from tracebuf.ir.slices import Slice
from tracebuf.ops.arrays import linalg
from tracebuf.ops.control import scf
from tracebuf.ops.memory import memref
from tracebuf.ops.memory.indexing import AffineMap
from tracebuf.ops.scalars import arith, division, integers
from tracebuf.optimize.buffers.writer import IndexWriter, Test, leaves_buffers, step_of

Part = tuple[Value, Slice]
"""A buffer, whole or under another shape, and what of it is seen."""
Placed = tuple[Slice, tuple[Mixed, Mixed]]
"""What is seen, and its lowest and highest place."""
SMALL_BODY = 3
"""Ops in a body that NumPy computes without a temporary: one ufunc with a conversion, and the yield."""
DIVISION_BODY = 33
"""Ops of a floor division of half floats, which is the longest of those that begin with fmod."""
SHIFTS = (integers.ShLI, integers.ShRSI, division.ShRUI)


def write_directly(func: Func) -> None:
    """Gives each temporary of a single store a branch without it, where that may be taken."""
    for block in list(flow_blocks(func)):
        new: dict[Op, list[Op]] = {}
        for op in block.ops:
            if isinstance(op, memref.Alloc) and (found := _stored_once(op)) is not None:
                writer, store = found
                w = IndexWriter([], store.loc)
                test = _harmless(w, writer, store.operand(1))
                if test is not None and test is not False:
                    new |= {op: [], writer: [], store: w.ops + _branches(test, op, writer, store)}
                else:
                    for unused in w.ops:
                        unused.drop_uses()
        if new:
            block.replace_ops([o for op in block.ops for o in new.get(op, [op])])


def _stored_once(alloc: memref.Alloc) -> tuple[Op, Op] | None:
    """The op that computes a temporary and the copy of it to its destination, if it has no other use and no effect lies
    between."""
    users, block = [u.op for u in alloc.result.uses], alloc.block
    if block is None or len(users) != 2 or any(o.block is not block for o in users):
        return None
    writer, store = sorted(users, key=block.op_index)
    if not isinstance(store, memref.Copy) or store.operand(0) is not alloc.result or not _simple(writer, alloc.result):
        return None
    between = block.ops[block.op_index(writer) + 1 : block.op_index(store)]
    return (writer, store) if all(map(leaves_buffers, between)) else None


def _simple(writer: Op, target: Value) -> bool:
    """Whether the op copies into the target, or is one elementwise NumPy operation on its way there."""
    if isinstance(writer, memref.Copy):
        return writer.operand(1) is target
    if not isinstance(writer, linalg.Generic) or not writer.all_parallel or not _is_one_ufunc(writer.body.ops):
        return False
    (out,) = writer.out_uses if len(writer.out_uses) == 1 else (None,)
    return (
        out is not None
        and out.value is target
        and writer.maps[out.index].is_identity
        and not writer.body.args[out.index].uses
        and all(u.value is not target for u in writer.uses if u is not out)
    )


def _is_one_ufunc(ops: Sequence[Op]) -> bool:
    """Whether a body is what one of NumPy's operations becomes; a shift also asks whether the count is too large, and
    remainders and floor divisions of floats correct what fmod gives."""
    beside = (arith.Constant, arith.CmpI, arith.Select)
    if any(isinstance(op, SHIFTS) for op in ops):
        ops = [op for op in ops if not isinstance(op, beside)]
    divides = any(isinstance(op, arith.Ufunc) and op.attrs["ufunc"] == "fmod" for op in ops)
    return len(ops) <= (DIVISION_BODY if divides else SMALL_BODY)


def _harmless(w: IndexWriter, writer: Op, target: Value) -> Test | None:
    """When the writer may write the target directly; None where that is not known."""
    goal, root = _seen(w, target), memref.uncast(memref.base_of(target))
    if goal is None:
        return None
    harmless: Test = True
    for use in writer.uses[: 1 if isinstance(writer, memref.Copy) else writer.n_ins]:  # type: ignore[attr-defined]
        if not hasattr(use.value.type, "strides"):
            continue
        base = memref.uncast(memref.base_of(use.value))
        if base is not root:
            if not (_own_memory(base) and _own_memory(root)):
                return None
            continue
        exact = _seen(w, use.value)
        source = exact or _around(w, use.value)
        if source is None:
            return None
        fine: Test = False
        if root in (memref.uncast(use.value), memref.uncast(target)):  # nothing is apart from the whole
            if source[0] is not goal[0]:
                return None
        elif source[0] is goal[0]:
            fine = _disjoint(w, goal[1], source[1])
        elif (under := _under_two_shapes(w, writer, use, source, goal, exact is not None)) is not None:
            fine = under
        else:
            return None
        if exact is not None and source[0] is goal[0]:  # else only that they are apart may be known
            if isinstance(writer, memref.Copy):
                same = _coincide(w, goal[1], source[1])
            else:
                map_ = writer.maps[use.index]  # type: ignore[attr-defined]
                same = map_.runs and not map_.whole and _reads_ahead(w, goal[1], source[1], map_)
            if same is not False:
                same = w.both(same, _unrepeated(w, use.value))
            fine = w.either(fine, same)
        harmless = w.both(harmless, fine)
        if harmless is False:
            break
    return harmless


def _under_two_shapes(w: IndexWriter, writer: Op, use: Use, source: Part, goal: Part, exact: bool) -> Test | None:
    """When a target may be written while a part of its buffer under another shape is read (`exact`: no more than that
    part); None where it is not known where they are."""
    there, here = _places(w, *source), _places(w, *goal)
    if there is None or here is None:
        return None
    apart = _apart(w, there, here)
    same: Test = False
    if exact and isinstance(writer, memref.Copy):
        same = _is_same_run(w, (source[1], there), (goal[1], here))
    elif exact and isinstance(writer, linalg.Generic) and writer.maps[use.index].is_identity:
        follows = _steps_ahead if use.value.memref_type.rank == 1 else _is_same_run
        same = follows(w, (source[1], there), (goal[1], here))
    return apart if same is False else w.either(apart, w.both(same, _unrepeated(w, use.value)))


def _own_memory(base: Value) -> bool:
    """Whether the buffer cannot be a part of another one: an argument or an allocation."""
    return isinstance(base.defining_op, memref.Alloc) or (
        isinstance(base.owner, Block) and base.owner.parent_op is None
    )


def _part(w: IndexWriter, buffer: Value) -> Part | None:
    """What a view, or a view of a view, sees of the buffer below them."""
    found: Part | None = None
    while isinstance(op := memref.uncast(buffer).defining_op, memref.Subview):
        if any(step_of(x)[0] is None for x in op.slice.strides):
            return None
        seen = _once(w, op.slice)
        buffer = memref.uncast(op.operand(0))
        found = buffer, seen if found is None else _composed(w, seen, found[1])
    return found


def _repeated(stride: Mixed) -> Test:
    """Whether an axis of this stride is one element, repeated."""
    step, condition = step_of(stride)
    return step == 0 if condition is None else condition


def _once(w: IndexWriter, s: Slice) -> Slice:
    """What a view sees of the buffer below it, each element once: an axis that is repeated is one of one index."""
    sizes = [w.choose(_repeated(x), 1, n) for n, x in zip(s.sizes, s.strides, strict=True)]
    return Slice(s.offsets, tuple(sizes), tuple(step_of(x)[0] or 1 for x in s.strides), s.dims)


def _unrepeated(w: IndexWriter, buffer: Value) -> Test:
    """Whether no axis of a view is repeated, but to one element."""
    plain: Test = True
    while isinstance(op := memref.uncast(buffer).defining_op, memref.Subview):
        for size, stride in zip(op.slice.sizes, op.slice.strides, strict=True):
            if (repeated := _repeated(stride)) is not False:
                stepped = not repeated if isinstance(repeated, bool) else w.test("ne", stride, 0)
                plain = w.both(plain, w.either(stepped, w.test("slt", size, 2)))
        buffer = op.operand(0)
    return plain


def _composed(w: IndexWriter, outer: Slice, inner: Slice) -> Slice:
    """The part of a buffer that is a part of its part."""
    offsets, strides = list(outer.offsets), [1] * len(outer.offsets)
    sizes: list[Mixed] = [1] * len(outer.offsets)
    for k, d in enumerate(outer.dims):
        if d is not None:
            step = _stride(outer, d)
            offsets[d] = w.add(offsets[d], w.mul(inner.offsets[k], step))
            strides[d], sizes[d] = step * _stride(inner, k), inner.sizes[k]
    dims = tuple(None if k is None else outer.dims[k] for k in inner.dims)
    return Slice(tuple(offsets), tuple(sizes), tuple(strides), dims)


def _seen(w: IndexWriter, buffer: Value) -> Part | None:
    """A part of a buffer, or the whole of one."""
    base = memref.uncast(buffer)
    if not _own_memory(base):
        return _part(w, buffer)
    rank = base.memref_type.rank
    return base, Slice((0,) * rank, _sizes(base), (1,) * rank, tuple(range(rank)))


def _sizes(base: Value) -> tuple[Mixed, ...]:
    """The sizes of a whole buffer; 2 stands for those of an argument, which is compiled for 1 where it is that."""
    if isinstance(base.defining_op, memref.Alloc):
        return tuple(base.defining_op.sizes)
    return tuple(n if isinstance(n, int) else 2 for n in base.memref_type.shape)


def _around(w: IndexWriter, buffer: Value) -> Part | None:
    """A part that has all elements of a view of a view."""
    while isinstance(op := memref.uncast(buffer).defining_op, memref.Subview):
        buffer = op.operand(0)
        if (found := _part(w, buffer)) is not None:
            return found
    return None


def _stride(s: Slice, axis: int) -> int:
    step = s.strides[axis]
    assert isinstance(step, int)
    return step


def _step(s: Slice, axis: int) -> int:
    return _stride(s, axis) if axis in s.dims and s.sizes[axis] != 1 else 0


def _moving(s: Slice) -> tuple[int | None, ...]:
    """The axis of the buffer that each axis of the part goes along; None for a new one, and where it has one index."""
    return tuple(None if d is None or s.sizes[d] == 1 else d for d in s.dims)


def _walk(s: Slice) -> list[tuple[int, int] | None]:
    """The axis of the buffer that each axis of the part goes along, and its step; None where it has one index."""
    return [None if d is None else (d, _step(s, d)) for d in _moving(s)]


def _range(w: IndexWriter, s: Slice, axis: int) -> tuple[Mixed, Mixed]:
    """The lowest and the highest index along an axis."""
    first, step = s.offsets[axis], _step(s, axis)
    if not step:
        return first, first
    last = w.add(first, w.mul(w.sub(s.sizes[axis], 1), step))
    return (first, last) if step > 0 else (last, first)


def _places(w: IndexWriter, base: Value, part: Slice) -> tuple[Mixed, Mixed] | None:
    """The lowest and the highest place of a part among all elements, which lie in C order from the buffer's start."""
    type_ = base.memref_type
    if not type_.is_identity:
        return None
    low: Mixed = 0
    high: Mixed = 0
    step: Mixed = 1
    for axis in reversed(range(type_.rank)):
        first, last = _range(w, part, axis)
        low, high = w.add(low, w.product(first, step)), w.add(high, w.product(last, step))
        if axis:
            size = type_.shape[axis]
            step = w.product(step, size if isinstance(size, int) else w.emit(memref.Dim.of(base, axis, w.loc)))
    return low, high


def _apart(w: IndexWriter, a: tuple[Mixed, Mixed], b: tuple[Mixed, Mixed]) -> Test:
    """Whether one range ends before the other begins."""
    return w.either(w.test("slt", a[1], b[0]), w.test("slt", b[1], a[0]))


def _one_run(w: IndexWriter, s: Slice, places: tuple[Mixed, Mixed]) -> Test:
    """Whether a part is consecutive elements, from the lowest to the highest of these places."""
    moving = [d for d in _moving(s) if d is not None]
    if moving != sorted(moving) or any(_step(s, d) < 0 for d in moving):
        return False
    count: Mixed = 1
    for d in moving:
        count = w.product(count, s.sizes[d])
    return w.test("eq", w.sub(places[1], places[0]), w.sub(count, 1))


def _is_same_run(w: IndexWriter, source: Placed, goal: Placed) -> Test:
    """Whether two parts are the same consecutive elements."""
    runs = w.both(_one_run(w, *source), _one_run(w, *goal))
    return runs if runs is False else w.both(w.test("eq", source[1][0], goal[1][0]), runs)


def _steps_ahead(w: IndexWriter, source: Placed, goal: Placed) -> Test:
    """Whether a vector begins where another one of as many elements does, or after it, and goes at least as fast."""
    if any(_step(s, d) < 0 for s, _ in (source, goal) for d in _moving(s) if d is not None):
        return False
    (_, (low, high)), (_, (first, last)) = source, goal
    return w.both(w.test("sge", low, first), w.test("sge", w.sub(high, low), w.sub(last, first)))


def _disjoint(w: IndexWriter, a: Slice, b: Slice) -> Test:
    """Whether two parts share no element."""
    found: Test = False
    for axis in range(len(a.offsets)):
        found = w.either(found, _apart(w, _range(w, a, axis), _range(w, b, axis)))
        steps = _step(a, axis), _step(b, axis)
        found = w.either(found, _never_meet(w, a, b, axis, gcd(*steps)))
        for one, step in ((b, steps[0]), (a, steps[1])):  # one index at run time meets few of a step
            if gcd(*steps) == 1 and isinstance(one.sizes[axis], Value):
                alone = w.test("slt", one.sizes[axis], 2)
                found = w.either(found, w.both(alone, _never_meet(w, a, b, axis, abs(step))))
    return found


def _never_meet(w: IndexWriter, a: Slice, b: Slice, axis: int, step: int) -> Test:
    """Whether indices that are whole steps from the first ones, of both, are never the same."""
    if step < 2:
        return False
    shift = w.sub(a.offsets[axis], b.offsets[axis])
    return w.test("ne", shift, w.mul(w.quotient(shift, step), step))


def _coincide(w: IndexWriter, a: Slice, b: Slice) -> Test:
    """Whether two parts are the same elements in the same order."""
    if _moving(a) != _moving(b) or any(_step(a, k) != _step(b, k) for k in range(len(a.offsets))):
        return False
    same: Test = True
    for x, y in zip(a.offsets, b.offsets, strict=True):
        same = w.both(same, w.test("eq", x, y))
    return same


def _reads_ahead(w: IndexWriter, goal: Slice, source: Slice, map_: AffineMap) -> Test:
    """Whether loops over the goal that count up, in any nesting, read each shared element before they write it, or as
    they do. `map_`: which loop goes along each axis of the source."""
    written, along = _walk(goal), dict(zip(map_.results, _walk(source), strict=True))
    loops = [(g, along.get(k)) for k, g in enumerate(written)]
    ahead: Test = True
    for g, s in loops:
        if g is None:  # there is one index
            continue
        if s is not None and g[0] == s[0] and (s[1] >= g[1] if s[1] > 0 else s[1] <= g[1]):
            shift = w.sub(source.offsets[g[0]], goal.offsets[g[0]])
            ahead = w.both(ahead, w.test("sge", shift, 0) if s[1] > 0 else w.test("sge", 0, shift))
        elif s is not None and isinstance(n := source.sizes[s[0]], int) and n > 1:
            ahead = False
        else:
            ahead = w.both(ahead, w.test("eq", goal.sizes[g[0]], 1))
    moving = [(g, s) for g, s in loops if g or s]
    if len(moving) == 1 and (g := moving[0][0]) and (s := moving[0][1]) and g[0] != s[0]:
        ahead = w.either(ahead, _crosses(w, goal, source, g, s))
    return ahead


def _crosses(w: IndexWriter, goal: Slice, source: Slice, g: tuple[int, int], s: tuple[int, int]) -> Test:
    """Whether vectors along different axes, of these steps, read the one element that they share before they write
    it."""
    written = w.quotient(w.sub(source.offsets[g[0]], goal.offsets[g[0]]), g[1])
    read = w.quotient(w.sub(goal.offsets[s[0]], source.offsets[s[0]]), s[1])
    return w.test("sge", written, read)


def _branches(test: Test, alloc: Op, writer: Op, store: Op) -> list[Op]:
    """The direct form if the test holds, else the three ops as they were."""
    direct = Block()
    clone_op(writer, {alloc.results[0]: store.operand(1)}, lambda op: (direct.append(op), op)[1])  # type: ignore[func-returns-value]
    if isinstance(writer, memref.Copy):
        direct.ops[0].attrs["reason"] = store.attrs.get("reason", "store")
    else:
        direct.ops[0].attrs["ordered"] = True  # LLVM must not take its iterations for independent
    if isinstance(test, bool):
        for gone in (writer, store, alloc):
            gone.drop_uses()
        return direct.ops
    direct.append(scf.Yield.of([], store.loc))
    through = Block()
    through.replace_ops([alloc, writer, store, scf.Yield.of([], store.loc)])
    return [scf.If.of(test, [], direct, through, store.loc)]
