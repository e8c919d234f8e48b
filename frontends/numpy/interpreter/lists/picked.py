"""An item of a tuple by an index that only the run time knows: one of a table of items that are alike, or of a few
others by the path; one of the arrays of a list of the caller's, by the path."""

from __future__ import annotations

import ast
from typing import Any

from tracebuf.frontends.numpy.arrays.creation import asarray
from tracebuf.frontends.numpy.arrays.reshape import whole_number
from tracebuf.frontends.numpy.functions.formulas import prelude
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.interpreter.lists.items import common, from_columns, into_columns
from tracebuf.frontends.numpy.numbers.scalars import compare
from tracebuf.frontends.numpy.record.growing import ARRAYS, Dicts, Lists, parts_of
from tracebuf.frontends.numpy.record.heap import Record
from tracebuf.frontends.numpy.record.values import ArrayRef, NpScalar, PyBool, PyInt
from tracebuf.location import Location

MOST = 8
"""Items that are not alike, of which one is picked by the path."""
MOST_OF_CALLERS = 32
"""Arrays or objects of the caller's, of which one is picked by the path."""


def item(i: Evaluator, node: ast.AST, x: tuple[Any, ...], index: Any) -> Any:
    """x[index]; NotImplemented for an index that is known while tracing, and for many items that are not alike."""
    if isinstance(index, NpScalar) and index.element.is_integer:
        index = i.call(node, int, [index], {})
    if not isinstance(index, (PyInt, PyBool)) or i.r.entry_only(whole_number(i.r, index)):
        return NotImplemented
    forms = [i.r.growth.form_of(part) for part in x]
    form = None if None in forms else common(i.r, frozenset(f for f in forms if f is not None))
    alike = form is not None and not any(isinstance(part, (*ARRAYS, Lists, Dicts)) for part in parts_of(form))
    if not alike and len(x) > MOST:
        return NotImplemented
    k = i.call_function(prelude.place_in, [len(x), index, "tuple index out of range"], {})
    if form is None or not alike:
        return i.call_function(prelude.picked, [x, k], {})
    table = [asarray(i.r, list(column)) for column in zip(*(into_columns(i, part, form) for part in x))]
    return from_columns(i, form, iter(table), whole_number(i.r, k))


def item_of_callers(i: Evaluator, node: ast.AST, x: list[Any], index: Any) -> Any:
    """x[index] of a list of the caller's arrays or objects, which are the caller's own also where they are stored to;
    NotImplemented for an index that is known while tracing, for many items or others, and for lists made here, which
    become tables."""
    k = place_in_callers(i, node, x, index, "list index out of range")
    return NotImplemented if k is None else i.call_function(prelude.picked, [tuple(x), k], {})


def store_in_callers(i: Evaluator, node: ast.AST, x: list[Any], index: Any, value: Any) -> bool:
    """x[index] = value of such a list; whether it is one, and the value is like its items."""
    if not x or sort_of(value) != sort_of(x[0]):
        return False
    k = place_in_callers(i, node, x, index, "list assignment index out of range")
    if k is not None:
        i.call_function(prelude.put, [x, k, value], {})
    return k is not None


def place_in_callers(i: Evaluator, node: ast.AST, x: list[Any], index: Any, message: str) -> Any:
    """The place of an item of such a list, checked; None for others."""
    known = i.r.heap.find(x)
    made_here = known is None or isinstance(known.label, Location)
    if made_here or not 0 < len(x) <= MOST_OF_CALLERS or len(set(map(sort_of, x))) > 1 or sort_of(x[0]) is None:
        return None
    if isinstance(index, NpScalar) and index.element.is_integer:
        index = i.call(node, int, [index], {})
    if not isinstance(index, (PyInt, PyBool)) or i.r.entry_only(whole_number(i.r, index)):
        return None
    k = i.call_function(prelude.place_in, [len(x), index, message], {})
    for j in range(len(x)):  # before any branch, so that a store knows which item a read has picked
        compare(i.r, "Eq", k, j)
    return k


def sort_of(x: Any) -> object:
    """What items are alike in, of which one is picked by the path; None for others."""
    return (x.element, x.ndim) if isinstance(x, ArrayRef) else x.kind if isinstance(x, Record) else None
