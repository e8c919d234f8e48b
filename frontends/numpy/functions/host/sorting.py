"""Sorting as host calls, and what NumPy computes by sorting: order statistics, sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.axes import axis_of
from tracebuf.frontends.numpy.arrays.creation import asarray
from tracebuf.frontends.numpy.arrays.new_arrays import filled
from tracebuf.frontends.numpy.arrays.reshape import flatten
from tracebuf.frontends.numpy.functions.host.calls import (
    Fresh,
    Given,
    HostEntry,
    Parts,
    Shape,
    Shapes,
    UpTo,
    dims,
    moved,
    number,
    pass_on,
    record,
    reduced,
)
from tracebuf.frontends.numpy.record.each_path import stores
from tracebuf.frontends.numpy.record.raises import Raises, ask
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.registry import HANDLERS, traces
from tracebuf.frontends.numpy.record.values import ArrayRef, NpScalar, PyInt, storages_of
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, Expr, add, dim_min, product, sub
from tracebuf.ir.types import F64, I64
from tracebuf.running.host import (
    ROW,
    Direct,
    HostFunction,
    MedianLoop,
    Passed,
    QuantileLoop,
    SortLoop,
    put_nothing,
    put_there,
)


def along_axis(r: Recorder, given: Given) -> Sequence[Shape]:
    """The array's shape; ravelled where `axis` is None."""
    shape = dims(given["a"])
    return [shape if given.get("axis", -1) is not None else (product(shape),)]


def along_axis_in_bounds(r: Recorder, given: Given) -> Sequence[Shape]:
    """As `along_axis`, for np.partition: its places must be within the axis, where there are elements."""
    (shape,), axis = along_axis(r, given), given.get("axis", -1)
    axis = 0 if axis is None else axis
    known = type(axis) is int and -len(shape) <= axis < len(shape) and 0 not in shape
    if known and not within(r, given["kth"], shape[axis]) and all(r.ask_nonneg(sub(n, 1)) for n in shape):
        raise Raises(ValueError("kth out of bounds"))
    return [shape]


def within(r: Recorder, kth: Any, n: Dim) -> bool:
    """Whether places may be in an axis of size `n`; sizes and ints that decide it are guarded."""
    if isinstance(kth, list | tuple):
        return all(within(r, k, n) for k in kth)
    place = kth.expr if isinstance(kth, PyInt) else kth
    if isinstance(place, bool) or not isinstance(place, int | Expr):
        return True
    return r.ask_nonneg(sub(sub(n, place), 1)) is not False and r.ask_nonneg(add(n, place)) is not False


def lexsort_shapes(r: Recorder, given: Given) -> Sequence[Shape]:
    keys = given["keys"]
    return [dims(keys[0]) if isinstance(keys, (tuple, list)) else keys.shape[1:]]


def of_reduced(name: str = "a") -> Shapes:
    """The shape without the reduced axes; in front of it the axes of `q`, if there is one."""

    def shapes(r: Recorder, given: Given) -> Sequence[Shape]:
        return [(*dims(given.get("q")), *reduced(r, given[name], given.get("axis"), given.get("keepdims", False)))]

    return shapes


def unique_shapes(r: Recorder, given: Given) -> Sequence[Sequence[Dim | UpTo]]:
    """Shapes of np.unique: the distinct elements, or parts along `axis`; then first indices, inverse indices,
    counts."""
    shape: list[Any] = list(dims(given["ar"]))
    axis = given.get("axis")
    n = product(shape) if axis is None else shape[axis_of(r, axis, len(shape))]
    inverse = tuple(shape) if axis is None else (n,)
    values = [n] if axis is None else list(shape)
    values[0 if axis is None else axis_of(r, axis, len(shape))] = UpTo(n)
    asked = [("return_index", (UpTo(n),)), ("return_inverse", inverse), ("return_counts", (UpTo(n),))]
    return [values, *(s for name, s in asked if given.get(name))]


def distinct_shapes(*names: str) -> Shapes:
    """Shapes of np.unique_values and its variants: the distinct elements, and these other results."""

    def shapes(r: Recorder, given: Given) -> Sequence[Sequence[Dim | UpTo]]:
        return unique_shapes(r, {"ar": given["x"], **{f"return_{name}": True for name in names}})

    return shapes


def shape_of(name: str) -> Shapes:
    """The shape of the argument `name`."""
    return lambda r, given: [dims(given[name])]


def set_shapes(most: Callable[[Dim, Dim], Dim], *names: str) -> Shapes:
    """The shape of a set of two arrays' elements, bounded by `most`."""

    def shapes(r: Recorder, given: Given) -> Sequence[Sequence[Dim | UpTo]]:
        most_of = add if given.get("assume_unique") else most
        size = r.facts.simplify(most_of(*(product(dims(given[name])) for name in names)))
        return [(UpTo(size),)] * (3 if given.get("return_indices") else 1)

    return shapes


