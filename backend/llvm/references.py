"""A call back to an op's NumPy reference, for structured ops without loops: a user's op that only says what it gives.

The kernel describes the operands in an array of slots: for each memref the pointer to element 0, sizes and strides in
elements, for a scalar its value. What the reference raises ends the kernel. What it
allocates itself is not counted.
"""

from __future__ import annotations

from collections.abc import Sequence

from tracebuf.backend.llvm import abi
from tracebuf.backend.llvm.abi import scalar_slots
from tracebuf.backend.llvm.code import Code
from tracebuf.backend.llvm.loops import Buffer
from tracebuf.backend.llvm.memory import Memory
from tracebuf.ir.types import ScalarType, Type


def call_reference(
    code: Code, memory: Memory, number: int, operands: Sequence[Buffer | str], types: Sequence[Type]
) -> None:
    """Calls the reference of the kernel's op of that number on these operands."""
    count = sum(1 + 2 * len(b.sizes) if isinstance(b, Buffer) else 2 for b in operands)
    spec = code.fresh_slot(f"[{max(count, 1)} x i64]")
    at = 0
    for operand, type_ in zip(operands, types, strict=True):
        where = code.offset(spec, "i64", str(at))
        at += 1
        if isinstance(operand, str):
            assert isinstance(type_, ScalarType)
            code.store(type_, operand, where)
            at += scalar_slots(type_) - 1
            continue
        code.do(f"store ptr {operand.pointer}, ptr {where}")
        for n in (*operand.sizes, *operand.strides):
            code.do(f"store i64 {n}, ptr {code.offset(spec, 'i64', str(at))}")
            at += 1
    memory.ask(abi.REFER, code.inst(f"ptrtoint ptr {spec} to i64"), str(number))
