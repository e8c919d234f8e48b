"""Tensors made of scalars, or of other tensors' elements, always in a new buffer: from_elements, splat, generate, pad,
concat. MLIR counterpart: the tensor dialect and Tensor/BufferizableOpInterfaceImpl.cpp."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from tracebuf.errors import InternalError
from tracebuf.ir.attributes import Attr, inherent, integers, segments
from tracebuf.ir.core import (
    Alias,
    Block,
    Facts,
    Form,
    FormError,
    Interpreter,
    Mixed,
    Op,
    Rewriter,
    Use,
    Value,
    no_effects,
)
from tracebuf.ir.slices import Slice
from tracebuf.ir.types import INDEX, TensorType
from tracebuf.location import UNKNOWN, Location
from tracebuf.ops.arrays import linalg
from tracebuf.ops.control import scf
from tracebuf.ops.control.func import Terminator
from tracebuf.ops.memory import memref
from tracebuf.ops.scalars import arith


class Yield(Terminator):
    """`tensor.yield`: ends the region of tensor.generate and tensor.pad. operands: the element (scalar) at the indices
    that are the block's arguments; results: none."""

    __slots__ = ()
    name = "tensor.yield"
    takes, gives = "any", ""


class Made(Op):
    """What these ops share: tensor operands are read, and the result is a new buffer."""

    __slots__ = ()
    effects = no_effects

    def bufferizes_to_memory_write(self, use: Use, facts: Facts) -> bool:
        return False

    def aliasing_values(self, use: Use) -> list[Alias]:
        return []

    def bufferizes_to_allocation(self, value: Value) -> bool:
        return True

    def shape_with(self, sizes: Sequence[Any]) -> list[Any]:
        """The result's shape, each of `sizes` where it is dynamic."""
        rest = iter(sizes)
        return [d if isinstance(d, int) else next(rest) for d in self.result.tensor_type.shape]

    def new_buffer(self, sizes: Sequence[Mixed], rewriter: Rewriter) -> Value:
        buffer = rewriter.new_buffer(self.result.tensor_type, sizes, "a new array", self.loc)
        rewriter.replace(self.result, buffer)
        return buffer


class FromElements(Made):
    """`tensor.from_elements`. operands: the elements (scalars of one type) in C order; results: 1 tensor of static
    shape, a new buffer."""

    __slots__ = ()
    name = "tensor.from_elements"
    takes, gives = "scalar*", "tensor"

    def verify(self) -> None:
        type_ = self.result.tensor_type
        n = prod(d for d in type_.shape if isinstance(d, int)) if all(isinstance(d, int) for d in type_.shape) else -1
        if n != len(self.uses) or any(v.type != type_.element for v in self.operands):
            raise InternalError(f"{self.name}: its elements are not those of a {type_}")

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        type_ = self.result.tensor_type
        return [np.array(args, type_.element.dtype).reshape(self.shape_with(()))]

    def bufferize(self, rewriter: Rewriter) -> None:
        shape = self.shape_with(())
        buffer = self.new_buffer(shape, rewriter)
        known: dict[int, Value] = {}
        for place, value in zip(np.ndindex(*shape), self.operands, strict=True):
            for i in place:
                if i not in known:
                    known[i] = index_constant(i, rewriter, self.loc)
            rewriter.add(memref.Store.of(rewriter.value(value), buffer, [known[i] for i in place], self.loc))


class Splat(Made):
    """`tensor.splat`: every element one scalar. operands: scalar, the dynamic sizes (index); results: 1 tensor, a new
    buffer."""

    __slots__ = ()
    name = "tensor.splat"
    takes, gives = "scalar, index*", "tensor"

    @classmethod
    def from_form(cls, form: Form) -> Op:
        form.own_sizes(form.operands[1:])
        return super().from_form(form)

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        return [np.full(self.shape_with(args[1:]), args[0], self.result.tensor_type.element.dtype)]

    def bufferize(self, rewriter: Rewriter) -> None:
        scalar, *sizes = (rewriter.value(v) for v in self.operands)
        rewriter.add(linalg.Fill.of(scalar, self.new_buffer(self.shape_with(sizes), rewriter), self.loc))


