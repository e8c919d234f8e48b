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

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum

from tracebuf.backend.llvm import abi
from tracebuf.backend.llvm.code import Code

MISS = 1
"""What `attempt` gives, which is no object, where the entry does not take the call."""
MAX_SIZE = 2**40
"""No array in memory is longer along an axis, or has more elements: only repeated and empty ones."""
SMALL_INT = 2**31
"""Python ints of a smaller magnitude are arguments; larger ones are part of a program's key."""


class Table(IntEnum):
    """The words of a function's table. `ENTRIES` is the first of `COUNT`."""

    COUNT = 0
    PYTHON = 1
    """`__call__`, a function of Python."""
    FUNCTION = 2
    """The original function, which has the defaults."""
    PARAMETERS = 3
    POSITIONAL = 4
    """How many parameters take positional arguments."""
    UNNAMED = 5
    """How many of them take nothing else."""
    NAMES = 6
    """Where the parameters' names are."""
    ENTRIES = 7


class Entry(IntEnum):
    """The words of a program's entry."""

    BUSY = 0
    """Not 0 while a call uses the context."""
    CALLS = 1
    ARGUMENTS = 2
    DESCRIPTORS = 3
    ARRAYS = 4
    """How many of the arguments are arrays."""
    RANGES = 5
    """Room for the first and the last byte of each."""
    GUARDS = 6
    NAMES = 7
    """The values from outside."""
    FRAME = 8
    CONTEXT = 9
    LONG = 10
    """Of how many elements a call does not keep the GIL."""
    RESULT = 11
    STACK = 12
    """Room for the parts of the result."""
    FRESH, FRESH_COUNT, FRESH_ROOM = 13, 14, 15
    """The arrays that the call has made, two words each: the array, and which result it is (-1: none yet)."""
    DTYPES = 16
    """The dtypes by element code."""
    FINISH = 17
    """A Python function of the kernel's status and the arguments, which makes the results that nothing here can make,
    and raises errors."""
    END = 18
    """A Python function, called after a call that has used memory of Python's context."""
    GIVEN = 19
    """How many values a call gives: arguments, before containers are taken apart and values from outside come."""
    WALK = 20
    """The steps from these to the arguments, 0 for none."""
    NODES = 21
    """How many objects the walk meets."""
    LEAVES = 22
    """Which of them are the arguments, and then the containers."""
    CONTAINERS = 23
    VALUES = 24
    """During a call, where the arguments are, and then the containers."""
    SIZE = 25


class Walk(IntEnum):
    """The steps that take containers apart, `WALK_WORDS` words each: the step, the number of the object that it is
    about, its class. Objects are numbered as they are met: first the values of the call, then the items."""

    TUPLE = 0
    """and length."""
    LIST = 1
    """and length."""
    DICT = 2
    """and length, where the keys are; these very objects, in this order."""
    OBJECT = 3
    ATTRIBUTE = 4
    """of the object itself; its name in place of the class."""
    OUTSIDE = 5
    """`Source`, where, name."""


WALK_WORDS = 5


class Kind(IntEnum):
    """What an argument is."""

    ARRAY, FLOAT, COMPLEX, BOOL, INT, NUMPY, IS, SAME = range(8)


class Descriptor(IntEnum):
    """The words of an argument's descriptor."""

    KIND = 0
    EXPECTED = 1
    """The class of a number, the dtype of an array, the very object (IS), the number of the argument (SAME)."""
    AT = 2
    """The first slot in the frame, -1 for none."""
    ITEMSIZE = 3
    """In bytes. Of a BOOL: True."""
    RANK = 4
    FLAGS, WANTED = 5, 6
    """Which flags count, and what they must be."""
    LAYOUT = 7
    AXES = 8
    """Where the class (0, 1, 2: more) of each axis is, then the axes from the outermost to the innermost."""
    SHIFT = 9
    """log2 of the item size."""
    SIZE = 10


class Layout(IntEnum):
    """Dense as the flags say; else whether the innermost axis has stride 1."""

    DENSE, UNIT, STRIDED = range(3)


class Result(IntEnum):
    """The steps that put a result together, `WORDS` words each, on a stack."""

    END, OBJECT, ARGUMENT, ARRAY, FLOAT, INT, BOOL, COMPLEX, NUMPY, TUPLE, LIST, NAMED, PYTHON = range(13)


WORDS = 6
"""A step, and up to five numbers: OBJECT object; ARGUMENT index; ARRAY first slot, rank, identity, dtype, item size;
FLOAT and so on slot; NUMPY slot, dtype; TUPLE and LIST length; NAMED a function of the tuple before it."""


class Source(IntEnum):
    """Where a value from outside is looked up, four words each: SOURCE, where, name, value."""

    DICT, DICTS, CELL = range(3)


