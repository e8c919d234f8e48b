"""np.nditer of one array in C order, as a class that is traced like one of the user's: its elements in the order of
memory, as arrays without axes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.functions.formulas.primitives import is_array, refuse

ONE = "loop over the indices: for i in np.ndindex(a.shape)"


class NdIter:
    """np.nditer(op, flags, op_flags)."""

    def __init__(self, op: Any, flags: Any = (), op_flags: Any = ("readonly",), order: Any = "K") -> None:
        for name in flags:
            if name not in ("multi_index", "c_index"):
                refuse(f"np.nditer with the flag {name!r}", ONE)
        if op_flags and not isinstance(op_flags[0], str):
            op_flags = op_flags[0]
        for name in op_flags:
            if name not in ("readonly", "readwrite", "writeonly"):
                refuse(f"np.nditer with the flag {name!r} of an operand", ONE)
        if not is_array(op) or order not in ("K", "C", "A"):
            refuse("np.nditer of anything but one array in the order of its memory", ONE)
        if not op.flags.c_contiguous:
            refuse("np.nditer of an array that is not in C order", ONE)
        if op.size == 0:
            raise ValueError("Iteration of zero-sized operands is not enabled")
        self.whole, self.flags, self.reads = op, flags, "readonly" in op_flags
        self.index, self.size = 0, op.size

    @property
    def finished(self) -> Any:
        return self.index >= self.size

    @property
    def multi_index(self) -> Any:
        if "multi_index" not in self.flags:
            raise ValueError("Iterator is not tracking a multi-index")
        rest, found = self.index, ()
        for n in self.whole.shape[::-1]:
            rest, place = divmod(rest, n)
            found = (place, *found)  # type: ignore[assignment]
        return found

    def __getitem__(self, k: Any) -> Any:
        if k != 0:
            refuse("an operand of np.nditer that is not its first", ONE)
        part = self.whole.reshape(-1)[self.index, ...]
        if self.reads:
            return np.broadcast_to(part, ())
        return part

    def iternext(self) -> Any:
        self.index += 1
        return self.index < self.size

    def __iter__(self) -> Iterator[Any]:
        while self.index < self.size:
            yield self[0]
            self.index += 1
