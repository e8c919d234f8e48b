"""Lists whose length only the run time knows (record/growing): how they are made, changed and read.

What happens to elements is written in Python, in `prelude`. While a list is changed its columns are taken from it, so
that nothing else refers to them and they are changed in place. NumPy's functions take the array of the items
(`list_arrays`). Limitations: items are of one form (a number or tuple of NumPy's and Python's numbers of the same
type), a list is an item only where it is written out (`append([a, b])`), and what is not listed in `METHODS` and `call`
is refused.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.functions.formulas import prelude
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.interpreter.lists import tables
from tracebuf.frontends.numpy.interpreter.lists.items import (
    check_item,
    common,
    element_of,
    from_columns,
    into_columns,
    unify_forms,
)
from tracebuf.frontends.numpy.numbers.operands import scalar_value
from tracebuf.frontends.numpy.numbers.python_ints import as_int_value, bool_as_int, int_expr
from tracebuf.frontends.numpy.paths.iteration import Items, OneShotIterator, Watched, below
from tracebuf.frontends.numpy.record.by_identity import ByIdentity
from tracebuf.frontends.numpy.record.growing import (
    ARRAYS,
    LENGTH,
    Elements,
    Form,
    GrowingList,
    Lists,
    OneOf,
    Ragged,
    Regrow,
    Several,
    Texts,
    columns,
    filled,
    form_in,
    holds_list,
    is_growing,
    parts_of,
    python_of,
    size,
)
from tracebuf.frontends.numpy.record.heap import Heap, Record, contents, items_of
from tracebuf.frontends.numpy.record.raises import Raises, said
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
    PyComplex,
    PyFloat,
    PyInt,
    Scalar,
    kind_of,
)
from tracebuf.ir.dims import Dim, add, sub
from tracebuf.ir.types import I1, UI64
from tracebuf.ops.scalars import arith

PYTHONS = ((INT, "iu"), (FLOAT, "f"), (COMPLEX, "c"), (BOOL, "b"))
"""The kinds of Python's numbers, with those of the dtypes whose elements they hold."""
NUMBERS = (Kind, OneOf)
"""The forms of numbers."""
LONGEST = 2**40
"""Of the lists that any memory holds."""
FIRST = 16
"""The number of elements that there is room for at first."""


# -- making
def new(i: Evaluator, form: Form, python: type = list) -> Record:
    """The object that stands for a list or tuple of items of a form, without its attributes."""
    i.r.growth.made = True
    return Record(i.r.growth.class_of(form, python))


def replaced(i: Evaluator, made: Any) -> Any:
    """A list that was made just now; where it is known to grow, what stands for it."""
    forms = i.r.growth.known.get(i.r.loc)
    if forms is None or type(made) is not list:
        return made
    form = common(i.r, forms)
    if form is not None and not i.r.growth.nested and any(isinstance(p, Ragged) for p in parts_of(form)):
        i.r.growth.found_nested = True
        raise Regrow
    if form is None or any(isinstance(p, Kind) and p.python == EITHER for p in parts_of(form)):
        i.r.growth.found_nested |= any(isinstance(f, Several) and f.of is list for f in forms)
        names = " and ".join(sorted(f.words for f in forms))
        instead = "make them of one type: float(x), or 0.0 in place of 0"
        raise i.r.refuse(f"a list of {names} whose length is only known at run time", instead)
    nested = i.r.growth.nested
    if i.is_fixed_here() and any(unify_forms(i.r, form, i.r.growth.form_of(x)) is None for x in made):
        return made  # of a dict that is made at the same place
    if any(i.r.growth.form_of(x) is None or (holds_list(x) and not nested) for x in made):
        return made
    if len(made) > FIRST and isinstance(form, Lists) and i.r.loc not in i.r.growth.rolled:
        i.r.growth.long.add(i.r.loc)  # a comprehension of so many lists is made in a loop
        raise Regrow
    return begin(i, form, made)