# Fields in words from an object's start: class; of PyArrayObject data, rank (int), sizes, strides, dtype, flags.
_CLASS, _VALUE = 1, 2
_DATA, _RANK, _SIZES, _STRIDES, _DTYPE, _FLAGS = 2, 3, 4, 5, 7, 8
_OWN = 3
"""Where a `NativeCallable` has the word that is its table."""

SIGNATURES = {
    "PyObject_Vectorcall": "ptr @(ptr, ptr, i64, ptr)",
    "PyTuple_Size": "i64 @(ptr)",
    "PyTuple_GetItem": "ptr @(ptr, i64)",
    "PyTuple_New": "ptr @(i64)",
    "PyTuple_SetItem": "i32 @(ptr, i64, ptr)",
    "PyList_New": "ptr @(i64)",
    "PyList_SetItem": "i32 @(ptr, i64, ptr)",
    "PyDict_GetItemWithError": "ptr @(ptr, ptr)",
    "PyCell_Get": "ptr @(ptr)",
    "PyDict_Next": "i32 @(ptr, ptr, ptr, ptr)",
    "PyDict_Size": "i64 @(ptr)",
    "PyList_Size": "i64 @(ptr)",
    "PyList_GetItem": "ptr @(ptr, i64)",
    "PyObject_GenericGetDict": "ptr @(ptr, ptr)",
    "PyFunction_GetDefaults": "ptr @(ptr)",
    "PyFunction_GetKwDefaults": "ptr @(ptr)",
    "PyLong_AsLongLongAndOverflow": "i64 @(ptr, ptr)",
    "PyLong_FromLongLong": "ptr @(i64)",
    "PyFloat_FromDouble": "ptr @(double)",
    "PyComplex_FromDoubles": "ptr @(double, double)",
    "PyErr_Occurred": "ptr @()",
    "PyErr_Clear": "void @()",
    "PyErr_NoMemory": "ptr @()",
    "PyErr_Fetch": "void @(ptr, ptr, ptr)",
    "PyErr_Restore": "void @(ptr, ptr, ptr)",
    "PyErr_WriteUnraisable": "void @(ptr)",
    "PyMem_RawRealloc": "ptr @(ptr, i64)",
    "Py_IncRef": "void @(ptr)",
    "Py_DecRef": "void @(ptr)",
    "tracebuf_enter": "i64 @(ptr)",
    "numpy_new": "ptr @(ptr, ptr, i32, ptr, ptr, ptr, i32, ptr)",
    "numpy_scalar": "ptr @(ptr, ptr, ptr)",
}
"""What is called: functions of CPython, `PyArray_NewFromDescr` and `PyArray_Scalar` of NumPy."""


class _Writer(Code):
    """One function. Words and pointers are read and written by their index from a pointer."""

    def __init__(self, head: str) -> None:
        super().__init__()
        self.head = head

    def function(self) -> str:
        return "\n".join([self.head + " {", "entry:", *self.entry, *self.lines, "}"])

    def at(self, p: str, k: int | str) -> str:
        return self.offset(p, "i64", str(int(k)) if isinstance(k, int) else k)

    def word(self, p: str, k: int | str = 0, type_: str = "i64") -> str:
        return self.inst(f"load {type_}, ptr {self.at(p, k)}")

    def pointer(self, p: str, k: int | str = 0) -> str:
        return self.word(p, k, "ptr")

    def put(self, p: str, k: int | str, value: int | str, type_: str = "i64") -> None:
        self.do(f"store {type_} {value}, ptr {self.at(p, k)}")

    def variable(self, value: int | str, type_: str = "i64") -> str:
        """A stack slot with a value in it."""
        slot = self.fresh_slot(type_)
        self.do(f"store {type_} {value}, ptr {slot}")
        return slot

    def get(self, variable: str, type_: str = "i64") -> str:
        return self.inst(f"load {type_}, ptr {variable}")

    def let(self, variable: str, value: int | str, type_: str = "i64") -> None:
        self.do(f"store {type_} {value}, ptr {variable}")

    def number(self, p: str) -> str:
        return self.inst(f"ptrtoint ptr {p} to i64")

    def object(self, number: str) -> str:
        return self.inst(f"inttoptr i64 {number} to ptr")

    def is_null(self, p: str) -> str:
        return self.icmp("eq", p, "null", "ptr")

    def both(self, a: str, b: str) -> str:
        return self.inst(f"and i1 {a}, {b}")

    def either(self, a: str, b: str) -> str:
        return self.inst(f"or i1 {a}, {b}")

    def need(self, condition: str, otherwise: str) -> None:
        """Goes on where the condition holds, else to a label."""
        on = self.new_label()
        self.branch(condition, on, otherwise)
        self.place(on)

    def refuse(self, condition: str, otherwise: str) -> None:
        """Goes to a label where the condition holds."""
        on = self.new_label()
        self.branch(condition, otherwise, on)
        self.place(on)

    @contextmanager
    def when(self, condition: str, leaves: bool = False) -> Iterator[None]:
        """The instructions of a case; one that `leaves` ends with a jump of its own."""
        yes, end = self.new_label(), self.new_label()
        self.branch(condition, yes, end)
        self.place(yes)
        yield
        if not leaves:
            self.jump(end)
        self.place(end)

    def yes_or(self, no: str) -> None:
        """Ends a function that gives whether something holds: what was asked of Python at `no` leaves no error."""
        self.do("ret i1 true")
        self.place(no)
        with self.when(self.icmp("ne", self.py("PyErr_Occurred"), "null", "ptr")):
            self.py("PyErr_Clear")
        self.do("ret i1 false")

    def switch(self, value: str, cases: Sequence[int], otherwise: str) -> dict[int, str]:
        labels = {int(c): self.new_label() for c in cases}
        self.do(
            f"switch i64 {value}, label %{otherwise} [{' '.join(f'i64 {c}, label %{k}' for c, k in labels.items())}]"
        )
        return labels

    def py(self, name: str, *args: str) -> str:
        """Calls one of `SIGNATURES`."""
        signature = SIGNATURES[name]
        self.declare(name, signature)
        result, _, rest = signature.partition(" @(")
        types = rest[:-1].split(", ") if rest != ")" else []
        return self.call(result, name, list(zip(types, args, strict=True)))


