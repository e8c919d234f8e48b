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
from typing import Any

from tracebuf.backend.llvm.jit import Library, compile_module
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


class _Block(ctypes.Structure):
    """A handler, what it hands on to, and its counters; `handler.allocator.ctx` is the block's own address."""

    _fields_ = [
        ("handler", Handler),
        ("below", Allocator),
        ("below_capsule", ctypes.c_void_p),
        ("knows_sizes", ctypes.c_int64),
        *[(name, ctypes.c_int64) for name in _COUNTERS],
        ("twice", ctypes.c_int64),
        ("none", ctypes.c_int64),
        ("buffers", ctypes.c_void_p),
    ]


# Field numbers in %block: 0 handler, 1 below, 2 below_capsule, 3 knows_sizes, 4..9 the counters; 10 what both this and
# a kernel count, 11 zero, 12 where the bytes are that a kernel's buffers take (at field 11 where none runs).
_IR = """
%allocator = type { ptr, ptr, ptr, ptr, ptr }
%handler = type { [127 x i8], i8, %allocator }
%block = type { %handler, %allocator, ptr, i64, i64, i64, i64, i64, i64, i64, i64, i64, ptr }

@capsule_name = constant [12 x i8] c"mem_handler\\00"

declare i64 @usable_size(ptr)
declare ptr @PyCapsule_GetPointer(ptr, ptr)
declare void @PyMem_RawFree(ptr)
declare void @Py_DecRef(ptr)

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
define internal ptr @born(ptr %block, ptr %memory, i64 %size, i64 %more) nounwind {
  %failed = icmp eq ptr %memory, null
  br i1 %failed, label %done, label %counted
counted:
  call void @count(ptr %block, i64 0, i64 1)
  call void @count(ptr %block, i64 1, i64 %size)
  call void @lives(ptr %block, i64 %more)
  br label %done
done:
  ret ptr %memory
}
define internal { ptr, ptr } @below(ptr %block, i32 %function) alwaysinline nounwind {
  %c = getelementptr %block, ptr %block, i32 0, i32 1
  %p = getelementptr ptr, ptr %c, i32 %function
  %ctx = load ptr, ptr %c
  %f = load ptr, ptr %p
  %r = insertvalue { ptr, ptr } poison, ptr %ctx, 0
  %s = insertvalue { ptr, ptr } %r, ptr %f, 1
  ret { ptr, ptr } %s
}
define ptr @counting_malloc(ptr %block, i64 %size) nounwind {
  %b = call { ptr, ptr } @below(ptr %block, i32 1)
  %ctx = extractvalue { ptr, ptr } %b, 0
  %f = extractvalue { ptr, ptr } %b, 1
  %memory = call ptr %f(ptr %ctx, i64 %size)
  %r = call ptr @born(ptr %block, ptr %memory, i64 %size, i64 %size)
  ret ptr %r
}
define ptr @counting_calloc(ptr %block, i64 %count, i64 %item) nounwind {
  %b = call { ptr, ptr } @below(ptr %block, i32 2)
  %ctx = extractvalue { ptr, ptr } %b, 0
  %f = extractvalue { ptr, ptr } %b, 1
  %memory = call ptr %f(ptr %ctx, i64 %count, i64 %item)
  %size = mul i64 %count, %item
  %r = call ptr @born(ptr %block, ptr %memory, i64 %size, i64 %size)
  ret ptr %r
}
define ptr @counting_realloc(ptr %block, ptr %old, i64 %size) nounwind {
  %k = getelementptr %block, ptr %block, i32 0, i32 3
  %known = load i64, ptr %k
  %unknown = icmp eq i64 %known, 0
  br i1 %unknown, label %go, label %ask
ask:
  %usable = call i64 @usable_size(ptr %old)
  br label %go
go:
  %released = phi i64 [ 0, %0 ], [ %usable, %ask ]
  %b = call { ptr, ptr } @below(ptr %block, i32 3)
  %ctx = extractvalue { ptr, ptr } %b, 0
  %f = extractvalue { ptr, ptr } %b, 1
  %memory = call ptr %f(ptr %ctx, ptr %old, i64 %size)
  %more = sub i64 %size, %released
  %r = call ptr @born(ptr %block, ptr %memory, i64 %size, i64 %more)
  ret ptr %r
}
define void @counting_free(ptr %block, ptr %memory, i64 %size) nounwind {
  %b = call { ptr, ptr } @below(ptr %block, i32 4)
  %ctx = extractvalue { ptr, ptr } %b, 0
  %f = extractvalue { ptr, ptr } %b, 1
  call void %f(ptr %ctx, ptr %memory, i64 %size)
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
define void @destroy(ptr %capsule) nounwind {
  %block = call ptr @PyCapsule_GetPointer(ptr %capsule, ptr @capsule_name)
  %p = getelementptr %block, ptr %block, i32 0, i32 2
  %below = load ptr, ptr %p
  call void @PyMem_RawFree(ptr %block)
  call void @Py_DecRef(ptr %below)
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
    api, native = numpy_api(), _native()
    under = Handler.from_address(api.capsule_pointer(below, b"mem_handler"))
    ctypes.pythonapi.PyMem_RawMalloc.restype = ctypes.c_void_p
    address = ctypes.pythonapi.PyMem_RawMalloc(ctypes.c_size_t(ctypes.sizeof(_Block)))
    if address is None:
        raise MemoryError("no memory for a memory handler")
    functions = (native.address(f"counting_{name}") for name in ("malloc", "calloc", "realloc", "free"))
    block = _Block.from_address(address)
    knows_sizes = under.name == b"default_allocator"
    if under.name == _NAME:
        knows_sizes = bool(_Block.from_address(under.allocator.ctx).knows_sizes)
    handler = Handler(_NAME, 1, Allocator(address, *functions))
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(below))
    ctypes.pointer(block)[0] = _Block(handler, under.allocator, id(below), knows_sizes)
    block.buffers = _where_nothing_is(block)
    return api.new_capsule(address, native.address("capsule_name"), native.address("destroy")), block


def _where_nothing_is(block: _Block) -> int:
    return ctypes.addressof(block) + _Block.none.offset
