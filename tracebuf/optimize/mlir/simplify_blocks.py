"""Fewer blocks: branches whose way is known, that go to one place, or through a block that only branches on.

One function a pattern, each of which changes a region and says whether. MLIR counterpart: the canonicalization patterns
of cf.br, cf.cond_br and cf.assert (ControlFlowOps.cpp), and what -canonicalize does to regions (RegionUtils.cpp).
"""

from __future__ import annotations

from collections.abc import Callable

from tracebuf.analysis.flow.blocks import blocks_of, predecessors
from tracebuf.deallocate.general.canonical import known, settled
from tracebuf.ir.core import Block, Op, Region, Use, Value
from tracebuf.ir.func import Func
from tracebuf.ir.types import Type
from tracebuf.ops.control.cf import Assert, Branch, BranchOp, CondBranch
from tracebuf.ops.scalars import arith


def simplify_blocks(func: Func) -> bool:
    """Applies every pattern until none applies; whether one did."""
    found = drop_true_asserts(func)
    func.forget_unused_symbols()
    for region in dict.fromkeys(block.region for block in blocks_of(func)):
        while len(region.blocks) > 1 and sum(pattern(region, func) for pattern in PATTERNS):
            found = True
    return found


def drop_true_asserts(func: Func) -> bool:
    """An assertion of what is true."""
    held = [op for op in func.walk() if isinstance(op, Assert) and known(op.operand(0)) is True]
    for op in held:
        op.erase()
    return bool(held)


def ways(op: CondBranch) -> list[tuple[Block, list[Value]]]:
    """Where it goes with which values."""
    rest = op.operands[1:]
    return [(op.successors[0], rest[: op.n_then]), (op.successors[1], rest[op.n_then :])]


def replaced(op: Op, new: Op) -> None:
    block = op.block
    assert block is not None
    op.erase()
    block.append(new)


def becomes(old: Value, new: Value, func: Func) -> None:
    """One value takes the place of another, in types too."""
    old.replace_all_uses(new)
    func.symbols.update({symbol: new for symbol, value in func.symbols.items() if value is old})


def take_known_ways(region: Region, func: Func) -> bool:
    """A branch under a condition that is known (MLIR: SimplifyConstCondBranchPred), or to one block with one set of
    values either way (SimplifyCondBranchIdenticalSuccessors), is no condition's."""
    found, before = False, predecessors(region)
    for block in region.blocks:
        op = block.terminator
        if not isinstance(op, CondBranch):
            continue
        (then, a), (orelse, b) = ways(op)
        condition = known(op.operand(0))
        if condition is not None:
            target, passed = (then, a) if condition else (orelse, b)
        elif then is orelse and (a == b or before[then] == [block]):
            target, passed = then, [select(op, x, y, arg.type) for x, y, arg in zip(a, b, then.args)]
        else:
            continue
        replaced(op, Branch.of(target, passed, op.loc))
        found = True
    return found


def select(op: CondBranch, a: Value, b: Value, type_: Type) -> Value:
    """What the block gets, in its type: the sizes of either may be others."""
    if a is b:
        return a
    made = arith.Select([op.operand(0), a, b], [type_], op.loc)
    assert op.block is not None
    op.block.insert_before(op, made)
    return made.result


def follow_branches(region: Region, func: Func) -> bool:
    """A way to a block that only branches on goes on (MLIR: SimplifyPassThroughBr, SimplifyPassThroughCondBranch)."""
    found = False
    for block in region.blocks:
        op = block.terminator
        if isinstance(op, Branch):
            target, passed = through(op.successors[0], op.operands)
            if target is not op.successors[0]:
                replaced(op, Branch.of(target, passed, op.loc))
                found = True
        elif isinstance(op, CondBranch):
            (then, a), (orelse, b) = (through(*way) for way in ways(op))
            if (then, orelse) != op.successors:
                replaced(op, CondBranch.of(op.operand(0), then, a, orelse, b, op.loc))
                found = True
    return found


def through(target: Block, passed: list[Value]) -> tuple[Block, list[Value]]:
    """Where a way to a block leads if that only branches on."""
    op = target.ops[0]
    if not isinstance(op, Branch) or op.successors[0] is target or target is target.region.block:
        return target, passed
    if any(use.op is not op for arg in target.args for use in arg.uses):
        return target, passed
    given = dict(zip(target.args, passed))
    return op.successors[0], [given.get(v, v) for v in op.operands]


def drop_unreachable(region: Region, func: Func) -> bool:
    """Blocks to which no way leads."""
    reached = set(region.in_order())
    lost = [block for block in region.blocks if block not in reached]
    for block in lost:
        for op in block.ops:
            for inner in (op, *op.walk()):
                inner.drop_uses()
    region.blocks = [block for block in region.blocks if block in reached]
    if lost:
        func.forget_lost_symbols()
    return bool(lost)


def merge_blocks(region: Region, func: Func) -> bool:
    """A block to which one way leads, a branch, is the end of the block from where it comes (MLIR:
    SimplifyBrToBlockWithSinglePred)."""
    found, before = False, predecessors(region)
    for block in list(region.blocks):
        while block.ops and isinstance(op := block.terminator, Branch):
            target = op.successors[0]
            if target is block or before[target] != [block] or target is region.block:
                break
            for arg, value in zip(target.args, op.operands, strict=True):
                becomes(arg, value, func)
            op.erase()
            moved = target.ops
            target.ops = []
            block.replace_ops([*block.ops, *moved])
            region.blocks.remove(target)
            for after in block.following:
                before[after] = [block if b is target else b for b in before[after]]
            found = True
    return found


def drop_arguments(region: Region, func: Func) -> bool:
    """An argument that is one value whatever way leads to its block, or that nobody uses."""
    ways: dict[Value, list[Use]] = {arg: [] for block in region.blocks[1:] for arg in block.args}
    for block in region.blocks:
        if not isinstance(end := block.terminator, BranchOp):
            continue
        for use in end.uses:
            if (target := end.target(use)) is not None:
                ways[target].append(use)
    for arg, one in settled({arg: [use.value for use in uses] for arg, uses in ways.items()}).items():
        if isinstance(one, Value):
            becomes(arg, one, func)
    found = False
    for block in region.blocks[1:]:
        ends = [b.terminator for b in region.blocks if block in b.following]
        if not all(isinstance(end, Branch | CondBranch) for end in ends):
            continue
        for k in reversed(range(len(block.args))):
            arg = block.args[k]
            uses = [use for end in ends if isinstance(end, BranchOp) for use in end.uses if end.target(use) is arg]
            if all(use in uses for use in arg.uses) and arg not in func.symbols.values():
                for end in ends:
                    drop_operands(end, {use.index for use in uses if use.op is end})
                block.drop_arg(k)
                found = True
    return found


def drop_operands(end: Op, gone: set[int]) -> None:
    if isinstance(end, CondBranch):
        end.attrs["n_then"] -= sum(1 <= i <= end.n_then for i in gone)
    end.set_operands([v for i, v in enumerate(end.operands) if i not in gone])


PATTERNS: tuple[Callable[[Region, Func], bool], ...] = (
    take_known_ways,
    follow_branches,
    drop_unreachable,
    merge_blocks,
    drop_arguments,
)
