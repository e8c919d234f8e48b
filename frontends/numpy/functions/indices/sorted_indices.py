"""np.searchsorted, np.bincount and np.repeat by counts: indices into a sorted vector, and counts at indices.

The bisection is an op of a body, so that its key may be computed and its result used in the same loop. Sources:
numpy/_core/src/multiarray/item_selection.c (PyArray_SearchSorted), numpy/lib/_function_base_impl.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.creation import asarray
from tracebuf.frontends.numpy.arrays.indexing import as_strict_int
from tracebuf.frontends.numpy.arrays.new_arrays import as_array, copy_of, filled
from tracebuf.frontends.numpy.arrays.shapes import broadcast_to
from tracebuf.frontends.numpy.functions.indices.gathers import Loops, Stored, gathered, is_within
from tracebuf.frontends.numpy.functions.indices.index_arrays import Advanced
from tracebuf.frontends.numpy.functions.reductions.reduce import Fold, fold, reduce
from tracebuf.frontends.numpy.functions.reductions.running import accumulate
from tracebuf.frontends.numpy.numbers.bodies import Body
from tracebuf.frontends.numpy.numbers.operands import supported
from tracebuf.frontends.numpy.numbers.scalars import as_int_value
from tracebuf.frontends.numpy.record.raises import Raises, cannot_cast
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.refusals import name_of
from tracebuf.frontends.numpy.record.registry import traces
from tracebuf.frontends.numpy.record.values import ArrayRef, NpScalar
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, add, dim_max
from tracebuf.ir.types import F64, I1, I64, INDEX
from tracebuf.ops.arrays import gather
from tracebuf.ops.arrays.linalg import identity_map
from tracebuf.ops.scalars import arith


@traces(np.searchsorted, method="searchsorted")
def searchsorted(r: Recorder, a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """np.searchsorted."""
    if side not in ("left", "right", "l", "r"):
        raise Raises(ValueError(f"search side must be 'left' or 'right' (got {side!r})"))
    vector, wanted = asarray(r, a), asarray(r, v) if isinstance(v, (list, tuple)) else as_array(r, v)
    if vector.ndim != 1:
        raise wrong_depth(vector)
    element = supported(np.promote_types(vector.dtype, wanted.dtype), "np.searchsorted of these", r.loc)
    if element.is_complex:
        raise r.refuse("np.searchsorted among complex numbers", "search among z.real")
    if sorter is not None:
        vector = sorted_by(r, vector, asarray(r, sorter))
    if vector.element is not element:
        vector = copy_of(r, vector, element, (0,))
    alone = not wanted.ndim
    values = wanted.derive(lambda view: view.new_axis(0)) if alone else wanted
    loops = Loops(r, values.shape)
    here = loops.body.cast(loops.read(values, 0, values.shape), element)
    found = looked_up(r, loops, vector, here, side[0] == "r")
    return NpScalar(r.load(found, (0,)), I64) if alone else found


def looked_up(r: Recorder, loops: Loops, vector: ArrayRef, value: Value, right: bool, rising: bool = False) -> ArrayRef:
    """The places of values among a vector's."""
    place = loops.body.add(gather.SortedPlace.of(loops.whole(vector), value, right, rising))
    result = loops.generic(r.empty(I64, loops.shape), loops.body.add(arith.IndexCast.of(place, I64)))
    return ArrayRef(r.new_storage(I64, loops.shape, range(len(loops.shape)), result))


def wrong_depth(a: ArrayRef) -> Raises:
    """The error for an argument that is not a vector."""
    return Raises(ValueError(f"object {'too deep' if a.ndim else 'of too small depth'} for desired array"))


def sorted_by(r: Recorder, vector: ArrayRef, sorter: ArrayRef) -> ArrayRef:
    """The vector in the order of the indices in `sorter`."""
    if sorter.ndim != 1 or sorter.dtype.kind not in "iu":
        raise Raises(TypeError("sorter must only contain integers"))
    if not np.can_cast(sorter.dtype, np.intp, "safe"):
        raise Raises(ValueError("could not parse sorter argument"))
    r.require_equal(sorter.shape[0], vector.shape[0], "ValueError", "sorter.size must equal a.size")
    return gathered(r, Advanced(vector, (sorter,), (0,), 0, vector, ()), order=(0,))


