"""np.lib.stride_tricks.as_strided, as views: each axis of the result steps along an axis of the array (several may step
along one, which are windows), along all elements of a contiguous array, either way along those of the array of one axis
that it is a part of, or stays in place.

Which, and how far, is found from the strides of the traced call and guarded. What would leave the array, though its
memory may go on, is refused; so are stores through elements that overlap (`Recorder.store`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import methodcaller
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.arrays.indexing import as_int
from tracebuf.frontends.numpy.arrays.new_arrays import as_array, shape_arg
from tracebuf.frontends.numpy.arrays.reshape import is_dense, ravel
from tracebuf.frontends.numpy.record.raises import Raises
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.registry import traces
from tracebuf.frontends.numpy.record.values import ArrayRef, GuardedRef, View, in_turn
from tracebuf.frozen import frozen
from tracebuf.ir.dims import Dim, add, mul, neg, sub

LEAVES = "np.lib.stride_tricks.as_strided that does not step along the array's axes, and within them"
INSTEAD = "slices, reshape, np.broadcast_to or np.lib.stride_tricks.sliding_window_view"


@frozen()
class Walk:
    """An axis of the result: its place, its size, and the step along an axis of the array (None: it stays)."""

    place: int
    size: Dim
    along: int | None
    step: Dim

    @property
    def reach(self) -> Dim:
        """How far the last index is from the first."""
        return mul(sub(self.size, 1), self.step)


@traces(np.lib.stride_tricks.as_strided)
def as_strided(r: Recorder, x: Any, shape: Any = None, strides: Any = None, *, writeable: Any = True) -> ArrayRef:
    """np.lib.stride_tricks.as_strided, within the array's own elements."""
    ref = as_array(r, x)
    if not isinstance(writeable, bool):
        raise r.refuse("np.lib.stride_tricks.as_strided with writeable= that is no bool", INSTEAD)
    sizes = ref.shape if shape is None else shape_arg(r, tuple(shape) if isinstance(shape, (tuple, list)) else shape)
    steps = bytes_of(ref) if strides is None else [wanted(r, s) for s in strides]
    if len(steps) != len(sizes):
        raise Raises(ValueError("mismatch in length of strides and shape"))
    empty = [r.ask_equal(n, 0) for n in sizes]
    if any(known is not False for known in empty):
        if len(sizes) == ref.ndim and all(r.ask_equal(*pair) is True for pair in zip(sizes, ref.shape)):
            return ref.derive(in_turn([]), read_only=not writeable)
        if True in empty:
            raise r.refuse("np.lib.stride_tricks.as_strided that is without elements", INSTEAD)
        for n, known in zip(sizes, empty):
            if known is None:
                reason = "np.lib.stride_tricks.as_strided that is without elements, which only the run time knows"
                r.require_nonneg(sub(n, 1), UnsupportedError, reason)
    found = walks(r, ref, sizes, steps)
    if found is None and ref.ndim > 1 and is_dense(r, ref, range(ref.ndim)):
        ref = ravel(r, ref)
        found = walks(r, ref, sizes, steps)
    if found is None and (within := in_storage(r, ref, sizes, steps)) is not None:
        base, start, found, turned = within
        back = [methodcaller("narrow", w.place, sub(w.size, 1), -1, w.size) for w in turned]
        begin = methodcaller("narrow", 0, start, 1, sub(base.shape[0], start))
        return base.derive(in_turn([begin, *view_steps(1, found), *back]), ref.read_only or not writeable)
    if found is None and (found := walks(r, ref, sizes, steps, checked=True)) is None:
        raise r.refuse(LEAVES, INSTEAD)
    return ref.derive(in_turn(view_steps(ref.ndim, found)), read_only=not writeable)


def wanted(r: Recorder, stride: Any) -> Dim:
    """A stride, in bytes."""
    e = as_int(r, stride)
    if e is None:
        raise r.refuse("a stride that is no int", INSTEAD)
    return e


def bytes_of(ref: ArrayRef) -> list[Dim]:
    """The strides of an array in bytes."""
    return [mul(s, ref.dtype.itemsize) for s in ref.strides]


