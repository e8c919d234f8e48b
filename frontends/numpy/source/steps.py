"""Generator functions as functions that run to the next `yield`, for iterators that are taken from here and there.

The names of the generator are attributes of an object, and so is which `yield` it has come to. A step runs what follows
that `yield`, and then the loop again; it returns at the next one. What is before the first `yield`, or the loop, runs
when the generator is made, sooner than in Python: it may only bind names to numbers, and to what is there (`is_early`).
Limitation: there is one loop that yields, not within another, and no `else`; what follows a `yield` in it neither
leaves nor continues it, and nothing behind it yields.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from tracebuf.frontends.numpy.source.cells import Untold, _Rewriter, attribute, declared, odd_yield, parameters
from tracebuf.frontends.numpy.source.liveness import leaves_by, loaded, own_nodes, stored
from tracebuf.frontends.numpy.source.source import Source, make_source
from tracebuf.frozen import frozen

CELLS, DEFAULT, STATE, BEFORE, OVER = "<names of the generator>", "<default>", "<at>", "<was at>", "<iterator>"
"""The parameters of a step; the attributes that say at which `yield` it is (0: none yet, -1: at the end), where it was
before, and what its loop goes over."""
Loop = ast.For | ast.While


def iterate(x: Any) -> Any:
    """What stands in the place of the iterable of a generator's loop: an iterator, taken from here and there."""
    return iter(x)


@frozen()
class Steps:
    """The functions that a generator function is made: what runs first (`first`: its statements), what runs to the next
    `yield`, and the generator of what is left; the names that are attributes of their first argument."""

    first: tuple[ast.stmt, ...]
    begin: Source
    step: Source
    rest: Source
    names: frozenset[str]


_made: WeakKeyDictionary[ast.AST, Steps | None] = WeakKeyDictionary()


def as_steps(source: Source) -> Steps | None:
    """A generator function in steps; None for one of another form."""
    if source.node not in _made:
        _made[source.node] = made_steps(source)
    return _made[source.node]


def made_steps(source: Source) -> Steps | None:
    """As `as_steps`, anew."""
    node, file = source.node, source.file
    assert isinstance(node, ast.FunctionDef)
    if declared(node) or odd_yield(node) is not None or may_stop(node):
        return None
    loops = [k for k, s in enumerate(node.body) if isinstance(s, (ast.For, ast.While)) and yields([s])]
    at = loops[0] if loops else len(node.body)
    before, loop, behind = node.body[:at], node.body[at : at + 1], node.body[at + 1 :]
    if len(loops) > 1 or yields(behind):
        return None
    inside: list[ast.stmt] = []
    for s in loop:
        assert isinstance(s, (ast.For, ast.While))
        if s.orelse:
            return None
        inside = s.body
        if isinstance(s, ast.For):
            made = ast.copy_location(ast.Call(ast.Constant(iterate), [s.iter], []), s.iter)  # type: ignore[arg-type]
            over = ast.Assign([ast.Name(OVER, ast.Store())], made)
            before = [*before, ast.copy_location(over, s)]
            loop = [ast.copy_location(ast.For(s.target, ast.copy_location(ast.Name(OVER, ast.Load()), s.iter),
                                              s.body, []), s)]  # fmt: skip
    early = next((k for k, s in enumerate(before) if yields([s])), len(before))
    first, before = before[:early], before[early:]
    if before and any(isinstance(s, ast.For) for s in loop):
        return None
    found = [*continued(before, []), *continued(inside, [])]
    plain = sum(isinstance(n, ast.Yield) for s in node.body for n in own_nodes(s))
    if plain != len(found) or any(leaves_by(rest, ast.Break, ast.Continue) for _, rest in found):
        return None
    kept = {name for _, rest in found for s in rest for name in loaded(s)}
    kept |= {name for s in before for name in loaded(s)}
    kept |= {name for s in behind for name in loaded(s)}
    for k in loops:
        kept |= source.live.head[node.body[k]]
    names = parameters(node) | (frozenset(stored(node.body)) & kept)
    numbers = {expr: k for k, (expr, _) in enumerate(found, 1)}
    try:
        step = function(node, "step", before, loop, behind, found, numbers, names | {OVER}, True)
        rest = function(node, "rest", before, loop, behind, found, numbers, names | {OVER}, False)
        rewriter = _Rewriter(names | {OVER}, CELLS)
        body = [rewriter.visit(copy.deepcopy(s)) for s in first] or [ast.Pass()]
    except Untold:
        return None
    given = ast.arguments([], [ast.arg(CELLS)], None, [], [], None, [])
    begin = located(ast.FunctionDef("<begin>", given, body, []), node)
    return Steps(tuple(first), make_source(begin, file), make_source(step, file), make_source(rest, file), names)


