"""BLAS routines as addresses that native code can call.

They come from the C-level table of `scipy.linalg.cython_blas`, SciPy's documented way to share its BLAS with compiled
code, so whatever library SciPy was built with is the one used, and `threadpoolctl` governs its threads. SciPy is
imported at the first call and not before, and of it only that module where that can be done: the package around it
takes ten times as long to import. LAPACK is not here.

Calling convention: Fortran's. Every argument is a pointer, also scalars; integers are 32-bit; matrices are column-major
with a leading dimension in elements. A row-major C of shape (m, n) is the column-major (n, m) transpose in the same
memory, so `C = alpha A B + beta C` in row-major is `dgemm("N", "N", n, m, k, alpha, B, ldb, A, lda, beta, C, ldc)`.
Characters are one byte; SciPy's signatures have no hidden length argument. Dot products return their value.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from typing import Any

from tracebuf.backend.llvm.jit import unforked

__all__ = ["blas_address"]


@cache
def blas_address(name: str) -> int:
    """Address of the BLAS routine `name`: dgemm, sgemm, dgemv, sgemv, ddot, sdot, daxpy, dger, dsyrk, zgemm ...

    Raises ImportError without SciPy, LookupError if SciPy offers no such routine.
    """
    table = _table()
    if name not in table:
        raise LookupError(f"scipy.linalg.cython_blas has no routine {name!r}")
    api = ctypes.pythonapi
    get_name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", api))
    get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", api))
    capsule = table[name]
    return int(get_pointer(capsule, get_name(capsule)))


@cache
def _table() -> dict[str, Any]:
    """The routines, by name."""
    with unforked():
        if "scipy.linalg" not in sys.modules and (found := _without_package()) is not None:
            return found
        from scipy.linalg import cython_blas

        table: dict[str, Any] = cython_blas.__pyx_capi__
        return table


def _without_package() -> dict[str, Any] | None:
    """The table, of the module alone; None where that is not possible. It is no entry of `sys.modules` then: who
    imports it gets the same module, and its package with it."""
    import scipy

    name = "scipy.linalg.cython_blas"
    spec = PathFinder.find_spec(name, [f"{folder}/linalg" for folder in scipy.__path__])
    if spec is None or spec.loader is None or name in sys.modules:
        return None
    try:
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        table: dict[str, Any] = module.__pyx_capi__
    except Exception:  # of another SciPy, or loaded by another thread meanwhile
        return None
    finally:
        if "scipy.linalg" not in sys.modules:
            sys.modules.pop(name, None)
    return table
