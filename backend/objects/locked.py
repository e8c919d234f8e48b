"""LLVM and forks: one thread at a time is inside of LLVM, and a process forks when none is. The child would inherit
LLVM's locks, held for ever."""

from __future__ import annotations

import sys
import threading
from typing import Any

__all__ = ["after_fork", "before_fork", "lock"]

lock = threading.RLock()
"""Held by the thread that is inside of LLVM, or that loads it."""
_held: list[Any] = []


def before_fork() -> None:
    """Waits until no thread is inside of LLVM, ours or (Numba's) through llvmlite alone, which has a lock of its own
    around each of its functions."""
    lock.acquire()
    library = getattr(sys.modules.get("llvmlite.binding.ffi"), "lib", None)
    if (llvmlite_lock := getattr(library, "_lock", None)) is not None:
        llvmlite_lock.__enter__()
        _held.append(llvmlite_lock)


def after_fork() -> None:
    """In the parent and in the child (tracebuf/stages.py calls both)."""
    while _held:
        _held.pop().__exit__(None, None, None)
    lock.release()
