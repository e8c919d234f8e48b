"""Lowers `bufferization.dealloc` to memref.dealloc under scf.if, with base pointers compared in line.

    dealloc (m0, m1) if (c0, c1) retain (r)   ->   f0 = c0 and m0 != r;  f1 = c1 and m1 != r and not (c0 and m1 == m0)
                                                   owned(r) = (c0 and m0 == r) or (c1 and m1 == r)

Every comparison comes before any free. An earlier memref that is the same buffer but not owned does not stop a later
one that owns it. Nothing is allocated: MLIR's general case calls a helper on index arrays from the heap, which costs
more than the frees (MLIR counterpart: LowerDeallocations.cpp); simplified deallocs are small enough to unroll.
"""

from __future__ import annotations

from tracebuf.deallocate.facts import Flags, Origins, Sharing, flow_blocks
from tracebuf.ir.core import Block, Op, Value
from tracebuf.ir.func import Func
from tracebuf.location import Location
from tracebuf.ops.arrays import bufferization
from tracebuf.ops.control import scf
from tracebuf.ops.memory import memref
from tracebuf.ops.scalars.arith import constant_flag


def lower_deallocs(func: Func) -> None:
    """Replaces every bufferization.dealloc."""
    origins, flags = Origins(), Flags(func)
    for block in list(flow_blocks(func)):
        if any(isinstance(op, bufferization.Dealloc) for op in block.ops):
            ops: list[Op] = []
            for op in block.ops:
                if isinstance(op, bufferization.Dealloc):
                    _lower(op, ops, origins, flags)
                    op.drop_uses()
                else:
                    ops.append(op)
            block.replace_ops(ops)


def _lower(dealloc: bufferization.Dealloc, ops: list[Op], origins: Origins, flags: Flags) -> None:
    loc = dealloc.loc
    owned: list[list[Value]] = [[] for _ in dealloc.results]
    frees: list[tuple[Value, Value]] = []
    earlier: list[tuple[Value, Value]] = []
    for m, c in zip(dealloc.memrefs, dealloc.conditions, strict=True):
        if constant_flag(c) is False:
            continue
        kept: list[Value] = []
        for i, r in enumerate(dealloc.retained):
            same = _same(m, r, ops, origins, flags, loc)
            kept.append(same)
            if dealloc.results[i].uses:
                owned[i].append(flags.both(c, same, ops, loc))
        for other, condition in earlier:
            if m.owner is other.owner:
                kept.append(flags.both(condition, _same(m, other, ops, origins, flags, loc), ops, loc))
        earlier.append((m, c))
        frees.append((m, flags.both(c, flags.negation(flags.any(kept, ops, loc), ops, loc), ops, loc)))
    for result, parts in zip(dealloc.results, owned, strict=True):
        if result.uses:
            result.replace_all_uses(flags.any(parts, ops, loc))
    for m, condition in frees:
        _free(m, condition, ops, loc)


def _same(a: Value, b: Value, ops: list[Op], origins: Origins, flags: Flags, loc: Location) -> Value:
    """An i1: whether two memrefs have one base pointer."""
    sharing = origins.sharing(a, b)
    if sharing is not Sharing.MAY:
        return flags.constant(sharing is Sharing.MUST)
    op = bufferization.SameBase.of(a, b, loc)
    ops.append(op)
    return op.result


def _free(buffer: Value, condition: Value, ops: list[Op], loc: Location) -> None:
    known = constant_flag(condition)
    if known:
        ops.append(memref.Dealloc.of(buffer, loc))
    elif known is None:
        ops.append(free_if(condition, buffer, loc))


def free_if(condition: Value, buffer: Value, loc: Location) -> scf.If:
    """The free of a buffer where a condition holds."""
    then, orelse = Block(), Block()
    then.append(memref.Dealloc.of(buffer, loc))
    for block in (then, orelse):
        block.append(scf.Yield.of([], loc))
    return scf.If.of(condition, [], then, orelse, loc)
