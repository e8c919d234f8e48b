"""Reductions whose order matters, or whose ufunc has no neutral element, and `ufunc.reduceat`.

`reduce` of np.subtract, np.power, np.arctan2, np.hypot, np.gcd and all others. They start from `initial`, the ufunc's
identity, or the first element along the axis, and fold in the rest one after another.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import methodcaller
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.axes import axes_of, flag
from tracebuf.frontends.numpy.arrays.new_arrays import copy_of, filled
from tracebuf.frontends.numpy.functions.reductions.reduce import (
    NEUTRAL,
    NO_VALUE,
    Fold,
    check_not_empty,
    deliver,
    fits_mask,
    fold,
    kept_axes,
    reduce,
    reduction_dtypes,
    start_of,
)
from tracebuf.frontends.numpy.numbers.bodies import Body
from tracebuf.frontends.numpy.numbers.exponents import check_exponents
from tracebuf.frontends.numpy.numbers.generics import input_of
from tracebuf.frontends.numpy.numbers.operands import Operand, mask_of, supported
from tracebuf.frontends.numpy.numbers.rules import apply_rule
from tracebuf.frontends.numpy.record.conditions import both
from tracebuf.frontends.numpy.record.raises import Raises, ask
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import ArrayRef, NpScalar, Scalar, axis_order
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, add, dim_max, sub
from tracebuf.ir.types import I1, I64, INDEX, ScalarType, scalar_type
from tracebuf.ops.arrays import linalg
from tracebuf.ops.scalars import arith


def reduce_any(r: Recorder, ufunc: np.ufunc, ref: ArrayRef, how: Fold) -> ArrayRef | Scalar:
    """`ufunc.reduce` of any ufunc."""
    of_complex = ref.element.is_complex and ufunc in (np.fmax, np.fmin)  # of NaNs alone the first one is left
    return (reduce if ufunc in NEUTRAL and not of_complex else reduce_in_order)(r, ufunc, ref, how)


def step_dtypes(ufunc: np.ufunc, dtype: np.dtype, wanted: Any, out: ArrayRef | None) -> tuple[np.dtype, ...]:
    """The dtypes of one step: accumulator, new element, result; NumPy's TypeErrors (rule N5)."""
    reduction_dtypes(ufunc, dtype, wanted, None if out is None else out.dtype)
    forced: dict[str, Any] = {} if wanted is None else {"signature": (wanted, None, None if out is None else wanted)}
    if out is None:
        found: tuple[np.dtype, ...] = ask(
            ufunc.resolve_dtypes, (None, dtype, None), reduction=True, casting="unsafe", **forced
        )
        return found
    return ask(ufunc.resolve_dtypes, (out.dtype, dtype, None), casting="unsafe", **forced)


def reduce_in_order(r: Recorder, ufunc: np.ufunc, ref: ArrayRef, how: Fold) -> ArrayRef | Scalar:
    """`ufunc.reduce`, one step after another."""
    axes, mask, name = axes_of(r, how.axis, ref.ndim), mask_of(r, how.where), ufunc.__name__
    initial, out = how.initial, how.out
    dtypes = step_dtypes(ufunc, ref.dtype, None if how.dtype is None else ask(np.dtype, how.dtype), out)
    element = supported(dtypes[-1], f"the {name} of this array", r.loc)
    if dtypes[0] != dtypes[1]:  # NumPy folds these wrongly (np.ldexp of int32, in NumPy 2.4)
        raise r.refuse(f"np.{name}.reduce in two dtypes", "fold in a for loop")
    if out is not None and out.dtype != element.dtype:
        raise r.refuse(f"np.{name}.reduce into another dtype than it folds in", f"out[...] = np.{name}.reduce(a)")
    if len(axes) > 1 and ufunc.identity is None:
        text = f"reduction operation '{name}' is not reorderable, so at most one axis may be specified"
        raise Raises(ValueError(text))
    from_first = (initial is NO_VALUE and ufunc.identity is None) or initial is None
    if not axes and from_first and mask is None:
        result = copy_of(r, ref, element, kept_axes(r, ref, (), False)[1])
    elif not from_first or mask is not None:
        start = start_of(r, ufunc, ref, axes, element, initial, mask is not None)
        result = steps(r, ufunc, ref, axes, start, dtypes, mask)
    elif len(axes) == 1:
        check_not_empty(r, name, ref, axes)
        result = after_first(r, ufunc, ref, axes[0], element, dtypes)
    else:
        reason = f"np.{name}.reduce over several axes without a start"
        raise r.refuse(reason, "leave `initial` out, or reduce one axis after another")
    if flag(r, how.keepdims):
        for a in sorted(axes):
            result = result.derive(methodcaller("new_axis", a))
    return deliver(r, result, out, name)


