"""Edits that may remove an allocation or a copy. Whether one does, and computes the same, is found by trying.

Each rule is a function of the syntax tree that proposes edits: a statement moves before or after another one of its
block, a copy is left out, what is returned is computed before a store, an array is made before the loop, an argument is
donated. A statement is moved only past those that neither bind a name that it reads or binds, nor read one that it
binds; what happens in memory the comparison of meanings tells.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from heapq import nsmallest
from types import MappingProxyType

from tracebuf.stories.edits import Change, Edit
from tracebuf.stories.lines import (
    COMPOUND,
    Cut,
    Line,
    Source,
    blocks,
    changed,
    cut,
    put_before,
    stands_alone,
    taken_out,
)  # fmt: skip
from tracebuf.stories.loops import Shapes, made_once
from tracebuf.stories.names import binds, copied, names_of, reads, rebinds, written
from tracebuf.stories.rooms import Rooms

REACH = 12
"""A statement moves past at most so many."""
MOST_MOVED = 4
"""So many statements are moved together at most."""
MOST_JOINED = 40
"""So many edits that move and leave out a copy are tried at most."""
_LEAVING = (ast.Return, ast.Break, ast.Continue, ast.Raise, ast.Assert)


def proposed(
    source: Source, told: Collection[int], arrays: Sequence[str], shapes: Shapes = MappingProxyType({}),
    rooms: Rooms = MappingProxyType({}),
) -> Iterator[Edit]:  # fmt: skip
    """All edits, those first that leave out a copy in lines that are `told` or add no array, then those that touch
    such lines, the small ones first; `arrays` are the parameters that may be donated, `shapes` and `rooms` what arrays
    the lines of loops make."""
    found = [*copies_left_out(source), *returns_before(source), *moves(source), *parts_before(source)]
    found += [*stored_early(source), *made_once(source, arrays, shapes, rooms)]
    yield from sorted(found, key=lambda e: order_of(e, {*told}))
    yield from donations(source, arrays)
    yield from joined(found, {*told})
    yield from both_once(found, {*told})


def order_of(edit: Edit, told: set[int]) -> tuple[int, int]:
    touched = len(lines_of(edit) & told)
    adds = any(c.last < c.first for c in edit.changes)
    least = edit.kind == "leave out a copy" or edit.kind == "allocate once" and not adds
    return -3 if touched and least else -min(2, touched), size(edit)


def joined(found: Sequence[Edit], told: set[int]) -> Iterator[Edit]:
    """A statement moves or a part of one is computed before, and in other lines a copy is left out or a value stored
    early: those pairs first that touch most of what is told."""
    kinds = ("move", "compute before"), ("leave out a copy", "store early")
    moving, whole = ([(e, lines_of(e), size(e)) for e in found if e.kind in ks] for ks in kinds)
    pairs = ((-min(3, len((a | b) & told)), m + n, i, j)
             for i, (_, a, m) in enumerate(moving) for j, (_, b, n) in enumerate(whole) if not a & b)  # fmt: skip
    for _, _, i, j in nsmallest(MOST_JOINED, pairs):
        move, copy = moving[i][0], whole[j][0]
        changes = tuple(sorted((*move.changes, *copy.changes), key=lambda c: c.first))
        yield Edit(move.kind, f"{move.text}, and {copy.text}", move.file, changes)


def both_once(found: Sequence[Edit], told: set[int]) -> Iterator[Edit]:
    """Two arrays of a loop are made once, of which one takes the place of the other where only that one is."""
    replaced = [(e, {c.first for c in e.changes if c.last >= c.first}) for e in found if e.kind == "allocate once"]
    once = [(e, lines, *made_before(e)) for e, lines in replaced if len(e.changes) > len(lines)]
    pairs = [(one, two) for (one, here, made, at), (two, there, made_, at_) in itertools.combinations(once, 2)
             if at == at_ and not here & there and (here | there) & told and made.split()[0] != made_.split()[0]
    ]  # fmt: skip
    for one, two in sorted(pairs, key=lambda pair: size(pair[0]) + size(pair[1]))[:MOST_JOINED]:
        changes = tuple(sorted((*one.changes, *two.changes), key=lambda c: c.first))
        caveat, runs_once = "; ".join(dict.fromkeys((one.caveat, two.caveat))), one.runs_once or two.runs_once
        text = f"{one.text}, and {two.text}"
        yield Edit(one.kind, text, one.file, changes, caveat=caveat, runs_once=runs_once)


def made_before(edit: Edit) -> tuple[str, int]:
    """The line that an edit puts before a loop, and where."""
    change = next(c for c in edit.changes if c.last < c.first)
    return change.after[0], change.first


def lines_of(edit: Edit) -> set[int]:
    """The lines that it changes, or puts others before."""
    return {n for c in edit.changes for n in range(c.first, max(c.last, c.first) + 1)}


def size(edit: Edit) -> int:
    """How many lines it takes out and puts in."""
    return sum(max(0, c.last - c.first + 1) + len(c.after) for c in edit.changes)


# -- statements
def moves(source: Source) -> Iterator[Edit]:
    """A statement before an earlier one of its block, with those between that must stay before it: because of the names
    that they bind, or because they write what it reads."""
    for block in blocks(source.node):
        for k in range(len(block)):
            for together in (passes, apart):
                taken = [k]
                for j in range(k - 1, max(-1, k - 1 - REACH), -1):
                    if all(together(block[i], block[j]) for i in taken):
                        if (edit := moved(source, block, taken, j)) is not None:
                            yield edit
                    elif len(taken) < MOST_MOVED and not leaves(block[j]):
                        taken.insert(0, j)
                    else:
                        break
        yield from moves_down(source, block)


def moves_down(source: Source, block: Sequence[ast.stmt]) -> Iterator[Edit]:
    """A statement that stores, behind several later ones: those go before it together."""
    for j, s in enumerate(block):
        if not written(s) or isinstance(s, COMPOUND):
            continue
        for k in range(j + 1, min(len(block), j + 1 + MOST_MOVED)):
            if not passes(s, block[k]):
                break
            if k > j + 1 and (edit := moved(source, block, list(range(j + 1, k + 1)), j)) is not None:
                yield edit


def stored_early(source: Source) -> Iterator[Edit]:
    """`d = expr`, where all of `x` is stored to later in the block: it is computed into `x`, of which `d` is a name."""
    for block in blocks(source.node):
        for k, s in enumerate(block):
            if not (isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name) and len(s.targets) == 1):
                continue
            name, value = s.targets[0].id, source.text(s.value)
            if value is None or not isinstance(s.value, ast.BinOp | ast.Call | ast.UnaryOp):
                continue
            for x in dict.fromkeys(n for later in block[k + 1 :] if (n := stored_whole(later)) is not None):
                texts = f"{x}[:] = {value}", f"{name} = {x}"
                new = cut(s, (f"\n{' ' * s.col_offset}" if source.begins_line(s) else "; ").join(texts))
                if x == name or new is None:
                    continue
                said = f"put `{texts[0]}` and `{texts[1]}` into line {s.lineno}"
                yield Edit("store early", said, source.file, changed(source, [new]))


def stored_whole(s: ast.stmt) -> str | None:
    """The array that a statement stores to as a whole: `x[:] = ...`."""
    target = s.targets[0] if isinstance(s, ast.Assign) and len(s.targets) == 1 else None
    if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
        return None
    index = target.slice
    whole = isinstance(index, ast.Slice) and (index.lower, index.upper, index.step) == (None, None, None)
    return target.value.id if whole or isinstance(index, ast.Constant) and index.value is ... else None


def moved(source: Source, block: Sequence[ast.stmt], taken: Sequence[int], j: int) -> Edit | None:
    """These statements go before another one."""
    target, alone = block[j], all(stands_alone(source, block, k) for k in taken)
    pieces: list[Cut | Line] = []
    for k in taken:
        if (out := taken_out(source, block, k)) is None:
            return None
        pieces += out
    if alone and source.begins_line(target):
        pieces += [Line(target.lineno, line) for k in taken for line in source.span(block[k])]
    else:
        texts = [source.text(block[k]) or "" for k in taken]
        if any(isinstance(block[k], COMPOUND) for k in taken) or any("\n" in t for t in texts):
            return None
        pieces += put_before(source, target, texts)
    said = [f"`{source.short(block[k])}`" for k in taken]
    numbers = [str(n) for n in dict.fromkeys(block[k].lineno for k in taken)]
    if numbers == [str(target.lineno)]:
        text = f"in line {target.lineno} move {' and '.join(said)} before `{source.short(target)}`"
    else:
        lines = f"line {numbers[0]}" if len(numbers) == 1 else f"lines {', '.join(numbers[:-1])} and {numbers[-1]}"
        text = f"move {lines} ({', '.join(said)}) before line {target.lineno} (`{source.short(target)}`)"
    return Edit("move", text, source.file, changed(source, pieces))


@lru_cache(4096)
def leaves(node: ast.stmt) -> bool:
    return any(isinstance(n, _LEAVING) for n in ast.walk(node))


def passes(moved: ast.stmt, other: ast.stmt) -> bool:
    """Whether names allow that two statements change places."""
    if leaves(moved) or leaves(other):
        return False
    return not (rebinds(other) & (reads(moved) | binds(moved)) or rebinds(moved) & (reads(other) | binds(other)))


def apart(moved: ast.stmt, other: ast.stmt) -> bool:
    """Whether two statements may change places, and neither writes to what the other names."""
    a, b = (reads(s) | binds(s) for s in (moved, other))
    return passes(moved, other) and not (written(moved) & b or written(other) & a)


def returns_before(source: Source) -> Iterator[Edit]:
    """What is returned at the end is computed before an earlier statement."""
    block = source.node.body
    last = block[-1]
    if not isinstance(last, ast.Return) or last.value is None or isinstance(last.value, (ast.Name, ast.Constant)):
        return
    name = next(n for n in ("result", "result_", "returned") if n not in names_of(source.node))
    wanted, value, new = reads(last), source.text(last.value), cut(last, f"return {name}")
    if value is None or new is None:
        return
    for k in range(len(block) - 2, max(-1, len(block) - 2 - REACH), -1):
        if rebinds(block[k]) & wanted or leaves(block[k]):
            return
        pieces = [*put_before(source, block[k], [f"{name} = {value}"]), new]
        text = f"compute `{source.short(last.value)}` before line {block[k].lineno}: put `{name} = {value}` there"
        text += f", and `return {name}` into line {last.lineno}"
        yield Edit("compute before", text, source.file, changed(source, pieces))


def parts_before(source: Source) -> Iterator[Edit]:
    """A call within a statement is made before an earlier statement of its block."""
    name = next(n for n in ("early", "early_", "computed") if n not in names_of(source.node))
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
    text, new = source.text(call), cut(call, name)
    rest = source.replaced(call, name)
    if text is None or new is None or rest is None:
        return
    for j in range(k - 1, max(-1, k - 1 - REACH), -1):
        if rebinds(block[j]) & reads(call) or leaves(block[j]):
            return
        made = f"{name} = {text}"
        pieces = [*put_before(source, block[j], [made]), new]
        said = f"compute `{text}` before line {block[j].lineno}: put `{made}` there"
        line = f"and `{rest.after[0].strip()}` into line {rest.first}"
        yield Edit("compute before", f"{said}, {line}", source.file, changed(source, pieces))


# -- copies
def copies_left_out(source: Source) -> Iterator[Edit]:
    for node in ast.walk(source.node):
        if (of := copied(node)) is None or not isinstance(node, ast.expr):
            continue
        text = source.text(of)
        simple = isinstance(of, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))
        change = source.replaced(node, text if simple else f"({text})") if text is not None else None
        if change is not None:
            before, after = source.lines[node.lineno - 1].strip(), change.after[0].strip()
            said = f"line {node.lineno}: `{before}` -> `{after}`"
            yield Edit("leave out a copy", said, source.file, (change,))


# -- arguments
def donations(source: Source, arrays: Sequence[str]) -> Iterator[Edit]:
    """The results may be computed in the memory of an argument that is not needed any more. Donated where that can
    be: in other calls (other layouts, loops that do not run) it may have to be kept, and `donate=` would raise."""
    for name in arrays:
        caveat = f"what `{name}` holds after the call is lost, and results may lie in its memory"
        changes: tuple[Change, ...] = ()
        text = f'bufferize it with donate_optional="{name}"'
        decorator = next((d for d in source.node.decorator_list if is_bufferize(d)), None)
        if decorator is not None and (new := with_donation(source, decorator, name)) is not None:
            change = source.replaced(decorator, new)
            if change is not None:
                changes, text = (change,), f"line {decorator.lineno}: `@{source.text(decorator)}` -> `@{new}`"
        yield Edit("donate", text, source.file, changes, {"donate_optional": (name,)}, caveat)


def with_donation(source: Source, decorator: ast.expr, name: str) -> str | None:
    """The decorator with one more argument that is donated where possible; None where its text does not say which
    are."""
    old = source.text(decorator)
    if old is None or "\n" in old:
        return None
    if not isinstance(decorator, ast.Call):
        return f'{old}(donate_optional="{name}")'
    given = next((k.value for k in decorator.keywords if k.arg == "donate_optional"), None)
    if given is None:
        inner = old.rstrip()[:-1].rstrip().rstrip(",")
        return f'{inner}{"" if inner.endswith("(") else ", "}donate_optional="{name}")'
    try:
        names = ast.literal_eval(given)
    except ValueError:
        return None
    names = (names,) if isinstance(names, str) else tuple(names)
    text, place = source.text(given), source.text(decorator)
    assert text is not None and place is not None
    start = len(place.encode()) - ((decorator.end_col_offset or 0) - given.col_offset)
    quoted = ", ".join(f'"{n}"' for n in (*names, name))
    raw = place.encode()
    return (raw[:start] + f"({quoted})".encode() + raw[start + len(text.encode()) :]).decode()


def is_bufferize(node: ast.expr) -> bool:
    called = node.func if isinstance(node, ast.Call) else node
    return getattr(called, "id", getattr(called, "attr", "")) == "bufferize"
