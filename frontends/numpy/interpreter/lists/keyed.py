"""Dicts and sets whose keys only the run time knows: growing columns of keys and values, in the order of insertion, and
a hash table of their numbers (formulas/hashing).

Keys are ints, floats, known texts, texts of ints (text_keys), or tuples of such; values are what growing lists
hold, but for arrays. A dict is one of Python's while tracing until a key is met that only the run time knows, or a loop
or a branch changes which keys there are: then the function is traced again, as for growing lists. `Counter`,
`defaultdict` and `set()` begin as such dicts and sets. A view of one (`items`, `keys`, `values`) becomes a list of its
items where it is used. The table of a set is laid out as CPython's, whose items come in the order of its places
(methods and operators of sets: `sets`); what the order of a set of texts decides is refused.
"""

from __future__ import annotations

import ast
import sys
import types
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.functions.formulas import hashing, prelude
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.interpreter.lists import growing, order
from tracebuf.frontends.numpy.interpreter.lists.items import check_item, common, into_columns, unify_forms
from tracebuf.frontends.numpy.interpreter.lists.text_keys import distinct, is_settled, is_whole, places, searched_text
from tracebuf.frontends.numpy.numbers.operands import scalar_value
from tracebuf.frontends.numpy.numbers.python_ints import as_int_value
from tracebuf.frontends.numpy.paths.identity import container_identity
from tracebuf.frontends.numpy.paths.iteration import Items, OneShotIterator, Watched, reversed_of
from tracebuf.frontends.numpy.record import refusals
from tracebuf.frontends.numpy.record.by_identity import ByIdentity
from tracebuf.frontends.numpy.record.callees import NestedFunction, Text
from tracebuf.frontends.numpy.record.cond import Cond, ends
from tracebuf.frontends.numpy.record.growing import (
    NOTHING,
    TABLE,
    Form,
    Regrow,
    Several,
    Texts,
    columns,
    filled,
    form_in,
    is_growing,
    is_keyed,
    parts_of,
    python_of,
    size,
)
from tracebuf.frontends.numpy.record.heap import DictView, Record, is_groups
from tracebuf.frontends.numpy.record.raises import Raises
from tracebuf.frontends.numpy.record.scalar_checks import is_number
from tracebuf.frontends.numpy.record.values import EITHER, ArrayRef, Env, Kind, NpScalar, PyBool, PyInt, is_traced
from tracebuf.ir.dims import Dim, sub
from tracebuf.ir.types import F64, I64
from tracebuf.location import Location

MISSING = object()
"""Stands for an argument that is not given."""
DICTS = "make the keys ints, texts or tuples of such, the values numbers, arrays or tuples of such, of one type each"
MOST_GIVEN = 256
"""The most items of a dict of the caller's that is one by run-time keys: each is put in by code of its own."""
ORDERLESS = (set, frozenset, sorted, len, sum, min, max, any, all)
"""Functions of a set whose results do not depend on the order of its items, which are ints."""
LATEST = (3, 14)
LAID_OUT_SO = sys.implementation.name == "cpython" and sys.version_info[:2] <= LATEST
"""Whether this Python's sets are known to be laid out as `hashing` does."""
UNCHECKED = "unchecked"
"""The sort of a view of a set's items in order, for what may be as unsure of the order as the set is."""
SIMPLE = (int, float, bool)
"""What makes the missing items of a defaultdict, and may do so where there is one."""
ITERATING = (enumerate, zip, map, filter, iter)
"""Those that take items in turn, later."""


# -- what is known while tracing
def is_known_key(i: Evaluator, key: Any) -> bool:
    """Whether a key is known while tracing, or an int that may become part of the call's key."""
    if isinstance(key, tuple):
        return all(is_known_key(i, k) for k in key)
    if isinstance(key, PyInt):
        return i.r.entry_only(key.expr)
    if isinstance(key, Text):
        return all(is_settled(i.r, part) for part in key.open)
    return not is_traced(key) and type(key) is not Cond


def note(i: Evaluator, d: dict[Any, Any], *pair: Any) -> None:
    """Notes that a dict of known keys meets a key, with its value, that only the run time knows."""
    known = i.r.heap.find(d)
    if known is None or type(d) is not dict:
        return
    items = [*d.items(), *([pair] if pair else [])]
    if isinstance(known.label, Location) or (i.r.heap.number(d) is not None and may_be_given(i, items)):
        i.r.growth.note(known.label, items)


def may_be_given(i: Evaluator, items: list[Any]) -> bool:
    """Whether a dict of the caller's with these items may be one by run-time keys."""
    forms = [i.r.growth.form_of(item) for item in items]
    form = common(i.r, frozenset(f for f in forms if f is not None)) if None not in forms else None
    if not isinstance(form, Several) or len(items) > MOST_GIVEN:
        return False
    return are_keys(form.parts[0]) and not any(map(growing_lists, form.parts))


