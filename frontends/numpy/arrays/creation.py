"""Arrays computed from their indices, or from given items: arange, linspace, eye, tri, diag, np.array of numbers.

Values come from one `linalg.generic` over the result, with `linalg.index` in its body, in NumPy's own arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from enum import Enum
from operator import methodcaller
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.indexing import as_int, at_least_zero, check_number, signed_step
from tracebuf.frontends.numpy.arrays.new_arrays import (
    array_of,
    as_array,
    copy_of,
    element_of,
    filled,
    one_or_more,
    only,
    shape_arg,
)
from tracebuf.frontends.numpy.arrays.reshape import (
    array_function,
    as_array_function,
    least_axes,
    order_of,
    reversed_axes,
    whole_number,
)
from tracebuf.frontends.numpy.arrays.shapes import diag as diagonal_of
from tracebuf.frontends.numpy.numbers.bodies import Body
from tracebuf.frontends.numpy.numbers.operands import on_all_paths, scalar_value, supported, weak_type
from tracebuf.frontends.numpy.numbers.rules import apply_rule
from tracebuf.frontends.numpy.numbers.scalars import binary, concrete, float_value
from tracebuf.frontends.numpy.record.cond import ends
from tracebuf.frontends.numpy.record.conditions import both
from tracebuf.frontends.numpy.record.raises import Raises, ask, call_handler
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.registry import traces
from tracebuf.frontends.numpy.record.values import (
    NUMBERS,
    ArrayRef,
    NpScalar,
    PyInt,
    Scalar,
    Storage,
    in_turn,
    is_traced,
)
from tracebuf.ir.core import Block, Value
from tracebuf.ir.dims import Dim, add, dim_max, dim_min, floordiv, mul, neg, sub
from tracebuf.ir.types import F64, I1, I64, INDEX, ScalarType
from tracebuf.ops.arrays import linalg
from tracebuf.ops.scalars import arith, casts

FAR = 2**62
REQUIREMENTS = {
    **dict.fromkeys(("C", "C_CONTIGUOUS", "CONTIGUOUS"), "C"), **dict.fromkeys(("F", "F_CONTIGUOUS", "FORTRAN"), "F"),
    "A": "A", "ALIGNED": "A", "W": "W", "WRITEABLE": "W", "O": "O", "OWNDATA": "O", "E": "E", "ENSUREARRAY": "E",
}  # fmt: skip
"""What np.require may be asked for, by name."""
"""A diagonal with a number beyond this is outside of every matrix."""
Compute = Callable[[Body, list[Value], list[Value]], Value]
"""Records an element's value from its indices and from scalars."""


def indexed(
    r: Recorder, shape: Sequence[Dim], element: ScalarType, scalars: Sequence[Value], compute: Compute
) -> ArrayRef:
    """A fresh array in C order whose elements are a function of their indices (as int64) and of scalars."""
    n = len(shape)
    block = Block([*(linalg.element_type(s.type) for s in scalars), element])
    body = Body(block, r.loc)
    new = compute(body, [body.index(d) for d in range(n)], block.args[: len(scalars)])
    block.append(linalg.Yield.of([body.cast(new, element)], r.loc))
    maps = [*[linalg.AffineMap(n, ())] * len(scalars), linalg.identity_map(n)]
    out = r.empty(element, shape)
    value = r.emit(linalg.Generic.of(scalars, [out], maps, ["parallel"] * n, block))
    return ArrayRef(r.new_storage(element, shape, range(n), value))


# -- np.arange


