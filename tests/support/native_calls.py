"""Calls that machine code takes, or Python: which of them it was."""

from __future__ import annotations

from typing import Any

from tracebuf.backend.runtime.entries import OriginalEntry


def taken(f: Any) -> int:
    """How many calls machine code took."""
    return 0 if f._native is None else sum(entry.calls for entry in f._native.entries)


def natively(f: Any, *args: Any, **kwargs: Any) -> Any:
    """The result of a call that machine code takes."""
    before = taken(f)
    result = f(*args, **kwargs)
    assert taken(f) == before + 1
    return result


def by_python(f: Any, *args: Any, **kwargs: Any) -> Any:
    """The result of a call that machine code does not take."""
    before = taken(f)
    try:
        return f(*args, **kwargs)
    finally:
        assert taken(f) == before


def by_original(f: Any, *args: Any, **kwargs: Any) -> Any:
    """The result of a call that the original function makes, whoever calls it: no compiled program runs."""
    before = programs(f)
    try:
        return f(*args, **kwargs)
    finally:
        assert programs(f) == before


def programs(f: Any) -> int:
    """How many calls machine code took for which it ran a compiled program."""
    entries = () if f._native is None else f._native.entries
    return sum(entry.calls for entry in entries if not isinstance(entry, OriginalEntry))
