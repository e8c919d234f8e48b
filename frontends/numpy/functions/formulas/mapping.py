"""Formulas that apply the caller's functions along axes and to elements (numpy/lib/_shape_base_impl.py and
_function_base_impl.py)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from tracebuf.frontends.numpy.functions.formulas.primitives import dtype_of, fresh_as
from tracebuf.frontends.numpy.record.registry import formula


@formula(np.apply_along_axis)
def apply_along_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Any:
    arr = np.asarray(arr)
    axis = normalize_axis_index(axis, arr.ndim)
    lines = np.moveaxis(arr, axis, -1)
    if math.prod(lines.shape[:-1]) == 0:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    first = np.asanyarray(func1d(lines[(0,) * (arr.ndim - 1) + (...,)], *args, **kwargs))
    made = np.zeros(lines.shape[:-1] + first.shape, first.dtype)
    along_each(func1d, lines, made, (), args, kwargs)
    n, k = made.ndim, made.ndim - first.ndim
    order = [*range(axis), *range(k, n), *range(axis, k)]
    return made.transpose(order)


def along_each(func1d: Any, lines: Any, made: Any, place: Any, args: Any, kwargs: Any) -> None:
    """Computes the results for the vectors whose indices begin with `place`."""
    if len(place) == lines.ndim - 1:
        made[place + (...,)] = np.asanyarray(func1d(lines[place + (...,)], *args, **kwargs))
        return
    for k in range(lines.shape[len(place)]):
        along_each(func1d, lines, made, place + (k,), args, kwargs)


@formula()
def vectorized(pyfunc: Any, otypes: Any, *args: Any) -> Any:
    """np.vectorize(pyfunc, otypes)(*args): each element by itself, as a Python number."""
    arrays = np.broadcast_arrays(*args)
    if otypes is None:
        if arrays[0].size == 0:
            raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        sample = pyfunc(*[x[(0,) * x.ndim] for x in arrays])
        kinds = [dtype_of(x) for x in sample] if isinstance(sample, tuple) else [dtype_of(sample)]
    else:
        kinds = [np.dtype(x) for x in otypes]
    made = [fresh_as(arrays, d) for d in kinds]
    for_each_element(pyfunc, arrays, made, ())
    return tuple(made) if len(made) > 1 else made[0]


def for_each_element(pyfunc: Any, arrays: Any, made: Any, place: Any) -> None:
    if len(place) == made[0].ndim:
        found = pyfunc(*[x[place].item() for x in arrays])
        if len(made) == 1:
            made[0][place] = found
        else:
            for k, x in enumerate(found):
                made[k][place] = x
        return
    for k in range(made[0].shape[len(place)]):
        for_each_element(pyfunc, arrays, made, place + (k,))
