"""What a half-written program over objects can name: every name, attribute and item, with the kind of what it holds.

As in `tracebuf.testing.probe`, the program is run on both sets of arguments, and each visit of `_look(locals())` is a
world: a place is *sure* if it holds one kind in all of them, *loose* if not. Why by running: aliases, swaps, lists that
grow and exceptions need no model. Does not see code that no visit reaches.
"""

from __future__ import annotations

import sys
import types
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tracebuf.frozen import frozen
from tracebuf.measure import attributes_of

__all__ = ["Place", "Sight", "run"]

VISITS = 400
"""Visits after which a program runs too long."""
DEPTH = 3
"""How far from its name something is reached."""
MOST = 2.0**26
"""The largest number: sums and products of a few stay exact."""


@frozen(slots=False)
class Place:
    """A text and what it holds: the kind is "array", "number" (an array's element), "int", "float", "bool", "none", or
    the name of a container's class. `length`: the least in any world; `values` of an int; `settable`: may be assigned
    to."""

    text: str
    kind: str
    length: int = 0
    values: tuple[int, ...] = ()
    settable: bool = True
    rank: int = 0
    whole: bool = False
    """Whether an array is of integers."""


@frozen(slots=False)
class Sight:
    """What is reached at the end of a program; `error` is what the last call that raised did raise."""

    worlds: int
    sure: list[Place]
    loose: list[str]
    error: Exception | None


class _Stop(BaseException):
    """No Exception, which the program might catch."""


def executed(text: str) -> dict[str, Any]:
    """The names of a module with this text, which classes take for theirs."""
    module = sys.modules.setdefault("probed", types.ModuleType("probed"))
    names: dict[str, Any] = {"__name__": module.__name__}
    exec(compile(text, "<probed>", "exec"), names)
    return names


def run(text: str, around: Mapping[str, Any]) -> Sight | None:
    """The places of the program in a text, with the names around it; None where it is no program, or its numbers grow
    too large."""
    worlds: list[dict[str, Place]] = []
    visits = 0
    error: Exception | None = None

    def look(names: Mapping[str, Any]) -> None:
        nonlocal visits
        visits += 1
        here = {p.text: p for name, x in names.items() for p in reached(name, x, 0, True)}
        if visits > VISITS:
            raise _Stop
        if len(worlds) < 40 and here not in worlds:
            worlds.append(here)

    names: dict[str, Any] = {**around, "_look": look}
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(text, "<probed>", "exec"), names)
            for arguments in ("arguments", "arguments_again"):
                try:
                    check(names["program"](*names[arguments]()))
                except (RecursionError, MemoryError):
                    return None
                except Exception as raised:
                    error = raised
        except (_Stop, SyntaxError):
            return None
    return Sight(len(worlds), *together(worlds), error)


def check(result: Any) -> None:
    """Raises _Stop for numbers too large, also in what is returned."""
    for _ in reached("result", result, 0, False):
        pass


def together(worlds: list[dict[str, Place]]) -> tuple[list[Place], list[str]]:
    """Sure and loose places."""
    sure, loose = [], []
    for text in dict.fromkeys(t for w in worlds for t in w):
        found = [w[text] for w in worlds if text in w]
        if len(found) < len(worlds) or len({(p.kind, p.rank) for p in found}) > 1:
            loose.append(text)
            continue
        first = found[0]
        least = min(p.length for p in found)
        values = tuple(sorted({v for p in found for v in p.values}))
        settable, whole = all(p.settable for p in found), all(p.whole for p in found)
        sure.append(Place(text, first.kind, least, values, settable, first.rank, whole))
    return sure, loose


def reached(text: str, x: Any, depth: int, settable: bool) -> Iterator[Place]:
    """A place and those in it."""
    if isinstance(x, np.ndarray):
        if x.size > 400 or x.ndim > 2 or not sane(x):
            raise _Stop
        length = len(x) if x.ndim else 0
        yield Place(text, "array", length, settable=settable, rank=x.ndim, whole=x.dtype.kind in "iu")
    elif isinstance(x, np.generic):
        if not sane(x):
            raise _Stop
        yield Place(text, "number", settable=settable)
    elif type(x) in (int, float, bool, type(None)):
        if type(x) in (int, float) and not abs(x) < MOST:
            raise _Stop
        values = (x,) if type(x) is int else ()
        yield Place(text, "none" if x is None else type(x).__name__, 0, values, settable)
    elif isinstance(x, list | tuple | dict) or hasattr(x, "__dict__"):
        yield from container(text, x, depth, settable)


def sane(x: Any) -> bool:
    """Whole numbers, or quarters of them, whose sums are exact."""
    a = np.asarray(x)
    if a.dtype.kind not in "fiu":
        return a.dtype.kind == "b"
    a = a.astype(np.float64)
    return bool((np.abs(a) < MOST).all() and (a * 4 == np.floor(a * 4)).all())


def container(text: str, x: Any, depth: int, settable: bool) -> Iterator[Place]:
    kind = type(x).__name__
    if type(x).__module__ not in ("builtins", "probed") or isinstance(x, type | BaseException):
        return
    fields = getattr(x, "_fields", None)
    if isinstance(x, list | tuple | dict):
        if len(x) > 8:
            raise _Stop
        yield Place(text, kind, len(x), settable=settable)
    elif kind in ("function", "method"):
        return
    else:
        yield Place(text, kind, settable=settable)
    if depth >= DEPTH:
        return
    if isinstance(x, dict):
        items = [(f"{text}[{k!r}]", v, True) for k, v in x.items()]
    elif fields is not None:
        items = [(f"{text}.{f}", v, False) for f, v in zip(fields, x)]
    elif isinstance(x, list | tuple):
        items = [(f"{text}[{i}]", v, isinstance(x, list)) for i, v in enumerate(x)]
        items += [(f"{text}[-1]", x[-1], isinstance(x, list))] if len(x) else []
    else:
        items = [(f"{text}.{k}", v, True) for k, v in attributes_of(x).items()]
    for inner, item, into in items:
        yield from reached(inner, item, depth + 1, into)
