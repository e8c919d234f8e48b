"""Loops and comprehensions over lists and tuples of many alike items: traced once, where that is better.

Which items are alike: paths/alike; the lists that are appended to: paths/growing. Anything else, and whatever a loop
that is traced once would refuse, is traced item by item.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator, Scope, pushed
from tracebuf.frontends.numpy.numbers.lattice import GO_ON, JUMP
from tracebuf.frontends.numpy.numbers.python_ints import as_int_value
from tracebuf.frontends.numpy.paths.alike import LEAST, Picks
from tracebuf.frontends.numpy.paths.growing import Growing, Growth, Where, hidden
from tracebuf.frontends.numpy.paths.iteration import Items, Range
from tracebuf.frontends.numpy.paths.loops.containers import CarriedContainers
from tracebuf.frontends.numpy.paths.loops.plan import LoopPlan, LoopSpec, Path
from tracebuf.frontends.numpy.paths.loops.trace import Loop, forget_left_paths, rebound_arrays, trace_loop
from tracebuf.frontends.numpy.record.heap import Changed
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import Env
from tracebuf.frontends.numpy.source.liveness import leaves_by, stored
from tracebuf.ir.dims import Dim, add, mul
from tracebuf.location import Location


class LoopStatements(Protocol):
    """What is asked here of the interpreter of statements."""

    r: Recorder
    scopes: list[Scope]
    plans: dict[Path, LoopPlan]
    picking: list[Picks]

    @property
    def scope(self) -> Scope: ...

    def at(self, node: ast.AST) -> Location: ...

    def assign(self, target: ast.expr, value: Any, env: Env) -> None: ...

    def branch(self, body: list[ast.stmt]) -> Callable[[Env], None]: ...

    def loop_spec(self, node: ast.For, rng: Range, run: Callable[[Env, Dim | None], None]) -> LoopSpec: ...

    def over(self, node: ast.For, it: Items | Range, env: Env) -> None: ...

    def after_loop(self, node: ast.For, env: Env, exits: bool) -> None: ...

    def unrolled(
        self, node: ast.For, items: Sequence[Any], env: Env, targets: frozenset[str], first: int = 0
    ) -> None: ...


def over_alike(i: LoopStatements, node: ast.For, found: Sequence[Any], env: Env) -> bool:
    """A `for` over items that are alike, as one loop where that is better; whether it is traced now."""
    if len(found) < LEAST or node.orelse or leaves_by(node.body, ast.Break, ast.Return):
        return False
    live, picks = i.scope.source.live, Picks(i.r)
    if frozenset(stored([node.target])) & (live.head[node] | live.after[node]):
        return False
    it = picks.items(found)
    return it is not None and ListLoop(i, node, found, it, picks, env).trace()


def over_numbers(i: LoopStatements, node: ast.For, rng: Range, env: Env) -> bool:
    """A `for` over a range, whose ints are the places of items of lists that are alike; whether it is traced now."""
    count = i.r.facts.canon(rng.trips())
    if not isinstance(count, int) or not isinstance(rng.start, int) or not isinstance(rng.step, int) or count < LEAST:
        return False
    if node.orelse or leaves_by(node.body, ast.Break, ast.Return) or not takes_items(node.body, env):
        return False
    live, found = i.scope.source.live, range(rng.start, rng.start + rng.step * count, rng.step)
    if frozenset(stored([node.target])) & (live.head[node] | live.after[node]):
        return False
    it = Items(count, lambda k: as_int_value(add(rng.start, mul(rng.step, k))))
    return ListLoop(i, node, found, it, Picks(i.r), env).trace()


def takes_items(body: Sequence[ast.stmt], env: Env) -> bool:
    """Whether statements take items of lists that names hold."""
    for part in (n for statement in body for n in ast.walk(statement)):
        if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Load) and isinstance(part.value, ast.Name):
            x = env.get(part.value.id)
            if x is not None and type(x) in (list, tuple) and len(x) >= LEAST:
                return True
    return False


class ListLoop:
    """One `for` over alike items. `rowed`: names that end each iteration as what it has appended, with where."""

    def __init__(
        self, i: LoopStatements, node: ast.For, found: Sequence[Any], it: Items, picks: Picks, env: Env
    ) -> None:
        self.i, self.r, self.node, self.found, self.it, self.picks, self.env = i, i.r, node, found, it, picks, env
        self.live, self.count = i.scope.source.live, len(found)
        self.ending = frozenset(self.live.assigned[node]) - self.live.head[node] - self.live.after[node]
        names = [n for n in appended_to(node.body) if type(env.get(n)) is list]
        self.lists = [env[n] for n in names]
        self.names = {n: next(k for k, x in enumerate(self.lists) if x is env[n]) for n in names}
        self.growth = Growth(self.r, self.count, len(self.lists))
        self.rowed: dict[str, Where] = {}
        self.unrolled = False

    def trace(self) -> bool:
        """Whether the loop is traced; else nothing has been."""
        if self.lists and not self.grows():
            return False
        env, live, node = self.env, self.live, self.node
        first = int(any(n in live.head[node] for n in self.rowed))
        made_last = (live.rebound[node] & live.after[node]) - self.rowed.keys()
        end = self.count - bool(made_last)  # what is left is made where it stays
        env.pop(JUMP, None)
        with self.i.scope.holding(self.it.held), self.i.scope.jumping_to(live.head[node] | live.after[node]):
            for k in range(first):
                self.outside(k)
            trace_loop(self.r, self.spec(Range(first, end, 1), self.otherwise), env, self.i.plans)
            for k in range(end, 0 if self.unrolled else self.count):
                self.outside(k)
        forget_left_paths(env)
        self.i.at(node)
        if not self.unrolled:
            self.end()
        self.i.after_loop(node, env, False)
        return True

    def grows(self) -> bool:
        """Whether the lists that are appended to can be rows, as one iteration shows, which is forgotten again."""
        r, env = self.r, self.env
        function = self.i.scope.source.node
        if len(self.i.scopes) > 1 or not all(only_returned(function, n) for n in self.names):
            return False
        if not hidden(r, env, self.lists):
            return False
        spec = self.spec(Range(0, self.count, 1), None)
        plan, carried = LoopPlan(arrays=rebound_arrays(spec, env)), CarriedContainers(r, spec, env, (), ())
        loop = Loop(r, spec, env, plan, carried)
        try:
            with r.at(r.loc):
                loop.trace()
                if not plan.peel_for and not plan.retry:
                    loop.check_pays()
        except (UnsupportedError, Changed):
            return False
        finally:
            loop.discard()
            carried.restore()
        ends = {n: self.growth.appended(loop.after.get(n)) for n in self.live.assigned[self.node]}
        self.rowed = {n: where for n, where in ends.items() if where is not None}
        self.growth = Growth(r, self.count, len(self.lists))
        return True

    def spec(self, rng: Range, otherwise: Callable[[Env, int], None] | None) -> LoopSpec:
        """The loop without the names that are rows."""
        spec, rowed = self.i.loop_spec(self.node, rng, self.run), self.rowed.keys()
        return replace(
            spec, assigned=tuple(n for n in spec.assigned if n not in rowed), rebound=spec.rebound - rowed,
            computed=spec.computed - rowed, floats=spec.floats - rowed, head=spec.head - rowed,
            after=spec.after - rowed, otherwise=otherwise, tables=lambda: self.growth.tables,
        )  # fmt: skip

    def run(self, env: Env, place: Dim | None) -> None:
        """An iteration in the loop."""
        assert place is not None
        picked = not isinstance(place, int)
        before = {n: env[n] for n in self.rowed if n in env}
        env.update((n, self.growth.row(where, add(place, -1))) for n, where in self.rowed.items() if n in before)
        check = self.picks.begin()
        self.iterate(env, place)
        if any(self.growth.appended(env.get(n)) != where for n, where in self.rowed.items()):
            raise self.r.refuse("a name holds what a list gets in some iterations only")
        for n in self.rowed:
            env.pop(n, None)
        env.update(before)
        if picked:
            check(env, self.ending)

    def outside(self, k: int) -> None:
        """An iteration before the loop, or after it."""
        env = self.env
        if k:
            env.update((n, self.growth.row(where, k - 1)) for n, where in self.rowed.items())
        env[JUMP] = GO_ON
        self.iterate(env, k)
        env.pop(JUMP, None)

    def iterate(self, env: Env, place: Dim) -> None:
        i, node = self.i, self.node
        i.at(node)
        self.growth.begin(place)
        env.update((n, Growing(self.growth, k)) for n, k in self.names.items())
        with pushed(i.picking, self.picks):
            i.assign(node.target, self.it.get(place), env)
            i.branch(node.body)(env)
        i.at(node)
        self.growth.end(env)
        env.update((n, self.lists[k]) for n, k in self.names.items())

    def otherwise(self, env: Env, first: int) -> None:
        """The loop from an iteration on, item by item."""
        self.unrolled = True
        for k, x in enumerate(self.lists):
            self.fill(x, self.growth.rows(k, first))
        env.update((n, self.growth.ending(self.lists[w[0]], w)) for n, w in self.rowed.items() if first)
        node, found = self.node, self.found
        if isinstance(found, range):
            self.i.over(node, Range(found[first], found.stop, found.step), env)
        else:
            self.i.unrolled(node, found, env, self.live.head[node] | self.live.after[node], first)

    def end(self) -> None:
        """Puts the rows into the lists, and the last ones into the names that hold them."""
        for k, x in enumerate(self.lists):
            self.fill(x, self.growth.rows(k, self.count))
        self.env.update((n, self.growth.ending(self.lists[w[0]], w)) for n, w in self.rowed.items())

    def fill(self, x: list[Any], items: Sequence[Any]) -> None:
        self.r.heap.may_change(x, self.r)
        x.extend(items)


def comprehended(i: Evaluator, node: ast.ListComp, found: Sequence[Any], env: Env) -> list[Any] | None:
    """The items of a comprehension over alike items that the function returns, as rows that one loop makes; None where
    that cannot be, or is not better."""
    (first,) = node.generators
    if len(found) < LEAST or first.ifs or len(i.scopes) > 1 or stored([node]):
        return None
    if not any(n is node for n in returned(i.scope.source.node)):
        return None
    r, picks, targets = i.r, Picks(i.r), stored([first.target])
    it, growth, refused = picks.items(found), Growth(i.r, len(found), 1), list[int]()
    if it is None:
        return None

    def run(env: Env, place: Dim | None) -> None:
        assert place is not None
        check, inner = picks.begin(), dict(env)
        growth.begin(place)
        i.assign(first.target, it.get(place), inner)
        with pushed(i.scope.cells, {n: inner[n] for n in targets}), i.scope.inside(inner), pushed(i.picking, picks):
            growth.append(0, i.expr(node.elt, inner))
        growth.end(inner)
        check(inner, targets)

    none = frozenset[str]()
    spec = LoopSpec(
        (node, r.loc), Range(0, len(found), 1), None, run, False, (), none, none, none, none, frozenset(env),
        lambda env, k: refused.append(k), lambda: growth.tables,
    )  # fmt: skip
    with i.scope.holding(it.held):
        trace_loop(r, spec, env, i.plans)
    return None if refused else growth.rows(0, len(found))


# -- what the text of a function says of its lists
def appended_to(body: Sequence[ast.stmt]) -> list[str]:
    """The names of which `append` is called."""
    calls = (n.func for statement in body for n in ast.walk(statement) if isinstance(n, ast.Call))
    found = [f.value.id for f in calls if is_append(f)]  # type: ignore[attr-defined]
    return list(dict.fromkeys(found))


def is_append(node: ast.expr) -> bool:
    """Whether a node is `name.append`."""
    return isinstance(node, ast.Attribute) and node.attr == "append" and isinstance(node.value, ast.Name)


def only_returned(function: ast.AST, name: str) -> bool:
    """Whether a name is read for `append` only, and to be returned, by itself or in a tuple, list or dict."""
    mine = [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]
    known = [n.value for n in ast.walk(function) if isinstance(n, ast.expr) and is_append(n)]  # type: ignore[attr-defined]
    ends = [n.value for n in ast.walk(function) if isinstance(n, ast.Return) and n.value is not None]
    known += [n for value in ends for n in shown(value)]
    return all(any(n is k for k in known) for n in mine)


def shown(node: ast.expr) -> Iterator[ast.expr]:
    """The values that a tuple, list or dict is written out with, or the expression itself."""
    parts: Sequence[ast.expr | None] = (
        node.elts if isinstance(node, (ast.Tuple, ast.List)) else node.values if isinstance(node, ast.Dict) else ()
    )
    if not parts:
        yield node
    for part in parts:
        if part is not None:
            yield from shown(part)


def returned(function: ast.AST) -> Iterator[ast.expr]:
    """The expressions whose values a function returns, directly or by a name that does nothing else."""
    if isinstance(function, ast.Lambda):
        yield from shown(function.body)
    for n in ast.walk(function):
        if isinstance(n, ast.Return) and n.value is not None:
            yield from shown(n.value)
        elif isinstance(n, ast.Assign) and len(n.targets) == 1 and isinstance(target := n.targets[0], ast.Name):
            if only_returned(function, target.id):
                yield n.value
