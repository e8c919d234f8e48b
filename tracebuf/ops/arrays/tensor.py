"""Tensor ops: values with elements. MLIR counterpart: the tensor dialect; `tracebuf.extract_view` / `insert_view` add
the views that NumPy has and MLIR has not: transposed, reversed, broadcast or with new axes; and stores through them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from tracebuf.errors import InternalError
from tracebuf.ir.core import (
    Alias,
    Effect,
    Effects,
    Facts,
    Form,
    Interpreter,
    Mixed,
    Op,
    Relation,
    Rewriter,
    Use,
    Value,
    join_mixed,
    no_effects,
    split_mixed,
)
from tracebuf.ir.slices import (
    OutOfBounds,
    Slice,
    apply_slice,
    pack_slice,
    slice_attrs,
    slice_of_form,
    unpack_slice,
    view_sizes,
)
from tracebuf.ir.types import INDEX, MemRefType, TensorType, Type, UnrankedMemRefType, UnrankedTensorType, row_major
from tracebuf.location import UNKNOWN, Location
from tracebuf.ops.memory import memref
from tracebuf.ops.memory.indexing import constant_index


class Empty(Op):
    """`tensor.empty`: a new array of undefined contents (np.empty).

    operands: the dynamic sizes (index); results: 1 tensor, a new buffer; attrs: static_sizes (None for each operand),
    order (the axes, outermost first; NumPy's K order), absent (True: without elements, in the place of what another
    path has; it needs no memory).
    """

    __slots__ = ()
    name = "tensor.empty"
    takes, gives = "index*", "tensor"
    effects = no_effects

    @classmethod
    def of(
        cls, type: TensorType, sizes: Sequence[Mixed], loc: Location = UNKNOWN, order: tuple[int, ...] | None = None
    ) -> Empty:
        """`sizes`: for each axis a constant or a value of type index; `order`: the axes, outermost first (default: C
        order)."""
        static, dynamic = split_mixed(sizes)
        return cls(dynamic, [type], loc, {"static_sizes": static, "order": order or tuple(range(type.rank))})

    @classmethod
    def from_form(cls, form: Form) -> Op:
        attrs = memref.noted(form, form.operands)
        return cls.rebuilt(form.operands, form.result_types, form.loc, attrs)

    def to_form(self) -> Form:
        return self.form_with(memref.notes(self))

    @property
    def sizes(self) -> list[Mixed]:
        return join_mixed(self.attrs["static_sizes"], self.operands)

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        shape = [int(s) if isinstance(s, int) else args[self.operands.index(s)] for s in self.sizes]
        order, type_ = self.attrs["order"], self.result.tensor_type
        array = np.empty([shape[d] for d in order], type_.element.dtype).transpose(np.argsort(order))
        array[...] = poison(type_.element.dtype)
        return [array]

    def bufferizes_to_allocation(self, value: Value) -> bool:
        return True

    def defines_contents(self, value: Value) -> bool:
        return False

    def bufferize(self, rewriter: Rewriter) -> None:
        rewriter.replace(self.result, rewriter.allocate(self.result, self, self.attrs.get("reason", "a new array")))


def poison(dtype: np.dtype) -> Any:
    """The value of undefined elements in the tensor interpreter, chosen so that a wrong program shows it."""
    if dtype.kind in "fcb":
        return True if dtype.kind == "b" else np.nan
    return np.iinfo(dtype).max // 7 * 5


class SliceOp(Op):
    """What extract and insert share: a `Slice`, as static attributes and dynamic operands after the `leading` ones."""

    __slots__ = ()
    leading = 1

    def to_form(self) -> Form:
        return self.form_with(slice_attrs(self, self.leading))

    @property
    def slice(self) -> Slice:
        return unpack_slice(self.attrs, self.operands[self.leading :])

    def slice_values(
        self, args: list[Any]
    ) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int | None, ...]]:
        """The slice with its dynamic parts filled from operand values."""
        rest = iter(args[self.leading :])
        parts = (
            tuple(next(rest) if s is None else s for s in self.attrs[k])
            for k in ("static_offsets", "static_sizes", "static_strides")
        )
        offsets, sizes, strides = parts
        return offsets, sizes, strides, self.attrs["dims"]

    def same_subset(self, other: SliceOp) -> bool:
        """Whether offsets, sizes, strides and dimensions are equal constants or identical SSA values."""
        return self.slice == other.slice


class ExtractSlice(SliceOp):
    """`tensor.extract_slice`: a[1:-1, ::2], a[i]. Neither reads nor writes.

    operands: source tensor, the dynamic offsets, sizes and strides (index); results: 1 tensor, part of the source's
    buffer; attrs: static_offsets, static_sizes, static_strides (None for each operand), dims (see `Slice`).
    """

    __slots__ = ()
    name = "tensor.extract_slice"
    takes, gives = "tensor, index*", "tensor"
    effects = no_effects

    @classmethod
    def of(cls, source: Value, s: Slice, type: TensorType, loc: Location = UNKNOWN) -> ExtractSlice:
        """`s`: the view; `type`: its type. Gives a `tracebuf.extract_view` where MLIR's op cannot express `s`."""
        attrs, dynamic = pack_slice(s)
        return (ExtractSlice if s.is_mlir else ExtractView)([source, *dynamic], [type], loc, attrs)

    @classmethod
    def from_form(cls, form: Form) -> Op:
        form.expect(results=1)
        attrs = slice_of_form(form, 1, form.shaped_result())
        form.resize(0, view_sizes(form, attrs, 1))
        return cls.rebuilt(form.operands, form.result_types, form.loc, attrs | form.attrs)

    @property
    def source(self) -> Value:
        return self.operand(0)

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        view = apply_slice(args[0], *self.slice_values(args)).view()
        view.flags.writeable = False
        return [view]

    def bufferizes_to_memory_read(self, use: Use, facts: Facts) -> bool:
        return False

    def bufferizes_to_memory_write(self, use: Use, facts: Facts) -> bool:
        return False

    def aliasing_values(self, use: Use) -> list[Alias]:
        return [Alias(self.result, Relation.UNKNOWN)] if use.index == 0 else []

    def bufferize(self, rewriter: Rewriter) -> None:
        rewriter.replace(self.result, rewriter.subview(rewriter.buffer(self.uses[0]), self))


