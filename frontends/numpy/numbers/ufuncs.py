"""Elementwise NumPy: result dtypes (asked from NumPy itself, rule N5), the scalar body of each ufunc, broadcasting.

To add a ufunc that NumPy can compute element by element, nothing is needed: it runs NumPy's own inner loop by
pointer. To
give one its own native form, add a line to `RULES`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy._core import _exceptions

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.numbers.complexes import COMPLEX_RULES, cast_complex
from tracebuf.frontends.numpy.numbers.weak_ints import COMPARISONS, check_weak_int, exact_comparison, is_weak_int
from tracebuf.frontends.numpy.record.broadcasting import broadcast, fits_into
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import (
    EITHER,
    NUMBERS,
    ArrayRef,
    NpScalar,
    PyBool,
    PyComplex,
    PyFloat,
    PyInt,
    Scalar,
    Unsure,
    axis_order,
    is_traced,
)
from tracebuf.ir.core import Block, Op, Value
from tracebuf.ir.dims import Dim
from tracebuf.ir.slices import Slice
from tracebuf.ir.types import (
    C128,
    F16,
    F32,
    F64,
    I1,
    I32,
    I64,
    SUPPORTED,
    SUPPORTED_DTYPES,
    UI32,
    UI64,
    ScalarType,
    TensorType,
    scalar_type,
)
from tracebuf.location import Location
from tracebuf.ops.arrays import linalg, tensor
from tracebuf.ops.scalars import arith, casts
from tracebuf.ops.scalars.complex import constant

Operand = ArrayRef | Scalar | bool | int | float | complex | np.generic
WEAK = {float: "float", complex: "complex"}
Casting = Literal["no", "equiv", "safe", "same_kind", "unsafe"]
BOOL, INT = np.dtype(np.bool_), np.dtype(np.int64)


class Body:
    """Where scalar ops of an elementwise body go: a block and a location."""

    __slots__ = ("block", "loc")
    block: Block
    loc: Location

    def __init__(self, block: Block, loc: Location) -> None:
        self.block, self.loc = block, loc

    def add(self, op: Op) -> Value:
        self.block.append(op)
        return op.result

    def constant(self, value: bool | int | float | complex, element: ScalarType) -> Value:
        return self.add(constant(value, element, self.loc))

    def index(self, dim: int) -> Value:
        """The loop index along a dimension, as data."""
        return self.add(arith.IndexCast.of(self.add(linalg.Index.of(dim, self.loc)), I64, self.loc))

    def cast(self, value: Value, to: ScalarType) -> Value:
        """NumPy's conversion between supported element types."""
        source = value.type
        assert isinstance(source, ScalarType)
        if source is to:
            return value
        if source.is_complex or to.is_complex:
            return cast_complex(self, value, to)
        if to is I1:
            if source.is_float:
                return self.add(arith.CmpF.of("une", value, self.constant(0.0, source), self.loc))
            return self.add(arith.CmpI.of("ne", value, self.constant(0, source), self.loc))
        for op, step in cast_steps(source, to):
            value = self.add(op.of(value, step, self.loc))
        return value


def cast_steps(source: ScalarType, to: ScalarType) -> list[tuple[type[arith.CastOp], ScalarType]]:
    """NumPy's conversion to another number type, as C has it on x86 (rule N4): float16 goes by way of float32, a float
    to a small integer by way of a larger one."""
    if source.is_float and to.is_float:
        return [(casts.ExtF if to.bits > source.bits else casts.TruncF, to)]
    if F16 in (source, to):
        return [*cast_steps(source, F32), *cast_steps(F32, to)]
    if to.is_float:
        return [(casts.UIToFP if source.is_unsigned else casts.SIToFP, to)]
    if source.is_float:
        if to in (I32, I64, UI64):
            return [(casts.FPToUI if to is UI64 else casts.FPToSI, to)]
        return [(casts.FPToSI, I64 if to is UI32 else I32), (casts.TruncI, to)]
    if to.bits > source.bits:
        return [(casts.ExtUI if source.is_unsigned else casts.ExtSI, to)]
    return [(casts.TruncI if to.bits < source.bits else casts.Bitcast, to)]


Rule = Callable[[Body, list[Value]], Value]


def _two(**ops: type[arith.BinaryOp]) -> dict[str, Rule]:
    """A rule a kind (b, i, u, f) from a binary op class each."""
    return {kind: lambda b, a, op=op: b.add(op.of(a[0], a[1], b.loc)) for kind, op in ops.items()}  # type: ignore[misc]


