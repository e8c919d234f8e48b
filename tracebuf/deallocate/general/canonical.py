"""The canonical form of `bufferization.dealloc`, of clones and of the flags that deallocation computes with.

One function a pattern, each of which changes a function and says whether. MLIR counterpart: the canonicalization
patterns of DeallocOp and CloneOp (BufferizationOps.cpp), and of the arith and scf ops among them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from tracebuf.analysis.flow.blocks import Dominance, ancestor, op_in, predecessors
from tracebuf.analysis.flow.views import allocated
from tracebuf.ir.core import Block, Op, Use, Value, is_buffer
from tracebuf.ir.effects import may_write
from tracebuf.ir.func import Func
from tracebuf.ir.types import I1, same_type
from tracebuf.ops.arrays.bufferization import Clone, Dealloc
from tracebuf.ops.control.cf import BranchOp, CondBranch
from tracebuf.ops.control.scf import If
from tracebuf.ops.memory.memref import Dealloc as Free
from tracebuf.ops.memory.metadata import ExtractStridedMetadata
from tracebuf.ops.scalars import arith


def canonicalize_deallocs(func: Func) -> bool:
    """Applies every pattern until none applies; whether one did."""
    found = False
    while sum(pattern(func) for pattern in PATTERNS):
        found = True
    if found:  # branches that are not taken are gone
        func.forget_lost_symbols()
    return found


# -- bufferization.dealloc


def deallocs(func: Func) -> list[Dealloc]:
    return [op for op in func.walk() if isinstance(op, Dealloc)]


def rebuilt(
    op: Dealloc,
    memrefs: Sequence[Value],
    conditions: Sequence[Value],
    retained: Sequence[Value],
    results: Sequence[Value | int],
) -> None:
    """Replaces a dealloc by one of these parts; `results` gives for each old result its value, or the number of the new
    one."""
    block = op.block
    assert block is not None
    new = Dealloc.of(memrefs, conditions, retained, op.loc)
    block.insert_before(op, new)
    for old, found in zip(op.results, results, strict=True):
        old.replace_all_uses(new.results[found] if isinstance(found, int) else found)
    op.erase()


def merge_equal_memrefs(func: Func) -> bool:
    """A memref that stands twice stands once, under either condition."""
    found = False
    for op in deallocs(func):
        conditions: dict[Value, Value] = {}
        for m, c in zip(op.memrefs, op.conditions):
            conditions[m] = c if m not in conditions else either(conditions[m], c, op)
        if len(conditions) < len(op.memrefs):
            rebuilt(op, list(conditions), list(conditions.values()), op.retained, range(len(op.results)))
            found = True
    return found


def merge_equal_retained(func: Func) -> bool:
    """A retained memref that stands twice stands once."""
    found = False
    for op in deallocs(func):
        kept = list(dict.fromkeys(op.retained))
        if len(kept) < len(op.retained):
            rebuilt(op, op.memrefs, op.conditions, kept, [kept.index(r) for r in op.retained])
            found = True
    return found


def drop_never_freed(func: Func) -> bool:
    """A memref under a condition that is false is not there."""
    found = False
    for op in deallocs(func):
        kept = [(m, c) for m, c in zip(op.memrefs, op.conditions) if known(c) is not False]
        if len(kept) < len(op.memrefs):
            rebuilt(op, [m for m, _ in kept], [c for _, c in kept], op.retained, range(len(op.results)))
            found = True
    return found


def drop_empty(func: Func) -> bool:
    """Without memrefs a dealloc frees nothing, and nothing is owned."""
    found = False
    for op in deallocs(func):
        if not op.memrefs:
            for result in op.results:
                result.replace_all_uses(constant(False, op))
            op.erase()
            found = True
    return found


def free_allocations_themselves(func: Func) -> bool:
    """The base buffer of an allocation is the allocation."""
    found = False
    for op in deallocs(func):
        for use in op.uses[: len(op.memrefs)]:
            made = use.value.defining_op
            if isinstance(made, ExtractStridedMetadata) and use.value.index == 0:
                source = made.operand(0)
                if source.defining_op is not None and source in allocated(source.defining_op):
                    use.set(source)
                    found = True
    return found


def drop_unused_allocations(func: Func) -> bool:
    """An allocation that is only freed, without condition, is not made (MLIR: RemoveAllocDeallocPair)."""
    found = False
    for op in deallocs(func):
        kept = []
        for m, c in zip(op.memrefs, op.conditions):
            maker = m.defining_op
            gone = (
                known(c) is True and maker is not None and m in allocated(maker) and len(maker.results) == 1
                and all(u.op is op for u in m.uses) and m not in op.retained and not isinstance(maker, Clone)
            )  # fmt: skip
            if not gone:
                kept.append((m, c))
        if len(kept) < len(op.memrefs):
            gone_makers = [m.defining_op for m in op.memrefs if m not in [k for k, _ in kept]]
            rebuilt(op, [m for m, _ in kept], [c for _, c in kept], op.retained, range(len(op.results)))
            for maker in gone_makers:
                if maker is not None:
                    maker.erase()
            found = True
    return found


# -- bufferization.clone


def drop_clones(func: Func) -> bool:
    """A clone that is only freed is not made; one whose source, or which itself, is freed in the same block after it,
    with no write in between, is the source (MLIR: SimplifyClones, which takes buffers for immutable)."""
    found = False
    for op in [o for o in func.walk() if isinstance(o, Clone)]:
        found |= _drop_unused_clone(op) or _take_source(op)
    return found


def _drop_unused_clone(op: Clone) -> bool:
    """Without users but frees."""
    users = [u.op for u in op.result.uses]
    if not all(isinstance(user, Free) for user in users):
        return False
    for user in users:
        user.erase()
    op.erase()
    return True


def _take_source(op: Clone) -> bool:
    """The clone or its source, whichever is freed in the block, lives no longer than until then without it."""
    source, block = op.operand(0), op.block
    assert block is not None
    if not same_type(source.type, op.result.type):
        return False
    for buffer in (op.result, source):
        frees = [u.op for u in buffer.uses if isinstance(u.op, Free)]
        if len(frees) != 1 or frees[0].block is not block:
            continue
        low, high = block.op_index(op), block.op_index(frees[0])
        if low < high and not any(may_write(between) for between in block.ops[low + 1 : high]):
            frees[0].erase()
            op.result.replace_all_uses(source)
            op.erase()
            return True
    return False


# -- flags


def fold_flags(func: Func) -> bool:
    """`and`, `or`, `xor` and `select` of flags of which one is known."""
    found = False
    for op in list(func.walk()):
        if isinstance(op, arith.AndI | arith.OrI | arith.XorI | arith.Select) and op.result.type is I1:
            value = folded(op)
            if value is not None:
                op.result.replace_all_uses(value)
                op.erase()
                found = True
    return found


def folded(op: Op) -> Value | None:
    """The value that an op on flags is known to have."""
    if isinstance(op, arith.Select):
        c, a, b = op.operands
        if known(c) is not None:
            return a if known(c) else b
        if a is b:
            return a
        first, second = under(a, c, True), under(b, c, False)
        if first is True and second is False:
            return c
        if first is not None and first == second:
            return constant(first, op)
        return None
    a, b = op.operands
    for one, other in ((a, b), (b, a)):
        flag = known(one)
        if flag is None:
            continue
        if isinstance(op, arith.AndI):
            return other if flag else one
        if isinstance(op, arith.OrI):
            return one if flag else other
        if not flag:
            return other
        inner = other.defining_op
        if known(other) is not None:
            return constant(not known(other), op)
        if isinstance(inner, arith.XorI):
            for x, y in (inner.operands, inner.operands[::-1]):
                if known(y) is True:
                    return x
    if a is b:
        return constant(False, op) if isinstance(op, arith.XorI) else a
    if negates(a, b) or negates(b, a):
        return constant(not isinstance(op, arith.AndI), op)
    return None


def negates(flag: Value, other: Value) -> bool:
    """Whether a flag is computed as the opposite of another."""
    op = flag.defining_op
    if not isinstance(op, arith.XorI):
        return False
    return any(x is other and known(y) is True for x, y in (op.operands, op.operands[::-1]))


def under(flag: Value, condition: Value, holds: bool) -> bool | None:
    """The value of a flag where a condition holds, or does not."""
    if flag is condition:
        return holds
    return not holds if negates(flag, condition) else known(flag)


def known(flag: Value) -> bool | None:
    """The value of an i1 constant."""
    op = flag.defining_op
    return bool(op.attrs["value"]) if isinstance(op, arith.Constant) and flag.type is I1 else None


def constant(value: bool, before: Op) -> Value:
    made = arith.Constant.of(value, I1, before.loc)
    assert before.block is not None
    before.block.insert_before(before, made)
    return made.result


def either(a: Value, b: Value, before: Op) -> Value:
    """The disjunction of two flags, computed before an op."""
    if a is b or known(a) is True or known(b) is False:
        return a
    if known(b) is True or known(a) is False:
        return b
    made = arith.OrI.of(a, b, before.loc)
    assert before.block is not None
    before.block.insert_before(before, made)
    return made.result


def fold_branch_flags(func: Func) -> bool:
    """A flag that every branch to a block passes on as one constant, or as one value from outside, is that."""
    found = False
    regions = [func.body, *(r for op in func.walk() for r in op.regions)]
    for region in regions:
        for block in region.blocks[1:]:
            found |= _fold_arguments(block, func)
    return found


def fold_carried(func: Func) -> bool:
    """A flag that reaches a region's argument, or a result, as one constant whatever way control takes is that; so is a
    flag or buffer that reaches it as one value from outside of the op (MLIR: ForOpIterArgsFolder,
    RemoveLoopInvariantValueYielded)."""
    found = False
    for op in list(func.walk()):
        ways: dict[Value, set[Value]] = {}
        for flow in (op.flows() or ()) if op.block is not None else ():
            for use, received in zip(flow.passed, flow.received):
                ways.setdefault(received, set()).add(use.value)
        for received, one in settled(ways).items():
            if not received.uses or not (received.type is I1 or is_buffer(received)):
                continue
            value = constant(one, op) if isinstance(one, bool) else one
            if same_type(value.type, received.type) and not happens_in_op(value, op) and value not in op.results:
                received.replace_all_uses(value)
                found = True
    return found


def settled(ways: Mapping[Value, Collection[Value]]) -> dict[Value, Value | bool]:
    """Of values that control flow passes on to, each from some values, those that are always one: a value from outside,
    or the value of a flag, however they are passed among themselves."""
    many = object()
    state: dict[Value, object] = dict.fromkeys(ways)
    changed = True
    while changed:
        changed = False
        for received, passed in ways.items():
            new: object = None
            for value in passed:
                flag = known(value)
                one = state[value] if value in ways else value if flag is None else flag
                new = one if new is None else new if one is None or one is new else many
            if new is not state[received]:
                state[received], changed = new, True
    return {v: one for v, one in state.items() if isinstance(one, Value | bool)}


def _fold_arguments(block: Block, func: Func) -> bool:
    ends = [b.terminator for b in block.region.blocks if b.ops and block in b.ops[-1].successors]
    found = False
    for k in reversed(range(len(block.args))):
        arg = block.args[k]
        if arg.type is not I1:
            continue
        passed = {v for end in ends for v in _passed(end, block, k) if v is not arg}
        flags = {known(v) for v in passed}
        if arg.uses and len(passed) == 1:
            arg.replace_all_uses(passed.pop())
            found = True
        elif arg.uses and len(flags) == 1 and None not in flags:
            arg.replace_all_uses(_at_entry(bool(flags.pop()), func))
            found = True
        if all(u.op in ends and _feeds(u.op, u.index, arg) for u in arg.uses):
            _drop_argument(block, k, ends)
            found = True
    return found


def _at_entry(value: bool, func: Func) -> Value:
    made = arith.Constant.of(value, I1, func.loc)
    func.block.insert(0, made)
    return made.result


def _feeds(op: Op, index: int, arg: Value) -> bool:
    """Whether an operand of a branch becomes this very argument."""
    return isinstance(op, BranchOp) and op.target(op.uses[index]) is arg


def _passed(end: Op, block: Block, k: int) -> list[Value]:
    """What a branch passes on as argument `k` of the block, each way that it goes there."""
    assert isinstance(end, BranchOp)
    return [u.value for u in end.uses if end.target(u) is block.args[k]]


def _drop_argument(block: Block, k: int, ends: Sequence[Op]) -> None:
    for end in ends:
        assert isinstance(end, BranchOp)
        gone = [u.index for u in end.uses if end.target(u) is block.args[k]]
        if isinstance(end, CondBranch):
            end.attrs["n_then"] -= sum(1 <= i <= end.n_then for i in gone)
        end.set_operands([v for i, v in enumerate(end.operands) if i not in gone])
    block.drop_arg(k)


# -- scf.if


def know_conditions(func: Func) -> bool:
    """Inside the branches of an scf.if its condition is known (MLIR: ConditionPropagation), and what that decides."""
    found = False
    for op in [o for o in func.walk() if isinstance(o, If)]:
        condition = op.operand(0)
        if known(condition) is not None or len(condition.uses) < 2:
            continue
        for holds, block in zip((True, False), op.branches):
            for flag, value in decided(condition, holds):
                found |= know(value, [u for u in flag.uses if op_in(block, u.op) is not None], block)
    return found


def decided(condition: Value, holds: bool) -> list[tuple[Value, bool]]:
    """The flags that are known where a condition holds, or does not: itself, opposites, what it is a part of."""
    found = [(condition, holds)]
    for op in dict.fromkeys(u.op for u in condition.uses):
        if isinstance(op, arith.XorI) and negates(op.result, condition):
            found.append((op.result, not holds))
        elif isinstance(op, arith.OrI if holds else arith.AndI) and op.result.type is I1:
            found.append((op.result, holds))
    return found


def know(value: bool, uses: Sequence[Use], block: Block) -> bool:
    """Makes uses of a condition that of a constant at the block's beginning; whether there are any."""
    if uses:
        made = constant(value, block.ops[0])
        for use in uses:
            use.set(made)
    return bool(uses)


