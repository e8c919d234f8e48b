"""Values from outside a function (rule B5): arrays become hidden arguments, fetched anew at every call.

Tracing that meets an array it was not given raises NewCapture; the caller adds it to the arguments and begins again, so
that keys, overlap (rule B4), writability (rule B2) and identity hold for captured arrays as for passed ones. What not:
what may change between calls unseen, as a set may.
"""

from __future__ import annotations

import types
from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tracebuf.errors import TracebufError, UnsupportedError
from tracebuf.frontends.numpy.call.arguments import has_supported_dtype
from tracebuf.frontends.numpy.call.flatten import check_items, is_box
from tracebuf.location import Location

Place = tuple[Any, ...]
"""Where a captured value stands: its name, and the identity of what binds it there."""


class ABSENT:
    """What stands for an attribute that an object does not have."""


@dataclass(frozen=True, eq=False, slots=True)
class Hidden:
    """A captured array, or an attribute: its name in texts, where it stands, and how it is fetched, from argument
    `root` if it is given."""

    label: str
    place: Place
    fetch: Callable[..., Any]
    root: int | None = None

    def value(self, given: Sequence[Any] = ()) -> Any:
        """What it is now; None where there is no array (any more) that could be an argument, ABSENT where there is no
        such attribute."""
        try:
            x = self.fetch() if self.root is None else self.fetch(given[self.root])
        except (LookupError, AttributeError, NameError, ValueError, TypeError):
            return ABSENT if self.from_object else None
        usable = self.from_object or is_box(x) or (type(x) is np.ndarray and has_supported_dtype(x))
        return x if usable else None

    def item(self, key: Any) -> Hidden:
        """An item of it."""
        place = (*self.place, "item", type(key), key)
        return Hidden(f"{self.label}[{key!r}]", place, partial(item_of, self.fetch, key), self.root)

    def attribute(self, name: str) -> Hidden:
        """An attribute of it."""
        place = (*self.place, "attribute", name)
        return Hidden(f"{self.label}.{name}", place, partial(attribute_of, self.fetch, name), self.root)

    def own(self, name: str) -> Hidden:
        """An attribute that the object itself has, not its class."""
        place = (*self.place, "attribute", name, "own")
        return Hidden(f"{self.label}.{name}", place, partial(own_attribute_of, self.fetch, name), self.root)

    @property
    def from_object(self) -> bool:
        """Whether it is an attribute of an object, which may be there or not, and be anything."""
        return "attribute" in self.place


class NewCapture(TracebufError):
    """Not an error: tracing met a captured array that is not among the arguments yet, and has to begin again; with
    those that it is about to meet (`more`)."""

    def __init__(self, hidden: Hidden, more: Sequence[Hidden] = ()) -> None:
        super().__init__(f"`{hidden.label}` is not an argument yet")
        self.hidden, self.more = hidden, more


def outside(
    label: str, place: Place, fetch: Callable[[], Any], value: Any, known: MutableMapping[Place, Any], loc: Location
) -> Any:
    """What a value from outside is in a trace: arrays are the hidden arguments in `known`, tuples are rebuilt with
    them; what may change in other ways between calls is refused."""
    if known.get(place) is not None:
        return known[place]
    if type(value) is not tuple and is_box(value):
        check_items(label, value, loc)
        raise NewCapture(Hidden(label, place, fetch))
    if isinstance(value, np.ndarray):
        if type(value) is not np.ndarray:
            kind = f"of type {type(value).__name__}, a subclass of ndarray with rules of its own"
            raise UnsupportedError(
                f"`{label}`, from outside, is {kind}", location=loc, instead="take np.asarray of it outside"
            )
        if not has_supported_dtype(value):
            raise UnsupportedError(
                f"`{label}`, from outside, has dtype {value.dtype}{'' if value.dtype.isnative else ' (byte-swapped)'}",
                location=loc, instead="convert it outside, for example with .astype(np.float64)",
            )  # fmt: skip
        raise NewCapture(Hidden(label, place, fetch))
    if isinstance(value, (list, dict, set, bytearray)):  # of a class of its own
        raise UnsupportedError(
            f"`{label}` is a mutable {type(value).__name__} from outside",
            location=loc,
            instead="use a tuple, or an argument",
        )
    if isinstance(value, tuple):
        items = [
            outside(f"{label}[{i}]", (*place, i), partial(item_of, fetch, i), x, known, loc)
            for i, x in enumerate(value)
        ]
        if any(a is not b for a, b in zip(items, value)):
            if type(value) is not tuple:
                reason = f"`{label}` is a {type(value).__name__} of arrays from outside"
                raise UnsupportedError(reason, location=loc, instead="use a plain tuple, or arguments")
            known[place] = tuple(items)
            return known[place]
    return value


def item_of(fetch: Callable[..., Any], key: Any, *given: Any) -> Any:
    return fetch(*given)[key]


def attribute_of(fetch: Callable[..., Any], name: str, *given: Any) -> Any:
    return getattr(fetch(*given), name)


def own_attribute_of(fetch: Callable[..., Any], name: str, *given: Any) -> Any:
    return vars(fetch(*given)).get(name, ABSENT)


def default_of(function: types.FunctionType, name: str) -> Any:
    """The default of a parameter as it is now."""
    named = function.__kwdefaults__ or {}
    if name in named:
        return named[name]
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return (function.__defaults__ or ())[names.index(name) - len(names)]
