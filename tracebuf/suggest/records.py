"""The arguments of a call, copied when it begins: arrays with their layouts and overlaps."""

from __future__ import annotations

from collections.abc import Iterable
from types import FrameType
from typing import Any

import numpy as np

from tracebuf.frozen import frozen
from tracebuf.measure import buffer_bytes, clone_arguments

__all__ = ["Record", "given_to", "record", "top_bytes"]

_VAR_POSITIONAL, _VAR_NAMED = 0x4, 0x8


@frozen(slots=False)
class Record:
    """The arguments of one call, on memory of their own."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    bytes: int


def given_to(frame: FrameType) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments that a function's frame begins with."""
    code, values = frame.f_code, frame.f_locals
    count, named = code.co_argcount, code.co_kwonlyargcount
    names = code.co_varnames
    args = tuple(values[n] for n in names[:count])
    kwargs = {n: values[n] for n in names[count : count + named]}
    behind = count + named
    if code.co_flags & _VAR_POSITIONAL:
        args += tuple(values[names[behind]])
        behind += 1
    if code.co_flags & _VAR_NAMED:
        kwargs.update(values[names[behind]])
    return args, kwargs


def record(args: tuple[Any, ...], kwargs: dict[str, Any], limit: int) -> Record | None:
    """A copy of a call's arguments; None where they need more than `limit` bytes, or cannot be copied: the program that
    is watched goes on, whatever its objects do when they are looked at."""
    try:
        size = buffer_bytes((args, kwargs))
        if size > limit:
            return None
        return Record(*clone_arguments(args, kwargs), size)
    except Exception:
        return None


def top_bytes(values: Iterable[Any]) -> int:
    """The bytes of the arrays among some values, without those inside of containers."""
    return sum(v.nbytes for v in values if isinstance(v, np.ndarray))
