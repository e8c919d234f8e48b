"""Linalg's named ops: products, convolutions, pooling, elementwise ones, map, reduce, transpose, broadcast, softmax.

An op's region says what it computes, as in linalg.generic; its name says over which loops. What it reads and writes
follows from the region alone, so most names need nothing but a line in a table here. `generalized` gives the
linalg.generic that computes the same. MLIR counterpart: LinalgStructuredOps.td, LinalgGeneralizeNamedOps.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.ir.attributes import Attr
from tracebuf.ir.clone import clone_region
from tracebuf.ir.core import Block, Facts, Form, FormError, Interpreter, Op, Use
from tracebuf.ir.types import ShapedType
from tracebuf.ops.arrays.linalg import DestinationOp, Generic, PlainOp, tie_outs
from tracebuf.ops.control.func import check_blocks
from tracebuf.ops.memory.indexing import AffineMap, identity_map

_MAPS = re.compile(r"affine_map<[^>]*->[^>]*>")
Maps = tuple[tuple[AffineMap, ...], tuple[str, ...]]
"""The map of each operand, and the kind of each loop."""


class NamedOp(DestinationOp):
    """An op of linalg with a region of its own.

    operands: n_ins inputs (tensors, memrefs or scalars), the outs; results: on tensors 1 for each out, aliases it;
    attrs: n_ins, and MLIR's own; regions: 1, the scalar body with an argument for each operand (linalg.yield).
    """

    __slots__ = ()
    region_ends = ("linalg.yield",)
    segmented: ClassVar[bool] = True
    """Whether MLIR counts inputs and outputs in `operandSegmentSizes`."""

    @classmethod
    def from_form(cls, form: Form) -> Op:
        check_blocks(form, "linalg.yield")
        if len(form.regions[0].block.args) != len(form.operands):
            raise FormError(f"{cls.name}: the region has an argument for each operand")
        return super().from_form(form)

    @classmethod
    def count_inputs(cls, form: Form) -> int:
        return super().count_inputs(form) if cls.segmented else len(form.operands) - 1

    def to_form(self) -> Form:
        return super().to_form() if self.segmented else self.form_with({})

    @property
    def body(self) -> Block:
        return self.regions[0].block

    def reads_in(self, use: Use) -> bool:
        return bool(self.body.args[use.index].uses)

    reads_out = reads_in

    def indexing(self) -> Maps | None:
        """The map of each operand and the kind of each loop; None where they are not known."""
        return None

    def elementwise_access(self, a: Use, b: Use) -> bool:
        found = self.indexing()
        if found is None or "reduction" in found[1]:
            return False
        return found[0][a.index].is_identity and found[0][b.index].is_identity

    def generalized(self) -> Generic:
        """The equivalent linalg.generic; UnsupportedError where there is none."""
        found = self.indexing()
        if found is None:
            raise UnsupportedError(f"{self.name} can be analysed and rewritten, not run", location=self.loc)
        attrs = {"n_ins": self.n_ins, "maps": found[0], "iterators": found[1]}
        regions = [clone_region(r, {}) for r in self.regions]
        return Generic.rebuilt(self.operands, [r.type for r in self.results], self.loc, attrs, regions)

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        general = self.generalized()
        try:
            return general.evaluate(interpreter, args)
        finally:
            general.forget()


class Elementwise(NamedOp):
    """linalg.add, exp, copy ...: element by element.

    operands: inputs (tensors, memrefs or scalars), out; results: on tensors 1, aliases out; attrs: n_ins; regions: 1,
    the scalar body.
    """

    __slots__ = ()

    def indexing(self) -> Maps | None:
        n = rank_of(self.uses[-1])
        maps = (identity_map(n) if isinstance(u.value.type, ShapedType) else AffineMap(n, ()) for u in self.uses)
        return tuple(maps), ("parallel",) * n


class Copy(Elementwise):
    """`linalg.copy`: a copy, element by element. operands: source, out (tensors or memrefs); results: on tensors 1,
    aliases out; attrs: n_ins; regions: 1, which yields its first argument."""

    __slots__ = ()
    name = "linalg.copy"

    def inserts(self) -> tuple[Use, Use]:
        return self.uses[0], self.uses[1]


class Map(Elementwise):
    """`linalg.map`: its region, element by element. A destination that the region does not use is not read; in MLIR 22
    none is.

    operands: inputs, out (tensors or memrefs); results: on tensors 1, aliases out; attrs: n_ins; regions: 1, the scalar
    body.
    """

    __slots__ = ()
    name = "linalg.map"
    segmented = False

    def bufferizes_to_memory_read(self, use: Use, facts: Facts) -> bool:
        return super().bufferizes_to_memory_read(use, facts) and not (facts.as_mlir and use.index >= self.n_ins)


class Transpose(NamedOp):
    """`linalg.transpose`: axis d of the result is axis permutation[d] of the input.

    operands: source, out (tensors or memrefs); results: on tensors 1, aliases out; attrs: n_ins, permutation; regions:
    1.
    """

    __slots__ = ()
    name = "linalg.transpose"
    segmented = False

    def indexing(self) -> Maps | None:
        permutation = numbers(self.attrs["permutation"])
        n = len(permutation)
        source = tuple(permutation.index(axis) for axis in range(n))
        return (AffineMap(n, source), identity_map(n)), ("parallel",) * n


class Broadcast(NamedOp):
    """`linalg.broadcast`: the input repeated along new axes of the result.

    operands: source, out (tensors or memrefs); results: on tensors 1, aliases out; attrs: n_ins, dimensions (the new
    axes); regions: 1.
    """

    __slots__ = ()
    name = "linalg.broadcast"
    segmented = False

    def indexing(self) -> Maps | None:
        n, added = rank_of(self.uses[1]), numbers(self.attrs["dimensions"])
        source = tuple(d for d in range(n) if d not in added)
        return (AffineMap(n, source), identity_map(n)), ("parallel",) * n


class Reduce(NamedOp):
    """`linalg.reduce`: some axes of each input folded into its result.

    operands: n inputs, n outs (tensors or memrefs); results: on tensors 1 for each out, aliases it; attrs: n_ins,
    dimensions (the axes folded); regions: 1, the combining body.
    """

    __slots__ = ()
    name = "linalg.reduce"
    segmented = False

    @classmethod
    def count_inputs(cls, form: Form) -> int:
        if len(form.operands) % 2:
            raise FormError(f"{cls.name}: as many inputs as results, not {len(form.operands)} operands")
        return len(form.operands) // 2

    def indexing(self) -> Maps | None:
        n, folded = rank_of(self.uses[0]), numbers(self.attrs["dimensions"])
        kept = AffineMap(n, tuple(d for d in range(n) if d not in folded))
        maps = (identity_map(n),) * self.n_ins + (kept,) * (len(self.uses) - self.n_ins)
        return maps, tuple("reduction" if d in folded else "parallel" for d in range(n))


class Window(NamedOp):
    """Convolutions and pooling, whose maps MLIR prints beside them (`linalg.memoized_indexing_maps`).

    operands: input, kernel (or the window's shape), for quantized ones zero points, out; results: on tensors 1, aliases
    out; attrs: n_ins, MLIR's strides and dilations; regions: 1, the scalar body.
    """

    __slots__ = ()

    def indexing(self) -> Maps | None:
        attr = self.attrs.get("linalg.memoized_indexing_maps")
        if not isinstance(attr, Attr):
            return None
        maps = tuple(AffineMap.parse(t) for t in _MAPS.findall(attr.text))
        kept = {r for m in maps[self.n_ins :] for r in m.results}
        return maps, tuple("parallel" if d in kept else "reduction" for d in range(maps[0].n_dims))


class Mapped(NamedOp):
    """`linalg.contract`, `linalg.elementwise`, and products with `indexing_maps`, which map the operands' axes to
    loops.

    operands: inputs, out (tensors or memrefs); results: on tensors 1, aliases out; attrs: n_ins, indexing_maps;
    regions: 1.
    """

    __slots__ = ()

    def indexing(self) -> Maps | None:
        attr = self.attrs.get("indexing_maps")
        maps = parse_maps(attr.text) if isinstance(attr, Attr) else None
        if maps is None:
            return None
        kept = {r for m in maps[self.n_ins :] for r in m.results}
        return maps, tuple("parallel" if d in kept else "reduction" for d in range(maps[0].n_dims))


class Product(Mapped):
    """The products of matrices that MLIR names by their axes, with `indexing_maps` where these differ.

    operands: a, b, for quantized ones zero points, out (tensors or memrefs); results: on tensors 1, aliases out; attrs:
    n_ins, perhaps indexing_maps; regions: 1, the scalar body.
    """

    __slots__ = ()
    axes: ClassVar[str] = ""
    """The operands' axes by letter: "bmk,bkn->bmn"."""

    def indexing(self) -> Maps | None:
        if "indexing_maps" in self.attrs:
            return super().indexing()
        ins, out = self.axes.split("->")
        operands = [*ins.split(","), out]
        loops = "".join(dict.fromkeys([*out, *ins.replace(",", "")]))
        maps = [AffineMap(len(loops), tuple(loops.index(c) for c in axes)) for axes in operands]
        scalars = [AffineMap(len(loops), ())] * (len(self.uses) - len(maps))
        return (*maps[:-1], *scalars, maps[-1]), tuple("parallel" if c in out else "reduction" for c in loops)


class Softmax(DestinationOp):
    """`linalg.softmax` along one axis. The destination is not read.

    operands: source, out (tensors or memrefs); results: on tensors 1, aliases out; attrs: n_ins, dimension (the axis).
    """

    __slots__ = ()
    name = "linalg.softmax"

    @classmethod
    def from_form(cls, form: Form) -> Op:
        form.expect(operands=2)
        source, out = (v.type for v in form.operands)
        axis = getattr(form.attrs.get("dimension"), "value", None)
        if not isinstance(source, ShapedType) or not isinstance(out, ShapedType) or source.rank != out.rank:
            raise FormError(f"{form.name}: {source} and {out} where two arrays of equal rank should be")
        if not isinstance(axis, int) or not 0 <= axis < source.rank:
            raise FormError(f"{form.name}: `dimension` is no axis of {source}")
        tie_outs(form, 1)
        return cls.rebuilt(form.operands, form.result_types, form.loc, {"n_ins": 1, **form.attrs})

    def reads_out(self, use: Use) -> bool:
        return False

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        axis = self.attrs["dimension"].value
        powers = np.exp(args[0] - args[0].max(axis=axis, keepdims=True))
        return [np.asarray(powers / powers.sum(axis=axis, keepdims=True), dtype=args[1].dtype)]


def rank_of(use: Use) -> int:
    """The rank of a shaped operand."""
    assert isinstance(use.value.type, ShapedType)
    return use.value.type.rank


def numbers(attr: Any) -> list[int]:
    """The integers of an attribute `array<i64: 1, 0>`."""
    return [int(n) for n in re.findall(r"-?\d+", attr.text.partition(":")[2])]


def parse_maps(text: str) -> tuple[AffineMap, ...] | None:
    """The maps of `[affine_map<...>, ...]`; None where one has more than loop dimensions and zeros as results."""
    found = tuple(AffineMap.parse(t) for t in _MAPS.findall(text))
    return found if found and all(m.runs for m in found) else None


def _made(name: str, base: type[NamedOp], **more: Any) -> None:
    """Defines and registers the class of one name."""
    members = {"__slots__": (), "__module__": __name__, "name": f"linalg.{name}", **more}
    type(f"{base.__name__}_{name}", (base,), members)


def _general(name: str, base: type[NamedOp], **more: Any) -> None:
    """Defines the class for ops of this name that the registered class does not cover."""
    made: type[NamedOp] = type(f"General_{name}", (base,), {"__slots__": (), "__module__": __name__, **more})
    made.name = f"linalg.{name}"
    PlainOp.general[made.name] = made


ELEMENTWISE = (
    "abs add ceil div div_unsigned erf exp floor log max min mul negf powf reciprocal round rsqrt select sqrt "
    "square sub tanh"
).split()
PRODUCTS = {
    "batch_matmul": "bmk,bkn->bmn", "batch_matvec": "bmk,bk->bm", "batch_vecmat": "bk,bkn->bn",
    "batch_reduce_matmul": "bmk,bkn->mn", "mmt4d": "mkab,nkcb->mnac", "batch_mmt4d": "gmkab,gnkcb->gmnac",
    "quantized_matmul": "mk,kn->mn", "quantized_batch_matmul": "bmk,bkn->bmn",
}  # fmt: skip
WINDOWS = (
    "conv_1d conv_1d_ncw_fcw conv_1d_nwc_wcf conv_2d conv_2d_nchw_fchw conv_2d_nchw_fchw_q conv_2d_ngchw_fgchw "
    "conv_2d_ngchw_gfchw conv_2d_ngchw_gfchw_q conv_2d_nhwc_fhwc conv_2d_nhwc_fhwc_q conv_2d_nhwc_hwcf "
    "conv_2d_nhwc_hwcf_q conv_2d_nhwgc_gfhwc conv_2d_nhwgc_gfhwc_q conv_3d conv_3d_ncdhw_fcdhw conv_3d_ndhwc_dhwcf "
    "conv_3d_ndhwc_dhwcf_q depthwise_conv_1d_ncw_cw depthwise_conv_1d_nwc_wc depthwise_conv_1d_nwc_wcm "
    "depthwise_conv_2d_nchw_chw depthwise_conv_2d_nhwc_hwc depthwise_conv_2d_nhwc_hwc_q depthwise_conv_2d_nhwc_hwcm "
    "depthwise_conv_2d_nhwc_hwcm_q depthwise_conv_3d_ncdhw_cdhw depthwise_conv_3d_ndhwc_dhwc "
    "depthwise_conv_3d_ndhwc_dhwcm pooling_nchw_max pooling_nchw_sum pooling_ncw_max pooling_ncw_sum pooling_ndhwc_max "
    "pooling_ndhwc_min pooling_ndhwc_sum pooling_nhwc_max pooling_nhwc_max_unsigned pooling_nhwc_min "
    "pooling_nhwc_min_unsigned pooling_nhwc_sum pooling_nwc_max pooling_nwc_max_unsigned pooling_nwc_min "
    "pooling_nwc_min_unsigned pooling_nwc_sum fill_rng_2d"
).split()

PLAIN = {"matmul": "mk,kn->mn", "matvec": "mk,k->m", "vecmat": "k,kn->n", "dot": "k,k->"}

for _name, _axes in PLAIN.items():
    _general(_name, Product, axes=_axes)
for _name in ELEMENTWISE:
    _made(_name, Elementwise)
for _name, _axes in PRODUCTS.items():
    _made(_name, Product, axes=_axes)
for _name in ("contract", "elementwise"):
    _made(_name, Mapped)
for _name in WINDOWS:
    _made(_name, Window)
