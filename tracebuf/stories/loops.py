"""Edits of loops: an array that each iteration makes is made once, before the loop.

`w = expr` becomes `w[...] = expr`, or has `out=w`; a value that is stored over elements it is computed from goes
through an array of its own; an array that takes another's place at the end of each iteration takes turns with it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TypeGuard

import numpy as np

from tracebuf.stories.edits import Edit
from tracebuf.stories.lines import Cut, Source, blocks, changed, cut, put_before
from tracebuf.stories.names import binds, copied, names_of, reads, written

Loop = ast.For | ast.While
FILLED = {"zeros": "0", "zeros_like": "0", "ones": "1", "ones_like": "1", "empty": "", "empty_like": ""}
"""What new arrays of NumPy's are filled with."""
OUT = {"dot", "matmul", "cumsum", "cumprod", "take", "clip", "sum", "mean", "max", "min", "prod", "compress", "choose"}
"""Functions of NumPy with `out=` that are no ufuncs."""
SIGNS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
UFUNCS: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide"}  # fmt: skip
COMPARES: dict[type[ast.cmpop], str] = {
    ast.Eq: "equal", ast.NotEq: "not_equal", ast.Lt: "less", ast.LtE: "less_equal", ast.Gt: "greater",
    ast.GtE: "greater_equal"}  # fmt: skip
NOT_RUN = "takes an array more where the loop does not run"


Shapes = Mapping[int, Sequence[str]]
"""By line of a loop, texts of empty arrays such as the line makes: `np.empty(len(x), x.dtype)`."""


def made_once(source: Source, arrays: Sequence[str], shapes: Shapes = MappingProxyType({})) -> Iterator[Edit]:
    """All of them; `arrays` are the parameters that are arrays."""
    everywhere = names_of(source.node)
    fresh = next(n for n in ("scratch", "scratch_", "made_before") if n not in everywhere)
    for loop in ast.walk(source.node):
        if not isinstance(loop, Loop):
            continue
        bound = {n for s in loop.body for n in binds(s)} | (binds(loop.target) if isinstance(loop, ast.For) else set())
        for s in (s for block in blocks(loop) for s in block):
            made = shapes.get(s.lineno, ())
            yield from parts_once(source, loop, s, made, fresh)
            if not isinstance(s, ast.Assign) or len(s.targets) != 1 or s.lineno != s.end_lineno:
                continue
            target = s.targets[0]
            if isinstance(target, ast.Name):
                yield from kept(source, loop, s, target.id, bound, arrays, made)
                if s in loop.body:
                    yield from turns(source, loop, loop.body.index(s), target.id)
            elif isinstance(target, ast.Subscript) and not reads(target) & bound:
                yield from through(source, loop, s, target, fresh)


def parts_once(source: Source, loop: Loop, s: ast.stmt, made: Sequence[str], name: str) -> Iterator[Edit]:
    """A product or a running sum within a statement is computed into one array."""
    value = getattr(s, "value", None)
    if not made or not isinstance(s, ast.Assign | ast.AugAssign) or value is None or s.lineno != s.end_lineno:
        return
    for part in ast.walk(value):
        if part is value and isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name):
            continue
        if not isinstance(part, ast.expr) or not is_product(part) and not named_out(part):
            continue
        first, change = out_into(source, part, name), source.replaced(part, name)
        if first is None or change is None or (new := cut(part, name)) is None:
            continue
        rest = spliced_value(source, s, new)
        for text in made:
            yield from before(source, loop, s, f"{name} = {text}", [first, rest])


def spliced_value(source: Source, s: ast.stmt, new: Cut) -> str:
    """A statement of one line with other text in the place of a part of it."""
    raw, start, end = source.raw(s.lineno), new.start, new.end
    if raw[start - 1 : start] == b"(" and raw[end : end + 1] == b")" and raw[start - 2 : start - 1] in b" (-+*/":
        start, end = start - 1, end + 1
    return (raw[s.col_offset : start] + new.text.encode() + raw[end : s.end_col_offset]).decode()


def before(source: Source, loop: Loop, s: ast.stmt, made: str, instead: Sequence[str]) -> Iterator[Edit]:
    """`made` before the loop, and other statements in the place of this one."""
    if (new := cut(s, in_place_of(source, s, instead))) is None:
        return
    first, *rest = instead
    shown = f"`{first}`" + "".join(f" and `{text}`" for text in rest)
    text = f"put `{made}` before the loop in line {loop.lineno}, and {shown} into line {s.lineno}"
    changes = changed(source, [*put_before(source, loop, [made]), new])
    yield Edit("allocate once", text, source.file, changes, caveat=NOT_RUN)


def in_place_of(source: Source, s: ast.stmt, instead: Sequence[str]) -> str:
    """The text of statements that take the place of one."""
    return (f"\n{' ' * s.col_offset}" if source.begins_line(s) else "; ").join(instead)


