"""Every op once: structure, verifier, NumPy reference, bufferization facts, rewrite to memrefs."""

from tracebuf.ops import arith, bufferization, casts, func, integers, libm, linalg, memref, named, scf, tensor

__all__ = [
    "arith", "bufferization", "casts", "func", "integers", "libm", "linalg", "memref", "named", "scf", "tensor",
]  # fmt: skip
