"""No analysis: every operand that is stored to gets a copy of its own. MLIR counterpart: `copy-before-write`
(AlwaysCopyAnalysisState).

An oracle for One-Shot, and the upper bound of copies: an operand is out of place iff the op writes it, but for those
that must be in place (the destination of materialize_in_destination).
"""

from __future__ import annotations

from tracebuf.analysis.one_shot.base import Conflict
from tracebuf.analysis.one_shot.dataflow import Dataflow
from tracebuf.analysis.one_shot.derived import Analysis
from tracebuf.ir.core import Use
from tracebuf.ir.func import Func


class CopyBeforeWrite(Analysis):
    """Answers from the facts of the single op."""

    __slots__ = ()

    def is_in_place(self, use: Use) -> bool:
        return use.op.must_bufferize_in_place(use) or not self.flow.writes(use)

    def needs_contents(self, use: Use) -> bool:
        """MLIR copies what is read, and does not ask whether it is defined: that is for an analysis to know."""
        return self.flow.passes_read(use) if self.flow.as_mlir else super().needs_contents(use)

    def conflict(self, use: Use) -> Conflict | None:
        return None if self.is_in_place(use) else Conflict("copy before write", use)


def copy_before_write(func: Func, flow: Dataflow | None = None) -> CopyBeforeWrite:
    """Every operand that the op writes is out of place. `flow`: which ops are known; as MLIR states facts, what is
    undefined is copied too."""
    return CopyBeforeWrite(flow or Dataflow(func))
