"""Folds a memref program: ops without effect, unused allocations, copies onto themselves, loop-carried values that do
not change.

One round does control flow (innermost first), then views and sizes block by block, then dead ops in reverse program
order; rounds repeat until nothing changes, nearly always two. Scalar code is left to LLVM. May run before and after
deallocation.
MLIR counterparts: canonicalize and cse on the memref and scf dialects.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tracebuf.deallocate.facts import FRESH_OPS, flow_blocks
from tracebuf.ir.core import Block, Effect, Mixed, Op, Value
from tracebuf.ir.effects import effects_of, only_makes_results, stays
from tracebuf.ir.func import Func
from tracebuf.ir.types import INDEX
from tracebuf.ops.control import scf
from tracebuf.ops.memory import memref
from tracebuf.ops.scalars import arith
from tracebuf.ops.scalars.arith import constant_flag


def fold_memref(func: Func) -> None:
    """Folds until nothing changes."""
    func.forget_unused_symbols()
    while True:
        changed = _fold_flow(func.block, set(func.symbols.values()))
        if changed:
            func.forget_lost_symbols()
        gone: dict[Value, Value] = {}
        for block in list(flow_blocks(func)):
            gone |= _fold_views(block)
        if gone:
            changed = True
            func.symbols = {s: last_of(gone, v) for s, v in func.symbols.items()}
        changed |= _sweep(func)
        if not changed:
            return


# -- control flow
def _fold_flow(block: Block, kept: set[Value]) -> bool:
    changed = False
    ops: list[Op] = []
    for op in block.ops:
        if not op.regions or not isinstance(op, (scf.Loop, scf.If)):
            ops.append(op)
            continue
        for region in op.regions:
            changed |= _fold_flow(region.block, kept)
        changed |= _FOLDS[type(op)](op, kept)
        taken = _inlined(op) if kept.isdisjoint(op.results) else None
        if taken is None:
            ops.append(op)
        else:
            changed = True
            ops += taken
    if changed:
        block.replace_ops(ops)
    return changed


def _fold_for(op: scf.For, kept: set[Value]) -> bool:
    """Replaces loop-carried values of an scf.for that do not change by the initial value; removes unused ones."""
    before = len(op.results)
    for i in reversed(range(before)):
        if op.results[i] in kept or op.args[i] in kept:
            continue
        init, arg, end = op.operand(3 + i), op.body.args[1 + i], op.body.terminator.uses[i]
        if end.value is arg or end.value is init:
            arg.replace_all_uses(init)
            op.results[i].replace_all_uses(init)
        elif not op.results[i].uses and not any(u is not end for u in arg.uses):
            end.set(init)
        else:
            continue
        op.drop_carried(i)
    return len(op.results) < before


def _fold_while(op: scf.While, kept: set[Value]) -> bool:
    """Replaces loop-carried values of an scf.while that do not change by the initial value; removes unused ones."""
    changed = op.fold_steady()
    dead = op.dead(kept)
    op.drop(*dead)
    return changed or any(dead)


def _fold_if(op: scf.If, kept: set[Value]) -> bool:
    """Replaces results that are one value in both branches by it; removes unused ones."""
    before = len(op.results)
    for i in reversed(range(before)):
        result = op.results[i]
        if result in kept:
            continue
        then, orelse = (b.terminator.operand(i) for b in op.branches)
        if then is orelse and then.type == result.type:
            result.replace_all_uses(then)
        if not result.uses:
            op.drop_result(i)
    return len(op.results) < before


_FOLDS: dict[type[Op], Callable[[Any, set[Value]], bool]] = {
    scf.For: _fold_for,
    scf.While: _fold_while,
    scf.If: _fold_if,
}


def _inlined(op: scf.Loop | scf.If) -> list[Op] | None:
    """The ops that take the place of `op`: the taken branch, nothing for an empty op; None where it stays (as an
    scf.while does, which may not end)."""
    if isinstance(op, scf.While):
        return None
    if not op.results and all(len(r.block.ops) == 1 for r in op.regions):
        _discard(op)
        return []
    known = constant_flag(op.operand(0)) if isinstance(op, scf.If) else None
    if known is None:
        return None
    taken = op.regions[0 if known else 1].block
    for result, value in zip(op.results, taken.terminator.operands, strict=True):
        if value.type != result.type:
            return None
    for result, value in zip(op.results, taken.terminator.operands, strict=True):
        result.replace_all_uses(value)
    taken.terminator.drop_uses()
    kept = taken.ops[:-1]
    taken.replace_ops([])
    _discard(op)
    return kept


def _discard(op: Op) -> None:
    """Removes the uses by `op` and all ops inside it; the caller removes it from its block."""
    for inner in op.walk():
        inner.drop_uses()
    op.drop_uses()


# -- views and sizes
def last_of(gone: dict[Value, Value], value: Value) -> Value:
    """What stands for a value in the end."""
    while value in gone:
        value = gone[value]
    return value


def _fold_views(block: Block) -> dict[Value, Value]:
    """Equal views of one buffer become one, but for those whose shape lies in a buffer (it may change); sizes that are
    known somewhere else are read there. The values that are gone, and what stands for each."""
    seen: dict[tuple[object, ...], Value] = {}
    gone: dict[Value, Value] = {}
    ops: list[Op] = []
    for op in block.ops:
        if isinstance(op, (memref.Dim, *memref.VIEW_OPS)) and not isinstance(op, memref.Reshape):
            key = (type(op), tuple(op.operands), op.result.type, tuple(sorted(op.attrs.items())))
            value: Mixed | None = seen.get(key)
            if isinstance(op, memref.Cast) and op.result.type == op.operand(0).type:
                value = op.operand(0)
            if value is None and isinstance(op, memref.Dim) and (dim := memref.dimension(op)) is not None:
                value = known_size(op.operand(0), dim)
            if isinstance(value, int):
                constant = arith.Constant.of(value, INDEX, op.loc)
                ops.append(constant)
                value = constant.result
            seen[key] = op.result if value is None else value
            if value is not None:
                op.result.replace_all_uses(value)
                op.drop_uses()
                gone[op.result] = value
                continue
        ops.append(op)
    if gone:
        block.replace_ops(ops)
    return gone


def known_size(buffer: Value, dim: int) -> Mixed | None:
    """The size of a dimension as the op that made the buffer, or a view of it, says it."""
    while True:
        size = buffer.memref_type.shape[dim]
        if isinstance(size, int):
            return size
        op = buffer.defining_op
        if isinstance(op, memref.Alloc | memref.ExpandShape):
            return op.sizes[dim]
        if isinstance(op, memref.Subview):
            source = op.attrs["dims"][dim]
            return 1 if source is None else op.slice.sizes[source]
        if isinstance(op, memref.Cast):
            buffer = op.operand(0)
        elif isinstance(op, scf.For):
            buffer = op.operand(3 + buffer.index)
        elif op is None and isinstance(loop := buffer.block.parent_op, scf.For):
            buffer = loop.operand(2 + buffer.index)
        else:
            return None
        if buffer.memref_type.shape[dim] != size and not isinstance(op, memref.Cast):
            return None  # a size that changes from iteration to iteration


# -- dead ops
def _sweep(func: Func) -> bool:
    """Removes unused ops that only make results, copies of a buffer to itself, and allocations that are never read."""
    dead: set[Op] = set()
    kept = set(func.symbols.values())
    blocks = list(flow_blocks(func))
    for block in reversed(blocks):
        for op in reversed(block.ops):
            if op not in dead and (gone := _dead_with(op, kept)) is not None:
                dead.update(gone)
                for other in gone:
                    _discard(other)
    for block in blocks:
        if not dead.isdisjoint(block.ops):
            block.replace_ops([op for op in block.ops if op not in dead])
    return bool(dead)


def _dead_with(op: Op, kept: set[Value]) -> list[Op] | None:
    """`op` and what goes with it, if it is dead."""
    if isinstance(op, memref.Copy):
        source, target = (memref.uncast(v) for v in op.operands)
        return [op] if source is target else None
    if isinstance(op, FRESH_OPS):
        writers = _only_written(op.result)
        return None if writers is None else [op, *writers]
    unused = op.results and not op.regions and op.is_unused(kept)
    return [op] if unused and only_makes_results(op) else None


def _only_written(buffer: Value) -> list[Op] | None:
    """The users of a buffer that is only viewed, freed, and written by ops that write nothing else; else None."""
    users: dict[Op, None] = {}
    work = [buffer]
    while work:
        for use in work.pop().uses:
            op = use.op
            if isinstance(op, memref.VIEW_OPS):
                work.append(op.result)
            elif op.results or op.terminator or stays(op) or not _changes_only(buffer, op):
                return None
            users[op] = None
    return list(users)


def _changes_only(buffer: Value, op: Op) -> bool:
    """Whether the op changes or frees no other memory than this buffer's."""
    found = effects_of(op)
    return found is not None and all(
        effect is Effect.READ or (value is not None and memref.base_of(value) is buffer) for effect, value in found
    )
