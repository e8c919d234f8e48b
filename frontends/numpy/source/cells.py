"""Names that functions inside of a function bind (`nonlocal`): attributes of an object, as Python has them in cells.

`total`, which an inner function declares as nonlocal, becomes `<cells>.total` wherever it stands, of an object that the
function makes first. So it is joined and carried through branches and loops as the attributes of any object.

A global name that a function binds (`global`) is an attribute of an object in the same way, whose attributes are the
globals (`Globals` of call/lookups.py).

The body of a loop over a generator is made a function in the same way, which the generator's `yield` calls.
"""

from __future__ import annotations

import ast
import builtins
import copy
import types
from collections.abc import Callable, Iterator

from tracebuf.frontends.numpy.source.liveness import GLOBALS, own_nodes, stored

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


def with_globals(node: ast.FunctionDef) -> ast.FunctionDef:
    """A function whose global names that it binds are attributes of `GLOBALS`; itself where there are none, or where
    one is bound in a form that is not known: a `global` stays, and is refused where it is met."""
    own = {name for n in own_nodes_of(node) if isinstance(n, ast.Global) for name in n.names}
    stored_here = {name for name in stored(node.body) if not name.startswith("__")}
    names = frozenset(own & stored_here) - vars(builtins).keys()
    if not names:
        return node
    made = copy.deepcopy(node)
    try:
        made.body = [_Rewriter(names, GLOBALS).visit(s) for s in made.body]
    except Untold:
        return node
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


ITEM = "<item>"
CONSUMER, STOPPED = "<names of the consumer>", "<it has left its loop>"
"""Of a generator function whose consumer may leave its loop: the parameter that has the consumer's cells
(`cells_of`), and the attribute of these that says so."""


def cells_of(node: ast.For | ast.ListComp) -> str:
    """The name of the object that holds what the body of a loop over a generator binds; each loop has its own, as the
    body of one may be in that of another."""
    return f"<names of the loop {id(node)}>"


def body_as_function(loop: ast.For, names: frozenset[str]) -> ast.FunctionDef | None:
    """A function of an item that does what a loop's body does for it; the names of the loop's function that are given
    are attributes of its cells. None where one is bound in a form that is not known."""
    made, cells = copy.deepcopy(loop), cells_of(loop)
    try:
        made.body = [_Rewriter(names, cells).visit(s) for s in made.body]
        target = _Rewriter(names, cells).visit(made.target)
    except Untold:
        return None
    first = ast.copy_location(ast.Assign([target], ast.Name(ITEM, ast.Load())), loop.target)
    arguments = ast.arguments([], [ast.arg(ITEM)], None, [], [], None, [])
    made.body = [first, *made.body]
    body = ast.Module(made.body, [])
    _Returning(cells).generic_visit(body)
    return ast.fix_missing_locations(ast.copy_location(ast.FunctionDef("<body>", arguments, body.body, []), loop))


def comprehension_as_function(node: ast.ListComp) -> ast.FunctionDef | None:
    """A function of an item that appends to the list that is its cells what a comprehension of one `for` makes of it,
    if it does. None for other comprehensions."""
    held = ast.Name(cells_of(node), ast.Load())
    return _of_an_item(node, lambda made: ast.Call(ast.Attribute(held, "append", ast.Load()), [made], []))


def expression_as_function(node: ast.GeneratorExp) -> ast.FunctionDef | None:
    """A function of an item that yields what a generator expression of one `for` makes of it, if it does. None for
    others."""
    return _of_an_item(node, ast.Yield)


def _of_an_item(node: ast.ListComp | ast.GeneratorExp, end: Callable[[ast.expr], ast.expr]) -> ast.FunctionDef | None:
    """A function of an item that does, if it passes the tests, what `end` writes for what is made of it."""
    if len(node.generators) > 1 or any(isinstance(n, ast.NamedExpr) for n in ast.walk(node)):
        return None
    made = copy.deepcopy(node)
    first = made.generators[0]
    body: list[ast.stmt] = [ast.copy_location(ast.Expr(end(made.elt)), node.elt)]
    for test in reversed(first.ifs):
        body = [ast.copy_location(ast.If(test, body, []), test)]
    arguments = ast.arguments([], [ast.arg(ITEM)], None, [], [], None, [])
    body = [ast.copy_location(ast.Assign([first.target], ast.Name(ITEM, ast.Load())), first.target), *body]
    return ast.fix_missing_locations(ast.copy_location(ast.FunctionDef("<body>", arguments, body, []), node))


