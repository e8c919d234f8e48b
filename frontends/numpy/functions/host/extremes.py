"""np.argmax and np.argmin: NumPy's own search, which takes many elements at once; of one without axes, a loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.axes import axis_of, flag
from tracebuf.frontends.numpy.arrays.new_arrays import as_array
from tracebuf.frontends.numpy.arrays.reshape import ravelled_values
from tracebuf.frontends.numpy.arrays.shapes import expand_dims
from tracebuf.frontends.numpy.functions.host.calls import moved, record
from tracebuf.frontends.numpy.functions.reductions.reduce import NO_VALUE, arg_extreme, deliver
from tracebuf.frontends.numpy.numbers.operands import INT, out_of
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.registry import traces
from tracebuf.frontends.numpy.record.values import ArrayRef
from tracebuf.ir.dims import sub
from tracebuf.ir.types import I64
from tracebuf.running.host import Direct, ExtremeLoop, HostFunction, Passed, put_nothing, put_there


@traces(np.argmax, of=np.maximum, method="argmax")
@traces(np.argmin, of=np.minimum, method="argmin")
def index_of(
    ufunc: np.ufunc, r: Recorder, a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NO_VALUE
) -> Any:
    ref, into = as_array(r, a), out_of(r, out)
    if not ref.ndim or by_lanes(r, ref, axis):
        return arg_extreme(r, ufunc, ref, axis, into, keepdims)
    function, kept = np.argmax if ufunc is np.maximum else np.argmin, flag(r, keepdims)
    name = function.__name__
    at = None if axis is None else axis_of(r, axis, ref.ndim)
    rows = ravelled_values(r, ref) if at is None else moved(ref, at)
    for n in ref.shape if at is None else rows.shape[-1:]:
        r.require_nonneg(sub(n, 1), "ValueError", f"attempt to get {name} of an empty sequence")
    if into is not None and into.dtype != INT:
        raise r.refuse(f"{name} into dtype {into.dtype}", f"store it: out[...] = np.{name}(a, axis)")
    shape = rows.shape[:-1]
    found = record(r, search(function, rows), [r.read(rows)], [(I64, shape, range(len(shape)))])[0]
    if kept:
        found = expand_dims(r, found, tuple(range(ref.ndim)) if at is None else at)
    return deliver(r, found, into, name)


def by_lanes(r: Recorder, ref: ArrayRef, axis: Any) -> bool:
    """Whether loops of our own are faster than NumPy's search: of half precision, for which it has none that takes many
    elements at once; along an axis that is not contiguous, beside one that is, and long."""
    if ref.element.is_complex:
        return False
    if ref.element.name == "f16":
        return True
    if axis is None or ref.ndim == 1:
        return False
    at = axis_of(r, axis, ref.ndim)
    if ref.shape[at] == 1:  # NumPy copies nothing to find the only element
        return False
    dense = [k for k in range(ref.ndim) if ref.strides[k] == 1]
    return bool(dense) and at not in dense and r.ask_nonneg(sub(ref.shape[dense[0]], WIDE)) is not False


WIDE = 16
"""So many elements lie beside one another along the other axis."""


def search(function: Callable[..., Any], rows: ArrayRef) -> HostFunction:
    """Finds the index in each row along the last axis."""
    if rows.ndim == 1:
        call = Direct(function, (Passed(0),), (), None, (0,), (None,), put_there)
    else:
        call = Direct(function, (Passed(0), -1, Passed(1)), ("axis", "out"), None, (), (), put_nothing)
    name = function.__name__
    return HostFunction(f"numpy.{name}", call, loop=ExtremeLoop(rows.dtype.char, name))
