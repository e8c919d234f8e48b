"""func.return, and what terminators share. MLIR counterpart: the func dialect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from tracebuf.ir.core import Alias, Facts, Op, Use, Value
from tracebuf.ir.location import Location
from tracebuf.ir.protocols import Rewriter


class Terminator(Op):
    """Ends a block by passing values on; what it passes on is used in place."""

    __slots__ = ()
    terminator = True

    @classmethod
    def of(cls, values: Sequence[Value], loc: Location) -> Self:
        return cls(values, [], loc)

    def bufferizes_to_memory_write(self, use: Use, facts: Facts) -> bool:
        return False

    def must_bufferize_in_place(self, use: Use) -> bool:
        return True

    def aliasing_values(self, use: Use) -> list[Alias]:
        return []


class Return(Terminator):
    """`func.return`: the results. Tensors are read here and always in place."""

    __slots__ = ()
    name = "func.return"

    def bufferize(self, rewriter: Rewriter) -> None:
        values = [rewriter.buffer(u) if u.value.is_tensor else rewriter.value(u.value) for u in self.uses]
        rewriter.add(Return.of(values, self.loc))
