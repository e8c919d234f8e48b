"""Replaces the ops of the bufferization dialect on memrefs: a clone becomes an allocation and a copy, a dealloc what
-bufferization-lower-deallocations makes of it. MLIR counterpart: -convert-bufferization-to-memref."""

from __future__ import annotations

from tracebuf.deallocate.general.lower_deallocations import lower_deallocations
from tracebuf.errors import UnsupportedError
from tracebuf.ir.core import Op, Value
from tracebuf.ir.func import Func
from tracebuf.ir.types import MemRefType, same_type
from tracebuf.ops.arrays.bufferization import Clone, Dealloc
from tracebuf.ops.memory import memref

DIALECT = "bufferization."


def convert_bufferization_to_memref(func: Func) -> None:
    """Lowers clones and deallocs; UnsupportedError for another op of the dialect."""
    for op in func.walk():
        if op.name.startswith(DIALECT) and not isinstance(op, Clone | Dealloc):
            text = f"failed to legalize operation '{op.name}' that was explicitly marked illegal"
            raise UnsupportedError(text, location=op.loc)
    for op in [o for o in func.walk() if isinstance(o, Clone)]:
        op.result.replace_all_uses(allocated_copy(op))
        op.erase()
    lower_deallocations(func)


def allocated_copy(op: Op) -> Value:
    """A new buffer before the op with the elements of its operand, under the type of its result."""
    source, block, type_ = op.operand(0), op.block, op.result.type
    assert block is not None
    known = source.type
    if not isinstance(known, MemRefType) or not isinstance(type_, MemRefType):
        raise UnsupportedError(f"failed to legalize operation '{op.name}': its rank is not known", location=op.loc)
    buffer = new_buffer(op, source)
    if not same_type(buffer.type, type_):
        if not memref.cast_is_safe(buffer.type, type_):
            text = f"failed to legalize operation '{op.name}': no new buffer is a {type_}"
            raise UnsupportedError(text, location=op.loc)
        cast = memref.Cast.of(buffer, type_, op.loc)
        block.insert_before(op, cast)
        buffer = cast.result
    block.insert_before(op, memref.Copy([source, buffer], [], op.loc))
    return buffer


def new_buffer(op: Op, source: Value) -> Value:
    """A new buffer before the op, with the sizes of a memref and no layout of its own."""
    type_, block = source.memref_type, op.block
    assert block is not None
    sizes: list[int | Value] = []
    for d, n in enumerate(type_.shape):
        if isinstance(n, int):
            sizes.append(n)
        else:
            dim = memref.Dim.of(source, d, op.loc)
            block.insert_before(op, dim)
            sizes.append(dim.result)
    alloc = memref.Alloc.of(type_.shape, type_.element, sizes, tuple(range(type_.rank)), "", op.loc)
    block.insert_before(op, alloc)
    return alloc.result
