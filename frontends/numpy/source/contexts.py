"""Generator functions of `contextlib.contextmanager`, taken apart where they yield: what `with` does."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tracebuf.frontends.numpy.source.liveness import leaves_by, own_nodes

Ends = list[tuple[Sequence[ast.stmt], bool]]
"""What follows the yield, innermost first: statements, and whether they follow an exception too (`finally`)."""


def steps_of(node: ast.FunctionDef | ast.Lambda) -> tuple[list[ast.stmt], ast.Yield, Ends] | None:
    """The statements before the yield (a `with` without body: what it enters), the yield, and what follows it; None
    for a function of another form."""
    if isinstance(node, ast.Lambda) or leaves_by(node.body, ast.Return):
        return None
    before, ends, found = list[ast.stmt](), Ends(), node.body
    while True:
        places = [k for k, s in enumerate(found) if yields(s)]
        if len(places) != 1:
            return None
        (k,) = places
        s, after = found[k], found[k + 1 :]
        before += found[:k]
        if after:
            ends.insert(0, (after, False))
        if isinstance(s, ast.Expr) and isinstance(s.value, ast.Yield):
            return before, s.value, ends
        if isinstance(s, ast.Try) and not s.handlers and not s.orelse and not any(map(yields, s.finalbody)):
            ends.insert(0, (s.finalbody, True))
        elif isinstance(s, ast.With):
            before.append(ast.copy_location(ast.With(s.items, []), s))
        else:
            return None
        found = s.body


def yields(s: ast.stmt) -> bool:
    """Whether a statement yields."""
    return any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in own_nodes(s))
