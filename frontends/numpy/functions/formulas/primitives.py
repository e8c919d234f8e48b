"""What formulas need beyond NumPy: functions that mean something only in a trace (`HANDLERS` says what)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.arrays import indexing
from tracebuf.frontends.numpy.arrays.axes import axis_of
from tracebuf.frontends.numpy.arrays.creation import linspace
from tracebuf.frontends.numpy.arrays.indexing import as_int
from tracebuf.frontends.numpy.arrays.new_arrays import element_of, filled, shape_arg
from tracebuf.frontends.numpy.arrays.reshape import as_view, is_dense, is_fortran, whole_number
from tracebuf.frontends.numpy.arrays.shapes import broadcast_to
from tracebuf.frontends.numpy.functions.host import histograms, linalg
from tracebuf.frontends.numpy.functions.host.calls import record
from tracebuf.frontends.numpy.functions.indices import bins as equal_bins
from tracebuf.frontends.numpy.functions.indices import interpolation, picking
from tracebuf.frontends.numpy.functions.joining import padding
from tracebuf.frontends.numpy.functions.reductions.reduce import divide
from tracebuf.frontends.numpy.numbers import longlongs
from tracebuf.frontends.numpy.numbers.generics import result_order
from tracebuf.frontends.numpy.numbers.operands import on_all_paths, scalar_value
from tracebuf.frontends.numpy.numbers.scalars import as_int_value, concrete
from tracebuf.frontends.numpy.record.broadcasting import broadcast
from tracebuf.frontends.numpy.record.each_path import stores
from tracebuf.frontends.numpy.record.raises import Raises, ask
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.registry import PRIMITIVES, primitive, traces
from tracebuf.frontends.numpy.record.scalar_checks import compare_floats, unknown_origin
from tracebuf.frontends.numpy.record.sizes import USUAL
from tracebuf.frontends.numpy.record.values import (
    ArrayRef,
    GuardedRef,
    NpScalar,
    PyFloat,
    PyInt,
    Scalar,
    kind_of,
    storages_of,
)
from tracebuf.ir.core import Value
from tracebuf.ir.dims import add, product, sub
from tracebuf.ir.types import C128, F16, F32, F64, I1, I64, INDEX, ScalarType
from tracebuf.ops.scalars import arith, casts
from tracebuf.running.host import Direct, HostFunction, Passed, put_nothing

place_apart: Any = primitive(stores(picking.place))
divide_by_count: Any = primitive(divide)
linspace_of_numbers = primitive(linspace)
pad_rows = primitive(padding.pad_rows)
interpolated = primitive(interpolation.interpolated)
counted_in_bins: Any = primitive(equal_bins.count_in_bins)
histogram_by_numpy = primitive(histograms.HISTOGRAM)
matrix_power_by_numpy = primitive(linalg.MATRIX_POWER)
multi_dot_by_numpy = primitive(linalg.MULTI_DOT)
complex_eigenvalues = primitive(linalg.EIGVALS)
complex_eigenvectors = primitive(linalg.EIG)


@primitive
def refuse(r: Recorder, reason: str, instead: str) -> Any:
    """Raises UnsupportedError at the caller's line."""
    raise r.refuse(reason, instead)


@primitive
def is_array(r: Recorder, x: Any) -> Any:
    """Whether a value is an array, not a number."""
    return isinstance(x, ArrayRef)


@primitive
def has_repeated_axis(r: Recorder, a: Any) -> bool:
    """Whether an axis of an array is repeated, by a stride of 0."""
    return isinstance(a, ArrayRef) and any(map(a.is_repeated, range(a.ndim)))


@primitive
def as_vector(r: Recorder, a: ArrayRef) -> ArrayRef | None:
    """The elements of an array in C order, as a view; None where there is none."""
    return as_view(r, a, (product(a.shape),))


@primitive
def check_apart(r: Recorder, a: ArrayRef, value: Any) -> None:
    """Refuses a value that may be memory of `a`: NumPy reads elements that it has just stored."""
    if isinstance(value, ArrayRef) and value.element is a.element and set(storages_of(a)) & set(storages_of(value)):
        raise r.refuse("an array is stored through a.flat into its own memory", "b.copy()")


