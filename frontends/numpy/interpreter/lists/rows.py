"""Dicts that are items of lists of run-time length: records of known keys, which are one object wherever they are.

As lists that are items (references): such a dict is known by a number, and the values of all dicts of a form are in a
list of tuples, their pool. Limitation: no other keys are put in, and none are taken out.
"""

from __future__ import annotations

import ast
from typing import Any

from tracebuf.frontends.numpy.functions.formulas import prelude
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.interpreter.lists import growing
from tracebuf.frontends.numpy.interpreter.lists.items import check_item, from_columns, into_columns, unify_forms
from tracebuf.frontends.numpy.numbers.python_ints import int_expr
from tracebuf.frontends.numpy.record.growing import Dicts, Regrow, Several, columns
from tracebuf.frontends.numpy.record.heap import Record
from tracebuf.frontends.numpy.record.raises import Raises

ONE_TYPE = "make the items of one type: float(x)"


def form_of(x: Record) -> Dicts:
    """The form of the dict that a reference is to."""
    return x.kind.pool  # type: ignore[attr-defined, no-any-return]


def held_of(i: Evaluator, x: Record) -> Record:
    """The list of the values of all dicts of its form."""
    found: Record = i.pools[form_of(x)].fields["held"]
    return found


def put(i: Evaluator, node: ast.AST, x: dict[Any, Any], form: Dicts) -> Any:
    """The number of a new dict, with the values of one that is made here."""
    if form.keys != tuple(x):
        raise i.refuse(node, "dicts of unlike keys in a list of run-time length", "give all the same keys")
    held = i.pools[form].fields["held"]
    n = growing.length(held)
    growing.append(i, node, held, tuple(x.values()))
    return n


def columns_of(i: Evaluator, x: Record, key: Any) -> tuple[Any, slice]:
    """The form of the value of a key, and which columns hold it."""
    form = form_of(x)
    k = form.keys.index(key)
    first = sum(len(part.types) for part in form.values.parts[:k])
    return form.values.parts[k], slice(first, first + len(form.values.parts[k].types))


def read(i: Evaluator, node: ast.AST, x: Record, key: Any) -> Any:
    """x[key]."""
    check_known(i, node, key)
    if key not in form_of(x).keys:
        raise Raises(KeyError(key))
    form, places = columns_of(i, x, key)
    number = int_expr(x.fields["number"])
    assert number is not None
    return from_columns(i, form, iter(columns(held_of(i, x))[places]), number)


def check_known(i: Evaluator, node: ast.AST, key: Any) -> None:
    """Refuses a key that only the run time knows."""
    if not isinstance(key, (str, int, float, tuple, type(None))):
        raise i.refuse(node, "a key that only the run time knows, of a dict that is an item of a list", "use texts")


def store(i: Evaluator, node: ast.AST, x: Record, key: Any, value: Any) -> None:
    """x[key] = value, of a key that there is."""
    check_known(i, node, key)
    form = form_of(x)
    if key not in form.keys:
        raise i.refuse(node, "a dict that is an item of a list gets another key", "give it the key where it is made")
    part, places = columns_of(i, x, key)
    wider = unify_forms(i.r, part, check_item(i, node, value))
    if wider is None:
        raise i.refuse(node, f"a dict of {part.words} gets another value for {key!r}", ONE_TYPE)
    if wider != part:
        parts = [wider if k == key else p for k, p in zip(form.keys, form.values.parts)]
        i.r.growth.widen(form, Dicts(form.keys, Several(tuple, tuple(parts))))
        raise Regrow
    new, held = into_columns(i, value, part), held_of(i, x)
    n, found = growing.length(held), growing.change(i, node, held)
    for column, one in zip(found[places], new, strict=True):
        growing.on_column(i, prelude.replaced, column, x.fields["number"], one)
    growing.set_parts(i, held, found, n)


def listing(i: Evaluator, x: Record) -> dict[Any, Any]:
    """What is read of the dict: a copy, which is not changed."""
    return {key: read(i, ast.Pass(), x, key) for key in form_of(x).keys}
