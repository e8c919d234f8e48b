"""Python's `math` on traced numbers: the same values bit for bit, its exceptions as checks in place (rule F3).

CPython's `math_1` and `math_2` (Modules/mathmodule.c) raise by three rules, and `FUNCTIONS` says which of them hold: a
NaN from numbers is a ValueError, an infinity from finite numbers is a ValueError (a pole) or an OverflowError.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from tracebuf.frontends.numpy.arrays.indexing import as_int
from tracebuf.frontends.numpy.functions.python.builtins import float_to_int
from tracebuf.frontends.numpy.numbers import ratios
from tracebuf.frontends.numpy.numbers.bodies import Body
from tracebuf.frontends.numpy.numbers.operands import as_number
from tracebuf.frontends.numpy.numbers.python_ints import as_int_value, bool_as_int, int_expr, int_of_value
from tracebuf.frontends.numpy.numbers.rules import apply_rule
from tracebuf.frontends.numpy.numbers.scalars import concrete, float_value
from tracebuf.frontends.numpy.record.conditions import both, either, negation
from tracebuf.frontends.numpy.record.raises import Raises, ask
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.regions import OVERFLOW
from tracebuf.frontends.numpy.record.registry import Handler, traces
from tracebuf.frontends.numpy.record.scalar_checks import (
    compare_floats,
    is_finite,
    is_infinite,
    is_nan,
    is_number,
    require_nonzero,
)
from tracebuf.frontends.numpy.record.values import NpScalar, PyBool, PyFloat, PyInt, is_traced
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim
from tracebuf.ir.types import F64, I64, UI64
from tracebuf.ops.scalars import arith
from tracebuf.ops.scalars.libm import Libm

DOMAIN, RANGE = "math domain error", "math range error"
FUNCTIONS: dict[Callable[..., Any], str] = {
    math.exp: "range", math.expm1: "range", math.exp2: "range", math.cosh: "range", math.sinh: "range",
    math.log1p: "domain pole", math.atanh: "domain pole", math.acosh: "domain", math.asin: "domain",
    math.acos: "domain", math.sin: "domain", math.cos: "domain", math.tan: "domain", math.atan: "", math.asinh: "",
    math.tanh: "", math.cbrt: "", math.erf: "", math.erfc: "", math.gamma: "domain range", math.lgamma: "domain range",
    math.log2: "domain pole", math.log10: "domain pole", math.atan2: "", math.fmod: "domain", math.remainder: "domain",
    math.nextafter: "", math.ulp: "", math.hypot: "",
}  # fmt: skip
"""By function of floats that `tracebuf.libm` knows by name: the rules by which it raises."""
OPS: dict[Callable[..., Any], tuple[type[arith.ScalarOp], str]] = {
    math.sqrt: (arith.Sqrt, "domain"), math.fabs: (arith.AbsF, ""), math.copysign: (arith.CopySign, ""),
}  # fmt: skip
"""By function that is one op: its class, and the rules by which it raises."""


def real(r: Recorder, x: Any) -> Value:
    """An argument converted as `float(x)` converts it."""
    return float_value(r, as_number(r, x))


def whole(r: Recorder, x: Any) -> Dim:
    """An argument that has to be an int, as an expression."""
    e = as_int(r, bool_as_int(r, x))
    assert e is not None
    return e


def libm(r: Recorder, name: str, args: Sequence[Value]) -> Value:
    """A call of `tracebuf.libm`."""
    return r.emit(Libm.of(name, args, F64))


def check_result(r: Recorder, result: Value, args: Sequence[Value], rules: str) -> None:
    """The checks of a function's rules."""
    if "domain" in rules:
        r.check(either(r, is_number(r, result), *(is_nan(r, a) for a in args)), "ValueError", DOMAIN)
    if "pole" in rules or "range" in rules:
        fine = either(r, negation(r, is_infinite(r, result)), *(negation(r, is_finite(r, a)) for a in args))
        r.check(fine, *(("ValueError", DOMAIN) if "pole" in rules else ("OverflowError", RANGE)))


