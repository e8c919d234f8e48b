"""Lists of numbers whose length only the run time knows (record/growing): how they are made, changed and read.

What happens to elements is written in Python, in `prelude`. While a list is changed its columns are taken from it, so
that nothing else refers to them and they are changed in place. NumPy's functions take the array of the items, a copy.
Limitations: items are numbers of one type (or a number of NumPy's and Python's of the same), and what is not listed in
`METHODS` and `call` is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.functions.formulas import prelude
from tracebuf.frontends.numpy.functions.indices import subscripts
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.numbers.lattice import check_one_type, from_values, to_values, unify
from tracebuf.frontends.numpy.numbers.python_ints import as_int_value, bool_as_int, int_expr, int_of_value
from tracebuf.frontends.numpy.paths.iteration import Items, OneShotIterator
from tracebuf.frontends.numpy.record.growing import (
    LENGTH,
    Regrow,
    columns,
    filled,
    growing_class,
    is_growing,
    kind_in,
    size,
)
from tracebuf.frontends.numpy.record.heap import Record
from tracebuf.frontends.numpy.record.raises import ask
from tracebuf.frontends.numpy.record.refusals import name_of
from tracebuf.frontends.numpy.record.values import (
    BOOL,
    COMPLEX,
    EITHER,
    FLOAT,
    INT,
    ArrayRef,
    Kind,
    NpScalar,
    PyBool,
    PyInt,
    Scalar,
    kind_of,
)
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, sub
from tracebuf.ir.types import F64, I64, INDEX, UI64, ScalarType, scalar_type

PYTHONS = ((INT, "iu"), (FLOAT, "f"), (COMPLEX, "c"), (BOOL, "b"))
"""The kinds of Python's numbers, with those of the dtypes whose elements they hold."""
FIRST = 16
"""The number of elements that there is room for at first."""
ITERATING = (sum, min, max, any, all, enumerate, zip, map, filter)
"""Builtins that go through the items of a list once, at once or while nothing has changed it."""


# -- making
def new(i: Evaluator, kind: Kind) -> Record:
    """The object that stands for a list of the kind, without its attributes."""
    i.r.growth.made = True
    return Record(growing_class(kind))


def replaced(i: Evaluator, made: Any) -> Any:
    """A list that was made just now; where it is known to grow, what stands for it."""
    kinds = i.r.growth.known.get(i.r.loc)
    if kinds is None or type(made) is not list:
        return made
    kind = common(kinds)
    if kind is None or kind.python == EITHER:
        names = " and ".join(sorted(k.words for k in kinds))
        instead = "make them of one type: float(x), or 0.0 in place of 0"
        raise i.r.refuse(f"a list of {names} whose length is only known at run time", instead)
    if any(kind_of(x) is None for x in made):
        return made
    return begin(i, kind, made)


def common(kinds: frozenset[Kind]) -> Kind | None:
    """The kind of all items; None where there is none."""
    return reduce(unify, kinds) if kinds else None  # type: ignore[arg-type]


def element_of(type_: ScalarType) -> ScalarType:
    """The element type of a column."""
    return I64 if type_ is INDEX else type_


def begin(i: Evaluator, kind: Kind, items: Sequence[Any]) -> Record:
    """A list of the kind with these items."""
    r, room = i.r, max(FIRST, 2 * len(items))
    made = new(i, kind)
    made.fields[LENGTH] = 0
    for k, type_ in enumerate(kind.types):
        element = element_of(type_)
        made.fields[f"column{k}"] = ArrayRef(r.new_storage(element, (room,), (0,), r.empty(element, (room,))))
    r.heap.own(made, r)
    for x in items:
        append(i, ast.Pass(), made, x)
    return made


def of_array(i: Evaluator, node: ast.AST, a: ArrayRef, python: bool) -> Record:
    """The list of the elements of an array of one axis: NumPy's numbers, or Python's (`tolist`)."""
    kind = Kind("np", a.element)
    if not python:
        column = i.call_function(prelude.copied, [a], {})
    elif a.element is UI64:
        raise i.refuse(node, "`.tolist` of an array of uint64", "convert it first: a.astype(int).tolist()")
    else:
        kind = next(k for k in PYTHONS if a.element.dtype.kind in k[1])[0]
        column = i.call(node, i.attribute(node, a, "astype"), [element_of(kind.element).dtype], {})
    made = new(i, kind)
    set_parts(i, made, [column], as_int_value(a.shape[0]))
    return i.r.heap.own(made, i.r)  # type: ignore[no-any-return]