def _one(op: type[arith.UnaryOp]) -> Rule:
    return lambda b, a: b.add(op.of(a[0], b.loc))


def _compare(name: str) -> dict[str, Rule]:
    ordered = ("u" if name == "ne" else "o") + name
    same = name in ("eq", "ne")
    return {
        "f": lambda b, a: b.add(arith.CmpF.of(ordered, a[0], a[1], b.loc)),
        "i": lambda b, a: b.add(arith.CmpI.of(name if same else "s" + name, a[0], a[1], b.loc)),
        **dict.fromkeys("bu", lambda b, a: b.add(arith.CmpI.of(name if same else "u" + name, a[0], a[1], b.loc))),
    }


def _logical(op: type[arith.BinaryOp]) -> dict[str, Rule]:
    rule: Rule = lambda b, a: b.add(op.of(b.cast(a[0], I1), b.cast(a[1], I1), b.loc))  # noqa: E731
    return dict.fromkeys("bif", rule)


def _not(b: Body, a: list[Value]) -> Value:
    return b.add(arith.XorI.of(b.cast(a[0], I1), b.constant(True, I1), b.loc))


def _same(b: Body, a: list[Value]) -> Value:
    return a[0]


def _is_abs(predicate: str) -> Rule:
    def rule(b: Body, a: list[Value]) -> Value:
        infinity = b.constant(float("inf"), linalg.element_type(a[0].type))
        return b.add(arith.CmpF.of(predicate, b.add(arith.AbsF.of(a[0], b.loc)), infinity, b.loc))

    return rule


def _always(value: bool) -> Rule:
    return lambda b, a: b.constant(value, I1)


def _negative_int(b: Body, a: list[Value]) -> Value:
    return b.add(arith.SubI.of(b.constant(0, linalg.element_type(a[0].type)), a[0], b.loc))


def _invert_int(b: Body, a: list[Value]) -> Value:
    element = linalg.element_type(a[0].type)
    return b.add(arith.XorI.of(a[0], b.constant(element.bounds[1] if element.is_unsigned else -1, element), b.loc))


def _reciprocal(b: Body, a: list[Value]) -> Value:
    return b.add(arith.DivF.of(b.constant(1.0, linalg.element_type(a[0].type)), a[0], b.loc))


def _square(op: type[arith.BinaryOp]) -> Rule:
    return lambda b, a: b.add(op.of(a[0], a[0], b.loc))


RULES: dict[np.ufunc, dict[str, Rule]] = {
    np.add: _two(f=arith.AddF, i=arith.AddI, b=arith.OrI),
    np.subtract: _two(f=arith.SubF, i=arith.SubI),
    np.multiply: _two(f=arith.MulF, i=arith.MulI, b=arith.AndI),
    np.true_divide: _two(f=arith.DivF),
    np.maximum: _two(f=arith.MaximumF, i=arith.MaxSI, u=arith.MaxUI, b=arith.OrI),
    np.minimum: _two(f=arith.MinimumF, i=arith.MinSI, u=arith.MinUI, b=arith.AndI),
    np.fmax: _two(i=arith.MaxSI, u=arith.MaxUI, b=arith.OrI),
    np.fmin: _two(i=arith.MinSI, u=arith.MinUI, b=arith.AndI),
    np.bitwise_and: _two(i=arith.AndI, b=arith.AndI),
    np.bitwise_or: _two(i=arith.OrI, b=arith.OrI),
    np.bitwise_xor: _two(i=arith.XorI, b=arith.XorI),
    np.invert: {"b": _not, "i": _invert_int},
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
        "f": lambda b, a: b.add(arith.CmpF.of("uno", a[0], a[0], b.loc)),
        "i": _always(False),
        "b": _always(False),
    },
    np.isinf: {"f": _is_abs("oeq"), "i": _always(False), "b": _always(False)},
    np.isfinite: {"f": _is_abs("olt"), "i": _always(True), "b": _always(True)},
}
"""By ufunc and kind of its operands; "u" may be left out where it is as "i"."""
for _ufunc, _rule in COMPLEX_RULES.items():
    RULES.setdefault(_ufunc, {})["c"] = _rule


def is_operand(x: object) -> bool:
    """Whether it is an array or a number, traced or not."""
    return is_traced(x) or isinstance(x, NUMBERS)