def traced_form(function: Callable[..., Any], body: Handler) -> Handler:
    """The handler that calls the function itself on plain values, and where it raises TypeError anyway; else `body(r,
    *args)`."""

    def run(r: Recorder, *args: Any, **kwargs: Any) -> Any:
        if not any(is_traced(a) for a in [*args, *kwargs.values()]):
            return ask(function, *args, **kwargs)
        try:
            ask(function, *map(concrete, args), **{k: concrete(v) for k, v in kwargs.items()})
        except Raises as said:
            if not isinstance(said.error, (ValueError, ArithmeticError)):
                raise
        return body(r, *args, **kwargs)

    return run


def by_name(function: Callable[..., Any], rules: str) -> Handler:
    """The body of a function that `tracebuf.libm` knows by name."""

    def body(r: Recorder, *args: Any) -> PyFloat:
        values = [real(r, a) for a in args]
        result = libm(r, function.__name__, values)
        check_result(r, result, values, rules)
        return PyFloat(result)

    return body


def by_op(op: type[arith.ScalarOp], rules: str) -> Handler:
    """The body of a function that is one op."""

    def body(r: Recorder, *args: Any) -> PyFloat:
        values = [real(r, a) for a in args]
        result = r.emit(op(values, [F64], r.loc))
        check_result(r, result, values, rules)
        return PyFloat(result)

    return body


def log(r: Recorder, x: Any, base: Any = None) -> PyFloat:
    value = real(r, x)
    result = libm(r, "log", [value])
    check_result(r, result, [value], "domain pole")
    if base is None:
        return PyFloat(result)
    below = log(r, base).value if is_traced(base) else r.constant(ask(math.log, base), F64)
    require_nonzero(r, below, "division by zero")
    return PyFloat(r.emit(arith.DivF.of(result, below)))


def power(r: Recorder, x: Any, y: Any) -> PyFloat:
    base, exponent = real(r, x), real(r, y)
    result = libm(r, "pow", [base, exponent])
    given = either(r, negation(r, is_finite(r, base)), negation(r, is_finite(r, exponent)))
    nonzero = compare_floats(r, "une", base, 0.0)
    sound = both(r, is_number(r, result), either(r, negation(r, is_infinite(r, result)), nonzero))
    r.check(either(r, sound, given), "ValueError", DOMAIN)
    r.check(either(r, negation(r, is_infinite(r, result)), given), "OverflowError", RANGE)
    return PyFloat(result)


def ldexp(r: Recorder, x: Any, i: Any) -> PyFloat:
    value, exponent = real(r, x), bool_as_int(r, i)
    if (e := int_expr(exponent)) is None:
        raise r.refuse("math.ldexp by this exponent", "math.ldexp(x, int(i))")
    result = libm(r, "ldexp", [value, r.i64(e)])
    check_result(r, result, [value], "range")
    return PyFloat(result)


def scaled(by: float) -> Handler:
    return lambda r, x: PyFloat(r.emit(arith.MulF.of(real(r, x), r.constant(by, F64))))


def modf(r: Recorder, x: Any) -> tuple[PyFloat, PyFloat]:
    value = real(r, x)
    whole = r.emit(arith.Trunc.of(value))
    rest = r.emit(arith.SubF.of(value, whole))
    rest = r.emit(arith.Select.of(is_infinite(r, value), r.constant(0.0, F64), rest))
    return PyFloat(r.emit(arith.CopySign.of(rest, value))), PyFloat(whole)


def to_integer(op: type[arith.UnaryOp]) -> Handler:
    """The body of floor, ceil or trunc; NumPy's ints are converted to floats first, as in `math`."""
    ways: dict[Any, Literal["down", "up"]] = {arith.Floor: "down", arith.Ceil: "up"}

    def body(r: Recorder, x: Any) -> PyInt | int:
        x = bool_as_int(r, as_number(r, x))
        if (e := int_expr(x)) is not None:
            return as_int_value(e)
        value = float_value(r, x)
        if isinstance(x, PyFloat) and (exact := ratios.as_int(r, value, ways.get(op, "zero"))) is not None:
            return exact
        return float_to_int(r, r.emit(op.of(value)))

    return body


