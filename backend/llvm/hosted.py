"""Calls of Python's functions from native code.

Of numbers (`call_python`), one LLVM function for each. What the Python function raises stays pending, and the next
poll, call back, or the kernel's end sees it: a signal's handler, which Python may run as the function begins, must not
be printed and forgotten, as in a ctypes callback.

Of arrays (`refer_text`), one LLVM function for all, whose data is the words `Called` (layout/called_words.py): it
points the arrays of the last call at the operands, calls the function by vectorcall, and copies the results into the
outs where they have their types and sizes, or takes them over. Else, and where no arrays are there yet, Python does it
(backend/runtime/references.py).
"""

from __future__ import annotations

from tracebuf.backend.layout import abi
from tracebuf.backend.layout.called_words import ARRAY_WORDS, GIVEN, RESULT_WORDS, Called, Passing
from tracebuf.backend.layout.entry_words import (
    BASE,
    CLASS,
    DATA,
    DTYPE,
    FLAGS,
    OWN_DATA,
    OWNS,
    RANK,
    SIZES,
    STRIDES,
    VALUE,
    Entry,
)
from tracebuf.backend.llvm.code import Code
from tracebuf.backend.llvm.writer import Writer

_BOX = {
    "d": ("double", "PyFloat_FromDouble", "double"), "f": ("float", "PyFloat_FromDouble", "double"),
    "l": ("i64", "PyLong_FromLongLong", "i64"),
}  # fmt: skip
_ERRORS = {"ValueError": "0x7FF8000000000000", "OverflowError": "0x7FF0000000000000"}
_UNBOX = {"PyFloat_FromDouble": "PyFloat_AsDouble", "PyLong_FromLongLong": "PyLong_AsLongLong"}


def call_python(code: Code, function: str, signature: str) -> str:
    """The name of an LLVM function that calls a function of `HOSTED` (running/python_functions.py). Of a ValueError the
    result is NaN, of an OverflowError infinite; one that is no number of its type is any number."""
    name, python = (f"{prefix}_{function}_{signature.replace('->', '_')}" for prefix in ("call", "python"))
    code.imports[python] = ("python", function, signature)
    code.declare(python, "void @()")
    for symbol in ("is_pending", "failed"):
        code.imports[f"tracebuf_{symbol}"] = ("runtime", symbol)
    signatures = {
        "tracebuf_is_pending": "i1 @()", "tracebuf_failed": "void @()", "PyGILState_Ensure": "i32 @()",
        "PyGILState_Release": "void @(i32)", "PyFloat_FromDouble": "ptr @(double)", "PyErr_Clear": "void @()",
        "PyLong_FromLongLong": "ptr @(i64)", "PyFloat_AsDouble": "double @(ptr)", "PyLong_AsLongLong": "i64 @(ptr)",
        "PyObject_CallFunctionObjArgs": "ptr @(ptr, ...)", "Py_DecRef": "void @(ptr)", "PyErr_Occurred": "ptr @()",
    }  # fmt: skip
    signatures["PyErr_ExceptionMatches"] = "i32 @(ptr)"
    for symbol, of in signatures.items():
        code.declare(symbol, of)
    for error in _ERRORS:
        code.imports[f"python_{error}"] = ("builtin", error)
        code.declare(f"python_{error}", "void @()")
    ins, _, out = signature.partition("->")
    boxed, dropped, passed = [], [], []
    for k, c in enumerate(ins):
        type_, box, wide = _BOX[c]
        given = f"%a{k}"
        if type_ != wide:
            boxed.append(f"%w{k} = fpext {type_} %a{k} to {wide}")
            given = f"%w{k}"
        boxed.append(f"%x{k} = call ptr @{box}({wide} {given})")
        dropped.append(f"call void @Py_DecRef(ptr %x{k})")
        passed.append(f"ptr %x{k}")
    type_, box, wide = _BOX[out]
    found = [f"%found = freeze {wide} %v"]
    if type_ == "float":
        found = ["%found = fptrunc double %v to float"]
    none = "0" if type_ == "i64" else "0.0"
    expected = [none if type_ == "i64" else value for value in _ERRORS.values()]
    call = f"call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr @{python}, {', '.join(passed)}, ptr null)"
    lines = [
        f"define internal {type_} @{name}({', '.join(f'{_BOX[c][0]} %a{k}' for k, c in enumerate(ins))})"
        " noinline nounwind {",
        "%pending = call i1 @tracebuf_is_pending()", "br i1 %pending, label %none, label %go", "none:",
        f"ret {type_} {none}", "go:", "%gil = call i32 @PyGILState_Ensure()", *boxed, f"%r = {call}", *dropped,
        "%raised = icmp eq ptr %r, null", "br i1 %raised, label %error, label %read", "error:",
        *(
            f"%is{k} = call i32 @PyErr_ExceptionMatches(ptr @python_{error})\n%was{k} = icmp ne i32 %is{k}, 0"
            for k, error in enumerate(_ERRORS)
        ),
        "%known = or i1 %was0, %was1", "br i1 %known, label %known_error, label %failed", "known_error:",
        "call void @PyErr_Clear()", "call void @PyGILState_Release(i32 %gil)",
        f"%value = select i1 %was0, {type_} {expected[0]}, {type_} {expected[1]}", f"ret {type_} %value", "failed:",
        "call void @tracebuf_failed()", "call void @PyGILState_Release(i32 %gil)", f"ret {type_} {none}", "read:",
        f"%v = call {wide} @{_UNBOX[box]}(ptr %r)", "call void @Py_DecRef(ptr %r)", *found,
        "%bad = call ptr @PyErr_Occurred()", "%is_bad = icmp ne ptr %bad, null",
        "br i1 %is_bad, label %clear, label %done", "clear:", "call void @PyErr_Clear()", "br label %done", "done:",
        "call void @PyGILState_Release(i32 %gil)", f"ret {type_} %found", "}",
    ]  # fmt: skip
    code.define(name, "\n".join(lines))
    return name


