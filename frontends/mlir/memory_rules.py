"""What MLIR text must say of shapes, places and elements: constants that lead out of what they index, sizes that do not
add up, types that another type does not give. Only what is certain from constants is wrong; a `?` fits all.

Programs of the tracer are not asked: where no iteration comes, theirs may have such parts. MLIR counterpart: the
verifiers of the memref, tensor and bufferization dialects, verifyInBoundsSlice.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from tracebuf.ir.attributes import dynamic_integers
from tracebuf.ir.core import Op
from tracebuf.ir.types import (
    MemRefType,
    ShapedType,
    Type,
    UnrankedMemRefType,
    UnrankedTensorType,
    VectorType,
    same_type,
)
from tracebuf.ops.arrays import tensor
from tracebuf.ops.arrays.made import Concat
from tracebuf.ops.memory.memref import Subview

Rule = Callable[[Op], str]
"""What is wrong with an op, or the empty string."""
GEOMETRY = ("static_offsets", "static_sizes", "static_strides")


def element(type: Type) -> Type:
    """The type of the elements; of a scalar the type itself."""
    shaped = isinstance(type, (ShapedType, UnrankedTensorType, UnrankedMemRefType, VectorType))
    return type.element if shaped else type  # type: ignore[union-attr]


def sizes_fit(a: Type, b: Type) -> bool:
    """Whether two ranks are equal, and no two constant sizes differ; of what is unranked nothing is known."""
    if not isinstance(a, ShapedType) or not isinstance(b, ShapedType):
        return True
    constants = ((m, n) for m, n in zip(a.shape, b.shape) if isinstance(m, int) and isinstance(n, int))
    return a.rank == b.rank and all(m == n for m, n in constants)


def out_of_bounds(op: Op, base: Type) -> str:
    """A slice of constants that is not within its base. One without elements may begin at the end."""
    assert isinstance(base, ShapedType)
    for d, (n, offset, size, step) in enumerate(zip(base.shape, *(op.attrs[k] for k in GEOMETRY), strict=True)):
        if offset is not None and offset < 0 or size is not None and size < 0:
            return f"the offset {offset} or the size {size} of dimension {d} is negative"
        if not isinstance(n, int) or offset is None:
            continue
        if offset > n or (offset == n and size):
            return f"the offset {offset} is out of the {n} elements along dimension {d}"
        if size and step is not None and not 0 <= offset + (size - 1) * step < n:
            last = offset + (size - 1) * step
            return f"the slice along dimension {d} runs out of bounds: its last element is {last}, of {n}"
    return ""


def extract_slice(op: Op) -> str:
    return out_of_bounds(op, op.operand(0).type)


def insert_slice(op: Op) -> str:
    return out_of_bounds(op, op.operand(1).type)


def parallel_insert_slice(op: Op) -> str:
    parent = op.parent_op
    if parent is None or parent.name != "scf.forall.in_parallel":
        return "it stands in scf.forall.in_parallel only"
    return insert_slice(op)


def subview(op: Op) -> str:
    """The result's layout is that which source and slice give; what these do not tell, it does not tell either."""
    assert isinstance(op, Subview)
    base, view = op.operand(0).memref_type, op.result.memref_type
    if problem := out_of_bounds(op, base):
        return problem
    if base.layout.startswith("affine_map") or view.layout.startswith("affine_map"):
        return ""
    steps, starts = op.slice.view_strides(base), zip(op.slice.offsets, base.strides, strict=True)
    moves = [0 if o == 0 else o * s if isinstance(o, int) and isinstance(s, int) else None for o, s in starts]
    parts = [base.offset, *moves]
    known = [n for n in parts if isinstance(n, int)]
    offset = sum(known) if len(known) == len(parts) else None
    for what, told, found in (("offset", view.offset, offset), *(("stride", *p) for p in zip(view.strides, steps))):
        if isinstance(told, int) and told != found:
            return f"the result is {view}, but the {what} there is {found if isinstance(found, int) else 'not known'}"
    return "" if view.memory_space == base.memory_space else "the result has another memory space than the source"


def concat(op: Op) -> str:
    assert isinstance(op, Concat)
    result = op.result.tensor_type
    for d, size in enumerate(result.shape):
        parts = [v.tensor_type.shape[d] for v in op.operands]
        known = [n for n in parts if isinstance(n, int)]
        if d != op.axis and len({*known, *([size] if isinstance(size, int) else [])}) > 1:
            return f"the sizes {known} along dimension {d} differ, or are not {size}"
        if d == op.axis and isinstance(size, int) and len(known) == len(parts) and sum(known) != size:
            return f"the result is {result}, but the sizes along dimension {d} are {sum(known)} in sum"
    return ""


def regrouped(op: Op) -> str:
    """collapse_shape and expand_shape: a group of axes has as many elements as the axis that it stands for."""
    a, b = op.operand(0).type, op.result.type
    if not isinstance(a, ShapedType) or not isinstance(b, ShapedType):
        return ""
    if not same_type(a.element, b.element):
        return f"the elements of {a} are not those of {b}"
    few, many = (a.shape, b.shape) if op.name.endswith("expand_shape") else (b.shape, a.shape)
    axes = [axis for group in op.attrs["groups"] for axis in group]
    if len(op.attrs["groups"]) != len(few) or axes != list(range(len(many))):
        return f"the groups {op.attrs['groups']} are not those of {len(many)} axes, for {len(few)}"
    for one, group in zip(few, op.attrs["groups"]):
        known = [n for axis in group if isinstance(n := many[axis], int)]
        whole, size = len(known) == len(group), prod(known)
        if isinstance(one, int) and (one != size if whole else not size or one % size):
            return f"{one} elements along an axis are not the {size} of the axes {list(group)}: {a} gives no {b}"
    static = op.attrs.get("static_sizes")
    if static and any(isinstance(n, int) and s not in (None, n) for n, s in zip(b.shape, static)):
        return f"the sizes {list(static)} do not give {b}"
    return ""


