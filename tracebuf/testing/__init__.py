"""Testing a bufferized function against eager NumPy: the ladder of interpreters, random arrays and random programs.

`tracebuf.testing.ladder.climb(function, args)` runs one program on every rung. `python -m tracebuf.testing.fuzz` makes
programs until it is told to stop. Nothing here is imported by the library itself; Hypothesis is needed for fuzzing
only. May import: everything. `check_op` proves or refutes what an op class declares of itself, by running it.
"""

from tracebuf.testing.declared import FactError, Finding, Report, check_op

__all__ = ["FactError", "Finding", "Report", "check_op"]
