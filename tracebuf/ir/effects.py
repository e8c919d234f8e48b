"""What an op does to memory, asked by whatever removes, merges or moves ops.

An op class states its own effects (`Op.effects`). Here those of the ops in its regions are counted in, and passes are
answered: whether an op only makes its results, may change places, or may change what others read. An op
of which nothing is known may do anything. MLIR counterpart: mlir/lib/Interfaces/SideEffectInterfaces.cpp
(isMemoryEffectFree, isOpTriviallyDead).
"""

from __future__ import annotations

from tracebuf.ir.core import Block, Effect, Effects, Op, Value


def effects_of(op: Op) -> Effects | None:
    """The effects of an op and of all ops in its regions; None where one is not known."""
    found = op.effects()
    if found is None or not op.regions:
        return found
    all_ = list(found)
    for inner in op.walk():
        more = inner.effects()
        if more is None:
            return None
        all_ += more
    return tuple(all_)


def is_effect_free(op: Op) -> bool:
    """Whether the op, with what is in it, does nothing to memory, so that it may change places with others (MLIR:
    isMemoryEffectFree). It may still raise, or not end. A terminator never changes places."""
    if op.terminator or op.effects() != ():
        return False
    return not op.regions or all(inner.effects() == () for inner in op.walk())


def only_reads(op: Op) -> bool:
    """Whether the op, with what is in it, at most reads memory."""
    found = effects_of(op)
    return found is not None and all(effect is Effect.READ for effect, _ in found)


def may_write(op: Op) -> bool:
    """Whether the op, or what is in it, may change or free memory that was there before."""
    found = effects_of(op)
    return found is None or any(effect in (Effect.WRITE, Effect.FREE) for effect, _ in found)


def only_makes_results(op: Op) -> bool:
    """Whether nothing is lost with the op where its results are unused: it reads, and allocates and fills buffers that
    are its results, or begin within it; it cannot raise, and is sure to end (MLIR: wouldOpBeTriviallyDead)."""
    if op.terminator or (found := effects_of(op)) is None or stays(op):
        return False
    return all(effect is Effect.READ or (value is not None and _begins_in(value, op)) for effect, value in found)


def stays(op: Op) -> bool:
    """Whether the op, or one in it, may raise or run for ever."""
    if op.may_raise or op.may_not_end:
        return True
    return bool(op.regions) and any(o.may_raise or o.may_not_end for o in op.walk())


def _begins_in(value: Value, op: Op) -> bool:
    """Whether the buffer is a result of the op, or is allocated within it."""
    maker = value.defining_op
    if maker is op:
        return (Effect.ALLOCATE, value) in (op.effects() or ())
    return maker is not None and _stands_in(maker, op) and (Effect.ALLOCATE, value) in (maker.effects() or ())


def _stands_in(op: Op, outer: Op) -> bool:
    block: Block | None = op.block
    while block is not None and block.parent_op is not None:
        if block.parent_op is outer:
            return True
        block = block.parent_op.block
    return False
