"""Pages of memory for machine code: written first, and then made executable or read-only; never both writable and
executable. By the C library's `mmap`, since Python's own cannot change what may be done with pages.

A signal's handler may raise between any two steps, so pages have one owner, who gives them back once. None of the calls
gives up the GIL: a thread that computes in Python would keep it for 5 ms each time.
"""

from __future__ import annotations

import ctypes
import os
import sys
import weakref
from collections.abc import Callable
from functools import cache as once
from types import SimpleNamespace
from typing import Any

import numpy as np

__all__ = ["EXECUTE", "PAGE", "READ", "WRITE", "address_of_symbol", "here", "protect", "reserve", "write"]

READ, WRITE, EXECUTE = 1, 2, 4
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_PRIVATE_ANONYMOUS = 0x22


@once
def here() -> bool:
    """Whether this is known to work here: Linux on x86-64, in a process of 64 bits."""
    return sys.platform == "linux" and os.uname().machine == "x86_64" and sys.maxsize > 2**32


@once
def _libc() -> Any:
    process = ctypes.PyDLL(None, use_errno=True)
    pointer, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    types: dict[str, tuple[list[Any], Any]] = {
        "mmap": ([pointer, size, number, number, number, ctypes.c_long], ctypes.c_size_t),
        "mprotect": ([pointer, size, number], number),
        "munmap": ([pointer, size], number),
        "memmove": ([pointer, ctypes.c_char_p, size], pointer),
        "dlsym": ([pointer, ctypes.c_char_p], pointer),
    }
    functions = SimpleNamespace(handle=process._handle)
    for name, (arguments, result) in types.items():
        function = getattr(process, name)
        function.argtypes, function.restype = arguments, result
        setattr(functions, name, function)
    return functions


def reserve(size: int) -> tuple[int, np.ndarray]:
    """The address of new pages, which are zero and may be written to, and what they die with. When Python ends, none
    are given back: what still runs may call their code. Raises OSError where there are none."""
    life = np.empty(0)
    address = int(_libc().mmap(None, size, READ | WRITE, _PRIVATE_ANONYMOUS, -1, 0))
    if address in (0, 2**64 - 1):
        raise OSError(ctypes.get_errno(), "no memory can be mapped")
    weakref.finalize(life, _release, _libc().munmap, address, size).atexit = False
    return address, life


def write(address: int, data: bytes) -> None:
    """Copies bytes to memory."""
    _libc().memmove(address, data, len(data))


def protect(address: int, size: int, may: int) -> None:
    """Raises OSError where the system allows no such pages."""
    if _libc().mprotect(address, size, may):
        raise OSError(ctypes.get_errno(), "pages cannot be protected")


def _release(
    munmap: Callable[[int, int], int], address: int, size: int, ending: Callable[[], bool] = sys.is_finalizing
) -> None:
    if not ending():
        munmap(address, size)


def address_of_symbol(name: str) -> int | None:
    """A function or variable of this process (libc, libm, Python's C API), as the dynamic linker finds it."""
    found = _libc().dlsym(_libc().handle, name.encode())
    return None if found is None else int(found)