def know_branch_conditions(func: Func) -> bool:
    """In the blocks that one side of a branch leads to its condition is known (MLIR: CondBranchTruthPropagation), and
    what that decides."""
    found, dominance = False, Dominance()
    for op in [o for o in func.walk() if isinstance(o, CondBranch)]:
        condition, home = op.operand(0), op.block
        if home is None or op.successors[0] is op.successors[1] or known(condition) is not None:
            continue
        before = predecessors(home.region)
        for holds, block in zip((True, False), op.successors):
            if before[block] != [home]:
                continue
            for flag, value in decided(condition, holds):
                uses = [u for u in flag.uses if u.op.block is not None and dominance.dominates(block, u.op.block)]
                found |= know(value, uses, block)
    return found


def take_known_branches(func: Func) -> bool:
    """An scf.if whose condition is known is the ops of that branch."""
    found = False
    for op in [o for o in func.walk() if isinstance(o, If)]:
        block = op.block
        condition = None if block is None else known(op.operand(0))
        if condition is None or block is None:
            continue
        chosen = op.branches[0 if condition else 1]
        end, inner = chosen.terminator, chosen.ops[:-1]
        for result, value in zip(op.results, end.operands, strict=True):
            result.replace_all_uses(value)
        chosen.replace_ops([end])
        at = block.op_index(op)
        block.replace_ops([*block.ops[:at], *inner, *block.ops[at:]])
        op.erase()
        found = True
    return found