def key_form(x: Record) -> Form:
    """The form of the keys of a dict or set."""
    form = form_in(x)
    assert isinstance(form, Several)
    return form.parts[0] if form.parts else NOTHING


def is_ordered(x: Record) -> bool:
    """Whether the order of items is kept: that of a dict's."""
    return issubclass(python_of(x), dict)


def is_of_tuples(x: Record) -> bool:
    """Whether the keys are tuples."""
    return isinstance(key_form(x), Several)


def check_forms(i: Evaluator, node: ast.AST, form: Several) -> None:
    """Refuses keys and values that such a dict does not hold."""
    if not form.parts:
        return
    key = form.parts[0]
    if not are_keys(key):
        raise i.refuse(node, f"a dict or set whose keys are {key.words}, known at run time only", DICTS)
    if any(growing_lists(p) for p in form.parts[1:]):
        i.r.growth.found_nested = True
        raise i.refuse(node, f"a dict by run-time keys whose values are {form.parts[1].words}", DICTS)


def are_keys(form: Form) -> bool:
    """Whether what has a form may be a key: a number, a text, or a tuple of such."""
    tuples = isinstance(form, Several) and (form.of is not tuple or any(isinstance(p, Several) for p in form.parts))
    return not tuples and all(map(is_key, parts_of(form)))


def is_key(form: Form) -> bool:
    """Whether numbers or texts of a form are keys, or parts of such."""
    if isinstance(form, Texts):
        return bool(form.known) or distinct(form)
    return isinstance(form, Kind) and (is_whole(form) or form.element is F64) and form.python != EITHER


def growing_lists(form: Form) -> bool:
    """Whether values are lists, or hold some."""
    return isinstance(form, Several) and (form.of is list or any(map(growing_lists, form.parts)))


# -- making
def replaced(i: Evaluator, made: Any) -> Any:
    """A dict that was made just now; where it is known to have run-time keys, what stands for it."""
    if type(made) is not dict or i.r.loc not in i.r.growth.known:
        return made
    form = common(i.r, i.r.growth.known[i.r.loc])
    if form is not None and not isinstance(form, Several):  # of a list that is made at the same place
        return made
    return begin(i, ast.Pass(), dict, i.r.loc, made.items())


def begin(
    i: Evaluator, node: ast.AST, python: type, label: Location, items: Any = (), default: Any = None
) -> Record:
    """A dict or set of these items, made here; what is put into it elsewhere is known from earlier tracings."""
    growth, given = i.r.growth, list(items)
    form = common(i.r, growth.known[label]) if label in growth.known else NOTHING
    if form is None:
        words = " and ".join(sorted(f.words for f in growth.known[label]))
        raise i.refuse(node, f"a dict or set by run-time keys of items that are {words}", DICTS)
    assert isinstance(form, Several)
    made = empty(i, node, form, python, default)
    i.r.heap.known[made].label = label
    for item in given:
        put(i, node, made, item)
    return made


def given(i: Evaluator, tops: Sequence[Any]) -> list[Any]:
    """The arguments of a call, with dicts by run-time keys for those dicts in which such keys are looked for."""
    made: ByIdentity[Any, Any] = ByIdentity()
    for x in tops:
        forms = i.r.growth.arguments.get(number) if (number := i.r.heap.number(x)) is not None else None
        if forms is None or type(x) is not dict or x in made:
            continue
        form = common(i.r, forms)
        if isinstance(form, Several):
            made[x] = empty(i, ast.Pass(), form, dict)
            for item in x.items():
                put(i, ast.Pass(), made[x], item)
            i.r.heap.stand_for(made[x], x)
            i.r.heap.known[made[x]].changed = None
    return [made.get(x, x) for x in tops]


def begin_with_default(i: Evaluator, node: ast.AST, label: Location, default: Any) -> Record:
    """defaultdict(default)."""
    made = isinstance(default, (NestedFunction, types.FunctionType)) or any(default is f for f in (*SIMPLE, list))
    if not made:
        reason = "a defaultdict of anything but int, float, bool, list and functions that are traced"
        raise i.refuse(node, reason, "d.get(key, default)")
    if default is list and not i.r.growth.nested:
        i.r.growth.found_nested = True
        raise Regrow
    return begin(i, node, defaultdict, label, (), default)


def empty(i: Evaluator, node: ast.AST, form: Several, python: type, default: Any = None) -> Record:
    """A dict or set of no items, of a form."""
    check_forms(i, node, form)
    made = growing.begin(i, form, [], i.r.growth.class_of(form, python, None, default))
    if form.parts:
        new = hashing.new_set if python is set else hashing.new_table
        made.fields[TABLE] = i.call_function(new, [], {})
    return made


