"""NumPy functions written in terms of others, and traced as if the caller had written them out.

`@formula(np.f)` registers one. A formula has NumPy's own parameters and follows the arithmetic of NumPy's Python code,
so that the bits are the same, but makes no array that the result does not need: what is elementwise fuses. Errors in it
are reported at the caller's line. `as_written` lists functions that need none: NumPy's own code is traced. `primitives`
has what NumPy's functions cannot express; `prelude` is the like for Python's iterators and folds.
May import: the rooms up to arrays, and functions/reductions, indices, joining, host, products, python.
"""

from __future__ import annotations

from pathlib import Path

HERE = str(Path(__file__).parent)


def is_formula(file: str) -> bool:
    """Whether a source file is one of the formulas."""
    return file.startswith(HERE)