def entries_text() -> str:
    """The module: `dispatch`, `answer` and `take`, which Python uses to have the context of an entry."""
    functions = [
        _dispatch(),
        _bound(),
        _bind(),
        _attempt(),
        _run(),
        _walk(),
        _look_up(),
        _outside(),
        _array(),
        _guards(),
        _result(),
        _leave(),
        _answer(),
        _take(),
    ]
    declared = {name: text for f in functions for name, text in f._declared.items()}
    return "\n".join([
        "@_Py_TrueStruct = external global i8", "@_Py_FalseStruct = external global i8",
        "@PyArray_Type = external global i8", *declared.values(), *(f.function() for f in functions), "",
    ])  # fmt: skip


def _dispatch() -> _Writer:
    c = _Writer("define ptr @dispatch(ptr %self, ptr %args, i64 %flagged, ptr %names) nounwind")
    table = c.pointer("%self", _OWN)
    n = c.inst(f"and i64 %flagged, {2**63 - 1}")
    values, held = c.variable("%args", "ptr"), c.variable(0)
    parameters = c.word(table, Table.PARAMETERS)
    all_positional = c.icmp("eq", c.word(table, Table.POSITIONAL), n)
    plain = c.both(c.is_null("%names"), c.both(c.icmp("eq", n, parameters), all_positional))
    bind, found, slow = c.new_label(), c.new_label(), c.new_label()
    c.branch(plain, found, bind)
    c.place(bind)
    c.need(c.icmp("ule", parameters, "64"), slow)
    room = c.fresh_slot("[64 x ptr]")
    c.need(c.inst(f"call i1 @bind(ptr {table}, ptr %args, i64 {n}, ptr %names, ptr {room})"), slow)
    c.let(values, room, "ptr")
    c.let(held, parameters)  # a default may be bound anew while the GIL is not held
    with c.loop(parameters) as loop:
        c.py("Py_IncRef", c.pointer(room, loop.index))
    c.jump(found)
    c.place(found)
    with c.loop(c.word(table, Table.COUNT)) as loop:
        place = c.add(loop.index, str(int(Table.ENTRIES)))
        entry = c.pointer(table, place)
        result = c.inst(f"call ptr @attempt(ptr {entry}, ptr {c.get(values, 'ptr')}, i64 {parameters})")
        with c.when(c.icmp("ne", c.number(result), str(MISS)), leaves=True):
            with c.when(c.icmp("ne", loop.index, "0")):
                now = c.pointer("%self", _OWN)  # there may be another table by now, or another order
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


def _bound() -> _Writer:
    """The vectorcall function of a bound method, whose own word points to its function and its object."""
    c = _Writer("define ptr @bound(ptr %self, ptr %args, i64 %flagged, ptr %names) nounwind")
    own = c.pointer("%self", _OWN)
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


def _bind() -> _Writer:
    """The arguments in the order of the parameters, keywords and defaults among them; whether that could be done.
    A name that is another object than the parameter's cannot."""
    c = _Writer("define internal i1 @bind(ptr %table, ptr %args, i64 %n, ptr %names, ptr %values) noinline nounwind")
    no = "no"
    parameters, positional = c.word("%table", Table.PARAMETERS), c.word("%table", Table.POSITIONAL)
    c.need(c.icmp("sle", "%n", positional), no)
    with c.loop(parameters) as loop:
        c.put("%values", loop.index, "null", "ptr")
    with c.loop("%n") as loop:
        c.put("%values", loop.index, c.pointer("%args", loop.index), "ptr")
    own = c.pointer("%table", Table.NAMES)
    keywords = c.variable(0)
    with c.when(c.icmp("ne", "%names", "null", "ptr")):
        c.let(keywords, c.py("PyTuple_Size", "%names"))
    with c.loop(c.get(keywords)) as loop:
        name = c.py("PyTuple_GetItem", "%names", loop.index)
        placed = c.variable(0)
        with c.loop(parameters, start=c.word("%table", Table.UNNAMED)) as inner:
            with c.when(c.icmp("eq", c.pointer(own, inner.index), name, "ptr")):
                c.need(c.is_null(c.pointer("%values", inner.index)), no)
                c.put("%values", inner.index, c.pointer("%args", c.add("%n", loop.index)), "ptr")
                c.let(placed, 1)
        c.need(c.icmp("eq", c.get(placed), "1"), no)
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
    c.yes_or(no)
    return c


