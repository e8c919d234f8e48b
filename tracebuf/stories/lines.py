"""A function's text: where its statements stand in their lines, and the changes of lines that take one out, put one in
or replace an expression. Several statements may share a line (`a; b`), with the head of their block too (`if c: a; b`).
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence

from tracebuf.frozen import frozen
from tracebuf.stories.edits import Change

COMPOUND = (ast.For, ast.While, ast.If, ast.With, ast.Try, ast.FunctionDef, ast.ClassDef, ast.Match)


@frozen(slots=False)
class Source:
    """A function's definition, and the lines of its file."""

    node: ast.FunctionDef
    file: str
    lines: Sequence[str]

    def span(self, node: ast.stmt) -> list[str]:
        return [line.rstrip("\n") for line in self.lines[node.lineno - 1 : node.end_lineno]]

    def text(self, node: ast.AST) -> str | None:
        """As `ast.get_source_segment`, which looks through the whole file each time."""
        first, end = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
        column, end_column = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", None)
        if first is None or end is None or end_column is None:
            return None
        if first == end:
            return self.raw(first)[column:end_column].decode()
        between = [self.raw(n) for n in range(first + 1, end)]
        return b"\n".join([self.raw(first)[column:], *between, self.raw(end)[:end_column]]).decode()

    def short(self, node: ast.AST) -> str:
        text = " ".join((self.text(node) or "").split())
        return text if len(text) <= 60 else text[:57] + "..."

    def raw(self, line: int) -> bytes:
        """A line as the columns of syntax trees count it."""
        return self.lines[line - 1].rstrip("\n").encode()

    def begins_line(self, node: ast.stmt) -> bool:
        return not self.raw(node.lineno)[: node.col_offset].strip()

    def replaced(self, node: ast.expr, text: str) -> Change | None:
        """The line of an expression with another one in its place; None for an expression of several lines."""
        found = cut(node, text)
        return None if found is None else changed(self, [found])[0]


@frozen()
class Cut:
    """The bytes of a line from `start` to `end` become `text`; where that leaves nothing the line goes."""

    line: int
    start: int
    end: int
    text: str = ""


@frozen()
class Line:
    """A line of its own, put before another one."""

    before: int
    text: str


def cut(node: ast.expr | ast.stmt, text: str) -> Cut | None:
    """Other text in the place of what stands in one line."""
    if node.lineno != node.end_lineno or node.end_col_offset is None:
        return None
    return Cut(node.lineno, node.col_offset, node.end_col_offset, text)


def blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements of a function, but for those of functions and classes in it."""
    for name in ("body", "orelse", "finalbody"):
        body = getattr(node, name, None)
        if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
            yield body
            for inner in body:
                if not isinstance(inner, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
                    yield from blocks(inner)


def stands_alone(source: Source, block: Sequence[ast.stmt], k: int) -> bool:
    """Whether a statement has its lines for itself."""
    before = block[k - 1].end_lineno if k else None
    after = block[k + 1].lineno if k + 1 < len(block) else None
    return before != block[k].lineno and after != block[k].end_lineno and source.begins_line(block[k])


def taken_out(source: Source, block: Sequence[ast.stmt], k: int) -> list[Cut] | None:
    """What takes a statement out of its lines; None where it is all that its block has in the line of its head."""
    s = block[k]
    if stands_alone(source, block, k):
        return [Cut(n, 0, len(source.raw(n))) for n in range(s.lineno, (s.end_lineno or s.lineno) + 1)]
    if s.lineno != s.end_lineno or s.end_col_offset is None:
        return None
    if k + 1 < len(block) and block[k + 1].lineno == s.lineno:
        return [Cut(s.lineno, s.col_offset, block[k + 1].col_offset)]
    if k and block[k - 1].end_lineno == s.lineno and (end := block[k - 1].end_col_offset) is not None:
        return [Cut(s.lineno, end, s.end_col_offset)]
    return None


def put_before(source: Source, s: ast.stmt, texts: Sequence[str]) -> list[Cut | Line]:
    """Simple statements before another one: in lines of their own, or, behind another one or a head, in its line."""
    if source.begins_line(s):
        return [Line(s.lineno, " " * s.col_offset + text) for text in texts]
    return [Cut(s.lineno, s.col_offset, s.col_offset, "".join(f"{text}; " for text in texts))]


def changed(source: Source, pieces: Sequence[Cut | Line]) -> tuple[Change, ...]:
    """The changes of whole lines that pieces make, one for each line."""
    before, cuts = defaultdict[int, list[str]](list), defaultdict[int, list[Cut]](list)
    for piece in pieces:
        if isinstance(piece, Line):
            before[piece.before].append(piece.text)
        else:
            cuts[piece.line].append(piece)
    found = []
    for n in sorted({*before, *cuts}):
        new = [] if n not in cuts else spliced(source.raw(n), cuts[n])
        found.append(Change(n, n if n in cuts else n - 1, (*before[n], *new)))
    return tuple(found)


def spliced(raw: bytes, cuts: Sequence[Cut]) -> list[str]:
    """A line after its cuts; none where nothing is left of it."""
    made, at = b"", 0
    for c in sorted(cuts, key=lambda c: (c.start, c.end)):
        made += raw[at : c.start] if c.start > at else b""
        made += c.text.encode()
        at = max(at, c.end)
    rest = raw[at:]
    text = (made.rstrip(b"; ") if not rest.strip() else made).decode() + rest.decode()
    return text.split("\n") if text.strip() else []
