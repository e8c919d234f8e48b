"""Expressions made plainer, with the same value: `x - 1 + 1`, `not a == b`, `0 < n`, `True if c else False`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from operator import eq, ge, gt, le, lt, ne

from tracebuf.backend.numba.style.render import shown

__all__ = ["Folder", "extreme", "opposite"]

_FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.Eq, ast.NotEq: ast.NotEq, ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE,
}  # fmt: skip
"""Each comparison with its operands exchanged."""
_HOLDS: dict[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Eq: eq, ast.NotEq: ne, ast.Lt: lt, ast.Gt: gt, ast.LtE: le, ast.GtE: ge,
}  # fmt: skip
_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}

_NEGATED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
}  # fmt: skip
"""Of integers."""
GREATEST = 2**63 - 1
"""Of int64."""


class Folder(ast.NodeTransformer):
    """`integers`: names that are always Python's or NumPy's integers of 64 bits."""

    def __init__(self, integers: frozenset[str]) -> None:
        self.integers = integers

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        return opposite(node.operand) if isinstance(node.op, ast.Not) else node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        """Without truths that decide nothing, and without what stands after one that decides."""
        self.generic_visit(node)
        decides = isinstance(node.op, ast.Or)
        values: list[ast.expr] = []
        for v in node.values:
            if isinstance(v, ast.Constant) and isinstance(v.value, bool):
                if v.value is decides:
                    return v
            elif isinstance(v, ast.BoolOp) and type(v.op) is type(node.op):
                values += v.values
            elif shown(v) not in map(shown, values):
                values.append(v)
        if len(values) < 2:
            return values[0] if values else ast.Constant(not decides)
        return ast.BoolOp(node.op, values)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.test, ast.Constant):
            return node.body if node.test.value else node.orelse
        if shown(node.body) == shown(node.orelse):
            return node.body
        if (found := extreme(node.test, node.body, node.orelse)) is not None:
            return found
        match node.body, node.orelse:
            case ast.Constant(value=True), ast.Constant(value=False):
                return node.test
            case ast.Constant(value=False), ast.Constant(value=True):
                return opposite(node.test)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """With a constant at the right."""
        self.generic_visit(node)
        match node:
            case ast.Compare(left=ast.Constant(value=int(a)), ops=[op], comparators=[ast.Constant(value=int(b))]) if (
                holds := _HOLDS.get(type(op))
            ):
                return ast.Constant(holds(a, b))
            case ast.Compare(left=ast.Constant(value=float()), ops=[op], comparators=[ast.Attribute(attr="inf")]):
                return ast.Constant(isinstance(op, ast.NotEq | ast.Lt | ast.LtE))
            case ast.Compare(
                left=ast.IfExp(test, ast.Constant(value=int(a)), ast.Constant(value=int(b))),
                ops=[op],
                comparators=[ast.Constant(value=int(c))],
            ) if holds := _HOLDS.get(type(op)):
                return self.visit_IfExp(ast.IfExp(test, ast.Constant(holds(a, c)), ast.Constant(holds(b, c))))
        if len(node.ops) == 1 and (flipped := _FLIPPED.get(type(node.ops[0]))):
            if _is_constant(node.left) and not _is_constant(node.comparators[0]):
                return ast.Compare(node.comparators[0], [flipped()], [node.left])
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, ast.Mult) and _integer(node.right) == -1:
            return ast.UnaryOp(ast.USub(), node.left)
        if isinstance(node.op, ast.Mult) and shown(node.right) == "np.int64(1)" and _is_int64(node.left):
            return node.left
        if isinstance(node.op, ast.Add):
            match node.right:
                case ast.UnaryOp(op=ast.USub(), operand=x) if _is_int(x):
                    return self.visit_BinOp(ast.BinOp(node.left, ast.Sub(), x))
            match node.left:
                case ast.UnaryOp(op=ast.USub(), operand=x) if _integer(node.right) is None and _is_int(x):
                    return self.visit_BinOp(ast.BinOp(node.right, ast.Sub(), x))
            match node.right:  # x + x // n * -n is the remainder
                case ast.BinOp(left=ast.BinOp(left=x, op=ast.FloorDiv(), right=by), op=ast.Mult(), right=back):
                    if 0 < (n := _integer(by) or 0) == -(_integer(back) or 0) and shown(x) == shown(node.left):
                        return ast.BinOp(x, ast.Mod(), ast.Constant(n))
        if isinstance(node.op, ast.Add | ast.Sub):
            return _summed(node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Name(id="abs"), args=[ast.Constant(value=int() | float() as value)]):
                return ast.Constant(abs(value))
            case ast.Call(func=ast.Name(id="int"), args=[x]) if self._is_size(x):
                return x
            case ast.Call(
                func=ast.Attribute(attr="float64") as function,
                args=[ast.Call(func=ast.Attribute(value=ast.Name(id="np"), attr="int64"), args=[x])],
            ) if self._is_size(x):
                return ast.Call(function, [x], [])
            case ast.Call(func=ast.Attribute(attr="int64"), args=[ast.Call(func=ast.Name(id="int"), args=[x])]):
                return x if _is_int64(x) else node
        return node

    def _is_size(self, x: ast.expr) -> bool:
        """Whether it is surely one of Python's integers."""
        match x:
            case ast.Name(id=name):
                return name in self.integers
            case ast.Constant(value=value):
                return type(value) is int
            case ast.Subscript(value=ast.Attribute(attr="shape")):
                return True
            case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult(), left=left, right=right):
                return self._is_size(left) and self._is_size(right)
        return False


