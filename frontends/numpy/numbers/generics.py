"""Elementwise computations as one `linalg.generic`: operands broadcast, results in K-order or into `out=`.

Rules S6 (order of axes) and Z2 (sizes that may be 1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tracebuf.frontends.numpy.numbers.bodies import Body
from tracebuf.frontends.numpy.numbers.operands import Operand, scalar_value
from tracebuf.frontends.numpy.record.broadcasting import broadcast, fits_into
from tracebuf.frontends.numpy.record.each_path import on_each_path
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import ArrayRef, NpScalar, Scalar, Unsure, axis_order
from tracebuf.ir.core import Block, Value
from tracebuf.ir.dims import Dim
from tracebuf.ir.slices import Slice
from tracebuf.ir.types import I1, ScalarType, TensorType
from tracebuf.ops.arrays import linalg, tensor
from tracebuf.ops.scalars import arith


def build(
    r: Recorder,
    compute: Callable[[Body, list[Value]], Value],
    operands: Sequence[Operand],
    elements: Sequence[ScalarType],
    out: ScalarType,
    into: ArrayRef | None = None,
    mask: Operand | None = None,
    unsure: Unsure | None = None,
) -> ArrayRef | Scalar:
    """An elementwise computation as one linalg.generic over the broadcast operands.

    `compute` records the body; `elements` are the types that scalar operands are converted to. The result is a fresh
    array in K-order, a number where nothing is an array, or `into`, in which elements stay as they are where `mask` is
    false.
    """
    return build_all(r, lambda b, args: [compute(b, args)], operands, elements, [out], [into], mask, unsure)[0]


def build_all(
    r: Recorder,
    compute: Callable[[Body, list[Value]], list[Value]],
    operands: Sequence[Operand],
    elements: Sequence[ScalarType],
    outs: Sequence[ScalarType],
    into: Sequence[ArrayRef | None],
    mask: Operand | None = None,
    unsure: Unsure | None = None,
) -> list[ArrayRef | Scalar]:
    """An elementwise computation of several results, as one linalg.generic with one out for each (see `build`)."""
    if None not in into:
        masks = [] if mask is None else [mask]

        def on_path(outs_: list[Any], read: list[Any]) -> None:
            build_all(r, compute, read[len(masks) :], elements, outs, outs_, read[0] if masks else None)

        if on_each_path(r, into, [*masks, *operands], on_path):
            return list(into)  # type: ignore[arg-type]
    if mask is not None:
        operands, elements = [*operands, mask], [*elements, I1]
    arrays, targets = [o for o in operands if isinstance(o, ArrayRef)], [t for t in into if t is not None]
    shown = shapes_of([*operands[: len(operands) - (mask is not None)], *targets, *([] if mask is None else [mask])])
    shape = broadcast(r, [a.shape for a in arrays], shown=shown)
    if not targets and not shape:
        body = Body(r.frame.block, r.loc)
        values = [
            r.load(o, ()) if isinstance(o, ArrayRef) else scalar_value(r, o, e) for o, e in zip(operands, elements)
        ]
        return [NpScalar(r.first_made(v), t, unsure) for v, t in zip(compute(body, values), outs)]
    for target in targets:
        fits_into(r, shape, target.shape, shown)
        shape = target.shape
    for target in targets[:-1]:
        fits_into(r, shape, target.shape, shown)
    block, values, maps, seen = Block(), [], [], {}
    args: list[Value] = []
    for operand, e in zip(operands, elements):
        value, map_ = input_of(r, operand, e, shape)
        if (value, map_) not in seen:
            seen[value, map_] = block.add_arg(linalg.element_type(value.type))
            values.append(value)
            maps.append(map_)
        args.append(seen[value, map_])
    order = result_order(r, arrays, len(shape))
    kinds = [t if target is None else target.element for t, target in zip(outs, into)]
    starts = [
        r.read(target) if target is not None and mask is not None else r.empty(t, shape, None if target else order)
        for t, target in zip(kinds, into)
    ]
    before, body = [block.add_arg(t) for t in kinds], Body(block, r.loc)
    new = [body.cast(v, t) for v, t in zip(compute(body, args), kinds)]
    if mask is not None:
        new = [body.add(arith.Select.of(args[-1], v, old)) for v, old in zip(new, before)]
    block.append(linalg.Yield.of(new, r.loc))
    maps += [linalg.identity_map(len(shape))] * len(kinds)
    made = r.add(linalg.Generic.of(values, starts, maps, ["parallel"] * len(shape), block)).results
    results: list[ArrayRef | Scalar] = []
    for x, value in zip(into, made):
        if x is not None:
            r.store(x, value)
        element = value.tensor_type.element
        results.append(ArrayRef(r.new_storage(element, shape, order, value)) if x is None else x)
    return results


def shapes_of(operands: Sequence[Operand]) -> list[tuple[Dim, ...]]:
    """The shapes of arrays and numbers, as messages show them."""
    return [o.shape if isinstance(o, ArrayRef) else () for o in operands]


def result_order(r: Recorder, arrays: Sequence[ArrayRef], ndim: int) -> tuple[int, ...]:
    """The axis order of a fresh elementwise result, outermost first: K-order. An axis that a guard makes 1 is repeated
    as one that is written so."""
    if ndim <= 1 or all(map(in_c_order, arrays)):
        return tuple(range(ndim))
    axes = [[None if r.facts.equal(n, 1) else k for k, n in enumerate(a.shape)] for a in arrays]
    return axis_order([(a, [None] * (ndim - a.ndim) + own) for a, own in zip(arrays, axes)], ndim)


def in_c_order(a: ArrayRef) -> bool:
    """Whether no axis lies further out in memory than one before it."""
    ranks = [a.stride_rank(k) for k in range(a.ndim)]
    return all(x is not None and y is not None and x <= y for x, y in zip(ranks, ranks[1:]))


def input_of(
    r: Recorder, operand: Operand, element: ScalarType, shape: tuple[Dim, ...]
) -> tuple[Value, linalg.AffineMap]:
    """An operand of a generic over `shape`, with its indexing map; an axis whose size may be 1 at run time is repeated
    by a stride of 0 (rule Z2)."""
    n = len(shape)
    if not isinstance(operand, ArrayRef):
        return scalar_value(r, operand, element), linalg.AffineMap(n, ())
    first, value = n - operand.ndim, r.read(operand)
    if operand.shape == shape:
        return value, linalg.identity_map(n)
    results: list[int | None] = []
    unsure: list[int] = []
    for axis, size in enumerate(operand.shape):
        wanted = shape[first + axis]
        if r.facts.equal(size, wanted):
            results.append(first + axis)
        elif size == 1:
            results.append(None)
        else:
            results.append(first + axis)
            unsure.append(axis)
    if unsure:
        value = repeat_where_one(r, operand, value, unsure, shape[first:])
    return value, linalg.AffineMap(n, tuple(results))


def repeat_where_one(r: Recorder, ref: ArrayRef, value: Value, axes: Sequence[int], shape: tuple[Dim, ...]) -> Value:
    """A view of the wanted shape in which an axis of run-time size 1 is repeated."""
    n = ref.ndim
    strides: list[Any] = [1] * n
    sizes = list(ref.shape)
    for axis in axes:
        one = r.compare("eq", ref.shape[axis], 1)
        strides[axis] = r.emit(arith.Select.of(one, r.index(0), r.index(1)))
        sizes[axis] = shape[axis]
    s = Slice((0,) * n, tuple(r.mixed(d) for d in sizes), tuple(strides), tuple(range(n)))
    type_ = TensorType(tuple(r.facts.canon(d) for d in sizes), ref.element)
    return r.emit(tensor.ExtractSlice.of(value, s, type_))


def convert_to(r: Recorder, value: Operand, element: ScalarType, shape: tuple[Dim, ...], fresh: bool = False) -> Value:
    """A tensor of `shape` and `element` that holds `value`, converted and broadcast as a store does it (unsafe
    casting); with `fresh`, always a new one."""
    if not isinstance(value, ArrayRef):
        empty = r.empty(element, shape)
        return r.emit(linalg.Fill.of(scalar_value(r, value, element), empty))
    if (
        not fresh
        and value.element is element
        and value.ndim == len(shape)
        and all(r.facts.equal(a, b) for a, b in zip(value.shape, shape))
    ):
        return r.read(value)
    block = Block()
    source, map_ = input_of(r, value, value.element, shape)
    arg = block.add_arg(value.element)
    block.add_arg(element)
    body = Body(block, r.loc)
    block.append(linalg.Yield.of([body.cast(arg, element)], r.loc))
    maps = [map_, linalg.identity_map(len(shape))]
    return r.emit(linalg.Generic.of([source], [r.empty(element, shape)], maps, ["parallel"] * len(shape), block))


def any_true(r: Recorder, mask: ArrayRef) -> Value:
    """Whether an array of bools has a True element: a reduction over all axes."""
    start = r.emit(linalg.Fill.of(r.constant(False, I1), r.empty(I1, ())))
    block = Block([I1, I1])
    body = Body(block, r.loc)
    block.append(linalg.Yield.of([body.add(arith.OrI.of(block.args[1], block.args[0]))], r.loc))
    maps = [linalg.identity_map(mask.ndim), linalg.AffineMap(mask.ndim, ())]
    folded = linalg.Generic.of([r.read(mask)], [start], maps, ["reduction"] * mask.ndim, block)
    return r.load(ArrayRef(r.new_storage(I1, (), (), r.emit(folded))), ())
