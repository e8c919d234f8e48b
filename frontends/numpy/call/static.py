"""static_argnames: arguments that are Python values while tracing, each a part of the key. JAX's word.

They are compared as dict keys are, except that values which Python calls equal and a program can distinguish (1, 1.0
and True, the two zeros) are different keys. What cannot be hashed cannot be part of a key: a TypeError.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.call.arguments import StaticKey, brief
from tracebuf.frontends.numpy.source.binding import parameters_of
from tracebuf.options import NAMING, Options


def check_names(function: FunctionType, options: Options) -> None:
    """Raises ValueError where an option names something that is not a parameter, or is one of many arguments
    (`*args`)."""
    parameters = parameters_of(function.__code__)
    for field in NAMING:
        for name in getattr(options, field):
            if name not in parameters.all:
                raise ValueError(f"{field} names {name!r}, which is no parameter of {function.__name__}")
            if name not in parameters.single:
                raise ValueError(f"{field} names {name!r}, which is not one argument; give it a parameter of its own")


def static_key(name: str, x: Any) -> StaticKey:
    """A static argument's part of the key; TypeError for what cannot be hashed."""
    value = exact(x)
    try:
        hash(value)
    except (TypeError, ValueError) as error:  # as memoryviews raise
        reason = f"argument `{name}` is static, so it must be hashable: {error}"
        raise TypeError(f"{reason}; pass a tuple, or take {name!r} out of static_argnames") from None
    return StaticKey(type(x), value, f"={brief(x)}")


def exact(x: Any) -> Any:
    """A hashable value that equals another's only where a program cannot distinguish the two."""
    kind = type(x)
    if isinstance(x, (float, complex, np.inexact)):
        return kind, repr(x)  # 0.0 is not -0.0, and NaN is one value
    if isinstance(x, tuple):
        return kind, *map(exact, x)
    if isinstance(x, frozenset):
        return kind, frozenset(map(exact, x))
    if isinstance(x, slice):
        return kind, exact(x.start), exact(x.stop), exact(x.step)
    return kind, x
