"""Lists, dicts, named tuples and sets in a trace: reads and stores by keys that are known, and their methods.

Keys are Python values while tracing; an int argument becomes one by a guard. Limitations: keys and indices that only
the run time knows are refused.
"""

from __future__ import annotations

import ast
import operator
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.arrays.reshape import whole_number
from tracebuf.frontends.numpy.call.containers import is_named_tuple
from tracebuf.frontends.numpy.functions import table
from tracebuf.frontends.numpy.functions.formulas import hashing
from tracebuf.frontends.numpy.functions.python.folds import truth_of_all
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.interpreter.lists import calls as list_calls
from tracebuf.frontends.numpy.interpreter.lists import deques, groups, growing, keyed, references, rows, sets
from tracebuf.frontends.numpy.interpreter.lists.text_keys import settled
from tracebuf.frontends.numpy.numbers.scalars import compare, holds_traced
from tracebuf.frontends.numpy.paths.iteration import OneShotIterator, in_order
from tracebuf.frontends.numpy.record import refusals
from tracebuf.frontends.numpy.record.callees import SetOfOne, Text
from tracebuf.frontends.numpy.record.cond import Cond
from tracebuf.frontends.numpy.record.growing import form_in, is_growing, is_inner, is_keyed, is_row, python_of, row_type
from tracebuf.frontends.numpy.record.heap import DictView, GroupRef, Record, is_groups, set_contents
from tracebuf.frontends.numpy.record.raises import Raises, ask, call_as, hold, is_tracers
from tracebuf.frontends.numpy.record.values import NUMBERS, ArrayRef, Kind, PyBool, PyInt, Scalar, is_traced, stand_in
from tracebuf.frozen import frozen
from tracebuf.location import Location

MISSING = object()
"""Stands for an argument that is not given."""


@frozen(eq=False, slots=False)
class ContainerMethod:
    """A method of a list, a dict or a named tuple."""

    of: Any
    name: str


def key_of(i: Evaluator, node: ast.AST, key: Any) -> Any:
    """A key as a Python value; a guard makes a traced int one."""
    if isinstance(key, PyInt):
        return i.r.static_int(key.expr, "the key of a dict")
    if isinstance(key, tuple):
        return tuple(key_of(i, node, k) for k in key)
    key = closed(i, settled(i.r, key))
    if is_traced(key) or isinstance(key, Text):
        raise i.refuse(node, "a key of a dict that is only known at run time", "index an array, or np.where")
    if isinstance(key, Record):
        raise i.refuse(node, "an object as a key of a dict", "use strings, ints or tuples of them as keys")
    ask(hash, key)
    return key


def known_key(i: Evaluator, node: ast.AST, d: dict[Any, Any], key: Any, *value: Any) -> Any:
    """`key_of`, of a key of a dict, which gets this value; where the key is only known at run time, that is noted, for
    the dict to be one by run-time keys in the next tracing."""
    if not keyed.is_known_key(i, key):
        keyed.note(i, d, *((key, *value) if value else ()))
    return key_of(i, node, key)


def is_missing(i: Evaluator, d: dict[Any, Any], key: Any) -> bool:
    """Whether a key that is only known at run time is certainly not in a dict, by the types of its keys."""
    return not keyed.is_known_key(i, key) and not any(may_be(key, known) for known in d)


def may_be(key: Any, known: Any) -> bool:
    """Whether a key that is only known at run time may be this one."""
    if isinstance(key, tuple):
        pairs = isinstance(known, tuple) and len(known) == len(key)
        return pairs and all(may_be(x, y) for x, y in zip(key, known))
    if isinstance(key, Scalar):
        return not (known is None or isinstance(known, (str, bytes, tuple, type)))
    if isinstance(key, Text):
        return isinstance(known, str)
    return is_traced(key) or type(key) is Cond or bool(ask(operator.eq, key, known))


