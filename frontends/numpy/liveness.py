"""Which names are live after each `if` and loop, and which each assigns: backward data flow over one function's AST.

Liveness is part of the join rule (S8): a dead temporary must not decide whether two branches can be joined. Names
used by nested functions, lambdas and comprehensions count as live everywhere.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


@dataclass
class Liveness:
    """Per compound statement: names live after it, names live at a loop's head, names it assigns."""

    after: dict[ast.stmt, frozenset[str]] = field(default_factory=dict)
    head: dict[ast.stmt, frozenset[str]] = field(default_factory=dict)
    assigned: dict[ast.stmt, tuple[str, ...]] = field(default_factory=dict)


def analyse(function: ast.FunctionDef | ast.Lambda) -> Liveness:
    """The liveness of a function's body."""
    result = Liveness()
    if isinstance(function, ast.Lambda):
        return result
    always = frozenset(n for f in ast.walk(function) if is_scope(f) and f is not function for n in loaded(f))
    _block(function.body, always, always, result)
    return result


def is_scope(node: ast.AST) -> bool:
    return isinstance(
        node,
        (ast.FunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.AsyncFunctionDef),
    )


def loaded(node: ast.AST) -> set[str]:
    """Names read anywhere in a node (an augmented assignment reads its target)."""
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return names | {
        n.target.id for n in ast.walk(node) if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)
    }


def stored(nodes: Iterable[ast.AST]) -> tuple[str, ...]:
    """Names bound anywhere in nodes, in order of appearance."""
    found: dict[str, None] = {}
    for node in nodes:
        for n in ast.walk(node):
            if isinstance(n, ast.Name) and isinstance(n.ctx, (ast.Store, ast.Del)):
                found[n.id] = None
            elif isinstance(n, (ast.FunctionDef, ast.ClassDef)):
                found[n.name] = None
    return tuple(found)


def _block(body: Sequence[ast.stmt], live: frozenset[str], always: frozenset[str], out: Liveness) -> frozenset[str]:
    for statement in reversed(body):
        live = _statement(statement, live, always, out)
    return live


def _statement(s: ast.stmt, live: frozenset[str], always: frozenset[str], out: Liveness) -> frozenset[str]:
    if isinstance(s, ast.If):
        out.after[s] = live
        out.assigned[s] = stored([*s.body, *s.orelse])
        return _block(s.body, live, always, out) | _block(s.orelse, live, always, out) | loaded(s.test)
    if isinstance(s, (ast.For, ast.While)):
        return _loop(s, live, always, out)
    if isinstance(s, (ast.Return, ast.Raise)):
        return always | loaded(s)
    if isinstance(s, (ast.Break, ast.Continue)):
        return live | always
    bound = frozenset(n.id for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    if isinstance(s, (ast.With, ast.Try)):
        return live | loaded(s)
    return (live - bound) | loaded(s) | always


def _loop(s: ast.For | ast.While, live: frozenset[str], always: frozenset[str], out: Liveness) -> frozenset[str]:
    live_after = _block(s.orelse, live, always, out)
    target = [s.target] if isinstance(s, ast.For) else []
    bound = frozenset(stored(target))
    test = loaded(s.test) if isinstance(s, ast.While) else set()
    head = live_after | test
    while True:  # what is live at the head: the body with what is live after it, to a fixed point
        entry = (_block(s.body, head, always, out) - bound) | live_after | test
        if entry <= head:
            break
        head |= entry
    out.after[s], out.head[s] = live_after, head
    out.assigned[s] = stored([*target, *s.body])
    return head | (loaded(s.iter) if isinstance(s, ast.For) else set())
