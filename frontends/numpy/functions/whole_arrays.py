"""Arrays that are new, filled, copied or converted as a whole: np.zeros, np.full, a.copy, a.astype, np.where, np.clip,
a.fill, np.copyto."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays import creation
from tracebuf.frontends.numpy.arrays.axes import own_axes_of
from tracebuf.frontends.numpy.arrays.indexing import check_number, require_one_element, store_view
from tracebuf.frontends.numpy.arrays.new_arrays import (
    as_array,
    as_operand,
    copy_of,
    element_of,
    filled,
    filled_with,
    k_order,
    numeric,
    shape_arg,
    strong,
)
from tracebuf.frontends.numpy.arrays.reshape import is_dense, is_fortran, order_of
from tracebuf.frontends.numpy.functions.indices import picking
from tracebuf.frontends.numpy.functions.python.builtins import round_array
from tracebuf.frontends.numpy.numbers.bodies import Body
from tracebuf.frontends.numpy.numbers.generics import build
from tracebuf.frontends.numpy.numbers.operands import (
    Operand,
    common_dtype,
    mask_of,
    on_all_paths,
    out_of,
    supported,
    weak_type,
)
from tracebuf.frontends.numpy.numbers.python_ints import as_int_value, int_expr
from tracebuf.frontends.numpy.numbers.ufuncs import elementwise
from tracebuf.frontends.numpy.record.each_path import stores
from tracebuf.frontends.numpy.record.raises import Raises, ask
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.refusals import name_of
from tracebuf.frontends.numpy.record.registry import traces
from tracebuf.frontends.numpy.record.values import ArrayRef, GuardedRef, NpScalar
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, dim_max, dim_min, mul, sub
from tracebuf.ir.types import I1, scalar_type
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


@traces(np.zeros, of=0)
@traces(np.ones, of=1)
@traces(np.empty, of=None)
def create(value: float | None, r: Recorder, shape: Any, dtype: Any = None, order: Any = "C") -> ArrayRef:
    sizes = shape_arg(r, shape)
    element = element_of(r, float if dtype is None else dtype)
    return filled(r, sizes, element, value, axes_in(r, order, len(sizes)))


@traces(np.zeros_like, of=0)
@traces(np.ones_like, of=1)
@traces(np.empty_like, of=None)
def create_like(
    value: float | None, r: Recorder, a: Any, dtype: Any = None, order: Any = "K", subok: Any = True, shape: Any = None
) -> ArrayRef:
    a = as_array(r, a)
    sizes, axes = layout_like(r, a, shape, order)
    return filled(r, sizes, a.element if dtype is None else element_of(r, dtype), value, axes)


@traces(np.ndarray)
def ndarray(r: Recorder, shape: Any, dtype: Any = None, *, order: Any = None) -> ArrayRef:
    """np.ndarray(shape, dtype): an array of undefined contents, as np.empty."""
    return create(None, r, shape, dtype, order)


@traces(np.full)
def full(r: Recorder, shape: Any, fill_value: Any, dtype: Any = None, order: str = "C") -> ArrayRef:
    sizes, fill_value = shape_arg(r, shape), numeric(r, fill_value)
    element = element_of(r, on_all_paths([fill_value], np.result_type, r.loc) if dtype is None else dtype)
    return filled_with(r, sizes, element, fill_value, axes_in(r, order, len(sizes)))


@traces(np.full_like)
def full_like(
    r: Recorder, a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None
) -> ArrayRef:
    ref = as_array(r, a)
    element = ref.element if dtype is None else element_of(r, dtype)
    sizes, axes = layout_like(r, ref, shape, order)
    return filled_with(r, sizes, element, numeric(r, fill_value), axes)


@traces(method="copy")
def copy_method(r: Recorder, a: ArrayRef, order: str = "C") -> ArrayRef:
    return copy_of(r, a, a.element, axes_in(r, order, a.ndim, a))


@traces(np.copy)
def copy_function(r: Recorder, a: Any, order: str = "K", subok: bool = False) -> ArrayRef:
    return copy_method(r, as_array(r, a), order)


@traces(method="astype")
def astype(
    r: Recorder, a: ArrayRef, dtype: Any, order: Any = "K", casting: Any = "unsafe", *, copy: Any = True
) -> ArrayRef:
    """a.astype: a new array in an order of its own, or in that of `a`; without `copy`, `a` where it serves."""
    element, order = element_of(r, dtype), order_of(order, "CFAK")
    ways = {"C": range(a.ndim), "F": range(a.ndim)[::-1]}
    if copy is False and element is a.element:
        if order == "K" or any(is_dense(r, a, ways[way]) for way in ("CF" if order == "A" else order)):
            return a
    if not ask(np.can_cast, a.dtype, element.dtype, casting):
        what = f"{'array data' if a.ndim else 'scalar'} from {a.dtype!r} to {element.dtype!r}"
        raise Raises(TypeError(f"Cannot cast {what} according to the rule {casting!r}"))
    return copy_of(r, a, element, axes_in(r, order, a.ndim, a))


@traces(np.where)
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


@traces(np.clip)
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
    if any(isinstance(x, (ArrayRef, NpScalar, np.generic)) for x in (low, high)):
        a = strong(r, a)  # a number becomes an array at first
    low, high = (clip_bound(r, a, bound, side) for side, bound in enumerate((low, high)))
    if low is None and high is None:
        return elementwise(r, np.positive, [a], into)
    if low is None or high is None:
        return elementwise(r, np.minimum if low is None else np.maximum, [a, high if low is None else low], into)
    return elementwise(r, ufunc_named("clip"), [a, low, high], into)


@traces(method="clip")
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


@traces(method="fill")
@stores
def fill_method(r: Recorder, a: ArrayRef, value: Operand) -> None:
    r.check_writable(a)
    found = numeric(r, value)
    sequence = isinstance(found, ArrayRef) and found is not value
    require_one_element(r, a.element, found, type(value) if sequence else None)
    store_view(r, a, found)


def is_copied_to_itself(r: Recorder, src: ArrayRef, dst: ArrayRef) -> bool:
    """Whether two references are to the same memory by the same strides, for which NumPy does nothing."""
    if isinstance(src, GuardedRef) or isinstance(dst, GuardedRef):
        return False
    a, b = src.view, replace(dst.view, sizes=src.view.sizes)
    same_sizes = src.ndim == dst.ndim > 0 and all(map(r.facts.equal, src.shape, dst.shape))
    return src.storage is dst.storage and a == b and same_sizes


@traces(np.copyto)
@stores
def copyto(r: Recorder, dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """np.copyto: a store that converts by a rule; Python's ints may be stored into any integers that hold them."""
    if not isinstance(dst, ArrayRef):
        raise Raises(TypeError(f"copyto() argument 1 must be a numpy.ndarray, not {name_of(dst)}"))
    if isinstance(weak_type(where), type):
        raise r.refuse("np.copyto where a number says so", "where=x != 0")
    mask = mask_of(r, where)
    if isinstance(src, ArrayRef) and (mask is None or dst.ndim) and is_copied_to_itself(r, src, dst):
        return  # nor does NumPy ask whether it may be written to, or what mask fits
    if isinstance(mask, ArrayRef) and mask.ndim > dst.ndim:
        r.fail("ValueError", "could not broadcast where mask into the shape of the array")
    if weak_type(src) is int and dst.element.is_integer:
        check_number(r, src, dst)
    r.check_writable(dst)
    source = creation.asarray(r, src) if isinstance(src, (list, tuple)) else src
    kind = weak_type(source)
    if kind is not int or not dst.element.is_integer:
        if not ask(np.can_cast, given := np.dtype(kind), dst.dtype, casting):
            what = "array data" if isinstance(source, ArrayRef) and source.ndim else "scalar"
            text = f"Cannot cast {what} from {given!r} to {dst.dtype!r} according to the rule {casting!r}"
            raise Raises(TypeError(text))
        source = as_array(r, source)  # converted as arrays are: no check that numbers fit
    else:
        check_number(r, source, dst)
    if mask is not None:
        source = np_where(r, mask, astype(r, as_array(r, source), dst.dtype), dst)
    store_view(r, dst, source)


