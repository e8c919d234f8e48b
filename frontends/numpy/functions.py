"""What the tracer knows of functions: one table keyed by the callee itself (rule X1), so that every spelling arrives.

To add a NumPy function: write a handler `(r, *args, **kwargs)` with NumPy's own parameter names, put it into `HANDLERS`
under the function (and into `METHODS` under the method's name), and test it in tests/test_language.py against eager.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Sequence
from operator import methodcaller
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.fresh import (
    as_array,
    copy_of,
    element_of,
    filled,
    filled_with,
    k_order,
    only,
    shape_arg,
    strong,
)
from tracebuf.frontends.numpy.indexing import store_view
from tracebuf.frontends.numpy.recorder import Recorder
from tracebuf.frontends.numpy.reductions import matmul, reduce
from tracebuf.frontends.numpy.scalars import as_int_value, binary, bool_as_int, float_value, int_expr, truth
from tracebuf.frontends.numpy.ufuncs import (
    BOOL,
    Body,
    Operand,
    build,
    check_maybe_python,
    elementwise,
    scalar_value,
    supported,
    weak_type,
)
from tracebuf.frontends.numpy.values import (
    ArrayRef,
    NpScalar,
    PyBool,
    PyFloat,
    PyInt,
    Scalar,
    is_traced,
    stand_in,
)
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, dim_max, dim_min, mul
from tracebuf.ir.types import F64, I1, I64, INDEX, ScalarType, scalar_type
from tracebuf.ops import arith, linalg

NO_VALUE = np._NoValue


def _creator(value: float | None) -> Callable[..., ArrayRef]:
    def create(r: Recorder, shape: Any, dtype: Any = None, order: str = "C", **rest: Any) -> ArrayRef:
        only(r, "this array", order=(order, "C"), **{k: (v, None) for k, v in rest.items()})
        return filled(r, shape_arg(r, shape), element_of(r, float if dtype is None else dtype), value)

    return create


def _creator_like(value: float | None) -> Callable[..., ArrayRef]:
    def create(
        r: Recorder, a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, **rest: Any
    ) -> ArrayRef:
        only(r, "this array", order=(order, "K"), **{k: (v, None) for k, v in rest.items()})
        a = as_array(r, a)
        element = a.element if dtype is None else element_of(r, dtype)
        if shape is not None:
            return filled(r, shape_arg(r, shape), element, value)
        return filled(r, a.shape, element, value, k_order(a))

    return create


def full(r: Recorder, shape: Any, fill_value: Operand, dtype: Any = None, order: str = "C") -> ArrayRef:
    only(r, "np.full", order=(order, "C"))
    element = element_of(r, np.result_type(weak_type(fill_value)) if dtype is None else dtype)
    return filled_with(r, shape_arg(r, shape), element, fill_value)


def full_like(
    r: Recorder, a: Any, fill_value: Operand, dtype: Any = None, order: str = "K", subok: bool = True
) -> ArrayRef:
    only(r, "np.full_like", order=(order, "K"))
    ref = as_array(r, a)
    element = ref.element if dtype is None else element_of(r, dtype)
    return filled_with(r, ref.shape, element, fill_value, k_order(ref))


def copy_method(r: Recorder, a: ArrayRef, order: str = "C") -> ArrayRef:
    only(r, "copy", order=(order, "C"))
    return copy_of(r, a, a.element, range(a.ndim))


def copy_function(r: Recorder, a: Any, order: str = "K", subok: bool = False) -> ArrayRef:
    only(r, "np.copy", order=(order, "K"))
    ref = as_array(r, a)
    return copy_of(r, ref, ref.element, k_order(ref))


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
    """np.where with three arguments."""
    if x is NO_VALUE or y is NO_VALUE:
        raise UnsupportedError(
            "np.where with one argument gives a shape that depends on data", location=r.loc, instead="np.where(c, x, y)"
        )
    check_maybe_python([x, y], r.loc)
    kinds = [weak_type(v) for v in (x, y)]
    strong = [k for k in kinds if not isinstance(k, type)]
    dtype = (
        np.result_type(*(k if not isinstance(k, type) else k() for k in kinds)) if strong else np.result_type(*kinds)
    )
    element = supported(dtype, "np.where", r.loc)

    def select(body: Body, args: list[Value]) -> Value:
        return body.add(
            arith.Select.of(body.cast(args[0], I1), body.cast(args[1], element), body.cast(args[2], element), body.loc)
        )

    result = build(r, select, [condition, x, y], [I1, element, element], element)
    if isinstance(result, NpScalar):  # np.where always gives an array
        out = r.add(linalg.Fill.of(result.value, r.empty(element, ()), r.loc)).result
        return ArrayRef(r.new_storage(element, (), (), out))
    return result


def clip(
    r: Recorder, a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None
) -> Any:
    """np.clip, by the ufunc of that name, or np.maximum or np.minimum for one bound."""
    only(r, "np.clip", out=(out, None))
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    if low is None and high is None:
        return elementwise(r, np.positive, [a])
    if low is None or high is None:
        return elementwise(r, np.minimum if low is None else np.maximum, [a, high if low is None else low])
    return elementwise(r, arith.ufunc_named("clip"), [a, low, high])


def _reducer(kind: str) -> Callable[..., Any]:
    def run(
        r: Recorder, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE, **rest: Any
    ) -> Any:
        only(r, kind, dtype=(dtype, None), out=(out, None), **{k: (v, NO_VALUE) for k, v in rest.items()})
        return reduce(r, kind, as_array(r, a), axis, False if keepdims is NO_VALUE else keepdims)

    return run


def _extreme(kind: str) -> Callable[..., Any]:
    def run(r: Recorder, a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, **rest: Any) -> Any:
        return _reducer(kind)(r, a, axis, None, out, keepdims, **rest)

    return run


def fill_method(r: Recorder, a: ArrayRef, value: Operand) -> None:
    store_view(r, a, value)


def dot(r: Recorder, a: Any, b: Any, out: Any = None) -> Any:
    only(r, "dot", out=(out, None))
    if all(isinstance(x, ArrayRef) and x.ndim for x in (a, b)):
        return matmul(r, a, b, "dot")
    product = elementwise(r, np.multiply, [strong(r, a), strong(r, b)])
    in_rows = isinstance(product, ArrayRef) and product.storage.order == tuple(range(product.ndim))
    if not isinstance(product, ArrayRef) or in_rows or not product.element.is_float:
        return product
    if product.ndim > 2:
        raise UnsupportedError("np.dot of a number and a stack of matrices", location=r.loc, instead="a * b")
    return copy_of(r, product, product.element, range(product.ndim))  # BLAS gives rows, `*` keeps the order of axes


def transpose(r: Recorder, a: ArrayRef, *axes: Any) -> ArrayRef:
    order = axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes
    if not order or order == (None,):
        return a.derive(methodcaller("transpose", range(a.ndim)[::-1]))
    if sorted(i % a.ndim if isinstance(i, int) else -1 for i in order) != list(range(a.ndim)):
        raise ValueError("axes don't match array")
    return a.derive(methodcaller("transpose", [i % a.ndim for i in order]))


def transpose_function(r: Recorder, a: Any, axes: Any = None) -> ArrayRef:
    return transpose(r, as_array(r, a), *(() if axes is None else (axes,)))


# -- Python's builtins
def length(r: Recorder, x: Any) -> Any:
    if isinstance(x, ArrayRef):
        if not x.ndim:
            raise TypeError("len() of unsized object")
        return as_int_value(x.shape[0])
    if isinstance(x, Scalar):
        raise TypeError(f"object of type '{type(stand_in(x)).__name__}' has no len()")
    return len(x)


def extreme_of(r: Recorder, name: str, *args: Any) -> Any:
    """min and max of ints; of other numbers through comparisons, as Python picks."""
    items = list(args[0]) if len(args) == 1 and isinstance(args[0], (tuple, list)) else list(args)
    exprs = [int_expr(x) for x in items]
    if all(e is not None for e in exprs) and exprs:
        return as_int_value(r.facts.simplify((dim_min if name == "min" else dim_max)(*exprs)))  # type: ignore[arg-type]
    if not any(is_traced(x) for x in items):
        return getattr(builtins, name)(items)
    if all(isinstance(x, NpScalar) and not x.maybe_python and x.element is items[0].element for x in items):
        return numpy_extreme(r, name, items)
    kinds = [weak_type(x) if isinstance(x, (Scalar, bool, int, float, np.generic)) else str for x in items]
    for element, python in ((F64, (float, int)), (I64, (int,))):
        if all(k in python if isinstance(k, type) else k == element.dtype for k in kinds):
            return mixed_extreme(r, name, items, element)
    raise UnsupportedError(
        f"{name}() of these values is not supported while tracing",
        location=r.loc,
        instead=f"np.{name}(a) of an array, np.{name}imum(x, y) of numbers",
    )


def mixed_extreme(r: Recorder, name: str, items: Sequence[Any], element: ScalarType) -> PyFloat | NpScalar:
    """min and max of Python's and NumPy's numbers: the winner's type is only known at run time."""
    best = scalar_value(r, items[0], element)
    for x in items[1:]:
        value = scalar_value(r, x, element)
        predicate = ("o" if element is F64 else "s") + ("lt" if name == "min" else "gt")
        compare: Callable[..., Any] = arith.CmpF.of if element is F64 else arith.CmpI.of
        better = r.add(compare(predicate, value, best, r.loc)).result
        best = r.add(arith.Select.of(better, value, best, r.loc)).result
    if all(isinstance(x, (PyFloat, float)) and not isinstance(x, np.generic) for x in items):
        return PyFloat(best)
    sure = all(isinstance(x, np.generic) or (isinstance(x, NpScalar) and not x.maybe_python) for x in items)
    return NpScalar(best, element, maybe_python=not sure)


