"""The way into native code and back, as native code: `enter` runs a kernel without the GIL, `ask` calls a Python
function from inside of one, `poll` looks for signals.

A call that is expected to be short keeps the GIL (the context says so, `abi.HELD`), until it polls for the first time.

What Python raises in there (an error of a call back, a signal handler's exception) stays pending in the thread's state,
as in any C function. The kernel leaves at once, or when it polls or calls back next where a function of numbers raised
(`backend.llvm.hosted`; `pending` is the thread that has it), and `enter` raises it. Nothing is caught on the way, so a
Ctrl-C that comes just as a call back begins is not lost, as it would be in a ctypes callback, which prints it and goes
on.

Python runs signal handlers on the main thread only, when its interpreter or `PyErr_CheckSignals` comes by, with the
GIL. A kernel counts its work down (`backend.llvm.polls`) and calls `poll` each time that it has done some, which looks
at the clock and takes the GIL only every `INTERVAL`: another thread may hold it for 5 ms. Other threads are told to
count from the largest integer.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from functools import cache
from typing import Any

from tracebuf.backend.layout import abi
from tracebuf.backend.llvm.jit import Library, compile_module

INTERVAL = 30_000_000
"""Nanoseconds between two looks for signals."""

_IR = f"""
@main_thread = global i64 0
@last = internal global i64 0
@pending = internal global i64 0

declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare i32 @PyErr_CheckSignals()
declare i64 @PyThread_get_thread_ident()
declare ptr @PyLong_FromLongLong(i64)
declare i64 @PyLong_AsLongLong(ptr)
declare ptr @PyObject_CallFunctionObjArgs(ptr, ...)
declare void @Py_DecRef(ptr)
declare i32 @clock_gettime(i32, ptr)

