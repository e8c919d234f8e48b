"""Runs an op's NumPy reference on a kernel's buffers: the other end of `backend.llvm.references`."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from tracebuf.errors import InternalError
from tracebuf.ir.ndarray import array_at
from tracebuf.ir.types import INDEX, MemRefType, ScalarType
from tracebuf.ops.linalg import DestinationOp


class _NoInterpreter:
    """References of ops with regions are for the interpreters."""

    def run_block(self, block: Any, args: Any) -> list[Any]:
        raise InternalError("an op with regions has no reference in native code")

    def operands(self, op: Any) -> list[Any]:
        return self.run_block(op, [])


def refer(op: DestinationOp, spec: int) -> None:
    """Computes the outs from the inputs; `spec` is the address of the first operand's slots."""
    args: list[Any] = []
    for value in op.operands:
        args.append(_operand(value.type, spec))
        spec += 8 * (1 + 2 * value.type.rank if isinstance(value.type, MemRefType) else 1)
    results = op.evaluate(_NoInterpreter(), [_read_only(a) for a in args])
    for out, result in zip(args[op.n_ins :], results, strict=True):
        out[...] = result


def _read_only(arg: Any) -> Any:
    if not isinstance(arg, np.ndarray):
        return arg
    shown = arg.view()
    shown.flags.writeable = False
    return shown


def _operand(type_: Any, at: int) -> Any:
    if isinstance(type_, MemRefType):
        slots = (ctypes.c_int64 * (1 + 2 * type_.rank)).from_address(at)
        strides = tuple(s * type_.element.itemsize for s in slots[1 + type_.rank :])
        return array_at(slots[0], tuple(slots[1 : 1 + type_.rank]), strides, type_.element.dtype)
    assert isinstance(type_, ScalarType)
    value = array_at(at, (1,), (8,), type_.dtype)[0]
    return int(value) if type_ is INDEX else value