def read(i: Evaluator, node: ast.AST, base: dict[Any, Any], key: Any) -> Any:
    """base[key]."""
    if is_missing(i, base, key):
        i.call_function(hashing.missing, [key], {})
    return ask(operator.getitem, base, known_key(i, node, base, key))


def contains(i: Evaluator, node: ast.AST, base: dict[Any, Any], key: Any) -> bool:
    """key in base."""
    return not is_missing(i, base, key) and ask(operator.contains, base, known_key(i, node, base, key))


def store(i: Evaluator, node: ast.AST, base: dict[Any, Any], key: Any, value: Any) -> None:
    """base[key] = value."""
    key = known_key(i, node, base, key, value)
    if key not in base or base[key] is not value:
        i.change(node, base)
        base[key] = value


def store_slice(i: Evaluator, node: ast.AST, base: list[Any], index: slice, value: Any) -> None:
    """base[i:j] = value of a list."""
    places = place(i, node, index, base)
    items = i.iterate_static(node, value)
    i.change(node, base)
    hold(operator.setitem, base, places, items)


def check_items(base: Any, change: Callable[..., object], *args: Any) -> None:
    """The TypeError of a change of an item of what has none, or none that may be changed: None, a number, a tuple, a
    text."""
    if isinstance(base, tuple):
        base = tuple.__new__(type(base), ())  # without traced values
    if base is None or isinstance(base, (tuple, str, Scalar, *NUMBERS)):
        ask(change, stand_in(base) if isinstance(base, Scalar) else base, *args)


def delete(i: Evaluator, node: ast.AST, base: Any, index: Any) -> None:
    """del base[index] of a list or dict."""
    if is_keyed(base):
        return keyed.delete(i, node, base, index)
    if is_row(base):
        raise i.refuse(node, "an item of a dict or list in a list of run-time length is deleted", "make a new one")
    if is_inner(base):
        return references.delete(i, node, base, index)
    if is_growing(base):
        return growing.delete(i, node, base, index)
    if isinstance(base, dict):
        key = known_key(i, node, base, index)
        if key not in base:
            raise Raises(KeyError(key))
    elif isinstance(base, list):
        key = place(i, node, index, base)
    elif isinstance(base, ArrayRef):
        i.r.fail("ValueError", "cannot delete array elements")
    else:
        check_items(base, operator.delitem, 0)
        raise i.refuse(node, f"`del` of an item of a {refusals.name_of(base)}", "build what remains")
    i.change(node, base)
    ask(operator.delitem, base, key)


def pairs_of(i: Evaluator, node: ast.AST, x: Any) -> Iterator[tuple[Any, Any]]:
    """The argument of dict(x), as (key, value) pairs."""
    if isinstance(x, dict):
        yield from list(x.items())
        return
    yield from ((key_of(i, node, k), v) for k, v in pairs_in(i, node, x))


def pairs_in(i: Evaluator, node: ast.AST, x: Any) -> Iterator[tuple[Any, Any]]:
    """The pairs that are the items of an iterable."""
    for k, pair in enumerate(i.iterate_static(node, x)):
        items = i.iterate_static(node, pair)
        if len(items) != 2:
            text = f"dictionary update sequence element #{k} has length {len(items)}; 2 is required"
            raise Raises(ValueError(text))
        yield items[0], items[1]


def make(i: Evaluator, node: ast.AST, /, *args: Any, **kwargs: Any) -> Any:
    """dict(...)."""
    if len(args) > 1:
        raise Raises(TypeError(f"dict expected at most 1 argument, got {len(args)}"))
    if args and not isinstance(args[0], dict):
        place = i.r.loc
        try:
            args = ([(k, v) for k, v in pairs_in(i, node, args[0])],)
        except UnsupportedError:
            i.r.growth.note_long(place)
            raise
        keyed.note_keys(i, place, [k for k, _ in args[0]])
    return i.own(dict([*(pairs_of(i, node, args[0]) if args else ()), *kwargs.items()]))


