"""Facts about ops of tracebuf's, from outside."""

from __future__ import annotations

from tracebuf.extend import Alias, Facts, Op, Rewriter, Use


class OneElement:
    """For `tensor.insert`: a destination of one element is overwritten whole, so it is not read."""

    def bufferizes_to_memory_read(self: Op, use: Use, facts: Facts) -> bool:  # type: ignore[misc]
        return any(n != 1 for n in self.operand(1).tensor_type.shape)


class OnlyReads:
    """For an op that nobody has a class for: it reads its tensors, and gives numbers."""

    bufferizable = True

    def bufferizes_to_memory_write(self: Op, use: Use, facts: Facts) -> bool:  # type: ignore[misc]
        return False

    def aliasing_values(self: Op, use: Use) -> list[Alias]:  # type: ignore[misc]
        return []

    def bufferize(self: Op, rewriter: Rewriter) -> None:  # type: ignore[misc]
        operands = [rewriter.buffer(u) if u.value.is_tensor else rewriter.value(u.value) for u in self.uses]
        made = rewriter.add(self.rebuilt(operands, [r.type for r in self.results], self.loc, dict(self.attrs)))
        for old, new in zip(self.results, made.results, strict=True):
            rewriter.set_value(old, new)