class ExtractView(ExtractSlice):
    """`tracebuf.extract_view`: a.T, a[::-1], a[:, None], and a broadcast of a size that only the run time knows.
    Neither reads nor writes.

    operands: source tensor, the dynamic offsets, sizes and strides (index); results: 1 tensor, part of the source's
    buffer; attrs: as `tensor.extract_slice`.
    """

    __slots__ = ()
    name = "tracebuf.extract_view"


class InsertSlice(SliceOp):
    """`tensor.insert_slice`: a[1:-1] = b. Reads its source, writes its destination, and reads it unless all of it is
    overwritten.

    operands: source tensor, dest tensor, the dynamic offsets, sizes and strides (index); results: 1 tensor of dest's
    type, aliases dest; attrs: static_offsets, static_sizes, static_strides (None for each operand), dims (see `Slice`).
    """

    __slots__ = ()
    name = "tensor.insert_slice"
    takes, gives = "tensor, tensor, index*", "tensor"
    effects = no_effects
    leading = 2

    @classmethod
    def of(cls, source: Value, dest: Value, s: Slice, loc: Location = UNKNOWN) -> InsertSlice:
        """`s`: the part of `dest` to store to. Gives a `tracebuf.insert_view` where MLIR's op cannot express `s`."""
        attrs, dynamic = pack_slice(s)
        return (InsertSlice if s.is_mlir else InsertView)([source, dest, *dynamic], [dest.type], loc, attrs)

    @classmethod
    def from_form(cls, form: Form) -> Op:
        attrs = slice_of_form(form, 2, form.operands[0].tensor_type)
        if form.result_types:
            form.tie(0, form.operands[1])
        return cls.rebuilt(form.operands, form.result_types, form.loc, attrs | form.attrs)

    @property
    def source(self) -> Value:
        return self.operand(0)

    @property
    def dest(self) -> Value:
        return self.operand(1)

    def verify(self) -> None:
        if self.source.tensor_type.rank != len(self.attrs["dims"]):
            raise InternalError(f"{self.name}: rank of source and slice differ")

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        result = args[1].copy(order="K")
        part = apply_slice(result, *self.slice_values(args))
        if part.shape != args[0].shape:
            raise ValueError(f"a part of shape {part.shape} for {args[0].shape}")
        part[...] = args[0]
        return [result]

    def inserts(self) -> tuple[Use, Use]:
        return self.uses[0], self.uses[1]

    def overwrites_all(self) -> bool:
        """Whether the result is the source, element for element."""
        return self.slice.covers(self.dest.tensor_type, self.source.tensor_type)

    def replaces_all(self) -> bool:
        """Whether constants show that every element of the destination is overwritten."""
        s, shape = self.slice, self.dest.tensor_type.shape
        return (
            all(constant_index(o) == 0 for o in s.offsets)
            and all(constant_index(n) == d for n, d in zip(s.sizes, shape))
            and all(constant_index(n) == 1 for n in s.strides)
        )

    def bufferizes_to_memory_read(self, use: Use, facts: Facts) -> bool:
        if use.index != 1:
            return use.index == 0
        return not self.replaces_all() and (facts.as_mlir or not self.overwrites_all())

    def bufferizes_to_memory_write(self, use: Use, facts: Facts) -> bool:
        return use.index == 1

    def aliasing_values(self, use: Use) -> list[Alias]:
        return [Alias(self.result)] if use.index == 1 else []

    def bufferize(self, rewriter: Rewriter) -> None:
        rewriter.replace(self.result, self.store(rewriter))

    def store(self, rewriter: Rewriter) -> Value:
        """Copies the source into its part of the destination, whose buffer is returned."""
        dest = rewriter.buffer(self.uses[1])
        source = rewriter.buffer(self.uses[0])
        rewriter.copy(source, rewriter.subview(dest, self), self, "store")
        return dest


