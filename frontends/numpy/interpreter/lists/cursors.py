"""Iterators of which `next` and loops take some items here and some there: objects that hold how many were taken.

An iterator is one of Python's while it is taken from at one place (paths/iteration). Where it is taken from in a loop
or branch around which it was made, or where data tell which items there are, the function is traced again, with such
an object in its place, which loops and branches carry as any other. What it goes over is known by places: a range, an
array or a list, or a few numbers; a generator expression goes over another such object. Limitation: it is handed to
`next`, loops and functions that take all of its items only.
"""

from __future__ import annotations

import ast
import types
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeGuard

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator, Scope
from tracebuf.frontends.numpy.numbers.python_ints import as_int_value, int_expr
from tracebuf.frontends.numpy.paths.iteration import ENDLESS, Items, OneShotIterator, Watched, held_by, item, length
from tracebuf.frontends.numpy.record.callees import NestedFunction
from tracebuf.frontends.numpy.record.growing import is_growing, size
from tracebuf.frontends.numpy.record.heap import Record
from tracebuf.frontends.numpy.record.values import NUMBERS, ArrayRef, Scalar
from tracebuf.frontends.numpy.source.steps import BEFORE, CELLS, STATE, as_steps, is_early
from tracebuf.ir.dims import Dim, add, floordiv, mul, sub

AT = "at"
"""The attribute that says how many items were taken."""


class Cursor:
    """The class of such objects; its subclasses say what they go over, and of a generator expression, which goes over
    the items of another one, the rest of `OneShotIterator.source`."""

    over: Any = None
    generator: Any = None
    steps: Any = None
    """Of a generator function: the function that runs to the next `yield`, the object that has its names, and what
    makes the generator of the rest."""
    of: Any = None
    """The list of run-time length, which may not get more items or less."""
    watched: Watched | None = None
    """What a `for` goes through where its body changes lists in it."""


def is_cursor(x: object) -> TypeGuard[Record]:
    """Whether a value is such an object."""
    return isinstance(x, Record) and issubclass(x.kind, Cursor)


def begin(i: Evaluator, name: str, over: Any, generator: Any = None, of: Any = None) -> Record:
    """An iterator over items, of which none is taken yet; `name`: that of its class."""
    made = Record(type(name, (Cursor,), {"over": over, "generator": generator, "of": of}))
    if generator is None:
        made.fields[AT] = 0
        made.fields.update((f"held{k}", x) for k, x in enumerate(held_by(over)))
    i.r.heap.own(made, i.r)
    return made


def begin_changing(i: Evaluator, watched: Watched) -> Record:
    """An iterator over lists that get more items or less, or other ones, while it is taken from."""
    check_deques(i, watched.lists)
    made = begin(i, "iterator", Items(ENDLESS, watched.get))
    made.kind.watched = watched  # type: ignore[attr-defined]
    return made


def check_deques(i: Evaluator, changed: Sequence[Record]) -> None:
    """Refuses deques that a loop goes over and changes: RuntimeError in Python, unless the loop is left then."""
    if any(x.kind.python is deque for x in changed):  # type: ignore[attr-defined]
        raise i.r.refuse("a deque changes in a loop over it", "loop over a copy: for x in list(items)")


def begin_steps(i: Evaluator, scope: Scope) -> Record | None:
    """What a call of a generator function gives, in steps; None where it has none."""
    numbers = frozenset(name for name, x in scope.env.items() if isinstance(x, (Scalar, *NUMBERS)))
    found = as_steps(scope.source)
    fixed = frozenset(name for name, x in scope.env.items() if isinstance(x, (ArrayRef, tuple)) or is_growing(x))
    if found is None or not is_early(found.first, numbers, fixed, frozenset(scope.env)):
        return None
    names = found.names
    cells = Record(types.SimpleNamespace)
    cells.fields.update((name, x) for name, x in scope.env.items() if name in names)
    cells.fields[STATE] = cells.fields[BEFORE] = 0
    begun, one = (
        NestedFunction(source, scope.name, scope.lookup, {}, scope.names) for source in (found.begin, found.step)
    )

    def left() -> Any:
        return i.made_generator(replace(scope, source=found.rest, env={CELLS: cells}))

    i.r.heap.own(cells, i.r)
    i.call_nested(begun, [cells], {})
    made = Record(type("generator", (Cursor,), {"steps": (one, cells, left)}))
    i.r.heap.own(made, i.r)
    return made


