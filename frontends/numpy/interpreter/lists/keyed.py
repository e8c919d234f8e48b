"""Dicts and sets whose keys only the run time knows: growing columns of keys and values, in the order of insertion, and
a hash table of their numbers (formulas/hashing).

Keys are ints, or tuples of ints; values are what growing lists hold, but for arrays. A dict is one of Python's while
tracing until a key is met that only the run time knows, or a loop changes which keys there are: then the function is
traced again, as for growing lists. `Counter`, `defaultdict` and `set()` begin as such dicts and sets. A view of one
(`items`, `keys`, `values`) becomes a list of its items where it is used. What the order of a set's items decides is
refused.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.functions.formulas import hashing
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.interpreter.lists import growing
from tracebuf.frontends.numpy.interpreter.lists.items import check_item, common, into_columns, unify_forms
from tracebuf.frontends.numpy.numbers.python_ints import as_int_value
from tracebuf.frontends.numpy.paths.iteration import Items, OneShotIterator, reversed_of
from tracebuf.frontends.numpy.record import refusals
from tracebuf.frontends.numpy.record.growing import (
    NOTHING,
    TABLE,
    Elements,
    Form,
    Regrow,
    Several,
    columns,
    filled,
    form_in,
    is_growing,
    is_keyed,
    parts_of,
    python_of,
    size,
)
from tracebuf.frontends.numpy.record.heap import DictView, Record
from tracebuf.frontends.numpy.record.raises import Raises
from tracebuf.frontends.numpy.record.values import ArrayRef, Kind, PyInt, is_traced
from tracebuf.ir.dims import Dim
from tracebuf.ir.types import UI64
from tracebuf.location import Location

MISSING = object()
"""Stands for an argument that is not given."""
DICTS = "make the keys ints or tuples of ints, and the values numbers or tuples of numbers, of one type each"
ORDERLESS = (set, frozenset, sorted, len, sum, min, max, any, all)
"""Functions of a set whose results do not depend on the order of its items, which are ints."""
ITERATING = (enumerate, zip, map, filter, iter)
"""Those that take items in turn, later."""


# -- what is known while tracing
def is_known_key(i: Evaluator, key: Any) -> bool:
    """Whether a key is known while tracing, or an int that may become part of the call's key."""
    if isinstance(key, tuple):
        return all(is_known_key(i, k) for k in key)
    if isinstance(key, PyInt):
        return i.r.entry_only(key.expr)
    return not is_traced(key)


def note(i: Evaluator, d: dict[Any, Any], *pair: Any) -> None:
    """Notes that a dict of known keys meets a key, with its value, that only the run time knows."""
    known = i.r.heap.find(d)
    if known is not None and type(d) is dict:
        i.r.growth.note(known.label, [*d.items(), *([pair] if pair else [])])


def key_form(x: Record) -> Form:
    """The form of the keys of a dict or set."""
    form = form_in(x)
    assert isinstance(form, Several)
    return form.parts[0] if form.parts else NOTHING


def is_ordered(x: Record) -> bool:
    """Whether the order of items is kept: that of a dict's."""
    return issubclass(python_of(x), dict)


def check_forms(i: Evaluator, node: ast.AST, form: Several) -> None:
    """Refuses keys and values that such a dict does not hold."""
    if not form.parts:
        return
    key = form.parts[0]
    ints = [k for k in parts_of(key) if isinstance(k, Kind) and k.element.dtype.kind in "iub" and k.element is not UI64]
    tuples = isinstance(key, Several) and (key.of is not tuple or not all(isinstance(p, Kind) for p in key.parts))
    if len(ints) != len(parts_of(key)) or tuples:
        raise i.refuse(node, f"a dict or set whose keys are {key.words}, known at run time only", DICTS)
    values = [k for p in form.parts[1:] for k in parts_of(p)]
    if any(isinstance(k, Elements) for k in values) or any(growing_lists(p) for p in form.parts[1:]):
        raise i.refuse(node, f"a dict by run-time keys whose values are {form.parts[1].words}", DICTS)


