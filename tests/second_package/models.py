"""Facts about ops of tracebuf's, from outside."""

from __future__ import annotations

from tracebuf.extend import Facts, Op, Use


class OneElement:
    """For `tensor.insert`: a destination of one element is overwritten whole, so it is not read."""

    def bufferizes_to_memory_read(self: Op, use: Use, facts: Facts) -> bool:  # type: ignore[misc]
        return any(n != 1 for n in self.operand(1).tensor_type.shape)
