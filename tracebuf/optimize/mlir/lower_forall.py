"""scf.forall on buffers as nested scf.for: its iterations one after another, which is one of the orders it allows.

MLIR counterpart: -scf-forall-to-for.
"""

from __future__ import annotations

from tracebuf.ir.core import Block, Mixed, Op, Value
from tracebuf.ir.func import Func
from tracebuf.ir.types import INDEX
from tracebuf.ops.control import scf
from tracebuf.ops.control.forall import Forall
from tracebuf.ops.scalars import arith


def lower_forall(func: Func) -> None:
    """Replaces every loop that has no shared outs left, inner ones first."""
    for op in reversed([op for op in func.walk() if isinstance(op, Forall)]):
        block = op.block
        assert block is not None
        before: list[Op] = []
        bounds = [[_value(b, op, before) for b in dim] for dim in op.bounds]
        *ops, end = op.body.ops
        end.drop_uses()
        indices = list(op.body.args)
        nest: list[Op] = ops
        for dim, index in reversed(list(zip(bounds, indices, strict=True))):
            body = Block([INDEX])
            index.replace_all_uses(body.args[0])
            body.replace_ops([*nest, scf.Yield.of([], op.loc)])
            nest = [scf.For.of(dim, [], body, op.loc)]
        op.drop_uses()
        place = block.op_index(op)
        block.replace_ops([*block.ops[:place], *before, *nest, *block.ops[place + 1 :]])


def _value(bound: Mixed, op: Op, before: list[Op]) -> Value:
    if isinstance(bound, Value):
        return bound
    before.append(arith.Constant.of(bound, INDEX, op.loc))
    return before[-1].result
