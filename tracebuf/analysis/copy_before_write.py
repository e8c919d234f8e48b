"""No analysis: every operand that is stored to gets a copy of its own. MLIR counterpart: `copy-before-write`
(AlwaysCopyAnalysisState).

An oracle for One-Shot, and the upper bound of copies: an operand is out of place iff the op writes it, but for those
that must be in place (the destination of materialize_in_destination).
"""

from __future__ import annotations

from tracebuf.analysis.base import Conflict
from tracebuf.analysis.dataflow import Dataflow
from tracebuf.analysis.one_shot import needs_contents
from tracebuf.analysis.storages import Handing, Storages
from tracebuf.ir.core import Func, Use, Value


class CopyBeforeWrite:
    """Answers from the facts of the single op."""

    __slots__ = ("_kept", "flow")

    def __init__(self, flow: Dataflow) -> None:
        self.flow = flow
        self._kept = Handing(flow, self.is_in_place, self.equivalent, Storages(flow), rotates=True).kept()

    def is_in_place(self, use: Use) -> bool:
        return use.op.must_bufferize_in_place(use) or not self.flow.writes(use)

    def equivalent(self, a: Value, b: Value) -> bool:
        return a is b

    def is_value_read(self, value: Value) -> bool:
        return self.flow.is_value_read(value)

    def hands_on(self, use: Use) -> bool:
        return use in self._kept

    def needs_contents(self, use: Use) -> bool:
        return needs_contents(self.flow, use)

    def conflict(self, use: Use) -> Conflict | None:
        return None if self.is_in_place(use) else Conflict("copy before write", use)


def copy_before_write(func: Func) -> CopyBeforeWrite:
    """Every operand that the op writes is out of place."""
    return CopyBeforeWrite(Dataflow(func))
