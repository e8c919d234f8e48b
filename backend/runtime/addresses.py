"""The addresses of what machine code imports (`KernelText.imports`). What finds those of a kind is loaded with the
first program that needs one.
"""

from __future__ import annotations

import builtins

from tracebuf.process.late import importing


def address_of(what: tuple[str, ...]) -> int:
    """The address of an import."""
    if what[0] == "builtin":
        return id(getattr(builtins, what[1]))
    if what[0] == "blas":
        with importing():
            from tracebuf.backend.runtime.blas import blas_address
        return blas_address(what[1])
    if what[0] == "runtime":
        with importing():
            from tracebuf.backend.runtime.entry import runtime_address
        return runtime_address(what[1])
    if what[0] == "threads":
        with importing():
            from tracebuf.backend.runtime.threads import block_address
        return block_address()
    if what[0] == "roaming":
        with importing():
            from tracebuf.backend.llvm import roaming
            from tracebuf.backend.runtime.entry import runtime_address
        return roaming.address_of(what[1], runtime_address("ask"))
    if what[0] == "python":
        with importing():
            from tracebuf.running.python_functions import HOSTED
        return id(HOSTED[what[1]])
    if what[0] == "jitted":
        with importing():
            from tracebuf.running import jitted
        return jitted.address_of(what[1])
    return _in_numpy(what)


def _in_numpy(what: tuple[str, ...]) -> int:
    with importing():
        from tracebuf.backend.llvm.numpy_loops import core_loop, extreme_loop, inner_loop, sort_loop, status_flags
        from tracebuf.running.ufuncs import ufunc_named
    if what[0] == "status":
        return status_flags()[("test", "clear").index(what[1])]
    if what[0] in ("sort", "sort array"):
        address, array = sort_loop(what[1], int(what[2]), what[3] == "indirect")
        return address if what[0] == "sort" else id(array)
    if what[0] in ("extreme", "extreme array"):
        address, array = extreme_loop(what[1], what[2])
        return address if what[0] == "extreme" else id(array)
    if what[0] in ("core", "core data"):
        loop, data = core_loop(*what[1:])
        return loop if what[0] == "core" else data
    loop, data = inner_loop(ufunc_named(what[1]), what[2])
    return loop if what[0] == "loop" else data