def kept(
    source: Source, loop: Loop, s: ast.Assign, name: str, bound: set[str], arrays: Sequence[str],
    shapes: Sequence[str],
) -> Iterator[Edit]:  # fmt: skip
    """`w = expr`: `w` is one array, into which each iteration computes."""
    there = [b for b in source.node.body if isinstance(b, ast.Assign) and b.lineno < loop.lineno and name in binds(b)]
    fills = computed_into(source, s.value, name)
    if there and fills and name not in arrays:
        yield from into_the_old(source, s, fills)
    if name in reads(s.value) or occurrences(source.node, name) != occurrences(loop, name):
        return  # after a loop that did not run, it would be there
    made = [f"np.empty_like({like})" for like in likes(source, loop, s, bound, arrays)]
    if (of := copied(s.value)) is not None:
        made = [text for text in [empty_like(of, bound)] if text is not None]
    for text in [*made, *shapes] if fills else []:
        yield from before(source, loop, s, f"{name} = {text}", fills)
    for part in (n for n in ast.walk(s.value) if n is not s.value and isinstance(n, ast.expr)):
        first, new = out_into(source, part, name), cut(part, name)
        if (is_product(part) or named_out(part)) and first is not None and new is not None:
            rest = spliced_value(source, s, new).partition("=")[2].strip()
            for text in shapes:
                yield from before(source, loop, s, f"{name} = {text}", [first, f"{name}[...] = {rest}"])


def into_the_old(source: Source, s: ast.Assign, fills: Sequence[str]) -> Iterator[Edit]:
    """`a = expr`, where `a` is an array from before the loop: computed into that."""
    if (new := cut(s, in_place_of(source, s, fills))) is not None:
        shown = " and ".join(f"`{text}`" for text in fills)
        changes = changed(source, [new])
        yield Edit("allocate once", f"put {shown} into line {s.lineno}", source.file, changes)


def likes(
    source: Source, loop: Loop, s: ast.Assign, bound: set[str], arrays: Sequence[str]
) -> list[str]:
    """Arrays that are there before the loop, and may be such as an expression makes."""
    there = [n for n in sorted(reads(s.value)) if occurrences(source.node, n) > occurrences(loop, n) or n in arrays]
    subscripts = [n for n in ast.walk(s.value) if isinstance(n, ast.Subscript) and not reads(n) & bound]
    parts = [source.text(n) for n in subscripts if not picks(n)]
    return [n for n in [*parts[:1], *there, *arrays] if n is not None and n not in ("np", "numpy")][:4]


def computed_into(source: Source, value: ast.expr, name: str) -> list[str]:
    """Statements that compute an expression into an array; none for what makes no array."""
    if (of := copied(value)) is not None:
        return [f"{name}[:] = {ast.unparse(of)}"]
    text = source.text(value)
    if text is None or not isinstance(value, ast.Call | ast.BinOp | ast.UnaryOp | ast.Compare):
        return []
    if (whole := out_into(source, value, name)) is not None:
        return [whole]
    if isinstance(value, ast.BinOp) and (sign := SIGNS.get(type(value.op))) is not None:
        left, right = source.text(value.left), source.text(value.right)
        first, second = out_into(source, value.left, name), out_into(source, value.right, name)
        ufunc = f"np.{UFUNCS[type(value.op)]}"
        if first is not None and right is not None and name not in reads(value.right):
            return [first, f"{name} {sign}= {right}"]
        if second is not None and left is not None and name not in reads(value.left):
            return [second, f"{ufunc}({left}, {name}, out={name})"]
        if left is not None and right is not None and is_plain(value.left) and is_plain(value.right):
            return [f"{ufunc}({left}, {right}, out={name})"]
    if isinstance(value, ast.Compare) and len(value.ops) == 1 and (ufunc_ := COMPARES.get(type(value.ops[0]))):
        left, right = source.text(value.left), source.text(value.comparators[0])
        if left is not None and right is not None and is_plain(value.left) and is_plain(value.comparators[0]):
            return [f"np.{ufunc_}({left}, {right}, out={name})"]
    return [f"{name}[...] = {filled_with(value) or text}"]


def is_plain(node: ast.expr) -> bool:
    """Whether an expression computes no array of its own."""
    return isinstance(node, ast.Name | ast.Subscript | ast.Attribute | ast.Constant)


def empty_like(of: ast.expr, bound: set[str]) -> str | None:
    """An empty array like an expression, made before a loop that binds these names: where the loop does not run, `u[k]`
    may be no row. None where it cannot be told."""
    if not reads(of) & bound and not picks(of):
        return f"np.empty_like({ast.unparse(of)})"
    if not isinstance(of, ast.Subscript) or reads(of.value) & bound or picks(of.value):
        return None
    whole, index = ast.unparse(of.value), of.slice
    if not isinstance(index, ast.Tuple):
        return f"np.empty({whole}.shape[1:], {whole}.dtype)"
    rest = ast.Subscript(of.value, ast.Tuple([ast.Slice(), *index.elts[1:]]), of.ctx)
    if reads(rest) & bound or picks(rest):
        return None
    return f"np.empty({ast.unparse(rest)}.shape[1:], {whole}.dtype)"


