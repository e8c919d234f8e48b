"""What the columns of a growing list (record/growing) hold of its items, and items from them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.indexing import read_item
from tracebuf.frontends.numpy.call.containers import made_of
from tracebuf.frontends.numpy.functions.formulas import prelude
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.numbers.lattice import check_one_type, choice, from_values, to_values, unify, zeros
from tracebuf.frontends.numpy.numbers.python_ints import as_int_value, int_of_value, opaque
from tracebuf.frontends.numpy.paths.loops.alternatives import from_alternatives, to_alternatives
from tracebuf.frontends.numpy.record.callees import text_shape
from tracebuf.frontends.numpy.record.cond import Cond
from tracebuf.frontends.numpy.record.growing import (
    ARRAYS,
    Dicts,
    Elements,
    Form,
    Lists,
    OneOf,
    Ragged,
    Regrow,
    Several,
    Texts,
    Unfilled,
    known_texts,
    one_of,
    parts_of,
    ragged_of,
)
from tracebuf.frontends.numpy.record.heap import GroupRef, Record
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.refusals import name_of
from tracebuf.frontends.numpy.record.values import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    UNSURE_TYPES,
    ArrayRef,
    Kind,
    Kinds,
    NpScalar,
)
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim
from tracebuf.ir.types import I64, INDEX, ScalarType
from tracebuf.ops.scalars import arith

MOST_SHAPES = 32
"""The most shapes that texts in a list may have."""
DTYPES = {INT: np.dtype(np.int64), FLOAT: np.dtype(float), COMPLEX: np.dtype(complex), BOOL: np.dtype(bool)}
"""By kind of Python's numbers: the dtype of the array of such."""


def common(r: Recorder, forms: frozenset[Form]) -> Form | None:
    """The form of all items; None where there is none."""
    ordered: list[Form | None] = [*sorted(forms, key=lambda form: (form.words, str(form)))]
    found = reduce(partial(unify_forms, r), ordered) if ordered else None
    numbers = [f for f in ordered if isinstance(f, (Kind, OneOf))]
    if found is None and numbers and len(numbers) == len(forms):
        found = one_of(tuple(k for f in numbers for k in kinds_in(f)))
    return None if found is None else with_column(found)


def with_column(form: Form) -> Form:
    """A form that has a column: one of None alone gets flags, which say so."""
    if isinstance(form, Several) and any(part.types for part in parts_of(form)):
        return form
    if isinstance(form, Several):
        return Several(form.of, tuple(map(with_column, form.parts)))
    return OneOf((None, BOOL)) if isinstance(form, OneOf) and form.kinds == (None,) else form


def unify_forms(r: Recorder, a: Form | None, b: Form | None) -> Form | None:
    """The form that both forms widen to, or None."""
    if isinstance(a, ARRAYS) or isinstance(b, ARRAYS):
        return unify_arrays(r, a, b) if isinstance(a, ARRAYS) and isinstance(b, ARRAYS) else None
    if a is None or b is None:
        return None
    if isinstance(a, Lists) or isinstance(b, Lists):
        return unify_lists(r, a, b) if isinstance(a, Lists) and isinstance(b, Lists) else None
    if isinstance(a, Dicts) or isinstance(b, Dicts):
        return unify_dicts(r, a, b) if isinstance(a, Dicts) and isinstance(b, Dicts) else None
    if isinstance(a, Texts) or isinstance(b, Texts):
        return unify_texts(a, b) if isinstance(a, Texts) and isinstance(b, Texts) else None
    if not isinstance(a, Several) or not isinstance(b, Several):
        return None if isinstance(a, Several) or isinstance(b, Several) else unify_numbers(a, b)
    parts = [p for p in map(partial(unify_forms, r), a.parts, b.parts) if p is not None]
    alike = a.of is b.of and len(parts) == len(a.parts) == len(b.parts)
    return Several(a.of, tuple(parts)) if alike else None


def unify_arrays(r: Recorder, a: Elements | Ragged, b: Elements | Ragged) -> Elements | Ragged | None:
    """The form of arrays of either of two forms: the first axis may be of any length."""
    if a.element is not b.element:
        return None
    if isinstance(a, Elements) and isinstance(b, Elements):
        if len(a.shape) == len(b.shape) and all(map(r.ask_equal, a.shape, b.shape)):
            return a
    rests = [x.shape if isinstance(x, Ragged) else x.shape[1:] for x in (a, b)]
    alike = len(rests[0]) == len(rests[1]) and all(map(r.ask_equal, *rests))
    if not alike or not r.growth.any_lengths:
        return None
    return a if isinstance(a, Ragged) else b if isinstance(b, Ragged) else ragged_of(a)


