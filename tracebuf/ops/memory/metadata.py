"""What a memref is made of, as values: its base buffer, offset, sizes, strides, its address. MLIR counterpart:
memref.extract_strided_metadata and its like. Deallocation asks for base buffers; nothing else here does."""

from __future__ import annotations

from collections.abc import Sequence

from tracebuf.errors import InternalError
from tracebuf.ir.attributes import dynamic_integers, integers, segments
from tracebuf.ir.core import Effect, Effects, Op, Value, no_effects
from tracebuf.ir.types import INDEX, MemRefType, Type, UnrankedMemRefType
from tracebuf.location import UNKNOWN, Location


class ExtractStridedMetadata(Op):
    """`memref.extract_strided_metadata`: a memref's parts. operands: memref; results: its base buffer (memref of rank
    0), offset, sizes and strides (index)."""

    __slots__ = ()
    name = "memref.extract_strided_metadata"
    takes, gives = "memref", "memref, index, index*"
    effects = no_effects

    @classmethod
    def of(cls, source: Value, loc: Location = UNKNOWN) -> ExtractStridedMetadata:
        type_ = source.memref_type
        base = MemRefType((), type_.element, (), 0, type_.memory_space)
        return cls([source], [base, *[INDEX] * (1 + 2 * type_.rank)], loc)

    @property
    def base(self) -> Value:
        return self.results[0]

    def verify(self) -> None:
        type_ = self.operand(0).memref_type
        if len(self.results) != 2 + 2 * type_.rank or self.base.memref_type.rank:
            raise InternalError(f"{self.name}: the results are not the parts of a {type_}")


class ExtractAlignedPointer(Op):
    """`memref.extract_aligned_pointer_as_index`: the address that a memref's offset counts from. operands: memref;
    results: 1 index."""

    __slots__ = ()
    name = "memref.extract_aligned_pointer_as_index"
    takes, gives = "memrefs", "index"
    effects = no_effects

    @classmethod
    def of(cls, source: Value, loc: Location = UNKNOWN) -> ExtractAlignedPointer:
        return cls([source], [INDEX], loc)


class ReinterpretCast(Op):
    """`memref.reinterpret_cast`: a memref's base buffer under another offset, sizes and strides. operands: memref, the
    dynamic offsets, sizes and strides (index); results: 1 memref; attrs: MLIR's."""

    __slots__ = ()
    name = "memref.reinterpret_cast"
    takes, gives = "memrefs, index*", "memref"
    effects = no_effects

    @classmethod
    def scalar(cls, source: Value, loc: Location = UNKNOWN) -> ReinterpretCast:
        """A memref of rank 0: of a memref whose rank is not known."""
        type_ = source.type
        assert isinstance(type_, UnrankedMemRefType)
        attrs = {
            "operandSegmentSizes": segments(1, 0, 0, 0), "static_offsets": integers([0]),
            "static_sizes": integers([]), "static_strides": integers([]),
        }  # fmt: skip
        return cls([source], [MemRefType((), type_.element, (), 0, type_.memory_space)], loc, dict(attrs))

    @classmethod
    def resized(cls, source: Value, type: MemRefType, size: int | Value, loc: Location = UNKNOWN) -> ReinterpretCast:
        """A memref of rank 1 from the base on, dense, of another size."""
        dynamic, known = ([size], None) if isinstance(size, Value) else ([], size)
        attrs = {
            "operandSegmentSizes": segments(1, 0, len(dynamic), 0), "static_offsets": integers([0]),
            "static_sizes": integers([known]), "static_strides": integers([1]),
        }  # fmt: skip
        return cls([source, *dynamic], [type], loc, dict(attrs))

    def geometry(self, dynamic: Sequence[int]) -> tuple[int, list[int], list[int]]:
        """Offset, sizes and strides in elements, with these values for what is not constant."""
        rest = iter(dynamic)
        keys = ("static_offsets", "static_sizes", "static_strides")
        parts = [[next(rest) if n is None else n for n in dynamic_integers(self.attrs[k].value)] for k in keys]
        return parts[0][0], parts[1], parts[2]


class Realloc(Op):
    """`memref.realloc`: a buffer of rank 1 with another size, in place of its operand's; what fits is kept. operands:
    memref, the dynamic size (index); results: 1 memref."""

    __slots__ = ()
    name = "memref.realloc"
    takes, gives = "memref, index?", "memref"

    @classmethod
    def of(cls, source: Value, type: Type, sizes: Sequence[Value], loc: Location = UNKNOWN) -> Realloc:
        return cls([source, *sizes], [type], loc)

    def effects(self) -> Effects:
        source = self.operand(0)
        return (
            (Effect.READ, source),
            (Effect.FREE, source),
            (Effect.ALLOCATE, self.result),
            (Effect.WRITE, self.result),
        )

    def verify(self) -> None:
        if self.operand(0).memref_type.rank != 1 or self.result.memref_type.rank != 1:
            raise InternalError("memref.realloc: only buffers of rank 1 change their size")
