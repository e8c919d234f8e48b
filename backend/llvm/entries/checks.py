"""What native calls check of single arguments, pairs of arrays and sizes, as LLVM IR."""

from __future__ import annotations

from tracebuf.backend.layout.entry_words import (
    ANYWHERE,
    CLASS,
    DATA,
    DTYPE,
    FLAGS,
    GUARD_ROOM,
    MAX_RANK,
    MAX_SIZE,
    RANK,
    REPEATED,
    SIZES,
    SMALL_INT,
    STRIDES,
    VALUE,
    Descriptor,
    Given,
    Guarded,
    Kind,
    Layout,
)
from tracebuf.backend.llvm.writer import Writer


def array_check() -> Writer:
    """Checks an array against its descriptor, and fills its slots of the frame and its range of memory; the number of
    its elements, or -1."""
    c = Writer("define internal i64 @array(ptr %d, ptr %x, ptr %slots, ptr %range) nounwind")
    miss = "miss"
    c.need(c.icmp("eq", c.pointer("%x", CLASS), "@PyArray_Type", "ptr"), miss)
    c.need(c.icmp("eq", c.pointer("%x", DTYPE), c.pointer("%d", Descriptor.EXPECTED), "ptr"), miss)
    rank = c.word("%d", Descriptor.RANK)
    c.need(c.icmp("eq", c.inst(f"sext i32 {c.word('%x', RANK, 'i32')} to i64"), rank), miss)
    flags = c.inst(f"zext i32 {c.word('%x', FLAGS, 'i32')} to i64")
    counted = c.inst(f"and i64 {flags}, {c.word('%d', Descriptor.FLAGS)}")
    c.need(c.icmp("eq", counted, c.word("%d", Descriptor.WANTED)), miss)
    data = c.pointer("%x", DATA)
    c.put("%slots", 0, data, "ptr")
    sizes, strides = c.pointer("%x", SIZES), c.pointer("%x", STRIDES)
    axes, shift = c.pointer("%d", Descriptor.AXES), c.word("%d", Descriptor.SHIFT)
    itemsize = c.word("%d", Descriptor.ITEMSIZE)
    rest = c.sub(itemsize, "1")
    total = c.variable(1)
    c.declare("llvm.umul.with.overflow.i64", "{ i64, i1 } @(i64, i64)")
    repeats = c.variable("false", "i1")
    with c.loop(rank) as loop:
        size, kind = c.word(sizes, loop.index), c.word(axes, loop.index)
        c.need(c.icmp("eq", c.least(size, "2"), c.least(kind, "2")), miss)
        c.need(c.icmp("ule", size, str(MAX_SIZE)), miss)
        stride = c.word(strides, loop.index)
        repeated = c.icmp("eq", kind, str(REPEATED))
        c.need(c.either(c.icmp("eq", stride, "0"), c.inst(f"xor i1 {repeated}, true")), miss)
        c.let(repeats, c.either(c.get(repeats, "i1"), repeated), "i1")
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
    with c.when(c.icmp("ne", layout, str(Layout.DENSE))):
        # From the innermost axis outwards each stride is beyond what lies within: so the axes are in this order, and no
        # two indices address one element. Of an array that is only read (it is loose) the order is enough.
        reach, inner, before, axis_before = c.variable(0), c.variable(0), c.variable(0), c.variable(MAX_RANK)
        loose = c.icmp("ne", c.word("%d", Descriptor.LOOSE), "0")
        c.let(high, c.inst(f"add i64 {start}, {itemsize}"))
        with c.loop(rank) as loop:
            last = c.inst(f"sub i64 {rank}, 1")
            axis = c.word(axes, c.inst(f"add i64 {rank}, {c.inst(f'sub i64 {last}, {loop.index}')}"))
            size = c.word(sizes, axis)
            counts = c.both(c.icmp("sgt", size, "1"), c.icmp("ne", c.word(axes, axis), str(REPEATED)))
            with c.when(counts):
                stride = c.word(strides, axis)
                with c.when(c.icmp("eq", c.get(inner), "0")):
                    c.let(inner, stride)
                negative = c.inst(f"sub i64 0, {stride}")
                length = c.greatest(stride, negative)
                tied = c.both(c.icmp("eq", length, c.get(before)), c.icmp("slt", axis, c.get(axis_before)))
                in_order = c.either(c.icmp("sgt", length, c.get(before)), tied)
                c.need(c.either(c.icmp("sgt", length, c.get(reach)), c.both(loose, in_order)), miss)
                c.let(before, length)
                c.let(axis_before, axis)
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
        not_unit = c.either(c.get(repeats, "i1"), c.icmp("ne", c.get(inner), itemsize))
        unit = c.inst(f"zext i1 {not_unit} to i64")
        c.need(c.icmp("eq", c.add(unit, str(Layout.UNIT)), layout), miss)
    c.put("%range", 0, c.get(low))
    c.put("%range", 1, c.get(high))
    c.put("%range", 2, "%x", "ptr")
    c.put("%range", 3, "%d", "ptr")
    c.do(f"ret i64 {elements}")
    c.place(miss)
    c.do("ret i64 -1")
    return c