def weak_type(value: object) -> Any:
    """What dtype resolution sees of an operand: a dtype, or the weak Python types int, float, complex (NEP 50)."""
    if isinstance(value, (ArrayRef, np.generic)):
        return value.dtype
    if isinstance(value, NpScalar):
        return value.element.dtype
    if isinstance(value, (PyBool, bool)):
        return BOOL
    if isinstance(value, (PyComplex, complex)):
        return complex
    return int if isinstance(value, (PyInt, int)) else float


@lru_cache(maxsize=4096)
def loop_dtypes(
    ufunc: np.ufunc, kinds: tuple[Any, ...], wanted: np.dtype | None = None, casting: Casting = "same_kind"
) -> tuple[np.dtype, ...]:
    """The dtypes of the loop NumPy would run (`wanted`: its `dtype=`), inputs then outputs; TypeError as NumPy's."""
    if all(isinstance(k, type) for k in kinds):
        kinds = tuple(np.dtype(k) for k in kinds)
    forced: dict[str, Any] = {} if wanted is None else {"signature": (*(None,) * ufunc.nin, *(wanted,) * ufunc.nout)}
    dtypes: tuple[np.dtype, ...] = ufunc.resolve_dtypes((*kinds, *(None,) * ufunc.nout), **forced, casting=casting)
    return dtypes


def supported(dtype: np.dtype, what: str, loc: Location) -> ScalarType:
    """The element type, or a refusal."""
    if dtype not in SUPPORTED_DTYPES:
        raise UnsupportedError(
            f"{what} has dtype {dtype}; supported are {SUPPORTED}", location=loc,
            instead="use one of these, for example np.float64, or .astype(np.float64) of an operand",
        )  # fmt: skip
    return scalar_type(dtype)


def scalar_value(r: Recorder, operand: Operand, element: ScalarType) -> Value:
    """A scalar operand as an SSA value of an element type, converted as NumPy converts it."""
    body = Body(r.frame.block, r.loc)
    if isinstance(operand, PyInt):  # to a float as Python does it: as float64
        value = r.i64(operand.expr)
        return body.cast(body.cast(value, F64) if element.component.is_float else value, element)
    if isinstance(operand, (PyFloat, PyComplex, PyBool, NpScalar)):
        return body.cast(operand.value, element)
    assert isinstance(operand, NUMBERS), operand
    with np.errstate(all="ignore"):
        fixed = (
            np.asarray(operand).astype(element.dtype).item()
            if isinstance(operand, np.generic)
            else element.dtype.type(operand).item()
        )
    return r.constant(fixed, element)


DIVISIONS = (np.true_divide, np.floor_divide, np.remainder)
CLOSED = (np.add, np.subtract, np.multiply, np.negative, np.positive, np.absolute, np.floor_divide, np.remainder)
"""Of Python ints they give ints, of floats floats."""


def unsure_result(r: Recorder, ufunc: np.ufunc, operands: Sequence[Operand], out: ScalarType) -> Unsure | None:
    """Where a result is a Python number: where the operands that may be are, if nothing else is NumPy's."""
    if not check_maybe_python(operands, r.loc, ufunc in COMPARISONS):
        return None
    unsure = [o.python for o in operands if isinstance(o, NpScalar) and o.python is not None]
    kinds = {u.kind for u in unsure}
    kinds |= {WEAK.get(weak_type(o), "int") for o in operands if not isinstance(o, NpScalar)}
    if out is I1 or "complex" in kinds:
        kind = "bool" if out is I1 else "complex"
    else:
        kind = "float" if "float" in kinds or ufunc is np.true_divide else kinds.pop()
    kind = EITHER if kinds and kind not in ("bool", "float", "complex") else kind
    if ufunc not in CLOSED and kind != "bool" and ufunc is not np.true_divide:
        raise UnsupportedError(
            f"np.{ufunc.__name__} of a number that is Python's or NumPy's, depending on the path",
            location=r.loc,
            instead="start it as np.float64(...)",
        )
    flag = unsure[0].flag
    for u in unsure[1:]:
        flag = r.add(arith.AndI.of(flag, u.flag, r.loc)).result
    if ufunc in DIVISIONS:  # Python raises where NumPy gives inf or nan
        fine = scalar_value(r, operands[1], I1)
        numpy = r.add(arith.XorI.of(flag, r.constant(True, I1), r.loc)).result
        r.check(r.add(arith.OrI.of(fine, numpy, r.loc)).result, ZeroDivisionError, "division by zero")
    return Unsure(flag, kind)


