"""What is asked of an analysis (`Decisions`), and the reason for each operand that is not in place (`Conflict`).

MLIR counterpart: AnalysisState, whose one question for the rewrite is `isInPlace`. A Conflict is what MLIR's
`print-conflicts` shows in part: a read, the write that would come between it and its definition, and that definition.
"""

from __future__ import annotations

import linecache
from dataclasses import dataclass
from typing import Protocol

from tracebuf.ir.core import Use, Value
from tracebuf.ir.location import Location


@dataclass(frozen=True, slots=True)
class Conflict:
    """Why an operand is out of place.

    `rule` is "read after write" (then `read`, `write` and `definition` are set), "not writable" (`read_only` is the
    value whose buffer must not be stored to), "copy before write" (nobody looked) or "chosen" (the user's own analysis
    says so).
    """

    rule: str
    write: Use
    read: Use | None = None
    definition: Value | None = None
    read_only: Value | None = None

    def __str__(self) -> str:
        write = describe(self.write.op.loc)
        if self.read is not None:
            read = describe(self.read.op.loc)
            if self.read.op is self.write.op or read == write:
                return f"{write} reads elements that it also overwrites"
            return f"{read} reads what {write} overwrites before"
        if self.read_only is not None:
            name = self.read_only.name
            return f"{write} would store into {f'`{name}`' if name else 'a buffer'}, which is read-only"
        if self.rule == "chosen":
            return f"the chosen analysis does not let {write} use the operand in place"
        return f"{write} stores, and no analysis was asked for"


def describe(loc: Location) -> str:
    """The user's expression with its line, as far as they are known: "`a[1:] + b` (line 12)"."""
    if not loc.line:
        return "an operation"
    line = linecache.getline(loc.file, loc.line)
    text = line[loc.column : loc.end_column].strip() if loc.end_column > loc.column else line.strip()
    return f"`{text}` (line {loc.line})" if text else f"line {loc.line}"


class Decisions(Protocol):
    """What an analysis must answer; all else is derived from it (`derived.Analysis`)."""

    def is_in_place(self, use: Use) -> bool:
        """Whether the op may use the operand's own buffer."""
        ...
