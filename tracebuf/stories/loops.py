"""Edits of loops: an array that each iteration makes is made once, before the loop.

`w = expr` becomes `w[...] = expr`, or has `out=w`; a value that is stored over elements it is computed from goes
through an array of its own; an array that takes another's place at the end of each iteration takes turns with it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import numpy as np

from tracebuf.stories.edits import Edit
from tracebuf.stories.lines import Source, blocks, changed, cut, put_before
from tracebuf.stories.names import binds, copied, names_of, reads, written

Loop = ast.For | ast.While
FILLED = {"zeros": "0", "zeros_like": "0", "ones": "1", "ones_like": "1", "empty": "", "empty_like": ""}
"""What new arrays of NumPy's are filled with."""
OUT = {"dot", "matmul", "cumsum", "cumprod", "take", "clip", "sum", "mean", "max", "min", "prod", "compress", "choose"}
"""Functions of NumPy with `out=` that are no ufuncs."""
SIGNS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
NOT_RUN = "takes an array more where the loop does not run"


def made_once(source: Source, arrays: Sequence[str]) -> Iterator[Edit]:
    """All of them; `arrays` are the parameters that are arrays."""
    everywhere = names_of(source.node)
    fresh = next(n for n in ("scratch", "scratch_", "made_before") if n not in everywhere)
    for loop in ast.walk(source.node):
        if not isinstance(loop, Loop):
            continue
        bound = {n for s in loop.body for n in binds(s)} | (binds(loop.target) if isinstance(loop, ast.For) else set())
        for s in (s for block in blocks(loop) for s in block):
            if not isinstance(s, ast.Assign) or len(s.targets) != 1 or s.lineno != s.end_lineno:
                continue
            target = s.targets[0]
            if isinstance(target, ast.Name):
                yield from kept(source, loop, s, target.id, bound, arrays)
                if s in loop.body:
                    yield from turns(source, loop, loop.body.index(s), target.id)
            elif isinstance(target, ast.Subscript) and not reads(target) & bound:
                yield from through(source, loop, s, target, fresh)


def before(source: Source, loop: Loop, s: ast.Assign, made: str, instead: Sequence[str]) -> Iterator[Edit]:
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
    source: Source, loop: Loop, s: ast.Assign, name: str, bound: set[str], arrays: Sequence[str]
) -> Iterator[Edit]:
    """`w = expr`: `w` is one array, into which each iteration computes."""
    if name in reads(s.value) or occurrences(source.node, name) != occurrences(loop, name):
        return  # after a loop that did not run, it would be there
    if (of := copied(s.value)) is not None:
        if (made := empty_like(of, bound)) is not None:
            yield from before(source, loop, s, f"{name} = {made}", [f"{name}[:] = {ast.unparse(of)}"])
        return
    value = source.text(s.value)
    if value is None or not isinstance(s.value, (ast.Call, ast.BinOp, ast.UnaryOp)):
        return
    filled = [out_into(source, s.value, name) or f"{name}[...] = {filled_with(s.value) or value}"]
    if isinstance(s.value, ast.BinOp) and (sign := SIGNS.get(type(s.value.op))) is not None:
        first, second = out_into(source, s.value.left, name), source.text(s.value.right)
        if first is not None and second is not None:
            filled = [first, f"{name} {sign}= {second}"]
    there = [n for n in sorted(reads(s.value)) if occurrences(source.node, n) > occurrences(loop, n) or n in arrays]
    subscripts = [n for n in ast.walk(s.value) if isinstance(n, ast.Subscript) and not reads(n) & bound]
    parts = [source.text(n) for n in subscripts if not picks(n)]
    for like in [n for n in [*parts[:1], *there, *arrays] if n not in ("np", "numpy", None)][:4]:
        yield from before(source, loop, s, f"{name} = np.empty_like({like})", filled)


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


def out_into(source: Source, call: ast.expr, name: str) -> str | None:
    """The text of a call of NumPy's whose result goes into an array; None for what cannot be told where."""
    text = source.text(call) if takes_out(call) else None
    return None if text is None else f"{text[:-1].rstrip().rstrip(',')}, out={name})"


def takes_out(call: ast.expr) -> bool:
    """Whether a call of NumPy's can be told where its result goes."""
    if not isinstance(call, ast.Call) or any(k.arg in ("out", None) for k in call.keywords) or not call.args:
        return False
    f = call.func
    if not (isinstance(f, ast.Attribute) and isinstance(f.value, ast.Name) and f.value.id in ("np", "numpy")):
        return False
    return f.attr in OUT or isinstance(getattr(np, f.attr, None), np.ufunc)


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
