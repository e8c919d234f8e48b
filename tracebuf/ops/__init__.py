"""Every op once: structure, verifier, NumPy reference, bufferization facts, rewrite to memrefs.

Rooms, in order: memory, control, scalars, arrays. May import: ir and below; what an op asks of layers above are
protocols (`ir/core.py`). Each class lists its operands, results, attributes and regions.
"""

from tracebuf.ops.arrays import (
    bufferization,
    gather,
    host,
    linalg,
    made,
    named,
    recast,
    scatter,
    tensor,
    vector,
    windows,
)
from tracebuf.ops.control import cf, checks, forall, func, region_if, scf
from tracebuf.ops.memory import memref, metadata
from tracebuf.ops.scalars import arith, casts, complex, division, functions, index, integers, libm  # fmt: skip

__all__ = [
    "arith", "bufferization", "casts", "cf", "checks", "complex", "division", "forall", "func", "functions", "gather",
    "host", "index", "integers", "libm", "linalg", "made", "memref", "metadata", "named", "recast", "region_if",
    "scatter", "scf", "tensor", "vector", "windows",
]  # fmt: skip
