"""The programs of `make bench`, by family: written for it in the style of public NumPy code, which has no type hints.

A family is a file. Each program stands there as plain NumPy, then in the forms that its peers want, then a line
`program(...)` with its sizes and, where tracebuf is behind the best peer, the reason.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from benchmarks.programs.registry import PROGRAMS, Program


def load() -> dict[str, Program]:
    """All programs by name, in the order of the families."""
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if path.stem not in ("__init__", "registry"):
            import_module(f"benchmarks.programs.{path.stem}")
    return PROGRAMS
