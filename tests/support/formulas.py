"""Formulas of memory (`f.lower(...).memory()`) held against what the compiled code counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

from tracebuf import BufferizedFunction
from tracebuf.explain.memory import MemoryUse, Paths
from tracebuf.interpret import memref as interpreter
from tracebuf.interpret.memory import POISON
from tracebuf.ir.core import Block, Op, Value
from tracebuf.ir.dims import Sym
from tracebuf.ir.func import Func
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
    func = spec.program.told
    sizes = {s.name: b.value(leaves) for s, b in spec.traced.bindings.items()}
    numbers = {s.name: leaves[spec.traced.arguments[v.index]] for s, v in func.symbols.items() if v.owner is func.block}
    sizes = numbers | sizes
    paths = Paths(func)
    use = paths.use()
    sizes |= {s.name: n for s, n in decided(paths, func, [leaves[i] for i in spec.traced.arguments]).items()}
    spec.kernel.release()
    _, counters = f.call_counted(*values)
    assert counters is not None
    counted = (counters.peak_bytes, counters.allocated_bytes, counters.copied_bytes)
    for formula, bytes_ in zip((use.peak, use.allocated, use.copied), counted, strict=True):
        if not formula.unknown:
            said = formula(sizes)
            assert said == bytes_ if formula.exact else said >= bytes_, (str(use), counters)
    if not use.arena.unknown and not spec.kernel.calls_functions:
        kept = sum(b.nbytes - LINE for c in spec.kernel._idle for b in c.blocks if b is not None)
        assert kept <= max(use.arena(sizes), LINE * kept_blocks(spec.kernel)), (str(use.arena), kept)
    return use


def decided(paths: Paths, func: Func, args: Sequence[Any]) -> dict[Sym, int]:
    """What the data decide in a call, by the interpreter: the greatest that each number is, and the most that each loop
    runs."""
    found = dict.fromkeys(paths.decided.values(), 0)
    if not found:
        return found

    class Watching(interpreter._MemRefRunner):
        def bind(self, values: Sequence[Value], data: Sequence[Any], op: Op | None) -> None:
            super().bind(values, data, op)
            for v in values:
                if (s := paths.decided.get(v)) is not None and self.env[v] is not POISON:
                    found[s] = max(found[s], int(self.env[v]))

        def run_op(self, op: Op, args: list[Any]) -> Sequence[Any]:
            before, self.began = self.began, Counter() if op in paths.decided else self.began
            try:
                return super().run_op(op, args)
            finally:
                if (s := paths.decided.get(op)) is not None:
                    found[s] = max(found[s], self.began[op.regions[-1].block])
                    self.began = before

        def run_block(self, block: Block, args: Sequence[Any]) -> list[Any]:
            self.began[block] += 1
            return super().run_block(block, args)

        began: Counter[Block] = Counter()
        """How often each block has begun in this run of the loop around."""

    values, _ = clone_arguments(tuple(args), {})
    with patch.object(interpreter, "_MemRefRunner", Watching):
        interpreter.run(func, values)
    return found


def kept_blocks(kernel: Any) -> int:
    return sum(b is not None for c in kernel._idle for b in c.blocks)