def begin(i: Evaluator, form: Form, items: Sequence[Any], of: type[GrowingList] | None = None) -> Record:
    """A list of these items, of a form; `of`: its class, if it is no list."""
    r, made = i.r, new(i, form)
    made.kind = made.kind if of is None else of
    made.fields[LENGTH] = 0
    for part in parts_of(form):
        shape = (len(items), *part.shape) if isinstance(part, Elements) else (max(FIRST, 2 * len(items)),)
        for type_ in part.types:
            element, name = element_of(type_), f"column{len(made.fields) - 1}"
            made.fields[name] = ArrayRef(r.new_storage(element, shape, range(len(shape)), r.empty(element, shape)))
    r.heap.own(made, r)
    numbers = all(isinstance(p, NUMBERS) for p in parts_of(form))
    same = numbers and len(items) > FIRST and all(x is items[0] for x in items)
    for x in items[:1] if same else items:
        append(i, ast.Pass(), made, x)
    if same:
        n = len(items)
        set_parts(i, made, [i.call_function(prelude.repeated, [c, 1, n, n], {}) for c in columns(made)], n)
    return made


def given(i: Evaluator, tops: Sequence[Any]) -> list[Any]:
    """The arguments of a call, with growing lists for those lists whose items the run time picks or changes; so too in
    lists of lists."""
    heap, made = i.r.heap, ByIdentity[Any, Any]()

    def form_of(x: list[Any]) -> Form | None:
        forms = i.r.growth.arguments.get(heap.numbers[x], frozenset[Form]() if tables.is_known(i, x) else None)
        if forms is None or not is_held_by_lists(heap, x, tops):
            return None
        return common(i.r, forms.union(f for f in map(i.r.growth.form_of, x) if f is not None))

    if i.r.growth.arguments or i.hidden:
        tables.begin(i, form_of)
    for x in list(heap.numbers) if i.r.growth.arguments or i.hidden else ():
        if type(x) is not list or (form := form_of(x)) is None:
            continue
        if (column := tables.column(i, x, form)) is None:
            made[x] = begin(i, form, list(x))
        else:
            made[x] = new(i, form)
            made[x].fields.update({LENGTH: len(x), "column0": column})
            heap.own(made[x], i.r)
        heap.stand_for(made[x], x)
        if x in i.rows:
            i.rows[made[x]] = i.rows[x]
    for x in heap.numbers if made else ():
        if type(x) is list and any(item in made for item in x):
            x[:] = [made.get(item, item) for item in x]
            heap.originals = [(one, contents(one)) if one is x else (one, before) for one, before in heap.originals]
    return [made.get(x, x) for x in tops]


def is_held_by_lists(heap: Heap, x: Any, tops: Sequence[Any]) -> bool:
    """Whether of the caller's containers only lists hold one."""
    around = [y for y in heap.numbers if any(item is x for item in items_of(y))]
    return all(type(y) is list for y in around) and (bool(around) or any(x is top for top in tops))


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


def length_in_memory(i: Evaluator, x: Record) -> Any:
    """The length, of which is known that so many items are in memory: nothing that is computed of it overflows."""
    n, facts = size(x), i.r.facts
    facts.assume_nonneg(n)
    facts.assume_nonneg(sub(LONGEST, n))
    for column in columns(x):
        facts.assume_nonneg(sub(column.shape[0], n))
    return length(x)


def with_room(i: Evaluator, column: ArrayRef, n: Any) -> ArrayRef:
    """A column of n elements that has room for one more."""
    made = on_column(i, prelude.with_room, column, n)
    i.r.facts.assume_nonneg(sub(made.shape[0], add(n.expr if isinstance(n, PyInt) else int(n), 1)))
    return made  # type: ignore[no-any-return]


def set_parts(i: Evaluator, x: Record, held: Sequence[Any], n: Any) -> None:
    """Puts columns and a length into a list."""
    i.r.heap.put_back(x, i.r)
    x.fields.update({LENGTH: n, **{f"column{k}": c for k, c in enumerate(held)}})  # in the order of `begin`


def change(i: Evaluator, node: ast.AST, x: Record) -> list[Any]:
    """Notes that the list is changed; its columns, taken from it."""
    i.change(node, x)
    i.r.changed_lists.append(x)
    found = columns(x)
    assume_sizes(i, form_in(x), found)
    i.r.heap.take(x, i.r)
    x.fields.update((f"column{k}", None) for k in range(len(found)))
    return found


def assume_sizes(i: Evaluator, form: Form, held: Sequence[Any]) -> None:
    """Of columns of arrays it is known that the arrays are of the sizes that the items have."""
    types = ((part, t) for part in parts_of(form) for t in part.types)
    for (part, _), column in zip(types, held):
        if isinstance(part, Elements) and isinstance(column, ArrayRef):
            for one, wanted in zip(column.shape[1:], part.shape):
                if i.r.in_scope(one) and i.r.in_scope(wanted):
                    i.r.facts.assume_equal(one, wanted, entry=False)


