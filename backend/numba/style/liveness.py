"""Which variables of a function's lines are still to be read, and which interfere."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tracebuf.errors import InternalError

__all__ = ["Liveness", "assigned", "first_read", "parsed", "read", "statements"]

Live = frozenset[str]
NOTHING: Live = frozenset()


def parsed(args: Sequence[str], lines: Sequence[str]) -> ast.FunctionDef:
    """A function's body, in which each line is a statement, a block's head or a comment. Line k is number k + 2."""
    tree = ast.parse("\n".join([f"def f({', '.join(args)}):", *lines, "    pass"])).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return tree


def statements(block: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Those of a block, and of the blocks in it."""
    for s in block:
        yield s
        for inner in ("body", "orelse"):
            yield from statements(getattr(s, inner, []))


def first_read(args: Sequence[str], lines: Sequence[str]) -> Live:
    """The names that are read on some path before they are assigned: arguments, and what the module has."""
    tree = parsed(args, lines)
    return Liveness(args, tree).before[tree.body[0].lineno - 2]


class Liveness:
    """Of each statement, by the index of its line: `before` and `after` it, which variables are still to be read.
    `interfering`: by variable, those that are still to be read where it is assigned, and are not what it gets."""

    def __init__(self, args: Sequence[str], tree: ast.FunctionDef) -> None:
        self.before: dict[int, Live] = {}
        self.after: dict[int, Live] = {}
        self.interfering: dict[str, set[str]] = {}
        self._breaks: list[Live] = []
        before = self._block(tree.body, NOTHING)
        for name in args:
            self._interferes(name, before.union(args), NOTHING)

    def _interferes(self, name: str, live: Live, copied: Live) -> None:
        mine = self.interfering.setdefault(name, set())
        for other in live - copied - {name} - mine:
            mine.add(other)
            self.interfering.setdefault(other, set()).add(name)

    def _block(self, block: Sequence[ast.stmt], live: Live) -> Live:
        """What is alive before a block after which `live` is."""
        for s in reversed(block):
            self.after[s.lineno - 2] = self._breaks[-1] if isinstance(s, ast.Break) else live
            live = self.before[s.lineno - 2] = self._before(s, live)
        return live

    def _before(self, s: ast.stmt, live: Live) -> Live:
        match s:
            case ast.Assign():
                pairs = assigned(s)
                stored = frozenset(name for name, _ in pairs)
                for name, value in pairs:
                    copied = frozenset([value.id]) if isinstance(value, ast.Name) else NOTHING
                    self._interferes(name, live | stored, copied)
                return (live - stored) | read(s.value).union(*(read(t) for t in s.targets if not _is_name(t)))
            case ast.AugAssign(target=ast.Name(id=name)):
                self._interferes(name, live, NOTHING)
                return live | read(s.value) | {name}
            case ast.Delete():  # a use, and no other may be deleted with it
                names = frozenset(t.id for t in s.targets if isinstance(t, ast.Name))
                for name in names:
                    self._interferes(name, live | names, NOTHING)
                return live | names
            case ast.If():
                return self._block(s.body, live) | self._block(s.orelse, live) | read(s.test)
            case ast.For() | ast.While():
                return self._loop(s, live)
            case ast.Break():
                return self._breaks[-1]
            case ast.Return() | ast.Raise():
                return read(s)
            case ast.Expr() | ast.AugAssign() | ast.Pass():
                return live | read(s)
        raise InternalError(f"a statement that no text of a program has: {ast.unparse(s)}")

    def _loop(self, s: ast.For | ast.While, live: Live) -> Live:
        forever = isinstance(s, ast.While) and isinstance(s.test, ast.Constant)
        head: Live = NOTHING if forever else live
        self._breaks.append(live)
        while True:
            if isinstance(s, ast.For):
                assert isinstance(s.target, ast.Name)
                inside = self._block(s.body, head)
                self._interferes(s.target.id, inside | head, NOTHING)
                inside -= {s.target.id}
            else:
                inside = self._block(s.body, head) | read(s.test)
            if inside <= head:
                break
            head |= inside
        self._breaks.pop()
        return head | read(s.iter) if isinstance(s, ast.For) else head


def assigned(s: ast.Assign) -> list[tuple[str, ast.expr]]:
    """The variables that are assigned to at once, each with what it gets."""
    (target,) = s.targets
    if isinstance(target, ast.Name):
        return [(target.id, s.value)]
    if not isinstance(target, ast.Tuple):
        return []
    values = s.value.elts if isinstance(s.value, ast.Tuple) else [ast.Starred(s.value)] * len(target.elts)
    return [(t.id, v) for t, v in zip(target.elts, values, strict=True) if isinstance(t, ast.Name)]


def _is_name(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) or isinstance(target, ast.Tuple) and all(map(_is_name, target.elts))


def read(node: ast.AST) -> Live:
    """The variables that an expression or statement has."""
    return frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
