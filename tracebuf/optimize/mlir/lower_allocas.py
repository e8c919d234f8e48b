"""memref.alloca that cannot be a slot of its function's frame becomes memref.alloc: of a size that only the run time
knows, or taken anew each time a loop of branches or an scf.while runs. (An scf.for gives back its stack after each
iteration.) The frees are inserted later. MLIR has no counterpart."""

from __future__ import annotations

from tracebuf.analysis.flow.blocks import repeats
from tracebuf.ir.core import Op
from tracebuf.ir.func import Func
from tracebuf.ops.control import scf
from tracebuf.ops.memory.memref import Alloc, Alloca


def lower_allocas(func: Func) -> None:
    """Replaces each such op."""
    for op in [o for o in func.walk() if isinstance(o, Alloca)]:
        if op.operands or taken_again(op):
            block = op.block
            assert block is not None
            new = Alloc.rebuilt(op.operands, [op.result.type], op.loc, dict(op.attrs))
            block.insert_before(op, new)
            op.result.replace_all_uses(new.result)
            op.erase()


def taken_again(op: Op) -> bool:
    """Whether the op runs many times in one scope of stack memory."""
    block = op.block
    while block is not None:
        parent = block.parent_op
        if repeats(block) or isinstance(parent, scf.While):
            return True
        if parent is None or isinstance(parent, scf.For):
            return False
        block = parent.block
    return False
