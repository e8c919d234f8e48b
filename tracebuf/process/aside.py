"""Work that no signal handler interrupts, because it is done in another thread: CPython runs handlers in the main one.

What they raise inside of `ast.parse`, CPython 3.11 gives out as SystemError; what inside of LLVM, would leave its
objects half made; what inside of `threading.Thread.start`, its own locks. So the thread is a plain one.
"""

from __future__ import annotations

import _thread
import atexit
import os
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_running: set[_thread.LockType] = set()  # held by threads at work
_ending = False
_last: list[Callable[[], object]] = []
"""What is done when the interpreter ends, by the main thread, after this module's own waiting."""


def aside(work: Callable[[], T]) -> T:
    """The result of the work, or what it raises; signals are answered while the main thread waits for it. In any other
    thread, and at the interpreter's end, it is done at once."""
    if _ending or threading.get_ident() != threading.main_thread().ident:
        return work()
    results: list[T] = []
    errors: list[BaseException] = []
    finished = _thread.allocate_lock()
    finished.acquire()

    def run() -> None:
        _running.add(finished)
        try:
            if not _ending:  # else nobody waits for it any more
                results.append(work())
        except BaseException as error:
            errors.append(error)
        finally:
            _running.discard(finished)
            finished.release()

    try:
        _thread.start_new_thread(run, ())
    except RuntimeError as error:
        if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
            raise  # by a signal's handler
        return work()  # the interpreter is shutting down
    finished.acquire()
    if errors:
        try:
            raise errors[0]
        finally:
            errors.clear()  # else the exception and this frame would keep one another alive
    return results[0]


def in_background(work: Callable[[], None]) -> bool:
    """Starts a thread that does the work; whether it could be started. The interpreter's end waits for it: the work
    asks `ending` from time to time."""
    begun = _thread.allocate_lock()
    begun.acquire()

    def run() -> None:
        _running.add(begun)
        try:
            if not _ending:
                work()
        finally:
            _running.discard(begun)
            begun.release()

    if _ending:
        return False
    try:
        _thread.start_new_thread(run, ())
    except RuntimeError:
        return False
    return True


def ending() -> bool:
    """Whether the interpreter has begun to end."""
    return _ending


def at_end(act: Callable[[], object]) -> None:
    """Has this done when the interpreter ends, before threads die where they are."""
    _last.append(act)


def _end() -> None:
    """The interpreter's end waits for threads that a handler's exception has left at work."""
    global _ending
    _ending = True
    for lock in tuple(_running):
        with lock:
            pass
    for act in _last:
        act()


atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_running.clear)