def same_in_numpy(operands: Sequence[Operand]) -> bool:
    """Whether numbers that are Python's or NumPy's, depending on the path, count alike in a ufunc that is called: those
    of float64, beside nothing that would decide otherwise for a Python number."""
    beside = (F64.dtype, float, int, INT, BOOL)
    unsure = [isinstance(o, NpScalar) and o.maybe_python for o in operands]
    return all(weak_type(o) == F64.dtype if u else weak_type(o) in beside for o, u in zip(operands, unsure))


def check_maybe_python(operands: Sequence[Operand], loc: Location, compared: bool = False) -> bool:
    """Whether the result may be a Python number too; refuses where NumPy scalar and Python number would differ. Of ints
    `compared` with ints only the type of the result does."""
    unsure = [o for o in operands if isinstance(o, NpScalar) and o.maybe_python]
    if not unsure:
        return False
    others = [o for o in operands if not (isinstance(o, NpScalar) and o.maybe_python)]
    element = unsure[0].element
    strong = [o for o in others if isinstance(o, (ArrayRef, NpScalar, np.generic))]
    exact = all(acts_alike(u, weak_type(o)) for u in unsure for o in strong)
    alike = bool(strong) or element in (F64, C128) or (compared and all(weak_type(o) is not float for o in others))
    if not exact or any(u.element is not element for u in unsure) or not alike:
        raise UnsupportedError(
            "this number is Python's or NumPy's, depending on the path; here it makes a difference",
            location=loc,
            instead=f"start it as np.{element.dtype.name}(...)",
        )
    return not strong


def acts_alike(x: NpScalar, beside: np.dtype) -> bool:
    """Whether NumPy makes of the scalar and this dtype what it makes of the Python number that may be in its place."""
    if x.element is F64 and x.python is not None and x.python.kind == "float":
        return beside == F64.dtype or beside.kind in "iub"  # a Python float beside integers is a float64
    if x.element is C128 and x.python is not None and x.python.kind == "complex":
        return beside in (C128.dtype, F64.dtype) or beside.kind in "iub"
    return beside == x.element.dtype or (x.element is I64 and beside in (F64.dtype, BOOL))


def mask_of(r: Recorder, where: Any) -> Operand | None:
    """A `where=`: bools, an array of them or one, or None for everything; TypeError as NumPy's for what is no bool."""
    if where is True or where is np._NoValue:
        return None
    if not isinstance(where, (ArrayRef, Scalar, *NUMBERS)):
        raise UnsupportedError(f"a {type(where).__name__} as where=", location=r.loc, instead="use an array of bools")
    kind = weak_type(where)
    if kind != BOOL:
        dtype = np.dtype(kind)
        raise TypeError(f"Cannot cast array data from {dtype!r} to dtype('bool') according to the rule 'safe'")
    mask: Operand = where
    return mask


def out_of(r: Recorder, out: Any) -> ArrayRef | None:
    """An `out=`: an array, or a tuple of one."""
    if isinstance(out, tuple):
        if len(out) != 1:
            raise ValueError("The 'out' tuple must have exactly one entry per ufunc output")
        (out,) = out
    if out is None or isinstance(out, ArrayRef):
        return out
    if isinstance(out, np.ndarray) or out is Ellipsis:
        raise UnsupportedError("this `out`", location=r.loc, instead="an array that is an argument, or made here")
    raise TypeError("return arrays must be of ArrayType")


