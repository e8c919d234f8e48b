"""How the time of something grows with its size: a ratio, no absolute time, so that it holds on a busy machine. And how
memory grows with repetition."""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Callable


def growth(prepare: Callable[[int], Callable[[], object]], size: int, below: float, rounds: int = 3) -> float:
    """CPU time at 4 * `size` over CPU time at `size`: the least of interleaved rounds, until it is `below` what the
    caller asks for. 4 is linear, 16 quadratic. The small one runs twice at first: what is cold is none of it."""
    least = {size: float("inf"), 4 * size: float("inf")}
    for n in [size, *(n for _ in range(rounds) for n in least)]:
        run = prepare(n)
        start = time.process_time()
        run()
        least[n] = min(least[n], time.process_time() - start)
        if n > size and least[n] < below * least[size]:
            break
    return least[4 * size] / least[size]


def resident() -> int:
    """The bytes of this process in memory, after what can be given back has been (Linux)."""
    gc.collect()
    if hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        libc.malloc_trim(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def kept(run: Callable[[], object], times: int, warm: int = 20) -> float:
    """The bytes that stay after one of `times` runs, on average, once `warm` runs have filled the caches."""
    for _ in range(warm):
        run()
    before = resident()
    for _ in range(times):
        run()
    return (resident() - before) / times


class _Mallinfo(ctypes.Structure):
    _fields_ = [(f"field{k}", ctypes.c_size_t) for k in range(10)]


def allocated() -> int:
    """The bytes that C's `malloc` has given out (glibc): exact, where pages are coarse."""
    gc.collect()
    libc = ctypes.CDLL(None)
    libc.mallinfo2.restype = _Mallinfo
    return int(libc.mallinfo2().field7)


def kept_by_malloc(run: Callable[[], object], times: int, warm: int = 20) -> float:
    """As `kept`, of what `malloc` has given out."""
    for _ in range(warm):
        run()
    before = allocated()
    for _ in range(times):
        run()
    return (allocated() - before) / times
