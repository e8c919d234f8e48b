"""Loops with a reduction along an axis that is cut in each iteration: written out, so that each has its stages.

Only loops that run a known number of times, not too often; and only where the program could not be cut otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracebuf.dask.program import Program
from tracebuf.dask.split import Uncut, fold_of
from tracebuf.ir.clone import clone_op
from tracebuf.ir.core import Op, Value
from tracebuf.ir.dims import Sym, evaluate, symbols
from tracebuf.ir.types import INDEX, ShapedType
from tracebuf.location import UNKNOWN
from tracebuf.ops.control import scf
from tracebuf.ops.scalars import arith

MOST = 200
"""How many iterations are written out."""
FEW_PLACES = 16
"""How many places of an axis that is cut a loop goes over at most that is written out."""


def unrolled(
    program: Program, env: Mapping[Sym, int], cut: frozenset[Sym], few: int | None = None
) -> Program | None:
    """The program without loops that reduce along axes that are cut; None where there are none that can be written
    out. `few`: of each only so many iterations, which show what can be cut."""
    found = False
    block = program.func.block
    for op in list(block.ops):
        if not isinstance(op, scf.For) or not folds(op, cut) or walks(op, program, cut):
            continue
        if (places := iterations(op, program, env)) is not None:
            write_out(op, places[:few])
            found = True
    return replace(program) if found else None


def folds(op: scf.For, cut: frozenset[Sym]) -> bool:
    """Whether the loop's own ops reduce along axes that are cut."""
    try:
        return any(fold_of(o, cut) for o in op.body.ops)
    except Uncut:
        return False


def walks(op: scf.For, program: Program, cut: frozenset[Sym]) -> bool:
    """Whether a loop goes along an axis that is cut, not over a few places of it, or is as long as an array."""
    sizes = [program.flow.given(v) for v in op.operands[:3]]
    if any(d is None or any(s.kind == "dim" for s in symbols(d)) for d in sizes):
        return True
    bounds = [d for d in sizes if isinstance(d, int)]
    if len(bounds) == 3 and len(range(*bounds)) <= FEW_PLACES:
        return False
    return any(symbols(d) & cut for d in program.flow.walked.get(op, ()))


def iterations(op: scf.For, program: Program, env: Mapping[Sym, int]) -> range | None:
    """The values of the counter, where they are known and no size in the loop depends on it."""
    sizes = [program.flow.given(v) for v in op.operands[:3]]
    for o in op.walk():
        for r in o.results:
            if isinstance(r.type, ShapedType):
                for n in r.type.shape:
                    if any(s.kind == "iv" for s in symbols(n)):
                        return None
    if any(d is None for d in sizes):
        return None
    first, last, step = (evaluate(d, env) for d in sizes if d is not None)
    places = range(first, last, step)
    return places if len(places) <= MOST else None


def write_out(loop: scf.For, places: range) -> None:
    """Puts a copy of the body for each value of the counter in the place of a loop."""
    block = loop.block
    assert block is not None

    def add(new: Op) -> Op:
        assert block is not None
        block.insert_before(loop, new)
        return new

    current = [u.value for u in loop.inits]
    for i in places:
        counter = add(arith.Constant([], [INDEX], UNKNOWN, {"value": i})).result
        mapping: dict[Value, Value] = {loop.body.args[0]: counter, **dict(zip(loop.args, current))}
        for op in loop.body.ops:
            if op is not loop.body.terminator:
                clone_op(op, mapping, add)
        current = [mapping.get(u.value, u.value) for u in loop.passed]
    for result, value in zip(loop.results, current):
        result.replace_all_uses(value)
    loop.erase()
