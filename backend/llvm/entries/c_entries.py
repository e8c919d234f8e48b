"""Calls of programs from C, as LLVM IR: `from_c`, written once, and a *thunk* of each C signature.

A thunk puts its arguments into words and calls `from_c`, which takes the GIL, fills the frame as the instructions of a
*C entry* say, runs the kernel as native calls do, and gives the numbers that are the results. Where the entry does not
take the call (it is in use, a guard fails), a Python function does. An exception stays pending if the caller had the
GIL, so that it looks for it; else it is printed. Whether there was one is what `from_c` gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from tracebuf.backend.layout import abi
from tracebuf.backend.layout.entry_words import SMALL_INT, Descriptor, Entry, Kind
from tracebuf.backend.llvm.writer import Writer
from tracebuf.frozen import frozen

MAX_WORDS = 64
"""The most words of a C entry's arguments in the frame."""


class CEntry(IntEnum):
    """The words of a C entry."""

    ENTRY = 0
    PYTHON = 1
    """A Python function of the addresses of the thunk's arguments and of the results."""
    FAIL = 2
    """A Python function of the kernel's status, which raises its error."""
    WORDS = 3
    """How many words of the frame are arguments, from 1 on."""
    FILL = 4
    """How many instructions there are; they follow behind `RESULTS` results."""
    RESULTS = 5
    SIZE = 6


class Fill(IntEnum):
    """Instructions, four words each, that fill a word of the frame: COPY from argument; LOAD the double number k behind
    the pointer that is argument; CONSTANT; PRODUCT of two words; EQUAL fills none: the argument's low 32 bits must be
    the constant."""

    COPY, LOAD, CONSTANT, PRODUCT, EQUAL = range(5)


FILL_WORDS = 4


def from_c_text() -> str:
    """The module of `from_c`, which imports what entries have: 0 where the results are there, else -1."""
    c = Writer("define i64 @from_c(ptr %c, ptr %given, ptr %out) nounwind")
    python, failed, end = "python", "failed", "end"
    had = c.py("PyGILState_Ensure")
    entry = c.pointer("%c", CEntry.ENTRY)
    status = c.variable(-1)
    c.need(c.is_null(c.py("PyErr_Occurred")), end)  # of a call before: the caller has not looked yet
    words = c.fresh_slot(f"[{MAX_WORDS} x i64]")
    results = c.word("%c", CEntry.RESULTS)
    slots = c.at("%c", CEntry.SIZE)
    fills = c.at(slots, results)
    with c.loop(c.word("%c", CEntry.FILL)) as loop:
        p = c.at(fills, c.mul(loop.index, str(FILL_WORDS)))
        to, a, b = (c.word(p, k) for k in (1, 2, 3))
        next_ = c.new_label()
        case = c.switch(c.word(p), list(Fill), python)
        c.place(case[Fill.COPY])
        c.put(words, to, c.word("%given", a))
        c.jump(next_)
        c.place(case[Fill.LOAD])
        c.put(words, to, c.inst(f"load i64, ptr {c.at(c.pointer('%given', a), b)}, align 1"))
        c.jump(next_)
        c.place(case[Fill.CONSTANT])
        c.put(words, to, a)
        c.jump(next_)
        c.place(case[Fill.PRODUCT])
        c.put(words, to, c.inst(f"mul i64 {c.word(words, a)}, {c.word(words, b)}"))
        c.jump(next_)
        c.place(case[Fill.EQUAL])
        low = c.inst(f"trunc i64 {c.word('%given', a)} to i32")
        c.branch(c.icmp("eq", low, c.inst(f"trunc i64 {b} to i32"), "i32"), next_, python)
        c.place(next_)
    c.need(c.icmp("eq", c.word(entry, Entry.BUSY), "0"), python)
    descriptors, elements = c.pointer(entry, Entry.DESCRIPTORS), c.variable(0)
    with c.loop(c.word(entry, Entry.ARGUMENTS)) as loop:
        d = c.at(descriptors, c.mul(loop.index, str(int(Descriptor.SIZE))))
        kind = c.word(d, Descriptor.KIND)
        with c.when(c.icmp("eq", kind, str(Kind.INT))):  # as `run` takes them
            value = c.word(words, c.word(d, Descriptor.AT))
            c.need(c.icmp("slt", value, str(SMALL_INT)), python)
            c.need(c.icmp("sgt", value, str(-SMALL_INT)), python)
        with c.when(c.icmp("eq", kind, str(Kind.ARRAY))):
            place = c.at(words, c.word(d, Descriptor.AT))
            rest = c.inst(f"and i64 {c.word(place)}, {c.sub(c.word(d, Descriptor.ITEMSIZE), '1')}")
            c.need(c.icmp("eq", rest, "0"), python)
            total = c.variable(1)
            c.let(total, 1)
            with c.loop(c.word(d, Descriptor.RANK)) as inner:
                size = c.word(place, c.add(inner.index, "1"))
                kind = c.word(c.pointer(d, Descriptor.AXES), inner.index)
                c.need(c.icmp("eq", c.least(size, "2"), c.least(kind, "2")), python)
                c.need(c.icmp("ult", size, str(2**31)), python)
                c.let(total, c.inst(f"mul i64 {c.get(total)}, {size}"))
            c.let(elements, c.add(c.get(elements), c.get(total)))
    guards = c.pointer(entry, Entry.GUARDS)
    with c.when(c.icmp("ne", guards, "null", "ptr")):
        c.need(c.inst(f"call i1 @guards(ptr {guards}, ptr {words})"), python)
    frame, context = c.pointer(entry, Entry.FRAME), c.pointer(entry, Entry.CONTEXT)
    with c.loop(c.word("%c", CEntry.WORDS), start="1") as loop:
        c.put(frame, loop.index, c.word(words, loop.index))
    c.put(entry, Entry.BUSY, 1)
    c.put(entry, Entry.CALLS, c.add(c.word(entry, Entry.CALLS), "1"))
    short = c.icmp("slt", c.get(elements), c.word(entry, Entry.LONG))
    c.put(context, abi.HELD, c.inst(f"zext i1 {short} to i64"))
    c.put(context, abi.ANSWER, "@answer", "ptr")
    gave = c.py("tracebuf_enter", frame)
    c.put(context, abi.HELD, 0)
    c.put(context, abi.ANSWER, 0)
    on, leave = c.new_label(), c.new_label()
    c.need(c.is_null(c.py("PyErr_Occurred")), leave)
    c.need(c.icmp("eq", gave, "0"), failed)
    with c.loop(results) as loop:
        c.put("%out", loop.index, c.word(frame, c.word(slots, loop.index)))
    c.let(status, 0)
    c.jump(leave)
    c.place(failed)
    number = c.py("PyLong_FromLongLong", gave)
    c.refuse(c.is_null(number), leave)
    pair = c.fresh_slot("[2 x ptr]")
    c.put(pair, 0, number, "ptr")
    none = c.py("PyObject_Vectorcall", c.pointer("%c", CEntry.FAIL), pair, "1", "null")
    c.py("Py_DecRef", number)
    c.refuse(c.is_null(none), leave)
    c.py("Py_DecRef", none)  # it raises
    c.jump(leave)
    c.place(leave)
    fresh, large = c.word(entry, Entry.FRESH_COUNT), c.word(context, abi.LARGE)
    with c.when(c.icmp("ne", c.inst(f"or i64 {fresh}, {large}"), "0")):
        c.do(f"call void @leave(ptr {entry})")
    c.put(entry, Entry.BUSY, 0)
    c.jump(end)

    c.place(python)
    numbers = [c.py("PyLong_FromLongLong", c.number(p)) for p in ("%given", "%out")]
    for k, one in enumerate(numbers):
        c.put(pair, k, one, "ptr")
    c.branch(c.either(*map(c.is_null, numbers)), end, on)  # out of memory
    c.place(on)
    answer = c.py("PyObject_Vectorcall", c.pointer("%c", CEntry.PYTHON), pair, "2", "null")
    for one in numbers:
        c.py("Py_DecRef", one)
    c.refuse(c.is_null(answer), end)
    c.py("Py_DecRef", answer)
    c.let(status, 0)
    c.jump(end)
    c.place(end)
    mine = c.icmp("ne", had, "0", "i32")
    with c.when(c.both(mine, c.icmp("ne", c.get(status), "0"))):
        with c.when(c.icmp("ne", c.py("PyErr_Occurred"), "null", "ptr")):
            c.py("PyErr_WriteUnraisable", c.pointer("%c", CEntry.PYTHON))
    c.py("PyGILState_Release", had)
    c.do(f"ret i64 {c.get(status)}")
    head = ["declare i1 @guards(ptr, ptr)", "declare void @leave(ptr)", "@answer = external global i8"]
    return "\n".join([*head, *c._declared.values(), c.function(), ""])


