"""Calls of programs from code that Numba compiles, as LLVM IR: `dispatch_text`, written once, and a *thunk* of each
program (`thunk_text`). None of them needs the GIL, as long as nothing raises and some thunk takes the call.

A call gives words: of an array the pointer, sizes, strides in elements, Numba's owner of its memory; of a number its
value. It gets words: of an array owner, pointer, sizes, strides in bytes; of a number its value. A thunk checks what
its program assumes, takes one of the program's contexts (`Lane`; one on the stack, where the program has no blocks),
and runs the kernel. What that asks for memory `answer` gives: an array is Numba's memory with a head of `HEAD` bytes
before it, in a list until the call ends; blocks are the C library's.

`dispatch` asks one thunk after another, and then Python.
"""

from __future__ import annotations

from tracebuf.backend.layout import abi
from tracebuf.backend.layout.abi import Slot
from tracebuf.backend.layout.entry_words import SMALL_INT, Guarded, Layout
from tracebuf.backend.llvm.writer import Writer
from tracebuf.frozen import frozen
from tracebuf.ir.types import ScalarType

OK, RAISED, MISS = 0, -1, 1
MAX_THUNKS, LANES = 16, 8
HEAD = 64
"""Bytes before an array: the next and the previous one of the list, and in the last word its owner."""
LARGE_BLOCK = 2**20
"""Bytes of a block that is not kept for the next call."""


class Site:
    """The words of a place where Numba's code calls: how many thunks there are, a function of Python's, the thunks."""

    COUNT, PYTHON, THUNKS = 0, 1, 2


class Lane:
    """The words before a context: whether it is in use, and the list of the call's arrays."""

    BUSY, ARRAYS, CONTEXT = 0, 1, 2


@frozen()
class ArrayIn:
    """An array argument: its first word, its first slot in the frame, the classes of its sizes (0, 1, 2: more), its
    axes outermost first, its `Layout`. `known`: that need not be looked at; `loose`: it is only read."""

    word: int
    slot: Slot
    itemsize: int
    dims: tuple[int, ...]
    order: tuple[int, ...]
    layout: int
    known: bool
    loose: bool

    @property
    def rank(self) -> int:
        return len(self.dims)


@frozen()
class NumberIn:
    """A number: its first word, its slot, how many words it has, whether it is an int of Python's."""

    word: int
    slot: Slot
    words: int
    is_int: bool


@frozen()
class FixedIn:
    """A value from outside: its first slot in the frame and its words; of an array the range of its memory, and whether
    it is only read."""

    slot: Slot
    words: tuple[int, ...]
    low: int = 0
    high: int = 0
    loose: bool = True


@frozen()
class EqualIn:
    """A word that is part of the program's key."""

    word: int
    value: int


@frozen()
class ArrayOut:
    """A result that is an array: its slot, rank, item size, first word."""

    slot: Slot
    rank: int
    itemsize: int
    word: int


@frozen()
class NumberOut:
    """A result that is a number: its slot, how many words, its first word."""

    slot: Slot
    words: int
    word: int


@frozen()
class ArgumentOut:
    """A result that is an argument: the first word of it, its rank (None: a number of so many words), item size."""

    given: int
    rank: int | None
    itemsize: int
    word: int


@frozen()
class ConstantOut:
    """A result that is a number: its words, the first one's place."""

    words: tuple[int, ...]
    word: int


@frozen()
class ChosenOut:
    """Results of which the flag in a slot says which there are."""

    slot: Slot
    then: tuple[Out, ...]
    orelse: tuple[Out, ...]


Out = ArrayOut | NumberOut | ArgumentOut | ConstantOut | ChosenOut


@frozen()
class Thunk:
    """What a program takes and gives. `guards`: a kind, and polynomials of slots (below 0: of parts)."""

    arguments: tuple[ArrayIn | NumberIn | EqualIn | FixedIn, ...]
    guards: tuple[tuple[int, tuple[tuple[tuple[int, tuple[int, ...]], ...], ...]], ...]
    results: tuple[Out, ...]
    lane_words: int
    frame: int
    """Of a lane, the word where the frame is."""
    blocks: int
    """How many blocks a context may have."""
    table: int = -1
    """The block that is the table of buffers that roam; -1 for none."""


