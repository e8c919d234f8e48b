"""Where variables of arrays are deleted: after their last use, where memory is asked for later on.

Counterpart: MLIR's ownership-based buffer deallocation, for a language that frees what has no name any more.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from tracebuf.backend.numba.style.liveness import NOTHING, Liveness, read, statements

__all__ = ["freed"]


def freed(args: Sequence[str], tree: ast.FunctionDef, arrays: set[str], makes: frozenset[str]) -> None:
    """Adds `del` statements to a function. `arrays`: the variables of arrays; `makes`: the functions that take memory,
    by their last names."""
    _Freer(args, tree, arrays, makes).run()


class _Freer:
    def __init__(self, args: Sequence[str], tree: ast.FunctionDef, arrays: set[str], makes: frozenset[str]) -> None:
        self.tree, self.makes = tree, makes
        self.liveness = Liveness(args, tree)
        self.roots = _roots(args, tree)
        self.arrays = {n for n in arrays - set(args) if self.roots.get(n, {n}) - set(args)}

    def run(self) -> None:
        self._block(self.tree.body, False, set())

    def _block(self, block: list[ast.stmt], later: bool, held: set[str]) -> set[str]:
        """Adds them to a block; `later`: whether memory is asked for after it; `held`: the variables that are deleted
        after it if they are dead then, so that they stay assigned on each path to there. The variables that the block
        surely leaves assigned."""
        bound: set[str] = set()
        found: list[tuple[int, list[str]]] = []
        met: dict[str, int] = {}  # variables by when they are first met: views are deleted before their arrays
        last = next((k for k in reversed(range(len(block))) if self._takes(block[k])), 0)
        for k, s in enumerate(block):
            rest = later or k < last
            for name in _names(s):
                met.setdefault(name, len(met))
            bound |= self._inner(s, rest, held | bound)
            alive = self._after(s)
            dead = bound - alive - set[str]().union(*(self.roots.get(n, NOTHING) for n in alive))
            bound -= dead
            if rest and (freed := dead & self.arrays - held):
                found.append((k + 1, sorted(freed, key=met.__getitem__, reverse=True)))
        for k, names in reversed(found):
            while k < len(block) and _is_end(block[k]):
                k += 1
            block.insert(k, ast.Delete([ast.Name(n, ast.Del()) for n in names]))
        return bound

    def _inner(self, s: ast.stmt, rest: bool, held: set[str]) -> set[str]:
        """The blocks in a statement; what it surely assigns to."""
        match s:
            case ast.If():
                branches = [self._block(s.body, rest, held), self._block(s.orelse, rest, held)]
                return branches[0] & branches[1]
            case ast.For() | ast.While():
                self._block(s.body, rest or any(map(self._takes, s.body)), held)
            case ast.Assign():
                return {n.id for t in s.targets for n in ast.walk(t)
                        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}  # fmt: skip
        return set()

    def _after(self, s: ast.stmt) -> frozenset[str]:
        return self.liveness.after[s.lineno - 2]

    def _takes(self, s: ast.stmt) -> bool:
        """Whether a statement asks for memory."""
        for node in ast.walk(s):
            if isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                if name in self.makes or name.startswith("call_"):
                    return True
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
                return True
        return False


def _names(s: ast.stmt) -> Iterator[str]:
    return (n.id for n in ast.walk(s) if isinstance(n, ast.Name))


def _is_end(s: ast.stmt) -> bool:
    """Whether it marks the end of what may be a function of its own."""
    return isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant) and s.value.value == "#>"


def _roots(args: Sequence[str], tree: ast.FunctionDef) -> Mapping[str, set[str]]:
    """Of each variable, the arrays that it may be a view of."""
    found: dict[str, set[str]] = {a: {a} for a in args}
    for s in statements(tree.body):
        if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name):
            mine = found.setdefault(s.targets[0].id, set())
            base = _base(s.value)
            mine |= set[str]().union(*(found.get(n, {n}) for n in base)) if base else {s.targets[0].id}
    return found


def _base(value: ast.expr) -> set[str]:
    """The variables that a view is made of; none for new arrays."""
    match value:
        case ast.Name() | ast.IfExp():
            return set(read(value))
        case ast.Subscript(value=inner) | ast.Attribute(value=inner):
            return _base(inner)
        case ast.Call(func=ast.Attribute(attr="reshape"), args=[inner, *_]):
            return _base(inner)
        case ast.Call(func=ast.Attribute(value=inner, attr="transpose" | "view")):
            return _base(inner)
        case ast.Call(func=ast.Name(id="part" | "windows" | "diagonal" | "recast"), args=[inner, *_]):
            return _base(inner)
    return set()
