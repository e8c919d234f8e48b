"""np functions and array methods that reduce: their parameters as NumPy has them, in front of `reductions`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.fresh import as_array, only
from tracebuf.frontends.numpy.recorder import Recorder
from tracebuf.frontends.numpy.reductions import (
    NO_VALUE,
    arg_extreme,
    axis_of,
    divide,
    mean,
    reduce,
    std,
    var,
)
from tracebuf.frontends.numpy.reshape import flat_values
from tracebuf.frontends.numpy.running import accumulate
from tracebuf.frontends.numpy.shapes import diagonal
from tracebuf.frontends.numpy.ufuncs import BOOL, Body, apply_rule, build, elementwise, out_of
from tracebuf.frontends.numpy.values import ArrayRef
from tracebuf.ir.core import Value
from tracebuf.ops import arith

Handler = Callable[..., Any]


def _sum(ufunc: np.ufunc) -> Handler:
    """np.sum and np.prod."""

    def run(
        r: Recorder,
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = NO_VALUE,
        initial: Any = NO_VALUE,
        where: Any = NO_VALUE,
    ) -> Any:
        return reduce(r, ufunc, as_array(r, a), axis, dtype, out_of(r, out), keepdims, initial, where)

    return run


def _extreme(ufunc: np.ufunc) -> Handler:
    """np.max and np.min."""

    def run(
        r: Recorder,
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = NO_VALUE,
        initial: Any = NO_VALUE,
        where: Any = NO_VALUE,
    ) -> Any:
        return reduce(r, ufunc, as_array(r, a), axis, None, out_of(r, out), keepdims, initial, where)

    return run


def _truth(ufunc: np.ufunc) -> Handler:
    """np.any and np.all: bools by default."""

    def run(
        r: Recorder, a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *, where: Any = NO_VALUE
    ) -> Any:
        return reduce(r, ufunc, as_array(r, a), axis, np.bool_, out_of(r, out), keepdims, NO_VALUE, where)

    return run


def _index(ufunc: np.ufunc) -> Handler:
    """np.argmax and np.argmin."""

    def run(r: Recorder, a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NO_VALUE) -> Any:
        return arg_extreme(r, ufunc, as_array(r, a), axis, out_of(r, out), keepdims)

    return run


def _running(ufunc: np.ufunc) -> Handler:
    """np.cumsum and np.cumprod; without `axis`, of all elements in rows."""

    def run(r: Recorder, a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        ref = as_array(r, a)
        ref = flat_values(r, ref) if axis is None or not ref.ndim else ref
        return accumulate(r, ufunc, ref, axis_of(r, 0 if axis is None else axis, ref.ndim), dtype, out_of(r, out))

    return run


def _mean(
    r: Recorder,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = NO_VALUE,
    *,
    where: Any = NO_VALUE,
) -> Any:
    return mean(r, as_array(r, a), axis, dtype, out_of(r, out), keepdims, where)


def _spread(function: Callable[..., Any]) -> Handler:
    """np.var and np.std."""

    def run(
        r: Recorder,
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: Any = 0,
        keepdims: Any = NO_VALUE,
        *,
        where: Any = NO_VALUE,
        mean: Any = NO_VALUE,
        correction: Any = NO_VALUE,
    ) -> Any:
        only(r, f"np.{function.__name__}", mean=(mean, NO_VALUE))
        if correction is not NO_VALUE:
            if ddof != 0:
                raise ValueError("ddof and correction can't be provided simultaneously.")
            ddof = correction
        ref, into = as_array(r, a), out_of(r, out)
        return function(r, ref, axis=axis, dtype=dtype, out=into, ddof=ddof, keepdims=keepdims, where=where)

    return run


def ptp(r: Recorder, a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE) -> Any:
    """np.ptp: the largest minus the smallest element."""
    ref, into = as_array(r, a), out_of(r, out)
    high, low = (reduce(r, f, ref, axis, keepdims=keepdims) for f in (np.maximum, np.minimum))
    return elementwise(r, np.subtract, [high, low], into)


def trace(
    r: Recorder, a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None, out: Any = None
) -> Any:
    """np.trace: the sum along a diagonal."""
    return reduce(r, np.add, diagonal(r, a, offset, axis1, axis2), -1, dtype, out_of(r, out))


def count_nonzero(r: Recorder, a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    ref = as_array(r, a)
    truth = ref if ref.dtype == np.bool_ else as_array(r, elementwise(r, np.not_equal, [ref, 0]))
    return reduce(r, np.add, truth, axis, np.intp, None, keepdims)


# -- functions that leave out NaN (numpy/lib/_nanfunctions_impl.py)


def without_nan(r: Recorder, ref: ArrayRef) -> ArrayRef:
    """A copy with 0 for NaN; arrays without NaN are as they are (_replace_nan)."""
    if not ref.element.is_float:
        return ref
    element = ref.element

    def replace(body: Body, args: list[Value]) -> Value:
        nan = apply_rule(np.isnan, body, args, (ref.dtype, BOOL))
        return body.add(arith.Select.of(nan, body.constant(0.0, element), args[0], body.loc))

    return as_array(r, build(r, replace, [ref], [element], element))


def nansum(r: Recorder, a: Any, *args: Any, **kwargs: Any) -> Any:
    return FUNCTIONS[np.sum](r, without_nan(r, as_array(r, a)), *args, **kwargs)


def nanmean(r: Recorder, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE) -> Any:
    """The sum of what is not NaN by its count."""
    only(r, "np.nanmean", dtype=(dtype, None), out=(out, None))
    ref = as_array(r, a)
    if not ref.element.is_float:
        return mean(r, ref, axis, keepdims=keepdims)
    count = reduce(r, np.add, as_array(r, elementwise(r, np.equal, [ref, ref])), axis, np.intp, None, keepdims)
    return divide(r, reduce(r, np.add, without_nan(r, ref), axis, None, None, keepdims), count)


def average(
    r: Recorder, a: Any, axis: Any = None, weights: Any = None, returned: Any = False, *, keepdims: Any = NO_VALUE
) -> Any:
    """np.average: the mean, or with weights of the array's own shape the weighted sum by the sum of weights."""
    only(r, "np.average", returned=(returned, False))
    ref = as_array(r, a)
    if weights is None:
        return mean(r, ref, axis, keepdims=keepdims)
    w = as_array(r, weights)
    if w.ndim != ref.ndim or ref.ndim != 1:
        raise UnsupportedError(
            "np.average of a matrix with weights", location=r.loc, instead="np.sum(a * w) / np.sum(w)"
        )
    r.require_equal(w.shape[0], ref.shape[0], "ValueError", "Shape of weights must be consistent with shape of a")
    whole = ref.element.is_float
    dtype = np.result_type(ref.dtype, w.dtype) if whole else np.result_type(ref.dtype, w.dtype, np.float64)
    scale = reduce(r, np.add, w, axis, dtype, None, keepdims)
    nonzero = reduce(r, np.logical_and, as_array(r, scale), None, np.bool_)
    r.check(nonzero.value, "ZeroDivisionError", "Weights sum to zero, can't be normalized")  # type: ignore[union-attr]
    product = as_array(r, elementwise(r, np.multiply, [ref, w], wanted=dtype))
    return elementwise(r, np.true_divide, [reduce(r, np.add, product, axis, None, None, keepdims), scale])


FUNCTIONS: dict[Any, Handler] = {
    np.sum: _sum(np.add), np.prod: _sum(np.multiply), np.max: _extreme(np.maximum), np.min: _extreme(np.minimum),
    np.amax: _extreme(np.maximum), np.amin: _extreme(np.minimum), np.any: _truth(np.logical_or),
    np.all: _truth(np.logical_and), np.mean: _mean, np.var: _spread(var), np.std: _spread(std),
    np.argmax: _index(np.maximum), np.argmin: _index(np.minimum), np.cumsum: _running(np.add),
    np.cumprod: _running(np.multiply), np.trace: trace, np.ptp: ptp, np.count_nonzero: count_nonzero,
    np.average: average, np.nanmax: _extreme(np.fmax), np.nanmin: _extreme(np.fmin), np.nansum: nansum,
    np.nanmean: nanmean,
}  # fmt: skip
METHODS: dict[str, Handler] = {
    name: FUNCTIONS[getattr(np, name)]
    for name in (
        "sum", "prod", "max", "min", "any", "all", "mean", "var", "std", "argmax", "argmin", "cumsum", "cumprod",
        "trace",
    )
}  # fmt: skip
