"""NumPy's functions and array methods that reduce, with NumPy's parameters; `reduce`, `ordered` and `running` record
them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce as reduce_by
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.axes import axis_of
from tracebuf.frontends.numpy.arrays.new_arrays import as_array, copy_of, k_order
from tracebuf.frontends.numpy.arrays.reshape import ravelled_values
from tracebuf.frontends.numpy.arrays.shapes import diagonal
from tracebuf.frontends.numpy.functions.reductions.ordered import reduce_any
from tracebuf.frontends.numpy.functions.reductions.reduce import NO_VALUE, Fold, mean, reduce, std, var
from tracebuf.frontends.numpy.functions.reductions.running import accumulate
from tracebuf.frontends.numpy.numbers.operands import out_of
from tracebuf.frontends.numpy.numbers.ufuncs import elementwise
from tracebuf.frontends.numpy.record.raises import Raises, ask
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.registry import traces
from tracebuf.frontends.numpy.record.values import ArrayRef, NpScalar, PyInt
from tracebuf.ir.dims import Dim, add, mul
from tracebuf.ir.types import I1, I64


@traces(np.sum, of=np.add, method="sum")
@traces(np.prod, of=np.multiply, method="prod")
def total(
    ufunc: np.ufunc, r: Recorder, a: Any, axis: Any = None, dtype: Any = None, out: Any = None,
    keepdims: Any = NO_VALUE, initial: Any = NO_VALUE, where: Any = NO_VALUE,
) -> Any:  # fmt: skip
    plain = axis is None and dtype is None and out is None and keepdims is initial is where is NO_VALUE
    if plain and isinstance(a, (tuple, list)) and (found := of_ints(r, ufunc, a)) is not None:
        return found
    return reduce(r, ufunc, as_array(r, a), Fold(axis, dtype, out_of(r, out), keepdims, initial, where))


def of_ints(r: Recorder, ufunc: np.ufunc, items: Sequence[Any]) -> Any:
    """The sum or product of ints, as of a shape: known, or an expression, by which an array can have that size. None
    where other numbers are among them, or 64 bits may not hold it."""
    if not items or not all(isinstance(x, PyInt) or type(x) is int for x in items):
        return None
    if not any(isinstance(x, PyInt) for x in items):
        found = ask(np.prod if ufunc is np.multiply else np.sum, items)
        return found if isinstance(found, np.int64) else None
    sizes: list[Dim] = [x.expr if isinstance(x, PyInt) else x for x in items]
    e = r.facts.canon(reduce_by(mul if ufunc is np.multiply else add, sizes))
    return NpScalar(r.i64(e), I64) if r.fits(e) or r.narrow(e) else None


@traces(np.max, np.amax, of=np.maximum, method="max")
@traces(np.min, np.amin, of=np.minimum, method="min")
@traces(np.nanmax, of=np.fmax)
@traces(np.nanmin, of=np.fmin)
def extreme(
    ufunc: np.ufunc, r: Recorder, a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE,
    initial: Any = NO_VALUE, where: Any = NO_VALUE,
) -> Any:  # fmt: skip
    ref = as_array(r, a)
    one_axis = ref.ndim == 1 or isinstance(axis, int)
    fold = reduce_any if one_axis and where is NO_VALUE else reduce  # of complex NaNs alone the first one is left
    return fold(r, ufunc, ref, Fold(axis, None, out_of(r, out), keepdims, initial, where))


@traces(np.any, of=np.logical_or, method="any")
@traces(np.all, of=np.logical_and, method="all")
def truth(
    ufunc: np.ufunc, r: Recorder, a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *,
    where: Any = NO_VALUE,
) -> Any:  # fmt: skip
    """np.any or np.all: bools by default."""
    return reduce(r, ufunc, as_array(r, a), Fold(axis, np.bool_, out_of(r, out), keepdims, where=where))


@traces(np.cumsum, of=np.add, method="cumsum")
@traces(np.cumprod, of=np.multiply, method="cumprod")
def running(ufunc: np.ufunc, r: Recorder, a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """np.cumsum or np.cumprod; without `axis`, of the ravelled elements."""
    ref = as_array(r, a)
    if out is not None and not isinstance(out, ArrayRef):
        raise Raises(TypeError("output must be an array"))
    ref = ravelled_values(r, ref) if axis is None or not ref.ndim else ref
    return accumulate(r, ufunc, ref, axis_of(r, 0 if axis is None else axis, ref.ndim), dtype, out_of(r, out))


@traces(np.mean, method="mean")
def mean_function(
    r: Recorder, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *,
    where: Any = NO_VALUE,
) -> Any:  # fmt: skip
    """np.mean."""
    return mean(r, as_array(r, a), Fold(axis, dtype, out_of(r, out), keepdims, where=where))


@traces(method="var", of=var)
@traces(method="std", of=std)
def variance_method(
    measure: Callable[..., Any], r: Recorder, a: Any, axis: Any = None, dtype: Any = None, out: Any = None,
    ddof: Any = 0, keepdims: Any = NO_VALUE, *, where: Any = NO_VALUE,
) -> Any:  # fmt: skip
    """a.var or a.std, which have neither `mean` nor `correction`."""
    return variance(measure, r, a, axis, dtype, out, ddof, keepdims, where=where)


@traces(np.var, of=var)
@traces(np.std, of=std)
def variance(
    measure: Callable[..., Any], r: Recorder, a: Any, axis: Any = None, dtype: Any = None, out: Any = None,
    ddof: Any = 0, keepdims: Any = NO_VALUE, *, where: Any = NO_VALUE, mean: Any = NO_VALUE,
    correction: Any = NO_VALUE,
) -> Any:  # fmt: skip
    """np.var or np.std."""
    if correction is not NO_VALUE:
        if ddof != 0:
            raise Raises(ValueError("ddof and correction can't be provided simultaneously."))
        ddof = correction
    ref, how = as_array(r, a), Fold(axis, dtype, out_of(r, out), keepdims, where=where)
    return measure(r, ref, how, ddof, None if mean is NO_VALUE else mean)


@traces(np.trace, method="trace")
def trace(
    r: Recorder, a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None, out: Any = None
) -> Any:
    """np.trace: the sum along a diagonal."""
    return reduce(r, np.add, diagonal(r, a, offset, axis1, axis2), Fold(-1, dtype, out_of(r, out)))


@traces(np.count_nonzero)
def count_nonzero(r: Recorder, a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    """np.count_nonzero: the sum of a.astype(bool), whose axes are in another order where one is repeated."""
    some = ref = as_array(r, a)
    if ref.dtype != np.bool_:
        repeats = any(map(ref.is_repeated, range(ref.ndim)))
        some = copy_of(r, ref, I1, k_order(ref)) if repeats else as_array(r, elementwise(r, np.not_equal, [ref, 0]))
    return reduce(r, np.add, some, Fold(axis, np.intp, keepdims=keepdims))
