"""Runs an op's NumPy reference on a kernel's buffers: the other end of `backend.llvm.references`.

The arrays lend the kernel's memory. A host call's function, or the frames of an exception that it raised, may still
hold one afterwards: then that array, and so every view of it, gets the owners of the memory to keep (it is not used
again, and the memory is never freed under it), and a function that has kept one is told so.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracebuf.backend.llvm.abi import scalar_slots
from tracebuf.errors import InternalError, note_location
from tracebuf.ir.core import Block, Value
from tracebuf.ir.ndarray import Lent, array_at, leases, still_lent
from tracebuf.ir.types import INDEX, MemRefType, ScalarType
from tracebuf.ops.arrays.host import HostCall, kept_error, read_only
from tracebuf.ops.arrays.linalg import DestinationOp
from tracebuf.ops.memory.memref import ON_STACK, Alloc, Alloca, base_of


class _NoInterpreter:
    """References of ops with regions are for the interpreters."""

    def run_block(self, block: Any, args: Any) -> list[Any]:
        raise InternalError("an op with regions has no reference in native code")

    def operands(self, op: Any) -> list[Any]:
        return self.run_block(op, [])


class Reference:
    """One op whose NumPy reference a kernel calls back; of one context, so of one call at a time."""

    __slots__ = ("args", "arrays", "may_keep", "op", "scalars", "slots", "stack", "type")

    def __init__(self, op: DestinationOp) -> None:
        self.op = op
        self.may_keep = isinstance(op, HostCall) and op.may_keep
        self.stack = perhaps_on_stack(op)
        self.arrays: list[tuple[int, int, int, MemRefType]] = []
        """(operand, first slot, rank, type)"""
        self.scalars: list[tuple[int, int, ScalarType]] = []
        size = 0
        for k, value in enumerate(op.operands):
            if isinstance(value.type, MemRefType):
                self.arrays.append((k, size, value.type.rank, value.type))
                size += 1 + 2 * value.type.rank
            else:
                assert isinstance(value.type, ScalarType)
                self.scalars.append((k, size, value.type))
                size += scalar_slots(value.type)
        self.type = ctypes.c_int64 * size
        self.forget()

    def forget(self) -> None:
        """The arrays of the last call, which serve the next one on the same memory, unless something may have kept
        them."""
        self.args: list[Any] = []
        self.slots: list[int] = []

    def call(self, spec: int, hand_over: Callable[[], object]) -> None:
        """Computes the outs from the inputs; `spec` is the address of the first operand's slots, `hand_over` gives up
        the owners of all memory that the kernel uses."""
        op, args = self.op, self.operands(spec)
        lent = leases(args) if self.may_keep else []
        apart = copied(args, self.stack, op.n_ins)
        try:
            compute(op, args)
        except BaseException as error:
            apart.clear()
            self.forget()
            keep([found for lease in leases(args) if (found := lease()) is not None], hand_over)
            if op.may_raise:
                note_location(error, op.loc)
            raise
        for out, made in apart:
            out[...] = made
        if self.may_keep:
            args.clear()
            if kept := still_lent(lent):
                keep(kept, hand_over)
                raise note_location(kept_error(str(op.attrs["callee"])), op.loc)

    def operands(self, at: int) -> list[Any]:
        """The operands on the kernel's memory; inputs are read-only."""
        slots = self.type.from_address(at)[:]
        if slots == self.slots and not self.scalars:
            return self.args
        args: list[Any] = [None] * len(self.op.operands)
        for k, place, rank, type_ in self.arrays:
            size, end = type_.element.itemsize, place + 1 + rank
            strides = tuple([n * size for n in slots[end : end + rank]])
            shape = tuple(slots[place + 1 : end])
            args[k] = array_at(slots[place], shape, strides, type_.element.dtype, k < self.op.n_ins)
        for k, place, scalar in self.scalars:
            args[k] = slots[place] if scalar is INDEX else scalar_at(at + 8 * place, scalar)
        if not self.may_keep and not self.stack:
            self.slots, self.args = slots, args
        return args


def perhaps_on_stack(op: DestinationOp) -> tuple[int, ...]:
    """The operands that may be on the stack: of functions that native code calls only where NumPy's loop does not do.
    What other functions get never is."""
    if not isinstance(op, HostCall) or op.loop is None:
        return ()
    return tuple(k for k, v in enumerate(op.operands) if isinstance(v.type, MemRefType) and not on_heap(base_of(v)))


def on_heap(base: Value) -> bool:
    if isinstance(base.owner, Block):
        return base.owner.region.op is None  # an argument of the program
    return isinstance(base.owner, Alloc) and not isinstance(base.owner, Alloca)


def copied(args: list[Any], places: Sequence[int], n_ins: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Puts copies in the place of what may be on the stack, for the frames of an error may keep them; the outs, with
    their copies."""
    outs = []
    for k in places:
        if (x := args[k]).nbytes <= ON_STACK:
            args[k] = x.copy(order="K")
            outs += [(x, args[k])] if k >= n_ins else []
    return outs


def compute(op: DestinationOp, args: list[Any]) -> None:
    """A host call on the memory itself; else what the reference gives goes there."""
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


def scalar_at(at: int, type_: ScalarType) -> Any:
    """The scalar at an address."""
    return np.frombuffer(ctypes.string_at(at, type_.itemsize), type_.dtype)[0]