def again_and_again(i: Evaluator, over: Items) -> Items:
    """itertools.cycle of items."""
    n = over.count
    i.r.require_nonneg(sub(n, 1), StopIteration, "")
    return Items(ENDLESS, lambda k: over.get(sub(k, mul(floordiv(k, n), n))), over.held)


def check_steady(i: Evaluator, x: Record) -> None:
    """Refuses a list whose length changes while its items are taken."""
    of, over = x.kind.of, x.kind.over  # type: ignore[attr-defined]
    if of is None:
        return

    def check() -> None:
        if size(of) != length(i.r, over):
            raise i.r.refuse("a list changes while its items are taken", "loop over a copy: for x in list(items)")

    known = i.r.heap.find(of)
    if known is None or known.promises is None:
        check()
    elif size(of) != length(i.r, over):  # the loop carries it, and may leave it as it is
        known.promises.append(check)


def taken(i: Evaluator, x: Record) -> Dim:
    """How many items were taken."""
    check_steady(i, x)
    found = int_expr(x.fields[AT])
    assert found is not None
    return found


def take(i: Evaluator, node: ast.AST, x: Record) -> Any:
    """The next item, which there is."""
    k = taken(i, x)
    i.change(node, x)
    x.fields[AT] = as_int_value(add(k, 1))
    return item(x.kind.over, k)  # type: ignore[attr-defined]


def has_more(i: Evaluator, node: ast.AST, x: Record) -> Any:
    """Whether there is another item."""
    if (watched := x.kind.watched) is not None:  # type: ignore[attr-defined]
        return watched.more(taken(i, x))
    count = as_int_value(length(i.r, x.kind.over))  # type: ignore[attr-defined]
    return i.compared(node, "Lt", as_int_value(taken(i, x)), count)


def generated(i: Evaluator, x: Record) -> OneShotIterator:
    """A generator expression over what is left of what it goes over."""
    node, scope, home = x.kind.generator  # type: ignore[attr-defined]
    made: OneShotIterator = i.generator_over(node, scope, x.kind.over, home)  # type: ignore[attr-defined]
    return made


def rest(i: Evaluator, node: ast.AST, x: Record) -> Any:
    """All items that are left, for what takes them all."""
    if x.kind.steps is not None:  # type: ignore[attr-defined]
        if any(x is one for one in i.ending):
            raise refused(i, node, "a use, in a loop over it, of")
        return x.kind.steps[2]()  # type: ignore[attr-defined]
    if x.kind.generator is not None:  # type: ignore[attr-defined]
        check_uncaught(i, x)
        return generated(i, x)
    over: Any = x.kind.over  # type: ignore[attr-defined]
    k, n = taken(i, x), length(i.r, over)
    left = as_int_value(sub(n, k))
    i.change(node, x)
    x.fields[AT] = as_int_value(n)
    count = int_expr(left)
    assert count is not None
    i.r.facts.assume_nonneg(count)
    found = Items(count, lambda j: item(over, add(k, j)), held_by(over))
    return OneShotIterator("iterator", lambda _: found, i.r.frame)


def may_be_caught(i: Evaluator) -> bool:
    """Whether what an item raises may be caught, and the iterator asked again."""
    if any(kind is not StopIteration for c in i.r.catching for kind in c.kinds):
        return True
    return any(t.finalbody for t in i.trying)


def check_uncaught(i: Evaluator, x: Record) -> None:
    """Refuses a generator expression where what an item raises may be caught: it has no more items then."""
    if may_be_caught(i):
        raise refused(i, x.kind.generator[0], "an item, in a `try`, of")  # type: ignore[attr-defined]


def refused(i: Evaluator, node: ast.AST, what: str) -> UnsupportedError:
    """The refusal of what is done with such an object."""
    reason = f"{what} an iterator from which loops or branches have taken items"
    return i.refuse(node, reason, "make a list of it before: items = list(...)")
