"""The way of a call from CPython's vectorcall protocol to a kernel and back, as LLVM IR: written once, for all
functions.

What a program takes and gives is data, arrays of 8-byte words that backend/runtime/entries.py fills, so that an entry
of a program costs no compilation. `dispatch` is the vectorcall function of a bufferized function: it puts the
arguments in the order of the parameters, and tries the entries of the function's *table* in order; one that takes the
call moves to the front. `attempt` checks the arguments against an *entry*, fills the kernel's frame on the way, runs
the kernel and makes the results. It gives up, without having changed anything, where a check fails; where no entry
takes a call, it goes to the `__call__` of Python. `answer` is what a kernel asks for memory, without Python.

Everything here runs with the GIL; `enter` of backend/runtime/entry.py decides whether a kernel does. References to
arguments are the caller's. Objects are reference-counted by CPython's functions: some are immortal.

Source: PEP 590; `PyArrayObject_fields` of numpy/ndarraytypes.h.
"""

from __future__ import annotations

from tracebuf.backend.layout import abi
from tracebuf.backend.layout.entry_words import (
    CLASS,
    MAX_BOUND,
    MISS,
    OWN,
    SMALL_INT,
    VALUE,
    VERSION,
    WALK_WORDS,
    Descriptor,
    Entry,
    Form,
    Kind,
    Source,
    Table,
    Walk,
)
from tracebuf.backend.llvm.entries.checks import (
    apart_by_check,
    apart_check,
    array_check,
    equal_check,
    given_check,
    guards_check,
    twin_check,
)
from tracebuf.backend.llvm.entries.results import (
    answer_text,
    array_text,
    keep_text,
    leave_text,
    own_text,
    result_text,
    spare_text,
)
from tracebuf.backend.llvm.hosted import refer_text
from tracebuf.backend.llvm.writer import Writer

TYPES = ("Float", "Long", "Unicode", "Bytes", "Tuple", "Range", "Slice")
"""Of what is compared by value."""


def entries_text() -> str:
    """The module: `dispatch`, `answer` and `take`, which Python uses to have the context of an entry."""
    functions = [
        _dispatch(),
        _forward(),
        _bound(),
        _bind(),
        _attempt(),
        _run(),
        _walk(),
        _look_up(),
        _outside(),
        array_check(),
        twin_check(),
        given_check(),
        equal_check(),
        apart_check(),
        apart_by_check(),
        guards_check(),
        result_text(),
        array_text(),
        leave_text(),
        spare_text(),
        keep_text(),
        refer_text(),
        own_text(),
        answer_text(),
        _take(),
    ]
    declared = {name: text for f in functions for name, text in f._declared.items()}
    return "\n".join([
        "@_Py_TrueStruct = external global i8", "@_Py_FalseStruct = external global i8",
        "@_Py_NoneStruct = external global i8", "@PyArray_Type = external global i8",
        "@PyExc_AttributeError = external global ptr",
        *(f"@Py{name}_Type = external global i8" for name in TYPES),
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)", *declared.values(),
        *(f.function() for f in functions), "",
    ])  # fmt: skip


