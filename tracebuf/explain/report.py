"""explain: every allocation and copy that is left in a memref program, with the user's line, its bytes and why it is
there; every host call, with the bytes that it reads and writes."""

from __future__ import annotations

import linecache
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import TypeVar

from tracebuf.analysis.cost.certificate import Certificate
from tracebuf.analysis.one_shot.base import Conflict, describe, read_at
from tracebuf.explain.often import how_often
from tracebuf.frozen import frozen
from tracebuf.ir.core import Effect, Op, Use, Value
from tracebuf.ir.dims import Dim, Sym, add, evaluate, symbols
from tracebuf.ir.func import Func
from tracebuf.ir.types import MemRefType
from tracebuf.location import Location
from tracebuf.ops.arrays import bufferization
from tracebuf.ops.arrays.host import HostCall
from tracebuf.ops.memory import memref
from tracebuf.process.display import displayed
from tracebuf.running.host import ROW, SortLoop

NEW = "a new array"
"""The reason of a `tensor.empty` that has no other."""
WHOLE = "a value needed as a whole before it is used"


@frozen(slots=False)
@displayed
class Entry:
    """One allocation, copy or host call. `bytes` is its size in this call (None where it varies while the function
    runs; `size` says how); `in_loop` where it happens in each iteration; `lives` is "result", "arena", "stack" or
    "host call" (of the called function) for allocations.
    """

    kind: str
    """"allocation", "copy" or "host call" (of the function that `reason` names; `bytes` are read and written)."""
    location: Location
    bytes: int | None
    size: str
    reason: str
    in_loop: bool
    lives: str = ""
    conflicts: tuple[Conflict, ...] = ()
    """Every conflict that would occur without it; none where it is not for a conflict."""

    read: int | None = None
    """Of a host call's bytes, those of the arrays that it reads."""
    times: int | None = None
    """How often a call makes it, where that is known."""

    @property
    def amount(self) -> float:
        """What it takes in a call, in bytes; infinite where that is not known."""
        return call_bytes(self.bytes, self.times, self.in_loop)

    def __str__(self) -> str:
        where = f"line {self.location.line}" if self.location.line else "?"
        amount = human(self.bytes) if self.bytes is not None else f"{self.size} bytes"
        again = " (each iteration)" if self.in_loop else ""
        source = linecache.getline(self.location.file, self.location.line).strip()
        place = f" [{self.lives}]" if self.lives else ""
        head = f"{where}: {self.kind} of {amount}{again}{place}: {self.reason}"
        if self.kind == "host call":
            traffic = amount
            if self.bytes is not None and self.read is not None:
                traffic = f"reads {human(self.read)}, writes {human(self.bytes - self.read)}"
            head = f"{where}: host call of {self.reason}{again}: {traffic}"
        return "\n".join([head, *([f"    {source}"] if source else []), *(f"    {line}" for line in self.more())])

    def more(self) -> list[str]:
        """Further conflicts in words, without duplicates."""
        return [f"and {text}" for text in dict.fromkeys(map(str, self.conflicts)) if text != self.reason]


@frozen(slots=False)
@displayed
class Explanation:
    """What a call still allocates and copies, and what it calls: `entries`, in program order. As text, what takes most
    stands first."""

    name: str
    entries: tuple[Entry, ...]
    certificate: Certificate | None = None
    """The certificate of `strategy="optimal"`."""
    donated: Mapping[str, str] = field(default_factory=dict)
    """For each argument that is donated in this call the reason why its memory is not reused, or "" where it is."""

    @property
    def allocations(self) -> tuple[Entry, ...]:
        return tuple(e for e in self.entries if e.kind == "allocation")

    @property
    def copies(self) -> tuple[Entry, ...]:
        return tuple(e for e in self.entries if e.kind == "copy")

    @property
    def host_calls(self) -> tuple[Entry, ...]:
        return tuple(e for e in self.entries if e.kind == "host call")

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """Those of all entries, each once."""
        return tuple(dict.fromkeys(c for e in self.entries for c in e.conflicts))

    def __str__(self) -> str:
        return self.text()

    def text(self, all: bool = False) -> str:
        """All of it as text, what takes most first.

        Args:
            all: what takes less than 1 KiB too, where there is more.
        """
        head = f"{self.name}: no allocations, no copies"
        if self.entries:
            head = f"{self.name}: {count(self.allocations, 'allocation')}, {count(self.copies, 'copy')}"
            head += f", {count(self.host_calls, 'host call')}" if self.host_calls else ""
        end = [f"`{x}` is donated {f'to no use: {why}' if why else 'and used'}" for x, why in self.donated.items()]
        end += [] if self.certificate is None else [str(self.certificate)]
        shown, small = large_first(self.entries, lambda e: e.amount, all)
        end = [and_more(small), *end] if small else end
        return "\n".join([head, *map(str, shown), *end])


