"""Which buffers a loop may own from its first iteration on: initial values that nothing but the loop uses any more.

A block that keeps a loop's initial buffer until its own end holds it while all iterations run: an array above what
Python holds, where rebinding the name frees it. Handed over with its ownership, it is freed where an iteration replaces
it, and often no flag is left. A loop that makes no buffer frees nothing, so it is handed nothing.

MLIR counterpart: none; there ownership always begins as false (MLIR behaviour 54).
"""

from __future__ import annotations

from collections.abc import Collection

from tracebuf.deallocate.facts import Origins, sharers, targets
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
    if not bases or not _makes_buffers(loop, origins):
        return {}
    inside = _derived(loop)
    return {u.index: base for u, base in bases.items() if _only_reached_by(u, base, owned, inside, origins)}


def _makes_buffers(loop: scf.Loop, origins: Origins) -> bool:
    """Whether the loop may pass on a buffer that is allocated in it."""
    passed = (u.value for u in loop.passed if isinstance(u.value.type, MemRefType))
    made = {v for value in passed for v in origins.of(value)}
    return any(v.defining_op is not None and _within(v.defining_op, loop) for v in made)


def _within(op: Op, loop: scf.Loop) -> bool:
    parent = op.parent_op
    while parent is not None and parent is not loop:
        parent = parent.parent_op
    return parent is loop


def _derived(loop: scf.Loop) -> set[Value]:
    """What the loop carries and hands over, and what is made of it in the loop's own block."""
    assert isinstance(loop.block, Block)
    end = loop.block.terminator
    work = [*loop.results, *(a for r in loop.regions for a in r.block.args)]
    found = set(work)
    while work:
        for use in work.pop().uses:
            new = [v for v in targets(use) if v not in found] if use.op is not end else []
            found.update(new)
            work += new
    return found


def _only_reached_by(init: Use, base: Value, owned: Collection[Value], inside: set[Value], origins: Origins) -> bool:
    """Whether only `init` and values of `inside` reach the buffer `base` from the loop on, and only `base` owns it."""
    loop, block = init.op, init.op.block
    assert isinstance(block, Block)
    start = block.op_index(loop)
    reached = sharers(base, origins)
    for value in reached - inside:
        if value is not base and value in owned:
            return False
        for use in value.uses:
            anchor = happens_in(use.op, block) if use is not init else None
            if anchor is not None and block.op_index(anchor) >= start:
                return False
    return base in reached  # else it is an argument, which nobody owns
