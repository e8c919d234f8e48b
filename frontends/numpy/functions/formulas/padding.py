"""The formula of np.pad with computed margins: ramps and statistics (numpy/lib/_arraypad_impl.py). The other modes are
in functions/joining/padding."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracebuf.frontends.numpy.functions.formulas.primitives import pad_pairs, pad_rows, refuse
from tracebuf.frontends.numpy.functions.formulas.statistics import along
from tracebuf.frontends.numpy.record.registry import formula

OPTIONS = {
    "constant": "constant_values", "linear_ramp": "end_values", "maximum": "stat_length", "minimum": "stat_length",
    "mean": "stat_length", "median": "stat_length", "reflect": "reflect_type", "symmetric": "reflect_type",
}  # fmt: skip
"""By mode: the one option that it has."""


@formula(np.pad)
def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    """np.pad: one axis after another, over the whole extent of the axes before it and the middle of those after it."""
    if not isinstance(mode, str):
        refuse("np.pad with a function", "pad with a constant, then store into the margins")
    if any(name != OPTIONS.get(mode) for name in kwargs):
        raise ValueError(f"unsupported keyword arguments for mode '{mode}'")
    array = np.asarray(array)
    option = list(kwargs.values())[0] if len(kwargs) else None
    if mode == "median" or option == "odd":
        refuse("np.pad with medians, or odd reflections", "pad with a constant, then store into the margins")
    if mode not in ("linear_ramp", "maximum", "minimum", "mean"):
        return pad_rows(array, pad_width, mode, 0 if option is None else option)
    widths = pad_pairs(pad_width, array.ndim)
    padded = pad_rows(array, pad_width, "empty", 0)
    ends = pairs_of(0 if mode == "linear_ramp" and option is None else option, array.ndim)
    if mode != "linear_ramp" and any(n is not None and n < 0 for pair in ends for n in pair):
        raise ValueError("index can't contain negative values")
    for axis, (before, after) in enumerate(widths):
        n = array.shape[axis]
        if n == 0 and (before > 0 or after > 0):
            raise ValueError(f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'")
        inner = padded[middle_of(array, widths, axis)]
        left, right = inner[along(axis, slice(0, before))], inner[along(axis, slice(before + n, None))]
        if mode == "linear_ramp":
            left[...] = ramp(ends[axis][0], inner[along(axis, before)], before, axis, array.dtype)
            down = ramp(ends[axis][1], inner[along(axis, before + n - 1)], after, axis, array.dtype)
            right[...] = np.flip(down, axis)
        else:
            middle, (first, last) = inner[along(axis, slice(before, before + n))], ends[axis]
            start = 0 if last is None or last > n else n - last
            statistic = np.max if mode == "maximum" else np.min if mode == "minimum" else np.mean
            left[...] = rounded(statistic(middle[along(axis, slice(0, first))], axis=axis, keepdims=True), array.dtype)
            right[...] = rounded(statistic(middle[along(axis, slice(start, n))], axis=axis, keepdims=True), array.dtype)
    return padded


def pairs_of(x: Any, ndim: int) -> Any:
    """(before, after) for each axis, from a number or pairs."""
    if not isinstance(x, (list, tuple)):
        return [(x, x)] * ndim
    if not isinstance(x[0], (list, tuple)):
        return [(x[0], x[-1])] * ndim
    return [(p[0], p[-1]) for p in (x if len(x) == ndim else [x[0]] * ndim)]


def middle_of(array: Any, widths: Any, axis: int) -> Any:
    """The index of the part along which the margins of an axis run."""
    sizes = array.shape
    behind = [slice(widths[k][0], widths[k][0] + sizes[k]) for k in range(axis + 1, len(sizes))]
    return (slice(None),) * (axis + 1) + tuple(behind)


def ramp(end: Any, edge: Any, num: Any, axis: int, dtype: Any) -> Any:
    return np.linspace(end, edge, num, endpoint=False, dtype=dtype, axis=axis)


def rounded(x: Any, dtype: Any) -> Any:
    return np.round(x) if dtype.kind in "iu" else x