def copy(i: Evaluator, node: ast.AST, x: Record) -> Record:
    """x.copy()."""
    if python_of(x) is set and form_in(x) is NOTHING:
        return begin(i, node, set, label_of(i.r.loc))  # what is put into it is known from earlier tracings
    made = growing.copy(i, node, x)
    if form_in(made) != form_in(x):
        raise i.refuse(node, "a copy of a dict or set by run-time keys that gets items of other types", DICTS)
    made.kind = x.kind
    if TABLE in x.fields and is_ordered(x):
        made.fields[TABLE] = i.call(node, np.copy, [x.fields[TABLE]], {})
    elif TABLE in x.fields:
        given = [table_of(i, x), key_columns(x, columns(x)), growing.length(x), is_of_tuples(x)]
        made.fields[TABLE] = i.call_function(hashing.copied_set, given, {})
    return made


# -- keys
def hashed(i: Evaluator, node: ast.AST, x: Record, key: Any) -> list[Any]:
    """A key as the ints that are looked for."""
    check_item(i, node, key)
    wanted = key_form(x)
    if type(key) is int and isinstance(wanted, Kind) and wanted.element is F64 and abs(key) <= 2**53:
        key = float(key)
    form = i.r.growth.form_of(key)
    found = parts_of(form) if form is not None else ()
    alike = isinstance(form, Several) == isinstance(wanted, Several) and len(found) == len(parts_of(wanted))
    alike = alike and all(
        isinstance(a, Texts) == isinstance(b, Texts) and is_whole(a) == is_whole(b)
        for a, b in zip(found, parts_of(wanted))
    )
    plain = not isinstance(form, Several) or form.of is tuple
    parts = key if isinstance(key, tuple) else (key,)
    if not alike or not plain or not all(is_whole(k) or is_key(k) for k in found):
        reason = f"a {refusals.name_of(key)} as a key of a dict or set of keys that are {wanted.words}"
        raise i.refuse(node, reason, "use keys of one type")
    if any(type(part) is int and abs(part) >= 2**63 for part in parts):
        raise i.refuse(node, "a key of more than 64 bits of a dict or set by run-time keys", "use smaller ints")
    forms = parts_of(wanted)
    return [number for part, form in zip(parts, forms, strict=True) for number in searched(i, node, part, form)]


def are_apart(a: Form | None, b: Form) -> bool:
    """Whether no key of one form equals one of another: a tuple no number, a text no number."""
    if isinstance(a, Several) and isinstance(b, Several) and a.of is b.of is tuple:
        return len(a.parts) != len(b.parts) or any(map(are_apart, a.parts, b.parts))
    sorts = [tuple if isinstance(f, Several) and f.of is tuple else type(f) for f in (a, b)]
    return sorts[0] is not sorts[1] and all(sort in (tuple, Texts, Kind) for sort in sorts)


def searched(i: Evaluator, node: ast.AST, x: Any, form: Form) -> list[NpScalar]:
    """A part of a key as the numbers that are looked for, Python's or NumPy's alike; a NaN is found by its identity."""
    r = i.r
    if isinstance(form, Texts):
        if (found := searched_text(r, x, form)) is None:
            raise i.refuse(node, "a text as a key beside texts that it may be equal to", "use keys of one form")
        return [NpScalar(value, I64) for value in found]
    if not isinstance(form, Kind) or form.element is not F64:
        return [NpScalar(scalar_value(r, x, I64), I64)]
    value = scalar_value(r, x, F64)
    r.check(is_number(r, value), UnsupportedError, "a NaN as a key of a dict or set by run-time keys")
    return [NpScalar(value, F64)]


def key_columns(x: Record, held: Sequence[Any]) -> list[Any]:
    """Of columns, those of the ints that are looked for."""
    found, first = [], 0
    for kind in parts_of(key_form(x)):
        found += [held[first + place] for place in places(kind)]
        first += len(kind.types)
    return found


def number_of(i: Evaluator, node: ast.AST, x: Record, key: Any) -> Any:
    """The number of the item with a key; -1 if there is none."""
    if form_in(x) is NOTHING or are_apart(i.r.growth.form_of(key), key_form(x)):
        return -1
    given = [table_of(i, x), key_columns(x, columns(x)), hashed(i, node, x, key)]
    if not is_ordered(x):
        return i.call_function(hashing.number_in_set, [*given, is_of_tuples(x)], {})
    return i.call_function(hashing.number_of, given, {})


def number_to_read(i: Evaluator, node: ast.AST, x: Record, key: Any) -> Any:
    """The number of the item with a key; KeyError if there is none."""
    if form_in(x) is NOTHING:
        raise i.refuse(node, "an item of a dict into which nothing is put", "test for the key before: key in d")
    given = [x.fields[TABLE], key_columns(x, columns(x)), hashed(i, node, x, key), key]
    return i.call_function(hashing.number_to_read, given, {})


def table_of(i: Evaluator, x: Record) -> Any:
    """The table, of which is known that it is in memory, and has places."""
    table = x.fields[TABLE]
    i.r.facts.assume_nonneg(sub(4 * growing.LONGEST, table.shape[0]))
    if not is_ordered(x):
        i.r.facts.assume_nonneg(sub(table.shape[0], hashing.LEAST + hashing.TAIL))
    return table


