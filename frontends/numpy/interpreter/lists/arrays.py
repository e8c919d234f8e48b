"""NumPy's functions, operators and indices with growing lists: they take the array of the items, a copy."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import reduce
from typing import Any, TypeGuard

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.functions.formulas import prelude
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.interpreter.lists import references
from tracebuf.frontends.numpy.interpreter.lists.items import DTYPES, dtype_of, pythons
from tracebuf.frontends.numpy.record.callees import Method
from tracebuf.frontends.numpy.record.growing import (
    LENGTH,
    Elements,
    Lists,
    OneOf,
    Ragged,
    Several,
    axes_of,
    columns,
    filled,
    form_in,
    is_growing,
    size,
)
from tracebuf.frontends.numpy.record.heap import Record
from tracebuf.frontends.numpy.record.raises import ask
from tracebuf.frontends.numpy.record.values import FLOAT, INT, ArrayRef, Kind, PyBool, kind_of
from tracebuf.ir.dims import sub
from tracebuf.ir.types import F64, I1, scalar_type

TYPED = (np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray)
"""Functions that make an array of a list's items, in the dtype that is their second parameter."""
JOINING = (np.stack, np.vstack, np.hstack, np.concatenate)
"""Functions that take the items as arrays of their own."""
FILLED = (np.require, np.full, np.full_like, np.fromiter, np.asarray_chkfinite)
"""Other functions that do."""
INDICES = {"take": 1, "put": 1, "delete": 1, "insert": 1, "bincount": 0, "repeat": 1, "at": 1, "unravel_index": 0}
"""By name of a function: which of its arguments is an index, where an empty list is one of ints."""
NOT_BY_ARRAYS = (np.block, np.histogramdd, np.copyto, np.place, np.putmask, np.fill_diagonal, np.expand_dims,
                 np.trim_zeros)  # fmt: skip
"""Functions to which a list is another thing than its array."""


FLOATS = (FLOAT, Kind("np", F64), Kind("np", F64, "float"))
"""The kinds of numbers of which a list's array is one of float64."""


def are_floats(form: Any) -> TypeGuard[OneOf]:
    """Whether items are of several kinds, of which a list's array is one of float64, unless all are ints."""
    return isinstance(form, OneOf) and form.kinds != (INT,) and all(kind in (INT, *FLOATS) for kind in form.kinds)


def may_be_empty(i: Evaluator, x: Record) -> bool:
    """Whether only the run time knows whether there are items."""
    return i.r.ask_nonneg(sub(size(x), 1)) is not True


def may_differ(i: Evaluator, x: Record) -> bool:
    """Whether the array of a list is another one, of float64 and one axis, if the list is empty, which it may be."""
    form = form_in(x)
    return not are_floats(form) and (not isinstance(form, Kind) or form.element is not F64) and is_open(i, x)


def is_open(i: Evaluator, x: Record) -> bool:
    """Whether a list may be empty, unless it is assumed to have items: then the program refuses what has none."""
    if not may_be_empty(i, x):
        return False
    if i.r.growth.assumes_items:
        some = i.compared(ast.Pass(), "GtE", x.fields[LENGTH], 1)
        if isinstance(some, PyBool):
            i.r.check(some.value, UnsupportedError, "the array of an empty list is of another type than that of items")
        return some is False
    i.r.growth.forked = True
    return True


