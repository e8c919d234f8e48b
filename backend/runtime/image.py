"""A compiled program as data: all that `Kernel` needs to run it beside its machine code. No ops and no values, so that
a later process can read it from the cache on disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tracebuf.backend.llvm.abi import Frame, KernelText
from tracebuf.frozen import frozen
from tracebuf.ir.core import Value
from tracebuf.ir.func import Func
from tracebuf.ir.types import MemRefType, ScalarType, Type, unnamed
from tracebuf.location import Location
from tracebuf.ops.control.checks import Check, Message, Raised
from tracebuf.ops.memory.memref import base_of


@frozen(slots=False)
class Failure:
    """What a failed check raises: an exception with its message, of values of these types (`make_error`), and where."""

    exception: Raised
    message: Message
    types: tuple[ScalarType, ...]
    location: Location


@frozen(slots=False)
class Result:
    """How to make one result: its type, first slot, and the argument whose memory it is (None: asked at run time)."""

    type: MemRefType | ScalarType
    at: int
    argument: int | None


@frozen(slots=False)
class Image:
    """A compiled program. `imports` as in `KernelText`; `arena`: its slots, blocks, idle and roaming ones; `refers`:
    whether it calls Python (`references`), which data cannot say."""

    name: str
    frame: Frame
    imports: Mapping[str, tuple[str, ...]]
    failures: tuple[Failure, ...]
    results: tuple[Result, ...]
    arena: tuple[int, int, tuple[int, ...], tuple[int, int] | None]
    refers: bool


def image_of(func: Func, emitted: KernelText) -> Image:
    """The image of a program that was written."""
    frame = emitted.frame
    return Image(
        emitted.name,
        Frame(tuple(map(_plain, frame.args)), tuple(map(_plain, frame.results)), frame.arg_at, frame.result_at,
              frame.error_at, frame.size),
        dict(emitted.imports),
        tuple(map(_failure, emitted.checks)),
        tuple(Result(_plain(v.type), at, _argument_of(func, v)) for v, at in zip(emitted.results, frame.result_at)),
        (emitted.arena_slots, emitted.arena_blocks, emitted.arena_idle, emitted.arena_roaming),
        bool(emitted.references),
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


def _failure(check: Check) -> Failure:
    types: tuple[Any, ...] = tuple(v.type for v in check.operands[1:])
    return Failure(check.attrs["exception"], check.attrs["message"], types, check.loc)


def _argument_of(func: Func, value: Value) -> int | None:
    """The argument whose memory a result is a part of, where that is known."""
    base = base_of(value)
    return base.index if base.owner is func.block else None
