"""Python's ints: exact as expressions, 64 bits wide where they are computed (rule N1).

A sum, difference or product that certainly fits, by the ranges of its symbols or by a guard on entry values, stays an
expression, and so does x + c; any other is computed in place, with OverflowError where 64 bits do not hold it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tracebuf.frontends.numpy.numbers.weak_ints import surely_fits
from tracebuf.frontends.numpy.record.conditions import both, either, negation
from tracebuf.frontends.numpy.record.raises import BY_ZERO
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.regions import OVERFLOW
from tracebuf.frontends.numpy.record.scalar_checks import compare_floats
from tracebuf.frontends.numpy.record.sizes import INT_MAX, INT_MIN
from tracebuf.frontends.numpy.record.values import NpScalar, PyBool, PyComplex, PyFloat, PyInt
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, Expr, Sym, add, constant_part, floordiv, mod, mul, neg, sub
from tracebuf.ir.types import C128, F64, I1, I64, INDEX, ScalarType
from tracebuf.ops.scalars import arith, casts, division, integers

EXACT = 2**53
"""Ints up to this magnitude convert to float64 exactly."""
COMBINE = {
    "Add": (add, arith.AddI, "add"), "Sub": (sub, arith.SubI, "sub"), "Mult": (mul, arith.MulI, "mul"),
}  # fmt: skip
"""By operator: its expression, the op that computes it in 64 bits, and its name in the overflow test."""
BITS = {"BitAnd": arith.AndI, "BitOr": arith.OrI, "BitXor": arith.XorI}
"""By operator: the op that computes it."""


def int_expr(x: object) -> Dim | None:
    """A Python int as an expression; None for anything else (bools included)."""
    if isinstance(x, PyInt):
        return x.expr
    return x if type(x) is int else None


def bool_as_int(r: Recorder, x: Any) -> Any:
    """A number in arithmetic: Python's bools count as ints."""
    if isinstance(x, PyBool):
        if x.nonneg is not None and r.facts.interval(e := add(x.nonneg, 1)) in ((0, 1), (0, 0), (1, 1)):
            return as_int_value(e)  # an argument: what depends on it may become, or is, part of the key
        return int_of_value(r, r.emit(casts.ExtUI.of(x.value, I64)), 0, 1)
    return int(x) if isinstance(x, bool) else x


def as_int_value(e: Dim) -> PyInt | int:
    """The Python int of an expression: a plain int if it is constant."""
    return e if isinstance(e, int) else PyInt(e)


def opaque(r: Recorder, value: Value, lo: int | None = None, hi: int | None = None) -> Expr:
    """A computed index or i64 value as a new symbol."""
    if value.type is not INDEX:
        value = r.emit(arith.IndexCast.of(value, INDEX))
    return r.symbol(value, f"i{len(r.func.symbols)}", lo, hi)


def int_of_value(r: Recorder, value: Value, lo: int | None = None, hi: int | None = None) -> PyInt:
    """The Python int that an SSA value holds."""
    return PyInt(opaque(r, value, lo, hi))


def bounds(r: Recorder, e: Dim) -> tuple[int, int]:
    """Constant bounds of an expression; those of 64 bits where nothing better is known."""
    low, high = r.facts.interval(e)
    return INT_MIN if low is None else max(low, INT_MIN), INT_MAX if high is None else min(high, INT_MAX)


def is_small(r: Recorder, e: Dim) -> bool:
    """Whether an int certainly converts to float64 exactly."""
    low, high = bounds(r, e)
    return -EXACT <= low and high <= EXACT


def is_exactly(r: Recorder, x: Any, element: ScalarType) -> bool:
    """Whether a number has this element type, or is a Python number that the element type represents exactly."""
    if isinstance(x, (NpScalar, np.generic)):
        return (x.element.dtype if isinstance(x, NpScalar) else x.dtype) == element.dtype
    if isinstance(x, PyFloat):
        return element is F64
    if element.is_complex:
        same = element is C128 and (isinstance(x, PyComplex) or type(x) is complex)
        return same or is_exactly(r, x, element.component)
    if isinstance(x, PyInt):
        return surely_fits(r, x, element) if element.is_integer else element is F64 and is_small(r, x.expr)
    if type(x) not in (int, float) or (type(x) is float and not element.is_float):
        return False
    if not element.is_float:
        return bool(element.bounds[0] <= x <= element.bounds[1])
    with np.errstate(all="ignore"):
        return bool(x != x or (abs(x) <= EXACT or type(x) is float) and float(element.dtype.type(x)) == x)


def minus(r: Recorder, a: Dim) -> Dim:
    """-a of an int."""
    return combine(r, "Sub", 0, a)


