"""sum, min, max, any, all, next and functools.reduce of an iterator, as loops: its length is only known at run time, or
its items depend on data.

A fold is a small Python function that is traced like one of the user's; a generator's loops and tests are written into
it: `sum(x for x in a if x > 0)` becomes a loop with an `if`.
"""

from __future__ import annotations

import ast
import functools
import textwrap
from collections.abc import Callable
from typing import Any

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.paths.iteration import OneShotIterator, Range, static_items
from tracebuf.frontends.numpy.record.callees import NestedFunction
from tracebuf.frontends.numpy.record.raises import Raises
from tracebuf.frontends.numpy.source.liveness import stored
from tracebuf.frontends.numpy.source.source import make_source, parsed

Short = Callable[[list[Any]], Any]
FOLDS: dict[Any, tuple[str, str, str]] = {
    sum: ("pass", "total = total + x", "return total"),
    any: ("pass", "if x:\n    return True", "return False"),
    all: ("pass", "if not x:\n    return False", "return True"),
    min: ("found = False", "if not found or x < best:\n    best = x\n    found = True", "return best"),
    max: ("found = False", "if not found or x > best:\n    best = x\n    found = True", "return best"),
    next: ("pass", "return x", "return total"),
    functools.reduce: ("pass", "total = f(total, x)", "return total"),
}
"""By function: the statements before the loop, in its body and after it; `x` is the item."""
EMPTY = {
    True: "if not found:\n    return total",
    False: "if not found:\n    raise ValueError('{name}() iterable argument is empty')",
}
"""By whether there is a default: the statements after the loop for an iterator without items."""
NAMES = ("items", "total", "best", "found", "x", "f")
"""The names in the fold functions."""


def is_folded(i: Evaluator, it: Any, lists: bool = False) -> bool:
    """Whether consuming this iterable is a loop; with `lists`, also where a list's items depend on tests of data."""
    if isinstance(it, Range):
        return not i.short(it)
    if not isinstance(it, OneShotIterator) or it.left is not None:
        return False
    if it.source is None:
        return it.kind in ("map", "zip", "enumerate", "reversed", "iterator", "starmap", "product")
    node, _, first, _ = it.source
    if stored([node]) or isinstance(first, list):
        return lists and bool(node.generators[0].ifs) and not stored([node])
    return (
        isinstance(first, OneShotIterator)
        or bool(node.generators[0].ifs)
        or len(node.generators) > 1
        or not i.short(first)
    )


def fold(i: Evaluator, function: Any, it: Any, total: Any, default: bool, short: Short, f: Any = None) -> Any:
    """The fold as a loop, starting from `total`, which is a default if `default` says so; `short` computes it for a
    list."""
    outer = i.scope
    if isinstance(it, OneShotIterator) and it.source is not None:
        generator, scope, first, home = it.source
        it.claim(i.r)
        with i.within(i.at_home(generator, scope, home)):
            nested = i.make_nested(written(function, default, generator), outer.name, scope.env)
        return looped(i, function, nested, [first, total, f])
    items = it if isinstance(it, Range) else it.take(i.r)
    if isinstance(items, list) or i.short(items):
        return short(static_items(i.r, items, "this"))
    source = make_source(written(function, default, None), outer.source.file)
    return looped(i, function, NestedFunction(source, outer.name, no_names, {}), [items, total, f])


def looped(i: Evaluator, function: Any, nested: NestedFunction, args: list[Any]) -> Any:
    """The fold as a loop, or the refusal of items that no loop can go through."""
    loc = i.r.loc
    try:
        return i.call_nested(nested, args, {})
    except UnsupportedError as error:
        if "tracebuf_" not in error.reason:
            raise
        reason = f"{function.__name__}() of items whose type, or whose number of axes, depends on the path"
        raise UnsupportedError(reason, location=loc, instead="use a for loop, or an array") from None


def no_names(name: str) -> Any:
    """A look-up that finds no name."""
    raise Raises(NameError(f"name '{name}' is not defined"))


@functools.lru_cache(maxsize=1024)
def written(function: Any, default: bool, generator: ast.GeneratorExp | None) -> ast.FunctionDef:
    """The fold function: of items, or of a generator."""
    before, inside, behind = FOLDS[function]
    if function in (min, max):
        behind = EMPTY[default].format(name=function.__name__) + "\n" + behind
    body = "\n".join((before, "for x in items:", textwrap.indent(inside, "    "), behind))
    (made,) = parsed(f"def fold(items, total, f):\n{textwrap.indent(body, '    ')}").body
    assert isinstance(made, ast.FunctionDef)
    for n in ast.walk(made):
        own_name(n)
    if generator is not None:
        loop = next(s for s in made.body if isinstance(s, ast.For))
        item = ast.Assign([ast.Name("tracebuf_x", ast.Store())], generator.elt)
        nested = nest(generator.generators, [item, *loop.body])
        made.body[made.body.index(loop)] = ast.For(nested.target, loop.iter, nested.body, [])
    return made


def own_name(n: ast.AST) -> None:
    """Renames a fold function's name to one that no user has, without a place in the user's source."""
    if isinstance(n, ast.Name) and n.id in NAMES:
        n.id = f"tracebuf_{n.id}"
    elif isinstance(n, ast.arg):
        n.arg = f"tracebuf_{n.arg}"
    for attribute in ("lineno", "end_lineno", "col_offset", "end_col_offset"):
        if hasattr(n, attribute):
            delattr(n, attribute)


def nest(generators: list[ast.comprehension], body: list[ast.stmt]) -> ast.For:
    """The loops of a generator around a body."""
    g, *more = generators
    inner: list[ast.stmt] = [nest(more, body)] if more else body
    for test in reversed(g.ifs):
        inner = [ast.If(test, inner, [])]
    return ast.For(g.target, g.iter, inner, [])
