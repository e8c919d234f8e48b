"""Edits of a function's source, as text: which lines become which, in words, and the function that they give."""

from __future__ import annotations
import __future__

import itertools
import linecache
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from functools import reduce
from operator import or_
from types import CodeType, FunctionType
from typing import Any

from tracebuf.explain.report import human
from tracebuf.frozen import frozen

_FEATURES = reduce(or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names))
_serial = itertools.count(1)
SLOWER = 1.3
"""What takes so much longer is told."""


@frozen()
class Change:
    """The lines from `first` to `last` become `after`; where `last` is before `first`, `after` is put before it."""

    first: int
    last: int
    after: tuple[str, ...]


@frozen(slots=False)
class Edit:
    """An edit that removes an allocation or a copy, found by trying: with it the program was traced again, computes
    the same, and takes so much less.

    `saves` is in bytes of a call (allocated and copied), `formula` the same for all sizes where it is known and
    `condition` and `axes` hold;
    `allocations` and `copies` are how many fewer the program makes in a call. `options` are those of `bufferize` that
    it adds; `caveat` says what is not as before for the caller.
    """

    kind: str
    """"move", "leave out a copy", "compute before", "store early", "allocate once", "take turns" or "donate"."""
    text: str
    file: str
    changes: tuple[Change, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    caveat: str = ""
    saves: int = 0
    formula: str = ""
    condition: str = ""
    """Where `formula` holds: what the program of the call assumes of sizes and counts."""
    axes: str = ""
    """And of the axes of arrays: of those of one element, or of none, there are other programs."""
    allocations: int = 0
    copies: int = 0
    eager_bytes: int = 0
    """What NumPy takes more with it, of the same call; less where negative."""
    eager_ratio: float | None = None
    """How much longer NumPy takes with it; None where that is too short to be told."""
    runs_once: bool = False
    """Whether it computes the same by what it is where loops do not run; it is compared where they run."""

    @property
    def eager_worse(self) -> str:
        """What it costs where the function runs as NumPy does: more memory, or time; "" for neither."""
        more = f"takes {human(self.eager_bytes)} more in a call with it" if self.eager_bytes > 0 else ""
        slow = f"takes {self.eager_ratio:.1f} times as long" if (self.eager_ratio or 0) > SLOWER else ""
        return f"{more}, and {slow}" if more and slow else more or (slow and f"{slow} with it")

    def apply(self, source: str | None = None) -> str:
        """The text of the file with the edit made.

        Args:
            source: the file's text; by default as it is now.

        Raises ValueError where the text has fewer lines than the edit wants.
        """
        lines = (text_of(self.file) if source is None else source).splitlines(keepends=True)
        if any(c.last > len(lines) for c in self.changes):
            raise ValueError(f"line {max(c.last for c in self.changes)} of {self.file} is not there")
        for change in sorted(self.changes, key=lambda c: c.first, reverse=True):
            lines[change.first - 1 : change.last] = [line + "\n" for line in change.after]
        return "".join(lines)

    def origins(self) -> dict[int, int]:
        """By line of the edited text the line that it was, or that it was made of."""
        numbers = list(range(1, len(text_of(self.file).splitlines()) + 1))
        for change in sorted(self.changes, key=lambda c: c.first, reverse=True):
            made = [self._made_of(change, k) for k in range(len(change.after))]
            numbers[change.first - 1 : change.last] = made
        return dict(enumerate(numbers, 1))

    def _made_of(self, change: Change, k: int) -> int:
        """The line that a new one comes from: it stood elsewhere, or in the same place."""
        lines = text_of(self.file).splitlines()
        for other in self.changes:
            for n in range(other.first, other.last + 1):
                if lines[n - 1].strip() == change.after[k].strip():
                    return n
        return min(change.first + k, max(change.last, change.first))

    def to_dict(self) -> dict[str, Any]:
        """All of it as data for JSON."""
        changes = [{"first": c.first, "last": c.last, "after": list(c.after)} for c in self.changes]
        plain = {n: getattr(self, n) for n in (
            "kind", "text", "file", "caveat", "saves", "formula", "condition", "axes", "allocations", "copies",
            "eager_bytes", "eager_ratio")}  # fmt: skip
        return {**plain, "changes": changes, "options": dict(self.options)}


def text_of(file: str) -> str:
    """The text of a file, or of a notebook's cell."""
    return "".join(linecache.getlines(file))


@contextmanager
def edited(function: FunctionType, edit: Edit) -> Iterator[FunctionType | None]:
    """The function that an edit gives, in whose source the tracer can read; None where its text is no Python."""
    if not edit.changes:
        yield function
        return
    text, file = edit.apply(), f"<edit {next(_serial)} of {edit.file}>"
    try:
        code = compile(text, file, "exec", function.__code__.co_flags & _FEATURES, dont_inherit=True)
    except (SyntaxError, ValueError):
        yield None
        return
    found = matching(code, function.__code__)
    if found is None:
        yield None
        return
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    closure = tuple(cells[n] for n in found.co_freevars)
    made = FunctionType(found, function.__globals__, function.__name__, function.__defaults__, closure)
    made.__kwdefaults__, made.__qualname__ = function.__kwdefaults__, function.__qualname__
    made.__module__ = function.__module__
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    try:
        yield made
    finally:
        linecache.cache.pop(file, None)


def matching(code: CodeType, like: CodeType) -> CodeType | None:
    """The code of the function that was edited: of its name and free variables, the nearest to where it was."""
    found, pending = list[CodeType](), [code]
    while pending:
        one = pending.pop()
        pending += [x for x in one.co_consts if isinstance(x, CodeType)]
        same = one.co_qualname == like.co_qualname and set(one.co_freevars) <= set(like.co_freevars)
        found += [one] if same else []
    return min(found, key=lambda c: abs(c.co_firstlineno - like.co_firstlineno), default=None)

