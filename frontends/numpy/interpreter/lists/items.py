"""What the columns of a growing list (record/growing) hold of its items, and items from them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.call.containers import made_of
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.numbers.lattice import check_one_type, from_values, to_values, unify
from tracebuf.frontends.numpy.numbers.python_ints import int_of_value
from tracebuf.frontends.numpy.record.growing import Form, Several, form_of, kinds_of
from tracebuf.frontends.numpy.record.refusals import name_of
from tracebuf.frontends.numpy.record.values import BOOL, COMPLEX, FLOAT, INT, UNSURE_TYPES, Kind, NpScalar
from tracebuf.ir.core import Value
from tracebuf.ir.types import I64, INDEX, ScalarType

DTYPES = {INT: np.dtype(np.int64), FLOAT: np.dtype(float), COMPLEX: np.dtype(complex), BOOL: np.dtype(bool)}
"""By kind of Python's numbers: the dtype of the array of such."""


def common(forms: frozenset[Form]) -> Form | None:
    """The form of all items; None where there is none."""
    return reduce(unify_forms, forms) if forms else None  # type: ignore[arg-type]


def unify_forms(a: Form | None, b: Form | None) -> Form | None:
    """The form that both forms widen to, or None."""
    if not isinstance(a, Several) or not isinstance(b, Several):
        numbers = not isinstance(a, Several) and not isinstance(b, Several)
        return unify(a, b) if numbers else None  # type: ignore[arg-type]
    parts = [p for p in map(unify_forms, a.parts, b.parts) if p is not None]
    alike = a.of is b.of and len(parts) == len(a.parts) == len(b.parts)
    return Several(a.of, tuple(parts)) if alike else None


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
    for x in numbers_in(item):
        check_one_type(i.r, x)
    if (found := form_of(item)) is None:
        reason = f"a list whose length is only known at run time gets a {name_of(item)}"
        raise i.refuse(
            node, reason, "append numbers of one type, tuples of such, or store into an array that is made before"
        )
    return found


def holds_list(item: Any) -> bool:
    """Whether an item is a list, or a tuple that holds one."""
    return isinstance(item, list) or (isinstance(item, tuple) and any(map(holds_list, item)))


def numbers_in(item: Any) -> Iterator[Any]:
    """The numbers that an item consists of, in order."""
    if isinstance(item, (tuple, list)):
        for part in item:
            yield from numbers_in(part)
    else:
        yield item


def into_columns(i: Evaluator, item: Any, form: Form) -> list[Any]:
    """An item as what the columns hold of it."""
    found: list[Any] = []
    for x, kind in zip(numbers_in(item), kinds_of(form)):
        found += [x] if kind is INT else [number(value) for value in to_values(i.r, x, kind)]
    return found


def number(value: Value) -> Any:
    """An SSA value as a number to store."""
    assert isinstance(value.type, ScalarType)
    return NpScalar(value, value.type)


def from_columns(i: Evaluator, form: Form, elements: Sequence[Any]) -> Any:
    """The item that elements of the columns are."""
    return built(i, form, iter([e.value for e in elements]))


def built(i: Evaluator, form: Form, values: Iterator[Value]) -> Any:
    """The item whose parts are the next values. A list that is an item is not owned: it cannot be changed."""
    if isinstance(form, Several):
        return made_of(form.of, [built(i, part, values) for part in form.parts])
    taken = [next(values) for _ in form.types]
    return int_of_value(i.r, taken[0]) if form == INT else from_values(i.r, taken, form, "item")
