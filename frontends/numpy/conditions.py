"""Conditions on scalars while recording: small pieces of which the front end's checks are made."""

from __future__ import annotations

import math
from functools import reduce

from tracebuf.frontends.numpy.recorder import Recorder
from tracebuf.ir.core import Value
from tracebuf.ir.types import F64, I1
from tracebuf.ops import arith


def compare_floats(r: Recorder, predicate: str, a: Value, b: Value | float) -> Value:
    """a OP b on f64; predicate: oeq, une, olt, ole, ogt, oge, uno."""
    other = b if isinstance(b, Value) else r.constant(b, F64)
    return r.add(arith.CmpF.of(predicate, a, other, r.loc)).result


def is_nan(r: Recorder, x: Value) -> Value:
    return compare_floats(r, "uno", x, x)


def is_number(r: Recorder, x: Value) -> Value:
    """Not NaN."""
    return compare_floats(r, "oeq", x, x)


def is_infinite(r: Recorder, x: Value) -> Value:
    return compare_floats(r, "oeq", r.add(arith.AbsF.of(x, r.loc)).result, math.inf)


def is_finite(r: Recorder, x: Value) -> Value:
    return compare_floats(r, "olt", r.add(arith.AbsF.of(x, r.loc)).result, math.inf)


def inverse(r: Recorder, condition: Value) -> Value:
    return r.add(arith.XorI.of(condition, r.constant(True, I1), r.loc)).result


def either(r: Recorder, *conditions: Value) -> Value:
    return reduce(lambda a, b: r.add(arith.OrI.of(a, b, r.loc)).result, conditions)


def both(r: Recorder, *conditions: Value) -> Value:
    return reduce(lambda a, b: r.add(arith.AndI.of(a, b, r.loc)).result, conditions)