def dispatch_text() -> str:
    """The module of `dispatch`, of `answer`, which kernels ask for memory, and of what thunks call."""
    c = Writer("define i64 @dispatch(ptr %site, ptr %given, ptr %out) nounwind")
    count = c.word("%site", Site.COUNT)
    with c.loop(count) as loop:
        thunk = c.pointer(c.at("%site", Site.THUNKS), loop.index)
        status = c.inst(f"call i64 {thunk}(ptr %given, ptr %out)")
        with c.when(c.icmp("ne", status, str(MISS)), leaves=True):
            c.do(f"ret i64 {status}")
    gave = c.inst(f"call i64 @python(ptr {c.pointer('%site', Site.PYTHON)}, ptr %given, ptr %out)")
    c.do(f"ret i64 {gave}")
    writers = [c, _python(), _answer(), _share(), _finish()]
    declared = {text for w in writers for text in w._declared.values()}
    sizes = ", ".join(f"i64 {n}" for n in ITEMSIZES)
    head = [
        f"@sizes = internal constant [{len(ITEMSIZES)} x i64] [{sizes}]",
        "declare ptr @nrt_allocate(i64, i32)", "declare void @nrt_release(ptr)", "declare ptr @malloc(i64)",
        "declare void @free(ptr)",
    ]  # fmt: skip
    return "\n".join([*head, *sorted(declared), *(w.function() for w in writers), ""])


ITEMSIZES = tuple(ScalarType(code).itemsize for code in abi.ELEMENT_CODES)


def _python() -> Writer:
    """Calls a function of Python's with two numbers, unless an exception is pending: 0, or -1 with one pending."""
    c = Writer("define i64 @python(ptr %function, ptr %a, ptr %b) nounwind")
    had = c.py("PyGILState_Ensure")
    status = c.variable(RAISED)
    pair, end, on = c.fresh_slot("[2 x ptr]"), "end", c.new_label()
    c.need(c.is_null(c.py("PyErr_Occurred")), end)
    numbers = [c.py("PyLong_FromLongLong", c.number(p)) for p in ("%a", "%b")]
    for k, one in enumerate(numbers):
        c.put(pair, k, one, "ptr")
    c.branch(c.either(*map(c.is_null, numbers)), end, on)
    c.place(on)
    answer = c.py("PyObject_Vectorcall", "%function", pair, "2", "null")
    for one in numbers:
        c.py("Py_DecRef", one)
    c.refuse(c.is_null(answer), end)
    c.py("Py_DecRef", answer)
    c.let(status, OK)
    c.jump(end)
    c.place(end)
    c.py("PyGILState_Release", had)
    c.do(f"ret i64 {c.get(status)}")
    return c


