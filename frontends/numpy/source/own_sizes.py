"""The sizes that a function names itself (`n, m = u.shape`, `k = len(u) - 1`), for formulas of `max_bytes`."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from types import FunctionType

from tracebuf.frontends.numpy.source.liveness import own_nodes, stored
from tracebuf.frontends.numpy.source.locks import source_of

__all__ = ["sizes_named"]


def sizes_named(function: FunctionType) -> dict[str, ast.expr | str]:
    """By name, what it is bound to, in terms of parameters that are not bound anew before; or, in words, why that says
    nothing."""
    source = source_of(function)
    if source is None or not isinstance(source.node, ast.FunctionDef):
        return {}
    body, given = source.node.body, source.node.args
    parameters = {a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
    times = Counter(
        n.id for s in body for n in own_nodes(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    )
    found: dict[str, ast.expr | str] = {}
    for name in stored(body):
        if name not in parameters:
            found[name] = "is bound in a loop or a branch" if times[name] == 1 else "is bound more than once"
    for k, statement in enumerate(body):
        changed = {*stored(body[:k])} & parameters
        for name, value in _bound(statement):
            if name in parameters or times[name] != 1:
                continue
            read = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
            new = sorted(read & changed)
            found[name] = f"is of {new[0]!r} after that is bound anew" if new else value
    return found


def _bound(statement: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """The names that a statement binds, each with its value."""
    match statement:
        case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), _, ast.expr() as value):
            yield name, value
        case ast.Assign([ast.Tuple(targets)], value) if all(isinstance(t, ast.Name) for t in targets):
            values = _items(value, len(targets))
            yield from ((t.id, v) for t, v in zip(targets, values) if isinstance(t, ast.Name))


def _items(value: ast.expr, count: int) -> Sequence[ast.expr]:
    """The items of a tuple, and of a shape or its first ones."""
    match value:
        case ast.Tuple(items) if len(items) == count:
            return items
        case ast.Attribute(_, "shape") as shape:
            return [ast.Subscript(shape, ast.Constant(k), ast.Load()) for k in range(count)]
        case ast.Subscript(ast.Attribute(_, "shape") as shape, ast.Slice(None, ast.Constant(int()), None)):
            return [ast.Subscript(shape, ast.Constant(k), ast.Load()) for k in range(count)]
        case ast.Subscript(ast.Attribute(_, "shape") as shape, ast.Slice(ast.Constant(int(first)), None, None)):
            return [ast.Subscript(shape, ast.Constant(first + k), ast.Load()) for k in range(count) if first >= 0]
    return []