def unify_lists(r: Recorder, a: Lists, b: Lists) -> Lists | None:
    """The form of lists of either of two forms: from the next tracing on they are of one."""
    if a == b:
        return a
    forms = frozenset(x.item for x in (a, b) if not isinstance(x.item, Unfilled))
    if not forms:
        return a
    if (item := common(r, forms)) is None:
        return None
    for x in (a, b):
        r.growth.widen(x.item, item)
    return Lists(item)


def unify_dicts(r: Recorder, a: Dicts, b: Dicts) -> Dicts | None:
    """The form of dicts of either of two forms: from the next tracing on they are of one."""
    values = unify_forms(r, a.values, b.values) if a.keys == b.keys and a.of is b.of else None
    if not isinstance(values, Several):
        return None
    found = Dicts(a.keys, values, a.of)
    for x in (a, b):
        r.growth.widen(x, found)
    return found


def unify_texts(a: Texts, b: Texts) -> Texts | None:
    """The form of texts of either of two forms, if there are not too many shapes."""
    if a.known and b.known:
        both = known_texts((*a.known, *b.known))
        return a if both == a else both if len(both.shapes) <= MOST_SHAPES else None
    found = (*a.shapes, *(shape for shape in b.shapes if shape not in a.shapes))
    return a if len(found) == len(a.shapes) else Texts(found) if len(found) <= MOST_SHAPES else None


def unify_numbers(a: Kind | OneOf, b: Kind | OneOf) -> Kind | OneOf | None:
    """The form of numbers of either of two forms: a kind that both widen to, else one of several."""
    if isinstance(a, Kind) and isinstance(b, Kind) and (widened := unify(a, b)) is not None:
        return widened
    return one_of((*kinds_in(a), *kinds_in(b)))


def kinds_in(form: Kind | OneOf) -> Kinds:
    """The kinds that numbers of a form may be of."""
    return form.kinds if isinstance(form, OneOf) else (form,)


def dtype_of(kind: Kind) -> np.dtype | None:
    """The dtype of np.array of numbers of a kind, if some are NumPy's; None where it depends on which are Python's."""
    found = DTYPES.get(kind, kind.element.dtype)
    return found if all(np.promote_types(found, other) == found for other in pythons(kind)) else None


def pythons(kind: Kind) -> list[np.dtype]:
    """The dtypes of arrays of the Python numbers that numbers of a kind may be, where NumPy has others."""
    return [np.dtype(python) for python in UNSURE_TYPES.get(kind.python, ())]


def element_of(type_: ScalarType) -> ScalarType:
    """The element type of a column."""
    return I64 if type_ is INDEX else type_


def check_item(i: Evaluator, node: ast.AST, item: Any) -> Form:
    """The form of an item; refuses what such a list does not hold."""
    if (found := i.r.growth.form_of(item)) is None:
        for x in parts_in(item):
            if isinstance(x, GroupRef):  # its dict is one of lists in lists in the next tracing
                i.r.growth.long.add(i.r.heap.known[x.of].label)
                raise Regrow
            check_one_type(i.r, x)
        odd = next((x for x in parts_in(item) if i.r.growth.form_of(x) is None), item)
        reason = f"a list or dict whose length is only known at run time gets a {name_of(odd)}"
        instead = "append numbers or arrays (in C order) of one type, or store into an array that is made before"
        raise i.refuse(node, reason, instead)
    return found


def parts_in(item: Any) -> Iterator[Any]:
    """The numbers and arrays that an item consists of, in order."""
    if isinstance(item, (tuple, list)):
        for part in item:
            yield from parts_in(part)
    else:
        yield item


def values_in(item: Any, form: Form) -> Iterator[Any]:
    """The values that the parts of an item's form are of, in order."""
    if isinstance(form, Several):
        for value, part in zip(item, form.parts):
            yield from values_in(value, part)
    else:
        yield item


