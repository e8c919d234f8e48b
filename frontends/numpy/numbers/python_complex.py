"""Python's complex numbers, traced: arithmetic, powers, comparisons, parts; and products of NumPy's complex scalars.

CPython's products are not fused and its quotients divide last (Objects/complexobject.c); NumPy's scalars multiply like
Python's, its arrays do not (`tracebuf.ops.scalars.complex`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tracebuf.frontends.numpy.numbers.bodies import Body, imaginary, real
from tracebuf.frontends.numpy.numbers.operands import loop_dtypes, scalar_value, weak_type
from tracebuf.frontends.numpy.record.conditions import both, either, negation
from tracebuf.frontends.numpy.record.raises import said
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.scalar_checks import check_origin, compare_floats, is_finite, is_infinite
from tracebuf.frontends.numpy.record.values import ArrayRef, NpScalar, PyBool, PyComplex, PyFloat, PyInt
from tracebuf.ir.core import Value
from tracebuf.ir.types import C128, F64, I1, ScalarType, scalar_type
from tracebuf.ops.scalars import arith
from tracebuf.ops.scalars import complex as complexes
from tracebuf.ops.scalars.complex import Create
from tracebuf.ops.scalars.libm import Libm

Parts = tuple[Value, Value]
"""The real and the imaginary part."""


def is_python_complex(x: object) -> bool:
    """Whether a value is a Python complex number, traced or not."""
    return isinstance(x, PyComplex) or type(x) is complex


def parts_of(r: Recorder, x: Any, element: ScalarType = C128) -> Parts:
    """The real and the imaginary part of a number, as `element`'s part type."""
    if isinstance(x, (PyInt, PyFloat, PyBool, bool, int, float)) and not isinstance(x, np.generic):
        return scalar_value(r, x, element.component), r.constant(0.0, element.component)
    body, value = Body(r.frame.block, r.loc), scalar_value(r, x, element)
    return real(body, value), imaginary(body, value)


def made_of(r: Recorder, parts: Parts) -> Value:
    """The complex number with these parts."""
    return r.emit(Create.of(*parts))


def _do(r: Recorder, op: type[arith.BinaryOp], a: Value, b: Value) -> Value:
    return r.emit(op.of(a, b))


def product(r: Recorder, a: Parts, b: Parts) -> Parts:
    """a * b of Python's complex numbers, each of the four products rounded by itself."""
    mul, (ar, ai), (br, bi) = arith.MulF, a, b
    re = _do(r, arith.SubF, _do(r, mul, ar, br), _do(r, mul, ai, bi))
    return re, _do(r, arith.AddF, _do(r, mul, ar, bi), _do(r, mul, ai, br))


def quotient(r: Recorder, a: Parts, b: Parts) -> Parts:
    """a / b as Python divides (_Py_c_quot); ZeroDivisionError by zero."""
    (ar, ai), (br, bi) = a, b
    zero = both(r, compare_floats(r, "oeq", br, 0.0), compare_floats(r, "oeq", bi, 0.0))
    r.check(negation(r, zero), "ZeroDivisionError", "complex division by zero")
    sizes = [r.emit(arith.AbsF.of(v)) for v in b]
    first = compare_floats(r, "oge", *sizes)

    def pick(x: Value, y: Value) -> Value:
        return r.emit(arith.Select.of(first, x, y))

    large, small, u, v = pick(br, bi), pick(bi, br), pick(ar, ai), pick(ai, ar)
    ratio = _do(r, arith.DivF, small, large)
    below = _do(r, arith.AddF, large, _do(r, arith.MulF, small, ratio))
    re = _do(r, arith.AddF, u, _do(r, arith.MulF, v, ratio))
    turned = _do(r, arith.MulF, u, ratio)
    im = _do(r, arith.SubF, pick(v, turned), pick(turned, v))
    return _do(r, arith.DivF, re, below), _do(r, arith.DivF, im, below)


def complex_arithmetic(r: Recorder, name: str, a: Any, b: Any) -> Any:
    """a OP b of two Python numbers, at least one of them complex."""
    if name == "Pow":
        return complex_power(r, a, b)
    x, y = parts_of(r, a), parts_of(r, b)
    if name in ("Add", "Sub"):
        op = arith.AddF if name == "Add" else arith.SubF
        return PyComplex(made_of(r, (_do(r, op, x[0], y[0]), _do(r, op, x[1], y[1]))))
    return PyComplex(made_of(r, (product if name == "Mult" else quotient)(r, x, y)))


MOST = 100
"""The largest whole exponent for which a power is computed by products."""


def complex_power(r: Recorder, a: Any, b: Any) -> PyComplex:
    """a ** b: by products for a small whole exponent that is known, else by Python's own function (complex_pow)."""
    known = b if isinstance(b, (int, float, complex)) else None
    if known is not None and known.imag == 0 and abs(known.real) <= MOST and known.real == int(known.real):
        return PyComplex(made_of(r, whole_power(r, parts_of(r, a), int(known.real))))
    return PyComplex(by_python(r, "pow", [*parts_of(r, a), *parts_of(r, b)]))


