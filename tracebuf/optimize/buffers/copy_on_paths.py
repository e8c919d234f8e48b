"""A copy whose source is its target on some paths is made on the others only.

`if c: return; a[:] = ...` in a loop: on the path that leaves early the argument's final value is the argument's own
buffer, on the other one it may lie elsewhere. Branches tell which path was taken by a flag of their own, where their
conditions alone do not.

Why here: the analysis decides whether the final value is in place for all paths at once. Limitations: what a loop
carries counts as another buffer. MLIR has no counterpart; its canonicalization removes copies of a buffer to itself.
"""

from __future__ import annotations

from tracebuf.deallocate.facts import flow_blocks
from tracebuf.frozen import frozen
from tracebuf.ir.core import Block, Op, Use, Value
from tracebuf.ir.func import Func
from tracebuf.ir.types import I1
from tracebuf.ops.control import scf
from tracebuf.ops.memory import memref
from tracebuf.ops.scalars import arith

Flag = bool | Value
"""Whether a buffer is another one: known, or an i1."""


@frozen(slots=False, checked=True)
class Not:
    """Where a condition does not hold."""

    condition: Value


def copy_on_paths(func: Func) -> None:
    """Puts each such copy under a condition."""
    found: dict[tuple[Value, Value], Flag | Not] = {}
    for block in list(flow_blocks(func)):
        new: dict[Op, list[Op]] = {}
        for op in block.ops:
            if isinstance(op, memref.Copy):
                before: list[Op] = []
                needed = _flag(_is_another(op.operand(0), memref.uncast(op.operand(1)), found), before)
                if isinstance(needed, Value):
                    new[op] = [*before, _only_where(needed, op)]
        if new:
            block.replace_ops([o for op in block.ops for o in new.get(op, [op])])


def _is_another(buffer: Value, target: Value, found: dict[tuple[Value, Value], Flag | Not]) -> Flag | Not:
    """Whether a buffer is not the target itself; looked for once for each that a branch gives."""
    buffer = memref.uncast(buffer)
    op = buffer.defining_op
    if buffer is target or not isinstance(op, scf.If):
        return buffer is not target
    if (known := found.get((buffer, target))) is None:
        known = found[buffer, target] = _by_branches(op, buffer.index, target, found)
    return known


def _by_branches(op: scf.If, k: int, target: Value, found: dict[tuple[Value, Value], Flag | Not]) -> Flag | Not:
    """Whether what an `if` gives as its result k is not the target."""
    flags = [_is_another(b.terminator.operand(k), target, found) for b in op.branches]
    if flags[0] is flags[1]:
        return flags[0]
    if flags == [True, False]:
        return op.operand(0)
    if flags == [False, True]:
        return Not(op.operand(0))
    for block, flag in zip(op.branches, flags, strict=True):
        end, own = block.terminator, list[Op]()
        value = _flag(flag, own)
        value = value if isinstance(value, Value) else _constant(value, own, end)
        block.replace_ops([*block.ops[:-1], *own, end])
        end.uses.append(Use(end, len(end.uses), value))
    op.results.append(Value(I1, op, len(op.results)))
    return op.results[-1]


def _flag(flag: Flag | Not, ops: list[Op]) -> Flag:
    """The flag; adds what computes it to `ops`."""
    return _negated(flag.condition, ops) if isinstance(flag, Not) else flag


def _constant(flag: bool, ops: list[Op], at: Op) -> Value:
    ops.append(arith.Constant.of(flag, I1, at.loc))
    return ops[-1].result


def _negated(condition: Value, ops: list[Op]) -> Value:
    made = [arith.Constant.of(True, I1)]
    made.append(arith.XorI.of(condition, made[0].result))  # type: ignore[arg-type]
    ops += made
    return ops[-1].result


def _only_where(condition: Value, copy: Op) -> Op:
    """The copy, made where the condition holds."""
    then, orelse = Block(), Block()
    copy_again = memref.Copy.of(copy.operand(0), copy.operand(1), copy.attrs.get("reason", ""), copy.loc)
    copy.drop_uses()
    then.append(copy_again)
    for block in (then, orelse):
        block.append(scf.Yield.of([], copy.loc))
    return scf.If.of(condition, [], then, orelse, copy.loc)