def _answer() -> Writer:
    """What `ask` of backend/runtime/entry.py gives: memory of Numba's for arrays, of the C library's for blocks; calls
    of functions of Python's, with the GIL."""
    c = Writer("define i64 @answer(ptr %context, i64 %slot, i64 %a, i64 %b) nounwind")
    failed, place = "failed", c.inst(f"getelementptr i64, ptr %context, i64 {Lane.ARRAYS - Lane.CONTEXT}")
    case = c.switch("%slot", [abi.ALLOCATE, abi.RELEASE, abi.GROW, abi.REFER], failed)
    c.place(case[abi.REFER])
    function = c.pointer("%context", abi.OBJECT)
    status = c.inst(f"call i64 @python(ptr {function}, ptr {c.object('%a')}, ptr {c.object('%b')})")
    c.need(c.icmp("eq", status, str(OK)), failed)
    c.do("ret i64 1")
    c.place(case[abi.ALLOCATE])
    spec = c.object("%a")
    total = c.variable(c.inst(f"load i64, ptr {c.at('@sizes', c.word(spec))}"))
    c.declare("llvm.umul.with.overflow.i64", "{ i64, i1 } @(i64, i64)")
    with c.loop(c.word(spec, 1)) as loop:
        n = c.word(c.at(spec, 2), loop.index)
        both = c.inst(f"call {{ i64, i1 }} @llvm.umul.with.overflow.i64(i64 {c.get(total)}, i64 {n})")
        c.refuse(c.inst(f"extractvalue {{ i64, i1 }} {both}, 1"), failed)
        c.let(total, c.inst(f"extractvalue {{ i64, i1 }} {both}, 0"))
    c.need(c.icmp("ult", c.get(total), str(2**62)), failed)
    size = c.add(c.greatest(c.get(total), "1"), str(HEAD))
    owner = c.inst(f"call ptr @nrt_allocate(i64 {size}, i32 {HEAD})")
    c.refuse(c.is_null(owner), failed)
    head = c.pointer(owner, DATA_OF_OWNER)
    first = c.pointer(place)
    c.put(head, 0, first, "ptr")
    c.put(head, 1, "null", "ptr")
    c.put(head, HEAD // 8 - 1, owner, "ptr")
    with c.when(c.icmp("ne", first, "null", "ptr")):
        c.put(first, 1, head, "ptr")
    c.put(place, 0, head, "ptr")
    c.do(f"ret i64 {c.number(c.at(head, HEAD // 8))}")

    c.place(case[abi.RELEASE])
    head = c.inst(f"getelementptr i64, ptr {c.object('%a')}, i64 {-HEAD // 8}")
    after, before = c.pointer(head), c.pointer(head, 1)
    with c.when(c.icmp("ne", after, "null", "ptr")):
        c.put(after, 1, before, "ptr")
    to = c.select(c.is_null(before), "ptr", place, before)
    c.put(to, 0, after, "ptr")
    c.do(f"call void @nrt_release(ptr {c.pointer(head, HEAD // 8 - 1)})")
    c.do("ret i64 0")

    c.place(case[abi.GROW])
    at = c.at("%context", c.add(c.mul("%a", str(abi.ARENA_SLOT)), str(abi.ARENA)))
    with c.when(c.icmp("ne", c.word(at), "0")):
        c.do(f"call void @free(ptr {c.pointer(c.inst(f'getelementptr i64, ptr {c.pointer(at)}, i64 -1'))})")
    c.put(at, 0, 0)
    c.put(at, 1, 0)
    c.need(c.icmp("ult", "%b", str(2**62)), failed)
    size = c.greatest("%b", "64")
    block = c.inst(f"call ptr @malloc(i64 {c.add(size, '128')})")
    c.refuse(c.is_null(block), failed)
    start = c.object(c.inst(f"and i64 {c.add(c.number(block), '127')}, -64"))
    c.put(c.inst(f"getelementptr i64, ptr {start}, i64 -1"), 0, block, "ptr")
    c.put(at, 0, start, "ptr")
    c.put(at, 1, size)
    with c.when(c.icmp("ugt", size, str(LARGE_BLOCK))):
        c.put("%context", abi.LARGE, 1)
    c.do("ret i64 1")
    c.place(failed)
    c.do(f"ret i64 {abi.STOPPED}")
    return c


DATA_OF_OWNER = 3
"""The word of Numba's `NRT_MemInfo` (numba/core/runtime/nrt.cpp) where its data is."""


def _share() -> Writer:
    """One more reference to an owner, if there is one."""
    c = Writer("define void @share(ptr %owner) nounwind")
    with c.when(c.icmp("ne", "%owner", "null", "ptr")):
        c.do("%old = atomicrmw add ptr %owner, i64 1 seq_cst")
    c.do("ret void")
    return c


def _finish() -> Writer:
    """After a call: gives up what it has made, and large blocks."""
    c = Writer("define void @finish(ptr %lane, i64 %blocks) nounwind")
    left = c.variable(c.pointer("%lane", Lane.ARRAYS), "ptr")
    begin, body, end = c.new_label(), c.new_label(), c.new_label()
    c.jump(begin)
    c.place(begin)
    head = c.get(left, "ptr")
    c.branch(c.is_null(head), end, body)
    c.place(body)
    c.let(left, c.pointer(head), "ptr")
    c.do(f"call void @nrt_release(ptr {c.pointer(head, HEAD // 8 - 1)})")
    c.jump(begin)
    c.place(end)
    c.put("%lane", Lane.ARRAYS, 0)
    context = c.at("%lane", Lane.CONTEXT)
    with c.when(c.icmp("ne", c.word(context, abi.LARGE), "0")):
        c.put(context, abi.LARGE, 0)
        with c.loop("%blocks") as loop:
            at = c.at(context, c.add(c.mul(loop.index, str(abi.ARENA_SLOT)), str(abi.ARENA)))
            with c.when(c.icmp("ugt", c.word(at, 1), str(LARGE_BLOCK))):
                c.do(f"call void @free(ptr {c.pointer(c.inst(f'getelementptr i64, ptr {c.pointer(at)}, i64 -1'))})")
                c.put(at, 0, 0)
                c.put(at, 1, 0)
    c.do("ret void")
    return c


# -- thunks
def thunk_text(thunk: Thunk) -> str:
    """A program's module, over its lanes (`lanes`), its kernel, and the function of Python's that raises its errors."""
    c = Writer("define i64 @thunk(ptr %given, ptr %out) nounwind")
    miss = "miss"
    slots: dict[int, str] = {}
    """By slot of the frame: what goes there."""
    ranges: list[tuple[str, str, bool]] = []
    for argument in thunk.arguments:
        if isinstance(argument, ArrayIn):
            ranges.append(_array(c, argument, slots, miss))
        elif isinstance(argument, FixedIn):
            for k, word in enumerate(argument.words):
                slots[argument.slot + k] = str(word)
            if argument.high:
                ranges.append((str(argument.low), str(argument.high), argument.loose))
        elif isinstance(argument, NumberIn):
            for k in range(argument.words):
                slots[argument.slot + k] = c.word("%given", argument.word + k)
            if argument.is_int:
                value = slots[argument.slot]
                c.need(c.icmp("slt", value, str(SMALL_INT)), miss)
                c.need(c.icmp("sgt", value, str(-SMALL_INT)), miss)
        else:
            c.need(c.icmp("eq", c.word("%given", argument.word), str(argument.value)), miss)
    for i, (low, high, loose) in enumerate(ranges):
        for other_low, other_high, other_loose in ranges[:i]:
            known = low[0] != "%" and other_low[0] != "%"
            if not known and (not loose or not other_loose):
                apart = c.either(c.icmp("ule", high, other_low), c.icmp("ule", other_high, low))
                c.need(apart, miss)
    _guards(c, thunk, slots, miss)

    here = _own_lane(c, thunk) if not thunk.blocks else _free_lane(c, thunk, miss)
    if thunk.table >= 0:
        c.put(here, Lane.CONTEXT + abi.ARENA + abi.ARENA_SLOT * thunk.table + abi.IN_USE, 0)
    frame = c.at(here, thunk.frame)
    for slot, value in slots.items():
        c.put(frame, slot, value)
    status = c.inst(f"call i64 @kernel(ptr {frame})")
    done, failed = c.new_label(), c.new_label()
    c.branch(c.icmp("eq", status, "0"), done, failed)
    c.place(done)
    for result in thunk.results:
        _result(c, thunk, result, frame)
    used = c.inst(f"or i64 {c.word(here, Lane.ARRAYS)}, {c.word(here, Lane.CONTEXT + abi.LARGE)}")
    tidy, tidied = c.new_label(), c.new_label()
    c.branch(c.icmp("eq", used, "0"), tidied, tidy)
    c.place(tidy)
    c.do(f"call void @finish(ptr {here}, i64 {thunk.blocks})")
    c.jump(tidied)
    c.place(tidied)
    c.do(f"store atomic i64 0, ptr {here} release, align 8")
    c.do(f"ret i64 {OK}")
    c.place(failed)
    c.do(f"call i64 @python(ptr @fail, ptr {c.object(status)}, ptr {here})")
    c.do(f"call void @finish(ptr {here}, i64 {thunk.blocks})")
    c.do(f"store atomic i64 0, ptr {here} release, align 8")
    c.do(f"ret i64 {RAISED}")
    c.place(miss)
    c.do(f"ret i64 {MISS}")
    return "\n".join([
        *(f"@{name} = external global i8" for name in ("lanes", "fail", "answer", "refer")),
        "declare i64 @kernel(ptr)",
        "declare i64 @python(ptr, ptr, ptr)", "declare void @finish(ptr, i64)", "declare void @share(ptr)",
        *c._declared.values(), c.function(), "",
    ])  # fmt: skip


def _own_lane(c: Writer, thunk: Thunk) -> str:
    """A lane on the stack, for a program without blocks: nothing in it outlives the call."""
    here = c.fresh_slot(f"[{thunk.lane_words} x i64]", align=64)
    context = c.at(here, Lane.CONTEXT)
    for word in (Lane.ARRAYS, Lane.CONTEXT + abi.LARGE):
        c.put(here, word, 0)
    c.put(context, abi.HELD, abi.FOREIGN)
    c.put(context, abi.ANSWER, "@answer", "ptr")
    c.put(context, abi.OBJECT, "@refer", "ptr")
    c.put(here, thunk.frame, context, "ptr")
    return here


def _free_lane(c: Writer, thunk: Thunk, miss: str) -> str:
    """A lane of the program's that is not in use; Python makes the call where all are."""
    lane, tried = c.variable("@lanes", "ptr"), c.variable(0)
    taken, begin, next_ = c.new_label(), c.new_label(), c.new_label()
    c.jump(begin)
    c.place(begin)
    here = c.get(lane, "ptr")
    got = c.inst(f"cmpxchg ptr {here}, i64 0, i64 1 acquire monotonic, align 8")
    c.branch(c.inst(f"extractvalue {{ i64, i1 }} {got}, 1"), taken, next_)
    c.place(next_)
    c.let(lane, c.at(here, thunk.lane_words), "ptr")
    c.let(tried, c.add(c.get(tried), "1"))
    c.branch(c.icmp("slt", c.get(tried), str(LANES)), begin, miss)
    c.place(taken)
    return here


def _array(c: Writer, a: ArrayIn, slots: dict[int, str], miss: str) -> tuple[str, str, bool]:
    """Checks an array argument; the range of its memory."""
    data = c.word("%given", a.word)
    sizes = [c.word("%given", a.word + 1 + d) for d in range(a.rank)]
    strides = [c.word("%given", a.word + 1 + a.rank + d) for d in range(a.rank)]
    slots[a.slot] = data
    for d in range(a.rank):
        slots[a.slot + 1 + d], slots[a.slot + 1 + a.rank + d] = sizes[d], strides[d]
        if a.dims[d] < 2:
            c.need(c.icmp("eq", sizes[d], str(a.dims[d])), miss)
        else:
            c.need(c.icmp("sge", sizes[d], "2"), miss)
    long = [d for d in reversed(a.order) if a.dims[d] >= 2]
    low, high, reach = "0", "0", "0"
    if 0 in a.dims:
        long = []
    if a.layout == Layout.DENSE:
        step = "1"
        for d in long:
            if not a.known:
                c.need(c.icmp("eq", strides[d], step), miss)
            step = c.mul(step, sizes[d])
        high = step
    else:
        for k, d in enumerate(long):
            stride = strides[d]
            backwards = c.icmp("slt", stride, "0")
            length = c.select(backwards, "i64", c.inst(f"sub i64 0, {stride}"), stride)
            if k == 0:
                c.need(c.icmp("eq" if a.layout == Layout.UNIT else "ne", stride, "1"), miss)
            c.need(c.icmp("sgt", length, reach), miss)
            way = c.inst(f"mul i64 {length}, {c.sub(sizes[d], '1')}")
            reach = c.add(reach, way)
            low = c.select(backwards, "i64", c.inst(f"sub i64 {low}, {way}"), low)
            high = c.select(backwards, "i64", high, c.add(high, way))
        high = c.add(high, "1")
    size = str(a.itemsize)
    return c.add(data, c.mul(low, size)), c.add(data, c.mul(high, size)), a.loose


def _guards(c: Writer, thunk: Thunk, slots: dict[int, str], miss: str) -> None:
    parts: list[str] = []
    tests = {Guarded.NONNEG: "sge", Guarded.ZERO: "eq", Guarded.NONZERO: "ne"}
    for kind, polynomials in thunk.guards:
        values = []
        for terms in polynomials:
            total = "0"
            for coefficient, factors in terms:
                product = str(coefficient)
                for factor in factors:
                    product = c.inst(f"mul i64 {product}, {slots[factor] if factor >= 0 else parts[-1 - factor]}")
                total = c.inst(f"add i64 {total}, {product}")
            values.append(total)
        part = values[0]
        if kind in tests:
            c.need(c.icmp(tests[kind], part, "0"), miss)
        elif kind == Guarded.FLOORDIV:
            a, b = values
            whole = c.inst(f"sdiv i64 {a}, {b}")
            rest = c.inst(f"srem i64 {a}, {b}")
            other_sign = c.icmp("slt", c.inst(f"xor i64 {rest}, {b}"), "0")
            below = c.both(c.icmp("ne", rest, "0"), other_sign)
            part = c.inst(f"sub i64 {whole}, {c.inst(f'zext i1 {below} to i64')}")
        else:
            a, b = values
            part = c.select(c.icmp("slt" if kind == Guarded.MIN else "sgt", a, b), "i64", a, b)
        parts.append(part)


def _result(c: Writer, thunk: Thunk, result: Out, frame: str) -> None:
    if isinstance(result, ChosenOut):
        then, orelse, end = (c.new_label() for _ in range(3))
        c.branch(c.icmp("ne", c.word(frame, result.slot, "i8"), "0", "i8"), then, orelse)
        for label, arm in ((then, result.then), (orelse, result.orelse)):
            c.place(label)
            for one in arm:
                _result(c, thunk, one, frame)
            c.jump(end)
        c.place(end)
        return
    word = result.word
    if isinstance(result, NumberOut):
        for k in range(result.words):
            c.put("%out", word + k, c.word(frame, result.slot + k))
        return
    if isinstance(result, ConstantOut):
        for k, value in enumerate(result.words):
            c.put("%out", word + k, value)
        return
    if isinstance(result, ArgumentOut):
        if result.rank is None:
            for k in range(result.itemsize):
                c.put("%out", word + k, c.word("%given", result.given + k))
            return
        n, given = result.rank, result.given
        owner = c.pointer("%given", given + 1 + 2 * n)
        c.do(f"call void @share(ptr {owner})")
        c.put("%out", word, owner, "ptr")
        for k in range(1 + n):
            c.put("%out", word + 1 + k, c.word("%given", given + k))
        for k in range(n):
            stride = c.mul(c.word("%given", given + 1 + n + k), str(result.itemsize))
            c.put("%out", word + 2 + n + k, stride)
        return
    base, n = c.word(frame, result.slot), result.rank
    found, of_argument = c.new_label(), c.variable("null", "ptr")
    for a in thunk.arguments:
        if isinstance(a, ArrayIn):
            with c.when(c.icmp("eq", base, c.word("%given", a.word)), leaves=True):
                c.let(of_argument, c.pointer("%given", a.word + 1 + 2 * a.rank), "ptr")
                c.jump(found)
    c.let(of_argument, c.pointer(c.inst(f"getelementptr i64, ptr {c.object(base)}, i64 -1")), "ptr")
    c.jump(found)
    c.place(found)
    owner = c.get(of_argument, "ptr")
    c.do(f"call void @share(ptr {owner})")
    c.put("%out", word, owner, "ptr")
    for k in range(1 + n):
        c.put("%out", word + 1 + k, c.word(frame, result.slot + 1 + k))
    for k in range(n):
        stride = c.mul(c.word(frame, result.slot + 2 + n + k), str(result.itemsize))
        c.put("%out", word + 2 + n + k, stride)