def copy(op: Op) -> str:
    a, b = (v.type for v in op.operands)
    fit = same_type(element(a), element(b)) and sizes_fit(a, b)
    return "" if fit else f"{a} is no source for {b}: both have one shape, and elements of one type"


def accessed(place: int, value: int | None) -> Rule:
    """One element of the operand number `place`: the result, or an operand, has its type."""

    def rule(op: Op) -> str:
        into, found = op.operand(place).type, op.result.type if value is None else op.operand(value).type
        return "" if same_type(element(into), found) else f"an element of {into} is no {found}"

    return rule


def inserted(op: Op) -> str:
    same = same_type(op.operand(1).type, op.result.type)
    return accessed(1, 0)(op) or ("" if same else "its result has another type than its destination")


def as_other(op: Op) -> str:
    """The operand in another form: as a tensor, as a buffer, of another layout."""
    a, b = op.operand(0).type, op.result.type
    fit = same_type(element(a), element(b)) and sizes_fit(a, b)
    return "" if fit else f"{a} gives no {b}: both have one shape, and elements of one type"


def cast(op: Op) -> str:
    a, b = op.operand(0).type, op.result.type
    if problem := as_other(op):
        return problem
    if not isinstance(a, MemRefType) or not isinstance(b, MemRefType):
        return ""
    known = zip((a.offset, *a.strides), (b.offset, *b.strides))
    wrong = any(isinstance(m, int) and isinstance(n, int) and m != n for m, n in known)
    plain = not (a.layout.startswith("affine_map") or b.layout.startswith("affine_map"))
    return f"{a} has another layout than {b}" if plain and wrong else ""


def reinterpret(op: Op) -> str:
    """The result's type says what the attributes say."""
    source, result = op.operand(0).type, op.result.memref_type
    try:
        offsets, sizes, strides = (dynamic_integers(op.attrs[k].value) for k in GEOMETRY)
        counts = [int(n) for n in op.attrs["operandSegmentSizes"].value]
    except (KeyError, ValueError, TypeError):
        return "its offsets, sizes and strides are arrays of integers"
    if counts != [1, *(part.count(None) for part in (offsets, sizes, strides))] or sum(counts) != len(op.uses):
        return f"operandSegmentSizes {counts} do not fit its {len(op.uses)} operands"
    if not len(sizes) == len(strides) == result.rank or len(offsets) != 1:
        return f"{len(sizes)} sizes and {len(strides)} strides do not give {result}"
    if not same_type(element(source), result.element):
        return f"the elements of {source} are not those of {result}"
    if any(n is not None and n < 0 for n in (*offsets, *sizes)):
        return "an offset or a size is negative"
    if result.layout.startswith("affine_map"):
        return ""
    said = zip((*offsets, *sizes, *strides), (result.offset, *result.shape, *result.strides))
    wrong = any(isinstance(told, int) and told != found for found, told in said)
    return f"offset {offsets[0]}, sizes {list(sizes)} and strides {list(strides)} do not give {result}" if wrong else ""


def realloc(op: Op) -> str:
    a, b = op.operand(0).memref_type, op.result.memref_type
    dynamic = sum(not isinstance(n, int) for n in b.shape)
    if len(op.uses) != 1 + dynamic:
        return f"{len(op.uses) - 1} sizes for {b}"
    return "" if same_type(a.element, b.element) else f"the elements of {a} are not those of {b}"


def alloc(op: Op) -> str:
    """An operand for each stride and offset that the type does not tell."""
    type_ = op.result.memref_type
    if type_.is_identity or type_.layout:
        return ""
    wanted = sum(part is None for part in (*type_.strides, type_.offset))
    found = len(op.uses) - op.attrs["static_sizes"].count(None)
    return "" if wanted == found else f"{found} strides and offsets for {type_}, which has {wanted} of them"


RULES: dict[str, Rule] = {
    "tensor.extract_slice": extract_slice, "tensor.insert_slice": insert_slice,
    "tensor.parallel_insert_slice": parallel_insert_slice, "memref.subview": subview, "tensor.concat": concat,
    "tensor.expand_shape": regrouped, "tensor.collapse_shape": regrouped,
    "memref.expand_shape": regrouped, "memref.collapse_shape": regrouped,
    "memref.copy": copy, "memref.load": accessed(0, None), "memref.store": accessed(1, 0),
    tensor.Extract.name: accessed(0, None), tensor.Insert.name: inserted,
    "bufferization.to_tensor": as_other, "bufferization.to_buffer": as_other, "bufferization.clone": as_other,
    "memref.cast": cast, "tensor.cast": as_other,
    "memref.reinterpret_cast": reinterpret, "memref.realloc": realloc, "memref.alloc": alloc, "memref.alloca": alloc,
}  # fmt: skip