def _dispatch() -> Writer:
    c = Writer("define ptr @dispatch(ptr %self, ptr %args, i64 %flagged, ptr %names) nounwind")
    table = c.pointer("%self", OWN)
    first = c.pointer(table, Table.ENTRIES)
    patience = c.word(first, Entry.PATIENCE)
    will_raise = c.both(c.is_null("%names"), c.icmp("uge", c.word(first, Entry.RAISED), patience))
    with c.when(will_raise, leaves=True):
        c.put(first, Entry.CALLS, c.add(c.word(first, Entry.CALLS), "1"))
        result = c.py("PyObject_Vectorcall", c.pointer(table, Table.FUNCTION), "%args", "%flagged", "null")
        with c.when(c.icmp("ne", result, "null", "ptr")):
            c.put(first, Entry.RAISED, 0)
            c.put(first, Entry.PATIENCE, c.mul(patience, "2"))
        c.do(f"ret ptr {result}")
    n = c.inst(f"and i64 %flagged, {2**63 - 1}")
    values, held = c.variable("%args", "ptr"), c.variable(0)
    count, form = c.variable(n), c.variable("null", "ptr")
    parameters = c.word(table, Table.PARAMETERS)
    all_positional = c.icmp("eq", c.word(table, Table.POSITIONAL), n)
    plain = c.both(c.is_null("%names"), c.both(c.icmp("eq", n, parameters), all_positional))
    bind, found, slow = c.new_label(), c.new_label(), c.new_label()
    c.branch(plain, found, bind)
    c.place(bind)
    room, forms = c.fresh_slot(f"[{MAX_BOUND} x ptr]"), c.fresh_slot(f"[{MAX_BOUND + Form.NAMES} x ptr]")
    bound = c.inst(f"call i64 @bind(ptr {table}, ptr %args, i64 {n}, ptr %names, ptr {room}, ptr {forms})")
    c.need(c.icmp("sge", bound, "0"), slow)
    c.let(values, room, "ptr")
    c.let(held, bound)  # a default may be bound anew while the GIL is not held
    c.let(count, bound)
    special = c.inst(f"or i64 {c.word(forms, Form.NAMED)}, {c.word(forms, Form.OUT)}")
    c.let(form, c.select(c.icmp("ne", special, "0"), "ptr", forms, "null"), "ptr")
    with c.loop(bound) as loop:
        c.py("Py_IncRef", c.pointer(room, loop.index))
    c.jump(found)
    c.place(found)
    with c.loop(c.word(table, Table.COUNT)) as loop:
        place = c.add(loop.index, str(int(Table.ENTRIES)))
        entry = c.pointer(table, place)
        given = f"ptr {c.get(values, 'ptr')}, i64 {c.get(count)}, ptr {c.get(form, 'ptr')}"
        result = c.inst(f"call ptr @attempt(ptr {entry}, {given})")
        with c.when(c.icmp("ne", c.number(result), str(MISS)), leaves=True):
            with c.when(c.icmp("ne", loop.index, "0")):
                now = c.pointer("%self", OWN)  # there may be another table by now, or another order
                there = c.both(c.icmp("eq", now, table, "ptr"), c.icmp("slt", loop.index, c.word(table, Table.COUNT)))
                with c.when(there), c.when(c.icmp("eq", c.pointer(table, place), entry, "ptr")):
                    c.put(table, place, c.pointer(table, Table.ENTRIES), "ptr")
                    c.put(table, Table.ENTRIES, entry, "ptr")
            with c.loop(c.get(held)) as inner:
                c.py("Py_DecRef", c.pointer(c.get(values, "ptr"), inner.index))
            c.do(f"ret ptr {result}")
    with c.loop(c.get(held)) as loop:
        c.py("Py_DecRef", c.pointer(c.get(values, "ptr"), loop.index))
    c.jump(slow)
    c.place(slow)
    python = c.pointer(table, Table.PYTHON)
    total = c.variable(n)
    with c.when(c.icmp("ne", "%names", "null", "ptr")):
        c.let(total, c.add(n, c.py("PyTuple_Size", "%names")))
    count = c.get(total)
    more = c.add(count, "1")
    given = c.inst(f"alloca ptr, i64 {more}, align 8")
    c.put(given, 0, "%self", "ptr")
    with c.loop(count) as loop:
        c.put(given, c.add(loop.index, "1"), c.pointer("%args", loop.index), "ptr")
    c.do(f"ret ptr {c.py('PyObject_Vectorcall', python, given, c.add(n, '1'), '%names')}")
    return c


def _forward() -> Writer:
    """The vectorcall function of what Python runs as fast: it calls the original function, whatever the arguments."""
    c = Writer("define ptr @forward(ptr %self, ptr %args, i64 %flagged, ptr %names) nounwind")
    named = c.new_label()
    c.need(c.is_null("%names"), named)
    table = c.pointer("%self", OWN)
    count = c.pointer(table, Table.FORWARDED)
    c.put(count, 0, c.add(c.word(count), "1"))
    c.do(f"ret ptr {c.py('PyObject_Vectorcall', c.pointer(table, Table.FUNCTION), '%args', '%flagged', 'null')}")
    c.place(named)
    c.do(f"ret ptr {c.inst('call ptr @dispatch(ptr %self, ptr %args, i64 %flagged, ptr %names)')}")
    return c


