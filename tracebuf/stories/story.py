"""`stories` of a call: each allocation and copy that is left with its lines, what it takes, how often, why, and the
edit that would remove it; and what eager NumPy allocates that is gone."""

from __future__ import annotations

import ast
import linecache
import os
import re
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TextIO

import numpy as np

from tracebuf.analysis.one_shot.base import read_at
from tracebuf.explain.often import how_often
from tracebuf.explain.report import Entry, accesses, and_more, call_bytes, first_read, human, known, large_first
from tracebuf.frontends.numpy.source.source import read_source
from tracebuf.frozen import frozen
from tracebuf.ir.core import Op, Value
from tracebuf.ir.dims import symbols
from tracebuf.ir.func import Func
from tracebuf.ir.types import MemRefType, TensorType
from tracebuf.location import Location
from tracebuf.ops.arrays import linalg, tensor
from tracebuf.ops.memory import memref
from tracebuf.process.display import preformatted
from tracebuf.process.progress import step
from tracebuf.stages import examples
from tracebuf.stories.candidates import proposed
from tracebuf.stories.edits import Edit
from tracebuf.stories.lines import Source
from tracebuf.stories.meaning import Numbers, passes_on
from tracebuf.stories.rooms import Room, argument, room_of
from tracebuf.stories.saved import Saved, Step, by_line, eager_steps
from tracebuf.stories.trials import (
    Arguments,
    Variant,
    condition,
    difference,
    kept_by,
    measured,
    new_equal,
    once_is_less,
    removes,
    shown_size,
    tried,
    variant,
)  # fmt: skip

SECONDS = 10.0
"""How long edits are tried for."""
WHOLE = "is needed as a whole before"
ELSEWHERE = "stores is used elsewhere too"
"""Words of reasons."""
SMALL = 0.01
"""Lines that save less than this part of what eager allocates are not listed."""


@frozen(slots=False)
class Story:
    """One allocation or copy that is left, or an allocation with the copy into it.

    `written`, `read` and `defined` are the lines of the write that it avoids, of the read that still wants the old
    value, and of what that should see (None where there is none); `bytes` is what it takes once, in numbers (None where
    that varies) and as the formula `size`; `times` and `how_often` say how often it is made in a call; `rule` is what
    decided; `edit` would remove it; where that is None, `proof` says what demands it.
    """

    kind: str
    location: Location
    bytes: int | None
    size: str
    times: int | None
    how_often: str
    reason: str
    rule: str
    lives: str
    written: Location | None
    read: Location | None
    defined: Location | None
    edit: Edit | None
    proof: str | None
    entries: tuple[Entry, ...]

    @property
    def line(self) -> int:
        return self.location.line

    @property
    def lines(self) -> tuple[int, ...]:
        """All the lines that it names."""
        places = (self.location, self.written, self.read, self.defined)
        return tuple(sorted({p.line for p in places if p is not None and p.line}))

    def to_dict(self) -> dict[str, Any]:
        """All of it as data for JSON."""
        names = ("kind", "line", "bytes", "size", "times", "how_often", "reason", "rule", "lives", "proof")
        places = {n: None if (p := getattr(self, n)) is None else p.line for n in ("written", "read", "defined")}
        edit = None if self.edit is None else self.edit.to_dict()
        return {"file": self.location.file, **{n: getattr(self, n) for n in names}, **places, "edit": edit}

    @property
    def amount(self) -> float:
        """What it takes in a call, in bytes; infinite where that is not known."""
        return call_bytes(self.bytes, self.times, self.entries[0].in_loop)

    def told(self) -> list[tuple[str, str]]:
        """Its lines, each with a style: "head", "code", "edit", "proof" or ""."""
        amount = human(self.bytes) if self.bytes is not None else f"{self.size} bytes"
        formula = f" = {self.size}" if self.bytes is not None and not self.size.isdigit() else ""
        varies = ", in each iteration" if self.entries[0].in_loop else ", on some paths"
        often = "" if self.how_often == "1" else f", {self.how_often} times" if self.how_often else varies
        number = f" = {self.times:,}" if self.times is not None and str(self.times) != self.how_often else ""
        place = f" [{self.lives}]" if self.lives else ""
        found = [("head", f"line {self.line}: {self.kind} of {amount}{formula}{often}{number}{place}")]
        if source := linecache.getline(self.location.file, self.line).strip():
            found.append(("code", f"    {source}"))
        found.append(("", f"  why:  {self.reason}"))
        roles = {"written": "write", "read": "read", "defined": "definition"}
        lines = [f"{word} in line {p.line}" for n, word in roles.items() if (p := getattr(self, n)) is not None]
        if lines:
            found.append(("", f"        {', '.join(lines)} (rule: {self.rule})"))
        if self.edit is not None:
            saved = human(self.edit.saves) + (f" = {self.edit.formula}" if self.edit.formula else "")
            saved = f"{self.edit.formula} bytes" if self.bytes is None and self.edit.formula else saved
            found.append(("edit", f"  edit: {self.edit.text}"))
            holds = f", for {self.edit.condition}" if self.edit.condition else ""
            caveat = f"; {self.edit.caveat}" if self.edit.caveat else ""
            found.append(("edit", f"        saves {saved} in a call{holds}{caveat}"))
            if (worse := self.edit.eager_worse) != "":
                found.append(("proof", f"        eager NumPy {worse}"))
        elif self.proof is not None:
            found.append(("proof", f"  edit: none. {self.proof}"))
        return found

    def __str__(self) -> str:
        return "\n".join(text for _, text in self.told())