@traces(np.size)
def size_of(r: Recorder, a: Any, axis: Any = None) -> Any:
    """np.size: the number of elements, or the product of some sizes."""
    ref = as_array(r, a)
    total: Dim = 1
    for k in own_axes_of(r, axis, ref.ndim):
        total = mul(total, ref.shape[k])
    return as_int_value(total)


@traces(np.shape)
def shape_of(r: Recorder, a: Any) -> Any:
    return tuple(as_int_value(n) for n in as_array(r, a).shape)


@traces(np.ndim)
def ndim_of(r: Recorder, a: Any) -> int:
    return as_array(r, a).ndim


@traces(np.round, np.around, method="round", number="round")
def round_function(r: Recorder, a: Any, decimals: Any = 0, out: Any = None) -> Any:
    """np.round."""
    made = round_array(r, as_operand(r, a), decimals)
    if out is None:  # never a Python number
        return made if isinstance(made, ArrayRef) else strong(r, made)
    if weak_type(made) is int or np.dtype(weak_type(made)).kind in "iub":
        raise r.refuse("np.round of integers with out=", "out[...] = np.round(a, n)")
    into = out_of(r, out)
    if into is not None and isinstance(made, ArrayRef):
        if into.ndim != made.ndim:
            r.fail("ValueError", "invalid output shape")
        for m, n in zip(into.shape, made.shape):
            r.require_equal(m, n, "ValueError", "invalid output shape")
    copyto(r, out, made)
    return out