def _bound() -> Writer:
    """The vectorcall function of a bound method, whose own word points to its function and its object."""
    c = Writer("define ptr @bound(ptr %self, ptr %args, i64 %flagged, ptr %names) nounwind")
    own = c.pointer("%self", OWN)
    n = c.inst(f"and i64 %flagged, {2**63 - 1}")
    total = c.variable(n)
    with c.when(c.icmp("ne", "%names", "null", "ptr")):
        c.let(total, c.add(n, c.py("PyTuple_Size", "%names")))
    count = c.get(total)
    given = c.inst(f"alloca ptr, i64 {c.add(count, '1')}, align 8")
    c.put(given, 0, c.pointer(own, 1), "ptr")
    with c.loop(count) as loop:
        c.put(given, c.add(loop.index, "1"), c.pointer("%args", loop.index), "ptr")
    c.do(f"ret ptr {c.py('PyObject_Vectorcall', c.pointer(own), given, c.add(n, '1'), '%names')}")
    return c


def _bind() -> Writer:
    """How many values a call has, or -1: the arguments in the order of the parameters, keywords and defaults among
    them, then those of `*args` and `**kwargs`, then `out`; and the `Form` of the latter. A name is looked for among the
    parameters' as CPython does: as an object, then by its value. One of another class than str is Python's."""
    head = "ptr %table, ptr %args, i64 %n, ptr %names, ptr %values, ptr %form"
    c = Writer(f"define internal i64 @bind({head}) noinline nounwind")
    no = "no"
    parameters, positional = c.word("%table", Table.PARAMETERS), c.word("%table", Table.POSITIONAL)
    star, stars = (c.icmp("ne", c.word("%table", word), "0") for word in (Table.STAR, Table.STARS))
    plain = c.least("%n", positional)
    more = c.inst(f"sub i64 %n, {plain}")
    c.need(c.either(star, c.icmp("eq", more, "0")), no)
    keywords = c.variable(0)
    with c.when(c.icmp("ne", "%names", "null", "ptr")):
        c.let(keywords, c.py("PyTuple_Size", "%names"))
    most = c.add(c.add(parameters, "%n"), c.get(keywords))
    c.need(c.icmp("ule", most, str(MAX_BOUND)), no)
    with c.loop(parameters) as loop:
        c.put("%values", loop.index, "null", "ptr")
    with c.loop(plain) as loop:
        c.put("%values", loop.index, c.pointer("%args", loop.index), "ptr")
    with c.loop("%n", start=plain) as loop:
        to = c.add(parameters, c.inst(f"sub i64 {loop.index}, {plain}"))
        c.put("%values", to, c.pointer("%args", loop.index), "ptr")
    count, named, out = c.variable(c.add(parameters, more)), c.variable(0), c.variable("null", "ptr")
    own = c.pointer("%table", Table.NAMES)
    placed, unnamed = c.variable(0), c.word("%table", Table.UNNAMED)

    def give(parameter: str) -> None:
        c.need(c.is_null(c.pointer("%values", parameter)), no)
        c.put("%values", parameter, value, "ptr")
        c.let(placed, 1)

    with c.loop(c.get(keywords)) as loop:
        name = c.py("PyTuple_GetItem", "%names", loop.index)
        value = c.pointer("%args", c.add("%n", loop.index))
        c.let(placed, 0)
        with c.loop(parameters, start=unnamed) as inner:
            with c.when(c.icmp("eq", c.pointer(own, inner.index), name, "ptr")):
                give(inner.index)
        with c.when(c.icmp("eq", c.get(placed), "0")):
            c.need(c.icmp("eq", c.pointer(name, CLASS), "@PyUnicode_Type", "ptr"), no)
            hashed = c.py("PyObject_Hash", name)
            with c.loop(parameters, start=unnamed) as inner:
                with c.when(c.icmp("eq", c.word(own, c.add(parameters, inner.index)), hashed)):
                    with c.when(_equal(c, c.pointer(own, inner.index), name)):
                        give(inner.index)
        with c.when(c.icmp("eq", c.get(placed), "0")):
            is_out, other, done = c.new_label(), c.new_label(), c.new_label()
            buffer = c.pointer("%table", Table.OUT)
            c.refuse(c.is_null(buffer), other)
            c.branch(_equal(c, name, buffer), is_out, other)
            c.place(is_out)
            c.let(out, value, "ptr")
            c.jump(done)
            c.place(other)
            c.need(stars, no)
            c.put("%values", c.get(count), value, "ptr")
            c.put("%form", c.add(c.get(named), str(int(Form.NAMES))), name, "ptr")
            c.let(count, c.add(c.get(count), "1"))
            c.let(named, c.add(c.get(named), "1"))
            c.jump(done)
            c.place(done)
    c.put("%form", Form.NAMED, c.get(named))
    c.put("%form", Form.OUT, 0)
    x = c.get(out, "ptr")
    given = c.both(c.icmp("ne", x, "null", "ptr"), c.icmp("ne", x, "@_Py_NoneStruct", "ptr"))
    with c.when(given):
        c.need(c.icmp("eq", c.pointer(x, CLASS), "@PyArray_Type", "ptr"), no)
        c.put("%form", Form.OUT, 1)
        c.put("%values", c.get(count), x, "ptr")
        c.let(count, c.add(c.get(count), "1"))
    function = c.pointer("%table", Table.FUNCTION)
    with c.loop(parameters) as loop:
        with c.when(c.is_null(c.pointer("%values", loop.index))):
            value = c.variable("null", "ptr")
            is_positional = c.icmp("slt", loop.index, positional)
            first, second, end = c.new_label(), c.new_label(), c.new_label()
            c.branch(is_positional, first, second)
            c.place(first)
            defaults = c.py("PyFunction_GetDefaults", function)
            c.refuse(c.is_null(defaults), no)
            k = c.add(c.sub(loop.index, positional), c.py("PyTuple_Size", defaults))
            c.refuse(c.icmp("slt", k, "0"), no)
            c.let(value, c.py("PyTuple_GetItem", defaults, k), "ptr")
            c.jump(end)
            c.place(second)
            defaults = c.py("PyFunction_GetKwDefaults", function)
            c.refuse(c.is_null(defaults), no)
            c.let(value, c.py("PyDict_GetItemWithError", defaults, c.pointer(own, loop.index)), "ptr")
            c.jump(end)
            c.place(end)
            found = c.get(value, "ptr")
            c.refuse(c.is_null(found), no)
            c.put("%values", loop.index, found, "ptr")
    c.do(f"ret i64 {c.get(count)}")
    c.place(no)
    with c.when(c.icmp("ne", c.py("PyErr_Occurred"), "null", "ptr")):
        c.py("PyErr_Clear")
    c.do("ret i64 -1")
    return c


