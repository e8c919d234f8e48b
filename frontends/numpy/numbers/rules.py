"""The scalar body of each ufunc that has a native form; the others run NumPy's own inner loop by pointer.

To give a ufunc a native form, add a line to `RULES`; complex numbers have theirs in `complexes`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tracebuf.frontends.numpy.numbers import modulo
from tracebuf.frontends.numpy.numbers.bodies import Body
from tracebuf.frontends.numpy.numbers.complexes import COMPLEX_RULES
from tracebuf.ir.core import Value
from tracebuf.ir.types import I1, scalar_type
from tracebuf.ops.arrays import linalg
from tracebuf.ops.scalars import arith, division, integers
from tracebuf.running.ufuncs import name_of_ufunc

Rule = Callable[[Body, list[Value]], Value]


def _two(**ops: type[arith.BinaryOp]) -> dict[str, Rule]:
    """A binary op class for each kind of operands (b, i, u, f), as rules."""
    return {kind: lambda b, a, op=op: b.add(op.of(a[0], a[1])) for kind, op in ops.items()}  # type: ignore[misc]


def _one(op: type[arith.UnaryOp]) -> Rule:
    return lambda b, a: b.add(op.of(a[0]))


def _compare(name: str) -> dict[str, Rule]:
    ordered = ("u" if name == "ne" else "o") + name
    same = name in ("eq", "ne")
    return {
        "f": lambda b, a: b.add(arith.CmpF.of(ordered, a[0], a[1])),
        "i": lambda b, a: b.add(arith.CmpI.of(name if same else "s" + name, a[0], a[1])),
        **dict.fromkeys("bu", lambda b, a: b.add(arith.CmpI.of(name if same else "u" + name, a[0], a[1]))),
    }


def _logical(op: type[arith.BinaryOp]) -> dict[str, Rule]:
    rule: Rule = lambda b, a: b.add(op.of(b.cast(a[0], I1), b.cast(a[1], I1)))  # noqa: E731
    return dict.fromkeys("bif", rule)


def _not(b: Body, a: list[Value]) -> Value:
    return b.add(arith.XorI.of(b.cast(a[0], I1), b.constant(True, I1)))


def _same(b: Body, a: list[Value]) -> Value:
    return a[0]


def _is_abs(predicate: str) -> Rule:
    def rule(b: Body, a: list[Value]) -> Value:
        infinity = b.constant(float("inf"), linalg.element_type(a[0].type))
        return b.add(arith.CmpF.of(predicate, b.add(arith.AbsF.of(a[0])), infinity))

    return rule


def _always(value: bool) -> Rule:
    return lambda b, a: b.constant(value, I1)


def _negative_int(b: Body, a: list[Value]) -> Value:
    return b.add(arith.SubI.of(b.constant(0, linalg.element_type(a[0].type)), a[0]))


def _invert_int(b: Body, a: list[Value]) -> Value:
    element = linalg.element_type(a[0].type)
    return b.add(arith.XorI.of(a[0], b.constant(element.bounds[1] if element.is_unsigned else -1, element)))


def _reciprocal(b: Body, a: list[Value]) -> Value:
    return b.add(arith.DivF.of(b.constant(1.0, linalg.element_type(a[0].type)), a[0]))


def _is_within(count: Value, bits: int) -> bool:
    """Whether it is known that a count shifts fewer bits than there are."""
    op = count.defining_op
    return isinstance(op, arith.Constant) and 0 <= op.attrs["value"] < bits


def _left_shift(b: Body, a: list[Value]) -> Value:
    x, count = a
    element = linalg.element_type(x.type)
    if _is_within(count, element.bits):
        return b.add(integers.ShLI.of(x, count))
    zero = b.constant(0, element)
    inside = b.add(arith.CmpI.of("ult", count, b.constant(element.bits, element)))
    shifted = b.add(integers.ShLI.of(x, b.add(arith.Select.of(inside, count, zero))))
    return b.add(arith.Select.of(inside, shifted, zero))


def _right_shift(b: Body, a: list[Value]) -> Value:
    """Shifts by a negative count, or by as many bits as there are and more, leave the sign."""
    x, count = a
    element = linalg.element_type(x.type)
    if not _is_within(count, element.bits):
        last = b.constant(element.bits - 1, element)
        inside = b.add(arith.CmpI.of("ult", count, b.constant(element.bits, element)))
        count = b.add(arith.Select.of(inside, count, last))
    return b.add(integers.ShRSI.of(x, count))


def _square(op: type[arith.BinaryOp]) -> Rule:
    return lambda b, a: b.add(op.of(a[0], a[0]))


RULES: dict[np.ufunc, dict[str, Rule]] = {
    np.add: _two(f=arith.AddF, i=arith.AddI, b=arith.OrI),
    np.subtract: _two(f=arith.SubF, i=arith.SubI),
    np.multiply: _two(f=arith.MulF, i=arith.MulI, b=arith.AndI),
    np.true_divide: _two(f=arith.DivF),
    np.fmod: {"f": modulo.fmod},
    np.remainder: {"f": modulo.remainder},
    np.floor_divide: {"f": modulo.floor_divide},
    np.maximum: _two(f=arith.MaximumF, i=arith.MaxSI, u=arith.MaxUI, b=arith.OrI),
    np.minimum: _two(f=arith.MinimumF, i=arith.MinSI, u=arith.MinUI, b=arith.AndI),
    np.fmax: _two(i=arith.MaxSI, u=arith.MaxUI, b=arith.OrI),
    np.fmin: _two(i=arith.MinSI, u=arith.MinUI, b=arith.AndI),
    np.bitwise_and: _two(i=arith.AndI, b=arith.AndI),
    np.bitwise_or: _two(i=arith.OrI, b=arith.OrI),
    np.bitwise_xor: _two(i=arith.XorI, b=arith.XorI),
    np.invert: {"b": _not, "i": _invert_int},
    np.left_shift: {"i": _left_shift},
    np.right_shift: {"i": _right_shift, "u": _two(u=division.ShRUI)["u"]},
    np.copysign: _two(f=arith.CopySign),
    np.logical_and: _logical(arith.AndI),
    np.logical_or: _logical(arith.OrI),
    np.logical_xor: _logical(arith.XorI),
    np.logical_not: dict.fromkeys("bif", _not),
    np.equal: _compare("eq"),
    np.not_equal: _compare("ne"),
    np.less: _compare("lt"),
    np.less_equal: _compare("le"),
    np.greater: _compare("gt"),
    np.greater_equal: _compare("ge"),
    np.negative: {"f": _one(arith.NegF), "i": _negative_int},
    np.positive: {"f": _same, "i": _same},
    np.absolute: {"f": _one(arith.AbsF), "i": _one(arith.AbsI), "u": _same, "b": _same},
    np.fabs: {"f": _one(arith.AbsF)},
    np.sqrt: {"f": _one(arith.Sqrt)},
    np.floor: {"f": _one(arith.Floor), "i": _same, "b": _same},
    np.ceil: {"f": _one(arith.Ceil), "i": _same, "b": _same},
    np.trunc: {"f": _one(arith.Trunc), "i": _same, "b": _same},
    np.rint: {"f": _one(arith.RoundEven)},
    np.square: {"f": _square(arith.MulF), "i": _square(arith.MulI)},
    np.reciprocal: {"f": _reciprocal},
    np.isnan: {
        "f": lambda b, a: b.add(arith.CmpF.of("uno", a[0], a[0])),
        "i": _always(False),
        "b": _always(False),
    },
    np.isinf: {"f": _is_abs("oeq"), "i": _always(False), "b": _always(False)},
    np.isfinite: {"f": _is_abs("olt"), "i": _always(True), "b": _always(True)},
}
"""By ufunc, then by the kind of its loop dtype (b, i, u, f): the function that records the body; "u" may be left out
where it equals "i"."""
for _ufunc, _rule in COMPLEX_RULES.items():
    RULES.setdefault(_ufunc, {})["c"] = _rule


def rule_of(ufunc: np.ufunc, loop: tuple[np.dtype, ...]) -> Rule | None:
    """The function that records the body for operands of these dtypes; None where NumPy's own loop is called."""
    kind = loop[0].kind if len({d.kind for d in loop}) == 1 else "?"
    rules = RULES.get(ufunc, {})
    return rules.get(kind, rules.get("i") if kind == "u" else None)


def apply_rule(ufunc: np.ufunc, body: Body, args: list[Value], dtypes: tuple[np.dtype, ...]) -> Value:
    """The result of one ufunc on scalars of its loop dtypes, recorded into a body."""
    loop = dtypes[: ufunc.nin]
    if (rule := rule_of(ufunc, loop)) is not None:
        return rule(body, args)
    types = "".join(d.char for d in loop) + "->" + dtypes[-1].char
    return body.add(arith.Ufunc.of(name_of_ufunc(ufunc), types, args, scalar_type(dtypes[-1])))
