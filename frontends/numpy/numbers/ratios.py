"""`int(n / 2)`, `math.ceil(n / k)` and `int(1 + n / 2)` of ints as ints: what a float that is a ratio of two ints may
be wrong by does not reach the next int.

A quotient n / d is an int exactly where d divides n, and then Python's float is it; else the next int is 1 / d away at
least, and the few roundings of a quotient and a small sum are less than that for n up to 2**50.
"""

from __future__ import annotations

from typing import Literal

from tracebuf.frontends.numpy.numbers.python_ints import as_int_value, int_expr
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import PyFloat, PyInt
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, add, floordiv, neg, sub

MOST = 2**50
"""The largest dividend."""
SMALL = 2**20
"""The largest divisor, and the largest int that is added."""


def note(r: Recorder, name: str, a: object, b: object, result: PyFloat) -> None:
    """Notes a result of Python's numbers that is such a ratio: a quotient, or a sum of one and a small known int."""
    of_a = r.ratios.get(a.value) if isinstance(a, PyFloat) else None
    of_b = r.ratios.get(b.value) if isinstance(b, PyFloat) else None
    if name == "Div" and type(b) is int and 0 < b <= SMALL:
        dividend: Dim | None = int_expr(a)
        if dividend is not None:
            r.ratios[result.value] = dividend, b
        elif of_a is not None and of_a[1] * b <= SMALL:
            r.ratios[result.value] = of_a[0], of_a[1] * b
    elif name in ("Add", "Sub") and of_a is not None and type(b) is int and abs(b) <= SMALL:
        how = add if name == "Add" else sub
        r.ratios[result.value] = how(of_a[0], b * of_a[1]), of_a[1]
    elif name == "Add" and of_b is not None and type(a) is int and abs(a) <= SMALL:
        r.ratios[result.value] = add(of_b[0], a * of_b[1]), of_b[1]


def as_int(r: Recorder, x: Value, how: Literal["zero", "up", "down"] = "zero") -> PyInt | int | None:
    """The int next to a float in a direction, as an expression of the call's ints; None where it is no ratio of those.
    Guards keep the dividend in its range."""
    found = r.ratios.get(x)
    if found is None or not r.entry_only(found[0]):
        return None
    dividend, divisor = found
    positive = r.facts.nonneg(dividend) or r.ask_nonneg(dividend)
    if positive is None:
        return None
    room = sub(MOST, dividend) if positive else add(MOST, dividend)
    if not r.facts.nonneg(room) and r.ask_nonneg(room) is not True:
        return None
    up = how == "up" or (how == "zero" and not positive)
    return as_int_value(neg(floordiv(neg(dividend), divisor)) if up else floordiv(dividend, divisor))