def maker(i: Evaluator, node: ast.AST, x: Record, dtype: np.dtype | None = None) -> tuple[Any, tuple[Any, ...]]:
    """A function of `prelude`, and its arguments, that makes the array of the items, which there are."""
    form, held = form_in(x), filled(i.r.facts, x)
    if isinstance(form, (Lists, Ragged)):
        return tabulated(i, node, x, dtype)
    kinds: Sequence[Any] = form.parts if isinstance(form, Several) else [form]
    values, dtypes = list[Any](), list[np.dtype]()
    for kind in kinds:
        if isinstance(form, Elements):
            same = dtype is None or dtype == form.element.dtype
            return (prelude.copied, tuple(held)) if same else converted(i, node, form, held, dtype)
        if are_floats(kind) and dtype in (None, np.float64):
            values.append(as_floats(i, x, kind, held[: len(kind.types)], sure=dtype is not None))
            dtypes.append(np.dtype(float))
            held = held[len(kind.types) :]
            continue
        if isinstance(kind, OneOf) and len(kind.kinds) == 2 and kind.kinds[0] is None:
            check_none_left(i, x, held[0])
            kind, held = kind.kinds[1], held[1:]
        if not isinstance(kind, Kind):
            instead = "make an array before, and store its elements"
            raise i.refuse(node, f"the array of a list of items that are {form.words}", instead)
        (*flags, column), held = held[: len(kind.types)], held[len(kind.types) :]
        if dtype is None:
            dtypes.append(known_dtype(i, node, x, kind, flags))
        else:
            dtypes.append(DTYPES.get(kind, kind.element.dtype))
        values.append(column)
    if not isinstance(form, Several):
        return prelude.copied, (values[0],)
    wanted = np.result_type(*dtypes) if dtype is None else dtype
    if any(not fits(found, wanted) for found in dtypes):
        reason = f"an array of {wanted} of a list of items that are {form.words}, which may not fit"
        raise i.refuse(node, reason, f"np.array(x).astype(np.{wanted}), which takes them as they fit")
    return prelude.table_of, (tuple(values), wanted)


def tabulated(i: Evaluator, node: ast.AST, x: Record, dtype: np.dtype | None) -> tuple[Any, tuple[Any, ...]]:
    """As `maker`, for lists that are items."""
    form = form_in(x)
    assert isinstance(form, (Lists, Ragged))
    made = references.rows(i, node, x)
    if isinstance(form.item, Kind) and dtype in (None, DTYPES.get(form.item, form.item.element.dtype)):
        wanted = known_dtype(i, node, made, form.item, ()) if not form.item.python else None
        if wanted is not None:
            return prelude.copied, (made.fields["column0"],)
    if are_floats(form.item) and dtype in (None, np.float64):
        return prelude.copied, (as_floats(i, made, form.item, columns(made), sure=dtype is not None),)
    instead = "make an array before, and store its elements"
    raise i.refuse(node, f"the array of a list of items that are {form.words}", instead)


def check_none_left(i: Evaluator, x: Record, flags: ArrayRef) -> None:
    """Refuses the array of a list of numbers where some item is None yet when the program runs: flags say which."""
    reason = "the array of a list of numbers of which some are None"
    some = i.truth(ast.Pass(), i.call(ast.Pass(), np.any, [flags], {}))
    if some is not False:
        sure = i.negate(some).value if isinstance(some, PyBool) else i.r.constant(False, I1)
        i.r.check(sure, UnsupportedError, reason)


def as_floats(i: Evaluator, x: Record, form: OneOf, held: Sequence[ArrayRef], sure: bool) -> Any:
    """The column of items that are floats or ints, as floats; unless it is `sure` that they are wanted so, refused when
    the program runs where all are ints."""
    n = len(form.kinds) - 1
    flags, rest = list(held[:n]), list(held[n:])
    numbers = [[rest.pop(0) for _ in kind.types][-1] for kind in form.kinds if kind is not None]
    if not sure and INT in form.kinds:
        k = form.kinds.index(INT)
        some_of = reduce(lambda a, b: i.call_function(np.logical_or, [a, b], {}), flags)
        floats = i.call_function(np.logical_not, [flags[k]], {}) if k < n else some_of
        some = i.truth(ast.Pass(), i.call_function(prelude.are_some, [floats, x.fields[LENGTH]], {}))
        reason = "the array of a list of floats and ints, and is of ints alone"
        if some is not True:
            i.r.check(i.r.constant(False, I1) if some is False else some.value, UnsupportedError, reason)
    found = numbers.pop()
    while flags:
        found = i.call_function(np.where, [flags.pop(), numbers.pop(), found], {})
    return found


def converted(
    i: Evaluator, node: ast.AST, form: Elements, held: Sequence[ArrayRef], dtype: Any
) -> tuple[Any, tuple[Any, ...]]:
    """As `maker`, for arrays in another dtype."""
    if not fits(form.element.dtype, dtype):
        reason = f"an array of {dtype} of a list of arrays of {form.element.dtype}, which may not fit"
        raise i.refuse(node, reason, f"np.array(x).astype(np.{dtype}), which takes them as they fit")
    return prelude.converted, (held[0], dtype)


