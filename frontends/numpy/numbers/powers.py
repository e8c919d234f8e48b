"""Powers (rule N3): of Python's numbers, of NumPy's scalars and of arrays, each with rules of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.numbers import python_ints
from tracebuf.frontends.numpy.numbers.bodies import Body
from tracebuf.frontends.numpy.numbers.operands import Operand, check_maybe_python, loop_dtypes, scalar_value, weak_type
from tracebuf.frontends.numpy.numbers.python_ints import as_int_value, int_expr
from tracebuf.frontends.numpy.numbers.ufuncs import elementwise
from tracebuf.frontends.numpy.record.conditions import both, either, negation
from tracebuf.frontends.numpy.record.raises import ask, said
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.scalar_checks import compare_floats, is_finite, is_infinite
from tracebuf.frontends.numpy.record.values import ArrayRef, NpScalar, PyFloat, PyInt
from tracebuf.ir.core import Value
from tracebuf.ir.types import F16, F32, F64, I1, scalar_type
from tracebuf.ops.scalars import arith
from tracebuf.ops.scalars.libm import Libm


class UnknownSign(UnsupportedError):
    """The refusal of an int to a power whose sign is only known at run time. The interpreter traces it for each sign
    (`power_of_ints` of the prelude)."""


def python_power(r: Recorder, a: Any, b: Any) -> PyFloat | PyInt | int:
    """a ** b of Python's ints and floats.

    The result's type depends on the sign of an int's exponent (proved, or made part of the key by a guard), and for
    floats on the sign of the base (proved, or checked when the program runs).
    """
    ia, ib = int_expr(a), int_expr(b)
    if ia is not None and ib is not None:
        rising = r.ask_nonneg(ib)
        if rising:
            return as_int_value(python_ints.power(r, ia, ib))
        if rising is None:
            reason = "an int to a power whose sign is only known at run time is an int or a float"
            raise UnknownSign(reason, location=r.loc, instead="float(a) ** n, or a ** n if n >= 0 else ...")
    whole = ib is not None or (isinstance(b, float) and b.is_integer())
    base = scalar_value(r, a, F64)
    positive = ia is not None and bool(r.ask_nonneg(ia))
    exponent = scalar_value(r, b, F64)
    if not whole and not positive:
        check_real(r, base, None if isinstance(b, float) else exponent)
    return float_power(r, base, exponent)


def check_real(r: Recorder, base: Value, exponent: Value | None, python: Value | None = None) -> None:
    """Refuses a power of Python's, at run time, that is complex: of a base below 0 to an exponent that may be no whole
    number, None for one that is none; `python`: where the base is Python's."""
    if never_negative(base):
        return
    real = negation(r, compare_floats(r, "olt", base, 0.0))
    if exponent is not None:
        real = either(r, real, compare_floats(r, "oeq", exponent, r.emit(arith.Floor.of(exponent))))
    if python is not None:
        real = either(r, real, negation(r, python))
    reason = "a negative number to a power that is no whole number is complex: np.float64(x) ** y is always a float"
    r.check(real, UnsupportedError, reason)


def never_negative(x: Value, depth: int = 4) -> bool:
    """Whether a float is certainly not below 0, by the op that defines it (it may be NaN)."""
    op = x.defining_op
    if isinstance(op, arith.Constant):
        return bool(op.attrs["value"] >= 0)
    if isinstance(op, arith.AbsF | arith.Sqrt) or (isinstance(op, Libm) and op.attrs["function"] in ("exp", "hypot")):
        return True
    if isinstance(op, arith.MulF) and op.operand(0) is op.operand(1):
        return True
    sums = isinstance(op, arith.AddF | arith.MulF | arith.DivF)
    return sums and depth > 0 and all(never_negative(v, depth - 1) for v in op.operands)  # type: ignore[union-attr]


def float_power(r: Recorder, base: Value, exponent: Value, python: Value | None = None) -> PyFloat:
    """A power of floats that is a float, by libm's pow as Python has it: ZeroDivisionError for 0 to a negative power,
    OverflowError where finite numbers overflow; `python`: where that holds, else NumPy's infinities."""
    numpys = negation(r, python) if python is not None else None

    def holds(fine: Value) -> Value:
        return fine if numpys is None else either(r, fine, numpys)

    falling = both(r, compare_floats(r, "olt", exponent, 0.0), is_finite(r, exponent))
    fine = either(r, compare_floats(r, "une", base, 0.0), negation(r, falling))
    r.check(holds(fine), "ZeroDivisionError", said(pow, 0.0, -1.0))
    result = r.emit(Libm.of("pow", [base, exponent], F64))
    given = either(r, is_infinite(r, base), is_infinite(r, exponent))
    fine = either(r, negation(r, is_infinite(r, result)), given)
    r.check(holds(fine), "OverflowError", "(34, 'Numerical result out of range')")
    return PyFloat(result)


def scalar_power(r: Recorder, a: Operand, b: Operand) -> Any:
    """A power with a NumPy scalar: by the C library, as in NumPy's scalar arithmetic, where the result is a float of
    the type of one of them; else by the ufunc."""
    unsure = check_maybe_python((a, b), r.loc)
    dtype = loop_dtypes(np.power, (weak_type(a), weak_type(b)))[-1]
    numbers = is_whole(b) or isinstance(b, (float, PyFloat)) and not isinstance(b, np.generic)
    if unsure and isinstance(a, NpScalar) and a.python is not None and a.python.kind == "float" and numbers:
        base, exponent = scalar_value(r, a, F64), scalar_value(r, b, F64)
        if not is_whole(b):
            check_real(r, base, None if isinstance(b, float) else exponent, a.python.flag)
        return NpScalar(float_power(r, base, exponent, a.python.flag).value, F64, a.python)
    of_its_type = any(isinstance(x, (NpScalar, np.generic)) and weak_type(x) == dtype for x in (a, b))
    if dtype.kind != "f" or unsure or not of_its_type:
        return elementwise(r, np.power, [a, b])
    element = scalar_type(dtype)
    body, loop = Body(r.frame.block, r.loc), F32 if element is F16 else element  # a half's power is float32's
    base, exponent = (body.cast(scalar_value(r, x, element), loop) for x in (a, b))
    return NpScalar(body.cast(body.add(Libm.of("pow", [base, exponent], loop)), element), element)


def is_whole(x: Operand) -> bool:
    """Whether an operand is a known whole number of Python's."""
    return type(x) is int or (type(x) is float and x.is_integer())


def power_form(r: Recorder, a: ArrayRef, b: Operand) -> tuple[np.ufunc, list[Operand]]:
    """The ufunc that array ** x runs: a scalar exponent with a fast path takes it (rule N3; array_power in NumPy's
    number.c)."""
    if isinstance(b, PyInt) and (a.element.is_complex or a.element is I1):
        b = next((n for n in (-1, 2) if r.ask_equal(b.expr, n)), b)
    plain = isinstance(b, (int, float)) and not isinstance(b, (bool, np.generic))
    if a.element.is_complex:
        quick = {(int, -1): np.reciprocal, (int, 2): np.square, (float, 0.5): np.sqrt}.get((type(b), b))  # type: ignore[arg-type]
        return (quick, [a]) if plain and quick is not None else (np.power, [a, b])
    if plain and a.element.is_float:
        fast = {1.0: np.positive, -1.0: np.reciprocal, 0.5: np.sqrt, 2.0: np.square}.get(
            ask(float, b)
        )
        if fast is not None:
            return fast, [a]
    if plain and not a.element.is_float and b == 2 and isinstance(b, int):
        return np.square, [a]
    return np.power, [a, b]
