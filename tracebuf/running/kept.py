"""Texts and objects that a run hands on by number: those in the results of libraries' functions (`untraced`)."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np

from tracebuf.errors import TracebufError

MOST_KEPT = 4096
"""Of so many texts and objects, the last ones, results and messages may be made."""
_kept_objects: dict[int, Any] = {}
_numbers = count()


def keep(x: Any) -> np.ndarray:
    """The number of a text or an object that is kept."""
    number = next(_numbers)
    _kept_objects[number] = x
    _kept_objects.pop(number - MOST_KEPT, None)
    return np.asarray(number)


def kept(number: int) -> Any:
    """The text or object of a number."""
    try:
        return _kept_objects[number]
    except KeyError:
        raise TracebufError(f"a text or object of a library's result is gone: {MOST_KEPT} more were made") from None


def shown(number: int, quoted: bool) -> str:
    """What a kept text or object looks like."""
    return repr(kept(number)) if quoted else str(kept(number))