def growing_lists(form: Form) -> bool:
    """Whether values are lists, or hold some."""
    return isinstance(form, Several) and (form.of is list or any(map(growing_lists, form.parts)))


# -- making
def replaced(i: Evaluator, made: Any) -> Any:
    """A dict that was made just now; where it is known to have run-time keys, what stands for it."""
    if type(made) is not dict or i.r.loc not in i.r.growth.known:
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


def empty(i: Evaluator, node: ast.AST, form: Several, python: type, default: Any = None) -> Record:
    """A dict or set of no items, of a form."""
    check_forms(i, node, form)
    made = growing.begin(i, form, [], i.r.growth.class_of(form, python, None, default))
    if form.parts:
        made.fields[TABLE] = i.call_function(hashing.new_table, [], {})
    return made


def copy(i: Evaluator, node: ast.AST, x: Record) -> Record:
    """x.copy()."""
    made = growing.copy(i, node, x)
    made.kind = x.kind
    if TABLE in x.fields:
        made.fields[TABLE] = i.call(node, np.copy, [x.fields[TABLE]], {})
    return made


# -- keys
def hashed(i: Evaluator, node: ast.AST, x: Record, key: Any) -> list[Any] | None:
    """A key as the ints that are looked for; None where no key of such a form is in the dict."""
    check_item(i, node, key)
    form, wanted = i.r.growth.form_of(key), key_form(x)
    found = parts_of(form) if form is not None else ()
    alike = isinstance(form, Several) == isinstance(wanted, Several) and len(found) == len(parts_of(wanted))
    ints = all(isinstance(k, Kind) and k.element.dtype.kind in "iub" and k.element is not UI64 for k in found)
    if not alike or not ints or (isinstance(form, Several) and form.of is not tuple):
        reason = f"a {refusals.name_of(key)} as a key of a dict or set of keys that are {wanted.words}"
        raise i.refuse(node, reason, "use keys of one type")
    parts = key if isinstance(key, tuple) else (key,)
    return [i.call(node, np.int64, [part], {}) for part in parts]


def key_columns(x: Record, held: Sequence[Any]) -> list[Any]:
    """Of columns, those of the ints that are looked for."""
    found, place = [], 0
    for kind in parts_of(key_form(x)):
        place += len(kind.types)
        found.append(held[place - 1])
    return found


def number_of(i: Evaluator, node: ast.AST, x: Record, key: Any) -> Any:
    """The number of the item with a key; -1 if there is none."""
    if form_in(x) is NOTHING:
        return -1
    given = [x.fields[TABLE], key_columns(x, columns(x)), hashed(i, node, x, key)]
    return i.call_function(hashing.number_of, given, {})


def number_to_read(i: Evaluator, node: ast.AST, x: Record, key: Any) -> Any:
    """The number of the item with a key; KeyError if there is none."""
    if form_in(x) is NOTHING:
        raise i.refuse(node, "an item of a dict into which nothing is put", "test for the key before: key in d")
    given = [x.fields[TABLE], key_columns(x, columns(x)), hashed(i, node, x, key), key]
    return i.call_function(hashing.number_to_read, given, {})


# -- changing
def put(i: Evaluator, node: ast.AST, x: Record, item: tuple[Any, ...], replaces: bool = True) -> None:
    """Adds a key and its value, or a key alone; `replaces`: the value of a key that is there."""
    if form_in(x) is NOTHING:
        note_item(i, node, x, item)
    new = parts(i, node, x, item)
    key, n, count = hashed(i, node, x, item[0]), growing.length(x), len(key_form(x).types)
    held = growing.change(i, node, x)
    table, x.fields[TABLE] = x.fields[TABLE], None
    held = [growing.on_column(i, hashing.with_room, c, n) for c in held]
    keys = key_columns(x, held)
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
    return into_columns(i, item, form)


