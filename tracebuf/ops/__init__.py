"""Every op once: structure, verifier, NumPy reference, bufferization facts, rewrite to memrefs.

Rooms, in order: memory, control, scalars, arrays. May import: ir and below; what an op asks of layers above are
protocols (`ir/core.py`). Each class lists its operands, results, attributes and regions. `dialects` loads all of them.
"""

from tracebuf.ops.memory import memref
from tracebuf.ops.scalars import arith

__all__ = ["arith", "memref"]
"""What sizes and buffers of any program are made explicit by (`ir/explicit.py`)."""