# -- changing
def put(i: Evaluator, node: ast.AST, x: Record, item: tuple[Any, ...], replaces: bool = True) -> None:
    """Adds a key and its value, or a key alone; `replaces`: the value of a key that is there."""
    if form_in(x) is NOTHING:
        note_item(i, node, x, item)
    new = parts(i, node, x, item)
    key, n, count = hashed(i, node, x, item[0]), growing.length_in_memory(i, x), len(key_form(x).types)
    held = growing.change(i, node, x)
    table, x.fields[TABLE] = table_of(i, x), None
    held = [growing.with_room(i, c, n) for c in held]
    keys = key_columns(x, held)
    if not is_ordered(x):
        n = growing.on_column(i, hashing.added_to_set, held, keys, table, n, key, new, is_of_tuples(x))
        table = growing.on_column(i, hashing.grown_set, table, keys, n, is_of_tuples(x))
        growing.set_parts(i, x, held, n)
        x.fields[TABLE] = table
        return
    table = growing.on_column(i, hashing.table_with_room, table, keys, n)
    given = [held[:count], keys, held[count:], table, n, key, new[:count], new[count:], replaces]
    n = growing.on_column(i, hashing.added, *given)
    growing.set_parts(i, x, held, n)
    x.fields[TABLE] = table


def parts(i: Evaluator, node: ast.AST, x: Record, item: tuple[Any, ...]) -> list[Any]:
    """An item as what the columns hold of it."""
    form, found = form_in(x), check_item(i, node, item)
    if unify_forms(i.r, form, found) != form:
        note_item(i, node, x, item)
        raise i.refuse(node, f"a dict or set of items that are {form.words} gets {found.words}", DICTS)
    return into_columns(i, item, form, in_dict=True)


def note_item(i: Evaluator, node: ast.AST, x: Record, item: tuple[Any, ...]) -> None:
    """Notes what a dict gets; traces again, if that is news."""
    i.change(node, x)  # which is for one only that is here, under one name
    check_item(i, node, item)
    heap = i.r.heap
    news = i.r.growth.note(heap.known[x].label, [item])
    for one in ends(container_identity(i.r, x)):  # where paths met it is one of several
        if (known := heap.find(one)) is not None:
            news |= i.r.growth.note(known.label, [item])
    if news:
        raise Regrow


def remove(i: Evaluator, node: ast.AST, x: Record, key: Any, k: Any) -> None:
    """Takes item k, which has a key, out."""
    check_not_walked(i, node, x)
    n, held = growing.length(x), growing.change(i, node, x)
    given = [held, key_columns(x, held), x.fields[TABLE], n, hashed(i, node, x, key), k]
    growing.on_column(i, hashing.removed, *given)
    growing.set_parts(i, x, held, i.operate("Sub", n, 1))


def store(i: Evaluator, node: ast.AST, x: Record, key: Any, value: Any) -> None:
    """x[key] = value."""
    if not is_ordered(x):
        raise Raises(TypeError("'set' object does not support item assignment"))
    put(i, node, x, (key, value))


def delete(i: Evaluator, node: ast.AST, x: Record, key: Any) -> None:
    """del x[key]."""
    if python_of(x) is Counter:
        raise i.refuse(node, "`del` of a Counter's item", "set it to 0")
    if not is_ordered(x):
        raise Raises(TypeError("'set' object doesn't support item deletion"))
    remove(i, node, x, key, number_to_read(i, node, x, key))


# -- reading
def read(i: Evaluator, node: ast.AST, x: Record, key: Any) -> Any:
    """x[key]."""
    default = x.kind.default  # type: ignore[attr-defined]
    if not is_ordered(x):
        raise Raises(TypeError("'set' object is not subscriptable"))
    if python_of(x) is Counter:
        return get(i, node, x, key, 0)
    if any(default is f for f in SIMPLE):
        put(i, node, x, (key, default()), replaces=False)
    elif default is not None:
        i.call_function(hashing.made_if_missing, [x, key, default], {})
    return value_at(i, x, number_to_read(i, node, x, key))


def value_at(i: Evaluator, x: Record, k: Any) -> Any:
    """The value of item k."""
    values = listing(i, x, "values")
    return growing.at(i, values, columns(values), k)


def get(i: Evaluator, node: ast.AST, x: Record, key: Any, default: Any = None, /) -> Any:
    """x.get(key, default)."""
    k = number_of(i, node, x, key)
    if k == -1:
        return default
    return i.call_function(hashing.value_or, [listing(i, x, "values"), k, default], {})


def contains(i: Evaluator, node: ast.AST, x: Record, key: Any) -> Any:
    """key in x."""
    return i.compared(node, "GtE", number_of(i, node, x, key), 0)


def listing(i: Evaluator, x: Record, sort: str) -> Any:
    """The list of the keys, values or items as they are now, which is only read: it has the columns of the dict."""
    form = form_in(x)
    assert isinstance(form, Several)
    if form is NOTHING:
        return []
    count, keys = len(key_form(x).types), sort in ("keys", UNCHECKED)
    held = columns(x)[:count] if keys else columns(x)[count:] if sort == "values" else columns(x)
    made = growing.new(i, form if sort == "items" else form.parts[0] if keys else form.parts[1])
    growing.set_parts(i, made, held, growing.length(x))
    return made


