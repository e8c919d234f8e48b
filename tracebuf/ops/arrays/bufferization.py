"""Ops between tensors and memrefs. MLIR counterpart: the bufferization dialect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.ir.attributes import segments
from tracebuf.ir.core import (
    Alias,
    Effect,
    Effects,
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
    reads_buffers,
)
from tracebuf.ir.types import I1, INDEX, MemRefType, TensorType, Type, same_type
from tracebuf.location import UNKNOWN, Location
from tracebuf.ops.arrays.tensor import poison
from tracebuf.ops.memory import memref


class MaterializeInDestination(Op):
    """`bufferization.materialize_in_destination`: the source's elements must end up in the destination's buffer.

    operands: source tensor, dest (tensor or memref); results: 1 tensor, aliases dest; none if dest is a memref. The
    tracer ends with one for each argument that was stored to; where the analysis finds both to be one buffer, nothing
    is left.
    """

    __slots__ = ()
    name = "bufferization.materialize_in_destination"
    takes, gives = "tensors, any", "tensors?"

    @classmethod
    def of(cls, source: Value, dest: Value, loc: Location = UNKNOWN) -> MaterializeInDestination:
        return cls([source, dest], [dest.type], loc)

    @classmethod
    def from_form(cls, form: Form) -> Op:
        form.expect(operands=2)
        if form.result_types:
            form.tie(0, form.operands[1])
        return super().from_form(form)

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        return [args[0]]

    def effects(self) -> Effects:
        """It writes, on tensors too: the destination is what others see, although nothing uses the result."""
        return ((Effect.WRITE, self.operand(1)),)

    def bufferizes_to_memory_read(self, use: Use, facts: Facts) -> bool:
        return use.index == 0

    def bufferizes_to_memory_write(self, use: Use, facts: Facts) -> bool:
        return use.index == 1

    def inserts(self) -> tuple[Use, Use]:
        return self.uses[0], self.uses[1]

    def must_bufferize_in_place(self, use: Use) -> bool:
        return use.index == 1

    def aliasing_values(self, use: Use) -> list[Alias]:
        return [Alias(self.result)] if use.index == 1 else []

    def elementwise_access(self, a: Use, b: Use) -> bool:
        return True

    def bufferize(self, rewriter: Rewriter) -> None:
        dest = rewriter.buffer(self.uses[1]) if self.results else rewriter.value(self.operand(1))
        rewriter.copy(
            rewriter.buffer(self.uses[0]), dest, self, "the final value of an argument goes to the caller's buffer"
        )
        if self.results:
            rewriter.replace(self.result, dest)


class AllocTensor(Op):
    """`bufferization.alloc_tensor`: a new buffer, undefined or a copy.

    operands: the dynamic sizes (index), the tensor to copy (if attr copies), a hint of the size (if attr hinted);
    results: 1 tensor, a new buffer; attrs: copies, hinted.
    """

    __slots__ = ()
    name = "bufferization.alloc_tensor"
    takes, gives = "index*, tensor?, index?", "tensor"

    @classmethod
    def of(cls, type: TensorType, sizes: Sequence[Value], loc: Location = UNKNOWN) -> AllocTensor:
        """An undefined one; `sizes` are the dynamic sizes of `type`."""
        return cls(sizes, [type], loc, {"copies": False, "hinted": False})

    @classmethod
    def from_form(cls, form: Form) -> Op:
        sizes, copied, hint = form.segments(3)
        if copied:
            form.tie(0, copied[0])
        else:
            form.own_sizes(sizes)
        made = super().from_form(form)
        made.attrs |= {"copies": bool(copied), "hinted": bool(hint)}
        return made

    def to_form(self) -> Form:
        form, copies, hinted = self.form_with({}), int(self.attrs["copies"]), int(self.attrs["hinted"])
        form.attrs["operandSegmentSizes"] = segments(len(self.uses) - copies - hinted, copies, hinted)
        return form

    @property
    def copied(self) -> Use | None:
        return self.uses[-1 - self.attrs["hinted"]] if self.attrs["copies"] else None

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        if self.copied is not None:
            return [args[self.copied.index].copy(order="K")]
        rest, type_ = iter(args), self.result.tensor_type
        shape = [d if isinstance(d, int) else next(rest) for d in type_.shape]
        return [np.full(shape, poison(type_.element.dtype), type_.element.dtype)]

    def effects(self) -> Effects:
        """A buffer of its own: two are not one."""
        return ((Effect.ALLOCATE, self.result),)

    def bufferizes_to_memory_write(self, use: Use, facts: Facts) -> bool:
        return False

    def aliasing_values(self, use: Use) -> list[Alias]:
        return []

    def bufferizes_to_allocation(self, value: Value) -> bool:
        return True

    def defines_contents(self, value: Value) -> bool:
        return bool(self.attrs["copies"])

    def bufferize(self, rewriter: Rewriter) -> None:
        if not self.result.uses:
            return
        if "memory_space" in self.attrs:
            raise UnsupportedError("buffers in a memory space of their own are not made", location=self.loc)
        source = None if self.copied is None else rewriter.buffer(self.copied)
        sizes: Iterator[Mixed] = iter([rewriter.value(v) for v in self.operands if v.type is INDEX])
        type_ = self.result.tensor_type
        if source is None:
            shape = [d if isinstance(d, int) else next(sizes) for d in type_.shape]
        else:
            shape = rewriter.sizes(source, self.loc)
        buffer = rewriter.new_buffer(type_, shape, "a new array", self.loc)
        if source is not None:
            rewriter.copy(source, buffer, self, "bufferization.alloc_tensor copies")
        rewriter.replace(self.result, buffer)


class DeallocTensor(Op):
    """`bufferization.dealloc_tensor`: frees the tensor's buffer. operands: tensor; results: none."""

    __slots__ = ()
    name = "bufferization.dealloc_tensor"
    takes, gives = "tensors", ""

    def effects(self) -> Effects:
        return ((Effect.FREE, self.operand(0)),)

    def bufferizes_to_memory_read(self, use: Use, facts: Facts) -> bool:
        return False

    bufferizes_to_memory_write = bufferizes_to_memory_read

    def aliasing_values(self, use: Use) -> list[Alias]:
        return []

    def bufferize(self, rewriter: Rewriter) -> None:
        rewriter.add(memref.Dealloc.of(rewriter.buffer(self.uses[0]), self.loc))


