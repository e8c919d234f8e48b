"""Making a failing program smaller: statements go, expressions become parts of themselves.

Why: a program of forty lines that fails says little. Works on any module text with functions, by edits of its syntax
tree; an edit stays if the smaller program still fails in the same way. Does not search for a global minimum.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["minimise"]

Edit = Callable[[], Callable[[], None]]
"""Changes the tree; what it gives back undoes the change."""


def minimise(text: str, fails: Callable[[str], bool], seconds: float = 20.0) -> str:
    """The text of a smaller module for which `fails` still holds, found within the time."""
    stop = time.monotonic() + seconds
    shrinking = True
    while shrinking:
        shrinking = False
        tree = ast.parse(text)
        for edit in list(edits(tree)):
            if time.monotonic() > stop:
                return text
            undo = edit()
            smaller = ast.unparse(ast.fix_missing_locations(tree))
            if len(smaller) < len(text) and fails(smaller):
                text, shrinking = smaller, True
            else:
                undo()
    return text


def edits(tree: ast.Module) -> Iterator[Edit]:
    """Edits of the functions of a module, the large ones first; not of those that make the arguments."""
    functions = [n for n in tree.body if isinstance(n, ast.FunctionDef) and not n.name.startswith("arguments")]
    nodes = [n for f in functions for n in ast.walk(f)]
    for node in nodes:
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield from (dropped(block, s, name) for s in list(block))
                yield from (
                    replaced(block, s, s.body) for s in list(block) if isinstance(s, ast.For | ast.While | ast.If)
                )
    for node in nodes:
        for name, child in ast.iter_fields(node):
            if isinstance(child, ast.expr):
                yield from (assigned(node, name, part) for part in parts(child))
            elif isinstance(child, list) and child and all(isinstance(c, ast.expr) for c in child):
                yield from (changed(child, k, part) for k, c in enumerate(child) for part in parts(c))
                if len(child) > 1 and isinstance(node, ast.Tuple | ast.Call):
                    yield from (replaced(child, c, []) for c in list(child))


def parts(e: ast.expr) -> Iterator[ast.expr]:
    """Simpler expressions that may stand for one."""
    if isinstance(e, ast.BinOp):
        yield from (e.left, e.right)
    elif isinstance(e, ast.UnaryOp):
        yield e.operand
    elif isinstance(e, ast.Call):
        yield from e.args
        if isinstance(e.func, ast.Attribute):
            yield e.func.value
    elif isinstance(e, ast.Compare):
        yield from (e.left, *e.comparators)
    elif isinstance(e, ast.BoolOp):
        yield from e.values
    elif isinstance(e, ast.Subscript | ast.Attribute):
        yield e.value
    elif isinstance(e, ast.Tuple) and len(e.elts) == 1:
        yield e.elts[0]
    elif isinstance(e, ast.Slice) and (e.lower or e.upper or e.step):
        yield from (
            ast.Slice(*kept) for kept in ((None, e.upper, e.step), (e.lower, None, e.step), (e.lower, e.upper, None))
        )
    if not isinstance(e, ast.Constant | ast.Slice | ast.Name):
        yield ast.Constant(1)


def dropped(block: list[ast.stmt], statement: ast.stmt, name: str) -> Edit:
    return replaced(block, statement, [] if len(block) > 1 or name == "orelse" else [ast.Pass()])


def replaced(block: list[Any], old: ast.AST, new: list[Any]) -> Edit:
    def edit() -> Callable[[], None]:
        before = list(block)
        if old in block:
            k = block.index(old)
            block[k : k + 1] = new or ([ast.Pass()] if len(block) == 1 and isinstance(old, ast.stmt) else [])
        return lambda: block.__setitem__(slice(None), before)

    return edit


def assigned(node: ast.AST, name: str, new: ast.expr) -> Edit:
    def edit() -> Callable[[], None]:
        old = getattr(node, name)
        setattr(node, name, new)
        return lambda: setattr(node, name, old)

    return edit


def changed(items: list[ast.expr], k: int, new: ast.expr) -> Edit:
    def edit() -> Callable[[], None]:
        old = list(items)
        if k < len(items):
            items[k] = new
        return lambda: items.__setitem__(slice(None), old)

    return edit
