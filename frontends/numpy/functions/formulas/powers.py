"""Formula of np.linalg.matrix_power (numpy/linalg/_linalg.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.functions.formulas.primitives import bits_of, matrix_power_by_numpy

MOST = 8
"""The bits of exponents whose products are written out."""


def matrix_power(a: Any, n: Any) -> Any:
    a, bits = np.asarray(a), bits_of(n)
    if not 0 < len(bits) <= MOST or a.ndim < 2:
        return matrix_power_by_numpy(a, n)
    if a.shape[-1] != a.shape[-2]:
        return matrix_power_by_numpy(a, n)  # which raises
    if n == 3:
        return (a @ a) @ a
    square, result = a, None
    for k, bit in enumerate(bits):
        if k > 0:
            square = square @ square
        if bit:
            result = square if result is None else result @ square
    return result


FORMULAS: dict[Any, Callable[..., Any]] = {np.linalg.matrix_power: matrix_power}
"""By NumPy's function: its formula."""