class _Returning(ast.NodeTransformer):
    """Puts `return` in the place of `continue` and `break`, where these belong to the loop itself; the latter is noted
    in the loop's cells."""

    def __init__(self, cells: str) -> None:
        self.cells = cells

    def visit_Break(self, node: ast.Break) -> list[ast.stmt]:
        noted = ast.Assign([attribute(self.cells, STOPPED, ast.Store())], ast.Constant(True))
        return [ast.copy_location(noted, node), ast.copy_location(ast.Return(None), node)]

    def visit_Continue(self, node: ast.Continue) -> ast.stmt:
        return ast.copy_location(ast.Return(None), node)

    def visit_loop(self, node: ast.For | ast.While) -> ast.AST:
        node.orelse = [self.visit(s) for s in node.orelse]
        return node

    def visit_function(self, node: ast.FunctionDef | ast.Lambda) -> ast.AST:
        return node

    visit_For = visit_While = visit_loop
    visit_FunctionDef = visit_Lambda = visit_function


def may_yield(node: Function) -> bool:
    """Whether a definition is that of a generator."""
    return any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in own_nodes_of(node))


def odd_yield(node: Function) -> ast.AST | None:
    """The first `yield` whose value is used, or that stands in a `try` or `with`."""
    plain = {n.value for n in own_nodes_of(node) if isinstance(n, ast.Expr)}
    for n in own_nodes_of(node):
        if isinstance(n, (ast.Try, ast.With)) and any(isinstance(x, (ast.Yield, ast.YieldFrom)) for x in own_nodes(n)):
            return n
        if isinstance(n, (ast.Yield, ast.YieldFrom)) and n not in plain:
            return n
    return None


def by_yield(node: ast.Expr, from_: ast.YieldFrom) -> ast.For:
    """`yield from x` as a loop."""
    item = ast.Expr(ast.Yield(ast.Name(ITEM, ast.Load())))
    loop = ast.For(ast.Name(ITEM, ast.Store()), from_.value, [item], [])
    return ast.fix_missing_locations(ast.copy_location(loop, node))


def stopping(node: Function) -> Function:
    """A generator function that ends behind the `yield` at which its consumer has left its loop (a further
    parameter says so)."""
    made = copy.deepcopy(node)
    made.args.posonlyargs.insert(0, ast.arg(CONSUMER))
    _Stopping().generic_visit(made)
    return ast.fix_missing_locations(made)


class _Stopping(ast.NodeTransformer):
    """Puts a test behind each `yield`, and behind each loop that has one, which leaves the loop around, or the
    function."""

    loops = 0

    def leaving(self, node: ast.stmt) -> list[ast.stmt]:
        stopped = ast.Attribute(ast.Name(CONSUMER, ast.Load()), STOPPED, ast.Load())
        leave = ast.Break() if self.loops else ast.Return(None)
        return [node, ast.copy_location(ast.If(stopped, [leave], []), node)]

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        return self.leaving(node) if isinstance(node.value, ast.Yield) else node

    def visit_loop(self, node: ast.For | ast.While) -> ast.AST | list[ast.stmt]:
        around = ast.Module(node.body, [])
        yields = any(isinstance(n, ast.Yield) for n in own_nodes(around))
        self.loops += 1
        self.generic_visit(around)
        self.loops -= 1
        node.body = around.body
        rest = ast.Module(node.orelse, [])
        self.generic_visit(rest)
        node.orelse = rest.body
        return self.leaving(node) if yields else node

    def visit_function(self, node: ast.FunctionDef | ast.Lambda) -> ast.AST:
        return node

    visit_For = visit_While = visit_loop
    visit_FunctionDef = visit_Lambda = visit_function


class _Yielding(ast.NodeTransformer):
    """Puts loops in the place of `yield from`."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        return by_yield(node, node.value) if isinstance(node.value, ast.YieldFrom) else node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node


def without_yield_from(node: ast.FunctionDef) -> ast.FunctionDef:
    """A generator without `yield from`, whose value nothing uses; itself where there is none."""
    if not any(isinstance(n, ast.YieldFrom) for n in own_nodes_of(node)):
        return node
    made = copy.deepcopy(node)
    made.body = [_Yielding().visit(s) for s in made.body]
    return made


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
