"""Edits of loops in which an array takes another's place in each iteration: two arrays take turns,
`u, new = new, u`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tracebuf.stories.edits import Edit
from tracebuf.stories.lines import Cut, Source, changed, cut, put_before
from tracebuf.stories.names import copied, occurrences, written

Loop = ast.For | ast.While
FILLED = {"zeros": "0", "zeros_like": "0", "ones": "1", "ones_like": "1", "empty": "", "empty_like": ""}
"""What new arrays of NumPy's are filled with."""
NOT_RUN = "takes an array more where the loop does not run"


def filled_with(call: ast.expr) -> str | None:
    """What an expression fills a new array with: "" for nothing, None for what makes no new array."""
    return FILLED.get(call.func.attr) if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None


def is_a_copy(name: str) -> str:
    """What is not as before where an argument is copied before a loop."""
    return f"where the loop does not run, `{name}` is a copy then; takes an array more where it runs once"


def in_place_of(source: Source, s: ast.stmt, instead: Sequence[str]) -> str:
    """The text of statements that take the place of one."""
    return (f"\n{' ' * s.col_offset}" if source.begins_line(s) else "; ").join(instead)


def turns(
    source: Source, loop: Loop, k: int, name: str, ways: Sequence[Sequence[str]] = (),
    first: Sequence[Sequence[str]] = (),
) -> Iterator[Edit]:  # fmt: skip
    """`new = u.copy()` (or an empty array like u, or a value), later in the iteration `u = new`: two arrays that take
    turns. Two new ones where `u` is an argument, which is not to be stored to. `ways`: others to compute it; `first`:
    better ones."""
    s, last, other = loop.body[k], loop.body[-1], None
    assert isinstance(s, ast.Assign)
    value = source.text(s.value)
    for later in loop.body[k + 1 :]:
        if isinstance(later, ast.Assign) and len(later.targets) == 1 and isinstance(later.targets[0], ast.Name):
            if isinstance(later.value, ast.Name) and later.value.id == name:
                last, other = later, later.targets[0].id
    if other is None or value is None or occurrences(source.node, name) != occurrences(loop, name):
        return
    fill, call = f"{name}[...] = {value}", s.value
    if (of := copied(call)) is not None:
        fill = f"{name}[...] = {ast.unparse(of)}"
    elif (number := filled_with(call)) is not None:
        fill = f"{name}[...] = {number}" if number else ""
    for fills in [*first, [fill], *ways]:
        cuts = cut(s, in_place_of(source, s, fills)), cut(last, f"{other}, {name} = {name}, {other}")
        filled = " and ".join(f"`{text}`" for text in fills) if fill else "nothing"
        if cuts[0] is not None and cuts[1] is not None:
            said = f"{filled} into line {s.lineno}, and `{cuts[1].text}` into line {last.lineno}"
            yield from two_arrays(source, loop, other, name, [cuts[0], cuts[1]], said)


def own_turns(
    source: Source, loop: Loop, s: ast.Assign, name: str, fills: Sequence[str], fresh: str
) -> Iterator[Edit]:
    """`u = expr` of `u`, which these statements compute into another array: the two take turns."""
    texts = [*fills, f"{name}, {fresh} = {fresh}, {name}"]
    new = cut(s, in_place_of(source, s, texts))
    if new is not None:
        said = f"{' and '.join(f'`{text}`' for text in texts)} into line {s.lineno}"
        yield from two_arrays(source, loop, name, fresh, [new], said)


def two_arrays(
    source: Source, loop: Loop, other: str, name: str, cuts: Sequence[Cut], said: str
) -> Iterator[Edit]:
    """The edit by which two arrays take turns, with the one of them that is made before the loop."""
    made, caveat = [f"{name} = np.empty_like({other})"], NOT_RUN
    argument = any(a.arg == other for a in ast.walk(source.node.args) if isinstance(a, ast.arg))
    stored = any(other in written(b) for b in source.node.body if b is not loop)
    if argument and (stored or loop not in source.node.body):
        return  # where the loop does not run, that would be stored to the argument itself
    if argument:  # which is not to be stored to
        made.append(f"{other} = {other}.copy()")
        caveat = is_a_copy(other).replace(";", ", beside another array;")
    shown = " and ".join(f"`{text}`" for text in made)
    text = f"put {shown} before the loop in line {loop.lineno}, {said}"
    changes = changed(source, [*put_before(source, loop, made), *cuts])
    yield Edit("take turns", text, source.file, changes, caveat=caveat, runs_once=argument)