def on_column(i: Evaluator, change: Callable[..., Any], *args: Any) -> Any:
    """Calls a function of `prelude` that changes a column: no store of the user's."""
    held = i.r.held
    if held is None:
        return i.call_function(change, list(args), {})
    held.paused += 1
    try:
        return i.call_function(change, list(args), {})
    finally:
        held.paused -= 1


# -- items in, and their places
def parts(i: Evaluator, node: ast.AST, x: Record, item: Any) -> list[Any]:
    """An item as what the columns hold of it."""
    written = isinstance(node, ast.Call) and bool(node.args) and isinstance(node.args[-1], ast.List)
    plain = written and type(item) is list and not any(map(holds_list, item))
    if holds_list(item) and not plain and not i.r.growth.nested:
        i.r.growth.found_nested = True
        reason = "a list becomes an item of a list of run-time length, and may change later"
        raise i.refuse(node, reason, "append a tuple, or the list written out: append([a, b])")
    form, found = form_in(x), check_item(i, node, item)
    if unify_forms(i.r, form, found) != form:
        i.change(node, x)  # which is for a list only that is here, under one name
        label = i.r.heap.known[x].label
        if i.r.growth.note(label, [item]) or i.r.growth.found_widened != i.r.growth.widened:
            raise Regrow
        raise i.refuse(node, f"a list of {form.words} gets {found.words}", "make the items of one type: float(x)")
    return into_columns(i, item, form)


def whole(i: Evaluator, node: ast.AST, x: Record, index: Any) -> Any:
    """An index as an int of Python's."""
    if isinstance(index, (int, PyInt, PyBool)) and not isinstance(index, bool):
        return index
    if isinstance(index, (Scalar, np.integer)) and kind_of(index).element.is_integer:  # type: ignore[union-attr]
        return i.call(node, int, [index], {})
    if index is None or isinstance(index, (float, PyFloat)):
        name = python_of(x).__name__
        words = "sequence index must be integer, not '{}'"
        words = words if name == "deque" else name + " indices must be integers or slices, not {}"
        raise Raises(TypeError(words.format("NoneType" if index is None else "float")))
    raise i.refuse(node, f"a {name_of(index)} as the index of a list of run-time length", "use an int")


def checked(i: Evaluator, node: ast.AST, x: Record, index: Any, what: str) -> Any:
    """An index as the number of an item; IndexError as Python's."""
    index = whole(i, node, x, index)
    return i.call_function(prelude.place_in, [length(x), index, what], {})


# -- reading
def item(i: Evaluator, node: ast.AST, x: Record, index: Any) -> Any:
    """x[index]."""
    if isinstance(index, slice):
        if python_of(x) is deque:
            raise Raises(TypeError("sequence index must be integer, not 'slice'"))
        return sliced(i, node, x, index, python_of(x))
    k = checked(i, node, x, index, f"{python_of(x).__name__} index out of range")
    return at(i, x, columns(x), k)


def at(i: Evaluator, x: Record, held: Sequence[ArrayRef], k: Any) -> Any:
    """Item k, which there is."""
    place = int_expr(bool_as_int(i.r, k) if isinstance(k, PyBool) else k)
    if place is None:
        raise i.r.refuse(f"a {name_of(k)} as an index of a list whose length is only known at run time", "use an int")
    return from_columns(i, form_in(x), iter(held), place)


def sliced(i: Evaluator, node: ast.AST, x: Record, index: slice, python: type = list) -> Record:
    """x[start:stop:step], a new list or tuple (`python`)."""
    made = new(i, form_in(x), python)
    if i.r.held is not None and any(isinstance(p, ARRAYS) for p in parts_of(form_in(x))):
        i.r.held.copied = True
    if not columns(x):
        return begin(i, form_in(x), [], made.kind)
    found = [i.call_function(prelude.copied, [i.subscript(node, v, index)], {}) for v in filled(i.r.facts, x)]
    set_parts(i, made, found, as_int_value(found[0].shape[0]))
    return widened(i, node, made)


def repeated(i: Evaluator, node: ast.AST, x: Record, times: Any) -> Record:
    """x * times, a new list."""
    made = new(i, form_in(x))
    set_parts(i, made, *over_again(i, node, x, times))
    return widened(i, node, made)


def repeat(i: Evaluator, node: ast.AST, x: Record, times: Any) -> None:
    """x *= times."""
    found, total = over_again(i, node, x, times)
    change(i, node, x)
    set_parts(i, x, found, total)


