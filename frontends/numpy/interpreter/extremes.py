"""min() and max() with a key, and of numbers of several types: by comparisons, as Python compares them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.numbers.lattice import path_dependent
from tracebuf.frontends.numpy.record.cond import Cond
from tracebuf.frontends.numpy.record.raises import Raises, ask
from tracebuf.frontends.numpy.record.values import Env, PyBool


def by_key(i: Evaluator, node: ast.AST, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """min(items, key=f) or max: the first item whose key no other is beyond."""
    key = kwargs["key"]
    if not args or set(kwargs) - {"key", "default"}:
        ask(function, *args, **kwargs)  # raises what Python raises
    items = i.iterate_static(node, args[0]) if len(args) == 1 else list(args)
    if not items and "default" in kwargs:
        return kwargs["default"]
    if not items:
        raise Raises(ValueError(f"{function.__name__}() iterable argument is empty"))
    return extreme(i, node, function, items, [i.call(node, key, [x], {}) for x in items])


def of_items(i: Evaluator, node: ast.AST, function: Any, args: Sequence[Any]) -> Any:
    """min(items) or min(x, y), or max, of numbers of several types."""
    items = i.iterate_static(node, args[0]) if len(args) == 1 else args
    return extreme(i, node, function, items, items)


def extreme(i: Evaluator, node: ast.AST, function: Any, items: Sequence[Any], keys: Sequence[Any]) -> Any:
    """The item whose key is the least or greatest; path-dependent where the run time decides."""
    best, most = items[0], keys[0]
    for x, key in zip(items[1:], keys[1:]):
        if any(type(k) is Cond for k in (most, key)):
            raise path_dependent(i.r, "<value>", "values of different types")
        beyond = i.condition(node, i.compared(node, "Lt" if function is min else "Gt", key, most))
        if isinstance(beyond, PyBool):
            best, most = chosen(i, node, beyond, (x, key), (best, most))
        elif beyond:
            best, most = x, key
    return best


def chosen(i: Evaluator, node: ast.AST, condition: PyBool, one: Any, other: Any) -> Any:
    """The pair `one` where a condition holds, else `other`."""

    def one_of(env: Env) -> Any:
        return one

    def other_of(env: Env) -> Any:
        return other

    return i.choose(node, condition, [one_of, other_of], i.scope.env)
