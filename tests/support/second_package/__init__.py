"""A small package of its own that adds to tracebuf, by `tracebuf.extend` alone: three functions with their ops, and a
model for an op of tracebuf's.

`lerp` has native loops, `ranked` only its NumPy reference, `evens` is a view with a memref form of its own.
"""

from .functions import evens, lerp, ranked
from .models import OneElement, OnlyReads
from .ops import Evens, Lerp, Ranked

__all__ = ["Evens", "Lerp", "OneElement", "OnlyReads", "Ranked", "evens", "lerp", "ranked"]
