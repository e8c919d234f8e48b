"""From a memref program to a kernel: written by `llvm`, compiled in two tiers (`tiers`), its image made.

What only this needs, the ops and all that writes code, is not loaded to run a program out of the cache on disk.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from tracebuf.backend.layout.abi import Frame
from tracebuf.backend.llvm.emit import emit_kernel
from tracebuf.backend.llvm.kernel_text import KernelText
from tracebuf.backend.llvm.polls import work
from tracebuf.backend.runtime.addresses import address_of
from tracebuf.backend.runtime.image import Failure, Image, Result
from tracebuf.backend.runtime.kernel import Kernel
from tracebuf.backend.runtime.references import Reference
from tracebuf.backend.runtime.tiers import MachineCode
from tracebuf.errors import UnsupportedError
from tracebuf.ir.core import Value
from tracebuf.ir.func import Func
from tracebuf.ir.types import MemRefType, Type, unnamed
from tracebuf.ops.arrays.host import HostCall
from tracebuf.ops.control.checks import Check
from tracebuf.ops.memory.memref import base_of
from tracebuf.options import Tier
from tracebuf.running.raised import Raised, raised


def kernel_of(func: Func, name: str, callees: Sequence[Func] = (), tier: Tier = "fast") -> Kernel:
    """The kernel of a function, with those that it calls."""
    emitted = emit_kernel(func, name, callees)
    text, ops = emitted.write(()), emitted.references
    imports = {s: address_of(what) for s, what in emitted.imports.items()}
    again = functools.partial(emit_kernel, func, name, callees, apart=True)
    code = MachineCode(emitted, text, imports, tier, again)
    made = Kernel(
        _image_of(func, emitted, callees), code, lambda: tuple(map(_failure_of, emitted.checks)),
        (lambda: list(map(Reference, ops))) if ops else None,
        calls_back=not all(isinstance(op, HostCall) for op in ops),
    )  # fmt: skip
    made.text, made.plans = text, emitted.plans
    return made


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
    return Failure(check.attrs["exception"], check.attrs["message"], types, check.loc)


def _argument_of(func: Func, value: Value) -> int | None:
    """The argument whose memory a result is a part of, where that is known."""
    base = base_of(value)
    return base.index if base.owner is func.block else None


def _is_refusal(exception: Raised) -> bool:
    kind = raised(exception)
    return isinstance(kind, UnsupportedError) or (isinstance(kind, type) and issubclass(kind, UnsupportedError))
