"""The parameters `axis` and `keepdims`: normalised as NumPy does, part of the key where they come from arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.indexing import as_int, as_strict_int
from tracebuf.frontends.numpy.record.growing import is_growing
from tracebuf.frontends.numpy.record.raises import Raises
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.refusals import name_of
from tracebuf.frontends.numpy.record.values import ArrayRef, Scalar, stand_in

NO_VALUE = np._NoValue


def axes_of(r: Recorder, axis: Any, ndim: int, bools: bool = False, name: str | None = None) -> tuple[int, ...]:
    """The reduced axes, normalised; AxisError as NumPy's, which may name the parameter. For an array without axes, 0
    and -1 mean all of it."""
    if axis is None:
        return tuple(range(ndim))
    items = axis if isinstance(axis, tuple) else (axis,)
    if not ndim and len(items) == 1 and type(items[0]) is int and items[0] not in (0, -1):
        raise Raises(np.exceptions.AxisError(items[0], 0, name))
    found = [axis_of(r, item, ndim or (1 if len(items) == 1 else 0), bools, name) for item in items]
    if len(set(found)) != len(found):
        raise Raises(ValueError("duplicate value in 'axis'"))
    return tuple(found) if ndim else ()


def own_axes_of(r: Recorder, axis: Any, ndim: int, name: str | None = None) -> tuple[int, ...]:
    """Axes normalised as functions of shape do it (normalize_axis_tuple): an array without axes has none."""
    several = isinstance(axis, (tuple, list, range))
    if not ndim and axis is not None and not (several and len(axis) == 0):
        raise Raises(np.exceptions.AxisError(axis[0] if several else axis, 0, name))
    return axes_of(r, tuple(axis) if several else axis, ndim, bools=True, name=name)


def axis_of(r: Recorder, axis: Any, ndim: int, bools: bool = False, name: str | None = None) -> int:
    """One axis, normalised; part of the key where it is computed from arguments. `bools`: NumPy normalises it in
    Python, where True and False are ints; `name`: its error names the parameter."""
    found = (as_int if bools else as_strict_int)(r, axis)
    if found is None:
        refuse_unread(r, axis, "an axis")
        kind = type(stand_in(axis)).__name__ if isinstance(axis, Scalar) else name_of(axis)
        raise Raises(TypeError(f"'{kind}' object cannot be interpreted as an integer"))
    i = r.static_int(found, "the axis")
    if not -ndim <= i < ndim:
        raise Raises(np.exceptions.AxisError(i, ndim, name))
    return i % ndim


def refuse_unread(r: Recorder, x: Any, what: str) -> None:
    """Refuses an array, or a list whose length only the run time knows, where NumPy reads sizes or axes from it."""
    if (isinstance(x, ArrayRef) and x.ndim) or is_growing(x):
        raise r.refuse(f"{what} from an array, or from a list that grows at run time", "write the numbers one by one")


def flag(r: Recorder, keepdims: Any) -> bool:
    """The value of `keepdims`, which has to be known while tracing."""
    if keepdims is not NO_VALUE and not isinstance(keepdims, (bool, np.bool_, int)):
        raise r.refuse("keepdims is not known at trace time", "use True and False in two branches")
    return keepdims is not NO_VALUE and bool(keepdims)
