"""Slices with bounds that are traced: tuples while they are values, so that paths and loops handle their bounds like a
tuple's items, and Python's slices where they are an index."""

from __future__ import annotations

from typing import Any, NamedTuple

from tracebuf.frontends.numpy.record.values import is_traced
from tracebuf.frozen import frozen


class SliceOf(NamedTuple):
    """slice(start, stop, step)."""

    start: Any
    stop: Any
    step: Any


@frozen()
class OrNone:
    """A bound of a slice of an array that is written `x or None`: an int that only the run time knows, or no bound."""

    value: Any


def as_value(x: Any) -> Any:
    """An index as a value that a name may be bound to."""
    if type(x) is tuple:
        return tuple(map(as_value, x))
    if isinstance(x, slice) and any(map(is_traced, parts := (x.start, x.stop, x.step))):
        return SliceOf(*parts)
    return x


def as_slices(index: Any) -> Any:
    """An index, with Python's slices."""
    if type(index) is SliceOf:
        return slice(*index)
    if type(index) is tuple and any(type(part) is SliceOf for part in index):
        return tuple(slice(*part) if type(part) is SliceOf else part for part in index)
    return index
