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


def made_of(kind: type, items: Sequence[Any]) -> Any:
    """A tuple, named tuple or list of the class `kind` with these items."""
    made: Any = tuple.__new__(kind, items) if issubclass(kind, tuple) else list(items)
    return made