# -- rows that native code sorts

KINDS = {None: 0, "quicksort": 0, "stable": 2, "mergesort": 2}
"""NumPy's numbers of its algorithms; heapsort, which is quicksort from 2.4 on, is left to the function."""


def rows_of(given: Given, array: ArrayRef, indirect: bool = False) -> tuple[SortLoop, int] | None:
    """How rows are sorted, and along which axis; None where the function does it: all elements as one row, an error."""
    axis, kind, stable = given.get("axis", -1), given.get("kind"), given.get("stable")
    known = type(axis) is int and -array.ndim <= axis < array.ndim and isinstance(kind, str | None)
    if not known or given.get("order") is not None or kind not in KINDS or None not in (kind, stable):
        return None
    return SortLoop(array.dtype.char, 2 if stable else KINDS[kind], indirect), axis % array.ndim


def sort_rows(r: Recorder, array: ArrayRef, given: Given, loop: SortLoop, axis: int) -> None:
    """Records a sort in place, along the last axis of a view."""
    how = {name: value for name, value in given.items() if name != "axis"}
    record(r, method_in_place("sort", how, [], loop), [], [], [moved(array, axis)])


def method_in_place(name: str, pattern: Given, ins: Sequence[Value], loop: SortLoop | None = None) -> HostFunction:
    """A method that changes the array that it is called on, the only out."""

    arguments = Passed(len(ins)), *pattern.values()
    call = Direct(getattr(np.ndarray, name), arguments, tuple(pattern), None, (), (), put_nothing)
    return HostFunction(f"numpy.ndarray.{name}", call, loop=loop)


def in_place(name: str) -> Parts:
    """np.sort or np.partition: a copy, flat without an axis, and the method on it."""

    def parts(r: Recorder, given: Given, fresh: Sequence[Fresh]) -> ArrayRef:
        ((element, shape, order),) = fresh
        array, how = asarray(r, given["a"]), {k: v for k, v in given.items() if k != "a"}
        if how.get("axis", -1) is None:
            copy, how["axis"] = flatten(r, array), -1
        else:
            copy = filled(r, shape, element, None, order)
            r.store(copy, r.read(array))
        change(r, name, copy, how)
        return copy

    return parts


def change(r: Recorder, name: str, array: ArrayRef, given: Given) -> None:
    """Records a.sort(...) or a.partition(...)."""
    if name == "sort" and array.ndim and (rows := rows_of(given, array)) is not None:
        sort_rows(r, array, given, *rows)
        return
    ins: list[Value] = []
    pattern = {k: pass_on(r, v, ins) for k, v in given.items()}
    record(r, method_in_place(name, pattern, ins), ins, [], [array])


def sorting_indices(r: Recorder, given: Given, fresh: Sequence[Fresh]) -> ArrayRef | None:
    """np.argsort of rows along the last axis."""
    array = given["a"]
    rows = rows_of(given, array, True) if isinstance(array, ArrayRef) and array.ndim else None
    if rows is None or rows[1] != array.ndim - 1:
        return None
    how = {name: value for name, value in given.items() if name != "a"}
    call = Direct(np.ndarray.argsort, (Passed(0), *how.values()), tuple(how), None, (0,), (None,), put_there)
    function = HostFunction("numpy.argsort", call, returns=1, loop=rows[0])
    return record(r, function, [r.read(array)], [(I64, array.shape, fresh[0][2])])[0]


def medians(r: Recorder, given: Given, fresh: Sequence[Fresh]) -> ArrayRef | NpScalar | None:
    """np.median of rows of real numbers along one axis."""
    a, axis = given["a"], given.get("axis")
    if not isinstance(a, ArrayRef) or given.get("keepdims", False) is not False or a.dtype.char not in "bhilqBHILQfd":
        return None
    axis = -1 if axis is None and a.ndim == 1 else axis
    if type(axis) is not int or not -a.ndim <= axis < a.ndim:
        return None
    call = Direct(np.median, (Passed(0), -1), ("axis",), None, (0,), (None,), put_there)
    function = HostFunction("numpy.median", call, loop=MedianLoop(a.dtype.char))
    made = record(r, function, [r.read(moved(a, axis % a.ndim))], fresh)[0]
    return made if made.ndim else number(r, made)


