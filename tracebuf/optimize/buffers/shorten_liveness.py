"""Moves each free up to right after the last use of its buffer: memref.dealloc, alone or in an scf.if by itself.

Uses count through views, selects, loop-carried values and results of control flow, and in nested regions, where the
last use is the op that holds the region. What a loop carries is freed in the body once no op may reach it, so that the
next array is not made beside one that is dead already. Where a name may have taken over another's array, the ops that
decide it move up with the free; and where later ops use what one of two paths gives, each path frees on its own. Runs
after deallocs are lowered: the facts used for lowering rest on frees at the ends of blocks. MLIR counterpart: the pass
optimize-allocation-liveness, which leaves conditional frees and loop-carried buffers where they are.
"""

from __future__ import annotations

from collections.abc import Collection

from tracebuf.deallocate.facts import FRESH_OPS, Flags, Origins, Sharing, constant_flag, flow_blocks, sharers, targets
from tracebuf.deallocate.lower import free_if
from tracebuf.ir.core import Block, Op, Value, dominates, happens_in
from tracebuf.ir.effects import is_effect_free, stays
from tracebuf.ir.func import Func
from tracebuf.ops.arrays import bufferization
from tracebuf.ops.control import scf
from tracebuf.ops.memory import memref
from tracebuf.ops.memory.indexing import constant_index
from tracebuf.ops.scalars import arith


def shorten_liveness(func: Func) -> None:
    """Moves every free within its block."""
    origins, flags = Origins(), Flags(func)
    for block in list(flow_blocks(func)):
        for op in [op for op in block.ops if freed_by(op) is not None]:
            for free in split_by_path(op, block, origins, flags):
                bring_decision_forward(free, block, origins, flags)
        for op in [op for op in block.ops if isinstance(op, scf.If) and only_frees(op)]:
            bring_frees_forward(op, block, origins)
        after: dict[int, list[Op]] = {}
        for op in block.ops:
            if (dealloc := freed_by(op)) is not None:
                place = last_use(op, dealloc, block, origins)
                if place is not None and place < block.op_index(op):
                    after.setdefault(place, []).append(op)
        if after:
            moved = {op for ops in after.values() for op in ops}
            ops = after.get(-1, [])
            for k, op in enumerate(block.ops):
                ops += [op] if op not in moved else []
                ops += after.get(k, [])
            block.replace_ops(ops)


def freed_by(op: Op) -> memref.Dealloc | None:
    """The memref.dealloc that an op is, or that is all of an scf.if without else branch."""
    if isinstance(op, scf.If) and not op.results:
        then, orelse = op.branches
        op = then.ops[0] if (len(then.ops), len(orelse.ops)) == (2, 1) else op
    return op if isinstance(op, memref.Dealloc) else None


def last_use(
    free: Op, dealloc: memref.Dealloc, block: Block, origins: Origins, others: Collection[Value] = ()
) -> int | None:
    """Where in `block` the last op stands that may touch the buffer, but for uses of `others`, or that the free needs
    (-1: before the first); None where the free cannot move."""
    needed = [op for v in (memref.base_of(dealloc.operand(0)), *free.operands) if (op := v.defining_op) is not None]
    found = {happens_in(op, block) for op in (*needed, *reached(free, dealloc, block, origins, others))}
    anchors = {a for a in found if a is not None and a is not free}
    return None if block.terminator in anchors else max(map(block.op_index, anchors), default=-1)


def reached(
    free: Op, dealloc: memref.Dealloc, block: Block, origins: Origins, apart: Collection[Value] = ()
) -> list[Op]:
    """The ops that may touch the buffer where it is freed, but for uses of the values `apart`."""
    buffer = memref.base_of(dealloc.operand(0))
    others = {*apart, *(others_if(free.operand(0), True, buffer) if isinstance(free, scf.If) else ())}
    if isinstance(buffer.defining_op, memref.Alloc) and buffer.block is block:
        return [op for op in users(buffer, others) if accesses(op)]
    found = [u.op for v in sharers(buffer, origins) if memref.base_of(v) not in others for u in v.uses]
    return [op for op in found if accesses(op)]


def accesses(op: Op) -> bool:
    """Not if an op only passes the buffer on, or is another free of it: no two of them come to pass."""
    return not passes_on(op) and not isinstance(op, memref.Dealloc)


