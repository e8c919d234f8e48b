"""Operators, and calls of functions that are not the user's, with growing lists."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from tracebuf.frontends.numpy.interpreter import prelude
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.interpreter.lists import arrays, growing, order
from tracebuf.frontends.numpy.record.growing import Elements, Several, filled, form_in, is_growing
from tracebuf.frontends.numpy.record.heap import Record

METHODS: dict[str, Callable[..., Any]] = {**growing.METHODS, **order.METHODS}
"""By name of the method of a list: its handler."""
ITERATING = (sum, min, max, any, all, enumerate, zip, map, filter)
"""Builtins that go through the items of a list once, at once or while nothing has changed it."""


def added(i: Evaluator, node: ast.AST, x: Record, more: Any) -> Record:
    """x + more, of another list."""
    made = growing.copy(i, node, x)
    growing.extend(i, node, made, more)
    return made


def truth(i: Evaluator, node: ast.AST, x: Record) -> Any:
    """The truth of a list."""
    return i.compared(node, "NotEq", growing.length(x), 0)


def call(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any], numpys: bool) -> Any:
    """A call of a function that is not the user's, with such lists among its arguments. `numpys`: whether it is
    NumPy's."""
    first = args[0] if args else None
    if function is len and len(args) == 1 and not kwargs and is_growing(first):
        return growing.length(first)
    if function is list and len(args) == 1 and not kwargs and is_growing(first):
        return growing.copy(i, node, first)
    if function is bool and len(args) == 1 and not kwargs and is_growing(first):
        return truth(i, node, first)
    if function is isinstance and len(args) == 2 and is_growing(first) and not arrays.among(args[1:]):
        return isinstance([], args[1])
    if function is type and len(args) == 1 and is_growing(first):
        return list
    if function is sorted and len(args) == 1 and is_growing(first) and kwargs.keys() <= {"key", "reverse"}:
        return order.ordered(i, node, first, **kwargs)
    if function is reversed:  # which sees what is stored meanwhile
        raise i.refuse(node, "`reversed` of a list whose length is only known at run time", "loop over x[::-1]")
    if function is sum and 1 <= len(args) <= 2 and kwargs.keys() <= {"start"} and is_growing(first):
        if isinstance(form_in(first), Elements):
            start = args[1] if len(args) == 2 else kwargs.get("start", 0)
            (column,) = filled(i.r.facts, first)
            return i.call_function(prelude.sum_of_arrays, [column, growing.length(first), start], {})
    extreme = (function is min or function is max) and len(args) == 1 and kwargs.keys() <= {"default"}
    if extreme and is_growing(first) and isinstance(form_in(first), Several):
        return order.extreme(i, node, function, first, **kwargs)
    direct = ITERATING if isinstance(function, type) or callable(function) else ()
    if any(function is f for f in direct):
        return i.call(node, function, [growing.iterator(i, x) for x in args], kwargs)
    if numpys:
        return arrays.call(i, node, function, args, kwargs)
    name = getattr(function, "__name__", "this")
    raise i.refuse(node, f"a call of {name} with a list whose length is only known at run time", "use np.array(x)")
