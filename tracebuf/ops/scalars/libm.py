"""`tracebuf.libm`: what Python's `math` computes by the C library, and what only Python itself can compute.

A function in `HOSTED` (running/python_functions.py) is called back, with the GIL: Python's own algorithm.
Every other name is the C library's (with an `f` behind it for float32), which Python and NumPy's scalar power call. No
errors are raised here: the result is NaN or infinite where Python raises, and a `tracebuf.check` follows.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from tracebuf.errors import InternalError
from tracebuf.ir.core import Value
from tracebuf.ir.emitter import Emitter, llvm_type
from tracebuf.ir.types import F32, F64, I64, ScalarType
from tracebuf.location import UNKNOWN, Location
from tracebuf.ops.scalars.arith import ScalarOp, convert
from tracebuf.running.python_functions import HOSTED

_SYMBOLS = {"c_hypot": "hypot"}
"""Of the C library's functions that have another name here: what is hosted is not theirs."""
_C_TYPES = {F64: ctypes.c_double, F32: ctypes.c_float, I64: ctypes.c_int64}
_ELEMENTS = {"d": F64, "f": F32, "l": I64}


class Libm(ScalarOp):
    """`tracebuf.libm`: a function by name; the result is bit for bit that of Python's `math`.

    operands: scalars of type f64, f32 or i64; results: 1 scalar of type f64, f32 or i64; attrs: function (its name).
    """

    __slots__ = ()
    name = "tracebuf.libm"
    takes, gives = "scalar*", "scalar"

    def verify(self) -> None:
        if not isinstance(self.attrs.get("function"), str):
            raise InternalError(f"{self.name}: the attribute `function` is missing")

    @classmethod
    def of(cls, function: str, args: Sequence[Value], element: ScalarType, loc: Location = UNKNOWN) -> Libm:
        return cls(args, [element], loc, {"function": function})

    @property
    def signature(self) -> str:
        """Operand and result types by character: "dd->d"."""
        chars = {element: char for char, element in _ELEMENTS.items()}
        return "".join(chars[v.type] for v in self.operands) + "->" + chars[self.element]  # type: ignore[index]

    def compute(self, args: Sequence[Any]) -> Any:
        function = python_function(self.attrs["function"], self.signature)
        if any(isinstance(a, np.ndarray) for a in args):
            function = np.vectorize(function, otypes=[self.element.dtype])
        return convert(function(*args), self.element)

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        typed = [(llvm_type(v.type), a) for v, a in zip(self.operands, args)]  # type: ignore[arg-type]
        return e.libm(self.attrs["function"], self.signature, typed, llvm_type(self.element))


def symbol_of(function: str, signature: str) -> str:
    """The C library's name of a function."""
    return _SYMBOLS.get(function, function) + ("f" if signature.endswith("f") else "")


def python_function(function: str, signature: str) -> Callable[..., Any]:
    """What the op computes, as a Python function."""
    if function in HOSTED:
        return _without_errors(HOSTED[function])
    types = c_types(signature)
    found: Callable[..., Any] = ctypes.CFUNCTYPE(types[-1], *types[:-1])((symbol_of(function, signature), _process()))
    return found


def c_types(signature: str) -> list[Any]:
    return [_C_TYPES[_ELEMENTS[c]] for c in signature.replace("->", "")]


@cache
def _process() -> ctypes.CDLL:
    return ctypes.CDLL(None)


def _without_errors(function: Callable[..., Any]) -> Callable[..., Any]:
    """NaN in place of ValueError, and infinity in place of OverflowError, as in native code."""

    def run(*args: Any) -> Any:
        try:
            return function(*(a.item() if isinstance(a, np.generic) else a for a in args))
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return run
