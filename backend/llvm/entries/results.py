"""The results of native calls, as LLVM IR: `result` makes them after a kernel, of the steps of `entry_words.Result`;
`answer` gives a running kernel its memory; `leave` forgets what a call has made.

A result that is an array's memory is that array where it is a new one that is nothing else yet, and its geometry and
dtype are the result's; else it is a view of it, whose base NumPy chooses as it does for its own views. What makes
objects may run code of the user's (finalizers, setters): the entry is in use until the call ends, and the stack owns
what is on it.
"""

from __future__ import annotations

from tracebuf.backend.layout import abi
from tracebuf.backend.layout.entry_words import (
    CLASS,
    DATA,
    DTYPE,
    FLAGS,
    MAX_RANK,
    RANK,
    SIZES,
    STRIDES,
    WORDS,
    WRITEABLE,
    Descriptor,
    Entry,
    Kind,
    Result,
)
from tracebuf.backend.llvm.writer import Writer


def result_text() -> Writer:
    """What a call gives after its kernel: a new reference, or null with an exception. A failed check whose steps are
    known raises its exception here."""
    c = Writer("define internal ptr @result(ptr %e, ptr %values, i64 %status) nounwind")
    entry, python, none, failed = "%e", "python", "none", "failed"
    frame, stack = c.pointer(entry, Entry.FRAME), c.pointer(entry, Entry.STACK)
    made = c.pointer(entry, Entry.MADE)  # of references, none between calls
    top = c.variable(0)
    c.need(c.is_null(c.py("PyErr_Occurred")), none)
    steps = c.pointer(entry, Entry.RESULT)
    step = c.variable(steps, "ptr")
    with c.when(c.icmp("ne", "%status", "0")):
        failures = c.pointer(entry, Entry.FAILURES)
        c.refuse(c.either(c.icmp("slt", "%status", "0"), c.is_null(failures)), python)
        c.let(step, c.pointer(failures, c.sub("%status", "1")), "ptr")
        c.refuse(c.is_null(c.get(step, "ptr")), python)
    item, noted = c.variable("null", "ptr"), c.variable(-1)
    again, shared, note, push, next_ = (c.new_label() for _ in range(5))
    c.jump(again)
    c.place(again)
    p = c.get(step, "ptr")
    a, b = c.word(p, 1), c.word(p, 2)
    place = c.at(frame, a)
    case = c.switch(c.word(p), Result.EACH, python)

    c.place(case[Result.OBJECT])
    c.let(item, c.object(a), "ptr")
    c.jump(shared)
    c.place(case[Result.ARGUMENT])
    c.let(item, c.pointer("%values", a), "ptr")
    c.jump(shared)
    c.place(case[Result.BOOL])
    true = c.icmp("ne", c.inst(f"load i8, ptr {place}"), "0", "i8")
    c.let(item, c.select(true, "ptr", "@_Py_TrueStruct", "@_Py_FalseStruct"), "ptr")
    c.jump(shared)
    c.place(shared)
    c.py("Py_IncRef", c.get(item, "ptr"))
    c.jump(push)

    c.place(case[Result.FLOAT])
    c.let(item, c.py("PyFloat_FromDouble", c.inst(f"load double, ptr {place}")), "ptr")
    c.jump(push)
    c.place(case[Result.INT])
    c.let(item, c.py("PyLong_FromLongLong", c.inst(f"load i64, ptr {place}")), "ptr")
    c.jump(push)
    c.place(case[Result.COMPLEX])
    parts = [c.inst(f"load double, ptr {c.at(place, k)}") for k in range(2)]
    c.let(item, c.py("PyComplex_FromDoubles", *parts), "ptr")
    c.jump(push)
    c.place(case[Result.NUMPY])
    c.let(item, c.py("numpy_scalar", place, c.object(b), "null"), "ptr")
    c.jump(push)
    c.place(case[Result.ARRAY])
    c.let(item, c.inst(f"call ptr @an_array(ptr {entry}, ptr %values, ptr {p})"), "ptr")
    c.refuse(c.icmp("eq", c.number(c.get(item, "ptr")), str(UNKNOWN)), python)
    c.refuse(c.is_null(c.get(item, "ptr")), failed)
    c.let(noted, c.word(p, 3))
    c.jump(note)

    c.place(case[Result.KNOWN])
    known = c.pointer(made, a)
    c.let(item, known, "ptr")
    c.let(step, c.at(steps, c.mul(b, str(WORDS))), "ptr")
    c.refuse(c.is_null(known), next_)
    c.py("Py_IncRef", known)
    c.put(stack, c.get(top), known, "ptr")
    c.let(top, c.add(c.get(top), "1"))
    c.jump(again)

    c.place(case[Result.IF])
    c.let(step, c.at(steps, c.mul(b, str(WORDS))), "ptr")
    c.branch(c.icmp("ne", c.inst(f"load i8, ptr {place}"), "0", "i8"), next_, again)
    c.place(case[Result.JUMP])
    c.let(step, c.at(steps, c.mul(a, str(WORDS))), "ptr")
    c.jump(again)

    def items() -> str:
        """The first of the container's items on the stack."""
        return c.inst(f"sub i64 {c.get(top)}, {a}")

    def drop() -> None:
        """Takes the container's items from the stack."""
        bottom = items()
        c.let(top, bottom)
        with c.loop(a) as loop:
            c.py("Py_DecRef", c.pointer(stack, c.add(bottom, loop.index)))

    for kind, make, set_ in (
        (Result.TUPLE, "PyTuple_New", "PyTuple_SetItem"), (Result.LIST, "PyList_New", "PyList_SetItem"),
    ):  # fmt: skip
        c.place(case[kind])
        new = c.py(make, a)
        c.refuse(c.is_null(new), failed)
        bottom = items()
        with c.loop(a) as loop:
            c.py(set_, new, loop.index, c.pointer(stack, c.add(bottom, loop.index)))  # takes the reference
        c.let(top, bottom)
        c.let(item, new, "ptr")
        c.let(noted, b)
        c.jump(note)

    def undone(new: str) -> str:
        """A label for what fails while a container is filled."""
        label, on = c.new_label(), c.new_label()
        c.jump(on)
        c.place(label)
        c.py("Py_DecRef", new)
        c.jump(failed)
        c.place(on)
        return label

    def filled(new: str, keys: str, set_: str) -> None:
        undo = undone(new)
        bottom = items()
        with c.loop(a) as loop:
            x = c.pointer(stack, c.add(bottom, loop.index))
            c.need(c.icmp("eq", c.py(set_, new, c.pointer(keys, loop.index), x), "0", "i32"), undo)
        c.let(item, new, "ptr")
        drop()
        c.let(noted, b)
        c.jump(note)

    c.place(case[Result.DICT])
    new = c.py("PyDict_New")
    c.refuse(c.is_null(new), failed)
    filled(new, c.pointer(p, 3), "PyDict_SetItem")

    c.place(case[Result.NAMED_TUPLE])
    new = c.py("PyTuple_New", a)
    c.refuse(c.is_null(new), failed)
    bottom = items()
    with c.loop(a) as loop:
        c.py("PyTuple_SetItem", new, loop.index, c.pointer(stack, c.add(bottom, loop.index)))
    c.let(top, bottom)
    pair = c.fresh_slot("[2 x ptr]")
    c.put(pair, 0, c.pointer(p, 3), "ptr")
    c.put(pair, 1, new, "ptr")
    c.let(item, c.py("PyObject_Vectorcall", c.pointer(p, 4), pair, "2", "null"), "ptr")
    c.py("Py_DecRef", new)
    c.refuse(c.is_null(c.get(item, "ptr")), failed)
    c.let(noted, b)
    c.jump(note)

    c.place(case[Result.RECORD])
    c.put(pair, 0, c.pointer(p, 3), "ptr")
    given = c.inst(f"zext i1 {c.icmp('ne', c.pointer(p, 3), 'null', 'ptr')} to i64")
    new = c.py("PyObject_Vectorcall", c.pointer(p, 4), pair, given, "null")
    c.refuse(c.is_null(new), failed)
    filled(new, c.pointer(p, 5), "PyObject_GenericSetAttr")

    c.place(note)
    c.need(c.icmp("sge", c.get(noted), "0"), push)
    c.need(c.is_null(c.pointer(made, c.get(noted))), push)
    c.put(made, c.get(noted), c.get(item, "ptr"), "ptr")
    c.py("Py_IncRef", c.get(item, "ptr"))
    c.jump(push)
    c.place(push)
    one = c.get(item, "ptr")
    c.refuse(c.is_null(one), failed)
    c.put(stack, c.get(top), one, "ptr")
    c.let(top, c.add(c.get(top), "1"))
    c.jump(next_)
    c.place(next_)
    c.let(step, c.at(p, WORDS), "ptr")
    c.jump(again)

    c.place(case[Result.WRITE_LIST])
    changed, first = c.pointer("%values", b), c.word(p, 3)
    new = c.py("PyList_New", a)
    c.refuse(c.is_null(new), failed)
    with c.loop(a) as loop:
        x = c.pointer(stack, c.add(first, loop.index))
        c.py("Py_IncRef", x)
        c.py("PyList_SetItem", new, loop.index, x)
    ended = c.py("PyList_SetSlice", changed, "0", str(2**63 - 1), new)
    c.py("Py_DecRef", new)
    c.need(c.icmp("eq", ended, "0", "i32"), failed)
    c.jump(next_)
    for kind, set_ in ((Result.WRITE_DICT, "PyDict_SetItem"), (Result.WRITE_OBJECT, "PyObject_GenericSetAttr")):
        c.place(case[kind])
        changed, first, keys = c.pointer("%values", b), c.word(p, 3), c.pointer(p, 4)
        if kind == Result.WRITE_DICT:
            with c.when(c.icmp("ne", c.word(p, 5), "0")):
                c.py("PyDict_Clear", changed)
        with c.loop(a) as loop:
            x = c.pointer(stack, c.add(first, loop.index))
            c.need(c.icmp("eq", c.py(set_, changed, c.pointer(keys, loop.index), x), "0", "i32"), failed)
        c.jump(next_)

    c.place(case[Result.CALL])
    bottom = c.sub(items(), "1")
    called = c.at(stack, bottom)
    c.let(item, c.py("PyObject_Vectorcall", c.pointer(called), c.at(called, 1), a, "null"), "ptr")
    with c.loop(c.add(a, "1")) as loop:
        c.py("Py_DecRef", c.pointer(called, loop.index))
    c.let(top, bottom)
    c.jump(push)
    c.place(case[Result.TEXT])
    bottom = items()
    text = c.fresh_slot("ptr")
    c.put(text, 0, c.py("PyObject_Str", c.pointer(stack, bottom)), "ptr")
    with c.loop(a, start="1") as loop:
        c.refuse(c.is_null(c.pointer(text)), failed)
        more = c.py("PyObject_Str", c.pointer(stack, c.add(bottom, loop.index)))
        c.py("PyUnicode_AppendAndDel", text, more)
    c.let(item, c.pointer(text), "ptr")
    drop()
    c.jump(push)
    c.place(case[Result.RAISE])
    error = c.pointer(stack, c.sub(c.get(top), "1"))
    with c.when(c.icmp("ne", b, "0")):
        notes = c.py("PyList_New", "1")
        c.refuse(c.is_null(notes), failed)
        c.py("Py_IncRef", c.object(b))
        c.py("PyList_SetItem", notes, "0", c.object(b))
        noted_now = c.py("PyObject_SetAttr", error, c.object(a), notes)
        c.py("Py_DecRef", notes)
        c.need(c.icmp("eq", noted_now, "0", "i32"), failed)
    c.py("PyErr_SetObject", c.pointer(error, CLASS), error)
    c.jump(failed)

    def forget(start: str) -> None:
        with c.loop(c.word(entry, Entry.MADE_COUNT)) as loop:
            one = c.pointer(made, loop.index)
            c.put(made, loop.index, "null", "ptr")
            c.py("Py_DecRef", one)
        with c.loop(c.get(top), start=start) as loop:
            c.py("Py_DecRef", c.pointer(stack, loop.index))

    c.place(case[Result.END])
    forget("1")
    c.do(f"ret ptr {c.pointer(stack)}")
    c.place(case[Result.PYTHON])
    c.jump(python)

    c.place(python)
    forget("0")
    n = c.add(c.word(entry, Entry.ARGUMENTS), c.word(entry, Entry.CONTAINERS))
    more = c.add(n, "1")
    given = c.inst(f"alloca ptr, i64 {more}, align 8")
    number = c.py("PyLong_FromLongLong", "%status")
    c.refuse(c.is_null(number), none)
    c.put(given, 0, number, "ptr")
    with c.loop(n) as loop:
        c.put(given, c.add(loop.index, "1"), c.pointer("%values", loop.index), "ptr")
    answer = c.py("PyObject_Vectorcall", c.pointer(entry, Entry.FINISH), given, more, "null")
    c.py("Py_DecRef", number)
    c.do(f"ret ptr {answer}")
    c.place(failed)
    forget("0")
    c.jump(none)
    c.place(none)
    c.do("ret ptr null")
    return c


