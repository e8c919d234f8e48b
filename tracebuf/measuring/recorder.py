"""Each allocation and release of array data that NumPy makes in a window, with the Python frames that ask for it.

    with recording(base=function.__code__) as seen:
        function(*args)
    seen.log.events, seen.log.stacks

As `backend/runtime/memory_hook.py`, a handler (NEP 49) lies over the one that was there and hands every request on. It
is native code, which runs no Python: it asks CPython for the frames (`PyEval_GetFrame`, `PyFrame_GetBack`), down to the
one of the code `base` or `DEPTH` of them, and writes an event. So nothing of the measured program changes: no signal is
taken, no trace function set, no garbage collected. Frames are not asked for when memory is released: that happens while
frames are cleared.

Stacks are written once each. An array keeps its handler and may outlive the window; its release is then handed on and
nothing is written. The log belongs to the window, the block of the handler to its last array.

Counted is what memory_hook counts: this context's code (threads started within have a handler of their own), array data
alone. After `MOST` events the rest is lost, and `lost` says how many.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from types import CodeType
from typing import Any

import numpy as np

from tracebuf.backend.llvm.jit import Library, compile_module
from tracebuf.backend.llvm.texts.memory_handler import memory_handler
from tracebuf.backend.runtime.memory_hook import Block, new_handler, numpy_api
from tracebuf.frozen import frozen

__all__ = ["EVENT", "Log", "recording"]

EVENT = np.dtype([("address", "i8"), ("size", "i8"), ("time", "i8"), ("stack", "i8")])
"""`size` is -1 where memory is released, `time` in nanoseconds, `stack` a number in `Log.stacks`."""
DEPTH = 24
"""The most frames of a stack, from the innermost."""
STACKS = 4096
"""The most different stacks; all further ones are number 0, of which nothing is known."""
FIRST = 1 << 12
MOST = 1 << 21
_SLOTS = 4 * STACKS
_WORDS = 2 * DEPTH + 1
"""Of a stack: the number of frames, then code and instruction of each."""


class _Block(Block):
    """A handler and its log."""

    _fields_ = [
        ("open", ctypes.c_int64),
        ("log", ctypes.c_void_p),
        ("used", ctypes.c_int64),
        ("room", ctypes.c_int64),
        ("lost", ctypes.c_int64),
        ("stacks", ctypes.c_void_p),
        ("stack_count", ctypes.c_int64),
        ("table", ctypes.c_void_p),
        ("base", ctypes.c_void_p),
    ]


# Field numbers in %block: 0 handler, 1 below, 2 below_capsule, 3 open, 4 log, 5 used, 6 room, 7 lost, 8 stacks,
# 9 stack_count, 10 table, 11 base.
_IR = memory_handler(["i64", "ptr", "i64", "i64", "i64", "ptr", "i64", "ptr", "ptr"]) + """
%event = type { ptr, i64, i64, i64 }

declare ptr @realloc(ptr, i64)
declare i32 @clock_gettime(i32, ptr)
declare i32 @PyGILState_Check()
declare i32 @PyGC_Disable()
declare i32 @PyGC_Enable()
declare ptr @PyEval_GetFrame()
declare ptr @PyFrame_GetBack(ptr)
declare ptr @PyFrame_GetCode(ptr)
declare i32 @PyFrame_GetLasti(ptr)
declare void @Py_IncRef(ptr)

define internal i64 @now() nounwind {
  %spec = alloca [2 x i64]
  %r = call i32 @clock_gettime(i32 CLOCK, ptr %spec)
  %s = load i64, ptr %spec
  %p = getelementptr i64, ptr %spec, i64 1
  %ns = load i64, ptr %p
  %t = mul i64 %s, 1000000000
  %u = add i64 %t, %ns
  ret i64 %u
}

; A frame's code and instruction into a stack of %n frames, and into its hash.
define internal i64 @mixed(i64 %hash, i64 %word) alwaysinline nounwind {
  %a = xor i64 %hash, %word
  %b = mul i64 %a, -7046029254386353131
  %c = lshr i64 %b, 29
  %d = xor i64 %b, %c
  ret i64 %d
}