def twin_check() -> Writer:
    """Whether an argument is another array object that is the same view as `%y`."""
    c = Writer("define internal i1 @twin(ptr %d, ptr %x, ptr %y) noinline nounwind")
    no = "no"
    c.need(c.icmp("eq", c.pointer("%x", CLASS), "@PyArray_Type", "ptr"), no)
    for word in (DATA, DTYPE):
        c.need(c.icmp("eq", c.pointer("%x", word), c.pointer("%y", word), "ptr"), no)
    rank = c.word("%x", RANK, "i32")
    c.need(c.icmp("eq", rank, c.word("%y", RANK, "i32"), "i32"), no)
    flags = c.inst(f"zext i32 {c.word('%x', FLAGS, 'i32')} to i64")
    counted = c.inst(f"and i64 {flags}, {c.word('%d', Descriptor.FLAGS)}")
    c.need(c.icmp("eq", counted, c.word("%d", Descriptor.WANTED)), no)
    with c.loop(c.inst(f"sext i32 {rank} to i64")) as loop:
        for word in (SIZES, STRIDES):
            mine, its = (c.word(c.pointer(x, word), loop.index) for x in ("%x", "%y"))
            c.need(c.icmp("eq", mine, its), no)
    c.do("ret i1 true")
    c.place(no)
    c.do("ret i1 false")
    return c