_STYLES = {"head": "1", "code": "36", "edit": "32", "proof": "33", "saved": "32"}
_COLOURS = {"head": "font-weight: bold", "code": "color: #06989a", "edit": "color: #2a8a2a", "proof": "color: #a06a00",
            "saved": "color: #2a8a2a"}  # fmt: skip


@frozen(slots=False)
class Stories:
    """The stories of a call, in program order, and by line what eager NumPy allocates that is gone (`saved`). `tried`
    is how many edits were tried, of how many (`proposed`): not all where each story has one, or time ran out."""

    name: str
    stories: tuple[Story, ...]
    saved: tuple[Saved, ...]
    tried: int
    proposed: int
    out_of_time: bool = False

    def __iter__(self) -> Any:
        return iter(self.stories)

    def __len__(self) -> int:
        return len(self.stories)

    def __getitem__(self, k: int) -> Story:
        return self.stories[k]

    @property
    def edits(self) -> tuple[Edit, ...]:
        """Those of all stories, each once."""
        return tuple({e.text: e for s in self.stories if (e := s.edit) is not None}.values())

    def to_dict(self) -> dict[str, Any]:
        """All of it as data for JSON."""
        return {"name": self.name, "stories": [s.to_dict() for s in self.stories], "tried": self.tried,
                "saved": [s.to_dict() for s in self.saved], "proposed": self.proposed}  # fmt: skip

    def told(self, all: bool = False) -> list[tuple[str, str]]:
        """Its lines, each with a style: those that take most first; small ones are counted only, but for `all`."""
        allocations = sum(s.kind.startswith("allocation") for s in self.stories)
        copies = sum(s.kind.endswith("copy") for s in self.stories)
        parts = [f"{n or 'no'} {word if n == 1 else words}" for n, word, words in (
            (allocations, "allocation", "allocations"), (copies, "copy", "copies"))]  # fmt: skip
        found = [("head", f"{self.name}: {', '.join(parts)} left")]
        shown, small = large_first(self.stories, lambda s: s.amount, all)
        for story in shown:
            found += [("", ""), *story.told()]
        found += [("", ""), ("", and_more(small))] if small else []
        if any(s.edit is not None and s.edit.axes for s in shown):
            found += [("", ""), ("", "(formulas are of arrays with two elements or more along each axis)")]
        if self.out_of_time:
            found += [("", ""), ("", f"(in the time there was, {self.tried} of {self.proposed} edits were tried)")]
        return [*found, *self.told_saved(all)]

    def told_saved(self, all: bool) -> list[tuple[str, str]]:
        part = 0 if all else SMALL * sum(s.bytes for s in self.saved)
        gone = [s for s in self.saved if s.saved_bytes is None or s.saved_bytes > part and s.bytes > 8 * s.allocations]
        if not gone:
            return []
        total = sum(s.saved_bytes or 0 for s in gone)
        amount = f": {human(total)} in a call" if total else ", by line:"
        found = [("", ""), ("head", f"saved beside NumPy{amount}")]
        shown, small = large_first(gone, lambda s: float(s.bytes if s.saved_bytes is None else s.saved_bytes), all)
        for s in shown:
            found += [("saved", f"  {s}"), ("code", f"    {s.source}")]
        return [*found, ("saved", f"  {and_more(small)}")] if small else found

    def text(self, all: bool = False) -> str:
        """The stories as text, those that take most first.

        Args:
            all: those of less than 1 KiB too, where there are larger ones.
        """
        return "\n".join(text for _, text in self.told(all))

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return str(self)

    def show(self, file: TextIO | None = None, all: bool = False) -> None:
        """Prints the stories, in colours on a terminal (not where the environment variable NO_COLOR is set).

        Args:
            file: where to; by default standard output.
            all: small ones too (see `text`).
        """
        out = sys.stdout if file is None else file
        coloured = out.isatty() and not os.environ.get("NO_COLOR")
        for style, text in self.told(all):
            code = _STYLES.get(style) if coloured else None
            print(f"\033[{code}m{text}\033[0m" if code else text, file=out)

    def _repr_html_(self) -> str:
        def line(style: str, text: str) -> str:
            inner = preformatted(text).partition(">")[2].rpartition("<")[0]
            return f'<span style="{_COLOURS[style]}">{inner}</span>' if style in _COLOURS else inner

        return f'<pre style="font-family: monospace">{chr(10).join(line(*row) for row in self.told())}</pre>'