def into_columns(i: Evaluator, item: Any, form: Form, in_dict: bool = False) -> list[Any]:
    """An item as what the columns hold of it: those of a list, or of a dict by run-time keys (`in_dict`)."""
    found: list[Any] = []
    for x, kind in zip(values_in(item, form), parts_of(form)):
        if isinstance(kind, (Lists, Dicts)):
            if isinstance(kind, Lists) and isinstance(kind.item, Dicts):
                raise i.r.refuse("lists of lists of dicts, or of items that are not alike", "use tuples, or arrays")
            found.append(i.number_of_list(x, kind.item if isinstance(kind, Lists) else kind))
            continue
        if isinstance(kind, ARRAYS):
            assert i.r.held is not None
            if i.r.maps is not None:
                raise i.r.refuse("a list of arrays of run-time length beside a memmap", "pass np.asarray(x)")
            i.r.held.note_held(i.r, x, in_dict)
            found.append(i.number_of_list(x, kind.item) if isinstance(kind, Ragged) else x)
            continue
        if isinstance(kind, Texts):
            found += text_columns(i.r, x, kind)
            continue
        if isinstance(kind, OneOf):
            found += [number(i.r, value) for value in to_alternatives(i.r, x, kind.kinds)]
            continue
        found += [x] if kind is INT else [number(i.r, value) for value in to_values(i.r, x, kind)]
    return found


def text_columns(r: Recorder, x: Any, form: Texts) -> list[Any]:
    """A text as what the columns hold of it."""
    return [number(r, value) for value in text_values(r, x, form)]


def text_values(r: Recorder, x: Any, form: Texts) -> list[Value]:
    """A text as the values of the columns; of a known text that is none of the form, -1."""
    if form.known and type(x) is str:
        return [r.index(form.known.index(x) if x in form.known else -1)]
    given = text_shape(x)
    assert given is not None
    own, numbers = given
    if type(x) is Cond and own not in form.shapes:
        arms = [text_values(r, arm, form) for arm in x.arms]
        return [r.emit(arith.Select.of(x.condition, *pair)) for pair in zip(*arms, strict=True)]
    values = list[Value]()
    for shape in form.shapes:
        for k, kind in enumerate(shape.kinds()):
            values += to_values(r, numbers[k], kind) if shape == own else zeros(r, kind)
    which = [r.index(form.shapes.index(own))] if len(form.types) > len(values) else []
    return [*which, *values]


def text_from(r: Recorder, loaded: Sequence[Value], form: Texts) -> Any:
    """The text that values from columns stand for."""
    rest, made = iter(loaded), []
    which = opaque(r, next(rest)) if len(form.shapes) > 1 else 0
    for shape in form.shapes:
        taken = ([typed(r, next(rest), t) for t in kind.types] for kind in shape.kinds())
        made.append(shape.text(from_values(r, values, kind, "item") for values, kind in zip(taken, shape.kinds())))
    found = made.pop()
    for k in reversed(range(len(made))):
        found = choice(r.compare("eq", which, k), made[k], found)
    return found


def typed(r: Recorder, value: Value, type_: ScalarType) -> Value:
    """An element of a column as a value of the type that the column stands for."""
    return r.index(opaque(r, value)) if type_ is INDEX else value


def number(r: Recorder, value: Value) -> Any:
    """An SSA value as a number to store."""
    assert isinstance(value.type, ScalarType)
    return int_of_value(r, value) if value.type is INDEX else NpScalar(value, value.type)


def from_columns(i: Evaluator, form: Form, held: Iterator[ArrayRef], place: Dim) -> Any:
    """The item at a place of the next columns. A list that is an item is not owned: it cannot be changed."""
    if isinstance(form, Several):
        return made_of(form.of, [from_columns(i, part, held, place) for part in form.parts])
    if isinstance(form, (Lists, Dicts)):
        inner = Record(i.r.growth.class_of_inner(form.item if isinstance(form, Lists) else form))
        inner.fields["number"] = int_of_value(i.r, i.r.load(next(held), (place,)))
        return inner
    if isinstance(form, ARRAYS):
        part: Any
        if isinstance(form, Ragged):
            part = i.array_of_number(int_of_value(i.r, i.r.load(next(held), (place,))), form.item)
        else:
            part = read_item(i.r, next(held), as_int_value(place))
        made: ArrayRef = i.call_function(prelude.copied, [part], {})
        assert i.r.held is not None
        i.r.held.note_read(i.r, made)
        return made
    taken = [i.r.load(next(held), (place,)) for _ in form.types]
    if isinstance(form, Texts):
        return text_from(i.r, taken, form)
    if isinstance(form, OneOf):
        wanted = [typed(i.r, v, t) for v, t in zip(taken, form.types)]
        return from_alternatives(i.r, wanted, form.kinds, "item")
    return int_of_value(i.r, taken[0]) if form == INT else from_values(i.r, taken, form, "item")
