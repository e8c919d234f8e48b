"""Values whose type is path-dependent, and where they are used (rules C1, S8).

A statement that does more with such a value than pass it on is traced once for each type, as the two branches of an
`if`; where a test decides the type (`x is None`), names are narrowed to what they hold on that path. What a call in the
midst of an expression gives is in the same way used once for each (`by_type` of the interpreter's expressions).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from tracebuf.frontends.numpy.numbers.lattice import Maybe, is_container, parts_of
from tracebuf.frontends.numpy.record.callees import is_text
from tracebuf.frontends.numpy.record.cond import Cond
from tracebuf.frontends.numpy.record.conditions import negated
from tracebuf.frontends.numpy.record.growing import is_keyed
from tracebuf.frontends.numpy.record.heap import Heap, is_groups
from tracebuf.frontends.numpy.record.values import ArrayRef, Env, Scalar
from tracebuf.frontends.numpy.source.liveness import nodes
from tracebuf.ir.core import Value

SIMPLE = (ast.Raise, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return, ast.Assert,
          ast.Delete, ast.For)  # fmt: skip
"""Statements that are traced once for each type of a value: of a loop, what it iterates over."""


SINGLE = (ArrayRef, Scalar, int, float, FunctionType)
"""Classes of values that are of one type, and hold no others."""


def narrow(env: Env, condition: Value, positive: bool, heap: Heap) -> Env:
    """The values of names where a condition is known to be `positive`."""
    opposite = negated(condition)
    if opposite is not None:
        env = narrow(env, opposite, not positive, heap)
    return {name: narrowed(x, condition, positive, heap) for name, x in env.items()}


def narrowed(x: Any, condition: Value, positive: bool, heap: Heap) -> Any:
    """A value where a condition is known to be `positive`; the same object if that says nothing about it."""
    if isinstance(x, Cond) and x.condition is condition:
        return narrowed(x.arms[0 if positive else 1], condition, positive, heap)
    return x if isinstance(x, ArrayRef) else within(x, lambda y: narrowed(y, condition, positive, heap), heap)


def within(x: Any, change: Callable[[Any], Any], heap: Heap) -> Any:
    """A tuple, or a value that is there or of a type on some paths only, with what it consists of changed; the same
    object if nothing changes."""
    if isinstance(x, Maybe):
        value = change(x.value)
        return x if value is x.value else Maybe(x.bound, value, x.left, x.otherwise)
    if isinstance(x, Cond):
        return x.map(change)
    return heap.with_changed(x, change) if isinstance(x, tuple) and is_container(x) else x


def to_split(node: ast.stmt | ast.expr, env: Env, heap: Heap) -> Cond[Any] | None:
    """A path-dependent value whose type a statement or expression needs to know; None if there is none."""
    suspects = {
        name: x for name, x in env.items()
        if not isinstance(x, SINGLE) and (type(x) is Cond or isinstance(x, Maybe) or is_container(x))
    }  # fmt: skip
    for name in used(node) if suspects else ():
        x = suspects.get(name)
        x_there = x.value if isinstance(x, Maybe) else x
        found: Cond[Any] | None = next((p for p in parts_of(x_there) if type(p) is Cond), None)
        if found is not None and narrowed(x, found.condition, True, heap) is not x:
            if not (is_text(x) and is_only_key(node, name, env)):
                return found
    return None


def is_only_key(node: ast.AST, name: str, env: Env) -> bool:
    """Whether a name is used as a key of dicts and sets by run-time keys only, which take it whatever text it is."""
    keys = set[ast.AST]()
    for n in nodes(node):
        if isinstance(n, ast.Subscript) and holds_keys(n.value, env):
            keys.add(n.slice)
        elif isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and holds_keys(n.func.value, env):
            keys.update(n.args)
        elif isinstance(n, ast.Compare) and isinstance(n.ops[0], (ast.In, ast.NotIn)):
            keys.update([n.left] if len(n.ops) == 1 and holds_keys(n.comparators[0], env) else [])
    return all(n in keys for n in nodes(node) if isinstance(n, ast.Name) and n.id == name)


def holds_keys(node: ast.AST, env: Env) -> bool:
    """Whether an expression is a name of a dict or set by run-time keys."""
    x = env.get(node.id) if isinstance(node, ast.Name) else None
    return is_keyed(x) or is_groups(x)


def is_identity(node: ast.Compare) -> bool:
    """Whether a comparison is `a is b` or `a is not b`."""
    return len(node.ops) == 1 and isinstance(node.ops[0], (ast.Is, ast.IsNot))


def asked_for_none(node: ast.AST) -> ast.Compare | None:
    """A comparison `x == None` or `x != None`."""
    if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
        return None
    right = node.comparators[0]
    return node if isinstance(right, ast.Constant) and right.value is None else None


def used(node: ast.AST) -> Iterator[str]:
    """The names whose values a node does more with than pass on."""
    if isinstance(node, ast.Name):
        return
    if isinstance(node, ast.For):
        yield from names_in(node.iter)
        return
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        moved = all(isinstance(t, ast.Name) for t in targets)
        for part in [*targets, *([node.value] if node.value is not None else [])]:
            yield from used(part) if moved else names_in(part)
    elif isinstance(node, (ast.Return, ast.Expr)):
        yield from used(node.value) if node.value is not None else ()
    elif isinstance(node, ast.IfExp):
        for part in (node.test, node.body, node.orelse):
            yield from used(part)
    elif isinstance(node, (ast.Tuple, ast.List)):
        for item in node.elts:
            yield from used(item)
    elif isinstance(node, ast.BoolOp):
        for item in node.values:
            yield from used(item) if isinstance(item, ast.Compare) else names_in(item)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield from used(node.operand) if isinstance(node.operand, ast.Compare) else names_in(node.operand)
    elif isinstance(node, ast.Compare) and (is_identity(node) or asked_for_none(node) is not None):
        for item in (node.left, *node.comparators):
            yield from used(item)
    else:
        yield from names_in(node)


def names_in(node: ast.AST) -> Iterator[str]:
    """The names that a node reads."""
    return (n.id for n in nodes(node) if isinstance(n, ast.Name))
