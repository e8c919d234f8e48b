"""Memory that ends, or begins, at a page that may not be touched: one element too far is a crash at once.

`TRACEBUF_GUARD=1` in the environment (`--guard` of the fuzzer) lets the ladder lay the arguments of each native call
there; the runtime lays results and the arena there by the same variable. Linux and macOS; elsewhere nothing is guarded.
"""

from __future__ import annotations

import ctypes
import itertools
import mmap
import os
from typing import Any

import numpy as np

__all__ = ["guarded", "wanted"]

_counter = itertools.count()


def wanted() -> bool:
    """Whether arguments are to lie at guard pages."""
    return os.environ.get("TRACEBUF_GUARD") == "1" and os.name == "posix"


def guarded(size: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """`size` bytes, in turn right before a guard page and right behind one; both kinds have one on the other side
    too."""
    page = mmap.PAGESIZE
    room = -(-max(size, 1) // page) * page
    memory = np.frombuffer(mmap.mmap(-1, room + 2 * page), np.uint8)
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    for start in (0, page + room):
        if protect(ctypes.c_void_p(memory.ctypes.data + start), ctypes.c_size_t(page), 0):
            raise OSError(ctypes.get_errno(), "mprotect")
    first = page + room - size if next(_counter) % 2 == 0 else page
    return memory[first : first + size]
