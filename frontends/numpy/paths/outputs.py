"""`f(..., out=buffer)`: the result is computed into the caller's buffer, and the buffer is returned, as ufuncs do it.

A tuple of buffers serves a tuple of results; None leaves a result where it is. Shapes must agree (no broadcasting),
dtypes may be converted with casting "same_kind". All results are computed before the first buffer is written, so a
buffer may be an argument too. Source: numpy.org/doc/stable/reference/ufuncs.html, `out`.
"""

from __future__ import annotations

from typing import Any

from tracebuf.frontends.numpy.call.outputs import check_cast, check_kind, pairs, placed
from tracebuf.frontends.numpy.numbers.generics import convert_to
from tracebuf.frontends.numpy.numbers.lattice import check_one_type
from tracebuf.frontends.numpy.numbers.operands import Operand, as_number, scalar_value, weak_type
from tracebuf.frontends.numpy.numbers.weak_ints import check_weak_int
from tracebuf.frontends.numpy.record.broadcasting import shape_text
from tracebuf.frontends.numpy.record.raises import ask
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import NUMBERS, ArrayRef, NpScalar, Scalar


def store_results(r: Recorder, result: Any, out: Any) -> Any:
    """Stores traced results into traced buffers; the new result."""
    if out is None:
        return result
    stores = [(o, content(r, x, o)) for x, o in ask(pairs, result, out) if o is not None and not same_elements(x, o)]
    for buffer, value in stores:
        if buffer.ndim:
            r.store(buffer, value)
        else:
            r.store_element(buffer, (), value)
    return placed(result, out)


def same_elements(x: Any, buffer: ArrayRef) -> bool:
    """Whether a result is the buffer itself, or the same view of it."""
    return isinstance(x, ArrayRef) and x.same(buffer)


def content(r: Recorder, x: Any, buffer: ArrayRef) -> Any:
    """A result as the buffer will hold it, checked: a tensor, or a scalar where the buffer is 0-d."""
    r.check_writable(buffer)
    check_one_type(r, x)
    ask(check_kind, x, isinstance(x, (ArrayRef, Scalar, *NUMBERS)))
    check_known_origin(r, x)
    ask(check_cast, weak_type(x), buffer.dtype)
    check_weak_int(r, x, buffer.dtype)
    shape = x.shape if isinstance(x, ArrayRef) else ()
    (wanted, values), (given, more) = shape_text([buffer.shape]), shape_text([shape])
    message = f"the result of shape {given} does not fit into an output array of shape {wanted}"
    if len(shape) != buffer.ndim:
        r.fail("ValueError", message, more + values)
    for a, b in zip(shape, buffer.shape):
        r.require_equal(a, b, "ValueError", message, more + values)
    if buffer.ndim:
        return convert_to(r, x, buffer.element, buffer.shape)
    return scalar_value(r, as_number(r, x), buffer.element)


def check_known_origin(r: Recorder, x: Operand) -> None:
    """Refuses a number of which only the run time knows whether it is Python's."""
    if isinstance(x, NpScalar) and x.maybe_python:
        raise r.refuse(
            "this result is a Python number or NumPy's, depending on the path",
            f"start it as np.{x.element.dtype.name}(...)",
        )
