"""What a compiled kernel and its caller agree on: `i64 kernel(ptr frame)`, the frame's slots, the context's slots.

Everything is an array of 8-byte slots. The frame: slot 0 is the context's address; then for each memref argument the
pointer to element 0, sizes, strides in elements; a scalar argument is one slot (a float in its first 4 bytes, a bool
in its first byte; a complex128 is two). Results: a memref is base pointer, pointer to element 0, sizes, strides; a
scalar as above. Then the error area, the values of the failed check's message, two slots each. Returned: 0, or k > 0 if
check k failed, or -1 if an exception is pending or too much memory was asked for.

The context belongs to one call at a time: the Python functions that the kernel calls back, the saved thread state,
counters, arena slots. Kernels are called by `enter`, and call back by `ask` (backend/runtime/entry.py).

Functions that a kernel calls, itself among them where it is recursive, have frames of their own, on the stack: slot 1
is the address below which the stack must not grow, slot 2 the work left until the next poll, in and out; a memref
argument begins with its base pointer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NewType

from tracebuf.frozen import frozen
from tracebuf.ir.types import ELEMENTS, MemRefType, ScalarType, Type

ArgNumber = NewType("ArgNumber", int)
"""The number of an argument of a program. Arguments of a call that are one array are one; what is part of the key, such
as a string, is none. MLIR: `BlockArgument::getArgNumber`."""
Slot = NewType("Slot", int)
"""The number of a word in a kernel's frame."""
NO_ARGUMENT = ArgNumber(-1)

OK, STOPPED = 0, -1
FLOOR, LEFT = 1, 2
"""Slots of the frame of a function that native code calls."""
STACK = 2**22
"""The bytes of stack that functions which call one another may take: half of what threads have, mostly."""
MAX_ERROR_VALUES, ERROR_VALUE = 16, 2
"""How many values of a failed check are kept, and the slots of each."""

ALLOCATE, RELEASE, GROW, REFER = 0, 1, 2, 3
"""Context slots: the Python functions for `ask(context, slot, a, b)`, which calls function(object, a, b) and gives an
integer, or -1 for an exception. `allocate(spec, 0)` gives a pointer (spec: element size code, rank, sizes, axes
outermost first); `release(pointer, 0)` the bytes freed; `grow(slot, bytes)` makes an arena slot of that many bytes (a
block of several buffers is null if it cannot be had, or if nothing is to be in it);
`refer(spec, number)` runs an op's NumPy reference (see `references`)."""
OBJECT, THREAD, KERNEL = 4, 5, 6
"""Context slots: the object that goes first to the functions, the thread state while the GIL is not held, the kernel's
address."""
HELD, LARGE, ANSWER, ENTRY = 7, 8, 9, 10
"""Context slots: whether the kernel runs with the GIL; whether Python's context has something to do after the call; a
native function (or 0) that is asked before Python is, with the same arguments; the entry that it belongs to (see
`entries`)."""
FOREIGN = 2
"""What `HELD` is where Numba's code calls, with or without the GIL, which the kernel neither takes nor gives: it looks
for no signals, and nothing that it asks for needs Python."""
PYTHON_MUST = -2
"""What that function gives where Python has to answer."""
SPEC_SLOTS = 130
"""Size of an allocation's spec, room for NumPy's 64 axes."""
REFERENCES = 11
"""Context slot: for each reference the words of the call that native code makes itself, or 0 (`hosted.Called`)."""
ALLOCATIONS, ALLOCATED, LIVE, PEAK, COPIES, COPIED = range(12, 18)
"""Context slots: the counters, in count or bytes."""
SPARES, SPARE, MOST_SPARES = 18, 3, 8
"""Context slots: arrays that a program has freed and makes anew, in this call or the next: for each the object (or 0)
with a reference to it, the number of the free, and how many calls ago that was. `allocate(spec, n)` takes one of number
n with the spec's sizes, in C order, and drops those with others; `release(pointer, n)` keeps the array; n has
`EMPTY_SPARE` added where there are no elements, `LARGE_SPARE` where it is worth giving back."""
EMPTY_SPARE, LARGE_SPARE = 2**15, 2**16
ARENA, ARENA_SLOT = SPARES + SPARE * MOST_SPARES, 4
"""Context slots: from here for each arena slot a pointer, a capacity in bytes, the most bytes that were asked for since
this was last set to 0, and the bytes that a block should have the next time it is asked for, for later phases in it."""

IN_USE, MOST = 0, 3
"""Words of the first arena slot of the table of buffers that roam: how many are in use, and the most bytes that were in
use at once."""
BUDGET = 2**18
"""Units of work between two polls: 50 microseconds to 20 milliseconds."""

ELEMENT_CODES = tuple(element.name for element in ELEMENTS.values())


@frozen()
class Frame:
    """Where everything is in a kernel's frame: the first slot of each argument and result, of the error area; the
    size.
    """

    args: tuple[Type, ...]
    results: tuple[Type, ...]
    arg_at: tuple[Slot, ...]
    result_at: tuple[Slot, ...]
    error_at: Slot
    size: int


def scalar_slots(type_: Type) -> int:
    """The slots of a scalar."""
    assert isinstance(type_, ScalarType)
    return -(-type_.itemsize // 8)


def frame_of(args: Sequence[Type], results: Sequence[Type], inner: bool = False) -> Frame:
    """The frame of a function with these argument and result types; `inner`: one that native code calls."""
    at, arg_at, result_at = 3 if inner else 1, list[Slot](), list[Slot]()
    for type_ in args:
        arg_at.append(Slot(at))
        at += inner + 1 + 2 * type_.rank if isinstance(type_, MemRefType) else scalar_slots(type_)
    for type_ in results:
        result_at.append(Slot(at))
        at += 2 + 2 * type_.rank if isinstance(type_, MemRefType) else scalar_slots(type_)
    size = at + ERROR_VALUE * MAX_ERROR_VALUES
    return Frame(tuple(args), tuple(results), tuple(arg_at), tuple(result_at), Slot(at), size)


def element_code(element: ScalarType) -> int:
    """The number of an array's dtype; an index is an int64 in memory."""
    return ELEMENT_CODES.index("i64" if element.name == "index" else element.name)