@primitive
def is_own(r: Recorder, a: Any, x: Any) -> bool:
    """Whether `x` may be memory of `a`."""
    return isinstance(a, ArrayRef) and isinstance(x, ArrayRef) and not set(storages_of(a)).isdisjoint(storages_of(x))


@primitive
def taken_as_it_is(r: Recorder, x: ArrayRef, dtype: Any) -> bool:
    """Whether NumPy's C code works on an array itself where it wants a contiguous one of a dtype."""
    return x.dtype == dtype and is_dense(r, x, range(x.ndim))


@primitive
def values_for(r: Recorder, a: ArrayRef, given: Any) -> ArrayRef:
    """Values to be stored into an array: arrays are cast by the rule "safe", numbers must fit."""
    return picking.values_for(r, a, given, "safe")


@primitive
def slice_range(r: Recorder, key: slice, n: Any) -> tuple[Any, ...]:
    """The start, step and size of a slice over n elements."""
    return tuple(map(as_int_value, indexing.slice_range(r, key, whole_number(r, n))))


@primitive
def bits_of(r: Recorder, x: Any) -> Any:
    """The bits of a positive int that is the same in each call, the lowest first; none for what is not."""
    return tuple(map(int, f"{x:b}"[::-1])) if type(x) is int and x > 0 else ()


def by_python(items: np.ndarray, reverse: bool) -> None:
    """Sorts as a list of the items is sorted."""
    items[:] = sorted(items.tolist(), reverse=reverse)


@primitive
def sort_by_python(r: Recorder, items: ArrayRef, reverse: bool) -> None:
    """Sorts items as Python does, called: among NaNs the order is that in which it compares."""
    call = Direct(by_python, (Passed(0), reverse), (), None, (), (), put_nothing)
    record(r, HostFunction("sorted", call), [], [], [items])


@primitive
def check_no_nan(r: Recorder, x: Any) -> None:
    """Raises UnsupportedError for a NaN in one of several tuples: Python finds it equal to itself by its identity."""
    if isinstance(x, float) or (isinstance(x, np.floating)):
        return None if x == x else r.fail(UnsupportedError, NAN_IN_TUPLES)
    if isinstance(x, PyFloat) or (isinstance(x, NpScalar) and x.element.is_float):
        known = compare_floats(r, "oeq", value := scalar_value(r, x, F64), value)
        r.check(known, UnsupportedError, NAN_IN_TUPLES)


@primitive
def check_room(r: Recorder, n: Any, most: Any) -> None:
    """Raises UnsupportedError where a cache of `most` results, or of any number (None), has n of them and gets more."""
    if most is not None:
        reason = f"a cache of functools.lru_cache for {most} results gets more, and drops some"
        if isinstance(n, int):
            return r.fail(UnsupportedError, reason) if n >= most else None
        r.check(r.compare("slt", n.expr, most), UnsupportedError, reason)


@primitive
def check_sure(r: Recorder, unsure: Any) -> None:
    """Raises UnsupportedError where the order of a set's items may be another than eager's (`unsure` is 1)."""
    reason = "iterating over a set, whose items have no certain order"
    if isinstance(unsure, int):
        return r.fail(UnsupportedError, reason) if unsure else None
    r.check(r.compare("eq", unsure.expr, 0), UnsupportedError, reason)


@primitive
def is_float(r: Recorder, x: Any) -> bool:
    """Whether a number is a float."""
    kind = kind_of(x)
    return kind is not None and kind.element.is_float


@primitive
def hash_bits(r: Recorder, x: Any) -> NpScalar:
    """What an int, or a float without its sign if it is 0, is as an int of 64 bits."""
    if kind_of(x) is not None and kind_of(x).element.is_float:  # type: ignore[union-attr]
        whole = r.emit(arith.AddF.of(scalar_value(r, x, F64), r.constant(0.0, F64)))
        return NpScalar(r.emit(casts.Bitcast.of(whole, I64)), I64)
    return NpScalar(scalar_value(r, x, I64), I64)