def combine(r: Recorder, name: str, a: Dim, b: Dim) -> Dim:
    """a + b, a - b or a * b."""
    exact, op, operation = COMBINE[name]
    e = r.facts.canon(exact(a, b))
    if isinstance(e, int) or is_offset(e) or r.fits(e) or r.narrow(e):
        return e
    x, y = r.index(a), r.index(b)
    wraps = r.emit(integers.Overflows.of(operation, x, y))
    r.check(negation(r, wraps), "OverflowError", OVERFLOW)
    low, high = r.facts.interval(e)
    return opaque(r, r.emit(op.of(x, y)), clip(low), clip(high))


def clip(bound: int | None) -> int | None:
    """A bound limited to 64 bits."""
    return None if bound is None else max(INT_MIN, min(INT_MAX, bound))


def is_offset(e: Expr) -> bool:
    """Whether an expression is x + c, which keeps its relation to x."""
    rest = sub(e, constant_part(e))
    return (
        abs(constant_part(e)) <= EXACT
        and isinstance(rest, Expr)
        and any(isinstance(m[0], Sym) and len(m) == 1 and c == 1 for m, c in rest.terms.items() if len(rest.terms) == 1)
    )


# -- division
def divide(r: Recorder, name: str, a: Dim, b: Dim) -> Dim:
    """`//` and `%`: an expression where the divisor's sign is known and the dividend fits 64 bits, else computed in
    place."""
    positive = r.ask_nonneg(sub(b, 1))
    negative = positive is False and r.ask_nonneg(sub(neg(b), 1))
    if positive is False and negative is False:
        r.fail("ZeroDivisionError", BY_ZERO[name, int])
    if positive or negative:
        x, y = (a, b) if positive else (neg(a), neg(b))
        e = r.facts.canon(floordiv(x, y) if name == "FloorDiv" else mod(x, y) if positive else neg(mod(x, y)))
        if r.fits(e) or r.narrow(e):
            return e
    return computed_division(r, name, a, b, bool(positive))


def computed_division(r: Recorder, name: str, a: Dim, b: Dim, positive: bool) -> Dim:
    """`//` and `%` at run time; the operands that the processor traps on (x // 0, -2**63 // -1) never reach it
    (rule N4)."""
    x, y = r.index(a), r.index(b)
    low, high = bounds(r, b)
    if positive:
        quotient = r.emit(division.FloorDivIndex.of(x, y))
    else:
        r.check(r.compare("ne", b, 0), "ZeroDivisionError", BY_ZERO[name, int])
        unit = either(r, r.compare("eq", b, -1), r.compare("eq", b, 0))
        sound = r.emit(arith.Select.of(unit, r.index(1), y))
        quotient = r.emit(division.FloorDivIndex.of(x, sound))
        if name == "FloorDiv":
            most = both(r, unit, r.compare("eq", a, INT_MIN))
            r.check(negation(r, most), "OverflowError", OVERFLOW)
            turned = r.emit(arith.SubI.of(r.index(0), x))
            quotient = r.emit(arith.Select.of(unit, turned, quotient))
        y = sound
    if name == "FloorDiv":
        return opaque(r, quotient)
    rest = r.emit(arith.SubI.of(x, r.emit(arith.MulI.of(quotient, y))))
    found = opaque(r, rest, min(low + 1, 0), max(high - 1, 0))
    if positive:
        r.facts.assume_nonneg(sub(sub(b, 1), found))
    return found


# -- bits
def bitwise(r: Recorder, name: str, a: Dim, b: Dim) -> Dim:
    """`&`, `|` and `^`."""
    for x, mask in ((a, b), (b, a)):
        if isinstance(mask, int) and mask > INT_MAX and name == "BitAnd" and mask < 2 * 2**63:
            fits = r.compare("sge", x, 0)  # of a negative x the mask leaves what 64 bits do not hold
            r.check(fits, "OverflowError", OVERFLOW)
            return bitwise(r, name, x, mask & INT_MAX)
    value = r.emit(BITS[name].of(r.i64(a), r.i64(b)))
    (low_a, high_a), (low_b, high_b) = bounds(r, a), bounds(r, b)
    if name == "BitAnd" and max(low_a, low_b) >= 0:
        return opaque(r, value, 0, min(high for low, high in ((low_a, high_a), (low_b, high_b)) if low >= 0))
    if min(low_a, low_b) >= 0:
        return opaque(r, value, 0, (1 << max(high_a.bit_length(), high_b.bit_length())) - 1)
    return opaque(r, value)


