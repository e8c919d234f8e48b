"""Walks over syntax trees that are quick because they look at statements alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator


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