def numpy_extreme(r: Recorder, name: str, items: Sequence[NpScalar]) -> NpScalar:
    """min and max of NumPy scalars of one type: the first that no later one beats."""
    best = items[0]
    for x in items[1:]:
        better = elementwise(r, np.less if name == "min" else np.greater, [x, best])
        assert isinstance(better, NpScalar)
        best = NpScalar(r.add(arith.Select.of(better.value, x.value, best.value, r.loc)).result, x.element)
    return best


def absolute(r: Recorder, x: Any) -> Any:
    x = bool_as_int(r, x) if isinstance(x, PyBool) else x
    if (e := int_expr(x)) is not None:
        known = r.ask_nonneg(e)
        return as_int_value(e if known else -e if known is False else dim_max(e, -e))
    if isinstance(x, PyFloat):
        return PyFloat(r.add(arith.AbsF.of(x.value, r.loc)).result)
    return elementwise(r, np.absolute, [x]) if is_traced(x) else abs(x)


def to_float(r: Recorder, x: Any = 0.0) -> Any:
    if isinstance(x, (NpScalar, PyBool)):
        return PyFloat(Body(r.frame.block, r.loc).cast(x.value, F64))
    if isinstance(x, (PyFloat, PyInt)):
        return PyFloat(float_value(r, x))
    if isinstance(x, PyFloat) or not is_traced(x):
        return float(x)
    raise UnsupportedError("float() of this value is not supported yet", location=r.loc, instead="np.float64(x)")