; The number of the running stack.
define internal i64 @stack(ptr %block) nounwind {
  %words = alloca [WORDS x i64]
  %held = call i32 @PyGILState_Check()
  %free = icmp eq i32 %held, 0
  br i1 %free, label %unknown, label %look
look:
  %collected = call i32 @PyGC_Disable()
  %base_at = getelementptr %block, ptr %block, i32 0, i32 11
  %base = load ptr, ptr %base_at
  %top = call ptr @PyEval_GetFrame()
  %nothing = icmp eq ptr %top, null
  br i1 %nothing, label %walked, label %begin
begin:
  call void @Py_IncRef(ptr %top)
  br label %frame
frame:
  %f = phi ptr [ %top, %begin ], [ %back, %further ]
  %n = phi i64 [ 0, %begin ], [ %n1, %further ]
  %h = phi i64 [ 1, %begin ], [ %h2, %further ]
  %code = call ptr @PyFrame_GetCode(ptr %f)
  call void @Py_DecRef(ptr %code)
  %last = call i32 @PyFrame_GetLasti(ptr %f)
  %last64 = sext i32 %last to i64
  %code64 = ptrtoint ptr %code to i64
  %at = mul i64 %n, 2
  %at1 = add i64 %at, 1
  %at2 = add i64 %at, 2
  %code_at = getelementptr i64, ptr %words, i64 %at1
  %last_at = getelementptr i64, ptr %words, i64 %at2
  store i64 %code64, ptr %code_at
  store i64 %last64, ptr %last_at
  %h1 = call i64 @mixed(i64 %h, i64 %code64)
  %h2 = call i64 @mixed(i64 %h1, i64 %last64)
  %n1 = add i64 %n, 1
  %is_base = icmp eq ptr %code, %base
  %is_full = icmp eq i64 %n1, DEPTH
  %is_last = or i1 %is_base, %is_full
  br i1 %is_last, label %enough, label %deeper
deeper:
  %back = call ptr @PyFrame_GetBack(ptr %f)
  %is_outer = icmp eq ptr %back, null
  br i1 %is_outer, label %enough, label %further
further:
  call void @Py_DecRef(ptr %f)
  br label %frame
enough:
  call void @Py_DecRef(ptr %f)
  br label %walked
walked:
  %count = phi i64 [ 0, %look ], [ %n1, %enough ]
  %hash = phi i64 [ 1, %look ], [ %h2, %enough ]
  %was_on = icmp ne i32 %collected, 0
  br i1 %was_on, label %enable, label %find
enable:
  %ignored = call i32 @PyGC_Enable()
  br label %find
find:
  store i64 %count, ptr %words
  %hash1 = or i64 %hash, 1
  %table_at = getelementptr %block, ptr %block, i32 0, i32 10
  %table = load ptr, ptr %table_at
  br label %probe
probe:
  %k = phi i64 [ %hash1, %find ], [ %k_next, %other ]
  %slot = and i64 %k, SLOT_MASK
  %entry = getelementptr [2 x i64], ptr %table, i64 %slot
  %there = load i64, ptr %entry
  %number_at = getelementptr i64, ptr %entry, i64 1
  %is_it = icmp eq i64 %there, %hash1
  br i1 %is_it, label %found, label %not_it
found:
  %number = load i64, ptr %number_at
  ret i64 %number
not_it:
  %is_empty = icmp eq i64 %there, 0
  br i1 %is_empty, label %new, label %other
other:
  %k_next = add i64 %slot, 1
  br label %probe
new:
  %count_at = getelementptr %block, ptr %block, i32 0, i32 9
  %known = load i64, ptr %count_at
  %no_room = icmp sge i64 %known, STACKS
  br i1 %no_room, label %unknown, label %write
write:
  %known1 = add i64 %known, 1
  store i64 %known1, ptr %count_at
  store i64 %hash1, ptr %entry
  store i64 %known, ptr %number_at
  %stacks_at = getelementptr %block, ptr %block, i32 0, i32 8
  %stacks = load ptr, ptr %stacks_at
  %to = getelementptr [WORDS x i64], ptr %stacks, i64 %known
  %length = add i64 %count, %count
  br label %copy
copy:
  %i = phi i64 [ 0, %write ], [ %i1, %copied ]
  %from_i = getelementptr i64, ptr %words, i64 %i
  %to_i = getelementptr i64, ptr %to, i64 %i
  %word = load i64, ptr %from_i
  store i64 %word, ptr %to_i
  %odd = and i64 %i, 1
  %is_code = icmp eq i64 %odd, 1
  br i1 %is_code, label %keep, label %copied
keep:
  %object = inttoptr i64 %word to ptr
  call void @Py_IncRef(ptr %object)
  br label %copied
copied:
  %i1 = add i64 %i, 1
  %more = icmp sle i64 %i1, %length
  br i1 %more, label %copy, label %done
done:
  ret i64 %known
unknown:
  ret i64 0
}