def _attempt() -> _Writer:
    """The result of a call if the entry takes it, else MISS."""
    c = _Writer("define internal ptr @attempt(ptr %e, ptr %given, i64 %n) nounwind")
    miss, entry = "miss", "%e"
    c.need(c.icmp("eq", "%n", c.word(entry, Entry.GIVEN)), miss)
    names = c.pointer(entry, Entry.NAMES)
    with c.when(c.icmp("ne", names, "null", "ptr")):
        c.need(c.inst(f"call i1 @outside(ptr {names})"), miss)
    steps = c.pointer(entry, Entry.WALK)
    with c.when(c.icmp("ne", steps, "null", "ptr"), leaves=True):
        nodes = c.inst(f"alloca ptr, i64 {c.word(entry, Entry.NODES)}, align 8")
        leaves = c.add(c.word(entry, Entry.ARGUMENTS), c.word(entry, Entry.CONTAINERS))
        values = c.inst(f"alloca ptr, i64 {c.add(leaves, '1')}, align 8")
        c.need(c.inst(f"call i1 @walk(ptr {entry}, ptr %given, ptr {nodes}, ptr {values})"), miss)
        result = c.inst(f"call ptr @run(ptr {entry}, ptr {values})")
        with c.loop(c.word(entry, Entry.NODES), start="%n") as loop:
            c.py("Py_DecRef", c.pointer(nodes, loop.index))
        c.do(f"ret ptr {result}")
    c.do(f"ret ptr {c.inst(f'call ptr @run(ptr {entry}, ptr %given)')}")
    c.place(miss)
    c.do(f"ret ptr inttoptr (i64 {MISS} to ptr)")
    return c


def _run() -> _Writer:
    """The result of a call with these arguments if the entry takes it, else MISS. The caller holds them."""
    c = _Writer("define internal ptr @run(ptr %e, ptr %values) nounwind")
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
        case = c.switch(c.word(d, Descriptor.KIND), list(Kind), miss)

        c.place(case[Kind.ARRAY])
        range_ = c.at(ranges, c.mul(c.get(arrays), "2"))
        many = c.inst(f"call i64 @array(ptr {d}, ptr {x}, ptr {c.at(frame, at)}, ptr {range_})")
        c.refuse(c.icmp("slt", many, "0"), miss)
        c.let(elements, c.add(c.get(elements), many))
        c.let(arrays, c.add(c.get(arrays), "1"))
        c.jump(next_)

        c.place(case[Kind.FLOAT])
        c.need(c.icmp("eq", c.pointer(x, _CLASS), expected, "ptr"), miss)
        c.put(frame, at, c.word(x, _VALUE))
        c.jump(next_)

        c.place(case[Kind.COMPLEX])
        c.need(c.icmp("eq", c.pointer(x, _CLASS), expected, "ptr"), miss)
        c.put(frame, at, c.word(x, _VALUE))
        c.put(frame, c.add(at, "1"), c.word(x, _VALUE + 1))
        c.jump(next_)

        c.place(case[Kind.BOOL])
        c.need(c.icmp("eq", c.pointer(x, _CLASS), expected, "ptr"), miss)
        true = c.icmp("eq", x, c.pointer(d, Descriptor.ITEMSIZE), "ptr")
        c.put(frame, at, c.inst(f"zext i1 {true} to i64"))
        c.jump(next_)

        c.place(case[Kind.INT])
        c.need(c.icmp("eq", c.pointer(x, _CLASS), expected, "ptr"), miss)
        value = c.py("PyLong_AsLongLongAndOverflow", x, overflow)
        c.need(c.icmp("eq", c.inst(f"load i32, ptr {overflow}"), "0", "i32"), miss)
        c.need(c.icmp("slt", value, str(SMALL_INT)), miss)
        c.need(c.icmp("sgt", value, str(-SMALL_INT)), miss)
        c.put(frame, at, value)
        c.jump(next_)

        c.place(case[Kind.NUMPY])
        c.need(c.icmp("eq", c.pointer(x, _CLASS), expected, "ptr"), miss)
        sizes = c.switch(c.word(d, Descriptor.ITEMSIZE), [1, 2, 4, 8, 16], miss)
        for size in (1, 2, 4):
            c.place(sizes[size])
            part = c.word(x, _VALUE, f"i{8 * size}")
            c.put(frame, at, c.inst(f"zext i{8 * size} {part} to i64"))
            c.jump(next_)
        c.place(sizes[8])
        c.put(frame, at, c.word(x, _VALUE))
        c.jump(next_)
        c.place(sizes[16])
        c.put(frame, at, c.word(x, _VALUE))
        c.put(frame, c.add(at, "1"), c.word(x, _VALUE + 1))
        c.jump(next_)

        c.place(case[Kind.IS])
        c.need(c.icmp("eq", x, expected, "ptr"), miss)
        c.jump(next_)

        c.place(case[Kind.SAME])
        c.need(c.icmp("eq", x, c.pointer("%values", c.number(expected)), "ptr"), miss)
        c.jump(next_)
        c.place(next_)
    with c.loop(c.word(entry, Entry.ARRAYS), start="1") as loop:  # no two arrays have a byte in common
        mine = c.at(ranges, c.mul(loop.index, "2"))
        first, last = c.word(mine), c.word(mine, 1)
        with c.loop(loop.index) as inner:
            other = c.at(ranges, c.mul(inner.index, "2"))
            c.need(c.either(c.icmp("ule", last, c.word(other)), c.icmp("ule", c.word(other, 1), first)), miss)
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


