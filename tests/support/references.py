"""Whether calls keep references."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Sequence
from typing import Any

ROUNDS = 3


def steady(call: Callable[[], object], watched: Sequence[Any], times: int = 300) -> bool:
    """Whether calls keep and lose no references to any of these, in one of three rounds: what all of the process shares
    (None, a small int, a dtype) other threads hold, too, for a while."""
    return any(changes(call, watched, times) <= 2 for _ in range(ROUNDS))


def changes(call: Callable[[], object], watched: Sequence[Any], times: int) -> int:
    """The most by which calls change the number of references to one of these."""
    gc.collect()
    before = [sys.getrefcount(x) for x in watched]
    for _ in range(times):
        call()
    gc.collect()
    return max(abs(sys.getrefcount(x) - n) for x, n in zip(watched, before))
