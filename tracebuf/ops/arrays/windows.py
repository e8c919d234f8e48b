"""`tracebuf.extract_windows`: all windows of so many neighbours along an axis
(np.lib.stride_tricks.sliding_window_view).

The windows overlap in memory, so nothing is stored through the view. MLIR counterpart: none; on buffers a
`memref.reinterpret_cast`.
"""

from __future__ import annotations

from typing import Any

from numpy.lib.stride_tricks import sliding_window_view

from tracebuf.errors import InternalError
from tracebuf.ir.core import Alias, Facts, Interpreter, Op, Relation, Rewriter, Use, Value, no_effects
from tracebuf.ir.dims import Dim
from tracebuf.ir.types import TensorType
from tracebuf.location import UNKNOWN, Location


class ExtractWindows(Op):
    """`tracebuf.extract_windows`: see the module. Neither reads nor writes.

    operands: source tensor, size of a window (index); results: 1 tensor, part of the source's buffer, with a last axis
    along each window; attrs: axis (along which the windows begin).
    """

    __slots__ = ()
    name = "tracebuf.extract_windows"
    takes, gives = "tensor, index", "tensor"
    levels = frozenset({"tensor"})
    effects = no_effects

    @classmethod
    def of(
        cls, source: Value, size: Value, axis: int, shape: tuple[Dim, ...], loc: Location = UNKNOWN
    ) -> ExtractWindows:
        """`size`: of a window; `shape`: of the result, one more axis than the source."""
        return cls([source, size], [TensorType(shape, source.tensor_type.element)], loc, {"axis": axis})

    def verify(self) -> None:
        before, after = self.operand(0).tensor_type, self.result.tensor_type
        if after.rank != before.rank + 1 or not 0 <= self.attrs["axis"] < before.rank:
            raise InternalError(f"{self.name}: {before} to {after}")

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        return [sliding_window_view(args[0], args[1], self.attrs["axis"])]

    def bufferizes_to_memory_read(self, use: Use, facts: Facts) -> bool:
        return False

    def bufferizes_to_memory_write(self, use: Use, facts: Facts) -> bool:
        return False

    def aliasing_values(self, use: Use) -> list[Alias]:
        return [Alias(self.result, Relation.UNKNOWN)] if use.index == 0 else []

    def bufferize(self, rewriter: Rewriter) -> None:
        rewriter.replace(self.result, rewriter.regroup(rewriter.buffer(self.uses[0]), self))
