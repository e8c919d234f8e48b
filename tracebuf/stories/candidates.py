"""Edits that may remove an allocation or a copy. Whether one does, and computes the same, is found by trying.

Each rule is a function of the syntax tree that proposes edits: a statement moves before or after another one of its
block, a copy is left out, what is returned is computed before a store, an array is made before the loop, an argument is
donated. A statement is moved only past those that neither bind a name that it reads or binds, nor read one that it
binds; what happens in memory the comparison of meanings tells.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

from tracebuf.frozen import frozen
from tracebuf.stories.edits import Change, Edit

REACH = 12
"""A statement moves past at most so many."""
_LEAVING = (ast.Return, ast.Break, ast.Continue, ast.Raise)


@frozen(slots=False)
class Source:
    """A function's definition, and the lines of its file."""

    node: ast.FunctionDef
    file: str
    lines: Sequence[str]

    def span(self, node: ast.stmt) -> list[str]:
        return [line.rstrip("\n") for line in self.lines[node.lineno - 1 : node.end_lineno]]

    def short(self, node: ast.AST) -> str:
        text = " ".join((ast.get_source_segment("".join(self.lines), node) or "").split())
        return text if len(text) <= 60 else text[:57] + "..."

    def replaced(self, node: ast.expr, text: str) -> Change | None:
        """The line of an expression with another one in its place; None for an expression of several lines."""
        if node.lineno != node.end_lineno:
            return None
        raw = self.lines[node.lineno - 1].rstrip("\n").encode()
        new = raw[: node.col_offset].decode() + text + raw[node.end_col_offset :].decode()
        return Change(node.lineno, node.lineno, (new,))


def proposed(source: Source, told: Collection[int], arrays: Sequence[str]) -> Iterator[Edit]:
    """All edits, those first that touch lines that are `told`; `arrays` are the parameters that may be donated."""
    found = [*copies_left_out(source), *returns_before(source), *moves(source), *arrays_before_loops(source)]
    found += parts_before(source)
    yield from sorted(found, key=lambda e: -sum(_touches(e, n) for n in told))
    yield from donations(source, arrays)


def _touches(edit: Edit, line: int) -> bool:
    return any(c.first <= line <= max(c.last, c.first) for c in edit.changes)


