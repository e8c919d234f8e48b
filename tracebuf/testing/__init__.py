"""Testing functions beside eager NumPy: what users assert of theirs, and what tests tracebuf itself.

For users (docs/testing.md): `assert_memory`, the memory that one real call takes, and `assert_matches_numpy`, drawn
calls beside eager NumPy. For op classes of a package of one's own: `check_op` proves or refutes what a class declares
of itself, by running it.

Of tracebuf itself: `tracebuf.testing.ladder.climb(function, args)` runs one program on every rung of the ladder of
interpreters; `python -m tracebuf.testing.fuzz` makes programs until it is told to stop. The library imports none of
this but for `f.validate`; Hypothesis is needed for fuzzing and for what draws arguments.
May import: everything.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tracebuf.testing.declared import FactError, Finding, Report, check_op

if TYPE_CHECKING:
    from tracebuf.testing.checks.matching import assert_matches_numpy
    from tracebuf.testing.checks.memory import assert_memory

__all__ = ["FactError", "Finding", "Report", "assert_matches_numpy", "assert_memory", "check_op"]

_LATE = {
    "assert_matches_numpy": "tracebuf.testing.checks.matching",
    "assert_memory": "tracebuf.testing.checks.memory",
}
"""Names by module, which is loaded when they are first asked for (PEP 562)."""


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = import_module(_LATE[name])
    globals()[name] = value = getattr(found, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