@primitive
def within(r: Recorder, k: Any, size: Any) -> Any:
    """An int that is known to be one of 0 .. size - 1, however it was computed: no index is looked at."""
    return k if isinstance(k, int) else _below(r, scalar_value(r, k, I64), size)


@primitive
def slot_of(r: Recorder, h: Any, size: Any) -> Any:
    """The slot of a hash in a table of `size` slots, a power of 2."""
    last = scalar_value(r, as_int_value(sub(whole_number(r, size), 1)), I64)
    return _below(r, r.emit(arith.AndI.of(scalar_value(r, h, I64), last)), size)


def _below(r: Recorder, value: Value, size: Any) -> Any:
    """An i64 as an int of which is known that it is one of 0 .. size - 1."""
    found = r.symbol(r.emit(arith.IndexCast.of(value, INDEX)), f"k{len(r.func.symbols)}", 0, USUAL)
    r.facts.assume_nonneg(sub(sub(whole_number(r, size), found), 1))
    return as_int_value(found)


NAN_IN_TUPLES = "an order of tuples among which is a NaN"


@primitive
def argsort_of(r: Recorder, x: tuple[int, ...]) -> Any:
    """The indices that sort known numbers."""
    return tuple(sorted(range(len(x)), key=x.__getitem__))


@primitive
def known_ints(r: Recorder, x: Any) -> Any:
    """The ints of a list, as part of the key."""
    return tuple(r.static_int(whole_number(r, i), "a place") for i in x)


@primitive
def order_of_memory(r: Recorder, a: Any) -> Any:
    """"F" for an array in Fortran order only, else "C"."""
    return "F" if is_fortran(r, a) else "C"


@primitive
def pad_pairs(r: Recorder, pad_width: Any, ndim: Any) -> Any:
    """The widths before and after each axis."""
    return tuple(tuple(map(as_int_value, pair)) for pair in padding.pad_widths(r, pad_width, ndim))


@primitive
def check_writable(r: Recorder, a: Any) -> Any:
    """ValueError for an array that is read-only."""
    r.check_writable(a)


@primitive
def broadcast_view(r: Recorder, a: Any, shape: Any) -> Any:
    """np.broadcast_to, except that the view may be stored to if the array may."""
    made = broadcast_to(r, a, shape)
    return made if isinstance(made, GuardedRef) else ArrayRef(made.storage, made.view, a.read_only)


@primitive
def has_even_bins(r: Recorder, a: Any, bins: Any, range: Any, weights: Any) -> Any:
    """Whether a histogram is one of real numbers, with real weights or none, in a number of bins between two numbers
    that Python's float holds."""
    ends = () if range is None else range
    if isinstance(bins, str) or not (_is_real(a) and (weights is None or _is_real(weights))):
        return False
    if not (isinstance(ends, (tuple, list)) and len(ends) in (0, 2) and all(_is_end(r, x, a.element) for x in ends)):
        return False
    n = as_int(r, bins)
    if n is None or not ends or a.element is not F32:
        return n is not None
    return r.ask_nonneg(sub(2**20, n)) is True  # the places of float32 numbers may be a bin too far


def _is_real(x: Any) -> bool:
    return isinstance(x, ArrayRef) and x.dtype.kind in "iuf" and x.element is not F16


def _is_end(r: Recorder, x: Any, element: ScalarType) -> bool:
    """Whether NumPy computes with the end of a range of elements as with a Python float."""
    if isinstance(x, NpScalar):
        return x.element is F64 and x.python is None and element is not F32
    if isinstance(x, PyInt) or type(x) is int:
        n = x.expr if isinstance(x, PyInt) else x
        return all(r.ask_nonneg(bound) is True for bound in (sub(2**53 - 1, n), add(2**53 - 1, n)))
    return isinstance(x, PyFloat) or type(x) is float or type(x) is np.float64 and element is not F32


