"""Memref ops: buffers. MLIR counterpart: the memref dialect; `tracebuf.subview` is a subview that may also permute,
reverse, repeat and add dimensions.

The memref interpreter and the native emitter dispatch on these classes; structure and typing stand here.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from tracebuf.ir.attributes import (
    Attr,
    all_encoded,
    dynamic_integers,
    groups_attr,
    inherent,
    integers,
    segments,
    string,
)
from tracebuf.ir.core import Effect, Effects, Form, FormError, Mixed, Op, Value, join_mixed, no_effects, split_mixed
from tracebuf.ir.dims import Dim as Size
from tracebuf.ir.dims import add, floordiv, mul
from tracebuf.ir.slices import (
    OutOfBounds,
    Slice,
    pack_slice,
    slice_attrs,
    slice_of_form,
    unpack_slice,
    view_sizes,
)
from tracebuf.ir.types import (
    INDEX,
    MemRefType,
    ScalarType,
    ShapedType,
    TensorType,
    Type,
    UnrankedMemRefType,
    row_major,
    strides_in_order,
)
from tracebuf.location import UNKNOWN, Location


class Alloc(Op):
    """`memref.alloc`: a new buffer of undefined contents.

    operands: the dynamic sizes (index), in MLIR text also the dynamic strides; results: 1 memref; attrs: static_sizes
    (None for each dynamic size), order (axes, outermost first), reason (for explain), absent (as of `tensor.empty`);
    set by take-results: given (by the called function that follows); set by assign-storage: kind ("arena" or "array";
    "nowhere" if it is absent and would be an array), slot (the block of the arena), offset (in it), turns (between how
    many places).
    """

    __slots__ = ()
    name = "memref.alloc"
    takes, gives = "index*", "memref"

    def effects(self) -> Effects:
        return ((Effect.ALLOCATE, self.result),)

    @classmethod
    def of(
        cls,
        shape: tuple[Size, ...],
        element: ScalarType,
        sizes: Sequence[Mixed],
        order: tuple[int, ...],
        reason: str,
        loc: Location = UNKNOWN,
    ) -> Alloc:
        """`shape`: the sizes in the type; `sizes`: those sizes as constants or values of type index; `order`: the axes,
        outermost first; `reason`: shown by explain."""
        static, dynamic = split_mixed(sizes)
        type_ = MemRefType(shape, element, strides_in_order(shape, order), 0)
        return cls(dynamic, [type_], loc, {"static_sizes": static, "order": order, "reason": reason})

    @classmethod
    def from_form(cls, form: Form) -> Op:
        """Dynamic strides, which MLIR takes as operands too (`memref.alloc()[%s]`), stay after the sizes."""
        sizes, symbols = form.segments(2)
        attrs = {"reason": "", **noted(form, sizes)}
        return cls.rebuilt([*sizes, *symbols], form.result_types, form.loc, attrs)

    def to_form(self) -> Form:
        n = self.attrs["static_sizes"].count(None)
        return self.form_with(notes(self) | {"operandSegmentSizes": segments(n, len(self.uses) - n)})

    @property
    def sizes(self) -> list[Mixed]:
        return join_mixed(self.attrs["static_sizes"], self.operands)


def noted(form: Form, sizes: Sequence[Value]) -> dict[str, Any]:
    """The attributes of a new array or buffer with these dynamic sizes, taken out of its form."""
    static = form.own_sizes(sizes)
    order = form.take("order", None) or range(len(static))
    words = {k: form.take(k) for k in ("reason",) if k in form.attrs}
    return {"static_sizes": static, "order": tuple(order), **words, **form.attrs}


def notes(op: Op) -> dict[str, Attr]:
    """The attributes of a new array or buffer that MLIR does not have: the order of its axes, the reason for it."""
    order = op.attrs["order"]
    plain = {"static_sizes", "order"} if order == tuple(range(len(order))) else {"static_sizes"}
    return all_encoded({k: v for k, v in op.attrs.items() if k not in plain and v != ""})


class Alloca(Alloc):
    """`memref.alloca`: a small buffer on the stack, freed on return. operands: none, as sizes are static; results: 1
    memref; attrs: as `memref.alloc`."""

    __slots__ = ()
    name = "memref.alloca"


class Dealloc(Op):
    """`memref.dealloc`: frees a buffer. operands: memref; results: none."""

    __slots__ = ()
    name = "memref.dealloc"
    takes, gives = "memrefs", ""

    def effects(self) -> Effects:
        return ((Effect.FREE, self.operand(0)),)

    @classmethod
    def of(cls, buffer: Value, loc: Location = UNKNOWN) -> Dealloc:
        return cls([buffer], [], loc)


class Copy(Op):
    """`memref.copy`. operands: source, target (memrefs of one shape); results: none; attrs: reason ("store" for the
    program's own store, else why a copy was needed)."""

    __slots__ = ()
    name = "memref.copy"
    takes, gives = "memrefs, memrefs", ""

    def effects(self) -> Effects:
        return ((Effect.READ, self.operand(0)), (Effect.WRITE, self.operand(1)))

    @classmethod
    def of(cls, source: Value, target: Value, reason: str, loc: Location = UNKNOWN) -> Copy:
        return cls([source, target], [], loc, {"reason": reason})

    @classmethod
    def from_form(cls, form: Form) -> Op:
        form.expect(operands=2, results=0)
        words = {"reason": form.take("reason")} if "reason" in form.attrs else {}
        return cls.rebuilt(form.operands, [], form.loc, words | form.attrs)


class Load(Op):
    """`memref.load`: one element. operands: source memref, an index for each axis; results: 1 scalar."""

    __slots__ = ()
    name = "memref.load"
    takes, gives = "memref, index*", "scalar"

    def effects(self) -> Effects:
        return ((Effect.READ, self.operand(0)),)

    @classmethod
    def of(cls, source: Value, indices: Sequence[Value], loc: Location = UNKNOWN) -> Load:
        return cls([source, *indices], [source.memref_type.element], loc)

    @classmethod
    def from_form(cls, form: Form) -> Op:
        form.expect_indices(0)
        return super().from_form(form)


class Store(Op):
    """`memref.store`: one element. operands: scalar, target memref, an index for each axis; results: none."""

    __slots__ = ()
    name = "memref.store"
    takes, gives = "scalar, memref, index*", ""

    def effects(self) -> Effects:
        return ((Effect.WRITE, self.operand(1)),)

    @classmethod
    def of(cls, value: Value, target: Value, indices: Sequence[Value], loc: Location = UNKNOWN) -> Store:
        return cls([value, target, *indices], [], loc)

    @classmethod
    def from_form(cls, form: Form) -> Op:
        form.expect_indices(1)
        return super().from_form(form)


class Dim(Op):
    """`memref.dim`: the size of one dimension. operands: source memref, and in MLIR text the dimension (index);
    results: 1 index; attrs: dim (None where it is not constant)."""

    __slots__ = ()
    name = "memref.dim"
    takes, gives = "memrefs, index?", "index"
    effects = no_effects

    @classmethod
    def of(cls, source: Value, dim: int, loc: Location = UNKNOWN) -> Dim:
        return cls([source], [INDEX], loc, {"dim": dim})

    @classmethod
    def from_form(cls, form: Form) -> Op:
        return dim_of_form(cls, form)

    def to_form(self) -> Form:
        return self.form_with({})


def dim_of_form(cls: type[Op], form: Form) -> Op:
    """A dim op of MLIR's, which takes the dimension as an operand: the operand is kept, and attr `dim` is None where it
    is not constant."""
    form.expect(operands=2, results=1)
    constant = form.operands[1].defining_op
    value = constant.attrs.get("value") if constant is not None and constant.name == "arith.constant" else None
    attrs = {"dim": value if isinstance(value, int) else None, **form.attrs}
    return cls.rebuilt(form.operands, form.result_types, form.loc, attrs)


def dimension(op: Op) -> int | None:
    """The dimension that a dim op asks for, where it is constant and one of its source's; to ask for another one is
    undefined behaviour in MLIR, and nothing follows from it."""
    dim, source = op.attrs["dim"], op.operand(0).type
    return dim if isinstance(dim, int) and isinstance(source, ShapedType) and 0 <= dim < source.rank else None


def size_along(shape: tuple[int, ...], dim: int) -> int:
    """The size of a dimension at run time; OutOfBounds where there is none."""
    if not 0 <= dim < len(shape):
        raise OutOfBounds(f"dimension {dim} of shape {shape}")
    return int(shape[dim])


class Rank(Op):
    """`memref.rank`: the number of dimensions. operands: source memref; results: 1 index."""

    __slots__ = ()
    name = "memref.rank"
    takes, gives = "memrefs", "index"
    effects = no_effects


class Cast(Op):
    """`memref.cast`: forgets (or states) static sizes and strides. operands: source memref; results: 1 memref, the
    source's buffer."""

    __slots__ = ()
    name = "memref.cast"
    takes, gives = "memrefs", "memrefs"
    effects = no_effects

    @classmethod
    def of(cls, source: Value, type: Type, loc: Location = UNKNOWN) -> Cast:
        return cls([source], [type], loc)


class Subview(Op):
    """`memref.subview`: part of a buffer, by a `Slice`.

    operands: source memref, the dynamic offsets, sizes and strides (index); results: 1 memref with the source's base;
    attrs: static_offsets, static_sizes, static_strides (None for each operand), dims (see `Slice`).
    """

    __slots__ = ()
    name = "memref.subview"
    takes, gives = "memref, index*", "memref"
    effects = no_effects

    @classmethod
    def of(cls, source: Value, s: Slice, shape: tuple[Size, ...], loc: Location = UNKNOWN) -> Subview:
        """`s`: the view; `shape`: its sizes in the type. Gives a `tracebuf.subview` where MLIR's op cannot express `s`.
        """
        base = source.memref_type
        offset: Size | None = 0 if base.offset == 0 and all(o == 0 for o in s.offsets) else None
        type_ = MemRefType(shape, base.element, s.view_strides(base), offset)
        attrs, dynamic = pack_slice(s)
        return (Subview if s.is_mlir else View)([source, *dynamic], [type_], loc, attrs)

    @classmethod
    def from_form(cls, form: Form) -> Op:
        attrs = slice_of_form(form, 1, form.shaped_result())
        form.resize(0, view_sizes(form, attrs, 1))
        return cls.rebuilt(form.operands, form.result_types, form.loc, attrs | form.attrs)

    def to_form(self) -> Form:
        return self.form_with(slice_attrs(self, 1))

    @property
    def slice(self) -> Slice:
        return unpack_slice(self.attrs, self.operands[1:])


class View(Subview):
    """`tracebuf.subview`: a subview that permutes, reverses, repeats or adds dimensions.

    operands: source memref, the dynamic offsets, sizes and strides (index); results: 1 memref with the source's base;
    attrs: as `memref.subview`.
    """

    __slots__ = ()
    name = "tracebuf.subview"


def groups_of_form(form: Form) -> dict[str, Any]:
    """The attributes of collapse_shape and expand_shape, taken out of the form."""
    few = form.take("reassociation")
    attrs: dict[str, Any] = {"groups": tuple(tuple(dynamic_integers(group)) for group in few)}
    shape = form.shaped_result().shape
    if "static_output_shape" in form.attrs:
        static = attrs["static_sizes"] = dynamic_integers(form.take("static_output_shape"))
        if len(static) != len(shape) or static.count(None) != len(form.operands) - 1:
            raise FormError(f"{form.name}: {len(form.operands) - 1} operands do not fit {form.result_types[0]}")
        form.resize(0, join_mixed(static, form.operands[1:]))
    else:
        form.expect(operands=1)
    return attrs


def regrouping_attrs(attrs: dict[str, Any]) -> dict[str, Attr]:
    """The properties of collapse_shape and expand_shape."""
    found = {"reassociation": groups_attr(attrs["groups"])}
    if "static_sizes" in attrs:
        found["static_output_shape"] = integers(attrs["static_sizes"])
    return found


def runs_on(type_: MemRefType, groups: Sequence[Sequence[int]]) -> bool:
    """Whether the axes of each group are contiguous: one outer step is the inner step times the inner size."""
    for group in groups:
        axes = [a for a in group if type_.shape[a] != 1]
        for outer, inner in pairwise(axes):
            step = type_.strides[inner]
            if step is None or type_.strides[outer] != mul(step, type_.shape[inner]):
                return False
    return True


def innermost(type_: MemRefType, group: Sequence[int]) -> int:
    """The axis of a group that the collapsed axis steps along: the last one that is longer than 1, if any is."""
    return next((axis for axis in reversed(group) if type_.shape[axis] != 1), group[0])


class CollapseShape(Op):
    """`memref.collapse_shape`: neighbouring axes, contiguous with one another, become one. operands: source memref;
    results: 1 memref, the source's buffer; attrs: groups (the source's axes of each result axis)."""

    __slots__ = ()
    name = "memref.collapse_shape"
    takes, gives = "memref", "memref"
    effects = no_effects

    @classmethod
    def from_form(cls, form: Form) -> Op:
        attrs = groups_of_form(form)
        return cls.rebuilt(form.operands, form.result_types, form.loc, attrs | form.attrs)

    def to_form(self) -> Form:
        return self.form_with(regrouping_attrs(self.attrs))

    @classmethod
    def of(
        cls, source: Value, groups: tuple[tuple[int, ...], ...], shape: tuple[Size, ...], loc: Location = UNKNOWN
    ) -> CollapseShape:
        base = source.memref_type
        strides = tuple(base.strides[innermost(base, group)] for group in groups)
        return cls([source], [MemRefType(shape, base.element, strides, base.offset)], loc, {"groups": groups})


class ExpandShape(Op):
    """`memref.expand_shape`: an axis becomes several. operands: source memref, the dynamic sizes (index); results: 1
    memref, the source's buffer; attrs: groups (the result's axes of each source axis), static_sizes (None for each
    operand)."""

    __slots__ = ()
    name = "memref.expand_shape"
    takes, gives = "memref, index*", "memref"
    effects = no_effects

    @classmethod
    def from_form(cls, form: Form) -> Op:
        attrs = groups_of_form(form)
        return cls.rebuilt(form.operands, form.result_types, form.loc, attrs | form.attrs)

    def to_form(self) -> Form:
        return self.form_with(regrouping_attrs(self.attrs))

    @classmethod
    def of(
        cls,
        source: Value,
        groups: tuple[tuple[int, ...], ...],
        sizes: Sequence[Mixed],
        shape: tuple[Size, ...],
        loc: Location = UNKNOWN,
    ) -> ExpandShape:
        """`groups`: the result axes of each source axis; `sizes`: of the result, constants or values; `shape`: its
        sizes in the type."""
        base = source.memref_type
        strides: list[Size | None] = []
        for group, step in zip(groups, base.strides, strict=True):
            inside = row_major([shape[a] for a in group])
            strides += [None if step is None else mul(step, n) for n in inside]
        static, dynamic = split_mixed(sizes)
        type_ = MemRefType(shape, base.element, tuple(strides), base.offset)
        return cls([source, *dynamic], [type_], loc, {"groups": groups, "static_sizes": static})

    @property
    def sizes(self) -> list[Mixed]:
        return join_mixed(self.attrs["static_sizes"], self.operands[1:])


class Diagonal(Op):
    """`tracebuf.diagonal`: two axes of equal size become the last one; its stride is the sum of theirs. operands:
    source memref; results: 1 memref, part of the source's buffer; attrs: axes (the two)."""

    __slots__ = ()
    name = "tracebuf.diagonal"
    takes, gives = "memref", "memref"
    effects = no_effects

    @classmethod
    def of(cls, source: Value, axes: tuple[int, int], shape: tuple[Size, ...], loc: Location = UNKNOWN) -> Diagonal:
        base = source.memref_type
        a, b = (base.strides[axis] for axis in axes)
        rest = [s for axis, s in enumerate(base.strides) if axis not in axes]
        step = None if a is None or b is None else add(a, b)
        return cls([source], [MemRefType(shape, base.element, (*rest, step), base.offset)], loc, {"axes": axes})


class Windows(Op):
    """`tracebuf.windows`: the overlapping windows of so many neighbours along an axis (on tensors
    `tracebuf.extract_windows`). operands: source memref, size of a window (index); results: 1 memref of the source's
    buffer, with a last axis along each window; attrs: axis."""

    __slots__ = ()
    name = "tracebuf.windows"
    takes, gives = "memref, index", "memref"
    levels = frozenset({"memref"})
    effects = no_effects

    @classmethod
    def of(cls, source: Value, size: Value, axis: int, shape: tuple[Size, ...], loc: Location = UNKNOWN) -> Windows:
        base = source.memref_type
        type_ = MemRefType(shape, base.element, (*base.strides, base.strides[axis]), base.offset)
        return cls([source, size], [type_], loc, {"axis": axis})


def recast_shape(shape: tuple[Size, ...], source: ScalarType, target: ScalarType) -> tuple[Size, ...]:
    """The shape that elements of one type have as elements of another (see `tracebuf.recast`)."""
    if source.is_complex and target == source.component:
        return (*shape, 2)
    if target.is_complex and source == target.component:
        return shape[:-1]
    return shape


class Recast(Op):
    """`tracebuf.recast_buffer`: a buffer's memory as elements of another type (on tensors `tracebuf.recast`). operands:
    source memref; results: 1 memref, the source's buffer."""

    __slots__ = ()
    name = "tracebuf.recast_buffer"
    takes, gives = "memref", "memref"
    levels = frozenset({"memref"})
    effects = no_effects

    @classmethod
    def of(cls, source: Value, element: ScalarType, loc: Location = UNKNOWN) -> Recast:
        base, offset = source.memref_type, source.memref_type.offset
        shape, strides = recast_shape(base.shape, base.element, element), base.strides
        if len(shape) > base.rank:
            strides = (*(None if s is None else mul(s, 2) for s in strides), 1)
            offset = None if offset is None else mul(offset, 2)
        elif len(shape) < base.rank:
            strides = tuple(None if s is None else floordiv(s, 2) for s in strides[:-1])
            offset = None if offset is None else floordiv(offset, 2)
        return cls([source], [MemRefType(shape, element, strides, offset)], loc, {})


class Global(Op):
    """`memref.global`: a buffer of the module. operands: none; results: none; attrs: MLIR's (sym_name, sym_visibility,
    type, initial_value, constant, alignment)."""

    __slots__ = ()
    name = "memref.global"
    takes, gives = "", ""
    effects = no_effects

    @classmethod
    def of(cls, symbol: str, type: MemRefType, value: str, loc: Location = UNKNOWN) -> Global:
        """A private constant of the module: `value` is the text of its elements (`dense<...>`)."""
        value = value if "> : " in value else f"{value} : {TensorType(type.shape, type.element)}"
        attrs = {
            "sym_name": string(symbol, inherent=True), "sym_visibility": string("private", inherent=True),
            "type": inherent(str(type)), "initial_value": inherent(value),
            "constant": inherent("unit"), "alignment": inherent("64 : i64", 64),
        }  # fmt: skip
        return cls([], [], loc, attrs)


class GetGlobal(Op):
    """`memref.get_global`: the buffer of a module's `memref.global`, never freed. operands: none; results: 1 memref;
    attrs: name (MLIR's), dense (the constant's elements as text where a constant tensor made the op, which then needs
    no module to run)."""

    __slots__ = ()
    name = "memref.get_global"
    takes, gives = "", "memref"
    effects = no_effects

    @classmethod
    def constant(cls, value: str, type: TensorType, loc: Location) -> GetGlobal:
        """The op for a constant tensor, under MLIR's name for it, which `bufferize.globals` makes unique."""
        symbol = f"__constant_{'x'.join(map(str, (*type.shape, type.element)))}"
        if not type.shape:
            symbol = f"__constant_x{type.element}"
        found = MemRefType(type.shape, type.element, row_major(type.shape))
        elements = value.rpartition(" : ")[0] or value
        return cls([], [found], loc, {"name": inherent(f"@{symbol}", symbol), "dense": elements})


def forget_layout(type_: ShapedType) -> MemRefType:
    """A buffer of these sizes with strides and offset that only the run time knows."""
    return MemRefType(type_.shape, type_.element, (None,) * type_.rank, None)


def cast_is_safe(source: Type, target: Type) -> bool:
    """Whether a memref.cast states nothing of strides and offset that the source's type does not say."""
    if not isinstance(source, MemRefType) or not isinstance(target, MemRefType) or source.layout != target.layout:
        return isinstance(target, UnrankedMemRefType)
    if target.is_identity and source.is_identity:
        return True
    known = [target.offset, *target.strides]
    if target.is_identity and not all(isinstance(s, int) for s in known):
        return False
    return all(s == t for s, t in zip([source.offset, *source.strides], known) if isinstance(t, int))


class Reshape(Op):
    """`memref.reshape`: a dense buffer under a shape that is data. operands: source memref, shape (memref of rank 1, of
    integers or index); results: 1 memref, the source's buffer."""

    __slots__ = ()
    name = "memref.reshape"
    takes, gives = "memrefs, memref", "memrefs"

    def effects(self) -> Effects:
        """It reads the shape. MLIR says that it does nothing to memory."""
        return ((Effect.READ, self.operand(1)),)

    @classmethod
    def of(cls, source: Value, shape: Value, type: Type, loc: Location = UNKNOWN) -> Reshape:
        return cls([source, shape], [type], loc)


VIEW_OPS = (Subview, Cast, CollapseShape, ExpandShape, Diagonal, Recast, Reshape, Windows)


def uncast(buffer: Value) -> Value:
    """The buffer itself, of which casts state or forget sizes and strides."""
    while isinstance(op := buffer.defining_op, Cast):
        buffer = op.operand(0)
    return buffer


def base_of(buffer: Value) -> Value:
    """The buffer at the start of a chain of views: an alloc, an argument, or a result of control flow."""
    while isinstance(op := buffer.defining_op, VIEW_OPS):
        buffer = op.operand(0)
    return buffer