UNKNOWN = 1
"""What `an_array` gives, which is no object, where only Python can tell whose memory a result is."""


def array_text() -> Writer:
    """A result that is an array, as an ARRAY step says: a new reference, null with an exception, or `UNKNOWN`."""
    c = Writer("define internal ptr @an_array(ptr %e, ptr %values, ptr %p) nounwind")
    entry, p = "%e", "%p"
    frame, at, rank = c.pointer(entry, Entry.FRAME), c.word(p, 1), c.word(p, 2)
    noted, dtype, itemsize, argument = c.word(p, 3), c.pointer(p, 4), c.word(p, 5), c.word(p, 6)
    seen, found, unknown = c.new_label(), c.new_label(), "unknown"
    with c.when(c.icmp("sge", noted, "0")):
        known = c.pointer(c.pointer(entry, Entry.MADE), noted)
        with c.when(c.icmp("ne", known, "null", "ptr"), leaves=True):
            c.py("Py_IncRef", known)
            c.do(f"ret ptr {known}")
    place = c.at(frame, at)
    base, start = c.pointer(place), c.pointer(place, 1)
    owner, fresh = c.variable("null", "ptr"), c.variable("null", "ptr")
    with c.when(c.icmp("sge", argument, "0")):
        c.let(owner, c.pointer("%values", argument), "ptr")
    c.branch(c.is_null(c.get(owner, "ptr")), seen, found)
    c.place(seen)
    table = c.pointer(entry, Entry.FRESH)
    with c.loop(c.word(entry, Entry.FRESH_COUNT)) as loop:
        one = c.at(table, c.mul(loop.index, "2"))
        array = c.pointer(one)
        with c.when(c.icmp("eq", c.pointer(array, DATA), base, "ptr")):
            c.let(owner, array, "ptr")
            c.let(fresh, one, "ptr")
    descriptors = c.pointer(entry, Entry.DESCRIPTORS)
    with c.when(c.is_null(c.get(owner, "ptr"))), c.loop(c.word(entry, Entry.ARGUMENTS)) as loop:
        d = c.at(descriptors, c.mul(loop.index, str(int(Descriptor.SIZE))))
        is_array = c.icmp("eq", c.word(d, Descriptor.KIND), str(Kind.ARRAY))
        there = c.both(is_array, c.both(c.is_null(c.get(owner, "ptr")), c.icmp("sge", c.word(d, Descriptor.AT), "0")))
        with c.when(there):
            with c.when(c.icmp("eq", c.pointer(frame, c.word(d, Descriptor.AT)), base, "ptr")):
                c.let(owner, c.pointer("%values", loop.index), "ptr")
    c.refuse(c.is_null(c.get(owner, "ptr")), unknown)
    c.jump(found)

    c.place(found)
    array = c.get(owner, "ptr")
    flags = c.word(array, FLAGS, "i32")
    read_only = c.word(p, 7)
    writable = c.select(c.icmp("ne", read_only, "0"), "i32", "0", c.inst(f"and i32 {flags}, {WRITEABLE}"))
    alone = c.icmp("eq", read_only, "2")
    c.need(c.icmp("sle", rank, str(MAX_RANK)), unknown)
    strides = c.fresh_slot(f"[{MAX_RANK} x i64]")
    sizes = c.at(place, 2)
    steps = c.at(sizes, rank)
    with c.loop(rank) as loop:
        c.put(strides, loop.index, c.inst(f"mul i64 {c.word(steps, loop.index)}, {itemsize}"))
    other = c.new_label()
    mine = c.get(fresh, "ptr")
    c.refuse(c.is_null(mine), other)  # an argument's
    c.need(c.icmp("eq", c.word(mine, 1), "-1"), other)
    c.need(c.icmp("eq", c.pointer(array, DTYPE), dtype, "ptr"), other)
    c.need(c.icmp("eq", c.inst(f"sext i32 {c.word(array, RANK, 'i32')} to i64"), rank), other)
    c.need(c.either(alone, c.icmp("ne", writable, "0", "i32")), other)
    own_sizes, own_strides = c.pointer(array, SIZES), c.pointer(array, STRIDES)
    empty, fits = c.variable("false", "i1"), c.variable("true", "i1")
    c.let(fits, c.icmp("eq", start, base, "ptr"), "i1")
    with c.loop(rank) as loop:
        size = c.word(own_sizes, loop.index)
        c.need(c.icmp("eq", size, c.word(sizes, loop.index)), other)
        steps_alike = c.icmp("eq", c.word(own_strides, loop.index), c.word(strides, loop.index))
        c.let(fits, c.both(c.get(fits, "i1"), c.either(steps_alike, c.icmp("sle", size, "1"))), "i1")
        c.let(empty, c.either(c.get(empty, "i1"), c.icmp("eq", size, "0")), "i1")
    alike = c.either(c.get(fits, "i1"), c.both(c.get(empty, "i1"), c.icmp("eq", start, base, "ptr")))
    c.need(alike, other)
    c.put(mine, 1, 0)
    with c.when(alone):
        c.put(array, FLAGS, c.inst(f"and i32 {flags}, {~WRITEABLE}"), "i32")
    c.py("Py_IncRef", array)
    c.do(f"ret ptr {array}")

    c.place(other)
    c.py("Py_IncRef", dtype)  # which the view takes
    ndim = c.inst(f"trunc i64 {rank} to i32")
    view = c.py("numpy_new", "@PyArray_Type", dtype, ndim, sizes, strides, start, writable, "null")
    with c.when(c.is_null(view), leaves=True):
        c.do("ret ptr null")
    c.py("Py_IncRef", array)  # which the view takes
    with c.when(c.icmp("ne", c.py("numpy_set_base", view, array), "0", "i32"), leaves=True):
        c.py("Py_DecRef", view)
        c.do("ret ptr null")
    c.do(f"ret ptr {view}")
    c.place(unknown)
    c.do(f"ret ptr inttoptr (i64 {UNKNOWN} to ptr)")
    return c