# -- putting them together
def stories(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], seconds: float = SECONDS, saved: bool = True,
    base: Variant | None = None, numbers: Numbers | None = None,
) -> Stories:  # fmt: skip
    """The stories of a call of a bufferized function (see `BufferizedFunction.stories`); `saved`: with what is gone.
    `base` is its program where that is there, with the `numbers` of its meaning."""
    with examples(args, kwargs) as (args, kwargs, named):
        given: Arguments = (args, kwargs)
        numbers = {} if numbers is None else numbers
        if base is None:
            base = variant(type(f), f.__wrapped__, f.options, given, numbers, keep=True)
        groups = grouped(base)
        edits, tried_, all_, late = found_edits(f, base, groups, given, numbers, seconds)
        given_up = any(e.kind == "donate" for e in edits.values())
        tries, plain = (tried_, all_, given_up), named is not None
        told = tuple(story(base, group, edits.get(k), tries, plain) for k, group in enumerate(groups))
        gone = saved_lines(f, base, given) if saved and named is None else ()
    return Stories(f.__wrapped__.__name__, told, gone, tried_, all_, late)


Group = list[tuple[Op, Entry]]


def grouped(base: Variant) -> list[Group]:
    """The entries, an allocation with the copy into it together."""
    groups: list[Group] = []
    for op, entry in base.entries:
        last = groups[-1][0][1] if groups and len(groups[-1]) == 1 else None
        pair = last is not None and (last.kind, entry.kind) == ("allocation", "copy")
        if pair and last and all(getattr(last, n) == getattr(entry, n) for n in ("location", "reason", "size")):
            groups[-1].append((op, entry))
        else:
            groups.append([(op, entry)])
    return groups


