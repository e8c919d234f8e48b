"""Buffers at the edge of memory that may not be touched: `TRACEBUF_GUARD`, to find native code that leaves its buffers.

With `TRACEBUF_GUARD=1` (or `after`) in the environment when a function is compiled, each buffer of native code that is
not on the stack, a result or an arena's, ends where a page begins that may be neither read nor written; with
`TRACEBUF_GUARD=before` it begins where such a page ends. An access beyond that edge ends the process (SIGSEGV). Every
buffer is a mapping of its own, so one that is used after it was freed ends the process as well. Buffers are aligned to
their elements, those of `before` to pages. Answers are the same; calls are slow, and results do not own their memory.

POSIX only. Arguments are the caller's memory, and stay where they are.
"""

from __future__ import annotations

import ctypes
import math
import os
from collections.abc import Sequence
from functools import cache
from types import ModuleType

import numpy as np

from tracebuf.frozen import frozen
from tracebuf.ir.ndarray import address


@frozen()
class Guard:
    """Where the buffers stand."""

    before: bool

    def array(self, sizes: Sequence[int], dtype: np.dtype) -> np.ndarray:
        """An array in C order between two pages without access. Raises MemoryError, or OSError where there are too many
        mappings."""
        mmap = _mmap()
        nbytes, page = math.prod(sizes) * dtype.itemsize, mmap.PAGESIZE
        inside = -(-nbytes // page) * page
        kind = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        try:
            whole = np.frombuffer(mmap.mmap(-1, inside + 2 * page, kind), np.uint8)
        except OverflowError:
            raise MemoryError(f"no memory for {nbytes} bytes") from None
        for edge in (0, page + inside):
            if ctypes.CDLL(None).mprotect(ctypes.c_void_p(address(whole) + edge), ctypes.c_size_t(page), 0):
                raise OSError("mprotect failed")
        start = page if self.before else page + inside - nbytes
        return whole[start : start + nbytes].view(dtype).reshape(sizes)


@cache
def _mmap() -> ModuleType:
    """The module, which is loaded only where there is a guard."""
    import mmap

    return mmap


def chosen() -> Guard | None:
    """What the environment asks for. Raises ValueError for another value of `TRACEBUF_GUARD`."""
    wanted = os.environ.get("TRACEBUF_GUARD", "")
    if wanted in ("", "0"):
        return None
    if wanted not in ("1", "after", "before"):
        raise ValueError(f"TRACEBUF_GUARD is 1 (or after), before, or 0; not {wanted!r}")
    _mmap()  # when Python ends, nothing can be imported any more
    return Guard(wanted == "before")