def walks(
    r: Recorder, ref: ArrayRef, sizes: Sequence[Dim], steps: Sequence[Dim], checked: bool = False
) -> list[Walk] | None:
    """How each axis of the result steps; None where one would leave the array, or may. `checked`: where only the run
    time knows whether one does, the program refuses it then."""
    found = [walk(r, ref, place, n, s) for place, (n, s) in enumerate(zip(sizes, steps))]
    there = [w for w in found if w is not None]
    if len(there) < len(found):
        return None
    for axis, n in enumerate(ref.shape):
        last: Dim = 0
        for w in there:
            last = add(last, w.reach) if w.along == axis else last
        inside = r.ask_nonneg(room := sub(sub(n, 1), last))
        if checked and inside is None:
            r.require_nonneg(room, UnsupportedError, LEAVES)
        elif inside is not True:
            return None
    return there


def in_storage(
    r: Recorder, ref: ArrayRef, sizes: Sequence[Dim], steps: Sequence[Dim]
) -> tuple[ArrayRef, Dim, list[Walk], list[Walk]] | None:
    """How the axes step through the array of one axis of which this one is a part, also backwards and to what is not in
    the part: that array, where the lowest element is, the steps forwards, and those that are to be turned around."""
    if isinstance(ref, GuardedRef) or ref.ndim != 1 or len(ref.storage.shape) != 1 or ref.view.over is not None:
        return None
    base, first = ArrayRef(ref.storage), ref.view.offsets[0]
    low, high = first, first
    found, turned = list[Walk](), list[Walk]()
    for place, (n, step) in enumerate(zip(sizes, steps)):
        back = (number := r.in_this_call(step)) is not None and number < 0
        w = walk(r, base, place, n, neg(step) if back else step)
        if w is None:
            return None
        found.append(w)
        if back:
            turned.append(w)
            low = sub(low, w.reach)
        else:
            high = add(high, w.reach)
    inside = r.ask_nonneg(low) is True and r.ask_nonneg(sub(sub(base.shape[0], 1), high)) is True
    return (base, low, found, turned) if inside else None


def walk(r: Recorder, ref: ArrayRef, place: int, size: Dim, stride: Dim) -> Walk | None:
    """How an axis of this size and stride steps: along the axis of the largest stride that it is a multiple of."""
    if size == 1 or r.ask_equal(size, 1) is True or r.ask_strides(stride, 0) is True:
        return Walk(place, size, None, 0)
    of = bytes_of(ref)
    for axis, own in enumerate(of):
        if ref.shape[axis] != 1 and r.facts.equal(r.facts.canon(stride), r.facts.canon(own)):
            return Walk(place, size, axis, 1)
    numbers = [value for own in of if (value := r.in_this_call(own)) is not None]
    if (number := r.in_this_call(stride)) is None or len(numbers) < len(of):
        return None
    for axis in sorted(range(ref.ndim), key=lambda k: -abs(numbers[k])):
        own = numbers[axis]
        if own == 0 or ref.shape[axis] == 1 or number % own or number // own < 1:
            continue
        step = number // own
        return Walk(place, size, axis, step) if r.ask_strides(stride, mul(of[axis], step)) is True else None
    return None


def view_steps(ndim: int, found: Sequence[Walk]) -> list[Callable[[View], View]]:
    """The steps that make the view. Of several axes along one, all but the first are windows."""
    steps: list[Callable[[View], View]] = []
    places: list[int] = [-1 - axis for axis in range(ndim)]  # of the result's axes; below 0, one of the array's
    for axis in range(ndim):
        at = places.index(-1 - axis)
        group = [w for w in found if w.along == axis]
        for w in group[:0:-1]:
            places.append(w.place)
            steps += [methodcaller("windows", at, add(w.reach, 1))]
            steps += [methodcaller("narrow", len(places) - 1, 0, w.step, w.size)]
        if group:
            steps.append(methodcaller("narrow", at, 0, group[0].step, group[0].size))
            places[at] = group[0].place
        else:
            steps += [methodcaller("narrow", at, 0, 1, 1), methodcaller("drop", at)]
            places.pop(at)
    for w in found:
        if w.along is None:
            steps.append(methodcaller("new_axis", len(places)))
            if w.size != 1:
                steps.append(methodcaller("narrow", len(places), 0, 0, w.size))
            places.append(w.place)
    return [*steps, methodcaller("transpose", [places.index(k) for k in range(len(found))])]
