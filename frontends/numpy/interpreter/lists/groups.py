"""`defaultdict(list)` by run-time keys: lists that grow one item at a time, by key.

It is an object of other containers: the numbers of the lists by key, the items of all lists in the order in which they
were appended, for each the place of the next one in its list, and for each list its first and last place and its
length. What `d[k]` gives is a reference to a list (`GroupRef`), which is read where it is used; `append` and `extend`
are all that changes it. Where that is not enough, the function is traced again with lists like others (`list_groups`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.functions.formulas import hashing
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.interpreter.lists import growing, keyed, references
from tracebuf.frontends.numpy.interpreter.lists.items import check_item, common, unify_forms
from tracebuf.frontends.numpy.numbers.python_ints import as_int_value
from tracebuf.frontends.numpy.paths.iteration import Items, OneShotIterator, Watched
from tracebuf.frontends.numpy.record.conditions import either, negation
from tracebuf.frontends.numpy.record.growing import (
    ARRAYS,
    NOTHING,
    Dicts,
    Lists,
    Regrow,
    Several,
    columns,
    form_in,
    is_inner,
    parts_of,
    size,
)
from tracebuf.frontends.numpy.record.heap import GroupRef, Groups, Record
from tracebuf.frontends.numpy.record.refusals import name_of
from tracebuf.frontends.numpy.record.values import INT, PyBool
from tracebuf.ir.dims import Dim
from tracebuf.location import Location

GROWS = "a list of a defaultdict(list) gets items in a loop over it"
"""Reason of a refusal."""


def begin(i: Evaluator, node: ast.AST, label: Location) -> Record:
    """defaultdict(list); what is appended to its lists is known from earlier tracings."""
    growth, made = i.r.growth, Record(Groups)
    form = common(i.r, growth.known[label]) if label in growth.known else NOTHING
    held = label in i.r.growth.rolled  # its lists become items of others
    if held or not isinstance(form, Several) or any(isinstance(k, (*ARRAYS, Lists, Dicts)) for k in parts_of(form)):
        return keyed.begin_with_default(i, node, replace(label, text="lists"), list)
    i.r.heap.own(made, i.r)
    i.r.heap.known[made].label = label
    growth.groups.add(label)
    if form is NOTHING:
        made.fields["numbers"] = keyed.empty(i, node, NOTHING, dict)
        return made
    key, item = form.parts
    made.fields["numbers"] = keyed.empty(i, node, Several(tuple, (key, INT)), dict)
    made.fields["held"] = growing.begin(i, item, [])
    for name in ("following", "first", "last", "sizes"):
        made.fields[name] = growing.begin(i, INT, [])
    return made


def read(i: Evaluator, node: ast.AST, x: Record, key: Any) -> GroupRef:
    """x[key], a reference to a list, which is made if there is none."""
    if "held" not in x.fields:
        return GroupRef(x, key, None)
    check_key(i, node, x, key)
    return GroupRef(x, key, i.call_function(hashing.number_of_list, [x, key], {}))


def check_key(i: Evaluator, node: ast.AST, x: Record, key: Any) -> None:
    """Notes a key of another type than those that are known; traces again, if that is news."""
    check_item(i, node, key)
    wanted, found = keyed.key_form(x.fields["numbers"]), i.r.growth.form_of(key)
    if found is None or unify_forms(i.r, wanted, found) == wanted:
        return
    label, forms = i.r.heap.known[x].label, Several(tuple, (found, form_in(x.fields["held"])))
    old = i.r.growth.found.get(label, frozenset())
    if forms in old:
        raise i.refuse(node, f"a defaultdict(list) of keys that are {wanted.words} gets {found.words}", keyed.DICTS)
    i.r.growth.found[label] = old | {forms}
    raise Regrow


def append(i: Evaluator, node: ast.AST, x: GroupRef, item: Any, /) -> None:
    """x.append(item)."""
    if x.number is None or form_in(x.of.fields["held"]) != i.r.growth.form_of(item):
        check_item(i, node, item)
        if i.r.growth.note(i.r.heap.known[x.of].label, [(x.key, item)]):
            raise Regrow
    if x.number is None:
        raise i.refuse(node, f"a defaultdict(list) gets a {name_of(item)}", keyed.DICTS)
    i.call_function(hashing.put_into_list, [x.of, x.number, item], {})


def extend(i: Evaluator, node: ast.AST, x: GroupRef, more: Any, /) -> None:
    """x.extend(more), of items whose number is known."""
    for item in i.iterate_static(node, more):
        append(i, node, x, item)


def listing(i: Evaluator, node: ast.AST, x: Any) -> Any:
    """What is read of a list that a reference is to: a copy; any other value as it is."""
    if not isinstance(x, GroupRef):
        return references.listing(i, node, x)
    number = known_number(i, node, x)
    made = growing.begin(i, form_in(x.of.fields["held"]), [])
    i.r.heap.known[made].label = keyed.label_of(i.r.loc)  # not that of a list which is made of it here
    i.call_function(hashing.items_of_list, [x.of, number, made], {})
    return made


def walked(i: Evaluator, node: ast.AST, x: GroupRef) -> Items:
    """What a `for` over a list goes through: a copy, whose list has as many items after each iteration."""
    it, held = growing.items(i, made := listing(i, node, x)), x.of.fields["held"]
    before: list[Any] = []

    def get(k: Dim) -> Any:
        before[:] = [size(held), *columns(held)]
        return it.get(k)

    def check(goes_on: bool | PyBool) -> None:
        if goes_on is False or all(a is b or a == b for a, b in zip(before, [size(held), *columns(held)])):
            return
        same = i.truth(node, i.compared(node, "Eq", length(i, node, x), growing.length(made)))
        if isinstance(same, PyBool):
            value = same.value if goes_on is True else either(i.r, same.value, negation(i.r, goes_on.value))
            i.r.check(value, UnsupportedError, GROWS)

    return Items(it.count, it.get, it.held, Watched(x.of, get, check))


def steady(i: Evaluator, node: ast.AST, x: GroupRef) -> OneShotIterator:
    """An iterator over a list, while none of the dict gets items."""
    it, held = growing.items(i, listing(i, node, x)), x.of.fields["held"]
    before = [size(held), *columns(held)]

    def get(k: Dim) -> Any:
        if any(a is not b and a != b for a, b in zip(before, [size(held), *columns(held)])):
            raise i.r.refuse(GROWS, "loop over a copy: for x in list(d[k])")
        return it.get(k)

    found = Items(it.count, get, it.held)
    return OneShotIterator("iterator", lambda _: found, i.r.frame)


def length(i: Evaluator, node: ast.AST, x: GroupRef) -> Any:
    """len(x)."""
    return i.call_function(hashing.size_of_list, [x.of, known_number(i, node, x)], {})


def known_number(i: Evaluator, node: ast.AST, x: GroupRef) -> Any:
    """The number of a list."""
    if x.number is None:
        raise i.refuse(node, "a list of a defaultdict(list) to which nothing was appended before", "append first")
    return x.number


def reading(name: str) -> Callable[..., Any]:
    """The handler of a method that reads a list."""

    def run(i: Evaluator, node: ast.AST, x: GroupRef, *args: Any) -> Any:
        return growing.METHODS[name](i, node, listing(i, node, x), *args)

    return run


def items(i: Evaluator, node: ast.AST, x: Record, sort: str) -> Items | list[Any]:
    """What a loop over the values or items of such a dict goes through."""
    numbers = x.fields["numbers"]
    if "held" not in x.fields:
        return []
    keys, n = keyed.listing(i, numbers, "keys"), size(numbers)

    def get(k: Dim) -> Any:
        if size(numbers) != n:
            raise i.r.refuse("a dict gets keys in a loop over it", "loop over a copy: for k in list(d)")
        key = growing.at(i, keys, columns(keys), as_int_value(k))
        found = GroupRef(x, key, as_int_value(k))
        return found if sort == "values" else (key, found)

    return Items(n, get)


def in_order(i: Evaluator, node: ast.AST, x: Record) -> Items | list[Any]:
    """What a loop over sorted(x.items()) goes through: by the keys, of which no two are equal."""
    if "held" not in x.fields:
        return []
    found = keyed.in_order(i, node, x.fields["numbers"])
    held = columns(found)

    def get(k: Dim) -> Any:
        key, number = growing.at(i, found, held, as_int_value(k))
        return key, GroupRef(x, key, number)

    return Items(size(found), get)


def store(i: Evaluator, node: ast.AST, x: Record, key: Any, value: Any) -> None:
    """x[key] = value, which may be the list that is there."""
    if not (isinstance(value, GroupRef) and value.of is x and value.key is key):
        raise i.refuse(node, "a list is put into a defaultdict(list) by run-time keys", "d[k].append(x)")


METHODS: dict[str, Callable[..., Any]] = {
    "append": append, "extend": extend, **{name: reading(name) for name in ("copy", "count", "index")},
}  # fmt: skip
"""By name of the method of a list: its handler."""
DICT: dict[str, Callable[..., Any]] = {name: keyed.view(name) for name in ("items", "keys", "values")}
"""By name of the method of such a dict: its handler."""
LIST = (len, list, tuple, sorted, sum, min, max, any, all, enumerate, zip, map, filter, reversed, set, dict)
"""Functions of Python's that read lists."""
IN_TURN = (enumerate, zip, map, filter)
"""Those that take items in turn, later."""


def given(i: Evaluator, node: ast.AST, function: Any, values: list[Any]) -> list[Any]:
    """The arguments of a function that is not the user's, with lists in the place of references to such."""
    if any(isinstance(x, GroupRef) or is_inner(x) for x in values):
        numpys = (getattr(function, "__module__", "") or "").startswith("numpy")
        if not numpys and not any(function is f for f in (*LIST, *IN_TURN, isinstance, type, bool)):
            name = getattr(function, "__name__", "this")
            raise i.refuse(node, f"a call of {name} with a list that is an item of another", "use list(d[k])")
    if any(function is f for f in IN_TURN):  # each item is read when its turn comes
        return [x if is_inner(x) else steady(i, node, x) if isinstance(x, GroupRef) else x for x in values]
    return [listing(i, node, x) for x in values]
