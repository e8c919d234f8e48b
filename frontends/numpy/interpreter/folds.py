"""Functions that consume what they iterate over: sum, min, max, any, all, next, functools.reduce, math.prod as loops or
item by item, and min and max with a key or of numbers of several types, which are compared as Python compares them.

A fold is a loop where the number of items is only known at run time, or where they depend on data: a function of
`prelude`, traced like one of the user's, into which a generator's own loops and tests are written.
"""

from __future__ import annotations

import ast
import builtins
import copy
import functools
import math
import operator
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.arrays.reshape import FlatIterator
from tracebuf.frontends.numpy.functions import table
from tracebuf.frontends.numpy.functions.formulas import prelude
from tracebuf.frontends.numpy.interpreter import dicts, texts
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.interpreter.lists import cursors
from tracebuf.frontends.numpy.interpreter.lists.cursors import is_cursor
from tracebuf.frontends.numpy.numbers.scalars import holds_traced
from tracebuf.frontends.numpy.paths.iteration import OneShotIterator, Range, pulled
from tracebuf.frontends.numpy.record import refusals
from tracebuf.frontends.numpy.record.callees import Generator, NestedFunction, text_shape
from tracebuf.frontends.numpy.record.cond import Cond, ends
from tracebuf.frontends.numpy.record.heap import DictView, Record
from tracebuf.frontends.numpy.record.raises import Raises, ask, call_as
from tracebuf.frontends.numpy.record.values import NUMBERS, ArrayRef, Scalar, is_traced
from tracebuf.frontends.numpy.source.liveness import stored
from tracebuf.frontends.numpy.source.source import make_source, read_source

FOLDS: dict[Any, str | None] = {sum: "start", min: "default", max: "default", any: None, all: None}
"""By builtin that is a fold: its parameter besides the items."""
OWN = "tracebuf_"
"""Before the names in a fold, of which no user has any."""
CONSUMERS = frozenset((*FOLDS, list, tuple, set, frozenset, sorted, math.fsum, np.fromiter))
"""Functions that take all items at once."""
BEYOND = {min: operator.lt, max: operator.gt}
TRUTHS = {any: prelude.any_of, all: prelude.all_of}
STOPPING = (*TRUTHS.values(), prelude.next_of, prelude.next_taken)
"""The folds that may leave items."""
ROLLED = ("zip", "enumerate", "reversed", "iterator", "product", "repeat", "count", "ndindex")
"""The kinds of iterators that may be loops though they are no generators."""