class ParallelInsertSlice(InsertSlice):
    """`tensor.parallel_insert_slice`: stores the part of one iteration of scf.forall into a shared result.

    operands: source tensor, dest tensor, the dynamic offsets, sizes and strides (index); results: none; attrs: as
    `tensor.insert_slice`. MLIR assumes that it does not read the rest of its destination, which is wrong where an
    iteration stores there in between; the facts as MLIR states them follow MLIR.
    """

    __slots__ = ()
    name = "tensor.parallel_insert_slice"
    takes, gives = "tensor, tensor, index*", ""

    @classmethod
    def from_form(cls, form: Form) -> Op:
        form.expect(results=0)
        attrs = slice_of_form(form, 2, form.operands[0].tensor_type)
        return cls.rebuilt(form.operands, [], form.loc, attrs | form.attrs)

    def bufferizes_to_memory_read(self, use: Use, facts: Facts) -> bool:
        return use.index == 0 or (not facts.as_mlir and super().bufferizes_to_memory_read(use, facts))

    def effects(self) -> Effects:
        """It stores into the destination, which has no next version."""
        return ((Effect.WRITE, self.dest),)

    def must_bufferize_in_place(self, use: Use) -> bool:
        """The destination: what is stored into a copy would be lost."""
        return use.index == 1

    def aliasing_values(self, use: Use) -> list[Alias]:
        return []

    def bufferize(self, rewriter: Rewriter) -> None:
        self.store(rewriter)


class InsertView(InsertSlice):
    """`tracebuf.insert_view`: a store through a view that is transposed, reversed or has new axes.

    operands: source tensor, dest tensor, the dynamic offsets, sizes and strides (index); results: 1 tensor of dest's
    type, aliases dest; attrs: as `tensor.insert_slice`.
    """

    __slots__ = ()
    name = "tracebuf.insert_view"


class Cast(Op):
    """`tensor.cast`: a tensor with other size expressions of equal value (where control flow joins). Accesses no
    elements.

    operands: source tensor; results: 1 tensor, aliases source.
    """

    __slots__ = ()
    name = "tensor.cast"
    takes, gives = "tensors", "tensors"
    effects = no_effects

    @classmethod
    def of(cls, source: Value, type: TensorType, loc: Location = UNKNOWN) -> Cast:
        return cls([source], [type], loc)

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        return [args[0]]

    def bufferizes_to_memory_read(self, use: Use, facts: Facts) -> bool:
        return False

    def bufferizes_to_memory_write(self, use: Use, facts: Facts) -> bool:
        return False

    def aliasing_values(self, use: Use) -> list[Alias]:
        return [Alias(self.result)]

    def bufferize(self, rewriter: Rewriter) -> None:
        buffer, result = rewriter.buffer(self.uses[0]), self.result.type
        known = buffer.type
        if isinstance(result, UnrankedTensorType):
            type_: Type = UnrankedMemRefType(result.element)
        elif isinstance(known, MemRefType):
            type_ = replace(known, shape=self.result.tensor_type.shape)
        else:
            type_ = memref.forget_layout(self.result.tensor_type)
        if type_ != known:
            buffer = rewriter.add(memref.Cast.of(buffer, type_, self.loc)).result
        rewriter.replace(self.result, buffer)