def to_int(r: Recorder, x: Any = 0) -> Any:
    if isinstance(x, PyInt) or not is_traced(x):
        return x if isinstance(x, PyInt) else int(x)
    if isinstance(x, PyBool):
        return bool_as_int(r, x)
    if isinstance(x, NpScalar) and x.element in (I64, I1):
        value = r.add(arith.IndexCast.of(Body(r.frame.block, r.loc).cast(x.value, I64), INDEX, r.loc)).result
        return PyInt(r.symbol(value, f"i{len(r.func.symbols)}"))
    raise UnsupportedError(
        "int() of a float that is only known at run time",
        location=r.loc,
        instead="keep it as np.floor(x), or pass the int in",
    )


def to_bool(r: Recorder, x: Any = False) -> Any:
    return truth(r, x)


def isinstance_of(r: Recorder, x: Any, kinds: Any) -> bool:
    if isinstance(x, NpScalar) and x.maybe_python:
        raise UnsupportedError("this number is Python's or NumPy's, depending on the path", location=r.loc)
    like: Any = x
    if isinstance(x, ArrayRef):
        like = np.empty((0,) * x.ndim, x.dtype)
    elif isinstance(x, Scalar):
        like = stand_in(x)
    return isinstance(like, kinds)


def cast_scalar(dtype: np.dtype) -> Callable[..., Any]:
    """np.float64(x) and its kin on a traced scalar."""

    def run(r: Recorder, x: Any = 0) -> Any:
        if not is_traced(x):
            return dtype.type(x)
        if isinstance(x, ArrayRef) and x.ndim:
            return copy_of(r, x, scalar_type(dtype), range(x.ndim))
        if isinstance(x, ArrayRef):
            x = NpScalar(r.load(x, ()), x.element)
        if isinstance(x, NpScalar) and x.maybe_python and x.element is not F64:
            raise UnsupportedError("this number is Python's or NumPy's, depending on the path", location=r.loc)
        return NpScalar(scalar_value(r, x, scalar_type(dtype)), scalar_type(dtype))

    return run