def _walk() -> _Writer:
    """Takes the values of a call apart: the arguments and the containers go to `values`, each of the objects met on the
    way to `nodes`, with a reference to each that was not given: what holds them may change while the GIL is not held.
    False, and nothing is held, where the call is not of the entry's form."""
    c = _Writer("define internal i1 @walk(ptr %e, ptr %given, ptr %nodes, ptr %values) noinline nounwind")
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
        c.need(c.icmp("ne", kind, str(int(Walk.OUTSIDE))), "outside_")
        x = c.pointer(nodes, c.word(p, 1))
        c.need(c.icmp("ne", kind, str(int(Walk.ATTRIBUTE))), "attribute")
        c.need(c.icmp("eq", c.pointer(x, _CLASS), expected, "ptr"), no)
        c.jump(of_class)
        c.place(of_class)
        case = c.switch(kind, [Walk.TUPLE, Walk.LIST, Walk.DICT, Walk.OBJECT], no)
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
            c.need(c.icmp("eq", c.get(key, "ptr"), c.pointer(keys, inner.index), "ptr"), no)
            meet(c.get(item, "ptr"))
        c.jump(next_)
        c.place(case[Walk.OBJECT])
        c.jump(next_)
        c.place("attribute")
        own = c.py("PyObject_GenericGetDict", x, "null")
        c.refuse(c.is_null(own), no)
        found = c.py("PyDict_GetItemWithError", own, expected)
        with c.when(c.is_null(found), leaves=True):
            c.py("Py_DecRef", own)
            c.jump(no)
        meet(found)
        c.py("Py_DecRef", own)
        c.jump(next_)
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


def _look_up() -> _Writer:
    """What a name from outside is bound to now, which what binds it holds; null for nothing, an error may be set."""
    c = _Writer("define internal ptr @look_up(i64 %source, ptr %where, ptr %name) nounwind")
    no = "no"
    case = c.switch("%source", list(Source), no)
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
    c.place(no)
    c.do("ret ptr null")
    return c


def _outside() -> _Writer:
    """Whether names from outside are bound to the very objects that tracing saw: a count, then `Source`, where, name,
    value of each."""
    c = _Writer("define internal i1 @outside(ptr %names) nounwind")
    no = "no"
    first = c.at("%names", 1)
    with c.loop(c.word("%names")) as loop:
        p = c.at(first, c.mul(loop.index, "4"))
        found = c.inst(f"call ptr @look_up(i64 {c.word(p)}, ptr {c.pointer(p, 1)}, ptr {c.pointer(p, 2)})")
        c.need(c.icmp("eq", found, c.pointer(p, 3), "ptr"), no)
    c.yes_or(no)
    return c


