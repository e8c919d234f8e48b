"""Numba's threads for nests that are shared (backend/llvm/texts/parallel.py): when they are started, and who may use
them.

Numba is loaded, and its threading layer started, when the first nest is met that is worth sharing (`Context._grow` is
asked for slot -1): its environment variables and `numba.set_num_threads` say which layer and how many threads. They
are for calls of the main thread. Never in a child of a process, be it forked or a worker of `multiprocessing`, where
each core has a worker already: a child of a fork has none of its parent's threads, and GNU's OpenMP ends one that
asks for new ones.

libgomp's threads wait for their next work, and the caller for theirs, for some milliseconds in a busy loop, unless
OMP_WAIT_POLICY says otherwise. It reads that once, when it is loaded: it is told to sleep where nobody has said
anything.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tracebuf.backend.llvm.texts import parallel
from tracebuf.process.late import importing

LEAST = 2**25
"""Bytes touched from which a nest is shared, if nothing else is said: a third of a millisecond in the cache, twice that
outside of it. Two threads gain from a fifth of one on, where both are free."""
_block = (ctypes.c_int64 * 16)()
_block[parallel.LEAST], _block[parallel.REPAY], _block[parallel.LINE] = LEAST, 20, 64
_block[parallel.MAIN] = threading.main_thread().ident or 0
_kept: list[Any] = []
"""What must stay while native code may call it."""


def block_address() -> int:
    """The address of the words that native code reads."""
    return ctypes.addressof(_block)


def start() -> None:
    """Starts the threads, or says that there will be none. Raises what Numba raises for a layer that it does not have
    or know."""
    if _block[parallel.STATE] != parallel.ASLEEP:
        return
    if _is_worker():
        _block[parallel.STATE] = parallel.OFF
        return
    with importing(), _sleeping():
        from numba.np.ufunc import parallel as found

        layer: Any = found
        count = layer.get_num_threads()
    import llvmlite.binding as llvm

    addresses = [llvm.address_of_symbol(name) for name in ("numba_parallel_for", "get_num_threads")]
    if None in addresses:
        _block[parallel.STATE] = parallel.OFF
        return
    _kept.append(layer)
    _block[parallel.PARALLEL_FOR], _block[parallel.COUNT] = addresses
    _begin(count)
    _block[parallel.STATE] = parallel.READY


def _begin(count: int) -> None:
    """Has each thread call a function that does nothing: the layer makes some only now."""
    words = (ctypes.c_size_t * 3)(0, count, 1)
    at = ctypes.addressof(words)
    nothing = ctypes.cast(ctypes.pythonapi.PyThread_get_thread_ident, ctypes.c_void_p)
    kinds = [*[ctypes.c_void_p] * 5, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int]
    ctypes.CFUNCTYPE(None, *kinds)(_block[parallel.PARALLEL_FOR])(nothing, at, at + 8, at + 16, None, 0, 1, count)


def _is_worker() -> bool:
    """Whether this process is a worker of `multiprocessing`, or of what is built on it."""
    module = sys.modules.get("multiprocessing.process")
    return module is not None and module.parent_process() is not None


@contextmanager
def _sleeping() -> Iterator[None]:
    """In which libgomp is loaded that sleeps where it waits, unless the user has said how."""
    if "OMP_WAIT_POLICY" in os.environ or "GOMP_SPINCOUNT" in os.environ:
        yield
        return
    os.environ["OMP_WAIT_POLICY"] = "passive"
    try:
        yield
    finally:
        del os.environ["OMP_WAIT_POLICY"]


def shared_nests() -> int:
    """How many nests have been shared by threads so far in this process."""
    return _block[parallel.RUNS]


@contextmanager
def shared_from(nbytes: int, line: int = 64) -> Iterator[None]:
    """In which nests are shared that touch so many bytes, in pieces of at least so many short iterations, whatever was
    lost before: for tests and measurements."""
    words = parallel.LEAST, parallel.REPAY, parallel.LINE, parallel.DEBT
    before = [_block[k] for k in words[:3]]
    for k, value in zip(words, (nbytes, 0, line, 0), strict=True):
        _block[k] = value
    try:
        yield
    finally:
        for k, value in zip(words, before):
            _block[k] = value


def _in_child() -> None:
    _block[parallel.STATE] = parallel.OFF
    _block[parallel.TAKEN] = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