def _equal(c: Writer, x: str, y: str) -> str:
    return c.inst(f"call i1 @equal(ptr {x}, ptr {y})")


def _attempt() -> Writer:
    """The result of a call if the entry takes it, else MISS."""
    c = Writer("define internal ptr @attempt(ptr %e, ptr %given, i64 %n, ptr %form) nounwind")
    miss, entry = "miss", "%e"
    c.need(c.icmp("eq", "%n", c.word(entry, Entry.GIVEN)), miss)
    form = c.pointer(entry, Entry.FORM)
    c.need(c.icmp("eq", c.is_null(form), c.is_null("%form"), "i1"), miss)
    with c.when(c.icmp("ne", form, "null", "ptr")):
        named = c.word(form, Form.NAMED)
        for word in (Form.NAMED, Form.OUT):
            c.need(c.icmp("eq", c.word(form, word), c.word("%form", word)), miss)
        with c.loop(named) as loop:
            at = c.add(loop.index, str(int(Form.NAMES)))
            mine, its = c.pointer(form, at), c.pointer("%form", at)
            with c.when(c.icmp("ne", mine, its, "ptr")):
                c.need(_equal(c, mine, its), miss)
    original, steps = c.pointer(entry, Entry.ORIGINAL), c.pointer(entry, Entry.WALK)

    def call_original() -> None:
        """And counts how often in a row it has raised."""
        c.put(entry, Entry.CALLS, c.add(c.word(entry, Entry.CALLS), "1"))
        by_position, names = c.word(original, 1), c.pointer(original, 2)
        result = c.py("PyObject_Vectorcall", c.pointer(original), "%given", by_position, names)
        count = c.add(c.word(entry, Entry.RAISED), "1")
        c.put(entry, Entry.RAISED, c.select(c.is_null(result), "i64", count, "0"))
        c.do(f"ret ptr {result}")

    names = c.pointer(entry, Entry.NAMES)
    with c.when(c.icmp("ne", names, "null", "ptr")):
        c.need(c.inst(f"call i1 @outside(ptr {names})"), miss)
    with c.when(c.both(c.icmp("ne", original, "null", "ptr"), c.is_null(steps)), leaves=True):
        c.need(c.inst(f"call i1 @given(ptr {c.at(original, 3)}, ptr %given, i64 %n)"), miss)
        call_original()
    with c.when(c.icmp("ne", steps, "null", "ptr"), leaves=True):
        nodes = c.inst(f"alloca ptr, i64 {c.word(entry, Entry.NODES)}, align 8")
        leaves = c.add(c.word(entry, Entry.ARGUMENTS), c.word(entry, Entry.CONTAINERS))
        values = c.inst(f"alloca ptr, i64 {c.add(leaves, '1')}, align 8")
        c.need(c.inst(f"call i1 @walk(ptr {entry}, ptr %given, ptr {nodes}, ptr {values})"), miss)

        def leave() -> None:
            with c.loop(c.word(entry, Entry.NODES), start="%n") as loop:
                c.py("Py_DecRef", c.pointer(nodes, loop.index))

        with c.when(c.icmp("ne", original, "null", "ptr"), leaves=True):
            arguments = c.word(entry, Entry.ARGUMENTS)
            fits = c.inst(f"call i1 @given(ptr {c.at(original, 3)}, ptr {values}, i64 {arguments})")
            leave()
            c.need(fits, miss)
            call_original()
        result = c.inst(f"call ptr @run(ptr {entry}, ptr {values})")
        leave()
        c.do(f"ret ptr {result}")
    c.do(f"ret ptr {c.inst(f'call ptr @run(ptr {entry}, ptr %given)')}")
    c.place(miss)
    c.do(f"ret ptr inttoptr (i64 {MISS} to ptr)")
    return c