def leave_text() -> Writer:
    """After a call: forgets the arrays it has made, and lets Python's context put itself in order."""
    c = Writer("define void @leave(ptr %e) noinline nounwind")
    entry = "%e"
    fresh, count = c.pointer(entry, Entry.FRESH), c.word(entry, Entry.FRESH_COUNT)
    c.put(entry, Entry.FRESH_COUNT, 0)
    with c.loop(count) as loop:
        c.py("Py_DecRef", c.pointer(fresh, c.mul(loop.index, "2")))
    large = c.word(c.pointer(entry, Entry.CONTEXT), abi.LARGE)
    with c.when(c.icmp("ne", large, "0")):
        error = [c.fresh_slot("ptr") for _ in range(3)]
        c.py("PyErr_Fetch", *error)
        end = c.pointer(entry, Entry.END)
        done = c.py("PyObject_Vectorcall", end, "null", "0", "null")
        yes, no, on = c.new_label(), c.new_label(), c.new_label()
        c.branch(c.is_null(done), no, yes)
        c.place(yes)
        c.py("Py_DecRef", done)
        c.jump(on)
        c.place(no)
        c.py("PyErr_WriteUnraisable", end)
        c.jump(on)
        c.place(on)
        c.py("PyErr_Restore", *(c.get(e, "ptr") for e in error))
    c.do("ret void")
    return c


