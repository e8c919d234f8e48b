"""`match` as `if`s: each case becomes a test of the subject, with its names bound by `:=`.

Values, True, False and None, sequences, mappings, builtin classes, captures, `|` and guards. Does not handle
`__match_args__` and `**rest`: such a `match` is left as it is, and refused later. Source: PEP 634.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from tracebuf.frontends.numpy.source.liveness import nodes

SEQUENCES: tuple[type, ...] = (tuple, list, range, *((np.ndarray,) if np.ndarray.__flags__ & 1 << 5 else ()))
"""What `[a, b]` matches: arrays too, from NumPy 2.5 on, where they have Py_TPFLAGS_SEQUENCE."""
ITSELF = ("bool", "bytes", "complex", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple")
"""Builtin classes of which `int(x)` captures the subject itself."""


Node = TypeVar("Node", bound=ast.AST)


class UnsupportedPattern(Exception):
    """Raised for a pattern that is not handled."""


def without_match(tree: ast.Module) -> ast.Module:
    """The tree with every `match` that is handled replaced by `if`s."""
    if any(isinstance(n, ast.Match) for n in nodes(tree)):
        tree = Rewriter().visit(tree)
    return tree


class Rewriter(ast.NodeTransformer):
    """Replaces every `match` that is handled."""

    def __init__(self) -> None:
        self.count = 0

    def visit_Match(self, node: ast.Match) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        self.count += 1
        name = f"<match {self.count}>"
        try:
            subject = ast.Assign([at(node.subject, ast.Name(name, ast.Store()))], node.subject)
            return [at(node.subject, subject), *cases(node, name)]
        except UnsupportedPattern:
            return node


def cases(node: ast.Match, name: str) -> list[ast.stmt]:
    """The cases of a `match` on `name` as an `if` with its `elif`s."""
    rest: list[ast.stmt] = []
    for case in reversed(node.cases):
        parts = tests(case.pattern, at(case.pattern, ast.Name(name, ast.Load())))
        if case.guard is not None:
            parts = [*parts, case.guard]
        rest = [at(case.pattern, ast.If(both(case.pattern, parts), case.body, rest))]
    return rest


def at(place: ast.AST, made: Node) -> Node:
    """A generated node with the position of another in the user's source."""
    for n in ast.walk(made):
        if isinstance(n, (ast.expr, ast.stmt)) and not hasattr(n, "lineno"):
            ast.copy_location(n, place)
    return made


def both(place: ast.AST, parts: Sequence[ast.expr]) -> ast.expr:
    """All of these conditions, joined by `and`."""
    found = list(parts) or [ast.Constant(True)]
    return at(place, found[0] if len(found) == 1 else ast.BoolOp(ast.And(), found))


def tests(pattern: ast.pattern, subject: ast.expr) -> list[ast.expr]:
    """The conditions under which a subject matches."""
    if isinstance(pattern, ast.MatchValue):
        return [compared(subject, ast.Eq(), pattern.value)]
    if isinstance(pattern, ast.MatchSingleton):
        return [compared(subject, ast.Is(), known(pattern.value))]
    if isinstance(pattern, ast.MatchAs):
        inner = [] if pattern.pattern is None else tests(pattern.pattern, subject)
        return inner if pattern.name is None else [*inner, bound(pattern.name, subject)]
    if isinstance(pattern, ast.MatchOr):
        return [at(pattern, ast.BoolOp(ast.Or(), [both(p, tests(p, subject)) for p in pattern.patterns]))]
    if isinstance(pattern, ast.MatchSequence):
        return sequence(pattern, subject)
    if isinstance(pattern, ast.MatchMapping) and pattern.rest is None:
        found = [of_class(subject, known(dict))]
        for key, p in zip(pattern.keys, pattern.patterns):
            found += [compared(key, ast.In(), subject), *tests(p, item(subject, key))]
        return found
    if isinstance(pattern, ast.MatchClass):
        return instance(pattern, subject)
    raise UnsupportedPattern


def sequence(pattern: ast.MatchSequence, subject: ast.expr) -> list[ast.expr]:
    """The tests of `[a, b, *c]`, which matches `SEQUENCES`."""
    count = len(pattern.patterns)
    star = next((k for k, p in enumerate(pattern.patterns) if isinstance(p, ast.MatchStar)), None)
    size = ast.Call(known(len), [subject], [])
    found = [of_class(subject, known(SEQUENCES))]
    found.append(compared(size, ast.Eq() if star is None else ast.GtE(), ast.Constant(count - (star is not None))))
    for k, p in enumerate(pattern.patterns):
        if isinstance(p, ast.MatchStar):
            if p.name is not None:
                end = None if k == count - 1 else ast.Constant(k + 1 - count)
                part = ast.Subscript(subject, ast.Slice(ast.Constant(k), end), ast.Load())
                found.append(bound(p.name, ast.Call(known(list), [part], [])))
        else:
            found += tests(p, item(subject, ast.Constant(k if star is None or k < star else k - count)))
    return found


def instance(pattern: ast.MatchClass, subject: ast.expr) -> list[ast.expr]:
    """The tests of `int(x)` and `Point(x=a)`: the class, then the patterns of its attributes."""
    found = [of_class(subject, pattern.cls)]
    if pattern.patterns:
        itself = isinstance(pattern.cls, ast.Name) and pattern.cls.id in ITSELF and hasattr(builtins, pattern.cls.id)
        if not itself or len(pattern.patterns) > 1:
            raise UnsupportedPattern
        found += tests(pattern.patterns[0], subject)
    for name, p in zip(pattern.kwd_attrs, pattern.kwd_patterns):
        found.append(ast.Call(known(hasattr), [subject, ast.Constant(name)], []))
        found += tests(p, ast.Attribute(subject, name, ast.Load()))
    return found


def known(x: Any) -> ast.expr:
    """A Python value as a constant expression."""
    return ast.Constant(x)


def compared(left: ast.expr, op: ast.cmpop, right: ast.expr) -> ast.expr:
    """The expression `left op right`."""
    return ast.Compare(left, [op], [right])


def of_class(subject: ast.expr, kinds: ast.expr) -> ast.expr:
    """The expression `isinstance(subject, kinds)`."""
    return ast.Call(known(isinstance), [subject, kinds], [])


def item(subject: ast.expr, key: ast.expr) -> ast.expr:
    """The expression `subject[key]`."""
    return ast.Subscript(subject, key, ast.Load())


def bound(name: str, subject: ast.expr) -> ast.expr:
    """Binds a name by `:=`, in an expression that is always true."""
    return compared(ast.NamedExpr(ast.Name(name, ast.Store()), subject), ast.IsNot(), known(UnsupportedPattern))
