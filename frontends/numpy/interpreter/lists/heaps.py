"""heapq: heaps in growing lists of numbers, and of tuples of such."""

from __future__ import annotations

import ast
import heapq
from collections.abc import Callable, Sequence
from typing import Any

from tracebuf.frontends.numpy.functions.formulas import heaps, prelude
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.interpreter.lists import growing, order
from tracebuf.frontends.numpy.record.growing import Regrow, Texts, columns, form_in, is_growing, parts_of, python_of
from tracebuf.frontends.numpy.record.heap import Record
from tracebuf.frontends.numpy.record.raises import Raises, call_as
from tracebuf.frontends.numpy.record.values import Kind


def grown(i: Evaluator, node: ast.AST, heap: Any, more: Sequence[Any] = ()) -> Record:
    """The growing list that a heap is, which gets more items. A list of known length is made one in the next
    tracing."""
    if is_growing(heap) and python_of(heap) is list:
        return heap
    if type(heap) is not list:
        raise i.refuse(node, "heapq with anything but a list of numbers, or of tuples of such", "heap = list(items)")
    known = i.r.heap.find(heap)
    if known is not None and i.r.growth.note(known.label, [*heap, *more]):
        raise Regrow
    reason = "a heap in a list that is an argument, or of items that are no numbers or tuples of such"
    raise i.refuse(node, reason, "make the list in the function: heap = list(items)")


def compared(i: Evaluator, node: ast.AST, x: Record, held: Sequence[Any]) -> list[Any]:
    """Of columns, those of the numbers by which the items are ordered."""
    found, place = [], 0
    for kind in parts_of(form_in(x)):
        known = isinstance(kind, Texts) and kind.known
        if not known and (not isinstance(kind, Kind) or kind.element.is_complex):
            instead = "make them numbers of one type, or tuples of such: float(x), or 0.0 in place of 0"
            raise i.refuse(node, f"a heap of items that are {form_in(x).words}", instead)
        place += len(kind.types)
        found.append(held[place - 1])
    return found


def change(i: Evaluator, node: ast.AST, x: Record, by: Callable[..., Any], n: Any, *given: Any) -> None:
    """Changes the items of a heap by a function of `heaps`, where they are."""
    length, held = growing.length(x), growing.change(i, node, x)
    growing.on_column(i, by, held, compared(i, node, x, held), n, *given)
    growing.set_parts(i, x, held, length)


def push(i: Evaluator, node: ast.AST, heap: Any, item: Any, /) -> None:
    """heapq.heappush(heap, item)."""
    x = grown(i, node, heap, [item])
    growing.append(i, node, x, item)
    change(i, node, x, heaps.sift_down, 0, i.operate("Sub", growing.length(x), 1))


def root(i: Evaluator, x: Record) -> Any:
    """The least item; IndexError if there is none."""
    return growing.at(i, x, columns(x), i.call_function(heaps.place_of_root, [growing.length(x)], {}))


def pop(i: Evaluator, node: ast.AST, heap: Any, /) -> Any:
    """heapq.heappop(heap)."""
    if type(heap) is list and not heap:
        raise Raises(IndexError("index out of range"))
    x = grown(i, node, heap)
    n, found = growing.length(x), root(i, x)
    change(i, node, x, heaps.without_root, n)
    growing.set_parts(i, x, columns(x), i.operate("Sub", n, 1))
    return found


def replace(i: Evaluator, node: ast.AST, heap: Any, item: Any, /) -> Any:
    """heapq.heapreplace(heap, item)."""
    if type(heap) is list and not heap:
        raise Raises(IndexError("index out of range"))
    x = grown(i, node, heap, [item])
    found, new = root(i, x), growing.parts(i, node, x, item)
    change(i, node, x, heaps.with_root, growing.length(x), new)
    return found


def push_pop(i: Evaluator, node: ast.AST, heap: Any, item: Any, /) -> Any:
    """heapq.heappushpop(heap, item)."""
    if type(heap) is list and not heap:
        return item
    x = grown(i, node, heap, [item])
    growing.append(i, node, x, item)
    n = i.operate("Sub", growing.length(x), 1)
    change(i, node, x, heaps.pushed_through, n)
    found = growing.at(i, x, columns(x), n)
    growing.set_parts(i, x, columns(x), n)
    return found


def heapify(i: Evaluator, node: ast.AST, heap: Any, /) -> None:
    """heapq.heapify(heap)."""
    if type(heap) is list and len(heap) < 2:
        return
    x = grown(i, node, heap)
    change(i, node, x, heaps.heapified, growing.length(x))


def greatest(high: bool) -> Callable[..., Any]:
    """The handler of heapq.nlargest (`high`) or nsmallest: the first items in order."""

    def run(i: Evaluator, node: ast.AST, n: Any, iterable: Any, key: Any = None) -> Any:
        given = {} if key is None else {"key": key}
        items = iterable if is_growing(iterable) or type(iterable) is list else i.call(node, list, [iterable], {})
        if is_growing(items) and key is None:
            order.comparable(i, node, items)  # without a NaN, whose place hangs on how it is done
        found = i.call(node, sorted, [items], {**given, "reverse": high})
        return i.subscript(node, found, slice(None, i.call_function(prelude.at_least_0, [n], {})))

    return run


FUNCTIONS: tuple[tuple[Any, Callable[..., Any]], ...] = (
    (heapq.heappush, push), (heapq.heappop, pop), (heapq.heapreplace, replace), (heapq.heappushpop, push_pop),
    (heapq.heapify, heapify), (heapq.nlargest, greatest(True)), (heapq.nsmallest, greatest(False)),
)  # fmt: skip
"""The functions of heapq with their handlers."""


def takes(function: Any) -> bool:
    """Whether a function is one of heapq's."""
    return any(function is of for of, _ in FUNCTIONS)


def call(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """A call of a function of heapq; NotImplemented for any other."""
    handler = next((run for of, run in FUNCTIONS if function is of), None)
    if handler is None:
        return NotImplemented
    return call_as(function, handler, (i, node), args, kwargs)
