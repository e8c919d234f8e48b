"""Conversions of numbers: `arith` casts, with NumPy's values where C leaves them open (rule N4).

MLIR counterpart: the arith dialect's casts. Integers have no sign there; which op it is follows from the types here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracebuf.ir.emitter import Emitter, llvm_type
from tracebuf.ir.types import I64, ScalarType, Type
from tracebuf.ops.scalars.arith import CastOp, IndexCast, as_signed, as_unsigned, convert, lowest_bit


class ExtF(CastOp):
    """`arith.extf`. operands: float; results: 1 wider float."""

    __slots__ = ()
    name, instruction = "arith.extf", "fpext"


class TruncF(CastOp):
    """`arith.truncf`: rounded once. operands: float; results: 1 narrower float."""

    __slots__ = ()
    name, instruction = "arith.truncf", "fptrunc"

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        if (self.llvm, llvm_type(self.element)) == ("double", "half"):
            return e.inst(f"fptrunc float {_round_to_odd(e, args[0])} to half")
        return super().emit(e, args)


def _round_to_odd(e: Emitter, x: str) -> str:
    """A double as a float whose last bit says whether anything was lost, so that a second rounding is right (few
    processors have the instruction for the way from double to half)."""
    near = e.inst(f"fptrunc double {x} to float")
    back = e.inst(f"fpext float {near} to double")
    size, exact = (e.intrinsic("llvm.fabs.f64", "double", [("double", v)]) for v in (x, back))
    above = e.inst(f"fcmp olt double {size}, {exact}")
    inexact = e.inst(f"fcmp one double {x}, {back}")
    bits = e.inst(f"bitcast float {near} to i32")
    down = e.inst(f"sub i32 {bits}, {e.inst(f'zext i1 {above} to i32')}")
    odd = e.inst(f"or i32 {down}, {e.inst(f'zext i1 {inexact} to i32')}")
    return e.inst(f"bitcast i32 {odd} to float")


class SIToFP(CastOp):
    """`arith.sitofp`. operands: signed integer; results: 1 f32 or f64."""

    __slots__ = ()
    name, instruction = "arith.sitofp", "sitofp"

    def compute(self, args: Sequence[Any]) -> Any:
        return super().compute([as_signed(args[0])])


class UIToFP(CastOp):
    """`arith.uitofp`. operands: unsigned integer or i1; results: 1 f32 or f64."""

    __slots__ = ()
    name, instruction = "arith.uitofp", "uitofp"

    def compute(self, args: Sequence[Any]) -> Any:
        return super().compute([as_unsigned(args[0])])


class ExtUI(CastOp):
    """`arith.extui`. operands: unsigned integer or i1; results: 1 wider integer."""

    __slots__ = ()
    name, instruction = "arith.extui", "zext"

    def compute(self, args: Sequence[Any]) -> Any:
        return super().compute([as_unsigned(args[0])])


class ExtSI(CastOp):
    """`arith.extsi`. operands: signed integer; results: 1 wider integer."""

    __slots__ = ()
    name, instruction = "arith.extsi", "sext"

    def compute(self, args: Sequence[Any]) -> Any:
        return super().compute([as_signed(args[0])])


class TruncI(CastOp):
    """`arith.trunci`: wraps. operands: integer; results: 1 narrower integer."""

    __slots__ = ()
    name, instruction = "arith.trunci", "trunc"

    def compute(self, args: Sequence[Any]) -> Any:
        return super().compute([lowest_bit(args[0], self.element)])


class Bitcast(CastOp):
    """`arith.bitcast`: the bits as another type. operands: integer or float; results: 1 integer or float of that width
    (between integers of different signedness no code)."""

    __slots__ = ()
    name = "arith.bitcast"

    def compute(self, args: Sequence[Any]) -> Any:
        return np.asarray(args[0]).view(self.element.dtype) if isinstance(args[0], np.ndarray) else self._bits(args[0])

    def _bits(self, value: Any) -> Any:
        return np.asarray(value).view(self.element.dtype)[()]

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        target = llvm_type(self.element)
        return args[0] if self.llvm == target else e.inst(f"bitcast {self.llvm} {args[0]} to {target}")


class IndexCastUI(IndexCast):
    """Between index and integers, with zero extension. operands: index or integer; results: 1 integer or index."""

    __slots__ = ()
    name = "arith.index_castui"

    @staticmethod
    def _read(value: Any) -> Any:
        return as_unsigned(value)

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        return self.resized(e, args[0], "zext")


class FPToSI(CastOp):
    """`arith.fptosi`. operands: f32 or f64; results: 1 i32 or i64; NaN and values out of range give the smallest int,
    as NumPy on x86 does (rule N4)."""

    __slots__ = ()
    name = "arith.fptosi"

    def compute(self, args: Sequence[Any]) -> Any:
        x = np.asarray(args[0], dtype=np.float64)
        limit = 2.0 ** (self.element.bits - 1)
        ok = (x >= -limit) & (x < limit)
        cast = np.where(ok, np.where(ok, x, 0.0).astype(np.int64), -int(limit))
        return convert(cast if isinstance(args[0], np.ndarray) else cast[()], self.element)

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        return _to_signed(e, self.operand(0).type, args[0], self.element)


def _to_signed(e: Emitter, source: Type, x: str, element: ScalarType) -> str:
    """LLVM's fptosi where it is defined, else the smallest int."""
    assert isinstance(source, ScalarType)
    s, t = llvm_type(source), llvm_type(element)
    limit = 2.0 ** (element.bits - 1)
    low, high = e.literal(source, -limit), e.literal(source, limit)
    ok = e.inst(f"and i1 {e.inst(f'fcmp oge {s} {x}, {low}')}, {e.inst(f'fcmp olt {s} {x}, {high}')}")
    cast = e.inst(f"freeze {t} {e.inst(f'fptosi {s} {x} to {t}')}")
    return e.inst(f"select i1 {ok}, {t} {cast}, {t} {-int(limit)}")


class FPToUI(CastOp):
    """`arith.fptoui`. operands: f32 or f64; results: 1 ui64, as C on x86 has it (rule N4): below 2**63 converted as to
    a signed integer, above less 2**63 with the highest bit flipped."""

    __slots__ = ()
    name = "arith.fptoui"

    def compute(self, args: Sequence[Any]) -> Any:
        x = np.asarray(args[0], dtype=np.float64)
        big = x >= 2.0**63
        base = np.where(big, x - 2.0**63, x)
        ok = (base >= -(2.0**63)) & (base < 2.0**63)
        cast = np.where(ok, np.where(ok, base, 0.0).astype(np.int64), -(2**63))
        turned = np.where(big, cast ^ -(2**63), cast).astype(np.uint64)
        return convert(turned if isinstance(args[0], np.ndarray) else turned[()], self.element)

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        source, s, x = self.operand(0).type, self.llvm, args[0]
        assert isinstance(source, ScalarType)
        high = e.literal(source, 2.0**63)
        big = e.inst(f"fcmp oge {s} {x}, {high}")
        base = e.inst(f"select i1 {big}, {s} {e.inst(f'fsub {s} {x}, {high}')}, {s} {x}")
        turn = e.inst(f"shl i64 {e.inst(f'zext i1 {big} to i64')}, 63")
        found = e.inst(f"xor i64 {_to_signed(e, source, base, I64)}, {turn}")
        return found if self.element.bits == 64 else e.inst(f"trunc i64 {found} to {llvm_type(self.element)}")