def _array() -> _Writer:
    """Checks an array against its descriptor, and fills its slots of the frame and its range of memory; the number of
    its elements, or -1."""
    c = _Writer("define internal i64 @array(ptr %d, ptr %x, ptr %slots, ptr %range) nounwind")
    miss = "miss"
    c.need(c.icmp("eq", c.pointer("%x", _CLASS), "@PyArray_Type", "ptr"), miss)
    c.need(c.icmp("eq", c.pointer("%x", _DTYPE), c.pointer("%d", Descriptor.EXPECTED), "ptr"), miss)
    rank = c.word("%d", Descriptor.RANK)
    c.need(c.icmp("eq", c.inst(f"sext i32 {c.word('%x', _RANK, 'i32')} to i64"), rank), miss)
    flags = c.inst(f"zext i32 {c.word('%x', _FLAGS, 'i32')} to i64")
    counted = c.inst(f"and i64 {flags}, {c.word('%d', Descriptor.FLAGS)}")
    c.need(c.icmp("eq", counted, c.word("%d", Descriptor.WANTED)), miss)
    data = c.pointer("%x", _DATA)
    c.put("%slots", 0, data, "ptr")
    sizes, strides = c.pointer("%x", _SIZES), c.pointer("%x", _STRIDES)
    axes, shift = c.pointer("%d", Descriptor.AXES), c.word("%d", Descriptor.SHIFT)
    itemsize = c.word("%d", Descriptor.ITEMSIZE)
    rest = c.sub(itemsize, "1")
    total = c.variable(1)
    c.declare("llvm.umul.with.overflow.i64", "{ i64, i1 } @(i64, i64)")
    with c.loop(rank) as loop:
        size = c.word(sizes, loop.index)
        c.need(c.icmp("eq", c.least(size, "2"), c.word(axes, loop.index)), miss)
        c.need(c.icmp("ule", size, str(MAX_SIZE)), miss)
        stride = c.word(strides, loop.index)
        c.need(c.icmp("eq", c.inst(f"and i64 {stride}, {rest}"), "0"), miss)
        slot = c.add(loop.index, "1")
        c.put("%slots", slot, size)
        c.put("%slots", c.inst(f"add i64 {slot}, {rank}"), c.inst(f"ashr i64 {stride}, {shift}"))
        product = c.inst(f"call {{ i64, i1 }} @llvm.umul.with.overflow.i64(i64 {c.get(total)}, i64 {size})")
        c.refuse(c.inst(f"extractvalue {{ i64, i1 }} {product}, 1"), miss)
        c.let(total, c.inst(f"extractvalue {{ i64, i1 }} {product}, 0"))
    elements = c.get(total)
    c.need(c.icmp("ule", elements, str(MAX_SIZE)), miss)
    start = c.number(data)
    nbytes = c.inst(f"shl i64 {elements}, {shift}")
    low, high = c.variable(start), c.variable(c.inst(f"add i64 {start}, {c.greatest(nbytes, '1')}"))
    layout = c.word("%d", Descriptor.LAYOUT)
    with c.when(c.icmp("ne", layout, str(int(Layout.DENSE)))):
        # From the innermost axis outwards each stride is beyond what lies within: so the axes are in this order, and no
        # two indices address one element.
        reach, inner = c.variable(0), c.variable(0)
        c.let(high, c.inst(f"add i64 {start}, {itemsize}"))
        with c.loop(rank) as loop:
            last = c.inst(f"sub i64 {rank}, 1")
            axis = c.word(axes, c.inst(f"add i64 {rank}, {c.inst(f'sub i64 {last}, {loop.index}')}"))
            size = c.word(sizes, axis)
            with c.when(c.icmp("sgt", size, "1")):
                stride = c.word(strides, axis)
                with c.when(c.icmp("eq", c.get(inner), "0")):
                    c.let(inner, stride)
                negative = c.inst(f"sub i64 0, {stride}")
                length = c.greatest(stride, negative)
                c.need(c.icmp("sgt", length, c.get(reach)), miss)
                c.need(c.icmp("ult", length, str(2**62)), miss)
                step = c.inst(f"call {{ i64, i1 }} @llvm.umul.with.overflow.i64(i64 {length}, i64 {c.sub(size, '1')})")
                c.refuse(c.inst(f"extractvalue {{ i64, i1 }} {step}, 1"), miss)
                way = c.inst(f"extractvalue {{ i64, i1 }} {step}, 0")
                c.need(c.icmp("ult", way, str(2**62)), miss)
                so_far = c.add(c.get(reach), way)
                c.need(c.icmp("ult", so_far, str(2**62)), miss)
                c.let(reach, so_far)
                backwards = c.icmp("slt", stride, "0")
                side = c.select(backwards, "ptr", low, high)
                moved = c.select(backwards, "i64", c.inst(f"sub i64 0, {way}"), way)
                c.let(side, c.add(c.get(side), moved))
        unit = c.inst(f"zext i1 {c.icmp('ne', c.get(inner), itemsize)} to i64")
        c.need(c.icmp("eq", c.add(unit, str(int(Layout.UNIT))), layout), miss)
    c.put("%range", 0, c.get(low))
    c.put("%range", 1, c.get(high))
    c.do(f"ret i64 {elements}")
    c.place(miss)
    c.do("ret i64 -1")
    return c


