"""The table of functions that the tracer knows, keyed by the callee itself (rule X1), so that every spelling finds its
handler.

To add a NumPy function: write a handler `(r, *args, **kwargs)` with NumPy's own parameter names in the room of its
subject, put it into that file's `FUNCTIONS` (and `METHODS` under the method's name), which `HANDLERS` and `METHODS`
here collect, and test it against eager in tests/functions. If it can be written in terms of other functions, write a
formula (functions/formulas); a ufunc needs no handler (numbers/ufuncs), its `out=` and `where=` are in ufunc_calls.
"""

from __future__ import annotations

import cmath
import math
from abc import ABCMeta
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.arrays import complex_views, creation, shapes
from tracebuf.frontends.numpy.arrays.axes import own_axes_of
from tracebuf.frontends.numpy.arrays.indexing import check_int_of, check_number, require_one_element, store_view
from tracebuf.frontends.numpy.arrays.new_arrays import (
    as_array,
    as_operand,
    copy_of,
    element_of,
    filled,
    filled_with,
    k_order,
    numeric,
    only,
    shape_arg,
)
from tracebuf.frontends.numpy.arrays.reshape import FlatIterator, as_array_function, is_dense, is_fortran, order_of
from tracebuf.frontends.numpy.call.host_call import host_call
from tracebuf.frontends.numpy.functions.formulas import FORMULAS, primitives
from tracebuf.frontends.numpy.functions.host import table as host_table
from tracebuf.frontends.numpy.functions.host.declared import traced_host_call
from tracebuf.frontends.numpy.functions.indices import picking, sorted_indices
from tracebuf.frontends.numpy.functions.joining import stacking
from tracebuf.frontends.numpy.functions.parameters import check_parameters
from tracebuf.frontends.numpy.functions.products import convolutions, covariance, einsum, vectors
from tracebuf.frontends.numpy.functions.products import matmul as products
from tracebuf.frontends.numpy.functions.python.builtins import HANDLERS as PYTHON
from tracebuf.frontends.numpy.functions.python.builtins import (
    bit_length,
    is_integer,
    item,
    number_item,
    python_number,
    round_array,
)
from tracebuf.frontends.numpy.functions.python.cmath import HANDLERS as CMATH
from tracebuf.frontends.numpy.functions.python.cmath import conjugate, to_complex
from tracebuf.frontends.numpy.functions.python.math import HANDLERS as MATH
from tracebuf.frontends.numpy.functions.reductions import aggregates
from tracebuf.frontends.numpy.functions.ufunc_calls import call_method, call_ufunc
from tracebuf.frontends.numpy.numbers.bodies import Body
from tracebuf.frontends.numpy.numbers.generics import build
from tracebuf.frontends.numpy.numbers.lattice import Choice, path_dependent
from tracebuf.frontends.numpy.numbers.operands import (
    Operand,
    common_dtype,
    mask_of,
    on_all_paths,
    out_of,
    scalar_value,
    supported,
    weak_type,
)
from tracebuf.frontends.numpy.numbers.python_complex import part_of
from tracebuf.frontends.numpy.numbers.python_ints import as_int_value, bool_as_int, int_expr
from tracebuf.frontends.numpy.numbers.scalars import binary, concrete
from tracebuf.frontends.numpy.numbers.ufuncs import elementwise
from tracebuf.frontends.numpy.record.each_path import WRITERS, on_each_path, stores
from tracebuf.frontends.numpy.record.heap import DictView, Record, without_methods
from tracebuf.frontends.numpy.record.judged import for_plain_arrays, judged, method, numpys_error
from tracebuf.frontends.numpy.record.raises import Raises, ask, asking, call_handler
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.scalar_checks import as_reached, static_flags, unknown_origin
from tracebuf.frontends.numpy.record.values import (
    EITHER,
    NUMBERS,
    ArrayRef,
    NpScalar,
    PyBool,
    PyComplex,
    PyFloat,
    PyInt,
    Scalar,
    is_traced,
    stand_in,
)
from tracebuf.frozen import frozen
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, dim_max, dim_min, mul, sub
from tracebuf.ir.types import F64, I1, SUPPORTED_DTYPES, scalar_type
from tracebuf.ops.arrays import linalg
from tracebuf.ops.scalars import arith
from tracebuf.running.ufuncs import ufunc_named

