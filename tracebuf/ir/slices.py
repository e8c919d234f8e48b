"""The geometry of a view: offsets, sizes and strides per dimension of the base, and which base dimension each view
dimension is.

It covers what NumPy's basic indexing, transposition, reversal and `None` can make in one affine step; MLIR's slices are
the special case of rising dimensions and positive strides. Size, offset and stride are ints or SSA values (index).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations, islice
from typing import Any

import numpy as np

from tracebuf.errors import InternalError
from tracebuf.frozen import frozen
from tracebuf.ir.attributes import Attr, decoded, encoded, integers, segments
from tracebuf.ir.core import Form, FormError, Mixed, Op, Value, join_mixed, split_mixed
from tracebuf.ir.dims import Dim, mul
from tracebuf.ir.types import MemRefType, ShapedType, TensorType


@frozen()
class Slice:
    """view[i...] = base[offsets[d] + strides[d] * i[dims.index(d)] for d ...]; a base dimension not in `dims` has
    size 1.

    `dims[k]` is the base dimension of view dimension k, or None for a new axis of size 1. A stride of 0 repeats an
    element.
    """

    offsets: tuple[Mixed, ...]
    sizes: tuple[Mixed, ...]
    strides: tuple[Mixed, ...]
    dims: tuple[int | None, ...]

    @property
    def is_mlir(self) -> bool:
        """Whether `tensor.extract_slice` can say it."""
        real = [d for d in self.dims if d is not None]
        positive = all(isinstance(s, int) and s > 0 for s in self.strides)
        return len(real) == len(self.dims) and real == sorted(real) and positive

    def covers(self, type: TensorType | MemRefType, view: TensorType | MemRefType) -> bool:
        """Whether the view is the whole base, element for element in place; an axis of size 1 may be a new one."""
        longer = [d for d, size in enumerate(type.shape) if size != 1]
        return (
            [d for d in self.dims if d is not None and type.shape[d] != 1] == longer
            and all(o == 0 for o in self.offsets)
            and all(s == 1 for s in self.strides)
            and view.shape == type.shape
        )

    def view_strides(self, type: MemRefType) -> tuple[Dim | None, ...]:
        """Strides of the view, where known."""
        strides: list[Dim | None] = []
        for d in self.dims:
            base = 0 if d is None else type.strides[d]
            step = 1 if d is None else self.strides[d]
            strides.append(mul(base, step) if base is not None and isinstance(step, int) else None)
        return tuple(strides)


_PARTS = (("static_offsets", "offsets"), ("static_sizes", "sizes"), ("static_strides", "strides"))


def pack_slice(s: Slice) -> tuple[dict[str, Any], list[Value]]:
    """A slice as an op holds it: static attributes (None for each dynamic value) and the dynamic operands in order."""
    attrs: dict[str, Any] = {"dims": s.dims}
    dynamic: list[Value] = []
    for key, part in _PARTS:
        attrs[key], more = split_mixed(getattr(s, part))
        dynamic += more
    return attrs, dynamic


def unpack_slice(attrs: Mapping[str, Any], dynamic: Iterable[Value]) -> Slice:
    """The slice that `pack_slice` split into static attributes and dynamic operands."""
    rest = iter(dynamic)
    offsets, sizes, strides = (tuple(join_mixed(attrs[key], rest)) for key, _ in _PARTS)
    return Slice(offsets, sizes, strides, attrs["dims"])


def slice_of_form(form: Form, leading: int, view: ShapedType) -> dict[str, Any]:
    """The attributes of a slice op of MLIR's, taken out of its form; the view is a result or a source."""
    groups = form.segments(leading + 3)
    attrs: dict[str, Any] = {}
    for (key, _), dynamic in zip(_PARTS, groups[leading:]):
        attrs[key] = form.static(key, len(dynamic))
    if len({len(attrs[key]) for key, _ in _PARTS}) != 1 or [len(g) for g in groups[:leading]] != [1] * leading:
        raise FormError(f"{form.name}: offsets, sizes and strides differ in number")
    if (dims := form.take("dims", None)) is None:
        attrs["dims"] = kept_dims(form, attrs, view)
    else:  # a view of tracebuf's own
        attrs["dims"] = decoded(dims, "dims")
    return attrs


