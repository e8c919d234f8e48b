"""Deques: growing lists of another class, from whose front items may be taken, and that may hold so many items only.

One that begins empty is, until tracing has found what is appended, a list of tuples without parts.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable
from typing import Any

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.functions.formulas import prelude
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.interpreter.lists import growing, order, references
from tracebuf.frontends.numpy.interpreter.lists.items import common
from tracebuf.frontends.numpy.numbers.python_ints import int_expr
from tracebuf.frontends.numpy.paths.iteration import OneShotIterator
from tracebuf.frontends.numpy.record.growing import NOTHING, Regrow, form_in, is_growing, is_inner
from tracebuf.frontends.numpy.record.heap import Record
from tracebuf.frontends.numpy.record.raises import call_as
from tracebuf.ir.dims import sub


def make(i: Evaluator, node: ast.AST, iterable: Any = (), maxlen: Any = None) -> Record:
    """deque(iterable, maxlen)."""
    place, growth = i.at(node), i.r.growth
    most = None if maxlen is None else int_expr(maxlen)
    if maxlen is not None and (most is None or not i.r.entry_only(most) or not i.r.ask_nonneg(sub(most, 1))):
        raise i.refuse(node, "a deque whose maxlen is 0, or computed", "use an int above 0")
    if is_growing(iterable) or is_inner(iterable):
        with i.r.at(place):
            found = references.listing(i, node, iterable)
            made = growing.begin(i, form_in(found), [], growth.class_of(form_in(found), deque, most))
            i.append_all(node, made, found)
            return made
    if isinstance(iterable, OneShotIterator) and place in growth.rolled:  # how many, the run time knows
        form = common(i.r, growth.known[place]) if place in growth.known else NOTHING
        if form is None:
            raise i.refuse(node, "a deque of items of several types", "make them of one: float(x)")
        with i.r.at(place):
            made = growing.begin(i, form, [], growth.class_of(form, deque, most))
            i.append_all(node, made, iterable)
            return made
    try:
        items = i.iterate_static(node, iterable)
    except UnsupportedError:
        growth.note_long(place)
        raise
    if place not in growth.known:
        if items and growth.note(place, items):
            raise Regrow
        if items:
            raise i.refuse(node, "a deque of items that are no numbers, arrays or tuples of such", "use a list")
    form = common(i.r, growth.known[place]) if place in growth.known else NOTHING
    if form is None:
        raise i.refuse(node, "a deque of items of several types", "make them of one: float(x)")
    with i.r.at(place):
        return growing.begin(i, form, items, growth.class_of(form, deque, most))


def call(i: Evaluator, node: ast.AST, args: list[Any], kwargs: dict[str, Any]) -> Record:
    """A call of deque."""
    made: Record = call_as(deque, make, (i, node), args, kwargs)
    return made


def unbounded(i: Evaluator, node: ast.AST, x: Record, what: str) -> None:
    """Refuses what a deque with a maxlen does otherwise."""
    if x.kind.most is not None:  # type: ignore[attr-defined]
        raise i.refuse(node, f"`{what}` of a deque with a maxlen", "use append")


def pop(i: Evaluator, node: ast.AST, x: Record, /) -> Any:
    """x.pop()."""
    return growing.pop(i, node, x, message="pop from an empty deque")


def pop_left(i: Evaluator, node: ast.AST, x: Record, /) -> Any:
    """x.popleft()."""
    return growing.pop(i, node, x, 0, message="pop from an empty deque")


def append_left(i: Evaluator, node: ast.AST, x: Record, item: Any, /) -> None:
    """x.appendleft(item)."""
    unbounded(i, node, x, "appendleft")
    growing.insert(i, node, x, 0, item)


def insert(i: Evaluator, node: ast.AST, x: Record, index: Any, item: Any, /) -> None:
    """x.insert(index, item)."""
    unbounded(i, node, x, "insert")
    growing.insert(i, node, x, index, item)


def rotate(i: Evaluator, node: ast.AST, x: Record, n: Any = 1, /) -> None:
    """x.rotate(n)."""
    n, size = growing.whole(i, node, x, n), growing.length(x)
    held = growing.change(i, node, x)
    growing.set_parts(i, x, [growing.on_column(i, prelude.rotated, c, size, n) for c in held], size)


def copy(i: Evaluator, node: ast.AST, x: Record) -> Record:
    """x.copy()."""
    made = growing.copy(i, node, x)
    made.kind = i.r.growth.class_of(form_in(made), deque, x.kind.most)  # type: ignore[attr-defined]
    return made


METHODS: dict[str, Callable[..., Any]] = {
    "append": growing.append, "appendleft": append_left, "pop": pop, "popleft": pop_left, "extend": growing.extend,
    "clear": growing.clear, "insert": insert, "count": growing.count,
    "rotate": rotate, "reverse": order.reverse, "copy": copy,
}  # fmt: skip
"""By name of the method of a deque: its handler."""
