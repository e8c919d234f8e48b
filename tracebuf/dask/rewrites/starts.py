"""Reductions that begin with something (`a.sum(axis=0, initial=3)`): each part would begin with it. They begin with
what changes nothing, and what they began with is added to what they give."""

from __future__ import annotations

from dataclasses import replace

from tracebuf.dask.program import Program
from tracebuf.dask.rules import NAMES, folding
from tracebuf.dask.split import is_neutral, may_begin, symbol_of
from tracebuf.ir.core import Block, Op, Use, Value
from tracebuf.ir.dims import Sym
from tracebuf.ops.arrays import linalg
from tracebuf.ops.memory.indexing import identity_map
from tracebuf.ops.scalars import arith

NEUTRAL = {"add": 0, "bitwise_xor": 0, "multiply": 1}


def begun_apart(program: Program, cut: frozenset[Sym]) -> Program | None:
    """The program whose reductions along axes that are cut begin with what changes nothing; None where all do."""
    found = False
    for op in list(program.func.block.ops):
        if not isinstance(op, linalg.Generic) or op.all_parallel or not set(map(symbol_of, op.loop_dims())) & cut:
            continue
        for out in op.out_uses:
            combined = folding(op, out)
            name = NAMES.get(type(combined[0]), "") if combined is not None else ""
            start = out.value.defining_op
            if name in NEUTRAL and isinstance(start, linalg.Fill) and not may_begin(out.value, name):
                begin_apart(op, out, start, type(combined[0]), NEUTRAL[name])  # type: ignore[index]
                assert is_neutral(out.value, name)
                found = True
    return replace(program) if found else None


def begin_apart(op: linalg.Generic, out: Use, start: linalg.Fill, combine: type[Op], neutral: int) -> None:
    """Has one out of a reduction begin with what is neutral."""
    block, result, type_ = op.block, op.results[out.index - op.n_ins], out.value.tensor_type
    assert block is not None
    uses = list(result.uses)

    def before(new: Op) -> Value:
        assert block is not None
        block.insert_before(op, new)
        return new.result

    number = type_.element.dtype.type(neutral).item()
    nothing = before(arith.Constant.of(number, type_.element, op.loc))
    out.set(before(linalg.Fill.of(nothing, start.operand(1), op.loc)))
    body = Block([type_.element] * 3)
    both = combine.of(body.args[0], body.args[1], op.loc)  # type: ignore[attr-defined]
    body.append(both)
    body.append(linalg.Yield.of([both.result], op.loc))
    maps, kinds = [identity_map(type_.rank)] * 3, ["parallel"] * type_.rank
    whole = linalg.Generic.of([start.result, result], [start.operand(1)], maps, kinds, body, op.loc)
    block.insert(block.ops.index(op) + 1, whole)
    for use in uses:
        use.set(whole.result)
