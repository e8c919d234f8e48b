"""Scalar ops to LLVM instructions: the `Emitter` that op classes write themselves through, and calls of NumPy's loops.

A NumPy loop and its data are imported symbols; a call passes pointers, one count and byte steps from stack slots.
Outside of blocks an element goes through the loop with a count of 1, so it is NumPy's result too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracebuf.backend.llvm.code import Code, literal
from tracebuf.backend.llvm.hosted import call_python
from tracebuf.backend.llvm.numpy_loops import halves_are_roots, inner_loop
from tracebuf.backend.llvm.texts import remainders, squares
from tracebuf.ir.core import Value
from tracebuf.ir.emitter import llvm_type
from tracebuf.ir.types import ScalarType, scalar_type
from tracebuf.ops.scalars import arith
from tracebuf.ops.scalars.libm import symbol_of
from tracebuf.running.python_functions import HOSTED
from tracebuf.running.ufuncs import name_of_ufunc

ELEMENT_SLOT = "[2 x double]"
"""A stack slot that has room for an element of any type."""

INTEGERS = np.typecodes["AllInteger"]
ROOTS = {"dd->d": "f64", "ff->f": "f32"}
"""By the types of NumPy's loop of np.power: the type's name in intrinsics."""


class Scalars:
    """Implements `tracebuf.ir.emitter.Emitter` over a function's text."""

    def __init__(self, code: Code) -> None:
        self.code = code

    def inst(self, text: str) -> str:
        return self.code.inst(text)

    def intrinsic(self, name: str, result: str, args: Sequence[tuple[str, str]]) -> str:
        return self.code.intrinsic(name, result, args)

    def literal(self, type: ScalarType, value: Any) -> str:
        return literal(type, value)

    def ufunc(self, ufunc: np.ufunc, types: str, args: Sequence[str], result: str) -> str:
        if ufunc is np.fmod and types in remainders.TYPES:
            return self.code.call(result, self._remainder(types), [(result, x) for x in args])
        ins, _, outs = types.partition("->")
        elements = [scalar_type(np.dtype(c)) for c in ins + outs]
        pointers = [self.code.slot(ELEMENT_SLOT, k) for k in range(len(elements))]
        for element, arg, pointer in zip(elements, args, pointers):
            self.code.store(element, arg, pointer)
        self.call_loop(ufunc, types, [(p, "0") for p in pointers], "1")
        return self.code.load(elements[-1], pointers[-1])

    def libm(self, function: str, signature: str, args: Sequence[tuple[str, str]], result: str) -> str:
        """A call that LLVM must not replace by its own idea of the name (nobuiltin); errno is not read."""
        name = symbol_of(function, signature)
        if (function, signature) == ("pow", "dd->d") and args[1][1] == squares.TWO and squares.known():
            return self._square(args[0])
        if function in HOSTED:
            name = call_python(self.code, function, signature)
        else:
            self.code.declare(name, f"{result} @({', '.join(t for t, _ in args)})")
        return self.code.call(result, name, args, " nobuiltin nounwind willreturn memory(none)")

    def _square(self, x: tuple[str, str]) -> str:
        """pow(x, 2.0)."""
        for name, signature in squares.NEEDED.items():
            self.code.declare(name, signature)
        self.code.define(squares.NAME, squares.TEXT)
        return self.code.call("double", squares.NAME, [x])

    def call_loop(self, ufunc: np.ufunc, types: str, operands: Sequence[tuple[str, str]], count: str) -> None:
        """NumPy's loop on `count` elements; operands (the out last) are (pointer, step in bytes)."""
        if ufunc is np.fmod and types in remainders.TYPES:
            self._remainders(types, operands, count)
        elif ufunc is np.power and _have_one_exponent(types, [step for _, step in operands]):
            self._powers(types, operands, count)
        elif ufunc is np.power and types[0] in INTEGERS and count != "1":
            run, end = self.code.new_label(), self.code.new_label()  # the loop looks at the exponent before it counts
            self.code.branch(self.code.icmp("sgt", count, "0"), run, end)
            self.code.place(run)
            self.call_numpy(ufunc, types, operands, count)
            self.code.jump(end)
            self.code.place(end)
        else:
            self.call_numpy(ufunc, types, operands, count)

    def call_numpy(self, ufunc: np.ufunc, types: str, operands: Sequence[tuple[str, str]], count: str) -> None:
        """The same by NumPy's own loop in any case, for operands that are one memory."""
        code = self.code
        which = name_of_ufunc(ufunc)
        name = f"numpy_{which.replace('.', '_')}_{types.replace('?', 'b').replace('->', '_')}"
        code.imports[name] = ("loop", which, types)
        code.declare(name, "void @(ptr, ptr, ptr, ptr)")
        data = "null"
        if inner_loop(ufunc, types)[1]:  # no symbol can stand for a null pointer
            data = f"@{name}_data"
            code.imports[f"{name}_data"] = ("data", which, types)
            code.declare(f"{name}_data", "void @()")
        pointers, steps, n = code.slot("[6 x ptr]"), code.slot("[6 x i64]"), code.slot("i64", -1)
        code.do(f"store i64 {count}, ptr {n}")
        for k, (pointer, step) in enumerate(operands):
            code.do(f"store ptr {pointer}, ptr {code.offset(pointers, 'ptr', str(k))}")
            code.do(f"store i64 {step}, ptr {code.offset(steps, 'i64', str(k))}")
        code.call("void", name, [("ptr", pointers), ("ptr", n), ("ptr", steps), ("ptr", data)])

    def _powers(self, types: str, operands: Sequence[tuple[str, str]], count: str) -> None:
        """Powers of contiguous elements with one exponent: where it is 0.5, NumPy's loop takes square roots one by one,
        this one side by side."""
        code, (base, exponent, out) = self.code, (pointer for pointer, _ in operands)
        element = scalar_type(np.dtype(types[0]))
        type_ = llvm_type(element)
        half = code.inst(f"fcmp oeq {type_} {code.load(element, exponent)}, {literal(element, 0.5)}")
        root, power, end = code.new_label(), code.new_label(), code.new_label()
        code.branch(half, root, power)
        code.place(root)
        group, back = code.parallel_group(short=True)
        with code.loop(count, metadata=back) as loop:
            x = code.load(element, code.offset(base, type_, loop.index), group)
            found = code.intrinsic("llvm.sqrt." + ROOTS[types], type_, [(type_, x)])
            code.store(element, found, code.offset(out, type_, loop.index), group)
        code.jump(end)
        code.place(power)
        self.call_numpy(np.power, types, operands, count)
        code.jump(end)
        code.place(end)

    def _remainder(self, types: str) -> str:
        """The function of one remainder."""
        for name, signature in remainders.needed(types).items():
            self.code.declare(name, signature)
        name = ""
        for name, text in remainders.of_one(types).items():
            self.code.define(name, text)
        return name

    def _remainders(self, types: str, operands: Sequence[tuple[str, str]], count: str) -> None:
        """np.fmod of `count` elements, as `call_loop`."""
        self._remainder(types)
        name, text, strided = remainders.of_many(types, [step for _, step in operands])
        self.code.define(name, text)
        args = [part for p, step in operands for part in (("ptr", p), ("i64", step))[: 1 + strided]]
        self.code.call("void", name, [*args, ("i64", count)])

    def op(self, op: arith.ScalarOp, values: dict[Value, str]) -> None:
        """Emits one op with operands from `values`; its result is added there."""
        values[op.result] = op.emit(self, [values[v] for v in op.operands])


def _have_one_exponent(types: str, steps: Sequence[str]) -> bool:
    """Whether powers may be square roots, of which NumPy's loop knows: contiguous elements, one exponent."""
    if types not in ROOTS:
        return False
    size = str(np.dtype(types[0]).itemsize)
    return list(steps) == [size, "0", size] and halves_are_roots(types)


def memory_type(element: ScalarType) -> str:
    """The LLVM type of an element in memory."""
    return "i8" if element.name == "i1" else llvm_type(element)
