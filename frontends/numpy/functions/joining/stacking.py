"""Arrays joined from others: concatenate, stack, append, diff, roll, repeat, tile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from operator import methodcaller
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.axes import axis_of
from tracebuf.frontends.numpy.arrays.creation import asarray
from tracebuf.frontends.numpy.arrays.indexing import as_int, store_view
from tracebuf.frontends.numpy.arrays.new_arrays import as_array, copy_of, filled, k_order
from tracebuf.frontends.numpy.arrays.reshape import ravelled_values, reshape, whole_number
from tracebuf.frontends.numpy.arrays.shapes import broadcast_to, unstack
from tracebuf.frontends.numpy.functions.indices.sorted_indices import repeat_each
from tracebuf.frontends.numpy.functions.reductions.reduce import NO_VALUE
from tracebuf.frontends.numpy.numbers.generics import convert_to
from tracebuf.frontends.numpy.numbers.operands import out_of, scalar_value, supported, weak_type
from tracebuf.frontends.numpy.numbers.scalars import as_int_value
from tracebuf.frontends.numpy.numbers.ufuncs import elementwise
from tracebuf.frontends.numpy.record.cond import ends
from tracebuf.frontends.numpy.record.raises import Raises, ask, cannot_cast
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.registry import traces
from tracebuf.frontends.numpy.record.scalar_checks import check_origin
from tracebuf.frontends.numpy.record.values import ArrayRef, NpScalar, Storage, in_turn, storages_of
from tracebuf.frozen import frozen
from tracebuf.ir.dims import Dim, add, dim_max, mod, mul, sub
from tracebuf.ir.types import UI64


def part(ref: ArrayRef, axis: int, start: Dim, size: Dim, step: int = 1) -> ArrayRef:
    """The view ref[..., start : start + step * size : step, ...] of an axis; it must be within bounds."""
    return ref.derive(lambda view: view.narrow(axis, start, step, size))


def arrays_of(r: Recorder, items: Any, what: str = "concatenate") -> list[ArrayRef]:
    """The arrays in a sequence; for an array, the items along its first axis."""
    if isinstance(items, ArrayRef) and items.ndim:
        items = unstack(r, items)
    if not isinstance(items, (list, tuple)):
        raise r.refuse("the arrays to join are not a tuple or list", "write (a[0], a[1])")
    if not items:
        raise Raises(ValueError(f"need at least one array to {what}"))
    return [as_array(r, i) for i in items]


@frozen(slots=False)
class Into:
    """The optional parameters of functions that join arrays: the destination of the result, or its dtype."""

    out: Any = None
    dtype: Any = None
    casting: str | None = "same_kind"


PLAIN = Into()
"""Without optional parameters: a fresh array."""


@traces(np.concatenate)
def concatenate(
    r: Recorder, arrays: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = "same_kind"
) -> Any:
    """np.concatenate: a fresh array, its axes in the order that they have in all of the parts, or `out=`."""
    refs, into = arrays_of(r, arrays), Into(out, dtype, casting)
    if axis is None:
        refs = refs if into.dtype is not None else with_weak_numbers(r, arrays, refs)
        return joined(r, [ravelled_values(r, x) for x in refs], 0, into)
    if refs and refs[0].ndim == 0:
        raise Raises(ValueError("zero-dimensional arrays cannot be concatenated"))
    return joined(r, refs, axis_of(r, axis, refs[0].ndim), into)


def with_weak_numbers(r: Recorder, items: Any, refs: list[ArrayRef]) -> list[ArrayRef]:
    """What is joined without an axis: Python's numbers among arrays become of the arrays' type, as operands do
    (NEP 50), though their values may not fit."""
    if isinstance(items, ArrayRef):
        return refs
    check_origin(r, *items)
    kinds: list[Any] = [0 if ref.ndim or isinstance(x, ArrayRef) else weak_type(x) for x, ref in zip(items, refs)]
    weak = [isinstance(kind, type) for kind in kinds]
    if all(weak) or not any(weak):
        return refs
    wanted = ask(np.result_type, *(kind(0) if w else ref.dtype for kind, w, ref in zip(kinds, weak, refs)))
    return [asarray(r, ref, wanted) if w else ref for ref, w in zip(refs, weak)]

MISMATCH = "all the input array dimensions except for the concatenation axis must match exactly"


def joined(r: Recorder, refs: Sequence[ArrayRef], axis: int, into: Into = PLAIN) -> ArrayRef:
    """The arrays one after another along an axis."""
    first = refs[0]
    if into.out is not None and into.dtype is not None:
        raise Raises(TypeError("concatenate() only takes `out` or `dtype` as an argument, but both were provided."))
    for which, x in enumerate(refs[1:], 1):
        if x.ndim != first.ndim:
            text = f"the array at index 0 has {first.ndim} dimension(s) and the array at index {which} has {x.ndim}"
            text = f"all the input arrays must have same number of dimensions, but {text} dimension(s)"
            raise Raises(ValueError(text))
        for k, (m, n) in enumerate(zip(first.shape, x.shape)):
            if k != axis:
                text = f"along dimension {k}, the array at index 0 has size {{}} and the array at index {which}"
                r.require_equal(m, n, "ValueError", f"{MISMATCH}, but {text} has size {{}}", [m, n])
    total: Dim = 0
    for x in refs:
        total = add(total, x.shape[axis])
    shape = (*first.shape[:axis], total, *first.shape[axis + 1 :])
    result = destination(r, refs, shape, into)
    for x in refs:
        if not ask(np.can_cast, x.dtype, result.dtype, into.casting or "unsafe"):
            raise cannot_cast(x.dtype, result.dtype, into.casting or "unsafe")
    start: Dim = 0
    for x in refs:
        store_view(r, part(result, axis, start, x.shape[axis]), x)
        start = add(start, x.shape[axis])
    return result


def destination(r: Recorder, refs: Sequence[ArrayRef], shape: tuple[Dim, ...], into: Into) -> ArrayRef:
    """`out=`, which must have the result's shape, or a fresh array."""
    if (out := out_of(r, into.out)) is not None:
        if out.ndim != len(shape):
            raise Raises(ValueError("Output array has wrong dimensionality"))
        for m, n in zip(out.shape, shape):
            r.require_equal(m, n, "ValueError", "Output array is the wrong shape")
        r.check_writable(out)
        if any(s in storages_of(out) for x in refs for s in storages_of(x)):
            raise r.refuse("np.concatenate into an array that it also reads", "out[...] = np.concatenate((a, b))")
        return out
    wanted = np.result_type(*(x.dtype for x in refs)) if into.dtype is None else ask(np.dtype, into.dtype)
    return filled(r, shape, supported(wanted, "the array", r.loc), None, order_of_joined(r, refs, len(shape)))