def known_dtype(i: Evaluator, node: ast.AST, x: Record, kind: Kind, flags: Sequence[ArrayRef]) -> np.dtype:
    """The dtype of the array of some numbers; refused where it depends on which of them are Python's (`flags`)."""
    if (found := dtype_of(kind)) is None:
        reason = f"the array of a list of {kind.words} and Python's numbers"
        raise i.refuse(node, reason, f"make the items of one type: np.{kind.element.dtype}(x)")
    if any(other != found for other in pythons(kind)):
        sure = i.truth(node, i.call_function(prelude.are_some_of_numpys, [flags[0], x.fields[LENGTH]], {}))
        reason = f"the array of a list that may be of {kind.words}, and is of Python's numbers alone"
        if sure is not True:
            i.r.check(i.r.constant(False, I1) if sure is False else sure.value, UnsupportedError, reason)
    return found


def array(i: Evaluator, node: ast.AST, x: Record, dtype: np.dtype | None = None) -> Any:
    """The array of the items, a copy; that of no items is of float64, whatever they would be, unless a dtype is given:
    where only the run time knows whether there are any, a value of either type."""
    if not form_in(x).types:
        return i.call(node, np.empty, [0], {})
    make, parts = maker(i, node, x, dtype)
    if not isinstance(form_in(x), Kind):
        differs = is_open(i, x)
    else:
        differs = dtype is None and may_differ(i, x)
    if differs:
        return i.call_function(prelude.array_of, [make, parts, x.fields[LENGTH], dtype or np.dtype(float)], {})
    return i.call_function(make, list(parts), {})


def as_index(i: Evaluator, node: ast.AST, x: Record) -> ArrayRef:
    """The array that a list is as an index: an empty list picks nothing, and is an array of ints."""
    form = form_in(x)
    ints = form == INT or (isinstance(form, Kind) and form.element.is_integer)
    if not isinstance(form, Kind) or (not ints and may_be_empty(i, x)):
        reason = f"an index that is a list of items that are {form.words}, which may be empty"
        raise i.refuse(node, reason, "use an array: np.array(x, dtype=bool)")
    found: ArrayRef = array(i, node, x, form.element.dtype if ints else None)
    return found


def beside(i: Evaluator, node: ast.AST, a: Any, b: Any) -> tuple[Any, Any]:
    """Operands, each list as the array of its items where the other is an array or a number of NumPy's; refused
    otherwise."""
    others = [x for x in (a, b) if not is_growing(x)]
    numpys = [isinstance(x, (ArrayRef, np.generic)) or (kind_of(x) or INT).name == "np" for x in others]
    if not any(numpys) or any(getattr(x, "maybe_python", False) for x in others):
        raise i.refuse(node, "an operator on a list whose length is only known at run time", "use np.array(x)")
    first, second = (array(i, node, x) if is_growing(x) else x for x in (a, b))
    return first, second


def fits(items: np.dtype, wanted: np.dtype) -> bool:
    """Whether NumPy takes all items of a dtype as those of another: floats, complex numbers are rounded."""
    rounds = items.kind in "fc" and wanted.kind in "fc" and (wanted.kind == "c" or items.kind == "f")
    return rounds or np.can_cast(items, wanted, "safe")


def check_converts(i: Evaluator, node: ast.AST, x: Any, dtype: Any) -> None:
    """NumPy converts the items one by one, as Python's numbers: ints that do not fit raise. Refuses what does not hold
    all items otherwise, but for floats of less precision."""
    if not isinstance(form_in(x), Kind):
        return
    kind, wanted = form_in(x), ask(np.dtype, dtype)
    assert isinstance(kind, Kind)
    items = np.dtype(np.int64) if kind == INT else kind.element.dtype
    if not kind.python and (wanted.kind == "b" or fits(items, wanted)):
        return
    if kind != INT or wanted.kind not in "iu":
        reason = f"an array of {wanted} of a list of {kind.words}, which may not fit"
        raise i.refuse(node, reason, f"np.array(x).astype(np.{wanted}), which takes them as they fit")
    (held,), (low, high) = filled(i.r.facts, x), scalar_type(wanted).bounds
    i.call_function(prelude.check_fit, [held, low, min(high, scalar_type(items).bounds[1]), str(wanted)], {})