class ToTensor(Op):
    """`bufferization.to_tensor`: a buffer as a tensor, in which it may be stored to only if marked `writable`
    (MLIR behaviour 18).

    operands: buffer (memref); results: 1 tensor in that buffer; attrs: writable (unit).
    """

    __slots__ = ()
    name = "bufferization.to_tensor"
    takes, gives = "memrefs", "tensors"
    effects = reads_buffers

    @classmethod
    def from_form(cls, form: Form) -> Op:
        form.expect(operands=1, results=1)
        source, result = form.operands[0].type, form.result_types[0]
        if isinstance(source, MemRefType) and isinstance(result, TensorType):
            known = replace(result, shape=source.shape)
            if not same_type(known, result):
                raise FormError(f"{cls.name}: {source} gives no {result}")
            form.result_types = [known]
        return super().from_form(form)

    @classmethod
    def of(cls, buffer: Value, type: Type, loc: Location = UNKNOWN) -> ToTensor:
        return cls([buffer], [type], loc)

    def is_writable(self, value: Value) -> bool:
        return "writable" in self.attrs

    def bufferize(self, rewriter: Rewriter) -> None:
        rewriter.replace(self.result, rewriter.value(self.operand(0)))


class ToBuffer(Op):
    """`bufferization.to_buffer`: a tensor's buffer, which others may read, and write unless it is marked `read_only`.

    operands: tensor; results: 1 memref; attrs: read_only (unit).
    """

    __slots__ = ()
    name = "bufferization.to_buffer"
    takes, gives = "tensors", "memrefs"
    effects = no_effects

    @classmethod
    def of(cls, tensor: Value, type: Type, loc: Location = UNKNOWN) -> ToBuffer:
        return cls([tensor], [type], loc)

    def bufferizes_to_memory_write(self, use: Use, facts: Facts) -> bool:
        return "read_only" not in self.attrs

    def aliasing_values(self, use: Use) -> list[Alias]:
        return []

    def bufferize(self, rewriter: Rewriter) -> None:
        rewriter.set_value(self.result, rewriter.as_type(rewriter.buffer(self.uses[0]), self.result.type, self.loc))


class Dealloc(Op):
    """`bufferization.dealloc (memrefs) if (conditions) retain (retained)`: frees each memref whose condition holds,
    whose base is no retained memref's and no earlier one's.

    operands: n memrefs, n conditions (i1), the retained memrefs; results: for each retained memref an i1, whether it is
    owned now; attrs: n_memrefs.
    """

    __slots__ = ()
    name = "bufferization.dealloc"
    takes, gives = "any*", "i1*"

    def effects(self) -> Effects:
        return tuple((Effect.FREE, v) for v in self.memrefs)

    @classmethod
    def of(
        cls, memrefs: Sequence[Value], conditions: Sequence[Value], retained: Sequence[Value], loc: Location = UNKNOWN
    ) -> Dealloc:
        return cls([*memrefs, *conditions, *retained], [I1] * len(retained), loc, {"n_memrefs": len(memrefs)})

    @classmethod
    def from_form(cls, form: Form) -> Op:
        memrefs, conditions, retained = form.segments(3)
        if len(memrefs) != len(conditions):
            raise FormError(f"{cls.name}: {len(conditions)} conditions for {len(memrefs)} memrefs")
        attrs = {"n_memrefs": len(memrefs), **form.attrs}
        return cls.rebuilt(form.operands, form.result_types, form.loc, attrs)

    def to_form(self) -> Form:
        n = self.attrs["n_memrefs"]
        return self.form_with({"operandSegmentSizes": segments(n, n, len(self.uses) - 2 * n)})

    @property
    def memrefs(self) -> list[Value]:
        return self.operands[: self.attrs["n_memrefs"]]

    @property
    def conditions(self) -> list[Value]:
        n = self.attrs["n_memrefs"]
        return self.operands[n : 2 * n]

    @property
    def retained(self) -> list[Value]:
        return self.operands[2 * self.attrs["n_memrefs"] :]


class SameBase(Op):
    """`tracebuf.same_base`: whether two memrefs have one base pointer. operands: a, b (memrefs); results: 1 i1. MLIR:
    memref.extract_strided_metadata, extract_aligned_pointer_as_index on both and arith.cmpi."""

    __slots__ = ()
    name = "tracebuf.same_base"
    takes, gives = "memref, memref", "i1"
    effects = no_effects

    @classmethod
    def of(cls, a: Value, b: Value, loc: Location = UNKNOWN) -> SameBase:
        return cls([a, b], [I1], loc)


class Clone(Op):
    """`bufferization.clone`: a new buffer with equal elements. operands: source memref; results: 1 memref of its type,
    which the caller owns."""

    __slots__ = ()
    name = "bufferization.clone"
    takes, gives = "memrefs", "memrefs"

    def effects(self) -> Effects:
        return ((Effect.READ, self.operand(0)), (Effect.ALLOCATE, self.result), (Effect.WRITE, self.result))

    @classmethod
    def of(cls, source: Value, loc: Location = UNKNOWN) -> Clone:
        return cls([source], [source.type], loc)
