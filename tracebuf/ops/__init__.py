"""Every op once: structure, verifier, NumPy reference, bufferization facts, rewrite to memrefs."""

from tracebuf.ops import arith, bufferization, func, linalg, memref, scf, tensor

__all__ = ["arith", "bufferization", "func", "linalg", "memref", "scf", "tensor"]
