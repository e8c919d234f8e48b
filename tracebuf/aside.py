"""Work that no signal handler interrupts, because it is done in another thread: CPython runs handlers in the main one.

What they raise inside of `ast.parse`, CPython 3.11 gives out as SystemError; what inside of LLVM, would leave its
objects half made.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def aside(work: Callable[[], T], name: str) -> T:
    """The result of the work, or what it raises; signals are answered while the main thread waits for it. In any other
    thread, and at the interpreter's end, it is done at once. `name`: of the thread."""
    if threading.current_thread() is not threading.main_thread():
        return work()
    results: list[T] = []
    errors: list[BaseException] = []
    finished = threading.Lock()
    finished.acquire()

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)
        finally:
            finished.release()

    try:
        threading.Thread(target=run, name=name).start()
    except RuntimeError:  # the interpreter is shutting down
        run()
    finished.acquire()
    if errors:
        try:
            raise errors[0]
        finally:
            errors.clear()  # else the exception and this frame would keep one another alive
    return results[0]