def order_of_joined(r: Recorder, refs: Sequence[ArrayRef], ndim: int) -> tuple[int, ...]:
    """The axes of the arrays joined, outermost first. Those of size 1 do not matter, and an array that is made without
    elements has no order; it is noted where only the run time knows which do (rule C1)."""
    in_order = tuple(range(ndim))
    if all(order_in_memory([x], ndim) == in_order for x in refs):
        return in_order
    if any(r.ask_equal(n, few) is None for x in refs for n in x.shape for few in (0, 1)):
        r.order_is_open = True
    return order_in_memory([known_ones(r, x) for x in refs], ndim, lambda n, few: r.ask_equal(n, few) is True)


def order_in_memory(
    refs: Sequence[ArrayRef], ndim: int, equal: Callable[[Dim, int], bool] = lambda n, few: n == few
) -> tuple[int, ...]:
    """The axes, outermost first, as PyArray_CreateMultiSortedStridePerm sorts them: repeated axes have stride 0, and so
    have all axes of what is made without elements; an empty part of an array has its strides."""

    def further_in(ref: ArrayRef, k: int) -> tuple[float, ...]:
        first = ends(ref)[0]
        rank = ref.stride_rank(k)
        if first.view.over is None and any(equal(n, 0) for n in first.shape):
            without = any(equal(n, 0) for n in first.storage.shape)
            rank = None if without or rank is None else (outer(first.storage, *rank),)
        return (float("inf"),) if rank is None else rank

    def outer(storage: Storage, k: int) -> int:
        """The outermost axis with the stride of the k-th in memory: those of one element have that of the next one."""
        while k and equal(storage.shape[storage.order[k]], 1):
            k -= 1
        return k

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
    """The array with each size that is 1 in the traced call made 1 by a guard (rule S6)."""
    sizes = tuple(1 if r.ask_equal(d, 1) is True else d for d in ref.shape)
    return ref.derive(lambda view: replace(view, sizes=sizes))


@traces(np.stack)
def stack(
    r: Recorder, arrays: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = "same_kind"
) -> Any:
    """np.stack: along a new axis."""
    refs = arrays_of(r, arrays, "stack")
    for x in refs[1:]:
        if x.ndim != refs[0].ndim:
            raise Raises(ValueError("all input arrays must have the same shape"))
        for m, n in zip(refs[0].shape, x.shape):
            r.require_equal(m, n, "ValueError", "all input arrays must have the same shape")
    place = axis_of(r, axis, refs[0].ndim + 1, bools=True)
    return joined(r, [x.derive(lambda view: view.new_axis(place)) for x in refs], place, Into(out, dtype, casting))


