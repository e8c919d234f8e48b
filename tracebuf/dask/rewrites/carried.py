"""What loops that are run a few iterations at a time carry: values of their own, which go from each run to the next."""

from __future__ import annotations

from dataclasses import replace

from tracebuf.dask.program import Program
from tracebuf.dask.split import exchanges, is_cheap, uses_of
from tracebuf.ir.core import Op, Value
from tracebuf.ir.dims import Sym
from tracebuf.ir.types import I1
from tracebuf.ops.arrays import tensor
from tracebuf.ops.control import scf
from tracebuf.ops.scalars import arith


def carried_apart(program: Program, cut: frozenset[Sym]) -> Program | None:
    """The program where what an exchanging loop begins with is, for each thing that it carries, a value that nothing
    else is: no constant, which its stage would make anew each time, none that the body reads, too, and none that is
    carried twice. None where all are."""
    found = False
    for op in list(program.func.block.ops):
        if not isinstance(op, scf.For) or not exchanges(op, program.flow, cut):
            continue
        inits = [u.value for u in op.inits]
        read = set(inside_of(op))
        for k, use in enumerate(op.inits):
            v = use.value
            made = v.defining_op
            if (made is not None and is_cheap(made, program.flow)) or v in read or v in inits[:k]:
                use.set(same(op, v))
                found = True
    return replace(program) if found else None


def inside_of(op: scf.For) -> list[Value]:
    """The values from outside that a loop's bounds and body use."""
    bounds = list(op.operands[:3])
    return bounds + [v for o in op.body.ops for v in uses_of(o)]


def same(before: Op, v: Value) -> Value:
    """Another value that is the same."""
    block = before.block
    assert block is not None

    def add(new: Op) -> Value:
        block.insert_before(before, new)
        return new.result

    if v.is_tensor:
        return add(tensor.Cast([v], [v.type], before.loc))
    return add(arith.Select.of(add(arith.Constant.of(True, I1, before.loc)), v, v, before.loc))
