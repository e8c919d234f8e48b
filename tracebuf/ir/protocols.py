"""What an op may ask of the layers above it: a Rewriter (bufferization), an Interpreter, an Emitter (native loops).

An op's class can so hold its own rewrite, reference and native form without importing those layers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from tracebuf.ir.core import Block, Mixed, Op, OpT, Region, Use, Value
    from tracebuf.ir.types import ScalarType, TensorType, Type
    from tracebuf.location import Location


class Interpreter(Protocol):
    """Runs blocks for ops with regions (tensor or memref level)."""

    def run_block(self, block: Block, args: Sequence[Any]) -> list[Any]:
        """Runs the block with these argument values; the operand values of its terminator."""
        ...

    def operands(self, op: Op) -> list[Any]:
        """The values that an op's operands have now."""
        ...


class Rewriter(Protocol):
    """From the tensor program to the memref program. Asks the analysis only whether an operand is in place."""

    def add(self, op: OpT) -> OpT:
        """Appends an op to the memref program, with its location as given."""
        ...

    def clone(self, op: Op) -> None:
        """Carries over an op without tensors, its operands mapped."""
        ...

    def value(self, value: Value) -> Value:
        """The memref program's counterpart of a scalar."""
        ...

    def buffer(self, use: Use) -> Value:
        """The buffer for a tensor operand: its own if in place, else a new one (with a copy if its contents are
        read)."""
        ...

    def replace(self, result: Value, buffer: Value) -> None:
        """Says which buffer a tensor result lives in."""
        ...

    def set_value(self, result: Value, value: Value) -> None:
        """Says which scalar stands for a scalar result."""
        ...

    def allocate(self, like: Value, op: Op, reason: str) -> Value:
        """A new buffer of a tensor value's shape."""
        ...

    def new_buffer(self, type: TensorType, sizes: Sequence[Mixed], reason: str, loc: Location) -> Value:
        """A new buffer of a tensor type, its dynamic sizes given as values of the memref program."""
        ...

    def as_type(self, buffer: Value, type: Type, loc: Location) -> Value:
        """The buffer cast to a memref type, or where its layout need not be that one, a new buffer with its elements
        (MLIR: castOrReallocMemRefValue)."""
        ...

    def sizes(self, buffer: Value, loc: Location) -> list[Mixed]:
        """The sizes of a buffer: from the op that made it where it says them, else asked of the buffer."""
        ...

    def inside(self, block: Block) -> AbstractContextManager[None]:
        """Appends to another block of the memref program."""
        ...

    def inline(self, block: Block, args: Sequence[Value]) -> None:
        """The memref form of the ops of a region's block but its terminator, with these scalars for its arguments."""
        ...

    def subview(self, buffer: Value, slice_op: Op) -> Value:
        """The view of `buffer` that a slice op describes; equal views of one buffer are one value."""
        ...

    def regroup(self, buffer: Value, op: Op) -> Value:
        """The view of `buffer` that a collapse_shape, an expand_shape or a diagonal describes, numbered likewise."""
        ...

    def copy(self, source: Value, target: Value, op: Op, reason: str) -> None:
        """Copies elements; nothing where both are the same value."""
        ...

    def block(
        self, block: Block, arg_types: Sequence[Type], args: Sequence[Value | None], yields: Sequence[Use]
    ) -> Block:
        """The memref form of a loop's region: `args[k]` is the tensor program's argument for the new block's argument
        k, `yields` what its terminator passes on. A buffer that may not be handed on is copied into a new one (MLIR
        behaviours 36, 37).
        """
        ...

    def body(self, block: Block, arg_types: Sequence[Type], args: Sequence[Value], end: Callable[[], None]) -> Block:
        """The memref form of a block without what ends it, which `end` adds."""
        ...

    def region(self, old: Region) -> Region:
        """The memref form of a region of branching blocks, without arguments."""
        ...

    def successor(self, block: Block) -> Block:
        """The new block for one that is branched to."""
        ...

    def call(self, callee: str, args: Sequence[Use], loc: Location) -> tuple[list[Value], Sequence[Type]]:
        """The operands of a call of the new function of that name, and the types of its results."""
        ...

    def cast(self, use: Use, type_: Type) -> Value:
        """An operand that is passed on: a scalar, or the buffer as a type of another layout."""
        ...

    def unknown(self, op: Op) -> None:
        """Keeps an op as it is, with tensors made of its operands' buffers."""
        ...

    def branches(self, op: Op) -> None:
        """The memref form of an scf.if; a result that is the same buffer in both branches is not passed."""
        ...

    def equivalent(self, a: Value, b: Value) -> bool:
        """Whether two tensor values are the same buffer after bufferization."""
        ...


class Emitter(Protocol):
    """Emits scalar LLVM instructions: operands and results are LLVM value names or literals."""

    def inst(self, text: str) -> str:
        """`%new = text`; the new name."""
        ...

    def intrinsic(self, name: str, result: str, args: Sequence[tuple[str, str]]) -> str:
        """A call of an LLVM intrinsic, declared on first use: args are (llvm type, value)."""
        ...

    def literal(self, type: ScalarType, value: Any) -> str:
        """A constant of an element type, exactly (floats as hexadecimal bits)."""
        ...

    def ufunc(self, ufunc: np.ufunc, types: str, args: Sequence[str], result: str) -> str:
        """One element through NumPy's own inner loop (blocks of elements are the lowering's business)."""
        ...

    def libm(self, function: str, signature: str, args: Sequence[tuple[str, str]], result: str) -> str:
        """A call of what `tracebuf.libm` names: args are (llvm type, value), `result` an llvm type."""
        ...


def llvm_type(type: ScalarType) -> str:
    """The LLVM type of a scalar in a register (bool is i1 there, a byte in memory); of a complex one in memory."""
    return _LLVM_TYPES.get(type.name) or str(type)


_LLVM_TYPES = {
    "index": "i64", "f16": "half", "f32": "float", "f64": "double",
    "complex<f32>": "{ float, float }", "complex<f64>": "{ double, double }",
}  # fmt: skip


def components(type: ScalarType, value: str) -> list[tuple[ScalarType, str]]:
    """A value in registers as LLVM values with their types: a complex one is two, of which LLVM sees each by itself."""
    if not type.is_complex:
        return [(type, value)]
    re, im = value.split("|")
    return [(type.component, re), (type.component, im)]


def value_types(type: ScalarType) -> list[ScalarType]:
    """The types of a value's components."""
    return [type.component, type.component] if type.is_complex else [type]


def joined(parts: Sequence[str]) -> str:
    """The inverse: one value of its components."""
    return "|".join(parts)
