"""NumPy functions written in terms of others, and traced as if the caller had written them out.

`FORMULAS` has them by NumPy's function. A formula has NumPy's own parameters and follows the arithmetic of NumPy's
Python code, so that the bits are the same, but makes no array that the result does not need: what is elementwise fuses.
Errors in it are reported at the caller's line. `primitives` has what NumPy's functions cannot express.
May import: the rooms up to arrays, and functions/reductions, indices, joining, host, products, python.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tracebuf.frontends.numpy.functions.formulas import (
    joining,
    logic,
    lookup,
    mapping,
    padding,
    products,
    sequences,
    statistics,
    transforms,
)

HERE = str(Path(__file__).parent)
FORMULAS: dict[Any, Callable[..., Any]] = {
    **joining.FORMULAS, **logic.FORMULAS, **padding.FORMULAS, **lookup.FORMULAS, **mapping.FORMULAS,
    **sequences.FORMULAS, **statistics.FORMULAS, **products.FORMULAS,
    **transforms.FORMULAS,
}  # fmt: skip
"""By NumPy's function: the Python function that is traced in its place."""
GRIDS = sequences.GRIDS
"""By type of an object that is indexed like an array (np.mgrid, np.ogrid, np.r_, np.c_): the formula of its `[key]`."""


def is_formula(file: str) -> bool:
    """Whether a source file is one of the formulas."""
    return file.startswith(HERE)
