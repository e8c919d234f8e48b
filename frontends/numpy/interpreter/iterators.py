"""Iterators: zip, enumerate, reversed, map, filter, iter and itertools.

Python's own classes go over the traced items, so that items are computed as late as Python's, and as many. Where a loop
over an iterator may be traced as one, it is a `Range` or `Items` (paths/iteration), or a generator of `prelude`.
Limitations: which items there are has to be known, but in folds (`folds`); an iterator that may have been consumed on
some paths, or in a loop that is traced once for all its iterations, is refused.
"""

from __future__ import annotations

import ast
import itertools
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.indexing import as_int
from tracebuf.frontends.numpy.arrays.new_arrays import copy_of
from tracebuf.frontends.numpy.functions.formulas import prelude
from tracebuf.frontends.numpy.functions.table import is_of_numpy
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.interpreter.lists import cursors, growing
from tracebuf.frontends.numpy.interpreter.lists.items import common
from tracebuf.frontends.numpy.paths.iteration import (
    ENDLESS,
    Items,
    Iterable,
    LiveItems,
    OneShotIterator,
    Range,
    each,
    enumerated,
    held_by,
    item,
    length,
    make_range,
    pulled,
    range_bound,
    reversed_of,
    zipped,
)
from tracebuf.frontends.numpy.record.callees import Generator, NestedFunction, Partial
from tracebuf.frontends.numpy.record.cond import ends
from tracebuf.frontends.numpy.record.growing import columns, is_growing, is_number, parts_of, size
from tracebuf.frontends.numpy.record.heap import Record
from tracebuf.frontends.numpy.record.judged import NoExample, example_of
from tracebuf.frontends.numpy.record.raises import Raises, ask, call_as, hold, is_tracers
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import ArrayRef, PyBool, PyInt, is_traced
from tracebuf.frontends.numpy.source.source import read_source
from tracebuf.ir.dims import Dim, floordiv, mul, sub

FIRST, REST, ALL, NONE = slice(0, 1), slice(1, None), slice(0, None), slice(0, 0)
ITERATED: dict[Any, slice] = {
    **dict.fromkeys((map, filter, itertools.starmap, itertools.filterfalse, itertools.takewhile, itertools.dropwhile),
                    REST),
    **dict.fromkeys((zip, itertools.product, itertools.chain, itertools.zip_longest, itertools.compress), ALL),
    **dict.fromkeys((enumerate, reversed, iter, itertools.accumulate, itertools.islice, itertools.pairwise,
                     itertools.combinations, itertools.combinations_with_replacement, itertools.permutations,
                     itertools.cycle, itertools.chain.from_iterable, getattr(itertools, "batched", itertools.cycle)),
                    FIRST),
    **dict.fromkeys((itertools.repeat, itertools.count, np.ndindex, np.ndenumerate), NONE),
}  # fmt: skip
"""By function that makes an iterator: its arguments that are iterated over."""
MOST_AROUND = 64
"""The most items of an itertools.cycle whose items are taken here and there."""
AT_ONCE = (itertools.product, itertools.combinations, itertools.combinations_with_replacement, itertools.permutations)
"""Those that take all items when they are made."""