def given_check() -> Writer:
    """Whether each argument is what it must be: arrays of these very sizes, strides and flags, as far from one another
    in memory, or anywhere; or only of this dtype and rank."""
    c = Writer("define internal i1 @given(ptr %parts, ptr %values, i64 %n) noinline nounwind")
    no = "no"
    first = c.variable(0)
    overflow = c.fresh_slot("i32")
    with c.loop("%n") as loop:
        p = c.at("%parts", c.mul(loop.index, str(int(Given.SIZE))))
        x, expected, next_ = c.pointer("%values", loop.index), c.pointer(p, Given.EXPECTED), c.new_label()
        case = c.switch(c.word(p), [Kind.ARRAY, Kind.INT, Kind.NUMPY, Kind.IS], no)
        c.place(case[Kind.IS])
        c.need(c.inst(f"call i1 @equal(ptr {x}, ptr {expected})"), no)
        c.jump(next_)
        c.place(case[Kind.NUMPY])
        c.need(c.icmp("eq", c.pointer(x, CLASS), expected, "ptr"), no)
        c.jump(next_)
        c.place(case[Kind.INT])
        c.need(c.icmp("eq", c.pointer(x, CLASS), expected, "ptr"), no)
        value = c.py("PyLong_AsLongLongAndOverflow", x, overflow)
        c.need(c.icmp("eq", c.inst(f"load i32, ptr {overflow}"), "0", "i32"), no)
        c.need(c.icmp("slt", value, str(SMALL_INT)), no)
        c.need(c.icmp("sgt", value, str(-SMALL_INT)), no)
        c.jump(next_)
        c.place(case[Kind.ARRAY])
        c.need(c.icmp("eq", c.pointer(x, CLASS), "@PyArray_Type", "ptr"), no)
        c.need(c.icmp("eq", c.pointer(x, DTYPE), expected, "ptr"), no)
        rank = c.word(p, Given.RANK)
        c.need(c.icmp("eq", c.inst(f"sext i32 {c.word(x, RANK, 'i32')} to i64"), rank), no)
        c.refuse(c.is_null(c.pointer(p, Given.SIZES)), next_)
        flags = c.inst(f"zext i32 {c.word(x, FLAGS, 'i32')} to i64")
        c.need(c.icmp("eq", flags, c.word(p, Given.FLAGS)), no)
        start = c.word(x, DATA)
        with c.when(c.icmp("eq", c.get(first), "0")):
            c.let(first, start)
        at, there = c.word(p, Given.AT), c.inst(f"sub i64 {start}, {c.get(first)}")
        c.need(c.either(c.icmp("eq", there, at), c.icmp("eq", at, str(ANYWHERE))), no)
        wanted, sizes, strides = c.pointer(p, Given.SIZES), c.pointer(x, SIZES), c.pointer(x, STRIDES)
        with c.loop(rank) as inner:
            c.need(c.icmp("eq", c.word(sizes, inner.index), c.word(wanted, inner.index)), no)
            step = c.word(wanted, c.inst(f"add i64 {inner.index}, {rank}"))
            c.need(c.icmp("eq", c.word(strides, inner.index), step), no)
        c.jump(next_)
        c.place(next_)
    c.do("ret i1 true")
    c.place(no)
    c.do("ret i1 false")
    return c


def equal_check() -> Writer:
    """Whether two objects are one, or equal: numbers, strings, bytes, ranges, slices and tuples of Python's. No code of
    the user's runs."""
    c = Writer("define internal i1 @equal(ptr %x, ptr %y) noinline nounwind")
    yes, no = "yes", "no"
    c.refuse(c.icmp("eq", "%x", "%y", "ptr"), yes)
    kind = c.pointer("%x", CLASS)
    c.need(c.icmp("eq", kind, c.pointer("%y", CLASS), "ptr"), no)
    for name, label in (
        ("PyFloat_Type", "float"), ("PyTuple_Type", "tuple"), ("PyLong_Type", "plain"), ("PyUnicode_Type", "plain"),
        ("PyBytes_Type", "plain"), ("PyRange_Type", "three"), ("PySlice_Type", "three"),
    ):  # fmt: skip
        c.refuse(c.icmp("eq", kind, f"@{name}", "ptr"), label)
    c.jump(no)
    c.place("float")  # 0.0 is not -0.0
    bits = [c.word(x, 2) for x in ("%x", "%y")]
    c.branch(c.icmp("eq", *bits), yes, no)
    c.place("plain")
    same = c.py("PyObject_RichCompareBool", "%x", "%y", "2")
    with c.when(c.icmp("slt", same, "0", "i32")):
        c.py("PyErr_Clear")
    c.branch(c.icmp("eq", same, "1", "i32"), yes, no)
    c.place("three")  # start, stop, step: ranges without elements are equal, whatever these are
    for word in range(VALUE, VALUE + 3):
        c.need(c.inst(f"call i1 @equal(ptr {c.pointer('%x', word)}, ptr {c.pointer('%y', word)})"), no)
    c.jump(yes)
    c.place("tuple")
    length = c.py("PyTuple_Size", "%x")
    c.need(c.icmp("eq", length, c.py("PyTuple_Size", "%y")), no)
    with c.loop(length) as loop:
        items = [c.py("PyTuple_GetItem", x, loop.index) for x in ("%x", "%y")]
        c.need(c.inst(f"call i1 @equal(ptr {items[0]}, ptr {items[1]})"), no)
    c.jump(yes)
    c.place(yes)
    c.do("ret i1 true")
    c.place(no)
    c.do("ret i1 false")
    return c