def _guards() -> _Writer:
    """Whether the guards hold: a count, then of each 0 for >= 0, 1 for == 0, 2 for != 0, the number of terms, of each
    its coefficient, the number of factors, their slots in the frame. A number beyond 64 bits counts as no."""
    c = _Writer("define internal i1 @guards(ptr %guards, ptr %frame) nounwind")
    no = "no"
    at = c.variable(c.at("%guards", 1), "ptr")
    for operation in ("sadd", "smul"):
        c.declare(f"llvm.{operation}.with.overflow.i64", "{ i64, i1 } @(i64, i64)")

    def taken() -> str:
        p = c.get(at, "ptr")
        c.let(at, c.at(p, 1), "ptr")
        return c.word(p)

    def update(variable: str, operation: str, value: str) -> None:
        pair = c.inst(f"call {{ i64, i1 }} @llvm.{operation}.with.overflow.i64(i64 {c.get(variable)}, i64 {value})")
        c.refuse(c.inst(f"extractvalue {{ i64, i1 }} {pair}, 1"), no)
        c.let(variable, c.inst(f"extractvalue {{ i64, i1 }} {pair}, 0"))

    with c.loop(c.word("%guards")):
        kind, terms = taken(), taken()
        total, term = c.variable(0), c.variable(0)
        with c.loop(terms):
            c.let(term, taken())
            with c.loop(taken()):
                update(term, "smul", c.word("%frame", taken()))
            update(total, "sadd", c.get(term))
        value = c.get(total)
        zero = c.icmp("eq", value, "0")
        same = c.inst(f"xor i1 {zero}, {c.icmp('eq', kind, '2')}")
        holds = c.select(c.icmp("eq", kind, "0"), "i1", c.icmp("sge", value, "0"), same)
        c.need(holds, no)
    c.do("ret i1 true")
    c.place(no)
    c.do("ret i1 false")
    return c


def _result() -> _Writer:
    """What a call gives after its kernel: a new reference, or null with an exception."""
    c = _Writer("define internal ptr @result(ptr %e, ptr %values, i64 %status) nounwind")
    entry, python, none = "%e", "python", "none"
    frame, stack = c.pointer(entry, Entry.FRAME), c.pointer(entry, Entry.STACK)
    top = c.variable(0)
    c.need(c.is_null(c.py("PyErr_Occurred")), none)
    c.need(c.icmp("eq", "%status", "0"), python)
    step = c.variable(c.pointer(entry, Entry.RESULT), "ptr")
    item = c.variable("null", "ptr")
    again, push, next_ = c.new_label(), c.new_label(), c.new_label()
    c.jump(again)
    c.place(again)
    p = c.get(step, "ptr")
    a, b = c.word(p, 1), c.word(p, 2)
    place = c.at(frame, a)
    case = c.switch(c.word(p), list(Result), python)

    c.place(case[Result.OBJECT])
    c.let(item, c.object(a), "ptr")
    shared = c.new_label()
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

    c.place(case[Result.ARRAY])  # one that the call has made, as it was made
    identity, dtype = c.word(p, 3), c.pointer(p, 4)
    base = c.pointer(place)
    c.need(c.icmp("eq", base, c.pointer(place, 1), "ptr"), python)
    fresh = c.pointer(entry, Entry.FRESH)
    c.let(item, "null", "ptr")
    with c.loop(c.word(entry, Entry.FRESH_COUNT)) as loop:
        one = c.at(fresh, c.mul(loop.index, "2"))
        array = c.pointer(one)
        with c.when(c.icmp("eq", c.pointer(array, _DATA), base, "ptr")):
            used = c.word(one, 1)
            free = c.either(c.icmp("eq", used, "-1"), c.icmp("eq", used, identity))
            c.need(free, python)
            c.put(one, 1, identity)
            c.let(item, array, "ptr")
    array = c.get(item, "ptr")
    c.refuse(c.is_null(array), python)
    c.need(c.icmp("eq", c.pointer(array, _DTYPE), dtype, "ptr"), python)
    c.need(c.icmp("eq", c.inst(f"sext i32 {c.word(array, _RANK, 'i32')} to i64"), b), python)
    sizes, strides = c.pointer(array, _SIZES), c.pointer(array, _STRIDES)
    with c.loop(b) as loop:
        size = c.word(sizes, loop.index)
        first = c.add(loop.index, "2")
        c.need(c.icmp("eq", size, c.word(place, first)), python)
        there = c.inst(f"mul i64 {c.word(place, c.add(first, b))}, {c.word(p, 5)}")
        fits = c.either(c.icmp("sle", size, "1"), c.icmp("eq", there, c.word(strides, loop.index)))
        c.need(fits, python)
    c.jump(shared)

    for kind, make, set_ in (
        (Result.TUPLE, "PyTuple_New", "PyTuple_SetItem"), (Result.LIST, "PyList_New", "PyList_SetItem"),
    ):  # fmt: skip
        c.place(case[kind])
        made = c.py(make, a)
        c.refuse(c.is_null(made), "failed")
        bottom = c.inst(f"sub i64 {c.get(top)}, {a}")
        with c.loop(a) as loop:
            c.py(set_, made, loop.index, c.pointer(stack, c.add(bottom, loop.index)))  # takes the reference
        c.let(top, bottom)
        c.let(item, made, "ptr")
        c.jump(push)

    c.place(case[Result.NAMED])
    bottom = c.inst(f"sub i64 {c.get(top)}, 1")
    c.let(top, bottom)
    items = c.pointer(stack, bottom)
    c.let(item, c.py("PyObject_Vectorcall", c.object(a), c.at(stack, bottom), "1", "null"), "ptr")
    c.py("Py_DecRef", items)
    c.jump(push)

    c.place(push)
    made = c.get(item, "ptr")
    c.refuse(c.is_null(made), "failed")
    c.put(stack, c.get(top), made, "ptr")
    c.let(top, c.add(c.get(top), "1"))
    c.jump(next_)
    c.place(next_)
    c.let(step, c.at(p, WORDS), "ptr")
    c.jump(again)

    c.place(case[Result.END])
    c.do(f"ret ptr {c.pointer(stack)}")
    c.place(case[Result.PYTHON])
    c.jump(python)

    c.place(python)
    with c.loop(c.get(top)) as loop:
        c.py("Py_DecRef", c.pointer(stack, loop.index))
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
    c.place("failed")
    with c.loop(c.get(top)) as loop:
        c.py("Py_DecRef", c.pointer(stack, loop.index))
    c.jump(none)
    c.place(none)
    c.do("ret ptr null")
    return c


