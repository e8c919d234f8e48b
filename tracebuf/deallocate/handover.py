"""Which buffers a loop or an scf.if may own from its beginning: those that nothing but it uses any more.

A block that keeps a loop's initial buffer until its own end holds it while all iterations run: an array above what
Python holds, where rebinding the name frees it. Handed over with its ownership, it is freed where an iteration replaces
it, and often no flag is left. Nor does a block keep what an scf.if passes on in one branch and replaces in the other,
which frees it there. What makes no buffer frees nothing, so it is handed nothing.

MLIR counterpart: none; there ownership always begins as false (MLIR behaviour 54).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tracebuf.deallocate.facts import Origins, targets
from tracebuf.ir.core import Block, Op, Use, Value, happens_in
from tracebuf.ir.types import MemRefType
from tracebuf.ops.control import scf
from tracebuf.ops.memory import memref


def handed_over(loop: scf.Loop, owned: Collection[Value], origins: Origins) -> dict[int, Value]:
    """The operands of a loop by which it takes over a buffer of `owned`, what the loop's block owns, with that buffer.

    It may if no op of the loop, and none after it in the block, reaches the buffer but through what the loop carries.
    Not if another value may own the buffer too: two results of one op that are one buffer both say that they do.
    """
    inits = [u for u in loop.inits if isinstance(u.value.type, MemRefType)]
    bases = {u: base for u in inits if (base := memref.base_of(u.value)) in owned}
    if not bases or not _makes_buffers(loop, [u.value for u in loop.passed], origins):
        return {}
    inside = _derived(loop)
    return {u.index: base for u, base in bases.items() if _only_reached_by(loop, u, base, owned, inside, origins)}


def handed_to_branches(op: scf.If, owned: Collection[Value], origins: Origins) -> list[Value]:
    """The buffers of `owned` that an scf.if takes over: those that a branch passes on, and that no op after it in the
    block reaches but through its results."""
    passed = [v for b in op.branches for v in b.terminator.operands]
    bases = [base for v in passed if isinstance(v.type, MemRefType) and (base := memref.base_of(v)) in owned]
    if not bases or not (_makes_buffers(op, passed, origins) or _enters_loop(op)):
        return []
    inside = _derived(op)
    return [b for b in dict.fromkeys(bases) if _only_reached_by(op, None, b, owned, inside, origins)]


def _makes_buffers(op: Op, passed: Sequence[Value], origins: Origins) -> bool:
    """Whether one of the values that leave the op's regions may be a buffer that is allocated in it."""
    made = {v for value in passed if isinstance(value.type, MemRefType) for v in origins.of(value)}
    return any(v.defining_op is not None and _within(v.defining_op, op) for v in made)


def _enters_loop(op: scf.If) -> bool:
    """Whether a loop begins with what the branches give: it may replace it, where it owns it."""
    return any(isinstance(use.op, scf.Loop) for result in op.results for use in result.uses)


def _within(inner: Op, op: Op) -> bool:
    parent = inner.parent_op
    while parent is not None and parent is not op:
        parent = parent.parent_op
    return parent is op


def _derived(op: scf.Loop | scf.If) -> set[Value]:
    """What the op carries and hands over, and what is made of it in the op's own block."""
    assert isinstance(op.block, Block)
    end = op.block.terminator
    work = [*op.results, *(a for r in op.regions for a in r.block.args)]
    found = set(work)
    while work:
        for use in work.pop().uses:
            new = [v for v in targets(use) if v not in found] if use.op is not end else []
            found.update(new)
            work += new
    return found


def _only_reached_by(
    op: scf.Loop | scf.If,
    init: Use | None,
    base: Value,
    owned: Collection[Value],
    inside: set[Value],
    origins: Origins,
) -> bool:
    """Whether only `init` (or the branches of an scf.if) and values of `inside` reach the buffer `base` from the op on,
    and only `base` owns it."""
    block = op.block
    assert isinstance(block, Block)
    start = block.op_index(op) + (init is None)
    reached = origins.sharers(base)
    for value in reached:
        if value in inside:
            continue
        if value is not base and value in owned:
            return False
        for use in value.uses:
            anchor = happens_in(use.op, block) if use is not init else None
            if anchor is not None and block.op_index(anchor) >= start:
                return False
    return base in reached  # else it is an argument, which nobody owns
