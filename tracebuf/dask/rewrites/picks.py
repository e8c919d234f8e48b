"""What is read at one place of an axis that is cut (`u[0] = u[-2]`, `x - x[0]`, `t[1] - t[0]`): a reduction over the
axis, to which only that place gives its element. Each chunk knows where it begins, and one of them has the place.

Where an iteration reads such a place the loop is written out afterwards (`unroll.py`). MLIR has no counterpart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tracebuf.dask.flow import shape_of
from tracebuf.dask.program import Program
from tracebuf.dask.rewrites.extremes import extreme
from tracebuf.dask.rewrites.unroll import iterations, walks
from tracebuf.dask.rules import FEW
from tracebuf.dask.split import symbol_of
from tracebuf.ir.core import Block, Mixed, Op, Value, happens_in
from tracebuf.ir.dims import Sym
from tracebuf.ir.slices import Slice
from tracebuf.ir.types import I1, I64, TensorType
from tracebuf.location import Location
from tracebuf.ops.arrays import linalg, tensor
from tracebuf.ops.control import scf
from tracebuf.ops.scalars import arith


def picked_apart(program: Program, env: Mapping[Sym, int], cut: frozenset[Sym], where: Location) -> Program | None:
    """The program in which what the line `where` reads at one place, or a few, of axes that are cut is a reduction;
    None where it reads none, or in a loop that cannot be written out."""
    found = False
    for op in [o for o in program.func.walk() if o.loc == where]:
        if isinstance(op, tensor.Extract):
            base, n = op.operand(0), len(op.operands) - 1
            part = Slice(tuple(op.operands[1:]), (1,) * n, (1,) * n, ())
        elif isinstance(op, tensor.ExtractSlice) and not is_destination(op):
            base, part = op.source, op.slice
        else:
            continue
        few = [d for d, n in enumerate(shape_of(base)) if symbol_of(n) in cut and is_few(op, part, d)]
        if few and not base.tensor_type.element.is_complex and is_written_out(op, program, env, cut):
            if all(program.flow.size(part.offsets[d]) is not None for d in few):
                pick(op, base, part, few)
                found = True
    return replace(program) if found else None


def is_destination(op: tensor.ExtractSlice) -> bool:
    """Whether a part is only stored to."""
    return all(isinstance(u.op, linalg.DestinationOp) and not u.op.reads_out(u) and u in u.op.out_uses
               for u in op.result.uses)  # fmt: skip


def is_few(op: Op, part: Slice, d: int) -> bool:
    """Whether a slice has one place of an axis, or a few."""
    if d not in part.dims:
        return True
    n = op.result.tensor_type.shape[part.dims.index(d)]
    return isinstance(n, int) and n <= FEW and isinstance(part.strides[d], int)


def is_written_out(op: Op, program: Program, env: Mapping[Sym, int], cut: frozenset[Sym]) -> bool:
    """Whether an op is in no loop, or in one that can be written out."""
    outer = happens_in(op, program.func.block)
    if outer is op:
        return True
    if not isinstance(outer, scf.For) or walks(outer, program, cut) or op.block is not outer.body:
        return False
    return iterations(outer, program, env) is not None


def pick(op: Op, base: Value, part: Slice, few: Sequence[int]) -> None:
    """Puts a reduction in the place of an op that takes a part of `base`, of which a few places along these axes."""
    block, loc, element = op.block, op.loc, base.tensor_type.element
    assert block is not None

    def add(new: Op) -> Value:
        assert block is not None
        block.insert_before(op, new)
        return new.result

    def of_axis(values: Sequence[Any], whole: Callable[[int], Any]) -> tuple[Any, ...]:
        return tuple(whole(d) if d in few else v for d, v in enumerate(values))

    sizes = shape_of(base)
    dims = (*part.dims, *(d for d in few if d not in part.dims))
    all_of = Slice(
        of_axis(part.offsets, lambda d: 0), of_axis(part.sizes, lambda d: length(base, d, add)),
        of_axis(part.strides, lambda d: 1), dims,
    )  # fmt: skip
    old = shape_of(op.result)
    shape = tuple(sizes[d] if d is not None and d in few else old[k] for k, d in enumerate(dims))
    source = base
    if dims != tuple(range(len(sizes))) or any(d not in few for d in dims):
        source = add(tensor.ExtractSlice.of(base, all_of, TensorType(shape, element), loc))
    loops = {d: k for k, d in enumerate(dims) if d in few}
    kept = {d: len(dims) + k for k, d in enumerate(d for d in part.dims if d in few)}
    rank = len(dims) + len(kept)
    out_map = linalg.AffineMap(rank, tuple(k if d not in few else kept[d] for k, d in enumerate(part.dims)))
    in_map = linalg.AffineMap(rank, tuple(range(len(dims))))
    kinds = ["reduction" if k in loops.values() else "parallel" for k in range(rank)]
    numbers = [number(part.offsets[d], add) for d in few]
    combine, nothing = extreme(element, True)
    body = Block([element, *(I64 for _ in few), element])

    def put(new: Op) -> Value:
        body.append(new)
        return new.result

    here = put(arith.Constant.of(True, I1, loc))
    for d, place in zip(few, body.args[1:-1], strict=True):
        if d in kept:
            by = part.strides[d]
            assert isinstance(by, int)
            step = put(arith.Constant.of(by, I64, loc))
            place = put(arith.AddI.of(place, put(arith.MulI.of(index(kept[d], put), step))))
        here = put(arith.AndI.of(here, put(arith.CmpI.of("eq", index(loops[d], put), place))))
    taken = put(arith.Select.of(here, body.args[0], put(arith.Constant.of(nothing, element, loc)), loc))
    body.append(linalg.Yield.of([put(combine.of(body.args[-1], taken, loc))], loc))  # type: ignore[attr-defined]
    told = [1 if d is None else part.sizes[d] for d in part.dims]
    told = [n if isinstance(n, int) else t for n, t in zip(old, told)]
    empty = add(tensor.Empty.of(TensorType(old, element), told, loc))
    begin = add(linalg.Fill.of(add(arith.Constant.of(nothing, element, loc)), empty, loc))
    maps = [in_map, *(linalg.AffineMap(rank, ()) for _ in few), out_map]
    found = add(linalg.Generic.of([source, *numbers], [begin], maps, kinds, body, loc))
    if isinstance(op, tensor.Extract):
        found = add(tensor.Extract.of(found, [], loc))
    op.result.replace_all_uses(found)
    op.erase()


def length(base: Value, d: int, add: Callable[[Op], Value]) -> Mixed:
    size = shape_of(base)[d]
    return size if isinstance(size, int) else add(tensor.Dim.of(base, d))


def number(place: Mixed, add: Callable[[Op], Value]) -> Value:
    """A place as a number: that of the whole array."""
    return add(arith.Constant.of(place, I64) if isinstance(place, int) else arith.IndexCast.of(place, I64))


def index(loop: int, put: Callable[[Op], Value]) -> Value:
    return put(arith.IndexCast.of(put(linalg.Index.of(loop)), I64))
