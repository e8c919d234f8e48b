"""Iterators: zip, enumerate, reversed, map, filter, iter and itertools, which give each item once, and as late as
Python does.

The underlying iterable stays a list, a `Range` or `Items` (paths/iteration), so that a loop over an iterator is a loop;
consuming an iterator twice, or in a loop that is traced once for all its iterations, is refused. MLIR has no
counterpart.
"""

from __future__ import annotations

import ast
import functools
import itertools
import math
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.indexing import read_item
from tracebuf.frontends.numpy.functions import table
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.interpreter.folds_of_iterators import fold, is_folded
from tracebuf.frontends.numpy.numbers.scalars import as_int_value
from tracebuf.frontends.numpy.paths.iteration import (
    Items,
    Iterable,
    OneShotIterator,
    Range,
    enumerated,
    held_by,
    item,
    iterable_of,
    length,
    make_range,
    range_bound,
    reversed_of,
    static_items,
    zipped,
)
from tracebuf.frontends.numpy.record import refusals
from tracebuf.frontends.numpy.record.judged import NoExample, error_of, example_of
from tracebuf.frontends.numpy.record.raises import Raises, ask, call_handler, is_tracers
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import ArrayRef, PyBool, is_traced
from tracebuf.ir.dims import Dim, floordiv, mul, sub

OPTIONS: dict[Any, tuple[str, ...]] = {sum: ("start",), any: (), all: (), min: ("default",), max: ("default",)}
"""By function that is a fold: its parameters besides the items."""
CONSUMERS = frozenset((
    list, tuple, dict, sum, min, max, any, all, sorted, math.fsum, math.prod, np.fromiter, functools.reduce,
))  # fmt: skip
"""Functions that consume an iterator at once."""


def mapped(r: Recorder, it: Iterable, f: Callable[[Any], Any]) -> Iterable:
    """The iterable of the results of `f` for the items of another."""
    if isinstance(it, list):
        return [f(x) for x in it]
    return Items(length(r, it), lambda i: f(item(it, i)), held_by(it))


