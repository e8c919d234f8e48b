"""heapq: its functions in Python (functions/formulas/heaps), on lists; the first items in order. So is bisect."""

from __future__ import annotations

import ast
import bisect
import heapq
from collections.abc import Callable
from typing import Any

from tracebuf.frontends.numpy.functions.formulas import heaps, prelude
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.interpreter.lists import order
from tracebuf.frontends.numpy.record.growing import Regrow, is_growing, python_of
from tracebuf.frontends.numpy.record.raises import ask, call_as
from tracebuf.frontends.numpy.record.values import ArrayRef

IN_PYTHON: dict[Any, Callable[..., Any]] = {
    getattr(heapq, f.__name__): f
    for f in (heaps.heappush, heaps.heappop, heaps.heapreplace, heaps.heappushpop, heaps.heapify)
}
"""By function of heapq: what is traced in its place."""


BISECT: dict[Any, tuple[bool, bool]] = {
    bisect.bisect_left: (True, False), bisect.bisect_right: (False, False),
    bisect.insort_left: (True, True), bisect.insort_right: (False, True),
}  # fmt: skip
"""By function of bisect: whether it is the place before equal items, and whether the item is put there."""


def bisected(
    i: Evaluator, node: ast.AST, left: bool, inserts: bool, a: Any, x: Any, lo: Any = 0, hi: Any = None, *,
    key: Any = None,
) -> Any:  # fmt: skip
    """A function of bisect."""
    wanted = i.call(node, key, [x], {}) if inserts and key is not None else x
    place = i.call_function(prelude.place_in_order, [a, wanted, lo, hi, key, left], {})
    return i.call(node, i.attribute(node, a, "insert"), [place, x], {}) if inserts else place


def greatest(i: Evaluator, node: ast.AST, high: bool, n: Any, iterable: Any, key: Any = None) -> Any:
    """heapq.nlargest (`high`) or nsmallest."""
    given = {} if key is None else {"key": key}
    items = iterable if is_growing(iterable) or type(iterable) is list else i.call(node, list, [iterable], {})
    if is_growing(items) and key is None:
        order.comparable(i, node, items)  # without a NaN, whose place hangs on how it is done
    found = i.call(node, sorted, [items], {**given, "reverse": high})
    return i.subscript(node, found, slice(None, i.call_function(prelude.at_least_0, [n], {})))


TAKEN = (*IN_PYTHON, *BISECT, heapq.nlargest, heapq.nsmallest)


def takes(function: Any) -> bool:
    """Whether a function is one of heapq's or bisect's."""
    return any(function is of for of in TAKEN)


def call(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """A call of a function of heapq or bisect; NotImplemented for any other."""
    if not takes(function):
        return NotImplemented
    if function in BISECT:
        return call_as(function, bisected, (i, node, *BISECT[function]), args, kwargs)
    if function not in IN_PYTHON:
        return call_as(function, greatest, (i, node, function is heapq.nlargest), args, kwargs)
    if kwargs or len(args) != IN_PYTHON[function].__code__.co_argcount:
        ask(function, *[[]] * len(args), **dict.fromkeys(kwargs))  # raises what Python raises
    check_heap(i, node, *args)
    return i.call_function(IN_PYTHON[function], args, {})


def check_heap(i: Evaluator, node: ast.AST, heap: Any, *more: Any) -> None:
    """Refuses what is no list of numbers or tuples of such. One of known length becomes a growing list in the next
    tracing."""
    if any(isinstance(x, ArrayRef) for x in i.flat(more)):
        raise i.refuse(node, "a heap of items that are no numbers or tuples of such", "push (priority, index)")
    if is_growing(heap) and python_of(heap) is list:
        return
    if type(heap) is not list:
        raise i.refuse(node, "heapq with anything but a list of numbers, or of tuples of such", "heap = list(items)")
    if len(heap) + len(more) < 2:
        return
    known = i.r.heap.find(heap)
    if known is not None and i.r.growth.note(known.label, [*heap, *more]):
        raise Regrow
    reason = "a heap in a list that is an argument, or of items that are no numbers or tuples of such"
    raise i.refuse(node, reason, "make the list in the function: heap = list(items)")
