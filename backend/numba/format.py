"""Lines that are too long, broken as formatters of Python do it."""

from __future__ import annotations

import re
from collections.abc import Iterator

WIDTH = 88


_CALL = re.compile(r"\s*(?:return |raise |[\w, ]+ = )?(?:[A-Za-z_][\w.]*)?([(\[{])")
"""A statement that is one call or display, up to its bracket."""
_ASSIGNMENT = re.compile(r"(\s*[\w.]+(?:\[[^=]*\])? [-+*/]?= )(.*)")


def fitted(line: str) -> list[str]:
    """A line of Python as lines of at most `WIDTH` characters, where it can be broken so. Comments stay."""
    if len(line) <= WIDTH or line.lstrip().startswith("#"):
        return [line]
    if (start := _CALL.match(line)) and closes(line, start.end() - 1) == len(line.rstrip(",")) - 1:
        return _call(line, start.end() - 1)
    if found := _ASSIGNMENT.fullmatch(line):
        return _sum(found[1], found[2])
    return [line]


def _call(line: str, start: int) -> list[str]:
    """The items between brackets on a line of their own, or one on each."""
    end = len(line.rstrip(",")) - 1
    indent = line[: len(line) - len(line.lstrip())]
    body, deeper = line[start + 1 : end], indent + "    "
    called = line[start] == "(" and line[start - 1] not in " "
    if line[start] == "(" and not called and len(split(body)) == 1 and not body.endswith(","):  # no tuple
        terms = [body] if len(deeper + body) <= WIDTH else split(body, (" if ", " else "))
        return [line[: start + 1], *(deeper + t for t in terms), indent + line[end:]]
    if called and len(deeper + body) <= WIDTH:
        return [line[: start + 1], deeper + body, indent + line[end:]]
    lines, items = [line[: start + 1]], split(body)
    for item in items:
        lines += fitted(f"{deeper}{item}" + "," * (not called or len(items) > 1))
    return [*lines, indent + line[end:]]


def _sum(head: str, value: str) -> list[str]:
    """A value in brackets of its own, whole or by its terms."""
    indent = head[: len(head) - len(head.lstrip())]
    deeper = indent + "    "
    if len(deeper + value) <= WIDTH:
        return [f"{head}(", deeper + value, f"{indent})"]
    for operators in (" and ", " or "), (" + ", " - "), (" * ", " / "):
        terms = split(value, operators)
        if len(terms) > 1:
            return [f"{head}(", *(deeper + t for t in terms), f"{indent})"]
    return [head + value]


def closes(line: str, start: int) -> int:
    """Where a bracket is closed."""
    depth = 0
    for k, c in _code(line):
        depth += (c in "([{") - (c in ")]}") if k >= start else 0
        if k >= start and not depth:
            return k
    return -1


def _code(text: str) -> Iterator[tuple[int, str]]:
    """The characters outside of strings."""
    quote = ""
    for k, c in enumerate(text):
        if quote:
            quote = "" if c == quote and text[k - 1] != "\\" else quote
        elif c in "\"'":
            quote = c
        else:
            yield k, c


def split(text: str, separators: tuple[str, ...] = (",",)) -> list[str]:
    """The items of a text, outside of brackets; operators begin an item."""
    found, depth, last = list[str](), 0, 0
    for k, c in _code(text):
        depth += (c in "([{") - (c in ")]}")
        if not depth and (by := next((s for s in separators if text.startswith(s, k)), None)) is not None:
            found.append(text[last:k].strip())
            last = k + (1 if by == "," else 0)
    rest = text[last:].strip()
    return [*found, rest] if rest else found