class Regrouping(Op):
    """What collapse_shape and expand_shape share: the elements in C order under another shape, in the source's buffer.

    Attr `groups`: for each axis of the shape with fewer axes, the axes of the other that it stands for (MLIR:
    reassociation).
    """

    __slots__ = ()
    takes, gives = "tensor, index*", "tensor"
    effects = no_effects

    @property
    def source(self) -> Value:
        return self.operand(0)

    @classmethod
    def from_form(cls, form: Form) -> Op:
        attrs = memref.groups_of_form(form)
        return cls.rebuilt(form.operands, form.result_types, form.loc, attrs | form.attrs)

    def to_form(self) -> Form:
        return self.form_with(memref.regrouping_attrs(self.attrs))

    def verify(self) -> None:
        few, many = sorted((self.source.tensor_type.rank, self.result.tensor_type.rank))
        axes = [a for group in self.attrs["groups"] for a in group]
        if axes != list(range(many)) or len(self.attrs["groups"]) != few or not all(self.attrs["groups"]):
            raise InternalError(f"{self.name}: the groups {self.attrs['groups']} of {many} axes, for {few}")

    def bufferizes_to_memory_read(self, use: Use, facts: Facts) -> bool:
        return False

    def bufferizes_to_memory_write(self, use: Use, facts: Facts) -> bool:
        return False

    def aliasing_values(self, use: Use) -> list[Alias]:
        return [Alias(self.result)] if use.index == 0 else []

    def bufferize(self, rewriter: Rewriter) -> None:
        rewriter.replace(self.result, rewriter.regroup(rewriter.buffer(self.uses[0]), self))


class CollapseShape(Regrouping):
    """`tensor.collapse_shape`: neighbouring axes become one, a.reshape(-1). To MLIR it reads its source: where the
    strides do not allow the view it becomes a copy, whose elements are read only through the result
    (MLIR behaviour 12).

    operands: source tensor; results: 1 tensor, aliases source; attrs: groups, viewable (only if the strides are known
    to allow the view).
    """

    __slots__ = ()
    name = "tensor.collapse_shape"

    def bufferizes_to_memory_read(self, use: Use, facts: Facts) -> bool:
        return facts.as_mlir

    @classmethod
    def of(
        cls, source: Value, groups: Sequence[tuple[int, ...]], type: TensorType, loc: Location = UNKNOWN
    ) -> CollapseShape:
        """`groups`: the source's axes that each result axis stands for. The op is `viewable`: the caller knows that the
        source's strides allow the view."""
        return cls([source], [type], loc, {"groups": tuple(groups), "viewable": True})

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        return [args[0].reshape([prod(args[0].shape[a] for a in group) for group in self.attrs["groups"]])]


class ExpandShape(Regrouping):
    """`tensor.expand_shape`: an axis becomes several, a.reshape(n, m) of a vector.

    operands: source tensor, the dynamic sizes of the result (index); results: 1 tensor, aliases source; attrs: groups,
    static_sizes (None for each operand).
    """

    __slots__ = ()
    name = "tensor.expand_shape"

    @classmethod
    def of(
        cls,
        source: Value,
        groups: Sequence[tuple[int, ...]],
        sizes: Sequence[Mixed],
        type: TensorType,
        loc: Location = UNKNOWN,
    ) -> ExpandShape:
        """`groups`: the result axes that each source axis becomes; `sizes`: of all result axes, constants or values."""
        static, dynamic = split_mixed(sizes)
        return cls([source, *dynamic], [type], loc, {"groups": tuple(groups), "static_sizes": static})

    @property
    def sizes(self) -> list[Mixed]:
        return join_mixed(self.attrs["static_sizes"], self.operands[1:])

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        shape = join_mixed(self.attrs["static_sizes"], args[1:])
        for group, size in zip(self.attrs["groups"], args[0].shape, strict=True):
            if prod(shape[a] for a in group) != size:
                raise InternalError(f"{self.name}: {size} elements along an axis become {shape}")
        return [args[0].reshape(shape)]


