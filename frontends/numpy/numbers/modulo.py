"""np.fmod, np.remainder, np.floor_divide and np.divmod of floats, and np.divmod of integers, by one division.

Sources: npy_divmod and npy_remainder in numpy/_core/src/npymath/npy_math_internal.h.src; float16 goes through float32,
as in numpy/_core/src/npymath/halffloat.cpp. Floor division and remainder of integers are NumPy's own loops, which
divide by one number by multiplications.
"""

from __future__ import annotations

from collections.abc import Callable

from tracebuf.frontends.numpy.numbers.bodies import Body
from tracebuf.ir.core import Value
from tracebuf.ir.types import F16, F32, ScalarType
from tracebuf.ops.arrays import linalg
from tracebuf.ops.scalars import arith, division


def fmod(b: Body, a: list[Value]) -> Value:
    """The rest with the sign of x."""
    return _through_single(b, a, lambda x, y: [_fmod(b, x, y)])[0]


def remainder(b: Body, a: list[Value]) -> Value:
    """The rest with the sign of y."""
    return _through_single(b, a, lambda x, y: [_parts(b, x, y)[1]])[0]


def floor_divide(b: Body, a: list[Value]) -> Value:
    """The floor of x / y."""
    return _through_single(b, a, lambda x, y: [_quotient(b, x, y)[0]])[0]


def divmod_of_floats(b: Body, a: list[Value]) -> list[Value]:
    """The floor of x / y, and the rest with the sign of y."""
    return _through_single(b, a, lambda x, y: list(_quotient(b, x, y)))


def divmod_of_integers(b: Body, a: list[Value]) -> list[Value]:
    """The same of integers; 0 where y is."""
    x, y = a
    element = linalg.element_type(x.type)
    zero, one = (b.constant(k, element) for k in (0, 1))
    quotient = b.add((division.DivUI if element.is_unsigned else division.DivSI).of(x, y))
    rest = b.add(arith.SubI.of(x, b.add(arith.MulI.of(quotient, y))))
    if not element.is_unsigned:
        apart = b.add(arith.CmpI.of("slt", b.add(arith.XorI.of(rest, y)), zero))
        down = b.add(arith.AndI.of(apart, b.add(arith.CmpI.of("ne", rest, zero))))
        quotient = b.add(arith.Select.of(down, b.add(arith.SubI.of(quotient, one)), quotient))
        rest = b.add(arith.Select.of(down, b.add(arith.AddI.of(rest, y)), rest))
    by_zero = b.add(arith.CmpI.of("eq", y, zero))
    return [b.add(arith.Select.of(by_zero, zero, v)) for v in (quotient, rest)]


def _through_single(b: Body, a: list[Value], compute: Callable[[Value, Value], list[Value]]) -> list[Value]:
    """Results of two floats; those of float16 are computed as float32."""
    element = linalg.element_type(a[0].type)
    wide: ScalarType = F32 if element is F16 else element
    x, y = (b.cast(v, wide) for v in a)
    return [b.cast(v, element) for v in compute(x, y)]


def _fmod(b: Body, x: Value, y: Value) -> Value:
    """NumPy's loop, of which native code has one of its own."""
    element = linalg.element_type(x.type)
    char = element.dtype.char
    return b.add(arith.Ufunc.of("fmod", f"{char}{char}->{char}", [x, y], element))


def _parts(b: Body, x: Value, y: Value) -> tuple[Value, Value, Value]:
    """(fmod, the rest with the sign of y, whether they differ by y)."""
    zero = b.constant(0.0, linalg.element_type(x.type))
    rest = _fmod(b, x, y)
    below, under = (b.add(arith.CmpF.of("olt", v, zero)) for v in (y, rest))
    some = b.add(arith.CmpF.of("une", rest, zero))
    other = b.add(arith.AndI.of(some, b.add(arith.CmpI.of("ne", below, under))))
    moved = b.add(arith.Select.of(other, b.add(arith.AddF.of(rest, y)), rest))
    return rest, b.add(arith.Select.of(some, moved, b.add(arith.CopySign.of(zero, y)))), other


def _quotient(b: Body, x: Value, y: Value) -> tuple[Value, Value]:
    """(floor of x / y, the rest with the sign of y)."""
    zero, one, half = (b.constant(v, linalg.element_type(x.type)) for v in (0.0, 1.0, 0.5))
    rest, moved, other = _parts(b, x, y)
    exact, quotient = b.add(arith.DivF.of(x, y)), b.add(arith.DivF.of(b.add(arith.SubF.of(x, rest)), y))
    quotient = b.add(arith.Select.of(other, b.add(arith.SubF.of(quotient, one)), quotient))
    floor = b.add(arith.Floor.of(quotient))
    above = b.add(arith.CmpF.of("ogt", b.add(arith.SubF.of(quotient, floor)), half))
    floor = b.add(arith.Select.of(above, b.add(arith.AddF.of(floor, one)), floor))
    whole = b.add(arith.CmpF.of("une", quotient, zero))
    floor = b.add(arith.Select.of(whole, floor, b.add(arith.CopySign.of(zero, exact))))
    by_zero = b.add(arith.CmpF.of("oeq", y, zero))
    return b.add(arith.Select.of(by_zero, exact, floor)), b.add(arith.Select.of(by_zero, rest, moved))
