"""Calls of elementwise ufuncs: dtypes asked from NumPy itself (rule N5), checks, one `linalg.generic`.

A ufunc that NumPy can compute element by element needs nothing here: it runs NumPy's own inner loop by pointer. To give
one a native form, add a line to `rules.RULES`. `out=` and `where=` arrive from functions/ufunc_calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy._core import _exceptions

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.numbers.bodies import Body
from tracebuf.frontends.numpy.numbers.exponents import check_exponent, exponents_under
from tracebuf.frontends.numpy.numbers.generics import build_all, shapes_of
from tracebuf.frontends.numpy.numbers.operands import (
    Casting,
    Operand,
    check_maybe_python,
    loop_dtypes,
    on_all_paths,
    scalar_value,
    supported,
    weak_type,
)
from tracebuf.frontends.numpy.numbers.rules import apply_rule
from tracebuf.frontends.numpy.numbers.special import check_special
from tracebuf.frontends.numpy.numbers.two_results import PAIRS
from tracebuf.frontends.numpy.numbers.weak_ints import COMPARISONS, check_weak_int, exact_comparison, is_weak_int
from tracebuf.frontends.numpy.record.broadcasting import broadcast
from tracebuf.frontends.numpy.record.conditions import both, either, negation
from tracebuf.frontends.numpy.record.raises import BY_ZERO, Raises
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.regions import OVERFLOW
from tracebuf.frontends.numpy.record.scalar_checks import compare_floats, is_finite, unknown_origin
from tracebuf.frontends.numpy.record.values import EITHER, ArrayRef, NpScalar, Scalar, Unsure
from tracebuf.ir.core import Value
from tracebuf.ir.types import F64, I1, I64, ScalarType
from tracebuf.ops.scalars import arith, integers

DIVISIONS = {np.true_divide: "Div", np.floor_divide: "FloorDiv", np.remainder: "Mod"}
"""Ufuncs that raise ZeroDivisionError for Python's numbers: the operator."""
WRAPS = {np.add: "add", np.subtract: "sub", np.multiply: "mul"}
"""Ufuncs of whose results NumPy gives the low bits, where Python's ints grow."""
CLOSED = (np.add, np.subtract, np.multiply, np.negative, np.positive, np.absolute, np.floor_divide, np.remainder)
"""Ufuncs that give ints for Python ints, and floats for floats."""


def unsure_result(r: Recorder, ufunc: np.ufunc, operands: Sequence[Operand], out: ScalarType) -> Unsure | None:
    """The condition under which a result is a Python number: where the operands that may be are, if no other operand is
    NumPy's."""
    if not check_maybe_python(operands, r.loc, ufunc in COMPARISONS, ufunc in WRAPS):
        return None
    unsure = [o.python for o in operands if isinstance(o, NpScalar) and o.python is not None]
    kinds = {u.kind for u in unsure}
    weak = {float: "float", complex: "complex"}
    kinds |= {weak.get(weak_type(o), "int") for o in operands if not isinstance(o, NpScalar)}
    if out is I1 or "complex" in kinds:
        kind = "bool" if out is I1 else "complex"
    else:
        kind = "float" if "float" in kinds or ufunc is np.true_divide else kinds.pop()
    kind = EITHER if kinds and kind not in ("bool", "float", "complex") else kind
    if ufunc not in CLOSED and kind != "bool" and ufunc is not np.true_divide:
        reason = f"np.{ufunc.__name__} of a number that is Python's or NumPy's, depending on the path"
        raise unknown_origin(r.loc, "start it as np.float64(...)", reason)
    flag = both(r, *(u.flag for u in unsure))
    if ufunc in WRAPS and out is I64:
        x, y = (scalar_value(r, o, I64) for o in operands)
        wraps = r.emit(integers.Overflows.of(WRAPS[ufunc], x, y))
        r.check(negation(r, both(r, wraps, flag)), "OverflowError", OVERFLOW)
    if ufunc in DIVISIONS:  # Python raises where NumPy gives inf or nan
        fine = scalar_value(r, operands[1], I1)
        floats = "float" in {u.kind for u in unsure} or any(weak_type(o) is float for o in operands)
        message = BY_ZERO[DIVISIONS[ufunc], float if floats else int]
        r.check(either(r, fine, negation(r, flag)), ZeroDivisionError, message)
    return Unsure(flag, kind)


def elementwise(
    r: Recorder,
    ufunc: np.ufunc,
    operands: Sequence[Operand],
    into: ArrayRef | None = None,
    mask: Operand | None = None,
    wanted: np.dtype | None = None,
    casting: Casting = "same_kind",
    *,
    called: bool = False,
) -> ArrayRef | Scalar:
    """`elementwise_all` of a ufunc with one result."""
    return elementwise_all(r, ufunc, operands, [into], mask, wanted, casting, called=called)[0]


