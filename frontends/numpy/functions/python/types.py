"""Python's questions about any value, and NumPy's types as conversions: len, isinstance, type, slice, np.float64(x)."""

from __future__ import annotations

from abc import ABCMeta
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays import memmaps
from tracebuf.frontends.numpy.arrays.indexing import check_int_of
from tracebuf.frontends.numpy.arrays.new_arrays import element_of
from tracebuf.frontends.numpy.arrays.reshape import FlatIterator, as_array_function, order_of
from tracebuf.frontends.numpy.functions.python.cmath import to_complex
from tracebuf.frontends.numpy.numbers import longlongs
from tracebuf.frontends.numpy.numbers.operands import as_number, scalar_value, weak_type
from tracebuf.frontends.numpy.numbers.python_ints import as_int_value
from tracebuf.frontends.numpy.numbers.scalars import concrete
from tracebuf.frontends.numpy.record.callees import Buffer, Caught, Drawer, MadeError, NoneArray, Untold
from tracebuf.frontends.numpy.record.heap import DictView, Record, without_methods
from tracebuf.frontends.numpy.record.raises import Raises, ask, asking
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.registry import traces
from tracebuf.frontends.numpy.record.scalar_checks import by_origin, check_origin, unknown_origin
from tracebuf.frontends.numpy.record.slices import SliceOf, as_value
from tracebuf.frontends.numpy.record.values import (
    ArrayRef,
    NpScalar,
    PyBool,
    PyFloat,
    PyInt,
    Scalar,
    is_traced,
    stand_in,
)
from tracebuf.ir.types import F64, SUPPORTED_DTYPES, scalar_type


@traces(slice)
def slice_of(r: Recorder, *bounds: Any) -> slice | SliceOf:
    """slice(...), whose bounds may be traced."""
    with asking:
        return as_value(slice(*bounds))  # type: ignore[no-any-return]


@traces(len)
def length(r: Recorder, x: Any) -> Any:
    """len(x)."""
    if isinstance(x, ArrayRef):
        if not x.ndim:
            raise Raises(TypeError("len() of unsized object"))
        return as_int_value(x.shape[0])
    if isinstance(x, FlatIterator):
        return as_int_value(x.size)
    if isinstance(x, Scalar):
        raise Raises(TypeError(f"object of type '{type(stand_in(x)).__name__}' has no len()"))
    return ask(len, x.of if isinstance(x, DictView) else x)


@traces(isinstance)
def isinstance_of(r: Recorder, x: Any, kinds: Any) -> bool | PyBool:
    """isinstance(x, kinds), by the type that x has in eager Python."""
    kinds = without_methods(kinds)
    longlongs.check_answer(r, lambda like: ask(isinstance, like, kinds), x, "isinstance")
    if isinstance(x, NpScalar) and x.maybe_python:
        return by_origin(r, x, lambda number: ask(isinstance, number, kinds))
    if isinstance(x, (Drawer, Buffer)) or (isinstance(x, Untold) and x.recipe is not None):
        return ask(issubclass, x.kind, kinds)
    if isinstance(x, Caught):
        return x.is_a(r, kinds)
    if isinstance(x, MadeError):
        return ask(issubclass, x.function, kinds)
    if isinstance(x, Record):
        for kind in kinds if isinstance(kinds, tuple) else (kinds,):
            says = getattr(type(kind), "__instancecheck__", None)
            if isinstance(kind, type) and says not in (type.__instancecheck__, ABCMeta.__instancecheck__):
                reason = f"{kind.__name__} has an `__instancecheck__` of its own"
                raise r.refuse(reason, "ask what it asks, or compare type(x)")
        return ask(issubclass, x.kind, kinds)
    like: Any = x
    if isinstance(x, ArrayRef):
        like = np.empty((0,) * x.ndim, x.dtype)
        if r.maps is not None:
            memmaps.check_class(r, "the class", ask(isinstance, like, kinds), ask(issubclass, np.memmap, kinds))
    elif isinstance(x, Scalar):
        like = stand_in(x)
    elif isinstance(x, NoneArray):
        like = np.array(None)
    return ask(isinstance, like, kinds)


def cast_scalar(dtype: np.dtype, r: Recorder, x: Any = 0, *more: Any) -> Any:
    """np.float64(x), np.int32(x) ..."""
    if more:
        if not any(map(is_traced, (x, *more))):
            return ask(dtype.type, x, *more)
        ask(dtype.type, concrete(x), *map(concrete, more))  # raises what NumPy raises
        x = to_complex(r, x, *more)
    if isinstance(x, (tuple, list)):
        raise r.refuse(f"np.{dtype} of a list or tuple", f"np.array(x, np.{dtype})")
    if not is_traced(x):
        return ask(dtype.type, x)
    if isinstance(x, ArrayRef) and x.ndim:
        return as_array_function(r, x, dtype)
    x = as_number(r, x)
    if isinstance(x, NpScalar) and x.maybe_python and x.element is not F64:
        raise unknown_origin(r.loc)
    element = scalar_type(dtype)
    if weak_type(x) is complex and dtype.kind not in "bc":
        kind, texts = ("float", "a string") if element.is_float else ("int", "a string, a bytes-like object")
        raise Raises(TypeError(f"{kind}() argument must be {texts} or a real number, not 'complex'"))
    if element.is_integer and isinstance(x, (PyInt, PyFloat)):
        check_int_of(r, x, element)
    return NpScalar(scalar_value(r, x, element), element)


for dtype in SUPPORTED_DTYPES:
    traces(dtype.type, of=dtype)(cast_scalar)


@traces(number="astype")
def astype_of_number(
    r: Recorder, x: NpScalar, dtype: Any, order: Any = "K", casting: Any = "unsafe", subok: Any = True, copy: Any = True
) -> Any:
    """`x.astype(dtype)` of a NumPy scalar."""
    element = element_of(r, dtype)
    order_of(order, "CFAK")
    if not ask(np.can_cast, x.element.dtype, element.dtype, casting):
        text = f"from {x.element.dtype!r} to {element.dtype!r} according to the rule {casting!r}"
        raise Raises(TypeError(f"Cannot cast scalar {text}"))
    return cast_scalar(element.dtype, r, x)


@traces(type)
def type_of(r: Recorder, x: Any, *rest: Any) -> Any:
    """type(x), by the type that x has in eager Python."""
    check_origin(r, x)
    longlongs.check_answer(r, type, x, "a class")
    if isinstance(x, FlatIterator):
        x.refuse()
    if isinstance(x, ArrayRef):
        memmaps.check_class(r, "the class", False, True)
    if isinstance(x, NoneArray):
        return np.ndarray
    if isinstance(x, (Record, Drawer, Buffer)) or (isinstance(x, Untold) and x.recipe is not None):
        return x.kind
    if isinstance(x, Caught):
        return x.exact_class(r)
    if isinstance(x, MadeError):
        return x.function
    return ask(type, x, *rest) if rest or not is_traced(x) else type(concrete(x))
