"""Python's own arithmetic on traced numbers (rules N1-N3), and truth.

Ints are expressions over sizes; floats are f64; where Python raises (a division by zero), a check stands. NumPy scalars
compute as NumPy's ufuncs do.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.conditions import either, inverse, is_infinite
from tracebuf.frontends.numpy.recorder import Recorder
from tracebuf.frontends.numpy.ufuncs import (
    Body,
    Operand,
    check_maybe_python,
    elementwise,
    loop_dtypes,
    scalar_value,
    weak_type,
)
from tracebuf.frontends.numpy.values import ArrayRef, NpScalar, PyBool, PyFloat, PyInt, Scalar, is_traced, stand_in
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, Expr, add, floordiv, mod, mul, neg, sub, sym, symbols
from tracebuf.ir.types import F16, F32, F64, I1, I64, INDEX, scalar_type
from tracebuf.ops import arith
from tracebuf.ops.libm import Libm

BINARY: dict[str, tuple[Callable[[Any, Any], Any], np.ufunc]] = {
    "Add": (operator.add, np.add),
    "Sub": (operator.sub, np.subtract),
    "Mult": (operator.mul, np.multiply),
    "Div": (operator.truediv, np.true_divide),
    "FloorDiv": (operator.floordiv, np.floor_divide),
    "Mod": (operator.mod, np.remainder),
    "Pow": (operator.pow, np.power),
    "BitAnd": (operator.and_, np.bitwise_and),
    "BitOr": (operator.or_, np.bitwise_or),
    "BitXor": (operator.xor, np.bitwise_xor),
    "LShift": (operator.lshift, np.left_shift),
    "RShift": (operator.rshift, np.right_shift),
}
COMPARE: dict[str, tuple[Callable[[Any, Any], Any], np.ufunc, str]] = {
    "Eq": (operator.eq, np.equal, "eq"),
    "NotEq": (operator.ne, np.not_equal, "ne"),
    "Lt": (operator.lt, np.less, "lt"),
    "LtE": (operator.le, np.less_equal, "le"),
    "Gt": (operator.gt, np.greater, "gt"),
    "GtE": (operator.ge, np.greater_equal, "ge"),
}


def is_python_number(x: object) -> bool:
    """A Python bool, int or float, traced or not (weak in promotion, bool aside)."""
    return isinstance(x, (PyInt, PyFloat, PyBool)) or (
        isinstance(x, (bool, int, float)) and not isinstance(x, np.generic)
    )


def int_expr(x: object) -> Dim | None:
    """A Python int as an expression; None for anything else (bools included)."""
    if isinstance(x, PyInt):
        return x.expr
    return x if type(x) is int else None


def as_int_value(e: Dim) -> PyInt | int:
    return e if isinstance(e, int) else PyInt(e)


def binary(r: Recorder, name: str, a: Any, b: Any) -> Any:
    """a OP b for any two traced or plain values."""
    function, ufunc = BINARY[name]
    if not is_traced(a) and not is_traced(b):
        return function(a, b)
    for x in (a, b):
        if not isinstance(x, (ArrayRef, Scalar, bool, int, float, np.generic)):
            return unsupported_operand(r, function, a, b)
    if is_python_number(a) and is_python_number(b):
        return python_arithmetic(r, name, a, b)
    if name == "Pow" and not isinstance(a, ArrayRef) and not isinstance(b, ArrayRef):
        return scalar_power(r, a, b)
    if name == "Pow" and isinstance(a, ArrayRef):
        return array_power(r, a, b)
    return elementwise(r, ufunc, [a, b])


def unsupported_operand(r: Recorder, function: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """An operand that is no array or number: raises what it raises in Python, else refuses."""
    if not any(isinstance(x, np.ndarray) for x in (a, b)):
        with np.errstate(all="ignore"):
            function(*(example(x) for x in (a, b)))
    odd = a if not isinstance(a, (ArrayRef, Scalar, bool, int, float, np.generic)) else b
    what = "an array from outside the function" if isinstance(odd, np.ndarray) else f"a {type(odd).__name__}"
    raise UnsupportedError(
        f"{what} meets a traced value", location=r.loc, instead="use numbers, and arrays that are arguments"
    )


def example(x: Any) -> Any:
    """Something like x to try an operation on."""
    if isinstance(x, ArrayRef):
        return np.ones((1,) * x.ndim, x.dtype)
    return stand_in(x) if isinstance(x, Scalar) else x


def python_arithmetic(r: Recorder, name: str, a: Any, b: Any) -> Any:
    """Two Python numbers, at least one traced."""
    if name in BITS and isinstance(a, (PyBool, bool)) and isinstance(b, (PyBool, bool)):
        return PyBool(r.add(BITS[name].of(scalar_value(r, a, I1), scalar_value(r, b, I1), r.loc)).result)
    a, b = (bool_as_int(r, x) for x in (a, b))
    ia, ib = int_expr(a), int_expr(b)
    if ia is not None and ib is not None and name in ("Add", "Sub", "Mult", "FloorDiv", "Mod"):
        return int_arithmetic(r, name, ia, ib)
    if name == "Pow" and ia is not None and isinstance(ib, int) and 0 <= ib <= 8:
        result: Dim = 1
        for _ in range(ib):
            result = checked(r, mul(result, ia))
        return as_int_value(result)
    if ia is not None and ib is not None and name in BITS:
        return int_bits(r, name, ia, ib)
    if name in BITS or name in ("LShift", "RShift"):
        return python_bits(r, name, a, b)
    if name in ("FloorDiv", "Mod"):
        fa, fb = float_value(r, a), float_value(r, b)
        require_nonzero(r, fb, "float floor division by zero" if name == "FloorDiv" else "float modulo by zero")
        found = elementwise(r, BINARY[name][1], [NpScalar(fa, F64), NpScalar(fb, F64)])
        assert isinstance(found, NpScalar)  # NumPy's loops compute these as Python does
        return PyFloat(found.value)
    if name in ("Add", "Sub", "Mult", "Div"):
        fa, fb = float_value(r, a), float_value(r, b)
        if name == "Div":
            require_nonzero(
                r, fb, "division by zero" if ia is not None and ib is not None else "float division by zero"
            )
        op = {"Add": arith.AddF, "Sub": arith.SubF, "Mult": arith.MulF, "Div": arith.DivF}[name]
        return PyFloat(r.add(op.of(fa, fb, r.loc)).result)
    if isinstance(b, (int, float)) and b >= 0 and float(b).is_integer() and (ia is None or isinstance(b, float)):
        return python_power(r, float_value(r, a), float_value(r, b))
    if ia is None and ib is not None:  # a whole exponent never gives a complex number
        base, exponent = float_value(r, a), float_value(r, b)
        nonzero = r.add(arith.CmpF.of("une", base, r.constant(0.0, F64), r.loc)).result
        rising = r.add(arith.CmpF.of("oge", exponent, r.constant(0.0, F64), r.loc)).result
        fine = r.add(arith.OrI.of(nonzero, rising, r.loc)).result
        r.check(fine, "ZeroDivisionError", "zero to a negative power")
        return python_power(r, base, exponent)
    if ib is None and isinstance(a, (int, float)) and a > 0:  # nor does a positive base
        return python_power(r, float_value(r, a), float_value(r, b))
    raise UnsupportedError(
        "this power of Python numbers may be an int, a float or a complex number, depending on their values",
        location=r.loc,
        instead="np.float64(x) ** y, which is always a float",
    )


BITS = {"BitAnd": arith.AndI, "BitOr": arith.OrI, "BitXor": arith.XorI}


def int_bits(r: Recorder, name: str, a: Dim, b: Dim) -> PyInt:
    """`&`, `|` and `^` of two Python ints."""
    return int_of_value(r, r.add(BITS[name].of(r.i64(a), r.i64(b), r.loc)).result)


def int_of_value(r: Recorder, value: Value, lo: int | None = None, hi: int | None = None) -> PyInt:
    """A computed i64 as a Python int."""
    return PyInt(r.symbol(r.add(arith.IndexCast.of(value, INDEX, r.loc)).result, f"i{len(r.func.symbols)}", lo, hi))


def python_bits(r: Recorder, name: str, a: Any, b: Any) -> Any:
    """Bit operators where they are not simply those of ints: a TypeError for floats, shifts by a known count."""
    ia, ib = int_expr(a), int_expr(b)
    sign = {"BitAnd": "&", "BitOr": "|", "BitXor": "^", "LShift": "<<", "RShift": ">>"}[name]
    if ia is None or ib is None:
        kinds = ["int" if e is not None else "float" for e in (ia, ib)]
        raise TypeError(f"unsupported operand type(s) for {sign}: '{kinds[0]}' and '{kinds[1]}'")
    if isinstance(ib, int) and 0 <= ib < 31:
        return int_arithmetic(r, "Mult" if name == "LShift" else "FloorDiv", ia, 2**ib)
    raise UnsupportedError(
        f"`{sign}` by a count that is not a small constant",
        location=r.loc,
        instead="multiply or divide by a power of 2",
    )


def bool_as_int(r: Recorder, x: Any) -> Any:
    """Python's bools count as ints in arithmetic."""
    if isinstance(x, bool):
        return int(x)
    if isinstance(x, PyBool):
        return int_of_value(r, Body(r.frame.block, r.loc).cast(x.value, I64), 0, 1)
    return x