LITTLE = 1024
"""What takes less bytes in a call is counted only, beside what takes more."""
T = TypeVar("T")


def large_first(items: Sequence[T], amount: Callable[[T], float], all: bool) -> tuple[list[T], int]:
    """What is shown, that of most bytes first, and how many small ones are not."""
    ordered = sorted(items, key=lambda x: -amount(x))
    large = [x for x in ordered if amount(x) >= LITTLE]
    return (ordered, 0) if all or not large else (large, len(ordered) - len(large))


def and_more(count: int) -> str:
    return f"and {count} more below {human(LITTLE).replace('.0', '')}: text(all=True) has all"


def call_bytes(once: int | None, times: int | None, in_loop: bool) -> float:
    """The bytes of a call; where it is not known how often a loop runs, those of one iteration, and no small number."""
    if once is None:
        return math.inf
    return max(once, LITTLE) if times is None and in_loop else once * (1 if times is None else times)


def count(entries: tuple[Entry, ...], noun: str) -> str:
    n = len(entries)
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{n or 'no'} {noun if n == 1 else plural}"


def human(n: float) -> str:
    """Bytes with a unit."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if n < 1024 or unit == "GiB":
            return f"{n:.0f} {unit}" if unit == "B" else f"{n:.1f} {unit}"
        n /= 1024
    raise AssertionError


def explain(func: Func, env: Mapping[Sym, int]) -> Explanation:
    """The report of a memref program; `env` has the call's sizes. Entries of no bytes are left out."""
    found = [(op, e) for op, e in all_entries(func, env) if e.bytes != 0 or e.kind == "host call"]
    entries = [replace(e, times=known(often, env) if (often := how_often(op, func, env)) is not None else None)
               for op, e in found]  # fmt: skip
    arguments = zip(func.args, func.arg_attrs, strict=True)
    donated = {a.name: attrs.get("tracebuf.unused", "") for a, attrs in arguments if "tracebuf.donated" in attrs}
    return Explanation(func.name, tuple(entries), func.attrs.get("certificate"), donated)


def all_entries(func: Func, env: Mapping[Sym, int]) -> Iterator[tuple[Op, Entry]]:
    """All entries, each with the op that it tells of; those of no bytes too."""
    for op in func.walk():
        entry = entry_of(op, env)
        yield from [] if entry is None else [(op, entry)]
        yield from ((op, made) for made in (made_by_callee(op, env) if isinstance(op, HostCall) else []))


def entry_of(op: Op, env: Mapping[Sym, int]) -> Entry | None:
    """The entry of an allocation, a copy or a host call; None for other ops, for the stack, and for the program's own
    stores."""
    if isinstance(op, HostCall):
        read, written = (traffic(uses) for uses in ([u for u in op.uses if op.reads(u)], op.out_uses))
        size, name = add(read, written), str(op.callee)
        return Entry("host call", op.loc, known(size, env), str(size), name, in_loop(op), read=known(read, env))
    if isinstance(op, memref.Alloc) and not isinstance(op, memref.Alloca):
        kind = "arena" if "roams" in op.attrs else op.attrs.get("kind", "")
        lives = "" if "given" in op.attrs else {"array": "result", "arena": "arena"}.get(kind, "")
        size = op.result.memref_type.byte_size
        reason = op.attrs.get("reason", NEW)
        if reason == NEW:
            reason = "the array that is returned" if lives == "result" else needed_whole(op)
        conflicts = conflicts_of(op)
        reason = str(conflicts[0]) if conflicts else reason
        return Entry("allocation", op.loc, known(size, env), str(size), reason, in_loop(op), lives, conflicts)
    if isinstance(op, bufferization.Clone) or (isinstance(op, memref.Copy) and op.attrs.get("reason") != "store"):
        size = op.operand(0).memref_type.byte_size
        conflicts = conflicts_of(op)
        reason = str(conflicts[0]) if conflicts else op.attrs.get("reason", "a result of its own")
        return Entry("copy", op.loc, known(size, env), str(size), reason, in_loop(op), conflicts=conflicts)
    return None


