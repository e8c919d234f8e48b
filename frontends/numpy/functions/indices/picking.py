"""NumPy's functions of indices: np.take, np.put, np.nonzero, np.compress, np.extract, np.add.at, np.unravel_index.

Each is the gather or scatter of an index that the function makes. Sources: numpy/_core/src/multiarray/item_selection.c,
numpy/lib/_shape_base_impl.py, numpy/lib/_index_tricks_impl.py.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from operator import methodcaller
from typing import Any, Literal

import numpy as np

from tracebuf.frontends.numpy.arrays.axes import axis_of
from tracebuf.frontends.numpy.arrays.creation import arange, array, asarray
from tracebuf.frontends.numpy.arrays.indexing import check_number, read_item, store_view
from tracebuf.frontends.numpy.arrays.new_arrays import as_array, copy_of, filled, k_order, shape_arg, strong
from tracebuf.frontends.numpy.arrays.reshape import ravelled_values, reshaped
from tracebuf.frontends.numpy.functions.indices.gathers import (
    Bring,
    Loops,
    Stored,
    checked,
    clipped,
    gathered,
    scattered,
    wrapped,
)
from tracebuf.frontends.numpy.functions.indices.index_arrays import Advanced, advanced_index, is_advanced
from tracebuf.frontends.numpy.functions.indices.masks import count_of, mask_of_numbers, nonzero, truth, without_masks
from tracebuf.frontends.numpy.functions.indices.subscripts import arrays_in, store
from tracebuf.frontends.numpy.functions.reductions.reduce import reduce
from tracebuf.frontends.numpy.numbers.bodies import Body
from tracebuf.frontends.numpy.numbers.exponents import check_exponent
from tracebuf.frontends.numpy.numbers.generics import result_order
from tracebuf.frontends.numpy.numbers.operands import as_number, loop_dtypes, out_of, scalar_value, weak_type
from tracebuf.frontends.numpy.numbers.rules import apply_rule
from tracebuf.frontends.numpy.numbers.scalars import as_int_value
from tracebuf.frontends.numpy.numbers.ufuncs import elementwise
from tracebuf.frontends.numpy.record.conditions import either
from tracebuf.frontends.numpy.record.each_path import stores
from tracebuf.frontends.numpy.record.raises import Raises, ask, cannot_cast
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.refusals import name_of
from tracebuf.frontends.numpy.record.registry import traces
from tracebuf.frontends.numpy.record.scalar_checks import or_empty
from tracebuf.frontends.numpy.record.sizes import INT_MAX
from tracebuf.frontends.numpy.record.values import ArrayRef, NpScalar, Scalar, stand_in, storages_of
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, neg, product, sub
from tracebuf.ir.types import I1, I64, ScalarType, scalar_type
from tracebuf.ops.arrays import gather
from tracebuf.ops.scalars import arith, division

MODES: dict[str, Bring] = {"raise": checked, "wrap": wrapped, "clip": clipped}
"""By `mode=`: how an index is brought within an axis."""


def mode_of(r: Recorder, mode: Any) -> Bring:
    """What `mode=` says of indices out of bounds."""
    if not ask(operator.contains, MODES, mode):
        raise Raises(ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})"))
    return MODES[mode]


def index_array(r: Recorder, indices: Any) -> ArrayRef:
    """An index argument as an array of integers; bools count as integers. Numbers, alone or in lists, are converted as
    int() does it, arrays by the rule "safe": NumPy's errors."""
    ref = asarray(r, indices) if isinstance(indices, (list, tuple)) and indices else indices
    if isinstance(ref, (list, tuple)):
        return filled(r, (0,), I64, None)
    ref = as_array(r, ref)
    if not isinstance(indices, ArrayRef) and ref.dtype.kind in "fc":
        ref = array(r, indices, np.intp)
    if not np.can_cast(ref.dtype, np.intp, "safe") and ref.dtype.kind != "u":
        raise cannot_cast(ref.dtype, np.intp)
    return as_array(r, converted(r, ref, I64)) if ref.element is I1 else ref