def whole_power(r: Recorder, base: Parts, exponent: int) -> Parts:
    """c_powi: squarings from the lowest bit on; for a negative exponent, the reciprocal."""
    one = r.constant(1.0, F64), r.constant(0.0, F64)
    result, square, bits = one, base, abs(exponent)
    for k in range(bits.bit_length()):
        result = product(r, result, square) if bits >> k & 1 else result
        square = product(r, square, square)
    return result if exponent > 0 else quotient(r, one, result)


def by_python(r: Recorder, function: str, args: list[Value]) -> Value:
    """The result of a function of `cmath`, or of a power, called back on the parts of the arguments; raises what it
    raises."""
    failed = r.emit(Libm.of(f"complex_{function}_error", args, F64))
    for code, kind, message in ((1.0, "ValueError", "math domain error"), (2.0, "OverflowError", "math range error"),
                                (3.0, "ZeroDivisionError", said(pow, 0j, -1))):  # fmt: skip
        r.check(compare_floats(r, "une", failed, code), kind, message)
    re, im = (r.emit(Libm.of(f"complex_{function}_{part}", args, F64)) for part in ("real", "imag"))
    return made_of(r, (re, im))


def compare_complex(r: Recorder, predicate: str, a: Any, b: Any) -> PyBool:
    """== and != of two Python numbers, at least one of them complex."""
    pairs = zip(parts_of(r, a), parts_of(r, b), strict=True)
    if predicate == "eq":
        return PyBool(both(r, *(compare_floats(r, "oeq", x, y) for x, y in pairs)))
    return PyBool(either(r, *(compare_floats(r, "une", x, y) for x, y in pairs)))


def scalar_order(r: Recorder, ufunc: np.ufunc, predicate: str, a: Any, b: Any) -> NpScalar | None:
    """a < b, <=, > and >= of NumPy's scalars, at least one of them complex: lexicographic, where ufuncs also look for
    NaNs (scalarmath.c.src); None where NumPy's scalars ask the ufunc too, for neither has the common type."""
    numpys = [x for x in (a, b) if isinstance(x, (NpScalar, np.generic))]
    if predicate not in ("lt", "le", "gt", "ge") or any(isinstance(x, NpScalar) and x.python for x in numpys):
        return None
    dtype = loop_dtypes(ufunc, (weak_type(a), weak_type(b)))[0]
    if dtype.kind != "c" or all(weak_type(x) != dtype for x in numpys):
        return None
    x, y = (scalar_value(r, operand, scalar_type(dtype)) for operand in (a, b))
    return NpScalar(lexicographic(Body(r.frame.block, r.loc), predicate, x, y), I1)


def lexicographic(body: Body, predicate: str, a: Value, b: Value) -> Value:
    """a < b, <=, > or >= of two complex numbers: by the real parts, and where they are equal by the imaginary ones."""
    (x, u), (y, v) = ((real(body, value), imaginary(body, value)) for value in (a, b))
    first = body.add(arith.CmpF.of("ogt" if predicate in ("gt", "ge") else "olt", x, y))
    equal, second = body.add(arith.CmpF.of("oeq", x, y)), body.add(arith.CmpF.of("o" + predicate, u, v))
    return body.add(arith.OrI.of(first, body.add(arith.AndI.of(equal, second))))


def scalar_product(r: Recorder, a: Any, b: Any) -> NpScalar | None:
    """a * b of scalars where the product is complex and at least one is NumPy's."""
    if isinstance(a, ArrayRef) or isinstance(b, ArrayRef) or any(isinstance(x, NpScalar) and x.python for x in (a, b)):
        return None
    dtype = loop_dtypes(np.multiply, (weak_type(a), weak_type(b)))[-1]
    if dtype.kind != "c":
        return None
    element = scalar_type(dtype)
    return NpScalar(made_of(r, product(r, *(parts_of(r, x, element) for x in (a, b)))), element)


def magnitude(r: Recorder, x: PyComplex | NpScalar) -> PyFloat | NpScalar:
    """abs(x), by the C library's hypot: OverflowError where Python's is infinite and the parts are not."""
    element = x.element if isinstance(x, NpScalar) else C128
    parts = parts_of(r, x, element)
    result = r.emit(Libm.of("c_hypot", parts, element.component))
    if isinstance(x, NpScalar):
        return NpScalar(result, element.component)
    fine = either(r, negation(r, is_infinite(r, result)), *(negation(r, is_finite(r, p)) for p in parts))
    r.check(fine, "OverflowError", "absolute value too large")
    return PyFloat(result)


def part_of(r: Recorder, x: PyComplex | NpScalar, name: str) -> PyFloat | NpScalar:
    """x.real or x.imag of a complex number."""
    check_origin(r, x)
    op = complexes.Re if name == "real" else complexes.Im
    value = r.emit(op.of(x.value))
    return NpScalar(value, x.element.component) if isinstance(x, NpScalar) else PyFloat(value)
