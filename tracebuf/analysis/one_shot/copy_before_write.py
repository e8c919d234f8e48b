"""No analysis: every operand that is stored to gets a copy of its own. MLIR counterpart: `copy-before-write`
(AlwaysCopyAnalysisState).

An oracle for One-Shot, and the upper bound of copies: an operand is out of place iff the op writes it, but for those
that must be in place. `AsMlir` is MLIR 22's to the letter (behaviour 61).
"""

from __future__ import annotations

from tracebuf.analysis.one_shot.base import Conflict
from tracebuf.analysis.one_shot.dataflow import Dataflow
from tracebuf.analysis.one_shot.derived import Analysis
from tracebuf.ir.core import Use
from tracebuf.ir.func import Func
from tracebuf.ops.arrays.bufferization import MaterializeInDestination, ToBuffer


class CopyBeforeWrite(Analysis):
    """Answers from the facts of the single op."""

    __slots__ = ()

    def is_in_place(self, use: Use) -> bool:
        return use.op.must_bufferize_in_place(use) or not self.flow.writes(use)

    def conflict(self, use: Use) -> Conflict | None:
        return None if self.is_in_place(use) else Conflict("copy before write", use)


class AsMlir(CopyBeforeWrite):
    """As MLIR 22 answers where it was asked for no analysis."""

    __slots__ = ()
    to_the_letter = True

    def is_in_place(self, use: Use) -> bool:
        """A to_buffer is not copied, though others may write through it; a destination in which something must be
        materialised is."""
        if isinstance(use.op, MaterializeInDestination):
            return not self.flow.writes(use)
        return isinstance(use.op, ToBuffer) or super().is_in_place(use)

    def needs_contents(self, use: Use) -> bool:
        """What is read is copied; whether it is defined would be for an analysis to know."""
        return self.flow.passes_read(use)

    def hands_on(self, use: Use) -> bool:
        """A loop passes on what it yields: nothing is stored to it but after a copy."""
        return True


def copy_before_write(func: Func, flow: Dataflow | None = None) -> CopyBeforeWrite:
    """Every operand that the op writes is out of place. `flow`: which ops are known, and whether as MLIR states it."""
    flow = flow or Dataflow(func)
    return AsMlir(flow) if flow.as_mlir else CopyBeforeWrite(flow)
