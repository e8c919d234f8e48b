"""arith.select of buffers as scf.if, and constants that a function returns as copies: the forms that deallocation and
native code take.

The caller frees a result that is no argument, so it must not be a constant of the module (MLIR's deallocation clones it
likewise). Leaves selects of scalars. MLIR has no counterpart for selects: its deallocation accepts them.
"""

from __future__ import annotations

from tracebuf.deallocate.facts import sources
from tracebuf.ir.core import Block, Value
from tracebuf.ir.func import Func
from tracebuf.ir.types import MemRefType, same_type
from tracebuf.ops.control import scf
from tracebuf.ops.control.func import Return
from tracebuf.ops.memory import memref
from tracebuf.ops.scalars.arith import Select


def lower_selects(func: Func) -> None:
    """Replaces each select of memrefs."""
    for op in list(func.walk()):
        if not isinstance(op, Select) or not isinstance(type_ := op.result.type, MemRefType):
            continue
        branches = []
        for value in op.operands[1:]:
            block = Block()
            if not same_type(value.type, type_):
                block.append(cast := memref.Cast.of(value, type_, op.loc))
                value = cast.result
            block.append(scf.Yield.of([value], op.loc))
            branches.append(block)
        assert op.block is not None
        made = scf.If.of(op.operand(0), [type_], branches[0], branches[1], op.loc)
        op.block.insert_before(op, made)
        op.result.replace_all_uses(made.results[0])
        op.erase()


def own_constants(func: Func) -> None:
    """Returns a copy where a result may be a constant."""
    for op in [o for o in func.walk() if isinstance(o, Return)]:
        for use in op.uses:
            if isinstance(use.value.type, MemRefType) and _may_be_constant(use.value):
                assert op.block is not None
                fresh = _copy_before(op, use.value)
                use.set(fresh)


def _may_be_constant(value: Value) -> bool:
    work, seen = [value], {value}
    while work:
        current = work.pop()
        if isinstance(current.defining_op, memref.GetGlobal):
            return True
        fresh = [v for v in sources(current) or () if v not in seen]
        seen.update(fresh)
        work += fresh
    return False


def _copy_before(op: Return, value: Value) -> Value:
    type_, block = value.memref_type, op.block
    assert block is not None
    sizes = [memref.Dim.of(value, d, op.loc) for d in range(type_.rank)]
    for size in sizes:
        block.insert_before(op, size)
    known = [n if isinstance(n, int) else s.result for n, s in zip(type_.shape, sizes, strict=True)]
    reason = "a constant is not given away"
    alloc = memref.Alloc.of(type_.shape, type_.element, known, tuple(range(type_.rank)), reason, op.loc)
    block.insert_before(op, alloc)
    block.insert_before(op, memref.Copy.of(value, alloc.result, reason, op.loc))
    if same_type(alloc.result.type, value.type):
        return alloc.result
    cast = memref.Cast.of(alloc.result, value.type, op.loc)
    block.insert_before(op, cast)
    return cast.result