def call(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """A call of NumPy's function with the arrays of the items in place of such lists; in two branches where the type
    of the one list's array depends on whether there are items."""
    if any(function is f for f in NOT_BY_ARRAYS):
        raise i.refuse(node, f"np.{function.__name__} of a list of run-time length", "use np.array(x)")
    args, kwargs = with_indices(i, node, function, args, kwargs)
    if not among([*args, *kwargs.values()]):
        return i.call(node, function, args, kwargs)
    arrays = function in (np.array, np.asarray)
    wanted = next((x for x in (*args[1:2], kwargs.get("dtype")) if x is not None), None) if function in TYPED else None
    dtype = None if wanted is None else ask(np.dtype, wanted)
    if dtype is not None and is_growing(args[0]):
        check_converts(i, node, args[0], dtype)
        if arrays and not isinstance(form_in(args[0]), Kind) and not kwargs.keys() - {"dtype"}:
            return array(i, node, args[0], dtype)
    elif kwargs.get("dtype") is not None and function in FILLED:
        what = f"{getattr(function, '__name__', 'a call')} with dtype= of a list of run-time length"
        raise i.refuse(node, what, "use np.array(x)")
    if any(function is f for f in JOINING) and (found := joined(i, node, function, args, kwargs)) is not None:
        return found
    places = [k for k, x in enumerate(args) if is_growing(x)]
    others = [x for k, x in enumerate(args) if k not in places]
    alone = dtype is None and len(places) == 1 and not among([*others, *kwargs.values()])
    if alone and may_differ(i, args[places[0]]):
        if arrays and len(args) == 1 and not kwargs:
            return array(i, node, args[0])
        (k,) = places
        make, parts = maker(i, node, args[k])
        given = [function, tuple(args[:k]), make, parts, args[k].fields[LENGTH], tuple(args[k + 1 :]), kwargs]
        return i.call_function(prelude.called_with_array, given, {})
    given = [as_arrays(i, node, x, dtype) for x in args]
    return i.call(node, function, given, {k: as_arrays(i, node, x, dtype) for k, x in kwargs.items()})


def with_indices(
    i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments, with an array of ints in the place of such a list that is an index."""
    if function is np.ix_:
        return [as_index(i, node, x) if is_growing(x) else x for x in args], kwargs
    method = isinstance(function, Method)
    place = INDICES.get(function.name if method else getattr(function, "__name__", ""), -1) - method
    by_name = {k: as_index(i, node, x) for k, x in kwargs.items() if k in ("indices", "ind", "obj") and is_growing(x)}
    if 0 <= place < len(args) and is_growing(args[place]):
        args = [*args[:place], as_index(i, node, args[place]), *args[place + 1 :]]
    return args, {**kwargs, **by_name}


def joined(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """np.stack, np.concatenate and kin of one list of arrays or tuples, along the first axis; None for others."""
    if not args or not is_growing(x := args[0]) or isinstance(form := form_in(x), Kind):
        return None
    axis = args[1] if len(args) == 2 else kwargs.get("axis", 0)
    ndim = axes_of(form) if isinstance(form, (Elements, Ragged)) else 1
    flat = function is np.concatenate or (function is np.hstack and ndim == 1) or (function is np.vstack and ndim > 1)
    if len(args) > 2 or kwargs.keys() - {"axis"} or axis != 0 or (function is np.hstack and ndim > 1):
        name = getattr(function, "__name__", "this")
        reason = f"np.{name} of a list of arrays of run-time length along another axis than the first, or with out="
        raise i.refuse(node, reason, "use np.array(x), and transpose that")
    if flat and isinstance(form, Ragged):
        return references.concatenated(i, x)
    make, parts = maker(i, node, x)
    return i.call_function(prelude.joined if flat else prelude.stacked, [make, parts, x.fields[LENGTH]], {})


def as_arrays(i: Evaluator, node: ast.AST, x: Any, dtype: np.dtype | None) -> Any:
    """A value with arrays in the place of such lists."""
    if is_growing(x):
        return array(i, node, x, dtype)
    if type(x) is dict:
        return {k: as_arrays(i, node, y, dtype) for k, y in x.items()}
    return type(x)([as_arrays(i, node, y, dtype) for y in x]) if type(x) in (list, tuple) else x


def among(values: Sequence[Any]) -> bool:
    """Whether such a list is among values, or in a list or tuple among them."""
    return any(is_growing(x) or (type(x) in (list, tuple) and among(x)) for x in values)
