"""Whose code a file is: the user's, or a library's."""

from __future__ import annotations

import os
import site
import sysconfig
from functools import cache
from typing import Any

from tracebuf.process.display import is_ours

__all__ = ["code_of", "is_users", "shown_file"]


@cache
def is_users(file: str) -> bool:
    """Whether a file is of no library: not of the standard one, nor of an installed package, nor of this one."""
    if file.startswith("<"):
        return file.startswith(("<stdin", "<string", "<ipython", "<doctest"))
    place = os.path.realpath(file)
    if is_ours(file) or is_ours(place):
        return False
    return not {"site-packages", "dist-packages"} & {*place.split(os.sep)} and not place.startswith(_libraries())


@cache
def _libraries() -> tuple[str, ...]:
    paths = [p for key, p in sysconfig.get_paths().items() if key in ("stdlib", "platstdlib", "purelib", "platlib")]
    paths += [*site.getsitepackages(), site.getusersitepackages()]
    return tuple({os.path.join(os.path.realpath(p), "") for p in paths})


def code_of(function: Any) -> Any:
    """The code object of a function, of a method, of an object with `__call__` or under decorators; None of C code."""
    for _ in range(100):
        if (code := getattr(function, "__code__", None)) is not None and not hasattr(function, "__wrapped__"):
            return code
        inner = getattr(function, "__wrapped__", None) or getattr(function, "__func__", None)
        inner = inner or getattr(function, "func", None)  # functools.partial
        if inner is None:
            inner = None if isinstance(function, type) else getattr(type(function).__call__, "__code__", None)
            return code or inner
        function = inner
    return None


def shown_file(file: str) -> str:
    """A file as a reader wants it: from here, if it is below here."""
    here = os.path.join(os.getcwd(), "")
    return file.removeprefix(here)
