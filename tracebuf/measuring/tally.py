"""All memory that a call takes, by the place that is set while it runs: array data, and what Python's allocators give,
which is NumPy's too (the buffers of its iterator) and Python's own (lists, numbers, frames).

    with tallying() as seen:
        seen.place(3)
        ...
    seen.most, seen.places[3].most, seen.places[3].at_peak

It is what `tracemalloc` counts: a handler (NEP 49) lies over that of NumPy's arrays, and hooks over Python's three
allocators (`PyMem_SetAllocator`), which hand every request on. They are native code and keep, in a table by address,
the size and the place of each block, so that a release is taken from the place that asked. Of each place and of all
in sum they know what is alive, the most that was, and, of a place, what was when the sum had most: a place whose
`epoch` is behind that of the sum has not changed since.

Counted is what this thread asks for within the window; blocks of the window may be released by any thread, under a
lock. What lies over the hooks when the window ends (`tracemalloc`, started within) keeps them below it: they then do
nothing, and nothing of them is ever freed but the tables.
"""

from __future__ import annotations

import ctypes
import threading
from functools import cache
from typing import Any

import numpy as np

from tracebuf.backend.llvm.jit import Library, compile_module
from tracebuf.backend.llvm.texts.memory_handler import memory_handler
from tracebuf.backend.runtime.memory_hook import Allocator, Block, new_handler, numpy_api
from tracebuf.frozen import frozen

__all__ = ["PLACES", "Place", "tallying"]

PLACES = 1 << 14
"""The most places."""
_FIRST = 1 << 12
_DOMAINS = 3
_PLACE = "alive", "most", "at_peak", "epoch"


class _Block(Block):
    """NumPy's handler."""

    _fields_ = [("tally", ctypes.c_void_p)]


class _Hook(ctypes.Structure):
    """The allocator below (`PyMemAllocatorEx`), and whom it is told to."""

    _fields_ = [("below", Allocator), ("tally", ctypes.c_void_p)]


class _Tally(ctypes.Structure):
    """`open`: 0 closed, 1 counts, 2 knows of releases only. `inside`: how many of Python's allocators run, of which one
    takes what it gives of another."""

    _fields_ = [
        *[(name, ctypes.c_int64) for name in ("open", "thread", "lock", "place")],
        ("table", ctypes.c_void_p),
        *[(name, ctypes.c_int64) for name in ("mask", "used")],
        ("places", ctypes.c_void_p),
        *[(name, ctypes.c_int64) for name in ("alive", "most", "epoch", "inside")],
    ]


@frozen()
class Place:
    """Bytes of a place: the most at once, and what was alive when all places together had most."""

    most: int
    at_peak: int



def _below(place: int) -> str:
    """What a hook begins with: the function at a place of the allocator below, its context, and the tally."""
    names = enumerate(("ctx", "f", "tally"))
    taken = "".join(f"  %{name} = extractvalue {{ ptr, ptr, ptr }} %u, {k}\n" for k, name in names)
    return f"  %u = call {{ ptr, ptr, ptr }} @under(ptr %hook, i32 {place})\n{taken}"


def _hook(name: str, place: int, takes: str, notes: str) -> str:
    """The hook over a function of an allocator that gives memory."""
    return f"""define ptr @hook_{name}(ptr %hook, {takes}) nounwind {{
{_below(place)}  %entered = call i64 @goes_in(ptr %tally)
  %memory = call ptr %f(ptr %ctx, {takes})
  call void @comes_out(ptr %tally, i64 %entered)
  {notes}
  ret ptr %memory
}}
"""