define internal void @note(ptr %block, ptr %memory, i64 %size, i64 %stack) nounwind {
  %used_at = getelementptr %block, ptr %block, i32 0, i32 5
  %room_at = getelementptr %block, ptr %block, i32 0, i32 6
  %log_at = getelementptr %block, ptr %block, i32 0, i32 4
  %used = load i64, ptr %used_at
  %room = load i64, ptr %room_at
  %log = load ptr, ptr %log_at
  %fits = icmp slt i64 %used, %room
  br i1 %fits, label %write, label %full
full:
  %is_most = icmp sge i64 %room, MOST
  br i1 %is_most, label %lost, label %grow
grow:
  %room2 = mul i64 %room, 2
  %bytes = mul i64 %room2, 32
  %larger = call ptr @realloc(ptr %log, i64 %bytes)
  %failed = icmp eq ptr %larger, null
  br i1 %failed, label %lost, label %grown
grown:
  store ptr %larger, ptr %log_at
  store i64 %room2, ptr %room_at
  br label %write
write:
  %where = phi ptr [ %log, %0 ], [ %larger, %grown ]
  %used1 = add i64 %used, 1
  store i64 %used1, ptr %used_at
  %time = call i64 @now()
  %e = getelementptr %event, ptr %where, i64 %used
  %e1 = getelementptr %event, ptr %e, i32 0, i32 1
  %e2 = getelementptr %event, ptr %e, i32 0, i32 2
  %e3 = getelementptr %event, ptr %e, i32 0, i32 3
  store ptr %memory, ptr %e
  store i64 %size, ptr %e1
  store i64 %time, ptr %e2
  store i64 %stack, ptr %e3
  ret void
lost:
  %lost_at = getelementptr %block, ptr %block, i32 0, i32 7
  %l = load i64, ptr %lost_at
  %l1 = add i64 %l, 1
  store i64 %l1, ptr %lost_at
  ret void
}

