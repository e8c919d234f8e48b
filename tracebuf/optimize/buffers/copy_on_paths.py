"""A copy whose source is its target on some paths is made on the others only.

`if c: return; a[:] = ...` in a loop: on the path that leaves early the argument's final value is the argument's own
buffer, on the other one it may lie elsewhere. Branches tell which path was taken by a flag of their own, where their
conditions alone do not.

Why here: the analysis decides whether the final value is in place for all paths at once. Limitations: what a loop
carries counts as another buffer. MLIR has no counterpart; its canonicalization removes copies of a buffer to itself.
"""

from __future__ import annotations

from tracebuf.deallocate.facts import flow_blocks
from tracebuf.ir.core import Block, Op, Use, Value
from tracebuf.ir.func import Func
from tracebuf.ir.types import I1
from tracebuf.ops.control import scf
from tracebuf.ops.memory import memref
from tracebuf.ops.scalars import arith

Flag = bool | Value
"""Whether a buffer is another one: known, or an i1."""


def copy_on_paths(func: Func) -> None:
    """Puts each such copy under a condition."""
    for block in list(flow_blocks(func)):
        new: dict[Op, list[Op]] = {}
        for op in block.ops:
            if isinstance(op, memref.Copy):
                before: list[Op] = []
                needed = _is_another(op.operand(0), _uncast(op.operand(1)), before)
                if isinstance(needed, Value):
                    new[op] = [*before, _only_where(needed, op)]
        if new:
            block.replace_ops([o for op in block.ops for o in new.get(op, [op])])


def _is_another(buffer: Value, target: Value, ops: list[Op]) -> Flag:
    """Whether a buffer is not the target itself; adds what computes it to `ops`."""
    buffer = _uncast(buffer)
    op = buffer.defining_op
    if buffer is target or not isinstance(op, scf.If):
        return buffer is not target
    inside: tuple[list[Op], list[Op]] = [], []
    flags = [_is_another(b.terminator.operand(buffer.index), target, own) for b, own in zip(op.branches, inside)]
    if flags[0] is flags[1]:
        return flags[0]
    if flags == [True, False]:
        return op.operand(0)
    if flags == [False, True]:
        return _negated(op.operand(0), ops)
    for block, flag, own in zip(op.branches, flags, inside, strict=True):
        end = block.terminator
        value = flag if isinstance(flag, Value) else _constant(flag, own, end)
        block.replace_ops([*block.ops[:-1], *own, end])
        end.uses.append(Use(end, len(end.uses), value))
    op.results.append(Value(I1, op, len(op.results)))
    return op.results[-1]


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


def _uncast(buffer: Value) -> Value:
    while isinstance(op := buffer.defining_op, memref.Cast):
        buffer = op.operand(0)
    return buffer
