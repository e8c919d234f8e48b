"""The canonical form of sizes and allocations in MLIR text: a size that an op says is read there; a buffer that is only
stored to, a cast of a buffer to what it is, and a loop that makes no iteration are gone.

One function a pattern, each of which changes a function and says whether. MLIR counterpart: the canonicalization
patterns of memref.dim, memref.alloc and memref.reinterpret_cast (MemRefOps.cpp), of scf.for (SCF.cpp).
"""

from __future__ import annotations

from tracebuf.ir.attributes import dynamic_integers
from tracebuf.ir.core import Mixed, Value, join_mixed
from tracebuf.ir.func import Func
from tracebuf.ir.types import INDEX, MemRefType, same_type
from tracebuf.ops.control import scf
from tracebuf.ops.memory import memref
from tracebuf.ops.memory.indexing import constant_index
from tracebuf.ops.memory.metadata import ReinterpretCast
from tracebuf.ops.scalars import arith


def read_known_sizes(func: Func) -> bool:
    """memref.dim of what an allocation, a view or a type tells the size of."""
    changed = False
    for op in [o for o in func.walk() if isinstance(o, memref.Dim)]:
        dim = memref.dimension(op)
        size = None if dim is None else size_of(op.operand(0), dim)
        if isinstance(size, int):
            constant = arith.Constant.of(size, INDEX, op.loc)
            assert op.block is not None
            op.block.insert_before(op, constant)
            size = constant.result
        if size is not None:
            op.result.replace_all_uses(size)
            func.symbols = {s: size if v is op.result else v for s, v in func.symbols.items()}
            op.erase()
            changed = True
    return changed


def size_of(buffer: Value, dim: int) -> Mixed | None:
    """The size of a dimension as the buffer's type, or the op that made it, has it."""
    while True:
        size = buffer.memref_type.shape[dim] if isinstance(buffer.type, MemRefType) else None
        op = buffer.defining_op
        if isinstance(size, int):
            return size
        if isinstance(op, memref.Alloc):
            return op.sizes[dim]
        if isinstance(op, memref.Subview):
            source = op.attrs["dims"][dim]
            return 1 if source is None else op.slice.sizes[source]
        if isinstance(op, ReinterpretCast):
            first = 1 + sum(n is None for n in dynamic_integers(op.attrs["static_offsets"].value))
            sizes = join_mixed(dynamic_integers(op.attrs["static_sizes"].value), iter(op.operands[first:]))
            return sizes[dim]
        if not isinstance(op, memref.Cast):
            return None
        buffer = op.operand(0)


def drop_unread_allocations(func: Func) -> bool:
    """An allocation that is only stored to, and freed."""
    changed = False
    for op in [o for o in func.walk() if isinstance(o, memref.Alloc)]:
        users = list(dict.fromkeys(use.op for use in op.result.uses))
        if all(
            isinstance(u, memref.Dealloc) or (isinstance(u, memref.Store) and u.operand(1) is op.result) for u in users
        ):
            for user in (*users, op):
                user.erase()
            changed = True
    return changed


def drop_whole_reinterpretations(func: Func) -> bool:
    """A buffer of rank 1 taken apart and put together as what it is."""
    changed = False
    for op in [o for o in func.walk() if isinstance(o, ReinterpretCast)]:
        source, type_ = op.operand(0), op.result.type
        if not (isinstance(source.type, MemRefType) and isinstance(type_, MemRefType) and type_.rank == 1):
            continue
        before, after = size_of(source, 0) if source.type.rank == 1 else None, size_of(op.result, 0)
        offset, stride = (dynamic_integers(op.attrs[k].value) for k in ("static_offsets", "static_strides"))
        dense = offset == (0,) and stride == (1,) and source.type.is_identity and same_type(source.type, type_)
        if dense and before is not None and after is not None and same_number(before, after):
            op.result.replace_all_uses(source)
            op.erase()
            changed = True
    return changed


def same_number(a: Mixed, b: Mixed) -> bool:
    known = [v if isinstance(v, int) else constant_index(v) for v in (a, b)]
    return a is b or (known[0] is not None and known[0] == known[1])


def drop_empty_loops(func: Func) -> bool:
    """scf.for that makes no iteration, as its bounds are known, or one value."""
    changed = False
    for op in [o for o in func.walk() if isinstance(o, scf.For)]:
        if op.block is None:
            continue  # it was within a loop that went
        known = op.known_bounds()
        if op.operand(0) is op.operand(1) or (known is not None and known[1] <= known[0]):
            for result, init in zip(op.results, op.operands[3:], strict=True):
                result.replace_all_uses(init)
            op.erase()
            changed = True
    if changed:
        func.forget_lost_symbols()
    return changed


PATTERNS = (read_known_sizes, drop_unread_allocations, drop_whole_reinterpretations, drop_empty_loops)
