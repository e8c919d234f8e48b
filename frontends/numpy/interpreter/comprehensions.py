"""Comprehensions and generator expressions: their items one by one, or as the iterable of a loop."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator, Scope, pushed
from tracebuf.frontends.numpy.paths.iteration import Items, Iterable, OneShotIterator, held_by, item, length
from tracebuf.frontends.numpy.record.values import Env
from tracebuf.frontends.numpy.source.liveness import stored


class Comprehensions(Evaluator):
    """Mixin: comprehensions in an environment."""

    def expr_ListComp(self, node: ast.ListComp, env: Env) -> Any:
        return self.own(self.comprehension(node, node.generators, env))

    def expr_GeneratorExp(self, node: ast.GeneratorExp, env: Env) -> Any:
        scope, first = self.scope, self.expr(node.generators[0].iter, env)
        it = first if isinstance(first, OneShotIterator) else self.iterable(node.generators[0].iter, first)
        home = env if scope.cells or scope.env is not env else None  # a comprehension's names end with it
        made = OneShotIterator(
            "generator", lambda: self.generated(node, self.at_home(node, scope, home), it), self.r.frame
        )
        made.source = node, scope, it, home
        return made

    def at_home(self, node: ast.AST, scope: Scope, home: Env | None) -> Scope:
        """A context that makes the scope's environment the one in which a generator was made."""
        if home is not None and scope.env is not home:
            reason = "a generator leaves the comprehension or expression that it was made in"
            raise self.refuse(node, reason, "make a list of it: [x for x in ...]")
        return scope

    def generated(self, node: ast.GeneratorExp, scope: Scope, first: Any) -> Iterable:
        """What a generator iterates over, given its first iterable, with the current values of its names."""
        it = self.iterable(node, first)
        with self.within(scope):
            plain = len(node.generators) == 1 and not node.generators[0].ifs and not stored([node])
            if not plain or isinstance(it, list) or self.short(it):
                return self.comprehension(node, node.generators, scope.env, it)
            return Items(
                length(self.r, it), lambda place: self.generated_item(node, scope, item(it, place)), held_by(it)
            )

    def generated_item(self, node: ast.GeneratorExp, scope: Scope, one: Any) -> Any:
        """One item of a generator."""
        with self.within(scope):
            return self.comprehension(node, node.generators, scope.env, [one])[0]

    def short(self, it: Iterable) -> bool:
        """Whether there are so few items, at any sizes, that the iteration is unrolled."""
        n = self.r.facts.canon(length(self.r, it))
        return isinstance(n, int) and n <= 16

    def comprehension(
        self,
        node: ast.ListComp | ast.GeneratorExp,
        generators: Sequence[ast.comprehension],
        env: Env,
        given: Any = None,
    ) -> list[Any]:
        """The items of a comprehension, one by one: its ranges are unrolled. `given`: its first iterable."""
        if not generators:
            return [self.expr(node.elt, env)]
        first, *more = generators
        found: list[Any] = []
        targets = stored([first.target])
        with pushed(self.scope.cells, dict[str, Any]()) as cell:
            for one in self.iterate_static(first.iter, self.expr(first.iter, env) if given is None else given):
                inner = dict(env)
                self.assign(first.target, one, inner)
                cell.update((name, inner[name]) for name in targets)
                with self.scope.inside(inner):
                    kept = [self.condition(test, self.expr(test, inner)) for test in first.ifs]
                    if not all(isinstance(k, bool) for k in kept):
                        reason = "which items there are depends on data"
                        raise self.refuse(first.ifs[0], reason, "use np.where, or a for loop")
                    if all(kept):
                        found += self.comprehension(node, more, inner)
                env.update((name, inner[name]) for name in stored([node]) if name in inner)  # of `:=`
        return found
