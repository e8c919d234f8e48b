"""The syntax trees of files, and walks over them that are quick because they look at statements alone."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from functools import cache
from pathlib import Path


@cache
def tree_of(path: Path) -> ast.Module:
    """The tree of a file, made once for all that walk over it; the collector, which would look at each of its nodes
    again and again, waits."""
    gc.disable()
    try:
        return ast.parse(path.read_text())
    finally:
        gc.enable()


def statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """Every statement, those inside of functions, classes and branches too."""
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            inside = getattr(node, field, None)
            if isinstance(inside, list):
                stack += inside
        if isinstance(node, ast.stmt):
            yield node