def _run() -> Writer:
    """The result of a call with these arguments if the entry takes it, else MISS. The caller holds them."""
    c = Writer("define internal ptr @run(ptr %e, ptr %values) nounwind")
    miss, entry = "miss", "%e"
    n = c.word(entry, Entry.ARGUMENTS)
    c.need(c.icmp("eq", c.word(entry, Entry.BUSY), "0"), miss)
    frame, ranges = c.pointer(entry, Entry.FRAME), c.pointer(entry, Entry.RANGES)
    arrays, elements = c.variable(0), c.variable(0)
    descriptors = c.pointer(entry, Entry.DESCRIPTORS)
    overflow = c.fresh_slot("i32")
    with c.loop(n) as loop:
        d = c.at(descriptors, c.mul(loop.index, str(int(Descriptor.SIZE))))
        x, expected = c.pointer("%values", loop.index), c.pointer(d, Descriptor.EXPECTED)
        at = c.word(d, Descriptor.AT)
        next_ = c.new_label()
        case = c.switch(c.word(d, Descriptor.KIND), Kind.EACH, miss)

        c.place(case[Kind.ARRAY])
        range_ = c.at(ranges, c.mul(c.get(arrays), "4"))
        many = c.inst(f"call i64 @array(ptr {d}, ptr {x}, ptr {c.at(frame, at)}, ptr {range_})")
        c.refuse(c.icmp("slt", many, "0"), miss)
        c.let(elements, c.add(c.get(elements), many))
        c.let(arrays, c.add(c.get(arrays), "1"))
        c.jump(next_)

        c.place(case[Kind.FLOAT])
        c.need(c.icmp("eq", c.pointer(x, CLASS), expected, "ptr"), miss)
        c.put(frame, at, c.word(x, VALUE))
        c.jump(next_)

        c.place(case[Kind.COMPLEX])
        c.need(c.icmp("eq", c.pointer(x, CLASS), expected, "ptr"), miss)
        c.put(frame, at, c.word(x, VALUE))
        c.put(frame, c.add(at, "1"), c.word(x, VALUE + 1))
        c.jump(next_)

        c.place(case[Kind.BOOL])
        c.need(c.icmp("eq", c.pointer(x, CLASS), expected, "ptr"), miss)
        true = c.icmp("eq", x, c.pointer(d, Descriptor.ITEMSIZE), "ptr")
        c.put(frame, at, c.inst(f"zext i1 {true} to i64"))
        c.jump(next_)

        c.place(case[Kind.INT])
        c.need(c.icmp("eq", c.pointer(x, CLASS), expected, "ptr"), miss)
        value = c.py("PyLong_AsLongLongAndOverflow", x, overflow)
        c.need(c.icmp("eq", c.inst(f"load i32, ptr {overflow}"), "0", "i32"), miss)
        c.need(c.icmp("slt", value, str(SMALL_INT)), miss)
        c.need(c.icmp("sgt", value, str(-SMALL_INT)), miss)
        c.put(frame, at, value)
        c.jump(next_)

        c.place(case[Kind.NUMPY])
        c.need(c.icmp("eq", c.pointer(x, CLASS), expected, "ptr"), miss)
        sizes = c.switch(c.word(d, Descriptor.ITEMSIZE), [1, 2, 4, 8, 16], miss)
        for size in (1, 2, 4):
            c.place(sizes[size])
            part = c.word(x, VALUE, f"i{8 * size}")
            c.put(frame, at, c.inst(f"zext i{8 * size} {part} to i64"))
            c.jump(next_)
        c.place(sizes[8])
        c.put(frame, at, c.word(x, VALUE))
        c.jump(next_)
        c.place(sizes[16])
        c.put(frame, at, c.word(x, VALUE))
        c.put(frame, c.add(at, "1"), c.word(x, VALUE + 1))
        c.jump(next_)

        c.place(case[Kind.CLASS])
        c.branch(c.icmp("eq", c.pointer(x, CLASS), expected, "ptr"), next_, miss)

        c.place(case[Kind.IS])
        other = c.new_label()
        c.branch(c.icmp("eq", x, expected, "ptr"), next_, other)
        c.place(other)
        c.branch(_equal(c, x, expected), next_, miss)

        c.place(case[Kind.TWIN])
        first = c.pointer("%values", c.number(expected))
        c.need(c.inst(f"call i1 @twin(ptr {d}, ptr {x}, ptr {first})"), miss)
        others = c.pointer(d, Descriptor.AXES)
        with c.loop(c.word(others)) as inner:  # objects that it is not
            one = c.pointer("%values", c.word(others, c.add(inner.index, "1")))
            c.need(c.icmp("ne", x, one, "ptr"), miss)
        c.jump(next_)

        c.place(case[Kind.SAME])
        c.need(c.icmp("eq", x, c.pointer("%values", c.number(expected)), "ptr"), miss)
        c.jump(next_)
        c.place(next_)
    with c.loop(c.word(entry, Entry.ARRAYS), start="1") as loop:
        mine = c.at(ranges, c.mul(loop.index, "4"))
        first, last = c.word(mine), c.word(mine, 1)
        with c.loop(loop.index) as inner:
            other = c.at(ranges, c.mul(inner.index, "4"))
            common = c.both(c.icmp("ugt", last, c.word(other)), c.icmp("ugt", c.word(other, 1), first))
            with c.when(common):  # of their ranges
                c.need(c.inst(f"call i1 @apart(ptr {mine}, ptr {other})"), miss)
    guards = c.pointer(entry, Entry.GUARDS)
    with c.when(c.icmp("ne", guards, "null", "ptr")):
        c.need(c.inst(f"call i1 @guards(ptr {guards}, ptr {frame})"), miss)

    context = c.pointer(entry, Entry.CONTEXT)
    c.put(entry, Entry.BUSY, 1)
    c.put(entry, Entry.CALLS, c.add(c.word(entry, Entry.CALLS), "1"))
    short = c.icmp("slt", c.get(elements), c.word(entry, Entry.LONG))
    c.put(context, abi.HELD, c.inst(f"zext i1 {short} to i64"))
    c.put(context, abi.ANSWER, "@answer", "ptr")
    c.put(entry, Entry.VALUES, "%values", "ptr")
    status = c.py("tracebuf_enter", frame)
    c.put(context, abi.HELD, 0)
    c.put(context, abi.ANSWER, 0)
    result = c.inst(f"call ptr @result(ptr {entry}, ptr %values, i64 {status})")
    fresh, large = c.word(entry, Entry.FRESH_COUNT), c.word(context, abi.LARGE)
    with c.when(c.icmp("ne", c.inst(f"or i64 {fresh}, {large}"), "0")):
        c.do(f"call void @leave(ptr {entry})")
    c.put(entry, Entry.BUSY, 0)
    c.do(f"ret ptr {result}")
    c.place(miss)
    c.do(f"ret ptr inttoptr (i64 {MISS} to ptr)")
    return c


