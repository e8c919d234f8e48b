"""Lists of numbers of the caller's whose items the run time picks or changes: NumPy makes one array of each when a call
begins, and of lists of as many numbers one table.

A list is a growing list on a copy of its array. The lists in a list of which nothing changes are views of the rows of
the table: `grid[i][j]` reads it at once, whatever the number of rows. Such a row is for reads where it is picked
(`READERS`); a row that gets a name is picked by the path (`picked`), for it is an object of the caller's. Where a list
of these changes, the function is traced again, and its rows are copies.

Limitations: the numbers are of one type (int, float or bool), and ints fit into 64 bits.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.reshape import whole_number
from tracebuf.frontends.numpy.call.captures import Hidden, NewCapture
from tracebuf.frontends.numpy.functions.formulas import prelude
from tracebuf.frontends.numpy.functions.indices import subscripts
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.record.growing import LENGTH, Form, Regrow
from tracebuf.frontends.numpy.record.heap import Record
from tracebuf.frontends.numpy.record.values import BOOL, FLOAT, INT, ArrayRef, NpScalar, PyBool, PyInt

READERS = (len, sum, min, max, sorted, list, tuple, set, any, all, enumerate, zip, reversed)
"""What only reads the items of a list that it is given."""
NUMBERS = {INT: (int, "int64"), FLOAT: (float, "float64"), BOOL: (bool, "bool")}
"""By form of the items: Python's type, and the dtype of the array."""


# -- arrays of lists
def array_of_list(fetch: Callable[..., Any], how: tuple[type, str, int], *given: Any) -> Any:
    """The array of a list of numbers of a type, or of lists of as many; None for anything else."""
    kind, dtype, ndim = how
    x = fetch(*given)
    rows = [x] if ndim == 1 else x
    if type(x) is not list or not all(type(row) is list and set(map(type, row)) <= {kind} for row in rows):
        return None
    try:
        return np.array(x, dtype)
    except (OverflowError, ValueError):  # of ints of more than 64 bits, of rows of several lengths
        return None


def array(i: Evaluator, x: list[Any], form: Form, ndim: int) -> ArrayRef | None:
    """The array that NumPy makes of a list of the caller's; None where it makes none."""
    path: Hidden | None = i.list_paths.get(x)
    if form not in NUMBERS or path is None or not x:
        return None
    hidden = path.made(array_of_list, (*NUMBERS[form], ndim))
    if hidden.place not in i.hidden:
        raise NewCapture(hidden)
    found = i.hidden[hidden.place]
    return found if isinstance(found, ArrayRef) and found.ndim == ndim else None


def is_known(i: Evaluator, x: list[Any]) -> bool:
    """Whether an earlier tracing has found that the run time picks items of a list, or of lists that it is in one
    with."""
    if i.r.growth.patient:
        return False
    ways = [(x, 1), *((y, 2) for y in around(i, x))]
    paths = [(path, ndim) for y, ndim in ways if (path := i.list_paths.get(y)) is not None]
    return any(
        path.made(array_of_list, (*how, ndim)).place in i.hidden for path, ndim in paths for how in NUMBERS.values()
    )


# -- tables
def begin(i: Evaluator, form_of: Callable[[Any], Form | None]) -> None:
    """Makes the tables of the lists of lists whose items the run time picks; `form_of`: the form of the items of a list
    of the caller's that is to be a growing one."""
    for x in list(i.r.heap.numbers):
        if type(x) is not list or len(x) < 2 or len({id(row) for row in x}) < len(x):
            continue
        forms = [form_of(row) if type(row) is list else None for row in x]
        if forms[0] is None or any(form != forms[0] for form in forms) or any(len(row) != len(x[0]) for row in x):
            continue
        if (made := array(i, x, forms[0], 2)) is not None:
            i.tables[x] = made
            for k, row in enumerate(x):
                i.rows[row] = (x, k)


def column(i: Evaluator, x: list[Any], form: Form) -> ArrayRef | None:
    """The array of the items of a list of the caller's; None where there is none."""
    if x not in i.rows:
        made = array(i, x, form, 1)
        return None if made is None else i.call_function(prelude.copied, [made], {})
    table, k = i.rows[x]
    row: ArrayRef = subscripts.read(i.r, i.tables[table], k)  # type: ignore[assignment]
    return row if is_fixed(i, table) else i.call_function(prelude.copied, [row], {})


def is_fixed(i: Evaluator, table: list[Any]) -> bool:
    """Whether nothing changes a list of lists, or a list in it."""
    number = i.r.heap.number(table)
    return number is not None and number not in i.r.growth.changing_tables


def note_change(i: Evaluator, x: Any) -> None:
    """Notes that a container is changed; traces again where the program reads it as a table."""
    found = x if type(x) is list and x in i.tables else i.rows[x][0] if x in i.rows else None
    if found is not None and is_fixed(i, found):
        number = i.r.heap.number(found)
        assert number is not None
        i.r.growth.found_changing_tables.add(number)
        raise Regrow


def row(i: Evaluator, node: ast.AST, x: list[Any], index: Any) -> Any:
    """x[index] of a table, for reads; NotImplemented for other lists, and other uses of the row."""
    if node not in i.row_reads or x not in i.tables or not is_fixed(i, x):
        return NotImplemented
    if isinstance(index, NpScalar) and index.element.is_integer:
        index = i.call(node, int, [index], {})
    if not isinstance(index, (PyInt, PyBool)) or i.r.entry_only(whole_number(i.r, index)):
        return NotImplemented
    k = i.call_function(prelude.place_in, [len(x), index, "list index out of range"], {})
    made = Record(x[0].kind)
    made.fields[LENGTH] = x[0].fields[LENGTH]
    made.fields["column0"] = subscripts.read(i.r, i.tables[x], k)
    i.rows[made] = (x, -1)
    return made


def around(i: Evaluator, x: list[Any]) -> list[list[Any]]:
    """The caller's lists that a list is in."""
    return [y for y in i.r.heap.numbers if type(y) is list and any(item is x for item in y)]


def note_reads(i: Evaluator, nodes: Sequence[ast.AST]) -> None:
    """Notes that what expressions give is only read."""
    i.row_reads.update(node for node in nodes if isinstance(node, ast.Subscript))
