"""The bufferization analyses: which tensor operands are used in place, and why the others are not.

`one_shot` decides as MLIR's One-Shot does; `copy_before_write` decides without looking. The rewrite takes any object
that answers `is_in_place` (`Decisions`), and derives the rest (`Analysis`).
"""

from tracebuf.analysis.base import Conflict, Decisions
from tracebuf.analysis.chosen import analysis_of, trusted
from tracebuf.analysis.copy_before_write import copy_before_write
from tracebuf.analysis.derived import Analysis
from tracebuf.analysis.one_shot import HEURISTICS, one_shot

__all__ = [
    "HEURISTICS", "Analysis", "Conflict", "Decisions", "analysis_of", "copy_before_write", "one_shot", "trusted",
]  # fmt: skip
