"""Calls of Python functions of numbers from native code, one LLVM function for each.

What the Python function raises stays pending, and the next poll, call back, or the kernel's end sees it: a signal's
handler, which Python may run as the function begins, must not be printed and forgotten, as in a ctypes callback.
"""

from __future__ import annotations

from tracebuf.backend.llvm.code import Code

_BOX = {
    "d": ("double", "PyFloat_FromDouble", "double"), "f": ("float", "PyFloat_FromDouble", "double"),
    "l": ("i64", "PyLong_FromLongLong", "i64"),
}  # fmt: skip
_UNBOX = {"PyFloat_FromDouble": "PyFloat_AsDouble", "PyLong_FromLongLong": "PyLong_AsLongLong"}


def call_python(code: Code, function: str, signature: str) -> str:
    """The name of an LLVM function that calls a function of `tracebuf.ops.scalars.libm.HOSTED`. A result that is no
    number of its type is any number."""
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
    for symbol, of in signatures.items():
        code.declare(symbol, of)
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
    call = f"call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr @{python}, {', '.join(passed)}, ptr null)"
    lines = [
        f"define internal {type_} @{name}({', '.join(f'{_BOX[c][0]} %a{k}' for k, c in enumerate(ins))})"
        " noinline nounwind {",
        "%pending = call i1 @tracebuf_is_pending()", "br i1 %pending, label %none, label %go", "none:",
        f"ret {type_} {none}", "go:", "%gil = call i32 @PyGILState_Ensure()", *boxed, f"%r = {call}", *dropped,
        "%raised = icmp eq ptr %r, null", "br i1 %raised, label %failed, label %read", "failed:",
        "call void @tracebuf_failed()", "call void @PyGILState_Release(i32 %gil)", f"ret {type_} {none}", "read:",
        f"%v = call {wide} @{_UNBOX[box]}(ptr %r)", "call void @Py_DecRef(ptr %r)", *found,
        "%bad = call ptr @PyErr_Occurred()", "%is_bad = icmp ne ptr %bad, null",
        "br i1 %is_bad, label %clear, label %done", "clear:", "call void @PyErr_Clear()", "br label %done", "done:",
        "call void @PyGILState_Release(i32 %gil)", f"ret {type_} %found", "}",
    ]  # fmt: skip
    code.define(name, "\n".join(lines))
    return name
