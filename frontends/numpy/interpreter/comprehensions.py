"""Comprehensions, generator expressions and generator functions: their items one by one, or as the iterable of a loop.

A generator function is inlined where a loop, or a function that takes all its items, consumes it: each `yield` does
what the loop's body does, in the order that Python has. The names that the body binds are attributes meanwhile, which
the function's own loops and branches carry (source/cells).
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count, islice
from typing import Any

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.interpreter import dicts, iterators, records, talk
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator, Scope, pushed
from tracebuf.frontends.numpy.interpreter.lists import cursors, groups
from tracebuf.frontends.numpy.numbers.lattice import Maybe
from tracebuf.frontends.numpy.paths.iteration import Items, Iterable, OneShotIterator, Range, held_by, item, length
from tracebuf.frontends.numpy.paths.joins import bound_value
from tracebuf.frontends.numpy.record import refusals
from tracebuf.frontends.numpy.record.callees import Generator
from tracebuf.frontends.numpy.record.heap import Record, is_groups
from tracebuf.frontends.numpy.record.raises import internal_error
from tracebuf.frontends.numpy.record.values import Env
from tracebuf.frontends.numpy.source.cells import (
    CONSUMER,
    ITEM,
    STOPPED,
    body_as_function,
    cells_of,
    comprehension_as_function,
    expression_as_function,
    odd_yield,
    own_names,
    stopping,
)
from tracebuf.frontends.numpy.source.liveness import leaves_by, loaded, loaded_inside, read_later, stored
from tracebuf.frontends.numpy.source.source import Source, make_source


class Comprehensions(Evaluator):
    """Mixin: comprehensions and generators in an environment."""

    bodies: dict[ast.AST, tuple[Source, frozenset[str]] | None]
    """Of loops and comprehensions over generators: their bodies as functions, and the names that these bind."""

    def expr_ListComp(self, node: ast.ListComp, env: Env) -> Any:
        with self.r.at(self.r.loc):
            place = self.at(node)
        if place in self.r.growth.rolled:
            with self.r.at(place):
                return self.rolled(node, self.generator(node, env))
        try:
            made = self.comprehended(node, env)
        except UnsupportedError:
            self.r.growth.note_long(place)
            raise
        with self.r.at(place):
            return self.own(made)

    def comprehended(self, node: ast.ListComp, env: Env) -> list[Any]:
        """The items of a comprehension."""
        first = talk.along(self, node, self.iterated(node.generators[0].iter, env))
        if isinstance(first, Generator):
            return self.comprehended_generator(node, first, env)
        return list(self.comprehension(node, self.scope, lambda: env, first))

    def iterated(self, node: ast.expr, env: Env) -> Any:
        """What a loop goes through. `sorted(d.items())` of a defaultdict(list) by run-time keys gives its lists there
        only."""
        match node:
            case ast.Call(ast.Name("sorted") as by, [ast.Call(ast.Attribute(ast.Name(name), "items"), [], [])], []):
                if is_groups(x := env.get(name)) and self.expr(by, env) is sorted:
                    found = groups.in_order(self, node, x)
                    return OneShotIterator("list_iterator", lambda _: found, self.r.frame)
        x = self.expr(node, env)
        return records.iterator_of(self, node, x) if records.gives_generator(x) else x

    def expr_GeneratorExp(self, node: ast.GeneratorExp, env: Env) -> Any:
        return self.generator(node, env)

    def generator(self, node: ast.GeneratorExp | ast.ListComp, env: Env) -> Any:
        """The iterator over the items of a generator expression, or of a comprehension."""
        scope, first = self.scope, talk.along(self, node, self.iterated(node.generators[0].iter, env))
        if isinstance(first, Generator) and (expressed := self.expressed(node, first, env)) is not None:
            return expressed
        given = isinstance(first, OneShotIterator) or cursors.is_cursor(first)
        it = first if given else self.iterable(node.generators[0].iter, first)
        home = env if scope.cells or scope.env is not env else None  # a comprehension's names end with it
        place = self.at(node)
        one = isinstance(node, ast.GeneratorExp) and len(node.generators) == 1
        if one and place in self.r.growth.stepped:
            over = it.take(self.r) if isinstance(it, OneShotIterator) and it.source is None else it
            over = iterators.table(self, over) if type(over) is list else over
            if isinstance(over, (Range, Items)):
                over = cursors.begin(self, "iterator", over)
            if cursors.is_cursor(over):
                return cursors.begin(self, "generator", over, (node, scope, home))
        made = self.generator_over(node, scope, it, home)
        made.place = place
        return made

    def generator_over(
        self, node: ast.GeneratorExp | ast.ListComp, scope: Scope, it: Any, home: Env | None
    ) -> OneShotIterator:
        """The iterator over the items of a generator expression, of the scope and environment where it was made."""

        def made(one_by_one: bool) -> Iterable:
            return self.generated(node, scope, lambda: self.at_home(node, scope, home).env, it, one_by_one)

        return OneShotIterator("generator", made, self.r.frame, source=(node, scope, it, home))

    def at_home(self, node: ast.AST, scope: Scope, home: Env | None) -> Scope:
        """The scope of a generator, whose environment has to be the one in which it was made."""
        shadowed = home is None and scope.cells and {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        if (home is not None and scope.env is not home) or any(shadowed & c.keys() for c in scope.cells if shadowed):
            reason = "a generator leaves the comprehension or expression that it was made in"
            raise self.refuse(node, reason, "make a list of it: [x for x in ...]")
        return scope

    def generated(
        self, node: ast.GeneratorExp | ast.ListComp, scope: Scope, env: Callable[[], Env], first: Any, one_by_one: bool
    ) -> Iterable:
        """What a generator iterates over, given its first iterable, with the current values of its names."""
        env()
        if one_by_one or len(node.generators) > 1 or node.generators[0].ifs or stored([node]):
            return self.comprehension(node, scope, env, first)
        it = self.iterable(node, first)
        if isinstance(it, (list, Iterator)) or self.short(it):
            return self.comprehension(node, scope, env, it)
        acts = any(isinstance(n, ast.Call) for n in ast.walk(node.elt)) or (isinstance(it, Items) and it.acts)
        get = lambda place: next(self.comprehension(node, scope, env, [item(it, place)]))  # noqa: E731
        return Items(length(self.r, it), get, held_by(it), acts=acts)

    def short(self, it: Iterable) -> bool:
        """Whether there are so few items, at any sizes, that the iteration is unrolled."""
        n = None if isinstance(it, Iterator) else self.r.facts.canon(length(self.r, it))
        return isinstance(n, int) and n <= 16

    def comprehension(
        self,
        node: ast.ListComp | ast.GeneratorExp,
        scope: Scope,
        env: Callable[[], Env],
        given: Any,
        further: Sequence[ast.comprehension] | None = None,
        cell: Env | None = None,
        around: Env | None = None,
    ) -> Iterator[Any]:
        """The items of a comprehension, one by one, each computed as its turn comes, with what the names of `scope` are
        then: `env()`. `given`: its first iterable. Those of its loops that are `further` in: its own names are in
        `cell`, and the iterable was made in the environment `around`."""
        first, *more = node.generators if further is None else further
        cell = {} if cell is None else cell
        targets, assigned, turns = stored([first.target]), stored([node]), iter(())
        for k in count():
            if around is not None:
                around.update(env() | cell)
            with self.within(scope), scope.inside(scope.env if around is None else around):
                turns = turns if k else self.each(first.iter, given)
                if not (one := tuple(islice(turns, 1))):
                    return
            inner, found = env() | cell, list[Any]()
            try:
                with self.within(scope), pushed(scope.cells, cell), scope.inside(inner):
                    self.assign(first.target, one[0], inner)
                    cell.update((name, inner[name]) for name in targets)
                    if kept := all(self.kept(test, inner) for test in first.ifs):
                        found.append(self.expr(more[0].iter, inner) if more else self.any_expr(node.elt, inner))
            except StopIteration as fault:  # which Python makes another error of
                raise internal_error(fault, self.r.loc) from fault
            env().update((name, inner[name]) for name in assigned if name in inner)  # of `:=`
            if more and kept:
                yield from self.comprehension(node, scope, env, found[0], more, cell, inner)
            else:
                yield from found

    def kept(self, test: ast.expr, env: Env) -> bool:
        """Whether an item passes a test, which has to be known."""
        known = self.condition(test, self.expr(test, env))
        if not isinstance(known, bool):
            self.r.growth.stuck = True
            raise self.refuse(test, "which items there are depends on data", "use np.where, or a for loop")
        return known

    # -- generator functions
    def made_generator(self, scope: Scope) -> Any:
        """What a call of a generator function gives: nothing of it runs yet."""
        node = scope.source.node
        if self.r.loc in self.r.growth.stepped and isinstance(node, ast.FunctionDef):
            if (found := cursors.begin_steps(self, scope)) is not None:
                return found

        def run(emit: Callable[[Any], None], consumer: Any) -> None:
            if (odd := odd_yield(scope.source.node)) is not None:
                with self.within(scope):
                    reason = "a `yield` whose value is used, or in a `try` or `with`, is not supported in a traced"
                    raise self.refuse(odd, f"{reason} function", "yield by a statement of its own")
            if consumer is None:
                self.run_scope(replace(scope, emit=emit))
                return
            node = scope.source.node
            if node not in self.bodies:
                self.bodies[node] = make_source(stopping(node), scope.source.file), frozenset()
            found = self.bodies[node]
            assert found is not None
            self.run_scope(replace(scope, source=found[0], env={CONSUMER: consumer, **scope.env}, emit=emit))

        return Generator(scope.name, run, self.r.frame, scope=scope, place=self.r.loc)

    def consume(self, node: ast.AST, x: Generator, emit: Callable[[Any], None], consumer: Any = None) -> None:
        """Runs a generator function to its end, or to where its consumer leaves its loop."""
        self.at(node)
        if x.done or x.frame is not self.r.frame:
            if x.place is not None:
                self.r.growth.found_stepped.add(x.place)
            reason = "a generator that is used twice, or in another branch or loop than that in which it was made"
            raise self.refuse(node, reason, "call its function again")
        x.done = True
        x.run(emit, consumer)

    def yielded(self, node: ast.Yield, env: Env) -> None:
        """The statement `yield x`."""
        if self.scope.emit is None:
            raise self.refuse(node, *refusals.expression(node))
        self.scope.emit(None if node.value is None else self.expr(node.value, env))

    def listed(self, node: ast.AST, x: Generator) -> list[Any]:
        """The list of what a generator gives."""
        self.at(node)
        made = self.own([])
        self.consume(node, x, lambda value: self.call(node, dicts.ContainerMethod(made, "append"), [value], {}))
        return made  # type: ignore[no-any-return]

    def over_generator(self, node: ast.For, x: Generator, env: Env) -> None:
        """A `for` over what a generator function gives: its body, as a function, is called at each `yield`."""
        if node.orelse or leaves_by(node.body, ast.Return):
            reason = "`return` or `else` of a loop over a generator is not supported"
            raise self.refuse(node, reason, "loop over a list: list(...)")
        if node not in self.bodies:
            live = self.scope.source.live
            names = frozenset(stored([node.target, *node.body])) & (live.after[node] | live.head[node])
            names -= of_each_item(node, self.scope.source.node)
            made = body_as_function(node, names)
            self.bodies[node] = None if made is None else (make_source(made, self.scope.source.file), names)
        found = self.bodies[node]
        if found is None:
            raise self.refuse(node, "a loop over a generator that binds names by `:=`, `import` or `del`", "use `=`")
        source, names = found
        seen = self.seen_outside(node) & names
        for name in sorted(names):
            if name in seen:
                reason = f"`{name}`, which a function inside reads, is bound in a loop over a generator"
                raise self.refuse(node, reason, "pass it to that function")
            if isinstance(env.get(name, Maybe), (Maybe, type)):
                reason = f"`{name}` may not be bound before a loop over a generator, and is used after it"
                raise self.refuse(node, reason, f"bind it before: {name} = ...")
        if self.r.catching and (read := names & self.r.read_if_raised[-1]):
            reason = f"`{min(read)}` is bound in a loop over a generator, within a `try` that may be left there"
            raise self.refuse(node, reason, "put the loop into a function that returns it")
        cells = Record(types.SimpleNamespace)
        self.own(cells)
        cells.fields.update((name, env[name]) for name in names)
        if (leaves := leaves_by(node.body, ast.Break)) and x.name == "along_bar":
            raise self.refuse(node, "a loop that is left over an iterator of a progress bar", talk.FORM)
        if leaves:
            cells.fields[STOPPED] = False
        try:
            self.consume_by(node.iter, x, source, {**env, cells_of(node): cells}, cells, leaves)
        finally:  # a handler of what is raised sees them too; what is traced again has none
            env.update((name, cells.fields[name]) for name in names if name in cells.fields)

    def seen_outside(self, node: ast.For) -> set[str]:
        """The names of the function that functions and generator expressions in it read as they are then, but for
        expressions in the body of a loop."""
        found = set[str]()
        body = {n for s in node.body for n in ast.walk(s) if isinstance(n, ast.GeneratorExp)}
        for n in ast.walk(self.scope.source.node):
            if isinstance(n, (ast.FunctionDef, ast.Lambda)) and n is not self.scope.source.node:
                found |= loaded(n) - own_names(n)
            elif isinstance(n, ast.GeneratorExp) and n not in body:
                found |= loaded_inside(n)
        return found

    def comprehended_generator(self, node: ast.ListComp, x: Generator, env: Env) -> list[Any]:
        """The list that a comprehension makes of what a generator function gives."""
        if node not in self.bodies:
            body = comprehension_as_function(node)
            self.bodies[node] = None if body is None else (make_source(body, self.scope.source.file), frozenset())
        found = self.bodies[node]
        if found is None:
            raise self.refuse(node, "a comprehension of several loops, or with `:=`, over a generator", "write a loop")
        made = self.own([])
        self.consume_by(node.generators[0].iter, x, found[0], {**env, cells_of(node): made}, made)
        return made  # type: ignore[no-any-return]

    def expressed(self, node: ast.GeneratorExp | ast.ListComp, x: Generator, env: Env) -> Generator | None:
        """What a generator expression over what a generator function gives is: the latter, its items made others. None
        for one of several loops, with `:=`, or within a comprehension."""
        scope, body = self.scope, expression_as_function(node) if isinstance(node, ast.GeneratorExp) else None
        if body is None or scope.cells or scope.env is not env:
            return None
        if node not in self.bodies:
            self.bodies[node] = make_source(body, scope.source.file), frozenset()
        found = self.bodies[node]
        assert found is not None
        source = found[0]

        def run(emit: Callable[[Any], None], consumer: Any) -> None:
            def of_an_item(value: Any) -> None:
                self.run_scope(self.body_scope(scope, source, value, emit, free=True))

            self.consume(node, x, of_an_item, consumer)

        return Generator("<genexpr>", run, self.r.frame, place=x.place)

    def body_scope(
        self, scope: Scope, source: Source, value: Any, emit: Callable[[Any], None] | None, free: bool = False
    ) -> Scope:
        """The scope of a function of an item that is a part of the function of `scope`, whose names it sees (`free`: as
        those of a function around)."""

        def lookup(wanted: str) -> Any:
            for cell in scope.cells[::-1]:
                if wanted in cell:
                    return cell[wanted]
            if wanted not in scope.env:
                return scope.lookup(wanted)
            return bound_value(self.r, wanted, scope.env[wanted], free)

        given: Env = {ITEM: value}
        return Scope(source, lookup, scope.name, given, names=scope.names, emit=emit, consumer=scope)

    def consume_by(
        self, node: ast.AST, x: Generator, source: Source, env: Env, held: Any, leaves: bool = False
    ) -> None:
        """Runs a generator function, with a function for each item that sees the names of `env`, and may leave the loop
        over them (`leaves`)."""
        scope = self.scope

        def emit(value: Any) -> None:
            self.run_scope(self.body_scope(scope, source, value, scope.emit))

        with scope.inside(env), scope.holding(held):
            self.consume(node, x, emit, held if leaves else None)


AT_ONCE = ("sum", "min", "max", "any", "all", "list", "tuple", "set", "frozenset", "dict", "sorted")
"""The builtins that take all items of a generator expression, of which nothing is left then."""


def of_each_item(node: ast.For, function: ast.FunctionDef | ast.Lambda) -> set[str]:
    """The names of a loop's target that stand nowhere in the function but there and in its body, and that nothing
    reads that may be kept: each item binds them anew."""
    body = [n for s in node.body for n in ast.walk(s)]
    inside = {id(n) for n in (*body, *ast.walk(node.target))}
    names = set(stored([node.target]))
    names -= {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and id(n) not in inside}
    calls = [n for n in body if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in AT_ONCE]
    gone = {id(x) for n in calls for x in n.args}
    return names.difference(*(read_later(n) for n in body if id(n) not in gone))
