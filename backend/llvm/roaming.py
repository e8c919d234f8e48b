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
from tracebuf.ops.memory.arena import LINE

POINTER, ROOM, REACH, MOST = range(4)
END, BEGIN = REACH, MOST
MAKE, FREE = "roaming_make", "roaming_free"
SIGNATURES = {
    MAKE: "i64 @(ptr, i64, i64, i64, i64, i64, i64) nounwind",
    FREE: "i64 @(ptr, i64, i64, ptr, i64) nounwind",
}
MOST_ELEMENTS = 2.0**44
"""An array of more elements is asked of NumPy, which refuses it."""
_ASK = "tracebuf_ask"


@cache
def _native(ask: int) -> Library:
    text = f"declare i64 @{_ASK}(ptr, i64, i64, i64)\n{make()}\n{free()}"
    return compile_module(text, "roaming", {_ASK: ask}, speed_level=0).pin()


def address_of(name: str, ask: int) -> int:
    """The address of one of the functions, which are compiled once; `ask`: that of what calls Python back."""
    return _native(ask).address(name)


def make() -> str:
    """The address of a new buffer, or -1 where an exception is pending: a place in the block, or an array where it has
    no room. `%other`: the bytes of arrays that are in use beside those that roam; `%spec` and `%how`: as `ask` takes
    them. A block that nothing is in gives way to arrays, which would be beside it."""
    operands = "ptr %context, i64 %slot, i64 %count, i64 %nbytes, i64 %other, i64 %spec, i64 %how"
    c = Writer(f"define i64 @{MAKE}({operands}) nounwind")
    block = _block(c)
    with c.when(_is_huge(c), leaves=True):
        c.do(f"ret i64 {_ask(c, abi.ALLOCATE, '%spec', '%how')}")
    n = c.greatest(c.inst(f"and i64 {c.add('%nbytes', str(LINE - 1))}, -{LINE}"), str(LINE))
    room = c.word(block, ROOM)
    low, high, total = c.variable(0), c.variable(0), c.variable(c.add(n, "%other"))
    free, used = c.variable("null", "ptr"), c.variable("false", "i1")
    with c.loop("%count") as each:
        entry = _entry(c, block, each.index)
        none = c.is_null(c.pointer(entry))
        with c.when(none):
            c.let(free, entry, "ptr")
        with c.when(c.inst(f"xor i1 {none}, true")):
            end, begin = c.word(entry, END), c.word(entry, BEGIN)
            c.let(high, c.greatest(c.get(high), end))
            c.let(low, _least(c, c.get(low), begin))
            c.let(total, c.add(c.get(total), c.sub(end, begin)))
            c.let(used, c.either(c.get(used, "i1"), _is_inside(c, block, c.pointer(entry))), "i1")
    top, bottom = c.get(high), c.get(low)
    farther = c.icmp("sgt", top, c.sub("0", bottom))
    best, chosen = c.variable(2**62), c.variable(0)
    with c.loop(c.inst(f"shl i64 {c.add('%count', '1')}, 1")) as each:
        _try(c, block, each.index, n, top, bottom, farther, best, chosen)
    at, entry = c.get(chosen), c.get(free, "ptr")
    reach = c.inst(f"ashr i64 {c.get(best)}, 1")
    c.put(block, REACH, c.greatest(c.word(block, REACH), reach))
    c.put(block, MOST, c.greatest(c.word(block, MOST), c.get(total)))
    offset = c.select(c.icmp("slt", at, "0"), "i64", c.add(room, at), at)
    found = c.variable(c.add(c.word(block, POINTER), offset))
    known = c.icmp("ne", entry, "null", "ptr")
    with c.when(c.inst(f"xor i1 {c.both(known, c.icmp('sle', reach, room))}, true")):
        with c.when(c.both(c.icmp("ne", room, "0"), c.inst(f"xor i1 {c.get(used, 'i1')}, true"))):
            _ask(c, abi.GROW, "%slot", "0")
        c.put("%context", abi.LARGE, 1)
        c.let(found, _ask(c, abi.ALLOCATE, "%spec", "%how"))
    with c.when(known):
        c.put(entry, POINTER, c.get(found))
        c.put(entry, END, c.add(at, n))
        c.put(entry, BEGIN, at)
    c.do(f"ret i64 {c.get(found)}")
    return c.function()


def free() -> str:
    """Takes a buffer out of the table; an array is given back."""
    c = Writer(f"define i64 @{FREE}(ptr %context, i64 %slot, i64 %count, ptr %buffer, i64 %how) nounwind")
    block = _block(c)
    with c.loop("%count") as each:
        entry = _entry(c, block, each.index)
        with c.when(c.icmp("eq", c.pointer(entry), "%buffer", "ptr")):
            c.put(entry, POINTER, "null", "ptr")
    with c.when(_is_inside(c, block, "%buffer"), leaves=True):
        c.do("ret i64 0")
    c.do(f"ret i64 {_ask(c, abi.RELEASE, c.number('%buffer'), '%how')}")
    return c.function()


def _try(c: Writer, block: str, k: str, n: str, top: str, bottom: str, farther: str, best: str, chosen: str) -> None:
    """Candidate k: above or below a buffer in use, or at one of the ends; it is to reach the least, and then to be at
    the end from where less is in use."""
    j = c.inst(f"ashr i64 {k}, 1")
    entry = _entry(c, block, c.sub(j, "1"))
    at_end = c.icmp("eq", j, "0")
    known = c.either(at_end, c.icmp("ne", c.pointer(entry), "null", "ptr"))
    end, begin = (c.select(at_end, "i64", "0", c.word(entry, w)) for w in (END, BEGIN))
    above = c.icmp("eq", c.inst(f"and i64 {k}, 1"), "0")
    at = c.select(above, "i64", end, c.sub(begin, n))
    stop = c.add(at, n)
    one_side = c.either(c.icmp("sge", at, "0"), c.icmp("sle", stop, "0"))
    fits = c.variable(c.both(known, one_side), "i1")
    with c.loop("%count") as each:
        other = _entry(c, block, each.index)
        apart = c.either(c.icmp("sle", stop, c.word(other, BEGIN)), c.icmp("sge", at, c.word(other, END)))
        free = c.either(apart, c.is_null(c.pointer(other)))
        c.let(fits, c.both(c.get(fits, "i1"), free), "i1")
    reach = c.sub(c.greatest(top, stop), _least(c, bottom, at))
    same = c.icmp("eq", farther, c.icmp("sge", at, "0"), "i1")
    key = c.add(c.inst(f"shl i64 {reach}, 1"), c.inst(f"zext i1 {same} to i64"))
    with c.when(c.both(c.get(fits, "i1"), c.icmp("slt", key, c.get(best)))):
        c.let(best, key)
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


def _block(c: Writer) -> str:
    return c.at("%context", c.add(c.mul("%slot", str(abi.ARENA_SLOT)), str(abi.ARENA)))


def _entry(c: Writer, block: str, k: str) -> str:
    return c.at(block, c.mul(c.add(k, "1"), str(abi.ARENA_SLOT)))


def _least(c: Writer, a: str, b: str) -> str:
    return c.select(c.icmp("slt", a, b), "i64", a, b)
