"""`f(..., out=buffer)`: the result is computed into the caller's buffer, and the buffer is returned, as ufuncs do it.

A tuple of buffers serves a tuple of results; None leaves a result where it is. Shapes must agree (no broadcasting),
dtypes may be converted with casting "same_kind". All results are computed before the first buffer is written, so a
buffer may be an argument too. In a trace: paths/outputs. Source: numpy.org/doc/stable/reference/ufuncs.html, `out`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Form = bool | tuple[bool, ...] | None
"""How `out` was given: None (not at all), True (one buffer), or which items of a tuple are buffers."""


def destinations(out: Any) -> tuple[Form, tuple[np.ndarray, ...]]:
    """The form of `out` and its buffers; TypeError for a value that is not an array, ValueError for a read-only one."""
    if out is None:
        return None, ()
    items = out if isinstance(out, tuple) else (out,)
    for x in items:
        if x is not None and not isinstance(x, np.ndarray):
            raise TypeError("return arrays must be of ArrayType")
        if x is not None and not x.flags.writeable:
            raise ValueError("output array is read-only")
    form = tuple(x is not None for x in items) if isinstance(out, tuple) else True
    return form, tuple(x for x in items if x is not None)


def arranged(form: Form, buffers: Sequence[Any]) -> Any:
    """`out` as the caller gave it, from its form and the values of its buffers."""
    if form is None or isinstance(form, bool):
        return buffers[0] if form else None
    rest = iter(buffers)
    return tuple(next(rest) if given else None for given in form)


def labels(form: Form) -> list[str]:
    """The names of the buffers: `out`, or `out[0]` ...."""
    if form is None or isinstance(form, bool):
        return ["out"] if form else []
    return [f"out[{i}]" for i, given in enumerate(form) if given]


def pairs(result: Any, out: Any) -> list[tuple[Any, Any]]:
    """The results one by one, each with its buffer or None; raises what ufuncs raise where they do not match."""
    if isinstance(result, (tuple, list)):
        if out is None:
            return [(x, None) for x in result]
        if not isinstance(out, tuple):
            raise TypeError("'out' must be a tuple of arrays")
        if len(out) != len(result):
            raise ValueError("The 'out' tuple must have exactly one entry per result")
        return list(zip(result, out))
    if isinstance(out, tuple):
        if len(out) != 1:
            raise ValueError("The 'out' tuple must have exactly one entry per result")
        out = out[0]
    return [(result, out)]


def placed(result: Any, out: Any) -> Any:
    """The result with the buffers in place of the results stored into them."""
    items = [x if buffer is None else buffer for x, buffer in pairs(result, out)]
    if isinstance(result, tuple):
        return tuple(items) if type(result) is tuple else result  # a named tuple is refused later
    return items if isinstance(result, list) else items[0]


def check_kind(x: Any, fine: bool) -> None:
    """Raises TypeError unless a result is `fine`: an array or a number."""
    if not fine:
        raise TypeError(f"a result of type {type(x).__name__} cannot be computed into an output array")


def check_cast(source: Any, target: np.dtype) -> None:
    """Raises TypeError unless the cast is allowed by "same_kind"."""
    dtype = np.dtype(source)
    if not np.can_cast(dtype, target, "same_kind"):
        raise TypeError(f"Cannot cast a result of {dtype!r} to {target!r} according to the rule 'same_kind'")


def copy_results(result: Any, form: Form, buffers: Sequence[np.ndarray]) -> Any:
    """Copies NumPy's results into their buffers, after a call of the original function, as `store_results` does in a
    trace."""
    if form is None:
        return result
    out = arranged(form, buffers)
    stores = []
    for x, buffer in pairs(result, out):
        if buffer is None or x is buffer:
            continue
        check_kind(x, isinstance(x, (np.ndarray, np.generic, bool, int, float, complex)))
        check_cast(getattr(x, "dtype", type(x)), buffer.dtype)
        if np.shape(x) != buffer.shape:
            text = f"the result of shape {np.shape(x)} does not fit into an output array of shape {buffer.shape}"
            raise ValueError(text)
        shared = isinstance(x, np.ndarray) and any(np.may_share_memory(x, b) for b in buffers)
        stores.append((buffer, np.array(x) if shared else x))
    for buffer, x in stores:
        np.copyto(buffer, x, casting="same_kind")
    return placed(result, out)