define internal i1 @is_noted(ptr %block, ptr %memory) alwaysinline nounwind {
  %open_at = getelementptr %block, ptr %block, i32 0, i32 3
  %open = load i64, ptr %open_at
  %is_open = icmp ne i64 %open, 0
  %is_memory = icmp ne ptr %memory, null
  %both = and i1 %is_open, %is_memory
  ret i1 %both
}
define internal void @born(ptr %block, ptr %memory, i64 %size) nounwind {
  %noted = call i1 @is_noted(ptr %block, ptr %memory)
  br i1 %noted, label %write, label %done
write:
  %stack = call i64 @stack(ptr %block)
  call void @note(ptr %block, ptr %memory, i64 %size, i64 %stack)
  br label %done
done:
  ret void
}
define internal void @gone(ptr %block, ptr %memory, i64 %size) nounwind {
  %noted = call i1 @is_noted(ptr %block, ptr %memory)
  br i1 %noted, label %write, label %done
write:
  call void @note(ptr %block, ptr %memory, i64 -1, i64 0)
  br label %done
done:
  ret void
}
define internal i64 @moving(ptr %block, ptr %old) alwaysinline nounwind {
  ret i64 0
}
define internal void @moved(ptr %block, ptr %old, ptr %memory, i64 %size, i64 %moving) nounwind {
  %failed = icmp eq ptr %memory, null
  br i1 %failed, label %done, label %moved
moved:
  call void @gone(ptr %block, ptr %old, i64 0)
  call void @born(ptr %block, ptr %memory, i64 %size)
  br label %done
done:
  ret void
}
"""


@cache
def _native() -> Library:
    clock = 6 if sys.platform == "darwin" else 1  # CLOCK_MONOTONIC
    named = {"SLOT_MASK": _SLOTS - 1, "STACKS": STACKS, "DEPTH": DEPTH, "WORDS": _WORDS, "MOST": MOST, "CLOCK": clock}
    text = _IR
    for name, value in named.items():
        text = text.replace(name, str(value))
    return compile_module(text, "allocation_recorder", speed_level=2).pin()


@frozen()
class Log:
    """What a window saw. `events` is of dtype `EVENT`; `stacks[k]` has the frames of stack k, the innermost first: code
    and the place of its running instruction (`co_positions`). Stack 0 is unknown."""

    events: np.ndarray
    stacks: list[tuple[tuple[CodeType, int], ...]]
    lost: int


class recording:
    """A context that records the allocations of array data by this context's code; then `log` is there. May be nested.

    Args:
        base: the code whose frame ends each stack (it is the last of it).
    """

    log: Log

    def __init__(self, base: CodeType | None = None) -> None:
        _native()
        self._base = base
        self._stacks = np.zeros((STACKS, _WORDS), np.int64)  # made here: it is no allocation of the window
        self._table = np.zeros((_SLOTS, 2), np.int64)

    def __enter__(self) -> recording:
        api = numpy_api()
        capsule, self._block = self._handler(api.get_handler())
        self._before = api.set_handler(capsule)
        self._capsule = capsule  # which keeps the block
        self._block.open = 1
        return self

    def count(self) -> int:
        """How many events were written down so far."""
        return int(self._block.used)

    def __exit__(self, *error: object) -> None:
        block = self._block
        block.open = 0
        numpy_api().set_handler(self._before)
        memory = (ctypes.c_char * (block.used * EVENT.itemsize)).from_address(block.log)
        events = np.frombuffer(bytes(memory), EVENT)
        ctypes.CDLL(None).free(ctypes.c_void_p(block.log))
        stacks = [_frames(words) for words in self._stacks[: block.stack_count].tolist()]
        self.log = Log(events, stacks, block.lost)
        del self._block, self._capsule, self._before, self._stacks, self._table

    def _handler(self, below: Any) -> tuple[Any, _Block]:
        """A handler over another: the capsule that owns it, and its block."""
        libc = ctypes.CDLL(None)
        libc.malloc.restype = ctypes.c_void_p
        log = libc.malloc(ctypes.c_size_t(FIRST * EVENT.itemsize))
        if log is None:
            raise MemoryError("no memory for a log of allocations")
        capsule, block = new_handler(_native(), b"tracebuf_recording", below, _Block)
        block.log, block.room, block.stack_count = log, FIRST, 1
        block.stacks, block.table = self._stacks.ctypes.data, self._table.ctypes.data
        block.base = 0 if self._base is None else id(self._base)
        return capsule, block


def _frames(words: list[int]) -> tuple[tuple[CodeType, int], ...]:
    """The frames of a stack, whose references to code objects become ours."""
    found = []
    for address, last in zip(words[1 : 2 * words[0] : 2], words[2 : 2 * words[0] + 1 : 2]):
        code = ctypes.cast(address, ctypes.py_object).value
        ctypes.pythonapi.Py_DecRef(ctypes.py_object(code))
        found.append((code, last))
    return tuple(found)