def passes_on(op: Op) -> bool:
    """Whether an op only makes a buffer one that an scf.if gives, whose own uses are counted."""
    return isinstance(op, scf.Yield) and isinstance(op.parent_op, scf.If)


def others_if(condition: Value, holds: bool, buffer: Value) -> set[Value]:
    """The values that are not `buffer` where a condition holds, or does not."""
    op = condition.defining_op
    if isinstance(op, arith.XorI) and constant_flag(op.operand(1)):
        return others_if(op.operand(0), not holds, buffer)
    if isinstance(op, arith.AndI if holds else arith.OrI):
        return others_if(op.operand(0), holds, buffer) | others_if(op.operand(1), holds, buffer)
    if isinstance(op, bufferization.SameBase) and not holds:
        a, b = map(memref.base_of, op.operands)
        return {b} if a is buffer else {a} if b is buffer else set()
    return set()


def split_by_path(free: Op, block: Block, origins: Origins, flags: Flags) -> list[scf.If]:
    """Frees a buffer on its own where later ops use it only through what an scf.if gives, and that is another: `w = v`
    on one path, then `w = w / 1`, needs w's old array on the other path alone. The conditional frees that stand now."""
    dealloc = freed_by(free)
    assert dealloc is not None
    buffer, found = memref.base_of(dealloc.operand(0)), [free] if isinstance(free, scf.If) else []
    for value in given_by_branches(buffer, block):
        if origins.sharing(value, buffer) is not Sharing.MAY:
            continue
        late = last_use(free, dealloc, block, origins)
        early = last_use(free, dealloc, block, origins, {value})
        if late is None or early is None or not any(map(allocates, block.ops[early + 1 : late])):
            continue
        place, made = block.op_index(free), list[Op]()
        same = bufferization.SameBase.of(buffer, value, free.loc)
        made.append(same)
        whole = free.operand(0) if isinstance(free, scf.If) else flags.constant(True)
        other = flags.both(whole, flags.negation(same.result, made, free.loc), made, free.loc)
        rest = flags.both(whole, same.result, made, free.loc)
        if isinstance(free, scf.If):
            free.uses[0].set(rest)
        else:
            free.drop_uses()
        last = free if isinstance(free, scf.If) else free_if(rest, buffer, free.loc)
        found = [free_if(other, buffer, free.loc), last]
        block.replace_ops([*block.ops[:place], *made, *found, *block.ops[place + 1 :]])
        return found
    return found


def given_by_branches(buffer: Value, block: Block) -> list[Value]:
    """What the scf.ifs of a block give that may be the buffer."""
    found, seen, work = [], {buffer}, [buffer]
    while work:
        value = work.pop()
        if value is not buffer and value.block is block and isinstance(value.defining_op, scf.If):
            found.append(value)
        for use in value.uses:
            follows = passes_on(use.op) or isinstance(use.op, memref.VIEW_OPS)
            new = [v for v in targets(use) if follows and v not in seen]
            seen.update(new)
            work += new
    return found


def allocates(op: Op) -> bool:
    """Whether an op, or one in it, makes a buffer."""
    return any(isinstance(o, FRESH_OPS) for o in (op, *op.walk()))


def bring_decision_forward(free: Op, block: Block, origins: Origins, flags: Flags) -> None:
    """Moves the free of a buffer that another value may be, and the ops that decide which it is, up to where the last
    op stands that does anything else with the buffer: a name that takes over another's array frees its own there."""
    dealloc = freed_by(free)
    assert dealloc is not None
    touching = {a for op in reached(free, dealloc, block, origins) if (a := happens_in(op, block)) is not None}
    touching.discard(free)
    if block.terminator in touching:
        return
    decide_by_conditions(free.operand(0), dealloc.operand(0), block, origins, flags)
    moving, work = {free}, [free, *filter(decides, touching)]
    place = max((block.op_index(op) for op in touching if not decides(op)), default=-1)
    while work:
        op = work.pop()
        moving.add(op)
        for value in (v for o in (op, *op.walk()) for v in o.operands):
            maker = value.defining_op and happens_in(value.defining_op, block)
            if maker is None or maker in moving or maker is op:
                continue
            if decides(maker):
                work.append(maker)
            else:
                place = max(place, block.op_index(maker))
    late = [op for op in block.ops if op in moving and block.op_index(op) > place]
    ops, rest = block.ops[: place + 1], [op for op in block.ops[place + 1 :] if op not in moving]
    if [*ops, *late, *rest] != block.ops:
        block.replace_ops([*ops, *late, *rest])


