"""The lines of a function as a person would write them: what is used once stands where it is used, a choice of two
values is one line, zeros are made by `np.zeros`, and names are the user's, numbered without gaps.

Each step leaves what the function computes as it is, in plain Python and compiled by Numba.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from tracebuf.backend.numba.folding import Folder, extreme
from tracebuf.backend.numba.format import WIDTH
from tracebuf.backend.numba.frees import freed
from tracebuf.backend.numba.hosted import FRESH
from tracebuf.backend.numba.liveness import Liveness, assigned, parsed, read, statements
from tracebuf.backend.numba.render import head_and_value, shown, statement

__all__ = ["tidied"]

MAKERS = frozenset({"empty", "zeros", "matmul", *FRESH})
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
    tree = _tree(args, lines)
    first = _numbered(args, tree, bases, taken, by_use=True)
    _rename(tree, first)
    mine = {first.get(n, n) for n in bases if first.get(n, n) != bases[n] or bases[n] in ("x", "n")}
    text = _text(tree)
    for _ in range(_ROUNDS):
        tree = _tree(args, text)
        _Tidier(args, tree, mine, effects).run()
        if (after := _text(tree)) == text:
            break
        text = after
    tree = _tree(args, text)
    second = _numbered(args, tree, {first.get(n, n): b for n, b in bases.items()}, taken, by_use=False)
    _rename(tree, second)
    tree.body = _short(tree.body, 1)
    tree = _tree(args, _text(tree))
    names = {second.get(m, m) for m in (first.get(n, n) for n in arrays)}
    freed(args, tree, names, effects | MAKERS)
    new = {n: second.get(first.get(n, n), first.get(n, n)) for n in bases}
    return _text(tree), {n: m for n, m in new.items() if n != m}


# -- lines and trees: a comment is a statement that is a string
def _tree(args: Sequence[str], lines: Sequence[str]) -> ast.FunctionDef:
    quoted = [x[: len(x) - len(x.lstrip())] + repr(x.lstrip()) if x.lstrip()[:1] == "#" else x for x in lines]
    tree = parsed(args, quoted)
    tree.body.pop()  # the `pass` that `parsed` adds
    return tree


def _comment(s: ast.stmt) -> str:
    match s:
        case ast.Expr(value=ast.Constant(value=str(text))) if text.startswith("#"):
            return text
    return ""


def _text(tree: ast.FunctionDef) -> list[str]:
    return list(_lines(tree.body, 1))


def _lines(block: Sequence[ast.stmt], depth: int) -> Iterator[str]:
    indent = "    " * depth
    empty = all(map(_comment, block))
    for s in block:
        yield indent + (_comment(s) or statement(s))
        if isinstance(s, (ast.If, ast.For, ast.While)):
            yield from _lines(s.body, depth + 1)
            if s.orelse:
                yield f"{indent}else:"
                yield from _lines(s.orelse, depth + 1)
    if empty:
        yield f"{indent}pass"


# -- names
def _numbered(
    args: Sequence[str], tree: ast.FunctionDef, bases: Mapping[str, str], taken: set[str], by_use: bool
) -> dict[str, str]:
    """New names: of those that are named after one variable of the user's, the last one that other lines read has its
    name, and the others are numbered as they appear."""
    order: dict[str, None] = {}
    made: dict[str, set[str]] = {}
    crossing: set[str] = set()
    section = ""
    for s in statements(tree.body):
        if (text := _comment(s)).startswith("# line"):
            section = text
        if isinstance(s, ast.Delete):
            continue
        for node in _names(s):
            if isinstance(node.ctx, ast.Store):
                made.setdefault(node.id, set()).add(section)
            elif isinstance(s, ast.Return) or section not in made.get(node.id, {section}):
                crossing.add(node.id)
            order.setdefault(node.id)
    groups: dict[str, list[str]] = {}
    for n in order:
        if n in bases and n not in args:
            groups.setdefault(bases[n], []).append(n)
    kept = {n for n in order if n not in bases} | set(args) | taken
    found: dict[str, str] = {}
    for base, names in groups.items():
        wanted = names[::-1] if by_use else names
        plain = next((n for n in wanted if (n in crossing if by_use else n == base)), names[0])
        names.remove(plain)
        for n in [plain, *names]:
            found[n] = _free(base, kept)
            kept.add(found[n])
    return {n: m for n, m in found.items() if n != m}


def _free(base: str, kept: set[str]) -> str:
    name, k = base, 0
    while name in kept:
        k += 1
        name = f"{base}_{k}"
    return name


def _names(s: ast.stmt) -> Iterator[ast.Name]:
    """The names of a statement, without those of the blocks in it."""
    work: list[ast.AST] = [s]
    while work:
        node = work.pop(0)
        if isinstance(node, ast.Name):
            yield node
        children = list(ast.iter_child_nodes(node))
        work = [c for c in children if not (node is s and isinstance(c, ast.stmt))] + work


def _rename(tree: ast.FunctionDef, new: Mapping[str, str]) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = new.get(node.id, node.id)


# -- statements
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
        self.constants = {n: x for n, x in pairs if _is_number(x) and stored[n] == 1 and n in mine}

    def run(self) -> None:
        _without_repeats(self.tree.body, {})
        for name, value in self.constants.items():
            _Put(name, value).visit(self.tree)
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
        return _without_passes(found)

    def _folded(self, s: ast.stmt) -> ast.stmt:
        for field in ("value", "test", "iter", "exc"):
            if isinstance(x := getattr(s, field, None), ast.expr):
                setattr(s, field, self.folder.visit(x))
        if isinstance(s, ast.Assign):
            s.targets = [_part_itself(self.folder.visit(t)) for t in s.targets]
        elif isinstance(s, ast.AugAssign):
            s.target = self.folder.visit(s.target)
        return s

    def _plainer(self, s: ast.stmt, depth: int) -> list[ast.stmt]:
        """The statements that one statement may be instead."""
        match s:
            case ast.If(test=ast.Constant(value=bool(value))):
                return s.body if value else s.orelse
            case ast.If() if len(pair := [x for x in (*s.body, *s.orelse) if not _comment(x)]) == 2:
                match pair:
                    case [ast.Assign() as a, ast.Assign() as b] if a in s.body and b in s.orelse:
                        return self._chosen(s, a, b, depth)
            case ast.Assign(targets=[ast.Name() | ast.Subscript() as target], value=ast.BinOp(left=left) as value):
                if shown(target) == shown(left) and not isinstance(value.op, ast.MatMult):  # which would be in place
                    return [_like(s, ast.AugAssign(target, value.op, value.right))]
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=other)) if name == other:
                return []
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                pairs = [(t, v) for t, v in zip(targets, values, strict=True) if shown(t) != shown(v)]
                if len(pairs) < len(targets):
                    kept, given = [t for t, _ in pairs], [v for _, v in pairs]
                    one = ast.Assign([ast.Tuple(kept, ast.Store())], ast.Tuple(given, ast.Load()))
                    return [_like(s, ast.Assign(kept, given[0]) if len(pairs) == 1 else one)] if pairs else []
            case ast.If(test=test, body=[*before, ast.Assign(targets=[target], value=value)], orelse=[]) if all(
                map(_is_shown, before)
            ):
                if (found := extreme(test, value, _copied(target))) is not None:
                    return [_like(s, ast.Assign([target], found))]
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if self._is_unread(s, name):
                return [] if self._may_move(value, s) else [s]
            case ast.While(test=ast.Constant(value=True)):
                return [self._loop(s)]
            case ast.For(target=ast.Name(id=name)) if not self.reads[name] and name != "_":
                s.target = ast.Name("_", ast.Store())
        return [s]

    def _is_unread(self, s: ast.stmt, name: str) -> bool:
        return name in self.mine and name not in self.liveness.after.get(_line(s), {name})

    def _loop(self, s: ast.While) -> ast.stmt:
        """A loop that ends by a number that its branches have set, as one that they end; one that ends at its top, as
        `while condition:`."""
        body = [x for x in s.body if not _comment(x)]
        ends = (x for x in body if isinstance(x, ast.If) and not x.orelse and isinstance(x.body[0], ast.Break))
        if (end := next(ends, None)) is not None and len(names := read(end.test)) == 1:
            (name,), before = names, body[: body.index(end)]
            k = next((k for k in reversed(range(len(before))) if not self._counts(before[k], s)), -1)
            made = _threaded(before[k : k + 1], name, end.test) if k >= 0 else None
            if made is not None:
                at = s.body.index(before[k])
                s.body = [*s.body[:at], *made, *(x for x in s.body[at + 1 :] if x is not end)]
        match [x for x in s.body if not _comment(x)]:
            case [ast.If(test=test, orelse=[ast.Break()]) as whole, *rest]:
                rest = [x for x in s.body[s.body.index(whole) + 1 :] if not _is_mark(x)]
                s.test, s.body = test, [*(x for x in s.body[: s.body.index(whole)] if _is_shown(x)), *whole.body, *rest]
        return s

    def _counts(self, s: ast.stmt, loop: ast.While) -> bool:
        """Whether a statement only counts the rounds of a loop, after which nothing reads the number."""
        match s:
            case ast.If(test=ast.Call(func=ast.Name(id="sum_overflows")), body=[*_, ast.Raise()], orelse=[]):
                return True
            case ast.AugAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                return name not in self.liveness.after[_line(loop)]
        return False

    def _chosen(self, s: ast.If, a: ast.Assign, b: ast.Assign, depth: int) -> list[ast.stmt]:
        """Two branches that assign to one variable, as a choice where that fits a line."""
        (target,), (other,) = a.targets, b.targets
        if not (isinstance(target, ast.Name) and isinstance(other, ast.Name) and target.id == other.id):
            return [s]
        if any(isinstance(n, ast.IfExp) for n in ast.walk(a.value)):
            return [s]
        made = ast.Assign([target], self.folder.visit(ast.IfExp(s.test, a.value, b.value)))
        return [_like(s, made) if 4 * depth + len(statement(made)) <= WIDTH else s]

    def _append(self, found: list[ast.stmt], s: ast.stmt, depth: int) -> None:
        """A statement after others: with the one before it in its place, where that is used here alone."""
        while (k := next((k for k in reversed(range(len(found))) if not _comment(found[k])), None)) is not None:
            if _zeros(found[k], s):
                return
            if (product := _product(found[k], s)) is not None:
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
        if isinstance(s, ast.While) or name in self.liveness.after[_line(s)] - _stored(s):
            return False
        if isinstance(s, (ast.If, ast.For)) and any(name in read(inner) for inner in statements([*s.body, *s.orelse])):
            return False
        uses = [n for n in _names(s) if n.id == name and isinstance(n.ctx, ast.Load)]
        if len(uses) != 1 or any(isinstance(n, ast.JoinedStr) and name in read(n) for n in ast.walk(into)):
            return False
        if isinstance(s, (ast.Assign, ast.AugAssign)) and name in read(_target(s)):
            return False
        made = _Put(name, value).visit(_copied(into))
        width = WIDTH if not isinstance(s, ast.Expr) else 2 * WIDTH  # a call has a line for each of its arguments
        if 4 * depth + len(head + shown(made) + tail) > width or _depth(made) > 6:
            return False
        setattr(s, next(f for f in ("value", "test", "iter", "exc") if getattr(s, f, None) is into), made)
        self.folder.visit(made)
        return True

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


def _threaded(block: Sequence[ast.stmt], name: str, test: ast.expr) -> list[ast.stmt] | None:
    """A block that sets a number at its end, with a `break` after it where that fulfils the test."""
    for k in reversed(range(len(block))):
        match s := block[k]:
            case ast.Assign(targets=[ast.Name(id=other)], value=ast.Constant() as value) if other == name:
                ends = Folder(frozenset()).visit(_Put(name, value).visit(_copied(test)))
                if not isinstance(ends, ast.Constant):
                    return None
                return [*block, ast.copy_location(ast.Break(), block[-1])] if ends.value else list(block)
            case ast.If() if name in {n.id for n in ast.walk(s) if isinstance(n, ast.Name)}:
                branches = [_threaded(b, name, test) for b in (s.body, s.orelse)]
                if None in branches or any(not _comment(x) for x in block[k + 1 :]):
                    return None
                one, other_one = (b or [] for b in branches)
                return [*block[:k], ast.copy_location(ast.If(s.test, one, other_one), s), *block[k + 1 :]]
            case ast.For() | ast.While():
                return None
            case _ if name in _stored(s):
                return None
    return None


def _short(block: Sequence[ast.stmt], depth: int) -> list[ast.stmt]:
    """A block, with values that are too long for a line in steps."""
    found: list[ast.stmt] = []
    for s in block:
        if isinstance(s, (ast.If, ast.For, ast.While)):
            s.body, s.orelse = _short(s.body, depth + 1), _short(s.orelse, depth + 1)
        match s:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.BoolOp() | ast.BinOp() | ast.IfExp() as value):
                if 4 * depth + len(statement(s)) > WIDTH and name not in read(value):
                    found += _short(list(_split(name, value)), depth)
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


def _part_itself(target: ast.expr) -> ast.expr:
    """`x[1:] = ...` of `x[1:][...] = ...`."""
    match target:
        case ast.Subscript(value=ast.Subscript(slice=inner) as part, slice=ast.Constant(value=x)) if x is ...:
            items = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            if any(isinstance(i, ast.Slice) for i in items):
                part.ctx = ast.Store()
                return part
    return target


def _without_repeats(block: list[ast.stmt], passed: dict[str, frozenset[str]]) -> None:
    """Drops checks of what was checked before; `passed`: the tests before the block, with the variables of each."""
    passed = dict(passed)
    for s in list(block):
        stored = {n.id for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        inner = {test: names for test, names in passed.items() if not names & stored}
        match s:
            case ast.If(test=test, body=[*before, ast.Raise()], orelse=[]) if all(map(_comment, before)):
                text = shown(test)
                if text in passed:
                    block.remove(s)
                elif not any(isinstance(n, (ast.Subscript, ast.Call)) for n in ast.walk(test)):
                    passed[text] = read(test)
                continue
            case ast.If():
                _without_repeats(s.body, passed)
                _without_repeats(s.orelse, passed)
            case ast.For() | ast.While():
                _without_repeats(s.body, inner)
        passed = inner


class _Put(ast.NodeTransformer):
    def __init__(self, name: str, value: ast.expr) -> None:
        self.name, self.value = name, value

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.value if node.id == self.name and isinstance(node.ctx, ast.Load) else node


def _zeros(before: ast.stmt, s: ast.stmt) -> bool:
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


def _product(before: ast.stmt, s: ast.stmt) -> ast.stmt | None:
    """`x = a @ b` of `x = np.empty(...)`, `np.matmul(a, b, out=x)`."""
    match before, s:
        case (
            ast.Assign(targets=[ast.Name(id=name) as target], value=ast.Call(func=ast.Attribute(attr="empty"))),
            ast.Expr(value=ast.Call(func=ast.Attribute(attr="matmul"), args=[a, b], keywords=[ast.keyword(value=out)])),
        ) if isinstance(out, ast.Name) and out.id == name:
            return _like(s, ast.Assign([target], ast.BinOp(a, ast.MatMult(), b)))
    return None


def _is_number(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and type(value.value) in (int, float, bool)


def _is_zero(value: ast.expr) -> bool:
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np")), args=[x]):
            return _is_zero(x)
        case ast.Constant(value=x):
            return type(x) in (int, float, bool) and repr(x) in ("0", "0.0", "False")
    return False


def _without_passes(block: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The block without what does nothing, and without lines of the user's of which nothing is left."""
    found: list[ast.stmt] = []
    followed = False
    for s in reversed(block):
        if isinstance(s, ast.Pass) or _is_shown(s) and not followed:
            continue
        followed = not _is_shown(s) if not _comment(s) or _is_shown(s) else followed
        found.append(s)
    return found[::-1]


def _is_shown(s: ast.stmt) -> bool:
    """Whether it is a line of the user's."""
    return _comment(s).startswith("# line")


def _is_mark(s: ast.stmt) -> bool:
    return _comment(s).startswith(("#<", "#>"))


def _like(s: ast.stmt, made: ast.stmt) -> ast.stmt:
    return ast.copy_location(made, s)


def _line(s: ast.stmt) -> int:
    return s.lineno - 2


def _copied(x: ast.expr) -> ast.expr:
    return ast.parse(shown(x), mode="eval").body


def _target(s: ast.Assign | ast.AugAssign) -> ast.expr:
    return s.targets[0] if isinstance(s, ast.Assign) else s.target


def _stored(s: ast.stmt) -> set[str]:
    """The variables that a statement surely assigns to."""
    return {n.id for n in _names(s) if isinstance(n.ctx, ast.Store)} if isinstance(s, ast.Assign) else set()


def _depth(x: ast.AST) -> int:
    return 1 + max((_depth(c) for c in ast.iter_child_nodes(x) if isinstance(c, ast.expr)), default=0)

