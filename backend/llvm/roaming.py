"""Where buffers of varying sizes are in their block (`Roaming`): native functions that keep a table of those in use.

The slot of the block has its pointer, its capacity, and how far it would have to reach. The table begins with how many
buffers are in use and the most bytes that were in use at once; then come their pointers, 0, and the ends and the
beginnings of their places. Places are counted from the beginning of the block, or, where they are negative, from its
end, so that they do not depend on how large it is: where it is as large as one call needed, all buffers of an equal
call are in it.
"""

from __future__ import annotations

from functools import cache

from tracebuf.backend.layout import abi
from tracebuf.backend.llvm.jit import Library, compile_module
from tracebuf.backend.llvm.writer import Writer
from tracebuf.running.lines import LINE

POINTER, ROOM, REACH = range(3)
END, BEGIN = 2, 3
"""Words of the others."""
MAKE, FREE = "roaming_make", "roaming_free"
SIGNATURES = {
    MAKE: "i64 @(ptr, i64, i64, i64, i64, i64, i64, i64) nounwind",
    FREE: "i64 @(ptr, i64, i64, ptr, i64) nounwind",
}
MOST_ELEMENTS = 2.0**44
"""An array of more elements is asked of NumPy, which refuses it."""
FAR = 2**60
"""Beyond all places."""
WIDE = 7
"""How much larger a gap is in which a buffer is not to be: masks are an eighth of what they choose from."""
_ASK = "tracebuf_ask"


@cache
def _native(ask: int) -> Library:
    text = f"declare i64 @{_ASK}(ptr, i64, i64, i64)\n{make()}\n{free()}"
    return compile_module(text, "roaming", {_ASK: ask}, speed_level=1).pin()


def address_of(name: str, ask: int) -> int:
    """The address of one of the functions, which are compiled once; `ask`: that of what calls Python back."""
    return _native(ask).address(name)


def make() -> str:
    """The address of a new buffer, or -1 where an exception is pending: a place in the block, or an array where it has
    no room, or the table none for more than `%most`. `%other`: the bytes of arrays that are in use beside those that
    roam; `%spec` and `%how`: as `ask` takes them. A block that nothing is in gives way to arrays, which would be beside
    it."""
    operands = "ptr %context, i64 %slot, i64 %at, i64 %most, i64 %nbytes, i64 %other, i64 %spec, i64 %how"
    c = Writer(f"define i64 @{MAKE}({operands}) nounwind")
    block, table = _slot(c, "%slot"), _slot(c, "%at")
    with c.when(_is_huge(c), leaves=True):
        c.do(f"ret i64 {_ask(c, abi.ALLOCATE, '%spec', '%how')}")
    n = c.greatest(c.inst(f"and i64 {c.add('%nbytes', str(LINE - 1))}, -{LINE}"), str(LINE))
    room, count = c.word(block, ROOM), c.word(table, abi.IN_USE)
    low, high, total = c.variable(0), c.variable(0), c.variable(c.add(n, "%other"))
    used = c.variable("false", "i1")
    with c.loop(count) as each:
        entry = _entry(c, table, each.index)
        end, begin = c.word(entry, END), c.word(entry, BEGIN)
        c.let(high, c.greatest(c.get(high), end))
        c.let(low, _least(c, c.get(low), begin))
        c.let(total, c.add(c.get(total), c.sub(end, begin)))
        c.let(used, c.either(c.get(used, "i1"), _is_inside(c, block, c.pointer(entry))), "i1")
    top, bottom = c.get(high), c.get(low)
    farther = c.icmp("sgt", top, c.sub("0", bottom))
    best, chosen = c.variable(2**62), c.variable(0)
    with c.loop(c.inst(f"shl i64 {c.add(count, '1')}, 1")) as each:  # below and above the beginning, and each in use
        j = c.inst(f"ashr i64 {each.index}, 1")
        entry, at_end = _entry(c, table, c.sub(j, "1")), c.icmp("eq", j, "0")
        end, begin = (c.select(at_end, "i64", "0", c.word(entry, w)) for w in (END, BEGIN))
        above = c.icmp("eq", c.inst(f"and i64 {each.index}, 1"), "0")
        at = c.select(above, "i64", end, c.sub(begin, n))
        other_end = c.icmp("eq", farther, c.icmp("sge", at, "0"), "i1")
        reach = _reach(c, at, c.add(at, n), top, bottom)
        rank = c.add(c.inst(f"shl i64 {reach}, 1"), c.inst(f"zext i1 {other_end} to i64"))
        with c.when(c.icmp("slt", rank, c.get(best))):
            _try(c, table, count, at, n, rank, best, chosen)
    at = c.get(chosen)
    reach = _reach(c, at, c.add(at, n), top, bottom)
    c.put(block, REACH, c.greatest(c.word(block, REACH), reach))
    c.put(table, abi.MOST, c.greatest(c.word(table, abi.MOST), c.get(total)))
    offset = c.select(c.icmp("slt", at, "0"), "i64", c.add(room, at), at)
    found = c.variable(c.add(c.word(block, POINTER), offset))
    known = c.icmp("slt", count, "%most")
    with c.when(c.inst(f"xor i1 {c.both(known, c.icmp('sle', reach, room))}, true")):
        with c.when(c.both(c.icmp("ne", room, "0"), c.inst(f"xor i1 {c.get(used, 'i1')}, true"))):
            _ask(c, abi.GROW, "%slot", "0")
        c.put("%context", abi.LARGE, 1)
        c.let(found, _ask(c, abi.ALLOCATE, "%spec", "%how"))
        with c.when(c.icmp("slt", c.get(found), "0"), leaves=True):
            c.do("ret i64 -1")
    with c.when(known):
        entry = _entry(c, table, count)
        c.put(entry, POINTER, c.get(found))
        c.put(entry, END, c.add(at, n))
        c.put(entry, BEGIN, at)
        c.put(table, abi.IN_USE, c.add(count, "1"))
    c.do(f"ret i64 {c.get(found)}")
    return c.function()


