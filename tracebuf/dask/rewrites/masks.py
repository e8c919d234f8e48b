"""Stores to the elements that a mask selects, of others at the same places (`y[m] = x[m]`, `y[m] += x[m]`): element by
element, by the mask. The loops of `tracebuf.scatter` may store anywhere, these store to their own place alone.
"""

from __future__ import annotations

from dataclasses import replace

from tracebuf.dask.flow import shape_of
from tracebuf.dask.program import Program
from tracebuf.dask.split import symbol_of
from tracebuf.ir.clone import clone_op
from tracebuf.ir.core import Block, Op, Value
from tracebuf.ir.dims import Sym
from tracebuf.ops.arrays import linalg
from tracebuf.ops.arrays.gather import Element
from tracebuf.ops.arrays.scatter import Scatter
from tracebuf.ops.memory.indexing import identity_map
from tracebuf.ops.scalars import arith


def selected_apart(program: Program, cut: frozenset[Sym]) -> Program | None:
    """The program whose stores along axes that are cut, each loop's to its own place, are choices; None where there
    are none."""
    found = False
    for op in list(program.func.walk()):
        if isinstance(op, Scatter) and op.results and any(symbol_of(n) in cut for n in shape_of(op.operand(op.n_ins))):
            if is_own_place(op):
                choose(op)
                found = True
    return replace(program) if found else None


def is_own_place(op: Scatter) -> bool:
    """Whether each loop stores to the element of its own indices, and looks at no other one."""
    dest, body = op.body.args[op.n_ins], op.body
    looks = [u.op for u in dest.uses]
    places = [list(body.terminator.operands[3:]), *(list(o.operands[1:]) for o in looks)]
    own = all(isinstance(v.defining_op, linalg.Index) and v.defining_op.dim == k
              for place in places for k, v in enumerate(place))  # fmt: skip
    if not own or op.attrs["fills"] or op.step.uses or not all(isinstance(o, Element) for o in looks):
        return False
    return op.loop_dims() == shape_of(op.operand(op.n_ins))


def choose(op: Scatter) -> None:
    """Puts a choice in the place of a store."""
    block, dest = op.block, op.operand(op.n_ins)
    assert block is not None
    body = Block([*(a.type for a in op.body.args[: op.n_ins]), dest.tensor_type.element])
    mapping: dict[Value, Value] = dict(zip(op.body.args, body.args[: op.n_ins]))
    mapping |= {u.op.results[0]: body.args[-1] for u in op.body.args[op.n_ins].uses}

    def put(new: Op) -> Op:
        body.append(new)
        return new

    for o in op.body.ops:
        if o is not op.body.terminator and not any(r in mapping for r in o.results):
            clone_op(o, mapping, put)
    selected, _, value = (mapping[v] if v in mapping else v for v in op.body.terminator.operands[:3])
    chosen = put(arith.Select.of(selected, value, body.args[-1], op.loc))
    put(linalg.Yield.of([chosen.result], op.loc))
    rank = len(shape_of(dest))
    maps = [*op.maps[: op.n_ins], identity_map(rank)]
    new = linalg.Generic.of(op.operands[: op.n_ins], [dest], maps, ["parallel"] * rank, body, op.loc)
    block.insert_before(op, new)
    op.results[0].replace_all_uses(new.result)
    op.erase()