# -- parts
def length(x: Record) -> Any:
    """The length: an int."""
    return x.fields[LENGTH]


def set_parts(i: Evaluator, x: Record, held: Sequence[Any], n: Any) -> None:
    """Puts columns and a length into a list."""
    x.fields.update((f"column{k}", c) for k, c in enumerate(held))
    x.fields[LENGTH] = n


def change(i: Evaluator, node: ast.AST, x: Record) -> list[Any]:
    """Notes that the list is changed; its columns, taken from it."""
    i.change(node, x)
    found = columns(x)
    x.fields.update((f"column{k}", None) for k in range(len(found)))
    return found


# -- numbers in and out
def parts(i: Evaluator, node: ast.AST, x: Record, item: Any) -> list[Any]:
    """A number as what the columns hold of it."""
    kind, r = kind_in(x), i.r
    check_one_type(r, item)
    found = kind_of(item)
    if found is None:
        reason = f"a list whose length is only known at run time gets a {name_of(item)}"
        raise i.refuse(node, reason, "append numbers of one type, or store into an array that is made before")
    if unify(kind, found) != kind:
        i.change(node, x)  # which is for a list only that is here, under one name
        label = r.heap.known[x].label
        if r.growth.note(label, [item]):
            raise Regrow
        raise i.refuse(node, f"a list of {kind.words} gets {found.words}", "make the items of one type: float(x)")
    if kind is INT:
        return [item]
    return [number(value) for value in to_values(r, item, kind)]


def number(value: Value) -> Any:
    """An SSA value as a number to store."""
    assert isinstance(value.type, ScalarType)
    return NpScalar(value, value.type)


def item_from(i: Evaluator, kind: Kind, elements: Sequence[Any]) -> Any:
    """The number that elements of the columns are."""
    values = [e.value for e in elements]
    return int_of_value(i.r, values[0]) if kind == INT else from_values(i.r, values, kind, "item")


def whole(i: Evaluator, node: ast.AST, index: Any) -> Any:
    """An index as an int of Python's."""
    if isinstance(index, (int, PyInt, PyBool)) and not isinstance(index, bool):
        return index
    if isinstance(index, (Scalar, np.integer)) and kind_of(index).element.is_integer:  # type: ignore[union-attr]
        return i.call(node, int, [index], {})
    raise i.refuse(node, f"a {name_of(index)} as the index of a list of run-time length", "use an int")


def checked(i: Evaluator, node: ast.AST, x: Record, index: Any, what: str) -> Any:
    """An index as the number of an item; IndexError as Python's."""
    index = whole(i, node, index)
    return i.call_function(prelude.place_in, [length(x), index, what], {})


# -- reading
def item(i: Evaluator, node: ast.AST, x: Record, index: Any) -> Any:
    """x[index]."""
    if isinstance(index, slice):
        return sliced(i, node, x, index)
    k = checked(i, node, x, index, "list index out of range")
    return at(i, x, columns(x), k)


def at(i: Evaluator, x: Record, held: Sequence[ArrayRef], k: Any) -> Any:
    """Item k, which there is."""
    place = int_expr(bool_as_int(i.r, k) if isinstance(k, PyBool) else k)
    if place is None:
        raise i.r.refuse(f"a {name_of(k)} as an index of a list whose length is only known at run time", "use an int")
    return item_from(i, kind_in(x), [i.r.number(column, (place,)) for column in held])


def sliced(i: Evaluator, node: ast.AST, x: Record, index: slice) -> Record:
    """x[start:stop:step], a new list."""
    made = new(i, kind_in(x))
    found = [i.call_function(prelude.copied, [i.subscript(node, v, index)], {}) for v in filled(i.r.facts, x)]
    set_parts(i, made, found, as_int_value(found[0].shape[0]))
    return i.r.heap.own(made, i.r)  # type: ignore[no-any-return]


def items(i: Evaluator, x: Record) -> Items:
    """What a loop over the list goes through; its length may not change meanwhile."""
    held, n, inside = filled(i.r.facts, x), size(x), columns(x)

    def get(k: Dim) -> Any:
        if size(x) != n or any(a is not b for a, b in zip(inside, columns(x))):
            raise i.r.refuse("a list changes in a loop over it", "loop over a copy: for x in list(items)")
        return at(i, x, held, as_int_value(k))

    return Items(n, get, held)


