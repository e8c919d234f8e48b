"""The algebra of conditions: `and`, `or` and `not` of values of type i1 in the region being recorded."""

from __future__ import annotations

from functools import reduce

from tracebuf.frontends.numpy.record.regions import Regions
from tracebuf.ir.core import Value
from tracebuf.ir.types import I1
from tracebuf.ops.scalars import arith


def negation(r: Regions, condition: Value) -> Value:
    """The negation of a condition."""
    return r.emit(arith.XorI.of(condition, r.constant(True, I1)))


def negated(condition: Value) -> Value | None:
    """What a condition is the negation of, if it is one."""
    op = condition.defining_op
    one = op.operands[1].defining_op if isinstance(op, arith.XorI) else None
    return op.operands[0] if op is not None and isinstance(one, arith.Constant) and one.attrs["value"] is True else None


def either(r: Regions, *conditions: Value) -> Value:
    """Whether one of the conditions holds."""
    return reduce(lambda a, b: r.emit(arith.OrI.of(a, b)), conditions)


def both(r: Regions, *conditions: Value) -> Value:
    """Whether all conditions hold."""
    return reduce(lambda a, b: r.emit(arith.AndI.of(a, b)), conditions)