def make(i: Evaluator, node: ast.AST, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """The iterator that an iterator's class or function makes; NotImplemented for any other callee."""
    if function is itertools.groupby:
        return call_as(function, grouped_by, (i, node), args, kwargs)
    iterated = ITERATED.get(function) if isinstance(function, (type, types.BuiltinFunctionType)) else None
    if iterated is None:
        return NotImplemented
    if function is iter and len(args) == 1 and (isinstance(args[0], OneShotIterator) or cursors.is_cursor(args[0])):
        return args[0]
    if not args and "iterable" in kwargs and function is not zip:
        args, kwargs = [kwargs["iterable"]], {name: x for name, x in kwargs.items() if name != "iterable"}
    check_called(i, function, iterated, args, kwargs)
    over = [source(i, node, function, x) for x in args[iterated]]
    kind = {iter: "iterator", itertools.chain.from_iterable: "chain"}.get(function, function.__name__)
    if (generator := GENERATORS.get(function)) is not None:
        made: OneShotIterator | Record = generator(i, node, *args, **kwargs)
        if isinstance(made, OneShotIterator):
            made.kind = kind
        return made
    rest = [x for k, x in enumerate(args) if k not in range(len(args))[iterated]]

    def run(one_by_one: bool) -> Iterable:
        if (form := FORMS.get(function)) is not None:
            return form(i, [consumed(i, x, one_by_one) for x in over], *rest, **kwargs)
        return by_python(i, node, function, over, rest, kwargs)

    if i.r.loc in i.r.growth.stepped and (stepped := by_place(i, function, kind, run, over[:1])) is not None:
        return stepped
    if function not in AT_ONCE:
        return OneShotIterator(kind, run, i.r.frame, place=i.r.loc)
    found = run(False)
    return OneShotIterator(kind, lambda _: found, i.r.frame)


def by_place(i: Evaluator, function: Any, kind: str, run: Callable[[bool], Iterable], given: Any) -> Any:
    """The iterator as an object that says how many items were taken; None where items are not known by their places."""
    it: Iterable
    if function is itertools.cycle:
        found = list(itertools.islice(i.each(ast.Pass(), given[0]), MOST_AROUND + 1))
        it = table(i, found) if 0 < len(found) <= MOST_AROUND else found
        it = cursors.again_and_again(i, it) if isinstance(it, Items) else it
    elif function in FORMS:
        it = run(False)
        it = table(i, it) if type(it) is list else it
    else:
        return None
    return cursors.begin(i, kind, it) if isinstance(it, (Range, Items)) else None


CALLED_IN_KEYS = frozenset(
    ("int", "float", "abs", "len", "bool", "str", "round", "min", "max", "sum", "divmod", "tuple", "ord")
)
"""Builtins that a key of groupby may call, as it may functions of NumPy and math."""


def has_no_effects(key: Any) -> bool:
    """Whether a key of groupby does nothing but compute, by its source: it is called sooner than Python calls it."""
    if isinstance(key, NestedFunction):
        tree: ast.AST = key.source.node
    elif isinstance(key, types.FunctionType) and not is_of_numpy(key):
        source = read_source(key.__code__, key.__code__.co_filename, key.__code__.co_firstlineno)
        if source is None:
            return False
        tree = source.node
    else:
        return not isinstance(key, (Record, Partial))
    if any(isinstance(n, (ast.Nonlocal, ast.Global, ast.NamedExpr, ast.Yield, ast.AugAssign)) for n in ast.walk(tree)):
        return False
    if any(isinstance(n, (ast.Subscript, ast.Attribute)) and not isinstance(n.ctx, ast.Load) for n in ast.walk(tree)):
        return False
    return all(is_plain_call(n) for n in ast.walk(tree) if isinstance(n, ast.Call))


def is_plain_call(node: ast.Call) -> bool:
    """Whether a call is one of a builtin that computes, or of a function of NumPy or math."""
    match node.func:
        case ast.Name(name):
            return name in CALLED_IN_KEYS
        case ast.Attribute(ast.Name("np" | "numpy" | "math"), _):
            return True
    return False


def grouped_by(i: Evaluator, node: ast.AST, iterable: Any, key: Any = None) -> Generator:
    """itertools.groupby(iterable, key): each group is an iterator over a list or array of its own."""
    if not has_no_effects(key):
        raise i.refuse(node, "itertools.groupby by a key that may have effects", "a key that computes only")
    items = iterable
    if not (is_growing(items) or type(items) is list or (isinstance(items, ArrayRef) and items.ndim == 1)):
        items = i.call(node, list, [items], {})
    made: Generator = i.call_function(prelude.groupby_of, [items, prelude.itself if key is None else key], {})
    inner = made.run

    def state() -> list[Any]:
        if isinstance(items, ArrayRef):
            return [i.r.value(end.storage) for end in ends(items)]
        return [size(items), *columns(items)] if is_growing(items) else list(items)

    def run(emit: Callable[[Any], None], consumer: Any) -> None:
        def watched(value: Any) -> None:
            before = state()
            emit(value)
            after = state()
            if len(after) != len(before) or any(a is not b and not isinstance(a, int) for a, b in zip(before, after)):
                raise i.refuse(node, "what groupby goes over changes in the loop", "group a copy: groupby(list(x))")

        inner(watched, consumer)

    made.run = run
    return made


def stepped(i: Evaluator, node: ast.AST, x: Any) -> Any:
    """What a generator goes over that is taken from here and there."""
    if is_growing(x):
        return cursors.begin(i, "iterator", growing.items(i, x), of=x)
    it = x if isinstance(x, OneShotIterator) or cursors.is_cursor(x) else i.iterable(node, x)
    it = table(i, it) if type(it) is list else it.take(i.r) if isinstance(it, OneShotIterator) else it
    if isinstance(it, (Range, Items)):
        return cursors.begin(i, "iterator", it)
    return i.call(node, iter, [x], {}) if not isinstance(it, Iterator) else x


def beside_open(i: Evaluator, its: Sequence[Iterable]) -> Sequence[Iterable]:
    """What zip goes over, with numbers that are known beside lists that may be shorter as a list of which the run time
    may take any."""
    counts = [it.count for it in its if isinstance(it, Items)]
    live = not all(map(i.r.entry_only, counts))
    known = [it for it in its if type(it) is list or (live and isinstance(it, LiveItems))]
    least = min(map(len, known), default=0)
    if not least or all(i.r.ask_nonneg(sub(n, least)) is True for n in counts):
        return its
    found = {id(it): live_table(i, it) if isinstance(it, LiveItems) else table(i, it) for it in known}
    return [found.get(id(it), it) for it in its]


def table(i: Evaluator, x: list[Any]) -> Iterable:
    """Items, any of which the run time may take, if they are numbers of one form; else as they are."""
    forms = [i.r.growth.form_of(item) for item in x]
    form = common(i.r, frozenset(f for f in forms if f is not None)) if None not in forms else None
    if form is None or not all(map(is_number, parts_of(form))):
        return x
    with i.r.at(replace(i.r.loc, text="zip")):  # not where lists of the user's are made
        return growing.items(i, growing.begin(i, form, x))


def live_table(i: Evaluator, x: LiveItems) -> Iterable:
    """The same of the items of a list, which the loop may not change meanwhile."""
    then = list(x)
    made = table(i, then)
    if not isinstance(made, Items) or made.watched is None or not all(a is b for a, b in zip(then, now_in(x))):
        return x
    inner = made.watched

    def steady() -> None:
        now = now_in(x)
        if len(now) != len(then) or any(a is not b for a, b in zip(then, now)):
            raise i.r.refuse("a list changes in a loop over it", "loop over a copy: for x in list(items)")

    def get(k: Dim) -> Any:
        steady()
        return made.get(k)

    def now(k: Dim) -> Any:
        steady()
        return inner.get(k)

    def check(goes_on: bool | PyBool) -> None:
        if goes_on is not False:
            steady()
        inner.check(goes_on)

    return replace(made, get=get, watched=replace(inner, get=now, check=check))


def now_in(x: LiveItems) -> list[Any]:
    """The items that there are now."""
    found: list[Any] = []
    while one := x.at(len(found)):
        found.append(one[0])
    return found


def check_called(i: Evaluator, function: Any, iterated: slice, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
    """Raises what Python raises for this call, if it raises for iterables without items."""

    def like(x: Any) -> Any:
        return len if is_tracers(x) and not is_traced(x) else example_of(i.r, x)

    if function is iter and len(args) == 2:
        raise i.refuse(ast.Pass(), "iter() of a function", "use a while loop")
    numbers = range(len(args))[iterated]
    try:
        given = [() if k in numbers else like(x) for k, x in enumerate(args)]
        named = {name: like(x) for name, x in kwargs.items()}
    except NoExample:
        return
    ask(function, *given, **named)


def source(i: Evaluator, node: ast.AST, function: Any, x: Any) -> OneShotIterator | Iterable:
    """What is iterated over, of an argument; TypeError, where the iterator is made, for what is not iterable."""
    if function is itertools.product and isinstance(x, ArrayRef) and x.ndim == 1:
        x = copy_of(i.r, x, x.element, (0,))  # of numbers, as they are now
    if not isinstance(x, OneShotIterator):
        return i.iterable(node, x)
    if function is reversed:
        raise Raises(TypeError(f"'{x.kind}' object is not reversible"))
    return x


def consumed(i: Evaluator, x: OneShotIterator | Iterable, one_by_one: bool) -> Iterable:
    """What an iterator goes over, when its first item is asked for."""
    if not isinstance(x, OneShotIterator):
        return x
    return x.pull(i.r) if one_by_one else x.take(i.r)


# -- generators of the prelude
def map_of(i: Evaluator, node: ast.AST, f: Any, *more: Any) -> Any:
    """map(f, ...)."""
    if len(more) == 1:
        return i.call_function(prelude.map_of, [f, *more], {})
    return i.call_function(prelude.star_map_of, [f, make(i, node, zip, more, {})], {})


def test_of(f: Any) -> Any:
    """The predicate of filter, which is None for the items' own truth."""
    return bool if f is None else f


GENERATORS: dict[Any, Callable[..., Any]] = {
    map: map_of,
    filter: lambda i, node, f, x: i.call_function(prelude.filter_of, [test_of(f), x], {}),
    itertools.filterfalse: lambda i, node, f, x: i.call_function(prelude.filter_false_of, [test_of(f), x], {}),
    itertools.starmap: lambda i, node, f, x: i.call_function(prelude.star_map_of, [f, x], {}),
    itertools.chain: lambda i, node, *its: i.call_function(prelude.chain_of, [its], {}),
    itertools.chain.from_iterable: lambda i, node, x: i.call_function(prelude.chain_of, [x], {}),
    itertools.compress: lambda i, node, *its: i.call_function(prelude.compress_of, [make(i, node, zip, its, {})], {}),
    np.ndenumerate: lambda i, node, arr: i.call_function(prelude.ndenumerate_of, [arr], {}),
}
"""By function whose iterator is a generator: what makes it, of the call's arguments."""


# -- iterables by an index
def product_of(i: Evaluator, its: Sequence[Iterable], repeat: Any = 1) -> Iterable:
    """itertools.product: the last factor's items change fastest."""
    times = i.r.static_int(range_bound(i.r, repeat), "repeat")
    if any(isinstance(it, (list, Iterator)) for it in its):
        return list(itertools.product(*(list(each(i.r, it)) for it in its), repeat=times))
    return nested(i.r, [it for it in its if isinstance(it, (Range, Items))] * times)


def nested(r: Recorder, factors: Sequence[Range | Items]) -> Iterable:
    """The iterable of tuples of an item of each factor: the index into all of them determines the index into each."""
    if not factors:
        return [()]
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


def ndindex_of(i: Evaluator, its: Sequence[Iterable], *shape: Any) -> Iterable:
    """np.ndindex."""
    sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
    ranges = [make_range(i.r, [n]) for n in sizes]
    return nested(i.r, ranges)


def repeat_of(i: Evaluator, its: Sequence[Iterable], object: Any, times: Any = None) -> Iterable:
    """itertools.repeat."""
    return Items(ENDLESS if times is None else length(i.r, make_range(i.r, [times])), lambda _: object, [object])


def count_of(i: Evaluator, its: Sequence[Iterable], start: Any = 0, step: Any = 1) -> Iterable:
    """itertools.count."""
    first, by = as_int(i.r, start), as_int(i.r, step)
    if first is None or by is None or not (pace := i.r.static_int(by, "the step of itertools.count")):
        raise i.r.refuse("itertools.count by a step that is no int, or 0", "itertools.repeat, or a while loop")
    return Range(first, 0, pace, ENDLESS // abs(pace))


FORMS: dict[Any, Callable[..., Iterable]] = {
    zip: lambda i, its, strict=False: zipped(i.r, beside_open(i, its), bool(strict)),
    enumerate: lambda i, its, start=0: enumerated(i.r, its[0], start),
    reversed: lambda i, its: reversed_of(i.r, its[0]),
    iter: lambda i, its: its[0],
    itertools.product: product_of,
    itertools.repeat: repeat_of,
    itertools.count: count_of,
    np.ndindex: ndindex_of,
}
"""By function whose iterator may be a loop: its iterable, of those that it goes over and the further arguments."""


# -- iterators by Python's own
def by_python(
    i: Evaluator, node: ast.AST, function: Any, over: Sequence[Any], rest: Sequence[Any], kwargs: dict[str, Any]
) -> Iterator[Any]:
    """The iterator that Python's own class makes of traced items."""
    some = function is itertools.islice
    its = [i.each(node, x) if not some else pulled(i.r, consumed(i, x, True)) for x in over]
    if function in (itertools.takewhile, itertools.dropwhile):
        return hold(function, lambda x: known_truth(i, node, i.call(node, rest[0], [x], {})), *its)
    if function is itertools.accumulate:
        f = kwargs.get("func", rest[0] if rest else None)
        combine = lambda a, b: i.operate("Add", a, b) if f is None else i.call(node, f, [a, b], {})  # noqa: E731
        return itertools.accumulate(its[0], combine, initial=kwargs.get("initial"))
    ints = [i.r.static_int(range_bound(i.r, x), "this") if isinstance(x, (PyInt, PyBool)) else x for x in rest]
    made: Iterator[Any] = hold(function, *its, *ints, **kwargs)
    return made


def known_truth(i: Evaluator, node: ast.AST, value: Any) -> bool:
    """The truth of what a predicate gives, which has to be known."""
    found = i.condition(node, value)
    if isinstance(found, PyBool):
        raise i.refuse(node, "which items there are depends on data", "use np.where, or a for loop")
    return found