# -- statements
def blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements of a function, but for those of functions and classes in it."""
    for name in ("body", "orelse", "finalbody"):
        body = getattr(node, name, None)
        if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
            yield body
            for inner in body:
                if not isinstance(inner, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
                    yield from blocks(inner)


def stands_alone(k: int, block: Sequence[ast.stmt]) -> bool:
    """Whether a statement has its lines for itself."""
    before = block[k - 1].end_lineno if k else None
    after = block[k + 1].lineno if k + 1 < len(block) else None
    return before != block[k].lineno and after != block[k].end_lineno


def reads(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)} | binds(node, True)


def binds(node: ast.AST, updates: bool = False) -> set[str]:
    """The names that a statement binds (`updates`: by an augmented assignment)."""
    if updates:
        return {n.target.id for n in ast.walk(node) if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)}
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}


def moves(source: Source) -> Iterator[Edit]:
    """A statement before an earlier one of its block."""
    for block in blocks(source.node):
        for k, moved in enumerate(block):
            for j in range(k - 1, max(-1, k - 1 - REACH), -1):
                if not passes(moved, block[j]):
                    break
                if stands_alone(k, block) and stands_alone(j, block):
                    lines = source.span(moved)
                    changes = (
                        Change(block[j].lineno, block[j].lineno - 1, tuple(lines)),
                        Change(moved.lineno, moved.end_lineno or moved.lineno, ()),
                    )
                    text = (
                        f"move line {moved.lineno} (`{source.short(moved)}`) before line {block[j].lineno} "
                        f"(`{source.short(block[j])}`)"
                    )
                    yield Edit("move", text, source.file, changes)


def passes(moved: ast.stmt, other: ast.stmt) -> bool:
    """Whether names allow that two statements change places."""
    if any(isinstance(n, _LEAVING) for s in (moved, other) for n in ast.walk(s)):
        return False
    return not (rebinds(other) & (reads(moved) | binds(moved)) or rebinds(moved) & (reads(other) | binds(other)))


def rebinds(node: ast.stmt) -> set[str]:
    """The names that are another object afterwards: an augmented assignment to an array leaves it the same one. Where
    it is a number, the meaning tells."""
    return binds(node) - (binds(node, True) if isinstance(node, ast.AugAssign) else set())


def returns_before(source: Source) -> Iterator[Edit]:
    """What is returned at the end is computed before an earlier statement."""
    block = source.node.body
    last = block[-1]
    if not isinstance(last, ast.Return) or last.value is None or isinstance(last.value, (ast.Name, ast.Constant)):
        return
    name = next(n for n in ("result", "result_", "returned") if n not in _names(source.node))
    wanted = reads(last)
    for k in range(len(block) - 2, max(-1, len(block) - 2 - REACH), -1):
        if rebinds(block[k]) & wanted or any(isinstance(n, _LEAVING) for n in ast.walk(block[k])):
            return
        if stands_alone(k, block) and stands_alone(len(block) - 1, block) and last.lineno == last.end_lineno:
            indent = " " * last.col_offset
            value = ast.get_source_segment("".join(source.lines), last.value)
            changes = (
                Change(block[k].lineno, block[k].lineno - 1, (f"{indent}{name} = {value}",)),
                Change(last.lineno, last.lineno, (f"{indent}return {name}",)),
            )
            text = f"compute `{source.short(last.value)}` before line {block[k].lineno}: put `{name} = {value}` there"
            yield Edit("compute before", f"{text}, and `return {name}` into line {last.lineno}", source.file, changes)


def parts_before(source: Source) -> Iterator[Edit]:
    """A call within a statement is made before an earlier statement of its block."""
    name = next(n for n in ("early", "early_", "computed") if n not in _names(source.node))
    for block in blocks(source.node):
        for k, s in enumerate(block):
            value = getattr(s, "value", None)
            if not isinstance(s, (ast.Return, ast.Assign, ast.AugAssign, ast.Expr)) or value is None:
                continue
            scopes = any(isinstance(n, (ast.Lambda, ast.ListComp, ast.GeneratorExp)) for n in ast.walk(value))
            calls = [n for n in ast.walk(value) if isinstance(n, ast.Call) and n is not value]
            for call in [] if scopes else calls:
                yield from part_before(source, block, k, call, name)


def part_before(source: Source, block: Sequence[ast.stmt], k: int, call: ast.Call, name: str) -> Iterator[Edit]:
    text, rest = ast.get_source_segment("".join(source.lines), call), source.replaced(call, name)
    if text is None or rest is None or not stands_alone(k, block):
        return
    for j in range(k - 1, max(-1, k - 1 - REACH), -1):
        if rebinds(block[j]) & reads(call) or any(isinstance(n, _LEAVING) for n in ast.walk(block[j])):
            return
        if stands_alone(j, block):
            made = f"{name} = {text}"
            new = Change(block[j].lineno, block[j].lineno - 1, (" " * block[j].col_offset + made,))
            said = f"compute `{text}` before line {block[j].lineno}: put `{made}` there"
            line = f"and `{rest.after[0].strip()}` into line {rest.first}"
            yield Edit("compute before", f"{said}, {line}", source.file, (new, rest))


def _occurrences(node: ast.AST, name: str) -> int:
    return sum(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


# -- copies
def copied(node: ast.AST) -> ast.expr | None:
    """What an expression copies: `x.copy()`, `np.copy(x)`, `np.array(x)`."""
    if not isinstance(node, ast.Call) or node.keywords or not isinstance(node.func, ast.Attribute):
        return None
    of_numpy = isinstance(node.func.value, ast.Name) and node.func.value.id in ("np", "numpy")
    if of_numpy and node.func.attr in ("copy", "array") and len(node.args) == 1:
        return None if isinstance(node.args[0], (ast.List, ast.Tuple, ast.ListComp)) else node.args[0]
    return node.func.value if node.func.attr == "copy" and not node.args and not of_numpy else None


def copies_left_out(source: Source) -> Iterator[Edit]:
    for node in ast.walk(source.node):
        if (of := copied(node)) is None or not isinstance(node, ast.expr):
            continue
        text = ast.get_source_segment("".join(source.lines), of)
        simple = isinstance(of, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))
        change = source.replaced(node, text if simple else f"({text})") if text is not None else None
        if change is not None:
            before, after = source.lines[node.lineno - 1].strip(), change.after[0].strip()
            said = f"line {node.lineno}: `{before}` -> `{after}`"
            yield Edit("leave out a copy", said, source.file, (change,))


def arrays_before_loops(source: Source) -> Iterator[Edit]:
    """`w = x.copy()` in a loop: one array is made before it, into which each iteration copies."""
    for loop in ast.walk(source.node):
        if not isinstance(loop, (ast.For, ast.While)):
            continue
        bound = {n for s in loop.body for n in binds(s)} | (binds(loop.target) if isinstance(loop, ast.For) else set())
        for k, s in enumerate(loop.body):
            if not (isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], ast.Name)):
                continue
            of, name = copied(s.value), s.targets[0].id
            if of is None or not stands_alone(k, loop.body) or s.lineno != s.end_lineno or name in reads(of):
                continue
            if _occurrences(source.node, name) != _occurrences(loop, name):
                continue  # after a loop that did not run, it would be there
            new = f"np.empty_like({ast.unparse(of)})"
            if reads(of) & bound:
                if not (isinstance(of, ast.Subscript) and isinstance(of.slice, ast.Name)) or reads(of.value) & bound:
                    continue
                whole = ast.unparse(of.value)
                new = f"np.empty({whole}.shape[1:], {whole}.dtype)"
            outer, inner = " " * loop.col_offset, " " * s.col_offset
            made, filled = f"{name} = {new}", f"{name}[:] = {ast.unparse(of)}"
            changes = (
                Change(loop.lineno, loop.lineno - 1, (outer + made,)),
                Change(s.lineno, s.lineno, (inner + filled,)),
            )
            text = f"put `{made}` before the loop in line {loop.lineno}, and `{filled}` into line {s.lineno}"
            yield Edit("allocate once", text, source.file, changes)


# -- arguments
def donations(source: Source, arrays: Sequence[str]) -> Iterator[Edit]:
    """The results may be computed in the memory of an argument that is not needed any more."""
    for name in arrays:
        caveat = f"what `{name}` holds after the call is lost"
        decorator = next((d for d in source.node.decorator_list if is_bufferize(d)), None)
        changes: tuple[Change, ...] = ()
        text = f'bufferize it with donate="{name}"'
        if decorator is not None:
            old = ast.get_source_segment("".join(source.lines), decorator) or ""
            new = f'{old}(donate="{name}")'
            if isinstance(decorator, ast.Call):
                inner = old.rstrip()[:-1].rstrip().rstrip(",")
                new = f'{inner}{"" if inner.endswith("(") else ", "}donate="{name}")'
            change = source.replaced(decorator, new)
            if change is not None and 'donate=' not in old:
                changes, text = (change,), f"line {decorator.lineno}: `@{old}` -> `@{new}`"
        yield Edit("donate", text, source.file, changes, {"donate": (name,)}, caveat)


def is_bufferize(node: ast.expr) -> bool:
    called = node.func if isinstance(node, ast.Call) else node
    return getattr(called, "id", getattr(called, "attr", "")) == "bufferize"
