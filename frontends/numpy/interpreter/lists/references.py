"""Lists that are items of lists, where either are read or changed by what only the run time knows.

Such a list is known by a number: that is what the list around it holds, so that a list may be an item of several, or
twice of one, and rows may be exchanged, as in Python. The items of all lists of one form are in a pool, an object of
other containers that is made when the function begins: the items one after another, and of each list where they begin,
how many there are, and for how many there is room (functions/formulas/referred). A value of the trace is a reference
(`InnerList`), which is read where it is used. A list that is made on its own, and becomes an item, is copied into the
pool, and whatever names it is a reference from then on.

Limitations: what a pool holds is freed when the function ends. A list of the caller's, or one that was made outside of
the loop in which it becomes an item, is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.functions.formulas import prelude, referred
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.interpreter.lists import growing, order
from tracebuf.frontends.numpy.interpreter.lists import rows as dict_rows
from tracebuf.frontends.numpy.interpreter.lists.items import check_item as form_of_item
from tracebuf.frontends.numpy.interpreter.lists.items import common, into_columns, unify_forms
from tracebuf.frontends.numpy.numbers.python_ints import as_int_value, int_expr
from tracebuf.frontends.numpy.paths.iteration import Items, OneShotIterator, reversed_of
from tracebuf.frontends.numpy.record.growing import (
    MOST_IN_ROW,
    Dicts,
    Elements,
    Form,
    Lists,
    Moved,
    OneOf,
    Ragged,
    Regrow,
    Unfilled,
    arrays_of,
    columns,
    filled,
    form_in,
    is_growing,
    is_inner,
    is_row,
    moved_to,
    parts_of,
    size,
)
from tracebuf.frontends.numpy.record.heap import Record
from tracebuf.frontends.numpy.record.raises import Raises
from tracebuf.frontends.numpy.record.values import INT, ArrayRef, Kind, is_traced
from tracebuf.ir.dims import Dim, add, sub
from tracebuf.ir.types import I1
from tracebuf.location import Location

COUNTS = ("start", "size", "room")
"""The lists of a pool that say where each list is."""
LONG = 16
"""A list of more items than that is made in a loop, where it becomes an item."""


class Pool:
    """The class of what holds the items of all lists of one form that are items of lists."""


# -- pools
def begin(i: Evaluator) -> None:
    """Makes the pools that are known to be needed."""
    growth = i.r.growth
    if not (growth.nested or growth.holds_arrays):
        return
    if growth.nested:
        growth.inner_form = partial(form_of_items, i)
    forms = [form for forms in growth.known.values() if (form := common(i.r, forms)) is not None]
    if not growth.nested and any(isinstance(part, Ragged) for form in forms for part in parts_of(form)):
        growth.found_nested = True  # of a dict, whose items are not looked at together before
    if growth.found_widened != growth.widened or growth.found_nested != growth.nested:
        raise Regrow
    for form in forms:
        make_pools_in(i, form)


def make_pools(i: Evaluator, form: Form) -> None:
    """Makes the pools for lists in an item of a form."""
    if isinstance(form, Dicts) and form not in i.pools:
        i.pools[form] = pool = Record(Pool)
        pool.fields["held"] = held = growing.begin(i, form.values, [])
        i.r.heap.known[held].label = ("dicts", len(i.pools))
        for part in form.values.parts:
            make_pools_in(i, part)
    if not isinstance(form, (Lists, Ragged)) or form.item in i.pools:
        return
    pool = i.pools[form.item] = Record(Pool)
    label = ("lists", len(i.pools))
    for name in COUNTS:
        pool.fields[name] = growing.begin(i, INT, [])
    if not isinstance(form.item, Unfilled):
        pool.fields["held"] = growing.begin(i, form.item, [])
    for name, x in pool.fields.items():
        i.r.heap.known[x].label = (*label, name)
    if not isinstance(form.item, Unfilled):
        make_pools_in(i, form.item)


def make_pools_in(i: Evaluator, form: Form) -> None:
    """Makes the pools for what is in an item of a form."""
    for part in parts_of(form):
        make_pools(i, part)


def form_of_items(i: Evaluator, x: Any) -> Form | Unfilled | None:
    """The form of the items of a list; None where there is none."""
    x = moved_to(i.r, x)
    if is_inner(x):
        return pool_form(x)
    if is_growing(x):
        return form_in(x)
    if not x:
        known = i.r.heap.find(x)
        place = i.r.loc if known is None else known.label
        return i.r.growth.settled(Unfilled(place)) if isinstance(place, Location) else None
    forms = [i.r.growth.form_of(moved_to(i.r, item)) for item in x]
    found = common(i.r, frozenset(f for f in forms if f is not None)) if None not in forms else None
    i.r.growth.mixed |= isinstance(found, (Kind, OneOf)) and len(set(forms)) > 1
    return None if i.r.growth.as_rows and isinstance(found, (Kind, OneOf)) and len(x) <= MOST_IN_ROW else found


def pool_form(x: Record) -> Form | Unfilled:
    """The form of the items of the list that a reference is to."""
    return x.kind.pool  # type: ignore[attr-defined, no-any-return]


def counts(i: Evaluator, x: Record) -> list[Any]:
    """The lists that say where a list is."""
    pool = pool_of(i, x)
    return [pool.fields[name] for name in COUNTS]


def pool_of(i: Evaluator, x: Record) -> Record:
    """The pool of the list that a reference is to."""
    found: Record = i.pools[pool_form(x)]
    return found


def number(x: Record) -> Any:
    """The number of the list that a reference is to."""
    return x.fields["number"]


def is_same(i: Evaluator, a: Record, b: Record) -> Any:
    """`a is b` of two references: whether their numbers are one."""
    return a.kind is b.kind and i.compared(ast.Pass(), "Eq", number(a), number(b))


# -- lists that become items
def number_of_list(i: Evaluator, x: Any, item: Form | Unfilled) -> Any:
    """The number of a list that becomes an item, in the pool for items of a form; of an array, that of its elements."""
    node: ast.AST = ast.Pass()
    if isinstance(x, ArrayRef):
        return number_of_array(i, node, x, item)
    x = moved_to(i.r, x)
    if is_inner(x):
        if pool_form(x) != item:
            reason = "a list that is an item of lists of unlike items"
            raise i.refuse(node, reason, "make the items of one type: float(x)")
        return number(x)
    check_own(i, node, x)
    made = Record(i.r.growth.class_of_inner(item))
    made.fields["number"] = dict_rows.put(i, node, x, item) if isinstance(item, Dicts) else fresh(i, node, x, item)
    moved = Record(Moved)
    moved.fields["to"] = made
    i.change(node, x)
    if isinstance(x, list):
        x[:] = [moved]
    else:
        inside = x.fields if is_growing(x) else x
        inside.clear()
        inside["moved"] = moved
    return number(made)


def check_own(i: Evaluator, node: ast.AST, x: Any) -> None:
    """Refuses a list that others may hold, or that becomes an item again and again."""
    known = i.r.heap.find(x)
    if known is None or i.r.heap.number(x) is not None:
        kind = "dict" if type(x) is dict else "list"
        reason = f"a {kind} of the caller's, or one or another {kind}, becomes an item"
        raise i.refuse(node, reason, f"copy it: {kind}(x)")
    for frame in i.r.frames():
        if frame is known.home:
            return
        if frame.kind == "loop":
            kind = "dict" if type(x) is dict else "list"
            reason = f"a {kind} that was made outside of a loop becomes an item in it"
            raise i.refuse(node, reason, f"copy it: items.append({kind}(x))")


def fresh(i: Evaluator, node: ast.AST, x: Any, item: Form | Unfilled) -> Any:
    """The number of a new list, of the items of another."""
    pool = i.pools[item]
    given = [pool.fields[name] for name in COUNTS]
    if isinstance(item, Unfilled):
        return i.call_function(referred.new_list, [*given, 0, 0], {})
    held = pool.fields["held"]
    first = growing.length(held)
    if is_growing(x):
        n = growing.length(x)
        put_all(i, node, held, x)
    else:
        n = len(x)
        if n > LONG and all(one is x[0] for one in x):
            i.call_function(referred.fill, [held, x[0], n], {})
        elif n > LONG and isinstance(label := i.r.heap.known[x].label, Location) and label not in i.r.growth.rolled:
            i.r.growth.long.add(label)
            raise Regrow
        else:
            for one in x:
                growing.append(i, node, held, moved_to(i.r, one))
    return i.call_function(referred.new_list, [*given, first, n], {})


def number_of_array(i: Evaluator, node: ast.AST, x: ArrayRef, item: Any) -> Any:
    """The number of a new list, of the elements of an array, or of its parts along the first axis."""
    pool, n = i.pools[item], as_int_value(x.shape[0])
    held = pool.fields["held"]
    first = growing.length(held)
    (column,) = growing.change(i, node, held)
    column = growing.on_column(i, prelude.spliced, column, first, first, first, x, n)
    growing.set_parts(i, held, [column], i.operate("Add", first, n))
    return i.call_function(referred.new_list, [*(pool.fields[name] for name in COUNTS), first, n], {})


def array_of_number(i: Evaluator, number: Any, item: Any) -> ArrayRef:
    """The elements of a list, or the parts along the first axis: a part of the column."""
    pool = i.pools[item]
    first, n = (growing.at(i, pool.fields[name], columns(pool.fields[name]), number) for name in ("start", "size"))
    (column,) = columns(pool.fields["held"])
    begin, count = int_expr(first), int_expr(n)
    assert begin is not None and count is not None
    i.r.facts.assume_nonneg(count)
    return column.derive(lambda view: view.narrow(0, begin, 1, count))  # type: ignore[no-any-return]


def put_all(i: Evaluator, node: ast.AST, held: Record, x: Record) -> None:
    """Puts the items of a list behind all others."""
    if form_in(held) != form_in(x) or arrays_of(form_in(x)):
        return i.put_all(prelude.list_of, held, x)
    n, m = growing.length(held), growing.length(x)
    more = columns(x)
    found = growing.change(i, node, held)
    found = [growing.on_column(i, prelude.spliced, c, n, n, n, new, m) for c, new in zip(found, more, strict=True)]
    growing.set_parts(i, held, found, i.operate("Add", n, m))


# -- reading
def length(i: Evaluator, x: Record) -> Any:
    """len(x)."""
    if is_row(x):
        return len(dict_rows.form_of(x).keys)
    return growing.item(i, ast.Pass(), pool_of(i, x).fields["size"], number(x))


def start(i: Evaluator, x: Record) -> Any:
    """Where the items begin."""
    return growing.item(i, ast.Pass(), pool_of(i, x).fields["start"], number(x))


def read(i: Evaluator, node: ast.AST, x: Record, index: Any) -> Any:
    """x[index]."""
    if is_row(x):
        return dict_rows.read(i, node, x, index)
    if isinstance(index, slice):
        return growing.sliced(i, node, listing(i, node, x), index)
    k = place(i, node, x, index, "list index out of range")
    held = pool_of(i, x).fields["held"]
    return growing.at(i, held, columns(held), k)


def place(i: Evaluator, node: ast.AST, x: Record, index: Any, message: str) -> Any:
    """Where the item with an index is."""
    index = growing.whole(i, node, pool_of(i, x).fields["size"], index)
    if isinstance(pool_form(x), Unfilled):
        raise Raises(IndexError(message))
    first, n, _ = counts(i, x)
    return i.call_function(referred.place_of, [first, n, number(x), index, message], {})


def listing(i: Evaluator, node: ast.AST, x: Any) -> Any:
    """What is read of the list that a reference is to: a copy; any other value as it is."""
    if not is_inner(x):
        return x
    if is_row(x):
        return dict_rows.listing(i, x)
    if isinstance(pool_form(x), Unfilled):
        return i.own([])
    held = pool_of(i, x).fields["held"]
    first, n = start(i, x), length(i, x)
    made = growing.new(i, form_in(held))
    given = slice(first, i.operate("Add", first, n))
    found = [i.call_function(prelude.copied, [i.subscript(node, column, given)], {}) for column in columns(held)]
    growing.set_parts(i, made, found, n)
    i.r.heap.own(made, i.r)
    i.r.heap.known[made].label = ("copy", i.r.loc)
    return made


def items(i: Evaluator, x: Record) -> Items | list[Any]:
    """What a loop over the list goes through; the lengths of such lists may not change meanwhile."""
    if is_row(x):
        return dict_rows.items(i, x)
    if isinstance(pool_form(x), Unfilled):
        return []
    pool = pool_of(i, x)
    held, lengths = pool.fields["held"], pool.fields["size"]
    first, n = start(i, x), length(i, x)
    begin, count = int_expr(first), int_expr(n)
    assert begin is not None and count is not None
    i.r.facts.assume_nonneg(count)
    before = [size(lengths), *columns(lengths)]

    def get(k: Dim) -> Any:
        if any(a is not b and a != b for a, b in zip(before, [size(lengths), *columns(lengths)])):
            reason = "a list that is an item changes its length, or another one does, in a loop over it"
            raise i.r.refuse(reason, "loop over a copy: for x in list(items)")
        return growing.at(i, held, columns(held), as_int_value(add(begin, k)))

    return Items(count, get)


def iterator(i: Evaluator, node: ast.AST, x: Record, backwards: bool) -> OneShotIterator:
    """iter(x) or reversed(x)."""
    found = i.iterable(node, x)
    if backwards:
        found = reversed_of(i.r, found)
    return OneShotIterator("reversed" if backwards else "iterator", lambda _: found, i.r.frame)


def rows(i: Evaluator, node: ast.AST, x: Record) -> Record:
    """Of a list of lists that are items, which have as many items each, the columns as arrays of two axes."""
    form = form_in(x)
    assert isinstance(form, (Lists, Ragged))
    pool = i.pools[form.item]
    if "held" not in pool.fields:
        raise i.refuse(node, "the array of a list of empty lists", "np.zeros((n, 0))")
    if isinstance(form.item, Elements):
        raise i.refuse(node, "the array of a list of arrays of several axes and any length", "np.concatenate(x)")
    (numbers,) = filled(i.r.facts, x)
    reason = "the array of a list of run-time length that has no items, or empty ones"
    i.r.require_nonneg(sub(size(x), 1), UnsupportedError, reason)
    n = i.call_function(referred.width_of, [numbers, pool.fields["size"]], {})
    some = i.compared(node, "GtE", n, 1)
    if some is not True:
        i.r.check(i.r.constant(False, I1) if some is False else some.value, UnsupportedError, reason)
    made = growing.new(i, pool.fields["held"].kind.items)
    given = [numbers, pool.fields["start"], n]
    held = columns(pool.fields["held"])
    found = [i.call_function(referred.as_table, [*given, column, np.empty], {}) for column in held]
    growing.set_parts(i, made, found, growing.length(x))
    return made


def concatenated(i: Evaluator, x: Record) -> Any:
    """np.concatenate of a list of arrays of any length."""
    form = form_in(x)
    assert isinstance(form, Ragged)
    fields, (numbers,) = i.pools[form.item].fields, filled(i.r.facts, x)
    (column,) = columns(fields["held"])
    return i.call_function(referred.concatenated, [numbers, fields["start"], fields["size"], column, np.empty], {})


def unpacked(i: Evaluator, node: ast.AST, x: Record, n: int) -> list[Any]:
    """The items, for n targets."""
    if is_row(x):
        return list(dict_rows.items(i, x))
    i.call_function(referred.check_count, [pool_of(i, x).fields["size"], number(x), n], {})
    return [read(i, node, x, k) for k in range(n)]


# -- changing
def check_item(i: Evaluator, node: ast.AST, x: Record, item: Any) -> None:
    """Traces again where the list gets items of another form than is known."""
    form, found = pool_form(x), form_of_item(i, node, item)
    if isinstance(form, Unfilled):
        i.r.growth.widen(form, found)
        raise Regrow
    if (wider := unify_forms(i.r, form, found)) == form:
        return
    wider = common(i.r, frozenset((form, found))) if wider is None else wider
    if wider is not None:
        i.r.growth.mixed |= isinstance(wider, (Kind, OneOf))
        i.r.growth.widen(form, wider)
    if i.r.growth.found_widened != i.r.growth.widened:
        raise Regrow
    raise i.refuse(node, f"a list of {form.words} gets {found.words}", "make the items of one type: float(x)")


def store(i: Evaluator, node: ast.AST, x: Record, index: Any, value: Any) -> None:
    """x[index] = value."""
    if is_row(x):
        return dict_rows.store(i, node, x, index, value)
    if isinstance(index, slice):
        changing(growing.store)(i, node, x, index, value)
        return
    k = place(i, node, x, index, "list assignment index out of range")
    check_item(i, node, x, value)
    held = pool_of(i, x).fields["held"]
    new = into_columns(i, value, form_in(held))
    n, found = growing.length(held), growing.change(i, node, held)
    for column, part in zip(found, new):
        growing.on_column(i, prelude.replaced, column, k, part)
    growing.set_parts(i, held, found, n)


def append(i: Evaluator, node: ast.AST, x: Record, item: Any, /) -> None:
    """x.append(item)."""
    check_item(i, node, x, item)
    held = pool_of(i, x).fields["held"]
    if isinstance(form_in(held), Lists):  # its number is all that is put there
        made = Record(i.r.growth.class_of_inner(form_in(held).item))  # type: ignore[union-attr]
        (made.fields["number"],) = into_columns(i, item, form_in(held))
        item = made
    i.call_function(referred.append, [held, *counts(i, x), number(x), item], {})


def extend(i: Evaluator, node: ast.AST, x: Record, more: Any, /) -> None:
    """x.extend(more)."""
    if is_row(x):
        raise i.refuse(node, "a list of items that are not alike, which is an item of a list, grows", "make a new one")
    known = more if type(more) in (list, tuple) else None
    if known is None:
        changing(growing.extend)(i, node, x, listing(i, node, more))
        return
    for item in known:
        append(i, node, x, item)


def repeat(i: Evaluator, node: ast.AST, x: Record, times: Any) -> None:
    """x *= times."""
    if is_row(x):
        raise i.refuse(node, "a list of items that are not alike, which is an item of a list, grows", "make a new one")
    if isinstance(pool_form(x), Unfilled):
        raise i.refuse(node, "an empty list that is an item is changed otherwise", "append to it")
    made = growing.repeated(i, node, listing(i, node, x), times)
    held = pool_of(i, x).fields["held"]
    i.call_function(referred.replace, [held, *counts(i, x), number(x), made], {})


def pop(i: Evaluator, node: ast.AST, x: Record, index: Any = -1, /) -> Any:
    """x.pop(index)."""
    if isinstance(pool_form(x), Unfilled):
        raise Raises(IndexError("pop from empty list"))
    if index != -1:
        return changing(growing.pop)(i, node, x, index)
    first, n, _ = counts(i, x)
    k = i.call_function(referred.last_place, [first, n, number(x), "pop from empty list"], {})
    held = pool_of(i, x).fields["held"]
    return growing.at(i, held, columns(held), k)


def changing(change: Callable[..., Any]) -> Callable[..., Any]:
    """The handler of what changes a list: it changes a copy, the items of which are put back."""

    def run(i: Evaluator, node: ast.AST, x: Record, *args: Any, **kwargs: Any) -> Any:
        if isinstance(pool_form(x), Unfilled):
            if change is growing.clear:
                return None  # no list of these ever gets an item
            for one in args:
                if not is_traced(one) and type(one) is not slice and not isinstance(one, int):
                    raise i.refuse(node, "an empty list that is an item is changed otherwise", "append to it")
            if change is growing.insert:
                check_item(i, node, x, args[1])
        made = listing(i, node, x)
        found = change(i, node, made, *args, **kwargs)
        held = pool_of(i, x).fields["held"]
        i.call_function(referred.replace, [held, *counts(i, x), number(x), made], {})
        return found

    return run


def insert(i: Evaluator, node: ast.AST, x: Record, index: Any, value: Any, /) -> None:
    """x.insert(index, value)."""
    check_item(i, node, x, value)
    changing(growing.insert)(i, node, x, index, value)


def delete(i: Evaluator, node: ast.AST, x: Record, index: Any) -> None:
    """del x[index]."""
    changing(growing.delete)(i, node, x, index)


def reading(name: str) -> Callable[..., Any]:
    """The handler of a method that reads the list."""

    def run(i: Evaluator, node: ast.AST, x: Record, *args: Any) -> Any:
        return growing.METHODS[name](i, node, listing(i, node, x), *args)

    return run


METHODS: dict[str, Callable[..., Any]] = {
    "append": append, "extend": extend, "pop": pop, "insert": insert,
    **{name: changing(handler) for name, handler in order.METHODS.items()},
    **{name: changing(growing.METHODS[name]) for name in ("clear", "remove")},
    **{name: reading(name) for name in ("copy", "count", "index")},
}  # fmt: skip
"""By name of the method of a list: its handler."""
