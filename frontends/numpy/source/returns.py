"""Returns inside of loops, written as a `break`: what is returned is evaluated after the loop, where every name is as
it was. So a loop carries which statement returns, and not what it returns, a list that it changes, say.

    for k in range(n):                      returned = 0
        x = f(x)                            for k in range(n):
        hist.append(x)                          x = f(x)
        if x < tol:                             hist.append(x)
            return x, hist                      if x < tol:
                                                    returned = 1
                                                    break
                                            if returned == 1:
                                                return x, hist
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar

from tracebuf.frontends.numpy.source.source import Definition, Source, make_source

LOOPS = (ast.For, ast.While)
NAME = "<returned>"
Node = TypeVar("Node", bound=ast.AST)


@lru_cache(maxsize=512)
def loops_return(node: Definition) -> bool:
    """Whether a loop of a function returns."""
    return isinstance(node, ast.FunctionDef) and any(map(returns, node.body))


@lru_cache(maxsize=512)
def after_loops(node: Definition, file: str) -> Source:
    """The source of a function of which loops return, with that evaluated after them."""
    assert isinstance(node, ast.FunctionDef)
    fields = [name for name in (*node._fields, *node._attributes) if hasattr(node, name)]
    made = ast.FunctionDef(**{name: getattr(node, name) for name in fields})
    made.body = block(node.body)
    return make_source(made, file)


def returns(s: ast.stmt) -> bool:
    """Whether a loop in a statement returns."""
    if isinstance(s, LOOPS):
        return bool(in_loop(s.body)) or any(map(returns, s.orelse))
    return isinstance(s, ast.If) and any(map(returns, (*s.body, *s.orelse)))


def in_loop(body: Sequence[ast.stmt]) -> list[ast.Return]:
    """The returns in the body of a loop, in order; not those in `try` and `with`, which may see what evaluating the
    result raises."""
    found: list[ast.Return] = []
    for s in body:
        if isinstance(s, ast.Return):
            found.append(s)
        elif isinstance(s, (ast.If, *LOOPS)):
            found += [*in_loop(s.body), *in_loop(s.orelse)]
    return found


def block(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Statements outside of loops."""
    made: list[ast.stmt] = []
    for s in body:
        if isinstance(s, ast.If):
            made.append(placed(ast.If(s.test, block(s.body), block(s.orelse)), s))
        elif isinstance(s, LOOPS) and (found := in_loop(s.body)):
            made += [assigned(0, s), loop(s, found, block(s.orelse))]
            made += [placed(ast.If(is_number(k, one), [one], []), one) for k, one in enumerate(found, 1)]
        else:
            made.append(s)
    return made


def loop(s: ast.For | ast.While, found: list[ast.Return], orelse: list[ast.stmt]) -> ast.stmt:
    """A loop that is left where it returned."""
    body = inner(s.body, found)
    if isinstance(s, ast.While):
        return placed(ast.While(s.test, body, orelse), s)
    return placed(ast.For(s.target, s.iter, body, orelse, s.type_comment), s)


def inner(body: Sequence[ast.stmt], found: list[ast.Return]) -> list[ast.stmt]:
    """Statements of a loop."""
    made: list[ast.stmt] = []
    for s in body:
        if isinstance(s, ast.Return):
            return [*made, assigned(found.index(s) + 1, s), placed(ast.Break(), s)]
        if isinstance(s, ast.If):
            made.append(placed(ast.If(s.test, inner(s.body, found), inner(s.orelse, found)), s))
        elif isinstance(s, LOOPS) and (in_loop(s.body) or in_loop(s.orelse)):
            made.append(loop(s, found, inner(s.orelse, found)))
            made.append(placed(ast.If(is_number(0, s, ast.Gt()), [placed(ast.Break(), s)], []), s))
        else:
            made.append(s)
    return made


def assigned(number: int, at: ast.AST) -> ast.stmt:
    """Notes which statement returns."""
    return placed(ast.Assign([placed(ast.Name(NAME, ast.Store()), at)], placed(ast.Constant(number), at)), at)


def is_number(number: int, at: ast.AST, op: ast.cmpop | None = None) -> ast.expr:
    """Whether it is this one that returns."""
    compared: list[ast.expr] = [placed(ast.Constant(number), at)]
    return placed(ast.Compare(placed(ast.Name(NAME, ast.Load()), at), [op or ast.Eq()], compared), at)


def placed(made: Node, at: ast.AST) -> Node:
    """A node at the place of another."""
    return ast.copy_location(made, at)
