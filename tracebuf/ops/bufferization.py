"""Ops between tensors and memrefs. MLIR counterpart: the bufferization dialect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracebuf.ir.core import Alias, Facts, Op, Use, Value
from tracebuf.ir.location import Location
from tracebuf.ir.protocols import Interpreter, Rewriter
from tracebuf.ir.types import I1, Type


class MaterializeInDestination(Op):
    """`bufferization.materialize_in_destination`: the source's elements must end up in the destination's buffer.

    The tracer ends with one for each argument that was stored to; where the analysis finds both to be one buffer,
    nothing is left.
    """

    __slots__ = ()
    name = "bufferization.materialize_in_destination"

    @classmethod
    def of(cls, source: Value, dest: Value, loc: Location) -> MaterializeInDestination:
        return cls([source, dest], [dest.type], loc)

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        return [args[0]]

    def bufferizes_to_memory_read(self, use: Use, facts: Facts) -> bool:
        return use.index == 0

    def bufferizes_to_memory_write(self, use: Use, facts: Facts) -> bool:
        return use.index == 1

    def must_bufferize_in_place(self, use: Use) -> bool:
        return use.index == 1

    def aliasing_values(self, use: Use) -> list[Alias]:
        return [Alias(self.result)] if use.index == 1 else []

    def elementwise_access(self, a: Use, b: Use) -> bool:
        return True

    def bufferize(self, rewriter: Rewriter) -> None:
        dest = rewriter.buffer(self.uses[1])
        rewriter.copy(
            rewriter.buffer(self.uses[0]), dest, self, "the final value of an argument goes to the caller's buffer"
        )
        rewriter.replace(self.result, dest)


class ToTensor(Op):
    """`bufferization.to_tensor`: a buffer as a tensor; to be stored to only if `writable`."""

    __slots__ = ()
    name = "bufferization.to_tensor"

    @classmethod
    def of(cls, buffer: Value, type: Type, loc: Location) -> ToTensor:
        return cls([buffer], [type], loc)

    def is_writable(self, value: Value) -> bool:
        return "writable" in self.attrs

    def bufferize(self, rewriter: Rewriter) -> None:
        rewriter.replace(self.result, rewriter.value(self.operand(0)))


class ToBuffer(Op):
    """`bufferization.to_buffer`: the tensor's buffer, which may be read later, and written unless `read_only`."""

    __slots__ = ()
    name = "bufferization.to_buffer"

    @classmethod
    def of(cls, tensor: Value, type: Type, loc: Location) -> ToBuffer:
        return cls([tensor], [type], loc)

    def bufferizes_to_memory_write(self, use: Use, facts: Facts) -> bool:
        return "read_only" not in self.attrs

    def aliasing_values(self, use: Use) -> list[Alias]:
        return []

    def must_bufferize_in_place(self, use: Use) -> bool:
        return True

    def bufferize(self, rewriter: Rewriter) -> None:
        rewriter.set_value(self.result, rewriter.cast(self.uses[0], self.result.type))


class Dealloc(Op):
    """`bufferization.dealloc (memrefs) if (conditions) retain (retained)`: frees each memref whose condition holds,
    whose base is no retained memref's and no earlier one's; results: for each retained memref, whether it is owned
    now.
    """

    __slots__ = ()
    name = "bufferization.dealloc"

    @classmethod
    def of(
        cls, memrefs: Sequence[Value], conditions: Sequence[Value], retained: Sequence[Value], loc: Location
    ) -> Dealloc:
        return cls([*memrefs, *conditions, *retained], [I1] * len(retained), loc, {"n_memrefs": len(memrefs)})

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
    """`tracebuf.same_base`: whether two memrefs have one base pointer. MLIR: memref.extract_strided_metadata,
    extract_aligned_pointer_as_index on both and arith.cmpi."""

    __slots__ = ()
    name = "tracebuf.same_base"

    @classmethod
    def of(cls, a: Value, b: Value, loc: Location) -> SameBase:
        return cls([a, b], [I1], loc)


class Clone(Op):
    """`bufferization.clone`: a new buffer with the same elements, owned by whoever asks."""

    __slots__ = ()
    name = "bufferization.clone"

    @classmethod
    def of(cls, source: Value, loc: Location) -> Clone:
        return cls([source], [source.type], loc)
