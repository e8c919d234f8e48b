"""How the tracer finds what traces a call: the tables of record/registry, which the modules below fill.

To add a NumPy function: write a handler `(r, *args, **kwargs)` with NumPy's own parameter names in the room of its
subject, decorate it with `@traces(np.f)`, and test it against eager in tests/functions. If it can be written in terms
of other functions, write a formula (functions/formulas); a ufunc needs no handler (numbers/ufuncs), its `out=` and
`where=` are in ufunc_calls.
"""

from __future__ import annotations

import cmath
import math
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.arrays import as_strided, complex_views, creation, shapes
from tracebuf.frontends.numpy.arrays.reshape import FlatIterator
from tracebuf.frontends.numpy.functions import inspection, memory, namespaces, whole_arrays
from tracebuf.frontends.numpy.functions.formulas import (
    as_written,
    bits,
    joining,
    logic,
    lookup,
    mapping,
    padding,
    primitives,
    sequences,
    statistics,
    transforms,
)
from tracebuf.frontends.numpy.functions.formulas import histograms as formula_histograms
from tracebuf.frontends.numpy.functions.formulas import products as formula_products
from tracebuf.frontends.numpy.functions.formulas import vectors as formula_vectors
from tracebuf.frontends.numpy.functions.host import (
    declared,
    extremes,
    fft,
    histograms,
    least_squares,
    left_to_numpy,
    linalg,
    scipys,
    sorting,
)
from tracebuf.frontends.numpy.functions.indices import picking, sorted_indices
from tracebuf.frontends.numpy.functions.joining import stacking
from tracebuf.frontends.numpy.functions.parameters import taken_arguments
from tracebuf.frontends.numpy.functions.products import convolutions, einsum, matmul, vectors
from tracebuf.frontends.numpy.functions.python import builtins, types
from tracebuf.frontends.numpy.functions.python import cmath as cmath_functions
from tracebuf.frontends.numpy.functions.python import math as math_functions
from tracebuf.frontends.numpy.functions.reductions import aggregates
from tracebuf.frontends.numpy.functions.ufunc_calls import call_method, call_ufunc
from tracebuf.frontends.numpy.numbers import longlongs
from tracebuf.frontends.numpy.numbers.lattice import check_one_type
from tracebuf.frontends.numpy.numbers.python_complex import part_of
from tracebuf.frontends.numpy.numbers.python_ints import as_int_value, bool_as_int
from tracebuf.frontends.numpy.numbers.scalars import binary
from tracebuf.frontends.numpy.numbers.special import is_traceable
from tracebuf.frontends.numpy.record.each_path import WRITERS, on_each_path, stores
from tracebuf.frontends.numpy.record.judged import for_plain_arrays, judged, method, numpys_error
from tracebuf.frontends.numpy.record.raises import Raises, call_as, call_handler
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.registry import (
    FORMULAS,
    HANDLERS,
    METHODS,
    NUMBER_METHODS,
    PRIMITIVES,
    Handler,
    late_handler,
)
from tracebuf.frontends.numpy.record.scalar_checks import as_reached, static_flags, unknown_origin
from tracebuf.frontends.numpy.record.values import (
    NUMBERS,
    ArrayRef,
    NpScalar,
    PyBool,
    PyComplex,
    PyInt,
    Scalar,
    stand_in,
)
from tracebuf.frozen import frozen
from tracebuf.ir.dims import Dim, mul

MODULES = (
    as_strided, complex_views, creation, shapes, aggregates, picking, sorted_indices, stacking, extremes, fft,
    least_squares, left_to_numpy, linalg, scipys, sorting, histograms, declared, convolutions, einsum, matmul, vectors,
    builtins, cmath_functions, math_functions, types, whole_arrays, as_written, bits, joining, logic, lookup, mapping,
    padding, primitives, formula_histograms, formula_products, formula_vectors, sequences, statistics, transforms,
    inspection, namespaces,
)  # fmt: skip
"""The modules that fill the tables when they are imported; those that these import do too."""


@frozen(eq=False, slots=False)
class ScalarMethod:
    """A bound method of a traced number."""

    number: Scalar
    name: str


PURE = {
    tuple, list, set, frozenset, range, slice, np.dtype, str, sorted, all, any, float.is_integer, np.can_cast,
    np.isdtype, np.issubdtype, np.promote_types, np.finfo, np.iinfo, np.lib.NumpyVersion,
    np.mintypecode, re.compile, re.escape, re.findall, re.fullmatch, re.match, re.search, re.split, re.sub,
}  # fmt: skip
"""Functions and classes that are called as they are, on values known while tracing."""
PURE_METHODS = (bool, int, float, complex, re.Pattern, re.Match)
"""Classes whose objects have such methods."""


