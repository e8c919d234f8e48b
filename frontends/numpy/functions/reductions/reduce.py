"""`ufunc.reduce`, and what NumPy builds on it: sums, products, extremes, truth, means, variances, indices of extremes.

A reduction is a fill with its start and a `linalg.generic` that folds elements into it, or, over a few elements, one
that reads each of them from an array of its own (`x.reshape(n, 2).sum(1)` is `x[:, 0] + x[:, 1]`). The start is
`initial`, else the ufunc's identity, else (maximum, minimum) a value that no element is beyond, where there are
elements.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.axes import axes_of, axis_of, flag
from tracebuf.frontends.numpy.arrays.indexing import check_number
from tracebuf.frontends.numpy.arrays.new_arrays import copy_of
from tracebuf.frontends.numpy.numbers.bodies import Body, imaginary, real
from tracebuf.frontends.numpy.numbers.complexes import rounded_product
from tracebuf.frontends.numpy.numbers.generics import build, convert_to, input_of, result_order
from tracebuf.frontends.numpy.numbers.operands import (
    BOOL,
    INT,
    Operand,
    as_number,
    loop_dtypes,
    mask_of,
    scalar_value,
    supported,
)
from tracebuf.frontends.numpy.numbers.rules import apply_rule
from tracebuf.frontends.numpy.numbers.ufuncs import elementwise
from tracebuf.frontends.numpy.record.broadcasting import require_same_or_one, shape_text
from tracebuf.frontends.numpy.record.raises import Raises, ask
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import NUMBERS, ArrayRef, NpScalar, Scalar, Storage, View
from tracebuf.frozen import frozen
from tracebuf.ir.core import Block, Value
from tracebuf.ir.dims import Dim, mul, sub
from tracebuf.ir.types import F16, F32, F64, I1, I64, ScalarType
from tracebuf.ops.arrays import linalg, tensor
from tracebuf.ops.scalars import arith

NO_VALUE = np._NoValue
UNROLLED = 8
"""So many elements, known when tracing, are folded without a loop."""
NEUTRAL: dict[np.ufunc, Callable[[np.dtype], Any]] = {
    np.add: lambda d: d.type(complex(-0.0, -0.0)) if d.kind == "c" else d.type(-0.0) if d.kind == "f" else d.type(0),
    np.multiply: lambda d: d.type(1),
    np.logical_and: lambda d: np.True_,
    np.logical_or: lambda d: np.False_,
    np.logical_xor: lambda d: np.False_,
    np.bitwise_and: lambda d: np.invert(d.type(0)),
    np.bitwise_or: lambda d: d.type(0),
    np.bitwise_xor: lambda d: d.type(0),
    np.maximum: lambda d: -highest(d) if d.kind in "fc" else lowest(d),
    np.minimum: lambda d: highest(d),
    np.fmax: lambda d: d.type("nan") if d.kind in "fc" else lowest(d),
    np.fmin: lambda d: d.type("nan") if d.kind in "fc" else highest(d),
}
"""By ufunc: its neutral element for a dtype; only these ufuncs are folded in any order."""


@frozen()
class Fold:
    """How an array is reduced, by NumPy's parameters."""

    axis: Any = None
    dtype: Any = None
    out: ArrayRef | None = None
    keepdims: Any = False
    initial: Any = NO_VALUE
    where: Any = NO_VALUE


EVERYTHING = Fold()
"""Over all axes, without optional parameters."""
Combine = Callable[[Body, Value, Sequence[Value]], Value]
"""The next accumulator, from the accumulator and one element of each input."""


def lowest(dtype: np.dtype) -> Any:
    """The least value of a dtype."""
    return dtype.type(False) if dtype == BOOL else dtype.type(np.iinfo(dtype).min)


def highest(dtype: np.dtype) -> Any:
    """The greatest value of a dtype."""
    if dtype.kind == "f":
        return dtype.type("inf")
    if dtype.kind == "c":
        return dtype.type(complex(np.inf, np.inf))
    return dtype.type(True) if dtype == BOOL else dtype.type(np.iinfo(dtype).max)


