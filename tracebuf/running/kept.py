"""Texts and objects that a run hands on by number: those in the results of libraries' functions (`untraced`)."""

from __future__ import annotations

from collections import deque
from itertools import count
from typing import Any

import numpy as np

from tracebuf.errors import TracebufError

MOST_KEPT = 4096
"""Of so many texts and objects, the last ones, results and messages may be made."""
MOST_LARGE, LARGE = 64, 1 << 16
"""As many arrays of more than `LARGE` bytes: results hold others in the end."""
_kept_objects: dict[int, Any] = {}
_large: deque[int] = deque()
_numbers = count()


def keep(x: Any) -> np.ndarray:
    """The number of a text or an object that is kept."""
    number = next(_numbers)
    _kept_objects[number] = x
    _kept_objects.pop(number - MOST_KEPT, None)
    if isinstance(x, np.ndarray) and x.nbytes > LARGE:
        _large.append(number)
        if len(_large) > MOST_LARGE:
            _kept_objects.pop(_large.popleft(), None)
    return np.asarray(number)


def kept(number: int) -> Any:
    """The text or object of a number."""
    try:
        return _kept_objects[number]
    except KeyError:
        raise TracebufError("a text or object of a library's result is gone: many more were made") from None


def shown(number: int, quoted: bool) -> str:
    """What a kept text or object looks like."""
    return repr(kept(number)) if quoted else str(kept(number))
