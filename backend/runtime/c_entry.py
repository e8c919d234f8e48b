"""C functions: the data of a *C entry* (backend/llvm/entries/c_entries.py), and the thunk of its signature."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from tracebuf.backend.llvm.entries.c_entries import CEntry, Fill, from_c_text
from tracebuf.backend.llvm.jit import Library, compile_module
from tracebuf.backend.runtime.entries import ProgramEntry, native_address
from tracebuf.backend.runtime.entry import runtime_address
from tracebuf.errors import InternalError
from tracebuf.frozen import frozen

Filling = tuple[str, int, int, int]
"""The name of a `Fill`, the word of the frame, two numbers."""


@frozen(slots=False, eq=False)
class CFunction:
    """A C function, and what lives as long as it."""

    address: int
    kept: tuple[Any, ...]


@cache
def _from_c() -> Library:
    """The machine code that all share."""
    imports = {name: native_address(name) for name in ("guards", "leave", "answer")}
    imports["tracebuf_enter"] = runtime_address("enter")
    return compile_module(from_c_text(), "from_c", imports, speed_level=1).pin()


class _Fail:
    """Raises what a kernel's status stands for."""

    def __init__(self, entry: ProgramEntry) -> None:
        self.entry = entry

    def __call__(self, status: int) -> None:
        self.entry.kernel.results(status, self.entry.context, ())
        raise InternalError(f"status {status} of {self.entry.kernel.name} is no error")


def c_function(
    entry: ProgramEntry,
    text: str,
    fill: Sequence[Filling],
    results: Sequence[int],
    words: int,
    python: Callable[[int, int], None],
) -> CFunction:
    """A C function over a program's entry: `text` is its thunk, `results` are slots of the frame."""
    fail = _Fail(entry)
    head = [entry.address, id(python), id(fail), words, len(fill), len(results)]
    instructions = [n for name, *numbers in fill for n in (Fill[name], *numbers)]
    memory = (ctypes.c_int64 * (CEntry.SIZE + len(results) + len(instructions)))(*head, *results, *instructions)
    imports = {"from_c": _from_c().address("from_c"), "c_entry": ctypes.addressof(memory)}
    library: Library = compile_module(text, "c_entry", imports, speed_level=1).pin()
    return CFunction(library.address("thunk"), (memory, entry, fail, python, library))