def found_edits(
    f: Any, base: Variant, groups: Sequence[Group], given: Arguments, numbers: Numbers, seconds: float
) -> tuple[dict[int, Edit], int, int, bool]:
    """By number of the group the edit that removes it; how many were tried, of how many, and whether time ran out."""
    code = f.__wrapped__.__code__
    source = read_source(code, code.co_filename, code.co_firstlineno)
    if not groups or source is None or not isinstance(source.node, ast.FunctionDef) or base.impure:
        return {}, 0, 0, False
    told = {n for group in groups for n in lines_of(group[0][1])}
    text = Source(source.node, source.file, linecache.getlines(source.file))
    donated = {*base.options.donate, *base.options.donate_optional}
    names = [n for n in base.arrays if n not in donated]
    edits = list({e.text: e for e in proposed(text, told, names, *shapes_of(base))}.values())
    found: dict[int, Edit] = {}
    began, count = time.monotonic(), 0
    for edit in edits:
        if len(found) == len(groups):
            break
        if time.monotonic() - began > seconds:
            return found, count, len(edits), True
        count += 1
        step(f"edit {count} of {len(edits)}")
        open_ = [k for k in range(len(groups)) if k not in found]
        made = tried(base, edit, given, numbers)
        if made is None:
            continue
        left = {kind: base.count(kind) - made.count(kind) for kind in ("allocation", "copy")}
        for k in open_:
            entries = [e for _, e in groups[k]]
            lines = {n for e in entries for n in lines_of(e)[:1]}
            once = edit.kind in ("allocate once", "take turns") and entries[0].in_loop
            once = once and once_is_less(base, made, edit, lines, entries[0])
            fewer = left[entries[0].kind] > 0 and removes(base, made, edit, lines, entries[0])
            left[entries[0].kind] -= fewer
            if once or fewer:
                sure = measured(base, edit, given)
                if sure is not None and (equal := new_equal(base.guards, made.guards)):
                    only = "only where " + " and ".join(f"{shown_size(a)} == {shown_size(b)}" for a, b in equal)
                    sure = replace(sure, caveat="; ".join(filter(None, (sure.caveat, only))))
                if sure is not None:
                    formula = difference(base, made)
                    axes = " and ".join(f"{name} >= 2" for name in base.axes)
                    found[k] = sure
                    if formula:
                        found[k] = replace(sure, formula=formula, condition=condition(base, made), axes=axes)
    return found, count, len(edits), False


def shapes_of(base: Variant) -> tuple[dict[int, list[str]], dict[int, list[Room]]]:
    """By line of a loop, the empty arrays that it makes, as text: of those whose sizes arguments tell; and those whose
    sizes the loop counts."""
    params = base.function.__code__.co_varnames[: base.function.__code__.co_argcount]
    like = {a.type.element: f"{a.name}.dtype" for a in reversed(base.program.args)
            if isinstance(a.type, MemRefType) and a.name in params}  # fmt: skip
    found: dict[int, list[str]] = {}
    rooms: dict[int, list[Room]] = {}
    narrow = any(1 in a.type.shape for a in base.program.args if isinstance(a.type, MemRefType))
    for op, entry in base.entries:
        if not isinstance(op, memref.Alloc) or not entry.in_loop or not op.result.memref_type.shape:
            continue
        type_ = op.result.memref_type
        kind = type_.element.dtype
        dtype = like.get(type_.element) or ("bool" if kind == np.bool_ else f"np.{kind}")
        rooms.setdefault(entry.location.line, []).extend(room_of(type_, dtype, {*params}))
        if narrow and 1 in type_.shape:  # of an argument's axis, which has other sizes in other calls
            continue
        named = [argument(s.name) for d in type_.shape for s in symbols(d)]
        if not all(m is not None and m[1] in params for m in named):
            continue
        sizes = [re.sub(r"(\w+)\.(\d+)", r"\1.shape[\2]", str(d)) for d in type_.shape]
        sizes = [f"max({text}, 0)" if "-" in text else text for text in sizes]
        shape = sizes[0] if len(sizes) == 1 else f"({', '.join(sizes)})"
        found.setdefault(entry.location.line, []).append(f"np.empty({shape}, {dtype})")
    once = {line: list(dict.fromkeys(texts)) for line, texts in found.items()}
    return once, {line: list(dict.fromkeys(found)) for line, found in rooms.items()}


def lines_of(entry: Entry) -> list[int]:
    """The lines that an entry names: its own first."""
    words = [entry.reason, *map(str, entry.conflicts)]
    told = [int(n) for text in words for n in re.findall(r"\(line (\d+)\)", text)]
    return list(dict.fromkeys([entry.location.line, *told]))