def at_least(ref: ArrayRef, ndim: int) -> ArrayRef:
    """The array with new axes in front, up to `ndim`."""
    while ref.ndim < ndim:
        ref = ref.derive(lambda view: view.new_axis(0))
    return ref


@traces(np.append)
def append(r: Recorder, arr: Any, values: Any, axis: Any = None) -> Any:
    """np.append: np.concatenate of two arrays, ravelled without an axis."""
    return concatenate(r, arrays_of(r, (arr, values)), axis)


@traces(np.diff)
def diff(r: Recorder, a: Any, n: Any = 1, axis: Any = -1, prepend: Any = NO_VALUE, append: Any = NO_VALUE) -> Any:
    """np.diff: each element minus the one before, n times."""
    ref, times = as_array(r, a), r.static_int(whole_number(r, n), "how often np.diff is taken")
    if times == 0:
        return a
    if times < 0:
        raise Raises(ValueError(f"order must be non-negative but got {times}"))
    if not ref.ndim:
        raise Raises(ValueError("diff requires input that is at least one dimensional"))
    place = axis_of(r, axis, ref.ndim, bools=True)
    parts = [ref if x is a else as_array(r, x) for x in (prepend, a, append) if x is not NO_VALUE]
    if len(parts) > 1:
        row = tuple(1 if k == place else as_int_value(n) for k, n in enumerate(ref.shape))
        ref = joined(r, [x if x.ndim else broadcast_to(r, x, row) for x in parts], place)
    for _ in range(times):
        left = r.ask_nonneg(sub(ref.shape[place], 1))
        size = sub(ref.shape[place], 1) if left else 0
        if left is None:  # only the run time knows whether there is anything
            size = r.symbol(r.index(dim_max(sub(ref.shape[place], 1), 0)), f"n{len(r.func.symbols)}", 0)
        ufunc = np.not_equal if ref.dtype == np.bool_ else np.subtract
        first = 1 if left else 0 if left is False else sub(ref.shape[place], size)
        both = [part(ref, place, first, size), part(ref, place, 0, size)]
        ref = as_array(r, elementwise(r, ufunc, both))
    return ref


@traces(np.roll)
def roll(r: Recorder, a: Any, shift: Any, axis: Any = None) -> ArrayRef:
    """np.roll: along each axis, two parts exchange places."""
    ref = as_array(r, a)
    if axis is None:
        flat = ref if ref.ndim == 1 else ravelled_values(r, ref)
        made = roll(r, flat, shift, 0)
        return made if ref.ndim == 1 else reshape(r, made, tuple(as_int_value(n) for n in ref.shape))
    shifts: dict[int, Dim] = {}
    for k in axis if isinstance(axis, (tuple, list, range)) else (axis,):
        axis_of(r, k, ref.ndim, bools=True)  # before anything is asked of the shifts
    for turns, k in pairs_of(r, shift, axis):
        place = axis_of(r, k, ref.ndim, bools=True)
        shifts[place] = add(shifts.get(place, 0), shift_of(r, turns, ref.shape[place]))
    if not ref.ndim:
        ask(np.roll, np.zeros(()), 0, ())  # which raises
    result = filled(r, ref.shape, ref.element, None, k_order(ref))
    halves = []
    for place, by in shifts.items():
        n, offset = ref.shape[place], offset_of(r, ref.shape[place], by)
        rest = sub(n, offset)
        halves.append([(place, offset, 0, rest), (place, 0, rest, offset)])
    for chosen in product(*halves):
        target, source = result, ref
        for place, to, start, size in chosen:
            target, source = part(target, place, to, size), part(source, place, start, size)
        store_view(r, target, source)
    return result


def shift_of(r: Recorder, by: Any, n: Dim) -> Dim:
    """A shift along an axis of n elements; an unsigned one, which may be more than an index holds, less whole turns."""
    if isinstance(by, NpScalar) and by.element is UI64:
        size = scalar_value(r, as_int_value(r.facts.simplify(dim_max(n, 1))), UI64)
        by = elementwise(r, np.remainder, [by, NpScalar(size, UI64)])
    found = as_int(r, by, None)  # NumPy takes floats, too
    if found is None:
        raise r.refuse("np.roll by what is no int", "np.roll(a, int(shift))")
    return found


