"""BLAS routines as addresses that native code can call.

They are NumPy's own: the library that NumPy's products call is in the process already, so that products have NumPy's
bits, take its time, and share its threads (`threadpoolctl` governs them). Its routines are looked up as the linker does
for NumPy's core module, through what it links, by the names that builds of OpenBLAS and other libraries have. Where
NumPy has no BLAS, or one of other names, SciPy's is taken, from the C-level table of `scipy.linalg.cython_blas`, its
documented way to share its BLAS. LAPACK is not here.

Calling convention: Fortran's. Every argument is a pointer, also scalars; matrices are column-major with a leading
dimension in elements. Integers have 32 or 64 bits, by the library: a pointer to a 64-bit one serves both, for the
processor is little-endian. A row-major C of shape (m, n) is the column-major (n, m) transpose in the same memory, so
`C = alpha A B + beta C` in row-major is `dgemm("N", "N", n, m, k, alpha, B, ldb, A, lda, beta, C, ldc)`. Characters are
one byte; their hidden lengths are not passed. Dot products return their value.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Mapping
from functools import cache as once
from importlib import import_module
from typing import Any

import numpy as np

from tracebuf.backend.llvm.jit import unforked

__all__ = ["blas_address"]

_NAMES = ("scipy_{}_64_", "{}_64_", "scipy_{}_", "{}_")
"""What Fortran's compiler, and who built the library, made of the routines' names: NumPy's wheels, a distribution's
library with 64-bit integers, SciPy's OpenBLAS with 32-bit ones, any other."""
_C_NAMES = ("scipy_{}64_", "{}64_", "scipy_{}", "{}")
"""The same of C's names."""
_HAS_SUBS, _HAS_NONE = ctypes.c_int(1), ctypes.c_int(0)


@once
def blas_address(name: str) -> int:
    """Address of the BLAS routine `name`: dgemm, sgemm, dgemv, sgemv, ddot, sdot, daxpy, dger, dsyrk, zgemm ...; of
    `threads`, an `int ()` that gives the number of threads that share a product, or more than one where that is not
    known; of `zdotu_sub` and its kin, CBLAS's complex dot products; of `has_subs`, an int that tells whether there are
    these: where not, they have its address.

    Raises LookupError if there is no such routine, ImportError if NumPy has none of the kind and there is no SciPy.
    """
    if name == "threads":
        return _threads()
    if name == "has_subs":
        return ctypes.addressof(_HAS_SUBS if _sub("zdotu_sub") else _HAS_NONE)
    if name.endswith("_sub"):
        return _sub(name) or ctypes.addressof(_HAS_NONE)
    library = _numpys()
    for spelt in () if library is None else _NAMES:
        if (found := getattr(library, spelt.format(name), None)) is not None:
            return ctypes.cast(found, ctypes.c_void_p).value or 0
    table = _scipys()
    if name not in table:
        raise LookupError(f"BLAS has no routine {name!r}")
    return table[name]


def _sub(name: str) -> int:
    """The address of CBLAS's function, which takes integers by value and stores its result; 0 where NumPy has none."""
    library = _numpys()
    found = (getattr(library, spelt.format(f"cblas_{name}"), None) for spelt in _C_NAMES if library)
    function = next((f for f in found if f is not None), None)
    return 0 if function is None else ctypes.cast(function, ctypes.c_void_p).value or 0


@once
def _numpys() -> ctypes.CDLL | None:
    """NumPy's core module, in which the symbols of what it links are found too; None where it links no BLAS that has
    dgemm. On other systems than Linux only names that are surely OpenBLAS's count: some libraries' functions return
    floats as doubles there."""
    file = getattr(np._core._multiarray_umath, "__file__", None)  # type: ignore[attr-defined]
    if file is None or sys.platform == "win32":
        return None
    library = ctypes.CDLL(file)
    names = _NAMES if sys.platform == "linux" else _NAMES[:1]
    return library if any(hasattr(library, spelt.format("dgemm")) for spelt in names) else None


def _threads() -> int:
    """OpenBLAS tells its threads; where products are not its own, the C library has a function that gives thousands."""
    library = _numpys()
    found = (getattr(library, spelt.format("openblas_get_num_threads"), None) for spelt in _NAMES if library)
    function = next((f for f in found if f is not None), None) or ctypes.CDLL(None).getpagesize
    return ctypes.cast(function, ctypes.c_void_p).value or 0


@once
def _scipys() -> Mapping[str, int]:
    """The addresses of SciPy's routines, by name."""
    with unforked():
        return _addresses(import_module("scipy.linalg.cython_blas"))


def _addresses(module: Any) -> dict[str, int]:
    """The addresses in a module's table."""
    api = ctypes.pythonapi
    get_name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", api))
    get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", api))
    return {name: int(get_pointer(x, get_name(x))) for name, x in module.__pyx_capi__.items()}