def story(base: Variant, group: Group, edit: Edit | None, tries: tuple[int, int, bool], as_formulas: bool) -> Story:
    op, entry = group[0]
    often = how_often(op, base.program, base.sizes)
    times = None if often is None else known(often, {} if as_formulas else base.sizes)
    conflict = entry.conflicts[0] if entry.conflicts else None
    written, read, defined = places(op, entry)
    after = read is not None and WHOLE not in entry.reason and ELSEWHERE not in entry.reason
    rule = conflict.rule if conflict is not None else "read after write" if after else rule_of(entry)
    kind = "allocation and copy" if len(group) == 2 else entry.kind
    proof = None if edit is not None else proof_of(base, op, entry, (written, read, defined), *tries)
    return Story(
        kind, entry.location, None if as_formulas else entry.bytes, entry.size, times,
        "" if often is None else str(often), entry.reason, rule, entry.lives, written, read, defined, edit, proof,
        tuple(e for _, e in group),
    )  # fmt: skip


def places(op: Op, entry: Entry) -> tuple[Location | None, Location | None, Location | None]:
    """Of the write that it avoids, the read that wants what was there, and what made that."""
    file, name = entry.location.file, entry.location.function
    if entry.conflicts:
        c = entry.conflicts[0]
        read = read_at(c.read) if c.read is not None else None
        made = c.definition
        owner = None if made is None else made.owner if isinstance(made.owner, Op) else made.owner.parent_op
        return known_place(c.write.op.loc), known_place(read), known_place(None if owner is None else owner.loc)
    lines = [Location(file, int(n), function=name) for n in re.findall(r"\(line (\d+)\)", entry.reason)]
    if len(lines) == 2 and " overwrites " in entry.reason:
        return lines[0], lines[1], entry.location
    if len(lines) == 2 and WHOLE in entry.reason:
        return lines[0], lines[1], entry.location
    if len(lines) == 1 and ELSEWHERE in entry.reason:
        readers = accesses(op.result)[1] if isinstance(op, memref.Alloc) else []
        others = [at for r in readers if (at := first_read(r, op.result)).line not in (0, lines[0].line)]
        return lines[0], others[0] if others else None, entry.location
    if len(lines) == 1 and "is computed in a loop before" in entry.reason:
        return lines[0], None, entry.location
    if len(lines) == 1 and "stores over elements" in entry.reason:
        return lines[0], lines[0], entry.location if entry.location.line != lines[0].line else None
    return None, None, None


def known_place(location: Location | None) -> Location | None:
    return location if location is not None and location.line else None


def rule_of(entry: Entry) -> str:
    """Of an entry without a conflict."""
    if ELSEWHERE in entry.reason or "is computed in a loop before" in entry.reason:
        return "a value stored later"
    return {"result": "a new array is returned", "host call": "the called function makes it"}.get(
        entry.lives, "a value needed as a whole")  # fmt: skip


def proof_of(
    base: Variant, op: Op, entry: Entry, places: Sequence[Location | None], tried_: int, all_: int, donated: bool
) -> str:
    """Why the values themselves demand it, where that is known; that no edit was found, where it is not."""
    if base.impure:
        return f"It was not looked for: trials would call {base.impure} once more."
    (written, read, defined), here, why = places, base.function.__name__, ""
    if entry.location.function not in ("", here) and tried_:
        return f"Line {entry.location.line} is of another function than {here}; edits are tried in {here} alone."
    if entry.lives == "result" and not entry.in_loop:
        why = "The value is returned in an array of its own"
        why += ", and no argument's memory may take it" if tried_ == all_ and not donated else ""
    elif entry.lives == "host call":
        why = "The called function makes its result itself"
    elif written is not None and read is not None and written.line != read.line and not entry.in_loop and needs_both(
        base.traced, written, read, defined
    ):
        why = (f"Line {read.line} reads the old values beside what line {written.line} makes of them: "
               "both are there at once in every order of these lines")  # fmt: skip
    number = f"{tried_} {'was' if tried_ == 1 else 'were'} tried" if tried_ else "there was none to try"
    number = f"in the time there was {tried_} of {all_:,} were tried" if tried_ < all_ else number
    if why:
        return f"{why}; no edit was found ({number})."
    return f"No edit was found ({number}){because(base, op, entry, written, read)}."