@lru_cache(maxsize=1024)
def reduction_dtypes(
    ufunc: np.ufunc, dtype: np.dtype, wanted: np.dtype | None, out: np.dtype | None
) -> tuple[np.dtype, np.dtype]:
    """(the dtype of the accumulator, the result's), from NumPy itself (rule N5); NumPy's TypeErrors."""
    target = None if out is None else np.empty((), out)
    result = getattr(ask(ufunc.reduce, np.ones(2, dtype), dtype=wanted, out=target), "dtype", np.dtype(object))
    if out is None or wanted is not None:
        return (result if wanted is None else np.dtype(wanted)), result
    loop = BOOL if ufunc.__name__.startswith("logical_") else ask(ufunc.resolve_dtypes, (out, dtype, None))[-1]
    return loop, result


# -- folding


def reduce(r: Recorder, ufunc: np.ufunc, ref: ArrayRef, how: Fold = EVERYTHING) -> ArrayRef | Scalar:
    """`ufunc.reduce` over axes; a NumPy scalar where no axis is left and there is no `out` (PyUFunc_Reduce)."""
    if ufunc not in NEUTRAL:
        raise r.refuse(f"np.{ufunc.__name__}.reduce is not supported", "fold in a for loop")
    axes, mask = axes_of(r, how.axis, ref.ndim), mask_of(r, how.where)
    wanted = None if how.dtype is None else ask(np.dtype, how.dtype)
    loop, _ = reduction_dtypes(ufunc, ref.dtype, wanted, None if how.out is None else how.out.dtype)
    element = supported(loop, f"the {ufunc.__name__} of this array", r.loc)
    start = start_of(r, ufunc, ref, axes, element, how.initial, mask is not None)
    ins = [(r.read(ref), linalg.identity_map(ref.ndim))]
    if mask is not None:
        ins.append(input_of(r, fits_mask(r, mask, ref), I1, ref.shape))
    neutral = NEUTRAL[ufunc](loop).item()
    wide = F32 if element is F16 and ufunc in (np.add, np.multiply) else element  # as NumPy's halves do (rule C2)
    innermost = result_order(r, [ref], ref.ndim)[-1] if ref.ndim else None

    def combine(body: Body, total: Value, args: Sequence[Value]) -> Value:
        new = body.cast(body.cast(args[0], element), wide)
        if mask is not None:
            new = body.add(arith.Select.of(args[1], new, body.constant(neutral, wide)))
        if ufunc in (np.fmax, np.fmin) and wide.is_float:
            return body.add((arith.MaxNumF if ufunc is np.fmax else arith.MinNumF).of(total, new))
        if wide.is_complex and ufunc is np.multiply and innermost in axes:
            return rounded_product(body, total, new)
        return apply_rule(ufunc, body, [total, new], (wide.dtype,) * 3)

    start, keepdims = Body(r.frame.block, r.loc).cast(start, wide), flag(r, how.keepdims)
    if mask is None and (parts := parts_of_few(r, ref, axes, keepdims)):
        result = fold_few(r, ref, axes, keepdims, start, parts, combine)
    else:
        result = fold(r, ref, axes, keepdims, start, ins, combine, mask=mask)
    result = result if wide is element else copy_of(r, result, element, result.storage.order)
    return deliver(r, result, how.out, ufunc.__name__)


def start_of(
    r: Recorder, ufunc: np.ufunc, ref: ArrayRef, axes: Sequence[int], element: ScalarType, initial: Any, masked: bool
) -> Value:
    """The start of a reduction; ValueError where there is neither an element nor an identity."""
    if initial is not NO_VALUE and initial is not None:
        initial = as_number(r, initial)
        if not isinstance(initial, (Scalar, *NUMBERS)):
            raise r.refuse("an `initial` that is no number", "use a number: a[0]")
        check_number(r, initial, ArrayRef(Storage(element, (), ())))
        return scalar_value(r, initial, element)
    if ufunc.identity is not None and initial is not None:
        return r.constant(np.array(ufunc.identity).astype(element.dtype).item(), element)  # -1 of unsigned ones too
    if masked:
        text = f"reduction operation '{ufunc.__name__}' does not have an identity, so to use a where mask one has to"
        raise Raises(ValueError(f"{text} specify 'initial'"))
    check_not_empty(r, ufunc.__name__, ref, axes)
    return r.constant(NEUTRAL[ufunc](element.dtype).item(), element)


