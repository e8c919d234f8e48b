"""What a running kernel asks for: memory from NumPy, and storage for counters. One context serves one call at a time.

Arena slots are blocks of NumPy memory, aligned to 64 bytes, kept between calls and replaced by larger ones when a
request does not fit (never while in use: the compiler gives a slot to buffers whose lives do not meet). A block of
which `patience` calls in a row need less than a quarter is given back (rule B6 is about calls of one size). Buffers
that may leave the function are NumPy arrays from birth, found again by their address. What a call back raises ends
the kernel (`entry`).
"""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any, Protocol

import numpy as np

from tracebuf.backend.layout import abi
from tracebuf.backend.layout.entry_words import Entry
from tracebuf.backend.runtime.guard import chosen
from tracebuf.frozen import frozen
from tracebuf.ir.ndarray import address
from tracebuf.ir.types import ScalarType
from tracebuf.process.late import importing
from tracebuf.running.handed import handing
from tracebuf.running.lines import GAPS, LINE, SMALL

PATIENCE, MOST_PATIENCE = 4, 1024
"""After how many calls a block is given back; twice as many each time that one is asked for again."""
_DTYPES = tuple(ScalarType(name).dtype for name in abi.ELEMENT_CODES)
_Spec = ctypes.c_int64 * abi.SPEC_SLOTS
_IN_ORDER = list(range(abi.SPEC_SLOTS))


@frozen()
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
    given: int = 0
    """Of the arrays those that called functions gave."""


class Refers(Protocol):
    """A function of Python's as a context calls it (`references`)."""

    address: int
    may_keep: bool
    hands: bool

    def call(self, spec: int, hand_over: Callable[[], object], take: Callable[[np.ndarray], None]) -> None: ...
    def forget(self) -> None: ...


class Window(Protocol):
    """What counts NumPy's allocations while a kernel runs (`memory_hook`), and wants to know of its buffers."""

    def begin(self, live: int) -> None:
        """A call begins; `live`: the address of the bytes that are alive of its buffers and arrays."""

    def hold(self, nbytes: int) -> None:
        """So many more bytes, or fewer, are counted by both."""

    def keep(self, nbytes: int) -> None:
        """So many more bytes, or fewer, are a block of NumPy's memory, whose buffers are what counts."""

    def end(self, peak: int) -> None:
        """It ends; it had so many bytes at once."""


Make = Callable[[Sequence[int], np.dtype], np.ndarray]
WINDOW: ContextVar[Window | None] = ContextVar("WINDOW", default=None)
"""The innermost one."""


