"""np.argmax and np.argmin: loops of real numbers; of complex ones, whose order is lexicographic, NumPy's own search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.axes import axis_of
from tracebuf.frontends.numpy.arrays.new_arrays import as_array
from tracebuf.frontends.numpy.arrays.reshape import ravelled_values
from tracebuf.frontends.numpy.functions.host.calls import moved, number, record
from tracebuf.frontends.numpy.functions.reductions.reduce import NO_VALUE, arg_extreme
from tracebuf.frontends.numpy.numbers.operands import out_of
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import ArrayRef
from tracebuf.ir.dims import sub
from tracebuf.ir.types import I64
from tracebuf.running.host import Direct, ExtremeLoop, HostFunction, Passed, put_nothing, put_there


def index_of(ufunc: np.ufunc, function: Callable[..., Any]) -> Callable[..., Any]:
    """The handler of np.argmax or np.argmin."""

    def run(r: Recorder, a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NO_VALUE) -> Any:
        ref, into = as_array(r, a), out_of(r, out)
        plain = into is None and (keepdims is NO_VALUE or keepdims is False)
        if not plain or not ref.element.is_complex or not ref.ndim:
            return arg_extreme(r, ufunc, ref, axis, into, keepdims)
        rows = ravelled_values(r, ref) if axis is None else moved(ref, axis_of(r, axis, ref.ndim))
        name = function.__name__
        for n in ref.shape if axis is None else rows.shape[-1:]:
            r.require_nonneg(sub(n, 1), "ValueError", f"attempt to get {name} of an empty sequence")
        shape = rows.shape[:-1]
        found = record(r, search(function, rows), [r.read(rows)], [(I64, shape, range(len(shape)))])[0]
        return found if found.ndim else number(r, found)

    return run


def search(function: Callable[..., Any], rows: ArrayRef) -> HostFunction:
    """Finds the index in each row along the last axis."""
    if rows.ndim == 1:
        call = Direct(function, (Passed(0),), (), None, (0,), (None,), put_there)
    else:
        call = Direct(function, (Passed(0), -1, Passed(1)), ("axis", "out"), None, (), (), put_nothing)
    name = function.__name__
    return HostFunction(f"numpy.{name}", call, loop=ExtremeLoop(rows.dtype.char, name))


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.argmax: index_of(np.maximum, np.argmax), np.argmin: index_of(np.minimum, np.argmin),
}  # fmt: skip
"""By NumPy's function: its handler."""
METHODS: dict[str, Callable[..., Any]] = {"argmax": FUNCTIONS[np.argmax], "argmin": FUNCTIONS[np.argmin]}
"""By name of the array method: its handler."""