def check_not_empty(r: Recorder, name: str, ref: ArrayRef, axes: Sequence[int]) -> None:
    """Raises ValueError for max and min over an axis of size 0, even where the result is empty too (rule Z4)."""
    message = f"zero-size array to reduction operation {name} which has no identity"
    for axis in axes:
        r.require_nonneg(sub(ref.shape[axis], 1), "ValueError", message)


def fits_mask(r: Recorder, mask: Operand, ref: ArrayRef) -> Operand:
    """The mask of a reduction, checked to broadcast to the array's shape."""
    if isinstance(mask, ArrayRef) and mask.ndim > ref.ndim:
        raise r.refuse("`where` has more axes than the array", "np.broadcast_to(a, where.shape) of the array")
    if isinstance(mask, ArrayRef):
        text, values = shape_text([ref.shape, mask.shape])
        for size, wanted in zip(reversed(mask.shape), reversed(ref.shape)):
            if size != 1:
                message = f"operands could not be broadcast together with remapped shapes [original->remapped]: {text} "
                require_same_or_one(r, size, wanted, "ValueError", message, values)
    return mask


def fold(
    r: Recorder, ref: ArrayRef, axes: Sequence[int], keepdims: bool, start: Value,
    ins: Sequence[tuple[Value, linalg.AffineMap]], combine: Combine, c_order: bool = False,
    mask: Operand | None = None,
) -> ArrayRef:  # fmt: skip
    """A linalg.generic over the shape of `ref` that folds into a fill with `start`, or into the tensor that `start` is.

    The result is in K-order of the array and a mask, or in C order (`c_order`).
    """
    element = linalg.element_type(start.type)
    shape, order, results = kept_axes(r, ref, axes, keepdims, mask)
    order = tuple(range(len(shape))) if c_order else order
    out = start
    if not start.is_tensor:
        out = r.emit(linalg.Fill.of(start, r.empty(element, shape, order)))
    block = Block([*(linalg.element_type(v.type) for v, _ in ins), element])
    body = Body(block, r.loc)
    block.append(linalg.Yield.of([combine(body, block.args[-1], block.args[:-1])], r.loc))
    maps = [*(m for _, m in ins), linalg.AffineMap(ref.ndim, results)]
    iterators = ["reduction" if a in axes else "parallel" for a in range(ref.ndim)]
    value = r.emit(linalg.Generic.of([v for v, _ in ins], [out], maps, iterators, block))
    return ArrayRef(r.new_storage(element, shape, order, value))


def parts_of_few(r: Recorder, ref: ArrayRef, axes: Sequence[int], keepdims: bool) -> list[ArrayRef]:
    """Where axes have a few elements, which are known, and others are left: the array at each of their indices. None
    where an element-wise op has just made the array, which will be a part of the loops that fold it."""
    axes = sorted(axes)
    sizes = [n for a in axes if isinstance(n := r.facts.canon(ref.shape[a]), int)]
    if type(ref) is not ArrayRef or len(sizes) < len(axes) or not 0 < len(axes) < ref.ndim:
        return []
    if not 1 < prod(sizes) <= UNROLLED or is_computed(r.read(ref)):
        return []
    places = [dict(zip(axes, place, strict=True)) for place in product(*map(range, sizes))]
    return [at_places(ref, place) if keepdims else ref.at(place) for place in places]


