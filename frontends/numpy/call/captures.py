"""Values from outside a function (rule B5): arrays become hidden arguments, fetched anew at every call.

Tracing that meets an array it was not given raises NewCapture; the caller adds it to the arguments and begins again, so
that keys, overlap (rule B4), writability (rule B2) and identity hold for captured arrays as for passed ones. Does not
capture what may change unseen between calls, such as a set.
"""

from __future__ import annotations

import types
from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import replace
from enum import Enum
from functools import partial
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.call.arguments import has_supported_dtype, is_map, is_text_array
from tracebuf.frontends.numpy.call.control import Control
from tracebuf.frontends.numpy.call.flatten import check_items, is_container
from tracebuf.frontends.numpy.source.liveness import GLOBALS
from tracebuf.frozen import frozen
from tracebuf.location import Location

CapturePlace = tuple[Any, ...]
"""What identifies a captured value: its name, and the identity of the scope or object that binds it."""


WHOLE = -1
"""The root of what is made of all arguments."""


class ABSENT:
    """The value of an attribute that an object does not have."""


@frozen(eq=False)
class Hidden:
    """A captured array or attribute: its name in texts, its place, and how it is fetched (from argument `root` if that
    is set; from all arguments, and what others have made of these in the call, if that is WHOLE)."""

    label: str
    place: CapturePlace
    fetch: Callable[..., Any]
    root: int | None = None
    anew: bool = False
    """Whether it is another object each time that it is fetched."""

    def value(self, given: Sequence[Any] = (), memo: dict[Any, Any] | None = None) -> Any:
        """The current value; None where there is no array (any more) that could be an argument, ABSENT where there is
        no such attribute."""
        if self.root == WHOLE:
            return self.fetch(given, {WHOLE: [self.fetch]} if memo is None else memo)
        try:
            x = self.fetch() if self.root is None else self.fetch(given[self.root])
        except (LookupError, AttributeError, NameError, ValueError, TypeError):
            return ABSENT if self.from_object else None
        array = type(x) is np.ndarray or is_map(x)
        usable = self.from_object or is_container(x) or (array and (has_supported_dtype(x) or is_text_array(x)))
        return x if usable else None

    def item(self, key: Any) -> Hidden:
        """The captured item `key` of this value."""
        place = (*self.place, "item", type(key), key)
        return Hidden(f"{self.label}[{key!r}]", place, partial(item_of, self.fetch, key), self.root)

    def attribute(self, name: str) -> Hidden:
        """The captured attribute `name` of this value."""
        place = (*self.place, "attribute", name)
        return Hidden(f"{self.label}.{name}", place, partial(attribute_of, self.fetch, name), self.root)

    def own(self, name: str) -> Hidden:
        """The captured attribute `name` that the object itself has, not its class."""
        place = (*self.place, "attribute", name, "own")
        label = name if self.label == GLOBALS else f"{self.label}.{name}"
        return Hidden(label, place, partial(own_attribute_of, self.fetch, name), self.root)

    def asked(self, what: str) -> Hidden:
        """What is asked about this array at each call (`QUESTIONS`)."""
        place = (*self.place, "attribute", what, "asked")
        return Hidden(f"{self.label}.{what}", place, partial(answer_of, self.fetch, what), self.root)

    def made(self, function: Callable[..., Any], how: Any) -> Hidden:
        """What `function` makes of this value, at each call."""
        return Hidden(self.label, (*self.place, function, how), partial(function, self.fetch, how), self.root, True)

    def unless_made(self) -> Hidden:
        """This, or None in its place where it is made anew each time."""
        if self.root == WHOLE:
            return replace(self, fetch=nothing)
        return replace(self, fetch=nothing_of) if self.anew else self

    @property
    def from_object(self) -> bool:
        """Whether it is an attribute of an object, which may be absent, and may be anything."""
        return "attribute" in self.place


class NewCapture(Control):
    """Tracing met a captured array that is not among the arguments yet, and has to begin again with it and with those
    that it is about to meet (`more`). `presumed`: a program that was kept needs them, which may not serve the call."""

    def __init__(self, hidden: Hidden, more: Sequence[Hidden] = (), presumed: bool = False) -> None:
        self.hidden, self.more, self.presumed = hidden, more, presumed


class Misled(Control):
    """No program that was kept serves the call, which has got captured values for one: it has to begin without them."""


