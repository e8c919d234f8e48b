"""Names of lists that nothing else in a function holds: they are bound by `name = [...]` alone, and what reads them
keeps no reference to the list, but for containers that it is put into, other such names (`best = name`), and what takes
it from a `yield`."""

from __future__ import annotations

import ast
from functools import lru_cache

from tracebuf.frontends.numpy.source.liveness import stored

READING = frozenset((
    "len", "sum", "min", "max", "sorted", "list", "tuple", "set", "any", "all", "str", "repr", "print", "bool",
))  # fmt: skip
"""Functions of Python's that keep no reference to their arguments."""
ITERATING = frozenset(("enumerate", "zip", "reversed"))
"""Functions whose iterators keep it, which have to be in a loop's head."""
PUTTING = frozenset(("append", "extend", "join"))
"""Methods that at most put an argument into a container."""

CHANGING = ("append", "extend", "insert", "pop", "remove", "clear")


@lru_cache(maxsize=1024)
def is_own_list(
    function: ast.AST, name: str, given: bool = False, others: frozenset[str] = frozenset()
) -> bool:
    """Whether a name of a function, which is no parameter, holds a list that no other name may hold. `given`: but for
    `others` that are such names, which it is given to or comes from, and what takes it from a `yield`."""
    around = {inner: outer for outer in ast.walk(function) for inner in ast.iter_child_nodes(outer)}
    uses: list[ast.Name] = []
    for node in ast.walk(function):
        bound = [getattr(node, of, None) for of in ("arg", "name", "asname", "rest")]
        if name in bound or (isinstance(node, (ast.Global, ast.Nonlocal)) and name in node.names):
            return False
        if isinstance(node, ast.Try) and name in stored(node.finalbody):  # what is returned may be the list of before
            return False
        uses += [node] if isinstance(node, ast.Name) and node.id == name else []
    return all(is_plain_use(node, function, around, given, others | {name}) for node in uses)


def is_plain_use(
    node: ast.Name, function: ast.AST, around: dict[ast.AST, ast.AST], given: bool, own: frozenset[str]
) -> bool:
    """Whether a statement binds the name to a new list or to that of another name that is `own`, or reads it without
    keeping the list."""
    outer, name = around[node], node.id
    if given and isinstance(outer, ast.Assign) and len(outer.targets) == 1 and isinstance(outer.value, ast.Name):
        other = outer.targets[0] if outer.value is node else outer.value
        if isinstance(other, ast.Name):
            return other.id in own or is_own_list(function, other.id, True, own)
    if given and isinstance(outer, ast.Yield):
        return isinstance(around[outer], ast.Expr)
    if isinstance(node.ctx, ast.Store):
        statement, values = (around[outer], outer.elts) if isinstance(outer, ast.Tuple) else (outer, [node])
        if isinstance(statement, ast.AnnAssign):
            return statement.value is None or isinstance(statement.value, ast.List)
        if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
            return isinstance(outer, ast.AugAssign)
        new = statement.value.elts if isinstance(statement.value, ast.Tuple) else [statement.value]
        return len(new) == len(values) and isinstance(new[values.index(node)], ast.List)
    if isinstance(outer, ast.BoolOp):
        while isinstance(outer, ast.BoolOp):
            node, outer = outer, around[outer]  # type: ignore[assignment]
        return isinstance(outer, (ast.If, ast.While, ast.IfExp)) and outer.test is node
    while isinstance(outer, ast.Tuple):
        node, outer = outer, around[outer]  # type: ignore[assignment]
    if isinstance(outer, (ast.Subscript, ast.UnaryOp, ast.Compare, ast.BinOp, ast.AugAssign)):
        return isinstance(node, ast.Name)
    if isinstance(outer, ast.Attribute):
        return isinstance(around[outer], ast.Call) and around[outer].func is outer  # type: ignore[attr-defined]
    if isinstance(outer, (ast.If, ast.While, ast.IfExp)):
        return outer.test is node
    if isinstance(outer, ast.Assign):
        return all(isinstance(target, ast.Subscript) for target in outer.targets)
    if isinstance(outer, ast.Call) and isinstance(outer.func, ast.Name) and outer.func.id in ITERATING:
        node, outer = outer, around[outer]  # type: ignore[assignment]
    if isinstance(outer, (ast.For, ast.comprehension)):
        return outer.iter is node and name not in stored([outer])
    if isinstance(outer, ast.Return):
        return not any(isinstance(x, (ast.FunctionDef, ast.Lambda)) for x in outside(outer, function, around))
    if isinstance(outer, ast.Call) and node in outer.args:
        called = outer.func
        if isinstance(called, ast.Attribute):
            return called.attr in PUTTING or (isinstance(called.value, ast.Name) and called.value.id == "np")
        return isinstance(called, ast.Name) and called.id in READING
    return False


def outside(node: ast.AST, function: ast.AST, around: dict[ast.AST, ast.AST]) -> list[ast.AST]:
    """What a node stands in, within a function."""
    found = []
    while (node := around[node]) is not function:
        found.append(node)
    return found


@lru_cache(maxsize=1024)
def grows(function: ast.AST, name: str) -> bool:
    """Whether a function changes the length of the list that a name holds."""
    methods = (x.value for x in ast.walk(function) if isinstance(x, ast.Attribute) and x.attr in CHANGING)
    targets = (x.target for x in ast.walk(function) if isinstance(x, ast.AugAssign))
    return any(isinstance(x, ast.Name) and x.id == name for x in (*methods, *targets))
