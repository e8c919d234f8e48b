"""The arguments of a call as its handler takes them: a parameter of NumPy's that the handler does not have is taken
with NumPy's default only, and else refused by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from tracebuf.frontends.numpy.record import refusals
from tracebuf.frontends.numpy.record.judged import numpys_error
from tracebuf.frontends.numpy.record.raises import Raises, bind
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.scalar_checks import static_flags

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
"""The kinds of parameters that may be passed by position."""


@lru_cache(maxsize=1024)
def signature_of(function: Callable[..., Any]) -> inspect.Signature | None:
    """A function's signature; None if it has none."""
    try:
        return inspect.signature(function)
    except (ValueError, TypeError):
        return None


@lru_cache(maxsize=1024)
def taken(handler: Callable[..., Any]) -> tuple[float, frozenset[str] | None]:
    """How many positional arguments, and which keyword arguments (None: any), a handler takes after the recorder."""
    found = signature_of(handler)
    if found is None:
        return float("inf"), None
    _, *parameters = found.parameters.values()
    by_place: float = sum(p.kind in _POSITIONAL for p in parameters)
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        by_place = float("inf")
    names = frozenset(p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY))
    return by_place, None if any(p.kind is p.VAR_KEYWORD for p in parameters) else names


def taken_arguments(
    r: Recorder, function: Callable[..., Any], handler: Callable[..., Any], args: Sequence[Any],
    kwargs: dict[str, Any], bound: bool = False,
) -> tuple[Sequence[Any], dict[str, Any]]:  # fmt: skip
    """The arguments of a call as its handler takes them, every flag known, without those that only NumPy has and that
    are NumPy's defaults. UnsupportedError for others, TypeError for those that NumPy does not have either; `bound`:
    args[0] is the array whose method it is."""
    kwargs = static_flags(r, kwargs)
    by_place, named = taken(handler)
    strange = [] if named is None else [name for name in kwargs if name not in named]
    if (not strange and len(args) <= by_place) or (numpys := signature_of(function)) is None:
        return args, kwargs
    bind(numpys, args, kwargs)  # which raises TypeError
    if (error := numpys_error(r, function, args, kwargs)) is not None:  # it may take any, and pass them on
        raise Raises(error)
    place = int(min(by_place, len(args)))
    by_name = dict(zip([*numpys.parameters][place:], args[place:]))
    given = {**by_name, **kwargs}
    strange = [k for k, x in given.items() if named is not None and k not in named and not is_default(numpys, k, x)]
    if not strange and len(by_name) == len(args) - place:
        return args[:place], {k: x for k, x in given.items() if named is None or k in named}
    raise r.refuse(*refusals.parameters(refusals.spelled(function, bound), strange or [*by_name]))


def is_default(signature: inspect.Signature, name: str, value: Any) -> bool:
    """Whether an argument is what the parameter is anyway."""
    default = signature.parameters[name].default if name in signature.parameters else inspect.Parameter.empty
    return value is default or (type(value) is type(default) and bool(value == default))
