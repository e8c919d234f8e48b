"""Sets of what is known while tracing: displays, `set(...)`, `in`, comparisons, `|`, `&`, `-`, `^`, sorted and len.

A set is Python's own, and never changed: its methods, and the operators that change one in place, are refused. So is
what depends on the order of its items, which differs from process to process: of frozensets too. Ints below 8, such as
axes, come in their own order, for the smallest table of a set has a place for each.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from tracebuf.frontends.numpy.functions import table
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.paths.iteration import in_order
from tracebuf.frontends.numpy.record.raises import ask, is_tracers

ORDERLESS = (set, frozenset, sorted, len, isinstance, type, bool)
"""Functions of a set whose results do not depend on the order of its items."""
INSTEAD = "use a tuple, or a dict with these keys"


def made(i: Evaluator, node: ast.AST, kind: type, items: Sequence[Any]) -> Any:
    """The set of some items; raises what Python raises for those that are not hashable."""
    if any(is_tracers(x) for x in i.flat(items)):
        raise i.refuse(node, f"a {kind.__name__} of what only the run time knows", INSTEAD)
    return ask(kind, items)


def is_known(function: Any) -> bool:
    """Whether a function is Python's or NumPy's, and not one that is traced."""
    return table.handler_of(function) is not None or table.is_pure(function) or hasattr(function, "__self__")


def call(i: Evaluator, node: ast.AST, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """A call that makes a set, or takes one; NotImplemented for other calls."""
    if (function is set or function is frozenset) and not kwargs and len(args) < 2:
        known = args and isinstance(args[0], (set, frozenset))
        items = [x for over in args for x in (over if known else i.iterate_static(node, over))]
        return made(i, node, function, items)
    given = any(isinstance(x, (set, frozenset)) and not in_order(x) for x in (*args, *kwargs.values()))
    orderless = not kwargs and any(function is one for one in ORDERLESS)  # a key of sorted may tie
    if given and is_known(function) and not orderless:
        name = getattr(function, "__name__", "this")
        raise i.refuse(node, f"a call of {name} with a set, whose items have no certain order", "use sorted(...) of it")
    return NotImplemented