def arange(r: Recorder, *args: Any, dtype: Any = None, **rest: Any) -> ArrayRef:
    """np.arange, in the result's dtype: start, start + step, then start + i * (second - start) (`fill` of NumPy's
    arraytypes.c.src); ceil((stop - start) / step) elements."""
    takes_only("arange", rest, ("start", "stop", "step", "device", "like"))
    only(r, "np.arange", **{k: (v, None) for k, v in rest.items() if k not in ("start", "stop", "step")})
    named = {k: v for k, v in rest.items() if k in ("start", "stop", "step")}
    if len(args) == 4:
        dtype = args[3]
    start, stop, step = arange_bounds(args[:3], named)
    given = [x for x in (start, stop, step) if x is not None]
    if not all(isinstance(x, (Scalar, *NUMBERS)) for x in given):
        raise r.refuse("np.arange of an array", "use numbers, for example a[0]")
    ones = [type(concrete(x))(1) for x in given]
    if dtype is None:
        on_all_paths(given, lambda *kinds: np.result_type(*kinds), r.loc)
    wanted = ask(np.arange, *ones).dtype if dtype is None else ask(np.dtype, dtype)
    element = supported(wanted, "np.arange", r.loc)
    if element.is_complex and not any(isinstance(concrete(x), (complex, np.complexfloating)) for x in given):
        return copy_of(r, arange(r, *args[:3], dtype=wanted.char.lower(), **named), element, [0])
    if element.is_complex:
        raise r.refuse("np.arange of complex numbers that only the run time knows", "np.arange(n).astype(complex)")
    if element is I1:
        raise r.refuse("np.arange of bools", "np.array([False, True])")
    size = arange_size(r, start, stop, step)
    if size == 0:
        return filled(r, (0,), element, None)
    second = binary(r, "Add", start, step) if size != 1 else start
    for x in (start, second):
        check_number(r, x, ArrayRef(Storage(element, (), ())))
    first, other = (scalar_value(r, x, element) for x in (start, second))
    return indexed(r, (size,), element, [first, other], ramp)


def ramp(body: Body, place: list[Value], ends: list[Value]) -> Value:
    """The body of np.arange: ends[0], ends[1], then ends[0] + i * (ends[1] - ends[0])."""
    first, second = ends
    element = linalg.element_type(first.type)
    loop = (element.dtype,) * 3
    delta = apply_rule(np.subtract, body, [second, first], loop)
    steps = apply_rule(np.multiply, body, [body.cast(place[0], element), delta], loop)
    value = apply_rule(np.add, body, [first, steps], loop)
    if not element.is_float:
        return value
    for k, known in enumerate(ends):  # the first two as they are
        here = body.add(arith.CmpI.of("eq", place[0], body.constant(k, I64)))
        value = body.add(arith.Select.of(here, known, value))
    return value


def arange_bounds(args: Sequence[Any], named: dict[str, Any]) -> tuple[Any, Any, Any]:
    """(start, stop, step) as np.arange understands its arguments."""
    names = ["stop"] if len(args) == 1 and "stop" not in named else ["start", "stop", "step"]
    values = {**dict(zip(names, args)), **named}
    if values.get("stop") is None:
        if values.get("start") is None or "start" in named:
            raise Raises(TypeError("arange() requires stop to be specified."))
        values = {**values, "start": 0, "stop": values["start"]}
    start, step = values.get("start"), values.get("step")
    if start is None and "start" in values:
        raise Raises(TypeError("unsupported operand type(s) for -: 'NoneType'"))
    return 0 if start is None else start, values["stop"], 1 if step is None else step


def arange_size(r: Recorder, start: Any, stop: Any, step: Any) -> Dim:
    """The number of elements of np.arange: for ints exactly, for floats by NumPy's division."""
    ints = [as_int(r, x) for x in (start, stop, step)]
    first, last, by = ints
    narrow = any(isinstance(x, (NpScalar, np.generic)) and weak_type(x) != I64.dtype for x in (start, stop))
    if narrow and first != 0 and (is_traced(start) or is_traced(stop)):  # NumPy subtracts them in their own type
        return float_size(r, binary(r, "Sub", stop, start), step)
    if first is not None and last is not None and by is not None:
        numpy = isinstance(step, (NpScalar, np.generic))
        zero = ("ValueError", "Maximum allowed size exceeded") if numpy else ("ZeroDivisionError", "division by zero")
        by, rising = signed_step(r, by, "np.arange", *zero)
        pace = by if rising else neg(by)
        size = at_least_zero(r, floordiv(add(sub(last, first) if rising else sub(first, last), sub(pace, 1)), pace))
        return shape_arg(r, PyInt(size))[0]
    if not any(is_traced(x) for x in (start, stop, step)):
        return ask(np.arange, start, stop, step).size
    return float_size(r, binary(r, "Sub", stop, start), step)


