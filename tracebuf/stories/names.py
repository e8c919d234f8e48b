"""The names that a piece of a function's syntax tree reads, binds and stores to; found once for each piece."""

from __future__ import annotations

import ast
from functools import lru_cache


@lru_cache(4096)
def reads(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)} | binds(node, True)


@lru_cache(4096)
def binds(node: ast.AST, updates: bool = False) -> set[str]:
    """The names that a statement binds (`updates`: by an augmented assignment)."""
    if updates:
        return {n.target.id for n in ast.walk(node) if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)}
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}


@lru_cache(4096)
def written(node: ast.AST) -> set[str]:
    """The names that are bound, and those of arrays that are stored to."""
    found = set(binds(node))
    for n in ast.walk(node):
        if isinstance(n, ast.Subscript | ast.Attribute) and isinstance(n.ctx, ast.Store):
            base: ast.AST = n
            while isinstance(base, ast.Subscript | ast.Attribute):
                base = base.value
            found |= {base.id} if isinstance(base, ast.Name) else set()
        elif isinstance(n, ast.keyword) and n.arg == "out":
            found |= {m.id for m in ast.walk(n.value) if isinstance(m, ast.Name)}
    return found


@lru_cache(4096)
def rebinds(node: ast.stmt) -> set[str]:
    """The names that are another object afterwards: an augmented assignment to an array leaves it the same one. Where
    it is a number, the meaning tells."""
    return binds(node) - (binds(node, True) if isinstance(node, ast.AugAssign) else set())


def names_of(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def copied(node: ast.AST) -> ast.expr | None:
    """What an expression copies: `x.copy()`, `np.copy(x)`, `np.array(x)`."""
    if not isinstance(node, ast.Call) or node.keywords or not isinstance(node.func, ast.Attribute):
        return None
    of_numpy = isinstance(node.func.value, ast.Name) and node.func.value.id in ("np", "numpy")
    if of_numpy and node.func.attr in ("copy", "array") and len(node.args) == 1:
        return None if isinstance(node.args[0], (ast.List, ast.Tuple, ast.ListComp)) else node.args[0]
    return node.func.value if node.func.attr == "copy" and not node.args and not of_numpy else None


def occurrences(node: ast.AST, name: str) -> int:
    return sum(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))