def may_be_float(i: Evaluator, x: Record) -> bool:
    """Whether the array of a list of anything but floats is one of float64 if the list is empty, which it may be."""
    return kind_in(x).element is not F64 and i.r.ask_nonneg(sub(size(x), 1)) is not True


def array(i: Evaluator, node: ast.AST, x: Record, typed: bool = False) -> Any:
    """The array of the items, a copy; that of no items is of float64, whatever they would be, unless a dtype is given
    (`typed`): where only the run time knows whether there are any, a value of either type."""
    (*_, held) = filled(i.r.facts, x)
    if not typed and may_be_float(i, x):
        return i.call_function(prelude.array_of, [held, length(x)], {})
    return i.call_function(prelude.copied, [held], {})


def as_index(i: Evaluator, node: ast.AST, x: Record) -> ArrayRef:
    """The array that a list is as an index: an empty list picks nothing, and is an array of ints."""
    kind = kind_in(x)
    ints = kind == INT or kind.element.is_integer
    if not ints and i.r.ask_nonneg(sub(size(x), 1)) is not True:
        reason = f"an index that is a list of {kind.words}, which may be empty"
        raise i.refuse(node, reason, "use an array: np.array(x, dtype=bool)")
    found: ArrayRef = array(i, node, x, typed=True)
    return found


def check_comparable(i: Evaluator, node: ast.AST, x: Record, value: Any) -> None:
    """Refuses to look for a value but an int or bool among such. A NaN is found by its identity, which is not kept."""
    check_one_type(i.r, value)
    for kind in (kind_in(x), kind_of(value)):
        if kind is None or kind.python == EITHER or not (kind in (INT, BOOL) or kind.element.dtype.kind in "iub"):
            reason = "a search for anything but ints among ints, in a list whose length is only known at run time"
            raise i.refuse(node, reason, "compare with its array: np.any(np.array(x) == value)")


def contains(i: Evaluator, node: ast.AST, x: Record, value: Any) -> Any:
    """`value in x`."""
    check_comparable(i, node, x, value)
    return i.compared(node, "GtE", i.call_function(prelude.first_place_of, [x, value], {}), 0)


def count(i: Evaluator, node: ast.AST, x: Record, value: Any, /) -> Any:
    """x.count(value)."""
    check_comparable(i, node, x, value)
    return i.call_function(prelude.count_of, [x, value], {})


# -- changing
def append(i: Evaluator, node: ast.AST, x: Record, item: Any, /) -> None:
    """x.append(item)."""
    new = parts(i, node, x, item)
    n, held = length(x), change(i, node, x)
    found = [i.call_function(prelude.appended, [c, n, value], {}) for c, value in zip(held, new)]
    set_parts(i, x, found, i.operate("Add", n, 1))


def extend(i: Evaluator, node: ast.AST, x: Record, more: Any, /) -> None:
    """x.extend(more), of items whose number is known."""
    if is_growing(more) and more is x:
        raise i.refuse(node, "a list of run-time length is extended by itself", "x.extend(list(x))")
    place = i.r.loc
    if place in i.r.growth.rolled:
        return i.append_all(node, x, more)
    try:
        known = i.iterate_static(node, more)
    except UnsupportedError:
        i.r.growth.note_long(place)
        raise
    for value in known:
        append(i, node, x, value)


def pop(i: Evaluator, node: ast.AST, x: Record, index: Any = -1, /) -> Any:
    """x.pop(index)."""
    k = i.call_function(prelude.place_to_pop, [length(x), index], {})
    found, n = at(i, x, columns(x), k), length(x)
    held = change(i, node, x)
    if index != -1:
        held = [i.call_function(prelude.without, [c, n, k], {}) for c in held]
    set_parts(i, x, held, i.operate("Sub", n, 1))
    return found


def without(i: Evaluator, node: ast.AST, x: Record, k: Any) -> None:
    """Takes item k, which there is, out of the list."""
    n = length(x)
    held = [i.call_function(prelude.without, [c, n, k], {}) for c in change(i, node, x)]
    set_parts(i, x, held, i.operate("Sub", n, 1))


def delete(i: Evaluator, node: ast.AST, x: Record, index: Any) -> None:
    """del x[index]."""
    if isinstance(index, slice):
        raise i.refuse(node, "a slice of a list of run-time length is deleted", "make a list of what remains")
    without(i, node, x, checked(i, node, x, index, "list assignment index out of range"))


