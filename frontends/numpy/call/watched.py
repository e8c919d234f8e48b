"""What compiled code took when it began: arrays, items of containers, values of names from outside. A function of the
user's that it calls (`tracebuf.host_call`) may bind or change them behind its back; that is seen when the function
returns, and refused.

Elements that it stores to an array are not compared, since that takes time for each of them: `writes=` declares such
stores, and others have no defined effect on what the code around the call computes.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from tracebuf.errors import TracebufError
from tracebuf.frontends.numpy.call.conditions import is_method, same_method
from tracebuf.frontends.numpy.call.flatten import FlatArguments
from tracebuf.frontends.numpy.call.lookups import Lookup
from tracebuf.frozen import frozen
from tracebuf.ir.ndarray import address

Geometry = tuple[int, tuple[int, ...], tuple[int, ...], np.dtype]


def geometry(x: np.ndarray) -> Geometry:
    """Where an array is, and how its elements are laid out."""
    return address(x), x.shape, x.strides, x.dtype


@frozen()
class State:
    """What is found at one time: the arguments and captured arrays, where the leaves that the call was given are, the
    values of names from outside, and the elements of arrays of text, which the code has read when it began."""

    found: FlatArguments | None
    places: list[Geometry | None]
    captured: list[Any]
    texts: list[bytes]


class Outside:
    """The names from outside that a program relies on: fetched all at once where a dict has them."""

    def __init__(self, captures: Sequence[tuple[str, Callable[[], Any], Any]]) -> None:
        held: dict[int, tuple[dict[str, Any], list[tuple[str, str, Callable[[], Any]]]]] = {}
        rest: list[tuple[str, Callable[[], Any]]] = []
        for name, fetch, _ in captures:
            place = fetch.place() if isinstance(fetch, Lookup) else None
            where, key = (None, "") if place is None else place
            where = where[0] if isinstance(where, tuple) else where
            if isinstance(where, dict) and key in where:
                held.setdefault(id(where), (where, []))[1].append((name, key, fetch))
            else:
                rest.append((name, fetch))
        groups = [(where, [*found, found[0]]) for where, found in held.values()]  # two at least: a tuple each
        self._groups = [(where, itemgetter(*[k for _, k, _ in g]), [f for *_, f in g]) for where, g in groups]
        self._rest = [fetch for _, fetch in rest]
        self.names = [name for _, found in groups for name, *_ in found] + [name for name, _ in rest]

    def values(self) -> list[Any]:
        """What the names are bound to."""
        found: list[Any] = []
        for where, get, fetches in self._groups:
            try:
                found += get(where)
            except KeyError:
                found += map(value_of, fetches)
        found += map(value_of, self._rest)
        return found


@frozen(eq=False)
class Watch:
    """One call that is under way: its leaves, their names, how they are fetched again (None where nothing that holds
    them can change), and the names from outside."""

    values: Sequence[Any]
    names: Sequence[str]
    fetch: Callable[[], FlatArguments] | None
    outside: Outside

    def state(self) -> State:
        places = [geometry(x) if isinstance(x, np.ndarray) else None for x in self.values]
        texts = [x.tobytes() for x in self.values if isinstance(x, np.ndarray) and x.dtype.kind == "U"]
        return State(None if self.fetch is None else self.fetch(), places, self.outside.values(), texts)

    def changed(self, before: State) -> str | None:
        """What has been changed since, in words; None if nothing has."""
        now = self.state()
        if now.places != before.places:
            for name, here, there in zip(self.names, now.places, before.places):
                if here != there:
                    return f"the memory or the shape of `{name}`"
        if now.texts != before.texts:
            return "an array of text"
        leaves: list[tuple[str, Any, Any]] = []
        if now.found is not None and before.found is not None:
            new, old = now.found, before.found
            same = new.tree == old.tree and all(map(is_same, new.containers, old.containers))
            if not same or len(new.values) != len(old.values):
                return "a list, dict or object"
            leaves = [*zip(self.names, new.values, old.values)]
        if not leaves and all(map(operator.is_, now.captured, before.captured)):
            return None
        for name, x, y in (*leaves, *zip(self.outside.names, now.captured, before.captured)):
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
    """Whether two objects are one number or text, or one method."""
    if is_method(a) and is_method(b):
        return same_method(a, b)
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
    What it raises passes where nothing in compiled code catches it, since no such code runs then.

    What other threads change before it is called is not its doing.
    """
    if not _current.watches:
        return function(*args)
    watch = _current.watches[-1]
    before = watch.state()
    try:
        result = function(*args)
    except BaseException as error:
        from tracebuf.running.host import end_if_caught  # loaded by now, as what calls this is compiled

        if (what := watch.changed(before)) is not None:
            end_if_caught(error, _text(name, what))
        raise
    if (what := watch.changed(before)) is not None:
        raise TracebufError(_text(name, what))
    return result


def _text(name: str, what: str) -> str:
    return (
        f"host_call: {name} has changed {what}, which compiled code took when it began\n"
        "Instead: let it return the new value (result_shape=), or pass it the array that it stores to (writes=)"
    )
