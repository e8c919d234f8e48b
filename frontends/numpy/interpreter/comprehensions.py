"""Comprehensions and generator expressions: their items one by one, or as the iterable of a loop."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from itertools import count, islice
from typing import Any

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator, Scope, pushed
from tracebuf.frontends.numpy.paths.iteration import Items, Iterable, OneShotIterator, held_by, item, length
from tracebuf.frontends.numpy.record.raises import internal_error
from tracebuf.frontends.numpy.record.values import Env
from tracebuf.frontends.numpy.source.liveness import stored


class Comprehensions(Evaluator):
    """Mixin: comprehensions in an environment."""

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
        first = self.expr(node.generators[0].iter, env)
        return list(self.comprehension(node, self.scope, lambda: env, first))

    def expr_GeneratorExp(self, node: ast.GeneratorExp, env: Env) -> Any:
        return self.generator(node, env)

    def generator(self, node: ast.GeneratorExp | ast.ListComp, env: Env) -> OneShotIterator:
        """The iterator over the items of a generator expression, or of a comprehension."""
        scope, first = self.scope, self.expr(node.generators[0].iter, env)
        it = first if isinstance(first, OneShotIterator) else self.iterable(node.generators[0].iter, first)
        home = env if scope.cells or scope.env is not env else None  # a comprehension's names end with it

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
        return Items(
            length(self.r, it), lambda place: next(self.comprehension(node, scope, env, [item(it, place)])), held_by(it)
        )

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
                        found.append(self.expr(more[0].iter if more else node.elt, inner))
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
