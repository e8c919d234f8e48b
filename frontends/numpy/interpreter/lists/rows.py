"""Dicts that are items of lists of run-time length: records of known keys, which are one object wherever they are; and
lists of a few items that are not alike (`[name, 0, x]`), whose keys are their places.

As lists that are items (references): such a dict is known by a number, and the values of all dicts of a form are in a
list of tuples, their pool. Limitation: no other keys are put in, and none are taken out.
"""

from __future__ import annotations

import ast
import operator
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.functions.formulas import prelude
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.interpreter.lists import growing
from tracebuf.frontends.numpy.interpreter.lists.items import check_item, from_columns, into_columns, unify_forms
from tracebuf.frontends.numpy.numbers.python_ints import int_expr
from tracebuf.frontends.numpy.paths.iteration import LiveItems
from tracebuf.frontends.numpy.record.growing import Dicts, Regrow, Several, columns, row_type
from tracebuf.frontends.numpy.record.heap import Record
from tracebuf.frontends.numpy.record.raises import Raises, ask

ONE_TYPE = "make the items of one type: float(x)"


def form_of(x: Record) -> Dicts:
    """The form of the dict that a reference is to."""
    return x.kind.pool  # type: ignore[attr-defined, no-any-return]


def held_of(i: Evaluator, x: Record) -> Record:
    """The list of the values of all dicts of its form."""
    found: Record = i.pools[form_of(x)].fields["held"]
    return found


def put(i: Evaluator, node: ast.AST, x: Any, form: Dicts) -> Any:
    """The number of a new dict or list, with the values of one that is made here."""
    keys = tuple(x) if isinstance(x, dict) else tuple(range(len(x)))
    if type(x) is not form.of or form.keys != keys:
        raise i.refuse(node, "dicts of unlike keys in a list of run-time length", "give all the same keys")
    held = i.pools[form].fields["held"]
    n = growing.length(held)
    values: Any = x.values() if isinstance(x, dict) else x
    growing.append(i, node, held, tuple(values))
    return n


def columns_of(i: Evaluator, x: Record, key: Any) -> tuple[Any, slice]:
    """The form of the value of a key, and which columns hold it."""
    form = form_of(x)
    k = form.keys.index(key)
    first = sum(len(part.types) for part in form.values.parts[:k])
    return form.values.parts[k], slice(first, first + len(form.values.parts[k].types))


def read(i: Evaluator, node: ast.AST, x: Record, key: Any) -> Any:
    """x[key]."""
    if isinstance(key, slice) and row_type(x) is list:
        return i.subscript(node, listing(i, x), key)
    key = known_key(i, node, x, key, "list index out of range")
    if key not in form_of(x).keys:
        raise Raises(KeyError(key))
    form, places = columns_of(i, x, key)
    number = int_expr(x.fields["number"])
    assert number is not None
    return from_columns(i, form, iter(columns(held_of(i, x))[places]), number)


def known_key(i: Evaluator, node: ast.AST, x: Record, key: Any, message: str) -> Any:
    """A key, which is known while tracing; of a list the place, with the words of an IndexError."""
    if row_type(x) is list:
        if isinstance(key, slice):
            raise i.refuse(node, "a slice of a list of items that are not alike is changed", "store item by item")
        n = len(form_of(x).keys)
        if isinstance(key, (str, float, tuple, type(None))):
            ask(operator.getitem, [], key)  # raises what Python raises
        place = int(key) if isinstance(key, (bool, np.integer)) else int_expr(key)
        if not isinstance(place, int):
            reason = "an index that only the run time knows, of a list of items that are not alike"
            raise i.refuse(node, reason, "a dict by the path, or an array of the numbers")
        if not -n <= place < n:
            raise Raises(IndexError(message))
        return place % n
    check_known(i, node, key)
    return key


def check_known(i: Evaluator, node: ast.AST, key: Any) -> None:
    """Refuses a key that only the run time knows."""
    if not isinstance(key, (str, int, float, tuple, type(None))):
        raise i.refuse(node, "a key that only the run time knows, of a dict that is an item of a list", "use texts")


def store(i: Evaluator, node: ast.AST, x: Record, key: Any, value: Any) -> None:
    """x[key] = value, of a key that there is."""
    key = known_key(i, node, x, key, "list assignment index out of range")
    form = form_of(x)
    if key not in form.keys:
        raise i.refuse(node, "a dict that is an item of a list gets another key", "give it the key where it is made")
    part, places = columns_of(i, x, key)
    wider = unify_forms(i.r, part, check_item(i, node, value))
    if wider is None:
        reason = f"a {form.of.__name__} that is an item of a list has {part.words} for {key!r}, and gets another value"
        raise i.refuse(node, reason, ONE_TYPE)
    if wider != part:
        parts = [wider if k == key else p for k, p in zip(form.keys, form.values.parts)]
        i.r.growth.widen(form, Dicts(form.keys, Several(tuple, tuple(parts)), form.of))
        raise Regrow
    new, held = into_columns(i, value, part), held_of(i, x)
    n, found = growing.length(held), growing.change(i, node, held)
    for column, one in zip(found[places], new, strict=True):
        growing.on_column(i, prelude.replaced, column, x.fields["number"], one)
    growing.set_parts(i, held, found, n)


def listing(i: Evaluator, x: Record) -> Any:
    """What is read of the dict or list: a copy, which is not changed."""
    found = {key: read(i, ast.Pass(), x, key) for key in form_of(x).keys}
    return found if row_type(x) is dict else [*found.values()]


def items(i: Evaluator, x: Record) -> list[Any]:
    """What a loop goes through: the keys, or the items of a list, each as it is when its turn comes."""
    keys = form_of(x).keys
    if row_type(x) is dict:
        return list(keys)
    return LiveItems(lambda k: (read(i, ast.Pass(), x, k),) if k < len(keys) else ())
