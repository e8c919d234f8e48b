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

STATISTICS: dict[str, Any] = {"maximum": np.max, "minimum": np.min, "mean": np.mean, "median": np.median}


@formula(np.pad)
def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    """np.pad: one axis after another, over the whole extent of the axes before it and the middle of those after it."""
    if not isinstance(mode, str):
        refuse("np.pad with a function", "pad with a constant, then store into the margins")
    if any(name != OPTIONS.get(mode) for name in kwargs):
        raise ValueError(f"unsupported keyword arguments for mode '{mode}'")
    array = np.asarray(array)
    option = list(kwargs.values())[0] if len(kwargs) else None
    if option == "odd" and mode in ("reflect", "symmetric"):
        return odd(array, pad_pairs(pad_width, array.ndim), pad_width, 1 if mode == "reflect" else 0)
    if mode not in ("linear_ramp", "maximum", "minimum", "mean", "median"):
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
            statistic = STATISTICS[mode]
            left[...] = rounded(statistic(middle[along(axis, slice(0, first))], axis=axis, keepdims=True), array.dtype)
            right[...] = rounded(statistic(middle[along(axis, slice(start, n))], axis=axis, keepdims=True), array.dtype)
    return padded


def odd(array: Any, widths: Any, pad_width: Any, skipped: int) -> Any:
    """The array with margins that are twice its edge less what is as far on its other side; `skipped`: 1 where the edge
    is no part of that."""
    padded = pad_rows(array, pad_width, "empty", 0)
    for axis, (before, after) in enumerate(widths):
        n = array.shape[axis]
        if n == 0 and (before > 0 or after > 0):
            raise ValueError(f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'")
        if n > 1 and (before > n - skipped or after > n - skipped):
            refuse("np.pad with odd reflections that are wider than the array", "pad several times")
        inner = padded[middle_of(array, widths, axis)]
        left, right = inner[along(axis, slice(0, before))], inner[along(axis, slice(before + n, None))]
        first = inner[along(axis, slice(before, before + 1))]
        last = inner[along(axis, slice(before + n - 1, before + n))]
        if n == 1 and skipped:  # as in NumPy
            left[...], right[...] = first, last
        elif n > 0:
            begin, end = before + skipped, before + n - skipped
            left[...] = 2 * first - np.flip(inner[along(axis, slice(begin, begin + before))], axis)
            right[...] = 2 * last - np.flip(inner[along(axis, slice(end - after, end))], axis)
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
