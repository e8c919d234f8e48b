"""Views by axes: transposed, added, dropped, repeated, reversed or split axes, and diagonals.

Each is made by steps on the view (`View` in record/values), so that it composes with any view and is stored through.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import methodcaller
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.arrays.axes import axes_of, axis_of, own_axes_of, refuse_unread
from tracebuf.frontends.numpy.arrays.indexing import at_least_zero, read_item
from tracebuf.frontends.numpy.arrays.new_arrays import as_array, one_or_more, shape_arg
from tracebuf.frontends.numpy.arrays.reshape import Steps, reversed_axes, sure, traces_numbers_too, whole_number
from tracebuf.frontends.numpy.numbers.weak_ints import require_fits
from tracebuf.frontends.numpy.record.allocatable import MOST_COUNTED, require_memory
from tracebuf.frontends.numpy.record.broadcasting import shape_text
from tracebuf.frontends.numpy.record.raises import Raises
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.refusals import name_of
from tracebuf.frontends.numpy.record.registry import traces
from tracebuf.frontends.numpy.record.values import ArrayRef, PyBool, Scalar, in_turn
from tracebuf.ir.dims import Dim, add, dim_min, floordiv, mul, sub
from tracebuf.ir.types import I32

# -- axes moved, added, dropped


@traces(method="transpose")
def transpose(r: Recorder, a: ArrayRef, *axes: Any) -> ArrayRef:
    """a.transpose(*axes)."""
    order = axes[0] if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list, range))) else axes
    if order is None or (not order and not axes):
        return reversed_axes(a)
    if len(order) != a.ndim:
        for item in order:
            refuse_unread(r, item, "an order of axes")
        raise Raises(ValueError("axes don't match array"))
    return a.derive(methodcaller("transpose", axes_of(r, tuple(order), a.ndim)))


@traces_numbers_too(np.transpose)
def transpose_function(r: Recorder, a: Any, axes: Any = None) -> ArrayRef:
    """np.transpose."""
    return transpose(r, as_array(r, a), axes)


@traces(np.matrix_transpose, np.linalg.matrix_transpose)
def matrix_transpose(r: Recorder, x: Any) -> ArrayRef:
    """x.mT: the last two axes exchanged."""
    ref = as_array(r, x)
    if ref.ndim < 2:
        raise Raises(ValueError(f"Input array must be at least 2-dimensional, but it is {ref.ndim}"))
    return swapaxes(r, ref, -1, -2)


@traces(np.swapaxes, method="swapaxes")
def swapaxes(r: Recorder, a: Any, axis1: Any, axis2: Any) -> ArrayRef:
    """np.swapaxes."""
    ref = as_array(r, a)
    i, j = (axis_of(r, axis, ref.ndim, True, f"axis{k}") for k, axis in enumerate((axis1, axis2), 1))
    order = list(range(ref.ndim))
    order[i], order[j] = j, i
    return ref.derive(methodcaller("transpose", order))


@traces_numbers_too(np.moveaxis)
def moveaxis(r: Recorder, a: Any, source: Any, destination: Any) -> ArrayRef:
    """np.moveaxis."""
    ref = as_array(r, a)
    given = [tuple(x) if isinstance(x, (tuple, list, range)) else (x,) for x in (source, destination)]
    sources, targets = (own_axes_of(r, x, ref.ndim, name) for x, name in zip(given, ("source", "destination")))
    if len(sources) != len(targets):
        raise Raises(ValueError("`source` and `destination` arguments must have the same number of elements"))
    order = [k for k in range(ref.ndim) if k not in sources]
    for target, axis in sorted(zip(targets, sources)):
        order.insert(target, axis)
    return ref.derive(methodcaller("transpose", order))


@traces(np.expand_dims)
def expand_dims(r: Recorder, a: Any, axis: Any) -> ArrayRef:
    """np.expand_dims."""
    ref = as_array(r, a)
    given = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    axes = axes_of(r, given, ref.ndim + len(given), bools=True)
    return ref.derive(in_turn([methodcaller("new_axis", k) for k in sorted(axes)]))


@traces_numbers_too(np.squeeze)
@traces(method="squeeze")
def squeeze(r: Recorder, a: Any, axis: Any = None) -> ArrayRef:
    """np.squeeze; the same object where there is nothing to drop."""
    ref = as_array(r, a)
    if axis is None:
        check_rank(r, ref)
        axes = tuple(k for k, n in enumerate(ref.shape) if is_one_for_shape(r, n))
    else:
        axes = axes_of(r, axis, ref.ndim)
        for k in axes:
            message = "cannot select an axis to squeeze out which has size not equal to one"
            r.require_equal(ref.shape[k], 1, "ValueError", message)
    return ref.derive(in_turn([methodcaller("drop", k) for k in sorted(axes, reverse=True)])) if axes else ref


class UnknownRank(UnsupportedError):
    """Whether one axis of an array is of size 1, on which the number of axes of a result depends, is only known at run
    time; the axes in `ones` are."""

    ref: ArrayRef
    ones: tuple[int, ...]
    axis: int


def check_rank(r: Recorder, ref: ArrayRef) -> None:
    """Raises UnknownRank for an array with one axis of which only the run time knows whether its size is 1."""
    known = [r.ask_equal(n, 1) for n in ref.shape]
    if known.count(None) == 1:
        error = UnknownRank(UNKNOWN_RANK[0], location=r.loc, instead=UNKNOWN_RANK[1])
        error.ref, error.axis = ref, known.index(None)
        error.ones = tuple(k for k, one in enumerate(known) if one)
        raise error


UNKNOWN_RANK = ("the number of dimensions is only known at run time", "name the axis: axis=0")


def is_one_for_shape(r: Recorder, n: Dim) -> bool:
    """Whether a size is 1, where the number of axes of a result depends on it."""
    known = r.ask_equal(n, 1)
    if known is None:
        raise r.refuse(*UNKNOWN_RANK)
    return known


@traces(np.atleast_1d, of=1)
@traces(np.atleast_2d, of=2)
@traces(np.atleast_3d, of=3)
def at_least(ndim: int, r: Recorder, *arys: Any) -> Any:
    index: dict[tuple[int, int], Any] = {(2, 1): (None, ...), (3, 1): (None, slice(None), None), (3, 2): (..., None)}
    refs = [as_array(r, a) for a in arys]
    made = [x if x.ndim >= ndim else read_item(r, x, index.get((ndim, x.ndim), (*[None] * ndim, ...))) for x in refs]
    return made[0] if len(made) == 1 else tuple(made)


# -- elements repeated, reversed, split, diagonals


@traces(np.broadcast_to)
def broadcast_to(r: Recorder, array: Any, shape: Any, subok: bool = False) -> ArrayRef:
    """np.broadcast_to: a read-only view that repeats elements."""
    ref, wanted = as_array(r, array), shape_arg(r, shape)
    if ref.ndim > len(wanted):
        raise Raises(ValueError("input operand has more dimensions than allowed by the axis remapping"))
    first = len(wanted) - ref.ndim
    texts = [shape_text([s]) for s in (ref.shape, wanted)]
    message = (
        "operands could not be broadcast together with remapped shapes [original->remapped]: "
        f"{texts[0][0]}  and requested shape {texts[1][0]}"
    )
    steps: Steps = [methodcaller("new_axis", 0)] * first
    for axis, n in enumerate(wanted):
        size = 1 if axis < first else r.facts.canon(ref.shape[axis - first])
        if size != 1 and size_agrees(r, size, n, message, [*texts[0][1], *texts[1][1]]):
            continue
        if n != 1:
            steps.append(methodcaller("narrow", axis, 0, 0, n))
    require_memory(r, wanted, ref.element, lambda shape, dtype: np.broadcast_to(dtype.type(), shape), MOST_COUNTED)
    return ref.derive(in_turn(steps), read_only=True)


def size_agrees(r: Recorder, size: Dim, wanted: Dim, message: str, values: Sequence[Dim]) -> bool:
    """True if the sizes are equal, False if the first is 1 and to be repeated; ValueError otherwise."""
    equal = r.ask_equal(size, wanted)
    one = None if equal else r.ask_equal(size, 1)
    if equal is False and one is False:
        r.fail("ValueError", message, values)
    if equal is None or (equal is False and one is None):
        raise r.refuse("whether an axis is repeated is only known at run time", "a + np.zeros(shape)")
    return equal


@traces(np.flip)
def flip(r: Recorder, m: Any, axis: Any = None) -> ArrayRef | Scalar:
    """np.flip: a view; an array without axes gives its number."""
    ref = as_array(r, m)
    axes = own_axes_of(r, axis, ref.ndim)
    whole, back = slice(None), slice(None, None, -1)
    return read_item(r, ref, tuple(back if k in axes else whole for k in range(ref.ndim)))


@traces(np.rot90)
def rot90(r: Recorder, m: Any, k: Any = 1, axes: Any = (0, 1)) -> ArrayRef | Scalar:
    """np.rot90: a view."""
    ref = as_array(r, m)
    if not isinstance(axes, (tuple, list)):
        raise r.refuse("np.rot90 in these axes", "axes=(0, 1)")
    if len(axes) != 2:
        raise Raises(ValueError("len(axes) must be 2."))
    given = tuple(r.static_int(whole_number(r, axis), "an axis") for axis in axes)
    if given[0] == given[1] or abs(given[0] - given[1]) == ref.ndim:
        raise Raises(ValueError("Axes must be different."))
    if any(not -ref.ndim <= axis < ref.ndim for axis in given):
        raise Raises(ValueError(f"Axes={given} out of range for array of ndim={ref.ndim}."))
    turns = r.static_int(whole_number(r, k), "the number of turns") % 4
    if turns == 0:
        return ref.derive(in_turn([]))
    if turns == 2:
        return flip(r, flip(r, ref, given[0]), given[1])
    if turns == 1:
        return swapaxes(r, flip(r, ref, given[1]), *given)
    return flip(r, swapaxes(r, ref, *given), given[1])


@traces(np.array_split)
def array_split(r: Recorder, ary: Any, indices_or_sections: Any, axis: Any = 0) -> list[Any]:
    """np.array_split: the parts of an axis, as views."""
    ref = as_array(r, ary)
    at = place_in_shape(r, axis, ref.ndim)
    n = ref.shape[at]
    indices_or_sections = numbers_in(r, indices_or_sections)
    if isinstance(indices_or_sections, (tuple, list, range)):
        bounds = [0, *indices_or_sections, None]
    else:
        sections = r.static_int(whole_number(r, indices_or_sections), "the number of sections")
        if sections <= 0:
            raise Raises(ValueError("number sections must be larger than 0."))
        ends: list[Dim] = [0]
        for k in range(sections):  # the first n % sections parts have one element more
            ends.append(add(ends[-1], floordiv(add(n, sections - 1 - k), sections)))
        return [part(r, ref, at, a, sub(b, a)) for a, b in zip(ends, ends[1:])]
    lead = (slice(None),) * at
    return [read_item(r, ref, (*lead, slice(a, b), ...)) for a, b in zip(bounds, bounds[1:])]


def numbers_in(r: Recorder, x: Any) -> Any:
    """A list of the numbers of a vector of ints; what is none as it is."""
    if not isinstance(x, ArrayRef) or x.ndim != 1 or x.dtype.kind not in "iu":
        return x
    return [r.number(x, (k,)) for k in range(r.static_int(x.shape[0], "the number of places to split at"))]


def place_in_shape(r: Recorder, axis: Any, ndim: int) -> int:
    """An axis as an index into the shape: IndexError where there is none."""
    try:
        return axis_of(r, axis, ndim, bools=True)
    except Raises as said:
        if not isinstance(said.error, np.exceptions.AxisError):
            raise
        raise Raises(IndexError("tuple index out of range")) from None


def part(r: Recorder, a: ArrayRef, axis: int, start: Dim, size: Dim) -> ArrayRef:
    """The view of `size` indices of an axis, from `start`."""
    return a.derive(methodcaller("narrow", axis, r.facts.canon(start), 1, one_or_more(r, size)))


@traces(np.unstack)
def unstack(r: Recorder, x: Any, *, axis: Any = 0) -> tuple[ArrayRef | Scalar, ...]:
    """np.unstack: the items along an axis, whose size is known while tracing; the numbers of a vector."""
    if isinstance(x, (tuple, list)):
        raise Raises(AttributeError(f"'{name_of(x)}' object has no attribute 'ndim'"))
    ref = as_array(r, x)
    if not ref.ndim:
        raise Raises(ValueError("Input array must be at least 1-d."))
    at = axis_of(r, axis, ref.ndim, bools=True)
    count = r.static_int(ref.shape[at], "the number of arrays")
    return tuple(read_item(r, ref, (*(slice(None),) * at, k)) for k in range(count))


@traces(np.diagonal, method="diagonal")
def diagonal(r: Recorder, a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> ArrayRef:
    """np.diagonal: a read-only view."""
    ref, shift = as_array(r, a), whole_number(r, offset)
    require_fits(r, shift, I32)
    if ref.ndim < 2:
        raise Raises(ValueError("diag requires an array of at least two dimensions"))
    i, j = (axis_of(r, axis, ref.ndim, True, f"axis{k}") for k, axis in enumerate((axis1, axis2), 1))
    if i == j:
        raise Raises(ValueError("axis1 and axis2 cannot be the same"))
    right = sure(r, r.ask_nonneg(shift))
    down, across = (0, shift) if right else (mul(shift, -1), 0)
    size = at_least_zero(r, r.facts.simplify(dim_min(sub(ref.shape[i], down), sub(ref.shape[j], across))))
    size = one_or_more(r, size)
    starts: tuple[Dim, Dim] = (0, 0) if size == 0 else (down, across)
    steps: Steps = [methodcaller("narrow", k, start, 1, size) for k, start in zip((i, j), starts)]
    return ref.derive(in_turn([*steps, methodcaller("diagonal", (i, j))]), read_only=True)


def diag(r: Recorder, v: Any, k: Any = 0) -> ArrayRef:
    """np.diag of a matrix: a view of its diagonal."""
    ref = as_array(r, v)
    if ref.ndim != 2:
        raise Raises(ValueError("Input must be 1- or 2-d."))
    return diagonal(r, ref, k)


@traces(np.lib.stride_tricks.sliding_window_view)
def sliding_window_view(r: Recorder, x: Any, window_shape: Any, axis: Any = None) -> ArrayRef:
    """np.lib.stride_tricks.sliding_window_view: a read-only view of all windows, which overlap."""
    ref = as_array(r, x)
    items = window_shape if isinstance(window_shape, (tuple, list)) else (window_shape,)
    if any(isinstance(n, (bool, PyBool)) for n in items):
        raise Raises(TypeError("an integer is required"))
    wanted = [whole_number(r, n) for n in items]
    for n in wanted:
        r.require_nonneg(n, "ValueError", "`window_shape` cannot contain negative values")
    given = range(ref.ndim) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = [axis_of(r, k, ref.ndim, bools=True) for k in given]
    if len(axes) != len(wanted):
        text = f"Must provide matching length window_shape and axis; got {len(wanted)} window_shape elements and "
        if axis is None:
            text = "Since axis is `None`, must provide window_shape for all dimensions of `x`; "
            raise Raises(ValueError(f"{text}got {len(wanted)} window_shape elements and `x.ndim` is {ref.ndim}."))
        raise Raises(ValueError(f"{text}{len(axes)} axes elements."))
    for k, n in zip(axes, wanted):
        message = "window shape cannot be larger than input array shape"
        r.require_nonneg(sub(ref.shape[k], n), "ValueError", message)
        ref = ref.derive(methodcaller("windows", k, one_or_more(r, n)), read_only=True)
    return ref if axes else ref.derive(in_turn([]), read_only=True)
