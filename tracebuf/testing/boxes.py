"""Random programs whose names live in a container: `a` becomes `S["a"]`, `S.a` or `S[0]`.

The module has the program with a container made inside (`program`), and with the container as its argument (`boxed`),
which the caller gets back changed. The programs themselves are those of `programs`.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from tracebuf.api import bufferize
from tracebuf.testing.ladder import Mismatch, Outcome, Rules, call, compare, copy_first, rung, tolerance_of

KINDS = ("dict", "object", "list", "namespace", "nested", "tuple", "named")


def boxed_text(text: str, draw: random.Random) -> str | None:
    """The module with the names of `program` in a container; None where none can be."""
    tree = ast.parse(text)
    function = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "program")
    parameters = [a.arg for a in function.args.args]
    own = [n for n in parameters if draw.random() < 0.8]
    stored = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    late = [n for n in sorted(stored - {*parameters}) if draw.random() < 0.5]
    names = [n for n in (*own, *late) if n not in shadowed(function)]
    kind = draw.choice(KINDS)
    if kind == "tuple":  # holds what holds the names
        names = [n for n in names if n in parameters]
    if kind == "named":  # cannot be stored into
        names = [n for n in names if n in parameters and n not in stored]
    if not names:
        return None
    body = [_Boxes(kind, names).visit(s) for s in function.body]
    if draw.random() < 0.5:
        body = [_AlsoReturned().visit(s) for s in body]
    rest = [n for n in parameters if n not in names]
    made = f"box({', '.join(n for n in names if n in parameters)})"
    program = f"def program({', '.join(parameters)}):\n    S = {made}\n"
    boxed = f"def boxed({', '.join(('S', *rest))}):\n"
    inner = "\n".join(f"    {line}" for s in body for line in ast.unparse(ast.fix_missing_locations(s)).split("\n"))
    others = [ast.unparse(n) for n in tree.body if n is not function and not isinstance(n, ast.If)]
    text = f"BOXED = {names!r}, {rest!r}, {parameters!r}\n"
    parts = [*others[:3], *others[3:], text, maker(kind, names, parameters), program + inner, boxed + inner]
    return "\n\n".join(parts) + "\n"


def shadowed(function: ast.FunctionDef) -> set[str]:
    """Names that a function or comprehension inside binds, or `:=`."""
    found = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Lambda | ast.FunctionDef) and node is not function:
            found |= {a.arg for a in node.args.args}
            found |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        elif isinstance(node, ast.comprehension):
            found |= {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}
        elif isinstance(node, ast.NamedExpr):
            found.add(node.target.id)
        elif isinstance(node, ast.FunctionDef | ast.Global | ast.Nonlocal):
            found |= {node.name} if isinstance(node, ast.FunctionDef) else {*node.names}
    return found


def maker(kind: str, names: Sequence[str], parameters: Sequence[str]) -> str:
    """What makes the container."""
    given = [n for n in names if n in parameters]
    values = {n: n if n in given else "None" for n in names}
    head = f"def box({', '.join(given)}):\n    return "
    pairs = "{" + ", ".join(f"{n!r}: {v}" for n, v in values.items()) + "}"
    if kind == "dict":
        return head + pairs
    if kind == "list":
        return head + "[" + ", ".join(values.values()) + "]"
    if kind == "tuple":
        return head + f"({pairs}, 1.5)"
    if kind == "named":
        named = f"from collections import namedtuple\n\n\nNames = namedtuple('Names', {list(names)!r})\n\n\n"
        return named + head + f"Names({', '.join(names)})"
    if kind == "nested":
        return head + '{"in": [1, ' + pairs + '], "n": 2}'
    if kind == "namespace":
        return "from types import SimpleNamespace\n\n\n" + head + f"SimpleNamespace(**{pairs})"
    sets = "".join(f"        self.{n} = {v}\n" for n, v in values.items())
    made = f"class Box:\n    def __init__({', '.join(('self', *given))}):\n{sets}"
    return made + "\n\n" + head + f"Box({', '.join(given)})"


class _Boxes(ast.NodeTransformer):
    """Replaces names by items or attributes of the container."""

    def __init__(self, kind: str, names: Sequence[str]) -> None:
        self.kind, self.names = kind, list(names)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self.names:
            return node
        box: ast.expr = ast.Name("S", ast.Load())
        if self.kind in ("object", "namespace", "named"):
            return ast.Attribute(box, node.id, node.ctx)
        if self.kind == "nested":
            box = ast.Subscript(ast.Subscript(box, ast.Constant("in"), ast.Load()), ast.Constant(1), ast.Load())
        if self.kind == "tuple":
            box = ast.Subscript(box, ast.Constant(0), ast.Load())
        key = self.names.index(node.id) if self.kind == "list" else node.id
        return ast.Subscript(box, ast.Constant(key), node.ctx)


class _AlsoReturned(ast.NodeTransformer):
    """Adds the container to what is returned."""

    def visit_Return(self, node: ast.Return) -> ast.Return:
        value = node.value if node.value is not None else ast.Constant(None)
        return ast.Return(ast.Tuple([ast.Name("S", ast.Load()), value, ast.Name("S", ast.Load())], ast.Load()))

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node


def check_boxed(module: ModuleType, source: str) -> None:
    """The program on a container of the caller's, natively, against eager; Mismatch where they differ. Not programs
    that may store to an array of the module, which the two would share."""
    if hasattr(module, "TABLE"):
        return
    names, rest, parameters = module.BOXED
    native = bufferize(module.boxed)

    def on_box(f: Callable[..., Any]) -> Callable[..., Any]:
        def run(*values: Any) -> Any:
            given = dict(zip(parameters, values))
            box = module.box(*(given[n] for n in names if n in given))
            return f(box, *(given[n] for n in rest)), box

        return run

    with rung("native, boxed", source) as name:
        calls = (module.arguments(), module.arguments_again())
        tolerance = tolerance_of(module.TOLERANCE, calls, source)
        for args in calls:
            expected = call(on_box(copy_first(module.boxed)), args)
            found: Outcome = call(on_box(native), args)
            compare(expected, found, Rules(tolerance), name, source)


__all__ = ["Mismatch", "boxed_text", "check_boxed"]
