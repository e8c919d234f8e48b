"""Where buffers of varying sizes are in their block (`Roaming`): native functions that keep a table of those in use.

The slot of the block has its pointer, its capacity, how far it would have to reach, and the most bytes that were in use
at once; each slot of the table a buffer's pointer (or 0), 0, and the end and the beginning of its place. Places are
counted from the beginning of the block, or, where they are negative, from its end, so that they do not depend on how
large it is: where it is as large as one call needed, all buffers of an equal call are in it.
"""

from __future__ import annotations

from functools import cache

from tracebuf.backend.llvm import abi
from tracebuf.backend.llvm.entry_words import Writer
from tracebuf.backend.llvm.jit import Library, compile_module

POINTER, ROOM, REACH, MOST = range(4)
END, BEGIN = REACH, MOST
SIGNATURES = {
    "roaming_place": "ptr @(ptr, i64, i64, i64) nounwind",
    "roaming_rename": "void @(ptr, i64, ptr, ptr) nounwind",
}
PENDING = 1
"""The pointer of a buffer outside that is not made yet."""


@cache
def _native() -> Library:
    return compile_module(f"{place()}\n{rename()}", "roaming", speed_level=1).pin()


def address_of(name: str) -> int:
    """The address of one of the functions, which are compiled once."""
    return _native().address(name)


def place() -> str:
    """The pointer for %n bytes, null where the block has no room for them, beside %other bytes of arrays."""
    c = Writer("define ptr @roaming_place(ptr %block, i64 %count, i64 %n, i64 %other) nounwind")
    low, high, total = c.variable(0), c.variable(0), c.variable(c.add("%n", "%other"))
    free = c.variable("null", "ptr")
    with c.loop("%count") as each:
        entry = _entry(c, each.index)
        none = c.is_null(c.pointer(entry))
        with c.when(none):
            c.let(free, entry, "ptr")
        with c.when(c.inst(f"xor i1 {none}, true")):
            end, begin = c.word(entry, END), c.word(entry, BEGIN)
            c.let(high, c.greatest(c.get(high), end))
            c.let(low, _least(c, c.get(low), begin))
            c.let(total, c.add(c.get(total), c.sub(end, begin)))
    top, bottom = c.get(high), c.get(low)
    farther = c.icmp("sgt", top, c.sub("0", bottom))
    best, chosen = c.variable(2**62), c.variable(0)
    with c.loop(c.inst(f"shl i64 {c.add('%count', '1')}, 1")) as each:
        _try(c, each.index, top, bottom, farther, best, chosen)
    at, entry = c.get(chosen), c.get(free, "ptr")
    reach = c.inst(f"ashr i64 {c.get(best)}, 1")
    room = c.word("%block", ROOM)
    c.put("%block", REACH, c.greatest(c.word("%block", REACH), reach))
    c.put("%block", MOST, c.greatest(c.word("%block", MOST), c.get(total)))
    offset = c.select(c.icmp("slt", at, "0"), "i64", c.add(room, at), at)
    here = c.offset(c.pointer("%block"), "i8", offset)
    found = c.variable("null", "ptr")
    with c.when(c.icmp("ne", entry, "null", "ptr")):
        fits = c.icmp("sle", reach, room)
        c.put(entry, POINTER, c.select(fits, "ptr", here, f"inttoptr (i64 {PENDING} to ptr)"), "ptr")
        c.put(entry, END, c.add(at, "%n"))
        c.put(entry, BEGIN, at)
        c.let(found, c.select(fits, "ptr", here, "null"), "ptr")
    c.do(f"ret ptr {c.get(found, 'ptr')}")
    return c.function()


def _try(c: Writer, k: str, top: str, bottom: str, farther: str, best: str, chosen: str) -> None:
    """Candidate k: above or below a buffer in use, or at one of the ends; it is to reach the least, and then to be at
    the end from where less is in use."""
    j = c.inst(f"ashr i64 {k}, 1")
    entry = _entry(c, c.sub(j, "1"))
    at_end = c.icmp("eq", j, "0")
    known = c.either(at_end, c.icmp("ne", c.pointer(entry), "null", "ptr"))
    end, begin = (c.select(at_end, "i64", "0", c.word(entry, w)) for w in (END, BEGIN))
    above = c.icmp("eq", c.inst(f"and i64 {k}, 1"), "0")
    at = c.select(above, "i64", end, c.sub(begin, "%n"))
    stop = c.add(at, "%n")
    one_side = c.either(c.icmp("sge", at, "0"), c.icmp("sle", stop, "0"))
    fits = c.variable(c.both(known, one_side), "i1")
    with c.loop("%count") as each:
        other = _entry(c, each.index)
        apart = c.either(c.icmp("sle", stop, c.word(other, BEGIN)), c.icmp("sge", at, c.word(other, END)))
        free = c.either(apart, c.is_null(c.pointer(other)))
        c.let(fits, c.both(c.get(fits, "i1"), free), "i1")
    reach = c.sub(c.greatest(top, stop), _least(c, bottom, at))
    same = c.icmp("eq", farther, c.icmp("sge", at, "0"), "i1")
    key = c.add(c.inst(f"shl i64 {reach}, 1"), c.inst(f"zext i1 {same} to i64"))
    with c.when(c.both(c.get(fits, "i1"), c.icmp("slt", key, c.get(best)))):
        c.let(best, key)
        c.let(chosen, at)


def rename() -> str:
    """Replaces a pointer in the table."""
    c = Writer("define void @roaming_rename(ptr %block, i64 %count, ptr %from, ptr %to) nounwind")
    with c.loop("%count") as each:
        entry = _entry(c, each.index)
        with c.when(c.icmp("eq", c.pointer(entry), "%from", "ptr")):
            c.put(entry, POINTER, "%to", "ptr")
    c.do("ret void")
    return c.function()


def _entry(c: Writer, k: str) -> str:
    return c.at("%block", c.mul(c.add(k, "1"), str(abi.ARENA_SLOT)))


def _least(c: Writer, a: str, b: str) -> str:
    return c.select(c.icmp("slt", a, b), "i64", a, b)
