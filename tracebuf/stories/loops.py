"""Edits of loops: an array that each iteration makes is made once, before the loop.

`w = expr` becomes `w[...] = expr`, or has `out=w`; a value that is stored over elements it is computed from goes
through an array of its own. An array whose size the loop counts is a part of one that is large enough.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TypeGuard

import numpy as np

from tracebuf.stories.edits import Edit
from tracebuf.stories.lines import Cut, Source, blocks, changed, cut, put_before
from tracebuf.stories.names import binds, copied, names_of, occurrences, reads, written
from tracebuf.stories.rooms import Room, Rooms, large_enough, parts_of
from tracebuf.stories.turns import NOT_RUN, Loop, filled_with, in_place_of, is_a_copy, own_turns, turns

OUT = {"dot", "matmul", "cumsum", "cumprod", "take", "clip", "sum", "mean", "max", "min", "prod", "compress", "choose"}
"""Functions of NumPy with `out=` that are no ufuncs."""
SIGNS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
UFUNCS: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide"}  # fmt: skip
COMPARES: dict[type[ast.cmpop], str] = {
    ast.Eq: "equal", ast.NotEq: "not_equal", ast.Lt: "less", ast.LtE: "less_equal", ast.Gt: "greater",
    ast.GtE: "greater_equal"}  # fmt: skip
Shapes = Mapping[int, Sequence[str]]
"""By line of a loop, texts of empty arrays such as the line makes: `np.empty(len(x), x.dtype)`."""


def made_once(
    source: Source, arrays: Sequence[str], shapes: Shapes = MappingProxyType({}), rooms: Rooms = MappingProxyType({})
) -> Iterator[Edit]:
    """All of them; `arrays` are the parameters that are arrays."""
    everywhere = names_of(source.node)
    fresh = next(n for n in ("scratch", "scratch_", "made_before") if n not in everywhere)
    for loop in ast.walk(source.node):
        if not isinstance(loop, Loop):
            continue
        bound = {n for s in loop.body for n in binds(s)} | (binds(loop.target) if isinstance(loop, ast.For) else set())
        for s in (s for block in blocks(loop) for s in block):
            made = shapes.get(s.lineno, ())
            yield from parts_once(source, loop, s, [(text, fresh) for text in made], fresh)
            found = [(room, large) for room in rooms.get(s.lineno, ()) if (large := large_enough(source, loop, room))]
            found += [] if found or s.lineno not in rooms else list(parts_of(source, s, bound, arrays))
            yield from parts_once(source, loop, s, [(large, f"{fresh}[:{room.size}]") for room, large in found], fresh)
            if isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Subscript) and s.lineno == s.end_lineno:
                yield from through(source, loop, s, s.target, bound, fresh)
            if not isinstance(s, ast.Assign) or len(s.targets) != 1 or s.lineno != s.end_lineno:
                continue
            target = s.targets[0]
            if isinstance(target, ast.Name):
                yield from kept(source, loop, s, target.id, bound, arrays, made)
                yield from in_rooms(source, loop, s, target.id, found, fresh)
                if target.id in arrays and target.id not in reads(s.value):
                    yield from argument_kept(source, loop, s, target.id)
                if s in loop.body:
                    ways = ways_into(source, s.value, target.id)
                    first = ways[:1] if is_product(s.value) else []  # which takes no array besides
                    yield from turns(source, loop, loop.body.index(s), target.id, ways[1:], first)
                    for fills in ways_into(source, s.value, fresh) if target.id in reads(s.value) else []:
                        yield from own_turns(source, loop, s, target.id, fills, fresh)
            elif isinstance(target, ast.Subscript):
                yield from through(source, loop, s, target, bound, fresh)


def argument_kept(source: Source, loop: Loop, s: ast.Assign, name: str) -> Iterator[Edit]:
    """`u = expr`, where `u` is an argument before: a copy of it, into which each iteration computes."""
    stored = any(name in written(b) for b in source.node.body if b is not loop)
    for fills in [] if stored or loop not in source.node.body else ways_into(source, s.value, name):
        for edit in before(source, loop, s, f"{name} = {name}.copy()", fills):
            yield replace(edit, caveat=is_a_copy(name), runs_once=True)


def in_rooms(
    source: Source, loop: Loop, s: ast.Assign, name: str, found: Sequence[tuple[Room, str]], fresh: str
) -> Iterator[Edit]:
    """`w = expr`, of a size that the loop counts: `w` is the first part of an array from before the loop."""
    ways = [[]] if filled_with(s.value) == "" else ways_into(source, s.value, name)
    if name in reads(s.value) or occurrences(source.node, name) != occurrences(loop, name):
        return
    for room, large in found:
        for fills in ways:
            yield from before(source, loop, s, f"{fresh} = {large}", [f"{name} = {fresh}[:{room.size}]", *fills])


def parts_once(source: Source, loop: Loop, s: ast.stmt, made: Sequence[tuple[str, str]], fresh: str) -> Iterator[Edit]:
    """A product or a running sum within a statement is computed into one array, or a part of it: `made` has the texts
    of both."""
    value = getattr(s, "value", None)
    if not made or not isinstance(s, ast.Assign | ast.AugAssign) or value is None or s.lineno != s.end_lineno:
        return
    for part in ast.walk(value):
        if part is value and isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name):
            continue
        if not isinstance(part, ast.expr) or not is_product(part) and not named_out(part):
            continue
        for text, place in made:
            first, new = out_into(source, part, place), cut(part, place)
            if first is not None and new is not None:
                yield from before(source, loop, s, f"{fresh} = {text}", [first, spliced_value(source, s, new)])


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
    for way in ways_into(source, s.value, name):
        for text in [*made, *shapes]:
            yield from before(source, loop, s, f"{name} = {text}", way)
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


def likes(source: Source, loop: Loop, s: ast.Assign, bound: set[str], arrays: Sequence[str]) -> list[str]:
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


def ways_into(source: Source, value: ast.expr, name: str) -> list[list[str]]:
    """Ways to compute an expression into an array: `computed_into`; and what `f(x) + y` begins with, then the rest."""
    found = [fills] if (fills := computed_into(source, value, name)) else []
    if isinstance(value, ast.BinOp) and isinstance(value.left, ast.Call) and name not in reads(value.right):
        left, right, sign = source.text(value.left), source.text(value.right), SIGNS.get(type(value.op))
        if left is not None and right is not None and sign is not None and len(found[0]) == 1:
            found.append([f"{name}[...] = {left}", f"{name} {sign}= {right}"])
    return found


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


def through(
    source: Source, loop: Loop, s: ast.Assign | ast.AugAssign, target: ast.Subscript, bound: set[str], name: str
) -> Iterator[Edit]:
    """`x[i:j] = expr`, or `+=`, of elements that it overwrites: computed into one array, then stored."""
    place, value = source.text(target), source.text(copied(s.value) or s.value)
    like, sign = empty_like(target, bound), ""
    if isinstance(s, ast.AugAssign):
        if (op := SIGNS.get(type(s.op))) is None:
            return
        sign = op
    if place is not None and value is not None and like is not None and reads(target.value) & reads(s.value):
        for fills in [[f"{name}[...] = {value}"], *ways_into(source, s.value, name)[1:]]:
            yield from before(source, loop, s, f"{name} = {like}", [*fills, f"{place} {sign}= {name}"])