def outside(
    label: str,
    place: CapturePlace,
    fetch: Callable[[], Any],
    value: Any,
    known: MutableMapping[CapturePlace, Any],
    loc: Location,
) -> Any:
    """The traced value of something from outside the function.

    Arrays are the hidden arguments in `known`, tuples are rebuilt with them. Raises UnsupportedError for what may
    change in other ways between calls, NewCapture for an array that is not in `known`.
    """
    if known.get(place) is not None:
        return known[place]
    if type(value) is not tuple and is_container(value):
        check_items(label, value, loc)
        raise NewCapture(Hidden(label, place, fetch))
    if isinstance(value, np.ndarray):
        if type(value) is not np.ndarray and not is_map(value):
            kind = f"of type {type(value).__name__}, a subclass of ndarray with rules of its own"
            raise UnsupportedError(
                f"`{label}`, from outside, is {kind}", location=loc, instead="take np.asarray of it outside"
            )
        if not has_supported_dtype(value) and not is_text_array(value):
            raise UnsupportedError(
                f"`{label}`, from outside, has dtype {value.dtype}{'' if value.dtype.isnative else ' (byte-swapped)'}",
                location=loc, instead="convert it outside, for example with .astype(np.float64)",
            )  # fmt: skip
        raise NewCapture(Hidden(label, place, fetch))
    if changes_unseen(value):
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


_STAY = (
    tuple, str, bytes, frozenset, range, type, Enum, np.generic, np.dtype, types.ModuleType, types.GenericAlias,
    types.UnionType,
)  # fmt: skip
"""Classes of objects whose items, if they have any, stay."""
_HAS_ITEMS = ("__len__", "__iter__", "__next__", "__getitem__", "__contains__")


def changes_unseen(x: Any) -> bool:
    """Whether an object has items that may be others at the next call, while it is the same object: a set, a deque, an
    iterator. Objects whose class is the user's are looked into instead (`is_container`)."""
    kind = type(x)
    if isinstance(x, _STAY) or kind.__module__.startswith(("numpy.lib", "scipy.", "typing", "tracebuf.")):
        return False
    return any(hasattr(kind, name) for name in _HAS_ITEMS)


def values_of(hidden: Sequence[Hidden], given: Sequence[Any]) -> list[Any]:
    """The current values of what is captured, for a call with these arguments."""
    memo: dict[Any, Any] = {WHOLE: [h.fetch for h in hidden if h.root == WHOLE]}
    for h in hidden:
        memo[h.place] = h.value(given, memo)
    return [memo[h.place] for h in hidden]


def nothing(given: Sequence[Any], memo: dict[Any, Any]) -> None:
    """Fetches nothing."""


def nothing_of(*given: Any) -> None:
    """Fetches nothing, of an argument or of none."""


def itself(x: Any) -> Any:
    """Fetches an argument: the value itself."""
    return x


@frozen()
class Making:
    """How an array is made of an object: by np.asarray, np.from_dlpack, or np.frombuffer with these arguments."""

    function: str
    dtype: str = ""
    count: int = -1
    offset: int = 0

    def __call__(self, x: Any) -> Any:
        more = (self.dtype, self.count, self.offset) if self.function == "frombuffer" else ()
        return getattr(np, self.function)(x, *more)


def array_of(fetch: Callable[..., Any], how: Making, *given: Any) -> Any:
    """A function that fetches the array of what `fetch` gives; None where there is none."""
    x = fetch(*given)
    try:
        return how(x)
    except (BufferError, RuntimeError, OverflowError, MemoryError):
        return None


def item_of(fetch: Callable[..., Any], key: Any, *given: Any) -> Any:
    """A function that fetches an item of what `fetch` gives."""
    return fetch(*given)[key]


def attribute_of(fetch: Callable[..., Any], name: str, *given: Any) -> Any:
    """A function that fetches an attribute of what `fetch` gives."""
    return getattr(fetch(*given), name)


QUESTIONS: dict[str, Callable[[Any], bool]] = {
    "flags.owndata": lambda x: x.flags.owndata,
    "base is None": lambda x: x.base is None,
    "view().base is itself": lambda x: x[...].base is x,
}
"""What is asked about the memory of an array of the caller's."""


def answer_of(fetch: Callable[..., Any], what: str, *given: Any) -> Any:
    """A function that fetches what is asked about an array that `fetch` gives; ABSENT where there is none."""
    x = fetch(*given)
    return QUESTIONS[what](x) if isinstance(x, np.ndarray) else ABSENT


def own_attribute_of(fetch: Callable[..., Any], name: str, *given: Any) -> Any:
    """A function that fetches an attribute of the object itself, not of its class; ABSENT where it has none."""
    return vars(fetch(*given)).get(name, ABSENT)


def default_of(function: types.FunctionType, name: str) -> Any:
    """The current default of a parameter."""
    named = function.__kwdefaults__ or {}
    if name in named:
        return named[name]
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return (function.__defaults__ or ())[names.index(name) - len(names)]