_IR = (
    memory_handler(["ptr"])
    + """
%tally = type { i64, i64, i64, i64, ptr, i64, i64, ptr, i64, i64, i64, i64 }
%hook = type { %allocator, ptr }
%entry = type { i64, i64, i64 }
%place = type { i64, i64, i64, i64 }

declare ptr @calloc(i64, i64)
declare void @free(ptr)
declare i64 @PyThread_get_thread_ident()

define internal void @enter(ptr %tally) nounwind {
  %lock = getelementptr %tally, ptr %tally, i32 0, i32 2
  br label %try
try:
  %r = cmpxchg ptr %lock, i64 0, i64 1 acquire monotonic
  %got = extractvalue { i64, i1 } %r, 1
  br i1 %got, label %done, label %try
done:
  ret void
}
define internal void @leave(ptr %tally) alwaysinline nounwind {
  %lock = getelementptr %tally, ptr %tally, i32 0, i32 2
  store atomic i64 0, ptr %lock release, align 8
  ret void
}
; Where an address belongs in a table.
define internal i64 @home(i64 %address, i64 %mask) alwaysinline nounwind {
  %a = lshr i64 %address, 4
  %b = mul i64 %a, -7046029254386353131
  %c = lshr i64 %b, 24
  %d = and i64 %c, %mask
  ret i64 %d
}
; The slot of an address, or the empty one where it would be.
define internal i64 @slot(ptr %table, i64 %mask, i64 %address) alwaysinline nounwind {
  %first = call i64 @home(i64 %address, i64 %mask)
  br label %probe
probe:
  %k = phi i64 [ %first, %0 ], [ %k2, %other ]
  %e = getelementptr %entry, ptr %table, i64 %k
  %there = load i64, ptr %e
  %is_it = icmp eq i64 %there, %address
  %is_empty = icmp eq i64 %there, 0
  %ends = or i1 %is_it, %is_empty
  br i1 %ends, label %found, label %other
other:
  %k1 = add i64 %k, 1
  %k2 = and i64 %k1, %mask
  br label %probe
found:
  ret i64 %k
}
define internal void @account(ptr %tally, i64 %place, i64 %by) nounwind {
  %places_at = getelementptr %tally, ptr %tally, i32 0, i32 7
  %alive_at = getelementptr %tally, ptr %tally, i32 0, i32 8
  %most_at = getelementptr %tally, ptr %tally, i32 0, i32 9
  %epoch_at = getelementptr %tally, ptr %tally, i32 0, i32 10
  %places = load ptr, ptr %places_at
  %p = getelementptr %place, ptr %places, i64 %place
  %p1 = getelementptr %place, ptr %p, i32 0, i32 1
  %p2 = getelementptr %place, ptr %p, i32 0, i32 2
  %p3 = getelementptr %place, ptr %p, i32 0, i32 3
  %now = load i64, ptr %p
  %epoch = load i64, ptr %epoch_at
  %known = load i64, ptr %p3
  %is_known = icmp eq i64 %known, %epoch
  br i1 %is_known, label %change, label %know
know:
  store i64 %now, ptr %p2
  store i64 %epoch, ptr %p3
  br label %change
change:
  %now2 = add i64 %now, %by
  store i64 %now2, ptr %p
  %most = load i64, ptr %p1
  %more = icmp sgt i64 %now2, %most
  %most2 = select i1 %more, i64 %now2, i64 %most
  store i64 %most2, ptr %p1
  %sum = load i64, ptr %alive_at
  %sum2 = add i64 %sum, %by
  store i64 %sum2, ptr %alive_at
  %sum_most = load i64, ptr %most_at
  %is_peak = icmp sgt i64 %sum2, %sum_most
  br i1 %is_peak, label %peak, label %done
peak:
  store i64 %sum2, ptr %most_at
  %epoch2 = add i64 %epoch, 1
  store i64 %epoch2, ptr %epoch_at
  br label %done
done:
  ret void
}
; A table of twice the size; false where there is no memory for it.
define internal i1 @grow(ptr %tally) nounwind {
  %table_at = getelementptr %tally, ptr %tally, i32 0, i32 4
  %mask_at = getelementptr %tally, ptr %tally, i32 0, i32 5
  %table = load ptr, ptr %table_at
  %mask = load i64, ptr %mask_at
  %count = add i64 %mask, 1
  %count2 = shl i64 %count, 1
  %mask2 = sub i64 %count2, 1
  %new = call ptr @calloc(i64 %count2, i64 24)
  %failed = icmp eq ptr %new, null
  br i1 %failed, label %none, label %move
move:
  %i = phi i64 [ 0, %0 ], [ %i1, %moved ]
  %from = getelementptr %entry, ptr %table, i64 %i
  %e = load %entry, ptr %from
  %address = extractvalue %entry %e, 0
  %is_empty = icmp eq i64 %address, 0
  br i1 %is_empty, label %moved, label %put
put:
  %k = call i64 @slot(ptr %new, i64 %mask2, i64 %address)
  %to = getelementptr %entry, ptr %new, i64 %k
  store %entry %e, ptr %to
  br label %moved
moved:
  %i1 = add i64 %i, 1
  %further = icmp ule i64 %i1, %mask
  br i1 %further, label %move, label %done
done:
  store ptr %new, ptr %table_at
  store i64 %mask2, ptr %mask_at
  call void @free(ptr %table)
  ret i1 1
none:
  ret i1 0
}
define internal void @add(ptr %tally, ptr %memory, i64 %size) nounwind {
  %open = load i64, ptr %tally
  %counts = icmp eq i64 %open, 1
  %is_memory = icmp ne ptr %memory, null
  %both = and i1 %counts, %is_memory
  br i1 %both, label %whose, label %done
whose:
  %thread_at = getelementptr %tally, ptr %tally, i32 0, i32 1
  %thread = load i64, ptr %thread_at
  %me = call i64 @PyThread_get_thread_ident()
  %is_mine = icmp eq i64 %me, %thread
  br i1 %is_mine, label %mine, label %done
mine:
  %inside_at = getelementptr %tally, ptr %tally, i32 0, i32 11
  %inside = load i64, ptr %inside_at
  %is_outermost = icmp eq i64 %inside, 0
  br i1 %is_outermost, label %begin, label %done
begin:
  call void @enter(ptr %tally)
  %mask_at = getelementptr %tally, ptr %tally, i32 0, i32 5
  %used_at = getelementptr %tally, ptr %tally, i32 0, i32 6
  %used = load i64, ptr %used_at
  %mask1 = load i64, ptr %mask_at
  %twice = shl i64 %used, 1
  %is_full = icmp ugt i64 %twice, %mask1
  br i1 %is_full, label %enlarge, label %find
enlarge:
  %could = call i1 @grow(ptr %tally)
  br i1 %could, label %find, label %end
find:
  %table_at = getelementptr %tally, ptr %tally, i32 0, i32 4
  %place_at = getelementptr %tally, ptr %tally, i32 0, i32 3
  %table = load ptr, ptr %table_at
  %mask = load i64, ptr %mask_at
  %place = load i64, ptr %place_at
  %address = ptrtoint ptr %memory to i64
  %k = call i64 @slot(ptr %table, i64 %mask, i64 %address)
  %e = getelementptr %entry, ptr %table, i64 %k
  %e1 = getelementptr %entry, ptr %e, i32 0, i32 1
  %e2 = getelementptr %entry, ptr %e, i32 0, i32 2
  %there = load i64, ptr %e
  %is_new = icmp eq i64 %there, 0
  br i1 %is_new, label %new, label %again
again:
  %old_size = load i64, ptr %e1
  %old_place = load i64, ptr %e2
  %less = sub i64 0, %old_size
  call void @account(ptr %tally, i64 %old_place, i64 %less)
  br label %write
new:
  %used1 = add i64 %used, 1
  store i64 %used1, ptr %used_at
  br label %write
write:
  store i64 %address, ptr %e
  store i64 %size, ptr %e1
  store i64 %place, ptr %e2
  call void @account(ptr %tally, i64 %place, i64 %size)
  br label %end
end:
  call void @leave(ptr %tally)
  br label %done
done:
  ret void
}
define internal void @remove(ptr %tally, ptr %memory) nounwind {
  %open = load i64, ptr %tally
  %knows = icmp ne i64 %open, 0
  %is_memory = icmp ne ptr %memory, null
  %both = and i1 %knows, %is_memory
  br i1 %both, label %begin, label %done
begin:
  call void @enter(ptr %tally)
  %still = load i64, ptr %tally
  %closed = icmp eq i64 %still, 0
  br i1 %closed, label %end, label %find
find:
  %table_at = getelementptr %tally, ptr %tally, i32 0, i32 4
  %mask_at = getelementptr %tally, ptr %tally, i32 0, i32 5
  %used_at = getelementptr %tally, ptr %tally, i32 0, i32 6
  %table = load ptr, ptr %table_at
  %mask = load i64, ptr %mask_at
  %address = ptrtoint ptr %memory to i64
  %k = call i64 @slot(ptr %table, i64 %mask, i64 %address)
  %e = getelementptr %entry, ptr %table, i64 %k
  %there = load i64, ptr %e
  %is_unknown = icmp eq i64 %there, 0
  br i1 %is_unknown, label %end, label %known
known:
  %e1 = getelementptr %entry, ptr %e, i32 0, i32 1
  %e2 = getelementptr %entry, ptr %e, i32 0, i32 2
  %size = load i64, ptr %e1
  %place = load i64, ptr %e2
  %less = sub i64 0, %size
  call void @account(ptr %tally, i64 %place, i64 %less)
  %used = load i64, ptr %used_at
  %used1 = sub i64 %used, 1
  store i64 %used1, ptr %used_at
  br label %next
next:  ; what follows comes nearer to its home
  %hole = phi i64 [ %k, %known ], [ %hole, %stays ], [ %j, %comes ]
  %before = phi i64 [ %k, %known ], [ %j, %stays ], [ %j, %comes ]
  %j0 = add i64 %before, 1
  %j = and i64 %j0, %mask
  %f = getelementptr %entry, ptr %table, i64 %j
  %hole_at = getelementptr %entry, ptr %table, i64 %hole
  %moving = load %entry, ptr %f
  %its = extractvalue %entry %moving, 0
  %is_last = icmp eq i64 %its, 0
  br i1 %is_last, label %clear, label %look
look:
  %home = call i64 @home(i64 %its, i64 %mask)
  %a = sub i64 %j, %home
  %from_home = and i64 %a, %mask
  %b = sub i64 %j, %hole
  %from_hole = and i64 %b, %mask
  %may = icmp uge i64 %from_home, %from_hole
  br i1 %may, label %comes, label %stays
comes:
  store %entry %moving, ptr %hole_at
  br label %next
stays:
  br label %next
clear:
  store i64 0, ptr %hole_at
  br label %end
end:
  call void @leave(ptr %tally)
  br label %done
done:
  ret void
}

define internal ptr @of(ptr %block) alwaysinline nounwind {
  %at = getelementptr %block, ptr %block, i32 0, i32 3
  %tally = load ptr, ptr %at
  ret ptr %tally
}
define internal void @born(ptr %block, ptr %memory, i64 %size) nounwind {
  %tally = call ptr @of(ptr %block)
  call void @add(ptr %tally, ptr %memory, i64 %size)
  ret void
}
define internal void @gone(ptr %block, ptr %memory, i64 %size) nounwind {
  %tally = call ptr @of(ptr %block)
  call void @remove(ptr %tally, ptr %memory)
  ret void
}
define internal i64 @moving(ptr %block, ptr %old) alwaysinline nounwind {
  ret i64 0
}
define internal void @resized(ptr %tally, ptr %old, ptr %memory, i64 %size) nounwind {
  %failed = icmp eq ptr %memory, null
  br i1 %failed, label %done, label %moved
moved:
  call void @remove(ptr %tally, ptr %old)
  call void @add(ptr %tally, ptr %memory, i64 %size)
  br label %done
done:
  ret void
}
define internal void @moved(ptr %block, ptr %old, ptr %memory, i64 %size, i64 %moving) nounwind {
  %tally = call ptr @of(ptr %block)
  call void @resized(ptr %tally, ptr %old, ptr %memory, i64 %size)
  ret void
}

; Before and after an allocator of Python's: what it takes of another one is not counted.
define internal i64 @goes_in(ptr %tally) nounwind {
  %thread_at = getelementptr %tally, ptr %tally, i32 0, i32 1
  %thread = load i64, ptr %thread_at
  %me = call i64 @PyThread_get_thread_ident()
  %is_mine = icmp eq i64 %me, %thread
  br i1 %is_mine, label %mine, label %done
mine:
  %inside_at = getelementptr %tally, ptr %tally, i32 0, i32 11
  %inside = load i64, ptr %inside_at
  %more = add i64 %inside, 1
  store i64 %more, ptr %inside_at
  br label %done
done:
  %entered = zext i1 %is_mine to i64
  ret i64 %entered
}
define internal void @comes_out(ptr %tally, i64 %entered) nounwind {
  %is_mine = icmp eq i64 %entered, 1
  br i1 %is_mine, label %mine, label %done
mine:
  %inside_at = getelementptr %tally, ptr %tally, i32 0, i32 11
  %inside = load i64, ptr %inside_at
  %less = sub i64 %inside, 1
  store i64 %less, ptr %inside_at
  br label %done
done:
  ret void
}
define internal { ptr, ptr, ptr } @under(ptr %hook, i32 %function) alwaysinline nounwind {
  %ctx = load ptr, ptr %hook
  %p = getelementptr ptr, ptr %hook, i32 %function
  %f = load ptr, ptr %p
  %tally_at = getelementptr %hook, ptr %hook, i32 0, i32 1
  %tally = load ptr, ptr %tally_at
  %r = insertvalue { ptr, ptr, ptr } poison, ptr %ctx, 0
  %s = insertvalue { ptr, ptr, ptr } %r, ptr %f, 1
  %t = insertvalue { ptr, ptr, ptr } %s, ptr %tally, 2
  ret { ptr, ptr, ptr } %t
}
"""
    + _hook("malloc", 1, "i64 %size", "call void @add(ptr %tally, ptr %memory, i64 %size)")
    + _hook(
        "calloc", 2, "i64 %count, i64 %item",
        "%size = mul i64 %count, %item\n  call void @add(ptr %tally, ptr %memory, i64 %size)",
    )
    + _hook("realloc", 3, "ptr %old, i64 %size", "call void @resized(ptr %tally, ptr %old, ptr %memory, i64 %size)")
    + f"""define void @hook_free(ptr %hook, ptr %memory) nounwind {{
{_below(4)}  call void @remove(ptr %tally, ptr %memory)
  call void %f(ptr %ctx, ptr %memory)
  ret void
}}
"""
)


