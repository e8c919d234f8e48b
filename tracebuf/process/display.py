"""How what a function tells of itself is shown: at a prompt as it prints, in a notebook as a table or a text.

Notebooks ask for `_repr_html_` (https://ipython.readthedocs.io/en/stable/config/integrating.html#rich-display).
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any, TypeVar

T = TypeVar("T")
Rows = Sequence[Sequence[str]]
"""A table: its head, then its rows; the first column has their names."""


def displayed(kind: type[T]) -> type[T]:
    """Decorates a class with a `__str__`, and `rows()` if it is a table."""
    made: Any = kind
    if "__repr__" not in vars(kind):
        made.__repr__ = lambda self: str(self)
    made._repr_html_ = lambda self: table(self.rows()) if hasattr(self, "rows") else preformatted(str(self))
    return kind


def aligned(rows: Rows) -> str:
    """A table as text: names to the left, all else to the right."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["  ".join([f"{row[0]:<{widths[0]}}", *(f"{c:>{w}}" for c, w in zip(row[1:], widths[1:]))]) for row in rows]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def table(rows: Rows) -> str:
    """A table as HTML."""

    def line(row: Sequence[str], tag: str) -> str:
        cells = (f'<{tag} style="text-align: {"right" if k else "left"}">{html.escape(c)}' for k, c in enumerate(row))
        return f"<tr>{''.join(f'{cell}</{tag}>' for cell in cells)}</tr>"

    body = "".join(line(row, "td") for row in rows[1:])
    return f"<table><thead>{line(rows[0], 'th')}</thead><tbody>{body}</tbody></table>"


def preformatted(text: str) -> str:
    """A text as HTML."""
    return f"<pre>{html.escape(text)}</pre>"
