"""Arrays made of a rule, and windows (numpy/_core/function_base.py, numeric.py, numpy/lib)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from tracebuf.frontends.numpy.formulas.primitives import is_array, linspace_of_numbers


def linspace(
    start: Any, stop: Any, num: Any = 50, endpoint: Any = True, retstep: Any = False, dtype: Any = None,
    axis: Any = 0,
) -> Any:  # fmt: skip
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    kind = np.result_type(start, stop)
    loop = np.dtype(np.float64) if kind.kind in "iub" else kind
    if loop == np.float64 and not is_array(start) and not is_array(stop):
        if axis != 0:
            normalize_axis_index(axis, 1)
        return linspace_of_numbers(start, stop, num, endpoint, retstep, dtype)
    start, stop = np.asanyarray(start), np.asanyarray(stop)
    delta = np.subtract(stop, start, dtype=loop)
    places = np.arange(0, num, dtype=loop)[(slice(None),) + (None,) * np.ndim(delta)]
    count, step = (num - 1 if endpoint else num), np.nan
    if count > 0:
        step = delta / count
        points = np.where(np.any(step == 0), places / count * delta, places * step) + start
    else:
        points = places * delta + start
    if endpoint and num > 1:
        points[-1, ...] = stop
    if axis != 0:
        points = np.moveaxis(points, 0, axis)
    if dtype is not None and np.dtype(dtype).kind in "iu":
        points = np.floor(points)
    points = points.astype(loop if dtype is None else dtype, copy=False)
    return (points, step) if retstep else points


FORMULAS: dict[Any, Callable[..., Any]] = {np.linspace: linspace}