def because(base: Variant, op: Op, entry: Entry, written: Location | None, read: Location | None) -> str:
    """What stands in the way, without being a proof; behind a colon."""
    if entry.in_loop and is_counted(base, op):
        return ": its size changes from iteration to iteration, and nothing before the loop is known to be as large"
    if entry.lives == "result":
        return ": each iteration makes an array, and the last one is returned"
    over = "stores over elements" in entry.reason or "also overwrites" in entry.reason
    if over and written is not None and read is not None and written.line == read.line:
        return (f": line {written.line} stores over elements that it reads, in one statement, all of whose values are "
                "computed before the first is stored")  # fmt: skip
    return ""


def is_counted(base: Variant, op: Op) -> bool:
    """Whether the size of an array is none of arguments, but one that a loop counts or finds."""
    shape = op.result.memref_type.shape if isinstance(op, memref.Alloc) else ()
    return any(s not in base.sizes for d in shape for s in symbols(d))


def needs_both(traced: Func, written: Location, read: Location, defined: Location | None) -> bool:
    """Whether an operation of the line that reads takes the whole of the old value, and what it takes besides is
    computed from the whole of what the write makes: then it comes after the write in every order, and the old value is
    there till then. Not told of loops, where a value may be that of another iteration."""
    by_line: dict[tuple[str, int], set[Op]] = {}
    for op in traced.block.ops:
        by_line.setdefault((op.loc.file, op.loc.line), set()).add(op)

    def at(place: Location | None) -> set[Op]:
        return set() if place is None else by_line.get((place.file, place.line), set())

    write, old = at(written), at(defined)
    if old & write:
        return False
    return any(not old.isdisjoint(taken_whole(op)) and comes_of(op, write) for op in at(read))


def comes_of(op: Op, wanted: set[Op]) -> bool:
    """Whether an operation is computed from the whole of what one of others makes."""
    pending, seen = taken_whole(op), {op}
    while pending:
        one = pending.pop()
        if one in wanted:
            return True
        if one not in seen:
            seen.add(one)
            pending += taken_whole(one)
    return False


def taken_whole(op: Op) -> list[Op]:
    """What makes the arrays that an operation on arrays takes whole."""
    if not isinstance(op, linalg.DestinationOp):
        return []
    read = [u.value for u in op.uses[: op.n_ins] if isinstance(u.value.type, TensorType) and u.value.tensor_type.shape]
    return [maker for v in read if isinstance(maker := stored(v).defining_op, linalg.DestinationOp)]


def stored(value: Value) -> Value:
    """What is stored, of an array that is stored to as a whole."""
    while isinstance(op := value.defining_op, tensor.InsertSlice) and (same := passes_on(op)) is not None:
        value = same
    return value


# -- what is gone
def steps_of(f: Any, base: Variant, given: Arguments) -> list[Step]:
    """The lines that eager NumPy runs, and what they allocate; none where the function cannot be run once more. Run
    once."""
    found: list[Step] | None = vars(base).get("_steps")
    if found is None:
        try:
            found = [] if base.impure else eager_steps(f.__wrapped__, given, kept_by(base, given))
        except Exception:  # of the user's function
            found = []
        vars(base)["_steps"] = found
    return found


def saved_lines(f: Any, base: Variant, given: Arguments) -> tuple[Saved, ...]:
    """By line what eager allocates, and what the program does; nothing where the function cannot be run once more."""
    eager = by_line(steps_of(f, base, given))
    left: dict[tuple[str, int], int | None] = {}
    for op, entry in base.entries:
        if entry.kind != "allocation":
            continue
        often = how_often(op, base.program, base.sizes)
        times = None if often is None else known(often, base.sizes)
        place = entry.location.file, entry.location.line
        before = left.get(place, 0)
        more = None if times is None or entry.bytes is None else times * entry.bytes
        left[place] = None if before is None or more is None else before + more
    return tuple(Saved(*place, *eager[place], left.get(place, 0)) for place in sorted(eager))


__all__ = ["Stories", "Story", "stories"]
