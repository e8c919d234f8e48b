"""What a running kernel asks for: memory from NumPy, and storage for counters. One context serves one call at a time.

Arena slots are blocks of NumPy memory, aligned to 64 bytes, kept between calls and replaced by larger ones when a
request does not fit (never while in use: the compiler gives a slot to buffers whose lives do not meet). Buffers that
may leave the function are NumPy arrays from birth, found again by their address. A call back never raises: what goes
wrong is kept and raised after the kernel has returned.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tracebuf.backend.llvm import abi
from tracebuf.backend.runtime.references import Reference
from tracebuf.ir.ndarray import address
from tracebuf.ir.types import ScalarType
from tracebuf.ops.arrays.linalg import DestinationOp

_ALIGNMENT = 64
_DTYPES = tuple(ScalarType(name).dtype for name in abi.ELEMENT_CODES)
_Spec = ctypes.c_int64 * abi.SPEC_SLOTS
_IN_ORDER = list(range(abi.SPEC_SLOTS))
_Allocate = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
_Release = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
_Refer = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
_Grow = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)


@dataclass(frozen=True, slots=True)
class Counters:
    """What one call did: allocations (arena and arrays) with their bytes, bytes live at the end and at the worst,
    copies.
    """

    allocations: int
    allocated_bytes: int
    live_bytes: int
    peak_bytes: int
    copies: int
    copied_bytes: int
    arrays: int = 0
    array_bytes: int = 0
    """Of the allocations those that were NumPy arrays, which NumPy's own counting sees too."""


class Context:
    """The context of `backend.llvm.abi`, the call backs behind it and the arrays they made."""

    __slots__ = (
        "_callbacks", "_zero", "args", "arrays", "blocks", "error", "frame", "owners", "references", "slots"
    )  # fmt: skip

    def __init__(self, arena_slots: int, frame_size: int, references: Sequence[DestinationOp] = ()) -> None:
        self.slots = (ctypes.c_int64 * (abi.ARENA + 2 * arena_slots))()
        self.frame = (ctypes.c_int64 * frame_size)()
        self.frame[0] = ctypes.addressof(self.slots)
        self.owners: dict[int, np.ndarray] = {}
        self.args: Sequence[object] = ()
        self.blocks: list[np.ndarray | None] = [None] * arena_slots
        self.error: BaseException | None = None
        self.arrays = (0, 0)
        """How many arrays this call has made, and their bytes."""
        self.references = list(map(Reference, references))
        self._callbacks = {
            abi.ALLOCATE: _Allocate(self._allocate), abi.RELEASE: _Release(self._release),
            abi.GROW: _Grow(self._grow), abi.REFER: _Refer(self._refer),
        }  # fmt: skip
        for slot, function in self._callbacks.items():
            self.slots[slot] = ctypes.cast(function, ctypes.c_void_p).value or 0
        self._zero = bytes(8 * (abi.ARENA - abi.ALLOCATIONS))

    def begin(self, args: Sequence[object]) -> None:
        """Before a call with these arguments: counters at zero."""
        self.args, self.arrays = args, (0, 0)
        ctypes.memmove(ctypes.addressof(self.slots) + 8 * abi.ALLOCATIONS, self._zero, len(self._zero))

    def end(self) -> None:
        """After a call: nothing of it is kept."""
        self.owners.clear()
        self.args, self.error = (), None
        for reference in self.references:
            reference.forget()

    def counters(self) -> Counters:
        return Counters(*(*self.slots[abi.ALLOCATIONS : abi.ARENA], *self.arrays))

    def _allocate(self, spec: int) -> int:
        try:
            fields = _Spec.from_address(spec)
            rank = fields[1]
            sizes, order = fields[2 : 2 + rank], fields[2 + rank : 2 + 2 * rank]
            if order == _IN_ORDER[:rank]:
                array = np.empty(sizes, _DTYPES[fields[0]])
            else:
                dense = np.empty([sizes[axis] for axis in order], _DTYPES[fields[0]])
                array = dense.transpose(np.argsort(order))
            start = address(array)
            self.owners[start] = array
            self.arrays = (self.arrays[0] + 1, self.arrays[1] + max(array.nbytes, 1))
            return start
        except BaseException as error:
            self.error = error
            return 0

    def _release(self, start: int | None) -> int:
        try:
            array = self.owners.pop(start or 0, None)
            return 0 if array is None else array.nbytes
        except BaseException as error:
            self.error = error
            return 0

    def _grow(self, slot: int, nbytes: int) -> int:
        try:
            self.blocks[slot] = None
            block = np.empty(nbytes + _ALIGNMENT, np.uint8)
            self.blocks[slot] = block
            start = address(block)
            self.slots[abi.ARENA + 2 * slot] = start + -start % _ALIGNMENT
            self.slots[abi.ARENA + 2 * slot + 1] = nbytes
            return 1
        except BaseException as error:
            self.slots[abi.ARENA + 2 * slot + 1] = 0
            self.error = error
            return 0

    def _hand_over(self) -> object:
        """The owners of all memory in use, which this context does not use again."""
        owners = (self.args, list(self.owners.values()), self.blocks)
        self.blocks = [None] * len(self.blocks)
        for slot in range(len(self.blocks)):
            self.slots[abi.ARENA + 2 * slot + 1] = 0
        return owners

    def _refer(self, spec: int) -> int:
        try:
            self.references[ctypes.c_int64.from_address(spec).value].call(spec + 8, self._hand_over)
            return 1
        except BaseException as error:
            self.error = error
            return 0