def shift(r: Recorder, name: str, a: Dim, count: Dim) -> Dim:
    """`<<` and `>>`; a negative count raises ValueError."""
    r.require_nonneg(count, "ValueError", "negative shift count")
    if isinstance(count, int) and count < 63:
        return combine(r, "Mult", a, 2**count) if name == "LShift" else divide(r, "FloorDiv", a, 2**count)
    low, high = bounds(r, a)
    least, most = (min(63, max(0, c)) for c in bounds(r, count))
    x, wanted = r.i64(a), r.i64(count if not isinstance(count, int) else 64)
    places = r.emit(arith.MinSI.of(wanted, r.constant(63, I64)))
    if name == "RShift":
        shifted = r.emit(integers.ShRSI.of(x, places))
        return opaque(r, shifted, min(low >> least, low >> most), max(high >> least, high >> most))
    shifted = r.emit(integers.ShLI.of(x, places))
    if max(-low, high) << most > INT_MAX:
        back = r.emit(integers.ShRSI.of(shifted, places))
        same = r.emit(arith.CmpI.of("eq", back, x))
        whole = r.emit(arith.CmpI.of("eq", places, wanted))
        none = r.emit(arith.CmpI.of("eq", x, r.constant(0, I64)))
        r.check(both(r, same, either(r, whole, none)), "OverflowError", OVERFLOW)
    return opaque(r, shifted, clip(min(low << least, low << most)), clip(max(high << least, high << most)))


# -- powers
def power(r: Recorder, a: Dim, n: Dim) -> Dim:
    """a ** n for n >= 0, by squaring."""
    if isinstance(n, int):
        result: Dim = 1
        for bit in bin(n)[2:] if n else "":
            result = combine(r, "Mult", result, result)
            result = combine(r, "Mult", result, a) if bit == "1" else result
        return result
    if isinstance(a, int) and a > 0 and a & (a - 1) == 0:
        return shift(r, "LShift", 1, combine(r, "Mult", n, a.bit_length() - 1))
    return computed_power(r, a, n)


def computed_power(r: Recorder, a: Dim, n: Dim) -> Dim:
    """a ** n at run time, by squaring. Six steps are enough: a larger exponent overflows unless a is 0, 1 or -1, where
    its lowest bit decides."""
    below = r.compare("slt", n, 64)
    trivial = both(r, r.compare("sge", a, -1), r.compare("sle", a, 1))
    r.check(either(r, below, trivial), "OverflowError", OVERFLOW)
    exponent, square = r.i64(n), r.i64(a)
    even = r.emit(arith.AndI.of(exponent, r.constant(1, I64)))
    even = r.emit(arith.AddI.of(even, r.constant(2, I64)))
    exponent = r.emit(arith.Select.of(below, exponent, even))
    result, zero, one = r.constant(1, I64), r.constant(0, I64), r.constant(1, I64)
    lost = wrapped = r.constant(False, I1)
    for step in range(6):
        bit = r.emit(arith.AndI.of(exponent, r.constant(1 << step, I64)))
        used = r.emit(arith.CmpI.of("ne", bit, zero))
        factor = r.emit(arith.Select.of(used, square, one))
        wraps = r.emit(integers.Overflows.of("mul", result, factor))
        lost = either(r, lost, wraps, both(r, used, wrapped))
        result = r.emit(arith.MulI.of(result, factor))
        wrapped = either(r, wrapped, r.emit(integers.Overflows.of("mul", square, square)))
        square = r.emit(arith.MulI.of(square, square))
    r.check(negation(r, lost), "OverflowError", OVERFLOW)
    return opaque(r, result, 1 if r.ask_nonneg(sub(a, 1)) else None)


# -- beside floats
def compare_with_float(r: Recorder, predicate: str, e: Dim, f: Value) -> PyBool:
    """int OP float as Python compares them: by their exact values."""
    value = r.i64(e)
    near = r.emit(casts.SIToFP.of(value, F64))
    if is_small(r, e):
        return PyBool(compare_floats(r, ("u" if predicate == "ne" else "o") + predicate, near, f))
    inside = both(r, compare_floats(r, "oge", f, -(2.0**63)), compare_floats(r, "olt", f, 2.0**63))
    rounding = arith.Ceil if predicate in ("lt", "ge") else arith.Floor
    whole = r.emit(rounding.of(f))
    limit = r.emit(casts.FPToSI.of(whole, I64))
    sign = predicate if predicate in ("eq", "ne") else "s" + predicate
    held = r.emit(arith.CmpI.of("eq" if sign == "ne" else sign, value, limit))
    if predicate in ("eq", "ne"):
        equal = both(r, inside, held, compare_floats(r, "oeq", whole, f))
        return PyBool(equal if predicate == "eq" else negation(r, equal))
    beyond = compare_floats(r, *(("oge", f, 2.0**63) if predicate in ("lt", "le") else ("olt", f, -(2.0**63))))
    return PyBool(either(r, beyond, both(r, inside, held)))
