"""Libraries built on NumPy whose functions compute, and which nobody rewrites for tracebuf.

What of them cannot be traced runs as it is: called by the compiled code (frontends/numpy/functions/host/untraced.py),
or, decorated itself, in its place.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

LIBRARIES = frozenset({"scipy", "skimage", "sklearn", "statsmodels", "librosa", "astropy"})


def is_librarys(function: FunctionType) -> bool:
    """Whether the code of a function is one of these libraries', whatever the function says of itself."""
    return module_is_librarys(function.__globals__.get("__name__"))


def module_is_librarys(name: Any) -> bool:
    """Whether a module is one of these libraries'."""
    return isinstance(name, str) and name.partition(".")[0] in LIBRARIES