@traces(np.take, method="take")
def take(r: Recorder, a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    """np.take: a gather along one axis, its result in C order."""
    bring, into = mode_of(r, mode), out_of(r, out)
    ref = asarray(r, a) if isinstance(a, (list, tuple)) else as_array(r, a)
    picked = index_array(r, indices)
    ref, axis = axis_or_ravelled(r, ref, axis)
    k = axis_of(r, axis, ref.ndim)
    alone = picked.ndim == 0
    if alone:
        picked = picked.derive(methodcaller("new_axis", 0))
    at = Advanced(ref, (picked,), (k,), k, ref, ())
    require_elements(r, ref.shape[k], at.shape(picked.shape))
    check_taker(r, into, ref, (*ref.shape[:k], *(() if alone else picked.shape), *ref.shape[k + 1 :]))
    result: Any = gathered(r, at, none_checked(at, bring), range(ref.ndim - 1 + picked.ndim), ref.shape[:k])
    if alone:
        result = result.derive(lambda view: view.narrow(k, 0, 1, 1).drop(k))
        if not result.ndim and into is None:
            return r.number(result)
    return taken(r, result, into)


def check_taker(r: Recorder, out: ArrayRef | None, ref: ArrayRef, shape: Sequence[Dim]) -> None:
    """Checks `out=` of np.take: it must have the result's shape, and a dtype that casts safely to the array's (as in
    NumPy)."""
    if out is None:
        return
    message = "output array does not match result of ndarray.take"
    if out.ndim != len(shape):
        r.fail("ValueError", message)
    for m, n in zip(out.shape, shape):
        r.require_equal(m, n, "ValueError", message)
    if not np.can_cast(out.dtype, ref.dtype, "safe"):
        raise cannot_cast(out.dtype, ref.dtype)
    r.check_writable(out)


def none_checked(at: Advanced, bring: Bring) -> Bring:
    """The rule for indices of np.take, which does not check them where an axis before has no elements."""
    return clipped if any(d == 0 for d in at.base.shape[: at.place]) else bring


def taken(r: Recorder, result: ArrayRef, into: ArrayRef | None) -> ArrayRef:
    """The result of np.take, stored into `out=` whatever its dtype."""
    if into is None:
        return result
    store_view(r, into, result)
    return into


def axis_or_ravelled(r: Recorder, ref: ArrayRef, axis: Any) -> tuple[ArrayRef, Any]:
    """The array and the axis; ravelled without an axis, or where the array has none (PyArray_CheckAxis)."""
    return (ravelled_values(r, ref), 0 if axis is None else axis) if axis is None or not ref.ndim else (ref, axis)


def require_elements(r: Recorder, size: Dim, shape: Sequence[Dim]) -> None:
    """Raises IndexError where elements are taken from an empty axis, unless the result, of this shape, has none."""
    if any(d == 0 for d in shape) or r.facts.nonneg(sub(size, 1)):
        return
    ok = or_empty(r, r.compare("sge", size, 1), shape)
    r.check(ok, "IndexError", "cannot do a non-empty take from an empty axes.")


def along_axis(r: Recorder, a: Any, indices: Any, axis: Any) -> tuple[ArrayRef, ArrayRef, int]:
    """The array, the indices and the axis of np.take_along_axis and np.put_along_axis."""
    ref, picked = as_array(r, a), asarray(r, indices)
    if axis is None:
        if picked.ndim != 1:
            raise Raises(ValueError("when axis=None, `indices` must have a single dimension."))
        ref, axis = ravelled_values(r, ref), 0
    if not picked.element.is_integer:
        raise Raises(IndexError("`indices` must be an integer array"))
    if ref.ndim != picked.ndim:
        raise Raises(ValueError("`indices` and `arr` must have the same number of dimensions"))
    return ref, picked, axis_of(r, axis, ref.ndim, bools=True)


def along(r: Recorder, ref: ArrayRef, picked: ArrayRef, k: int) -> Advanced:
    """The index of np.take_along_axis: the indices along one axis, np.arange along the others."""
    index: list[ArrayRef] = []
    for axis in range(ref.ndim):
        if axis == k:
            index.append(picked)
            continue
        places = arange(r, as_int_value(ref.shape[axis]))
        index.append(read_item(r, places, tuple(slice(None) if a == axis else None for a in range(ref.ndim))))  # type: ignore[arg-type]
    parts = tuple(("places", i) for i in index)
    return Advanced(ref, tuple(index), tuple(range(ref.ndim)), 0, ref, parts)


def check_places(arr: Any, indices: Any, axis: Any) -> None:
    """Raises what NumPy's own functions of indices along an axis raise for arguments that are not arrays, before
    anything else."""
    ndim = arr.ndim if isinstance(arr, ArrayRef) else 0
    if isinstance(axis, int) and not -ndim <= axis < ndim:
        raise Raises(np.exceptions.AxisError(axis, ndim))
    if not isinstance(indices, (ArrayRef, NpScalar, np.generic)):
        kind = type(stand_in(indices)) if isinstance(indices, Scalar) else type(indices)
        raise Raises(AttributeError(f"'{kind.__name__}' object has no attribute 'dtype'"))


@traces(np.take_along_axis)
def take_along_axis(r: Recorder, arr: Any, indices: Any, axis: Any = -1) -> ArrayRef:
    """np.take_along_axis."""
    check_places(arr, indices, axis)
    return gathered(r, along(r, *along_axis(r, arr, indices, axis)))


@traces(np.put_along_axis)
@stores
def put_along_axis(r: Recorder, arr: Any, indices: Any, values: Any, axis: Any) -> None:
    """np.put_along_axis."""
    check_places(arr, indices, axis)
    given = asarray(r, values, arr.dtype) if isinstance(values, (list, tuple)) else values
    scattered(r, along(r, *along_axis(r, arr, indices, axis)), given)


@traces(np.put, method="put")
@stores
def put(r: Recorder, a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """np.put: `v`, repeated, stored at ravelled indices."""
    bring = mode_of(r, mode)
    if isinstance(a, NpScalar):  # a number's method stores into an array of its own
        a = as_array(r, a)
    if not isinstance(a, ArrayRef):
        raise Raises(TypeError(f"argument 1 must be numpy.ndarray, not {name_of(a)}"))
    r.check_writable(a)
    picked = ravelled_values(r, index_array(r, ind))
    if picked.dtype == np.uint64:
        raise cannot_cast(picked.dtype, np.intp)
    if any(d == 0 for d in a.shape):
        r.require_nonneg(neg(picked.shape[0]), "IndexError", "cannot replace elements of an empty array")
    given = ravelled_values(r, values_for(r, a, v, "unsafe"))
    if any(d == 0 for d in picked.shape) or (empty := r.ask_equal(given.shape[0], 0)):
        return
    loops = Loops(r, picked.shape)
    some, size = is_some(loops, given, empty)
    index = loops.body.cast(loops.read(picked, 0, picked.shape), I64)
    total = loops.size(product(a.shape))
    place = bring(loops.body, index, total, 0)
    held = loops.whole(given)
    turn = loops.body.add(division.RemSI.of(loops.loop(0), size))
    where = unravelled(loops, place, a.shape)

    def stored(dest: Value, step: Value) -> Stored:
        new = loops.body.cast(loops.body.add(gather.Element.of(held, [turn])), a.element)
        return some or loops.body.constant(True, I1), loops.body.constant(False, I1), new, where

    r.store(a, loops.scatter(r.read(a), stored))


def is_some(loops: Loops, given: ArrayRef, empty: bool | None) -> tuple[Value | None, Value]:
    """Whether a vector has an element, where only the run time knows (`empty` is None), and its size, at least 1."""
    size = loops.size(given.shape[0])
    if empty is not None:
        return None, size
    body = loops.body
    return body.add(arith.CmpI.of("sgt", size, loops.constant(0))), body.add(arith.MaxSI.of(size, loops.constant(1)))


def unravelled(loops: Loops, place: Value, shape: Sequence[Dim]) -> list[Value]:
    """The indices of an element from its ravelled index, in C order."""
    body, found = loops.body, []
    if not shape:
        return []
    for n in reversed(shape[1:]):
        size = loops.size(n)
        found.append(body.add(division.RemSI.of(place, size)))
        place = body.add(division.DivSI.of(place, size))
    return [place, *reversed(found)]


# -- nonzero elements
@traces(np.nonzero, method="nonzero")
def nonzero_function(r: Recorder, a: Any) -> tuple[ArrayRef, ...]:
    """np.nonzero."""
    ref = asarray(r, a) if isinstance(a, (list, tuple)) else as_array(r, a)
    if not ref.ndim:
        raise Raises(
            ValueError("Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead.")
        )
    if ref.ndim == 1:
        return nonzero(r, ref)
    found = index_matrix(r, mask_of_numbers(r, ref), (0, 1))
    return tuple(last_column(found, axis) for axis in range(ref.ndim))


@traces(np.flatnonzero)
def flatnonzero(r: Recorder, a: Any) -> ArrayRef:
    """np.flatnonzero."""
    return nonzero(r, ravelled_values(r, asarray(r, a)))[0]


@traces(np.argwhere)
def argwhere(r: Recorder, a: Any) -> ArrayRef:
    """np.argwhere: the transpose of a fresh array with a row for each axis."""
    return index_matrix(r, mask_of_numbers(r, asarray(r, a)), (1, 0))


def index_matrix(r: Recorder, mask: ArrayRef, order: tuple[int, int]) -> ArrayRef:
    """A matrix with a row for each True element, a column for each axis of the mask."""
    n = count_of(r, mask)
    result = filled(r, (n, mask.ndim), I64, None, order)
    for axis in range(mask.ndim):
        loops, target = Loops(r, mask.shape), last_column(result, axis)
        here, place = loops.along(mask, range(mask.ndim)), loops.body.index(axis)
        r.store(target, loops.scatter(r.read(target), in_turn(here, place)))
    return result


def in_turn(here: Value, value: Value) -> Callable[[Value, Value], Stored]:
    """A body's rule that stores one value after another where `here` is True."""
    return lambda held, step: (here, here, value, [step])


@traces(np.compress)
def compress(r: Recorder, condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    """np.compress: a mask along one axis, which may be shorter than the axis."""
    into, mask = out_of(r, out), truth(r, asarray(r, condition))
    if mask.ndim != 1:
        raise Raises(ValueError("condition must be a 1-d array"))
    ref, axis = axis_or_ravelled(r, as_array(r, a), axis)
    k = axis_of(r, axis, ref.ndim)
    picked = nonzero(r, mask)[0]
    at = Advanced(ref, (picked,), (k,), k, ref, ())
    check_taker(r, into, ref, (*ref.shape[:k], picked.shape[0], *ref.shape[k + 1 :]))
    require_elements(r, ref.shape[k], at.shape(picked.shape))
    return taken(r, gathered(r, at, none_checked(at, checked), range(ref.ndim), ref.shape[:k]), into)


@traces(method="compress")
def compress_method(r: Recorder, a: ArrayRef, condition: Any, axis: Any = None, out: Any = None) -> Any:
    return compress(r, condition, a, axis, out)


@traces(np.extract)
def extract(r: Recorder, condition: Any, arr: Any) -> ArrayRef:
    """np.extract: the elements where the condition is not zero, both ravelled."""
    mask, ref = ravelled_values(r, truth(r, asarray(r, condition))), ravelled_values(r, asarray(r, arr))
    picked = nonzero(r, mask)[0]
    return gathered(r, Advanced(ref, (picked,), (0,), 0, ref, ()), order=(0,))


def place(r: Recorder, arr: Any, mask: Any, vals: Any) -> None:
    """np.place of a mask and values that are no memory of the array: the values, repeated, stored in turn where the
    mask is not zero."""
    if not isinstance(arr, ArrayRef):
        raise Raises(TypeError(f"place() argument 1 must be numpy.ndarray, not {name_of(arr)}"))
    r.check_writable(arr)
    where = truth(r, asarray(r, mask))
    same_elements(r, arr, where, "place: mask and data must be the same size")
    given = ravelled_values(r, values_for(r, arr, vals, "safe"))
    require_some(r, given, where)
    spread(r, arr, where, given, by_count=True)


@traces(np.putmask)
@stores
def putmask(r: Recorder, a: Any, mask: Any, values: Any) -> None:
    """np.putmask: the values, repeated to all elements, stored where the mask is not zero."""
    if not isinstance(a, ArrayRef):
        raise Raises(TypeError("putmask: first argument must be an array"))
    r.check_writable(a)
    where = truth(r, asarray(r, mask))
    same_elements(r, a, where, "putmask: mask and data must be the same size")
    given = ravelled_values(r, values_for(r, a, values, "safe"))
    spread(r, a, where, given, by_count=False)


def values_for(r: Recorder, a: ArrayRef, given: Any, casting: Literal["safe", "unsafe"]) -> ArrayRef:
    """Values to be stored into an array: arrays are cast by the rule `casting`, numbers must fit."""
    if isinstance(given, ArrayRef):
        if not np.can_cast(given.dtype, a.dtype, casting):
            raise cannot_cast(given.dtype, a.dtype, casting)
        return given
    if not isinstance(given, (list, tuple)):
        check_number(r, given, a, as_array=True)
        return asarray(r, given)
    return asarray(r, given, a.dtype)


def same_elements(r: Recorder, a: ArrayRef, mask: ArrayRef, message: str) -> None:
    """Raises ValueError, with the message, unless a mask has as many elements as the array."""
    r.require_equal(product(a.shape), product(mask.shape), "ValueError", message)


def require_some(r: Recorder, given: ArrayRef, mask: ArrayRef) -> None:
    """Raises ValueError where the mask selects elements, but there is no value to store."""
    if (empty := r.ask_equal(given.shape[0], 0)) is not False:
        none = r.compare("eq", count_of(r, mask), 0)
        ok = none if empty else either(r, none, r.compare("sgt", given.shape[0], 0))
        r.check(ok, "ValueError", "Cannot insert from an empty array!")


def spread(r: Recorder, a: ArrayRef, mask: ArrayRef, given: ArrayRef, by_count: bool) -> None:
    """Stores the elements of a vector, repeated: one for each True element of the mask (`by_count`), or one for each
    element of it."""
    r.check_writable(a)
    if mask.ndim != a.ndim or not all(map(r.facts.equal, mask.shape, a.shape)):  # as many elements in other rows
        mask = reshaped(r, mask, a.shape)
    if empty := r.ask_equal(given.shape[0], 0):
        return
    loops = Loops(r, a.shape)
    here, held = loops.along(mask, range(a.ndim)), loops.whole(given)
    some, size = is_some(loops, given, empty)
    if some is not None:
        here = loops.body.add(arith.AndI.of(here, some))
    here_place = [loops.loop(d) for d in range(a.ndim)]
    total = loops.loop(0) if a.ndim else loops.size(0)
    for d in range(1, a.ndim):
        total = loops.body.add(arith.MulI.of(total, loops.size(a.shape[d])))
        total = loops.body.add(arith.AddI.of(total, loops.loop(d)))

    def stored(dest: Value, step: Value) -> Stored:
        body = loops.body
        turn = body.add(division.RemSI.of(step if by_count else total, size))
        return here, here, body.cast(body.add(gather.Element.of(held, [turn])), a.element), here_place

    r.store(a, loops.scatter(r.read(a), stored))


# -- index arrays


@traces(np.unravel_index)
def unravel_index(r: Recorder, indices: Any, shape: Any, order: str = "C") -> tuple[Any, ...]:
    """np.unravel_index; ValueError for an index out of the shape's bounds."""
    if isinstance(indices, (list, tuple)) and not indices:
        raise Raises(TypeError("indices must be integral: the provided empty sequence was inferred as float"))
    if order not in ("C", "F"):
        raise Raises(ValueError("only 'C' or 'F' order is permitted"))
    sizes = shape_arg(r, shape)
    rest: Any = asarray(r, indices) if isinstance(indices, (list, tuple)) else indices
    if np.dtype(weak_type(rest)).kind not in "biu":
        raise Raises(TypeError("only int indices permitted"))
    if not sizes and isinstance(rest, ArrayRef) and rest.ndim:
        raise Raises(ValueError("multiple indices are not supported for 0d arrays"))
    rest = converted(r, rest, I64)
    known = [value for n in sizes if (value := r.in_this_call(n)) is not None]
    if len(known) == len(sizes) and abs(math.prod(known)) > INT_MAX:
        text = "dimensions are too large; arrays and shapes with a total size greater than 'intp' are not supported."
        raise Raises(ValueError(text))
    total = as_int_value(product(sizes))
    require_below(r, rest, total)
    if not sizes:
        return ()
    found: list[Any] = []
    for n in [sizes[d] for d in (reversed(range(1, len(sizes))) if order == "C" else range(len(sizes) - 1))]:
        size = as_int_value(n)
        found.append(elementwise(r, np.remainder, [rest, size], called=True))
        rest = elementwise(r, np.floor_divide, [rest, size], called=True)
    found.append(rest)
    found = found[::-1] if order == "C" else found
    if not isinstance(rest, ArrayRef):
        return tuple(found)
    made = filled(r, (*rest.shape, len(found)), I64, None, (*result_order(r, [rest], rest.ndim), rest.ndim))
    columns = [last_column(made, k) for k in range(len(found))]
    for target, x in zip(columns, found):
        store_view(r, target, x)
    return tuple(columns)


def converted(r: Recorder, x: Any, element: ScalarType) -> ArrayRef | NpScalar:
    """An array in an element type; one without axes becomes a number."""
    if isinstance(x, ArrayRef) and x.ndim:
        return x if x.element is element else copy_of(r, x, element, k_order(x))
    x = as_number(r, x)
    return NpScalar(scalar_value(r, x, element), element)


def last_column(ref: ArrayRef, k: int) -> ArrayRef:
    """The column `k` of the last axis."""
    last = ref.ndim - 1
    return ref.derive(lambda view: view.narrow(last, k, 1, 1).drop(last))


def require_below(r: Recorder, index: Any, total: Any) -> None:
    """ValueError unless every index is at least 0 and below the number of elements."""
    low = elementwise(r, np.greater_equal, [index, 0], called=True)
    ok = elementwise(r, np.logical_and, [low, elementwise(r, np.less, [index, total], called=True)], called=True)
    if isinstance(ok, ArrayRef):
        ok = reduce(r, np.logical_and, ok)
    if isinstance(ok, NpScalar):
        r.check(ok.value, "ValueError", "index is out of bounds for array with this number of elements")
    elif not ok:
        r.fail("ValueError", "index is out of bounds for array with this number of elements")


@stores
def ufunc_at(r: Recorder, ufunc: np.ufunc, a: Any, indices: Any, b: Any = None) -> None:
    """`ufunc.at`: in place, one index after another, so that an index that occurs twice is applied twice."""
    if not isinstance(a, ArrayRef):
        raise Raises(TypeError("first operand must be array"))
    if ufunc.signature is not None:
        raise Raises(TypeError(f"ufunc.at does not support ufunc with non-trivial signature: {ufunc.__name__}"))
    if a.read_only or not all(s.writable for s in storages_of(a)):
        raise r.refuse(f"np.{ufunc.__name__}.at of a read-only array, into which NumPy stores", "use a copy: a.copy()")
    if ufunc.nin > 2 or ufunc.nout != 1:
        raise Raises(ValueError("Only unary and binary ufuncs supported at this time"))
    if (b is None) != (ufunc.nin == 1):
        needs = "second operand needed for ufunc"
        raise Raises(ValueError(needs if b is None else "second operand provided when ufunc is unary"))
    given = asarray(r, b) if isinstance(b, (list, tuple)) else b if b is None else strong(r, b)
    dtypes = loop_dtypes(ufunc, tuple(weak_type(x) for x in ([a] if given is None else [a, given])))
    r.check_writable(a)
    if ufunc is np.power and given is not None and dtypes[1].kind == "i" and is_advanced(indices):
        check_exponent(r, given, [x for x in (indices,) if isinstance(x, ArrayRef)])
    if not is_advanced(indices):
        picked = read_item(r, a, indices)
        operands = [picked] if given is None else [picked, given]
        if isinstance(picked, ArrayRef):
            elementwise(r, ufunc, operands, into=picked, casting="unsafe", called=True)
        else:
            if isinstance(given, ArrayRef) and given.ndim:
                raise Raises(ValueError("array is not broadcastable to correct shape"))
            new = scalar_value(r, elementwise(r, ufunc, operands, called=True), a.element)  # converted from any type
            store(r, a, indices, NpScalar(new, a.element))
        return
    types = [scalar_type(d) for d in dtypes[:-1]]
    at = without_masks(r, advanced_index(r, a, arrays_in(r, indices)))

    def combine(body: Body, held: Value, value: Value) -> Value:
        args = [body.cast(held, types[0])] + ([] if given is None else [body.cast(value, types[1])])
        return body.cast(apply_rule(ufunc, body, args, dtypes), a.element)

    scattered(r, at, given, combine)
