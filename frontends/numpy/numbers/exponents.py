"""Checks of integer exponents: NumPy raises ValueError for integers to negative integer powers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tracebuf.frontends.numpy.numbers.bodies import Body
from tracebuf.frontends.numpy.numbers.generics import any_true, build
from tracebuf.frontends.numpy.numbers.operands import BOOL, Operand, as_number, scalar_value, weak_type
from tracebuf.frontends.numpy.numbers.rules import apply_rule
from tracebuf.frontends.numpy.record.conditions import either, negation
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.scalar_checks import or_empty
from tracebuf.frontends.numpy.record.values import ArrayRef, GuardedRef, NpScalar, PyInt
from tracebuf.ir.core import Value
from tracebuf.ir.dims import sub
from tracebuf.ir.types import I1, I64, ScalarType
from tracebuf.ops.arrays import linalg
from tracebuf.ops.scalars import arith

NEGATIVE = "Integers to negative integer powers are not allowed."


def check_exponent(r: Recorder, exponent: Operand, arrays: Sequence[ArrayRef], mask: Operand | None = None) -> None:
    """Raises ValueError for integers to a negative power, unless one of `arrays` has no elements, or a mask (`where=`)
    leaves them out: NumPy's loop must never meet one."""
    exponent = as_number(r, exponent)
    if isinstance(exponent, ArrayRef) and exponent.dtype.kind == "i":
        return check_exponents(r, exponent, arrays, mask)
    filled = all(r.facts.nonneg(sub(d, 1)) for a in arrays for d in a.shape)
    if isinstance(exponent, PyInt):
        known = r.ask_nonneg(exponent.expr)
    elif isinstance(exponent, (int, np.integer)):
        known = bool(exponent >= 0)
    else:
        known = True if np.dtype(weak_type(exponent)).kind in "bu" else None
    if known is False and filled and mask is None:
        r.fail("ValueError", NEGATIVE)
    if not known:
        value = scalar_value(r, exponent, I64)
        ok = r.emit(arith.CmpI.of("sge", value, r.constant(0, I64)))
        if mask is not None:
            some = any_true(r, mask) if isinstance(mask, ArrayRef) else scalar_value(r, mask, I1)
            ok = either(r, ok, negation(r, some))
        r.check(or_no_elements(r, ok, arrays), "ValueError", NEGATIVE)


def exponents_under(r: Recorder, exponent: Operand, mask: Operand, element: ScalarType) -> Operand:
    """The exponents in an element type, with 1 in the place of those that a mask leaves out: NumPy's loop, which raises
    for a negative one, is run on all."""

    def chosen(body: Body, args: list[Value]) -> Value:
        return body.add(arith.Select.of(args[1], body.cast(args[0], element), body.constant(1, element)))

    return build(r, chosen, [exponent, mask], [element, I1], element)


def check_exponents(
    r: Recorder, exponents: ArrayRef, arrays: Sequence[ArrayRef] = (), mask: Operand | None = None
) -> None:
    """Raises ValueError where an element of an array of exponents is negative, unless one of `arrays` is empty, or a
    mask leaves it out."""
    if (same := filled_with(r, exponents)) is not None:
        return check_exponent(r, same, arrays, mask)
    element, dtype = exponents.element, exponents.dtype

    def is_negative(body: Body, args: list[Value]) -> Value:
        found = apply_rule(np.less, body, args[:2], (dtype, dtype, BOOL))
        return found if mask is None else body.add(arith.AndI.of(found, args[2]))

    operands: list[Operand] = [exponents, 0] if mask is None else [exponents, 0, mask]
    negative = build(r, is_negative, operands, [element, element, I1][: len(operands)], I1)
    found = any_true(r, negative) if isinstance(negative, ArrayRef) else scalar_value(r, negative, I1)
    r.check(or_no_elements(r, negation(r, found), arrays), "ValueError", NEGATIVE)


def filled_with(r: Recorder, a: ArrayRef) -> NpScalar | None:
    """The number that is in every element of an array just made of one (np.full); None where that is not known."""
    if isinstance(a, GuardedRef) or not a.view.is_whole(a.storage.shape):
        return None
    made = r.read(a).defining_op
    return NpScalar(made.operands[0], a.element) if isinstance(made, linalg.Fill) else None


def or_no_elements(r: Recorder, ok: Value, arrays: Sequence[ArrayRef]) -> Value:
    """The condition, or that one of the arrays has no elements."""
    return or_empty(r, ok, (d for a in arrays for d in a.shape))