def apply_rule(ufunc: np.ufunc, body: Body, args: list[Value], dtypes: tuple[np.dtype, ...]) -> Value:
    """One ufunc on scalars of its loop dtypes."""
    loop = dtypes[: ufunc.nin]
    kind = loop[0].kind if len({d.kind for d in loop}) == 1 else "?"
    rules = RULES.get(ufunc, {})
    rule = rules.get(kind, rules.get("i") if kind == "u" else None)
    if rule is not None:
        return rule(body, args)
    types = "".join(d.char for d in loop) + "->" + dtypes[-1].char
    return body.add(arith.Ufunc.of(ufunc.__name__, types, args, scalar_type(dtypes[-1]), body.loc))


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
) -> ArrayRef | Scalar | bool:
    """A ufunc call. `into`: its `out=`, or the target of an in-place operator, stored to where `mask` is true;
    `wanted`: its `dtype=`. `called` by its own name it never gives a Python number, as an operator may."""
    if ufunc.nout != 1 or ufunc.signature is not None:
        raise UnsupportedError(
            f"np.{ufunc.__name__} is not an elementwise function of one result",
            location=r.loc,
            instead="use functions of one result, for example np.trunc",
        )
    try:
        dtypes = loop_dtypes(ufunc, tuple(weak_type(o) for o in operands), wanted, casting)
    except _exceptions._UFuncInputCastingError:
        if wanted is not None and wanted.kind in "iu":
            for o in operands:  # which are looked at before
                check_weak_int(r, o, wanted)
        raise
    if ufunc in COMPARISONS and any(map(is_weak_int, operands)):
        ufunc, operands, dtypes = exact_comparison(r, ufunc, operands, dtypes)
    for d in dtypes:
        supported(d, f"np.{ufunc.__name__} of these operands", r.loc)
    if into is not None:
        r.check_writable(into)
    check_output(ufunc, into, dtypes[-1], casting)
    out = scalar_type(dtypes[-1])
    unsure = None if called and same_in_numpy(operands) else unsure_result(r, ufunc, operands, out)
    for o, d in zip(operands, dtypes):
        check_weak_int(r, o, d)
    if ufunc is np.power and dtypes[0].kind == "i":
        from tracebuf.frontends.numpy.functions.reductions.exponents import (
            check_exponent,  # which is built on this module
        )

        check_exponent(r, operands[1], [o for o in operands if isinstance(o, ArrayRef)])
    ins, loop = [scalar_type(d) for d in dtypes[:-1]], dtypes

    def compute(body: Body, args: list[Value]) -> Value:
        return apply_rule(ufunc, body, [body.cast(a, t) for a, t in zip(args, ins, strict=False)], loop)

    return build(r, compute, operands, ins, out, into, mask, unsure)


def check_output(ufunc: np.ufunc, into: ArrayRef | None, dtype: np.dtype, casting: Casting, which: int = 0) -> None:
    """TypeError, as NumPy's, unless a result may be cast to the dtype of its `out=`."""
    if into is not None and not np.can_cast(dtype, into.dtype, casting):
        raise _exceptions._UFuncOutputCastingError(ufunc, casting, dtype, into.dtype, which)


def build(
    r: Recorder,
    compute: Callable[[Body, list[Value]], Value],
    operands: Sequence[Operand],
    elements: Sequence[ScalarType],
    out: ScalarType,
    into: ArrayRef | None = None,
    mask: Operand | None = None,
    unsure: Unsure | None = None,
) -> ArrayRef | Scalar:
    """An elementwise computation over broadcast operands; `elements` is the type each scalar operand is converted to.
    With `into` and `mask`, elements where the mask is false stay as they are."""
    return build_all(r, lambda b, args: [compute(b, args)], operands, elements, [out], [into], mask, unsure)[0]


def build_all(
    r: Recorder,
    compute: Callable[[Body, list[Value]], list[Value]],
    operands: Sequence[Operand],
    elements: Sequence[ScalarType],
    outs: Sequence[ScalarType],
    into: Sequence[ArrayRef | None],
    mask: Operand | None = None,
    unsure: Unsure | None = None,
) -> list[ArrayRef | Scalar]:
    """The same of several results, in one nest."""
    if mask is not None:
        operands, elements = [*operands, mask], [*elements, I1]
    arrays, targets = [o for o in operands if isinstance(o, ArrayRef)], [t for t in into if t is not None]
    shape = broadcast(r, [a.shape for a in arrays])
    if not targets and not shape:
        body = Body(r.frame.block, r.loc)
        values = [
            r.load(o, ()) if isinstance(o, ArrayRef) else scalar_value(r, o, e) for o, e in zip(operands, elements)
        ]
        return [NpScalar(v, t, unsure) for v, t in zip(compute(body, values), outs)]
    for target in targets:
        fits_into(r, shape, target.shape)
        shape = target.shape
    for target in targets[:-1]:
        fits_into(r, shape, target.shape)
    block, values, maps, seen = Block(), [], [], {}
    args: list[Value] = []
    for operand, e in zip(operands, elements):
        value, map_ = input_of(r, operand, e, shape)
        if (value, map_) not in seen:
            seen[value, map_] = block.add_arg(linalg.element_type(value.type))
            values.append(value)
            maps.append(map_)
        args.append(seen[value, map_])
    order = result_order(arrays, len(shape))
    kinds = [t if target is None else target.element for t, target in zip(outs, into)]
    starts = [
        r.read(target) if target is not None and mask is not None else r.empty(t, shape, None if target else order)
        for t, target in zip(kinds, into)
    ]
    before, body = [block.add_arg(t) for t in kinds], Body(block, r.loc)
    new = [body.cast(v, t) for v, t in zip(compute(body, args), kinds)]
    if mask is not None:
        new = [body.add(arith.Select.of(args[-1], v, old, r.loc)) for v, old in zip(new, before)]
    block.append(linalg.Yield.of(new, r.loc))
    maps += [linalg.identity_map(len(shape))] * len(kinds)
    made = r.add(linalg.Generic.of(values, starts, maps, ["parallel"] * len(shape), block, r.loc)).results
    results: list[ArrayRef | Scalar] = []
    for x, value in zip(into, made):
        if x is not None:
            r.store(x, value)
        element = value.tensor_type.element
        results.append(ArrayRef(r.new_storage(element, shape, order, value)) if x is None else x)
    return results


