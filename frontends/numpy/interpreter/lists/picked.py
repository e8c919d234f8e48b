"""An item of a tuple by an index that only the run time knows: one of a table of items that
are alike, or of a few others by the path."""

from __future__ import annotations

import ast
from typing import Any

from tracebuf.frontends.numpy.arrays.creation import asarray
from tracebuf.frontends.numpy.arrays.reshape import whole_number
from tracebuf.frontends.numpy.functions.formulas import prelude
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.interpreter.lists.items import common, from_columns, into_columns
from tracebuf.frontends.numpy.record.growing import ARRAYS, Dicts, Lists, parts_of
from tracebuf.frontends.numpy.record.values import NpScalar, PyBool, PyInt

MOST = 8
"""Items that are not alike, of which one is picked by the path."""


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
