"""The names of a function's variables: the user's, numbered without gaps."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from tracebuf.backend.numba.style.liveness import statements
from tracebuf.backend.numba.style.trees import comment_of, names_of

__all__ = ["numbered", "rename"]


def numbered(
    args: Sequence[str], tree: ast.FunctionDef, bases: Mapping[str, str], taken: set[str], by_use: bool
) -> dict[str, str]:
    """New names: of those that are named after one variable of the user's, the last one that other lines read has its
    name, and the others are numbered as they appear."""
    order: dict[str, None] = {}
    made: dict[str, set[str]] = {}
    crossing: set[str] = set()
    section = ""
    for s in statements(tree.body):
        if (text := comment_of(s)).startswith("# line"):
            section = text
        if isinstance(s, ast.Delete):
            continue
        for node in names_of(s):
            if isinstance(node.ctx, ast.Store):
                made.setdefault(node.id, set()).add(section)
            elif isinstance(s, ast.Return) or section not in made.get(node.id, {section}):
                crossing.add(node.id)
            order.setdefault(node.id)
    groups: dict[str, list[str]] = {}
    for n in order:
        if n in bases and n not in args:
            groups.setdefault(bases[n], []).append(n)
    kept = {n for n in order if n not in bases} | set(args) | taken
    found: dict[str, str] = {}
    for base, names in groups.items():
        wanted = names[::-1] if by_use else names
        plain = next((n for n in wanted if (n in crossing if by_use else n == base)), names[0])
        names.remove(plain)
        for n in [plain, *names]:
            found[n] = _free(base, kept)
            kept.add(found[n])
    return {n: m for n, m in found.items() if n != m}


def _free(base: str, kept: set[str]) -> str:
    name, k = base, 0
    while name in kept:
        k += 1
        name = f"{base}_{k}"
    return name


def rename(tree: ast.FunctionDef, new: Mapping[str, str]) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = new.get(node.id, node.id)