@frozen()
class Thunk:
    """A C function: the LLVM types of its arguments and its result (void: none), the value of a failed call, and what
    becomes of the results: each is of an LLVM type, and goes to double `k` behind the pointer that is argument `to`, or
    is the value (`to` None). `success`: the value where results go elsewhere."""

    arguments: tuple[str, ...]
    result: str
    failure: str
    results: tuple[tuple[str, int | None, int], ...]
    success: str = ""


def thunk_text(thunk: Thunk, constants: Sequence[str | None]) -> str:
    """A thunk's module. `constants` are the results that are known, as literals of their types."""
    parameters = ", ".join(f"{t} %a{i}" for i, t in enumerate(thunk.arguments))
    c = Writer(f"define {thunk.result} @thunk({parameters}) nounwind")
    given = c.fresh_slot(f"[{max(1, len(thunk.arguments))} x i64]")
    out = c.fresh_slot(f"[{max(1, len(thunk.results))} x i64]")
    for i, type_ in enumerate(thunk.arguments):
        c.put(given, i, 0)
        byte = type_ == "i1"
        c.put(given, i, c.inst(f"zext i1 %a{i} to i8") if byte else f"%a{i}", "i8" if byte else type_)
    status = c.inst(f"call i64 @from_c(ptr @c_entry, ptr {given}, ptr {out})")
    value = thunk.success
    with c.when(c.icmp("ne", status, "0"), leaves=True):
        c.do(f"ret {thunk.result} {thunk.failure}".rstrip())
    for k, ((type_, to, index), known) in enumerate(zip(thunk.results, constants, strict=True)):
        x = known or _loaded(c, c.at(out, k), type_)
        if to is None:
            value = _converted(c, x, type_, thunk.result)
        else:
            c.do(f"store double {_converted(c, x, type_, 'double')}, ptr {c.at(f'%a{to}', index)}, align 1")
    c.do(f"ret {thunk.result} {value}".rstrip())
    return "\n".join([
        "declare i64 @from_c(ptr, ptr, ptr)", "@c_entry = external global i8", *c._declared.values(), c.function(), "",
    ])  # fmt: skip


def _loaded(c: Writer, place: str, type_: str) -> str:
    if type_ != "i1":
        return c.inst(f"load {type_}, ptr {place}")
    return c.icmp("ne", c.inst(f"load i8, ptr {place}"), "0", "i8")


def _converted(c: Writer, x: str, type_: str, to: str) -> str:
    if type_ == to:
        return x
    how = "fpext" if type_ == "float" else "uitofp" if type_ == "i1" else "sitofp"
    return c.inst(f"{how} {type_} {x} to {to}")
