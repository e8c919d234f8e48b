"""The bufferization analyses: which tensor operands are used in place, and why the others are not.

`one_shot` decides as MLIR's One-Shot does; `copy_before_write` decides without looking. The rewrite takes any
`Analysis`.
"""

from tracebuf.analysis.base import Analysis, Conflict
from tracebuf.analysis.copy_before_write import copy_before_write
from tracebuf.analysis.one_shot import HEURISTICS, one_shot

__all__ = ["HEURISTICS", "Analysis", "Conflict", "copy_before_write", "one_shot"]
