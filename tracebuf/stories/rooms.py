"""Arrays whose sizes a loop counts, such as `np.zeros(i)`: an array that has room for the largest of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from tracebuf.frozen import frozen
from tracebuf.ir.dims import Expr, Sym, symbols, terms_of
from tracebuf.ir.types import MemRefType
from tracebuf.stories.lines import Source
from tracebuf.stories.names import binds, reads


@frozen()
class Room:
    """The one size of an array as text, which rises or falls with the variable of a loop; and its dtype."""

    variable: str
    size: str
    rises: bool
    dtype: str


Rooms = Mapping[int, Sequence[Room]]
"""By line of a loop, the arrays of such sizes that it makes."""


def room_of(type_: MemRefType, dtype: str, known: set[str]) -> Iterator[Room]:
    """The array of a type of one axis, if its size counts with one loop, and is else of `known` names."""
    size = type_.shape[0] if len(type_.shape) == 1 else None
    if not isinstance(size, Expr):
        return
    counts = [s for s in symbols(size) if s.kind == "iv"]
    rest = [s.name for s in symbols(size) if s.kind != "iv"]
    if len(counts) != 1 or not all(m is not None and m[1] in known for m in map(argument, rest)):
        return
    terms = terms_of(size)
    step = terms.get((counts[0],), 0)
    if step and not any(counts[0] in within(a) for atoms in terms if atoms != (counts[0],) for a in atoms):
        text = re.sub(r"(\w+)\.(\d+)", r"\1.shape[\2]", str(size))
        yield Room(counts[0].name, text, step > 0, dtype)


def within(atom: object) -> frozenset[Sym]:
    return frozenset((atom,)) if isinstance(atom, Sym) else getattr(atom, "symbols", frozenset())


def argument(name: str) -> re.Match[str] | None:
    """The name of an argument in that of a size: `len(u)`, `u.1`, `n`."""
    return re.match(r"(?:len\()?(\w+)", name)


def large_enough(source: Source, loop: ast.For | ast.While, room: Room) -> str | None:
    """The text of an empty array with room for what each iteration of `for i in range(...)` makes; None of others."""
    call = loop.iter if isinstance(loop, ast.For) else None
    if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name) or loop.target.id != room.variable:
        return None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id != "range":
        return None
    if len(call.args) not in (1, 2) or any(reads(a) & binds(loop) for a in call.args):
        return None
    first = source.text(call.args[0]) if len(call.args) == 2 else "0"
    end = source.text(call.args[-1])
    if first is None or end is None:
        return None
    worst = f"({end} - 1)" if room.rises else first if first.isidentifier() or first.isdigit() else f"({first})"
    size = re.sub(rf"\b{room.variable}\b", worst, room.size).replace(f"({end} - 1) + 1", end).removesuffix(" - 0")
    size = size[1:-1] if size == worst and room.rises else size
    natural = re.fullmatch(r"len\(\w+\)|\w+\.shape\[\d+\]", size)
    return f"np.empty({size if natural else f'max({size}, 0)'}, {room.dtype})"


def parts_of(source: Source, s: ast.stmt, bound: Collection[str], arrays: Sequence[str]) -> Iterator[tuple[Room, str]]:
    """Of a statement with a part of an argument (`x[:k] * 2`, with `k` of the loop), which is never larger than that:
    an array like the part, and the text of an empty one like the argument."""
    for part in ast.walk(s):
        if not isinstance(part, ast.Subscript) or not isinstance(part.value, ast.Name) or part.value.id not in arrays:
            continue
        text, name = source.text(part), part.value.id
        if (
            text is not None
            and isinstance(part.slice, ast.Slice)
            and isinstance(part.ctx, ast.Load)
            and (name not in bound and reads(part.slice) & {*bound})
        ):
            yield Room("", f"len({text})", True, f"{name}.dtype"), f"np.empty({name}.shape, {name}.dtype)"
            return