def refer_text() -> Writer:
    """1 where the call is made, `STOPPED` where it raises, `PYTHON_MUST` where Python has to make it."""
    c = Writer("define internal i64 @refer(ptr %context, i64 %spec, i64 %number) nounwind")
    python, failed, spec = "python", "failed", c.object("%spec")
    table = c.pointer("%context", abi.REFERENCES)
    c.refuse(c.is_null(table), python)
    call = c.pointer(table, "%number")
    c.refuse(c.is_null(call), python)
    arrays = c.pointer(call, Called.ARRAY)
    with c.loop(c.word(call, Called.ARRAYS)) as loop:
        a = c.at(arrays, c.mul(loop.index, str(ARRAY_WORDS)))
        array, operand, rank, shift = c.pointer(a), c.at(spec, c.word(a, 1)), c.word(a, 2), c.word(a, 3)
        shown, next_ = c.new_label(), c.new_label()
        c.branch(c.icmp("ult", shift, str(GIVEN)), shown, next_)
        c.place(shown)
        c.refuse(c.is_null(array), python)
        sizes, strides = c.pointer(array, SIZES), c.pointer(array, STRIDES)
        steps = c.at(operand, c.add(rank, "1"))
        with c.loop(rank) as inner:
            c.need(c.icmp("eq", c.word(sizes, inner.index), c.word(c.at(operand, 1), inner.index)), python)
            step = c.inst(f"shl i64 {c.word(steps, inner.index)}, {shift}")
            c.need(c.icmp("eq", c.word(strides, inner.index), step), python)
        c.put(array, DATA, c.word(operand))
        c.jump(next_)
        c.place(next_)
    count = c.word(call, Called.ARGUMENTS)
    given = c.inst(f"alloca ptr, i64 {c.add(count, '1')}, align 8")
    with c.loop(count) as loop:
        p = c.at(c.pointer(call, Called.ARGUMENT), c.mul(loop.index, "3"))
        value, next_ = c.word(p, 1), c.new_label()
        case = c.switch(c.word(p), Passing.EACH, next_)
        for passing in Passing.EACH:
            c.place(case[passing])
            if passing == Passing.ARRAY:
                x = c.pointer(arrays, c.mul(value, str(ARRAY_WORDS)))
            elif passing == Passing.OBJECT:
                x = c.object(value)
            elif passing == Passing.VALUE:
                x = c.pointer(c.pointer(c.pointer("%context", abi.ENTRY), Entry.VALUES), value)
            elif passing == Passing.INT:
                x = c.py("PyLong_FromLongLong", c.word(spec, value))
            elif passing == Passing.FLOAT:
                x = c.py("PyFloat_FromDouble", c.word(spec, value, "double"))
            else:
                x = c.py("numpy_scalar", c.at(spec, value), c.pointer(p, 2), "null")
            c.put(given, loop.index, x, "ptr")
            if passing in (Passing.ARRAY, Passing.OBJECT, Passing.VALUE):
                c.py("Py_IncRef", x)
            c.jump(next_)
        c.place(next_)
    complete = c.variable("true", "i1")
    with c.loop(count) as loop:
        there = c.icmp("ne", c.pointer(given, loop.index), "null", "ptr")
        c.let(complete, c.both(c.get(complete, "i1"), there), "i1")
    result = c.variable("null", "ptr")
    with c.when(c.get(complete, "i1")):
        names = c.pointer(call, Called.NAMES)
        called = c.py("PyObject_Vectorcall", c.pointer(call), given, c.word(call, Called.POSITIONAL), names)
        c.let(result, called, "ptr")
    with c.loop(count) as loop:
        c.py("Py_DecRef", c.pointer(given, loop.index))
    found = c.get(result, "ptr")
    c.refuse(c.is_null(found), failed)

    def copy(to: str, start: str, nbytes: str) -> None:
        c.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {start}, i64 {nbytes}, i1 false)")

    store, drop, lost = (c.new_label() for _ in range(3))

    def fits(x: str, dtype: str, operand: str, rank: str, itemsize: str, otherwise: str) -> None:
        """Goes on where an array is of a type, and of the sizes and strides of an operand."""
        c.need(c.icmp("eq", c.pointer(x, DTYPE), dtype, "ptr"), otherwise)
        c.need(c.icmp("eq", c.inst(f"zext i32 {c.word(x, RANK, 'i32')} to i64"), rank), otherwise)
        sizes, strides, steps = c.pointer(x, SIZES), c.pointer(x, STRIDES), c.at(operand, c.add(rank, "1"))
        with c.loop(rank) as inner:
            n = c.word(sizes, inner.index)
            c.need(c.icmp("eq", n, c.word(c.at(operand, 1), inner.index)), otherwise)
            step = c.inst(f"mul i64 {c.word(steps, inner.index)}, {itemsize}")
            alike = c.icmp("eq", c.word(strides, inner.index), step)
            c.need(c.either(alike, c.icmp("sle", n, "1")), otherwise)

    kind = c.pointer(call, Called.KIND)
    of_class = c.either(c.is_null(kind), c.icmp("eq", c.pointer(found, CLASS), kind, "ptr"))
    c.need(of_class, store)
    with c.loop(c.word(call, Called.RESULTS)) as loop:
        p = c.at(c.pointer(call, Called.RESULT), c.mul(loop.index, str(RESULT_WORDS)))
        item = c.variable(found, "ptr")
        with c.when(c.icmp("ne", kind, "null", "ptr")):
            c.let(item, c.py("PyTuple_GetItem", found, c.word(p)), "ptr")
        x = c.get(item, "ptr")
        a = c.at(arrays, c.mul(c.word(p, 1), str(ARRAY_WORDS)))
        out, dtype = c.pointer(a), c.pointer(p, 2)
        is_array, number, next_ = c.new_label(), c.new_label(), c.new_label()
        given, kept = c.new_label(), c.new_label()
        c.branch(c.icmp("ult", c.word(a, 3), str(GIVEN)), kept, given)
        c.place(given)
        operand, rank = c.at(spec, c.word(a, 1)), c.word(a, 2)
        c.need(c.icmp("eq", c.pointer(x, CLASS), "@PyArray_Type", "ptr"), store)
        apart, misfit, taken = c.new_label(), c.new_label(), c.new_label()
        like = dtype, operand, rank, c.word(p, 4)
        fits(x, *like, apart)
        owner = c.variable(x, "ptr")
        with c.when(c.icmp("eq", c.inst(f"and i64 {c.word(x, FLAGS)}, {OWNS}"), "0")):
            base = c.pointer(x, BASE)
            c.need(c.both(c.icmp("ne", base, "null", "ptr"), c.icmp("eq", c.word(x), "1")), apart)
            c.need(c.icmp("eq", c.pointer(base, CLASS), "@PyArray_Type", "ptr"), apart)
            fits(base, *like, apart)
            c.need(c.icmp("eq", c.word(base, DATA), c.word(x, DATA)), apart)
            c.let(owner, base, "ptr")
        y = c.get(owner, "ptr")
        flags = c.inst(f"and i64 {c.word(y, FLAGS)}, {OWN_DATA}")
        c.need(c.both(c.icmp("eq", flags, str(OWN_DATA)), c.icmp("eq", c.word(y), "1")), apart)
        c.py("Py_IncRef", y)
        c.jump(taken)
        c.place(apart)
        counted, whole, shorter = c.word(p, 5), c.new_label(), c.new_label()
        c.branch(c.icmp("slt", counted, "0"), whole, shorter)
        c.place(shorter)
        c.let(owner, _begun_with(c, x, *like, store, lost), "ptr")
        c.jump(taken)
        c.place(whole)
        made = c.py("numpy_copied", x, "0")
        c.refuse(c.is_null(made), lost)
        c.let(owner, made, "ptr")
        fits(made, *like, misfit)
        c.jump(taken)
        c.place(misfit)
        c.py("Py_DecRef", made)
        c.jump(store)
        c.place(taken)
        y = c.get(owner, "ptr")
        with c.when(c.icmp("ne", c.inst(f"call i64 @own(ptr {c.pointer('%context', abi.ENTRY)}, ptr {y})"), "0"), True):
            c.py("Py_DecRef", y)
            c.jump(lost)
        c.put(operand, 0, c.word(y, DATA))
        counted = c.word(p, 5)
        with c.when(c.icmp("sge", counted, "0")):
            c.put(c.pointer(c.pointer(arrays, c.mul(counted, str(ARRAY_WORDS))), DATA), 0, c.word(c.pointer(x, SIZES)))
        c.jump(next_)
        c.place(kept)
        c.branch(c.icmp("eq", c.pointer(x, CLASS), "@PyArray_Type", "ptr"), is_array, number)
        c.place(is_array)
        c.need(c.icmp("eq", c.pointer(x, DTYPE), dtype, "ptr"), store)
        rank = c.word(a, 2)
        c.need(c.icmp("eq", c.inst(f"zext i32 {c.word(x, RANK, 'i32')} to i64"), rank), store)
        sizes, wanted, counted = c.pointer(x, SIZES), c.pointer(out, SIZES), c.word(p, 5)
        fewer = c.icmp("sge", counted, "0")
        items = c.variable(c.word(p, 4))
        with c.loop(rank, start=c.inst(f"zext i1 {fewer} to i64")) as inner:
            n = c.word(sizes, inner.index)
            c.need(c.icmp("eq", n, c.word(wanted, inner.index)), store)
            c.let(items, c.mul(c.get(items), n))
        both = c.inst(f"and i64 {c.word(x, FLAGS)}, {c.word(out, FLAGS)}")
        dense = c.inst(f"trunc i64 {both} to i1")  # contiguous in C's order
        with c.when(fewer, leaves=True):
            c.need(c.both(dense, c.icmp("sge", rank, "1")), store)
            n = c.word(sizes)
            c.need(c.icmp("sle", n, c.word(wanted)), store)
            copy(c.pointer(out, DATA), c.pointer(x, DATA), c.mul(c.get(items), n))
            c.put(c.pointer(c.pointer(arrays, c.mul(counted, str(ARRAY_WORDS))), DATA), 0, n)
            c.jump(next_)
        with c.when(dense, leaves=True):
            copy(c.pointer(out, DATA), c.pointer(x, DATA), c.get(items))
            c.jump(next_)
        c.refuse(c.icmp("ne", c.py("numpy_copy", out, x), "0", "i32"), lost)
        c.jump(next_)
        c.place(number)
        c.need(c.icmp("eq", c.pointer(x, CLASS), c.pointer(p, 3), "ptr"), store)
        c.need(c.icmp("eq", c.word(a, 2), "0"), store)
        to, value = c.pointer(spec, c.word(a, 1)), c.at(x, VALUE)
        copy(to, value, c.word(p, 4))
        c.jump(next_)
        c.place(next_)
    c.jump(drop)

    def in_python(function: int, x: str) -> str:
        """Calls one of the last two functions."""
        passed = c.fresh_slot("[4 x ptr]")
        place = c.py("PyLong_FromLongLong", "%spec")
        for k, one in enumerate((c.pointer(call, Called.OWNER), x, place, c.pointer("%context", abi.OBJECT))):
            c.put(passed, k, one, "ptr")
        answer = c.variable("null", "ptr")
        with c.when(c.icmp("ne", place, "null", "ptr")):
            c.let(answer, c.py("PyObject_Vectorcall", c.pointer(call, function), passed, "4", "null"), "ptr")
        c.py("Py_DecRef", place)
        return c.get(answer, "ptr")

    c.place(store)
    stored = in_python(Called.STORE, found)
    c.py("Py_DecRef", found)
    c.refuse(c.is_null(stored), "stopped")
    c.py("Py_DecRef", stored)
    c.do("ret i64 1")
    c.place(drop)
    c.py("Py_DecRef", found)
    c.do("ret i64 1")
    c.place(lost)
    c.py("Py_DecRef", found)
    c.jump(failed)
    c.place(failed)
    error = [c.variable("null", "ptr") for _ in range(3)]
    c.py("PyErr_Fetch", *error)
    c.py("PyErr_NormalizeException", *error)
    of_error, value, traceback = (c.get(e, "ptr") for e in error)
    with c.when(c.icmp("ne", traceback, "null", "ptr")):
        c.py("PyException_SetTraceback", value, traceback)
    raised = in_python(Called.FAIL, value)
    for x in (of_error, value, traceback, raised):
        c.py("Py_DecRef", x)
    c.jump("stopped")
    c.place("stopped")
    c.do(f"ret i64 {abi.STOPPED}")
    c.place(python)
    c.do(f"ret i64 {abi.PYTHON_MUST}")
    return c