def note_item(i: Evaluator, node: ast.AST, x: Record, item: tuple[Any, ...]) -> None:
    """Notes what a dict gets; traces again, if that is news."""
    i.change(node, x)  # which is for one only that is here, under one name
    check_item(i, node, item)
    if i.r.growth.note(i.r.heap.known[x].label, [item]):
        raise Regrow


def remove(i: Evaluator, node: ast.AST, x: Record, key: Any, k: Any) -> None:
    """Takes item k, which has a key, out."""
    n, held = growing.length(x), growing.change(i, node, x)
    given = [held, key_columns(x, held), x.fields[TABLE], n, hashed(i, node, x, key), k, is_ordered(x)]
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
    if default is not None:
        put(i, node, x, (key, i.call(node, default, [], {})), replaces=False)
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
    count, keys = len(key_form(x).types), sort == "keys"
    held = columns(x)[:count] if keys else columns(x)[count:] if sort == "values" else columns(x)
    made = growing.new(i, form if sort == "items" else form.parts[0] if keys else form.parts[1])
    growing.set_parts(i, made, held, growing.length(x))
    return made


def view_in(x: Any) -> tuple[Record, str] | None:
    """The dict or set that a value is, or is a view of, and of what; None for other values."""
    if isinstance(x, DictView) and is_keyed(x.of):
        return x.of, x.sort
    return (x, "keys") if is_keyed(x) else None


def items(i: Evaluator, x: Record, sort: str) -> Items | list[Any]:
    """What a loop over a dict or a view goes through; it may not change meanwhile."""
    if form_in(x) is NOTHING:
        return []
    held, n = listing(i, x, sort), size(x)
    inside, found = columns(x), filled(i.r.facts, held)

    def get(k: Dim) -> Any:
        if size(x) != n or any(a is not b for a, b in zip(inside, columns(x))):
            raise i.r.refuse("a dict changes in a loop over it", "loop over a copy: for k in list(d)")
        return growing.at(i, held, found, as_int_value(k))

    return Items(n, get, found)


def iterable(i: Evaluator, node: ast.AST, x: Any) -> Any:
    """What a loop goes through, where a value is a dict or set by run-time keys, or a view of one; else the value."""
    if (found := view_in(x)) is None:
        return x
    of, sort = found
    check_order(i, node, of)
    return OneShotIterator("dict_keyiterator", lambda _: items(i, of, sort), i.r.frame)


def check_order(i: Evaluator, node: ast.AST, x: Record) -> None:
    """Refuses what the order of a set decides."""
    if not is_ordered(x) and form_in(x) is not NOTHING:
        raise i.refuse(node, "iterating over a set, whose items have no certain order", "use sorted(...) of it")