def after_first(
    r: Recorder, ufunc: np.ufunc, ref: ArrayRef, axis: int, element: ScalarType, dtypes: Sequence[np.dtype]
) -> ArrayRef:
    """The first element along the axis, which exists, with those after it folded in."""
    first = copy_of(r, ref.at({axis: 0}), element, kept_axes(r, ref, (axis,), False)[1])
    rest = ref.derive(methodcaller("narrow", axis, 1, 1, sub(ref.shape[axis], 1)))
    return steps(r, ufunc, rest, (axis,), r.read(first), dtypes)


def steps(
    r: Recorder, ufunc: np.ufunc, ref: ArrayRef, axes: Sequence[int], start: Value, dtypes: Sequence[np.dtype],
    mask: Operand | None = None,
) -> ArrayRef:  # fmt: skip
    """Folds each element along the axes into the contents of `start`."""
    if ufunc is np.power and dtypes[1].kind == "i":
        check_exponents(r, ref if ref.dtype == dtypes[1] else copy_of(r, ref, scalar_type(dtypes[1]), range(ref.ndim)))
    if ufunc in (np.power, np.arctan2) and (mask is not None or ref.dtype != dtypes[1]):
        # of those that NumPy selects or converts it takes the last one for the first
        raise r.refuse(f"np.{ufunc.__name__}.reduce with where= or of another dtype", "a for loop")
    ins = [(r.read(ref), linalg.identity_map(ref.ndim))]
    if mask is not None:
        ins.append(input_of(r, fits_mask(r, mask, ref), I1, ref.shape))
    loop = [supported(d, f"np.{ufunc.__name__}.reduce", r.loc) for d in dtypes]

    def combine(body: Body, total: Value, args: Sequence[Value]) -> Value:
        new = apply_rule(ufunc, body, [total, body.cast(args[0], loop[1])], tuple(dtypes))
        return new if mask is None else body.add(arith.Select.of(args[1], new, total))

    return fold(r, ref, axes, False, start, ins, combine, mask=mask)


def reduceat(
    r: Recorder, ufunc: np.ufunc, ref: ArrayRef, indices: ArrayRef, axis: int, dtype: Any, out: ArrayRef | None
) -> ArrayRef:
    """`ufunc.reduceat`: for each index the fold up to the next index, or the element itself if that is not larger."""
    if indices.ndim != 1:
        raise Raises(ValueError(f"object {'of too small depth' if not indices.ndim else 'too deep'} for desired array"))
    if indices.dtype.kind not in "iu" or indices.dtype == np.uint64:
        raise r.refuse("indices of this dtype", "indices.astype(np.intp)")
    wanted = None if dtype is None else ask(np.dtype, dtype)
    size, count = ref.shape[axis], indices.shape[0]
    message = f"index {{}} out-of-bounds in {ufunc.__name__}.reduceat [0, {{}})"

    def place(k: Dim) -> Dim:
        value = Body(r.frame.block, r.loc).cast(r.load(indices, (k,)), I64)
        found = r.symbol(r.emit(arith.IndexCast.of(value, INDEX)), "at")
        low, high = r.compare("sge", found, 0), r.compare("slt", found, size)
        r.check(both(r, low, high), "IndexError", message, [r.index(found), r.index(size)])
        return r.symbol(r.index(found), "start", 0, 2**40)

    try:
        found = ask(ufunc.reduceat, np.ones(1, ref.dtype), [0], dtype=wanted).dtype
    except Raises:
        for k in range(count if isinstance(count, int) else 0):  # which are looked at before
            place(k)
        raise
    element = supported(found, "reduceat", r.loc)
    if out is not None and out.dtype != element.dtype:
        reason = f"np.{ufunc.__name__}.reduceat into another dtype than it folds in"
        raise r.refuse(reason, f"out[...] = np.{ufunc.__name__}.reduceat(a, places)")
    shape = (*ref.shape[:axis], count, *ref.shape[axis + 1 :])
    order = axis_order([(ref, [None if k == axis else k for k in range(ref.ndim)])], ref.ndim)
    result = filled(r, shape, element, None, order)

    def one(k: Dim, last: bool) -> None:
        start = place(k)
        stop = size if last else place(add(k, 1))
        length = r.symbol(r.index(dim_max(sub(stop, start), 1)), "length", 1, 2**40)
        part = ref.derive(methodcaller("narrow", axis, start, 1, length))
        made = reduce_any(r, ufunc, part, Fold(axis, wanted, initial=None))
        target = result.at({axis: k})
        if isinstance(made, ArrayRef):
            r.store(target, r.read(made))
        else:
            assert isinstance(made, NpScalar)
            r.store_element(target, (), made.value)

    some = r.ask_nonneg(sub(count, 1))
    if some is None:
        raise r.refuse("reduceat of a number of indices that may be 0", "a for loop")
    if some:
        r.for_each(0, sub(count, 1), lambda k: one(k, False))
        one(sub(count, 1), True)
    return result if out is None else deliver(r, result, out, ufunc.__name__)  # type: ignore[return-value]