def float_size(r: Recorder, span: Any, step: Any) -> Dim:
    """ceil(span / step) of floats, at least 0; 1 where a positive quotient is rounded to 0."""
    quotient = float_value(r, binary(r, "Div", span, step))
    number = r.emit(arith.CmpF.of("olt", r.emit(arith.AbsF.of(quotient)), r.constant(2.0**40, F64)))
    r.check(number, "ValueError", "Maximum allowed size exceeded")
    up = r.emit(casts.FPToSI.of(r.emit(arith.Ceil.of(quotient)), I64))
    zero = r.emit(arith.CmpF.of("oeq", quotient, r.constant(0.0, F64)))
    some = r.emit(arith.CmpF.of("une", float_value(r, span), r.constant(0.0, F64)))
    sign = r.emit(arith.CopySign.of(r.constant(1.0, F64), quotient))
    positive = r.emit(arith.CmpF.of("ogt", sign, r.constant(0.0, F64)))
    lost = both(r, zero, some, positive)
    count = r.emit(arith.Select.of(lost, r.constant(1, I64), up))
    size = r.emit(arith.MaxSI.of(count, r.constant(0, I64)))
    return r.symbol(r.emit(arith.IndexCast.of(size, INDEX)), "arange", lo=0)


# -- np.linspace


def linspace(
    r: Recorder, start: Any, stop: Any, num: Any = 50, endpoint: Any = True, retstep: Any = False, dtype: Any = None,
    axis: Any = 0,
) -> Any:  # fmt: skip
    """np.linspace of numbers: i * step + start, and `stop` itself at the end (numpy/_core/function_base.py)."""
    only(r, "np.linspace", axis=(axis, 0))
    element = F64 if dtype is None else element_of(r, dtype)
    ends = [start, stop]
    numbers = all(isinstance(x, (Scalar, *NUMBERS)) for x in ends)
    if not numbers or any(not isinstance(k := weak_type(x), type) and k not in (F64.dtype, I64.dtype) for x in ends):
        raise r.refuse("np.linspace between arrays, or numbers of this type", "use floats, for example float(a[0])")
    if not isinstance(endpoint, bool) or not isinstance(retstep, bool):
        raise r.refuse("this flag is not known at trace time", "use True or False")
    (size,) = shape_arg(r, num)
    div = sub(size, 1) if endpoint else size
    first, last = (scalar_value(r, x, F64) for x in ends)
    delta = r.emit(arith.SubF.of(last, first))
    several = r.ask_nonneg(sub(div, 1))
    if several is None and retstep:
        raise r.refuse(
            "the step of a number of points that is only known at run time",
            "leave `retstep` out: (stop - start) / (num - 1)",
        )
    many = r.constant(several, I1) if several is not None else r.compare("sge", div, 1)
    count = scalar_value(r, PyInt(div), F64)
    nan = r.constant(float("nan"), F64)
    step = r.emit(arith.DivF.of(delta, count)) if several is not False else nan

    def point(body: Body, place: list[Value], known: list[Value]) -> Value:
        first, last, delta, step, count, many = known
        i = body.cast(place[0], F64)
        pace = step if several else body.add(arith.Select.of(many, step, delta))
        value = body.add(arith.MulF.of(i, pace))
        if several is not False:
            small = body.add(arith.MulF.of(body.add(arith.DivF.of(i, count)), delta))
            none = body.add(arith.CmpF.of("oeq", pace, body.constant(0.0, F64)))
            none = body.add(arith.AndI.of(none, many))
            value = body.add(arith.Select.of(none, small, value))
        value = body.add(arith.AddF.of(value, first))
        if endpoint and several is not False:
            at_end = body.add(arith.CmpF.of("oeq", i, count))
            at_end = body.add(arith.AndI.of(at_end, many))
            value = body.add(arith.Select.of(at_end, last, value))
        return body.add(arith.Floor.of(value)) if element.is_integer else value

    points = indexed(r, (size,), element, [first, last, delta, step, count, many], point)
    if retstep:
        return points, NpScalar(step, F64) if several else float("nan")
    return points