def view_in(x: Any) -> tuple[Record, str] | None:
    """The dict or set that a value is, or is a view of, and of what; None for other values."""
    if isinstance(x, DictView) and is_keyed(x.of):
        return x.of, x.sort
    if is_groups(x) or (isinstance(x, DictView) and is_groups(x.of) and x.sort == "keys"):
        return (x.of if isinstance(x, DictView) else x).fields["numbers"], "keys"
    return (x, "keys") if is_keyed(x) else None


def items(i: Evaluator, node: ast.AST, x: Record, sort: str) -> Items | list[Any]:
    """What a loop over a dict or a view goes through. A `for` may change its values; where it has more items or less
    after an iteration, that raises RuntimeError."""
    if form_in(x) is NOTHING:
        return []
    order = None if is_ordered(x) else order_in(i, node, x, sort != UNCHECKED)
    held, n, before = listing(i, x, sort), size(x), growing.length(x)
    inside, found = columns(x), filled(i.r.facts, held)

    def place(k: Dim) -> Any:
        number = as_int_value(k)
        return number if order is None else i.call_function(hashing.number_at, [order, number, before], {})

    def get(k: Dim) -> Any:
        if size(x) != n or any(a is not b for a, b in zip(inside, columns(x))):
            of, copied = (python_of(x).__name__, "d" if is_ordered(x) else "s")
            raise i.r.refuse(f"a {of} changes in a loop over it", f"loop over a copy: for k in list({copied})")
        return growing.at(i, held, found, place(k))

    def get_now(k: Dim) -> Any:
        now = listing(i, x, sort)
        return growing.at(i, now, columns(now), place(k))

    def check(goes_on: bool | PyBool) -> None:
        if size(x) != n:
            given = [growing.length(x), before, goes_on, "dictionary" if is_ordered(x) else "Set"]
            i.call_function(hashing.check_size, given, {})

    if sort == UNCHECKED:  # for operators of sets, which do not change it
        return Items(n, get_now, (order,))
    return Items(n, get, () if order is None else (order,), Watched(x, get_now, check))


def order_in(i: Evaluator, node: ast.AST, x: Record, checked: bool = True) -> Any:
    """The numbers of the items of a set in the order in which a loop meets them."""
    if checked:
        check_order(i, node, x)
    return i.call_function(hashing.order_of_set, [table_of(i, x), growing.length_in_memory(i, x), checked], {})


def in_turn(i: Evaluator, node: ast.AST, x: Record, sort: str) -> Any:
    """The list of the items in the order in which a loop meets them."""
    made = listing(i, x, sort)
    if is_ordered(x) or form_in(x) is NOTHING:
        return made
    numbers = order_in(i, node, x, sort != UNCHECKED)
    held = [i.call_function(hashing.in_that_order, [c, numbers], {}) for c in columns(made)]
    growing.set_parts(i, made, held, growing.length(x))
    return made


def iterable(i: Evaluator, node: ast.AST, x: Any) -> Any:
    """An iterator, where a value is a dict or set by run-time keys, or a view of one; else the value."""
    if (found := view_in(x)) is None:
        return x
    of, n, inside = found[0], size(found[0]), columns(found[0])

    def make(_: bool) -> Items | list[Any]:
        if size(of) != n or any(a is not b for a, b in zip(inside, columns(of))):
            reason = f"a {python_of(of).__name__} changes after an iterator of it was made"
            raise i.r.refuse(reason, "make a list of it before: items = list(...)")
        return items(i, node, *found)

    return OneShotIterator("dict_keyiterator", make, i.r.frame)


def check_order(i: Evaluator, node: ast.AST, x: Record) -> None:
    """Refuses what the order of a set decides that is not certain: texts have other hashes in each process."""
    if is_ordered(x) or form_in(x) is NOTHING:
        return
    if not LAID_OUT_SO or any(isinstance(part, Texts) for part in parts_of(key_form(x))):
        raise i.refuse(node, "iterating over a set, whose items have no certain order", "use sorted(...) of it")


def check_not_walked(i: Evaluator, node: ast.AST, x: Record) -> None:
    """Refuses to take an item out of a dict in a loop over it: CPython may go on with other items."""
    known = i.r.heap.find(x)
    for of in i.walking:
        other = None if of is None else i.r.heap.find(of)
        if of is x or (known is not None and other is not None and known.label == other.label):
            name = "dict" if is_ordered(x) else "set"
            reason = f"an item is taken out of a {name} in a loop over it"
            raise i.refuse(node, reason, f"loop over a copy: list({name[0]})")


# -- calls
def label_of(place: Location) -> Location:
    """What tells a dict or set that is made by a call: at the place itself there may be lists, of what is called."""
    return replace(place, text="items")


