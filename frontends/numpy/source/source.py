"""A function's syntax tree, found in its file by line and name: a `def` is parsed alone, for a lambda all of it is."""

from __future__ import annotations
import __future__

import ast
import linecache
import os
import threading
import time
import types
import warnings
from collections.abc import Sequence
from functools import lru_cache, reduce
from itertools import chain
from operator import or_

from tracebuf.frontends.numpy.source import liveness
from tracebuf.frontends.numpy.source.liveness import nodes
from tracebuf.frontends.numpy.source.matching import without_match
from tracebuf.frozen import frozen
from tracebuf.location import Location
from tracebuf.process.aside import aside
from tracebuf.process.late import importing

_BEGAN = time.time() - 1
"""When this module was imported, and what file systems round."""
_FEATURES = reduce(or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names))
_parsing = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_parsing.acquire, after_in_parent=_parsing.release, after_in_child=_parsing.release)

Definition = ast.FunctionDef | ast.Lambda
"""A function's syntax tree: a `def` or a `lambda`."""


@frozen(slots=False)
class Source:
    """A function's syntax tree (lines and columns are the file's), its file, what is live where, and its local
    names."""

    node: Definition
    file: str
    live: liveness.Liveness
    locals: frozenset[str]


@lru_cache(maxsize=512)
def read_source(code: types.CodeType, file: str, line: int) -> Source | None:
    """The source of a code object, looked up once per code object and place (equal code objects may stand in different
    files); None where the file cannot be read (any more), or several functions could be meant."""
    linecache.checkcache(file)
    lines = linecache.getlines(file)
    if not lines or file in ("<string>", "<stdin>"):  # a name that many texts share
        return None
    text, whole = "".join(lines), None
    if may_be_another(file) and (whole := definitions_with(text, file, code)) is None:
        return None
    if whole is not None and "match" not in text:  # whose subjects are numbered in what is parsed
        found = whole.get(line, [])
    else:
        alone = definition_alone(lines, code, line)
        found = [alone] if alone is not None else definitions(text).get(line, [])
    found = [n for n in found if matches(n, code)]
    return make_source(found[0], file) if len(found) == 1 else None


def may_be_another(file: str) -> bool:
    """Whether a file's text may be another than what was imported: it was written, or put there, after this process
    began; or there is no file (a cell of a notebook), so that its name may have been given again."""
    try:
        found = os.stat(file)
    except OSError:
        return True
    return max(found.st_mtime, found.st_ctime) > _BEGAN


def definitions_with(text: str, file: str, code: types.CodeType) -> dict[int, list[Definition]] | None:
    """`definitions` of a file's text, if compiling it gives this code object, at its place; None if it does not."""
    flags = code.co_flags & _FEATURES
    try:
        try:
            made, found = compiled(text, file, flags)
        except SyntaxError:  # or a SyntaxWarning that the user has made an error
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made, found = compiled(text, file, flags)
    except (SyntaxError, ValueError):
        return None
    pending = [made]
    while pending:
        if (one := pending.pop()) == code:
            return found
        pending += [x for x in one.co_consts if isinstance(x, types.CodeType)]
    return None


@lru_cache(maxsize=64)
def compiled(text: str, file: str, flags: int) -> tuple[types.CodeType, dict[int, list[Definition]]]:
    """The code and the definitions of a file's text, from one tree. Raises SyntaxError, ValueError."""

    def made() -> tuple[types.CodeType, dict[int, list[Definition]]]:
        with _parsing:
            tree = ast.parse(text)
            code: types.CodeType = compile(tree, file, "exec", flags, dont_inherit=True)
        return code, definitions_in(tree, text)

    return aside(made)


def heading(function: types.FunctionType) -> Location:
    """Where a function begins: its line with `def`, below its decorators."""
    code, name = function.__code__, function.__name__
    source = read_source(code, code.co_filename, code.co_firstlineno)
    if source is None:
        return Location(code.co_filename, code.co_firstlineno, function=name)
    node = source.node
    end = node.end_col_offset if node.end_lineno == node.lineno else None
    return Location(code.co_filename, node.lineno, node.col_offset, end or 10**6, name)


def parsed(text: str) -> ast.Module:
    """`ast.parse`, whose answer depends neither on signals nor on other threads: CPython 3.11 has one counter for all
    that make trees at a time. Raises SyntaxError."""

    def parse() -> ast.Module:
        with _parsing:
            return ast.parse(text)

    return aside(parse)


