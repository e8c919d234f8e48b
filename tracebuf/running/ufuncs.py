"""NumPy's ufuncs by name, and the core dimensions of generalised ones."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module

import numpy as np
from numpy._core import umath


def ufunc_named(name: str) -> np.ufunc:
    """The ufunc of a `__name__`: np.clip, for one, is a function around the ufunc of that name."""
    found: np.ufunc = getattr(umath, name)
    return found


@cache
def generalised(module: str, name: str) -> np.ufunc | None:
    """The generalised ufunc of that name in a module of NumPy's, if it has it."""
    try:
        found = getattr(import_module(module), name, None) if module.startswith("numpy.") else None
    except ImportError:
        return None
    return found if isinstance(found, np.ufunc) and found.signature is not None else None


@cache
def core_dims(signature: str) -> tuple[tuple[str, ...], ...]:
    """The names of the core dimensions of each operand in the signature of a generalised ufunc."""
    groups = re.findall(r"\(([^)]*)\)", signature)
    return tuple(tuple(name.strip() for name in group.split(",") if name.strip()) for group in groups)