def remove(i: Evaluator, node: ast.AST, x: Record, value: Any, /) -> None:
    """x.remove(value)."""
    check_comparable(i, node, x, value)
    without(i, node, x, i.call_function(prelude.place_to_remove, [x, value], {}))


def insert(i: Evaluator, node: ast.AST, x: Record, index: Any, value: Any, /) -> None:
    """x.insert(index, value)."""
    new, n = parts(i, node, x, value), length(x)
    k = i.call_function(prelude.place_to_insert, [n, whole(i, node, index)], {})
    held = change(i, node, x)
    held = [i.call_function(prelude.appended, [c, n, part], {}) for c, part in zip(held, new)]
    found = [i.call_function(prelude.inserted, [c, n, k, part], {}) for c, part in zip(held, new)]
    set_parts(i, x, found, i.operate("Add", n, 1))


def clear(i: Evaluator, node: ast.AST, x: Record) -> None:
    """x.clear()."""
    set_parts(i, x, change(i, node, x), 0)


def store(i: Evaluator, node: ast.AST, x: Record, index: Any, value: Any) -> None:
    """x[index] = value."""
    if isinstance(index, slice):
        raise i.refuse(node, "a slice of a list of run-time length is replaced", "store into an array")
    k = checked(i, node, x, index, "list assignment index out of range")
    new = parts(i, node, x, value)
    n, held = length(x), change(i, node, x)
    for column, part in zip(held, new):
        subscripts.store(i.r, column, k, part)
    set_parts(i, x, held, n)


def copy(i: Evaluator, node: ast.AST, x: Record) -> Record:
    """x.copy()."""
    return sliced(i, node, x, slice(None))


def ordered(i: Evaluator, node: ast.AST, x: Record, reverse: Any = False) -> Record:
    """sorted(x, reverse=...), a new list."""
    made = copy(i, node, x)
    sort(i, node, made, reverse=reverse)
    return made


def sort(i: Evaluator, node: ast.AST, x: Record, *, reverse: Any = False) -> None:
    """x.sort(reverse=...)."""
    kind = kind_in(x)
    if kind.python or kind.element.is_complex or not isinstance(reverse, (bool, int)):
        raise i.refuse(node, f"a list of {kind.words} of run-time length is sorted", "use np.sort(np.array(x))")
    n = length(x)
    (column,) = change(i, node, x)
    x.fields["column0"] = column
    (held,) = filled(i.r.facts, x)
    x.fields["column0"] = None
    i.call_function(prelude.ordered, [held, bool(reverse), kind.element.is_float], {})
    set_parts(i, x, [column], n)


METHODS: dict[str, Callable[..., Any]] = {
    "append": append, "extend": extend, "pop": pop, "clear": clear, "copy": copy, "sort": sort,
    "count": count, "insert": insert, "remove": remove,
}  # fmt: skip
"""By name of the method of a list: its handler."""


# -- operators and calls
def added(i: Evaluator, node: ast.AST, x: Record, more: Any) -> Record:
    """x + more, of another list."""
    made = copy(i, node, x)
    extend(i, node, made, more)
    return made


def truth(i: Evaluator, node: ast.AST, x: Record) -> Any:
    """The truth of a list."""
    return i.compared(node, "NotEq", length(x), 0)


def beside(i: Evaluator, node: ast.AST, a: Any, b: Any) -> tuple[Any, Any]:
    """Operands, each list as the array of its items where the other is an array or a number of NumPy's; refused
    otherwise."""
    others = [x for x in (a, b) if not is_growing(x)]
    numpys = [isinstance(x, (ArrayRef, np.generic)) or (kind_of(x) or INT).name == "np" for x in others]
    if not any(numpys) or any(getattr(x, "maybe_python", False) for x in others):
        raise i.refuse(node, "an operator on a list whose length is only known at run time", "use np.array(x)")
    first, second = (array(i, node, x) if is_growing(x) else x for x in (a, b))
    return first, second


