"""A writer of functions that read words: those of native calls (`entries`), and the table of `roaming`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tracebuf.backend.llvm.code import Code

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
    "PyObject_SetAttr": "i32 @(ptr, ptr, ptr)",
    "PyObject_Str": "ptr @(ptr)",
    "PyUnicode_AppendAndDel": "void @(ptr, ptr)",
    "PyErr_SetObject": "void @(ptr, ptr)",
    "PyErr_NoMemory": "ptr @()",
    "PyErr_Fetch": "void @(ptr, ptr, ptr)",
    "PyErr_Restore": "void @(ptr, ptr, ptr)",
    "PyErr_NormalizeException": "void @(ptr, ptr, ptr)",
    "PyException_SetTraceback": "i32 @(ptr, ptr)",
    "PyErr_WriteUnraisable": "void @(ptr)",
    "PyMem_RawRealloc": "ptr @(ptr, i64)",
    "Py_IncRef": "void @(ptr)",
    "Py_DecRef": "void @(ptr)",
    "tracebuf_enter": "i64 @(ptr)",
    "numpy_new": "ptr @(ptr, ptr, i32, ptr, ptr, ptr, i32, ptr)",
    "numpy_scalar": "ptr @(ptr, ptr, ptr)",
    "numpy_set_base": "i32 @(ptr, ptr)",
    "numpy_copy": "i32 @(ptr, ptr)",
    "numpy_copied": "ptr @(ptr, i32)",
    "numpy_resize": "ptr @(ptr, ptr, i32, i32)",
    "PyDict_New": "ptr @()",
    "PyDict_SetItem": "i32 @(ptr, ptr, ptr)",
    "PyDict_Clear": "void @(ptr)",
    "PyList_SetSlice": "i32 @(ptr, i64, i64, ptr)",
    "PyGILState_Ensure": "i32 @()",
    "PyGILState_Release": "void @(i32)",
    "PyObject_RichCompareBool": "i32 @(ptr, ptr, i32)",
    "PyObject_Hash": "i64 @(ptr)",
    "PyObject_GetAttr": "ptr @(ptr, ptr)",
    "PyObject_GetItem": "ptr @(ptr, ptr)",
    "PyErr_ExceptionMatches": "i32 @(ptr)",
    "_PyType_Lookup": "ptr @(ptr, ptr)",
    "PyObject_GenericSetAttr": "i32 @(ptr, ptr, ptr)",
}
"""What is called: functions of CPython; `PyArray_NewFromDescr`, `PyArray_Scalar`, `PyArray_SetBaseObject`,
`PyArray_CopyInto` and `PyArray_Resize` of NumPy."""


class Writer(Code):
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
