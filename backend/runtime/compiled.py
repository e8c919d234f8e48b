"""From a memref program to a kernel: written by `llvm`, compiled in two tiers (`tiers`), its image made.

What only this needs, the ops and all that writes code, is not loaded to run a program out of the cache on disk.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tracebuf.backend.layout.abi import ArgNumber, Frame
from tracebuf.backend.llvm.emit import emit_kernel
from tracebuf.backend.llvm.kernel_text import KernelText
from tracebuf.backend.llvm.polls import work
from tracebuf.backend.runtime.addresses import address_of
from tracebuf.backend.runtime.callback import Callback
from tracebuf.backend.runtime.image import Failure, Image, Result
from tracebuf.backend.runtime.kernel import Kernel
from tracebuf.backend.runtime.tiers import MachineCode
from tracebuf.errors import InternalError, UnsupportedError
from tracebuf.ir.core import Block, Value
from tracebuf.ir.func import Func
from tracebuf.ir.types import MemRefType, ScalarType, Type, unnamed
from tracebuf.ops.arrays.host import HostCall
from tracebuf.ops.arrays.linalg import DestinationOp
from tracebuf.ops.control.checks import Check
from tracebuf.ops.memory.memref import Alloc, Alloca, base_of
from tracebuf.options import Tier
from tracebuf.running.host import HostFunction, read_only
from tracebuf.running.raised import Raised, raised


def kernel_of(func: Func, name: str, callees: Sequence[Func] = (), tier: Tier = "fast") -> Kernel:
    """The kernel of a function, with those that it calls. Where it begins in the quick tier, it is written for that,
    and for the fast one when this is made."""
    emitted = emit_kernel(func, name, callees, apart=tier != "fast")
    imports = {s: address_of(what) for s, what in emitted.imports.items()}
    other = functools.partial(emit_kernel, func, name, callees, apart=tier == "fast")
    anew = other if emitted.inlined else None
    code = MachineCode(emitted, imports, tier, anew)
    return Kernel(
        _image_of(func, emitted, callees), code, lambda: tuple(map(_failure_of, emitted.checks)),
        tuple(map(_callback_of, emitted.references)),
    )  # fmt: skip


def _image_of(func: Func, emitted: KernelText, callees: Sequence[Func]) -> Image:
    """The image of a program that was written."""
    frame = emitted.frame
    return Image(
        emitted.name,
        Frame(tuple(map(_plain, frame.args)), tuple(map(_plain, frame.results)), frame.arg_at, frame.result_at,
              frame.error_at, frame.size),
        dict(emitted.imports),
        tuple(Result(_plain(v.type), at, _argument_of(func, v)) for v, at in zip(emitted.results, frame.result_at)),
        (emitted.arena_slots, emitted.arena_blocks, emitted.arena_idle, emitted.arena_roaming),
        any(_is_refusal(check.attrs["exception"]) for check in emitted.checks),
        not callees and work(func.block) is not None,
    )  # fmt: skip


_ANY = unnamed()
"""In the place of sizes that the machine code does not take for constants."""


def _plain(type_: Type) -> Any:
    """A type without symbols."""
    if not isinstance(type_, MemRefType):
        return type_
    shape = tuple(n if isinstance(n, int) else _ANY for n in type_.shape)
    strides = tuple(n if isinstance(n, int) else None for n in type_.strides)
    return MemRefType(shape, type_.element, strides, type_.offset if isinstance(type_.offset, int) else None)


def _failure_of(check: Check) -> Failure:
    types: tuple[Any, ...] = tuple(v.type for v in check.operands[1:])
    exception, message = check.attrs["exception"], check.attrs["message"]
    if isinstance(exception, BaseException):
        exception, message = type(exception), exception.args  # which are constants, as `make_error` takes them
    return Failure(exception, message, types, check.loc)


# -- functions of Python's
def _callback_of(op: DestinationOp) -> Callback:
    if not isinstance(op, HostCall):
        function = HostFunction(op.name, _Evaluated(op))
    elif isinstance(op.callee, HostFunction):
        function = op.callee
    else:
        function = HostFunction(op.callee, lambda ins, outs: op.run([*ins, *outs]), may_keep=True)
    operands = tuple(map(_operand, op.operands))
    hosted = isinstance(op, HostCall)
    gives = tuple(op.n_ins + k for k in op.given_outs) if isinstance(op, HostCall) else ()
    return Callback(function, op.n_ins, operands, _perhaps_on_stack(op), op.may_raise, hosted, op.loc, gives)


def _operand(value: Value) -> tuple[ScalarType, int | None]:
    if isinstance(value.type, MemRefType):
        return value.type.element, value.type.rank
    assert isinstance(value.type, ScalarType)
    return value.type, None


class _Evaluated:
    """What runs where an op's NumPy reference is called back."""

    def __init__(self, op: DestinationOp) -> None:
        self.op = op

    def __call__(self, ins: Sequence[Any], outs: Sequence[np.ndarray]) -> None:
        results = self.op.evaluate(_NoInterpreter(), [*map(read_only, ins), *map(read_only, outs)])
        for out, result in zip(outs, results, strict=True):
            out[...] = result


class _NoInterpreter:
    """References of ops with regions are for the interpreters."""

    def run_block(self, block: Any, args: Any) -> list[Any]:
        raise InternalError("an op with regions has no reference in native code")

    def operands(self, op: Any) -> list[Any]:
        return self.run_block(op, [])


def _perhaps_on_stack(op: DestinationOp) -> tuple[int, ...]:
    """The operands that may be on the stack: of functions that native code calls only where NumPy's loop does not do,
    all; of other functions the numbers that they give."""
    if not isinstance(op, HostCall):
        return ()
    bases = {k: base_of(v) for k, v in enumerate(op.operands) if isinstance(v.type, MemRefType)}
    if op.loop is None:
        return tuple(k for k, base in bases.items() if isinstance(base.owner, Alloca))
    return tuple(k for k, base in bases.items() if not _on_heap(base))


def _on_heap(base: Value) -> bool:
    if isinstance(base.owner, Block):
        return base.owner.region.op is None  # an argument of the program
    return isinstance(base.owner, Alloc) and not isinstance(base.owner, Alloca)


def _argument_of(func: Func, value: Value) -> ArgNumber | None:
    """The argument whose memory a result is a part of, where that is known."""
    base = base_of(value)
    return ArgNumber(base.index) if base.owner is func.block else None


def _is_refusal(exception: Raised) -> bool:
    kind = raised(exception)
    return isinstance(kind, UnsupportedError) or (isinstance(kind, type) and issubclass(kind, UnsupportedError))