def spare_text() -> Writer:
    """Takes an array of this number and dtype, of as many elements, that was freed, with the reference to it, and gives
    it these sizes; null if there is none. Those of the number with more or fewer elements are dropped."""
    c = Writer("define internal ptr @spare(ptr %context, ptr %spec, ptr %dtype, i64 %number) noinline nounwind")
    table, rank, found = c.at("%context", abi.SPARES), c.word("%spec", 1), c.variable("null", "ptr")
    sizes = c.at("%spec", 2)
    asked, elements, equal = c.variable(1), c.variable(1), c.variable("true", "i1")
    with c.loop(rank) as loop:
        c.let(asked, c.mul(c.get(asked), c.word(sizes, loop.index)))
    with c.loop(str(abi.MOST_SPARES)) as loop:
        place = c.at(table, c.mul(loop.index, str(abi.SPARE)))
        array = c.pointer(place)
        numbered = c.icmp("eq", c.word(place, 1), "%number")
        with c.when(c.both(c.icmp("ne", array, "null", "ptr"), numbered)):
            ranks = c.icmp("eq", c.inst(f"sext i32 {c.word(array, RANK, 'i32')} to i64"), rank)
            like = c.both(c.icmp("eq", c.pointer(array, DTYPE), "%dtype", "ptr"), ranks)
            fits = c.variable(like, "i1")
            with c.when(like):
                c.let(elements, 1)
                c.let(equal, "true", "i1")
                with c.loop(rank) as inner:
                    size = c.word(c.pointer(array, SIZES), inner.index)
                    c.let(elements, c.mul(c.get(elements), size))
                    same = c.icmp("eq", size, c.word(sizes, inner.index))
                    c.let(equal, c.both(c.get(equal, "i1"), same), "i1")
                c.let(fits, c.icmp("eq", c.get(elements), c.get(asked)), "i1")
            wanted = c.both(c.get(fits, "i1"), c.is_null(c.get(found, "ptr")))
            with c.when(wanted):
                c.put(place, 0, 0)
                c.let(found, array, "ptr")
                with c.when(c.inst(f"xor i1 {c.get(equal, 'i1')}, true")):
                    _give_sizes(c, array, sizes, rank, found)
            with c.when(c.inst(f"xor i1 {c.get(fits, 'i1')}, true")):
                c.put(place, 0, 0)
                c.py("Py_DecRef", array)
    c.do(f"ret ptr {c.get(found, 'ptr')}")
    return c