def is_computed(value: Value) -> bool:
    """Whether an array is what an element-wise op makes, or a view of it."""
    op = value.defining_op
    while isinstance(op, tensor.ExtractSlice | tensor.ExpandShape | tensor.CollapseShape | tensor.Cast):
        op = op.operand(0).defining_op
    return isinstance(op, linalg.Generic)


def at_places(ref: ArrayRef, place: Mapping[int, int]) -> ArrayRef:
    """The part of an array at these indices of some axes, which are kept."""

    def step(view: View) -> View:
        for axis, index in place.items():
            view = view.narrow(axis, index, 1, 1)
        return view

    return ref.derive(step)


def fold_few(
    r: Recorder, ref: ArrayRef, axes: Sequence[int], keepdims: bool, start: Value, parts: Sequence[ArrayRef],
    combine: Combine,
) -> ArrayRef:  # fmt: skip
    """A fold that is one element-wise op over its parts (`parts_of_few`). Of several axes the last is folded first, as
    NumPy sums along it."""
    shape, order, _ = kept_axes(r, ref, axes, keepdims)
    element, last = linalg.element_type(start.type), r.facts.canon(ref.shape[max(axes)])
    assert isinstance(last, int)
    run = last if ref.element is element and len(axes) > 1 else 1
    ins = [start, *(r.read(part) for part in parts)]
    block = Block([*(linalg.element_type(v.type) for v in ins), element])
    body, (total, *items) = Body(block, r.loc), block.args[:-1]
    for k in range(0, len(items), run):
        one = items[k]
        for item in items[k + 1 : k + run]:
            one = combine(body, one, [item])
        total = combine(body, total, [one])
    block.append(linalg.Yield.of([total], r.loc))
    n = len(shape)
    maps = [linalg.AffineMap(n, ()), *([linalg.identity_map(n)] * (len(parts) + 1))]
    value = r.emit(linalg.Generic.of(ins, [r.empty(element, shape, order)], maps, ["parallel"] * n, block))
    return ArrayRef(r.new_storage(element, shape, order, value))


def kept_axes(
    r: Recorder, ref: ArrayRef, axes: Sequence[int], keepdims: bool, mask: Operand | None = None
) -> tuple[tuple[Dim, ...], tuple[int, ...], tuple[int | None, ...]]:
    """(the shape of a reduction's result, its axes outermost first, the loop of each)."""
    kept = [a for a in range(ref.ndim) if a not in axes]
    masks = [mask] if isinstance(mask, ArrayRef) and mask.ndim <= ref.ndim else []
    by_rank: Sequence[int] = result_order(r, [ref, *masks], ref.ndim)
    if any(r.facts.canon(n) == 0 for n in ref.shape):  # the strides of an array without elements say nothing
        by_rank = range(ref.ndim)
    if keepdims:
        shape = tuple(1 if a in axes else n for a, n in enumerate(ref.shape))
        return shape, tuple(by_rank), tuple(None if a in axes else a for a in range(ref.ndim))
    return tuple(ref.shape[a] for a in kept), tuple(kept.index(a) for a in by_rank if a in kept), tuple(kept)


def deliver(r: Recorder, result: ArrayRef, out: ArrayRef | None, name: str) -> ArrayRef | Scalar:
    """A result as eager has it: stored in `out`, converted to its dtype, else a scalar where it has no axes."""
    if out is None:
        return result if result.ndim else r.number(result)
    if out.ndim != result.ndim:
        reason = f"output parameter for reduction operation {name} has the wrong number of dimensions"
        raise Raises(ValueError(f"{reason}: Found {out.ndim} but expected {result.ndim}"))
    r.check_writable(out, "output array")
    text, values = shape_text([out.shape, result.shape])
    for a, b in zip(out.shape, result.shape):
        r.require_equal(a, b, "ValueError", f"non-broadcastable output operand: shapes {text}", values)
    r.store(out, convert_to(r, result, out.element, out.shape))
    return out


# -- means and variances (numpy/_core/_methods.py)


