"""Complex numbers: MLIR's complex dialect, with NumPy's values to the bit.

A complex value is its two components in native code, each computed by itself (`ir.emitter.components`). What NumPy's
array loops do is done here: products are fused where they are (`FUSED`), quotients are Smith's. MLIR counterpart: the
complex dialect, whose accuracy is whatever it is lowered to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from tracebuf.ir.core import Form, FormError, Op, Value
from tracebuf.ir.emitter import Emitter, components, join_components, llvm_type
from tracebuf.ir.types import C64, C128, F32, I1, ScalarType
from tracebuf.location import UNKNOWN, Location
from tracebuf.ops.scalars import arith
from tracebuf.ops.scalars.arith import BinaryOp, ScalarOp, UnaryOp
from tracebuf.ops.scalars.functions import ByUfunc


def _products_are_fused() -> bool:
    """Whether NumPy's loop of complex products keeps the exact product of the real parts, as fma does."""
    tiny = 2.0**-30
    x = np.array([complex(1 + tiny, 1)] * 4)
    return bool(np.multiply(x, np.array([complex(1 + tiny, 1 + 2 * tiny)] * 4))[0].real != 0.0)


FUSED = _products_are_fused()


def constant(value: Any, element: ScalarType, loc: Location) -> arith.Constant:
    """A constant of any element type."""
    return (Constant if element.is_complex else arith.Constant).of(value, element, loc)


def complex_of(component: ScalarType) -> ScalarType:
    """The complex type of these components."""
    return C64 if component is F32 else C128


class Constant(arith.Constant):
    """`complex.constant`. operands: none; results: 1 complex; attrs: value (a Python complex)."""

    __slots__ = ()
    name = "complex.constant"
    bufferizable = False

    @classmethod
    def from_form(cls, form: Form) -> Op:
        form.expect(operands=0, results=1)
        parts = form.take("value", kind=list)
        if len(parts) != 2 or not all(isinstance(p, float) for p in parts) or form.result_types[0] not in (C64, C128):
            raise FormError(f"{cls.name}: `{parts}` is no {form.result_types[0]}")
        return cls.rebuilt([], form.result_types, form.loc, {**form.attrs, "value": complex(*parts)})

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        return e.literal(self.element, self.attrs["value"])


class Create(ScalarOp):
    """`complex.create`. operands: real and imaginary part of one float type; results: 1 complex."""

    __slots__ = ()
    name = "complex.create"
    takes = "any, any"

    @classmethod
    def of(cls, re: Value, im: Value, loc: Location = UNKNOWN) -> Create:
        assert isinstance(re.type, ScalarType)
        return cls([re, im], [complex_of(re.type)], loc)

    def compute(self, args: Sequence[Any]) -> Any:
        re, im = np.broadcast_arrays(*args)
        made = np.empty(re.shape, self.element.dtype)
        made.real, made.imag = re, im
        return made if any(isinstance(a, np.ndarray) for a in args) else made[()]

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        return join_components(args)


class _Part(ScalarOp):
    """One of the two components."""

    __slots__ = ()
    takes = "any"
    part: ClassVar[int]

    @classmethod
    def of(cls, value: Value, loc: Location = UNKNOWN) -> _Part:
        assert isinstance(value.type, ScalarType)
        return cls([value], [value.type.component], loc)

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        return parts_of(self.operand(0), args[0])[self.part]


class Re(_Part):
    """`complex.re`: the real part. operands: complex; results: 1 float of its component type."""

    __slots__ = ()
    name, reference, part = "complex.re", np.real, 0


class Im(_Part):
    """`complex.im`: the imaginary part. operands: complex; results: 1 float of its component type."""

    __slots__ = ()
    name, reference, part = "complex.im", np.imag, 1


def parts_of(value: Value, text: str) -> list[str]:
    """The LLVM values of a complex value's parts."""
    assert isinstance(value.type, ScalarType)
    return [v for _, v in components(value.type, text)]


class _Parts:
    """Instructions on the components of one complex type."""

    def __init__(self, e: Emitter, element: ScalarType) -> None:
        self.e, self.component = e, element.component
        self.t = llvm_type(element.component)

    def two(self, instruction: str, a: str, b: str) -> str:
        return self.e.inst(f"{instruction} {self.t} {a}, {b}")

    def call(self, name: str, *args: str) -> str:
        return self.e.intrinsic(f"llvm.{name}.{self.component}", self.t, [(self.t, a) for a in args])

    def choose(self, condition: str, a: str, b: str) -> str:
        return self.e.inst(f"select i1 {condition}, {self.t} {a}, {self.t} {b}")

    def negative(self, a: str) -> str:
        return self.e.inst(f"fneg {self.t} {a}")

    def number(self, value: float) -> str:
        return self.e.literal(self.component, value)


class _Componentwise(BinaryOp):
    """An instruction on the real parts and on the imaginary parts."""

    __slots__ = ()

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        p = _Parts(e, self.element)
        a, b = (parts_of(v, x) for v, x in zip(self.operands, args))
        return join_components([p.two(self.instruction, x, y) for x, y in zip(a, b)])


class Add(_Componentwise):
    """`complex.add`: np.add. operands: a, b of one complex type; results: 1 of that type."""

    __slots__ = ()
    name, instruction, reference = "complex.add", "fadd", np.add