def int_arithmetic(r: Recorder, name: str, a: Dim, b: Dim) -> PyInt | int:
    """Exact integer arithmetic; overflow of 64 bits and division by zero raise."""
    if name in ("FloorDiv", "Mod"):
        return as_int_value(int_division(r, name, a, b))
    result = {"Add": add, "Sub": sub, "Mult": mul}[name](a, b)
    return as_int_value(checked(r, r.facts.canon(result)))


def int_division(r: Recorder, name: str, a: Dim, b: Dim) -> Dim:
    """`//` and `%` with a divisor whose sign is known or guarded."""
    positive = r.ask_nonneg(sub(b, 1))
    if positive:
        return (floordiv if name == "FloorDiv" else mod)(a, b)
    negative = positive is False and r.ask_nonneg(sub(neg(b), 1))
    if negative:
        return floordiv(neg(a), neg(b)) if name == "FloorDiv" else neg(mod(neg(a), neg(b)))
    if positive is False and negative is False:
        r.fail("ZeroDivisionError", "division by zero" if name == "Mod" else "integer division or modulo by zero")
    raise UnsupportedError(
        "the sign of the divisor is only known at run time",
        location=r.loc,
        instead="divide by an argument, a size or a constant",
    )


def checked(r: Recorder, e: Dim) -> Dim:
    """An integer that may leave 64 bits becomes a checked value (rule N1: OverflowError is a stated limit)."""
    low, high = r.facts.interval(e)
    if isinstance(e, int) or (low is not None and high is not None and -(2**62) <= low and high <= 2**62):
        return e
    assert isinstance(e, Expr)
    unbounded = [s for s in symbols(e) if s.kind == "opaque" and (s.lo is None or s.hi is None)]
    plain = len(e.terms) <= 2 and sum(len(m) for m in e.terms) <= 1 and all(c == 1 for m, c in e.terms.items() if m)
    if plain or not unbounded:
        return e
    for s in unbounded:
        size = 2**30 if any(len(m) > 1 or abs(c) > 1 for m, c in e.terms.items() if m) else 2**60
        ok = r.add(arith.AndI.of(r.compare("sge", sym(s), -size), r.compare("sle", sym(s), size), r.loc)).result
        r.check(ok, "OverflowError", "Python integers are limited to 64 bits in compiled code")
    return e


