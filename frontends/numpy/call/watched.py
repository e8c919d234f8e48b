"""What compiled code took when it began: arrays, items of containers, values of names from outside. A function of the
user's that it calls (`tracebuf.host_call`) may bind or change them behind its back; that is seen when the function
returns, and refused.

Elements that it stores to an array are seen by the code itself, which reads them from memory.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracebuf.errors import TracebufError
from tracebuf.frontends.numpy.call.flatten import FlatArguments
from tracebuf.frozen import frozen
from tracebuf.ir.ndarray import address

Geometry = tuple[int, tuple[int, ...], tuple[int, ...], np.dtype]


def geometry(x: np.ndarray) -> Geometry:
    """Where an array is, and how its elements are laid out."""
    return address(x), x.shape, x.strides, x.dtype


@frozen()
class State:
    """What is found at one time: the arguments and captured arrays, where the leaves that the call was given are, the
    values of names from outside."""

    found: FlatArguments
    places: tuple[Geometry | None, ...]
    captured: tuple[Any, ...]


@frozen(eq=False)
class Watch:
    """One call that is under way: its leaves, their names, how they are fetched again, and the names from outside with
    how these are fetched."""

    values: Sequence[Any]
    names: Sequence[str]
    fetch: Callable[[], FlatArguments]
    captures: Sequence[tuple[str, Callable[[], Any], Any]]

    def state(self) -> State:
        places = (geometry(x) if isinstance(x, np.ndarray) else None for x in self.values)
        return State(self.fetch(), tuple(places), tuple(value_of(fetch) for _, fetch, _ in self.captures))

    def changed(self, before: State) -> str | None:
        """What has been changed since, in words; None if nothing has."""
        now = self.state()
        for name, here, there in zip(self.names, now.places, before.places):
            if here != there:
                return f"the memory or the shape of `{name}`"
        same = now.found.tree == before.found.tree and all(map(is_same, now.found.containers, before.found.containers))
        if not same or len(now.found.values) != len(before.found.values):
            return "a list, dict or object"
        captured = zip((name for name, _, _ in self.captures), now.captured, before.captured)
        for name, x, y in (*zip(self.names, now.found.values, before.found.values), *captured):
            if x is not y and not equal(x, y):
                return f"`{name}`"
        return None


def value_of(fetch: Callable[[], Any]) -> Any:
    """The value of a name from outside; None where it has none."""
    try:
        return fetch()
    except (LookupError, AttributeError, NameError, ValueError):
        return None


def is_same(a: Any, b: Any) -> bool:
    return a is b


def equal(a: Any, b: Any) -> bool:
    """Whether two objects are one number or text."""
    numbers = (bool, int, float, complex, str, np.generic)
    return type(a) is type(b) and isinstance(a, numbers) and repr(a) == repr(b)


class _Current(threading.local):
    """The calls of this thread that are under way, the innermost last."""

    def __init__(self) -> None:
        self.watches: list[Watch] = []


_current = _Current()


class watching:
    """`with watching(watch)`: the call is under way."""

    __slots__ = ("watch",)

    def __init__(self, watch: Watch) -> None:
        self.watch = watch

    def __enter__(self) -> None:
        _current.watches.append(self.watch)

    def __exit__(self, *error: object) -> None:
        _current.watches.pop()


def call_watched(function: Callable[..., Any], name: str, args: Sequence[Any]) -> Any:
    """The result of a function of the user's; TracebufError if it has changed what the innermost call under way took.

    What other threads change before it is called is not its doing.
    """
    if not _current.watches:
        return function(*args)
    watch = _current.watches[-1]
    before = watch.state()
    result = function(*args)
    if (what := watch.changed(before)) is not None:
        raise TracebufError(
            f"host_call: {name} has changed {what}, which compiled code took when it began\n"
            "Instead: let it return the new value (result_shape=), or store to the array's elements"
        )
    return result