def elementwise_all(
    r: Recorder,
    ufunc: np.ufunc,
    operands: Sequence[Operand],
    into: Sequence[ArrayRef | None],
    mask: Operand | None = None,
    wanted: np.dtype | None = None,
    casting: Casting = "same_kind",
    *,
    called: bool = False,
) -> list[ArrayRef | Scalar]:
    """The results of a ufunc call on arrays and numbers.

    `into` is its `out=`, or the target of an in-place operator, stored to where `mask` is true; `wanted` is its
    `dtype=`. `called` by its own name it never gives a Python number, as an operator may. Raises what NumPy raises for
    dtypes and shapes.
    """
    if ufunc.nout != len(into) or ufunc.signature is not None:
        raise r.refuse(
            f"np.{ufunc.__name__} is not an elementwise function of one result",
            "use functions of one result, for example np.trunc",
        )
    try:
        dtypes = loop_dtypes(ufunc, tuple(map(weak_type, operands)), wanted, casting)
    except Raises as said:
        mismatch = isinstance(said.error, _exceptions._UFuncInputCastingError)
        if mismatch and wanted is not None and wanted.kind in "iu":
            for o in operands:  # which are looked at before
                check_weak_int(r, o, wanted)
        raise
    check_special(r, ufunc, dtypes)
    weak = any(map(is_weak_int, operands))
    if weak and ufunc in COMPARISONS:
        ufunc, operands, dtypes = exact_comparison(r, ufunc, operands, dtypes)
    what = f"np.{ufunc.__name__} of these operands"
    elements = [supported(d, what, r.loc) for d in dtypes]
    ins, outs = elements[: ufunc.nin], elements[ufunc.nin :]
    for k, (target, d) in enumerate(zip(into, dtypes[ufunc.nin :])):
        if target is not None:
            r.check_writable(target, "output array")
            check_output(ufunc, target, d, casting, ufunc.nin + k)
    unsure = None
    if any(isinstance(o, NpScalar) and o.maybe_python for o in operands):
        if not called or ufunc in COMPARISONS:
            unsure = unsure_result(r, ufunc, operands, outs[0])
        elif outs[0] is not I1:  # an exact int and the float that is equal have the same properties
            on_all_paths(operands, lambda *kinds: loop_dtypes(ufunc, kinds, wanted, casting), r.loc)
    for o, d in zip(operands, dtypes) if weak else ():
        check_weak_int(r, o, d)
    if ufunc is np.power and dtypes[0].kind == "i":
        outputs = [t for t in into if t is not None]
        shapes = [o.shape for o in operands if isinstance(o, ArrayRef)]
        broadcast(r, shapes, shown=shapes_of([*operands, *outputs]))  # which NumPy looks at first
        check_exponent(r, operands[1], [o for o in operands if isinstance(o, ArrayRef)], mask)
        if mask is not None:
            operands = [operands[0], exponents_under(r, operands[1], mask, ins[1])]
    loop = dtypes

    def compute(body: Body, args: list[Value]) -> list[Value]:
        values = [body.cast(a, t) for a, t in zip(args, ins, strict=False)]
        return PAIRS[ufunc](body, values, loop) if ufunc in PAIRS else [apply_rule(ufunc, body, values, loop)]

    results = build_all(r, compute, operands, ins, outs, into, mask, None if called else unsure)
    if unsure is not None and not called and outs[0].is_float and unsure.kind in ("int", EITHER):
        check_whole(r, results[0], unsure)
    return results


def check_whole(r: Recorder, result: Any, unsure: Unsure) -> None:
    """Refuses at run time an int of Python's, computed as a float, that is too large to be exact."""
    size = r.emit(arith.AbsF.of(scalar_value(r, NpScalar(result.value, result.element), F64)))
    limit = 2.0 ** (np.finfo(result.element.dtype).nmant + 1)
    lost = both(r, compare_floats(r, "oge", size, limit), is_finite(r, size), unsure.flag)
    reason = f"a Python number that {result.element.dtype} may not hold exactly is computed by the path"
    r.check(negation(r, lost), UnsupportedError, reason)


def check_output(ufunc: np.ufunc, into: ArrayRef, dtype: np.dtype, casting: Casting, which: int) -> None:
    """Raises TypeError, as NumPy does, unless a result may be cast to the dtype of its `out=`, operand `which`."""
    if not np.can_cast(dtype, into.dtype, casting):
        raise Raises(_exceptions._UFuncOutputCastingError(ufunc, casting, dtype, into.dtype, which))
