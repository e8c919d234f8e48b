"""A function's lines as a syntax tree and back: a comment is a statement that is a string."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tracebuf.backend.numba.style.liveness import parsed
from tracebuf.backend.numba.style.render import shown, statement

__all__ = [
    "Put", "comment_of", "copied", "depth_of", "is_mark", "is_shown", "line_of", "names_of", "placed_as", "stored_by",
    "target_of", "text_of", "tree_of",
]  # fmt: skip


def tree_of(args: Sequence[str], lines: Sequence[str]) -> ast.FunctionDef:
    quoted = [x[: len(x) - len(x.lstrip())] + repr(x.lstrip()) if x.lstrip()[:1] == "#" else x for x in lines]
    tree = parsed(args, quoted)
    tree.body.pop()  # the `pass` that `parsed` adds
    return tree


def comment_of(s: ast.stmt) -> str:
    match s:
        case ast.Expr(value=ast.Constant(value=str(text))) if text.startswith("#"):
            return text
    return ""


def text_of(tree: ast.FunctionDef) -> list[str]:
    return list(_lines(tree.body, 1))


def _lines(block: Sequence[ast.stmt], depth: int) -> Iterator[str]:
    indent = "    " * depth
    empty = all(map(comment_of, block))
    for s in block:
        yield indent + (comment_of(s) or statement(s))
        if isinstance(s, (ast.If, ast.For, ast.While)):
            yield from _lines(s.body, depth + 1)
            if s.orelse:
                yield f"{indent}else:"
                yield from _lines(s.orelse, depth + 1)
    if empty:
        yield f"{indent}pass"


def names_of(s: ast.stmt) -> Iterator[ast.Name]:
    """The names of a statement, without those of the blocks in it."""
    work: list[ast.AST] = [s]
    while work:
        node = work.pop(0)
        if isinstance(node, ast.Name):
            yield node
        children = list(ast.iter_child_nodes(node))
        work = [c for c in children if not (node is s and isinstance(c, ast.stmt))] + work


class Put(ast.NodeTransformer):
    def __init__(self, name: str, value: ast.expr) -> None:
        self.name, self.value = name, value

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.value if node.id == self.name and isinstance(node.ctx, ast.Load) else node


def is_shown(s: ast.stmt) -> bool:
    """Whether it is a line of the user's."""
    return comment_of(s).startswith("# line")


def is_mark(s: ast.stmt) -> bool:
    return comment_of(s).startswith(("#<", "#>"))


def placed_as(s: ast.stmt, made: ast.stmt) -> ast.stmt:
    return ast.copy_location(made, s)


def line_of(s: ast.stmt) -> int:
    return s.lineno - 2


def copied(x: ast.expr) -> ast.expr:
    return ast.parse(shown(x), mode="eval").body


def target_of(s: ast.Assign | ast.AugAssign) -> ast.expr:
    return s.targets[0] if isinstance(s, ast.Assign) else s.target


def stored_by(s: ast.stmt) -> set[str]:
    """The variables that a statement surely assigns to."""
    return {n.id for n in names_of(s) if isinstance(n.ctx, ast.Store)} if isinstance(s, ast.Assign) else set()


def depth_of(x: ast.AST) -> int:
    return 1 + max((depth_of(c) for c in ast.iter_child_nodes(x) if isinstance(c, ast.expr)), default=0)