# -- methods of dicts
def get(i: Evaluator, node: ast.AST, d: dict[Any, Any], key: Any, default: Any = None) -> Any:
    """d.get(key, default)."""
    return default if is_missing(i, d, key) else d.get(known_key(i, node, d, key), default)


def pop(i: Evaluator, node: ast.AST, d: dict[Any, Any], key: Any, default: Any = MISSING) -> Any:
    """d.pop(key, default)."""
    key = known_key(i, node, d, key)
    if key not in d:
        if default is MISSING:
            raise Raises(KeyError(key))
        return default
    i.change(node, d)
    return d.pop(key)


def update(i: Evaluator, node: ast.AST, d: dict[Any, Any], /, *args: Any, **kwargs: Any) -> None:
    """d.update(...)."""
    new = make(i, node, *args, **kwargs)
    i.change(node, d)
    d.update(new)


def set_default(i: Evaluator, node: ast.AST, d: dict[Any, Any], key: Any, default: Any = None) -> Any:
    """d.setdefault(key, default)."""
    key = known_key(i, node, d, key, default)
    if key not in d:
        store(i, node, d, key, default)
    return d[key]


def clear(i: Evaluator, node: ast.AST, x: Any) -> None:
    """x.clear() of a list or dict."""
    i.change(node, x)
    set_contents(x, type(x)())


def pop_item(i: Evaluator, node: ast.AST, d: dict[Any, Any]) -> Any:
    """d.popitem()."""
    if not d:
        raise Raises(KeyError("popitem(): dictionary is empty"))
    i.change(node, d)
    return d.popitem()


DICT: dict[str, Callable[..., Any]] = {
    "items": lambda i, node, d: DictView(d, "items"), "keys": lambda i, node, d: DictView(d, "keys"),
    "values": lambda i, node, d: DictView(d, "values"), "get": get, "pop": pop, "update": update, "clear": clear,
    "setdefault": set_default, "popitem": pop_item, "copy": lambda i, node, d: i.own(dict(d)),
}  # fmt: skip
"""By name of the method of a dict: its handler."""


def of_row(name: str) -> Callable[..., Any]:
    """The handler of a method that reads a dict which is an item of a list."""

    def run(i: Evaluator, node: ast.AST, x: Record, *args: Any) -> Any:
        return DICT[name](i, node, rows.listing(i, x), *args)

    return run


def update_row(i: Evaluator, node: ast.AST, x: Record, /, *args: Any, **kwargs: Any) -> None:
    """x.update(...) of a dict that is an item of a list."""
    for key, value in make(i, node, *args, **kwargs).items():
        rows.store(i, node, x, key, value)


ROW: dict[str, Callable[..., Any]] = {
    **{name: of_row(name) for name in ("items", "keys", "values", "get", "copy")}, "update": update_row,
}  # fmt: skip
"""By name of the method of a dict that is an item of a list: its handler."""


# -- methods of lists
def place(i: Evaluator, node: ast.AST, index: Any, x: Any = None, more: Sequence[Any] = ()) -> Any:
    """An index or a slice of a list, which gets more items there, as Python ints."""
    if isinstance(index, slice):
        return slice(*(place(i, node, p, x) for p in (index.start, index.stop, index.step)))
    if isinstance(index, (PyInt, PyBool)) and i.r.entry_only(e := whole_number(i.r, index)):
        return i.r.static_int(e, "the index of a list")
    if is_traced(index):
        i.note_growth(x, more)
        raise i.refuse(node, "the index of a list is only known at run time", "index an array: np.array(x)[i]")
    return index


def changing(name: str, places: int = 0) -> Callable[..., Any]:
    """The handler of a list's method that changes it; its first `places` arguments are indices."""

    def run(i: Evaluator, node: ast.AST, x: list[Any], *args: Any, **kwargs: Any) -> Any:
        given = [place(i, node, a, x, args[places:]) for a in args[:places]]
        i.change(node, x)
        return hold(getattr(x, name), *given, *args[places:], **kwargs)

    return run