@traces(np.bincount)
def bincount(r: Recorder, x: Any, /, weights: Any = None, minlength: Any = 0) -> ArrayRef:
    """np.bincount: how often each of 0, 1 ... the largest number occurs, or the sum of its weights."""
    numbers = asarray(r, x)
    if numbers.ndim != 1:
        raise wrong_depth(numbers)
    if numbers.dtype.kind not in "biu" and (isinstance(x, ArrayRef) or numbers.shape[0] != 0):
        raise cannot_cast(numbers.dtype, np.intp)
    if (least := as_strict_int(r, minlength)) is None:
        raise Raises(TypeError(f"'{name_of(minlength)}' object cannot be interpreted as an integer"))
    r.require_nonneg(least, "ValueError", "'minlength' must not be negative")
    length = least if is_within(r, numbers, least) else dim_max(largest(r, numbers), least)
    if weights is None or r.ask_equal(numbers.shape[0], 0):  # NumPy counts, and forgets the weights of none
        counts = filled(r, (length,), I64, 0)
        add_at_numbers(r, counts, numbers)
        return counts
    given = asarray(r, weights)
    if given.ndim != 1:
        raise wrong_depth(given)
    if not np.can_cast(given.dtype, np.float64, "safe"):
        raise cannot_cast(given.dtype, np.float64)
    r.require_equal(given.shape[0], numbers.shape[0], "ValueError", "The weights and list don't have the same length.")
    sums = filled(r, (length,), F64, 0.0)
    add_at_numbers(r, sums, numbers, given)
    return sums


def add_at_numbers(r: Recorder, into: ArrayRef, numbers: ArrayRef, weights: ArrayRef | None = None) -> None:
    """Adds 1, or a weight, at each number; `into` is known to have room for all of them."""
    loops = Loops(r, numbers.shape)
    body = loops.body
    place = body.add(arith.IndexCast.of(body.cast(loops.read(numbers, 0, numbers.shape), I64), INDEX))
    given = None if weights is None else body.cast(loops.read(weights, 0, numbers.shape), F64)

    def store(held: Value, step: Value) -> Stored:
        old = body.add(gather.Element.of(held, [place]))
        new = arith.AddI.of(old, body.constant(1, I64)) if given is None else arith.AddF.of(old, given)
        return body.constant(True, I1), body.constant(False, I1), body.add(new), [place]

    r.store(into, loops.scatter(r.read(into), store))


def largest(r: Recorder, numbers: ArrayRef) -> Dim:
    """One more than the largest number, 0 where there is none; ValueError for a negative one, which is the largest
    of all without its sign: one search finds both."""

    def combine(body: Body, held: Value, args: Sequence[Value]) -> Value:
        return body.add(arith.MaxUI.of(held, body.cast(args[0], I64)))

    found = fold(r, numbers, (0,), False, r.constant(0, I64), [(r.read(numbers), identity_map(1))], combine)
    top = r.load(found, ())
    ok = r.emit(arith.CmpI.of("sge", top, r.constant(0, I64)))
    r.check(ok, "ValueError", "'list' argument must have no negative elements")
    some = r.emit(arith.CmpI.of("ne", r.i64(numbers.shape[0]), r.constant(0, I64)))
    value = r.emit(arith.IndexCast.of(r.emit(arith.Select.of(some, top, r.constant(-1, I64))), INDEX))
    return add(r.symbol(value, f"n{len(r.func.symbols)}", -1, 2**40), 1)


def repeat_each(r: Recorder, ref: ArrayRef, counts: ArrayRef, axis: int) -> ArrayRef:
    """np.repeat with a count for each index of an axis: sources are looked up in the running sums of the counts."""
    if counts.ndim != 1:
        raise wrong_depth(counts)
    if not np.can_cast(counts.dtype, np.intp, "safe"):
        raise cannot_cast(counts.dtype, np.intp)
    if counts.shape[0] == 1:
        counts = as_array(r, broadcast_to(r, counts, (as_int_value(ref.shape[axis]),)))
    message = "operands could not be broadcast together with shapes"
    r.require_equal(counts.shape[0], ref.shape[axis], "ValueError", message)
    low = reduce(r, np.minimum, counts, Fold(dtype=np.intp, initial=0))
    total = reduce(r, np.add, counts, Fold(dtype=np.intp))
    assert isinstance(low, NpScalar) and isinstance(total, NpScalar)
    ok = r.emit(arith.CmpI.of("sge", low.value, r.constant(0, I64)))
    r.check(ok, "ValueError", "repeats may not contain negative values.")
    size = r.symbol(r.emit(arith.IndexCast.of(total.value, INDEX)), f"n{len(r.func.symbols)}", 0, 2**40)
    ends = accumulate(r, np.add, counts, 0, np.intp)
    loops = Loops(r, (size,))
    index = loops.body.add(arith.IndexCast.of(loops.loop(0), I64))
    places = looked_up(r, loops, ends, index, right=True, rising=True)
    return gathered(r, Advanced(ref, (places,), (axis,), axis, ref, ()), order=range(ref.ndim))
