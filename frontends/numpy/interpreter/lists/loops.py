"""Loops over lists and tuples of many alike items: traced once, where that is better.

Which items are alike: paths/alike. Anything else, and whatever a loop that is traced once would refuse, is traced item
by item.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator, pushed
from tracebuf.frontends.numpy.numbers.lattice import GO_ON, JUMP
from tracebuf.frontends.numpy.numbers.python_ints import as_int_value
from tracebuf.frontends.numpy.paths.alike import LEAST, Picks
from tracebuf.frontends.numpy.paths.iteration import Items, Range
from tracebuf.frontends.numpy.paths.loops.trace import UNROLLED, forget_left_paths, trace_loop
from tracebuf.frontends.numpy.record.values import Env
from tracebuf.frontends.numpy.source.liveness import leaves_by, stored
from tracebuf.ir.dims import Dim, add, mul

T = TypeVar("T")
LOOPS = (ast.For, ast.While)


def over_alike(i: Evaluator, node: ast.For, found: Sequence[Any], env: Env) -> bool:
    """A `for` over items that are alike, as one loop where that is better; whether it is traced now."""
    if len(found) < LEAST or not may_be_one(i, node, len(found), env):
        return False
    picks = Picks(i.r)
    it = picks.items(found)
    if it is None:
        return False
    ListLoop(i, node, found, it, picks, env).trace()
    return True


def over_numbers(i: Evaluator, node: ast.For, rng: Range, env: Env) -> bool:
    """A `for` over a range, whose ints are the places of items of lists that are alike; whether it is traced now."""
    count = i.r.facts.canon(rng.trips())
    if not isinstance(count, int) or not isinstance(rng.start, int) or not isinstance(rng.step, int) or count < LEAST:
        return False
    if not any(takes_item(i, part, env) for part in parts(node.body)) or not may_be_one(i, node, count, env, True):
        return False
    found = range(rng.start, rng.start + rng.step * count, rng.step)
    it = Items(count, lambda k: as_int_value(add(rng.start, mul(rng.step, k))))
    ListLoop(i, node, found, it, Picks(i.r), env).trace()
    return True


class WhilePicks:
    """What a `while` picks from lists of alike items by its counters."""

    def __init__(self, i: Evaluator, node: ast.While) -> None:
        self.i, self.picks, live = i, Picks(i.r), i.scope.source.live
        self.ending = frozenset(live.assigned[node]) - live.head[node] - live.after[node]

    def within(self, env: Env, run: Callable[[], T]) -> T:
        """What `run` gives, which is the test of the loop or an iteration."""
        check = self.picks.begin()
        with pushed(self.i.picking, self.picks):
            found = run()
        check(env, self.ending)
        return found


def while_picks(i: Evaluator, node: ast.While, env: Env) -> WhilePicks | None:
    """What a `while` picks items from, if it takes any of long lists, and appends to none."""
    within = list(ast.walk(node))
    takes = any(takes_item(i, part, env) for part in within) and not any(appends(part, env) for part in within)
    return WhilePicks(i, node) if takes and not i.r.catching else None


def may_be_one(i: Evaluator, node: ast.For, count: int, env: Env, ints: bool = False) -> bool:
    """Whether a `for` over items is traced as one loop if they are alike: not a short one that is left early, nor one
    that appends to a list or whose target holds an item afterwards (but `ints` that no other way is left for)."""
    live = i.scope.source.live
    early = leaves(node) or bool(node.orelse)
    if i.r.catching or early and count <= UNROLLED and not any(isinstance(p, LOOPS) for p in parts(node.body)):
        return False
    if any(appends(p, env) for p in parts(node.body)):
        return False
    used = frozenset(stored([node.target])) & (live.head[node] | live.after[node])
    return not used or ints and early and count > UNROLLED


def leaves(node: ast.For | ast.While) -> bool:
    """Whether a loop may be left early."""
    return leaves_by(node.body, ast.Break, ast.Return)


def parts(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    """The nodes of statements, those within one another too."""
    return (part for statement in body for part in ast.walk(statement))


def takes_item(i: Evaluator, part: ast.AST, env: Env) -> bool:
    """Whether an expression takes an item of a list that a name holds, which is no table."""
    if not (isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Load) and isinstance(part.value, ast.Name)):
        return False
    x = env.get(part.value.id)
    return x is not None and type(x) in (list, tuple) and len(x) >= LEAST and x not in i.tables


def appends(part: ast.AST, env: Env) -> bool:
    """Whether an expression is the `append` of a list that a name holds: its items are arrays of their own."""
    if not (isinstance(part, ast.Attribute) and part.attr == "append" and isinstance(part.value, ast.Name)):
        return False
    return type(env.get(part.value.id)) is list


class ListLoop:
    """One `for` over alike items."""

    def __init__(
        self, i: Evaluator, node: ast.For, found: Sequence[Any], it: Items, picks: Picks, env: Env
    ) -> None:
        self.i, self.r, self.node, self.found, self.it, self.picks, self.env = i, i.r, node, found, it, picks, env
        self.live, self.count = i.scope.source.live, len(found)
        self.ending = frozenset(self.live.assigned[node]) - self.live.head[node] - self.live.after[node]
        self.unrolled = False

    def trace(self) -> None:
        """Traces the loop, as one or item by item."""
        env, live, node = self.env, self.live, self.node
        exits = leaves(node)  # else what is left is made where it stays
        end = self.count - (not exits and bool(live.rebound[node] & live.after[node]))
        env.pop(JUMP, None)
        with self.i.scope.holding(self.it.held), self.i.scope.jumping_to(live.head[node] | live.after[node]):
            spec = self.i.loop_spec(node, Range(0, end, 1), self.run, exits)
            trace_loop(self.r, replace(spec, otherwise=self.otherwise), env, self.i.plans)
            for k in range(end, 0 if self.unrolled else self.count):
                self.outside(k)
        forget_left_paths(env)
        self.i.at(node)
        self.i.after_loop(node, env, exits)

    def run(self, env: Env, place: Dim | None) -> None:
        """An iteration in the loop."""
        assert place is not None
        check = self.picks.begin()
        self.iterate(env, place)
        if not isinstance(place, int):
            check(env, self.ending)

    def outside(self, k: int) -> None:
        """An iteration after the loop."""
        self.env[JUMP] = GO_ON
        self.iterate(self.env, k)
        self.env.pop(JUMP, None)

    def iterate(self, env: Env, place: Dim) -> None:
        i, node = self.i, self.node
        i.at(node)
        with pushed(i.picking, self.picks):
            i.assign(node.target, self.it.get(place), env)
            i.branch(node.body)(env)
        i.at(node)

    def otherwise(self, env: Env, first: int) -> None:
        """The loop from an iteration on, item by item; without its `else`."""
        self.unrolled = True
        i, node, found = self.i, self.node, self.found
        if not isinstance(found, range):
            return i.unrolled(node, found, env, self.live.head[node] | self.live.after[node], first)

        def run(inner: Env, place: Dim | None) -> None:
            assert place is not None
            i.at(node)
            i.assign(node.target, as_int_value(place), inner)
            i.branch(node.body)(inner)

        rest = Range(found[first], found.stop, found.step)
        trace_loop(self.r, i.loop_spec(node, rest, run, leaves(node)), env, i.plans)