def call(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """A call of a function that consumes an iterable; NotImplemented for other functions."""
    if isinstance(function, (type, types.BuiltinFunctionType)):
        if function in HANDLERS:
            return call_as(function, HANDLERS[function], (i, node), args, kwargs)
        if function in BEYOND and kwargs.get("key") is not None:
            return by_key(i, node, function, args, kwargs)
        one = len(args) == 1 or function not in BEYOND
        plain: tuple[type, ...] = (list, tuple) if any(map(is_traced, args[1:])) else (list, tuple, ArrayRef)
        plain = () if "default" in kwargs else plain
        if function in BEYOND and args and not kwargs:
            found = extreme_of_tuples(i, node, function, args[0] if one and type(args[0]) in (list, tuple) else args)
            if found is not NotImplemented:
                return found
        if function in FOLDS and args and one and not isinstance(args[0], plain):
            return folded(i, node, function, args, kwargs)
        kinds = (OneShotIterator, dict, DictView, FlatIterator) if function in CONSUMERS else OneShotIterator
        joins = function.__name__ == "join" and isinstance(getattr(function, "__self__", None), str)
        if joins and len(args) == 1 and isinstance(args[0], OneShotIterator):
            return joined(i, node, function, args[0])
        if function in CONSUMERS and any(isinstance(x, kinds) for x in args):
            known = [i.iterate_static(node, x) if isinstance(x, kinds) else x for x in args]
            return i.call(node, function, known, kwargs)
    given = next((x for x in args if isinstance(x, OneShotIterator)), None)
    if given is not None and function is len:
        raise Raises(TypeError(f"object of type '{given.kind}' has no len()"))
    if given is not None and (table.handler_of(function) is not None or table.is_pure(function)):
        name = getattr(function, "__name__", "this")
        raise i.refuse(node, f"a call of {name} with an iterator", "hand a list or an array over")
    return NotImplemented


# -- folds
def folded(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """sum, min, max, any or all of an iterable, which is neither list, tuple nor array, or has a default."""
    (items, *rest), option = args, FOLDS[function]
    given = [*(rest if function is sum else ()), *(x for name, x in kwargs.items() if name == option)]
    if len(given) != len(rest) + len(kwargs) or len(given) > 1 or is_harmless(function, items):
        found = i.iterate_static(node, items)
        if isinstance(items, OneShotIterator):
            items.gone = True
        return i.call(node, function, [found, *rest], kwargs)
    if function in TRUTHS:
        return fold(i, TRUTHS[function], items, [])
    if function is sum:
        start = given[0] if given else 0
        return fold(i, prelude.sum_of, items, [start], lambda found: sum_in_turn(i, node, found, start))
    place, growth = i.r.loc, i.r.growth
    if place in growth.rolled and isinstance(items, OneShotIterator):  # items that are tuples
        return i.call(node, function, [i.rolled(node, items)], kwargs)
    in_turn = lambda found: extreme_of_numbers(i, node, function, list(found), *given)  # noqa: E731
    try:
        return extreme(i, function, items, given, in_turn)
    except UnsupportedError:
        growth.note_tuples(place)
        raise


def joined(i: Evaluator, node: ast.AST, function: Any, items: OneShotIterator) -> Any:
    """text.join(items): of so many that only the run time knows how many, of a list that a loop makes."""
    place, growth = i.r.loc, i.r.growth
    if place in growth.rolled:
        return i.call(node, function, [i.rolled(node, items)], {})
    try:
        found = i.iterate_static(node, items)
    except UnsupportedError:
        growth.note_long(place)
        raise
    given = [texts.text_of(i, node, x) if type(x) is Cond and text_shape(x) is not None else x for x in found]
    return i.call(node, function, [given], {})


def extreme(i: Evaluator, function: Any, items: Any, given: Sequence[Any], in_turn: Callable[..., Any]) -> Any:
    """min or max of items that are numbers."""
    return fold(i, prelude.extreme_of, items, [BEYOND[function], function.__name__, given], in_turn)


def sum_in_turn(i: Evaluator, node: ast.AST, items: Iterator[Any], start: Any) -> Any:
    """sum(items, start): an array or a list is added before the next item is computed, which may change it."""
    numbers: list[Any] = []
    for x in items:
        if not is_part(x):
            total = added(i, node, numbers, start) if numbers else start
            return added(i, node, items, added(i, node, (x,), total))
        numbers.append(x)
    return added(i, node, numbers, start)


def added(i: Evaluator, node: ast.AST, items: Iterable[Any], start: Any) -> Any:
    """sum(items, start), of numbers by Python's own function if they are of one type each."""
    if isinstance(items, list) and all(isinstance(x, (Scalar, *NUMBERS, str)) for x in items):
        return i.call(node, sum, [items, start], {})
    total = start
    for x in items:
        total = i.by_type(node, (total, x), i.scope.env, functools.partial(i.operate, "Add"))
    return total


def extreme_of_numbers(i: Evaluator, node: ast.AST, function: Any, items: list[Any], *default: Any) -> Any:
    """min or max of numbers, which do not change when later ones are computed."""
    if default and not items:
        return default[0]
    if not any(type(x) is Cond for x in items):
        return i.call(node, function, [items], {})
    further = [BEYOND[function], function.__name__, list(default)]
    return looped(i, function.__name__, nested(i, prelude.extreme_of), [items, *further])


def of_choices(i: Evaluator, node: ast.AST, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """sum, min or max of a list or tuple of numbers whose types the path decides; NotImplemented for anything else."""
    if not any(function is f for f in (sum, min, max)) or kwargs or len(args) != 1:
        return NotImplemented
    items = args[0]
    if type(items) not in (list, tuple) or not any(type(x) is Cond for x in items) or not all(map(is_part, items)):
        return NotImplemented
    return added(i, node, items, 0) if function is sum else extreme_of_numbers(i, node, function, list(items))


def extreme_of_tuples(i: Evaluator, node: ast.AST, function: Any, items: Sequence[Any]) -> Any:
    """min or max of tuples, as many as tracing knows, of one length; NotImplemented for anything else."""
    tuples = len(items) > 0 and all(type(x) is tuple and len(x) == len(items[0]) for x in items)
    if not tuples or not any(map(holds_traced, items)) or any(not is_part(p) for x in items for p in x):
        return NotImplemented
    return i.call_function(prelude.extreme_of_few, [tuple(items), function is max], {})


def is_part(x: Any) -> bool:
    """Whether a part of such a tuple is a number or a text on each path."""
    return all(isinstance(end, (Scalar, *NUMBERS, str)) for end in ends(x))


HARMLESS = (ast.Compare, ast.cmpop, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.UnaryOp, ast.unaryop, ast.Name, ast.Load,
            ast.Constant)  # fmt: skip
"""Expressions of numbers that neither raise nor have effects."""


def is_harmless(function: Any, it: Any) -> bool:
    """Whether `any` or `all` may compute all items: of a generator over a list of traced numbers."""
    if function not in TRUTHS or not isinstance(it, OneShotIterator) or it.source is None or it.left is not None:
        return False
    node, _, first, _ = it.source
    numbers = isinstance(first, list) and all(isinstance(x, (Scalar, *NUMBERS)) for x in first)
    if not numbers or not any(map(is_traced, first)) or len(node.generators) > 1 or node.generators[0].ifs:
        return False
    return all(isinstance(n, HARMLESS) for n in ast.walk(node.elt))


def is_folded(i: Evaluator, it: Any) -> bool:
    """Whether consuming this iterable is a loop; of a list, where which items there are depends on tests."""
    if isinstance(it, Range):
        return not i.short(it)
    if not isinstance(it, OneShotIterator) or it.left is not None:
        return False
    if it.source is None:
        return it.kind in ROLLED
    node, _, first, _ = it.source
    tested = bool(node.generators[0].ifs)
    if is_cursor(first):
        return True
    if stored([node]) or isinstance(first, (list, Iterator)):
        return tested and not stored([node])
    return isinstance(first, OneShotIterator) or tested or len(node.generators) > 1 or not i.short(first)


def fold(
    i: Evaluator, function: Callable[..., Any], it: Any, further: list[Any],
    in_turn: Callable[[Iterator[Any]], Any] | None = None,
) -> Any:  # fmt: skip
    """A fold of the prelude, of an iterable and further arguments: as a loop, or item by item, which `in_turn` may do
    itself."""
    name = "min() or max" if "extreme" in function.__name__ else function.__name__[:-3]
    if isinstance(over := it, (ArrayRef, FlatIterator)):
        it = OneShotIterator("iterator", lambda _: i.iterable(ast.Pass(), over), i.r.frame)
    items = it
    if not is_folded(i, it):
        items = i.each(ast.Pass(), it)
    elif isinstance(it, OneShotIterator) and it.source is not None:
        generator, scope, first, home = it.source
        it.claim(i.r)
        it.exhaust()
        it.gone = function in STOPPING or bool(i.trying)
        it.place = None if cursors.may_be_caught(i) else it.place
        with i.within(i.at_home(generator, scope, home)):
            made = i.make_nested(written(function, generator), name, scope.env)
        return looped(i, name, NestedFunction(made.source, name, beside(made.lookup), {}), [first, *further])
    elif isinstance(it, OneShotIterator):
        items = it.take(i.r)
    if in_turn is not None and (isinstance(items, (list, Iterator)) or i.short(items)):
        return in_turn(pulled(i.r, items))
    return looped(i, name, nested(i, function), [items, *further])


def nested(i: Evaluator, function: Callable[..., Any]) -> NestedFunction:
    """A fold of the prelude."""
    assert isinstance(function, types.FunctionType)
    source = make_source(written(function, None), prelude.FILE)
    return NestedFunction(source, function.__name__, beside(i.global_lookup(function)), {})


def beside(lookup: Callable[[str], Any]) -> Callable[[str], Any]:
    """A look-up of free names, those of the prelude's own too, which `written` gives a prefix."""

    def found(name: str) -> Any:
        own = name.removeprefix(OWN)
        return lookup(name) if own == name else vars(prelude).get(own) or getattr(builtins, own)

    return found


def looped(i: Evaluator, name: str, made: NestedFunction, args: list[Any]) -> Any:
    """The fold as a loop, or the refusal of items that no loop can go through."""
    loc = i.r.loc
    try:
        return i.call_nested(made, args, {})
    except UnsupportedError as error:
        if OWN not in error.reason:
            raise
        reason = f"{name}() of items whose type, or whose number of axes, depends on the path"
        raise UnsupportedError(reason, location=loc, instead="use a for loop, or an array") from None


@functools.lru_cache(maxsize=1024)
def written(function: types.FunctionType, generator: ast.GeneratorExp | ast.ListComp | None) -> ast.FunctionDef:
    """The syntax tree of a fold of the prelude: of items, or of a generator, whose loops and tests become its own. Its
    names are such as no user has, and without a place in the user's source."""
    code = function.__code__
    source = read_source(code, code.co_filename, code.co_firstlineno)
    assert source is not None
    made = copy.deepcopy(source.node)
    assert isinstance(made, ast.FunctionDef)
    for n in ast.walk(made):
        if isinstance(n, ast.Name):
            n.id = OWN + n.id
        elif isinstance(n, ast.arg):
            n.arg, n.annotation = OWN + n.arg, None
        for attribute in ("lineno", "end_lineno", "col_offset", "end_col_offset"):
            if hasattr(n, attribute):
                delattr(n, attribute)
    if generator is not None:
        loop = next(s for s in made.body if isinstance(s, ast.For))
        item = ast.Assign([ast.Name(OWN + "x", ast.Store())], generator.elt)
        outer = nest(generator.generators, [item, *loop.body])
        made.body[made.body.index(loop)] = ast.For(outer.target, loop.iter, outer.body, [])
    return made


def nest(generators: list[ast.comprehension], body: list[ast.stmt]) -> ast.For:
    """The loops of a generator around a body."""
    g, *more = generators
    inner: list[ast.stmt] = [nest(more, body)] if more else body
    for test in reversed(g.ifs):
        inner = [ast.If(test, inner, [])]
    return ast.For(g.target, g.iter, inner, [])


# -- others
def following(i: Evaluator, node: ast.AST, it: Any, default: Any = dicts.MISSING, /) -> Any:
    """next(it) or next(it, default)."""
    given = default is not dicts.MISSING
    anew = isinstance(node, ast.Call) and bool(node.args) and isinstance(node.args[0], ast.Call)
    counted = anew and isinstance(it, OneShotIterator) and it.kind == "dict_keyiterator"
    if isinstance(it, Generator) or counted:  # of which nothing more can be taken
        return i.call_function(prelude.first_given, [it, (default,) if given else ()], {})
    if is_cursor(it):
        return next_of_cursor(i, it, [default] if given else [])
    if isinstance(it, Record) and hasattr(it.kind, "__next__"):
        return i.call_function(prelude.next_asked, [it, (default,) if given else ()], {})
    if not isinstance(it, OneShotIterator):
        raise Raises(TypeError(f"'{refusals.name_of(it)}' object is not an iterator"))
    one = it.source is not None and len(it.source[0].generators) == 1  # of several loops more may be left of the inner
    if one and given and is_folded(i, it):
        return fold(i, prelude.next_of, it, [default])
    try:
        for x in it.pull(i.r):
            return x
    except UnsupportedError:
        it.note_stepped(i.r)
        raise
    if given:
        return default
    raise Raises(StopIteration())


def next_of_cursor(i: Evaluator, x: Any, default: list[Any]) -> Any:
    """next(x, *default) of an iterator from which items are taken here and there."""
    if x.kind.steps is not None:
        if any(x is one for one in i.ending):
            raise cursors.refused(i, ast.Pass(), "`next`, in a loop over it, of")
        step, cells, _ = x.kind.steps
        return i.call_nested(step, [cells, tuple(default)], {})
    if x.kind.generator is not None:
        cursors.check_uncaught(i, x)
        return fold(i, prelude.next_taken, cursors.generated(i, x), [tuple(default)])
    return looped(i, "next", nested(i, prelude.next_taken), [x, tuple(default)])


def with_cursors(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """A call of a function that is not the user's, with such iterators among its arguments."""
    if function is next:
        return call_as(next, following, (i, node), args, kwargs)
    if function is iter and len(args) == 1 and not kwargs:
        return args[0]
    if function in TRUTHS and len(args) == 1 and not kwargs and args[0].kind.steps is None:
        if args[0].kind.generator is not None:
            return fold(i, TRUTHS[function], cursors.generated(i, args[0]), [])
        return looped(i, function.__name__, nested(i, TRUTHS[function]), [args[0]])
    takes_all = any(function is f for f in (*FOLDS, list, tuple, sorted)) and function not in TRUTHS
    if not takes_all or not is_cursor(args[0]) or any(map(is_cursor, (*args[1:], *kwargs.values()))):
        raise cursors.refused(i, node, f"a call of {getattr(function, '__name__', 'this')} with")
    return i.call(node, function, [cursors.rest(i, node, args[0]), *args[1:]], kwargs)


def reduced(i: Evaluator, node: ast.AST, f: Any, items: Any, initial: Any = dicts.MISSING, /) -> Any:
    """functools.reduce(f, items, ...)."""
    if initial is dicts.MISSING:
        return looped(i, "reduce", nested(i, prelude.reduce_first_of), [i.each(node, items), f])
    return fold(i, prelude.reduce_of, items, [initial, f])


def product(i: Evaluator, node: ast.AST, items: Any, *, start: Any = 1) -> Any:
    """math.prod(items, start=start)."""
    return fold(i, prelude.prod_of, items, [start])


HANDLERS: dict[Any, Callable[..., Any]] = {next: following, functools.reduce: reduced, math.prod: product}


def by_key(i: Evaluator, node: ast.AST, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """min(items, key=f) or max: the first item whose key no other is beyond."""
    if not args or set(kwargs) - {"key", "default"}:
        ask(function, *args, **kwargs)  # raises what Python raises
    default = [kwargs["default"]] if "default" in kwargs else []
    further = [BEYOND[function], function.__name__, default, kwargs["key"]]
    return fold(i, prelude.extreme_by_key_of, args[0] if len(args) == 1 else list(args), further)


def of_items(i: Evaluator, node: ast.AST, function: Any, args: Sequence[Any]) -> Any:
    """min(items) or min(x, y), or max, of numbers of several types."""
    items = args[0] if len(args) == 1 else list(args)
    return fold(i, prelude.extreme_of, items, [BEYOND[function], function.__name__, ()])
