"""Of an element-wise result that is read only in slices, the slices are computed.

`d = a[:, None] - b; d[..., 0] ** 2 + d[..., 1] ** 2` needs no array of all differences: each slice becomes an op of its
own, on slices of the inputs, which fusion takes up. Only where each slice fixes the same axis, at another index, and
one op of the same block reads it: then nothing is computed twice, and nothing kept in more arrays. What may raise must
do so at every index of that axis. MLIR counterpart: the pattern of BubbleUpExtractSlice.cpp, which takes the only use.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from tracebuf.ir.clone import clone_region
from tracebuf.ir.core import Mixed, Op, Value
from tracebuf.ir.func import Func
from tracebuf.ir.slices import Slice
from tracebuf.ir.types import TensorType
from tracebuf.ops.arrays import tensor
from tracebuf.ops.arrays.linalg import AffineMap, Generic, Index, identity_map
from tracebuf.ops.scalars import arith
from tracebuf.optimize.tensors.fuse import (
    fits_in_registers,
    has_one_consumer,
    is_elementwise_producer,
    is_not_repeated,
    move_indices,
    passes_no_new_version,
)
from tracebuf.optimize.tensors.versions import Versions

T = TypeVar("T")


def compute_slices(func: Func) -> None:
    """Rewrites every such op, last first, so that a chain of them is cut from its end."""
    ops = [op for op in func.walk() if isinstance(op, Generic)]
    if not any(isinstance(use.op, tensor.ExtractSlice) for op in ops for r in op.results for use in r.uses):
        return
    versions: Versions | None = None
    for op in reversed(ops):
        if (parts := parts_of(op)) is None:
            continue
        versions = versions or Versions(func)
        if not all(is_taken_up(op, part, versions) for part in parts.values()):
            continue
        for (axis, at), part in parts.items():
            made = slice_of(op, axis, at, part)
            versions.stands_for(made, op)
            part.result.replace_all_uses(made.result)
            part.erase()
        empty = op.operand(op.n_ins).defining_op
        op.erase()
        if isinstance(empty, tensor.Empty) and not empty.result.uses:
            empty.erase()


def parts_of(op: Generic) -> dict[tuple[int, int], tensor.ExtractSlice] | None:
    """By axis and index the slices that are all that is read of an op's result; None where they are not such slices."""
    if len(op.results) != 1 or not is_elementwise_producer(op):
        return None
    if not isinstance(op.operand(op.n_ins).defining_op, tensor.Empty) or not keeps_its_loops(op):
        return None
    found: dict[tuple[int, int], tensor.ExtractSlice] = {}
    for use in op.result.uses:
        fixed = fixed_axis(use.op, op.result.tensor_type) if isinstance(use.op, tensor.ExtractSlice) else None
        if fixed is None or fixed in found or use.op.block is not op.block:
            return None
        assert isinstance(use.op, tensor.ExtractSlice)
        found[fixed] = use.op
    axes = {axis for axis, _ in found}
    return found if len(axes) == 1 and raises_alike(op, *axes) else None


def keeps_its_loops(op: Generic) -> bool:
    """Whether NumPy computes an element alike with fewer axes around it: its loops of several operands look at their
    strides (rule N3)."""
    return not any(isinstance(inner, arith.Ufunc) and len(inner.uses) > 1 for inner in op.body.ops)


def fixed_axis(part: tensor.ExtractSlice, type_: TensorType) -> tuple[int, int] | None:
    """The axis and the index of a slice that is all of the array at that index."""
    s, rest = part.slice, list(range(type_.rank))
    fixed = [axis for axis in rest if axis not in s.dims]
    if len(fixed) != 1 or not isinstance(at := s.offsets[fixed[0]], int) or at < 0:
        return None
    rest.remove(fixed[0])
    whole = all(s.offsets[k] == 0 and s.strides[k] == 1 for k in rest) and s.dims == tuple(rest)
    return (fixed[0], at) if whole and part.result.tensor_type.shape == without(type_.shape, fixed[0]) else None


def raises_alike(op: Generic, axis: int) -> bool:
    """Whether what may raise in the body does not depend on the place along the axis."""
    varying = {a for a, m in zip(op.body.args, op.maps, strict=True) if axis in m.results}
    for inner in op.body.ops:
        if (isinstance(inner, Index) and inner.dim == axis) or not varying.isdisjoint(inner.operands):
            if inner.may_raise:
                return False
            varying.update(inner.results)
    return True


def is_taken_up(op: Generic, part: tensor.ExtractSlice, versions: Versions) -> bool:
    """Whether fusion will make the slice a part of the one op that reads it."""
    readers = {use.op for use in part.result.uses}
    (reader,) = readers if len(readers) == 1 else (None,)
    if not isinstance(reader, Generic) or reader.block is not op.block or not has_one_consumer(part, reader):
        return False
    index = next(iter(part.result.uses)).index
    return (
        is_not_repeated(reader, index)
        and fits_in_registers(op, reader)
        and keeps_its_loops(reader)
        and passes_no_new_version(op, reader, versions)
    )


def slice_of(op: Generic, axis: int, at: int, part: tensor.ExtractSlice) -> Generic:
    """The op at one index of an axis, in front of it."""
    empty, block, n = op.operand(op.n_ins).defining_op, op.block, len(op.iterators)
    assert isinstance(empty, tensor.Empty) and block is not None
    sizes, loops = empty.sizes, [None if d == axis else d - (d > axis) for d in range(n)]
    body = clone_region(op.regions[0], {}).block
    ins, maps = list[Value](), list[AffineMap]()
    for k in reversed(range(op.n_ins)):
        value, map_ = op.operand(k), op.maps[k]
        if not body.args[k].uses:  # the out tells the sizes of the loops
            body.drop_arg(k)
            continue
        if axis in map_.results:
            place = map_.results.index(axis)
            cut = slice_at(value, [1 if d is None else sizes[d] for d in map_.results], place, at, op)
            block.insert_before(op, cut)
            value, map_ = cut.result, AffineMap(n, without(map_.results, place))
        ins.insert(0, value)
        maps.insert(0, map_.compose(loops, n - 1))
    order = tuple(d - (d > axis) for d in empty.attrs["order"] if d != axis)
    out = tensor.Empty.of(part.result.tensor_type, without(sizes, axis), empty.loc, order)
    made = Generic.of(ins, [out.result], [*maps, identity_map(n - 1)], op.iterators[1:], body, op.loc)
    move_indices(made, loops, at)
    block.insert_before(op, out)
    block.insert_before(op, made)
    return made


def slice_at(value: Value, sizes: Sequence[Mixed], axis: int, at: int, op: Op) -> tensor.ExtractSlice:
    """A tensor of these sizes at one index of an axis."""
    type_, rank = value.tensor_type, len(sizes)
    offsets = tuple(at if k == axis else 0 for k in range(rank))
    shown = tuple(1 if k == axis else n for k, n in enumerate(sizes))
    s = Slice(offsets, shown, (1,) * rank, without(range(rank), axis))
    return tensor.ExtractSlice.of(value, s, TensorType(without(type_.shape, axis), type_.element), op.loc)


def without(items: Sequence[T], place: int) -> tuple[T, ...]:
    return (*items[:place], *items[place + 1 :])
