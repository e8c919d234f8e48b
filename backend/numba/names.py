"""Names for the variables of a text: the user's where his lines tell them."""

from __future__ import annotations

import ast
import builtins
import keyword
import linecache
import re
from functools import lru_cache

from tracebuf.backend.numba.helpers import HELPERS
from tracebuf.ir.core import Value
from tracebuf.ir.func import Func
from tracebuf.location import Location

_TARGET = re.compile(r"\s*([A-Za-z_]\w*)\s*(?::[^=]+)?(?:[-+*/@&|^%]|//|\*\*|>>|<<)?=(?!=)")
_TARGETS = re.compile(r"([A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)+)\s*=(?!=)")
_RETURN = re.compile(r"\s*return\b")
_LOOP = re.compile(r"\s*for\s+([A-Za-z_]\w*)\s+in\b")
_TAKEN = {*keyword.kwlist, *keyword.softkwlist, *dir(builtins), *HELPERS, "np", "math", "scipy", "njit"}


def line_of(loc: Location) -> str:
    """The user's line."""
    return linecache.getline(loc.file, loc.line).strip() if loc.file and loc.line else ""


class Names:
    """Names that are taken, and new ones."""

    def __init__(self, func: Func) -> None:
        self.taken = set(_TAKEN)
        self.made: set[str] = set()
        self.bases: dict[str, str] = {}
        """Of each that was made, what it is named after."""
        words: set[str] = {v.name for v in func.args}
        for loc in {op.loc for op in func.walk()}:
            words |= set(re.findall(r"[A-Za-z_]\w*", line_of(loc)))
        letters = [c for c in "ijkmpqrstuvxyz" if c not in words]
        letters += [f"i{n}" for n in range(20) if f"i{n}" not in words]
        self.indices = letters
        """For the loops of nests, outermost first."""
        self.taken |= set(letters[:8])

    def new(self, hint: str) -> str:
        hint = re.sub(r"\W", "_", hint).strip("_") or "x"
        hint = hint if hint.isascii() and not hint[0].isdigit() else "x"
        name, n = hint, 0
        while name in self.taken:
            n += 1
            name = f"{hint}_{n}"
        self.taken.add(name)
        self.made.add(name)
        self.bases[name] = hint
        return name


def target(loc: Location) -> str:
    """The name that the user's line assigns to, where that is one; the empty string."""
    line = linecache.getline(loc.file, loc.line) if loc.file and loc.line else ""
    if found := _TARGET.match(line):
        return found[1]
    if _RETURN.match(line):
        return "result"
    return next((name for start, end, name in _pairs(line) if start <= loc.column < end), "")


def targets(loc: Location) -> tuple[str, ...]:
    """The names that the user's line assigns to, where it takes a result apart (`q, r = ...`)."""
    found = _TARGETS.match(line_of(loc))
    return tuple(found[1].replace(" ", "").split(",")) if found else ()


@lru_cache(maxsize=256)
def _pairs(line: str) -> tuple[tuple[int, int, str], ...]:
    """Of a line `a, b = x, y`, the columns of each value with the name that gets it."""
    indent = len(line) - len(line.lstrip())
    try:
        (s,) = ast.parse(line.strip()).body
    except (SyntaxError, ValueError):
        return ()
    match s:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(targets) == len(values):
            pairs = zip(targets, values, strict=True)
            return tuple((indent + v.col_offset, indent + (v.end_col_offset or 0), t.id) for t, v in pairs
                         if isinstance(t, ast.Name))  # fmt: skip
    return ()


def loop_name(loc: Location) -> str:
    """The name of a loop's variable."""
    found = _LOOP.match(line_of(loc))
    return found[1] if found else ""


def hint_of(value: Value) -> str:
    """A name for a value: what the line that computes it assigns to."""
    op = value.defining_op
    return value.name if op is None else target(op.loc)
