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
from itertools import pairwise

from tracebuf.deallocate.facts import FRESH_OPS, Flags, Origins, Sharing, flow_blocks, targets
from tracebuf.deallocate.lower import free_if
from tracebuf.ir.core import Block, Op, Value, dominates, happens_in
from tracebuf.ir.effects import is_effect_free, stays
from tracebuf.ir.func import Func
from tracebuf.ops.arrays import bufferization
from tracebuf.ops.control import scf
from tracebuf.ops.memory import memref
from tracebuf.ops.memory.indexing import constant_index
from tracebuf.ops.scalars import arith
from tracebuf.ops.scalars.arith import constant_flag

MOST_SPLITS = 2
"""How often the free of a buffer is split by paths."""


def shorten_liveness(func: Func) -> None:
    """Moves every free within its block."""
    origins, flags = Origins(), Flags(func)
    for block in list(flow_blocks(func)):
        for op in [op for op in block.ops if freed_by(op) is not None]:
            bring_decision_forward(op, block, origins, flags)
            if (rest := split_by_path(op, block, origins, flags)) is not None:
                bring_decision_forward(rest, block, origins, flags)
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


def last_use(free: Op, dealloc: memref.Dealloc, block: Block, origins: Origins) -> int | None:
    """Where in `block` the last op stands that may touch the buffer, or that the free needs (-1: before the first);
    None where the free cannot move."""
    needed = [op for v in (memref.base_of(dealloc.operand(0)), *free.operands) if (op := v.defining_op) is not None]
    found = {happens_in(op, block) for op in (*needed, *reached(free, dealloc, block, origins))}
    anchors = {a for a in found if a is not None and a is not free}
    return None if block.terminator in anchors else max(map(block.op_index, anchors), default=-1)


def reached(free: Op, dealloc: memref.Dealloc, block: Block, origins: Origins) -> list[Op]:
    """The ops that may touch the buffer where it is freed."""
    buffer = memref.base_of(dealloc.operand(0))
    others = others_if(free.operand(0), True, buffer) if isinstance(free, scf.If) else set[Value]()
    if isinstance(buffer.defining_op, memref.Alloc) and buffer.block is block:
        return [op for op in users(buffer, others) if accesses(op)]
    found = [u.op for v in origins.sharers(buffer) if memref.base_of(v) not in others for u in v.uses]
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


def split_by_path(free: Op, block: Block, origins: Origins, flags: Flags) -> Op | None:
    """Frees a buffer on its own, before the next one is made, on the paths on which no later op touches it: `w = v` on
    one path, then `w = w / 1`, needs w's old array on the other path alone. Returns the free for the other paths."""
    dealloc = freed_by(free)
    assert dealloc is not None
    buffer, loc = memref.base_of(dealloc.operand(0)), free.loc
    found, looked = touches(buffer, block, origins), False
    late, here = {anchor for anchor, _, _ in found}, block.op_index(free)
    places, maker = sorted(k for k in map(block.op_index, late) if k < here), buffer.defining_op
    if not places:
        return None
    first = -1 if maker is None or (born := happens_in(maker, block)) is None else block.op_index(born)
    fresh = isinstance(maker, FRESH_OPS)  # what may read it on some path is what a name holds in NumPy on all of them
    first = places[0] if fresh else first
    missing, splits, changed = set[Value](), 0, True
    end = places[-1] + 1 if free is dealloc else here  # one without a condition moves up to there by itself
    ops = block.ops[first:end] if first >= 0 else [None, *block.ops[:end]]
    for before, at in pairwise(ops):
        assert at is not None
        changed = changed or before in late or any(dominates(flag, at) for flag in missing)
        if not changed or not allocates(at):
            continue
        if not looked and block.op_index(at) > places[-1]:  # what comes after only makes views, or decides
            found, looked = [*found, *views(buffer, block, origins)], True
        changed, whole = False, free.operand(0) if isinstance(free, scf.If) else flags.constant(True)
        bounds = Bounds(buffer, at, origins, flags)
        condition = bounds.both(bounds.of(whole, False), bounds.has_elements(buffer))
        for anchor, value, op in found:
            if constant_flag(condition) is False:
                break
            if block.op_index(anchor) >= block.op_index(at):
                runs = flags.constant(True) if fresh else bounds.reaches(op, block)
                used = bounds.both(runs, bounds.given(value, True))
                condition = bounds.both(condition, flags.negation(used, bounds.made, loc))
        missing = bounds.missing
        if constant_flag(condition) is False:
            for op in reversed(bounds.made):
                op.drop_uses()
            continue
        place = block.op_index(at)
        block.replace_ops([*block.ops[:place], *bounds.made, free_if(condition, buffer, loc), *block.ops[place:]])
        rest = list[Op]()
        other = flags.both(whole, flags.negation(condition, rest, loc), rest, loc)
        place = block.op_index(free)
        if isinstance(free, scf.If):
            free.uses[0].set(other)
            rest.append(free)
        else:
            free.drop_uses()
            rest.append(free := free_if(other, buffer, loc))
        block.replace_ops([*block.ops[:place], *rest, *block.ops[place + 1 :]])
        splits += 1
        if splits == MOST_SPLITS:
            break
    return free if splits else None


