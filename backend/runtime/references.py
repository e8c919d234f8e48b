"""Runs an op's NumPy reference on a kernel's buffers: the other end of `backend.llvm.references`.

The arrays lend the kernel's memory. A host call's function, or the frames of an exception that it raised, may still
hold one afterwards: then that array, and so every view of it, gets the owners of the memory to keep (it is not used
again, and the memory is never freed under it), and a function that has kept one is told so.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from tracebuf.backend.llvm.abi import scalar_slots
from tracebuf.errors import InternalError, note_location
from tracebuf.ir.ndarray import Lent, array_at, leases, still_lent
from tracebuf.ir.types import INDEX, MemRefType, ScalarType
from tracebuf.ops.host import HostCall, kept_error, read_only
from tracebuf.ops.linalg import DestinationOp


class _NoInterpreter:
    """References of ops with regions are for the interpreters."""

    def run_block(self, block: Any, args: Any) -> list[Any]:
        raise InternalError("an op with regions has no reference in native code")

    def operands(self, op: Any) -> list[Any]:
        return self.run_block(op, [])


def refer(op: DestinationOp, spec: int, hand_over: Callable[[], object]) -> None:
    """Computes the outs from the inputs; `spec` is the address of the first operand's slots, `hand_over` gives up the
    owners of all memory that the kernel uses."""
    args = operands(op, spec)
    lent = leases(args)
    try:
        compute(op, args)
    except BaseException as error:
        keep([found for lease in lent if (found := lease()) is not None], hand_over)
        if op.may_raise:
            note_location(error, op.loc)
        raise
    args.clear()
    if isinstance(op, HostCall) and op.may_keep and (kept := still_lent(lent)):
        keep(kept, hand_over)
        raise note_location(kept_error(str(op.callee)), op.loc)


def compute(op: DestinationOp, args: list[Any]) -> None:
    """A host call on the memory itself; else what the reference gives goes there."""
    args[: op.n_ins] = map(read_only, args[: op.n_ins])
    if isinstance(op, HostCall):
        op.run(args)
        return
    results = op.evaluate(_NoInterpreter(), list(map(read_only, args)))
    for out, result in zip(args[op.n_ins :], results, strict=True):
        out[...] = result


def keep(lent: Sequence[Lent], hand_over: Callable[[], object]) -> None:
    """Lent memory that is still in use stays alive as long as it is."""
    owners = hand_over() if lent else None
    for found in lent:
        found.owner = owners


def operands(op: DestinationOp, at: int) -> list[Any]:
    found = []
    for value in op.operands:
        found.append(_operand(value.type, at))
        at += 8 * (1 + 2 * value.type.rank if isinstance(value.type, MemRefType) else scalar_slots(value.type))
    return found


def _operand(type_: Any, at: int) -> Any:
    if isinstance(type_, MemRefType):
        slots = (ctypes.c_int64 * (1 + 2 * type_.rank)).from_address(at)
        strides = tuple(s * type_.element.itemsize for s in slots[1 + type_.rank :])
        return array_at(slots[0], tuple(slots[1 : 1 + type_.rank]), strides, type_.element.dtype)
    assert isinstance(type_, ScalarType)
    value = array_at(at, (1,), (16,), type_.dtype)[0]
    return int(value) if type_ is INDEX else value
