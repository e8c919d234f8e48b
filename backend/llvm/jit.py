"""From LLVM IR as text to callable machine code, in this process.

Two steps: `compile_object` has LLVM make an object image of the text, a plain value, of which the last `IMAGES` are
kept for equal texts (a cell of a notebook that runs again, a function made again by its factory), and all in the cache
on disk (`tracebuf.cache`); `link_object` loads an image into this process and gives a `Library`. `compile_module` is
both. LLVM itself (`compiler`) is loaded when something is compiled: `objects.elf` lays an image into memory, whether it
is new or from the cache. LLVM's linker gets those that it refuses, and all on platforms that it does not know.

Rules that hold here, each learnt from a crash or a wrong number:

- Addresses never stand in the text, for an image must mean the same in another process. What the code calls is an
  external symbol that `imports` binds.
- A signal must leave no half-made module behind, and Ctrl-C must not wait for LLVM. Python's signal handlers run on the
  main thread, so there LLVM runs on a thread of its own, for which the main thread waits.
- `os.fork` waits until no thread is inside of LLVM, or loads it: the child would inherit its locks, held for ever.
- A thread that compiles in the background lets all others go first (`after_others`): each of llvmlite's calls, as all
  passes over a module, holds a lock of its own, and Python's locks are not fair.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import cache as once
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from tracebuf import cache
from tracebuf.backend.objects import elf, image, locked
from tracebuf.backend.objects.image import CompiledObject, Placed, SpeedLevel
from tracebuf.backend.objects.locked import after_fork, before_fork
from tracebuf.backend.objects.processor import llvm, processor
from tracebuf.frozen import frozen
from tracebuf.process.aside import aside, at_end, ending

__all__ = [
    "CompiledObject", "Library", "SpeedLevel", "after_fork", "before_fork", "compile_module", "compile_object",
    "link_object", "unforked",
]  # fmt: skip

T = TypeVar("T")
IMAGES = 128
"""How many object images are kept; most have 5 to 20 KiB, and so have their texts."""

_images: dict[bytes, CompiledObject] = {}
"""The last object images, by their key."""
_waiting: list[int] = []
"""The threads that want to be inside of LLVM, but for those in the background."""
_behind: set[int] = set()
"""The threads in the background."""
_pinned: list[Library] = []


@frozen(eq=False, slots=False)
class Library:
    """Machine code in memory. The code lives as long as this object: the holder of an address must hold the library."""

    name: str
    text: str
    speed_level: SpeedLevel
    object: CompiledObject
    link_seconds: float
    """CPU time of linking."""
    addresses: Mapping[str, int]
    life: np.ndarray
    """When this dies, the code is unloaded. Not when the collector finds the library in a cycle: a finalizer of another
    object there may still run the code, and what the collector does not track, as an array, is freed after them."""

    @property
    def cpu_seconds(self) -> float:
        """CPU time from text to callable code, of the thread that compiled."""
        return self.object.cpu_seconds + self.link_seconds

    def address(self, symbol: str) -> int:
        """Address of a function or variable the text defines with external linkage. Raises KeyError for others."""
        if symbol not in self.object.symbols:
            raise KeyError(f"{symbol!r} is not defined by {self.name!r}; defined are: {', '.join(self.object.symbols)}")
        return self.addresses[symbol]

    def optimized_ir(self) -> str:
        """The IR after LLVM's passes. Compiled again at each call, with the same result."""
        return self._compiled_again(lambda module, _: str(module))

    def assembly(self) -> str:
        """The machine code as assembly text. Compiled again at each call, with the same result."""
        return self._compiled_again(lambda module, machine: str(machine.emit_assembly(module)))

    def _compiled_again(self, show: Callable[[Any, Any], str]) -> str:
        def compiled(compiler: Any) -> str:
            with compiler.optimized(self.text, self.name, self.speed_level) as (module, machine):
                return show(module, machine)

        return _inside_llvm(compiled)

    def pin(self) -> Library:
        """Never unload, for code whose address is held by something that outlives this object. Returns itself."""
        _pinned.append(self)
        return self


def compile_module(
    text: str, name: str, imports: Mapping[str, int] | None = None, *, speed_level: SpeedLevel = 3
) -> Library:
    """Compile IR text and link it into this process. Safe to call from any thread.

    `imports` binds the external symbols of the text to addresses; symbols it does not name are looked up in the process
    (libc, libm, the Python C API). Raises RuntimeError when LLVM refuses the text or a symbol is not found.
    """
    return link_object(
        compile_object(text, name, speed_level=speed_level), text, name, imports, speed_level=speed_level
    )