def over_again(i: Evaluator, node: ast.AST, x: Record, times: Any) -> tuple[list[Any], Any]:
    """The columns of x * times, and its length."""
    form = form_in(x)
    if any(isinstance(p, ARRAYS) for p in parts_of(form)) or form.words.startswith("a list"):
        reason = f"a list of items that are {form.words} is repeated, each of which is then there again"
        raise i.refuse(node, reason, "make an array of it: np.tile")
    total = i.call_function(prelude.at_least_0, [i.operate("Mult", length(x), times)], {})
    return [i.call_function(prelude.repeated, [c, length(x), times, total], {}) for c in columns(x)], total


def widened(i: Evaluator, node: ast.AST, made: Record) -> Record:
    """A list that was made of another one, as an object of its own; where it is known to get items of other forms, one
    for these too."""
    forms = i.r.growth.known.get(i.r.loc)
    form = common(i.r, forms | {form_in(made)}) if forms and python_of(made) is list else None
    if form is None or form == form_in(made):
        return i.r.heap.own(made, i.r)  # type: ignore[no-any-return]
    wide = begin(i, form, [])
    i.append_all(node, wide, made)
    return wide


def items(i: Evaluator, x: Record) -> Items:
    """What a loop over the list goes through. Where it changes meanwhile, the function is traced again with a loop that
    looks for an item each time."""
    held, n, inside = filled(i.r.facts, x), size(x), columns(x)
    then = [n, *inside]
    """What it was when the last item was taken."""

    def is_as_it_was() -> bool:
        return size(x) == n and all(a is b for a, b in zip(inside, columns(x)))

    def changes() -> BaseException:
        if i.r.loc in i.r.growth.changing:
            return i.r.refuse("a list changes in a loop over it", "loop over a copy: for x in list(items)")
        i.r.growth.found_changing.add(i.r.loc)
        return Regrow()

    def promised() -> None:
        if not is_as_it_was():
            raise changes()

    def get(k: Dim) -> Any:
        known = i.r.heap.find(x)
        if known is None or known.promises is None:
            promised()
        elif not is_as_it_was():  # the loop carries it, and may leave it as it is
            known.promises.append(promised)
        then[:] = [size(x), *columns(x)]
        return at(i, x, held, as_int_value(k))

    def now(k: Dim) -> Any:
        return at(i, x, filled(i.r.facts, x), as_int_value(k))

    def check(goes_on: bool | PyBool) -> None:
        as_it_was = size(x) == then[0] and all(a is b for a, b in zip(then[1:], columns(x)))
        if goes_on is not False and not as_it_was:
            raise changes()

    def more(k: Dim) -> bool | PyBool:
        return below(i.r, k, size(x))

    return Items(n, get, held, Watched(None, now, check, more, (x,)))


def check_comparable(i: Evaluator, node: ast.AST, x: Record, value: Any) -> None:
    """Refuses to look for a value that is no number or text among such, or for a tuple of others than ints; at run time
    for a NaN, which is found by its identity, that is not kept."""
    kinds = (*parts_of(form_in(x)), *parts_of(check_item(i, node, value)))
    for kind in kinds:
        ints = kind in (INT, BOOL) or (isinstance(kind, Kind) and kind.element.dtype.kind in "iub")
        number = ints or len(kinds) == 2 and (kind in (FLOAT, COMPLEX) or isinstance(kind, Kind))
        if not (number or isinstance(kind, Texts)) or (isinstance(kind, Kind) and kind.python == EITHER):
            reason = "a search for tuples of anything but ints, or what is no number, in a list of run-time length"
            raise i.refuse(node, reason, "compare with its array: np.any(np.array(x) == value)")
    if isinstance(value, (PyFloat, PyComplex, NpScalar, float, complex)):
        itself = scalar_value(i.r, i.compared(node, "Eq", value, value), I1)
        reason = "a NaN is looked for in a list whose length is only known at run time, by its identity"
        i.r.check(itself, UnsupportedError, reason)


def contains(i: Evaluator, node: ast.AST, x: Record, value: Any) -> Any:
    """`value in x`."""
    check_comparable(i, node, x, value)
    return i.compared(node, "GtE", i.call_function(prelude.first_place_of, [x, value], {}), 0)


