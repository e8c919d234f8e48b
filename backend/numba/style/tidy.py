"""The lines of a function as a person would write them: what is used once stands where it is used, a choice of two
values is one line, zeros are made by `np.zeros`, and names are the user's, numbered without gaps.

Each step leaves what the function computes as it is, in plain Python and compiled by Numba.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping, Sequence

from tracebuf.backend.numba.style.folding import Folder, extreme
from tracebuf.backend.numba.style.format import WIDTH
from tracebuf.backend.numba.style.frees import freed
from tracebuf.backend.numba.style.liveness import Liveness, assigned, read, statements
from tracebuf.backend.numba.style.numbering import numbered, rename
from tracebuf.backend.numba.style.peepholes import (
    in_steps,
    made_zeros,
    part_itself,
    product_of,
    threaded,
    without_passes,
    without_repeats,
)
from tracebuf.backend.numba.style.render import head_and_value, shown, statement
from tracebuf.backend.numba.style.trees import (
    Put,
    comment_of,
    copied,
    depth_of,
    is_mark,
    is_shown,
    line_of,
    names_of,
    placed_as,
    stored_by,
    target_of,
    text_of,
    tree_of,
)

__all__ = ["tidied"]

MAKERS = frozenset({"empty", "zeros", "matmul"})
"""Functions that take memory, or store to their arguments."""
_ROUNDS = 3


def tidied(
    args: Sequence[str],
    lines: Sequence[str],
    bases: Mapping[str, str],
    taken: set[str],
    effects: frozenset[str],
    arrays: set[str],
) -> tuple[list[str], dict[str, str]]:
    """The lines, and the new names of variables. `bases`: of the variables that may be renamed, what each is named
    after; `taken`: names that no variable may get; `effects`: functions that do more than compute what they return;
    `arrays`: the variables of arrays, which are deleted after their last use."""
    tree = tree_of(args, lines)
    first = numbered(args, tree, bases, taken, by_use=True)
    rename(tree, first)
    mine = {first.get(n, n) for n in bases if first.get(n, n) != bases[n] or bases[n] in ("x", "n")}
    text = text_of(tree)
    for _ in range(_ROUNDS):
        tree = tree_of(args, text)
        _Tidier(args, tree, mine, effects).run()
        if (after := text_of(tree)) == text:
            break
        text = after
    tree = tree_of(args, text)
    second = numbered(args, tree, {first.get(n, n): b for n, b in bases.items()}, taken, by_use=False)
    rename(tree, second)
    tree.body = in_steps(tree.body, 1)
    tree = tree_of(args, text_of(tree))
    names = {second.get(m, m) for m in (first.get(n, n) for n in arrays)}
    freed(args, tree, names, effects | MAKERS)
    new = {n: second.get(first.get(n, n), first.get(n, n)) for n in bases}
    return text_of(tree), {n: m for n, m in new.items() if n != m}


class _Tidier:
    def __init__(self, args: Sequence[str], tree: ast.FunctionDef, mine: set[str], effects: frozenset[str]) -> None:
        self.tree, self.mine, self.effects = tree, mine, effects
        self.liveness = Liveness(args, tree)
        self.reads = Counter(n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
        loops = Counter(n.id for s in statements(tree.body) if isinstance(s, ast.For)
                        for n in ast.walk(s.target) if isinstance(n, ast.Name))  # fmt: skip
        stored = Counter(n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
        self.folder = Folder(frozenset(n for n, k in loops.items() if stored[n] == k and n not in args))

        pairs = (pair for s in statements(tree.body) if isinstance(s, ast.Assign) for pair in assigned(s))
        self.constants = {n: x for n, x in pairs if _is_number(x) and stored[n] == 1 and n in mine and n not in args}

    def run(self) -> None:
        without_repeats(self.tree.body, {})
        for name, value in self.constants.items():
            Put(name, value).visit(self.tree)
        self.tree.body = self._block(self.tree.body, 1)

    def _block(self, block: Sequence[ast.stmt], depth: int) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for s in block:
            if isinstance(s, ast.Assign) and isinstance(x := s.targets[0], ast.Name) and x.id in self.constants:
                continue
            if isinstance(s, (ast.If, ast.For, ast.While)):
                s.body = self._block(s.body, depth + 1)
                s.orelse = self._block(s.orelse, depth + 1)
            s = self._folded(s)
            for one in self._plainer(s, depth):
                self._append(found, one, depth)
        return without_passes(found)

    def _folded(self, s: ast.stmt) -> ast.stmt:
        for field in ("value", "test", "iter", "exc"):
            if isinstance(x := getattr(s, field, None), ast.expr):
                setattr(s, field, self.folder.visit(x))
        if isinstance(s, ast.Assign):
            s.targets = [part_itself(self.folder.visit(t)) for t in s.targets]
        elif isinstance(s, ast.AugAssign):
            s.target = self.folder.visit(s.target)
        return s

    def _plainer(self, s: ast.stmt, depth: int) -> list[ast.stmt]:
        """The statements that one statement may be instead."""
        match s:
            case ast.If(test=ast.Constant(value=bool(value))):
                return s.body if value else s.orelse
            case ast.If() if len(pair := [x for x in (*s.body, *s.orelse) if not comment_of(x)]) == 2:
                match pair:
                    case [ast.Assign() as a, ast.Assign() as b] if a in s.body and b in s.orelse:
                        return self._chosen(s, a, b, depth)
            case ast.Assign(targets=[ast.Name() | ast.Subscript() as target], value=ast.BinOp(left=left) as value):
                if shown(target) == shown(left) and not isinstance(value.op, ast.MatMult):  # which would be in place
                    return [placed_as(s, ast.AugAssign(target, value.op, value.right))]
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=other)) if name == other:
                return []
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                pairs = [(t, v) for t, v in zip(targets, values, strict=True) if shown(t) != shown(v)]
                if len(pairs) < len(targets):
                    kept, given = [t for t, _ in pairs], [v for _, v in pairs]
                    one = ast.Assign([ast.Tuple(kept, ast.Store())], ast.Tuple(given, ast.Load()))
                    return [placed_as(s, ast.Assign(kept, given[0]) if len(pairs) == 1 else one)] if pairs else []
            case ast.If(test=test, body=[*before, ast.Assign(targets=[target], value=value)], orelse=[]) if all(
                map(is_shown, before)
            ):
                if (found := extreme(test, value, copied(target))) is not None:
                    return [placed_as(s, ast.Assign([target], found))]
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if self._is_unread(s, name):
                return [] if self._may_move(value, s) else [s]
            case ast.While(test=ast.Constant(value=True)):
                return [self._loop(s)]
            case ast.For(target=ast.Name(id=name)) if not self.reads[name] and name != "_":
                s.target = ast.Name("_", ast.Store())
        return [s]

    def _is_unread(self, s: ast.stmt, name: str) -> bool:
        return name in self.mine and name not in self.liveness.after.get(line_of(s), {name})

    def _loop(self, s: ast.While) -> ast.stmt:
        """A loop that ends by a number that its branches have set, as one that they end; one that ends at its top, as
        `while condition:`."""
        body = [x for x in s.body if not comment_of(x)]
        ifs = (x for x in body if isinstance(x, ast.If) and not x.orelse)
        ends = (x for x in ifs if any(isinstance(y, ast.Break) for y in x.body[:1]))  # one may be empty by now
        if (end := next(ends, None)) is not None and len(names := read(end.test)) == 1:
            (name,), before = names, body[: body.index(end)]
            k = next((k for k in reversed(range(len(before))) if not self._counts(before[k], s)), -1)
            made = threaded(before[k : k + 1], name, end.test) if k >= 0 else None
            if made is not None:
                at = s.body.index(before[k])
                s.body = [*s.body[:at], *made, *(x for x in s.body[at + 1 :] if x is not end)]
        match [x for x in s.body if not comment_of(x)]:
            case [ast.If(test=test, orelse=[ast.Break()]) as whole, *rest]:
                rest = [x for x in s.body[s.body.index(whole) + 1 :] if not is_mark(x)]
                s.test, s.body = test, [*(x for x in s.body[: s.body.index(whole)] if is_shown(x)), *whole.body, *rest]
        return s

    def _counts(self, s: ast.stmt, loop: ast.While) -> bool:
        """Whether a statement only counts the rounds of a loop, after which nothing reads the number."""
        match s:
            case ast.If(test=ast.Call(func=ast.Name(id="sum_overflows")), body=[*_, ast.Raise()], orelse=[]):
                return True
            case ast.AugAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                return name not in self.liveness.after[line_of(loop)]
        return False

    def _chosen(self, s: ast.If, a: ast.Assign, b: ast.Assign, depth: int) -> list[ast.stmt]:
        """Two branches that assign to one variable, as a choice where that fits a line."""
        (target,), (other,) = a.targets, b.targets
        if not (isinstance(target, ast.Name) and isinstance(other, ast.Name) and target.id == other.id):
            return [s]
        if any(isinstance(n, ast.IfExp) for n in ast.walk(a.value)):
            return [s]
        made = ast.Assign([target], self.folder.visit(ast.IfExp(s.test, a.value, b.value)))
        return [placed_as(s, made) if 4 * depth + len(statement(made)) <= WIDTH else s]

    def _append(self, found: list[ast.stmt], s: ast.stmt, depth: int) -> None:
        """A statement after others: with the one before it in its place, where that is used here alone."""
        while (k := next((k for k in reversed(range(len(found))) if not comment_of(found[k])), None)) is not None:
            if made_zeros(found[k], s):
                return
            if (product := product_of(found[k], s)) is not None:
                found[k] = product
                return
            if not self._takes(found[k], s, depth):
                break
            del found[k]
        found.append(s)

    def _takes(self, before: ast.stmt, s: ast.stmt, depth: int) -> bool:
        """Writes what the statement before has computed into the only place that reads it."""
        match before:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                pass
            case _:
                return False
        head, into, tail = head_and_value(s)
        copies = isinstance(s, ast.Assign) and isinstance(s.value, ast.Name) and isinstance(s.targets[0], ast.Name)
        if into is None or name not in self.mine or not (copies or self._may_move(value, s)):
            return False
        if isinstance(s, ast.While) or name in self.liveness.after[line_of(s)] - stored_by(s):
            return False
        inside = [*statements([*s.body, *s.orelse])] if isinstance(s, (ast.If, ast.For)) else []
        if any(name in read(x) or isinstance(x, ast.Break) and self._is_live_after(x, name) for x in inside):
            return False
        uses = [n for n in names_of(s) if n.id == name and isinstance(n.ctx, ast.Load)]
        if len(uses) != 1 or any(isinstance(n, ast.JoinedStr) and name in read(n) for n in ast.walk(into)):
            return False
        if isinstance(s, (ast.Assign, ast.AugAssign)) and name in read(target_of(s)):
            return False
        made = Put(name, value).visit(copied(into))
        width = WIDTH if not isinstance(s, ast.Expr) else 2 * WIDTH  # a call has a line for each of its arguments
        if 4 * depth + len(head + shown(made) + tail) > width or depth_of(made) > 6:
            return False
        setattr(s, next(f for f in ("value", "test", "iter", "exc") if getattr(s, f, None) is into), made)
        self.folder.visit(made)
        return True

    def _is_live_after(self, s: ast.Break, name: str) -> bool:
        """Whether a variable may be read after a loop that ends here."""
        return name in self.liveness.after.get(line_of(s), ())

    def _may_move(self, value: ast.expr, s: ast.stmt) -> bool:
        for n in ast.walk(value):
            if isinstance(n, (ast.JoinedStr, ast.IfExp)) and not isinstance(s, ast.Assign):
                return False
            if isinstance(n, ast.Call):
                called = n.func.attr if isinstance(n.func, ast.Attribute) else getattr(n.func, "id", "")
                if called in MAKERS or called in self.effects or called.startswith("call_") or called == "checked":
                    return False
            if isinstance(n, ast.BinOp) and isinstance(n.op, ast.MatMult):
                return False
        return True


def _is_number(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and type(value.value) in (int, float, bool)
