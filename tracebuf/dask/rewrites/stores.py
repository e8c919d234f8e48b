"""Stores to places of an axis that is cut which are far from its ends (`u[n // 2] += source`, `u[200:300] = 1`), or of
what is read around the end: element by element, by whether that is one of the places. Each chunk knows where it begins.

What is stored is one number, or the same along the axis. MLIR has no counterpart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tracebuf.dask.flow import shape_of
from tracebuf.dask.program import Program
from tracebuf.dask.rewrites.picks import index, length, number
from tracebuf.dask.split import symbol_of
from tracebuf.ir.core import Block, Mixed, Op, Value, happens_in
from tracebuf.ir.dims import Dim, Sym, add, sub
from tracebuf.ir.slices import Slice
from tracebuf.ir.types import I1, INDEX, TensorType
from tracebuf.location import UNKNOWN, Location
from tracebuf.ops.arrays import linalg, tensor
from tracebuf.ops.memory.indexing import identity_map
from tracebuf.ops.scalars import arith

FAR = 8
"""From how many places from either end on a store is far: chunks have so much more of their neighbours at most."""


def stored_apart(program: Program, cut: frozenset[Sym], where: Location | None) -> Program | None:
    """The program in which what the line `where` (None: any line, far from the ends) stores to some places of axes that
    are cut is chosen by the place; None where it stores nothing so."""
    found = False
    line = None if where is None else (where.file, where.line)
    for op in [o for o in program.func.walk() if line in (None, (o.loc.file, o.loc.line))]:
        if isinstance(op, tensor.Insert):
            n = len(op.operands) - 2
            part = Slice(tuple(op.operands[2:]), (1,) * n, (1,) * n, ())
        elif isinstance(op, tensor.InsertSlice) and op.results:
            part = op.slice
        else:
            continue
        shape = op.result.tensor_type.shape
        axes = [d for d, n in enumerate(shape) if symbol_of(n) in cut and is_part(program, op, part, d)]
        if axes and (where is not None or any(is_far(program, op, part, d) for d in axes)):
            store(program, op, part, axes)
            found = True
    return replace(program) if found else None


def many(op: Op, part: Slice, d: int) -> Dim:
    """How many places of an axis are stored to."""
    return shape_of(op.operand(0))[part.dims.index(d)] if d in part.dims else 1


def is_part(program: Program, op: Op, part: Slice, d: int) -> bool:
    """Whether a store is to some places of an axis, which the call says, and the same is stored to all of these."""
    n = many(op, part, d)
    if part.offsets[d] == 0 and n == op.result.type.shape[d]:  # type: ignore[union-attr]
        return False
    known = all(program.flow.given(v) is not None for v in (part.offsets[d], part.sizes[d]))
    return known and (n == 1 or (part.strides[d] == 1 and is_number(op.operand(0))))


def is_number(v: Value) -> bool:
    return isinstance(v.defining_op, linalg.Fill)


def is_far(program: Program, op: Op, part: Slice, d: int) -> bool:
    """Whether a part begins or ends far from both ends of an axis."""
    first, n = program.flow.size(part.offsets[d]), op.result.type.shape[d]  # type: ignore[union-attr]
    assert first is not None
    return any(not is_near(at) and not is_near(sub(n, at)) for at in (first, add(first, many(op, part, d))))


def is_near(d: Dim) -> bool:
    return isinstance(d, int) and d <= FAR


def store(program: Program, op: Op, part: Slice, axes: Sequence[int]) -> None:
    """Puts a choice in the place of a store to some places of these axes."""
    block, loc, source, dest = op.block, op.loc, op.operand(0), op.operand(1)
    assert block is not None

    def before(new: Op) -> Value:
        assert block is not None
        block.insert_before(op, new)
        return new.result

    shape, element = dest.tensor_type.shape, dest.tensor_type.element
    rest = [d for d, n in enumerate(shape) if d not in axes and not (part.offsets[d] == 0 and many(op, part, d) == n)]
    whole = {d: length(dest, d, before) for d in range(len(shape)) if d not in rest}
    sizes: list[Mixed] = [whole[d] if d in whole else part.sizes[d] for d in range(len(shape))]
    some = Slice(
        tuple(0 if d in whole else o for d, o in enumerate(part.offsets)), tuple(sizes),
        tuple(1 if d in whole else s for d, s in enumerate(part.strides)), tuple(range(len(shape))),
    )  # fmt: skip
    view = dest
    if rest:
        dims = tuple(many(op, part, d) if d in rest else n for d, n in enumerate(shape))
        view = before(tensor.ExtractSlice.of(dest, some, TensorType(dims, element), loc))
    rank = len(shape)
    body = Block([])
    ins: list[Value] = []
    maps: list[linalg.AffineMap] = []

    def take(v: Value, map_: linalg.AffineMap) -> Value:
        ins.append(v)
        maps.append(map_)
        return body.add_arg(v.tensor_type.element if v.is_tensor else v.type)

    def put(new: Op) -> Value:
        body.append(new)
        return new.result

    made = source.defining_op
    if isinstance(made, linalg.Fill):
        value = take(made.operand(0), linalg.AffineMap(rank, ()))
    elif source.is_tensor:
        along = [None if d in axes or d is None or shape_of(source)[k] == 1 else d for k, d in enumerate(part.dims)]
        value = take(source, linalg.AffineMap(rank, tuple(along)))
    else:
        value = inlined(program, source, op, take, put)
    bounds: list[tuple[int, Value, Value | None]] = []
    for d in axes:
        first = take(number(outside(program, op, part.offsets[d]), before), linalg.AffineMap(rank, ()))
        if many(op, part, d) == 1:
            bounds.append((d, first, None))
            continue
        begin, size = (as_index(outside(program, op, n), before) for n in (part.offsets[d], part.sizes[d]))
        last = number(before(arith.AddI.of(begin, size)), before)
        bounds.append((d, first, take(last, linalg.AffineMap(rank, ()))))
    old = body.add_arg(element)
    here = put(arith.Constant.of(True, I1, loc))
    for d, first, end in bounds:
        at = index(d, put)
        here = put(arith.AndI.of(here, put(arith.CmpI.of("eq" if end is None else "sge", at, first))))
        if end is not None:
            here = put(arith.AndI.of(here, put(arith.CmpI.of("slt", at, end))))
    body.append(linalg.Yield.of([put(arith.Select.of(here, value, old, loc))], loc))
    new = before(linalg.Generic.of(ins, [view], [*maps, identity_map(rank)], ["parallel"] * rank, body, loc))
    if rest:
        new = before(tensor.InsertSlice.of(new, dest, some, loc))
    op.results[0].replace_all_uses(new)
    op.erase()
    while isinstance(made, (linalg.Fill, tensor.ExtractSlice)) and not made.result.uses:
        unread, made = made, made.operand(made.n_ins if isinstance(made, linalg.Fill) else 0).defining_op
        unread.erase()


def outside(program: Program, op: Op, place: Mixed) -> Mixed:
    """A place that the sizes of a call say, as it is known before the loop that an op is in: what is computed there of
    sizes is theirs alone."""
    block = program.func.block
    before = happens_in(op, block)
    assert before is not None

    def hoisted(v: Value) -> Value:
        size, made = program.flow.given(v), v.defining_op
        if made is None and v.owner is block or made is not None and made.block is block:
            return v
        for s, value in program.func.symbols.items():
            if size is not None and size == s.expr:
                return value
        assert made is not None
        types = [r.type for r in made.results]
        new = type(made)([hoisted(o) for o in made.operands], types, made.loc, dict(made.attrs))
        block.insert_before(before, new)
        return new.result

    return place if isinstance(place, int) else hoisted(place)


def as_index(n: Mixed, before: Callable[[Op], Value]) -> Value:
    return before(arith.Constant([], [INDEX], UNKNOWN, {"value": n})) if isinstance(n, int) else n


def inlined(
    program: Program, v: Value, op: Op, take: Callable[[Value, linalg.AffineMap], Value], put: Callable[[Op], Value]
) -> Value:
    """A number that is stored, in a body: what it takes out of arrays at the very places that are stored to are the
    elements of these (`u[k] += s`)."""
    places = [program.flow.size(p) for p in op.operands[2:]]
    done: dict[Value, Value] = {}

    def visit(x: Value) -> Value:
        made = x.defining_op
        if x in done:
            return done[x]
        if isinstance(made, tensor.Extract) and shape_of(made.operand(0)) == shape_of(op.operand(1)) and (
            [program.flow.size(p) for p in made.operands[1:]] == places
        ):  # fmt: skip
            done[x] = take(made.operand(0), identity_map(len(places)))
        elif isinstance(made, arith.ScalarOp) and made.block is op.block and takes_from(made, places, program):
            operands = [visit(o) for o in made.operands]
            new = type(made)(operands, [r.type for r in made.results], made.loc, dict(made.attrs))
            done[x] = put(new)
        else:
            done[x] = take(x, linalg.AffineMap(len(places), ()))
        return done[x]

    return visit(v)


def takes_from(op: Op, places: Sequence[Dim | None], program: Program) -> bool:
    """Whether a number is computed from what is at these places."""
    for v in op.operands:
        made = v.defining_op
        if isinstance(made, tensor.Extract) and [program.flow.size(p) for p in made.operands[1:]] == places:
            return True
        if isinstance(made, arith.ScalarOp) and takes_from(made, places, program):
            return True
    return False
