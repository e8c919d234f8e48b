"""Counting the data memory that NumPy allocates, in eager functions and in compiled ones.

    with counting() as c:
        np.sqrt(x * x + 1)
    c.allocations, c.allocated_bytes, c.peak_bytes, c.frees

A compiled function whose call is counted (`call_counted`) within the window lends it the number of the bytes that its
buffers take, so that `whole_peak_bytes` is the most that both took at once.

NEP 49 lets a program put a handler (malloc, calloc, realloc, free) between NumPy and the memory of arrays. This one
counts and hands every request on to the handler that was there before, with nothing changed, so speed, alignment and
the huge pages that NumPy asks for are what they were. NumPy's own cache of blocks under 1 KiB is part of its default
handler and so lies below the counting: small arrays count like large ones, also where the cache had memory for them.

An array keeps the handler it was born with and may outlive the window, the thread and the interpreter's own clean-up.
So the functions are native code that is never unloaded, and the counters live in the handler's own block, which is
freed when the last array that was born in the window is gone. A window inside a window counts in both.

What is counted: array data allocated in the window by the code of this context (`contextvars`), the few bytes NumPy
takes to make a 0-d array of a Python number included; threads started within have their own handler. Not counted: array
objects themselves, shapes and strides, and buffers that NumPy takes from malloc directly (iterator buffers, sort
workspace). `realloc` counts as an allocation of the new size that releases the old one; NumPy does not tell the old
size, so the size the C library reserved for it stands in for it.

Source: NEP 49; `PyDataMem_Handler` in `numpy/ndarraytypes.h`; API slots 304 and 305.
"""

from __future__ import annotations

import ctypes
import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

from tracebuf.backend.llvm.jit import Library, compile_module
from tracebuf.backend.llvm.texts.memory_handler import memory_handler
from tracebuf.backend.runtime.arena import WINDOW
from tracebuf.frozen import frozen

__all__ = ["Allocations", "counting"]

_NAME = b"tracebuf_counting"
_COUNTERS = ("allocations", "allocated_bytes", "frees", "live_bytes", "peak_bytes", "whole_peak_bytes")
_SLOT_SET, _SLOT_GET = 304, 305


class Allocator(ctypes.Structure):
    """`PyDataMemAllocator`."""

    _fields_ = [(name, ctypes.c_void_p) for name in ("ctx", "malloc", "calloc", "realloc", "free")]


class Handler(ctypes.Structure):
    """`PyDataMem_Handler`, version 1."""

    _fields_ = [("name", ctypes.c_char * 127), ("version", ctypes.c_uint8), ("allocator", Allocator)]


class Block(ctypes.Structure):
    """A handler, what it hands on to, and what follows; `handler.allocator.ctx` is the block's own address."""

    _fields_ = [("handler", Handler), ("below", Allocator), ("below_capsule", ctypes.c_void_p)]


class _Block(Block):
    """A handler and its counters."""

    _fields_ = [
        ("knows_sizes", ctypes.c_int64),
        *[(name, ctypes.c_int64) for name in _COUNTERS],
        ("twice", ctypes.c_int64),
        ("none", ctypes.c_int64),
        ("buffers", ctypes.c_void_p),
    ]