def quantiles(function: Callable[..., Any], divisor: int) -> Parts:
    """np.percentile or np.quantile of rows of real numbers along one axis, at places that are known: numbers, which
    `divisor` makes fractions."""

    def parts(r: Recorder, given: Given, fresh: Sequence[Fresh]) -> ArrayRef | NpScalar | None:
        a, q, axis = given["a"], given["q"], given.get("axis")
        if not isinstance(a, ArrayRef) or a.dtype.char not in "bhilqBHILQd" or fresh[0][0] is not F64:
            return None
        axis = -1 if axis is None and a.ndim == 1 else axis
        if type(axis) is not int or not -a.ndim <= axis < a.ndim or not given.keys() <= {"a", "q", "axis"}:
            return None
        numbers = (float,) if divisor == 1 else (int, float)
        places = tuple(q) if isinstance(q, list | tuple) else (q,)
        if not 0 < len(places) <= MOST_PLACES or not all(type(x) in numbers and 0 <= x <= divisor for x in places):
            return None
        several = places if isinstance(q, list | tuple) else q
        if not r.ask_nonneg(sub(ROW, a.shape[axis])):  # of longer rows the function's result is taken as it is
            return None
        call = Direct(function, (Passed(0), several, -1), ("axis",), None, (0,), (None,), put_there)
        fractions = tuple(float(ask(np.true_divide, x, divisor)) for x in places)
        loop = QuantileLoop(a.dtype.char, fractions, several is places)
        made = record(r, HostFunction(f"numpy.{function.__name__}", call, loop=loop),
                      [r.read(moved(a, axis % a.ndim))], fresh)[0]  # fmt: skip
        return made if made.ndim else number(r, made)

    return parts


MOST_PLACES = 16
"""So many quantiles are taken by native code."""
NOT_OVER = {"overwrite_input": False}
ENTRIES: tuple[HostEntry, ...] = (
    HostEntry(np.sort, ("a",), along_axis, parts=in_place("sort")),
    HostEntry(np.argsort, ("a",), along_axis, parts=sorting_indices, method=True),
    HostEntry(
        np.partition, ("a",), along_axis_in_bounds, ("kth",), stand_ins={"kth": 0}, parts=in_place("partition"),
    ),
    HostEntry(np.argpartition, ("a",), along_axis_in_bounds, ("kth",), stand_ins={"kth": 0}, method=True),
    HostEntry(np.lexsort, (), lexsort_shapes, ("keys",)),
    HostEntry(np.sort_complex, ("a",), shape_of("a")),
    HostEntry(np.unique, ("ar",), unique_shapes, counts=True),
    *(
        HostEntry(f, ("x",), distinct_shapes(*names), counts=True)
        for f, names in (
            (np.unique_values, ()), (np.unique_counts, ("counts",)), (np.unique_inverse, ("inverse",)),
            (np.unique_all, ("index", "inverse", "counts")),
        )
    ),
    HostEntry(np.median, ("a",), of_reduced(), only=NOT_OVER, parts=medians),
    HostEntry(np.nanmedian, ("a",), of_reduced(), only=NOT_OVER),
    *(
        HostEntry(
            f, ("a", "q", "weights"), of_reduced(), ("q",), only=NOT_OVER,
            parts=quantiles(f, divisor) if divisor else None,
        )
        for f, divisor in ((np.percentile, 100), (np.quantile, 1), (np.nanpercentile, 0), (np.nanquantile, 0))
    ),
    *(
        HostEntry(f, names, set_shapes(most, *names), counts=True)
        for f, names, most in (
            (np.intersect1d, ("ar1", "ar2"), dim_min), (np.union1d, ("ar1", "ar2"), add),
            (np.setxor1d, ("ar1", "ar2"), add), (np.setdiff1d, ("ar1", "ar2"), lambda m, n: m),
        )
    ),
)  # fmt: skip
"""The functions that run on the host."""
for entry in ENTRIES:
    traces(entry.function, method=entry.function.__name__ if entry.method else None)(entry)


# -- methods


@traces(of=np.sort, method="sort")
@traces(of=np.partition, method="partition")
@stores
def changed_in_place(function: Callable[..., Any], r: Recorder, a: ArrayRef, *args: Any, **kwargs: Any) -> None:
    """a.sort() or a.partition(kth): the array itself is written."""
    name, entry = function.__name__, HANDLERS[function]
    assert isinstance(entry, HostEntry)
    given = entry.bind(r, (a, *args), kwargs)
    array = given.pop("a")
    if not array.read_only and all(s.writable for s in storages_of(array)):
        change(r, name, array, given)
        return
    ins: list[Value] = []
    called = method_in_place(name, {k: pass_on(r, v, ins) for k, v in given.items()}, ins)
    record(r, called, [*ins, r.read(array)], [])  # which raises what comes first
    r.check_writable(array)