def extreme(test: ast.expr, body: ast.expr, orelse: ast.expr) -> ast.expr | None:
    """`min(b, a)` of `a if a < b else b`, and the like: Python and Numba compare the second with the first."""
    match test:
        case ast.Compare(left=a, ops=[ast.Lt() | ast.Gt() as op], comparators=[b]):
            less = isinstance(op, ast.Lt)
            if (shown(body), shown(orelse)) == (shown(b), shown(a)):
                less = not less
            elif (shown(body), shown(orelse)) != (shown(a), shown(b)):
                return None
            return ast.Call(ast.Name("min" if less else "max", ast.Load()), [orelse, body], [])
    return None


def opposite(node: ast.expr) -> ast.expr:
    """What is true where a truth is not."""
    match node:
        case ast.Constant(value=bool(value)):
            return ast.Constant(not value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return operand
        case ast.Compare(left=left, ops=[op], comparators=right) if type(op) in _OPPOSITE:
            return ast.Compare(left, [_OPPOSITE[type(op)]()], right)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if _integer(right) is not None:
            if (other := _NEGATED.get(type(op))) is not None:
                return ast.Compare(left, [other()], [right])
    return ast.UnaryOp(ast.Not(), node)


def _is_int64(x: ast.expr) -> bool:
    """Whether it is surely an np.int64."""
    match x:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np"), attr="int64")):
            return True
        case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr() | ast.BitXor(), right=right):
            return _is_int64(left) and (_is_int64(right) or _integer(right) is not None)
    return False


def _is_constant(node: ast.expr) -> bool:
    match node:
        case ast.UnaryOp(operand=operand):
            return _is_constant(operand)
        case ast.Attribute(value=ast.Name(id="np"), attr="inf" | "nan"):
            return True
    return isinstance(node, ast.Constant)


def _integer(node: ast.expr) -> int | None:
    match node:
        case ast.Constant(value=value) if type(value) is int:
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)) if type(value) is int:
            return -value
    return None


def _is_int(node: ast.expr) -> bool:
    """Whether an expression, if it is a whole number, is an int64: the opposite of the least one is none."""
    return (_integer(node) or 0) <= GREATEST


def _summed(node: ast.BinOp) -> ast.expr:
    """A sum with one integer at most, which stands at its end."""
    terms = _terms(node)
    constants = [(sign, n) for sign, x in terms if (n := _integer(x)) is not None]
    others = [(sign, x) for sign, x in terms if _integer(x) is None]
    pointless = len(constants) == 1 and constants[0][1] == 0
    if len(constants) < 2 and not pointless or not others or others[0][0] < 0:
        return node
    found = others[0][1]
    for sign, x in others[1:]:
        found = ast.BinOp(found, ast.Add() if sign > 0 else ast.Sub(), x)
    rest = sum(sign * n for sign, n in constants)
    if abs(rest) > GREATEST:
        return node
    if rest:
        found = ast.BinOp(found, ast.Add() if rest > 0 else ast.Sub(), ast.Constant(abs(rest)))
    return found


def _terms(node: ast.expr) -> Sequence[tuple[int, ast.expr]]:
    """The terms of a sum that is taken from the left, each with its sign."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        return [*_terms(node.left), (1 if isinstance(node.op, ast.Add) else -1, node.right)]
    return [(1, node)]