def needed_whole(op: memref.Alloc) -> str:
    """Why a value that conflicts with nothing has memory: what writes it, and what reads it then."""
    writers, readers = accesses(op.result)
    writer = next((w for w in writers if w.loc.line), op)
    places = {r: first_read(r, op.result) for r in readers}
    after = [r for r in readers if r not in writers and places[r].line] or [r for r in readers if places[r].line]
    first = next((r for r in after if places[r] != writer.loc), after[0] if after else None)
    if first is None or not writer.loc.line:
        return WHOLE
    read = describe(places[first])
    if (over := overwriting(writer, places[first])) is not None:
        return f"{describe(over.loc)} overwrites what the value is computed from before {read} reads it"
    if places[first].line != writer.loc.line and first in written_to(writer):
        return f"{describe(first.loc)} stores over elements that the value is computed from"
    whole = f"{describe(writer.loc)} is needed as a whole before"
    if places[first] == writer.loc or read == describe(writer.loc):
        return f"{whole} the rest of it (line {places[first].line}) reads it"
    return f"{whole} {read} reads it"


def first_read(op: Op, buffer: Value) -> Location:
    """Where the source first reads a buffer that an op reads."""
    through = reached(buffer)
    places = [loc for u in op.uses if u.value in through and (loc := read_at(u)).line]
    return min(places, key=lambda loc: (loc.line, loc.column), default=op.loc)


def overwriting(writer: Op, last: Location) -> Op | None:
    """What writes, in a line before the last one, to something that a value is computed from: what does so first."""
    first, found = writer.loc, list[Op]()
    for op in written_to(writer):
        if op.loc.file == first.file == last.file and first.line < op.loc.line < last.line:
            found.append(op)
    return min(found, key=lambda op: op.loc.line, default=None)


def written_to(op: Op) -> list[Op]:
    """What writes to the buffers that an op reads."""
    read = [v for effect, v in op.effects() or () if effect is Effect.READ and v is not None]
    buffers = dict.fromkeys(memref.base_of(v) for v in read if isinstance(v.type, MemRefType))
    return [writer for buffer in buffers for writer in accesses(buffer)[0]]


def accesses(buffer: Value) -> tuple[list[Op], list[Op]]:
    """The ops that write to a buffer, and those that read it, through views of it, loops and branches too."""
    writers, readers = list[Op](), list[Op]()
    for value in reached(buffer):
        for use in value.uses:
            done = {effect for effect, on in use.op.effects() or () if on is value}
            if isinstance(use.op, HostCall):
                done |= {Effect.READ} if use.op.reads(use) else set()
                done |= {Effect.WRITE} if use in use.op.out_uses else set()
            writers += [use.op] if Effect.WRITE in done else []
            readers += [use.op] if Effect.READ in done else []
    return writers, readers


def reached(buffer: Value) -> dict[Value, None]:
    """A buffer, and what it is called in views, loops and branches."""
    pending, seen = [buffer], {buffer: None}
    while pending:
        for use in pending.pop(0).uses:
            through = use.op.results if isinstance(use.op, memref.VIEW_OPS) else received(use)
            pending += [v for v in through if v not in seen]
            seen.update(dict.fromkeys(through))
    return seen


def received(use: Use) -> list[Value]:
    """What an operand becomes within loops and branches, and behind them."""
    op = use.op.parent_op if use.op.terminator else use.op
    flows = op.flows() if op is not None and op.regions else None
    return [v for f in flows or () for passed, v in zip(f.passed, f.received) if passed is use]


def made_by_callee(op: HostCall, env: Mapping[Sym, int]) -> list[Entry]:
    """The arrays that a called function makes for its results, which are copied into buffers of the program."""
    if isinstance(op.loop, SortLoop):
        row = known(op.operand(0).memref_type.shape[-1], env)
        if row is not None and row <= ROW:
            return []
    copied = [u.value.memref_type for k, u in enumerate(op.out_uses[: op.makes]) if k not in op.given_outs]
    sizes = [type_.byte_size for type_ in copied if type_.rank]
    reason = f"{op.callee} makes its result, which is copied"
    return [
        Entry("allocation", op.loc, known(size, env), str(size), reason, in_loop(op), "host call") for size in sizes
    ]


def traffic(uses: Sequence[Use]) -> Dim:
    """The bytes of these operands."""
    total: Dim = 0
    for use in uses:
        total = add(total, use.value.memref_type.byte_size if isinstance(use.value.type, MemRefType) else 0)
    return total


def conflicts_of(op: Op) -> tuple[Conflict, ...]:
    """All the conflicts that this allocation or copy avoids."""
    ask = op.attrs.get("conflicts")
    return () if ask is None else ask()


def known(size: Dim, env: Mapping[Sym, int]) -> int | None:
    fixed = {s: s.lo for s in symbols(size) if s.lo is not None and s.lo == s.hi}
    if not all(s in env or s in fixed for s in symbols(size)):
        return None
    return evaluate(size, {**env, **fixed})


def in_loop(op: Op) -> bool:
    parent = op.parent_op
    while parent is not None:
        if parent.repetitive:
            return True
        parent = parent.parent_op
    return False