class Reshape(Op):
    """`tensor.reshape`: the elements in C order under a shape that is data.

    operands: source tensor, shape (a vector of integers or index); results: 1 tensor, aliases source. Only `shape` is
    read.
    """

    __slots__ = ()
    name = "tensor.reshape"
    takes, gives = "tensors, tensor", "tensors"
    effects = no_effects

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        return [args[0].reshape([int(n) for n in args[1]])]

    def bufferizes_to_memory_read(self, use: Use, facts: Facts) -> bool:
        return use.index == 1

    def bufferizes_to_memory_write(self, use: Use, facts: Facts) -> bool:
        return False

    def aliasing_values(self, use: Use) -> list[Alias]:
        return [Alias(self.result)] if use.index == 0 else []

    def bufferize(self, rewriter: Rewriter) -> None:
        """A buffer that may have gaps is copied, as by MLIR."""
        source, shape = (rewriter.buffer(use) for use in self.uses)
        if isinstance(type_ := source.type, MemRefType):
            dense = MemRefType(type_.shape, type_.element, row_major(type_.shape))
            source = rewriter.as_type(source, dense, self.loc)
        made = rewriter.add(memref.Reshape.of(source, shape, dense_buffer(self.result.type), self.loc))
        rewriter.replace(self.result, made.result)


def may_copy(op: Op) -> bool:
    """Whether the rewrite may have to copy the buffer that the result is said to share: only it sees whether the layout
    allows the view (MLIR behaviour 12)."""
    return isinstance(op, Reshape) or (isinstance(op, CollapseShape) and "viewable" not in op.attrs)


def dense_buffer(type_: Type) -> Type:
    """The type of a dense buffer for a tensor, in C order where its rank is known."""
    if isinstance(type_, TensorType):
        return MemRefType(type_.shape, type_.element, row_major(type_.shape))
    assert isinstance(type_, UnrankedTensorType)
    return UnrankedMemRefType(type_.element)


class Rank(Op):
    """`tensor.rank`: the number of dimensions. Accesses no elements.

    operands: source tensor; results: 1 index.
    """

    __slots__ = ()
    name = "tensor.rank"
    takes, gives = "tensors", "index"
    effects = no_effects

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        return [args[0].ndim]

    def bufferizes_to_memory_read(self, use: Use, facts: Facts) -> bool:
        return False

    def bufferizes_to_memory_write(self, use: Use, facts: Facts) -> bool:
        return False

    def aliasing_values(self, use: Use) -> list[Alias]:
        return []

    def bufferize(self, rewriter: Rewriter) -> None:
        made = rewriter.add(memref.Rank([rewriter.buffer(self.uses[0])], [INDEX], self.loc))
        rewriter.set_value(self.result, made.result)


class ExtractDiagonal(Op):
    """`tracebuf.extract_diagonal`: a.diagonal(). Neither reads nor writes; nothing is stored through it (it is
    read-only in NumPy).

    operands: source tensor; results: 1 tensor, part of the source's buffer; attrs: axes (the two axes, of equal size,
    that become the last one).
    """

    __slots__ = ()
    name = "tracebuf.extract_diagonal"
    takes, gives = "tensor", "tensor"
    effects = no_effects

    @classmethod
    def of(cls, source: Value, axes: tuple[int, int], loc: Location = UNKNOWN) -> ExtractDiagonal:
        type_ = source.tensor_type
        shape = (*(n for a, n in enumerate(type_.shape) if a not in axes), type_.shape[axes[0]])
        return cls([source], [TensorType(shape, type_.element)], loc, {"axes": axes})

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        return [np.diagonal(args[0], 0, *self.attrs["axes"])]

    def bufferizes_to_memory_read(self, use: Use, facts: Facts) -> bool:
        return False

    def bufferizes_to_memory_write(self, use: Use, facts: Facts) -> bool:
        return False

    def aliasing_values(self, use: Use) -> list[Alias]:
        return [Alias(self.result, Relation.UNKNOWN)]

    def bufferize(self, rewriter: Rewriter) -> None:
        rewriter.replace(self.result, rewriter.regroup(rewriter.buffer(self.uses[0]), self))