def free() -> str:
    """Takes a buffer out of the table, the last one of which has its place there then; an array is given back."""
    c = Writer(f"define i64 @{FREE}(ptr %context, i64 %slot, i64 %at, ptr %buffer, i64 %how) nounwind")
    block, table = _slot(c, "%slot"), _slot(c, "%at")
    count = c.word(table, abi.IN_USE)
    with c.loop(count) as each:
        entry = _entry(c, table, each.index)
        with c.when(c.icmp("eq", c.pointer(entry), "%buffer", "ptr"), leaves=True):
            last = c.sub(count, "1")
            for word in (POINTER, END, BEGIN):
                c.put(entry, word, c.word(_entry(c, table, last), word))
            c.put(table, abi.IN_USE, last)
            c.jump(each.end)
    with c.when(_is_inside(c, block, "%buffer"), leaves=True):
        c.do("ret i64 0")
    c.do(f"ret i64 {_ask(c, abi.RELEASE, c.number('%buffer'), '%how')}")
    return c.function()


def _reach(c: Writer, at: str, stop: str, top: str, bottom: str) -> str:
    """How large the block has to be with a buffer there."""
    return c.sub(c.greatest(top, stop), _least(c, bottom, at))


def _try(c: Writer, table: str, count: str, at: str, n: str, rank: str, best: str, chosen: str) -> None:
    """A candidate, above or below a buffer in use, or at one of the ends: it is to reach the least, and then to be at
    the end from where less is in use. It is not to be in a gap that is much larger, where a large buffer has its place
    that nothing else has room for: reaching farther by so little costs less."""
    stop = c.add(at, n)
    below = c.variable(c.select(c.icmp("sge", at, "0"), "i64", "0", str(-FAR)))
    above = c.variable(c.select(c.icmp("sle", stop, "0"), "i64", "0", str(FAR)))
    fits = c.variable(c.either(c.icmp("sge", at, "0"), c.icmp("sle", stop, "0")), "i1")
    with c.loop(count) as each:
        other = _entry(c, table, each.index)
        begin, end = c.word(other, BEGIN), c.word(other, END)
        is_above, is_below = c.icmp("sle", stop, begin), c.icmp("sge", at, end)
        with c.when(c.inst(f"xor i1 {c.either(is_above, is_below)}, true"), leaves=True):
            c.let(fits, "false", "i1")
            c.jump(each.end)
        c.let(above, _least(c, c.get(above), c.select(is_above, "i64", begin, str(FAR))))
        c.let(below, c.greatest(c.get(below), c.select(is_below, "i64", end, str(-FAR))))
    gap = c.sub(c.get(above), c.get(below))
    wide = c.both(c.icmp("sge", gap, c.mul(n, str(WIDE))), c.icmp("slt", gap, str(FAR // 2)))
    cost = c.inst(f"shl i64 {c.select(wide, 'i64', c.add(n, str(LINE)), '0')}, 1")
    rank = c.add(rank, cost)
    with c.when(c.both(c.get(fits, "i1"), c.icmp("slt", rank, c.get(best)))):
        c.let(best, rank)
        c.let(chosen, at)


def _is_huge(c: Writer) -> str:
    """Whether there are more elements than places are counted for; NumPy counts where an axis has none as if it had
    one, and refuses less than none."""
    spec, total = c.object("%spec"), c.variable("1.0", "double")
    with c.loop(c.word(spec, 1)) as each:
        size = c.word(spec, c.add(each.index, "2"))
        size = c.select(c.icmp("eq", size, "0"), "i64", "1", size)
        c.let(
            total, c.inst(f"fmul double {c.get(total, 'double')}, {c.inst(f'uitofp i64 {size} to double')}"), "double"
        )
    return c.inst(f"fcmp ogt double {c.get(total, 'double')}, {MOST_ELEMENTS}")


def _is_inside(c: Writer, block: str, buffer: str) -> str:
    return c.icmp("ult", c.sub(c.number(buffer), c.word(block, POINTER)), c.word(block, ROOM))


def _ask(c: Writer, slot: int, a: str, b: str) -> str:
    return c.call("i64", _ASK, [("ptr", "%context"), ("i64", str(slot)), ("i64", a), ("i64", b)])


def _slot(c: Writer, k: str) -> str:
    return c.at("%context", c.add(c.mul(k, str(abi.ARENA_SLOT)), str(abi.ARENA)))


def _entry(c: Writer, table: str, k: str) -> str:
    return c.at(table, c.mul(c.add(k, "1"), str(abi.ARENA_SLOT)))


def _least(c: Writer, a: str, b: str) -> str:
    return c.select(c.icmp("slt", a, b), "i64", a, b)