def make(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """A call that makes a dict or set of what only the run time knows; NotImplemented for any other."""
    if isinstance(function, types.BuiltinMethodType) and function == dict.fromkeys and not kwargs:
        return i.call_function(prelude.dict_of_keys, args, {})
    if not any(function is f for f in (set, dict, Counter, defaultdict, OrderedDict)):
        return NotImplemented
    place = i.at(node)
    label = label_of(place)
    if function is defaultdict and args and not kwargs and len(args) == 1:
        return NotImplemented if args[0] is list else begin_with_default(i, node, label, args[0])
    if kwargs or len(args) > 1 or (function is dict and not args) or function is defaultdict:
        return NotImplemented
    if not args:
        return begin(i, node, function, label)
    if function is OrderedDict and not is_keyed(args[0]):
        made = begin(i, node, function, label)
        update(i, node, made, args[0])
        return made
    if is_groups(args[0]) and function is dict:
        return i.call_function(prelude.dict_of_dict, args, {})
    if view_in(args[0]) is not None and not is_keyed(args[0]):
        args = [listing(i, *view_in(args[0]))]  # type: ignore[misc]
    known = not (is_growing(args[0]) or (isinstance(args[0], ArrayRef) and args[0].ndim == 1))
    if is_keyed(args[0]) or (known and function is not Counter and place not in i.r.growth.rolled):
        return NotImplemented
    made = begin(i, node, function, label)
    by = prelude.set_of if function is set else prelude.dict_of if function is dict else prelude.counts_of
    i.put_all(by, made, args[0])
    return made


def comprehended(
    i: Evaluator, node: ast.AST, python: type, over: ast.ListComp, env: Env, make: Callable[..., Any]
) -> Any:
    """A comprehension of a dict, whose pairs are those of `over`, or of a set; `make` makes it of what is known."""
    place = i.at(node)
    if place in i.r.growth.rolled:
        made = begin(i, node, python, label_of(place))
        i.put_all(prelude.set_of if python is set else prelude.dict_of, made, i.generator(over, env))
        return made
    try:
        found = i.comprehended(over, env)
    except UnsupportedError:
        i.r.growth.note_long(place)
        raise
    i.at(node)
    if isinstance(found, Record):  # a list that grows, of what a generator function gives
        reason = f"a comprehension of a {python.__name__} over a generator whose items only the run time knows"
        raise i.refuse(node, reason, "loop over a list of them: list(...)")
    return make(i, node, found)


def note_keys(i: Evaluator, place: Location, keys: Sequence[Any]) -> None:
    """Notes that the dict or set that is made at a place has keys that only the run time knows."""
    if not all(is_known_key(i, k) for k in keys):
        i.r.growth.long.add(place)


def call(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any], numpys: bool) -> Any:
    """A call of a function that is not the user's, with such dicts, sets or views of them among its arguments."""
    if any(map(is_groups, args)) and not any(function is f for f in (*ORDERLESS, *ITERATING, list, tuple, bool)):
        name = getattr(function, "__name__", "this")
        raise i.refuse(node, f"a call of {name} with a defaultdict(list) by run-time keys", "use its keys: list(d)")
    first = view_in(args[0]) if args else None
    alone = len(args) == 1 and not kwargs and first is not None
    if alone and is_keyed(args[0]):
        x = args[0]
        if function is type:
            return python_of(x)
        if (function in (dict, Counter) and python_of(x) is not set) or function is python_of(x):
            found = copy(i, node, x)
            found.kind = i.r.growth.class_of(form_in(x), function, None, None)
            return found
    if function is list and alone and first is not None and form_in(first[0]) is NOTHING:
        return i.own([])
    if function is isinstance and is_keyed(args[0]) and len(args) == 2:
        return isinstance(python_of(args[0])(), args[1])
    if function is bool and alone:
        return i.compared(node, "NotEq", growing.length(first[0]), 0)  # type: ignore[index]
    if function is len and alone:
        return growing.length(first[0])  # type: ignore[index]
    if function is reversed and alone and is_ordered(first[0]):  # type: ignore[index]
        backwards = reversed_of(i.r, items(i, node, *first))  # type: ignore[misc]
        return OneShotIterator("reversed", lambda _: backwards, i.r.frame)
    if numpys and function is not np.fromiter:
        raise i.refuse(node, "a function of NumPy's of a dict, a set or a view", "use np.array(list(...)) of it")
    if any(function is f for f in ITERATING):
        return i.call(node, function, [iterable(i, node, x) for x in args], kwargs)
    odd = (x for x in args if is_keyed(x) and not is_ordered(x) and not all(map(is_whole, parts_of(key_form(x)))))
    orderless = any(function is f for f in ORDERLESS) and not kwargs.keys() - {"reverse", "default"}
    orderless = orderless and not (function is sum and any(odd))
    as_list = listed_in_any_order if orderless else in_turn
    if getattr(function, "__module__", "") not in ("builtins", "_heapq", "heapq", "numpy", "math", "functools"):
        raise i.refuse(node, f"a call of {getattr(function, '__name__', 'this')} with a dict by run-time keys", DICTS)
    by = kwargs.get("key")
    of_same = getattr(by, "name", "") == "get" and first is not None and getattr(by, "of", None) is first[0]
    if of_same and first is not None and first[1] == "keys":  # each of them is there
        kwargs = {**kwargs, "key": type(by)(first[0], "__getitem__")}  # type: ignore[misc]
    of_items = function is sorted and isinstance(args[0], DictView) and args[0].sort == "items"
    if of_items and not kwargs.keys() - {"reverse"}:
        return in_order(i, node, args[0].of, **kwargs)
    before = [(of, size(of), columns(of)) for x in args if (view := view_in(x)) is not None for of in view[:1]]
    given = [x if (view := view_in(x)) is None else as_list(i, node, *view) for x in args]
    result = i.call(node, function, given, kwargs)
    if any(size(x) != n or any(a is not b for a, b in zip(held, columns(x))) for x, n, held in before):
        raise i.refuse(node, "a dict changes while a function goes through it", "use a copy: list(d)")
    return result