class ByIndex(Made):
    """What generate and pad share: a region that computes the element at each index."""

    __slots__ = ()
    region_ends = ("tensor.yield",)

    @property
    def body(self) -> Block:
        return self.regions[0].block

    def elements(self, interpreter: Interpreter, shape: Sequence[int]) -> np.ndarray:
        found = np.empty(shape, self.result.tensor_type.element.dtype)
        for place in np.ndindex(*shape):
            found[place] = interpreter.run_block(self.body, place)[0]
        return found

    def store_elements(self, buffer: Value, shape: Sequence[Mixed], rewriter: Rewriter) -> None:
        """A fill where all elements are one scalar from outside, else loops."""
        element = self.body.terminator.operand(0)
        if element.block is not self.body:
            rewriter.add(linalg.Fill.of(rewriter.value(element), buffer, self.loc))
            return

        def store(places: Sequence[Value]) -> None:
            rewriter.inline(self.body, places)
            rewriter.add(memref.Store.of(rewriter.value(element), buffer, places, self.loc))

        loop_nest(shape, store, rewriter, self.loc)


class Generate(ByIndex):
    """`tensor.generate`: elements computed from their indices (np.fromfunction).

    operands: the dynamic sizes (index); results: 1 tensor, a new buffer; regions: 1, from an index for each axis to the
    element (tensor.yield).
    """

    __slots__ = ()
    name = "tensor.generate"
    takes, gives = "index*", "tensor"

    @classmethod
    def from_form(cls, form: Form) -> Op:
        form.own_sizes(form.operands)
        return super().from_form(form)

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        return [self.elements(interpreter, self.shape_with(args))]

    def bufferize(self, rewriter: Rewriter) -> None:
        shape = self.shape_with([rewriter.value(v) for v in self.operands])
        self.store_elements(self.new_buffer(shape, rewriter), shape, rewriter)