define internal ptr @in_context(ptr %context, i64 %slot) alwaysinline nounwind {{
  %p = getelementptr i64, ptr %context, i64 %slot
  ret ptr %p
}}
define internal i1 @is_held(ptr %context) alwaysinline nounwind {{
  %p = call ptr @in_context(ptr %context, i64 {abi.HELD})
  %held = load i64, ptr %p
  %is = icmp ne i64 %held, 0
  ret i1 %is
}}
define internal void @take_gil(ptr %context) alwaysinline nounwind {{
  %held = call i1 @is_held(ptr %context)
  br i1 %held, label %done, label %take
take:
  %p = call ptr @in_context(ptr %context, i64 {abi.THREAD})
  %thread = load ptr, ptr %p
  call void @PyEval_RestoreThread(ptr %thread)
  br label %done
done:
  ret void
}}
define internal void @give_gil(ptr %context) alwaysinline nounwind {{
  %held = call i1 @is_held(ptr %context)
  br i1 %held, label %done, label %give
give:
  %p = call ptr @in_context(ptr %context, i64 {abi.THREAD})
  %thread = call ptr @PyEval_SaveThread()
  store ptr %thread, ptr %p
  br label %done
done:
  ret void
}}
define internal i64 @now() nounwind {{
  %time = alloca [2 x i64], align 8
  %r = call i32 @clock_gettime(i32 {{clock}}, ptr %time)
  %s = load i64, ptr %time
  %p = getelementptr i64, ptr %time, i64 1
  %ns = load i64, ptr %p
  %whole = mul i64 %s, 1000000000
  %t = add i64 %whole, %ns
  ret i64 %t
}}
define i64 @enter(ptr %frame) nounwind {{
  %context = load ptr, ptr %frame
  %p = call ptr @in_context(ptr %context, i64 {abi.KERNEL})
  %kernel = load ptr, ptr %p
  call void @give_gil(ptr %context)
  %status = call i64 %kernel(ptr %frame)
  call void @take_gil(ptr %context)
  %raised = call i1 @is_pending()
  br i1 %raised, label %clear, label %done
clear:
  store i64 0, ptr @pending
  br label %done
done:
  ret i64 %status
}}
define i1 @is_pending() nounwind {{
  %thread = load i64, ptr @pending
  %any = icmp ne i64 %thread, 0
  br i1 %any, label %mine, label %none
mine:
  %me = call i64 @PyThread_get_thread_ident()
  %is = icmp eq i64 %thread, %me
  ret i1 %is
none:
  ret i1 false
}}
define void @failed() nounwind {{
  %me = call i64 @PyThread_get_thread_ident()
  store i64 %me, ptr @pending
  ret void
}}
define i64 @ask(ptr %context, i64 %slot, i64 %a, i64 %b) nounwind {{
  %raised = call i1 @is_pending()
  br i1 %raised, label %stop, label %call
stop:
  ret i64 -1
call:
  call void @take_gil(ptr %context)
  %n = call ptr @in_context(ptr %context, i64 {abi.ANSWER})
  %native = load ptr, ptr %n
  %none = icmp eq ptr %native, null
  br i1 %none, label %python, label %first
first:
  %given = call i64 %native(ptr %context, i64 %slot, i64 %a, i64 %b)
  %must = icmp eq i64 %given, {abi.PYTHON_MUST}
  br i1 %must, label %python, label %done
python:
  %f = call ptr @in_context(ptr %context, i64 %slot)
  %s = call ptr @in_context(ptr %context, i64 {abi.OBJECT})
  %function = load ptr, ptr %f
  %object = load ptr, ptr %s
  %x = call ptr @PyLong_FromLongLong(i64 %a)
  %y = call ptr @PyLong_FromLongLong(i64 %b)
  %r = call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr %function, ptr %object, ptr %x, ptr %y, ptr null)
  call void @Py_DecRef(ptr %x)
  call void @Py_DecRef(ptr %y)
  %failed = icmp eq ptr %r, null
  br i1 %failed, label %done, label %answered
answered:
  %answer = call i64 @PyLong_AsLongLong(ptr %r)
  call void @Py_DecRef(ptr %r)
  br label %done
done:
  %value = phi i64 [ %given, %first ], [ -1, %python ], [ %answer, %answered ]
  call void @give_gil(ptr %context)
  ret i64 %value
}}
define i64 @poll(ptr %context) nounwind {{
  %held = call i1 @is_held(ptr %context)
  br i1 %held, label %lasts, label %go
lasts:
  %held_how = call ptr @in_context(ptr %context, i64 {abi.HELD})
  %how = load i64, ptr %held_how
  %foreign = icmp eq i64 %how, {abi.FOREIGN}
  br i1 %foreign, label %other_thread, label %let_go
let_go:
  %h = call ptr @in_context(ptr %context, i64 {abi.HELD})
  store i64 0, ptr %h
  call void @give_gil(ptr %context)
  br label %go
go:
  %thread = call i64 @PyThread_get_thread_ident()
  %main = load i64, ptr @main_thread
  %here = icmp eq i64 %thread, %main
  br i1 %here, label %main_thread, label %other_thread
other_thread:
  ret i64 {2**63 - 1}
main_thread:
  %already = call i1 @is_pending()
  br i1 %already, label %stop, label %time
time:
  %now = call i64 @now()
  %before = load i64, ptr @last
  %passed = sub i64 %now, %before
  %long = icmp ugt i64 %passed, {INTERVAL}
  br i1 %long, label %look, label %go_on
look:
  call void @take_gil(ptr %context)
  %raised = call i32 @PyErr_CheckSignals()
  call void @give_gil(ptr %context)
  %after = call i64 @now()
  store i64 %after, ptr @last
  %some = icmp slt i32 %raised, 0
  br i1 %some, label %stop, label %go_on
go_on:
  ret i64 {abi.BUDGET}
stop:
  ret i64 -1
}}
"""


@cache
def _native() -> Library:
    clock = getattr(time, "CLOCK_MONOTONIC", 0)
    library = compile_module(_IR.replace("{clock}", str(clock)), "entry", speed_level=0).pin()
    ctypes.c_int64.from_address(library.address("main_thread")).value = threading.main_thread().ident or 0
    return library


def runtime_address(name: str) -> int:
    """The address of `enter`, `ask`, `poll`, `failed` or `is_pending`, for native code that calls it."""
    return _native().address(name)


@cache
def enter() -> Any:
    """The native `enter(frame)`: the kernel's status; raises what is pending."""
    return ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(_native().address("enter"))


def _after_fork() -> None:
    """The thread that forked is the child's main thread."""
    if _native.cache_info().currsize:
        ctypes.c_int64.from_address(_native().address("main_thread")).value = threading.get_ident()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
