"""BLAS routines as addresses that native code can call.

They come from the C-level table of `scipy.linalg.cython_blas`, SciPy's documented way to share its BLAS with compiled
code, so whatever library SciPy was built with is the one used, and `threadpoolctl` governs its threads. SciPy is
imported at the first call and not before, and of it only that module where that can be done: the package around it
takes ten times as long to import. LAPACK is not here.

Where each routine is in the module's file is kept in the cache on disk: a later process on Linux, to which the same
file belongs (by its path, size, inode and time), opens it as importing the module would, and imports nothing of SciPy,
not even the package, which takes as long as all else of a first call. The routines need no module: they take no
objects, and run without the GIL.

Calling convention: Fortran's. Every argument is a pointer, also scalars; integers are 32-bit; matrices are column-major
with a leading dimension in elements. A row-major C of shape (m, n) is the column-major (n, m) transpose in the same
memory, so `C = alpha A B + beta C` in row-major is `dgemm("N", "N", n, m, k, alpha, B, ldb, A, lda, beta, C, ldc)`.
Characters are one byte; SciPy's signatures have no hidden length argument. Dot products return their value.
"""

from __future__ import annotations

import ctypes
import marshal
import os
import sys
from collections.abc import Mapping
from functools import cache as once
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec, module_from_spec
from typing import Any

from tracebuf import cache
from tracebuf.backend.llvm.jit import unforked

__all__ = ["blas_address"]

_PACKAGE, _MODULE = "scipy.linalg", "scipy.linalg.cython_blas"
_START = "PyInit_cython_blas"
"""What the places of routines are counted from."""


@once
def blas_address(name: str) -> int:
    """Address of the BLAS routine `name`: dgemm, sgemm, dgemv, sgemv, ddot, sdot, daxpy, dger, dsyrk, zgemm ...

    Raises ImportError without SciPy, LookupError if SciPy offers no such routine.
    """
    table = _table()
    if name not in table:
        raise LookupError(f"scipy.linalg.cython_blas has no routine {name!r}")
    return table[name]


@once
def _table() -> Mapping[str, int]:
    """The addresses of the routines, by name."""
    with unforked():
        spec = None if _PACKAGE in sys.modules else _spec()
        if spec is not None and (kept := _kept(spec)) is not None:
            return kept
        found = _addresses(spec and _without_package(spec) or import_module(_MODULE))
        if spec is not None:
            _keep(spec, found)
        return found


def _addresses(module: Any) -> dict[str, int]:
    """The addresses in a module's table."""
    api = ctypes.pythonapi
    get_name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", api))
    get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", api))
    return {name: int(get_pointer(x, get_name(x))) for name, x in module.__pyx_capi__.items()}


def _spec() -> ModuleSpec | None:
    """Where the module is, without importing the package; None where that is not known."""
    package = find_spec("scipy")
    folders = (package and package.submodule_search_locations) or []
    return PathFinder.find_spec(_MODULE, [f"{folder}/linalg" for folder in folders])


def _without_package(spec: ModuleSpec) -> Any | None:
    """The module alone; None where that is not possible. It is no entry of `sys.modules` then: who imports it gets the
    same module, and its package with it."""
    import scipy  # noqa: F401 (the module needs the package)

    if spec.loader is None or _MODULE in sys.modules:
        return None
    try:
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        return module if hasattr(module, "__pyx_capi__") else None
    except Exception:  # of another SciPy, or loaded by another thread meanwhile
        return None
    finally:
        if _PACKAGE not in sys.modules:
            sys.modules.pop(_MODULE, None)


# -- in the cache on disk
def _key(file: str) -> bytes:
    return cache.digest("blas", file, sys.implementation.cache_tag or "")


def _state(file: str) -> tuple[int, ...]:
    """What changes where a file does."""
    status = os.stat(file)
    return status.st_size, status.st_mtime_ns, status.st_ino, status.st_dev


def _kept(spec: ModuleSpec) -> dict[str, int] | None:
    """The addresses of the routines, if it is known where they are in the file."""
    file = spec.origin
    if sys.platform != "linux" or file is None or (data := cache.load(_key(file), count=False)) is None:
        return None
    try:
        state, places = marshal.loads(data)
        if state != _state(file):
            return None
        start = _start_of(file)
    except (OSError, AttributeError):
        return None
    return {name: start + place for name, place in places.items()}


def _keep(spec: ModuleSpec, found: Mapping[str, int]) -> None:
    """Keeps where the routines are in the file, if all are in there."""
    file = spec.origin
    if sys.platform != "linux" or file is None:
        return
    try:
        start, state = _start_of(file), _state(file)
        if {_file_start(address) for address in found.values()} != {_file_start(start)}:
            return
    except (OSError, AttributeError):
        return
    cache.store(_key(file), marshal.dumps((state, {name: address - start for name, address in found.items()})))


def _start_of(file: str) -> int:
    """Opens a module's file, as importing it does; the address of what its routines are counted from."""
    library = ctypes.CDLL(file, mode=sys.getdlopenflags())
    return ctypes.cast(getattr(library, _START), ctypes.c_void_p).value or 0


class _Found(ctypes.Structure):
    """`Dl_info` of dlfcn.h."""

    _fields_ = [(n, ctypes.c_void_p) for n in ("file", "start", "symbol", "symbol_start")]


def _file_start(address: int) -> int:
    """Where the file is in memory that an address belongs to. Raises OSError where it belongs to none."""
    found = _Found()
    if not ctypes.CDLL(None).dladdr(ctypes.c_void_p(address), ctypes.byref(found)):
        raise OSError("an address of no file")
    return found.start or 0