def extend(i: Evaluator, node: ast.AST, x: list[Any], more: Any) -> None:
    """x.extend(more): each item of an iterator is appended before the next one is computed, which may read the list."""
    place, in_turn = i.r.loc, isinstance(more, OneShotIterator)
    if in_turn and place in i.r.growth.rolled:
        more, in_turn = i.rolled(node, more), False
    if is_growing(more):
        i.note_growth(x, form=form_in(more))
    if isinstance(more, ArrayRef) and more.ndim == 1 and not i.r.entry_only(more.shape[0]):
        i.note_growth(x, form=Kind("np", more.element))
    try:
        for item in i.each(node, more) if in_turn else i.iterate_static(node, more):
            i.change(node, x)
            x.append(item)
    except UnsupportedError:
        i.r.growth.note_long(place)
        raise


def sort(i: Evaluator, node: ast.AST, x: list[Any], *, key: Any = None, reverse: Any = False) -> None:
    """x.sort(...) of a list of numbers that are known, or of fewer than two items; others are to be growing lists."""
    if len(x) > 1 or key is not None:
        if key is not None or is_traced(reverse) or not all(isinstance(v, NUMBERS) for v in x):
            i.note_growth(x)
            raise i.refuse(node, "`.sort` of a list is not supported in a traced function", "np.sort(np.array(x))")
    i.change(node, x)
    hold(x.sort, reverse=reverse)


def known_items(name: str) -> Callable[..., Any]:
    """The handler of a method that compares items, which have to be known."""

    def run(i: Evaluator, node: ast.AST, x: Any, *args: Any) -> Any:
        if holds_traced(x) or holds_traced(args) or any(isinstance(v, (Record, dict)) for v in (*x, *args)):
            i.note_growth(x)
            reason = f"`.{name}` of a {type(x).__name__} needs values known at trace time"
            raise i.refuse(node, reason, "compare the items one by one")
        if name == "remove":
            i.change(node, x)
        return hold(getattr(x, name), *args)

    return run


LIST: dict[str, Callable[..., Any]] = {
    "append": changing("append"), "insert": changing("insert", 1), "pop": changing("pop", 1), "clear": clear,
    "reverse": changing("reverse"), "extend": extend, "index": known_items("index"), "count": known_items("count"),
    "remove": known_items("remove"), "sort": sort, "copy": lambda i, node, x: i.own(list(x)),
}  # fmt: skip
"""By name of the method of a list: its handler."""


def of_list_row(name: str) -> Callable[..., Any]:
    """The handler of a method that reads a list of items that are not alike, which is an item of a list."""

    def run(i: Evaluator, node: ast.AST, x: Record, *args: Any) -> Any:
        return LIST[name](i, node, rows.listing(i, x), *args)

    return run


LIST_ROW: dict[str, Callable[..., Any]] = {name: of_list_row(name) for name in ("copy", "index", "count")}
"""By name of the method of such a list: its handler."""


# -- methods of tuples
def replaced(i: Evaluator, node: ast.AST, x: Any, /, **changes: Any) -> Any:
    """x._replace(...) of a named tuple."""
    if unknown := [k for k in changes if k not in x._fields]:
        raise Raises(ValueError(f"Got unexpected field names: {unknown!r}"))
    return tuple.__new__(type(x), [changes.get(k, v) for k, v in zip(x._fields, x)])


NAMED: dict[str, Callable[..., Any]] = {
    "_replace": replaced, "_asdict": lambda i, node, x: i.own(dict(zip(x._fields, x))),
}  # fmt: skip
"""By name of the method of a named tuple: its handler."""
TUPLE: dict[str, Callable[..., Any]] = {"index": known_items("index"), "count": known_items("count")}
"""By name of the method of a tuple: its handler."""


def method(x: Any, name: str) -> ContainerMethod | None:
    """The bound method of a container, by its name; None if it has none."""
    if is_named_tuple(x) and name in x._fields:
        return None
    return ContainerMethod(x, name) if name in methods_of(x) else None