NO_VALUE = np._NoValue


def axes_in(r: Recorder, order: Any, ndim: int, like: ArrayRef | None = None) -> tuple[int, ...]:
    """The axes of a fresh array, outermost first, by its `order=` and (for "K" and "A") the array it is modelled on."""
    order = order_of("C" if order is None else order, "CF" if like is None else "CFAK")
    if order == "K" and like is not None and like.ndim == ndim:
        return k_order(like)
    if order == "A" and like is not None:
        order = "F" if is_fortran(r, like) else "C"
    return tuple(range(ndim))[:: -1 if order == "F" else 1]


def layout_like(r: Recorder, a: ArrayRef, shape: Any, order: Any) -> tuple[tuple[Dim, ...], tuple[int, ...]]:
    """(sizes, axes outermost first) of an array modelled on another, of its shape or a given one."""
    sizes = a.shape if shape is None else shape_arg(r, shape)
    if shape is not None and order == "K" and len(sizes) == a.ndim > 1:
        if is_dense(r, a, range(a.ndim)) or is_dense(r, a, range(a.ndim)[::-1]):
            order = "A"
        elif 1 in a.shape:  # in NumPy their strides decide too
            what = "another shape for an array like one that is not contiguous and has an axis of size 1"
            raise r.refuse(what, 'order="C"')
    return sizes, axes_in(r, order, len(sizes), a)


def _creator(value: float | None) -> Callable[..., ArrayRef]:
    """The handler of np.zeros, np.ones or np.empty."""

    def create(
        r: Recorder, shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None
    ) -> ArrayRef:
        only(r, "this array", device=(device, None), like=(like, None))
        sizes = shape_arg(r, shape)
        element = element_of(r, float if dtype is None else dtype)
        return filled(r, sizes, element, value, axes_in(r, order, len(sizes)))

    return create


def _creator_like(value: float | None) -> Callable[..., ArrayRef]:
    """The handler of np.zeros_like, np.ones_like or np.empty_like."""

    def create(
        r: Recorder,
        a: Any,
        dtype: Any = None,
        order: str = "K",
        subok: bool = True,
        shape: Any = None,
        *,
        device: Any = None,
    ) -> ArrayRef:
        only(r, "this array", device=(device, None))
        a = as_array(r, a)
        sizes, axes = layout_like(r, a, shape, order)
        return filled(r, sizes, a.element if dtype is None else element_of(r, dtype), value, axes)

    return create


def ndarray(
    r: Recorder,
    shape: Any,
    dtype: Any = float,
    buffer: Any = None,
    offset: Any = 0,
    strides: Any = None,
    order: Any = None,
) -> ArrayRef:
    """np.ndarray(shape, dtype): an array of undefined contents, as np.empty."""
    only(r, "np.ndarray", buffer=(buffer, None), offset=(offset, 0), strides=(strides, None))
    created: ArrayRef = _creator(None)(r, shape, dtype, "C" if order is None else order)
    return created


def full(r: Recorder, shape: Any, fill_value: Any, dtype: Any = None, order: str = "C") -> ArrayRef:
    sizes, fill_value = shape_arg(r, shape), numeric(r, fill_value)
    element = element_of(r, on_all_paths([fill_value], np.result_type, r.loc) if dtype is None else dtype)
    return filled_with(r, sizes, element, fill_value, axes_in(r, order, len(sizes)))