def decide_by_conditions(condition: Value, freed: Value, block: Block, origins: Origins, flags: Flags) -> None:
    """Asks the conditions of an scf.if which buffer it gives, not the addresses: they are known before it."""
    op, buffer = condition.defining_op, memref.base_of(freed)
    if op is None or op.block is not block:
        return
    if isinstance(op, arith.XorI | arith.AndI | arith.OrI):
        for value in op.operands:
            decide_by_conditions(value, freed, block, origins, flags)
    elif isinstance(op, bufferization.SameBase):
        a, b = map(memref.base_of, op.operands)
        made: list[Op] = []
        found = is_given(b, a, op, made, origins, flags) if a is buffer else is_given(a, b, op, made, origins, flags)
        if found is None:
            for unused in made:
                unused.drop_uses()
            return
        place = block.op_index(op)
        op.result.replace_all_uses(found)
        op.drop_uses()
        block.replace_ops([*block.ops[:place], *made, *block.ops[place + 1 :]])


def is_given(value: Value, buffer: Value, at: Op, made: list[Op], origins: Origins, flags: Flags) -> Value | None:
    """Whether a value is the buffer, as an i1 in ops `made` before `at`; None where conditions that stand there do not
    say."""
    sharing, op = origins.sharing(value, buffer), value.defining_op
    if sharing is not Sharing.MAY:
        return flags.constant(sharing is Sharing.MUST)
    if not isinstance(op, scf.If) or not dominates(condition := op.operand(0), at):
        return None
    arms = [memref.base_of(b.terminator.operand(value.index)) for b in op.branches]
    then, orelse = (is_given(arm, buffer, at, made, origins, flags) for arm in arms)
    if then is None or orelse is None:
        return None
    there = flags.both(condition, then, made, at.loc)
    other = flags.both(flags.negation(condition, made, at.loc), orelse, made, at.loc)
    return flags.any([there, other], made, at.loc)


def only_frees(op: scf.If) -> bool:
    """Whether the branches of an scf.if free buffers, pass others on, and do nothing else."""
    inside = [o for o in op.walk() if not isinstance(o, scf.Yield | scf.If) and not decides(o)]
    frees = any(isinstance(o, memref.Dealloc) for o in inside)
    return frees and all(isinstance(o, memref.Dealloc) or is_placeholder(o) for o in inside)


def is_placeholder(op: Op) -> bool:
    """Whether an op allocates a buffer without elements, where another path has one with them."""
    return isinstance(op, memref.Alloc) and any(constant_index(v) == 0 for v in op.operands)


def bring_frees_forward(op: scf.If, block: Block, origins: Origins) -> None:
    """Moves an scf.if that only frees up to where the last op stands that touches one of the buffers."""
    freed = [memref.base_of(o.operand(0)) for o in op.walk() if isinstance(o, memref.Dealloc)]
    touching = [u.op for v in set().union(*(sharers(b, origins) for b in freed)) for u in v.uses if accesses(u.op)]
    makers = [v.defining_op for o in (op, *op.walk()) for v in o.operands if v.defining_op is not None]
    here = block.op_index(op)
    anchors = {a for o in (*touching, *makers) if (a := happens_in(o, block)) is not None and a is not op}
    place = max((k for k in map(block.op_index, anchors) if k < here), default=-1)
    if place + 1 < here:
        ops = block.ops
        block.replace_ops([*ops[: place + 1], op, *ops[place + 1 : here], *ops[here + 1 :]])


def decides(op: Op) -> bool:
    """Whether an op only computes flags, or selects buffers, so that it may stand wherever its operands do."""
    return is_effect_free(op) and not stays(op) and not isinstance(op, scf.Loop)


def users(buffer: Value, others: Collection[Value] = ()) -> list[Op]:
    """Every op that uses the buffer or a value that may be (a view of) it, and is none of `others`."""
    found, seen, work = [], {buffer, *others}, [buffer]
    while work:
        for use in work.pop().uses:
            found.append(use.op)
            new = [v for v in targets(use) if v not in seen]
            seen.update(new)
            work += new
    return found