class Extract(Op):
    """`tensor.extract`: one element, a[i, j]; the tracer has normalised and checked the indices.

    operands: source tensor, an index for each axis; results: 1 scalar of the element type.
    """

    __slots__ = ()
    name = "tensor.extract"
    takes, gives = "tensor, index*", "scalar"
    effects = no_effects

    @classmethod
    def of(cls, source: Value, indices: Sequence[Value], loc: Location = UNKNOWN) -> Extract:
        return cls([source, *indices], [source.tensor_type.element], loc)

    @classmethod
    def from_form(cls, form: Form) -> Op:
        form.expect_indices(0)
        return super().from_form(form)

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        element = args[0][checked_index(args[0], args[1:])]
        return [int(element) if self.result.type is INDEX else element]

    def bufferizes_to_memory_write(self, use: Use, facts: Facts) -> bool:
        return False

    def aliasing_values(self, use: Use) -> list[Alias]:
        return []

    def bufferize(self, rewriter: Rewriter) -> None:
        indices = [rewriter.value(v) for v in self.operands[1:]]
        load = rewriter.add(memref.Load.of(rewriter.buffer(self.uses[0]), indices, self.loc))
        rewriter.set_value(self.result, load.result)


def checked_index(array: np.ndarray, indices: Sequence[int]) -> tuple[int, ...]:
    """The index; OutOfBounds where it is out of bounds (a negative one is not normalised: that would be a bug of the
    tracer)."""
    if len(indices) != array.ndim or any(not 0 <= i < n for i, n in zip(indices, array.shape, strict=True)):
        raise OutOfBounds(f"element {tuple(indices)} of shape {array.shape}")
    return tuple(indices)


class Insert(Op):
    """`tensor.insert`: a[i, j] = scalar.

    operands: scalar, dest tensor, an index for each axis; results: 1 tensor of dest's type, aliases dest.
    """

    __slots__ = ()
    name = "tensor.insert"
    takes, gives = "scalar, tensor, index*", "tensor"
    effects = no_effects

    @classmethod
    def of(cls, scalar: Value, dest: Value, indices: Sequence[Value], loc: Location = UNKNOWN) -> Insert:
        return cls([scalar, dest, *indices], [dest.type], loc)

    @classmethod
    def from_form(cls, form: Form) -> Op:
        form.expect_indices(1)
        form.tie(0, form.operands[1])
        return super().from_form(form)

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        result = args[1].copy(order="K")
        result[checked_index(result, args[2:])] = args[0]
        return [result]

    def aliasing_values(self, use: Use) -> list[Alias]:
        return [Alias(self.result)] if use.index == 1 else []

    def bufferize(self, rewriter: Rewriter) -> None:
        dest = rewriter.buffer(self.uses[1])
        indices = [rewriter.value(v) for v in self.operands[2:]]
        rewriter.add(memref.Store.of(rewriter.value(self.operand(0)), dest, indices, self.loc))
        rewriter.replace(self.result, dest)


class Dim(Op):
    """`tensor.dim`: the size of one dimension. Accesses no elements.

    operands: source tensor, and in MLIR text the dimension (index); results: 1 index; attrs: dim (the dimension, None
    where it is not constant).
    """

    __slots__ = ()
    name = "tensor.dim"
    takes, gives = "tensors, index?", "index"
    effects = no_effects

    @classmethod
    def of(cls, source: Value, dim: int, loc: Location = UNKNOWN) -> Dim:
        return cls([source], [INDEX], loc, {"dim": dim})

    @classmethod
    def from_form(cls, form: Form) -> Op:
        return memref.dim_of_form(cls, form)

    def to_form(self) -> Form:
        return self.form_with({})

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        return [memref.size_along(args[0].shape, args[1] if len(args) > 1 else self.attrs["dim"])]

    def bufferizes_to_memory_read(self, use: Use, facts: Facts) -> bool:
        return False

    def bufferizes_to_memory_write(self, use: Use, facts: Facts) -> bool:
        return False

    def aliasing_values(self, use: Use) -> list[Alias]:
        return []

    def bufferize(self, rewriter: Rewriter) -> None:
        buffer, index = rewriter.buffer(self.uses[0]), [rewriter.value(v) for v in self.operands[1:]]
        op = rewriter.add(memref.Dim.rebuilt([buffer, *index], [INDEX], self.loc, dict(self.attrs)))
        rewriter.set_value(self.result, op.result)
