"""Removes copies between a buffer and another that is only there for the copy, with its allocation and its free.

Reuse of the source: what is copied into a new buffer, and freed, becomes the new buffer. Reuse of the target: what is
computed in a buffer of its own, copied and freed, is computed in the target. As the document says, copy, definition and
free stand in one block, and what is replaced has no users in between. Beyond the document, a round trip: a new buffer
that begins as a copy of another, and is copied back there, is the other, which nobody uses meanwhile. MLIR counterpart:
-copy-removal, gone from MLIR 22.
"""

from __future__ import annotations

from tracebuf.analysis.flow.blocks import op_in
from tracebuf.analysis.flow.views import Views, frees
from tracebuf.ir.core import Block, Op, Value, is_buffer
from tracebuf.ir.effects import effects_of
from tracebuf.ir.func import Func
from tracebuf.ir.types import same_type
from tracebuf.ops.arrays.bufferization import Clone
from tracebuf.ops.memory.memref import Alloc, Copy, Dealloc


def copy_removal(func: Func) -> None:
    """Removes copies until none can be removed."""
    while any(_remove(func, op) for op in list(func.walk()) if isinstance(op, Copy | Clone)):
        pass


def _remove(func: Func, copy: Op) -> bool:
    if copy.block is None:
        return False
    source = copy.operand(0)
    target = copy.result if isinstance(copy, Clone) else copy.operand(1)
    if source is target:
        copy.erase()
        return True
    views = Views(func)
    return (
        _reuse_source(copy, source, target, views)
        or _reuse_target(copy, source, target, views)
        or _round_trip(copy, source, target, views)
    )


def _reuse_source(copy: Op, source: Value, target: Value, views: Views) -> bool:
    """A new target, unused before the copy, is the source, which is freed in the block and not used in between."""
    block, made = copy.block, target.defining_op
    assert block is not None
    if type(made) not in (Alloc, Clone) or made is None or made.block is not block:
        return False
    if not _heap(source, views) or not same_type(source.type, target.type):
        return False
    free = _free_in(block, source, views)
    after = _uses_between(block, copy, free, source, views, but=(copy, free))
    before = made is not copy and _uses_between(block, made, copy, target, views, but=(made, copy))
    if free is None or after or before:
        return False
    target.replace_all_uses(source, unless=copy)
    for op in dict.fromkeys((free, copy, made)):
        op.erase()
    return True


def _reuse_target(copy: Op, source: Value, target: Value, views: Views) -> bool:
    """A source made here, whose last use is the copy, is computed in the target, which nobody uses meanwhile."""
    block, made = copy.block, source.defining_op
    assert block is not None
    if isinstance(copy, Clone) or type(made) is not Alloc or made.block is not block:
        return False
    if not same_type(source.type, target.type) or not _known_at(target, made, block):
        return False
    free = _free_in(block, source, views)
    if free is None or _uses_between(block, copy, free, source, views, but=(copy, free)):
        return False
    if _touched_between(block, made, copy, target, views):
        return False
    for use in [u for u in source.uses if u.op not in (copy, free)]:
        use.set(target)
    for op in (free, copy, made):
        op.erase()
    return True


def _round_trip(copy: Op, source: Value, target: Value, views: Views) -> bool:
    """A source made here, whose first use is a copy of the target and whose last one is this copy back, is computed in
    the target."""
    block, made = copy.block, source.defining_op
    assert block is not None
    if isinstance(copy, Clone) or type(made) is not Alloc or made.block is not block:
        return False
    if not same_type(source.type, target.type) or not _known_at(target, made, block):
        return False
    firsts = [u.op for u in source.uses if isinstance(u.op, Copy) and u.index == 1 and u.op.operand(0) is target]
    first = min((op for op in firsts if op.block is block), key=block.op_index, default=None)
    free = _free_in(block, source, views)
    if first is None or free is None or block.op_index(copy) < block.op_index(first):
        return False
    if _uses_between(block, made, first, source, views, but=(made, first)):
        return False
    if _uses_between(block, copy, free, source, views, but=(copy, free)):
        return False
    if _touched_between(block, made, copy, target, views, but=first):
        return False
    for use in [u for u in source.uses if u.op not in (copy, free, first)]:
        use.set(target)
    for op in (free, copy, first, made):
        op.erase()
    return True


def _heap(value: Value, views: Views) -> bool:
    """Whether the value is a buffer that is allocated in the function under this name."""
    return type(value.defining_op) in (Alloc, Clone)


def _free_in(block: Block, buffer: Value, views: Views) -> Op | None:
    """The only free of a buffer, if it stands in the block under the buffer's own name."""
    found = [op for alias in views.resolve(buffer) for op in frees(alias)]
    if len(found) == 1 and isinstance(found[0], Dealloc) and found[0].block is block:
        return found[0] if found[0].operand(0) is buffer else None
    return None


def _uses_between(
    block: Block, start: Op, end: Op | None, buffer: Value, views: Views, but: tuple[Op | None, ...]
) -> bool:
    """Whether a use of the buffer, or of a view of it, stands after `start` and before `end`, or there is no end."""
    if end is None or block.op_index(end) < block.op_index(start):
        return True
    low, high = block.op_index(start), block.op_index(end)
    for alias in views.resolve(buffer):
        for use in alias.uses:
            place = op_in(block, use.op)
            if place is not None and use.op not in but and low < block.op_index(place) < high:
                if not _only_asks(use.op):
                    return True
    return False


def _only_asks(op: Op) -> bool:
    """Whether an op only asks for sizes."""
    return bool(op.results) and not any(is_buffer(r) for r in op.results) and effects_of(op) == ()


def _touched_between(block: Block, start: Op, end: Op, buffer: Value, views: Views, but: Op | None = None) -> bool:
    """Whether anything between the two may touch the memory of a buffer by whatever name: it is used, or a buffer that
    may be the same is, or an op does what is not known."""
    near = _family(buffer, views)
    fresh = start.result
    low, high = block.op_index(start), block.op_index(end)
    mine = views.resolve(fresh)
    for op in block.ops[low + 1 : high]:
        for inner in (op, *op.walk()) if op is not but else ():
            if inner.effects() is None and not inner.regions:
                return True
            for v in inner.operands:
                if is_buffer(v) and v not in mine and (v in near or not _apart(v, buffer, views)):
                    return True
    return False


def _family(buffer: Value, views: Views) -> set[Value]:
    return {v for origin in views.origins(buffer) for v in views.resolve(origin)}


def _apart(a: Value, b: Value, views: Views) -> bool:
    """Whether two memrefs never share memory: all that they may be are allocations and arguments of the function, and
    none is the same. (Arguments do not overlap, MLIR behaviour 45.)"""
    mine, theirs = views.origins(a), views.origins(b)
    known = all(
        isinstance(v.defining_op, Alloc | Clone) or (isinstance(v.owner, Block) and v.owner.parent_op is None)
        for v in mine | theirs
    )
    return known and mine.isdisjoint(theirs)


def _known_at(value: Value, op: Op, block: Block) -> bool:
    """Whether the value is defined before `op` in its block, or outside of it."""
    maker = value.defining_op
    if maker is None or maker.block is not block:
        return value.block is not block or maker is None
    return block.op_index(maker) < block.op_index(op)