def given_out(i: Evaluator, node: ast.AST, x: Any) -> Any:
    """The list of the items that come in turn, where a value is a dict or set by run-time keys, or a view of one; else
    the value."""
    return x if (view := view_in(x)) is None else in_turn(i, node, *view)


def listed_in_any_order(i: Evaluator, node: ast.AST, x: Record, sort: str) -> Any:
    """As `listing`."""
    return listing(i, x, sort)


def in_order(i: Evaluator, node: ast.AST, x: Record, reverse: Any = False) -> Any:
    """sorted(x.items()): by the keys, of which no two are equal."""
    if form_in(x) is NOTHING:
        return i.own([])
    order.check_direction(i, node, reverse)
    made = growing.copy(i, node, listing(i, x, "items"))
    order.by_keys(i, node, made, listing(i, x, "keys"), bool(reverse))
    return made


# -- methods
def pop(i: Evaluator, node: ast.AST, x: Record, key: Any, default: Any = MISSING, /) -> Any:
    """x.pop(key, default) of a dict."""
    if default is not MISSING:
        return i.call_function(hashing.popped, [x, key, default], {})
    k = number_to_read(i, node, x, key)
    found = value_at(i, x, k)
    remove(i, node, x, key, k)
    return found


def set_default(i: Evaluator, node: ast.AST, x: Record, key: Any, default: Any = None, /) -> Any:
    """x.setdefault(key, default)."""
    put(i, node, x, (key, default), replaces=False)
    return value_at(i, x, number_to_read(i, node, x, key))


def pop_item(i: Evaluator, node: ast.AST, x: Record, /) -> Any:
    """x.popitem()."""
    k = i.call_function(hashing.last_number, [growing.length(x), "popitem(): dictionary is empty"], {})
    return None if form_in(x) is NOTHING else taken_out(i, node, x, k)


def pop_end(i: Evaluator, node: ast.AST, x: Record, /, last: Any = True) -> Any:
    """x.popitem(last) of an OrderedDict."""
    if not isinstance(last, (bool, int)):
        raise i.refuse(node, "`popitem` of an end that is only known at run time", "use an if around two")
    k = i.call_function(hashing.last_number, [growing.length(x), "dictionary is empty"], {})
    return None if form_in(x) is NOTHING else taken_out(i, node, x, k if last else 0)


def move_to_end(i: Evaluator, node: ast.AST, x: Record, /, key: Any, last: Any = True) -> None:
    """x.move_to_end(key) of an OrderedDict."""
    if last is not True:
        raise i.refuse(node, "`move_to_end` to the front, of a dict by run-time keys", "make another dict")
    put(i, node, x, taken_out(i, node, x, number_to_read(i, node, x, key)))


def taken_out(i: Evaluator, node: ast.AST, x: Record, k: Any) -> Any:
    """Item k, which is taken out."""
    found = growing.at(i, x, columns(x), k)
    remove(i, node, x, found[0], k)
    return found


def update(i: Evaluator, node: ast.AST, x: Record, *others: Any) -> None:
    """x.update(other) of a dict."""
    if len(others) > 1:
        raise Raises(TypeError(f"update expected at most 1 argument, got {len(others)}"))
    for other in others:
        pairs = isinstance(other, dict) or (is_keyed(other) and is_ordered(other))
        of = listing(i, other, "items") if is_keyed(other) else list(other.items()) if pairs else other
        by = prelude.dict_of
        if python_of(x) is Counter:
            by = prelude.sums_of if pairs else prelude.counts_of
        if isinstance(of, (set, frozenset)):
            of = list(of)
        i.put_all(by, x, of)


def clear(i: Evaluator, node: ast.AST, x: Record) -> None:
    """x.clear()."""
    check_not_walked(i, node, x)
    growing.clear(i, node, x)
    if TABLE in x.fields and is_ordered(x):
        x.fields[TABLE] = i.call_function(hashing.new_table, [], {})
    elif TABLE in x.fields:
        x.fields[TABLE] = i.call_function(hashing.cleared_set, [table_of(i, x)], {})


