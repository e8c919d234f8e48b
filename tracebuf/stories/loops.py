"""Edits of loops: an array that each iteration makes is made once, before the loop.

`w = expr` becomes `w[...] = expr`, or has `out=w`; a value that is stored over elements it is computed from goes
through an array of its own; an array that takes another's place at the end of each iteration takes turns with it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import numpy as np

from tracebuf.stories.edits import Edit
from tracebuf.stories.lines import Source, changed, cut, put_before
from tracebuf.stories.names import binds, copied, names_of, reads

Loop = ast.For | ast.While
MAKES = ("empty_like", "zeros_like", "ones_like", "copy", "array")
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
        for k, s in enumerate(loop.body):
            if not isinstance(s, ast.Assign) or len(s.targets) != 1 or s.lineno != s.end_lineno:
                continue
            target = s.targets[0]
            if isinstance(target, ast.Name):
                yield from kept(source, loop, s, target.id, bound, arrays)
                yield from turns(source, loop, k, target.id)
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
        text = ast.unparse(of)
        if not reads(of) & bound:
            yield from before(source, loop, s, f"{name} = np.empty_like({text})", [f"{name}[:] = {text}"])
        elif isinstance(of, ast.Subscript) and isinstance(of.slice, ast.Name) and not reads(of.value) & bound:
            whole = ast.unparse(of.value)
            made = f"{name} = np.empty({whole}.shape[1:], {whole}.dtype)"
            yield from before(source, loop, s, made, [f"{name}[:] = {text}"])
        return
    value = source.text(s.value)
    if value is None or not isinstance(s.value, (ast.Call, ast.BinOp, ast.UnaryOp)):
        return
    filled = [out_into(source, s.value, name) or f"{name}[...] = {value}"]
    if isinstance(s.value, ast.BinOp) and (sign := SIGNS.get(type(s.value.op))) is not None:
        first, second = out_into(source, s.value.left, name), source.text(s.value.right)
        if first is not None and second is not None:
            filled = [first, f"{name} {sign}= {second}"]
    there = [n for n in sorted(reads(s.value)) if occurrences(source.node, n) > occurrences(loop, n) or n in arrays]
    for like in [n for n in [*there, *arrays] if n not in ("np", "numpy")][:3]:
        yield from before(source, loop, s, f"{name} = np.empty_like({like})", filled)


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
    elif isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in MAKES:
        fill = {"zeros_like": f"{name}[...] = 0", "ones_like": f"{name}[...] = 1"}.get(call.func.attr, "")
    filled = f"`{fill}` into line {s.lineno}" if fill else f"nothing into line {s.lineno}"
    made, caveat = [f"{name} = np.empty_like({other})"], NOT_RUN
    swap = f"{other}, {name} = {name}, {other}"
    argument = any(a.arg == other for a in ast.walk(source.node.args) if isinstance(a, ast.arg))
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
