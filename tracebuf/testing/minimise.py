"""Making a failing program smaller: functions, classes, parameters and statements go, blocks stand without what is
around them, expressions become parts of themselves, arguments become simple ones.

Why: a program of forty lines that fails says little. Works on any module text with functions, by edits of its syntax
tree; an edit stays if the smaller program still fails in the same way. Does not search for a global minimum.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["minimise"]

Edit = Callable[[], Callable[[], None]]
"""Changes the tree; what it gives back undoes the change."""


def minimise(text: str, fails: Callable[[str], bool], seconds: float = 20.0) -> str:
    """The text of a smaller module for which `fails` still holds, found within the time; itself, if it is no Python."""
    stop = time.monotonic() + seconds
    try:
        ast.parse(text)
    except SyntaxError:
        return text
    shrinking = True
    while shrinking:
        shrinking = False
        tree = ast.parse(text)
        for edit in list(edits(tree)):
            if time.monotonic() > stop:
                return text
            undo = edit()
            smaller = unparsed(tree)
            if smaller is not None and len(smaller) < len(text) and fails(smaller):
                text, shrinking = smaller, True
            else:
                undo()
    return text


def unparsed(tree: ast.Module) -> str | None:
    """The text of a tree; None where an edit made no program of it."""
    try:
        text = ast.unparse(ast.fix_missing_locations(tree))
        ast.parse(text)
    except (SyntaxError, AttributeError, ValueError, TypeError):
        return None
    return text


def edits(tree: ast.Module) -> Iterator[Edit]:
    """Edits of a module, the large ones first: whole functions and classes, parameters, statements, what stands around
    them, expressions; last the arguments."""
    yield from (replaced(tree.body, n, []) for n in list(tree.body) if not is_kept(n))
    yield from (without_parameter(tree, k) for k in range(parameters(tree)))
    bodies = [n for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef) and not makes_arguments(n)]
    nodes = [n for f in bodies for n in ast.walk(f)]
    for node in nodes:
        for name in ("body", "orelse", "finalbody", "handlers"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield from (dropped(block, s, name) for s in list(block))
                yield from (replaced(block, s, inner) for s in list(block) for inner in blocks_of(s))
    for node in nodes:
        yield from simpler_statements(node)
    for node in nodes:
        yield from expressions_of(node)
    for f in tree.body:
        if makes_arguments(f) and isinstance(f, ast.FunctionDef):
            made = [n for n in f.body if not isinstance(n, ast.Return)]
            yield from (replaced(f.body, n, []) for n in made)
            yield from (e for n in made for node in ast.walk(n) for e in arguments_of(node))


def is_kept(node: ast.stmt) -> bool:
    """Whether a statement of the module is part of what a program is: `program`, its arguments, its settings."""
    if isinstance(node, ast.FunctionDef):
        return node.name == "program" or makes_arguments(node)
    return isinstance(node, ast.Assign | ast.If) or (isinstance(node, ast.Import) and node.names[0].name == "numpy")


def makes_arguments(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name.startswith("arguments")


def blocks_of(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The statements that may stand in the place of one."""
    if isinstance(node, ast.For | ast.While | ast.If | ast.Try | ast.With):
        yield node.body
        if not isinstance(node, ast.With) and node.orelse:
            yield node.orelse
    if isinstance(node, ast.Try):
        yield from (h.body for h in node.handlers)
        if node.finalbody:
            yield node.finalbody


def simpler_statements(node: ast.AST) -> Iterator[Edit]:
    """One place less of a swap; a plain assignment."""
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple) and isinstance(node.targets[0], ast.Tuple):
        into, values = node.targets[0].elts, node.value.elts
        if len(into) == len(values) > 1:
            yield from (both(replaced(into, x, []), replaced(values, y, [])) for x, y in zip(list(into), list(values)))
        if len(into) == len(values) == 1:
            yield both(changed(node.targets, 0, into[0]), assigned(node, "value", values[0]))


def expressions_of(node: ast.AST) -> Iterator[Edit]:
    """The expressions of a node become parts of themselves."""
    for name, child in ast.iter_fields(node):
        if isinstance(child, ast.expr):
            used = name == "func" or (name == "value" and isinstance(node, ast.Subscript | ast.Attribute))
            stored = not isinstance(getattr(child, "ctx", ast.Load()), ast.Load)
            kept = [p for p in parts(child) if not ((used or stored) and isinstance(p, ast.Constant))]
            yield from (assigned(node, name, part) for part in kept)
        elif isinstance(child, list) and child and all(isinstance(c, ast.expr) for c in child):
            if not (isinstance(node, ast.Assign | ast.Delete) and name == "targets"):
                yield from (changed(child, k, part) for k, c in enumerate(child) for part in parts(c))
            if isinstance(node, ast.Call | ast.List | ast.Set) or (isinstance(node, ast.Tuple) and len(child) > 1):
                yield from (replaced(child, c, []) for c in list(child))
        elif isinstance(child, list) and child and isinstance(child[0], ast.keyword):
            yield from (replaced(child, c, []) for c in list(child))
    if isinstance(node, ast.Dict):
        pairs = [(k, v) for k, v in zip(node.keys, node.values) if k is not None]
        yield from (both(replaced(node.keys, k, []), replaced(node.values, v, [])) for k, v in pairs)