OF_PYTHON = (list, dict, deque, tuple, set, Counter, defaultdict, OrderedDict)
"""The classes whose methods are called."""


def methods_of(x: Any) -> dict[str, Callable[..., Any]]:
    """The table of the methods that a container has."""
    if isinstance(x, GroupRef) or is_groups(x):
        return groups.METHODS if isinstance(x, GroupRef) else groups.DICT
    if is_inner(x):
        return references.METHODS if not is_row(x) else ROW if row_type(x) is dict else LIST_ROW
    if is_keyed(x):
        python = python_of(x)
        by_class: dict[type, dict[str, Callable[..., Any]]] = {set: sets.METHODS, Counter: keyed.COUNTER}
        return by_class.get(python, keyed.ORDERED if python is OrderedDict else keyed.DICT)
    if is_growing(x):
        python = python_of(x)
        return list_calls.METHODS if python is list else deques.METHODS if python is deque else growing.OF_TUPLES
    if isinstance(x, (dict, list)):
        return DICT if isinstance(x, dict) else LIST
    return {**TUPLE, **(NAMED if is_named_tuple(x) else {})} if isinstance(x, tuple) else {}


def call(i: Evaluator, node: ast.AST, method: ContainerMethod, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """A call of a container's method."""
    kind = python_of(method.of) if is_growing(method.of) else type(method.of)
    kind = list if isinstance(method.of, GroupRef) or is_inner(method.of) else kind
    kind = dict if is_groups(method.of) else row_type(method.of) if is_row(method.of) else kind
    if method.name in ("extend", "extendleft"):
        args = [keyed.given_out(i, node, x) for x in args]
    python = getattr(next((k() for k in OF_PYTHON if kind is k), ()), method.name, None)
    return call_as(python, methods_of(method.of)[method.name], (i, node, method.of), args, kwargs)


# -- sets
# A set is Python's own, and never changed: its methods, and the operators that change one in place, are refused. So is
# what depends on the order of its items, which differs from process to process: of frozensets too. Ints below 8, such
# as axes, come in their own order, for the smallest table of a set has a place for each.
ORDERLESS = (set, frozenset, sorted, len, isinstance, type, bool)
"""Functions of a set whose results do not depend on the order of its items."""
OF_SETS = "use a tuple, or a dict with these keys"


def set_of(i: Evaluator, node: ast.AST, kind: type, items: Sequence[Any]) -> Any:
    """The set of some items; raises what Python raises for those that are not hashable."""
    place = i.at(node)
    if kind is set and place in i.r.growth.rolled:
        made = keyed.begin(i, node, set, keyed.label_of(place), [(x,) for x in items])
        return sets.as_written(i, node, made, items) if isinstance(node, ast.Set) else made
    if (shapes := of_shapes(i, kind, items)) is not None:
        return shapes
    if kind is set:
        keyed.note_keys(i, place, items)
    if any(is_tracers(x) for x in i.flat(items)):
        if kind is set:
            i.r.growth.long.add(place)
        raise i.refuse(node, f"a {kind.__name__} of what only the run time knows", OF_SETS)
    made = ask(kind, items)
    if kind is set:
        i.sets[made] = place
    return made


def of_shapes(i: Evaluator, kind: type, items: Sequence[Any]) -> Any:
    """The set of tuples of sizes, as arrays' shapes, of which a guard tells whether all are equal; where they are not,
    the sizes become part of the key. None for other items."""

    def is_size(x: Any) -> bool:
        return type(x) is int or (isinstance(x, PyInt) and i.r.entry_only(x.expr))

    def equal(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
        return len(a) == len(b) and all(i.compared(ast.Pass(), "Eq", x, y) is True for x, y in zip(a, b))

    tuples = all(type(x) is tuple and all(map(is_size, x)) for x in items)
    if not tuples or not any(map(holds_traced, items)):
        return None
    if kind is set and all(equal(x, items[0]) for x in items):
        return SetOfOne(items[0], i.r.loc)
    return set_of_ints(i, kind, items, i.r.loc)


def set_of_ints(i: Evaluator, kind: type, items: Sequence[Any], place: Location) -> Any:
    """A set, made at a place, of tuples of sizes, which become part of the key."""
    made = ask(kind, [key_of(i, ast.Pass(), x) for x in items])
    i.r.ordered_sets[made] = None
    if kind is set:
        i.sets[made] = place
    return made


def closed(i: Evaluator, x: Any) -> Any:
    """A set of ints in the place of one of sizes, which become part of the key; any other value as it is."""
    return set_of_ints(i, set, [x.item], x.place) if isinstance(x, SetOfOne) else x


MOST_COMPARED = 16
"""The most items of a set with which a tuple is compared one by one, where the set may be one by run-time keys."""


def in_set(i: Evaluator, node: ast.AST, items: Any, x: Any) -> bool | PyBool:
    """`x in items` of a set of known items and a tuple with numbers that only the run time knows: whether it equals one
    of them. Among many it is looked for in a set by run-time keys, from the next tracing on."""
    for part in i.flat([x]):
        if not isinstance(part, (Scalar, *NUMBERS, str, type(None))) or (isinstance(part, float) and part != part):
            raise i.refuse(node, f"a {refusals.name_of(part)} in a tuple that is looked for in a set", OF_SETS)
    ask(operator.contains, frozenset(), x)  # raises what Python raises for lists in it
    among = sorted((known for known in items if may_be(x, known)), key=repr)
    if len(among) > MOST_COMPARED and (place := i.sets.get(items)) is not None:
        i.r.growth.long.add(place)
        raise i.refuse(node, "a tuple of what only the run time knows is looked for in a large set", OF_SETS)
    found = truth_of_all("any", i.r, tuple(compare(i.r, "Eq", x, known) for known in among))
    assert isinstance(found, (bool, PyBool))
    return found


def note_change(i: Evaluator, x: Any, name: str) -> None:
    """Notes that a set of known items is changed, by a method of this name: it is one by run-time keys then."""
    if isinstance(x, set) and (place := i.sets.get(x)) is not None and name in sets.METHODS:
        i.r.growth.long.add(place)


def note_order(i: Evaluator, x: Any) -> None:
    """Notes that the order of a set of known items matters: it is one by run-time keys then, if it has one order."""
    if isinstance(x, set) and (place := i.sets.get(x)) is not None:
        if len({type(k) for k in x}) == 1 and all(type(k) in (int, float, tuple) for k in x):
            i.r.growth.long.add(place)


def is_of_python(function: Any) -> bool:
    """Whether a function is Python's or NumPy's, and not one that is traced."""
    return table.handler_of(function) is not None or table.is_pure(function) or hasattr(function, "__self__")


def call_with_sets(i: Evaluator, node: ast.AST, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """A call that makes a set, or takes one; NotImplemented for other calls."""
    if (function is set or function is frozenset) and not kwargs and len(args) < 2:
        known, place = args and isinstance(args[0], (set, frozenset)), i.at(node)
        try:
            items = [x for over in args for x in (over if known else i.iterate_static(node, over))]
        except UnsupportedError:
            if function is set:
                i.r.growth.note_long(place)
            raise
        i.at(node)
        return set_of(i, node, function, items)
    given = any(isinstance(x, (set, frozenset)) and not in_order(i.r, x) for x in (*args, *kwargs.values()))
    orderless = not kwargs and any(function is one for one in ORDERLESS)  # a key of sorted may tie
    if given and is_of_python(function) and not orderless:
        name = getattr(function, "__name__", "this")
        for x in (*args, *kwargs.values()):
            note_order(i, x)
        raise i.refuse(node, f"a call of {name} with a set, whose items have no certain order", "use sorted(...) of it")
    return NotImplemented
