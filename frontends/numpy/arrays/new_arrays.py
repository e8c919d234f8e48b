"""Fresh arrays (filled, copied, converted), and what function handlers share: array, shape and optional arguments."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.indexing import as_strict_int, check_number, store_view
from tracebuf.frontends.numpy.numbers.bodies import Body
from tracebuf.frontends.numpy.numbers.operands import INT, Operand, on_all_paths, scalar_value, supported, weak_type
from tracebuf.frontends.numpy.numbers.scalars import concrete
from tracebuf.frontends.numpy.numbers.weak_ints import check_weak_int
from tracebuf.frontends.numpy.record import refusals
from tracebuf.frontends.numpy.record.broadcasting import shape_text
from tracebuf.frontends.numpy.record.heap import DictView
from tracebuf.frontends.numpy.record.raises import Raises, ask
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.refusals import name_of
from tracebuf.frontends.numpy.record.scalar_checks import check_origin, origins
from tracebuf.frontends.numpy.record.values import (
    NUMBERS,
    ArrayRef,
    NpScalar,
    PyBool,
    PyComplex,
    PyFloat,
    PyInt,
    Scalar,
    stand_in,
)
from tracebuf.ir.core import Block
from tracebuf.ir.dims import Dim, sub
from tracebuf.ir.types import I1, ScalarType, scalar_type
from tracebuf.ops.arrays import linalg

MAX_RANGE = 10_000_000
"""The most numbers of a range that an array is made of."""


def shape_arg(r: Recorder, shape: Any) -> tuple[Dim, ...]:
    """The shape that an int or a sequence of ints means; negative sizes raise ValueError."""
    if isinstance(shape, ArrayRef) and shape.ndim == 1 and shape.dtype.kind in "iu":
        count = r.static_int(shape.shape[0], "the number of axes")
        shape = [r.number(shape, (k,)) for k in range(count)]
    items = shape if isinstance(shape, (tuple, list)) else (shape,)
    sizes: list[Dim] = []
    if any(isinstance(i, (float, PyFloat)) for i in items):
        raise Raises(TypeError("'float' object cannot be interpreted as an integer"))
    for item in items:
        e = as_strict_int(r, item)
        if e is None and isinstance(item, ArrayRef):
            raise r.refuse("a shape that is an array", "pass the sizes one by one")
        if e is None:
            kind = type(stand_in(item)) if isinstance(item, Scalar) else type(item)
            raise Raises(TypeError(f"'{kind.__name__}' object cannot be interpreted as an integer"))
        r.require_nonneg(e, "ValueError", "negative dimensions are not allowed")
        sizes.append(one_or_more(r, e))
    return tuple(sizes)


def one_or_more(r: Recorder, e: Dim) -> Dim:
    """A size; one that is 1 in the traced call is specialised to 1, as argument sizes are."""
    if r.entry_only(e) and not r.facts.nonneg(sub(e, 2)) and r.ask_equal(e, 1) is True:
        return 1
    return r.facts.canon(e)


def element_of(r: Recorder, dtype: Any) -> ScalarType:
    """The element type of a `dtype=`; UnsupportedError where there is none."""
    wanted = ask(np.dtype, dtype)
    return supported(wanted, "the array", r.loc)


def only(r: Recorder, what: str, **given: Any) -> None:
    """Refuses optional parameters that are not supported, when they are given."""
    for name, (value, default) in given.items():
        if value is not default and not (isinstance(value, type(default)) and value == default):
            raise r.refuse(*refusals.parameters(what, [name]))


def filled(
    r: Recorder, shape: Sequence[Dim], element: ScalarType, value: Operand | None, order: Sequence[int] | None = None
) -> ArrayRef:
    """A fresh array, filled with `value`, or of any contents if that is None."""
    out = r.empty(element, shape, order)
    if value is not None:
        out = r.emit(linalg.Fill.of(scalar_value(r, value, element), out))
    return ArrayRef(r.new_storage(element, shape, order or range(len(shape)), out))


def as_it_is(r: Recorder, ref: ArrayRef) -> ArrayRef:
    """An array with the elements that another one has now; nothing is copied unless that one is stored to before they
    are read."""
    return ArrayRef(r.new_storage(ref.element, ref.shape, range(ref.ndim), r.read(ref)))


def k_order(a: ArrayRef) -> tuple[int, ...]:
    """The axes of a copy in K-order, outermost first: by falling strides, so that repeated axes come innermost
    (PyArray_CreateSortedStrideAxes; the order of elementwise results differs there). Of an array without elements all
    strides are 0. Axes of size 1 have no place of their own where the others are in C order."""
    longer = [(a.is_repeated(k), a.stride_rank(k) or ()) for k, n in enumerate(a.shape) if n != 1]
    if 0 in a.shape or longer == sorted(longer):
        return tuple(range(a.ndim))
    return tuple(sorted(range(a.ndim), key=lambda k: (a.is_repeated(k), a.stride_rank(k) or (), k)))


def numeric(r: Recorder, x: Any) -> Any:
    """A value that can be the elements of an array, a number or an array; UnsupportedError for anything else."""
    found = as_operand(r, x)
    if isinstance(found, (ArrayRef, Scalar, *NUMBERS)):
        return found
    raise r.refuse(f"a {type(x).__name__} where a number or an array is expected", "use a number: np.nan")


def filled_with(
    r: Recorder, shape: Sequence[Dim], element: ScalarType, value: Any, order: Sequence[int] | None = None
) -> ArrayRef:
    """A fresh array filled by the conversion of arrays, where NaN may become an int; a Python int must fit."""
    value = as_operand(r, value)
    if isinstance(value, ArrayRef):
        fresh = filled(r, shape, element, None, order)
        store_view(r, fresh, value)
        return fresh
    check_weak_int(r, value, INT if element is I1 else element.dtype)
    if isinstance(value, (bool, float, complex)) and not isinstance(value, np.generic):
        value = np.array([value])[0]
    return filled(r, shape, element, value, order)


def copy_of(r: Recorder, a: ArrayRef, element: ScalarType, order: Sequence[int]) -> ArrayRef:
    """A fresh array with the elements of `a`, converted: one pass over memory."""
    block_element = a.element
    out = r.empty(element, a.shape, order)
    block = Block([block_element, element])
    body = Body(block, r.loc)
    block.append(linalg.Yield.of([body.cast(block.args[0], element)], r.loc))
    maps = [linalg.identity_map(a.ndim)] * 2
    value = r.emit(linalg.Generic.of([r.read(a)], [out], maps, ["parallel"] * a.ndim, block))
    return ArrayRef(r.new_storage(element, a.shape, tuple(order), value))


def as_array(r: Recorder, a: Any, beside: np.dtype | None = None) -> ArrayRef:
    """An array argument: a number becomes an array without axes, a list or tuple the array of its items, as in
    NumPy; as an operand `beside` an array of this dtype, with which the result is of one dtype."""
    if isinstance(a, ArrayRef):
        return a
    if isinstance(a, range):
        if len(a) > MAX_RANGE:
            raise r.refuse(f"an array of a range of {len(a)} numbers", "np.arange(start, stop, step)")
        return array_of(r, list(a), int if a else float)
    if isinstance(a, (list, tuple)):
        return array_of(r, a, beside=beside)
    if not isinstance(a, (Scalar, *NUMBERS)) or (isinstance(a, NpScalar) and a.maybe_python):
        reason = f"a {name_of(a)} where an array is expected"
        raise r.refuse(reason, "list(d.values())" if isinstance(a, (dict, DictView)) else "pass an array")
    kind = weak_type(a)
    return filled(r, (), supported(np.dtype(kind), "the number", r.loc), a)


def as_operand(r: Recorder, x: Any, beside: np.dtype | None = None) -> Any:
    """An operand of an elementwise function: a list or tuple becomes an array."""
    return as_array(r, x, beside) if isinstance(x, (list, tuple, range)) else x


# -- arrays of items


MAX_WRITTEN = 1000
"""The most elements of an array that is made of items: each is a store."""


def array_of(
    r: Recorder, items: Any, dtype: Any = None, order: str = "K", beside: np.dtype | None = None
) -> ArrayRef:
    """The array of nested lists and tuples of numbers and arrays."""
    wanted = None if dtype is None else supported(ask(np.dtype, dtype), "the array", r.loc)  # objects take any shapes
    shape, parts = shape_of(r, items), parts_of(items)
    if len(parts) > MAX_WRITTEN:
        raise r.refuse(f"an array of {len(parts)} numbers is written out", "make it outside, or store in a loop")
    unsure = [x for _, x in parts if isinstance(x, NpScalar) and x.python is not None]
    sure = [x for _, x in parts if not any(x is y for y in unsure)]
    certain = [x.dtype if isinstance(x, ArrayRef) else np.array(concrete(x)).dtype for x in sure]
    if wanted is None and beside is not None and all(is_taken_in([beside], x) for x in unsure) and unsure:
        certain.append(beside)
        wanted = supported(np.result_type(*certain), "the array", r.loc)
    elif wanted is not None or not all(is_taken_in(certain, x) for x in unsure):
        check_origin(r, *unsure)
    examples = [np.ones((), x.dtype)[()] if isinstance(x, ArrayRef) else concrete(x) for _, x in parts]
    element = wanted or supported(ask(np.array, examples or [0.0]).dtype, "the array", r.loc)
    result = filled(r, shape, element, None, range(len(shape))[::-1] if order == "F" else None)
    for place, x in parts:
        if isinstance(x, ArrayRef):
            store_view(r, result.at(dict(enumerate(place))), x)
            continue
        check_number(r, x, result, as_array=not place)
        r.store_element(result, place, scalar_value(r, x, element))
    return result


def is_taken_in(certain: Sequence[np.dtype], x: NpScalar) -> bool:
    """Whether the dtype of an array with items of these dtypes is the same whether a number is Python's or NumPy's."""
    found = {np.array(o).dtype for o in origins(x)}
    if len(found) == 1 or not certain:
        return len(found) == 1
    base = functools.reduce(np.promote_types, certain)
    return base.kind in "fc" and all(np.promote_types(base, other) == base for other in found)


def shape_of(r: Recorder, items: Any) -> tuple[Dim, ...]:
    """The shape of nested lists and tuples; ValueError where they differ, with NumPy's text."""
    shapes = list(dict.fromkeys(shapes_in(r, items)))
    shape = shapes[0]
    for axis in range(max(map(len, shapes))):
        known, values = shape_text([shape[:axis]], ", ")
        message = (
            "setting an array element with a sequence. The requested array has an inhomogeneous shape after "
            f"{axis} dimensions. The detected shape was {known} + inhomogeneous part."
        )
        for other in shapes[1:]:
            if len(shape) <= axis or len(other) <= axis:
                r.fail("ValueError", message, values)
            r.require_equal(shape[axis], other[axis], "ValueError", message, values)
    return shape


