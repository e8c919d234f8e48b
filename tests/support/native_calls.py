"""Calls that machine code takes, or Python: which of them it was."""

from __future__ import annotations

from typing import Any


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
