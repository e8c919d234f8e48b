"""All op classes, by dialect: for what finds them by name (`Op.registry`), as the reader of MLIR text does. A program
that is traced loads those it is made of."""

from __future__ import annotations

from tracebuf.ops.arrays import (
    bufferization,
    gather,
    host,
    linalg,
    made,
    named,
    pick,
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
    "host", "index", "integers", "libm", "linalg", "made", "memref", "metadata", "named", "pick", "recast",
    "region_if", "scatter", "scf", "tensor", "vector", "windows",
]  # fmt: skip
