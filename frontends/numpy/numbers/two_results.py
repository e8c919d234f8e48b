"""Ufuncs with two results, np.divmod, np.modf and np.frexp: one loop nest with two outs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.numbers import modulo
from tracebuf.frontends.numpy.numbers.bodies import Body
from tracebuf.frontends.numpy.numbers.rules import apply_rule
from tracebuf.frontends.numpy.record.raises import Raises
from tracebuf.frontends.numpy.record.values import ArrayRef
from tracebuf.ir.core import Value
from tracebuf.ir.types import F16, F32, F64, I16, I32, I64, ScalarType
from tracebuf.ops.arrays import linalg
from tracebuf.ops.scalars import arith, casts, integers

PairRule = Callable[[Body, list[Value], tuple[np.dtype, ...]], list[Value]]
FORMATS: dict[ScalarType, tuple[ScalarType, int, int]] = {F16: (I16, 10, 15), F32: (I32, 23, 127), F64: (I64, 52, 1023)}
"""By float type: the integer type of its width, the bits of its mantissa, the bias of its exponent."""


def _divmod(b: Body, a: list[Value], dtypes: tuple[np.dtype, ...]) -> list[Value]:
    return (modulo.divmod_of_floats if dtypes[0].kind == "f" else modulo.divmod_of_integers)(b, a)


def _modf(b: Body, a: list[Value], dtypes: tuple[np.dtype, ...]) -> list[Value]:
    """(fractional part, integral part), both with the sign of x; the fractional part of an infinity is 0."""
    (x,) = a
    whole = b.add(arith.Trunc.of(x))
    infinite = apply_rule(np.isinf, b, a, (dtypes[0], np.dtype(np.bool_)))
    rest = b.add(arith.SubF.of(x, whole))
    rest = b.add(arith.Select.of(infinite, b.constant(0.0, linalg.element_type(x.type)), rest))
    return [b.add(arith.CopySign.of(rest, x)), whole]


def _frexp(b: Body, a: list[Value], dtypes: tuple[np.dtype, ...]) -> list[Value]:
    """x = m * 2**e with 1/2 <= |m| < 1, by its bits; (x, 0) where x is 0 or not finite. A subnormal number is scaled
    first."""
    (x,) = a
    element = linalg.element_type(x.type)
    integer, point, bias = FORMATS[element]
    size = b.add(arith.AbsF.of(x))
    least = b.constant(2.0 ** (1 - bias), element)
    small = b.add(arith.CmpF.of("olt", size, least))
    scaled = b.add(arith.MulF.of(x, b.constant(2.0 ** (point + 2), element)))
    bits = b.add(casts.Bitcast.of(b.add(arith.Select.of(small, scaled, x)), integer))
    shifted = b.add(integers.ShRSI.of(bits, b.constant(point, integer)))
    raw = b.add(arith.AndI.of(shifted, b.constant(2 * bias + 1, integer)))
    low, usually = (b.constant(bias - 1 + (point + 2) * k, integer) for k in (1, 0))
    exponent = b.add(arith.SubI.of(raw, b.add(arith.Select.of(small, low, usually))))
    fraction = b.add(arith.AndI.of(bits, b.constant(~((2 * bias + 1) << point), integer)))
    half = b.add(arith.OrI.of(fraction, b.constant((bias - 1) << point, integer)))
    some = b.add(arith.CmpF.of("ogt", size, b.constant(0.0, element)))
    finite = b.add(arith.CmpF.of("olt", size, b.constant(float("inf"), element)))
    usual = b.add(arith.AndI.of(some, finite))
    mantissa = b.add(arith.Select.of(usual, b.add(casts.Bitcast.of(half, element)), x))
    return [mantissa, b.cast(b.add(arith.Select.of(usual, exponent, b.constant(0, integer))), I32)]


PAIRS: dict[np.ufunc, PairRule] = {np.divmod: _divmod, np.modf: _modf, np.frexp: _frexp}
"""By ufunc: the function that records its body, and gives both results."""


def outs_of(ufunc: np.ufunc, positional: Sequence[Any], out: Any) -> list[ArrayRef | None]:
    """The arrays that results are stored into: the positional ones after the operands, or `out=`."""
    if out is not None and not isinstance(out, tuple):
        raise Raises(TypeError("'out' must be a tuple of arrays"))
    given = [*positional, *[None] * (ufunc.nout - len(positional))] if out is None else list(out)
    if len(given) != ufunc.nout:
        raise Raises(ValueError("The 'out' tuple must have exactly one entry per ufunc output"))
    if not all(x is None or isinstance(x, ArrayRef) for x in given):
        raise Raises(TypeError("return arrays must be of ArrayType"))
    return given
