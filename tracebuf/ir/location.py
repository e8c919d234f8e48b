"""Where in the user's source an op comes from. Every op carries one; MLIR counterpart: FileLineColLoc."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Location:
    """File, line (from 1), columns (from 0, end exclusive) and the function's name."""

    file: str
    line: int
    column: int = 0
    end_column: int = 0
    function: str = ""

    def __str__(self) -> str:
        return f'loc("{self.file}":{self.line}:{self.column + 1})' if self.file else "loc(unknown)"


UNKNOWN = Location("", 0)