def _leave() -> _Writer:
    """After a call: forgets the arrays it has made, and lets Python's context put itself in order."""
    c = _Writer("define internal void @leave(ptr %e) noinline nounwind")
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


def _answer() -> _Writer:
    """What `ask` of backend/runtime/entry.py gives: new arrays and their release, but for axes in odd orders."""
    c = _Writer("define i64 @answer(ptr %context, i64 %slot, i64 %a, i64 %b) nounwind")
    entry, python, failed = c.pointer("%context", abi.ENTRY), "python", "failed"
    case = c.switch("%slot", [abi.ALLOCATE, abi.RELEASE], python)
    c.place(case[abi.ALLOCATE])
    spec = c.object("%a")
    rank = c.word(spec, 1)
    order = c.at(spec, c.add(rank, "2"))
    ascending, descending = c.variable(1), c.variable(1)
    with c.loop(rank) as loop:
        axis = c.word(order, loop.index)
        up = c.inst(f"zext i1 {c.icmp('eq', axis, loop.index)} to i64")
        last = c.inst(f"sub i64 {rank}, {c.add(loop.index, '1')}")
        down = c.inst(f"zext i1 {c.icmp('eq', axis, last)} to i64")
        c.let(ascending, c.inst(f"and i64 {c.get(ascending)}, {up}"))
        c.let(descending, c.inst(f"and i64 {c.get(descending)}, {down}"))
    known = c.icmp("ne", c.inst(f"or i64 {c.get(ascending)}, {c.get(descending)}"), "0")
    odd = c.new_label()
    c.need(known, odd)
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
    dtype = c.pointer(c.pointer(entry, Entry.DTYPES), c.word(spec))
    c.py("Py_IncRef", dtype)  # which the array takes
    fortran = c.inst(f"trunc i64 {c.inst(f'xor i64 {c.get(ascending)}, 1')} to i32")
    ndim = c.inst(f"trunc i64 {rank} to i32")
    array = c.py("numpy_new", "@PyArray_Type", dtype, ndim, c.at(spec, 2), "null", "null", fortran, "null")
    c.refuse(c.is_null(array), failed)
    place = c.at(c.get(table, "ptr"), c.mul(count, "2"))
    c.put(place, 0, array, "ptr")
    c.put(place, 1, -1)
    c.put(entry, Entry.FRESH_COUNT, c.add(count, "1"))
    c.do(f"ret i64 {c.word(array, _DATA)}")

    c.place(case[abi.RELEASE])
    fresh, count = c.pointer(entry, Entry.FRESH), c.word(entry, Entry.FRESH_COUNT)
    last = c.inst(f"sub i64 {count}, 1")
    with c.loop(count) as loop:
        place = c.at(fresh, c.mul(c.inst(f"sub i64 {last}, {loop.index}"), "2"))
        array = c.pointer(place)
        with c.when(c.icmp("eq", c.word(array, _DATA), "%a"), leaves=True):
            end = c.at(fresh, c.mul(last, "2"))
            c.put(place, 0, c.pointer(end), "ptr")
            c.put(place, 1, c.word(end, 1))
            c.put(entry, Entry.FRESH_COUNT, last)
            c.py("Py_DecRef", array)
            c.do("ret i64 0")
    c.jump(python)
    c.place(odd)
    c.put("%context", abi.LARGE, 1)  # Python's context has the array
    c.jump(python)
    c.place(python)
    c.do(f"ret i64 {abi.PYTHON_MUST}")
    c.place(failed)
    c.do(f"ret i64 {abi.STOPPED}")
    return c


def _take() -> _Writer:
    """Takes an entry's context for a call by Python: 1, or 0 where it is in use."""
    c = _Writer("define i64 @take(ptr %e) nounwind")
    busy = c.word("%e", Entry.BUSY)
    c.put("%e", Entry.BUSY, 1)
    c.do(f"ret i64 {c.inst(f'xor i64 {busy}, 1')}")
    return c
