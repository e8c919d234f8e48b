"""Whose a file of code is: the user's, or that of a library."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Sequence
from fnmatch import fnmatch
from types import CodeType

from tracebuf.process.display import is_ours

__all__ = ["Owner"]

_LIBRARIES = frozenset({"site-packages", "dist-packages"})
_MADE = "<"
"""Code that is not of a file, and functions without a name, begin so."""
_NEW_SCOPE = 0x1 | 0x2  # CO_OPTIMIZED, CO_NEWLOCALS: functions, and not the bodies of classes and modules
_RESUMED = 0x20 | 0x80 | 0x200  # generators and coroutines, which are entered many times


class Owner:
    """Says of code objects whether they are functions of the user's own files; `include` are patterns of paths or
    names of folders that are the user's, too."""

    def __init__(self, include: Sequence[str] = ()) -> None:
        self._include = [f"*{p}*" for p in include]
        paths = sysconfig.get_paths()
        self._standard = tuple({os.path.join(os.path.realpath(paths[p]), "") for p in ("stdlib", "platstdlib")})
        self._files: dict[str, bool] = {}

    def is_users(self, code: CodeType) -> bool:
        """Whether a code object is a named function of the user's; a test is none, nor is a generator."""
        flags, name = code.co_flags, code.co_name
        if flags & _NEW_SCOPE != _NEW_SCOPE or flags & _RESUMED or (name.startswith(_MADE) and name != "<lambda>"):
            return False
        file = code.co_filename
        if (found := self._files.get(file)) is None:
            found = self._files[file] = self._is_users_file(file)
        return found and not (name.startswith("test") and _is_test_file(file))

    def _is_users_file(self, file: str) -> bool:
        if file.startswith(_MADE):
            return False
        path = os.path.realpath(file)
        if any(fnmatch(path, pattern) for pattern in self._include):
            return True
        parts = path.split(os.sep)
        return not (_LIBRARIES.intersection(parts) or path.startswith(self._standard) or is_ours(path))


def _is_test_file(file: str) -> bool:
    name = os.path.basename(file)
    return name.startswith("test_") or name.endswith("_test.py") or name == "conftest.py"
