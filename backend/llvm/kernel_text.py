"""A kernel as it is written, before LLVM compiles it."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Protocol

from tracebuf.backend.layout.abi import Frame
from tracebuf.backend.llvm.shared import Shared
from tracebuf.frozen import frozen
from tracebuf.ir.core import Value
from tracebuf.ops.arrays.linalg import DestinationOp
from tracebuf.ops.control.checks import Check


class Write(Protocol):
    """Gives the LLVM IR, without the shared functions `elsewhere`; `by_pointer`: the others are called through
    pointers."""

    def __call__(self, elsewhere: Container[str] = (), by_pointer: bool = False) -> str: ...


@frozen(slots=False)
class KernelText:
    """An emitted kernel: LLVM IR, the loop nests it was written from, what it imports, how it is called."""

    name: str
    write: Write
    shared: Mapping[str, Shared]
    """By symbol the functions that other kernels may have compiled."""
    plans: tuple[str, ...]
    imports: dict[str, tuple[str, ...]]
    """External symbols: ("blas", name), ("python", function, signature), ("builtin", name), ("loop" | "data", ufunc,
    types), ("core" | "core data", module, ufunc, types), ("sort" | "sort array", dtype, kind, "indirect" or ""),
    ("extreme" | "extreme array", dtype, name), ("status", "test" | "clear"), ("roaming", name), or ("runtime",
    name)."""
    frame: Frame
    checks: tuple[Check, ...]
    arena_slots: int
    arena_blocks: int
    """How many of the slots are for phases of several buffers: the first ones."""
    arena_idle: tuple[int, ...]
    """Those in which nothing is alive where the first one is asked for."""
    arena_roaming: tuple[int, int] | None
    """The slots of the block in which buffers of varying sizes roam, and of their table (roaming.py)."""
    results: tuple[Value, ...]
    references: tuple[DestinationOp, ...] = ()
    """Ops without loops, whose NumPy references are called back, by number."""
    glue: bool = False
    """Whether it has nothing that is worth optimising."""
    inlined: bool = False
    """Whether nests are written into it that could be functions."""
    scalar_loops: bool = False
    """Whether it has loops of its own that may take long."""
