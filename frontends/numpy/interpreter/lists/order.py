"""The order of growing lists: `sort`, `sorted`, `reverse`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.functions.formulas import prelude
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.interpreter.lists import growing
from tracebuf.frontends.numpy.interpreter.lists.items import common
from tracebuf.frontends.numpy.record.growing import (
    ARRAYS,
    NOTHING,
    Dicts,
    Form,
    Lists,
    OneOf,
    Texts,
    columns,
    filled,
    form_in,
    is_growing,
    parts_of,
)
from tracebuf.frontends.numpy.record.heap import Record
from tracebuf.frontends.numpy.record.raises import NO_ITEMS, ask
from tracebuf.frontends.numpy.record.values import ArrayRef, Kind, PyBool, is_traced


def ordered(i: Evaluator, node: ast.AST, x: Record, *, key: Any = None, reverse: Any = False) -> Record:
    """sorted(x, key=..., reverse=...), a new list."""
    if key is None:
        made = growing.copy(i, node, x)
        sort(i, node, made, reverse=reverse)
        return made
    check_direction(i, node, reverse)
    by = keys(i, node, x, key)  # before there is another list that is made at this place
    made = growing.copy(i, node, x)
    by_keys(i, node, made, by, bool(reverse))
    return made


FEW = 64
"""The most items of a list of known length that are sorted."""


def sorted_by(i: Evaluator, node: ast.AST, items: Any, /, *, key: Any, reverse: Any = False) -> Any:
    """sorted(items, key=...) of a known number of items."""
    found = i.iterate_static(node, items)
    by = found if key is None else [i.call(node, key, [x], {}) for x in found]
    if not any(map(is_traced, i.flat([*by, reverse]))):
        order = ask(sorted, range(len(found)), key=by.__getitem__, reverse=reverse)
        return i.own([found[k] for k in order])
    forms = [plain_form(i, x) for x in (found, by)]
    if None in forms or not isinstance(reverse, (bool, int)):
        i.note_growth(items)
        raise i.refuse(node, "sorted() by keys that are only known at run time", "np.sort or np.argsort of an array")
    made, keys_of = (growing.begin(i, form, x) for form, x in zip(forms, (found, by)))  # type: ignore[arg-type]
    by_keys(i, node, made, keys_of, bool(reverse))
    held = columns(made)
    return i.own([growing.at(i, made, held, k) for k in range(len(found))])


def plain_form(i: Evaluator, items: Sequence[Any]) -> Form | None:
    """The form of some items, few numbers and texts or tuples of such; None of others."""
    forms = frozenset(map(i.r.growth.form_of, items))
    form = common(i.r, forms) if forms and None not in forms and len(items) <= FEW else None  # type: ignore[arg-type]
    plain = all(isinstance(k, Kind) or (isinstance(k, Texts) and k.known) for k in parts_of(form or NOTHING))
    return form if plain else None


def of_known_length(i: Evaluator, node: ast.AST, items: Sequence[Any], reverse: Any = False) -> Any:
    """sorted(items) of numbers, or tuples of such, that only the run time knows: a list of as many."""
    form = plain_form(i, items) if any(map(is_traced, i.flat(items))) else None
    if form is None:
        return NotImplemented
    found = ordered(i, node, growing.begin(i, form, items), reverse=reverse)
    held = columns(found)
    return i.own([growing.at(i, found, held, k) for k in range(len(items))])


def check_direction(i: Evaluator, node: ast.AST, reverse: Any) -> None:
    """Refuses a direction that only the run time knows."""
    if not isinstance(reverse, (bool, int)):
        raise i.refuse(node, "a list is sorted in a direction that is only known at run time", "use an if around two")


def sort(i: Evaluator, node: ast.AST, x: Record, *, key: Any = None, reverse: Any = False) -> None:
    """x.sort(key=..., reverse=...)."""
    form = form_in(x)
    check_direction(i, node, reverse)
    if key is not None or not isinstance(form, Kind) or form.python:
        return by_keys(i, node, x, keys(i, node, x, key), bool(reverse))
    if form.element.is_complex:
        raise i.refuse(node, f"a list of {form.words} of run-time length is sorted", "use np.sort(np.array(x))")
    n = growing.length(x)
    (column,) = growing.change(i, node, x)
    x.fields["column0"] = column
    (held,) = filled(i.r.facts, x)
    x.fields["column0"] = None
    growing.on_column(i, prelude.ordered, held, bool(reverse), form.element.is_float)
    growing.set_parts(i, x, [column], n)


def keys(i: Evaluator, node: ast.AST, x: Record, key: Any) -> Record | None:
    """The list of what the items are ordered by; None if there is none."""
    if key is None:
        return x
    found = i.rolled(node, i.call_function(prelude.map_of, [key, growing.iterator(i, x)], {}))
    if not is_growing(found):
        forms = frozenset(map(i.r.growth.form_of, found))
        form = None if None in forms else common(i.r, forms)  # type: ignore[arg-type]
        if form is None and found:
            raise i.refuse(node, "keys of several types, of a list of run-time length", "make them of one: float(x)")
        return growing.begin(i, form, found) if form is not None else None
    return found


def by_keys(i: Evaluator, node: ast.AST, x: Record, by: Record | None, reverse: bool) -> None:
    """Sorts a list by the numbers in another, or in itself, one after another, in each of which no NaN may be."""
    if by is None:
        return
    columns = comparable(i, node, by)
    order = i.call_function(prelude.order_of, [columns, reverse], {})
    n = growing.length(x)
    found = [growing.on_column(i, prelude.taken, c, order) for c in growing.change(i, node, x)]
    growing.set_parts(i, x, found, n)


def comparable(i: Evaluator, node: ast.AST, by: Record) -> tuple[ArrayRef, ...]:
    """The elements of the items, a column for each of their numbers; refused where a NaN is among them."""
    held, found = filled(i.r.facts, by), list[ArrayRef]()
    for kind in parts_of(form_in(by)):
        if isinstance(kind, ARRAYS):
            raise i.refuse(node, "an order of arrays", "use a key that is a number")
        if isinstance(kind, Texts) and kind.known:
            found.append(held[0])
            held = held[1:]
            continue
        if isinstance(kind, (OneOf, Texts, Lists, Dicts)):
            reason = f"an order, or an equality, of items that are {kind.words}"
            raise i.refuse(node, reason, "make them of one type: float(x)")
        column, held = held[len(kind.types) - 1], held[len(kind.types) :]
        if kind.element.is_complex:
            raise i.refuse(node, f"an order of {kind.words}", "complex numbers have none")
        if kind.element.is_float:
            reason = "an order of tuples or keys among which is a NaN, in a list of run-time length"
            some = i.truth(node, i.call(node, np.any, [i.call(node, np.isnan, [column], {})], {}))
            assert isinstance(some, PyBool)
            i.r.check(i.negate(some).value, UnsupportedError, reason)
        found.append(column)
    return tuple(found)


def extreme(i: Evaluator, node: ast.AST, function: Any, x: Record, **kwargs: Any) -> Any:
    """min(x) or max(x) of tuples, which are compared part by part: the first that no later one is beyond."""
    given = [comparable(i, node, x), growing.length(x), function is max, f"{function.__name__}{NO_ITEMS}"]
    default = [(value,) for value in kwargs.values()]
    return i.call_function(prelude.extreme_tuple, [x, *given, *default], {})


def reverse(i: Evaluator, node: ast.AST, x: Record) -> None:
    """x.reverse()."""
    n = growing.length(x)
    found = [growing.on_column(i, prelude.backwards, c, n) for c in growing.change(i, node, x)]
    growing.set_parts(i, x, found, n)


METHODS: dict[str, Callable[..., Any]] = {"sort": sort, "reverse": reverse}
"""By name of the method of a list: its handler."""
