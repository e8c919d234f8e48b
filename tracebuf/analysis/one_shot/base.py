"""What is asked of an analysis (`Decisions`), and the reason for each operand that is not in place (`Conflict`).

MLIR counterpart: AnalysisState, whose one question for the rewrite is `isInPlace`. A Conflict is what MLIR's
`print-conflicts` shows in part: a read, the write that would come between it and its definition, and that definition.
MLIR shows the first conflict that it meets; here all are available, with the reason why no rule saved them.
"""

from __future__ import annotations

import linecache
from collections.abc import Collection
from typing import Protocol

from tracebuf.errors import TracebufError
from tracebuf.frozen import frozen
from tracebuf.ir.core import Op, Use, Value
from tracebuf.location import Location
from tracebuf.ops.arrays.bufferization import MaterializeInDestination
from tracebuf.ops.arrays.linalg import Generic


class AnalysisError(TracebufError):
    """A program that One-Shot refuses under the given options."""

    def __init__(self, reason: str, location: Location) -> None:
        self.reason, self.location = reason, location
        place = f"{location.file}:{location.line}:{location.column + 1}: " if location.line else ""
        super().__init__(place + reason)


@frozen()
class Conflict:
    """Why an operand is out of place.

    `rule` is "read after write" (then `read`, `write` and `definition` are set), "not writable" (`read_only` is the
    value whose buffer must not be stored to), "parallel" (iterations that run at once would store to one buffer, that
    of `definition`), "dearer" (more would be copied elsewhere), "copy before write" (no analysis was made) or "chosen"
    (the user's own analysis says so).

    `unsaved`: of a read after write, each rule that might have saved it, with a word on why it did not (only where all
    conflicts were asked for); `because` is the most telling of them.
    """

    rule: str
    write: Use
    read: Use | None = None
    definition: Value | None = None
    read_only: Value | None = None
    unsaved: tuple[tuple[str, str], ...] = ()
    because: str = ""

    @property
    def locations(self) -> tuple[Location, ...]:
        """The user's lines: of the write, of the read, and of what would be overwritten or is read-only."""
        values = (v for v in (self.definition, self.read_only) if v is not None)
        ops = [self.write.op.loc, *([read_at(self.read)] if self.read is not None else [])]
        return (*ops, *(loc for v in values if (loc := made_at(v)) is not None))

    def __str__(self) -> str:
        write = describe_op(self.write.op)
        if self.read is not None:
            op, why = self.read.op, f": {self.because}" if self.because else ""
            read = describe_op(op) if op is self.write.op else describe_read(self.read)
            if op is self.write.op or read == write:
                return f"{write} reads elements that it also overwrites{why}"
            what = "what" if self.definition is None else describe_contents(self.definition, (write, read))
            return f"{write} would overwrite {what} {read} reads afterwards{why}"
        if self.read_only is not None:
            name = self.read_only.name
            return f"{write} would store into {f'`{name}`' if name else 'a buffer'}, which is read-only"
        if self.rule == "parallel":
            return f"{write} would store, in iterations that run at once, to a buffer that they share"
        if self.rule == "dearer":
            return f"{write} may use the operand in place, but then more is copied elsewhere"
        if self.rule == "chosen":
            return f"the chosen analysis does not let {write} use the operand in place"
        return f"{write} stores, and no analysis was asked for"


def describe_op(op: Op) -> str:
    """An operation in the user's terms."""
    if isinstance(op, MaterializeInDestination) and op.operand(1).name:
        return f"the final store to `{op.operand(1).name}`"
    return describe(op.loc)


def describe_read(use: Use) -> str:
    """What reads an operand, in the user's terms."""
    return describe_op(use.op) if isinstance(use.op, MaterializeInDestination) else describe(read_at(use))


def read_at(use: Use) -> Location:
    """Where the source reads an operand: a nest has what several lines compute."""
    if not isinstance(use.op, Generic):
        return use.op.loc
    users = (u.op for u in use.op.body.args[use.index].uses)
    found = [op.loc for op in users if not op.terminator and op.loc.line]
    return min(found, key=lambda loc: (loc.line, loc.column)) if found else use.op.loc


def store_within(op: Op, stored: Value) -> Op:
    """Of an op with branches or a body the op in them that gives what it ends with in the place of a stored value."""
    for region in op.regions:
        for block in region.blocks:
            for value in block.terminator.operands if op.results else ():
                maker = value.defining_op
                if maker is not None and maker.block is block and str(value.type) == str(stored.type):
                    return store_within(maker, stored)
    return op


def describe(loc: Location) -> str:
    """The user's expression with its line, as far as they are known: "`a[1:] + b` (line 12)"."""
    if not loc.line:
        return "an operation"
    line = linecache.getline(loc.file, loc.line)
    text = line[loc.column : loc.end_column].strip() if loc.end_column > loc.column else line.strip()
    return f"`{text}` (line {loc.line})" if text else f"line {loc.line}"


def made_at(value: Value) -> Location | None:
    """Where a value comes from; None for an argument of a function."""
    op = value.owner if isinstance(value.owner, Op) else value.owner.parent_op
    return None if op is None else op.loc


def describe_contents(value: Value, known: Collection[str] = ()) -> str:
    """What a value holds, as far as it has a name that is not among the `known`: "elements of `a` that", "what"."""
    if isinstance(value.owner, Op):
        made = describe(value.owner.loc)
        return "what" if made in known or not value.owner.loc.line else f"elements of {made} that"
    return f"elements of `{value.name}` that" if value.name and value.owner.parent_op is None else "what"


class Decisions(Protocol):
    """What an analysis must answer; all else is derived from it (`derived.Analysis`)."""

    def is_in_place(self, use: Use) -> bool:
        """Whether the op may use the operand's own buffer."""
        ...
