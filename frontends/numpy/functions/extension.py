"""`traced_as`: how a user's own function is traced into the user's own ops.

Eager calls of the function stay what they are; in a traced function a call of it goes to the user's handler, which
records ops. The handler sees traced arrays and numbers through `Tracing`, and none of the tracer's internals.
Limitations: nothing checks that the handler means what the function does (dtype, memory order and errors included);
`testing.ladder.climb` finds out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.arrays.new_arrays import element_of
from tracebuf.frontends.numpy.functions.parameters import signature_of
from tracebuf.frontends.numpy.numbers.operands import scalar_value, weak_type
from tracebuf.frontends.numpy.record.broadcasting import shape_text
from tracebuf.frontends.numpy.record.raises import Raises, ask, bind, name_of
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.registry import traces
from tracebuf.frontends.numpy.record.values import ArrayRef, Scalar, axis_order
from tracebuf.ir.core import OpT, Value
from tracebuf.ir.dims import Dim
from tracebuf.ir.types import ScalarType
from tracebuf.location import Location

__all__ = ["ArrayRef", "Tracing", "traced_as"]

Handler = Callable[..., Any]
"""`handler(tracing, *args, **kwargs)`: records a call and returns its result."""


def traced_as(function: Callable[..., Any]) -> Callable[[Handler], Handler]:
    """Decorates the handler of a function: `handler(tracing, *args, **kwargs)` records what a traced call of `function`
    computes, and returns it (`Tracing.array_of`). The function itself is not changed; a later handler replaces an
    earlier one.

    A handler raises what the function raises by `Tracing.fail`; any other exception of a handler is a bug in it, and
    becomes an InternalError.
    """

    def register(handler: Handler) -> Handler:
        def run(r: Recorder, *args: Any, **kwargs: Any) -> Any:
            if (takes := signature_of(function)) is not None:
                bind(takes, args, kwargs)  # TypeError as Python's
            return handler(Tracing(r), *args, **kwargs)

        run.__module__, run.__qualname__ = handler.__module__, f"{handler.__qualname__} of {name_of(function)}"
        traces(function)(run)
        return handler

    return register


class Tracing:
    """What a handler works with: arguments as SSA values, ops, and new arrays. Sizes are ints or symbolic."""

    __slots__ = ("_r",)

    def __init__(self, recorder: Recorder) -> None:
        self._r = recorder

    @property
    def loc(self) -> Location:
        """The location of the user's expression."""
        return self._r.loc

    def add(self, op: OpT) -> OpT:
        """Appends an op to the program."""
        return self._r.add(op)

    # -- arguments
    def tensor(self, x: Any, *, ndim: int | None = None, dtypes: Sequence[Any] = ()) -> Value:
        """The elements of an array argument; UnsupportedError for anything else, or another rank or dtype."""
        if not isinstance(x, ArrayRef):
            raise self.refuse(f"a {type(x).__name__} where an array is expected", "pass an array")
        if ndim is not None and x.ndim != ndim:
            raise self.refuse(f"an array of {x.ndim} dimensions", f"pass one of {ndim}")
        if dtypes and x.dtype not in [np.dtype(d) for d in dtypes]:
            raise self.refuse(f"an array of {x.dtype}", f"convert it: a.astype({np.dtype(dtypes[0])})")
        return self._r.read(x)

    def scalar(self, x: Any, dtype: Any) -> Value:
        """A number as a value of a dtype, converted as NumPy converts it."""
        if not isinstance(x, Scalar | bool | int | float | complex | np.generic):
            raise self.refuse(f"a {type(x).__name__} where a number is expected", "pass a number")
        return scalar_value(self._r, x, element_of(self._r, dtype))

    def dtype_of(self, *args: Any) -> np.dtype:
        """The common dtype that NumPy gives to these arguments (np.result_type)."""
        weak: dict[Any, Any] = {float: 0.0, int: 0, complex: 0j}
        return ask(np.result_type, *(weak.get(kind, kind) for kind in map(weak_type, args)))

    def same_shape(self, a: ArrayRef, b: ArrayRef) -> None:
        """ValueError, as NumPy words it, unless both arrays have one shape."""
        if a.ndim != b.ndim:
            raise self.refuse("arrays of different rank", "add axes: a[:, None]")
        shapes, values = shape_text([a.shape, b.shape])
        message = f"operands could not be broadcast together with shapes {shapes} "
        for m, n in zip(a.shape, b.shape, strict=True):
            self._r.require_equal(m, n, "ValueError", message, values)

    # -- results
    def empty(self, shape: Sequence[Dim], dtype: Any, order: Sequence[int] | None = None) -> Value:
        """A new tensor of undefined contents; `order`: its axes, outermost first (C where not given)."""
        return self._r.empty(element_of(self._r, dtype), shape, order)

    def order_of(self, *arrays: ArrayRef) -> tuple[int, ...]:
        """The axes of an elementwise result of arrays of one rank, as NumPy orders them (K)."""
        n = arrays[0].ndim
        return axis_order([(a, range(n)) for a in arrays], n)

    def array_of(self, value: Value, order: Sequence[int] | None = None) -> ArrayRef:
        """The array that the traced function sees: a fresh one with the elements of `value`."""
        type_ = value.tensor_type
        assert isinstance(type_.element, ScalarType)
        axes = tuple(range(type_.rank)) if order is None else tuple(order)
        return ArrayRef(self._r.new_storage(type_.element, type_.shape, axes, value))

    def fail(self, exception: type[Exception], message: str) -> NoReturn:
        """Ends the handler: here the function raises `exception(message)`. It is raised where and when this is reached,
        so not in a branch that is not taken, and after what comes before. Anything else that a handler raises is a bug
        of the handler, and becomes an InternalError."""
        raise Raises(exception(message))

    def refuse(self, reason: str, instead: str) -> UnsupportedError:
        """The error for a call that the handler does not know, with the user's line; the handler raises it."""
        return self._r.refuse(reason, instead)