def compile_object(text: str, name: str, *, speed_level: SpeedLevel = 3, keep: bool = True) -> CompiledObject:
    """Compile IR text to an object image, or take the one the same text gave; `keep` it for others. Raises RuntimeError
    when LLVM refuses the text."""
    if (found := find_object(text, name, speed_level=speed_level)) is not None:
        return found

    def compiled(compiler: Any) -> CompiledObject:
        made: CompiledObject = compiler.compile_image(text, name, speed_level, _check_needed)
        return made

    made = _inside_llvm(compiled)
    if keep:
        key = object_key(text, name, speed_level)
        cache.store(key, made.to_bytes())
        _remember(key, made)
    return made


def find_object(text: str, name: str, *, speed_level: SpeedLevel = 3) -> CompiledObject | None:
    """The image that the same text gave, if it is kept in this process or on disk."""
    start = time.thread_time()
    key = object_key(text, name, speed_level)
    if (found := _images.pop(key, None)) is None and (kept := cache.load(key)) is not None:
        found = CompiledObject.of_bytes(kept, time.thread_time() - start)
    if found is not None:
        _remember(key, found)
    return found


def forget_images() -> None:
    """Drops the images that are kept in this process."""
    _images.clear()


def _remember(key: bytes, compiled: CompiledObject) -> None:
    _images[key] = compiled
    for oldest in list(_images)[: max(len(_images) - IMAGES, 0)]:
        _images.pop(oldest, None)


def object_key(text: str, name: str, speed_level: SpeedLevel) -> bytes:
    """Under which the cache on disk keeps the image of a text."""
    return cache.digest("object", _pipeline(), str(speed_level), name, text)


@once
def machine() -> tuple[str, ...]:
    """The processor, and which LLVM is installed."""
    found = processor(), llvm()
    return tuple(map(str, found)) if None not in found else (_inside_llvm(lambda compiler: repr(compiler.host())),)


@once
def _pipeline() -> bytes:
    """A digest of what an image depends on beside its text: the processor, LLVM, and what is made of them here."""
    own = (Path(__file__).with_name("compiler.py"), Path(image.__file__))
    return cache.digest(*machine(), *(path.read_bytes() if path.is_file() else b"" for path in own))


def link_object(
    compiled: CompiledObject,
    text: str,
    name: str,
    imports: Mapping[str, int] | None = None,
    *,
    speed_level: SpeedLevel = 3,
) -> Library:
    """Load an object image, fresh or from a cache. `text` is what it was compiled from, kept to show.

    `TRACEBUF_LINKER=llvm` has LLVM load all of them.
    """

    def timed(place: Callable[[], Placed | None]) -> tuple[Placed | None, float]:
        start = time.thread_time()
        return place(), time.thread_time() - start

    bound, placed, seconds = imports or {}, None, 0.0
    if os.environ.get("TRACEBUF_LINKER") != "llvm":
        placed, seconds = timed(lambda: elf.place(compiled.image, compiled.symbols, bound))
    if placed is None:
        placed, seconds = _inside_llvm(lambda compiler: timed(lambda: compiler.link(compiled, name, bound)))
        assert placed is not None
    return Library(name, text, speed_level, compiled, seconds, placed.addresses, placed.life)


def _inside_llvm(work: Callable[[ModuleType], T]) -> T:
    """The result of work that calls LLVM, by the module that does: of one thread at a time, which is not the main
    thread."""

    def inside() -> T:
        _begin()
        try:
            from tracebuf.backend.llvm import compiler

            compiler.unload()
            return work(compiler)
        finally:
            locked.lock.release()

    return aside(inside)


def _begin() -> None:
    """Takes the lock, in the background after all others that want it."""
    me = threading.get_ident()
    if me in _behind:
        while _waiting:
            time.sleep(0.0005)
        locked.lock.acquire()
        return
    _waiting.append(me)
    try:
        while not locked.lock.acquire(timeout=AT_END):
            if ending():
                raise AbandonedError
    finally:
        _waiting.remove(me)


AT_END = 5.0
"""Seconds after which a thread gives up to wait for LLVM when Python ends, should somebody wait for the thread."""
at_end(locked.lock.acquire)
"""When Python ends, no thread but the main one comes into LLVM any more: it would die in there, and who disposes of
objects afterwards would wait for llvmlite's lock for ever."""


class AbandonedError(Exception):
    """Python ends: what was compiled in the background, or in another thread than the main one, is not needed."""


def _check_needed() -> None:
    """Asked between LLVM's passes and its code generator."""
    if threading.get_ident() in _behind and ending():
        raise AbandonedError


@contextmanager
def after_others() -> Iterator[None]:
    """In which a thread compiles in the background: all others go first."""
    me = threading.get_ident()
    _behind.add(me)
    try:
        yield
    finally:
        _behind.discard(me)


def _in_child() -> None:
    _waiting.clear()
    _behind.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


def unforked() -> AbstractContextManager[Any]:
    """A lock that no thread holds when the process forks."""
    return locked.lock