def make(i: Evaluator, node: ast.AST, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """The iterator that an iterator's class or function makes; NotImplemented for any other callee."""
    maker = MAKERS.get(function) if isinstance(function, (type, types.BuiltinFunctionType)) else None
    if maker is None:
        return NotImplemented
    if function is iter and len(args) == 1 and isinstance(args[0], OneShotIterator):
        return args[0]
    check_called(i, function, args, kwargs)
    if function is next:
        return call_handler(following, i, node, *args)
    for x in sequences(function, args):
        check_iterable(i, node, function, x)
    name = NAMES.get(function, function.__name__)
    return OneShotIterator(name, lambda: call_handler(maker, i, node, *args, **kwargs), i.r.frame)


def check_called(i: Evaluator, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
    """Raises what Python raises for this call, if it raises for iterables without items."""
    iterated = sequences(function, args)

    def like(x: Any) -> Any:
        if any(x is s for s in iterated):
            return ()
        return len if is_tracers(x) and not is_traced(x) else example_of(i.r, x)

    if function in (next, iter):
        if not 1 <= len(args) <= 2 or kwargs:
            ask(function, *[()] * len(args), **dict.fromkeys(kwargs))
        return
    try:
        error = error_of(function, [like(x) for x in args], {name: like(x) for name, x in kwargs.items()})
    except NoExample:
        return
    if error is not None:
        raise Raises(error)


def sequences(function: Any, args: Sequence[Any]) -> Sequence[Any]:
    """Those arguments that are iterated over."""
    if function in (map, filter, itertools.starmap, itertools.filterfalse, itertools.takewhile, itertools.dropwhile):
        return args[1:]
    if function in (zip, itertools.product, itertools.chain, itertools.zip_longest):
        return args
    return () if function in (np.ndindex, itertools.repeat, itertools.count) else args[:1]


def check_iterable(i: Evaluator, node: ast.AST, function: Any, x: Any) -> None:
    """Raises TypeError, where the iterator is made, for what is not iterable."""
    if function is reversed and isinstance(x, OneShotIterator):
        raise Raises(TypeError(f"'{x.kind}' object is not reversible"))
    if isinstance(x, OneShotIterator):
        return
    if iterable_of(i.r, x) is None:
        reason = f"{function.__name__} of {refusals.name_of(x)} cannot be traced"
        raise i.refuse(node, reason, refusals.call(function.__name__))


def over(i: Evaluator, x: Any) -> Iterable:
    """The iterable of a value, when the iterator is consumed."""
    it = iterable_of(i.r, x)
    assert it is not None
    return it


def known(i: Evaluator, x: Any) -> list[Any]:
    """All items, where their number is known."""
    return static_items(i.r, over(i, x), "this")


def following(i: Evaluator, node: ast.AST, it: Any, *default: Any) -> Any:
    """next(it) or next(it, default)."""
    if not isinstance(it, OneShotIterator):
        raise Raises(TypeError(f"'{refusals.name_of(it)}' object is not an iterator"))
    if it.source is not None and default and is_folded(i, it):
        return fold(i, next, it, default[0], True, lambda items: items[0] if items else default[0])
    left = it.remaining(i.r)
    if left:
        return left.pop(0)
    if default:
        return default[0]
    raise i.refuse(node, "next() of an iterator that has no more items", "next(it, None)")


def map_of(i: Evaluator, node: ast.AST, f: Any, *more: Any) -> Iterable:
    """map(f, ...)."""
    return mapped(i.r, zipped(i.r, [over(i, x) for x in more]), lambda xs: i.call(node, f, list(xs), {}))


def filter_of(i: Evaluator, node: ast.AST, f: Any, x: Any, keep: bool = True) -> list[Any]:
    """filter(f, x), or itertools.filterfalse."""
    return [one for one in known(i, x) if truth_at(i, node, f, one) is keep]


def truth_at(i: Evaluator, node: ast.AST, f: Any, one: Any) -> bool:
    """The truth of a predicate for an item, which has to be known."""
    found = i.condition(node, one if f in (None, bool) else i.call(node, f, [one], {}))
    if isinstance(found, PyBool):
        raise i.refuse(node, "which items there are depends on data", "use np.where, or a for loop")
    return found


def while_true(i: Evaluator, node: ast.AST, f: Any, x: Any, drop: bool) -> list[Any]:
    """itertools.takewhile or dropwhile."""
    items = known(i, x)
    n = next((k for k, one in enumerate(items) if not truth_at(i, node, f, one)), len(items))
    return items[n:] if drop else items[:n]


def product_of(i: Evaluator, node: ast.AST, *its: Any, repeat: Any = 1) -> Iterable:
    """itertools.product: the last factor's items change fastest."""
    factors = [over(i, x) for x in its] * i.r.static_int(range_bound(i.r, repeat), "repeat")
    if all(isinstance(it, list) for it in factors):
        return list(itertools.product(*factors))  # type: ignore[arg-type]
    return nested(i.r, factors)


def nested(r: Recorder, factors: Sequence[Iterable]) -> Iterable:
    """The iterable of tuples of an item of each factor: the index into all of them determines the index into each."""
    counts = [length(r, it) for it in factors]
    total: Dim = 1
    for n in counts:
        total = mul(total, n)

    def get(place: Dim) -> tuple[Any, ...]:
        found: list[Any] = []
        for k, (it, n) in enumerate(zip(reversed(factors), reversed(counts))):
            last = k == len(factors) - 1
            outer = 0 if last else floordiv(place, n)
            found.append(item(it, place if last else r.facts.simplify(sub(place, mul(outer, n)))))
            place = outer
        return tuple(reversed(found))

    return Items(total, get, [x for it in factors for x in held_by(it)])


def ndindex_of(i: Evaluator, node: ast.AST, *shape: Any) -> Iterable:
    """np.ndindex."""
    sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
    ranges: list[Iterable] = [make_range(i.r, [n]) for n in sizes]
    return nested(i.r, ranges) if ranges else [()]


def ndenumerate_of(i: Evaluator, node: ast.AST, a: Any) -> Iterable:
    """np.ndenumerate."""
    if not isinstance(a, ArrayRef):
        raise i.refuse(node, f"np.ndenumerate of a {refusals.name_of(a)}", "np.ndenumerate(np.array(x))")
    places = ndindex_of(i, node, tuple(as_int_value(d) for d in a.shape))
    return mapped(i.r, places, lambda index: (index, read_item(i.r, a, index)))


def accumulate_of(i: Evaluator, node: ast.AST, x: Any, f: Any = None, *, initial: Any = None) -> list[Any]:
    """itertools.accumulate."""
    found: list[Any] = [] if initial is None else [initial]
    for one in known(i, x):
        if not found:
            found.append(one)
        else:
            found.append(i.operate("Add", found[-1], one) if f is None else i.call(node, f, [found[-1], one], {}))
    return found


def repeat_of(i: Evaluator, node: ast.AST, x: Any, times: Any = None) -> Iterable:
    """itertools.repeat."""
    if times is None:
        raise i.refuse(node, "itertools.repeat without end", "itertools.repeat(x, n)")
    return mapped(i.r, make_range(i.r, [times]), lambda _: x)


def islice_of(i: Evaluator, node: ast.AST, x: Any, *bounds: Any) -> list[Any]:
    """itertools.islice."""
    parts = [None if b is None else i.r.static_int(range_bound(i.r, b), "a bound of itertools.islice") for b in bounds]
    return list(ask(itertools.islice, known(i, x), *parts))


def of_known(function: Callable[..., Any], numbers: int = 0) -> Callable[..., list[Any]]:
    """The handler of an iterator of itertools that only arranges items; its `numbers` further arguments are ints."""

    def run(i: Evaluator, node: ast.AST, *args: Any, **kwargs: Any) -> list[Any]:
        its = args[: len(args) - numbers] if len(args) > numbers else args
        ints = [i.r.static_int(range_bound(i.r, n), "this") for n in args[len(its) :]]
        return list(ask(function, *[known(i, x) for x in its], *ints, **kwargs))

    return run


def reduce_of(i: Evaluator, node: ast.AST, f: Any, x: Any, *start: Any) -> Any:
    """functools.reduce(f, x, ...)."""
    if isinstance(x, ArrayRef):
        x = OneShotIterator("iterator", functools.partial(over, i, x), i.r.frame)
    if start and is_folded(i, x):
        return fold(i, functools.reduce, x, start[0], False, lambda items: reduce_of(i, node, f, items, *start), f)
    items = [*start, *known(i, x)]
    if not items:
        raise Raises(TypeError("reduce() of empty iterable with no initial value"))
    return functools.reduce(lambda a, b: i.call(node, f, [a, b], {}), items)


def call_with_iterators(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """A call with iterators among its arguments: a fold, or a call with a list of the items, for a function that
    consumes them at once."""
    if is_fold(function) and isinstance(args[0], (OneShotIterator, Range)):
        first, *rest = args
        named = dict(zip(OPTIONS[function], rest), **kwargs) if function is sum else kwargs
        fits = len(named) == len(rest) + len(kwargs) and not named.keys() - set(OPTIONS[function])

        def short(items: list[Any]) -> Any:
            if not items and fits and "default" in kwargs:
                return kwargs["default"]
            named = {k: v for k, v in kwargs.items() if k != "default"} if items else kwargs
            return i.call(node, function, [items, *rest], named)

        if fits and is_folded(i, first, lists=True):
            return fold(i, function, first, next(iter(named.values()), 0), "default" in named, short)
        return short(known(i, first))
    if isinstance(getattr(function, "__self__", None), str) or consumes(function):
        return i.call(node, function, [known(i, x) if isinstance(x, OneShotIterator) else x for x in args], kwargs)
    if function is len:
        raise Raises(
            TypeError(f"object of type '{next(x.kind for x in args if isinstance(x, OneShotIterator))}' has no len()")
        )
    if table.handler_of(function) is not None or table.is_pure(function):
        name = getattr(function, "__name__", "this")
        raise i.refuse(node, f"a call of {name} with an iterator", "hand a list or an array over")
    return NotImplemented


def is_fold(function: Any) -> bool:
    """Whether a function is a fold."""
    return any(function is f for f in OPTIONS)


def consumes(function: Any) -> bool:
    """Whether a function consumes an iterator."""
    return isinstance(function, (type, types.BuiltinFunctionType)) and function in CONSUMERS


MAKERS: dict[Any, Callable[..., Any]] = {
    zip: lambda i, node, *its, strict=False: zip_of(i, node, its, strict),
    enumerate: lambda i, node, x, start=0: enumerated(i.r, over(i, x), start),
    reversed: lambda i, node, x: reversed_of(i.r, over(i, x)),
    map: map_of,
    filter: filter_of,
    iter: lambda i, node, x: over(i, x),
    next: following,
    np.ndindex: ndindex_of,
    np.ndenumerate: ndenumerate_of,
    itertools.product: product_of,
    itertools.chain: lambda i, node, *its: [x for it in its for x in known(i, it)],
    itertools.combinations: of_known(itertools.combinations, 1),
    itertools.combinations_with_replacement: of_known(itertools.combinations_with_replacement, 1),
    itertools.permutations: of_known(itertools.permutations, 1),
    itertools.pairwise: of_known(itertools.pairwise),
    itertools.zip_longest: of_known(itertools.zip_longest),
    itertools.islice: islice_of,
    itertools.accumulate: accumulate_of,
    itertools.repeat: repeat_of,
    itertools.starmap: lambda i, node, f, x: mapped(i.r, over(i, x), lambda xs: i.call(node, f, list(xs), {})),
    itertools.filterfalse: lambda i, node, f, x: filter_of(i, node, f, x, keep=False),
    itertools.takewhile: lambda i, node, f, x: while_true(i, node, f, x, drop=False),
    itertools.dropwhile: lambda i, node, f, x: while_true(i, node, f, x, drop=True),
}
"""By class or function: the handler that makes the iterable of its iterator."""
NAMES = {iter: "iterator"}
"""By function whose iterator has another name in messages: that name."""


def zip_of(i: Evaluator, node: ast.AST, its: Sequence[Any], strict: Any) -> Iterable:
    """zip(*its, strict=strict)."""
    found = [over(i, x) for x in its]
    if strict:
        counts = [length(i.r, it) for it in found]
        for n in counts[1:]:
            i.r.require_equal(counts[0], n, "ValueError", "zip() arguments have different lengths")
    return zipped(i.r, found)
