"""Whether two memrefs have one base buffer, as far as the passes over `bufferization.dealloc` know. MLIR counterpart:
BufferOriginAnalysis (BufferViewFlowAnalysis.cpp)."""

from __future__ import annotations

from tracebuf.analysis.flow.views import Views, allocated
from tracebuf.ir.core import Value
from tracebuf.ir.func import Func
from tracebuf.ops.memory.memref import VIEW_OPS
from tracebuf.ops.memory.metadata import ExtractStridedMetadata, ReinterpretCast


def base_of(value: Value) -> Value:
    """The memref at the start of a chain of views and base buffers."""
    while isinstance(op := value.defining_op, (*VIEW_OPS, ExtractStridedMetadata, ReinterpretCast)):
        value = op.operand(0)
    return value


class Bases:
    """Valid while memrefs and what passes them on stay as they are."""

    def __init__(self, func: Func) -> None:
        self.views = Views(func)
        self._origins: dict[Value, set[Value]] = {}

    def origins(self, value: Value) -> set[Value]:
        base = base_of(value)
        if base not in self._origins:
            self._origins[base] = self.views.origins(base)
        return self._origins[base]

    def same(self, a: Value, b: Value) -> bool | None:
        """Whether both have one base buffer; None where that is not known."""
        if base_of(a) is base_of(b):
            return True
        mine, theirs = self.origins(a), self.origins(b)
        if not mine.isdisjoint(theirs):
            return None
        return False if any(all(is_fresh(v) for v in side) for side in (mine, theirs)) else None


def is_fresh(value: Value) -> bool:
    op = value.defining_op
    return op is not None and value in allocated(op)
