"""`math` ops by NumPy's ufuncs and the C library: elementary functions in MLIR text. MLIR counterpart: the math
dialect, whose accuracy is whatever it is lowered to; here it is that of NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from tracebuf.ir.core import Form, Op
from tracebuf.ir.emitter import Emitter
from tracebuf.ir.types import ScalarType
from tracebuf.ops.scalars.arith import ScalarOp, Ufunc, UnaryOp, convert
from tracebuf.ops.scalars.libm import Libm

UFUNCS = {
    "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p",
    "sin": "sin", "cos": "cos", "tan": "tan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asin": "arcsin",
    "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh", "atan2": "arctan2",
    "powf": "power", "cbrt": "cbrt",
}  # fmt: skip
LIBM = {"erf": "erf", "erfc": "erfc", "fma": "fma"}


class ByUfunc(Ufunc):
    """A ufunc on floats under MLIR's name (`math.exp`, `math.powf` ...).

    operands: one or two of one float type; results: 1 of that type.
    """

    __slots__ = ()
    ufunc: ClassVar[str]

    @classmethod
    def from_form(cls, form: Form) -> Op:
        made = super().from_form(form)
        made.attrs |= {"ufunc": cls.ufunc, "types": ""}
        if isinstance(element := made.result.type, ScalarType) and element.is_float:
            char = element.dtype.char
            made.attrs["types"] = f"{char * len(made.uses)}->{char}"
        return made

    def to_form(self) -> Form:
        return self.form_with({})


class ByLibm(Libm):
    """A function of the C library under MLIR's name (`math.erf`, `math.erfc`, `math.fma`).

    operands: one (fma: three) of type f32 or f64; results: 1 of that type.
    """

    __slots__ = ()
    function: ClassVar[str]

    @classmethod
    def from_form(cls, form: Form) -> Op:
        made = super().from_form(form)
        made.attrs["function"] = cls.function
        return made

    def to_form(self) -> Form:
        return self.form_with({})


for _name, _ufunc in UFUNCS.items():
    members = {"__slots__": (), "__module__": __name__, "name": f"math.{_name}", "ufunc": _ufunc}
    type(f"Math_{_name}", (ByUfunc,), members)
for _name, _function in LIBM.items():
    members = {"__slots__": (), "__module__": __name__, "name": f"math.{_name}", "function": _function}
    type(f"Math_{_name}", (ByLibm,), members)


class Rsqrt(UnaryOp):
    """`math.rsqrt`: 1 / sqrt(x), each operation rounded. operands: float; results: 1 of that type."""

    __slots__ = ()
    name = "math.rsqrt"

    def compute(self, args: Sequence[Any]) -> Any:
        return convert(np.true_divide(self.element.dtype.type(1), np.sqrt(args[0])), self.element)

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        root = e.intrinsic(f"llvm.sqrt.{self.element}", self.llvm, [(self.llvm, args[0])])
        return e.inst(f"fdiv {self.llvm} {e.literal(self.element, 1.0)}, {root}")


class Round(UnaryOp):
    """`math.round`: halves away from zero, as C's round. operands: float; results: 1 of that type."""

    __slots__ = ()
    name, intrinsic = "math.round", "llvm.round"

    def compute(self, args: Sequence[Any]) -> Any:
        x = np.asarray(args[0])
        whole = np.trunc(x)
        found = np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(x.dtype.type(1), x), whole)
        return convert(found if isinstance(args[0], np.ndarray) else found[()], self.element)


class _Test(ScalarOp):
    """A property of a float; `pattern` has the classes of LLVM's is.fpclass for which it holds.

    operands: float; results: 1 i1.
    """

    __slots__ = ()
    takes = "any"
    pattern: ClassVar[int]

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        operand = self.operand(0).type
        typed = [(self.llvm, args[0]), ("i32", str(self.pattern))]
        return e.intrinsic(f"llvm.is.fpclass.{operand}", "i1", typed)


class IsNan(_Test):
    """`math.isnan`: np.isnan. operands: float; results: 1 i1."""

    __slots__ = ()
    name, reference, pattern = "math.isnan", np.isnan, 0x003


class IsInf(_Test):
    """`math.isinf`: np.isinf. operands: float; results: 1 i1."""

    __slots__ = ()
    name, reference, pattern = "math.isinf", np.isinf, 0x204


class IsFinite(_Test):
    """`math.isfinite`: np.isfinite. operands: float; results: 1 i1."""

    __slots__ = ()
    name, reference, pattern = "math.isfinite", np.isfinite, 0x1F8
