"""Hypothesis strategies: arrays in every memory layout, views that overlap, whole programs.

All shrink: arrays to few zeros in C order, programs to the statements that matter. Hypothesis (the extra `test`) is
needed. May import: what stands beside it in `tracebuf.testing`.
"""

from tracebuf.testing.strategies.arrays import LAYOUTS, arrays, elements, layouts, overlapping
from tracebuf.testing.strategies.programs import programs

__all__ = ["LAYOUTS", "arrays", "elements", "layouts", "overlapping", "programs"]
