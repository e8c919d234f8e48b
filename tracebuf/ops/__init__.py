"""Every op once: structure, verifier, NumPy reference, bufferization facts, rewrite to memrefs."""

from tracebuf.ops import (
    arith,
    bufferization,
    casts,
    cf,
    checks,
    complex,
    division,
    forall,
    func,
    functions,
    gather,
    host,
    index,
    integers,
    libm,
    linalg,
    made,
    memref,
    named,
    recast,
    scatter,
    scf,
    tensor,
    vector,
    windows,
)  # fmt: skip

__all__ = [
    "arith", "bufferization", "casts", "cf", "checks", "complex", "division", "forall", "func", "functions", "gather",
    "host", "index", "integers", "libm", "linalg", "made", "memref", "named", "recast", "scatter", "scf", "tensor",
    "vector", "windows",
]  # fmt: skip