def expression_of(text: str, place: ast.AST) -> ast.expr:
    """The expression of a text, as of the lines of a node. Raises SyntaxError, ValueError."""

    def parse() -> ast.Expression:
        with _parsing:
            return ast.parse(text.lstrip(" \t"), mode="eval")

    made = aside(parse).body
    for node in ast.walk(made):
        ast.copy_location(node, place)
    return made


def definition_alone(lines: Sequence[str], code: types.CodeType, line: int) -> ast.FunctionDef | None:
    """The `def` of a code object that begins in a line, parsed without the rest of its file. None for a lambda, and
    where its lines are no statement by themselves."""
    if code.co_name == "<lambda>" or not 0 < line <= len(lines):
        return None
    first, last = lines[line - 1], max(last_line(code), line)
    indent = indentation(first)
    while last < len(lines) and (is_blank(lines[last]) or len(indentation(lines[last])) > len(indent)):
        last += 1
    before = "\n" * (line - 2) + "if 1:\n" if indent else "\n" * (line - 1)
    try:
        tree = parsed(before + "".join(lines[line - 1 : last]))
    except SyntaxError:
        return None
    if any("match" in text for text in lines[line - 1 : last]):
        tree = without_match(tree)
    (node, *others) = tree.body[0].body if indent and isinstance(tree.body[0], ast.If) else tree.body
    return node if isinstance(node, ast.FunctionDef) and not others and first_line(node) == line else None


def last_line(code: types.CodeType) -> int:
    """The last line that something in a code object comes from."""
    own = (end or start or 0 for start, end, _, _ in code.co_positions())
    inner = (last_line(x) for x in code.co_consts if isinstance(x, types.CodeType))
    return max(chain(own, inner), default=0)


def indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def is_blank(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def first_line(node: ast.FunctionDef) -> int:
    """That of the first decorator, if there is one, as in code objects."""
    return min([node.lineno, *(d.lineno for d in node.decorator_list)])


@lru_cache(maxsize=64)
def definitions(text: str) -> dict[int, list[Definition]]:
    """The functions and lambdas of a file by first line."""
    try:
        return definitions_in(parsed(text), text)
    except SyntaxError:
        return {}


def definitions_in(tree: ast.Module, text: str) -> dict[int, list[Definition]]:
    """`definitions` of a text's tree."""
    if "match" in text:
        tree = without_match(tree)
    found: dict[int, list[Definition]] = {}
    for node in nodes(tree):
        if isinstance(node, ast.FunctionDef):
            found.setdefault(first_line(node), []).append(node)
        elif isinstance(node, ast.Lambda):
            found.setdefault(node.lineno, []).append(node)
    return found


def matches(node: Definition, code: types.CodeType) -> bool:
    """Whether a definition can be what the code object was made from: its name, its parameters, every name it uses."""
    if getattr(node, "name", "<lambda>") != code.co_name:
        return False
    count = code.co_argcount + code.co_kwonlyargcount
    parameters = [a.arg for a in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]]
    used: set[str] = set()
    plain = {n for n in code.co_names if n.isidentifier() and not n.startswith(("@", "_"))}
    imported = False
    for inner in nodes(node):
        if isinstance(inner, ast.Name):
            used.add(inner.id)
        elif isinstance(inner, ast.Attribute):
            used.add(inner.attr)
        elif isinstance(inner, ast.Assert):
            plain -= {"AssertionError", "append", "locals"}  # pytest rewrites assertions
        elif isinstance(inner, (ast.Import, ast.ImportFrom)):
            imported = True
    return parameters == list(code.co_varnames[:count]) and (imported or plain <= used)


LATE = (ast.Nonlocal, ast.Global, ast.YieldFrom)
"""What is written in another form first (`cells`)."""


def make_source(node: Definition, file: str) -> Source:
    """The source of a definition met while tracing."""
    if isinstance(node, ast.FunctionDef) and any(isinstance(n, LATE) for n in nodes(node)):
        with importing():
            from tracebuf.frontends.numpy.source.cells import converted, with_globals, without_yield_from
        node = without_yield_from(with_globals(converted(node)))
    rest = [a for a in (node.args.vararg, node.args.kwarg) if a is not None]
    names = {a.arg for a in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, *rest]}
    body = node.body if isinstance(node, ast.FunctionDef) else []
    return Source(node, file, liveness.analyse(node), frozenset(names) | frozenset(liveness.stored(body)))
