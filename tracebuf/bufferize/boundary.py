"""What stands at a function's edge: the buffers of its arguments, and the axis order of a buffer.

An argument's buffer is the caller's: its pointer is that of element 0, its strides are what the specialisation knows of
them. MLIR counterpart: FuncBufferizableOpInterfaceImpl.cpp with `function-boundary-type-conversion=infer-layout-map`.
"""

from __future__ import annotations

from itertools import permutations

from tracebuf.ir.core import Op
from tracebuf.ir.dims import Dim
from tracebuf.ir.func import Func
from tracebuf.ir.slices import Slice
from tracebuf.ir.types import (
    MemRefType,
    TensorType,
    Type,
    UnrankedMemRefType,
    UnrankedTensorType,
    row_major,
    strides_in_order,
)
from tracebuf.ops.memory import memref
from tracebuf.options import Layout

Order = tuple[int, ...]
"""Axes of a buffer, outermost first."""


def argument_types(func: Func) -> list[Type]:
    """Tensors become memrefs with the strides of `arg_attrs`; scalars stay."""
    return [
        argument_type(a.type, attrs.get("strides")) if isinstance(a.type, TensorType) else a.type
        for a, attrs in zip(func.args, func.arg_attrs, strict=True)
    ]


def argument_type(type: TensorType, strides: tuple[Dim | None, ...] | None) -> MemRefType:
    """The buffer of an argument; strides that are not known are None."""
    return MemRefType(type.shape, type.element, (None,) * type.rank if strides is None else strides, 0)


def unknown_type(type_: Type, layout: Layout) -> Type:
    """The type of a tensor's buffer that comes from outside, or crosses a function's boundary."""
    if isinstance(type_, UnrankedTensorType):
        return UnrankedMemRefType(type_.element)
    if not isinstance(type_, TensorType):
        return type_
    if layout == "identity-layout-map":
        return MemRefType(type_.shape, type_.element, row_major(type_.shape), 0)
    return MemRefType(type_.shape, type_.element, (None,) * type_.rank, None if type_.rank else 0)


def has_shape(buffer: Type, type_: Type) -> bool:
    """Whether a buffer's type has exactly the sizes of a tensor's type."""
    if not isinstance(buffer, MemRefType) or not isinstance(type_, TensorType):
        return isinstance(buffer, UnrankedMemRefType) and isinstance(type_, UnrankedTensorType)
    return str(TensorType(buffer.shape, buffer.element)) == str(TensorType(type_.shape, type_.element))


def order_of_type(type: MemRefType) -> Order:
    """The axis order of dense strides; C order where the strides have none."""
    axes = tuple(range(type.rank))
    if type.rank > 4:
        return axes
    return next((p for p in permutations(axes) if strides_in_order(type.shape, p) == type.strides), axes)


def order_of_view(order: Order, view: Slice) -> Order:
    """The axis order of a view of a buffer; new axes come first."""

    def depth(axis: int) -> int:
        base = view.dims[axis]
        return -1 if base is None else order.index(base)

    return tuple(sorted(range(len(view.dims)), key=depth))


def order_of_regrouped(order: Order, op: Op) -> Order:
    """The axis order after a collapse_shape, expand_shape, recast, diagonal or windows."""
    if isinstance(op, memref.ExpandShape):
        return tuple(a for axis in order for a in op.attrs["groups"][axis])
    if isinstance(op, memref.Recast):
        n = op.result.memref_type.rank
        return (*order, n - 1) if n > len(order) else tuple(a for a in order if a < n)
    if isinstance(op, memref.CollapseShape):
        groups = op.attrs["groups"]
        return tuple(sorted(range(len(groups)), key=lambda k: order.index(groups[k][0])))
    if isinstance(op, memref.Windows):
        place = order.index(op.attrs["axis"]) + 1
        return (*order[:place], len(order), *order[place:])
    axes = op.attrs["axes"]
    depths = [*(order.index(a) for a in range(len(order)) if a not in axes), min(order.index(a) for a in axes)]
    return tuple(sorted(range(len(depths)), key=depths.__getitem__))