def float_value(r: Recorder, x: Any) -> Value:
    """A Python number as f64."""
    return scalar_value(r, x, F64)


def require_nonzero(r: Recorder, value: Value, message: str) -> None:
    """ZeroDivisionError where a Python divisor is 0."""
    op = value.defining_op
    if isinstance(op, arith.Constant):
        if op.attrs["value"] == 0:
            r.fail("ZeroDivisionError", message)
        return
    ok = r.add(arith.CmpF.of("une", value, r.constant(0.0, F64), r.loc)).result
    r.check(ok, "ZeroDivisionError", message)


def python_power(r: Recorder, base: Value, exponent: Value) -> PyFloat:
    """A power of floats that is a float, by libm's pow as Python has it; OverflowError where finite ones overflow."""
    result = r.add(Libm.of("pow", [base, exponent], F64, r.loc)).result
    given = either(r, is_infinite(r, base), is_infinite(r, exponent))
    fine = either(r, inverse(r, is_infinite(r, result)), given)
    r.check(fine, "OverflowError", "(34, 'Numerical result out of range')")
    return PyFloat(result)


def scalar_power(r: Recorder, a: Operand, b: Operand) -> Any:
    """A power with a NumPy scalar: floats by the C library, as NumPy's scalar arithmetic does it; ints as the ufunc."""
    unsure = check_maybe_python((a, b), r.loc)
    dtype = loop_dtypes(np.power, (weak_type(a), weak_type(b)))[-1]
    if dtype.kind != "f" or unsure:
        return elementwise(r, np.power, [a, b])
    element = scalar_type(dtype)
    body, loop = Body(r.frame.block, r.loc), F32 if element is F16 else element  # a half's power is float32's
    base, exponent = (body.cast(scalar_value(r, x, element), loop) for x in (a, b))
    return NpScalar(body.cast(body.add(Libm.of("pow", [base, exponent], loop, r.loc)), element), element)


def array_power(r: Recorder, a: ArrayRef, b: Operand) -> Any:
    """array ** x."""
    return elementwise(r, *power_form(r, a, b))


