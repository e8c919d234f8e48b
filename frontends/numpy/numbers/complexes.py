"""Complex elements of elementwise functions: conversions, and the scalar body of each ufunc that has a native form.

Ufuncs that are not in `COMPLEX_RULES` run NumPy's own inner loops. Orders are lexicographic, and False where a NaN
decides (the macros CLT to CGE of NumPy's loops.c.src).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tracebuf.frontends.numpy.numbers.bodies import Body, imaginary, real
from tracebuf.ir.core import Value
from tracebuf.ir.types import I1
from tracebuf.ops.scalars import arith, complex

Rule = Callable[["Body", list[Value]], Value]


def _two(op: type[arith.BinaryOp]) -> Rule:
    return lambda b, a: b.add(op.of(a[0], a[1]))


def _one(op: type[arith.UnaryOp]) -> Rule:
    return lambda b, a: b.add(op.of(a[0]))


def _equality(op: type[complex.Eq] | type[complex.Neq]) -> Rule:
    return lambda b, a: b.add(op.of(a[0], a[1]))


def _ordered(strict: str, predicate: str) -> Rule:
    """A comparison: the real parts decide unless an imaginary part is NaN; where they are equal, the imaginary parts
    do."""

    def rule(b: Body, a: list[Value]) -> Value:
        (xr, xi), (yr, yi) = ((real(b, v), imaginary(b, v)) for v in a)
        compare: Callable[[str, Value, Value], Value] = lambda p, v, w: b.add(arith.CmpF.of(p, v, w))  # noqa: E731
        decided = b.add(arith.AndI.of(compare(strict, xr, yr), compare("ord", xi, yi)))
        tied = b.add(arith.AndI.of(compare("oeq", xr, yr), compare(predicate, xi, yi)))
        return b.add(arith.OrI.of(decided, tied))

    return rule


LESS, LESS_EQUAL = _ordered("olt", "olt"), _ordered("olt", "ole")
GREATER, GREATER_EQUAL = _ordered("ogt", "ogt"), _ordered("ogt", "oge")


def _extreme(wins: Rule, nan: int) -> Rule:
    """The first operand where it wins, or where operand `nan` is NaN; else the second."""

    def rule(b: Body, a: list[Value]) -> Value:
        take = b.add(arith.OrI.of(wins(b, a), is_nan(b, a[nan : nan + 1])))
        return b.add(arith.Select.of(take, a[0], a[1]))

    return rule


def is_nan(b: Body, a: list[Value]) -> Value:
    """Whether either part is NaN."""
    re, im = real(b, a[0]), imaginary(b, a[0])
    return b.add(arith.CmpF.of("uno", re, im))


def _infinite(predicate: str, together: type[arith.BinaryOp]) -> Rule:
    """A test of the magnitudes of both parts against infinity by `predicate`, combined by `together`."""

    def rule(b: Body, a: list[Value]) -> Value:
        tests = []
        for part in (real(b, a[0]), imaginary(b, a[0])):
            size = b.add(arith.AbsF.of(part))
            infinity = b.constant(float("inf"), size.type)  # type: ignore[arg-type]
            tests.append(b.add(arith.CmpF.of(predicate, size, infinity)))
        return b.add(together.of(tests[0], tests[1]))

    return rule


def logical_not(b: Body, a: list[Value]) -> Value:
    return b.add(arith.XorI.of(b.cast(a[0], I1), b.constant(True, I1)))


def _logical(op: type[arith.BinaryOp]) -> Rule:
    def rule(b: Body, a: list[Value]) -> Value:
        return b.add(op.of(b.cast(a[0], I1), b.cast(a[1], I1)))

    return rule


COMPLEX_RULES: dict[np.ufunc, Rule] = {
    np.add: _two(complex.Add),
    np.subtract: _two(complex.Sub),
    np.multiply: _two(complex.Mul),
    np.true_divide: _two(complex.Div),
    np.negative: _one(complex.Neg),
    np.conjugate: _one(complex.Conj),
    np.positive: lambda b, a: a[0],
    np.square: lambda b, a: b.add(complex.Mul.of(a[0], a[0])),
    np.equal: _equality(complex.Eq),
    np.not_equal: _equality(complex.Neq),
    np.less: LESS,
    np.less_equal: LESS_EQUAL,
    np.greater: GREATER,
    np.greater_equal: GREATER_EQUAL,
    np.maximum: _extreme(GREATER_EQUAL, 0),
    np.minimum: _extreme(LESS_EQUAL, 0),
    np.fmax: _extreme(GREATER_EQUAL, 1),
    np.fmin: _extreme(LESS_EQUAL, 1),
    np.isnan: is_nan,
    np.isinf: _infinite("oeq", arith.OrI),
    np.isfinite: _infinite("olt", arith.AndI),
    np.logical_not: logical_not,
    np.logical_and: _logical(arith.AndI),
    np.logical_or: _logical(arith.OrI),
    np.logical_xor: _logical(arith.XorI),
}
"""By ufunc: the body of its loop on complex elements."""


def rounded_product(b: Body, x: Value, y: Value) -> Value:
    """np.multiply where NumPy folds elements that lie next to each other: each product of components is rounded."""
    (p, q), (u, v) = ((real(b, a), imaginary(b, a)) for a in (x, y))
    re = b.add(arith.SubF.of(b.add(arith.MulF.of(p, u)), b.add(arith.MulF.of(q, v))))
    im = b.add(arith.AddF.of(b.add(arith.MulF.of(p, v)), b.add(arith.MulF.of(q, u))))
    return b.add(complex.Create.of(re, im))