# Field numbers in %block: 0 handler, 1 below, 2 below_capsule, 3 knows_sizes, 4..9 the counters; 10 what both this and
# a kernel count, 11 zero, 12 where the bytes are that a kernel's buffers take (at field 11 where none runs).
_IR = memory_handler(["i64"] * 9 + ["ptr"]) + """
declare i64 @usable_size(ptr)

define internal void @count(ptr %block, i64 %field, i64 %by) alwaysinline nounwind {
  %counters = getelementptr %block, ptr %block, i32 0, i32 4
  %p = getelementptr i64, ptr %counters, i64 %field
  %old = atomicrmw add ptr %p, i64 %by monotonic
  ret void
}
define internal void @lives(ptr %block, i64 %by) alwaysinline nounwind {
  %live = getelementptr %block, ptr %block, i32 0, i32 7
  %peak = getelementptr %block, ptr %block, i32 0, i32 8
  %old = atomicrmw add ptr %live, i64 %by monotonic
  %new = add i64 %old, %by
  %before = atomicrmw max ptr %peak, i64 %new monotonic
  %whole = getelementptr %block, ptr %block, i32 0, i32 9
  %twice_at = getelementptr %block, ptr %block, i32 0, i32 10
  %buffers_at = getelementptr %block, ptr %block, i32 0, i32 12
  %twice = load i64, ptr %twice_at
  %where = load ptr, ptr %buffers_at
  %buffers = load i64, ptr %where
  %more = add i64 %new, %buffers
  %both = sub i64 %more, %twice
  %was = atomicrmw max ptr %whole, i64 %both monotonic
  ret void
}
define internal void @counted(ptr %block, ptr %memory, i64 %size, i64 %more) nounwind {
  %failed = icmp eq ptr %memory, null
  br i1 %failed, label %done, label %counted
counted:
  call void @count(ptr %block, i64 0, i64 1)
  call void @count(ptr %block, i64 1, i64 %size)
  call void @lives(ptr %block, i64 %more)
  br label %done
done:
  ret void
}
define internal void @born(ptr %block, ptr %memory, i64 %size) alwaysinline nounwind {
  call void @counted(ptr %block, ptr %memory, i64 %size, i64 %size)
  ret void
}
define internal i64 @moving(ptr %block, ptr %old) nounwind {
  %k = getelementptr %block, ptr %block, i32 0, i32 3
  %known = load i64, ptr %k
  %unknown = icmp eq i64 %known, 0
  br i1 %unknown, label %none, label %ask
ask:
  %usable = call i64 @usable_size(ptr %old)
  ret i64 %usable
none:
  ret i64 0
}
define internal void @moved(ptr %block, ptr %old, ptr %memory, i64 %size, i64 %moving) alwaysinline nounwind {
  %more = sub i64 %size, %moving
  call void @counted(ptr %block, ptr %memory, i64 %size, i64 %more)
  ret void
}
define internal void @gone(ptr %block, ptr %memory, i64 %size) nounwind {
  %nothing = icmp eq ptr %memory, null
  br i1 %nothing, label %done, label %counted
counted:
  %negative = sub i64 0, %size
  call void @count(ptr %block, i64 2, i64 1)
  call void @lives(ptr %block, i64 %negative)
  br label %done
done:
  ret void
}
"""


@frozen()
class _Api:
    """Functions of NumPy and CPython, callable with Python objects."""

    set_handler: Any
    get_handler: Any
    new_capsule: Any
    capsule_pointer: Any


@cache
def _native() -> Library:
    libc = ctypes.CDLL(None)
    usable_size = libc.malloc_size if sys.platform == "darwin" else libc.malloc_usable_size
    address = ctypes.cast(usable_size, ctypes.c_void_p).value
    assert address is not None
    return compile_module(_IR, "memory_hook", {"usable_size": address}, speed_level=2).pin()


@cache
def numpy_api() -> _Api:
    numpy_core = importlib.import_module("numpy._core._multiarray_umath")
    python = ctypes.pythonapi
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", python))
    slots = (ctypes.c_void_p * (_SLOT_GET + 1)).from_address(pointer(numpy_core._ARRAY_API, None))
    new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    return _Api(
        set_handler=ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(slots[_SLOT_SET] or 0),
        get_handler=ctypes.PYFUNCTYPE(ctypes.py_object)(slots[_SLOT_GET] or 0),
        new_capsule=new(("PyCapsule_New", python)),
        capsule_pointer=pointer,
    )