def power_form(r: Recorder, a: ArrayRef, b: Operand) -> tuple[np.ufunc, list[Operand]]:
    """The ufunc that array ** x runs: scalar exponents with a fast path take it (rule N3; array_power in NumPy's
    number.c)."""
    plain = isinstance(b, (int, float)) and not isinstance(b, (bool, np.generic))
    if plain and a.element.is_float:
        fast = {1.0: np.positive, -1.0: np.reciprocal, 0.5: np.sqrt, 2.0: np.square}.get(
            float(b)  # type: ignore[arg-type]
        )
        if fast is not None:
            return fast, [a]
    if plain and not a.element.is_float and b == 2 and isinstance(b, int):
        return np.square, [a]
    return np.power, [a, b]


def compare(r: Recorder, name: str, a: Any, b: Any) -> Any:
    """a OP b, as one comparison."""
    function, ufunc, predicate = COMPARE[name]
    if not is_traced(a) and not is_traced(b):
        return function(a, b)
    ia, ib = int_expr(a), int_expr(b)
    if ia is not None and ib is not None:
        return int_compare(r, predicate, ia, ib)
    arrays = isinstance(a, ArrayRef) or isinstance(b, ArrayRef)
    for x in (a, b):
        if not isinstance(x, (ArrayRef, Scalar, bool, int, float, np.generic)):
            if name in ("Eq", "NotEq") and isinstance(x, (str, type(None))) and not arrays:
                return function(example(a), example(b))  # no number equals these
            return unsupported_operand(r, function, a, b)
    if is_python_number(a) and is_python_number(b):
        if isinstance(a, (PyBool, bool)) and isinstance(b, (PyBool, bool)) and predicate in ("eq", "ne"):
            return PyBool(r.add(arith.CmpI.of(predicate, scalar_value(r, a, I1), scalar_value(r, b, I1), r.loc)).result)
        a, b = (bool_as_int(r, x) for x in (a, b))
        ordered = ("u" if predicate == "ne" else "o") + predicate
        return PyBool(r.add(arith.CmpF.of(ordered, float_value(r, a), float_value(r, b), r.loc)).result)
    return elementwise(r, ufunc, [a, b])


def int_compare(r: Recorder, predicate: str, a: Dim, b: Dim) -> bool | PyBool:
    """Two Python ints: decided by proof or by a guard on entry values, else at run time."""
    if predicate in ("eq", "ne"):
        known = r.ask_equal(a, b)
        if known is not None:
            return known == (predicate == "eq")
        return PyBool(r.compare(predicate, a, b))
    nonneg = {"lt": sub(sub(b, a), 1), "le": sub(b, a), "gt": sub(sub(a, b), 1), "ge": sub(a, b)}[predicate]
    known = r.ask_nonneg(nonneg) if r.entry_only(nonneg) else r.facts.decide_nonneg(nonneg)
    return known if known is not None else PyBool(r.compare("s" + predicate, a, b), nonneg)


def unary(r: Recorder, name: str, a: Any) -> Any:
    """-a, +a, ~a."""
    plain: dict[str, Callable[[Any], Any]] = {"USub": operator.neg, "UAdd": operator.pos, "Invert": operator.invert}
    if not is_traced(a):
        return plain[name](a)
    a = bool_as_int(r, a)
    if (e := int_expr(a)) is not None:
        return as_int_value({"USub": neg(e), "UAdd": e, "Invert": sub(-1, e)}[name])
    if isinstance(a, PyFloat):
        if name == "Invert":
            raise TypeError("bad operand type for unary ~: 'float'")
        return PyFloat(r.add(arith.NegF.of(a.value, r.loc)).result) if name == "USub" else a
    return elementwise(r, {"USub": np.negative, "UAdd": np.positive, "Invert": np.invert}[name], [a])


def truth(r: Recorder, x: Any) -> bool | PyBool:
    """bool(x): known now, or a condition."""
    if not is_traced(x):
        if isinstance(x, np.ndarray):
            raise UnsupportedError(
                "the truth of an array from outside", location=r.loc, instead="pass it as an argument"
            )
        return bool(x)
    if isinstance(x, PyBool):
        return x
    if (e := int_expr(x)) is not None:
        known = int_compare(r, "ne", e, 0)
        return known
    if isinstance(x, PyFloat):
        return PyBool(r.add(arith.CmpF.of("une", x.value, r.constant(0.0, F64), r.loc)).result)
    if isinstance(x, ArrayRef):
        if x.ndim == 0 or all(d == 1 for d in x.shape):
            x = NpScalar(r.load(x, (0,) * x.ndim), x.element)
        else:
            message = "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
            for d in x.shape:
                if r.ask_equal(d, 1) is not True:
                    r.fail("ValueError", message)
            x = NpScalar(r.load(x, (0,) * x.ndim), x.element)
    return PyBool(Body(r.frame.block, r.loc).cast(x.value, I1))
