"""Formulas of memory (`f.lower(...).memory()`) held against what the compiled code counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracebuf import BufferizedFunction
from tracebuf.explain.memory import MemoryUse, memory_of
from tracebuf.measure import clone_arguments
from tracebuf.running.lines import LINE


def hold_formulas(f: BufferizedFunction, args: Sequence[Any]) -> MemoryUse | None:
    """Peak, allocated and copied bytes of a call are what the formulas say, or less where they say "at most"; an arena
    that this call began holds no more than they say. None where the original function runs."""
    values, _ = clone_arguments(tuple(args), {})
    found = f._specialization(values, {}, count=False)
    if found is None:
        return None
    spec, leaves, _ = found
    func = spec.program.func
    sizes = {s.name: b.value(leaves) for s, b in spec.traced.bindings.items()}
    numbers = {s.name: leaves[spec.traced.arguments[v.index]] for s, v in func.symbols.items() if v.owner is func.block}
    sizes = numbers | sizes
    spec.kernel.release()
    _, counters = f.call_counted(*values)
    assert counters is not None
    use = memory_of(func)
    counted = (counters.peak_bytes, counters.allocated_bytes, counters.copied_bytes)
    for formula, bytes_ in zip((use.peak, use.allocated, use.copied), counted, strict=True):
        if not formula.unknown:
            said = formula(sizes)
            assert said == bytes_ if formula.exact else said >= bytes_, (str(use), counters)
    if not use.arena.unknown and not spec.kernel.calls_functions:
        kept = sum(b.nbytes - LINE for c in spec.kernel._idle for b in c.blocks if b is not None)
        assert kept <= max(use.arena(sizes), LINE * kept_blocks(spec.kernel)), (str(use.arena), kept)
    return use


def kept_blocks(kernel: Any) -> int:
    return sum(b is not None for c in kernel._idle for b in c.blocks)
