"""Integer division and other integer ops of MLIR text: `arith` and `math` ops that NumPy programs do not make.

What MLIR leaves open is fixed here, alike in the references and in native code, which must never trap: division by zero
gives zero (the remainder too), the least integer over -1 wraps, and a shift by as many bits as there are gives zero or
the sign. An i64 of MLIR has no sign: unsigned ops take the same bits as unsigned. MLIR counterpart: the arith dialect.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from tracebuf.ir.emitter import Emitter
from tracebuf.ops.scalars.arith import BinaryOp, as_unsigned, convert


class Division(BinaryOp):
    """Division with guards against traps; `instruction` is LLVM's: sdiv, udiv, srem or urem.

    operands: a, b of one integer type or index; results: 1 of that type.
    """

    __slots__ = ()
    rounding: ClassVar[int] = 0
    """0 towards zero, 1 up."""

    @property
    def signed(self) -> bool:
        return self.instruction[0] == "s"

    def compute(self, args: Sequence[Any]) -> Any:
        a, b = (np.asarray(x) if self.signed else np.asarray(as_unsigned(x)) for x in args)
        zero = b == 0
        whole = self._whole(a, np.where(zero, b.dtype.type(1), b))
        found = np.where(zero, b.dtype.type(0), whole)
        return convert(found if any(isinstance(x, np.ndarray) for x in args) else found[()], self.element)

    def _whole(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        rest = np.fmod(a, b)
        if self.instruction.endswith("rem"):
            return np.asarray(rest)
        down = np.floor_divide(a, b)
        inexact = rest != 0
        if self.rounding:
            return np.asarray(down + inexact.astype(down.dtype))
        return np.asarray(down + (inexact & ((a < 0) != (b < 0))).astype(down.dtype))

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        t, (a, b) = self.llvm, args
        zero = e.inst(f"icmp eq {t} {b}, 0")
        bad = zero
        if self.signed:
            least = e.inst(f"icmp eq {t} {a}, {-(2 ** (self.element.bits - 1))}")
            wraps = e.inst(f"and i1 {least}, {e.inst(f'icmp eq {t} {b}, -1')}")
            bad = e.inst(f"or i1 {zero}, {wraps}")
        safe = e.inst(f"select i1 {bad}, {t} 1, {t} {b}")
        found = e.inst(f"{self.instruction} {t} {a}, {safe}")
        if self.rounding:
            found = self._up(e, a, safe, found)
        return e.inst(f"select i1 {zero}, {t} 0, {t} {found}")

    def _up(self, e: Emitter, a: str, b: str, quotient: str) -> str:
        t = self.llvm
        remainder = e.inst(f"{'srem' if self.signed else 'urem'} {t} {a}, {b}")
        rounds_up = e.inst(f"icmp ne {t} {remainder}, 0")
        if self.signed:
            same_sign = e.inst(f"icmp sge {t} {e.inst(f'xor {t} {remainder}, {b}')}, 0")
            rounds_up = e.inst(f"and i1 {rounds_up}, {same_sign}")
        return e.inst(f"add {t} {quotient}, {_as_number(e, rounds_up, t)}")


def _as_number(e: Emitter, flag: str, t: str) -> str:
    return flag if t == "i1" else e.inst(f"zext i1 {flag} to {t}")


class DivSI(Division):
    """C's `/` on signed integers. operands: a, b of one integer type or index; results: 1 of that type."""

    __slots__ = ()
    name, instruction = "arith.divsi", "sdiv"


class DivUI(Division):
    """C's `/` on unsigned integers. operands: a, b of one integer type or index; results: 1 of that type."""

    __slots__ = ()
    name, instruction = "arith.divui", "udiv"


class RemSI(Division):
    """C's `%` on signed integers: np.fmod. operands: a, b of one integer type or index; results: 1 of that type."""

    __slots__ = ()
    name, instruction = "arith.remsi", "srem"


class RemUI(Division):
    """C's `%` on unsigned integers. operands: a, b of one integer type or index; results: 1 of that type."""

    __slots__ = ()
    name, instruction = "arith.remui", "urem"


class CeilDivSI(Division):
    """Signed division rounded up. operands: a, b of one integer type or index; results: 1 of that type."""

    __slots__ = ()
    name, instruction, rounding = "arith.ceildivsi", "sdiv", 1


class CeilDivUI(Division):
    """Unsigned division rounded up. operands: a, b of one integer type or index; results: 1 of that type."""

    __slots__ = ()
    name, instruction, rounding = "arith.ceildivui", "udiv", 1


class FloorDivIndex(BinaryOp):
    """Python's `//`, for tracers, which check the divisor. operands: a, b of one integer type or index; results: 1 of
    that type."""

    __slots__ = ()
    name, reference = "arith.floordivsi", np.floor_divide

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        t, (a, b) = self.llvm, args
        if b.isdecimal() and (n := int(b)).bit_count() == 1:
            return e.inst(f"ashr {t} {a}, {n.bit_length() - 1}")
        safe = b
        if not b.isdecimal() or b == "0":
            zero = e.inst(f"icmp eq {t} {b}, 0")
            least = e.inst(f"icmp eq {t} {a}, {-(2 ** (self.element.bits - 1))}")
            wraps = e.inst(f"and i1 {least}, {e.inst(f'icmp eq {t} {b}, -1')}")
            safe = e.inst(f"select i1 {e.inst(f'or i1 {zero}, {wraps}')}, {t} 1, {t} {b}")
        q, r = e.inst(f"sdiv {t} {a}, {safe}"), e.inst(f"srem {t} {a}, {safe}")
        turned = e.inst(f"icmp slt {t} {e.inst(f'xor {t} {r}, {safe}')}, 0")
        down = e.inst(f"and i1 {turned}, {e.inst(f'icmp ne {t} {r}, 0')}")
        found = e.inst(f"sub {t} {q}, {_as_number(e, down, t)}")
        return found if safe == b else e.inst(f"select i1 {zero}, {t} 0, {t} {found}")


class ShRUI(BinaryOp):
    """C's `>>` on unsigned integers. operands: a, count of one integer type or index; results: 1 of that type."""

    __slots__ = ()
    name = "arith.shrui"

    def compute(self, args: Sequence[Any]) -> Any:
        return convert(np.right_shift(as_unsigned(args[0]), as_unsigned(args[1])), self.element)

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        t, (a, b) = self.llvm, args
        far = e.inst(f"icmp uge {t} {b}, {self.element.bits}")
        safe = e.inst(f"select i1 {far}, {t} 0, {t} {b}")
        return e.inst(f"select i1 {far}, {t} 0, {t} {e.inst(f'lshr {t} {a}, {safe}')}")


class RemF(BinaryOp):
    """`arith.remf`: np.fmod. operands: a, b of one float type; results: 1 of that type."""

    __slots__ = ()
    name, instruction, reference = "arith.remf", "frem", np.fmod