def index(i: Evaluator, node: ast.AST, x: Record, value: Any, start: Any = None, stop: Any = None, /) -> Any:
    """x.index(value)."""
    if start is not None or stop is not None:
        raise i.refuse(node, "`index` of a part of a list of run-time length", "x[start:stop].index(value) + start")
    check_comparable(i, node, x, value)
    name = python_of(x).__name__
    if name == "list" and said([].index, 0).startswith("0 "):  # up to Python 3.13
        return i.call_function(prelude.place_of_item, [x, value], {})
    return i.call_function(prelude.place_to_remove, [x, value, f"{name}.index(x): x not in {name}"], {})


def count(i: Evaluator, node: ast.AST, x: Record, value: Any, /) -> Any:
    """x.count(value)."""
    check_comparable(i, node, x, value)
    return i.call_function(prelude.count_of, [x, value], {})


def iterator(i: Evaluator, x: Any) -> Any:
    """An iterator over the items of such a list; anything else as it is."""
    if not is_growing(x):
        return x
    return OneShotIterator("iterator", lambda _: items(i, x), i.r.frame)


# -- changing
def append(i: Evaluator, node: ast.AST, x: Record, item: Any, /) -> None:
    """x.append(item)."""
    new = parts(i, node, x, item)
    n, held, most = length_in_memory(i, x), change(i, node, x), x.kind.most  # type: ignore[attr-defined]
    if most is not None:
        limit = as_int_value(most)
        found = [on_column(i, prelude.appended_last, c, n, value, limit) for c, value in zip(held, new)]
        return set_parts(i, x, found, i.call_function(prelude.at_most, [i.operate("Add", n, 1), limit], {}))
    found = [with_room(i, c, n) for c in held]
    for column, value in zip(found, new):
        on_column(i, prelude.replaced, column, n, value)
    set_parts(i, x, found, i.operate("Add", n, 1))


def extend(i: Evaluator, node: ast.AST, x: Record, more: Any, /) -> None:
    """x.extend(more), of items whose number is known."""
    if is_growing(more) and more is x:
        raise i.refuse(node, "a list of run-time length is extended by itself", "x.extend(list(x))")
    place = i.r.loc
    if place in i.r.growth.rolled:
        return i.append_all(node, x, more)
    in_turn = isinstance(more, OneShotIterator)
    try:
        known = i.each(node, more) if in_turn else i.iterate_static(node, more)
        for value in known:
            append(i, node, x, value)
    except UnsupportedError:
        i.r.growth.note_long(place)
        raise


def pop(
    i: Evaluator, node: ast.AST, x: Record, index: Any = -1, /, *, message: str = "pop from empty list"
) -> Any:
    """x.pop(index); `message`: what the IndexError of an empty list says."""
    index = whole(i, node, x, index)
    k = i.call_function(prelude.place_to_pop, [length(x), index, message], {})
    found, n = at(i, x, columns(x), k), length(x)
    held = change(i, node, x)
    if index != -1:
        held = [on_column(i, prelude.without, c, n, k) for c in held]
    set_parts(i, x, held, i.operate("Sub", n, 1))
    return found


def without(i: Evaluator, node: ast.AST, x: Record, k: Any) -> None:
    """Takes item k, which there is, out of the list."""
    n = length(x)
    held = [on_column(i, prelude.without, c, n, k) for c in change(i, node, x)]
    set_parts(i, x, held, i.operate("Sub", n, 1))


def delete(i: Evaluator, node: ast.AST, x: Record, index: Any) -> None:
    """del x[index]."""
    check_mutable(x, "doesn't support item deletion")
    if isinstance(index, slice):
        return splice(i, node, x, index, [])
    without(i, node, x, checked(i, node, x, index, "list assignment index out of range"))


def remove(i: Evaluator, node: ast.AST, x: Record, value: Any, /) -> None:
    """x.remove(value)."""
    check_comparable(i, node, x, value)
    without(i, node, x, i.call_function(prelude.place_to_remove, [x, value, "list.remove(x): x not in list"], {}))


def insert(i: Evaluator, node: ast.AST, x: Record, index: Any, value: Any, /) -> None:
    """x.insert(index, value)."""
    new, n = parts(i, node, x, value), length_in_memory(i, x)
    k = i.call_function(prelude.place_among, [n, whole(i, node, x, index)], {})
    held = [with_room(i, c, n) for c in change(i, node, x)]
    found = [on_column(i, prelude.inserted, c, n, k, part) for c, part in zip(held, new)]
    set_parts(i, x, found, i.operate("Add", n, 1))


def clear(i: Evaluator, node: ast.AST, x: Record) -> None:
    """x.clear()."""
    set_parts(i, x, change(i, node, x), 0)


