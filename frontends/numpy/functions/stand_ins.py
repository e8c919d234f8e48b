"""What NumPy itself says to a call that is refused: asked on stand-ins for the traced arguments.

A call that eager NumPy does not take either is no limit of tracing; the user gets NumPy's exception, where the call is
reached. Limits: with traced arguments a TypeError or an AttributeError alone is believed, for these follow from types;
other errors may hang on values or sizes. Nothing that is large, that calls back or that is used up is asked.
"""

from __future__ import annotations

import enum
import math
import types
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.record.callees import NestedFunction
from tracebuf.frontends.numpy.record.raises import Raises, asking
from tracebuf.frontends.numpy.record.values import NUMBERS, ArrayRef, Scalar, is_traced, stand_in

SYMBOLIC = 2
"""The extent of a stand-in along an axis whose size is not known while tracing."""
PLAIN = (*NUMBERS, str, bytes, slice, range, enum.Enum, np.dtype, type, types.NoneType, types.EllipsisType)
"""Values that stand for themselves."""
LARGEST = 4096
"""The number of elements of the largest stand-in that is made."""


class NoStandIn(Exception):
    """An argument has no stand-in."""


def numpys_error(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Exception | None:
    """What the NumPy function (or method of ndarray) raises for such arguments, if it surely raises; else None."""
    try:
        given = [of_value(x) for x in args]
        named = {name: of_value(x) for name, x in kwargs.items()}
    except NoStandIn:
        return None
    traced = any(is_traced(x) for x in leaves([*args, *kwargs.values()]))
    try:
        with asking, np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            function(*given, **named)
    except Raises as said:
        error = said.error
        if isinstance(error, (NoStandIn, MemoryError, RecursionError)):
            return None
        return error if isinstance(error, (TypeError, AttributeError) if traced else Exception) else None
    return None


def leaves(x: Any) -> list[Any]:
    """What lists, tuples and dicts hold, at any depth."""
    if isinstance(x, (list, tuple)):
        return [leaf for item in x for leaf in leaves(item)]
    return [leaf for item in x.values() for leaf in leaves(item)] if isinstance(x, dict) else [x]


def of_value(x: Any) -> Any:
    """A concrete value of the type that `x` has in eager Python; NoStandIn where there is none."""
    if isinstance(x, ArrayRef):
        shape = [n if isinstance(n, int) else SYMBOLIC for n in x.shape]
        if math.prod(shape) > LARGEST:
            raise NoStandIn
        return np.zeros(shape, x.dtype)
    if isinstance(x, Scalar):
        return stand_in(x)
    if type(x) in (list, tuple):
        return type(x)(of_value(item) for item in x)
    if type(x) is dict:
        return {key: of_value(item) for key, item in x.items()}
    if isinstance(x, (NestedFunction, types.FunctionType)):
        return uncalled
    if isinstance(x, PLAIN):
        return x
    raise NoStandIn


def uncalled(*args: Any, **kwargs: Any) -> Any:
    """Stands for the user's functions, which are not called while tracing."""
    raise NoStandIn