def _geometry(c: Writer, array: str) -> tuple[str, str, str]:
    """Rank, sizes and strides."""
    rank = c.inst(f"sext i32 {c.word(array, RANK, 'i32')} to i64")
    return rank, c.pointer(array, SIZES), c.pointer(array, STRIDES)


def apart_check() -> Writer:
    """Whether two arrays whose ranges of memory overlap may be arguments of a program for arrays that share nothing:
    they are two objects, and if one is stored to, the remainders of their addresses by one of their strides tell that
    they have no byte in common: columns of one matrix, every second row."""
    c = Writer("define internal i1 @apart(ptr %a, ptr %b) noinline nounwind")
    no, yes = "no", "yes"
    x, y = c.pointer("%a", 2), c.pointer("%b", 2)
    c.refuse(c.icmp("eq", x, y, "ptr"), no)
    loose = [c.icmp("ne", c.word(c.pointer(one, 3), Descriptor.LOOSE), "0") for one in ("%a", "%b")]
    c.refuse(c.both(*loose), yes)
    for array in (x, y):
        rank, sizes, strides = _geometry(c, array)
        with c.loop(rank) as loop:
            size, stride = c.word(sizes, loop.index), c.word(strides, loop.index)
            c.refuse(c.icmp("eq", size, "0"), yes)
            length = c.greatest(stride, c.inst(f"sub i64 0, {stride}"))
            with c.when(c.both(c.icmp("sgt", size, "1"), c.icmp("sgt", length, "0"))):
                c.refuse(c.inst(f"call i1 @apart_by(ptr %a, ptr %b, i64 {length})"), yes)
    c.jump(no)
    c.place(yes)
    c.do("ret i1 true")
    c.place(no)
    c.do("ret i1 false")
    return c


def apart_by_check() -> Writer:
    """Whether the remainders of two arrays' addresses by `%m` differ: what strides that are no multiples of it reach is
    taken for an interval of bytes."""
    c = Writer("define internal i1 @apart_by(ptr %a, ptr %b, i64 %m) noinline nounwind")
    ends = []
    for one in ("%a", "%b"):
        array = c.pointer(one, 2)
        rank, sizes, strides = _geometry(c, array)
        low, high = c.variable(c.number(c.pointer(array, DATA))), c.variable(0)
        c.let(high, c.add(c.get(low), c.word(c.pointer(one, 3), Descriptor.ITEMSIZE)))
        with c.loop(rank) as loop:
            size, stride = c.word(sizes, loop.index), c.word(strides, loop.index)
            inner = c.icmp("ne", c.inst(f"srem i64 {stride}, %m"), "0")
            with c.when(c.both(inner, c.icmp("sgt", size, "1"))):
                way = c.mul(stride, c.sub(size, "1"))  # within the array's range, which was computed without overflow
                c.let(low, c.add(c.get(low), c.least(way, "0")))
                c.let(high, c.add(c.get(high), c.greatest(way, "0")))
        ends.append((c.get(low), c.get(high)))
    (low_a, high_a), (low_b, high_b) = ends
    between = c.inst(f"srem i64 {c.inst(f'sub i64 {low_b}, {low_a}')}, %m")
    between = c.select(c.icmp("slt", between, "0"), "i64", c.add(between, "%m"), between)
    after = c.icmp("sge", between, c.sub(high_a, low_a))
    before = c.icmp("sle", c.add(between, c.sub(high_b, low_b)), "%m")
    c.do(f"ret i1 {c.both(after, before)}")
    return c