def select_values(func: Func) -> bool:
    """A result of an scf.if that either branch takes from outside is a select (MLIR: ConvertTrivialIfToSelect)."""
    found = False
    for op in [o for o in func.walk() if isinstance(o, If)]:
        block, ends = op.block, [b.terminator for b in op.branches]
        for k in reversed(range(len(op.results))):
            values = [end.operand(k) for end in ends]
            inside = any(happens_in_op(v, op) for v in values)
            if block is None or inside or not same_type(values[0].type, values[1].type):
                continue
            new = values[0]
            if values[0] is not values[1]:
                made = arith.Select([op.operand(0), *values], [op.results[k].type], op.loc)
                block.insert_before(op, made)
                new = made.result
            op.results[k].replace_all_uses(new)
            op.drop_result(k)
            found = True
    return found


def happens_in_op(value: Value, op: Op) -> bool:
    """Whether a value is defined in a region of an op."""
    return any(ancestor(value.block, region) is not None for region in op.regions)


def merge_ifs(func: Func) -> bool:
    """Of two scf.if under one condition, one directly behind the other and without results, one is left (MLIR:
    CombineIfs)."""
    found = False
    for op in [o for o in func.walk() if isinstance(o, If)]:
        block = op.block
        if block is None or op.results:
            continue
        following = block.ops[block.op_index(op) + 1]
        if isinstance(following, If) and following.operand(0) is op.operand(0) and not following.results:
            for first, second in zip(op.branches, following.branches):
                inner = second.ops[:-1]
                for o in inner:
                    o.block = None
                second.replace_ops(second.ops[-1:])
                first.replace_ops([*first.ops[:-1], *inner, first.ops[-1]])
            following.erase()
            found = True
    return found


Pattern = Callable[[Func], bool]
PATTERNS: tuple[Pattern, ...] = (
    fold_flags,
    fold_branch_flags,
    fold_carried,
    know_conditions,
    know_branch_conditions,
    take_known_branches,
    select_values,
    merge_ifs,
    merge_equal_memrefs,
    merge_equal_retained,
    free_allocations_themselves,
    drop_never_freed,
    drop_unused_allocations,
    drop_empty,
    drop_clones,
)
