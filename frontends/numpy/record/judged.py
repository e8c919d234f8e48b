"""NumPy as the judge of errors: what a handler says a call raises is asked of NumPy too, on arrays of the same shapes
and dtypes.

NumPy's class and text are the user's then. Where NumPy takes the arguments the call is refused, for the handler knows
too little. What depends on elements is not asked of examples, whose elements are ones: there the handler is believed.
"""

from __future__ import annotations

import enum
import operator
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError, note_location
from tracebuf.frontends.numpy.record.callees import NestedFunction
from tracebuf.frontends.numpy.record.heap import DictView
from tracebuf.frontends.numpy.record.raises import Raises, by_signal, quiet
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import (
    NUMBERS,
    ArrayRef,
    NpScalar,
    PyBool,
    PyComplex,
    PyFloat,
    PyInt,
    Scalar,
    is_traced,
    storages_of,
)
from tracebuf.ir.dims import evaluate

MOST = 10**6
"""The most elements of the memory of an example."""
PLAIN = (*NUMBERS, str, bytes, type(None), type(Ellipsis), np.dtype, type, range, enum.Enum, type(np._NoValue))
"""Types of values that are their own examples."""
OF_ELEMENTS = (np.linalg.LinAlgError, ZeroDivisionError, FloatingPointError, IndexError, MemoryError)
"""Errors that may come from the elements of an example."""


OF_OTHER_ARRAYS = ("device", "like", "subok")
"""Parameters about arrays of other classes and devices."""


class NoExample(Exception):
    """A value has no example: only the run time knows it, or it is no value of NumPy's."""


def example_of(r: Recorder, x: Any) -> Any:
    """A value of NumPy's or Python's like a traced one: of its shape and dtype, or its own where it is known."""
    if isinstance(x, ArrayRef):
        return example_of_array(r, x)
    if isinstance(x, PyInt) and (value := r.in_this_call(x.expr)) is not None:
        return value
    if isinstance(x, PyBool) and x.nonneg is not None and (value := r.in_this_call(x.nonneg)) is not None:
        return value >= 0
    if isinstance(x, (PyFloat, PyComplex)):
        return 1.0 if isinstance(x, PyFloat) else 1j
    if isinstance(x, NpScalar) and not x.maybe_python:
        return x.element.dtype.type(1)
    if type(x) in (tuple, list):
        return type(x)(example_of(r, i) for i in x)
    if type(x) is dict:
        return {k: example_of(r, i) for k, i in x.items()}
    if isinstance(x, DictView):
        return getattr(example_of(r, x.of), x.sort)()
    if type(x) is slice:
        return slice(*(example_of(r, i) for i in (x.start, x.stop, x.step)))
    if isinstance(x, PLAIN) and not isinstance(x, Scalar):
        return x
    if isinstance(x, (NestedFunction, types.FunctionType)):
        return uncalled
    raise NoExample


def uncalled(*args: Any, **kwargs: Any) -> Any:
    """Stands for the user's functions, which are not called while tracing."""
    raise NoExample


def example_of_array(r: Recorder, x: ArrayRef) -> np.ndarray:
    """An array of ones, of the same shape and strides."""
    shape = [value for d in x.shape if (value := r.in_this_call(d)) is not None]
    if len(shape) < x.ndim or min(shape, default=0) < 0 or np.prod(shape, dtype=float) > MOST:
        raise NoExample
    try:
        strides = [evaluate(s, r.hints) * x.dtype.itemsize for s in x.strides]
    except (KeyError, UnsupportedError):
        raise NoExample from None
    reach = [s * (n - 1) for s, n in zip(strides, shape)]
    low, high = -sum(s for s in reach if s < 0), sum(s for s in reach if s > 0)
    if not all(shape) or low + high > MOST * x.dtype.itemsize:
        made = np.ones(shape, x.dtype)
    else:
        memory = np.ones((low + high) // x.dtype.itemsize + 1, x.dtype)
        made = np.ndarray(shape, x.dtype, memory, low, strides)
    made.flags.writeable = not x.read_only and all(s.writable for s in storages_of(x))
    return made


def judged(
    r: Recorder, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], said: Raises
) -> Raises | UnsupportedError:
    """What is raised for a call of which a handler says that it raises `said`."""
    try:
        given = [example_of(r, x) for x in args]
        named = {name: example_of(r, x) for name, x in kwargs.items()}
    except NoExample:
        return said
    found = error_of(function, given, named)
    if isinstance(found, NoExample):
        return said
    if found is None:
        name = getattr(function, "__name__", "function")
        reason = f"{name} of these arguments, which NumPy takes: {said.error}"
        return r.refuse(reason, "call it outside, or through tracebuf.host_call")
    same = type(found) is type(said.error)
    if (not same and type(found) in OF_ELEMENTS) or (same and not r.certain):
        return said
    if said.placed:
        note_location(found, said.loc)
    return Raises(found, said.placed, said.loc)


def numpys_error(
    r: Recorder, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Exception | None:
    """What NumPy raises for a call that is refused, if it surely raises: then it is no limit of tracing. Of traced
    arguments a TypeError or an AttributeError alone is believed, for these follow from types."""
    try:
        given = [example_of(r, x) for x in args]
        found = error_of(function, given, {name: example_of(r, x) for name, x in kwargs.items()})
    except NoExample:
        return None
    if isinstance(found, (NoExample, MemoryError, RecursionError)):
        return None
    known = not any(is_traced(x) for y in (*args, *kwargs.values()) for x in (y if type(y) in (list, tuple) else (y,)))
    return found if known or isinstance(found, (TypeError, AttributeError)) else None


def for_plain_arrays(
    r: Recorder, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """The named arguments of a call without those that mean nothing for NumPy's own arrays. NumPy says whether the
    function takes them, and these values of them."""
    rest = {name: x for name, x in kwargs.items() if name not in OF_OTHER_ARRAYS}
    if len(rest) == len(kwargs):
        return kwargs
    try:
        found, without = (
            error_of(function, [example_of(r, x) for x in args], {name: example_of(r, x) for name, x in named.items()})
            for named in (kwargs, rest)
        )
    except NoExample:
        return kwargs
    if isinstance(found, NoExample):
        return kwargs
    if found is not None and type(found) is not type(without):
        raise Raises(found)
    return rest


RUNNING = frozenset((
    "cumsum", "cumprod", "nancumsum", "nancumprod", "cumulative_sum", "cumulative_prod", "accumulate",
))  # fmt: skip
"""Names of functions that write past an output without axes, in NumPy up to 2.4: the process dies."""


def may_crash(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether NumPy may not be asked."""
    outputs = (*args[1:], kwargs.get("out"))
    return getattr(function, "__name__", "").lstrip(".") in RUNNING and any(
        isinstance(x, np.ndarray) and not x.ndim for out in outputs for x in (out if type(out) is tuple else (out,))
    )


def error_of(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Exception | None:
    """What a call raises, without its traceback, whose frames hold the arguments."""
    if may_crash(function, args, kwargs):
        return NoExample()
    try:
        with quiet():
            function(*args, **kwargs)
    except Exception as error:
        if (late := by_signal(error)) is not None:
            raise late  # noqa: B904
        return error.with_traceback(None)
    return None


def method(name: str) -> Callable[..., Any]:
    """A method of an array as a function of the array."""

    def call(x: Any, *args: Any, **kwargs: Any) -> Any:
        return operator.methodcaller(name, *args, **kwargs)(x)

    call.__name__ = f".{name}"
    return call