def _walk() -> Writer:
    """Takes the values of a call apart: the arguments and the containers go to `values`, each of the objects met on the
    way to `nodes`, with a reference to each that was not given: what holds them may change while the GIL is not held.
    False, and nothing is held, where the call is not of the entry's form."""
    c = Writer("define internal i1 @walk(ptr %e, ptr %given, ptr %nodes, ptr %values) noinline nounwind")
    no, entry, nodes = "no", "%e", "%nodes"
    given, steps = c.word(entry, Entry.GIVEN), c.pointer(entry, Entry.WALK)
    count = c.variable(given)
    key, item, place = (c.fresh_slot(t) for t in ("ptr", "ptr", "i64"))
    with c.loop(given) as loop:
        c.put(nodes, loop.index, c.pointer("%given", loop.index), "ptr")

    def meet(x: str, owned: bool = False) -> None:
        if not owned:
            c.py("Py_IncRef", x)
        c.put(nodes, c.get(count), x, "ptr")
        c.let(count, c.add(c.get(count), "1"))

    with c.loop(c.word(steps)) as loop:
        p = c.at(c.at(steps, 1), c.mul(loop.index, str(WALK_WORDS)))
        next_, of_class = c.new_label(), c.new_label()
        kind, expected, length = c.word(p), c.pointer(p, 2), c.word(p, 3)
        c.need(c.icmp("ne", kind, str(Walk.OUTSIDE)), "outside_")

        def absent(p: str = p, next_: str = next_) -> None:
            """Where Python has said that there is no such attribute: what stands for it."""
            instead = c.pointer(p, 3)
            c.refuse(c.is_null(instead), no)
            error = c.inst("load ptr, ptr @PyExc_AttributeError")
            c.need(c.icmp("ne", c.py("PyErr_ExceptionMatches", error), "0", "i32"), no)
            c.py("PyErr_Clear")
            meet(instead)
            c.jump(next_)

        x = c.pointer(nodes, c.word(p, 1))
        case = c.switch(kind, Walk.OF_PARTS, of_class)
        c.place(of_class)
        c.need(c.icmp("eq", c.pointer(x, CLASS), expected, "ptr"), no)
        case |= c.switch(kind, [Walk.TUPLE, Walk.LIST, Walk.DICT, Walk.OBJECT], no)
        for one, size, get in (
            (Walk.TUPLE, "PyTuple_Size", "PyTuple_GetItem"), (Walk.LIST, "PyList_Size", "PyList_GetItem"),
        ):  # fmt: skip
            c.place(case[one])
            c.need(c.icmp("eq", c.py(size, x), length), no)
            with c.loop(length) as inner:
                meet(c.py(get, x, inner.index))
            c.jump(next_)
        c.place(case[Walk.DICT])
        c.need(c.icmp("eq", c.py("PyDict_Size", x), length), no)
        c.let(place, 0)
        keys = c.pointer(p, 4)
        with c.loop(length) as inner:
            c.need(c.icmp("ne", c.py("PyDict_Next", x, place, key, item), "0", "i32"), no)
            mine, wanted, on, other = c.get(key, "ptr"), c.pointer(keys, inner.index), c.new_label(), c.new_label()
            c.branch(c.icmp("eq", mine, wanted, "ptr"), on, other)
            c.place(other)
            c.branch(_equal(c, mine, wanted), on, no)
            c.place(on)
            meet(c.get(item, "ptr"))
        c.jump(next_)
        c.place(case[Walk.OBJECT])
        c.jump(next_)
        c.place(case[Walk.ATTRIBUTE])
        own = c.py("PyObject_GenericGetDict", x, "null")
        with c.when(c.is_null(own), leaves=True):
            absent()
        found = c.py("PyDict_GetItemWithError", own, expected)
        with c.when(c.is_null(found)):
            with c.when(c.icmp("ne", c.py("PyErr_Occurred"), "null", "ptr"), leaves=True):
                c.py("Py_DecRef", own)
                c.jump(no)
        meet(c.select(c.is_null(found), "ptr", c.pointer(p, 3), found))  # else what stands for none
        c.py("Py_DecRef", own)
        c.jump(next_)
        c.place(case[Walk.GET])
        found = c.py("PyObject_GetAttr", x, expected)
        with c.when(c.is_null(found), leaves=True):
            absent()
        meet(found, owned=True)
        c.jump(next_)
        c.place(case[Walk.ITEM])
        found = c.py("PyObject_GetItem", x, expected)
        c.refuse(c.is_null(found), no)
        meet(found, owned=True)
        c.jump(next_)
        c.place(case[Walk.CONSTANT])
        meet(expected)
        c.jump(next_)
        c.place(case[Walk.IS])
        c.branch(c.icmp("eq", x, expected, "ptr"), next_, no)
        c.place(case[Walk.EQUAL])
        c.branch(_equal(c, x, expected), next_, no)
        c.place(case[Walk.SAME])
        c.branch(c.icmp("eq", x, c.pointer(nodes, length), "ptr"), next_, no)
        c.place("outside_")
        source, where, name = c.word(p, 1), c.pointer(p, 2), c.pointer(p, 3)
        found = c.inst(f"call ptr @look_up(i64 {source}, ptr {where}, ptr {name})")
        c.refuse(c.is_null(found), no)
        meet(found)
        c.jump(next_)
        c.place(next_)
    leaves, arguments = c.pointer(entry, Entry.LEAVES), c.word(entry, Entry.ARGUMENTS)
    total = c.add(arguments, c.word(entry, Entry.CONTAINERS))
    with c.loop(total) as loop:
        c.put("%values", loop.index, c.pointer(nodes, c.word(leaves, loop.index)), "ptr")
    with c.loop(total, start=arguments) as loop:  # each container is another object
        mine = c.pointer("%values", loop.index)
        with c.loop(loop.index, start=arguments) as inner:
            c.need(c.icmp("ne", mine, c.pointer("%values", inner.index), "ptr"), no)
    c.do("ret i1 true")
    c.place(no)
    with c.when(c.icmp("ne", c.py("PyErr_Occurred"), "null", "ptr")):
        c.py("PyErr_Clear")
    with c.loop(c.get(count), start=given) as loop:
        c.py("Py_DecRef", c.pointer(nodes, loop.index))
    c.do("ret i1 false")
    return c