def is_info(kind: type) -> bool:
    """Whether a class is NumPy's `__array_namespace_info__`, or that of array_api_compat in its place."""
    return kind.__name__ == "__array_namespace_info__" and kind.__module__ == "numpy"


def call_array_method(r: Recorder, a: ArrayRef, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """`a.name(...)`, by `METHODS`."""
    kwargs = for_plain_arrays(r, method(name), (a, *args), kwargs)
    handler = METHODS[name]
    given, named = taken_arguments(r, getattr(np.ndarray, name), handler, (a, *args), kwargs, bound=True)
    return call_judged(method(name), handler, r, given, named)


def call_judged(
    function: Callable[..., Any], handler: Handler, r: Recorder, args: Sequence[Any], kwargs: dict[str, Any]
) -> Any:
    """The result of a handler of NumPy's function; NumPy is the judge of what the handler raises or refuses."""
    out = kwargs.get("out")
    first = args[:1] if handler in WRITERS else ()
    written = [*first, *(out if isinstance(out, tuple) else [out])]

    def on_path(to: list[Any], read: list[Any]) -> None:
        outs = tuple(to[len(first) :]) if isinstance(out, tuple) else to[-1]
        named = {**dict(zip(kwargs, read[len(args) :])), **({} if out is None else {"out": outs})}
        call_judged(function, handler, r, [*to[: len(first)], *read[len(first) : len(args)]], named)

    if on_each_path(r, written, [*args, *kwargs.values()], on_path):
        return out if not isinstance(out, tuple) or len(out) > 1 else out[0]
    return by_numpy(function, r, args, kwargs, lambda: call_handler(handler, r, *args, **kwargs))


def by_numpy(
    function: Callable[..., Any], r: Recorder, args: Sequence[Any], kwargs: dict[str, Any], run: Callable[[], Any]
) -> Any:
    """What `run` returns, the handler or formula of a call of NumPy's function; NumPy judges what it raises."""
    try:
        return run()
    except Raises as said:
        raise judged(r, function, args, kwargs, said) from None
    except UnsupportedError:
        if (error := numpys_error(r, function, args, kwargs)) is not None:
            raise Raises(error) from None
        raise


def attribute(r: Recorder, x: Any, name: str) -> Any:
    """x.name for a traced x: a data attribute, or NotImplemented for a method or an unknown name."""
    if name == "__class__" and not (isinstance(x, NpScalar) and x.maybe_python):
        longlongs.check_answer(r, type, x, "a class")
        return inspection.class_of(x)
    if isinstance(x, ArrayRef):
        if name == "shape":
            return tuple(as_int_value(d) for d in x.shape)
        if name == "size":
            size: Dim = 1
            for d in x.shape:
                size = mul(size, d)
            return as_int_value(size)
        if name == "nbytes":
            return binary(r, "Mult", attribute(r, x, "size"), x.dtype.itemsize)
        if name == "T":
            return shapes.transpose(r, x)
        if name == "mT":
            if x.ndim < 2:
                raise Raises(ValueError("matrix transpose with ndim < 2 is undefined"))
            return shapes.matrix_transpose(r, x)
        if name in ("real", "imag"):
            return complex_views.part(r, x, name)
        if name == "flat":
            return FlatIterator(r, x)
        if name == "flags":
            return inspection.Flags(x)
        if name == "strides":
            return inspection.strides(r, x)
        if name == "base":
            return memory.base(r, x)
        if name == "data":
            return memory.Memory(x)
        simple = {"ndim": x.ndim, "dtype": x.dtype, "itemsize": x.dtype.itemsize, "device": "cpu"}
        return simple.get(name, NotImplemented)
    if isinstance(x, NpScalar) and name in ("dtype", "ndim", "shape", "size", "itemsize", "nbytes", "strides"):
        dtype = x.element.dtype
        of_size = {"size": 1, "itemsize": dtype.itemsize, "nbytes": dtype.itemsize, "strides": ()}
        return {"dtype": dtype, "ndim": 0, "shape": (), **of_size}[name]
    if isinstance(x, NpScalar) and name == "T" and x.python is None:
        return x
    if isinstance(x, Scalar) and hasattr(type(stand_in(x)), name):
        if isinstance(x, NpScalar) and x.python is not None and x.python.kind == "bool":
            raise unknown_origin(r.loc)  # a bool's parts are ints, a NumPy bool's are not
        if name in ("real", "imag"):
            if isinstance(x, PyComplex) or (isinstance(x, NpScalar) and x.element.is_complex):
                return part_of(r, x, name)
            return complex_views.no_imaginary_part(r, x) if name == "imag" else bool_as_int(r, x)
        if isinstance(x, PyBool) and name in ("numerator", "denominator"):
            return bool_as_int(r, x) if name == "numerator" else 1
        if isinstance(x, PyInt) and name in ("numerator", "denominator"):
            return x if name == "numerator" else 1
        if name in NUMBER_METHODS:
            return ScalarMethod(x, name)
    return NotImplemented


def is_pure(function: Any) -> bool:
    """Whether a function may be called while tracing, on plain values: it has no effects, and no randomness
    (rule F2)."""
    if isinstance(function, np.ufunc) or getattr(function, "__module__", None) in (math.__name__, cmath.__name__):
        return True
    of = getattr(function, "__self__", None)
    if isinstance(of, np.number | np.bool_) or type(of) in PURE_METHODS or is_info(type(of)):
        return True
    if isinstance(function, type) and (issubclass(function, (*NUMBERS, tuple, list, Exception)) or is_info(function)):
        return True
    try:
        return function in PURE
    except TypeError:
        return False


@as_reached
def call_known(r: Recorder, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """A call of a known function; NotImplemented for one that is not known."""
    handler = handler_of(function)
    if handler or is_pure(function):
        check_one_type(r, *args, *kwargs.values())
    odd = next((x for x in (*args, *kwargs.values()) if isinstance(x, FlatIterator)), None)
    if handler is not None and odd is not None and function not in (len, isinstance):
        odd.refuse()
    if handler is None:
        return NotImplemented
    if isinstance(function, ScalarMethod):
        made = call_handler(handler, r, *args, **static_flags(r, kwargs))
        return of_the_number(r, function.number, made, args, kwargs)
    args, kwargs = taken_arguments(r, function, handler, args, kwargs)
    if is_of_numpy(function):
        made = call_judged(function, handler, r, args, kwargs)
        of_method = bool(args) and getattr(function, "__name__", "") in METHODS_OF_NUMBERS
        return of_the_number(r, args[0], made, args[1:], kwargs) if of_method else made
    return call_as(function, handler, (r,), args, kwargs)


METHODS_OF_NUMBERS = frozenset((
    "round", "around", "clip", "take", "sum", "prod", "max", "amax", "min", "amin", "any", "all", "mean", "std", "var",
    "argmax", "argmin", "choose",
))  # fmt: skip
"""Functions that call the method of their first argument."""


def of_the_number(r: Recorder, number: Any, made: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """What the method of a number of NumPy's gives: a number, also where its output is an array without axes."""
    outputs = (*args, kwargs.get("out"))
    if not isinstance(made, ArrayRef) or made.ndim or not any(made is out for out in outputs):
        return made
    if not isinstance(number, (NpScalar, np.generic)):
        return made
    if isinstance(number, NpScalar) and number.maybe_python:
        raise unknown_origin(r.loc)
    return NpScalar(r.load(made, ()), made.element)


def is_of_numpy(function: Any) -> bool:
    """Whether a function, class or ufunc is one of NumPy's."""
    of = getattr(function, "__self__", function)
    return isinstance(of, np.ufunc) or (getattr(function, "__module__", None) or "").partition(".")[0] == "numpy"


def is_numpys(ufunc: np.ufunc) -> bool:
    """Whether a ufunc is one of NumPy's own, which is called by its name."""
    return getattr(np, ufunc.__name__, None) is ufunc


def handler_of(function: Any) -> Handler | None:
    """The handler of a function or ufunc; None for one that is not known."""
    if isinstance(function, ScalarMethod):
        method = NUMBER_METHODS[function.name]
        return lambda r, *args, **kwargs: call_handler(method, r, function.number, *args, **kwargs)
    if isinstance(function, np.ufunc):
        return handler_of_ufunc(function) if is_numpys(function) or is_traceable(function) else None
    if isinstance(ufunc := getattr(function, "__self__", None), np.ufunc):
        if not is_numpys(ufunc) and not (function.__name__ == "outer" and is_traceable(ufunc)):
            return None
        if function.__name__ == "at":
            return stores(lambda r, *args: call_handler(picking.ufunc_at, r, ufunc, *args))
        return lambda r, *args, **kwargs: call_handler(call_method, r, ufunc, function.__name__, args, kwargs)
    try:
        return HANDLERS.get(function) or PRIMITIVES.get(function) or late_handler(function)
    except TypeError:
        return None


@lru_cache(maxsize=256)
def handler_of_ufunc(ufunc: np.ufunc) -> Handler:
    """The handler of a call of a ufunc: one for each, of which it is known once what it takes."""
    return lambda r, *args, **kwargs: call_handler(call_ufunc, r, ufunc, args, kwargs)


def formula_of(function: Any) -> Callable[..., Any] | None:
    """The formula that a NumPy function is traced as; None if it has none."""
    try:
        return FORMULAS.get(function)
    except TypeError:
        return None
