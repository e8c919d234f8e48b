"""Arrays put together from parts of others: concatenate, stack, roll, repeat, tile, diff, pad, meshgrid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.broadcasting import shape_text
from tracebuf.frontends.numpy.fresh import as_array, filled, k_order, only
from tracebuf.frontends.numpy.indexing import as_int, store_view
from tracebuf.frontends.numpy.loops import for_each
from tracebuf.frontends.numpy.recorder import Recorder
from tracebuf.frontends.numpy.reductions import axis_of
from tracebuf.frontends.numpy.reshape import flat_values, reshape, whole_number
from tracebuf.frontends.numpy.scalars import as_int_value
from tracebuf.frontends.numpy.ufuncs import convert_to, elementwise, out_of, supported
from tracebuf.frontends.numpy.values import ArrayRef, storages_of
from tracebuf.ir.dims import Dim, add, mul, sub


def part(ref: ArrayRef, axis: int, start: Dim, size: Dim, step: int = 1) -> ArrayRef:
    """ref[..., start : start + step * size : step, ...] along an axis; it must be inside."""
    return ref.derive(lambda view: view.narrow(axis, start, step, size))


def arrays_of(r: Recorder, items: Any) -> list[ArrayRef]:
    """A sequence of arrays."""
    if not isinstance(items, (list, tuple)):
        raise UnsupportedError(
            "the arrays to join are not a tuple or list", location=r.loc, instead="write (a[0], a[1])"
        )
    if not items:
        raise ValueError("need at least one array to concatenate")
    return [as_array(r, i) for i in items]


@dataclass(frozen=True)
class Into:
    """The optional parameters of functions that join arrays: where the result goes, or its dtype."""

    out: Any = None
    dtype: Any = None
    casting: str | None = "same_kind"


PLAIN = Into()


def concatenate(
    r: Recorder, arrays: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = "same_kind"
) -> Any:
    """np.concatenate: a fresh array, its axes in the order they have in all of the parts."""
    refs, into = arrays_of(r, arrays), Into(out, dtype, casting)
    if axis is None:
        return joined(r, [flat_values(r, x) for x in refs], 0, into)
    if any(x.ndim == 0 for x in refs):
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    return joined(r, refs, axis_of(r, axis, refs[0].ndim), into)


def joined(r: Recorder, refs: Sequence[ArrayRef], axis: int, into: Into = PLAIN) -> ArrayRef:
    """The arrays one after another along an axis."""
    first = refs[0]
    if into.out is not None and into.dtype is not None:
        raise TypeError("concatenate() only takes `out` or `dtype` as an argument, but both were provided.")
    for x in refs[1:]:
        if x.ndim != first.ndim:
            raise ValueError("all the input array dimensions must match exactly: their numbers differ")
        text, values = shape_text([first.shape, x.shape])
        for k, (m, n) in enumerate(zip(first.shape, x.shape)):
            if k != axis:
                message = f"all the input array dimensions except for the concatenation axis must match exactly: {text}"
                r.require_equal(m, n, "ValueError", message, values)
    total: Dim = 0
    for x in refs:
        total = add(total, x.shape[axis])
    shape = (*first.shape[:axis], total, *first.shape[axis + 1 :])
    result = destination(r, refs, shape, into)
    for x in refs:
        if not np.can_cast(x.dtype, result.dtype, into.casting or "unsafe"):  # type: ignore[arg-type]
            rule = f"according to the rule '{into.casting}'"
            raise TypeError(f"Cannot cast array data from {x.dtype!r} to {result.dtype!r} {rule}")
    start: Dim = 0
    for x in refs:
        store_view(r, part(result, axis, start, x.shape[axis]), x)
        start = add(start, x.shape[axis])
    return result


def destination(r: Recorder, refs: Sequence[ArrayRef], shape: tuple[Dim, ...], into: Into) -> ArrayRef:
    """`out=`, which must have the shape, or a fresh array."""
    if (out := out_of(r, into.out)) is not None:
        if out.ndim != len(shape):
            raise ValueError("Output array has wrong dimensionality")
        for m, n in zip(out.shape, shape):
            r.require_equal(m, n, "ValueError", "Output array is the wrong shape")
        r.check_writable(out)
        if any(s in storages_of(out) for x in refs for s in storages_of(x)):
            what = "np.concatenate into an array that it also reads"
            raise UnsupportedError(what, location=r.loc, instead="out[...] = np.concatenate((a, b))")
        return out
    wanted = np.result_type(*(x.dtype for x in refs)) if into.dtype is None else np.dtype(into.dtype)
    element, ndim = supported(wanted, "the array", r.loc), len(shape)
    order = order_in_memory(refs, ndim)
    if order != tuple(range(ndim)):  # axes of size 1 have no say in it
        order = order_in_memory([known_ones(r, x) for x in refs], ndim)
    return filled(r, shape, element, None, order)


def order_in_memory(refs: Sequence[ArrayRef], ndim: int) -> tuple[int, ...]:
    """The axes, outermost first, as PyArray_CreateMultiSortedStridePerm sorts them: those of a repeated axis, and of an
    array without elements, are of stride 0."""

    def further_in(ref: ArrayRef, k: int) -> tuple[float, ...]:
        rank = None if any(n == 0 for n in ref.shape) else ref.stride_rank(k)
        return (float("inf"),) if rank is None else rank

    perm: list[int] = []
    for axis in range(ndim):
        place = len(perm)
        for i in reversed(range(len(perm))):
            longer = [x for x in refs if x.shape[axis] != 1 and x.shape[perm[i]] != 1]
            swaps = [further_in(x, axis) < further_in(x, perm[i]) for x in longer]
            if swaps and not all(swaps):
                break
            place = i if swaps else place
        perm.insert(place, axis)
    return tuple(perm)


def known_ones(r: Recorder, ref: ArrayRef) -> ArrayRef:
    """The array with those of its sizes that are 1 known to be, by guards (rule S6)."""
    sizes = tuple(1 if r.ask_equal(d, 1) is True else d for d in ref.shape)
    return ref.derive(lambda view: replace(view, sizes=sizes))


def stack(
    r: Recorder, arrays: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = "same_kind"
) -> Any:
    """np.stack: along a new axis."""
    refs = arrays_of(r, arrays)
    for x in refs[1:]:
        if x.ndim != refs[0].ndim:
            raise ValueError("all input arrays must have the same shape")
        for m, n in zip(refs[0].shape, x.shape):
            r.require_equal(m, n, "ValueError", "all input arrays must have the same shape")
    place = axis_of(r, axis, refs[0].ndim + 1)
    return joined(r, [x.derive(lambda view: view.new_axis(place)) for x in refs], place, Into(out, dtype, casting))


def at_least(ref: ArrayRef, ndim: int) -> ArrayRef:
    """With new axes in front."""
    while ref.ndim < ndim:
        ref = ref.derive(lambda view: view.new_axis(0))
    return ref


def hstack(r: Recorder, tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> Any:
    refs = [at_least(x, 1) for x in arrays_of(r, tup)]
    return joined(r, refs, 0 if refs[0].ndim == 1 else 1, Into(None, dtype, casting))


def vstack(r: Recorder, tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> Any:
    return joined(r, [at_least(x, 2) for x in arrays_of(r, tup)], 0, Into(None, dtype, casting))


def column_stack(r: Recorder, tup: Any) -> Any:
    """Vectors become columns."""
    refs = []
    for x in arrays_of(r, tup):
        flat = at_least(x, 2)
        refs.append(flat.derive(lambda view: view.transpose((1, 0))) if x.ndim < 2 else x)
    return joined(r, refs, 1)


def append(r: Recorder, arr: Any, values: Any, axis: Any = None) -> Any:
    """np.append: np.concatenate, without an axis of all elements."""
    return concatenate(r, (arr, values), axis)


def diff(r: Recorder, a: Any, n: Any = 1, axis: Any = -1, prepend: Any = None, append: Any = None) -> Any:
    """np.diff: each element minus the one before, n times."""
    only(r, "np.diff", prepend=(prepend, None), append=(append, None))
    ref, times = as_array(r, a), r.static_int(whole_number(r, n), "how often np.diff is taken")
    if times < 0:
        raise ValueError(f"order must be non-negative but got {times}")
    if not ref.ndim:
        raise ValueError("diff requires input that is at least one dimensional")
    place = axis_of(r, axis, ref.ndim)
    for _ in range(times):
        size = sub(ref.shape[place], 1)
        left = r.ask_nonneg(size)
        if left is None:
            raise UnsupportedError("np.diff of what may be empty", location=r.loc, instead="a[1:] - a[:-1]")
        size = size if left else 0
        ufunc = np.not_equal if ref.dtype == np.bool_ else np.subtract
        both = [part(ref, place, 1 if left else 0, size), part(ref, place, 0, size)]
        ref = as_array(r, elementwise(r, ufunc, both))
    return ref


def roll(r: Recorder, a: Any, shift: Any, axis: Any = None) -> ArrayRef:
    """np.roll along one axis: two copies of parts."""
    ref, by = as_array(r, a), as_int(r, shift)
    if by is None or isinstance(axis, tuple):
        raise UnsupportedError("np.roll by more than one axis", location=r.loc, instead="roll axis by axis")
    if axis is None and ref.ndim != 1:
        return reshape(r, roll(r, flat_values(r, ref), shift, 0), tuple(as_int_value(n) for n in ref.shape))
    place = axis_of(r, 0 if axis is None else axis, ref.ndim)
    n = ref.shape[place]
    result = filled(r, ref.shape, ref.element, None, k_order(ref))
    forward = r.ask_nonneg(by)
    back = mul(by, -1)
    if forward and r.ask_nonneg(sub(n, by)):
        offset = by
    elif forward is False and r.ask_nonneg(sub(n, back)):
        offset = sub(n, back)
    else:
        size = r.static_int(n, "how far np.roll goes around")
        offset = r.static_int(by, "the shift of np.roll") % (size or 1)
    rest = sub(n, offset)
    store_view(r, part(result, place, offset, rest), part(ref, place, 0, rest))
    store_view(r, part(result, place, 0, offset), part(ref, place, rest, offset))
    return result


def count_of(r: Recorder, n: Any, what: str) -> int:
    """A static number of repetitions."""
    e = as_int(r, n)
    if e is None:
        raise UnsupportedError(
            f"{what} is no int", location=r.loc, instead="use an int, or store into an array in a loop"
        )
    times = r.static_int(e, what)
    if times < 0:
        raise ValueError("repeats may not contain negative values.")
    return times


def repeat(r: Recorder, a: Any, repeats: Any, axis: Any = None) -> ArrayRef:
    """np.repeat: each element so many times."""
    ref, times = as_array(r, a), count_of(r, repeats, "the number of repeats")
    ref = flat_values(r, ref) if axis is None or not ref.ndim else ref
    place = axis_of(r, 0 if axis is None else axis, ref.ndim)
    n = ref.shape[place]
    shape = (*ref.shape[:place], mul(n, times), *ref.shape[place + 1 :])
    result = filled(r, shape, ref.element, None)
    for_each(r, 0, times, lambda k: store_view(r, part(result, place, k, n, times), ref))
    return result


def tile(r: Recorder, A: Any, reps: Any) -> ArrayRef:
    """np.tile of a vector: it so many times, one after another."""
    ref = at_least(as_array(r, A), 1)
    times = max(count_of(r, reps, "the number of tiles"), 0)
    if ref.ndim != 1:
        raise UnsupportedError("np.tile of an array of more axes", location=r.loc, instead="np.concatenate((a, a))")
    n = ref.shape[0]
    result = filled(r, (mul(n, times),), ref.element, None)
    for_each(r, 0, times, lambda k: store_view(r, part(result, 0, mul(k, n), n), ref))
    return result


def meshgrid(
    r: Recorder, *xi: Any, copy: Any = True, sparse: Any = False, indexing: Any = "xy"
) -> tuple[ArrayRef, ...]:
    """np.meshgrid: each vector along its own axis, repeated along the others."""
    only(r, "np.meshgrid", copy=(copy, True), sparse=(sparse, False))
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    refs = [at_least(as_array(r, x), 1) for x in xi]
    if any(x.ndim != 1 for x in refs):
        raise UnsupportedError(
            "np.meshgrid of arrays of more axes", location=r.loc, instead="pass vectors, for example a.ravel()"
        )
    n = len(refs)
    places = [1, 0, *range(2, n)] if indexing == "xy" and n > 1 else list(range(n))
    shape = tuple(refs[places.index(k)].shape[0] for k in range(n))
    grids = []
    for x, place in zip(refs, places):
        for _ in range(n - 1 - place):
            x = x.derive(lambda view: view.new_axis(len(view.dims)))
        value = convert_to(r, x, x.element, shape, fresh=True)
        grids.append(ArrayRef(r.new_storage(x.element, shape, range(n), value)))
    return tuple(grids)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.concatenate: concatenate, np.stack: stack, np.hstack: hstack, np.vstack: vstack, np.append: append,
    np.column_stack: column_stack, np.diff: diff, np.roll: roll, np.repeat: repeat, np.tile: tile,
    np.meshgrid: meshgrid,
}  # fmt: skip