def touches(buffer: Value, block: Block, origins: Origins) -> list[tuple[Op, Value, Op]]:
    """The ops of a block, or in its ops, that may touch a buffer, by which value, and where in the block; not what
    passes it on to where the block ends, as where it is freed, it is not passed on."""
    found = []
    for value in origins.sharers(buffer):
        for use in value.uses:
            compares = isinstance(use.op, bufferization.SameBase)
            if accesses(use.op) and use.op is not block.terminator and (compares or not decides(use.op)):
                anchor = happens_in(use.op, block)
                if anchor is not None:
                    found.append((anchor, value, use.op))
    return found


def views(buffer: Value, block: Block, origins: Origins) -> list[tuple[Op, Value, Op]]:
    """The ops of a block, or in its ops, that make views of a buffer, as `touches`."""
    uses = [(v, use.op) for v in origins.sharers(buffer) for use in v.uses if isinstance(use.op, memref.VIEW_OPS)]
    return [(anchor, v, op) for v, op in uses if (anchor := happens_in(op, block)) is not None]


class Bounds:
    """Bounds of flags by what is known before an op, as i1 values of ops that are `made` there: the flag holds wherever
    its lower bound does, and where it holds, its upper bound does."""

    __slots__ = ("_filled", "_given", "_of", "at", "buffer", "flags", "made", "missing", "origins")

    def __init__(self, buffer: Value, at: Op, origins: Origins, flags: Flags) -> None:
        self.buffer, self.at, self.origins, self.flags = buffer, at, origins, flags
        self.made: list[Op] = []
        self.missing: set[Value] = set()
        """The flags that are not known yet."""
        self._of: dict[tuple[Value, bool], Value] = {}
        self._given: dict[tuple[Value, bool], Value] = {}
        self._filled: dict[Value, Value] = {}

    def of(self, flag: Value, upper: bool) -> Value:
        found = self._of.get((flag, upper))
        if found is None:
            found = self._of[flag, upper] = self._bound(flag, upper)
        return found

    def _bound(self, flag: Value, upper: bool) -> Value:
        op = flag.defining_op
        if constant_flag(flag) is not None or dominates(flag, self.at):
            return flag
        if isinstance(op, arith.XorI) and constant_flag(op.operand(1)):
            return self.flags.negation(self.of(op.operand(0), not upper), self.made, self.at.loc)
        if isinstance(op, arith.AndI):
            return self.both(self.of(op.operand(0), upper), self.of(op.operand(1), upper))
        if isinstance(op, arith.OrI):
            return self.flags.any([self.of(v, upper) for v in op.operands], self.made, self.at.loc)
        if isinstance(op, bufferization.SameBase):
            a, b = map(memref.base_of, op.operands)
            if self.buffer in (a, b):
                return self.given(b if a is self.buffer else a, upper)
        self.missing.add(flag)
        return self.flags.constant(upper)

    def given(self, value: Value, upper: bool) -> Value:
        """Whether a value is the buffer."""
        value = memref.base_of(value)
        found = self._given.get((value, upper))
        if found is None:
            found = self._given[value, upper] = self._is_buffer(value, upper)
        return found

    def _is_buffer(self, value: Value, upper: bool) -> Value:
        sharing, op = self.origins.sharing(value, self.buffer), value.defining_op
        if sharing is not Sharing.MAY:
            return self.flags.constant(sharing is Sharing.MUST)
        if isinstance(op, scf.If):
            arms = [b.terminator.operand(value.index) for b in op.branches]
        elif isinstance(op, arith.Select):
            arms = op.operands[1:]
        else:
            return self.flags.constant(upper)
        then, orelse = (self.given(arm, upper) for arm in arms)
        there = self.both(self.of(op.operand(0), upper), then)
        return self.flags.any([there, self.both(self.against(op.operand(0), upper), orelse)], self.made, self.at.loc)

    def has_elements(self, value: Value) -> Value:
        """Whether it is not known that a buffer has no elements."""
        value = memref.base_of(value)
        found = self._filled.get(value)
        if found is None:
            found = self._filled[value] = self._is_filled(value)
        return found

    def _is_filled(self, value: Value) -> Value:
        op = value.defining_op
        if isinstance(op, scf.If) and dominates(op.operand(0), self.at):
            then, orelse = (self.has_elements(b.terminator.operand(value.index)) for b in op.branches)
            sides = [self.both(op.operand(0), then), self.both(self.against(op.operand(0), True), orelse)]
            return self.flags.any(sides, self.made, self.at.loc) if then is not orelse else then
        return self.flags.constant(op is None or not is_placeholder(op))

    def reaches(self, op: Op, block: Block) -> Value:
        """Whether an op in the ops of a block may run, from above."""
        found = self.flags.constant(True)
        while op.block is not block:
            inner, parent = op.block, op.parent_op
            assert parent is not None
            if isinstance(parent, scf.If):
                condition = parent.operand(0)
                there = inner is parent.branches[0]
                found = self.both(found, self.of(condition, True) if there else self.against(condition, True))
            op = parent
        return found

    def against(self, flag: Value, upper: bool) -> Value:
        return self.flags.negation(self.of(flag, not upper), self.made, self.at.loc)

    def both(self, a: Value, b: Value) -> Value:
        return self.flags.both(a, b, self.made, self.at.loc)