def shapes_in(r: Recorder, items: Any) -> list[tuple[Dim, ...]]:
    """The shapes that nested lists and tuples would have by each item in them; they have one if these are alike."""
    if isinstance(items, (list, tuple)):
        inner = dict.fromkeys(shape for item in items for shape in shapes_in(r, item))
        return [(len(items), *shape) for shape in inner or [()]]
    if isinstance(items, ArrayRef):
        return [items.shape]
    if isinstance(items, (Scalar, *NUMBERS)):
        return [()]
    raise r.refuse(f"a {name_of(items)} among an array's items", "use numbers")


def parts_of(items: Any, place: tuple[int, ...] = ()) -> list[tuple[tuple[int, ...], Any]]:
    """The numbers and arrays in nested lists and tuples, each with its indices."""
    if not isinstance(items, (list, tuple)):
        return [(place, items)]
    return [part for k, x in enumerate(items) for part in parts_of(x, (*place, k))]


def strong(r: Recorder, x: Any) -> Any:
    """An operand converted to an array first, so that Python's numbers are not weak."""
    if isinstance(x, (PyInt, PyFloat, PyComplex, PyBool, *NUMBERS)) and not isinstance(x, np.generic):
        element = scalar_type(np.dtype(weak_type(x)))
        return NpScalar(scalar_value(r, x, element), element)
    if isinstance(x, NpScalar) and x.python is not None:
        on_all_paths([x], np.dtype, r.loc)
        return NpScalar(x.value, x.element)
    return x if isinstance(x, (NpScalar, np.generic)) else as_array(r, x)
