"""Arrays that no memory holds: refused as NumPy refuses them, also where nothing is left of the array (`np.empty(2 **
61).shape`).

A smaller array that is folded away takes no memory, so that it is not missed where eager NumPy may run out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod

import numpy as np

from tracebuf.frontends.numpy.record.raises import Raises, ask
from tracebuf.frontends.numpy.record.sizes import USUAL, Sizes
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, mul, sub, symbols
from tracebuf.ir.types import F64, I64, ScalarType
from tracebuf.ops.scalars import arith, casts

MOST_BYTES = 2**47
"""What a process can address."""
TOO_BIG = "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size."
MOST_COUNTED = 2**63 - 1
"""The bytes of the largest array that NumPy can describe; sizes that are 0 do not count there."""



def require_memory(
    r: Sizes, shape: Sequence[Dim], element: ScalarType, make: Callable[..., object] = np.empty, most: int = MOST_BYTES
) -> None:
    """Raises what `make(shape, dtype)` raises for an array of more bytes than `most`: by guard or check, for sizes that
    are computed."""
    if 0 in [d for d in shape if isinstance(d, int)]:
        most = MOST_COUNTED
    itemsize = element.dtype.itemsize
    if is_usual(tuple(shape), most // itemsize):
        return
    sizes = [d for d in shape if d != 0]
    total: Dim = itemsize
    for d in sizes:
        total = mul(total, d)
    fits = r.ask_nonneg(sub(most, total))
    if fits:
        return
    if fits is None:
        require_at_run_time(r, sizes, itemsize, most)
    elif None not in (known := [r.in_this_call(d) for d in shape]):
        try:
            ask(make, known, element.dtype)
        except Raises as said:
            error = said.error
            r.fail(*((error, None) if r.certain else (base_of(error), str(error))))
    else:
        r.fail("MemoryError", "Unable to allocate an array of this size")


@lru_cache(maxsize=1024)
def is_usual(shape: tuple[Dim, ...], most: int) -> bool:
    """Whether an array is known to be usual: of sizes of arguments and bounded ones, and constants that make at most so
    many elements; sizes that are 0 do not count."""
    if prod(d for d in shape if isinstance(d, int) and d != 0) > most:
        return False
    sizes = [d for d in shape if not isinstance(d, int)]
    small = all(abs(c) <= USUAL for d in sizes for c in d.terms.values())
    return small and all(s.kind == "dim" or (s.hi is not None and s.hi <= USUAL) for d in sizes for s in symbols(d))


def base_of(error: BaseException) -> str:
    """The class of Python's that NumPy's error is."""
    return "MemoryError" if isinstance(error, MemoryError) else "ValueError"


def require_at_run_time(r: Sizes, sizes: Sequence[Dim], itemsize: int, most: int) -> None:
    """A check of the bytes, counted in floats, which do not overflow."""
    total = r.constant(float(itemsize), F64)
    for d in sizes:
        whole = r.emit(arith.IndexCast.of(r.index(d), I64))
        total = r.emit(arith.MulF.of(total, r.emit(casts.SIToFP.of(whole, F64))))

    def at_most(n: int) -> Value:
        return r.emit(arith.CmpF.of("ole", total, r.constant(float(n), F64)))

    r.check(at_most(MOST_COUNTED), "ValueError", TOO_BIG)
    if most < MOST_COUNTED:
        r.check(at_most(most), "MemoryError", "Unable to allocate an array of this size")