class Allocations:
    """What a window counted. Within the window the numbers run; after it they stand.

    `peak_bytes` is the most that was allocated in the window and not yet freed, at any moment of it; memory that was
    there before does not count. `live_bytes` is what was left. Arrays born before the window are freed uncounted.
    `whole_peak_bytes` is the most with the buffers of compiled functions whose calls were counted.
    """

    allocations: int
    allocated_bytes: int
    frees: int
    live_bytes: int
    peak_bytes: int
    whole_peak_bytes: int

    __slots__ = ("_block", "_capsule", "_final", "_kept")

    def __init__(self, capsule: Any, block: _Block) -> None:
        self._capsule = capsule
        self._block: _Block | None = block
        self._final: dict[str, int] = {}
        self._kept = 0

    def __getattr__(self, name: str) -> int:
        if name not in _COUNTERS:
            raise AttributeError(name)
        return int(self._final[name] if self._block is None else getattr(self._block, name))

    def __repr__(self) -> str:
        return f"Allocations({', '.join(f'{name}={getattr(self, name)}' for name in _COUNTERS)})"

    # -- a kernel's call (`Window` of arena.py)
    def begin(self, live: int) -> None:
        assert self._block is not None
        self._block.buffers = live

    def hold(self, nbytes: int) -> None:
        assert self._block is not None
        self._block.twice += nbytes

    def keep(self, nbytes: int) -> None:
        if self._block is not None:
            self._kept += nbytes
            self.hold(nbytes)

    def end(self, peak: int) -> None:
        block = self._block
        assert block is not None
        block.buffers = _where_nothing_is(block)
        block.whole_peak_bytes = max(block.whole_peak_bytes, block.live_bytes - block.twice + peak)
        block.twice = self._kept

    def _stop(self) -> None:
        self._final = {name: getattr(self, name) for name in _COUNTERS}
        self._block = self._capsule = None


@contextmanager
def counting() -> Iterator[Allocations]:
    """Count the allocations of array data by this context's code until the window closes. May be nested."""
    api = numpy_api()
    capsule, block = _new_handler(api.get_handler())
    counted = Allocations(capsule, block)
    before, token = api.set_handler(capsule), WINDOW.set(counted)
    try:
        yield counted
    finally:
        WINDOW.reset(token)
        api.set_handler(before)
        counted._stop()


def counting_on() -> Allocations:
    """Counts as `counting` does, to the end of this context: that of a thread."""
    api = numpy_api()
    capsule, block = _new_handler(api.get_handler())
    api.set_handler(capsule)
    return Allocations(capsule, block)


@contextmanager
def by_handler(handler: Any) -> Iterator[None]:
    """Arrays are made by another handler (of `numpy_api().get_handler()`), so that a window does not count them."""
    before = numpy_api().set_handler(handler)
    try:
        yield
    finally:
        numpy_api().set_handler(before)


def _new_handler(below: Any) -> tuple[Any, _Block]:
    """A counting handler over the handler `below`: the capsule that owns it, and its block."""
    under = handler_of(below)
    knows_sizes = under.name == b"default_allocator"
    if under.name == _NAME:
        knows_sizes = bool(_Block.from_address(under.allocator.ctx).knows_sizes)
    capsule, block = new_handler(_native(), _NAME, below, _Block)
    block.knows_sizes = knows_sizes
    block.buffers = _where_nothing_is(block)
    return capsule, block


def handler_of(capsule: Any) -> Handler:
    """The handler in a capsule of NumPy's."""
    return Handler.from_address(numpy_api().capsule_pointer(capsule, b"mem_handler"))


B = TypeVar("B", bound=Block)


def new_handler(native: Library, name: bytes, below: Any, kind: type[B]) -> tuple[Any, B]:
    """A handler over another, of the functions of `memory_handler`: the capsule that owns it, and its block, of which
    the further fields are 0."""
    api = numpy_api()
    ctypes.pythonapi.PyMem_RawCalloc.restype = ctypes.c_void_p
    address = ctypes.pythonapi.PyMem_RawCalloc(ctypes.c_size_t(1), ctypes.c_size_t(ctypes.sizeof(kind)))
    if address is None:
        raise MemoryError("no memory for a memory handler")
    functions = (native.address(f"handler_{name}") for name in ("malloc", "calloc", "realloc", "free"))
    head = Block.from_address(address)
    head.handler = Handler(name, 1, Allocator(address, *functions))
    head.below = handler_of(below).allocator
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(below))
    head.below_capsule = id(below)
    capsule = api.new_capsule(address, native.address("capsule_name"), native.address("destroy"))
    return capsule, kind.from_address(address)


def _where_nothing_is(block: _Block) -> int:
    return ctypes.addressof(block) + _Block.none.offset