# -- matrices


def below(r: Recorder, shape: Sequence[Dim], offset: Dim, element: ScalarType, predicate: str) -> ArrayRef:
    """A matrix with 1 where the column is equal to (eq), or at most (sle), the row + offset, and 0 elsewhere."""
    offset = within_reach(r, offset, shape)

    def compute(body: Body, place: list[Value], scalars: list[Value]) -> Value:
        shifted = body.add(arith.AddI.of(place[0], scalars[0]))
        return body.add(arith.CmpI.of(predicate, place[1], shifted))

    return indexed(r, shape, element, [r.i64(offset)], compute)


def offset_of(r: Recorder, k: Any) -> Dim:
    """The number of a diagonal."""
    offset = as_int(r, k)
    if offset is None:
        raise Raises(TypeError(f"'{type(concrete(k)).__name__}' object cannot be interpreted as an integer"))
    return offset


def within_reach(r: Recorder, k: Dim, shape: Sequence[Dim]) -> Dim:
    """The number of a diagonal of these matrices, or of another one that is outside on the same side: one that 64 bits
    hold with a row's index added."""
    small, large = r.ask_nonneg(sub(FAR, k)), r.ask_nonneg(add(k, FAR))
    if small is False:
        return shape[1]
    if large is False:
        return neg(shape[0])
    return k if small and large else r.facts.simplify(dim_max(dim_min(k, shape[1]), neg(shape[0])))


def lower_triangle(r: Recorder, shape: Sequence[Dim], k: Dim, element: ScalarType) -> ArrayRef:
    """np.tri, which compares ranges from -k on: OverflowError where 64 bits do not hold their ends."""
    wide, k_in_reach = "Python int too large to convert to C long", within_reach(r, k, shape)
    if r.ask_nonneg(sub(2**63, k)) is False or (holds := r.ask_nonneg(sub(add(k, 2**63 - 1), shape[1]))) is False:
        r.fail("OverflowError", wide)
    if holds is None:
        r.check(r.compare("sge", k, sub(shape[1], 2**63 - 1)), "OverflowError", wide)
    return below(r, shape, k_in_reach, element, "sle")


@traces(np.eye)
def eye(r: Recorder, N: Any, M: Any = None, k: Any = 0, dtype: Any = float, order: Any = "C") -> ArrayRef:
    """np.eye."""
    shape = shape_arg(r, (N, N if M is None else M))
    element = element_of(r, float if dtype is None else dtype)
    offset = offset_of(r, k)
    if order_of(order, "CF") == "C":
        return below(r, shape, offset, element, "eq")
    return reversed_axes(below(r, shape[::-1], neg(offset), element, "eq"))


@traces(np.tri)
def tri(r: Recorder, N: Any, M: Any = None, k: Any = 0, dtype: Any = float) -> ArrayRef:
    """np.tri."""
    sizes = [whole_number(r, n) for n in (N, N if M is None else M)]
    shape = [one_or_more(r, at_least_zero(r, n)) for n in sizes]
    return lower_triangle(r, shape, offset_of(r, k), element_of(r, float if dtype is None else dtype))


# -- arrays of items