def count_of(r: Recorder, ref: ArrayRef, how: Fold) -> Operand:
    """The number of elements behind each result, as int64 (_count_reduce_items)."""
    axes, mask = axes_of(r, how.axis, ref.ndim), mask_of(r, how.where)
    if mask is None:
        count: Dim = 1
        for a in axes if isinstance(how.axis, tuple) or how.axis is None else [axis_of(r, how.axis, ref.ndim)]:
            count = mul(count, ref.shape[a])
        return NpScalar(r.i64(count), I64)

    if isinstance(how.where, NUMBERS) and not isinstance(how.where, (bool, np.bool_)):  # NumPy adds it up
        raise r.refuse("a number that is no bool as where=", "use x != 0")

    def add(body: Body, total: Value, args: Sequence[Value]) -> Value:
        return body.add(arith.AddI.of(total, body.cast(args[1], I64)))

    ins = [(r.read(ref), linalg.identity_map(ref.ndim)), input_of(r, fits_mask(r, mask, ref), I1, ref.shape)]
    return deliver(r, fold(r, ref, axes, flag(r, how.keepdims), r.constant(0, I64), ins, add), None, "add")


def divide(
    r: Recorder, total: Operand, count: Operand, into: ArrayRef | None = None, to: ScalarType | None = None
) -> ArrayRef | Scalar:
    """total / count in the dtype in which NumPy divides, converted to the total's dtype, or to `to`."""
    assert isinstance(total, (ArrayRef, NpScalar)) and isinstance(count, (ArrayRef, NpScalar))
    loop = loop_dtypes(np.true_divide, (total.element.dtype, count.element.dtype))
    end = to or total.element
    element = supported(loop[0], "the mean", r.loc)

    def compute(body: Body, args: list[Value]) -> Value:
        quotient = apply_rule(np.true_divide, body, [body.cast(a, element) for a in args], loop)
        return body.cast(quotient, end)

    return build(r, compute, [total, count], [element, element], end, into)


def inexact(r: Recorder, dtype: Any, what: str) -> np.dtype | None:
    """The `dtype=` of a mean or variance; refused where it is not a float or complex type."""
    if dtype is not None and ask(np.dtype, dtype).kind not in "fc":
        raise r.refuse(f"{what} in dtype {np.dtype(dtype)}", "convert the result: .astype(dtype)")
    return None if dtype is None else np.dtype(dtype)


def mean(r: Recorder, ref: ArrayRef, how: Fold) -> ArrayRef | Scalar:
    """np.mean (_mean): integers and bools in float64, float16 accumulated in float32; the sum divided by the count."""
    wanted = inexact(r, how.dtype, "the mean")
    half = wanted is None and ref.dtype == np.float16
    if wanted is None and ref.dtype.kind not in "fc":
        wanted = F64.dtype
    total = reduce(r, np.add, ref, replace(how, dtype=F32.dtype if half else wanted))
    count = count_of(r, ref, how)
    if half and isinstance(total, NpScalar):
        return divide(r, total, count, None, ref.element)
    result = divide(r, total, count, how.out)
    return convert(r, result, ref.element) if half and how.out is None else result


def convert(r: Recorder, x: ArrayRef | Scalar, element: ScalarType) -> ArrayRef | Scalar:
    """x in another element type."""
    return build(r, lambda body, args: body.cast(args[0], element), [x], [element], element)


def var(r: Recorder, ref: ArrayRef, how: Fold, ddof: Any = 0, centre: Any = None) -> ArrayRef | Scalar:
    """np.var (_var): the mean of the squared distances from the mean (or `centre`), divided by the count less
    `ddof`."""
    wanted = inexact(r, how.dtype, "the variance")
    if wanted is not None and "c" in (wanted.kind, ref.dtype.kind):
        reason = "the variance of complex numbers, or as a complex number, in a dtype"
        raise r.refuse(reason, "convert the array: a.astype(dtype)")
    if wanted is None and ref.dtype.kind not in "fc":
        wanted = F64.dtype
    if centre is None:
        kept = replace(how, dtype=wanted, out=None, keepdims=True)
        centre = divide(r, reduce(r, np.add, ref, kept), count_of(r, ref, kept))
    distance = elementwise(r, np.subtract, [ref, centre])
    squares = as_tensor(r, elementwise(r, np.square, [distance]) if not ref.element.is_complex else power(r, distance))
    total = reduce(r, np.add, squares, replace(how, dtype=wanted))
    left = elementwise(r, np.subtract, [count_of(r, ref, how), ddof])
    return divide(r, total, elementwise(r, np.maximum, [left, 0]), how.out)


