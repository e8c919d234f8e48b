"""Which parameters of NumPy's functions a handler takes: the others are refused by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from tracebuf.frontends.numpy.record.judged import numpys_error
from tracebuf.frontends.numpy.record.raises import Raises, bind
from tracebuf.frontends.numpy.record.recorder import Recorder

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


def check_parameters(
    r: Recorder,
    function: Callable[..., Any],
    handler: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    bound: bool = False,
) -> None:
    """Raises UnsupportedError for parameters that only NumPy has, TypeError for those that NumPy does not have either;
    `bound`: args[0] is the array whose method it is."""
    by_place, named = taken(handler)
    strange = [] if named is None else [name for name in kwargs if name not in named]
    if not strange and len(args) <= by_place:
        return
    numpys = signature_of(function)
    if numpys is None:
        return
    bind(numpys, args, kwargs)  # which raises TypeError
    if (error := numpys_error(r, function, args, kwargs)) is not None:  # it may take any, and pass them on
        raise Raises(error)
    if not strange:
        strange = [*numpys.parameters][int(by_place) : len(args)]
    of = "np.ndarray." if bound else "np."
    what = f"{of}{getattr(function, '__name__', 'function')} with {', '.join(f'{name}=' for name in strange)}"
    raise r.refuse(f"{what} is not supported", f"leave `{strange[0]}` out")