OF_NUMBERS = ("int", "float", "abs", "min", "max", "round")
"""What may be called sooner of numbers."""


def is_early(body: Sequence[ast.stmt], numbers: frozenset[str], fixed: frozenset[str], given: frozenset[str]) -> bool:
    """Whether statements may be run sooner: they bind names to what parameters (`given`) hold, to what is computed of
    numbers, which some of these hold, and to iterators over arrays and tuples (`fixed`), read in their turn."""
    known = [set(numbers), set(fixed), set(given)]
    for s in body:
        match s:
            case ast.Expr(ast.Constant()) | ast.Pass():
                continue
            case ast.Assign([ast.Name(name)], value):
                pairs = [(name, value)]
            case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)) if len(targets) == len(values):
                pairs = [(t.id, v) for t, v in zip(targets, values) if isinstance(t, ast.Name)]
                if len(pairs) != len(targets):
                    return False
            case _:
                return False
        values = [v for _, v in pairs]
        plain = [isinstance(v, ast.Name) and v.id in known[2] for v in values]
        sorts = [(is_number(v, known), goes_over(v, known), held) for v, held in zip(values, plain, strict=True)]
        if not all(map(any, sorts)):
            return False
        for (name, _), sort in zip(pairs, sorts, strict=True):
            for held, holds in zip(known, (*sort[:2], True), strict=True):
                held.discard(name)
                if holds:
                    held.add(name)
    return True


def is_number(node: ast.expr, known: Sequence[set[str]]) -> bool:
    """Whether an expression is computed of numbers that do not change."""
    match node:
        case ast.Constant():
            return True
        case ast.Name(name):
            return name in known[0]
        case ast.UnaryOp(_, a):
            return is_number(a, known)
        case ast.BinOp(a, _, b):
            return is_number(a, known) and is_number(b, known)
        case ast.Call(ast.Name(name), args, []) if name in OF_NUMBERS:
            return all(is_number(a, known) for a in args)
        case ast.Call(ast.Name("len"), [ast.Name(name)], []):
            return name in known[1]
    return False


def goes_over(node: ast.expr, known: Sequence[set[str]]) -> bool:
    """Whether an expression is an array or tuple, or goes over such or over numbers."""
    match node:
        case ast.Name(name):
            return name in known[1]
        case ast.Call(ast.Name("range"), args, []):
            return all(is_number(a, known) for a in args)
        case ast.Call(ast.Name("enumerate" | "zip" | "reversed"), args, []) | ast.Call(ast.Constant(), args, []):
            return all(goes_over(a, known) for a in args)
    return False


def may_stop(node: ast.FunctionDef) -> bool:
    """Whether a generator takes the next item of an iterator, which may have none: RuntimeError in Python."""
    return any(isinstance(n, ast.Name) and n.id in ("next", "StopIteration") for n in ast.walk(node))


def yields(body: Sequence[ast.stmt]) -> bool:
    """Whether statements yield."""
    return any(isinstance(n, (ast.Yield, ast.YieldFrom)) for s in body for n in own_nodes(s))


def continued(body: Sequence[ast.stmt], tail: list[ast.stmt]) -> Iterator[tuple[ast.Expr, list[ast.stmt]]]:
    """Each `yield` of some statements, and what is run after it, the statements behind these (`tail`) too."""
    for k, s in enumerate(body):
        rest = [*body[k + 1 :], *tail]
        if isinstance(s, ast.Expr) and isinstance(s.value, ast.Yield):
            yield s, rest
        elif isinstance(s, ast.If):
            yield from continued(s.body, rest)
            yield from continued(s.orelse, rest)