def _give_sizes(c: Writer, array: str, sizes: str, rank: str, found: str) -> None:
    """Gives an array, of which there is one reference, other sizes of the same product; where NumPy refuses, there is
    none."""
    dims = c.fresh_slot("{ ptr, i32 }")  # PyArray_Dims
    c.put(dims, 0, sizes, "ptr")
    c.do(f"store i32 {c.inst(f'trunc i64 {rank} to i32')}, ptr {c.at(dims, 1)}")
    none = c.py("numpy_resize", array, dims, "0", "0")
    with c.when(c.is_null(none)):
        c.py("PyErr_Clear")
        c.py("Py_DecRef", array)
        c.let(found, "null", "ptr")
    with c.when(c.icmp("ne", none, "null", "ptr")):
        c.py("Py_DecRef", none)


def keep_text() -> Writer:
    """Keeps an array that was freed, with the reference to it, if that is the only one; in place of the oldest one, if
    there is no room."""
    c = Writer("define internal void @keep(ptr %context, ptr %array, i64 %number) noinline nounwind")
    table, last = c.at("%context", abi.SPARES), str(abi.MOST_SPARES - 1)
    with c.when(c.icmp("ne", c.word("%array"), "1"), leaves=True):
        c.py("Py_DecRef", "%array")
        c.do("ret void")
    free = c.variable(-1)
    with c.loop(str(abi.MOST_SPARES)) as loop:
        empty = c.icmp("eq", c.word(table, c.mul(loop.index, str(abi.SPARE))), "0")
        with c.when(c.both(empty, c.icmp("slt", c.get(free), "0"))):
            c.let(free, loop.index)
    with c.when(c.icmp("slt", c.get(free), "0")):
        c.py("Py_DecRef", c.pointer(table))
        with c.loop(c.mul(last, str(abi.SPARE))) as loop:
            c.put(table, loop.index, c.word(table, c.add(loop.index, str(abi.SPARE))))
        c.let(free, last)
    place = c.at(table, c.mul(c.get(free), str(abi.SPARE)))
    c.put(place, 0, "%array", "ptr")
    c.put(place, 1, "%number")
    c.put(place, 2, 0)
    c.do("ret void")
    return c


