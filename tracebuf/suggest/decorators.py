"""Writes `@tracebuf.bufferize` above functions, as text; what is written is parsed again, and has to be the module as
it was, with the decorators and one `import tracebuf`."""

from __future__ import annotations

import ast
import difflib
import io
import os
import tokenize
from collections.abc import Iterable
from types import CodeType

from tracebuf.frozen import frozen

__all__ = ["Edited", "edited"]

_DECORATOR = "tracebuf.bufferize"
_IMPORT = "import tracebuf"
Definition = ast.FunctionDef | ast.AsyncFunctionDef


class _LeftOut(Exception):
    """Why there is no decorator to write."""


@frozen(slots=False)
class Edited:
    """One file, before and after, and the functions that got a decorator."""

    file: str
    before: str
    after: str
    encoding: str
    functions: tuple[str, ...]

    def diff(self) -> str:
        """The change as a unified diff."""
        name = os.path.relpath(self.file)
        before, after = (text.splitlines(keepends=True) for text in (self.before, self.after))
        return "".join(difflib.unified_diff(before, after, f"a/{name}", f"b/{name}"))

    def write(self) -> None:
        """Changes the file. OSError where that is not allowed."""
        with open(self.file, "w", encoding=self.encoding, newline="") as file:
            file.write(self.after)


def edited(codes: Iterable[CodeType]) -> tuple[list[Edited], list[str]]:
    """The files in which functions are decorated, and of functions that are left out, why."""
    files: dict[str, list[CodeType]] = {}
    left = []
    for code in codes:
        if "<" in code.co_qualname:
            what = "a lambda" if code.co_name == "<lambda>" else "made inside of a function, anew in each call"
            left.append(f"{code.co_qualname}: it is {what}; decorate it by hand")
        else:
            files.setdefault(code.co_filename, []).append(code)
    found = []
    for file, inside in files.items():
        try:
            found.append(_edited(file, inside))
        except (_LeftOut, OSError, SyntaxError, UnicodeError) as why:
            left.append(f"{', '.join(c.co_qualname for c in inside)}: {why}")
    return found, left


def _edited(file: str, codes: list[CodeType]) -> Edited:
    with open(file, "rb") as opened:
        data = opened.read()
    encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    text = data.decode(encoding)
    tree = ast.parse(text)
    if any(_binds(node) for node in ast.walk(tree)):
        raise _LeftOut(f"{os.path.basename(file)} gives the name tracebuf to something else")
    targets = [_definition(tree, code) for code in codes]
    lines = text.splitlines(keepends=True)
    if len(lines) != text.count("\n") + (not text.endswith("\n")):
        raise _LeftOut(f"{os.path.basename(file)} has unusual line ends")
    end = "\r\n" if lines[0].endswith("\r\n") else "\n"
    first, top = min(_top(node) for node in targets), _top(tree.body[0])
    for node in sorted(targets, key=lambda node: -node.lineno):
        indent = lines[node.lineno - 1][: node.col_offset]
        lines.insert(node.lineno - 1, f"{indent}@{_DECORATOR}{end}")
        node.decorator_list.append(ast.parse(_DECORATOR, mode="eval").body)
    if not any(isinstance(node, ast.Import) and _imports(node) and node.lineno < first for node in tree.body):
        _add_import(tree, lines, end, top)
    after = "".join(lines)
    if not _means(after, tree):
        raise _LeftOut(f"{os.path.basename(file)} is written in a way that this command does not understand")
    return Edited(file, text, after, encoding, tuple(c.co_qualname for c in codes))


def _means(text: str, tree: ast.Module) -> bool:
    try:
        return ast.dump(ast.parse(text)) == ast.dump(tree)
    except SyntaxError:
        return False


def _definition(tree: ast.Module, code: CodeType) -> Definition:
    """The definition that a function of this module was made from."""
    for node in ast.walk(tree):
        if isinstance(node, Definition) and (node.name, _top(node)) == (code.co_name, code.co_firstlineno):
            return node
    raise _LeftOut("its definition was not found: has the file changed?")


def _top(node: ast.stmt) -> int:
    """A statement's first line, with its decorators."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(d.lineno for d in decorators)])


def _add_import(tree: ast.Module, lines: list[str], end: str, top: int) -> None:
    """Behind the docstring, `from __future__` and the imports that the module begins with; else at line `top`."""
    count = 0
    if ast.get_docstring(tree, clean=False) is not None:
        count = 1
    while count < len(tree.body) and isinstance(tree.body[count], ast.Import | ast.ImportFrom):
        count += 1
    if count:
        before = tree.body[count - 1]
        gap = "" if isinstance(before, ast.Import | ast.ImportFrom) else end
        place = before.end_lineno or before.lineno
        lines.insert(place, f"{gap}{_IMPORT}{end}{_blank_lines(lines[place:]) * end}")
    else:
        lines.insert(top - 1, f"{_IMPORT}{end}{end}{end}")
    tree.body.insert(count, ast.Import([ast.alias("tracebuf")]))


def _blank_lines(following: list[str]) -> int:
    """How many are missing between an import and these lines: two stand before a definition (PEP 8)."""
    there = next((k for k, line in enumerate(following) if line.strip()), 2)
    defines = following[there:] and following[there].startswith(("@", "def ", "class ", "async def "))
    return max(0, 2 - there) if defines else 0


def _imports(node: ast.Import) -> bool:
    return any(a.name == "tracebuf" and a.asname is None for a in node.names)


def _binds(node: ast.AST) -> bool:
    """Whether a node means something else by the name tracebuf."""
    name = "tracebuf"
    match node:
        case ast.Name(id=found, ctx=ast.Store() | ast.Del()):
            return found == name
        case ast.arg(arg=found):
            return found == name
        case ast.FunctionDef(name=found) | ast.AsyncFunctionDef(name=found) | ast.ClassDef(name=found):
            return found == name
        case ast.alias(name=whole, asname=found):
            return found == name and whole != name
    return False