def condition(test: Callable[[Recorder, Value], Value]) -> Handler:
    return lambda r, x: PyBool(test(r, real(r, x)))


def isclose(r: Recorder, a: Any, b: Any, *, rel_tol: Any = 1e-09, abs_tol: Any = 0.0) -> PyBool:
    x, y, relative, least = (real(r, v) for v in (a, b, rel_tol, abs_tol))
    negative = either(r, compare_floats(r, "olt", relative, 0.0), compare_floats(r, "olt", least, 0.0))
    r.check(negation(r, negative), "ValueError", "tolerances must be non-negative")

    def size(op: type[arith.BinaryOp], p: Value, q: Value) -> Value:
        return r.emit(arith.AbsF.of(r.emit(op.of(p, q))))

    difference = size(arith.SubF, y, x)
    limits = [size(arith.MulF, relative, y), size(arith.MulF, relative, x), least]
    near = either(r, *(compare_floats(r, "ole", difference, limit) for limit in limits))
    near = both(r, near, negation(r, is_infinite(r, x)), negation(r, is_infinite(r, y)))
    return PyBool(either(r, compare_floats(r, "oeq", x, y), near))


def magnitude(r: Recorder, x: Any) -> Value:
    """abs(x) of an int: all 64 bits of an i64, without a sign."""
    x = as_number(r, x)
    if isinstance(x, NpScalar) and x.element is UI64:
        return Body(r.frame.block, r.loc).cast(x.value, I64)
    return r.emit(arith.AbsI.of(r.i64(whole(r, x))))


def gcd(r: Recorder, *args: Any) -> Any:
    """math.gcd of Python's and NumPy's ints, by NumPy's loop; 64 bits hold every result but those of ints from 2**63
    on."""
    body, dtype = Body(r.frame.block, r.loc), UI64.dtype
    found = body.cast(r.i64(0), UI64)
    for x in args:
        found = apply_rule(np.gcd, body, [found, body.cast(magnitude(r, x), UI64)], (dtype,) * 3)
    result = body.cast(found, I64)
    fits = r.emit(arith.CmpI.of("sge", result, r.constant(0, I64)))
    r.check(fits, "OverflowError", OVERFLOW)
    return int_of_value(r, result, lo=0)


def isqrt(r: Recorder, n: Any) -> PyInt:
    e = whole(r, n)
    r.require_nonneg(e, "ValueError", "isqrt() argument must be nonnegative")
    value, body = r.i64(e), Body(r.frame.block, r.loc)
    root = body.cast(r.emit(arith.Sqrt.of(body.cast(value, F64))), I64)  # one too many where the float is rounded up
    over = r.emit(arith.CmpI.of("sgt", r.emit(arith.MulI.of(root, root)), value))
    less = r.emit(arith.SubI.of(root, r.constant(1, I64)))
    return int_of_value(r, r.emit(arith.Select.of(over, less, root)), 0, 2**32)


BODIES: dict[Callable[..., Any], Handler] = {
    math.log: log, math.pow: power, math.ldexp: ldexp, math.modf: modf, math.isclose: isclose,
    math.degrees: scaled(180.0 / math.pi), math.radians: scaled(math.pi / 180.0), math.gcd: gcd, math.isqrt: isqrt,
    math.floor: to_integer(arith.Floor), math.ceil: to_integer(arith.Ceil), math.trunc: to_integer(arith.Trunc),
    math.isnan: condition(is_nan), math.isinf: condition(is_infinite), math.isfinite: condition(is_finite),
}  # fmt: skip
"""By function: `body(r, *args)`, for traced arguments."""
BODIES |= {f: by_name(f, rules) for f, rules in FUNCTIONS.items()}
BODIES |= {f: by_op(op, rules) for f, (op, rules) in OPS.items()}
for function, body in BODIES.items():
    traces(function)(traced_form(function, body))