def call(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any], numpys: bool) -> Any:
    """A call of a function that is not the user's, with such lists among its arguments. `numpys`: whether it is
    NumPy's."""
    first = args[0] if args else None
    if function is len and len(args) == 1 and not kwargs and is_growing(first):
        return length(first)
    if function is list and len(args) == 1 and not kwargs and is_growing(first):
        return copy(i, node, first)
    if function is bool and len(args) == 1 and not kwargs and is_growing(first):
        return truth(i, node, first)
    if function is isinstance and len(args) == 2 and is_growing(first) and not among(args[1:]):
        return isinstance([], args[1])
    if function is type and len(args) == 1 and is_growing(first):
        return list
    if function is sorted and len(args) == 1 and is_growing(first) and kwargs.keys() <= {"reverse"}:
        return ordered(i, node, first, **kwargs)
    if function is reversed:  # which sees what is stored meanwhile
        raise i.refuse(node, "`reversed` of a list whose length is only known at run time", "loop over x[::-1]")
    direct = ITERATING if isinstance(function, type) or callable(function) else ()
    if any(function is f for f in direct):
        return i.call(node, function, [iterator(i, x) for x in args], kwargs)
    if numpys:
        return of_numpys(i, node, function, args, kwargs)
    name = getattr(function, "__name__", "this")
    raise i.refuse(node, f"a call of {name} with a list whose length is only known at run time", "use np.array(x)")


TYPED = (np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray)
"""Functions that make an array of a list's items, in the dtype that is their second parameter."""
FILLED = (np.require, np.full, np.full_like, np.fromiter, np.asarray_chkfinite)
"""Other functions that do."""


def check_converts(i: Evaluator, node: ast.AST, x: Any, dtype: Any) -> None:
    """NumPy converts the items one by one, as Python's numbers: ints that do not fit raise. Refuses what does not hold
    all items otherwise, but for floats of less precision."""
    if not is_growing(x):
        return
    kind, wanted = kind_in(x), ask(np.dtype, dtype)
    items = np.dtype(np.int64) if kind == INT else kind.element.dtype
    rounds = items.kind in "fc" and wanted.kind in "fc" and (wanted.kind == "c" or items.kind == "f")
    if not kind.python and (rounds or wanted.kind == "b" or np.can_cast(items, wanted, "safe")):
        return
    if kind != INT or wanted.kind not in "iu":
        reason = f"an array of {wanted} of a list of {kind.words}, which may not fit"
        raise i.refuse(node, reason, f"np.array(x).astype(np.{wanted}), which takes them as they fit")
    (held,), (low, high) = filled(i.r.facts, x), scalar_type(wanted).bounds
    i.call_function(prelude.check_fit, [held, low, min(high, scalar_type(items).bounds[1]), str(wanted)], {})


def of_numpys(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """A call of NumPy's function with the arrays of the items in place of such lists; in two branches where the type
    of the one list's array depends on whether there are items."""
    arrays = function in (np.array, np.asarray)
    wanted = next((x for x in (*args[1:2], kwargs.get("dtype")) if x is not None), None) if function in TYPED else None
    typed = wanted is not None
    if typed:
        check_converts(i, node, args[0], wanted)
    elif kwargs.get("dtype") is not None and function in FILLED:
        what = f"{getattr(function, '__name__', 'a call')} with dtype= of a list of run-time length"
        raise i.refuse(node, what, "use np.array(x)")
    places = [k for k, x in enumerate(args) if is_growing(x)]
    others = [x for k, x in enumerate(args) if k not in places]
    if not typed and len(places) == 1 and not among([*others, *kwargs.values()]) and may_be_float(i, args[places[0]]):
        if arrays and len(args) == 1 and not kwargs:
            return array(i, node, args[0])
        (k,) = places
        (*_, held), n = filled(i.r.facts, args[k]), length(args[k])
        given = [function, tuple(args[:k]), held, n, tuple(args[k + 1 :]), kwargs]
        return i.call_function(prelude.called_with_array, given, {})
    given = [as_arrays(i, node, x, typed) for x in args]
    return i.call(node, function, given, {k: as_arrays(i, node, x, typed) for k, x in kwargs.items()})


def iterator(i: Evaluator, x: Any) -> Any:
    """An iterator over the items of such a list; anything else as it is."""
    if not is_growing(x):
        return x
    return OneShotIterator("iterator", lambda _: items(i, x), i.r.frame)


def as_arrays(i: Evaluator, node: ast.AST, x: Any, typed: bool) -> Any:
    """A value with arrays in the place of such lists."""
    if is_growing(x):
        return array(i, node, x, typed)
    return type(x)([as_arrays(i, node, y, typed) for y in x]) if type(x) in (list, tuple) else x


def among(values: Sequence[Any]) -> bool:
    """Whether such a list is among values, or in a list or tuple among them."""
    return any(is_growing(x) or (type(x) in (list, tuple) and among(x)) for x in values)