Handler = Callable[..., Any]
HANDLERS: dict[Any, Handler] = {
    np.zeros: _creator(0), np.ones: _creator(1), np.empty: _creator(None), np.full: full,
    np.zeros_like: _creator_like(0), np.ones_like: _creator_like(1), np.empty_like: _creator_like(None),
    np.full_like: full_like, np.copy: copy_function, np.where: where, np.clip: clip,
    np.shape: lambda r, a: attribute(r, as_array(r, a), "shape"), np.ndim: lambda r, a: as_array(r, a).ndim,
    np.size: lambda r, a: attribute(r, as_array(r, a), "size"), slice: lambda r, *bounds: slice(*bounds),
    np.sum: _reducer("sum"), np.mean: _reducer("mean"), np.max: _extreme("max"), np.min: _extreme("min"),
    np.amax: _extreme("max"), np.amin: _extreme("min"),
    np.dot: dot, np.matmul: lambda r, a, b: matmul(r, a, b, "matmul"), np.transpose: transpose_function,
    len: length, abs: absolute, float: to_float, int: to_int, bool: to_bool, isinstance: isinstance_of,
    min: lambda r, *a: extreme_of(r, "min", *a), max: lambda r, *a: extreme_of(r, "max", *a),
    np.float64: cast_scalar(np.dtype(np.float64)), np.float32: cast_scalar(np.dtype(np.float32)),
    np.int64: cast_scalar(np.dtype(np.int64)), np.bool_: cast_scalar(BOOL),
}  # fmt: skip
METHODS: dict[str, Handler] = {
    "sum": _reducer("sum"), "mean": _reducer("mean"), "max": _extreme("max"), "min": _extreme("min"),
    "copy": copy_method, "astype": astype, "dot": dot, "fill": fill_method, "transpose": transpose,
    "clip": clip,
}  # fmt: skip
PURE = {
    tuple,
    list,
    range,
    slice,
    np.dtype,
    type,
    str,
    complex,
    divmod,
    round,
    sum,
    sorted,
    all,
    any,
    float.is_integer,
    np.result_type,
    np.finfo,
    np.iinfo,
}
"""Called as they are, on values known at trace time."""


def attribute(r: Recorder, x: Any, name: str) -> Any:
    """x.name for a traced x: data attributes, or NotImplemented for a method or an unknown name."""
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
            return transpose(r, x)
        simple = {"ndim": x.ndim, "dtype": x.dtype, "itemsize": x.dtype.itemsize}
        return simple.get(name, NotImplemented)
    if isinstance(x, NpScalar) and name in ("dtype", "ndim", "shape"):
        return {"dtype": x.element.dtype, "ndim": 0, "shape": ()}[name]
    if isinstance(x, (PyInt, PyFloat)) and name == "real":
        return x
    return NotImplemented


def is_pure(function: Any) -> bool:
    """May be called during tracing on plain values: no effects, no randomness (rule F2)."""
    if isinstance(function, np.ufunc) or getattr(function, "__module__", None) == math.__name__:
        return True
    if isinstance(function, type) and issubclass(function, (np.generic, int, float, bool, tuple, list, Exception)):
        return True
    try:
        return function in PURE
    except TypeError:
        return False


def call_known(r: Recorder, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """A call of a known function; NotImplemented for one that is not known."""
    if isinstance(function, np.ufunc):
        only(r, f"np.{function.__name__}", **{k: (v, None) for k, v in kwargs.items()})
        if function is np.matmul:
            return matmul(r, args[0], args[1], "matmul")
        if not function.nin <= len(args) <= function.nargs:
            takes = f"takes from {function.nin} to {function.nargs} positional arguments but {len(args)} were given"
            raise TypeError(f"{function.__name__}() {takes}")
        if len(args) != function.nin:
            raise UnsupportedError(
                f"np.{function.__name__} with an output argument is not supported yet",
                location=r.loc,
                instead="store the result: out[...] = f(a, b)",
            )
        return elementwise(r, function, list(args)) if any(is_traced(a) for a in args) else function(*args)
    try:
        handler = HANDLERS.get(function)
    except TypeError:
        handler = None
    if handler is None:
        return NotImplemented
    return handler(r, *args, **kwargs)
