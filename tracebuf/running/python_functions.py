"""Functions of numbers that only Python itself can compute: its algorithms are others than the C library's."""

from __future__ import annotations

import cmath
import math
import operator
from collections.abc import Callable
from typing import Any

HOSTED: dict[str, Callable[..., Any]] = {
    "gamma": math.gamma, "lgamma": math.lgamma, "hypot": math.hypot, "ldexp": math.ldexp, "ulp": math.ulp,
    "round": round, "true_divide": operator.truediv,
}  # fmt: skip
CODES: dict[type[Exception], float] = {ValueError: 1.0, OverflowError: 2.0, ZeroDivisionError: 3.0}
"""What a complex function's `error` is; 0 for none."""


def _part(function: Callable[..., complex], part: str) -> Callable[..., float]:
    """One part of a function of complex numbers, which are given part by part; its `error`."""

    def run(*args: float) -> float:
        try:
            found = function(*(complex(*args[k : k + 2]) for k in range(0, len(args), 2)))
        except tuple(CODES) as error:
            return CODES[type(error)] if part == "error" else math.nan
        return 0.0 if part == "error" else float(getattr(found, part))

    return run


COMPLEX: dict[str, Callable[..., Any]] = {
    "exp": cmath.exp, "log": cmath.log, "log10": cmath.log10, "sqrt": cmath.sqrt, "sin": cmath.sin, "cos": cmath.cos,
    "tan": cmath.tan, "asin": cmath.asin, "acos": cmath.acos, "atan": cmath.atan, "sinh": cmath.sinh,
    "cosh": cmath.cosh, "tanh": cmath.tanh, "asinh": cmath.asinh, "acosh": cmath.acosh, "atanh": cmath.atanh,
    "pow": pow,
}  # fmt: skip
"""Functions of complex numbers that Python computes."""
HOSTED |= {
    f"complex_{name}_{part}": _part(function, part)
    for name, function in COMPLEX.items() for part in ("real", "imag", "error")
}  # fmt: skip
