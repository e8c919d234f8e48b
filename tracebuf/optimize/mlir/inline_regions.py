"""scf.execute_region of one block becomes what it holds. MLIR counterpart: its canonicalization pattern."""

from __future__ import annotations

from tracebuf.ir.func import Func
from tracebuf.ops.control import scf


def inline_regions(func: Func) -> None:
    """Inlines every such op, inner ones first; one of several blocks stays."""
    for op in reversed([op for op in func.walk() if isinstance(op, scf.ExecuteRegion)]):
        if len(op.regions[0].blocks) > 1:
            continue
        block = op.block
        assert block is not None
        *ops, end = op.regions[0].block.ops
        for old, new in zip(op.results, end.operands, strict=True):
            old.replace_all_uses(new)
        end.drop_uses()
        place = block.op_index(op)
        block.replace_ops([*block.ops[:place], *ops, *block.ops[place + 1 :]])