def pairs_of(r: Recorder, shift: Any, axis: Any) -> list[tuple[Any, Any]]:
    """The shifts of np.roll, each with its axis; a single number is used with each of the other."""
    shifts, axes = (list(x) if isinstance(x, (tuple, list, range)) else [x] for x in (shift, axis))
    if not axes and any(isinstance(x, ArrayRef) and x.ndim for x in shifts):
        raise r.refuse("shifts of np.roll in an array, along no axis", "pass a tuple of numbers")
    if len(shifts) != len(axes) and 1 not in (len(shifts), len(axes)):
        raise Raises(ValueError("shape mismatch: objects cannot be broadcast to a single shape."))
    count = max(len(shifts), len(axes)) if shifts and axes else 0
    return [(shifts[k % len(shifts)], axes[k % len(axes)]) for k in range(count)]


def offset_of(r: Recorder, n: Dim, by: Dim) -> Dim:
    """by % n, where the sign is known and at most one period is subtracted; otherwise both numbers become part of the
    key. A shift that is computed is taken at run time."""
    if not r.entry_only(by) or not r.entry_only(n):
        return r.symbol(r.index(mod(by, dim_max(n, 1))), f"i{len(r.func.symbols)}", 0)
    forward, back = r.ask_nonneg(by), mul(by, -1)
    if forward and r.ask_nonneg(sub(n, by)):
        return by
    if forward is False and r.ask_nonneg(sub(n, back)):
        return sub(n, back)
    size = r.static_int(n, "how far np.roll goes around")
    return r.static_int(by, "the shift of np.roll") % (size or 1)


def count_of(r: Recorder, n: Any, what: str) -> Dim:
    """A number of repetitions, as an expression; refused where it is not an int."""
    if isinstance(n, (list, tuple)) and len(n) == 1:
        (n,) = n
    if (e := as_int(r, n, None)) is None:  # NumPy takes some floats, too
        raise r.refuse(f"{what} is no int", "use an int, or join the parts")
    return e


@traces(np.repeat, method="repeat")
def repeat(r: Recorder, a: Any, repeats: Any, axis: Any = None) -> ArrayRef:
    """np.repeat: each element `repeats` times. One pass over the result, whose axis is split in two, the inner one
    repeated."""
    ref = as_array(r, a)
    ref = ravelled_values(r, ref) if axis is None or not ref.ndim else ref
    place = axis_of(r, 0 if axis is None else axis, ref.ndim)
    counts = asarray(r, repeats) if isinstance(repeats, (list, tuple)) and len(repeats) != 1 else repeats
    if isinstance(counts, ArrayRef) and counts.ndim:
        return repeat_each(r, ref, counts, place)
    times = count_of(r, repeats, "the number of repeats")
    before, n, after = ref.shape[:place], ref.shape[place], ref.shape[place + 1 :]
    if n == 0:
        times = 0
    r.require_nonneg(times, "ValueError", "negative dimensions are not allowed")
    spread = ref.derive(lambda view: view.new_axis(place + 1))
    return repeated(r, spread, (*before, n, times, *after), (*before, mul(n, times), *after))


def repeated(r: Recorder, ref: ArrayRef, shape: Sequence[Dim], final: Sequence[Dim]) -> ArrayRef:
    """A fresh array of a shape, from one that is broadcast to another shape with as many elements, in C order."""
    value = convert_to(r, ref, ref.element, tuple(shape), fresh=True)
    made = ArrayRef(r.new_storage(ref.element, shape, range(len(shape)), value))
    return reshape(r, made, tuple(as_int_value(n) for n in final))


@traces(np.tile)
def tile(r: Recorder, A: Any, reps: Any) -> ArrayRef:
    """np.tile: the array `reps` times along each axis. One pass over the result, each of whose axes is split in two."""
    given = list(reps) if isinstance(reps, (tuple, list)) else [reps]
    ref = at_least(as_array(r, A), len(given))
    times = [1] * (ref.ndim - len(given)) + [count_of(r, n, "the number of tiles") for n in given]
    if all(r.ask_equal(n, 1) for n in times):
        return copy_of(r, ref, ref.element, k_order(ref))
    if any(n == 0 for n in ref.shape):  # of no elements NumPy makes no copy
        return reshape(r, ref, tuple(as_int_value(mul(n, m)) for n, m in zip(ref.shape, times)))
    for n in times:
        r.require_nonneg(n, "ValueError", "repeats may not contain negative values.")
    spread = ref.derive(in_turn([methodcaller("new_axis", 2 * k) for k in range(ref.ndim)]))
    shape = [d for pair in zip(times, ref.shape) for d in pair]
    return repeated(r, spread, shape, [mul(a, b) for a, b in zip(times, ref.shape)])
