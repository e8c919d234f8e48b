"""Containers of the caller's classes: named tuples told from tuples, and new objects of a class made."""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any


def is_named_tuple(x: Any) -> bool:
    """Whether a value is a named tuple."""
    return isinstance(x, tuple) and type(x) is not tuple and isinstance(getattr(type(x), "_fields", None), tuple)


def blank(kind: type) -> Any:
    """A new object of a class, without attributes."""
    return types.SimpleNamespace() if kind is types.SimpleNamespace else object.__new__(kind)


def attributes_of(x: Any) -> dict[str, Any]:
    """The attributes that a tuple of a class of its own has beside its items, as SciPy's results do."""
    return {} if type(x) is tuple or type(x) is list else getattr(x, "__dict__", {})


def made_of(kind: type, items: Sequence[Any], names: Sequence[str] = ()) -> Any:
    """A tuple, named tuple or list of the class `kind` with these items, the last ones as attributes of these names."""
    if not issubclass(kind, tuple):
        return list(items)
    count = len(items) - len(names)
    made: Any = tuple.__new__(kind, items[:count])
    if names:
        vars(made).update(zip(names, items[count:]))
    return made
