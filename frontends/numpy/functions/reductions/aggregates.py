"""NumPy's functions and array methods that reduce, with NumPy's parameters; `reduce`, `ordered` and `running` record
them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.axes import axis_of
from tracebuf.frontends.numpy.arrays.new_arrays import as_array
from tracebuf.frontends.numpy.arrays.reshape import ravelled_values
from tracebuf.frontends.numpy.arrays.shapes import diagonal
from tracebuf.frontends.numpy.functions.reductions.ordered import reduce_any
from tracebuf.frontends.numpy.functions.reductions.reduce import NO_VALUE, mean, reduce, std, var
from tracebuf.frontends.numpy.functions.reductions.running import accumulate
from tracebuf.frontends.numpy.numbers.operands import out_of
from tracebuf.frontends.numpy.numbers.ufuncs import elementwise
from tracebuf.frontends.numpy.record.raises import Raises, call_handler
from tracebuf.frontends.numpy.record.recorder import Recorder

Handler = Callable[..., Any]


def _sum(ufunc: np.ufunc) -> Handler:
    """The handler of np.sum or np.prod."""

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
    """The handler of np.max or np.min."""

    def run(
        r: Recorder,
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = NO_VALUE,
        initial: Any = NO_VALUE,
        where: Any = NO_VALUE,
    ) -> Any:
        ref = as_array(r, a)
        one_axis = ref.ndim == 1 or isinstance(axis, int)
        fold = reduce_any if one_axis and where is NO_VALUE else reduce  # of complex NaNs alone the first one is left
        return fold(r, ufunc, ref, axis, None, out_of(r, out), keepdims, initial, True if where is NO_VALUE else where)

    return run


def _truth(ufunc: np.ufunc) -> Handler:
    """The handler of np.any or np.all: bools by default."""

    def run(
        r: Recorder, a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *, where: Any = NO_VALUE
    ) -> Any:
        return reduce(r, ufunc, as_array(r, a), axis, np.bool_, out_of(r, out), keepdims, NO_VALUE, where)

    return run


def _running(ufunc: np.ufunc) -> Handler:
    """The handler of np.cumsum or np.cumprod; without `axis`, of the ravelled elements."""

    def run(r: Recorder, a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        ref = as_array(r, a)
        ref = ravelled_values(r, ref) if axis is None or not ref.ndim else ref
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
    """np.mean."""
    return mean(r, as_array(r, a), axis, dtype, out_of(r, out), keepdims, where)


def _variance(function: Callable[..., Any]) -> Handler:
    """The handler of np.var or np.std."""

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
        if correction is not NO_VALUE:
            if ddof != 0:
                raise Raises(ValueError("ddof and correction can't be provided simultaneously."))
            ddof = correction
        ref, into = as_array(r, a), out_of(r, out)
        options = {"ddof": ddof, "keepdims": keepdims, "where": where, "centre": None if mean is NO_VALUE else mean}
        return function(r, ref, axis=axis, dtype=dtype, out=into, **options)

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


FUNCTIONS: dict[Any, Handler] = {
    np.sum: _sum(np.add), np.prod: _sum(np.multiply), np.max: _extreme(np.maximum), np.min: _extreme(np.minimum),
    np.amax: _extreme(np.maximum), np.amin: _extreme(np.minimum), np.any: _truth(np.logical_or),
    np.all: _truth(np.logical_and), np.mean: _mean, np.var: _variance(var), np.std: _variance(std),
    np.cumsum: _running(np.add),
    np.cumprod: _running(np.multiply), np.trace: trace, np.ptp: ptp, np.count_nonzero: count_nonzero,
    np.nanmax: _extreme(np.fmax), np.nanmin: _extreme(np.fmin),
}  # fmt: skip
"""By NumPy's function: its handler."""


def _variance_method(function: Callable[..., Any]) -> Handler:
    """The handler of a.var or a.std, which have neither `mean` nor `correction`."""

    def run(r: Recorder, a: Any, *args: Any, **kwargs: Any) -> Any:
        for name in ("mean", "correction"):
            if name in kwargs:
                raise Raises(TypeError(f"_{function.__name__}() got an unexpected keyword argument '{name}'"))
        return call_handler(FUNCTIONS[function], r, a, *args, **kwargs)

    return run


METHODS: dict[str, Handler] = {
    name: FUNCTIONS[getattr(np, name)]
    for name in (
        "sum", "prod", "max", "min", "any", "all", "mean", "var", "std", "cumsum", "cumprod",
        "trace",
    )
} | {"var": _variance_method(np.var), "std": _variance_method(np.std)}  # fmt: skip
"""By name of the array method: its handler."""