def is_listed(x: Any, dtype: Any) -> bool:
    """Whether an array is made of items that are converted one by one: a list or tuple, or a number to be converted."""
    return isinstance(x, (list, tuple)) or (dtype is not None and isinstance(x, (Scalar, *NUMBERS)))


def takes_only(name: str, given: Collection[str], parameters: Collection[str]) -> None:
    """TypeError for a keyword argument that NumPy's function does not have."""
    for strange in given:
        if strange not in parameters:
            raise Raises(TypeError(f"{name}() got an unexpected keyword argument '{strange}'"))


@traces(np.array)
def array(
    r: Recorder, object: Any, dtype: Any = None, *, copy: Any = True, order: str = "K", subok: bool = False,
    ndmin: Any = 0,
) -> ArrayRef:  # fmt: skip
    """np.array of nested lists and tuples of numbers and arrays, or of an array."""
    if not is_listed(object, dtype):
        return call_handler(array_function, r, object, dtype, copy=truth_of_copy(copy), order=order, ndmin=ndmin)
    ndmin = least_axes(r, ndmin)
    copy = truth_of_copy(copy)
    only(r, "np.array of a list", copy=(None if copy else copy, None))
    made = array_of(r, object, dtype, order)
    return made.derive(in_turn([methodcaller("new_axis", 0)] * (ndmin - made.ndim))) if ndmin > made.ndim else made


def truth_of_copy(copy: Any) -> Any:
    """`copy=`, where a member of NumPy's enumeration says True, False or None."""
    return {"ALWAYS": True, "NEVER": False, "IF_NEEDED": None}[copy.name] if isinstance(copy, Enum) else copy


@traces(np.asarray, np.asanyarray)
def asarray(r: Recorder, a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None) -> ArrayRef:
    """np.asarray of nested lists and tuples of numbers and arrays, or of an array."""
    if not is_listed(a, dtype):
        return call_handler(as_array_function, r, a, dtype, order, copy=truth_of_copy(copy))
    only(r, "np.asarray of a list", copy=(truth_of_copy(copy), None))
    return array_of(r, a, dtype, "K" if order is None else order)


@traces(np.require)
def require(r: Recorder, a: Any, dtype: Any = None, requirements: Any = None) -> ArrayRef:
    """np.require: the same array where it is in the order asked for, and may be stored to if it must be."""
    wanted = {ask(REQUIREMENTS.__getitem__, ask(str.upper, x)) for x in ask(iter, requirements or ())}
    if wanted >= {"C", "F"}:
        raise Raises(ValueError('Cannot specify both "C" and "F" order'))
    if "O" in wanted:
        raise r.refuse("np.require of memory of its own", "np.array(a)")
    order = next(iter(wanted & {"C", "F"}), "A" if requirements else "K")
    made = asarray(r, a, dtype, order)
    protected = {arm.read_only or not arm.storage.writable for arm in ends(made)}
    if "W" in wanted and len(protected) > 1:
        raise r.refuse("np.require of one of several arrays, some of which are read-only", "np.array(a)")
    return array(r, made, order=order) if "W" in wanted and True in protected else made


@traces(np.diag)
def diag(r: Recorder, v: Any, k: Any = 0) -> ArrayRef:
    """np.diag: for a vector, the matrix with it on a diagonal; for a matrix, its diagonal."""
    ref = as_array(r, v)
    if ref.ndim != 1:
        return diagonal_of(r, ref, k)
    shift = as_int(r, k)
    right = None if shift is None else r.ask_nonneg(shift)
    if shift is None or right is None:
        raise r.refuse("np.diag by a number that is only known at run time", "store in a loop: out[i, i + k] = v[i]")
    down, across = (0, shift) if right else (mul(shift, -1), 0)
    n = ref.shape[0]
    size = one_or_more(r, add(n, add(down, across)))
    result = filled(r, (size, size), ref.element, 0)
    r.for_each(0, n, lambda i: r.store_element(result, (add(i, down), add(i, across)), r.load(ref, (i,))))
    return result