def own_text() -> Writer:
    """Notes an array as made in this call, with the reference to it: 0, or `STOPPED` where there is no memory."""
    c = Writer("define internal i64 @own(ptr %e, ptr %array) nounwind")
    entry, failed = "%e", "failed"
    fresh, count, room = (
        c.pointer(entry, Entry.FRESH),
        c.word(entry, Entry.FRESH_COUNT),
        c.word(entry, Entry.FRESH_ROOM),
    )
    table = c.variable(fresh, "ptr")
    with c.when(c.icmp("eq", count, room)):
        twice = c.inst(f"shl i64 {c.greatest(room, '4')}, 1")
        larger = c.py("PyMem_RawRealloc", fresh, c.inst(f"shl i64 {twice}, 4"))
        with c.when(c.is_null(larger), leaves=True):
            c.py("PyErr_NoMemory")
            c.jump(failed)
        c.put(entry, Entry.FRESH, larger, "ptr")
        c.put(entry, Entry.FRESH_ROOM, twice)
        c.let(table, larger, "ptr")
    place = c.at(c.get(table, "ptr"), c.mul(count, "2"))
    c.put(place, 0, "%array", "ptr")
    c.put(place, 1, -1)
    c.put(entry, Entry.FRESH_COUNT, c.add(count, "1"))
    c.do("ret i64 0")
    c.place(failed)
    c.do(f"ret i64 {abi.STOPPED}")
    return c


