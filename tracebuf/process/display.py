"""How what a function tells of itself is shown: at a prompt as it prints, in a notebook as a table or a text.

Notebooks ask for `_repr_html_` (https://ipython.readthedocs.io/en/stable/config/integrating.html#rich-display).
"""

from __future__ import annotations

import ast
import linecache
import os
import re
import sys
from collections.abc import Callable, Sequence
from functools import cache, lru_cache, wraps
from types import CodeType, FunctionType, TracebackType
from typing import Any, ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")
Rows = Sequence[Sequence[str]]
"""A table: its head, then its rows; the first column has their names."""


def displayed(kind: type[T]) -> type[T]:
    """Decorates a class with a `__str__`, and `rows()` if it is a table."""
    made: Any = kind
    if "__repr__" not in vars(kind):
        made.__repr__ = lambda self: str(self)
    if "_repr_html_" not in vars(kind):
        made._repr_html_ = lambda self: table(self.rows()) if hasattr(self, "rows") else preformatted(str(self))
    return kind


def aligned(rows: Rows) -> str:
    """A table as text: names to the left, all else to the right."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["  ".join([f"{row[0]:<{widths[0]}}", *(f"{c:>{w}}" for c, w in zip(row[1:], widths[1:]))]) for row in rows]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


TEXT = "; font-family: monospace; white-space: pre-wrap"
"""The style of a cell with a text of several lines."""


def escaped(text: str) -> str:
    """A text within HTML."""
    import html  # with its table of names

    return html.escape(text)


def table(rows: Rows, last_left: bool = False) -> str:
    """A table as HTML; `last_left`: the last column is source, and stands at the left."""
    source = len(rows[0]) - 1 if last_left else -1

    def line(row: Sequence[str], tag: str) -> str:
        sides = ["left" if k in (0, source) else "right" for k in range(len(row))]
        texts = [TEXT if "\n" in c or k == source else "" for k, c in enumerate(row)]
        styles = [f"text-align: {side}{text}" for side, text in zip(sides, texts)]
        cells = (f'<{tag} style="{style}">{escaped(c)}' for style, c in zip(styles, row))
        return f"<tr>{''.join(f'{cell}</{tag}>' for cell in cells)}</tr>"

    body = "".join(line(row, "td") for row in rows[1:])
    return f"<table><thead>{line(rows[0], 'th')}</thead><tbody>{body}</tbody></table>"


def preformatted(text: str) -> str:
    """A text as HTML."""
    return f'<pre style="font-family: monospace">{escaped(text)}</pre>'


def hide_frames(error: BaseException, function: FunctionType, eager: CodeType) -> None:
    """Takes this package's frames out of an exception's traceback, below the one that catches it: in their place stands
    the line of the user's function. Those above a frame of the original function, which `eager` has called, too; above
    another frame they stay, hidden from notebooks, as they keep alive memory that a called function may hold."""
    top = error.__traceback__
    place: TracebackType | None = None if top is None else top.tb_next
    last: CodeType | None = None
    while place is not None and is_ours(place.tb_frame.f_code.co_filename):
        last, place = place.tb_frame.f_code, place.tb_next
    if top is not None and (place is None or last is eager):
        top.tb_next = place or line_of(getattr(error, "location", None), getattr(error, "__notes__", ()), function)
        del error, top, place  # the frame of that line was called by this one, and would hold its own traceback
        return
    place = top
    while place is not None:
        if is_ours(place.tb_frame.f_code.co_filename):
            place.tb_frame.f_locals["__tracebackhide__"] = True
        place = place.tb_next


def hides_frames(kind: type[Exception]) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorates a method of bufferized functions: the tracebacks of such exceptions have the user's line only."""

    def decorate(method: Callable[P, T]) -> Callable[P, T]:
        @wraps(method)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            __tracebackhide__ = True
            try:
                return method(*args, **kwargs)
            except kind as error:
                function: Any = args[0]
                if not function.options.verify:
                    hide_frames(error, function.__wrapped__, type(function)._eager.__code__)
                raise

        return call

    return decorate


def line_of(location: Any, notes: Sequence[str], function: FunctionType) -> TracebackType | None:
    """A traceback of the line that an exception names, by its location or its last note; of the function's first one if
    it names none that is found."""
    code = function.__code__
    if location is not None:
        return frame_at(location.file, location.line, location.function)
    note = next(reversed(notes), "")
    if (named := re.match(r'(?:File "(.*)"|Cell In\[\d+\]), line (\d+), in (.+)', note)) is not None:
        file = named[1] or (code.co_filename if named[3] == function.__name__ else None)
        if file is not None:
            return frame_at(file, int(named[2]), named[3])
    first = range(code.co_firstlineno, code.co_firstlineno + 20)  # below its decorators
    headed = (n for n in first if linecache.getline(code.co_filename, n).lstrip().startswith("def "))
    return frame_at(code.co_filename, next(headed, code.co_firstlineno), function.__name__)


def frame_at(file: str, line: int, name: str) -> TracebackType | None:
    """A traceback of one frame, which has nothing but a place."""
    try:
        exec(_raising(file, line, name), {})
    except ZeroDivisionError as made:
        return made.__traceback__ and made.__traceback__.tb_next
    return None


@lru_cache(maxsize=256)
def _raising(file: str, line: int, name: str) -> CodeType:
    text = linecache.getline(file, line).rstrip("\n")
    tree = ast.parse("1 / 0")
    for node in ast.walk(tree):  # all of the line: then Python puts no carets under it
        if isinstance(node, (ast.expr, ast.stmt)):
            node.lineno = node.end_lineno = line
            node.col_offset, node.end_col_offset = len(text) - len(text.lstrip()), len(text.encode())
    return compile(tree, file, "exec").replace(co_name=name, co_qualname=name)


@cache
def is_ours(file: str) -> bool:
    """Whether a file is one of this package's."""
    return file.startswith(_folders())


def users_part(place: TracebackType | None) -> TracebackType | None:
    """A traceback from the first frame on that is not this package's."""
    while place is not None and is_ours(place.tb_frame.f_code.co_filename):
        place = place.tb_next
    return place


@cache
def _folders() -> tuple[str, ...]:
    rooms = (sys.modules[name] for name in ("tracebuf", "tracebuf.backend", "tracebuf.frontends"))
    paths = [path for room in rooms for path in room.__path__]
    return tuple({os.path.join(found, "") for path in paths for found in (path, os.path.realpath(path))})