def _polynomial(c: Writer, at: str, parts: str, no: str) -> str:
    """The sum of terms that the words at `at` say, which is moved on: of each its coefficient, the number of factors,
    their slots in the frame, or -1 - k for part k. Goes to `no` where 64 bits do not hold it."""

    def taken() -> str:
        p = c.get(at, "ptr")
        c.let(at, c.at(p, 1), "ptr")
        return c.word(p)

    def update(variable: str, operation: str, value: str) -> None:
        name = f"llvm.{operation}.with.overflow.i64"
        c.declare(name, "{ i64, i1 } @(i64, i64)")
        pair = c.inst(f"call {{ i64, i1 }} @{name}(i64 {c.get(variable)}, i64 {value})")
        c.refuse(c.inst(f"extractvalue {{ i64, i1 }} {pair}, 1"), no)
        c.let(variable, c.inst(f"extractvalue {{ i64, i1 }} {pair}, 0"))

    total, term = c.variable(0), c.variable(0)
    c.let(total, 0)
    with c.loop(taken()):
        c.let(term, taken())
        with c.loop(taken()):
            slot = taken()
            part = c.icmp("slt", slot, "0")
            where = c.select(part, "ptr", parts, "%frame")
            update(term, "smul", c.word(where, c.select(part, "i64", c.inst(f"xor i64 {slot}, -1"), slot)))
        update(total, "sadd", c.get(term))
    return c.get(total)


def guards_check() -> Writer:
    """Whether the guards hold: a count, then of each what it says of a polynomial (see `Guarded`), or which part it
    computes of two. A number beyond 64 bits, or a division by zero, counts as no."""
    c = Writer("define i1 @guards(ptr %guards, ptr %frame) nounwind")
    no = "no"
    at = c.variable(c.at("%guards", 1), "ptr")
    parts = c.fresh_slot(f"[{GUARD_ROOM} x i64]")
    with c.loop(c.word("%guards")) as loop:
        p = c.get(at, "ptr")
        kind, number = c.word(p), loop.index
        c.let(at, c.at(p, 1), "ptr")
        value = _polynomial(c, at, parts, no)
        part, next_ = c.new_label(), c.new_label()
        c.need(c.icmp("sle", kind, str(Guarded.NONZERO)), part)
        zero = c.icmp("eq", value, "0")
        same = c.inst(f"xor i1 {zero}, {c.icmp('eq', kind, str(Guarded.NONZERO))}")
        nonneg = c.icmp("eq", kind, str(Guarded.NONNEG))
        c.branch(c.select(nonneg, "i1", c.icmp("sge", value, "0"), same), next_, no)
        c.place(part)
        other = _polynomial(c, at, parts, no)
        case = c.switch(kind, [Guarded.MIN, Guarded.MAX, Guarded.FLOORDIV], no)
        c.place(case[Guarded.MIN])
        c.put(parts, number, c.least(value, other))
        c.jump(next_)
        c.place(case[Guarded.MAX])
        c.put(parts, number, c.greatest(value, other))
        c.jump(next_)
        c.place(case[Guarded.FLOORDIV])  # rounds down
        c.refuse(c.icmp("eq", other, "0"), no)
        c.refuse(c.both(c.icmp("eq", other, "-1"), c.icmp("eq", value, str(-(2**63)))), no)
        quotient = c.inst(f"sdiv i64 {value}, {other}")
        rest = c.inst(f"srem i64 {value}, {other}")
        signs = c.icmp("slt", c.inst(f"xor i64 {rest}, {other}"), "0")
        down = c.inst(f"sext i1 {c.both(c.icmp('ne', rest, '0'), signs)} to i64")
        c.put(parts, number, c.add(quotient, down))
        c.jump(next_)
        c.place(next_)
    c.do("ret i1 true")
    c.place(no)
    c.do("ret i1 false")
    return c