def _look_up() -> Writer:
    """What a name from outside is bound to now, which what binds it holds; null for nothing, an error may be set."""
    c = Writer("define internal ptr @look_up(i64 %source, ptr %where, ptr %name) nounwind")
    no = "no"
    case = c.switch("%source", Source.EACH, no)
    c.place(case[Source.DICT])
    c.do(f"ret ptr {c.py('PyDict_GetItemWithError', '%where', '%name')}")
    c.place(case[Source.DICTS])  # the globals, then the builtins
    found = c.py("PyDict_GetItemWithError", c.pointer("%where"), "%name")
    with c.when(c.icmp("ne", found, "null", "ptr"), leaves=True):
        c.do(f"ret ptr {found}")
    c.do(f"ret ptr {c.py('PyDict_GetItemWithError', c.pointer('%where', 1), '%name')}")
    c.place(case[Source.CELL])
    held = c.py("PyCell_Get", "%where")
    c.refuse(c.is_null(held), no)
    c.py("Py_DecRef", held)  # the cell has it
    c.do(f"ret ptr {held}")
    c.place(case[Source.CLASS])
    c.do(f"ret ptr {c.py('_PyType_Lookup', '%where', '%name')}")
    c.place(no)
    c.do("ret ptr null")
    return c


def _outside() -> Writer:
    """Whether names from outside (`Entry.NAMES`) are bound to the very objects that tracing saw. Those in dicts that
    are as they were, which their versions say (PEP 509), are not looked up."""
    c = Writer("define internal i1 @outside(ptr %names) nounwind")
    no = "no"
    first, dicts = c.at("%names", 3), c.pointer("%names", 2)
    start, changed = c.variable(c.word("%names", 1)), c.variable(0)
    with c.loop(c.word(dicts)) as loop:
        pair = c.at(dicts, c.add(c.mul(loop.index, "2"), "1"))
        version = c.word(c.pointer(pair), VERSION)
        c.let(changed, c.inst(f"or i64 {c.get(changed)}, {c.inst(f'xor i64 {version}, {c.word(pair, 1)}')}"))
        c.put(pair, 1, version)
    with c.when(c.icmp("ne", c.get(changed), "0")):
        c.let(start, 0)
    with c.loop(c.word("%names"), start=c.get(start)) as loop:
        p = c.at(first, c.mul(loop.index, "4"))
        found = c.inst(f"call ptr @look_up(i64 {c.word(p)}, ptr {c.pointer(p, 1)}, ptr {c.pointer(p, 2)})")
        c.need(c.icmp("eq", found, c.pointer(p, 3), "ptr"), no)
    c.do("ret i1 true")
    c.place(no)
    with c.loop(c.word(dicts)) as loop:  # the next call looks again
        c.put(dicts, c.add(c.mul(loop.index, "2"), "2"), 0)
    with c.when(c.icmp("ne", c.py("PyErr_Occurred"), "null", "ptr")):
        c.py("PyErr_Clear")
    c.do("ret i1 false")
    return c


def _take() -> Writer:
    """Takes an entry's context for a call by Python: 1, or 0 where it is in use."""
    c = Writer("define i64 @take(ptr %e) nounwind")
    busy = c.word("%e", Entry.BUSY)
    c.put("%e", Entry.BUSY, 1)
    c.do(f"ret i64 {c.inst(f'xor i64 {busy}, 1')}")
    return c
