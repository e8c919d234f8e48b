"""Simplifies `bufferization.dealloc` by what is known of base buffers. One function a pattern.

MLIR counterpart: -buffer-deallocation-simplification (BufferDeallocationSimplification.cpp).
"""

from __future__ import annotations

from tracebuf.deallocate.general.alias import Bases
from tracebuf.deallocate.general.canonical import canonicalize_deallocs, constant, deallocs, either, rebuilt
from tracebuf.ir.core import Value
from tracebuf.ir.func import Func
from tracebuf.ops.arrays.bufferization import Dealloc


def buffer_deallocation_simplification(func: Func) -> None:
    """Applies the patterns until none applies."""
    while True:
        canonicalize_deallocs(func)
        bases = Bases(func)
        found = False
        for op in deallocs(func):
            found |= any(pattern(op, bases) for pattern in (keep_retained, drop_apart, split))
        if not found:
            return


def keep_retained(op: Dealloc, bases: Bases) -> bool:
    """A memref that certainly is a retained one is not freed: ownership goes there (and, for all others, nowhere, which
    must be known too)."""
    for k, (m, c) in enumerate(zip(op.memrefs, op.conditions)):
        same = [bases.same(m, r) for r in op.retained]
        if True not in same or None in same:
            continue
        memrefs, conditions = op.memrefs, op.conditions
        del memrefs[k], conditions[k]
        _with_more(op, memrefs, conditions, op.retained, [c if s else None for s in same])
        return True
    return False


def drop_apart(op: Dealloc, bases: Bases) -> bool:
    """A retained memref that is none of those that are freed is not owned afterwards."""
    kept = [r for r in op.retained if any(bases.same(m, r) is not False for m in op.memrefs)]
    if len(kept) == len(op.retained):
        return False
    false = constant(False, op)
    numbers = iter(range(len(kept)))
    rebuilt(op, op.memrefs, op.conditions, kept, [next(numbers) if r in kept else false for r in op.retained])
    return True


def split(op: Dealloc, bases: Bases) -> bool:
    """A memref that is none of the others is freed by a dealloc of its own."""
    if len(op.memrefs) < 2:
        return False
    for k, (m, c) in enumerate(zip(op.memrefs, op.conditions)):
        memrefs, conditions = op.memrefs, op.conditions
        del memrefs[k], conditions[k]
        if all(bases.same(m, other) is False for other in memrefs):
            alone = Dealloc.of([m], [c], op.retained, op.loc)
            assert op.block is not None
            op.block.insert_before(op, alone)
            _with_more(op, memrefs, conditions, op.retained, list(alone.results))
            return True
    return False


def _with_more(
    op: Dealloc, memrefs: list[Value], conditions: list[Value], retained: list[Value], more: list[Value | None]
) -> None:
    """Replaces a dealloc by one of these parts; each result is the new one's, or what `more` says."""
    new = Dealloc.of(memrefs, conditions, retained, op.loc)
    assert op.block is not None
    op.block.insert_before(op, new)
    for old, fresh, flag in zip(op.results, new.results, more, strict=True):
        old.replace_all_uses(fresh if flag is None else either(flag, fresh, op))
    op.erase()
