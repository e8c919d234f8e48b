"""The lines of the arena: what its plan and its blocks are counted in; what is too large for the stack,
and how large the block of those is that roam."""

from __future__ import annotations

LINE = 64
"""What buffers in the arena are aligned to, in bytes."""
SMALL = 2**16
"""Bytes that are kept from call to call anyway."""
GAPS = 4
"""A block in which buffers roam may be larger by this part than what is in use at once."""

ON_STACK = 1024
"""The most bytes of a buffer on the stack, outside of the arena."""


def rounded(n: int) -> int:
    """Bytes in whole lines."""
    return -(-n // LINE) * LINE