def answer_text() -> Writer:
    """What `ask` of backend/runtime/entry.py gives: new arrays, of axes in any order, their release, and
    host calls."""
    c = Writer("define i64 @answer(ptr %context, i64 %slot, i64 %a, i64 %b) nounwind")
    entry, python, failed = c.pointer("%context", abi.ENTRY), "python", "failed"
    case = c.switch("%slot", [abi.ALLOCATE, abi.RELEASE, abi.REFER], python)
    c.place(case[abi.REFER])
    c.do(f"ret i64 {c.inst('call i64 @refer(ptr %context, i64 %a, i64 %b)')}")
    c.place(case[abi.ALLOCATE])
    spec = c.object("%a")
    rank = c.word(spec, 1)
    c.need(c.icmp("sle", rank, str(MAX_RANK)), python)
    sizes, order = c.at(spec, 2), c.at(spec, c.add(rank, "2"))
    dtypes = c.pointer(entry, Entry.DTYPES)
    ascending = c.variable("true", "i1")
    with c.loop(rank) as loop:
        up = c.icmp("eq", c.word(order, loop.index), loop.index)
        c.let(ascending, c.both(c.get(ascending, "i1"), up), "i1")
    strides = c.variable("null", "ptr")
    with c.when(c.inst(f"xor i1 {c.get(ascending, 'i1')}, true")):  # then NumPy needs to be told
        room = c.fresh_slot(f"[{MAX_RANK} x i64]")
        step = c.variable(c.word(dtypes, c.add(c.word(spec), str(len(abi.ELEMENT_CODES)))))
        last = c.inst(f"sub i64 {rank}, 1")
        with c.loop(rank) as loop:
            axis = c.word(order, c.inst(f"sub i64 {last}, {loop.index}"))
            c.put(room, axis, c.get(step))
            size = c.greatest(c.word(sizes, axis), "1")
            c.let(step, c.inst(f"mul i64 {c.get(step)}, {size}"))  # NumPy refuses what 64 bits do not hold
        c.let(strides, room, "ptr")
    dtype, made = c.pointer(dtypes, c.word(spec)), c.variable("null", "ptr")
    with c.when(c.icmp("ne", "%b", "0")):
        c.let(made, c.inst(f"call ptr @spare(ptr %context, ptr {spec}, ptr {dtype}, i64 %b)"), "ptr")
    with c.when(c.is_null(c.get(made, "ptr"))):
        c.py("Py_IncRef", dtype)  # which the array takes
        ndim = c.inst(f"trunc i64 {rank} to i32")
        new = c.py("numpy_new", "@PyArray_Type", dtype, ndim, sizes, c.get(strides, "ptr"), "null", "0", "null")
        c.refuse(c.is_null(new), failed)
        c.let(made, new, "ptr")
    array = c.get(made, "ptr")
    noted = c.inst(f"call i64 @own(ptr {entry}, ptr {array})")
    with c.when(c.icmp("ne", noted, "0"), leaves=True):
        c.py("Py_DecRef", array)
        c.jump(failed)
    c.do(f"ret i64 {c.word(array, DATA)}")

    c.place(case[abi.RELEASE])
    fresh, count = c.pointer(entry, Entry.FRESH), c.word(entry, Entry.FRESH_COUNT)
    last = c.inst(f"sub i64 {count}, 1")
    with c.loop(count) as loop:
        place = c.at(fresh, c.mul(c.inst(f"sub i64 {last}, {loop.index}"), "2"))
        array = c.pointer(place)
        with c.when(c.icmp("eq", c.word(array, DATA), "%a"), leaves=True):
            end = c.at(fresh, c.mul(last, "2"))
            c.put(place, 0, c.pointer(end), "ptr")
            c.put(place, 1, c.word(end, 1))
            c.put(entry, Entry.FRESH_COUNT, last)
            number = c.inst(f"and i64 %b, {abi.LARGE_SPARE - 1}")
            with c.when(c.icmp("ne", number, "0"), leaves=True):
                with c.when(c.icmp("uge", "%b", str(abi.LARGE_SPARE))):
                    c.put("%context", abi.LARGE, 1)
                c.do(f"call void @keep(ptr %context, ptr {array}, i64 {number})")
                c.do("ret i64 0")
            c.py("Py_DecRef", array)
            c.do("ret i64 0")
    c.jump(python)
    c.place(python)
    c.do(f"ret i64 {abi.PYTHON_MUST}")
    c.place(failed)
    c.do(f"ret i64 {abi.STOPPED}")
    return c