def kept_dims(form: Form, attrs: Mapping[str, Any], view: ShapedType) -> tuple[int, ...]:
    """Which dimensions of a slice its view has: those of size 1 may be dropped (MLIR: rank reduction). Of several that
    will do the strides of a memref tell which; else the first are taken."""
    sizes, steps, base = attrs["static_sizes"], attrs["static_strides"], form.operands[0].type

    def fits(dims: tuple[int, ...]) -> bool:
        dropped = [size for d, size in enumerate(sizes) if d not in dims]
        pairs = zip((sizes[d] for d in dims), view.shape)
        return set(dropped) <= {1} and all(n == size if isinstance(n, int) else size is None for size, n in pairs)

    def strides_fit(dims: tuple[int, ...]) -> bool:
        if not isinstance(view, MemRefType) or not isinstance(base, MemRefType) or view.layout or base.layout:
            return True
        known = ((base.strides[d], steps[d], view.strides[k]) for k, d in enumerate(dims))
        return all(s * t == v for s, t, v in known if isinstance(s, int) and isinstance(v, int) and t is not None)

    found = list(filter(fits, islice(combinations(range(len(sizes)), view.rank), 10_000)))
    if not found:
        raise FormError(f"{form.name}: the sizes {list(sizes)} do not give {view}")
    return next(filter(strides_fit, found), found[0])


def view_sizes(form: Form, attrs: Mapping[str, Any], leading: int) -> list[Mixed]:
    """The sizes of the view."""
    offsets, sizes = (attrs[key] for key in ("static_offsets", "static_sizes"))
    dynamic = form.operands[leading + offsets.count(None) :]
    mixed = join_mixed(sizes, dynamic)
    return [1 if d is None else mixed[d] for d in attrs["dims"]]


def slice_attrs(op: Op, leading: int) -> dict[str, Attr]:
    """The properties of a slice op, with the dimensions where it is tracebuf's own."""
    counts = (op.attrs[key].count(None) for key, _ in _PARTS)
    attrs = {"operandSegmentSizes": segments(*[1] * leading, *counts)} | {k: integers(op.attrs[k]) for k, _ in _PARTS}
    return attrs | {k: encoded(op.attrs[k], k) for k in ("dims",) if op.name.startswith("tracebuf.")}


class OutOfBounds(InternalError):
    """An element or a slice that is not there: a bug of the tracer, or of a program in MLIR text."""


def apply_slice(
    base: np.ndarray,
    offsets: tuple[int, ...],
    sizes: tuple[int, ...],
    strides: tuple[int, ...],
    dims: tuple[int | None, ...],
) -> np.ndarray:
    """The NumPy view with this geometry; OutOfBounds where it leaves the base."""
    index: list[Any] = []
    for n, offset, size, stride in zip(base.shape, offsets, sizes, strides, strict=True):
        if size == 0:
            index.append(slice(0, 0))
            continue
        last = offset + stride * (size - 1)
        if size < 0 or not (0 <= offset < n and 0 <= last < n):
            raise OutOfBounds(f"slice out of bounds: offset {offset}, size {size}, stride {stride} in {n}")
        stop = last + (1 if stride >= 0 else -1)
        index.append(slice(offset, None if stop < 0 else stop, stride if stride else 1))
    view = base[(*index, ...)]  # with an ellipsis it stays an array at rank 0
    repeated = [s if stride == 0 else n for n, s, stride in zip(view.shape, sizes, strides, strict=True)]
    if list(view.shape) != repeated:
        view = np.lib.stride_tricks.as_strided(
            view, repeated, [0 if st == 0 else s for st, s in zip(strides, view.strides, strict=True)]
        )
    kept = [d for d in dims if d is not None]
    view = view[(*(slice(None) if d in kept else 0 for d in range(base.ndim)), ...)]
    ordered = sorted(kept)
    view = view.transpose([ordered.index(d) for d in kept]) if kept else view
    return view[tuple(None if d is None else slice(None) for d in dims)] if dims else view