def dtype_of_value(r: Recorder, x: Any) -> Any:
    """np.asarray(x).dtype; for a number that is Python's or NumPy's, depending on the path, where both have the
    same."""
    if isinstance(x, NpScalar) and x.python is not None:
        agree = {"float": F64, "int": I64, "bool": I1, "complex": C128}.get(x.python.kind)
        if agree is not x.element:
            raise unknown_origin(r.loc)
        return x.element.dtype
    return x.dtype if isinstance(x, ArrayRef) else ask(np.asarray, concrete(x)).dtype


dtype_of = primitive(dtype_of_value)


@primitive
def known_least_dtype(r: Recorder, a: Any) -> Any:
    """np.min_scalar_type of what does not depend on a number that only the run time knows; None for such a number."""
    if isinstance(a, ArrayRef) and a.ndim:
        return a.dtype
    if isinstance(a, (ArrayRef, Scalar)):
        kind: np.dtype = dtype_of_value(r, a)
        if r.longlong and isinstance(a, (ArrayRef, NpScalar)) and a.element in longlongs.TWINS:
            raise longlongs.doubt(r, "np.min_scalar_type")
        if kind.kind == "c":
            raise r.refuse("np.min_scalar_type of a complex number that only the run time knows", "use its dtype")
        return kind if kind in (bool, np.float16) else None
    return ask(np.min_scalar_type, a)


@primitive
def least_of_64_bits(r: Recorder, x: Any) -> Any:
    """np.min_scalar_type of an int above those of 32 bits; of one that is no uint64 it may be a dtype which arrays of
    the trace do not have, ulonglong: UnsupportedError where this is reached."""
    kind = np.uint64 if dtype_of_value(r, x) == np.uint64 else np.int64
    found = ask(np.min_scalar_type, ask(kind, 2**40))
    return r.fail(UnsupportedError, "np.min_scalar_type is ulonglong") if longlongs.is_longlong(found) else found


@primitive
def fresh_as(r: Recorder, arrays: Any, dtype: Any) -> Any:
    """An array of undefined contents, laid out like an elementwise result of arrays of one shape."""
    shape = arrays[0].shape
    return filled(r, shape, element_of(r, dtype), None, result_order(r, arrays, len(shape)))


# -- NumPy's and Python's functions that formulas call


@traces(np.broadcast_shapes)
def broadcast_shapes(r: Recorder, *shapes: Any) -> tuple[Any, ...]:
    return tuple(as_int_value(n) for n in broadcast(r, [shape_arg(r, s) for s in shapes]))


@traces(np.result_type)
def result_type(r: Recorder, *arrays_and_dtypes: Any) -> np.dtype:
    """np.result_type; Python's numbers are weak."""
    known = [x.dtype if isinstance(x, ArrayRef) else concrete(x) for x in arrays_and_dtypes]
    found = ask(np.result_type, *known)
    numbers = [x for x in arrays_and_dtypes if isinstance(x, Scalar)]
    others = [k for x, k in zip(arrays_and_dtypes, known) if not isinstance(x, Scalar)]

    def of(*kinds: Any) -> np.dtype:
        return np.result_type(*others, *(kind() if isinstance(kind, type) else kind for kind in kinds))

    return on_all_paths(numbers, of, r.loc) if numbers else found


def normalized(r: Recorder, axis: Any, ndim: int, msg_prefix: Any = None) -> int:
    return axis_of(r, axis, ndim, True, msg_prefix)


def all_normalized(
    r: Recorder, axis: Any, ndim: int, argname: Any = None, allow_duplicate: bool = False
) -> tuple[int, ...]:
    several = axis if isinstance(axis, (tuple, list, range)) else (axis,)
    axes = tuple(axis_of(r, a, ndim, True, argname) for a in several)
    if len(set(axes)) < len(axes) and not allow_duplicate:
        raise Raises(ValueError("repeated axis"))
    return axes


PRIMITIVES.update({normalize_axis_index: normalized, normalize_axis_tuple: all_normalized})