def allocates(op: Op) -> bool:
    """Whether an op, or one in it, makes a buffer in memory that is asked for."""
    fresh = [o for o in (op, *op.walk()) if isinstance(o, FRESH_OPS) and not isinstance(o, memref.Alloca)]
    return not all(map(is_placeholder, fresh))


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
    if moving == {free} and free is dealloc:
        return  # `shorten_liveness` moves it by itself, with all others at once
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
        found = Given(buffer if buffer in (a, b) else b, op, made, origins, flags).of(b if a is buffer else a)
        if found is None:
            for unused in made:
                unused.drop_uses()
            return
        place = block.op_index(op)
        op.result.replace_all_uses(found)
        op.drop_uses()
        block.replace_ops([*block.ops[:place], *made, *block.ops[place + 1 :]])


class Given:
    """Whether values are a buffer, each asked once, as i1 values of ops `made` before an op; None where conditions that
    stand there do not say."""

    __slots__ = ("_found", "at", "buffer", "flags", "made", "origins")

    def __init__(self, buffer: Value, at: Op, made: list[Op], origins: Origins, flags: Flags) -> None:
        self.buffer, self.at, self.made, self.origins, self.flags = buffer, at, made, origins, flags
        self._found: dict[Value, Value | None] = {}

    def of(self, value: Value) -> Value | None:
        if value not in self._found:
            self._found[value] = self._ask(value)
        return self._found[value]

    def _ask(self, value: Value) -> Value | None:
        flags, made, loc = self.flags, self.made, self.at.loc
        sharing, op = self.origins.sharing(value, self.buffer), value.defining_op
        if sharing is not Sharing.MAY:
            return flags.constant(sharing is Sharing.MUST)
        if not isinstance(op, scf.If) or not dominates(condition := op.operand(0), self.at):
            return None
        then, orelse = (self.of(memref.base_of(b.terminator.operand(value.index))) for b in op.branches)
        if then is None or orelse is None:
            return None
        there = flags.both(condition, then, made, loc)
        other = flags.both(flags.negation(condition, made, loc), orelse, made, loc)
        return flags.any([there, other], made, loc)


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
    touching = [u.op for b in freed for v in origins.sharers(b) for u in v.uses if accesses(u.op)]
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