def function(
    node: ast.FunctionDef, name: str, before: Sequence[ast.stmt], loop: Sequence[ast.stmt], behind: Sequence[ast.stmt],
    found: Sequence[tuple[ast.Expr, list[ast.stmt]]], numbers: dict[ast.Expr, int], names: frozenset[str], step: bool,
) -> ast.FunctionDef:  # fmt: skip
    """A function of the object that holds the names: a step, or the generator of the rest."""
    change = _Step(numbers) if step else None

    def made(body: Sequence[ast.stmt]) -> list[ast.stmt]:
        kept: list[Any] = []
        for s in body:
            one: Any = change.visit(s) if change is not None else copy.deepcopy(s)
            kept += one if isinstance(one, list) else [one]
        rewriter = _Rewriter(names, CELLS)
        return [rewriter.visit(s) for s in kept] or [ast.Pass()]

    state = BEFORE
    resumed: list[ast.stmt] = [ast.Pass()]
    for (_, rest), k in reversed(list(zip(found, numbers.values(), strict=True))):
        resumed = [ast.If(is_at(state, ast.Eq(), k), made(rest), resumed)]
    begun: ast.stmt = ast.If(is_at(state, ast.Eq(), 0), made(before), resumed)
    going = [begun, *(made(loop) if loop else []), *(made(behind) if behind else [])]
    was = ast.Assign([attribute(CELLS, BEFORE, ast.Store())], attribute(CELLS, STATE, ast.Load()))
    body: list[ast.stmt] = [was, *at_end(), ast.If(is_at(state, ast.GtE(), 0), going, [])]
    body += ending() if step else []
    arguments = [ast.arg(CELLS), *([ast.arg(DEFAULT)] if step else [])]
    given = ast.arguments([], arguments, None, [], [], None, [])
    return located(ast.FunctionDef(f"<{name}>", given, body, []), node)


def located(made: ast.FunctionDef, node: ast.FunctionDef) -> ast.FunctionDef:
    """A function whose own nodes are where the generator is."""
    return ast.fix_missing_locations(ast.copy_location(made, node))


def is_at(state: str, op: ast.cmpop, k: int) -> ast.expr:
    """Whether a generator has come to a `yield`."""
    return ast.Compare(attribute(CELLS, state, ast.Load()), [op], [ast.Constant(k)])


def at_end() -> list[ast.stmt]:
    """Notes that there is nothing more, also where an exception ends it."""
    return [ast.Assign([attribute(CELLS, STATE, ast.Store())], ast.Constant(-1))]


def ending() -> list[ast.stmt]:
    """What a step does that finds no item."""
    first = ast.Subscript(ast.Name(DEFAULT, ast.Load()), ast.Constant(0), ast.Load())
    given = ast.If(ast.Name(DEFAULT, ast.Load()), [ast.Return(first)], [])
    return [given, ast.Raise(ast.Constant(StopIteration), None)]  # type: ignore[arg-type]


class _Step(ast.NodeTransformer):
    """Puts returns in the place of `yield`, and what ends a step in that of `return`."""

    def __init__(self, numbers: dict[ast.Expr, int]) -> None:
        self.numbers = numbers

    def visit(self, node: ast.AST) -> object:
        if isinstance(node, ast.Expr) and node in self.numbers:
            assert isinstance(node.value, ast.Yield)
            noted = ast.Assign([attribute(CELLS, STATE, ast.Store())], ast.Constant(self.numbers[node]))
            value = copy.deepcopy(node.value.value) or ast.Constant(None)
            return [ast.fix_missing_locations(ast.copy_location(s, node)) for s in (noted, ast.Return(value))]
        if isinstance(node, ast.Return):
            return [ast.fix_missing_locations(ast.copy_location(s, node)) for s in ending()]
        if isinstance(node, (ast.FunctionDef, ast.Lambda, ast.expr)):
            return copy.deepcopy(node)
        made = copy.copy(node)
        for name, held in ast.iter_fields(node):
            if isinstance(held, list):
                kept: list[object] = []
                for x in held:
                    one = self.visit(x) if isinstance(x, ast.AST) else x
                    kept += one if isinstance(one, list) else [one]
                setattr(made, name, kept)
            elif isinstance(held, ast.AST):
                setattr(made, name, self.visit(held))
        return made
