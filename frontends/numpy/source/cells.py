"""Names that functions inside of a function bind (`nonlocal`): attributes of an object, as Python has them in cells.

`total`, which an inner function declares as nonlocal, becomes `<cells>.total` wherever it stands, of an object that the
function makes first. So it is joined and carried through branches and loops as the attributes of any object.
"""

from __future__ import annotations

import ast
import copy
import types
from collections.abc import Iterator

from tracebuf.frontends.numpy.source.liveness import own_nodes, stored

Function = ast.FunctionDef | ast.Lambda
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Untold(Exception):
    """A name is bound in a form that has no attribute in its place."""


def converted(node: ast.FunctionDef) -> ast.FunctionDef:
    """A function whose names that inner functions bind are attributes; itself where there are none, or where one is
    bound in a form that is not known: a `nonlocal` stays, and is refused where it is met."""
    names = parameters(node) | frozenset(stored(node.body))
    names = (names - declared(node)) & bound_inside(node)
    made = copy.deepcopy(node)
    cells = f"<cells of line {node.lineno}>"
    try:
        made.body = [_Rewriter(names, cells).visit(s) for s in made.body]
    except Untold:
        return node
    first = made.body[0]
    made_first = ast.Call(ast.Constant(types.SimpleNamespace), [], [])  # type: ignore[arg-type]
    begin: list[ast.stmt] = [ast.Assign([ast.Name(cells, ast.Store())], made_first)]
    for name in sorted(names & parameters(node)):
        begin.append(ast.Assign([attribute(cells, name, ast.Store())], ast.Name(name, ast.Load())))
    made.body = [*(ast.fix_missing_locations(ast.copy_location(s, first)) for s in begin), *made.body]
    return made


def attribute(cells: str, name: str, context: ast.expr_context) -> ast.Attribute:
    return ast.Attribute(ast.Name(cells, ast.Load()), name, context)


def parameters(node: Function) -> frozenset[str]:
    a = node.args
    rest = [x for x in (a.vararg, a.kwarg) if x is not None]
    return frozenset(x.arg for x in [*a.posonlyargs, *a.args, *a.kwonlyargs, *rest])


def declared(node: Function) -> frozenset[str]:
    """The names that a function declares to be another one's, or global."""
    inner = own_nodes_of(node)
    return frozenset(name for n in inner if isinstance(n, (ast.Nonlocal, ast.Global)) for name in n.names)


def own_nodes_of(node: Function) -> Iterator[ast.AST]:
    """The nodes of a function's own scope."""
    for s in node.body if isinstance(node, ast.FunctionDef) else [node.body]:
        yield from own_nodes(s)


def inner_functions(node: Function) -> list[Function]:
    """The functions that stand right in a function."""
    found: list[Function] = []
    for n in own_nodes_of(node):
        inside = ast.walk(n) if isinstance(n, COMPREHENSIONS) else [n]
        found += [x for x in inside if isinstance(x, (ast.FunctionDef, ast.Lambda))]
    return found


def bound_inside(node: Function) -> frozenset[str]:
    """The names of functions around that the functions inside of one declare as nonlocal."""
    found: set[str] = set()
    for inner in inner_functions(node):
        own = own_names(inner)
        mine = {name for n in own_nodes_of(inner) if isinstance(n, ast.Nonlocal) for name in n.names}
        found |= mine | (bound_inside(inner) - own)
    return frozenset(found)


def own_names(node: Function) -> frozenset[str]:
    """The names that a function binds as its own."""
    body = node.body if isinstance(node, ast.FunctionDef) else []
    return (parameters(node) | frozenset(stored(body))) - declared(node)


class _Rewriter(ast.NodeTransformer):
    """Puts attributes of `cells` in the place of names."""

    def __init__(self, names: frozenset[str], cells: str) -> None:
        self.names, self.cells = names, cells

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self.names:
            return node
        if isinstance(node.ctx, ast.Del):
            raise Untold
        made = ast.copy_location(attribute(self.cells, node.id, node.ctx), node)
        return ast.fix_missing_locations(made)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.stmt:
        left = [name for name in node.names if name not in self.names]
        return ast.copy_location(ast.Nonlocal(left) if left else ast.Pass(), node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        if node.name in self.names:
            raise Untold
        node.decorator_list = [self.visit(d) for d in node.decorator_list]
        self.within(node)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        self.within(node)
        return node

    def within(self, node: Function) -> None:
        """Rewrites the inside of a function, whose own names are others."""
        a = node.args
        a.defaults = [self.visit(d) for d in a.defaults]
        a.kw_defaults = [d if d is None else self.visit(d) for d in a.kw_defaults]
        inner = _Rewriter(self.names - own_names(node), self.cells)
        if isinstance(node, ast.Lambda):
            node.body = inner.visit(node.body)
        else:
            node.body = [inner.visit(s) for s in node.body]

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        if node.target.id in self.names:
            raise Untold
        return self.generic_visit(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        if node.name in self.names:
            raise Untold
        return self.generic_visit(node)

    def visit_comprehension_of(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> ast.AST:
        """A comprehension, whose own names are others; its first iterable is the function's."""
        first = node.generators[0]
        first.iter = self.visit(first.iter)
        own = set(stored([g.target for g in node.generators]))
        inner = _Rewriter(self.names - own, self.cells)
        for g in node.generators:
            g.target, g.ifs = inner.visit(g.target), [inner.visit(x) for x in g.ifs]
            g.iter = g.iter if g is first else inner.visit(g.iter)
        for name in ("elt", "key", "value"):
            if hasattr(node, name):
                setattr(node, name, inner.visit(getattr(node, name)))
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_comprehension_of

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        raise Untold

    def visit_alias(self, node: ast.alias) -> ast.AST:
        if (node.asname or node.name).partition(".")[0] in self.names:
            raise Untold
        return node