def result_order(arrays: Sequence[ArrayRef], ndim: int) -> tuple[int, ...]:
    """K-order of a fresh elementwise result."""
    return axis_order([(a, [None] * (ndim - a.ndim) + list(range(a.ndim))) for a in arrays], ndim)


def input_of(
    r: Recorder, operand: Operand, element: ScalarType, shape: tuple[Dim, ...]
) -> tuple[Value, linalg.AffineMap]:
    """An operand of a generic over `shape` with its map; a size that may be 1 at run time is repeated by a stride of
    0 (rule Z2)."""
    n = len(shape)
    if not isinstance(operand, ArrayRef):
        return scalar_value(r, operand, element), linalg.AffineMap(n, ())
    first = n - operand.ndim
    results: list[int | None] = []
    value = r.read(operand)
    unsure: list[int] = []
    for axis, size in enumerate(operand.shape):
        wanted = shape[first + axis]
        if r.facts.equal(size, wanted):
            results.append(first + axis)
        elif size == 1:
            results.append(None)
        else:
            results.append(first + axis)
            unsure.append(axis)
    if unsure:
        value = repeat_where_one(r, operand, value, unsure, shape[first:])
    return value, linalg.AffineMap(n, tuple(results))


def repeat_where_one(r: Recorder, ref: ArrayRef, value: Value, axes: Sequence[int], shape: tuple[Dim, ...]) -> Value:
    """A view of the wanted shape in which an axis of run-time size 1 is repeated."""
    n = ref.ndim
    strides: list[Any] = [1] * n
    sizes = list(ref.shape)
    for axis in axes:
        one = r.compare("eq", ref.shape[axis], 1)
        strides[axis] = r.add(arith.Select.of(one, r.index(0), r.index(1), r.loc)).result
        sizes[axis] = shape[axis]
    s = Slice((0,) * n, tuple(r.mixed(d) for d in sizes), tuple(strides), tuple(range(n)))
    type_ = TensorType(tuple(r.facts.canon(d) for d in sizes), ref.element)
    return r.add(tensor.ExtractSlice.of(value, s, type_, r.loc)).result


def convert_to(r: Recorder, value: Operand, element: ScalarType, shape: tuple[Dim, ...], fresh: bool = False) -> Value:
    """A tensor of `shape` and `element` holding `value`, converted and broadcast as a store does it (unsafe casting);
    with `fresh` always a new one."""
    if not isinstance(value, ArrayRef):
        empty = r.empty(element, shape)
        return r.add(linalg.Fill.of(scalar_value(r, value, element), empty, r.loc)).result
    if (
        not fresh
        and value.element is element
        and value.ndim == len(shape)
        and all(r.facts.equal(a, b) for a, b in zip(value.shape, shape))
    ):
        return r.read(value)
    block = Block()
    source, map_ = input_of(r, value, value.element, shape)
    arg = block.add_arg(value.element)
    block.add_arg(element)
    body = Body(block, r.loc)
    block.append(linalg.Yield.of([body.cast(arg, element)], r.loc))
    maps = [map_, linalg.identity_map(len(shape))]
    return r.add(
        linalg.Generic.of([source], [r.empty(element, shape)], maps, ["parallel"] * len(shape), block, r.loc)
    ).result
