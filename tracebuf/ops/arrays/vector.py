"""Vectors read from tensors and written into them. MLIR counterpart: the vector dialect and
Vector/BufferizableOpInterfaceImpl.cpp. Its other ops know no tensors and stay as they are; native code has none of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.ir.attributes import segments
from tracebuf.ir.core import (
    Alias,
    Block,
    Effect,
    Effects,
    Facts,
    Form,
    Interpreter,
    Op,
    Region,
    Rewriter,
    Use,
    Value,
    no_effects,
    reads_buffers,
)
from tracebuf.ir.types import ShapedType, VectorType
from tracebuf.ops.arrays.named import parse_maps
from tracebuf.ops.control.func import Terminator
from tracebuf.ops.scalars.arith import Constant


class ReadingOp(Op):
    """Ops that read their first operand, a tensor or memref, and give a vector."""

    __slots__ = ()
    effects = reads_buffers

    def bufferizes_to_memory_write(self, use: Use, facts: Facts) -> bool:
        return False

    def aliasing_values(self, use: Use) -> list[Alias]:
        return []

    def bufferize(self, rewriter: Rewriter) -> None:
        if not self.operand(0).is_tensor:
            return rewriter.clone(self)
        operands = [rewriter.buffer(self.uses[0]), *(rewriter.value(v) for v in self.operands[1:])]
        made = rewriter.add(self.rebuilt(operands, [r.type for r in self.results], self.loc, dict(self.attrs)))
        rewriter.set_value(self.result, made.result)


class Gather(ReadingOp):
    """`vector.gather`: elements at the indices in a vector. operands: source (tensor or memref), base indices, index
    vector, mask, pass-through vector; results: 1 vector."""

    __slots__ = ()
    name = "vector.gather"
    takes, gives = "shaped, any*", "any"


class TransferRead(ReadingOp):
    """`vector.transfer_read`: a part of a tensor or memref as a vector; elements out of bounds are the padding.

    operands: source (tensor or memref), an index for each axis, padding (scalar), mask (vector of i1, if attr masked);
    results: 1 vector; attrs: masked, MLIR's permutation_map.
    """

    __slots__ = ()
    name = "vector.transfer_read"
    takes, gives = "shaped, index*, any, any?", "vector"

    @classmethod
    def from_form(cls, form: Form) -> Op:
        masked = bool(form.segments(4)[3])
        made = super().from_form(form)
        made.attrs["masked"] = masked
        return made

    def to_form(self) -> Form:
        form, masked = self.form_with({}), int(self.attrs["masked"])
        form.attrs["operandSegmentSizes"] = segments(1, len(self.uses) - 2 - masked, 1, masked)
        return form

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        rank = args[0].ndim
        shape, place = transferred(self, self.result, args[1 : 1 + rank])
        found = np.full(shape, args[1 + rank], args[0].dtype)
        inside = _inside(args[0], shape, place, args[-1] if self.attrs["masked"] else None)
        for at in zip(*np.nonzero(inside), strict=True):
            found[at] = args[0][_place(place, at)]
        return [found]


class TransferWrite(Op):
    """`vector.transfer_write`: a vector into a part of a tensor or memref; nothing is written out of bounds. The
    destination is read unless all of it is overwritten.

    operands: vector, dest (tensor or memref), an index for each axis of dest, mask (vector of i1, if attr masked);
    results: on tensors 1, aliases dest; attrs: masked, MLIR's permutation_map.
    """

    __slots__ = ()
    name = "vector.transfer_write"
    takes, gives = "any, shaped, index*, any?", "tensor?"

    @classmethod
    def from_form(cls, form: Form) -> Op:
        masked = bool(form.segments(4)[3])
        if form.result_types:
            form.result_types = [form.operands[1].type]
        made = super().from_form(form)
        made.attrs["masked"] = masked
        return made

    def to_form(self) -> Form:
        form, masked = self.form_with({}), int(self.attrs["masked"])
        form.attrs["operandSegmentSizes"] = segments(1, 1, len(self.uses) - 2 - masked, masked)
        return form

    @property
    def indices(self) -> list[Value]:
        return self.operands[2 : len(self.uses) - int(self.attrs["masked"])]

    def overwrites_all(self, as_mlir: bool) -> bool:
        """Whether constants show that every element is overwritten. MLIR 22 overlooks a mask among the operands, and
        vectors of fewer dimensions than the destination."""
        dest, vector = self.operand(1).type, self.operand(0).type
        if not isinstance(dest, ShapedType) or not isinstance(vector, VectorType) or isinstance(self.parent_op, Mask):
            return False
        if not all(is_zero(v) for v in self.indices) or not all(isinstance(n, int) for n in dest.shape):
            return False
        if not as_mlir and (self.attrs["masked"] or vector.scalable or _permutes(self, dest.rank, len(vector.shape))):
            return False
        return all(n <= m for n, m in zip(dest.shape, vector.shape))  # type: ignore[operator]

    def effects(self) -> Effects:
        return () if self.operand(1).is_tensor else ((Effect.WRITE, self.operand(1)),)

    def bufferizes_to_memory_read(self, use: Use, facts: Facts) -> bool:
        return not self.overwrites_all(facts.as_mlir)

    def aliasing_values(self, use: Use) -> list[Alias]:
        return [Alias(self.result)]

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        result = args[1].copy(order="K")
        shape, place = transferred(self, self.operand(0), args[2 : 2 + result.ndim])
        for at in zip(*np.nonzero(_inside(result, shape, place, args[-1] if self.attrs["masked"] else None))):
            result[_place(place, at)] = args[0][at]
        return [result]

    def bufferize(self, rewriter: Rewriter) -> None:
        if not self.operand(1).is_tensor:
            return rewriter.clone(self)
        dest = rewriter.buffer(self.uses[1])
        vector, *rest = (rewriter.value(v) for v in (self.operand(0), *self.operands[2:]))
        rewriter.add(self.rebuilt([vector, dest, *rest], [], self.loc, dict(self.attrs)))
        rewriter.replace(self.result, dest)


class Yield(Terminator):
    """`vector.yield`: ends the region of vector.mask. operands: the results of vector.mask; results: none."""

    __slots__ = ()
    name = "vector.yield"

    def aliasing_values(self, use: Use) -> list[Alias]:
        parent = self.parent_op
        return [Alias(parent.results[use.index])] if isinstance(parent, Mask) else []


class Mask(Op):
    """`vector.mask`: one op under a mask. operands: mask (vector of i1), perhaps a pass-through vector; results: those
    that its region yields; regions: 1, with the masked op and a vector.yield."""

    __slots__ = ()
    name = "vector.mask"
    takes = "any, any?"
    effects = no_effects
    region_ends = ("vector.yield",)

    @property
    def body(self) -> Block:
        return self.regions[0].block

    def aliasing_uses(self, value: Value) -> list[Any]:
        use = self.body.terminator.uses[value.index]
        return [(use, alias.relation, alias.definite) for alias in self.body.terminator.aliasing_values(use)]

    def bufferize(self, rewriter: Rewriter) -> None:
        """A new buffer, where one is needed, is made before the op, since the region holds only what is masked."""
        body, end = Block(), self.body.terminator
        with rewriter.inside(body):
            rewriter.inline(self.body, [])
        ops, masked = body.ops[:-1], body.ops[-1:]
        for op in ops:
            rewriter.add(op)
        kept = [v for v in end.operands if not v.is_tensor]
        body.replace_ops(masked)
        body.append(Yield.of([rewriter.value(v) for v in kept], end.loc))
        operands, types = [rewriter.value(v) for v in self.operands], [v.type for v in kept]
        made = rewriter.add(self.rebuilt(operands, types, self.loc, dict(self.attrs), [Region(body)]))
        results = iter(made.results)
        for use, result in zip(end.uses, self.results, strict=True):
            if result.is_tensor:
                rewriter.replace(result, rewriter.buffer(use))
            else:
                rewriter.set_value(result, next(results))


def is_zero(value: Value) -> bool:
    """Whether a value is the constant 0."""
    op = value.defining_op
    return isinstance(op, Constant) and op.attrs["value"] == 0


def _permutes(op: Op, rank: int, vector_rank: int) -> bool:
    """Whether the permutation map is anything but the identity."""
    maps = parse_maps(op.attrs["permutation_map"].text)
    return rank != vector_rank or maps is None or not maps[0].is_identity


def transferred(op: Op, vector: Value, indices: list[int]) -> tuple[tuple[int, ...], list[Any]]:
    """The vector's shape, and for each axis of the tensor (start, axis of the vector or None)."""
    assert isinstance(vector.type, VectorType)
    maps = parse_maps(op.attrs["permutation_map"].text)
    if maps is None or vector.type.scalable:
        raise UnsupportedError(f"{op.name} with this map, or a scalable vector, is not run", location=op.loc)
    axes = {r: k for k, r in enumerate(maps[0].results) if r is not None}
    return vector.type.shape, [(start, axes.get(d)) for d, start in enumerate(indices)]


def _place(place: list[Any], at: tuple[Any, ...]) -> tuple[int, ...]:
    return tuple(int(start if axis is None else start + at[axis]) for start, axis in place)


def _inside(array: np.ndarray, shape: tuple[int, ...], place: list[Any], mask: Any) -> np.ndarray:
    """Which elements of the vector are transferred: those in bounds, where the mask holds."""
    found = np.ones(shape, bool) if mask is None else np.array(mask, bool)
    for at in np.ndindex(*shape):
        where = _place(place, at)
        found[at] &= all(0 <= i < n for i, n in zip(where, array.shape, strict=True))
    return found