def most_common(i: Evaluator, node: ast.AST, x: Record, n: Any = None, /) -> Any:
    """x.most_common(n) of a Counter."""
    if form_in(x) is NOTHING:
        return i.own([])
    made = growing.copy(i, node, listing(i, x, "items"))
    order.by_keys(i, node, made, listing(i, x, "values"), True)
    return made if n is None else growing.sliced(i, node, made, slice(i.call_function(prelude.at_least_0, [n], {})))


def total(i: Evaluator, node: ast.AST, x: Record) -> Any:
    """x.total() of a Counter."""
    return i.call(node, sum, [listing(i, x, "values")], {})


def augmented(i: Evaluator, node: ast.AST, name: str, x: Record, other: Any) -> Record:
    """x |= other, which changes the dict itself."""
    mapping = isinstance(other, dict) or (is_keyed(other) and is_ordered(other))
    if name != "BitOr" or not mapping or python_of(x) is Counter:
        raise i.refuse(node, f"a {python_of(x).__name__} by run-time keys is changed in place", "change its items")
    update(i, node, x, other)
    return x


# -- comparisons
def compared(i: Evaluator, node: ast.AST, name: str, a: Any, b: Any) -> Any:
    """Comparisons of two sets, or of two dicts, of which one is by run-time keys; NotImplemented for anything else."""
    if is_groups(a) or is_groups(b):
        raise i.refuse(node, "a comparison of a defaultdict(list) by run-time keys", "compare the items one by one")
    if not (is_keyed(a) or is_keyed(b)):
        return NotImplemented
    if all(is_keyed(x) and is_ordered(x) for x in (a, b)) and name in ("Eq", "NotEq"):
        equal = equal_dicts(i, node, a, b)
    elif all((is_keyed(x) and not is_ordered(x)) or isinstance(x, set) for x in (a, b)):
        if name in ("Gt", "GtE"):
            return compared(i, node, {"Gt": "Lt", "GtE": "LtE"}[name], b, a)
        n, m = i.call(node, len, [a], {}), i.call(node, len, [b], {})
        listed = listing(i, a, "keys") if is_keyed(a) else list(a)
        equal = i.truth(node, i.call_function(hashing.are_all_in, [listed, b], {}))
        if name != "LtE":
            alike = i.compared(node, "Lt" if name == "Lt" else "Eq", n, m)
            equal = i.truth(node, i.call_function(hashing.both, [equal, alike], {}))
    else:
        raise i.refuse(node, "a comparison with a dict or set by run-time keys", "compare the items one by one")
    return equal if name != "NotEq" else i.negate(equal) if isinstance(equal, PyBool) else not equal


def equal_dicts(i: Evaluator, node: ast.AST, a: Record, b: Record) -> Any:
    """a == b of dicts of ints, or of Counters."""
    for x in (a, b):
        form = form_in(x)
        values = parts_of(form.parts[1]) if isinstance(form, Several) and form.parts else ()
        if not all(isinstance(k, Kind) and k.element.dtype.kind in "iub" for k in values):
            raise i.refuse(node, "an equality of dicts of anything but ints", "compare the items one by one")
    counters = [python_of(x) is Counter for x in (a, b)]
    if not all(counters):
        if all(python_of(x) is OrderedDict for x in (a, b)):
            raise i.refuse(node, "an equality of two of collections.OrderedDict", "compare list(d.items())")
        if any(counters) or NOTHING in (form_in(a), form_in(b)):
            raise i.refuse(node, "an equality of a Counter and a dict, or of an empty dict", "compare their items")
        return i.truth(node, i.call_function(hashing.are_equal, [listing(i, a, "items"), growing.length(a), b], {}))
    given = [i.call_function(hashing.counts_are_in, [listing(i, x, "items"), y], {}) for x, y in ((a, b), (b, a))]
    return i.truth(node, i.call_function(hashing.both, given, {}))


def view(sort: str) -> Callable[..., Any]:
    """The handler of x.keys(), x.values() or x.items()."""
    return lambda i, node, x: DictView(x, sort)


DICT: dict[str, Callable[..., Any]] = {
    "items": view("items"), "keys": view("keys"), "values": view("values"), "get": get, "setdefault": set_default,
    "pop": pop, "popitem": pop_item, "update": update, "clear": clear, "copy": copy, "__getitem__": read,
    "__contains__": contains,
}  # fmt: skip
"""By name of the method of a dict: its handler."""
COUNTER: dict[str, Callable[..., Any]] = {**DICT, "most_common": most_common, "total": total}
"""By name of the method of a Counter: its handler."""
ORDERED: dict[str, Callable[..., Any]] = {**DICT, "popitem": pop_end, "move_to_end": move_to_end}
"""By name of the method of an OrderedDict: its handler."""