class Pad(ByIndex):
    """`tensor.pad`: np.pad.

    operands: source tensor, the dynamic low and high paddings (index); results: 1 tensor, a new buffer; attrs:
    static_low, static_high (None for each operand); regions: 1, from an index for each axis to the padding element
    (tensor.yield).
    """

    __slots__ = ()
    name = "tensor.pad"
    takes, gives = "tensor, index*", "tensor"

    @classmethod
    def from_form(cls, form: Form) -> Op:
        _, low_sizes, high_sizes = form.segments(3)
        low, high = form.static("static_low", len(low_sizes)), form.static("static_high", len(high_sizes))
        if not len(low) == len(high) == form.shaped_result().rank == form.operands[0].tensor_type.rank:
            raise FormError(f"{cls.name}: the edges do not fit {form.result_types[0]}")
        made = super().from_form(form)
        made.attrs |= {"static_low": low, "static_high": high}
        return made

    def to_form(self) -> Form:
        form = self.form_with({})
        low, high = self.attrs["static_low"], self.attrs["static_high"]
        form.attrs |= {"static_low": integers(low), "static_high": integers(high)}
        form.attrs["operandSegmentSizes"] = segments(1, low.count(None), high.count(None))
        return form

    def edges(self, dynamic: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The paddings before and after each axis."""
        rest = iter(dynamic)
        low = [next(rest) if n is None else n for n in self.attrs["static_low"]]
        return low, [next(rest) if n is None else n for n in self.attrs["static_high"]]

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        low, high = self.edges(args[1:])
        found = self.elements(interpreter, [n + a + b for n, a, b in zip(args[0].shape, low, high, strict=True)])
        found[tuple(slice(a, a + n) for n, a in zip(args[0].shape, low, strict=True))] = args[0]
        return [found]

    def bufferize(self, rewriter: Rewriter) -> None:
        source = rewriter.buffer(self.uses[0])
        low, high = self.edges([rewriter.value(v) for v in self.operands[1:]])
        inner = rewriter.sizes(source, self.loc)
        shape = [add_sizes(parts, rewriter, self.loc) for parts in zip(inner, low, high, strict=True)]
        buffer = self.new_buffer(shape, rewriter)
        self.store_elements(buffer, shape, rewriter)
        copy_into_part(source, buffer, low, inner, self, rewriter)


class Concat(Made):
    """`tensor.concat`: np.concatenate. operands: tensors of one element type and rank; results: 1 tensor, a new buffer;
    attrs: dim (the axis)."""

    __slots__ = ()
    name = "tensor.concat"
    takes, gives = "tensor, tensor*", "tensor"

    @property
    def axis(self) -> int:
        attr: Attr = self.attrs["dim"]
        return int(attr.value)

    def verify(self) -> None:
        type_, dim = self.result.tensor_type, self.attrs.get("dim")
        if not isinstance(dim, Attr) or not isinstance(dim.value, int) or not 0 <= dim.value < type_.rank:
            raise InternalError(f"{self.name}: there is no axis {dim} of {type_}")
        if any((v.tensor_type.rank, v.tensor_type.element) != (type_.rank, type_.element) for v in self.operands):
            raise InternalError(f"{self.name}: a tensor has another rank or other elements than {type_}")

    @classmethod
    def of(cls, values: Sequence[Value], axis: int, type: TensorType, loc: Location = UNKNOWN) -> Concat:
        return cls(values, [type], loc, {"dim": inherent(f"{axis} : i64", axis)})

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        return [np.concatenate(args, axis=self.axis)]

    def bufferize(self, rewriter: Rewriter) -> None:
        sources = [rewriter.buffer(use) for use in self.uses]
        sizes = [rewriter.sizes(s, self.loc) for s in sources]
        places: list[Mixed] = [0]
        for size in sizes:
            places.append(add_sizes([places[-1], size[self.axis]], rewriter, self.loc))
        whole = [*sizes[0][: self.axis], places[-1], *sizes[0][self.axis + 1 :]]
        buffer = self.new_buffer(whole, rewriter)
        for source, size, place in zip(sources, sizes, places):
            offsets: list[Mixed] = [0] * len(size)
            offsets[self.axis] = place
            copy_into_part(source, buffer, offsets, size, self, rewriter)


# -- memref programs


def index_constant(value: int, rewriter: Rewriter, loc: Location) -> Value:
    return rewriter.add(arith.Constant.of(value, INDEX, loc)).result


def as_value(size: Mixed, rewriter: Rewriter, loc: Location) -> Value:
    return size if isinstance(size, Value) else index_constant(size, rewriter, loc)


def add_sizes(sizes: Sequence[Mixed], rewriter: Rewriter, loc: Location) -> Mixed:
    """The sum, of constants a constant."""
    total: Mixed = sum(s for s in sizes if isinstance(s, int))
    for size in sizes:
        if isinstance(size, Value):
            rest = None if total == 0 else as_value(total, rewriter, loc)
            total = size if rest is None else rewriter.add(arith.AddI.of(size, rest, loc)).result
    return total


def copy_into_part(
    source: Value, target: Value, offsets: Sequence[Mixed], sizes: Sequence[Mixed], op: Op, rewriter: Rewriter
) -> None:
    """The source's elements go where `offsets` say."""
    part = Slice(tuple(offsets), tuple(sizes), (1,) * len(sizes), tuple(range(len(sizes))))
    view = rewriter.add(memref.Subview.of(target, part, source.memref_type.shape, op.loc))
    rewriter.copy(source, view.result, op, "store")


def loop_nest(
    sizes: Sequence[Mixed], inner: Callable[[Sequence[Value]], None], rewriter: Rewriter, loc: Location
) -> None:
    """Loops from 0 to each size, in C order, around what `inner` adds for the indices."""
    zero, one = (index_constant(n, rewriter, loc) for n in (0, 1))
    bounds = [as_value(size, rewriter, loc) for size in sizes]

    def level(indices: list[Value]) -> None:
        if len(indices) == len(bounds):
            inner(indices)
            return
        body = Block([INDEX])
        with rewriter.inside(body):
            level([*indices, body.args[0]])
            rewriter.add(scf.Yield.of([], loc))
        rewriter.add(scf.For.of([zero, bounds[len(indices)], one], [], body, loc))

    level([])
