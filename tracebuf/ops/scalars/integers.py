"""Integer ops that Python's exact ints need: whether 64 bits hold a result, shifts, and the number of bits.

MLIR counterparts: `arith.shli`, `arith.shrsi`, `math.ctlz`, and for the overflow `llvm.intr.sadd.with.overflow`,
`.ssub.` and `.smul.`.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from tracebuf.errors import InternalError
from tracebuf.ir.core import Value
from tracebuf.ir.emitter import Emitter
from tracebuf.ir.types import I1, I64
from tracebuf.location import UNKNOWN, Location
from tracebuf.ops.scalars.arith import BinaryOp, ScalarOp, convert

_EXACT = {"add": operator.add, "sub": operator.sub, "mul": operator.mul}


class Overflows(ScalarOp):
    """`tracebuf.overflows`: whether a 64-bit sum, difference or product wraps. operands: a, b (i64 or index); results:
    1 i1; attrs: operation ("add", "sub" or "mul")."""

    __slots__ = ()
    name = "tracebuf.overflows"
    takes, gives = "scalar, scalar", "i1"

    @classmethod
    def of(cls, operation: str, a: Value, b: Value, loc: Location = UNKNOWN) -> Overflows:
        return cls([a, b], [I1], loc, {"operation": operation})

    def verify(self) -> None:
        if self.attrs.get("operation") not in _EXACT:
            raise InternalError(f"{self.name}: `operation` is one of {', '.join(_EXACT)}")

    def compute(self, args: Sequence[Any]) -> Any:
        a, b = (np.asarray(x).astype(object) for x in args)
        exact = _EXACT[self.attrs["operation"]](a, b)
        wraps = (exact < -(2**63)) | (exact >= 2**63)
        return convert(wraps if any(isinstance(x, np.ndarray) for x in args) else bool(wraps), I1)

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        name = f"llvm.s{self.attrs['operation']}.with.overflow.i64"
        pair = e.intrinsic(name, "{ i64, i1 }", [("i64", a) for a in args])
        return e.inst(f"extractvalue {{ i64, i1 }} {pair}, 1")


class BitLength(ScalarOp):
    """`tracebuf.bit_length`: Python's `n.bit_length()`. operands: n (i64); results: 1 i64."""

    __slots__ = ()
    name = "tracebuf.bit_length"
    takes, gives = "scalar", "scalar"

    @classmethod
    def of(cls, n: Value, loc: Location = UNKNOWN) -> BitLength:
        return cls([n], [I64], loc)

    def compute(self, args: Sequence[Any]) -> Any:
        if isinstance(args[0], np.ndarray):
            return convert(np.array([int(n).bit_length() for n in args[0].flat]).reshape(args[0].shape), I64)
        return convert(int(args[0]).bit_length(), I64)

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        size = e.intrinsic("llvm.abs.i64", "i64", [("i64", args[0]), ("i1", "false")])
        unused = e.intrinsic("llvm.ctlz.i64", "i64", [("i64", size), ("i1", "false")])
        return e.inst(f"sub i64 64, {unused}")


class ShLI(BinaryOp):
    """A shift to the left by a count of 0 to 63. operands: a, count of one integer type or index; results: 1 of that
    type."""

    __slots__ = ()
    name, instruction, reference = "arith.shli", "shl", np.left_shift


class ShRSI(BinaryOp):
    """A shift to the right by a count of 0 to 63: Python's `>>`. operands: a, count of one integer type or index;
    results: 1 of that type."""

    __slots__ = ()
    name, instruction, reference = "arith.shrsi", "ashr", np.right_shift
