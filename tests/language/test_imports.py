"""Imports inside of traced functions: modules are loaded while tracing, relative ones too."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tracebuf

PACKAGE = {
    "__init__.py": "scale = 3.0",
    "constants.py": "half = 0.5",
    "code.py": """
def relative(a):
    from . import constants, scale
    from .constants import half as h
    return a * constants.half + h * scale

def absolute(a):
    import package_of_imports.constants as c
    if a[0] > 0:
        from package_of_imports import scale
        return a * scale
    return a * c.half

def optional(a):
    try:
        from .nowhere import f
    except ImportError:
        f = None
    try:
        from . import nothing
    except ImportError:
        nothing = 2
    return a if f is None else f(a), nothing

def missing(a):
    from .constants import third
    return a * third
""",
}


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    folder = tmp_path / "package_of_imports"
    folder.mkdir()
    for name, text in PACKAGE.items():
        (folder / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("package_of_imports.code")
    for name in [n for n in sys.modules if n.startswith("package_of_imports")]:
        del sys.modules[name]


def test_imports_inside_of_functions(code: Any) -> None:
    for name in ("relative", "absolute", "optional"):
        f = getattr(code, name)
        assert "package_of_imports.constants" in sys.modules or name == "relative"
        for a in (np.array([1.0, 2.0]), np.array([-1.0, 2.0])):
            found, expected = tracebuf.bufferize(f)(a), f(a)
            assert all(map(np.array_equal, found, expected)), name


def test_an_import_of_what_is_not_there_raises_what_python_raises(code: Any) -> None:
    with pytest.raises(ImportError, match="cannot import name 'third' from 'package_of_imports.constants'"):
        tracebuf.bufferize(code.missing)(np.ones(2))