def _begun_with(
    c: Writer, x: str, dtype: str, operand: str, rank: str, itemsize: str, otherwise: str, lost: str
) -> str:  # fmt: skip
    """A new array of the type and sizes of an operand whose first rows are those of `x`; goes to `otherwise` where they
    differ in more than the number of rows, or not both are dense, in C's order."""
    c.need(c.icmp("eq", c.pointer(x, DTYPE), dtype, "ptr"), otherwise)
    c.need(c.icmp("eq", c.inst(f"zext i32 {c.word(x, RANK, 'i32')} to i64"), rank), otherwise)
    c.need(c.inst(f"trunc i64 {c.word(x, FLAGS)} to i1"), otherwise)
    sizes, wanted, steps = c.pointer(x, SIZES), c.at(operand, "1"), c.at(operand, c.add(rank, "1"))
    row = c.variable(itemsize)  # in bytes
    with c.loop(rank, start="1") as loop:
        axis = c.inst(f"sub i64 {rank}, {loop.index}")
        n, step = c.word(sizes, axis), c.inst(f"mul i64 {c.word(steps, axis)}, {itemsize}")
        c.need(c.icmp("eq", n, c.word(wanted, axis)), otherwise)
        c.need(c.icmp("eq", step, c.get(row)), otherwise)
        c.let(row, c.mul(c.get(row), n))
    rows, step = c.word(sizes), c.inst(f"mul i64 {c.word(steps)}, {itemsize}")
    c.need(c.both(c.icmp("sle", rows, c.word(wanted)), c.icmp("eq", step, c.get(row))), otherwise)
    c.py("Py_IncRef", dtype)  # which the array takes
    ndim = c.inst(f"trunc i64 {rank} to i32")
    made = c.py("numpy_new", "@PyArray_Type", dtype, ndim, wanted, "null", "null", "0", "null")
    c.refuse(c.is_null(made), lost)
    nbytes = c.mul(c.get(row), rows)
    source, to = c.pointer(x, DATA), c.pointer(made, DATA)
    c.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {source}, i64 {nbytes}, i1 false)")
    return made