def arguments_of(node: ast.AST) -> Iterator[Edit]:
    """Simpler arguments: shorter arrays, plain layouts, containers become what they hold."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "array":
        if len(node.args) > 3:
            yield replaced(node.args, node.args[3], [])
        yield from (replaced(node.keywords, k, []) for k in list(node.keywords))
        if isinstance(shape := node.args[1], ast.Tuple):
            yield from (changed(shape.elts, k, ast.Constant(n)) for k in range(len(shape.elts)) for n in (1, 2, 3))
        return
    if isinstance(node, ast.Assign):
        yield from (assigned(node, "value", p) for p in parts(node.value) if isinstance(p, ast.Name | ast.Call))
    elif isinstance(node, ast.Call | ast.List | ast.Tuple | ast.Dict | ast.BinOp):
        yield from expressions_of(node)


def parameters(tree: ast.Module) -> int:
    return next((len(n.args.args) for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "program"), 0)


def without_parameter(tree: ast.Module, k: int) -> Edit:
    """The program without a parameter, and without its argument in both sets."""
    lists: list[list[Any]] = []
    for n in tree.body:
        if isinstance(n, ast.FunctionDef) and n.name == "program":
            lists.append(n.args.args)
        elif makes_arguments(n) and isinstance(n, ast.FunctionDef) and isinstance(last := n.body[-1], ast.Return):
            lists += [last.value.elts] if isinstance(last.value, ast.Tuple) else []
    drops = [replaced(items, items[k], []) for items in lists if k < len(items)]
    return both(*drops)


def parts(e: ast.expr) -> Iterator[ast.expr]:
    """Simpler expressions that may stand for one."""
    if isinstance(e, ast.BinOp):
        yield from (e.left, e.right)
    elif isinstance(e, ast.UnaryOp):
        yield e.operand
    elif isinstance(e, ast.Call):
        yield from e.args
        if isinstance(e.func, ast.Attribute):
            yield e.func.value
    elif isinstance(e, ast.Compare):
        yield from (e.left, *e.comparators)
    elif isinstance(e, ast.BoolOp):
        yield from e.values
    elif isinstance(e, ast.IfExp):
        yield from (e.body, e.orelse, e.test)
    elif isinstance(e, ast.Subscript | ast.Attribute):
        yield e.value
    elif isinstance(e, ast.List) or (isinstance(e, ast.Tuple) and len(e.elts) == 1):
        yield from e.elts
    elif isinstance(e, ast.Dict):
        yield from e.values
    elif isinstance(e, ast.ListComp | ast.GeneratorExp | ast.DictComp):
        yield e.generators[0].iter
    elif isinstance(e, ast.Starred):
        yield e.value
    elif isinstance(e, ast.Slice) and (e.lower or e.upper or e.step):
        yield from (
            ast.Slice(*kept) for kept in ((None, e.upper, e.step), (e.lower, None, e.step), (e.lower, e.upper, None))
        )
    if not isinstance(e, ast.Constant | ast.Slice | ast.Name):
        yield ast.Constant(1)


def both(*made: Edit) -> Edit:
    """Several edits as one."""

    def edit() -> Callable[[], None]:
        undo = [one() for one in made]

        def back() -> None:
            for one in reversed(undo):
                one()

        return back

    return edit


def dropped(block: list[ast.stmt], statement: ast.stmt, name: str) -> Edit:
    return replaced(block, statement, [] if len(block) > 1 or name not in ("body", "handlers") else [ast.Pass()])


def replaced(block: list[Any], old: ast.AST, new: list[Any]) -> Edit:
    def edit() -> Callable[[], None]:
        before = list(block)
        if old in block:
            k = block.index(old)
            block[k : k + 1] = new
        return lambda: block.__setitem__(slice(None), before)

    return edit


def assigned(node: ast.AST, name: str, new: ast.expr) -> Edit:
    def edit() -> Callable[[], None]:
        old = getattr(node, name)
        setattr(node, name, new)
        return lambda: setattr(node, name, old)

    return edit


def changed(items: list[ast.expr], k: int, new: ast.expr) -> Edit:
    def edit() -> Callable[[], None]:
        old = list(items)
        if k < len(items):
            items[k] = new
        return lambda: items.__setitem__(slice(None), old)

    return edit