@cache
def _native() -> Library:
    return compile_module(_IR, "memory_tally", speed_level=2).pin()


class tallying:
    """A context that tallies what this thread takes; then `most` and `places` are there. Place 0 is that of before one
    is set. May be nested."""

    most: int
    places: list[Place]

    def __init__(self) -> None:
        self._last = 0
        native, libc = _native(), ctypes.CDLL(None)
        libc.calloc.restype = ctypes.c_void_p
        sizes = [(1, ctypes.sizeof(_Tally)), (_FIRST, 24), (PLACES, 8 * len(_PLACE))]
        sizes += [(_DOMAINS, ctypes.sizeof(_Hook))]
        made = [libc.calloc(ctypes.c_size_t(n), ctypes.c_size_t(size)) for n, size in sizes]
        if None in made:
            raise MemoryError("no memory for a tally of memory")
        tally, table, places, hooks = made
        self._tally = _Tally.from_address(tally)
        self._tally.table, self._tally.mask, self._tally.places = table, _FIRST - 1, places
        self._tally.epoch = 1
        self._hooks = (_Hook * _DOMAINS).from_address(hooks)
        self._functions = [native.address(f"hook_{name}") for name in ("malloc", "calloc", "realloc", "free")]

    def __enter__(self) -> tallying:
        api, tally = numpy_api(), self._tally
        capsule, block = new_handler(_native(), b"tracebuf_tally", api.get_handler(), _Block)
        block.tally = ctypes.addressof(tally)
        tally.thread = threading.get_ident()
        self._before = api.set_handler(capsule)
        for domain, hook in enumerate(self._hooks):
            _get(domain, ctypes.byref(hook.below))
            hook.tally = ctypes.addressof(tally)
            _set(domain, ctypes.byref(Allocator(ctypes.addressof(hook), *self._functions)))
        tally.open = 1
        return self

    def place(self, number: int) -> None:
        """What is asked for from now on is of this place, under `PLACES`."""
        self._tally.place = number
        if number > self._last:
            self._last = number

    def count(self, on: bool) -> None:
        """Counts, or only knows what is released."""
        self._tally.open = 1 if on else 2

    def __exit__(self, *error: object) -> None:
        tally = self._tally
        tally.open = 0
        numpy_api().set_handler(self._before)
        for domain, hook in enumerate(self._hooks):
            found = Allocator()
            _get(domain, ctypes.byref(found))
            if found.ctx == ctypes.addressof(hook):  # else another lies over it
                _set(domain, ctypes.byref(hook.below))
        while tally.lock:  # a thread that was about to release
            pass
        memory = (ctypes.c_int64 * (4 * (self._last + 1))).from_address(tally.places)
        alive, most, at_peak, epoch = np.array(memory).reshape(-1, 4).T
        then = np.where(epoch == tally.epoch, at_peak, alive)
        self.most, self.places = tally.most, [Place(*both) for both in zip(most.tolist(), then.tolist())]
        libc = ctypes.CDLL(None)
        for address in (tally.table, tally.places):
            libc.free(ctypes.c_void_p(address))
        del self._before


def _get(domain: int, allocator: Any) -> None:
    ctypes.pythonapi.PyMem_GetAllocator(ctypes.c_int(domain), allocator)


def _set(domain: int, allocator: Any) -> None:
    ctypes.pythonapi.PyMem_SetAllocator(ctypes.c_int(domain), allocator)
