"""NumPy's and SciPy's ufuncs by name, and the core dimensions of generalised ones."""

from __future__ import annotations

import re
import sys
from functools import cache
from importlib import import_module

import numpy as np
from numpy._core import umath

SPECIAL = "scipy.special"
"""The module of SciPy's ufuncs, which is imported only where a program has one of them."""
PRIVATE = "scipy.special._ufuncs"
"""The module of all of them, also of those that `scipy.special` has functions around."""


MADE = "numba"
"""The module in the names of ufuncs that `numba.vectorize` and `numba.guvectorize` have made, in this process."""
_made: dict[str, np.ufunc] = {}
_names: dict[int, str] = {}


def note_made(ufunc: np.ufunc, name: str) -> str:
    """Gives a ufunc of Numba's a name, by which programs call it from then on; it is kept."""
    if id(ufunc) not in _names:
        plain = re.sub(r"\W", "_", name, flags=re.ASCII)
        _names[id(ufunc)] = f"{MADE}.{plain}_{len(_names)}"
        _made[_names[id(ufunc)]] = ufunc
    return _names[id(ufunc)]


def is_made(ufunc: np.ufunc) -> bool:
    """Whether a ufunc is one of Numba's."""
    return id(ufunc) in _names


def is_made_name(name: str) -> bool:
    """Whether a name is that of a ufunc of Numba's."""
    return name.startswith(f"{MADE}.")


def ufunc_named(name: str) -> np.ufunc:
    """The ufunc of a name that `name_of_ufunc` gives: np.clip, for one, is a function around the ufunc of that name."""
    if name in _made:
        return _made[name]
    module, _, last = name.rpartition(".")
    if module == SPECIAL:
        public: np.ufunc | None = getattr(import_module(module), last, None)
        found: np.ufunc = public if public is not None else getattr(import_module(PRIVATE), last)
        return found
    found = getattr(umath, last if module else name)
    return found


def name_of_ufunc(ufunc: np.ufunc) -> str:
    """The name of a ufunc of NumPy's, or of SciPy's or Numba's, with its module."""
    if id(ufunc) in _names:
        return _names[id(ufunc)]
    return f"{SPECIAL}.{ufunc.__name__}" if is_special(ufunc) else ufunc.__name__


def is_special(ufunc: np.ufunc) -> bool:
    """Whether a ufunc is one of `scipy.special`, or one that functions there call."""
    modules = (sys.modules.get(SPECIAL), sys.modules.get(PRIVATE))
    found = (getattr(module, ufunc.__name__, None) for module in modules)
    return next((x for x in found if x is not None), None) is ufunc


@cache
def generalised(module: str, name: str) -> np.ufunc | None:
    """The generalised ufunc of that name in a module of NumPy's, or of Numba's, if it has it."""
    if module == MADE:
        return _made.get(f"{module}.{name}")
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