class Sub(_Componentwise):
    """`complex.sub`: np.subtract. operands: a, b of one complex type; results: 1 of that type."""

    __slots__ = ()
    name, instruction, reference = "complex.sub", "fsub", np.subtract


class Mul(BinaryOp):
    """`complex.mul`: np.multiply. operands: a, b of one complex type; results: 1 of that type."""

    __slots__ = ()
    name, reference = "complex.mul", np.multiply

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        p = _Parts(e, self.element)
        (a, b), (c, d) = (parts_of(v, x) for v, x in zip(self.operands, args))
        bd, bc = p.two("fmul", b, d), p.two("fmul", b, c)
        if FUSED:
            return join_components([p.call("fma", a, c, p.negative(bd)), p.call("fma", a, d, bc)])
        return join_components([p.two("fsub", p.two("fmul", a, c), bd), p.two("fadd", p.two("fmul", a, d), bc)])


class Div(BinaryOp):
    """`complex.div`: np.true_divide by Smith's algorithm, which divides by the larger component first. By zero both
    parts are divided by 0. operands: a, b of one complex type; results: 1 of that type."""

    __slots__ = ()
    name, reference = "complex.div", np.true_divide

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        p = _Parts(e, self.element)
        (a, b), (c, d) = (parts_of(v, x) for v, x in zip(self.operands, args))
        size_c, size_d = p.call("fabs", c), p.call("fabs", d)
        first = e.inst(f"fcmp oge {p.t} {size_c}, {size_d}")
        none = e.inst(f"and i1 {first}, {e.inst(f'fcmp oeq {p.t} {size_c}, {p.number(0.0)}')}")
        large, small = p.choose(first, c, d), p.choose(first, d, c)
        ratio = p.two("fdiv", small, large)
        scale = p.two("fdiv", p.number(1.0), p.two("fadd", large, p.two("fmul", small, ratio)))
        scale = p.choose(none, p.number(float("inf")), scale)
        u, v = p.choose(first, a, b), p.choose(first, b, a)
        re = p.two("fadd", u, p.two("fmul", v, ratio))
        turned = p.two("fmul", u, ratio)
        im = p.two("fsub", p.choose(first, v, turned), p.choose(first, turned, v))
        re, im = p.choose(none, a, re), p.choose(none, b, im)
        return join_components([p.two("fmul", re, scale), p.two("fmul", im, scale)])


class Neg(UnaryOp):
    """`complex.neg`: np.negative. operands: complex; results: 1 of that type."""

    __slots__ = ()
    name, reference = "complex.neg", np.negative

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        return join_components([_Parts(e, self.element).negative(v) for v in parts_of(self.operand(0), args[0])])


class Conj(UnaryOp):
    """`complex.conj`: np.conjugate. operands: complex; results: 1 of that type."""

    __slots__ = ()
    name, reference = "complex.conj", np.conjugate

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        re, im = parts_of(self.operand(0), args[0])
        return join_components([re, _Parts(e, self.element).negative(im)])


class _Equality(ScalarOp):
    """A comparison of both components."""

    __slots__ = ()
    takes = "any, any"
    predicate: ClassVar[str]
    together: ClassVar[str]

    @classmethod
    def of(cls, a: Value, b: Value, loc: Location = UNKNOWN) -> _Equality:
        return cls([a, b], [I1], loc)

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        operand = self.operand(0).type
        assert isinstance(operand, ScalarType)
        t = llvm_type(operand.component)
        pairs = zip(*(parts_of(v, x) for v, x in zip(self.operands, args)))
        re, im = (e.inst(f"fcmp {self.predicate} {t} {x}, {y}") for x, y in pairs)
        return e.inst(f"{self.together} i1 {re}, {im}")


class Eq(_Equality):
    """`complex.eq`: np.equal. operands: a, b of one complex type; results: 1 i1."""

    __slots__ = ()
    name, reference, predicate, together = "complex.eq", np.equal, "oeq", "and"


class Neq(_Equality):
    """`complex.neq`: np.not_equal. operands: a, b of one complex type; results: 1 i1."""

    __slots__ = ()
    name, reference, predicate, together = "complex.neq", np.not_equal, "une", "or"


class _ByUfunc(ByUfunc):
    """A ufunc on complex numbers under MLIR's name; only MLIR text has it, NumPy programs have `tracebuf.ufunc`.

    operands: one or two of one complex type; results: 1 of that type (complex.abs: of its component type).
    """

    __slots__ = ()

    @classmethod
    def from_form(cls, form: Form) -> Op:
        made = super().from_form(form)
        if made.operands and isinstance(operand := made.operand(0).type, ScalarType) and operand.is_complex:
            char, out = operand.dtype.char, made.result.type
            assert isinstance(out, ScalarType)
            made.attrs["types"] = f"{char * len(made.uses)}->{out.dtype.char}"
        return made


UFUNCS = {
    "abs": "absolute", "exp": "exp", "expm1": "expm1", "log": "log", "log1p": "log1p", "sqrt": "sqrt", "sin": "sin",
    "cos": "cos", "tan": "tan", "tanh": "tanh", "pow": "power",
}  # fmt: skip
for _name, _ufunc in UFUNCS.items():
    members = {"__slots__": (), "__module__": __name__, "name": f"complex.{_name}", "ufunc": _ufunc}
    type(f"Complex_{_name}", (_ByUfunc,), members)