def picks(of: ast.expr) -> bool:
    """Whether elements are picked in an expression: what may be beyond an array."""
    indices = [n.slice for n in ast.walk(of) if isinstance(n, ast.Subscript)]
    parts = [part for index in indices for part in (index.elts if isinstance(index, ast.Tuple) else [index])]
    return not all(isinstance(p, ast.Slice) or (isinstance(p, ast.Constant) and p.value in (None, ...)) for p in parts)


def filled_with(call: ast.expr) -> str | None:
    """What an expression fills a new array with: "" for nothing, None for what makes no new array."""
    return FILLED.get(call.func.attr) if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None


def out_into(source: Source, value: ast.expr, name: str) -> str | None:
    """The text of a call of NumPy's whose result goes into an array; None for what cannot be told where."""
    if is_product(value):
        left, right = source.text(value.left), source.text(value.right)
        return None if left is None or right is None else f"np.matmul({left}, {right}, out={name})"
    text = source.text(value) if takes_out(value) else None
    return None if text is None else f"{text[:-1].rstrip().rstrip(',')}, out={name})"


def is_product(node: ast.expr) -> TypeGuard[ast.BinOp]:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)


def takes_out(call: ast.expr) -> bool:
    """Whether a call of NumPy's can be told where its result goes."""
    name = called_of_numpy(call)
    return name in OUT or (name is not None and isinstance(getattr(np, name, None), np.ufunc))


def named_out(call: ast.expr) -> bool:
    """Whether it is such a call, and no ufunc's."""
    return called_of_numpy(call) in OUT


def called_of_numpy(call: ast.expr) -> str | None:
    """The function of NumPy's that a call without `out=` is of."""
    if not isinstance(call, ast.Call) or any(k.arg in ("out", None) for k in call.keywords) or not call.args:
        return None
    f = call.func
    of_numpy = isinstance(f, ast.Attribute) and isinstance(f.value, ast.Name) and f.value.id in ("np", "numpy")
    return f.attr if of_numpy and isinstance(f, ast.Attribute) else None


def through(source: Source, loop: Loop, s: ast.Assign, target: ast.Subscript, name: str) -> Iterator[Edit]:
    """`x[i:j] = expr`, of elements that it overwrites: computed into one array, then stored."""
    place, value = source.text(target), source.text(s.value)
    if place is not None and value is not None and reads(target.value) & reads(s.value):
        made = f"{name} = np.empty_like({place})"
        yield from before(source, loop, s, made, [f"{name}[...] = {value}", f"{place} = {name}"])


def turns(source: Source, loop: Loop, k: int, name: str) -> Iterator[Edit]:
    """`new = u.copy()` (or an empty array like u, or a value), at the end of the iteration `u = new`: two arrays that
    take turns. Two new ones where `u` is an argument, which is not to be stored to."""
    s, last = loop.body[k], loop.body[-1]
    assert isinstance(s, ast.Assign)
    value = source.text(s.value)
    other: str | None = None
    if isinstance(last, ast.Assign) and len(last.targets) == 1 and isinstance(last.targets[0], ast.Name):
        if isinstance(last.value, ast.Name) and last.value.id == name and last is not s:
            other = last.targets[0].id
    if other is None or value is None or occurrences(source.node, name) != occurrences(loop, name):
        return
    fill, call = f"{name}[...] = {value}", s.value
    if (of := copied(call)) is not None:
        fill = f"{name}[...] = {ast.unparse(of)}"
    elif (number := filled_with(call)) is not None:
        fill = f"{name}[...] = {number}" if number else ""
    filled = f"`{fill}` into line {s.lineno}" if fill else f"nothing into line {s.lineno}"
    made, caveat = [f"{name} = np.empty_like({other})"], NOT_RUN
    swap = f"{other}, {name} = {name}, {other}"
    argument = any(a.arg == other for a in ast.walk(source.node.args) if isinstance(a, ast.arg))
    stored = any(other in written(b) for b in source.node.body if b is not loop)
    if argument and (stored or loop not in source.node.body):
        return  # where the loop does not run, that would be stored to the argument itself
    if argument:  # which is not to be stored to
        made.append(f"{other} = {other}.copy()")
        caveat = f"where the loop does not run, `{other}` is a copy then, beside another array; takes an array more "
        caveat += "where it runs once"
    cuts = cut(s, fill), cut(last, swap)
    if cuts[0] is None or cuts[1] is None:
        return
    shown = " and ".join(f"`{text}`" for text in made)
    text = f"put {shown} before the loop in line {loop.lineno}, {filled}, and `{swap}` into line {last.lineno}"
    changes = changed(source, [*put_before(source, loop, made), cuts[0], cuts[1]])
    yield Edit("take turns", text, source.file, changes, caveat=caveat, runs_once=argument)


def occurrences(node: ast.AST, name: str) -> int:
    return sum(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))