def full_like(
    r: Recorder,
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
) -> ArrayRef:
    ref = as_array(r, a)
    element = ref.element if dtype is None else element_of(r, dtype)
    sizes, axes = layout_like(r, ref, shape, order)
    return filled_with(r, sizes, element, numeric(r, fill_value), axes)


def copy_method(r: Recorder, a: ArrayRef, order: str = "C") -> ArrayRef:
    return copy_of(r, a, a.element, axes_in(r, order, a.ndim, a))


def copy_function(r: Recorder, a: Any, order: str = "K", subok: bool = False) -> ArrayRef:
    return copy_method(r, as_array(r, a), order)


def astype(
    r: Recorder,
    a: ArrayRef,
    dtype: Any,
    order: str = "K",
    casting: str = "unsafe",
    subok: bool = True,
    copy: bool = True,
) -> ArrayRef:
    only(r, "astype", order=(order, "K"), casting=(casting, "unsafe"))
    element = element_of(r, dtype)
    if copy is False and element is a.element:
        return a
    return copy_of(r, a, element, k_order(a))


def where(r: Recorder, condition: Any, x: Any = NO_VALUE, y: Any = NO_VALUE) -> Any:
    """np.where; with one argument, np.nonzero."""
    if x is NO_VALUE and y is NO_VALUE:
        return picking.nonzero_function(r, condition)
    if x is NO_VALUE or y is NO_VALUE:
        raise Raises(ValueError("either both or neither of x and y should be given"))
    condition, x, y = (numeric(r, v) for v in (condition, x, y))
    element = supported(on_all_paths([x, y], common_dtype, r.loc), "np.where", r.loc)
    x, y = (np.array([v])[0] if type(v) is int else v for v in (x, y))  # arrays first: an int that does not fit wraps

    def select(body: Body, args: list[Value]) -> Value:
        return body.add(
            arith.Select.of(body.cast(args[0], I1), body.cast(args[1], element), body.cast(args[2], element))
        )

    result = build(r, select, [condition, x, y], [I1, element, element], element)
    if isinstance(result, NpScalar):  # np.where always gives an array
        out = r.emit(linalg.Fill.of(result.value, r.empty(element, ())))
        return ArrayRef(r.new_storage(element, (), (), out))
    return result


np_where = where  # its own name where a parameter is called `where`


def clip(
    r: Recorder, a: Any, a_min: Any = NO_VALUE, a_max: Any = NO_VALUE, out: Any = None, *, min: Any = NO_VALUE,
    max: Any = NO_VALUE,
) -> Any:  # fmt: skip
    """np.clip: by the ufunc of that name, or by np.maximum or np.minimum for one bound."""
    if a_min is NO_VALUE and a_max is NO_VALUE:
        low, high = (None if x is NO_VALUE else x for x in (min, max))
    elif a_min is NO_VALUE or a_max is NO_VALUE:
        missing = "a_min" if a_min is NO_VALUE else "a_max"
        raise Raises(TypeError(f"clip() missing 1 required positional argument: '{missing}'"))
    elif min is not NO_VALUE or max is not NO_VALUE:
        raise Raises(
            ValueError("Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden.")
        )
    else:
        low, high = a_min, a_max
    into = out_of(r, out)
    a, low, high = (as_operand(r, v) for v in (a, low, high))
    low, high = (clip_bound(r, a, bound, side) for side, bound in enumerate((low, high)))
    if low is None and high is None:
        return elementwise(r, np.positive, [a], into)
    if low is None or high is None:
        return elementwise(r, np.minimum if low is None else np.maximum, [a, high if low is None else low], into)
    return elementwise(r, ufunc_named("clip"), [a, low, high], into)


def clip_method(r: Recorder, a: ArrayRef, min: Any = None, max: Any = None, out: Any = None) -> Any:
    return clip(r, a, out=out, min=min, max=max)