# -- calls
def make(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """A call that makes a dict or set of what only the run time knows; NotImplemented for any other."""
    label = replace(i.at(node), text="items")  # at the place itself there may be lists, of what is called
    if function is set and not kwargs and len(args) < 2:
        if not args:
            return begin(i, node, set, label)
        if (of := made_of(i, args[0])) is None:
            return NotImplemented
        return added_in_turn(i, node, begin(i, node, set, label), of, hashing.set_of)
    if function is Counter and not kwargs and len(args) < 2:
        made = begin(i, node, Counter, label)
        if not args:
            return made
        of = made_of(i, args[0])
        return added_in_turn(i, node, made, args[0] if of is None else of, hashing.counts_of)
    if function is defaultdict and args and not kwargs and len(args) == 1:
        if not any(args[0] is f for f in (int, float, bool)):
            raise i.refuse(node, "a defaultdict of anything but int, float and bool", "d.get(key, default)")
        return begin(i, node, defaultdict, label, (), args[0])
    return NotImplemented


def made_of(i: Evaluator, x: Any) -> Any:
    """What a set or Counter is made of, where only the run time knows it; None where that is known."""
    if (found := view_in(x)) is not None:
        return listing(i, *found)
    return x if is_growing(x) or (isinstance(x, ArrayRef) and x.ndim == 1) else None


def added_in_turn(i: Evaluator, node: ast.AST, made: Record, of: Any, by: Callable[..., Any]) -> Record:
    """Adds items to a set or Counter, one after another."""
    i.call_function(by, [growing.iterator(i, of), made], {})
    return made


def call(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any], numpys: bool) -> Any:
    """A call of a function that is not the user's, with such dicts, sets or views of them among its arguments."""
    first = view_in(args[0]) if args else None
    alone = len(args) == 1 and not kwargs and first is not None
    if alone and is_keyed(args[0]):
        x = args[0]
        if function is type:
            return python_of(x)
        if function is bool:
            return i.compared(node, "NotEq", growing.length(x), 0)
        if (function is dict and python_of(x) is not set) or function is python_of(x):
            found = copy(i, node, x)
            found.kind = i.r.growth.class_of(form_in(x), function, None, None)
            return found
    if function is isinstance and is_keyed(args[0]) and len(args) == 2:
        return isinstance(python_of(args[0])(), args[1])
    if function is len and alone:
        return growing.length(first[0])  # type: ignore[index]
    if function is reversed and alone and is_ordered(first[0]):  # type: ignore[index]
        backwards = reversed_of(i.r, items(i, *first))  # type: ignore[misc]
        return OneShotIterator("reversed", lambda _: backwards, i.r.frame)
    if numpys and function is not np.fromiter:
        raise i.refuse(node, "a function of NumPy's of a dict, a set or a view", "use np.array(list(...)) of it")
    if any(function is f for f in ITERATING):
        return i.call(node, function, [iterable(i, node, x) for x in args], kwargs)
    orderless = any(function is f for f in ORDERLESS) and not kwargs.keys() - {"reverse", "default"}
    for x in (*args, *kwargs.values()):
        if (view := view_in(x)) is not None and not orderless:
            check_order(i, node, view[0])
    if getattr(function, "__module__", "") not in ("builtins", "_heapq", "heapq", "numpy", "math", "functools"):
        raise i.refuse(node, f"a call of {getattr(function, '__name__', 'this')} with a dict by run-time keys", DICTS)
    by = kwargs.get("key")
    of_same = getattr(by, "name", "") == "get" and first is not None and getattr(by, "of", None) is first[0]
    if of_same and first is not None and first[1] == "keys":  # each of them is there
        kwargs = {**kwargs, "key": type(by)(first[0], "__getitem__")}  # type: ignore[misc]
    given = [x if (view := view_in(x)) is None else listing(i, *view) for x in args]
    return i.call(node, function, given, kwargs)


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


def clear(i: Evaluator, node: ast.AST, x: Record) -> None:
    """x.clear()."""
    growing.clear(i, node, x)
    if TABLE in x.fields:
        x.fields[TABLE] = i.call_function(hashing.new_table, [], {})


def add(i: Evaluator, node: ast.AST, x: Record, key: Any, /) -> None:
    """x.add(key) of a set."""
    put(i, node, x, (key,))


def discard(i: Evaluator, node: ast.AST, x: Record, key: Any, /) -> None:
    """x.discard(key) of a set."""
    i.call_function(hashing.discarded, [x, key], {})


def taken(i: Evaluator, node: ast.AST, x: Record, key: Any, /) -> None:
    """x.remove(key) of a set."""
    remove(i, node, x, key, number_to_read(i, node, x, key))


def view(sort: str) -> Callable[..., Any]:
    """The handler of x.keys(), x.values() or x.items()."""
    return lambda i, node, x: DictView(x, sort)


DICT: dict[str, Callable[..., Any]] = {
    "items": view("items"), "keys": view("keys"), "values": view("values"), "get": get, "setdefault": set_default,
    "pop": pop, "clear": clear, "copy": copy, "__getitem__": read, "__contains__": contains,
}  # fmt: skip
"""By name of the method of a dict: its handler."""
SET: dict[str, Callable[..., Any]] = {
    "add": add, "remove": taken, "discard": discard, "clear": clear, "copy": copy, "__contains__": contains,
}  # fmt: skip
"""By name of the method of a set: its handler."""