def power(r: Recorder, x: Any) -> ArrayRef | Scalar:
    """The squared magnitudes of complex numbers."""
    element = x.element.component

    def compute(body: Body, args: list[Value]) -> Value:
        squares = [body.add(arith.MulF.of(v, v)) for v in (real(body, args[0]), imaginary(body, args[0]))]
        return body.add(arith.AddF.of(squares[0], squares[1]))

    return build(r, compute, [x], [x.element], element)


def as_tensor(r: Recorder, x: Any) -> ArrayRef:
    """A scalar as an array without axes."""
    if isinstance(x, ArrayRef):
        return x
    value = r.emit(linalg.Fill.of(x.value, r.empty(x.element, ())))
    return ArrayRef(r.new_storage(x.element, (), (), value))


def std(r: Recorder, ref: ArrayRef, how: Fold, ddof: Any = 0, centre: Any = None) -> ArrayRef | Scalar | bool:
    """np.std: the square root of the variance."""
    return elementwise(r, np.sqrt, [var(r, ref, how, ddof, centre)], into=how.out)


# -- indices of extremes


def arg_extreme(
    r: Recorder, ufunc: np.ufunc, ref: ArrayRef, axis: Any = None, out: ArrayRef | None = None, keepdims: Any = False
) -> ArrayRef | Scalar:
    """np.argmax or np.argmin: the first index (without `axis`, the ravelled one) of the extreme; the first NaN counts
    as extreme. Two folds: the extreme, then the smallest index at which it occurs."""
    axes = tuple(range(ref.ndim)) if axis is None else (axis_of(r, axis, ref.ndim or 1),)[: ref.ndim]
    name = "argmax" if ufunc is np.maximum else "argmin"
    for a in axes:
        r.require_nonneg(sub(ref.shape[a], 1), "ValueError", f"attempt to get {name} of an empty sequence")
    best = as_tensor(r, reduce(r, ufunc, ref, Fold(axes, keepdims=True)))
    best_map = linalg.AffineMap(ref.ndim, tuple(None if a in axes else a for a in range(ref.ndim)))
    ins = [(r.read(ref), linalg.identity_map(ref.ndim)), (r.read(best), best_map)]
    steps: list[Dim] = [1]
    for a in reversed(axes[1:]):
        steps.insert(0, mul(steps[0], ref.shape[a]))
    ins += [(r.i64(s), linalg.AffineMap(ref.ndim, ())) for s in steps[: len(axes)]]

    def combine(body: Body, place: Value, args: Sequence[Value]) -> Value:
        here = apply_rule(np.equal, body, [args[0], args[1]], (ref.dtype, ref.dtype, BOOL))
        if ref.element.component.is_float:
            nan = apply_rule(np.isnan, body, [args[0]], (ref.dtype, BOOL))
            here = body.add(arith.OrI.of(here, nan))
        at = body.constant(0, I64)
        for a, step in zip(axes, args[2:]):
            at = body.add(arith.AddI.of(at, body.add(arith.MulI.of(body.index(a), step))))
        new = body.add(arith.Select.of(here, at, body.constant(2**63 - 1, I64)))
        return body.add(arith.MinSI.of(place, new))

    if out is not None and out.dtype != INT:
        raise r.refuse(f"{name} into dtype {out.dtype}", f"store it: out[...] = np.{name}(a, axis)")
    found = fold(r, ref, axes, flag(r, keepdims), r.constant(2**63 - 1, I64), ins, combine, c_order=True)
    return deliver(r, found, out, name)