def store(i: Evaluator, node: ast.AST, x: Record, index: Any, value: Any) -> None:
    """x[index] = value."""
    check_mutable(x, "does not support item assignment")
    if isinstance(index, slice):
        return splice(i, node, x, index, value)
    k = checked(i, node, x, index, "list assignment index out of range")
    new = parts(i, node, x, value)
    n, held = length(x), change(i, node, x)
    for column, part in zip(held, new):
        on_column(i, prelude.replaced, column, k, part)
    set_parts(i, x, held, n)


def splice(i: Evaluator, node: ast.AST, x: Record, index: slice, value: Any) -> None:
    """x[start:stop] = value."""
    if index.step not in (None, 1) or python_of(x) is not list:
        raise i.refuse(node, "a slice with a step of a list of run-time length is changed", "store item by item")
    if any(isinstance(p, ARRAYS) for p in parts_of(form_in(x))):
        raise i.refuse(node, "a slice of a list of arrays of run-time length is changed", "make a list of what remains")
    if isinstance(value, OneShotIterator):
        value = i.call(node, list, [value], {})
    if type(value) in (list, tuple):
        for item in value:
            parts(i, node, x, item)  # which tells whether the list holds such
        value = begin(i, form_in(x), value)
    if not is_growing(value):
        reason = f"a slice of a list of run-time length becomes a {name_of(value)}"
        raise i.refuse(node, reason, "use a list: list(...)")
    if form_in(value) != form_in(x):
        raise i.refuse(node, f"a list of {form_in(x).words} gets {form_in(value).words}", "make the items of one type")
    n, m = length(x), length(value)
    start, stop = (given if given is None else whole(i, node, x, given) for given in (index.start, index.stop))
    start = 0 if start is None else i.call_function(prelude.place_among, [n, start], {})
    stop = n if stop is None else i.call_function(prelude.place_among, [n, stop], {})
    stop = i.call(node, max, [start, stop], {})
    new = [i.call_function(prelude.copied, [c], {}) for c in columns(value)] if value is x else columns(value)
    held = change(i, node, x)
    given = [(c, n, start, stop, more, m) for c, more in zip(held, new, strict=True)]
    made = i.operate("Add", i.operate("Sub", n, i.operate("Sub", stop, start)), m)
    set_parts(i, x, [on_column(i, prelude.spliced, *each) for each in given], made)


def copy(i: Evaluator, node: ast.AST, x: Record) -> Record:
    """x.copy()."""
    return sliced(i, node, x, slice(None))


# -- tuples
def transposed(i: Evaluator, node: ast.AST, x: Any) -> OneShotIterator | None:
    """zip(*x) of such a list of tuples: a tuple of each of their parts; None where it is no such list. Of a list
    without items there would be none."""
    if not is_growing(x) or not isinstance(form := form_in(x), Several) or not columns(x):
        return None
    if any(isinstance(p, ARRAYS) for p in parts_of(form)):
        raise i.refuse(node, "zip(*x) of a list of tuples of arrays", "a list for each part: [a for a, b in x]")
    i.r.require_nonneg(sub(size(x), 1), UnsupportedError, "zip(*x) of a list of run-time length that is empty")
    held = iter([i.call_function(prelude.copied, [column], {}) for column in filled(i.r.facts, x)])
    n = size(x)
    if not isinstance(n, int):
        n = i.r.symbol(i.r.emit(arith.MaxSI.of(i.r.index(n), i.r.index(1))), "items", 1)  # known not to be 0
    found = []
    for part in form.parts:
        made = new(i, part, tuple)
        set_parts(i, made, [next(held) for _ in part.types], as_int_value(n))
        found.append(i.r.heap.own(made, i.r))
    return OneShotIterator("zip", lambda _: list(found), i.r.frame)


def check_mutable(x: Record, what: str) -> None:
    """Raises what Python raises for a tuple that is changed."""
    if python_of(x) is tuple:
        raise Raises(TypeError(f"'tuple' object {what}"))


METHODS: dict[str, Callable[..., Any]] = {
    "append": append, "extend": extend, "pop": pop, "clear": clear, "copy": copy,
    "count": count, "index": index, "insert": insert, "remove": remove,
}  # fmt: skip
"""By name of the method of a list: its handler."""
OF_TUPLES: dict[str, Callable[..., Any]] = {"count": count, "index": index}
"""By name of the method of a tuple: its handler."""
