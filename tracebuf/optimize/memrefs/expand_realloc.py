"""Replaces memref.realloc by what it does: if the buffer is too small, a new one with the old elements, which are freed
only with `emit_deallocs`; else the buffer itself under another size. MLIR counterpart: -expand-realloc."""

from __future__ import annotations

from collections.abc import Callable

from tracebuf.ir.core import Block, Mixed, Op, Value
from tracebuf.ir.func import Func
from tracebuf.ir.slices import Slice
from tracebuf.ir.types import INDEX, MemRefType
from tracebuf.location import Location
from tracebuf.ops.control import scf
from tracebuf.ops.memory import memref
from tracebuf.ops.memory.metadata import Realloc, ReinterpretCast
from tracebuf.ops.scalars import arith


def expand_realloc(func: Func, emit_deallocs: bool = True, *, by_subview: bool = False) -> None:
    """Replaces every realloc. `by_subview`: a buffer that is large enough becomes a memref.subview, which machine code
    knows, where MLIR has a memref.reinterpret_cast."""
    for op in [o for o in func.walk() if isinstance(o, Realloc)]:
        _expand(op, emit_deallocs, first_elements if by_subview else ReinterpretCast.resized)


def first_elements(source: Value, type: MemRefType, size: Mixed, loc: Location) -> Op:
    return memref.Subview.of(source, Slice((0,), (size,), (1,), (0,)), type.shape, loc)


def _expand(op: Realloc, emit_deallocs: bool, resized: Callable[[Value, MemRefType, Mixed, Location], Op]) -> None:
    block, source, type_ = op.block, op.operand(0), op.result.memref_type
    assert block is not None
    sizes = [_size(op, source.memref_type.shape[0], source), _size(op, type_.shape[0], None)]
    too_small = arith.CmpI.of("ult", sizes[0], sizes[1], op.loc)
    block.insert_before(op, too_small)
    known = [n if isinstance(n, int) else v for n, v in zip((source.memref_type.shape[0], type_.shape[0]), sizes)]
    then, orelse = Block(), Block()
    alloc = memref.Alloc.of(type_.shape, type_.element, [known[1]], (0,), "", op.loc)
    part = memref.Subview.of(alloc.result, Slice((0,), (known[0],), (1,), (0,)), source.memref_type.shape, op.loc)
    then.append(alloc)
    then.append(part)
    then.append(memref.Copy([source, part.result], [], op.loc))
    if emit_deallocs:
        then.append(memref.Dealloc.of(source, op.loc))
    then.append(scf.Yield.of([alloc.result], op.loc))
    cast = resized(source, type_, known[1], op.loc)
    orelse.append(cast)
    orelse.append(scf.Yield.of([cast.result], op.loc))
    made = scf.If.of(too_small.result, [type_], then, orelse, op.loc)
    block.insert_before(op, made)
    op.result.replace_all_uses(made.results[0])
    op.erase()


def _size(op: Realloc, size: object, source: Value | None) -> Value:
    """The size as a value before the op: a constant, the source's, or the op's own."""
    block = op.block
    assert block is not None
    made: Op
    if isinstance(size, int):
        made = arith.Constant.of(size, INDEX, op.loc)
    elif source is None:
        return op.operand(1)
    else:
        made = memref.Dim.of(source, 0, op.loc)
    block.insert_before(op, made)
    return made.result
