"""Patterns of one or two statements that a person writes in another way, each a function."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tracebuf.backend.numba.style.folding import Folder
from tracebuf.backend.numba.style.format import WIDTH
from tracebuf.backend.numba.style.liveness import read
from tracebuf.backend.numba.style.render import shown, statement
from tracebuf.backend.numba.style.trees import Put, comment_of, copied, is_shown, placed_as, stored_by

__all__ = [
    "in_steps", "made_zeros", "part_itself", "product_of", "threaded", "without_passes", "without_repeats",
]  # fmt: skip


def threaded(block: Sequence[ast.stmt], name: str, test: ast.expr) -> list[ast.stmt] | None:
    """A block that sets a number at its end, with a `break` after it where that fulfils the test."""
    for k in reversed(range(len(block))):
        match s := block[k]:
            case ast.Assign(targets=[ast.Name(id=other)], value=ast.Constant() as value) if other == name:
                ends = Folder(frozenset()).visit(Put(name, value).visit(copied(test)))
                if not isinstance(ends, ast.Constant):
                    return None
                return [*block, ast.copy_location(ast.Break(), block[-1])] if ends.value else list(block)
            case ast.If() if name in {n.id for n in ast.walk(s) if isinstance(n, ast.Name)}:
                branches = [threaded(b, name, test) for b in (s.body, s.orelse)]
                if None in branches or any(not comment_of(x) for x in block[k + 1 :]):
                    return None
                one, other_one = (b or [] for b in branches)
                return [*block[:k], ast.copy_location(ast.If(s.test, one, other_one), s), *block[k + 1 :]]
            case ast.For() | ast.While():
                return None
            case _ if name in stored_by(s):
                return None
    return None


def in_steps(block: Sequence[ast.stmt], depth: int) -> list[ast.stmt]:
    """A block, with values that are too long for a line in steps."""
    found: list[ast.stmt] = []
    for s in block:
        if isinstance(s, (ast.If, ast.For, ast.While)):
            s.body, s.orelse = in_steps(s.body, depth + 1), in_steps(s.orelse, depth + 1)
        match s:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.BoolOp() | ast.BinOp() | ast.IfExp() as value):
                if 4 * depth + len(statement(s)) > WIDTH and name not in read(value):
                    found += in_steps(list(_split(name, value)), depth)
                    continue
        found.append(s)
    return found


def _split(name: str, value: ast.BoolOp | ast.BinOp | ast.IfExp) -> Iterator[ast.stmt]:
    """A value that is too long for a line, in two steps."""
    target, x = ast.Name(name, ast.Store()), ast.Name(name, ast.Load())
    match value:
        case ast.BoolOp(op=op, values=[*values, last]):
            yield ast.Assign([target], values[0] if len(values) == 1 else ast.BoolOp(op, values))
            yield ast.Assign([target], ast.BoolOp(op, [x, last]))
        case ast.BinOp(left=left, op=op, right=right):
            yield ast.Assign([target], left)
            yield ast.AugAssign(target, op, right)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield ast.If(test, [ast.Assign([target], body)], [ast.Assign([target], orelse)])


def part_itself(target: ast.expr) -> ast.expr:
    """`x[1:] = ...` of `x[1:][...] = ...`."""
    match target:
        case ast.Subscript(value=ast.Subscript(slice=inner) as part, slice=ast.Constant(value=x)) if x is ...:
            items = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            if any(isinstance(i, ast.Slice) for i in items):
                part.ctx = ast.Store()
                return part
    return target


def without_repeats(block: list[ast.stmt], passed: dict[str, frozenset[str]]) -> None:
    """Drops checks of what was checked before; `passed`: the tests before the block, with the variables of each."""
    passed = dict(passed)
    for s in list(block):
        stored = {n.id for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        inner = {test: names for test, names in passed.items() if not names & stored}
        match s:
            case ast.If(test=test, body=[*before, ast.Raise()], orelse=[]) if all(map(comment_of, before)):
                text = shown(test)
                if text in passed:
                    block.remove(s)
                elif not any(isinstance(n, (ast.Subscript, ast.Call)) for n in ast.walk(test)):
                    passed[text] = read(test)
                continue
            case ast.If():
                without_repeats(s.body, passed)
                without_repeats(s.orelse, passed)
            case ast.For() | ast.While():
                without_repeats(s.body, inner)
        passed = inner


def made_zeros(before: ast.stmt, s: ast.stmt) -> bool:
    """Makes `x = np.empty(...)`, `x[...] = 0.0` an `x = np.zeros(...)`."""
    match before, s:
        case (
            ast.Assign(targets=[ast.Name(id=name)], value=made),
            ast.Assign(targets=[ast.Subscript(value=ast.Name(id=other), slice=ast.Constant(value=x))], value=value),
        ) if name == other and x is ... and _is_zero(value):
            while isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) and made.func.attr == "transpose":
                made = made.func.value
            match made.value if isinstance(made, ast.Attribute) else made:
                case ast.Call(func=ast.Attribute(value=ast.Name(id="np"), attr="empty") as function):
                    function.attr = "zeros"
                    return True
    return False


def product_of(before: ast.stmt, s: ast.stmt) -> ast.stmt | None:
    """`x = a @ b` of `x = np.empty(...)`, `np.matmul(a, b, out=x)`."""
    match before, s:
        case (
            ast.Assign(targets=[ast.Name(id=name) as target], value=ast.Call(func=ast.Attribute(attr="empty"))),
            ast.Expr(value=ast.Call(func=ast.Attribute(attr="matmul"), args=[a, b], keywords=[ast.keyword(value=out)])),
        ) if isinstance(out, ast.Name) and out.id == name:
            return placed_as(s, ast.Assign([target], ast.BinOp(a, ast.MatMult(), b)))
    return None


def _is_zero(value: ast.expr) -> bool:
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np")), args=[x]):
            return _is_zero(x)
        case ast.Constant(value=x):
            return type(x) in (int, float, bool) and repr(x) in ("0", "0.0", "False")
    return False


def without_passes(block: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The block without what does nothing, and without lines of the user's of which nothing is left."""
    found: list[ast.stmt] = []
    followed = False
    for s in reversed(block):
        if isinstance(s, ast.Pass) or is_shown(s) and not followed:
            continue
        followed = not is_shown(s) if not comment_of(s) or is_shown(s) else followed
        found.append(s)
    return found[::-1]
