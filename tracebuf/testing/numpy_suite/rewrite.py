"""The syntax tree of a test module, with its calls, operators and subscripts as calls of one object.

    f(x)            __through__.call(f, x)              a + b           __through__.binary("Add", a, b)
    x.f(y)          __through__.method("f", x, y)       a < b           __through__.compared("Lt", a, b)
    x.T             __through__.attribute("T", x)       -a              __through__.unary("USub", a)
    x[i]            __through__.item(x, i)              a += b          a = __through__.in_place("Add", a, b)
    x[i] = v        __through__.store(v, x, i)          x[i] += b       __through__.item_in_place("Add", x, i, b)

Operands are evaluated in Python's order. Left as they are: calls that depend on the frame they are in, bodies of
lambdas (the tracer finds a lambda by its code), chained comparisons, class bodies, and stores to several targets at
once.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

__all__ = ["NAME", "rewritten"]

NAME = "__through__"
"""The global name of the object that is called."""
OF_THE_FRAME = frozenset({"super", "locals", "globals", "vars", "dir", "eval", "exec", "getrefcount", "_getframe"})
"""Functions whose results depend on the frame that calls them, or on who holds their arguments."""
VIEWS = frozenset({"T", "mT", "real", "imag", "flat"})
"""Attributes of arrays that are views of them."""


def rewritten(source: str, file: str, operators: bool) -> ast.Module:
    """The tree of a module's text; without `operators` its calls alone are changed."""
    tree = _Rewriter(operators).visit(ast.parse(source, file))
    ast.fix_missing_locations(tree)
    assert isinstance(tree, ast.Module)
    return tree


class _Rewriter(ast.NodeTransformer):
    """Rewrites the bodies of functions, and statements of the module."""

    def __init__(self, operators: bool) -> None:
        self.operators = operators

    def _through(self, node: ast.AST, name: str, args: Sequence[ast.expr], keywords: Any = ()) -> ast.Call:
        function = ast.Attribute(ast.Name(NAME, ast.Load()), name, ast.Load())
        return ast.copy_location(ast.Call(function, list(args), list(keywords)), node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.body = [self.visit(x) if isinstance(x, ast.FunctionDef) else x for x in node.body]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Decorators, defaults and annotations stay as they are."""
        body: list[ast.stmt] = []
        for statement in node.body:
            made = self.visit(statement)
            body += made if isinstance(made, list) else [made]
        node.body = body
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        f = node.func
        name = f.id if isinstance(f, ast.Name) else f.attr if isinstance(f, ast.Attribute) else ""
        self.generic_visit(node)
        if name in OF_THE_FRAME or is_private(name):
            return node
        if isinstance(f, ast.Attribute):
            base = f.value  # visited by now
            return self._through(node, "method", [ast.Constant(name), base, *node.args], node.keywords)
        return self._through(node, "call", [node.func, *node.args], node.keywords)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if not self.operators or node.attr not in VIEWS or not isinstance(node.ctx, ast.Load):
            return node
        return self._through(node, "attribute", [ast.Constant(node.attr), node.value])

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not self.operators or is_text(node.left):
            return node
        return self._through(node, "binary", [operator(node.op), node.left, node.right])

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if not self.operators or isinstance(node.op, ast.Not) or isinstance(node.operand, ast.Constant):
            return node
        return self._through(node, "unary", [operator(node.op), node.operand])

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if not self.operators or len(node.ops) != 1 or isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
            return node
        return self._through(node, "compared", [operator(node.ops[0]), node.left, node.comparators[0]])

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if not self.operators or not isinstance(node.ctx, ast.Load) or has_stars(node.slice):
            return node
        return self._through(node, "item", [node.value, index(node.slice)])

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        target = node.targets[0]
        if not self.operators or len(node.targets) > 1 or not isinstance(target, ast.Subscript):
            return node
        if has_stars(target.slice):
            return node
        return statement(node, self._through(node, "store", [node.value, target.value, index(target.slice)]))

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if not self.operators:
            return node
        match node.target:
            case ast.Name(id=name):
                made = self._through(node, "in_place", [operator(node.op), ast.Name(name, ast.Load()), node.value])
                return ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], made), node)
            case ast.Subscript(value=base, slice=at) if not has_stars(at):
                parts = [operator(node.op), base, index(at), node.value]
                return statement(node, self._through(node, "item_in_place", parts))
        return node


def operator(op: ast.AST) -> ast.expr:
    """The name of an operator's class, as a constant."""
    return ast.Constant(type(op).__name__)


def statement(node: ast.stmt, value: ast.expr) -> ast.stmt:
    return ast.copy_location(ast.Expr(value), node)


def index(node: ast.expr) -> ast.expr:
    """What stands between brackets, as an expression: slices are calls of `slice`."""
    if isinstance(node, ast.Slice):
        parts = [ast.Constant(None) if p is None else p for p in (node.lower, node.upper, node.step)]
        return ast.copy_location(ast.Call(ast.Name("slice", ast.Load()), parts, []), node)
    if isinstance(node, ast.Tuple):
        return ast.copy_location(ast.Tuple([index(x) for x in node.elts], ast.Load()), node)
    return node


def has_stars(node: ast.expr) -> bool:
    return isinstance(node, ast.Tuple) and any(isinstance(x, ast.Starred) for x in node.elts)


def is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)))


def is_private(name: str) -> bool:
    """Whether the compiler gives a name in a class the name of the class."""
    return name.startswith("__") and not name.endswith("__")
