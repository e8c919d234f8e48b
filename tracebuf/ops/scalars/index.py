"""The index dialect: arith's ops of the type index, under names of their own. MLIR counterpart: the index dialect, with
indices of 64 bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracebuf.ir.attributes import inherent
from tracebuf.ir.core import Form, Op
from tracebuf.ir.emitter import Emitter
from tracebuf.ops.scalars import arith, casts, division, integers

SAME: dict[str, type[arith.BinaryOp]] = {
    "add": arith.AddI, "sub": arith.SubI, "mul": arith.MulI, "divs": division.DivSI, "divu": division.DivUI,
    "ceildivs": division.CeilDivSI, "ceildivu": division.CeilDivUI, "floordivs": division.FloorDivIndex,
    "rems": division.RemSI, "remu": division.RemUI, "maxs": arith.MaxSI, "maxu": arith.MaxUI, "mins": arith.MinSI,
    "minu": arith.MinUI, "and": arith.AndI, "or": arith.OrI, "xor": arith.XorI, "shl": integers.ShLI,
    "shrs": integers.ShRSI, "shru": division.ShRUI,
}  # fmt: skip
for _name, _base in SAME.items():
    type(f"Index_{_name}", (_base,), {"__slots__": (), "__module__": __name__, "name": f"index.{_name}"})


class Constant(arith.Constant):
    """`index.constant`. operands: none; results: 1 index; attrs: value."""

    __slots__ = ()
    name = "index.constant"


class BoolConstant(arith.Constant):
    """`index.bool.constant`. operands: none; results: 1 i1; attrs: value."""

    __slots__ = ()
    name = "index.bool.constant"


class CastS(arith.IndexCast):
    """`index.casts`: with sign extension. operands: index or integer; results: 1 integer or index."""

    __slots__ = ()
    name = "index.casts"


class CastU(casts.IndexCastUI):
    """`index.castu`: with zero extension. operands: index or integer; results: 1 integer or index."""

    __slots__ = ()
    name = "index.castu"


class Cmp(arith.CmpI):
    """`index.cmp`. operands: a, b (index); results: 1 i1; attrs: predicate, as `arith.cmpi`."""

    __slots__ = ()
    name = "index.cmp"

    @classmethod
    def from_form(cls, form: Form) -> Op:
        predicate = form.take("pred")
        return cls.rebuilt(form.operands, form.result_types, form.loc, {"predicate": predicate, **form.attrs})

    def to_form(self) -> Form:
        predicate = self.attrs["predicate"]
        return self.form_with({"pred": inherent(f"#index<cmp_predicate {predicate}>", predicate)})


class SizeOf(arith.ScalarOp):
    """`index.sizeof`: the bits of an index. operands: none; results: 1 index."""

    __slots__ = ()
    name = "index.sizeof"
    takes = ""

    def compute(self, args: Sequence[Any]) -> Any:
        return 64

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        return "64"