class Context:
    """The context of `backend.layout.abi`, the call backs behind it and the arrays they made."""

    __slots__ = (
        "args", "arrays", "blocks", "born", "called", "frame", "given", "given_back", "guard", "idle", "lent", "make",
        "most", "owners", "patience", "references", "roaming", "shared", "slots", "spared", "spares", "watch", "window",
    )  # fmt: skip

    def __init__(
        self,
        kernel: int,
        arena: tuple[int, int, tuple[int, ...], tuple[int, int] | None],
        frame_size: int,
        references: Sequence[Refers] = (),
    ) -> None:
        self.slots = (ctypes.c_int64 * (abi.ARENA + abi.ARENA_SLOT * arena[0]))()
        for slot, function in enumerate(_FUNCTIONS):
            self.slots[slot] = function
        self.slots[abi.OBJECT], self.slots[abi.KERNEL] = id(self), kernel
        self.frame = (ctypes.c_int64 * frame_size)()
        self.frame[0] = ctypes.addressof(self.slots)
        self.owners: dict[int, np.ndarray] = {}
        self.args: Sequence[object] = ()
        self.blocks: list[np.ndarray | None] = [None] * arena[0]
        self.born: dict[int, Window] = {}
        """By block what counted it when it was made."""
        self.shared, self.idle, self.roaming = arena[1:]
        """How many of the blocks are for several buffers: the first ones; those that are not in use where the first one
        is asked for; the block in which buffers roam, and their table."""
        self.spares: list[tuple[int, np.ndarray, int]] = []
        """The arrays that calls by Python have freed and make anew (see `abi.SPARES`): number, array, age."""
        self.lent: list[object] = []
        """The owners of blocks that were handed over in this call, which goes on with them."""
        self.forget_blocks()
        self.guard = chosen()
        self.make: Make = np.empty
        """What makes the arrays of this call."""
        self.arrays, self.given = (0, 0), 0
        """How many arrays this call has made, and their bytes; how many of them called functions gave."""
        self.most = 0
        """The most bytes of arrays that this call by Python had, if there are any that roam."""
        self.references = references
        self.called = (ctypes.c_int64 * len(references))(*(r.address for r in self.references))
        self.slots[abi.REFERENCES] = ctypes.addressof(self.called)
        self.watch: Callable[[Sequence[Any]], AbstractContextManager[None]] | None = None
        """In what a function of the user's is called from a call by machine code, with these arguments."""
        self.window: Window | None = None

    def begin(self, args: Sequence[object], counted: bool = False, make: Make = np.empty) -> None:
        """Before a call with these arguments: counters at zero."""
        self.make = make
        self.args, self.arrays, self.given = args, (0, 0), 0
        ctypes.memmove(ctypes.addressof(self.slots) + 8 * abi.ALLOCATIONS, _ZERO, len(_ZERO))
        if counted and (window := WINDOW.get()) is not None:
            self.window = window
            window.begin(ctypes.addressof(self.slots) + 8 * abi.LIVE)

    def end(self) -> None:
        """After a call: nothing of it is kept."""
        if self.window is not None:
            self.window.end(self.slots[abi.PEAK])
            self.window = None
        self.owners.clear()
        self.lent.clear()
        self.args, self.make = (), np.empty
        for reference in self.references:
            reference.forget()
        if self.slots[abi.LARGE]:
            self._shrink()
        self.most = 0

    def forget_blocks(self) -> None:
        """Gives back the memory that is kept for the next call."""
        for slot in range(len(self.blocks)):
            self._drop_block(slot)
            at = abi.ARENA + abi.ARENA_SLOT * slot
            self.slots[at + 1] = self.slots[at + 3] = 0
        self.slots[abi.LARGE] = 0  # whether there is a block that is worth giving back
        self.spared, self.patience = [0] * len(self.blocks), PATIENCE
        """For each block how many calls in a row had little use for it."""
        self.given_back: set[int] = set()
        self.drop_spares()

    def drop_spares(self) -> None:
        """Gives back the arrays that are kept to be made anew."""
        self.spares = []
        for place in _SPARES:
            if self.slots[place]:
                self._drop(place)

    def __del__(self) -> None:
        if ctypes is None or ctypes.pythonapi is None or not hasattr(self, "slots"):
            return  # Python ends, or an error came before there was anything to drop
        self.drop_spares()

    def _shrink(self) -> None:
        """Gives back what the last calls had little use for."""
        self.slots[abi.LARGE] = 0
        if self.shared and self.slots[abi.ARENA + 3] > self.slots[abi.ARENA + 1]:
            if not self._grow(0, self.slots[abi.ARENA + 3]):
                self.slots[abi.ARENA + 3] = 0
        if self.roaming is not None:
            self._make_room(*self.roaming)
        for slot in range(len(self.blocks)):
            at = abi.ARENA + abi.ARENA_SLOT * slot
            capacity, asked = self.slots[at + 1], self.slots[at + 2]
            self.slots[at + 2] = 0
            self.spared[slot] = self.spared[slot] + 1 if asked * 4 < capacity else 0
            if self.spared[slot] >= self.patience and capacity > SMALL:
                self._give_up(slot)
                self.slots[at + 3] = 0
                self.given_back.add(slot)
            elif capacity > SMALL:
                self.slots[abi.LARGE] = 1
        self._age()

    def _make_room(self, slot: int, table: int) -> None:
        """Makes the block in which buffers roam as large as this call needed it, if that is little, or if with the
        results it is not above the most that the call had in use, but for gaps."""
        at = abi.ARENA + abi.ARENA_SLOT * slot
        asked, most = self.slots[at + 2], max(self.slots[abi.ARENA + abi.ARENA_SLOT * table + abi.MOST], self.most)
        fits = asked <= SMALL or self.slots[abi.LIVE] + asked <= most + most // GAPS
        if asked > self.slots[at + 1] and fits and self.guard is None:
            self._grow(slot, asked)

    def _give_up(self, slot: int) -> None:
        at = abi.ARENA + abi.ARENA_SLOT * slot
        self.slots[at] = self.slots[at + 1] = 0
        self._drop_block(slot)

    def _drop_block(self, slot: int) -> None:
        block, self.blocks[slot] = self.blocks[slot], None
        if block is not None and (window := self.born.pop(slot, None)) is not None:
            window.keep(-block.nbytes)

    def counters(self) -> Counters:
        return Counters(*(*self.slots[abi.ALLOCATIONS : abi.SPARES], *self.arrays, self.given))

    # -- arrays that were freed
    def _spare(self, number: int, sizes: Sequence[int], dtype: np.dtype) -> np.ndarray | None:
        """An array of this number that was freed and has as many elements, with these sizes; those with more or fewer
        are dropped."""
        found, kept = None, []
        for spare in self.spares:
            mine, array, _ = spare
            fits = array.dtype == dtype and array.ndim == len(sizes) and array.size == math.prod(sizes)
            if mine != number or (fits and found is not None):
                kept.append(spare)
            elif fits:
                found = array
        self.spares = kept
        if found is not None and found.shape != tuple(sizes):
            found.resize(sizes, refcheck=False)  # nobody else has it
        return found

    def _keep(self, array: np.ndarray, number: int) -> None:
        """Keeps an array that was freed, in place of the oldest one if there is no room."""
        self.spares = [*self.spares[1 - abi.MOST_SPARES :], (number, array, 0)]
        if array.nbytes > SMALL:
            self.slots[abi.LARGE] = 1

    def _age(self) -> None:
        """Drops what the last calls did not make anew."""
        self.spares = [(number, array, age + 1) for number, array, age in self.spares if age < PATIENCE]
        large = any(array.nbytes > SMALL for _, array, _ in self.spares)
        for place in _SPARES:
            if self.slots[place]:
                self.slots[place + 2] += 1
                if self.slots[place + 2] > PATIENCE:
                    self._drop(place)
                else:
                    large = large or ctypes.cast(self.slots[place], ctypes.py_object).value.nbytes > SMALL
        if large:
            self.slots[abi.LARGE] = 1

    def _drop(self, place: int) -> None:
        """Gives back an array that native calls have kept."""
        kept, self.slots[place] = self.slots[place], 0
        ctypes.pythonapi.Py_DecRef(ctypes.c_void_p(kept))

    # -- what a kernel asks for
    def _allocate(self, spec: int, number: int) -> int:
        fields = _Spec.from_address(spec)
        rank = fields[1]
        sizes, order = fields[2 : 2 + rank], fields[2 + rank : 2 + 2 * rank]
        if number and (spare := self._spare(number, sizes, _DTYPES[fields[0]])) is not None:
            self.owners[address(spare)] = spare
            return address(spare)
        make = self.make if self.guard is None else self.guard.array
        if order == _IN_ORDER[:rank]:
            array = make(sizes, _DTYPES[fields[0]])
        else:
            dense = make([sizes[axis] for axis in order], _DTYPES[fields[0]])
            array = dense.transpose(np.argsort(order))
        start = address(array)
        self.owners[start] = array
        self._count(array)
        if self.roaming is not None:
            self.most = max(self.most, sum(one.nbytes for one in self.owners.values()))
        return start

    def _count(self, array: np.ndarray) -> None:
        self.arrays = (self.arrays[0] + 1, self.arrays[1] + max(array.nbytes, 1))
        if self.window is not None:
            self.window.hold(max(array.nbytes, 1))

    def take(self, array: np.ndarray) -> None:
        """Takes over an array that a called function has given, as one that was made for this call."""
        self.given += 1
        self._count(array)
        if not self.slots[abi.ANSWER]:
            self.owners[address(array)] = array
            return
        entry, row = self._entry(), 2 * ctypes.sizeof(ctypes.c_int64)
        if entry[Entry.FRESH_COUNT] == entry[Entry.FRESH_ROOM]:
            room = 2 * max(entry[Entry.FRESH_ROOM], 4)
            larger = _REALLOC(entry[Entry.FRESH], room * row)
            if larger is None:
                raise MemoryError
            entry[Entry.FRESH], entry[Entry.FRESH_ROOM] = larger, room
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(array))
        place = (ctypes.c_int64 * 2).from_address(entry[Entry.FRESH] + row * entry[Entry.FRESH_COUNT])
        place[:] = [id(array), -1]
        entry[Entry.FRESH_COUNT] += 1

    def _release(self, start: int, number: int) -> int:
        array = self.owners.pop(start, None)
        if array is None:
            return 0
        ours = self.guard is None and self.make is np.empty
        if number and ours and sys.getrefcount(array) <= 2:  # `array`, and the argument
            self._keep(array, number % abi.LARGE_SPARE)
        elif self.window is not None:
            self.window.hold(-max(array.nbytes, 1))
        return array.nbytes

    def _grow(self, slot: int, nbytes: int) -> int:
        if slot < 0:
            with importing():
                from tracebuf.backend.runtime import threads
            threads.start()
            return 0
        at = abi.ARENA + abi.ARENA_SLOT * slot
        self.slots[at] = self.slots[at + 1] = 0
        self._drop_block(slot)
        if self.roaming is not None and slot == self.roaming[0] and not nbytes:  # it gives way to arrays
            return 0
        if slot < self.shared:
            if slot == 0 and self.slots[at + 3]:  # it takes in what these were for
                for other in self.idle:
                    self._give_up(other)
            if self.guard is not None:
                return 0
            nbytes = max(nbytes, LINE)
        if self.guard is not None:  # the capacity stays 0, so that each buffer has a block of its own
            self.blocks[slot] = guarded = self.guard.array([nbytes], np.dtype(np.uint8))
            self.slots[at] = address(guarded)
            return 1
        if slot in self.given_back:
            self.given_back.discard(slot)
            self.patience = min(2 * self.patience, MOST_PATIENCE)
        try:
            block = np.empty(nbytes + LINE, np.uint8)
        except (MemoryError, ValueError):
            if slot < self.shared or self.roaming is not None and slot == self.roaming[0]:  # each of its buffers asks
                return 0
            raise
        self.blocks[slot] = block
        if self.window is not None:
            self.born[slot] = self.window
            self.window.keep(block.nbytes)
        start = address(block)
        self.slots[at] = start + -start % LINE
        self.slots[at + 1], self.spared[slot] = nbytes, 0
        if nbytes > SMALL:
            self.slots[abi.LARGE] = 1
        return 1

    def _refer(self, spec: int, number: int) -> int:
        reference = self.references[number]
        if reference.hands and self.slots[abi.ANSWER]:
            with handing(self._given(Entry.ARGUMENTS)):
                reference.call(spec, self._hand_over, self.take)
            return 1
        if self.watch is None or not reference.may_keep or not self.slots[abi.ANSWER]:
            reference.call(spec, self._hand_over, self.take)
        else:
            with self.watch(self._given(Entry.ARGUMENTS)):
                reference.call(spec, self._hand_over, self.take)
        return 1

    def _hand_over(self) -> object:
        """The owners of all memory in use, which this context does not use again."""
        owners = (self.args, list(self.owners.values()), self.blocks, self._native_owners())
        self.lent += self.blocks
        for slot in range(len(self.blocks)):
            self._drop_block(slot)
            self.slots[abi.ARENA + abi.ARENA_SLOT * slot + 1] = 0
        return owners

    def _native_owners(self) -> list[Any]:
        """In a call by machine code, what it was given, and the arrays that it has made."""
        if not self.slots[abi.ANSWER]:
            return []
        entry = self._entry()
        made = (ctypes.py_object * (2 * entry[Entry.FRESH_COUNT])).from_address(entry[Entry.FRESH] or 8)
        return self._given(Entry.ARGUMENTS, Entry.CONTAINERS) + [made[k] for k in range(0, len(made), 2)]

    def _given(self, *numbers: int) -> list[Any]:
        """What the call by machine code was given: so many values."""
        entry = self._entry()
        return list((ctypes.py_object * sum(entry[n] for n in numbers)).from_address(entry[Entry.VALUES]))

    def _entry(self) -> Any:
        return (ctypes.c_int64 * Entry.SIZE).from_address(self.slots[abi.ENTRY])


_REALLOC = ctypes.pythonapi.PyMem_RawRealloc
_REALLOC.restype, _REALLOC.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t]
_FUNCTIONS = [id(f) for f in (Context._allocate, Context._release, Context._grow, Context._refer)]
"""The functions of the context's first slots, in order; the class keeps them."""
_ZERO = bytes(8 * (abi.SPARES - abi.ALLOCATIONS))
_SPARES = range(abi.SPARES, abi.ARENA, abi.SPARE)
