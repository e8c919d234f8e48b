"""Texts and objects that a run hands on by number: those that libraries' functions give (`untraced`)."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from itertools import count
from typing import Any

import numpy as np

from tracebuf.errors import TracebufError

MOST_KEPT = 4096
"""Outside of a call, the last ones of so many texts and objects are kept."""
_numbers = count()


class _Scopes(threading.local):
    """What this thread's calls that are under way keep, the innermost last; first what is kept outside of any."""

    def __init__(self) -> None:
        self.held: list[dict[int, Any]] = [{}]


_scopes = _Scopes()


class keeping(AbstractContextManager[None]):
    """`with keeping()`: what is kept is let go at the end."""

    def __enter__(self) -> None:
        _scopes.held.append({})

    def __exit__(self, *error: object) -> None:
        _scopes.held.pop()


def keep(x: Any) -> np.ndarray:
    """The number of a text or an object that is kept."""
    number, scopes = next(_numbers), _scopes.held
    scopes[-1][number] = x
    if len(scopes) == 1:
        scopes[0].pop(number - MOST_KEPT, None)
    return np.asarray(number)


def keep_text(text: str | None) -> int:
    """The number of a text, which is a result of the function; None: that of no text, on other paths."""
    return 0 if text is None else int(keep(text))


keep_text.keeps_some = True  # type: ignore[attr-defined]


class Rope:
    """A text that is made of others when it is shown: one that a loop adds to in each iteration costs no more."""

    __slots__ = ("parts",)

    def __init__(self, parts: tuple[str | Rope, ...]) -> None:
        self.parts = parts

    def __str__(self) -> str:
        found, todo = list[str](), list[str | Rope](self.parts)
        while todo:
            last = todo.pop()
            if isinstance(last, str):
                found.append(last)
            else:
                todo += last.parts
        self.parts = ("".join(reversed(found)),)
        return self.parts[0]


def keep_rope(*parts: str | Rope) -> int:
    """The number of a text of parts, which a loop hands on."""
    return int(keep(Rope(parts)))


keep_rope.keeps_some = True  # type: ignore[attr-defined]


def kept(number: int) -> Any:
    """The text or object of a number."""
    found = kept_as_it_is(number)
    return str(found) if type(found) is Rope else found


def kept_as_it_is(number: int) -> Any:
    """The text or object of a number; a text that loops add to as its parts."""
    for held in reversed(_scopes.held):
        if number in held:
            return held[number]
    raise TracebufError("a text or object of a library's result is gone: too many were made since")


def shown(number: int, quoted: bool) -> str:
    """What a kept text or object looks like."""
    return repr(kept(number)) if quoted else str(kept(number))


# -- what is asked of kept objects
def call_method(of: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    """of.name(...)"""
    return getattr(of, name)(*args, **kwargs)


def call_object(of: Any, *args: Any, **kwargs: Any) -> Any:
    """of(...)"""
    return of(*args, **kwargs)


def attribute_of(of: Any, name: str) -> Any:
    """of.name"""
    return getattr(of, name)


def item_of(of: Any, index: Any) -> Any:
    """of[index]"""
    return of[index_of(index)]


def set_item(of: Any, index: Any, value: Any) -> None:
    """of[index] = value"""
    of[index_of(index)] = value


def set_elements(of: Any, name: str, elements: np.ndarray) -> None:
    """of.name[...] = elements"""
    getattr(of, name)[...] = elements


def index_of(told: Any) -> Any:
    """An index of its parts, by name: of a slice its bounds, of a tuple its items."""
    sort, *parts = told
    if sort == "tuple":
        return tuple(map(index_of, parts))
    return slice(*parts) if sort == "slice" else parts[0]