def clip_bound(r: Recorder, a: Any, bound: Any, side: int) -> Any:
    """A bound of np.clip; a Python int that no element of an integer array is beyond counts as no bound (rule N1)."""
    dtype = weak_type(a)
    if not isinstance(dtype, np.dtype) or dtype.kind not in "iu" or (e := int_expr(bound)) is None:
        return bound
    limit = scalar_type(dtype).bounds[side]
    beyond = r.ask_nonneg(sub(e, limit) if side else sub(limit, e))
    if beyond is None:
        return as_int_value(r.facts.simplify((dim_min if side else dim_max)(e, limit)))
    return None if beyond else bound


@stores
def fill_method(r: Recorder, a: ArrayRef, value: Operand) -> None:
    r.check_writable(a)
    found = numeric(r, value)
    require_one_element(r, a.element, found, isinstance(found, ArrayRef) and found is not value)
    store_view(r, a, found)


@stores
def copyto(r: Recorder, dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """np.copyto: a store that converts within a kind only; Python's ints may be stored into any integers that hold
    them."""
    only(r, "np.copyto", casting=(casting, "same_kind"))
    if not isinstance(dst, ArrayRef):
        raise Raises(TypeError(f"copyto() argument 1 must be a numpy.ndarray, not {type(concrete(dst)).__name__}"))
    if isinstance(weak_type(where), type):
        raise r.refuse("np.copyto where a number says so", "where=x != 0")
    mask = mask_of(r, where)
    if isinstance(mask, ArrayRef) and mask.ndim > dst.ndim:
        r.fail("ValueError", "could not broadcast where mask into the shape of the array")
    if weak_type(src) is int and dst.element.is_integer:
        check_number(r, src, dst)
    r.check_writable(dst)
    source = creation.asarray(r, src) if isinstance(src, (list, tuple)) else src
    kind = weak_type(source)
    if kind is not int or not dst.element.is_integer:
        if not np.can_cast(given := np.dtype(kind), dst.dtype, "same_kind"):
            raise Raises(TypeError(f"Cannot cast {given!r} to {dst.dtype!r} according to the rule 'same_kind'"))
        source = as_array(r, source)  # converted as arrays are: no check that numbers fit
    else:
        check_number(r, source, dst)
    if mask is not None:
        source = np_where(r, mask, astype(r, as_array(r, source), dst.dtype), dst)
    store_view(r, dst, source)


def size_of(r: Recorder, a: Any, axis: Any = None) -> Any:
    """np.size: the number of elements, or the product of some sizes."""
    ref = as_array(r, a)
    total: Dim = 1
    for k in own_axes_of(r, axis, ref.ndim):
        total = mul(total, ref.shape[k])
    return as_int_value(total)


# -- Python's builtins
def slice_of(r: Recorder, *bounds: Any) -> slice:
    """slice(...), whose bounds may be traced."""
    with asking:
        return slice(*bounds)


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


def isinstance_of(r: Recorder, x: Any, kinds: Any) -> bool:
    """isinstance(x, kinds), by the type that x has in eager Python."""
    kinds = without_methods(kinds)
    if isinstance(x, NpScalar) and x.maybe_python:
        zero = x.element.dtype.type(0)
        answers = {ask(isinstance, number, kinds) for number in (zero, zero.item())}
        if len(answers) > 1 or x.python is None or x.python.kind == EITHER:
            raise unknown_origin(r.loc)
        return answers.pop()
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
    elif isinstance(x, Scalar):
        like = stand_in(x)
    return ask(isinstance, like, kinds)


def cast_scalar(dtype: np.dtype) -> Callable[..., Any]:
    """The handler of np.float64(x), np.int32(x) ... on a traced scalar."""

    def run(r: Recorder, x: Any = 0, *more: Any) -> Any:
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
        if isinstance(x, ArrayRef):
            x = NpScalar(r.load(x, ()), x.element)
        if isinstance(x, NpScalar) and x.maybe_python and x.element is not F64:
            raise unknown_origin(r.loc)
        element = scalar_type(dtype)
        if element.is_integer and isinstance(x, (PyInt, PyFloat)):
            check_int_of(r, x, element)
        return NpScalar(scalar_value(r, x, element), element)

    return run


def astype_of_number(
    r: Recorder,
    x: NpScalar,
    dtype: Any,
    order: str = "K",
    casting: str = "unsafe",
    subok: bool = True,
    copy: bool = True,
) -> Any:
    """`x.astype(dtype)` of a NumPy scalar."""
    only(r, "astype", order=(order, "K"), casting=(casting, "unsafe"))
    return cast_scalar(element_of(r, dtype).dtype)(r, x)


def type_of(r: Recorder, x: Any, *rest: Any) -> Any:
    """type(x), by the type that x has in eager Python."""
    if isinstance(x, NpScalar) and x.maybe_python:
        raise unknown_origin(r.loc)
    if isinstance(x, FlatIterator):
        x.refuse()
    if isinstance(x, Record):
        return x.kind
    return ask(type, x, *rest) if rest or not is_traced(x) else type(concrete(x))


def round_function(r: Recorder, a: Any, decimals: Any = 0, out: Any = None) -> Any:
    """np.round."""
    made = round_array(r, as_operand(r, a), decimals)
    if out is None:  # never a Python number
        return NpScalar(made.value, made.element) if isinstance(made, NpScalar) else made
    if weak_type(made) is int or np.dtype(weak_type(made)).kind in "iub":
        raise r.refuse("np.round of integers with out=", "out[...] = np.round(a, n)")
    copyto(r, out, made)
    return out


@frozen(eq=False, slots=False)
class ScalarMethod:
    """A bound method of a traced number."""

    number: Scalar
    name: str


Handler = Callable[..., Any]
HANDLERS: dict[Any, Handler] = {
    np.zeros: _creator(0), np.ones: _creator(1), np.empty: _creator(None), np.full: full,
    np.zeros_like: _creator_like(0), np.ones_like: _creator_like(1), np.empty_like: _creator_like(None),
    np.ndarray: ndarray, np.full_like: full_like, np.copyto: copyto, np.copy: copy_function, np.where: where,
    np.clip: clip,
    np.shape: lambda r, a: attribute(r, as_array(r, a), "shape"), np.ndim: lambda r, a: as_array(r, a).ndim,
    np.size: size_of, slice: slice_of,
    **aggregates.FUNCTIONS, **products.FUNCTIONS, **shapes.HANDLERS, **creation.FUNCTIONS, **picking.FUNCTIONS,
    **sorted_indices.FUNCTIONS,
    **stacking.FUNCTIONS, **einsum.FUNCTIONS,
    **convolutions.FUNCTIONS, **vectors.FUNCTIONS, **covariance.FUNCTIONS,
    len: length, isinstance: isinstance_of, type: type_of, np.round: round_function, np.around: round_function,
    **{dtype.type: cast_scalar(dtype) for dtype in SUPPORTED_DTYPES},
    **complex_views.FUNCTIONS, **PYTHON, **MATH, **CMATH, **host_table.FUNCTIONS, host_call: traced_host_call,
}  # fmt: skip
"""By function or class: its handler."""
METHODS: dict[str, Handler] = {
    "copy": copy_method, "astype": astype, "fill": fill_method, "clip": clip_method, "round": round_function,
    "item": item,
    **aggregates.METHODS, "dot": products.dot, "repeat": stacking.repeat, **shapes.METHODS, **host_table.METHODS,
    **picking.METHODS,
    **sorted_indices.METHODS, **complex_views.METHODS,
}  # fmt: skip
"""By name of the array method: its handler, whose first argument after the recorder is the array."""
SCALAR_METHODS: dict[str, Handler] = {
    "item": number_item, "tolist": python_number, "round": round_function, "is_integer": is_integer,
    "bit_length": bit_length, "conjugate": conjugate, "conj": conjugate, "astype": astype_of_number,
}  # fmt: skip
"""By name of a method of traced numbers, where the number's type has it: its handler."""
PURE = {
    tuple,
    list,
    range,
    slice,
    np.dtype,
    str,
    sorted,
    all,
    any,
    float.is_integer,
    np.can_cast,
    np.issubdtype,
    np.min_scalar_type,
    np.promote_types,
    np.finfo,
    np.iinfo,
}
"""Functions and classes that are called as they are, on values known while tracing."""


def call_array_method(r: Recorder, a: ArrayRef, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """`a.name(...)`, by `METHODS`."""
    kwargs = for_plain_arrays(r, method(name), (a, *args), kwargs)
    check_parameters(r, getattr(np.ndarray, name), METHODS[name], (a, *args), kwargs, bound=True)
    return call_judged(method(name), METHODS[name], r, (a, *args), static_flags(r, kwargs))


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
            return shapes.matrix_transpose(r, x)
        if name in ("real", "imag"):
            return complex_views.part(r, x, name)
        if name == "flat":
            return FlatIterator(r, x)
        simple = {"ndim": x.ndim, "dtype": x.dtype, "itemsize": x.dtype.itemsize}
        return simple.get(name, NotImplemented)
    if isinstance(x, NpScalar) and name in ("dtype", "ndim", "shape"):
        return {"dtype": x.element.dtype, "ndim": 0, "shape": ()}[name]
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
        if name in SCALAR_METHODS:
            return ScalarMethod(x, name)
    return NotImplemented


def is_pure(function: Any) -> bool:
    """Whether a function may be called while tracing, on plain values: it has no effects, and no randomness
    (rule F2)."""
    if isinstance(function, np.ufunc) or getattr(function, "__module__", None) in (math.__name__, cmath.__name__):
        return True
    of = getattr(function, "__self__", None)
    if isinstance(of, np.number | np.bool_) or type(of) in (bool, int, float, complex):
        return True
    if isinstance(function, type) and issubclass(function, (*NUMBERS, tuple, list, Exception)):
        return True
    try:
        return function in PURE
    except TypeError:
        return False


@as_reached
def call_known(r: Recorder, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """A call of a known function; NotImplemented for one that is not known."""
    handler = handler_of(function)
    if any(isinstance(x, Choice) for x in (*args, *kwargs.values())) and (handler or is_pure(function)):
        raise path_dependent(r, "<value>", "values of different types")
    odd = next((x for x in (*args, *kwargs.values()) if isinstance(x, FlatIterator)), None)
    if handler is not None and odd is not None and function not in (len, isinstance):
        odd.refuse()
    if handler is None:
        return NotImplemented
    kwargs = static_flags(r, kwargs)
    if isinstance(function, ScalarMethod):
        return call_handler(handler, r, *args, **kwargs)
    check_parameters(r, function, handler, args, kwargs)
    if is_of_numpy(function):
        return call_judged(function, handler, r, args, kwargs)
    return call_handler(handler, r, *args, **kwargs)


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
        method = SCALAR_METHODS[function.name]
        return lambda r, *args, **kwargs: call_handler(method, r, function.number, *args, **kwargs)
    if isinstance(function, np.ufunc):
        if not is_numpys(function):
            return None
        return lambda r, *args, **kwargs: call_handler(call_ufunc, r, function, args, kwargs)
    if isinstance(ufunc := getattr(function, "__self__", None), np.ufunc):
        if function.__name__ == "at":
            return stores(lambda r, *args: call_handler(picking.ufunc_at, r, ufunc, *args))
        return lambda r, *args, **kwargs: call_handler(call_method, r, ufunc, function.__name__, args, kwargs)
    try:
        return HANDLERS.get(function) or primitives.HANDLERS.get(function)
    except TypeError:
        return None


def formula_of(function: Any) -> Callable[..., Any] | None:
    """The formula that a NumPy function is traced as; None if it has none."""
    try:
        return FORMULAS.get(function)
    except TypeError:
        return None
