"""How an op on scalars emits its native form: the `Emitter` protocol, and values of LLVM in registers.

So an op's class can hold its native form without importing the back end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from tracebuf.ir.types import ScalarType


class Emitter(Protocol):
    """Emits scalar LLVM instructions: operands and results are LLVM value names or literals."""

    def inst(self, text: str) -> str:
        """`%new = text`; the new name."""
        ...

    def intrinsic(self, name: str, result: str, args: Sequence[tuple[str, str]]) -> str:
        """A call of an LLVM intrinsic, declared on first use: args are (llvm type, value)."""
        ...

    def literal(self, type: ScalarType, value: Any) -> str:
        """A constant of an element type, exactly (floats as hexadecimal bits)."""
        ...

    def ufunc(self, ufunc: np.ufunc, types: str, args: Sequence[str], result: str) -> str:
        """One element through NumPy's own inner loop (loop nests call it on blocks of elements themselves)."""
        ...

    def libm(self, function: str, signature: str, args: Sequence[tuple[str, str]], result: str) -> str:
        """A call of what `tracebuf.libm` names: args are (llvm type, value), `result` an llvm type."""
        ...


def llvm_type(type: ScalarType) -> str:
    """The LLVM type of a scalar in a register (bool is i1 there, a byte in memory); of a complex one in memory."""
    return _LLVM_TYPES.get(type.name) or str(type)


_LLVM_TYPES = {
    "index": "i64", "f16": "half", "f32": "float", "f64": "double",
    "complex<f32>": "{ float, float }", "complex<f64>": "{ double, double }",
}  # fmt: skip


def components(type: ScalarType, value: str) -> list[tuple[ScalarType, str]]:
    """A value in registers as LLVM values with their types: a complex number is two values."""
    if not type.is_complex:
        return [(type, value)]
    re, im = value.split("|")
    return [(type.component, re), (type.component, im)]


def value_types(type: ScalarType) -> list[ScalarType]:
    """The types of a value's components."""
    return [type.component, type.component] if type.is_complex else [type]


def join_components(parts: Sequence[str]) -> str:
    """The value whose `components` these are."""
    return "|".join(parts)
