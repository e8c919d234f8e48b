"""Where in the user's source an op comes from. Every op carries one; MLIR counterpart: FileLineColLoc."""

from __future__ import annotations

from functools import lru_cache

from tracebuf.frozen import frozen


@frozen()
class Location:
    """File, line (from 1), columns (from 0, end exclusive) and the function's name; `text` is another MLIR location
    (fused, a call site, named), verbatim."""

    file: str
    line: int
    column: int = 0
    end_column: int = 0
    function: str = ""
    text: str = ""

    def __str__(self) -> str:
        if self.text or not self.file:
            return self.text or "loc(unknown)"
        return f"loc({quoted(self.file)}:{self.line}:{self.column + 1})"


UNKNOWN = Location("", 0)


@lru_cache(maxsize=256)
def quoted(value: str) -> str:
    """A string in quotes; a byte that is no printable character of ASCII as two hexadecimal digits."""
    raw = value.encode(errors="surrogateescape")
    return '"' + "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in raw) + '"'
