"""MLIR text as tokens, and the errors that name a line and column. Counterpart: mlir/lib/AsmParser/Lexer.cpp."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

from tracebuf.errors import TracebufError
from tracebuf.location import Location

_TOKEN = re.compile(
    r"""(?P<skip>(?:\s|//[^\n]*)+)
    |(?P<string>"(?:[^"\\\n]|\\[^\n])*")
    |(?P<float>\d+\.\d*(?:[eE][-+]?\d+)?)
    |(?P<hex>0x[0-9a-fA-F]+)
    |(?P<int>\d+)
    |(?P<id>[A-Za-z_][\w$.]*)
    |(?P<value>%(?:\d+|[A-Za-z_$.-][\w$.-]*)(?:\#\d+)?)
    |(?P<symbol>@(?:[A-Za-z_][\w$.]*|"(?:[^"\\\n]|\\[^\n])*"))
    |(?P<caret>\^(?:[\w$.]|-(?!>))+)
    |(?P<hash>\#(?:[\w$.]|-(?!>))+)
    |(?P<bang>!(?:[\w$.]|-(?!>))+)
    |(?P<mark>->|::|>=|==|.)""",
    re.ASCII | re.VERBOSE | re.DOTALL,
)
_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}


class ReadError(TracebufError):
    """Text that is not MLIR in generic form. Attributes: `location` (file, line, column), `reason`."""

    def __init__(self, reason: str, location: Location, line: str) -> None:
        self.reason, self.location = reason, location
        caret = " " * location.column + "^"
        place = f"{location.file}:{location.line}:{location.column + 1}"
        super().__init__(f"{place}: {reason}\n    {line}\n    {caret}")


class Tokens:
    """The tokens of a text: their kinds, texts and offsets, with one of kind `end` after the last."""

    __slots__ = ("_lines", "kinds", "name", "source", "starts", "texts")

    def __init__(self, source: str, name: str) -> None:
        self.source, self.name = source, name
        self._lines = list(accumulate((len(line) + 1 for line in source.split("\n")), initial=0))
        self.kinds: list[str] = []
        self.texts: list[str] = []
        self.starts: list[int] = []
        for match in _TOKEN.finditer(source):
            if (kind := match.lastgroup) != "skip":
                assert kind is not None
                self.kinds.append(kind)
                self.texts.append(match[0])
                self.starts.append(match.start())
        self.kinds.append("end")
        self.texts.append("")
        self.starts.append(len(source))

    def location(self, index: int) -> Location:
        """Where a token stands."""
        offset, length = self.starts[index], len(self.texts[index])
        line = bisect_right(self._lines, offset)
        column = offset - self._lines[line - 1]
        return Location(self.name, line, column, column + length)

    def error(self, reason: str, index: int) -> ReadError:
        location = self.location(index)
        start = self._lines[location.line - 1]
        return ReadError(reason, location, self.source[start:].partition("\n")[0])

    def closing(self, index: int) -> int:
        """The bracket that closes the one at `index`."""
        open_: list[str] = []
        for i in range(index, len(self.texts)):
            text = self.texts[i]
            if text in _CLOSING and self.kinds[i] == "mark":
                open_.append(_CLOSING[text])
            elif open_ and text == open_[-1]:
                open_.pop()
                if not open_:
                    return i
            elif text in (")", "]", "}", ">") and self.kinds[i] == "mark":
                raise self.error(f"`{text}` closes nothing: `{open_[-1]}` is expected", i)
        raise self.error(f"`{self.texts[index]}` is not closed", index)
