"""From LLVM IR as text to callable machine code, in this process.

Two steps: `compile_object` runs LLVM's own pipeline on the text and gives an object image, a plain value, of which the
last `IMAGES` are kept for equal texts (a cell of a notebook that runs again, a function made again by its factory), and
all in the cache on disk (`tracebuf.cache`);
`link_object` loads an image, or several, into an ORC LLJIT of this process and gives a `Library`. `compile_module` is
both.
Counterpart: MLIR's `ExecutionEngine` over `LLJITBuilder`.

Rules that hold here, each learnt from a crash or a wrong number:

- ORC, never MCJIT: a second object in one MCJIT engine computed NaN.
- Every use has its own `TargetMachine`; sharing one with an engine aborts.
- Addresses never stand in the text, for an image must mean the same in another process. What the code calls is an
  external symbol that `imports` binds; `llvmlite.binding.add_symbol` is not seen by ORC.
- ORC never forgets an unloaded library (its name, and 9 KiB): the names are numbered, and an engine that has linked
  `LINKS` libraries gets no more; it is disposed of with the last of them.
- LLVM's objects are closed by hand, a module before its context. The garbage collector closes those that an exception
  keeps alive in any order, and a module that outlives its context ends the process.
- A signal must leave no half-made module behind, and Ctrl-C must not wait for LLVM. Python's signal handlers run on the
  main thread, so there LLVM runs on a thread of its own, for which the main thread waits.
- `os.fork` waits until no thread is inside of LLVM: the child would inherit its locks, held for ever.
- A thread that compiles in the background lets all others go first (`after_others`): each of llvmlite's calls, as all
  passes over a module, holds a lock of its own, and Python's locks are not fair.
- The text need not name a target: triple and data layout are set here, before any pass runs.

Does not optimise by itself. Loops and their metadata are what the writer of the text chose. Loop vectorisation and
interleaving are on, SLP is off (no gain was measured, and it costs time). No floating-point flag is set here.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache as once
from pathlib import Path
from typing import Any, Literal, TypeVar

import llvmlite.binding as llvm
import numpy as np
from llvmlite import __version__ as llvmlite_version
from llvmlite.binding import ffi
from llvmlite.binding.newpassmanagers import NewPassManager

from tracebuf import cache
from tracebuf.aside import aside, ending
from tracebuf.frozen import frozen

__all__ = ["CompiledObject", "Library", "compile_module", "compile_object", "host", "link_object"]

SpeedLevel = Literal[0, 1, 2, 3]
"""LLVM's, but for 1: no pass but the one that puts stack slots into registers."""

T = TypeVar("T")
IMAGES = 128
"""How many object images are kept; most have 5 to 20 KiB, and so have their texts."""
LINKS = 16
"""How many libraries one engine links; a new one takes a millisecond."""

_numbers = itertools.count()
_lock = threading.RLock()
"""Held by the thread that is inside of LLVM."""
_waiting: list[int] = []
"""The threads that want it, but for those in the background."""
_behind: set[int] = set()
"""The threads in the background."""
_images: dict[bytes, CompiledObject] = {}
"""The last object images, by their key."""
_llvmlite_lock: Any = getattr(ffi.lib, "_lock", None)
"""llvmlite's own, around each of its functions."""
_pinned: list[Library] = []
_unused: deque[tuple[_Engine, Any]] = deque()
"""Engine and tracker of each library that is to be unloaded."""


@frozen()
class Host:
    """What the machine code is for: part of an object cache's key, together with `llvm_version`."""

    triple: str
    cpu: str
    features: str
    llvm_version: tuple[int, int, int]


@once
def host() -> Host:
    """The processor this process runs on, as LLVM names it."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return Host(
        triple=llvm.get_process_triple(),
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        llvm_version=llvm.llvm_version_info,
    )


@frozen()
class CompiledObject:
    """An object image: relocatable, free of addresses, good for any process on the same `host()`."""

    image: bytes
    symbols: tuple[str, ...]
    """The functions and variables it defines for others."""
    needs: tuple[str, ...]
    """The functions and variables it declares and does not define."""
    cpu_seconds: float
    """CPU time of the compiling thread, or of loading it."""

    def to_bytes(self) -> bytes:
        """The symbols, a line each of those it defines and those it needs; the image."""
        return f"{' '.join(self.symbols)}\n{' '.join(self.needs)}\n".encode() + self.image

    @staticmethod
    def of_bytes(data: bytes, cpu_seconds: float) -> CompiledObject:
        symbols, needs, image = data.split(b"\n", 2)
        return CompiledObject(image, tuple(symbols.decode().split()), tuple(needs.decode().split()), cpu_seconds)


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
        if symbol not in self.addresses:
            raise KeyError(f"{symbol!r} is not defined by {self.name!r}; defined are: {', '.join(self.addresses)}")
        return self.addresses[symbol]

    def optimized_ir(self) -> str:
        """The IR after LLVM's passes. Compiled again at each call, with the same result."""
        return _inside_llvm(lambda: self._compiled_again(lambda module, _: str(module)))

    def assembly(self) -> str:
        """The machine code as assembly text. Compiled again at each call, with the same result."""
        return _inside_llvm(lambda: self._compiled_again(lambda module, machine: str(machine.emit_assembly(module))))

    def _compiled_again(self, show: Callable[[Any, Any], str]) -> str:
        with _optimized(self.text, self.name, self.speed_level) as (module, machine):
            return show(module, machine)

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
    compiled = _inside_llvm(lambda: _compile(text, name, speed_level))
    if keep:
        key = _key(text, name, speed_level)
        cache.store(key, compiled.to_bytes())
        _remember(key, compiled)
    return compiled


def find_object(text: str, name: str, *, speed_level: SpeedLevel = 3) -> CompiledObject | None:
    """The image that the same text gave, if it is kept in this process or on disk."""
    start = time.thread_time()
    key = _key(text, name, speed_level)
    if (found := _images.pop(key, None)) is None and (kept := cache.load(key)) is not None:
        found = CompiledObject.of_bytes(kept, time.thread_time() - start)
    if found is not None:
        _remember(key, found)
    return found


def forget_images() -> None:
    """Drops the images that are kept in this process."""
    _images.clear()


def _key(text: str, name: str, speed_level: SpeedLevel) -> bytes:
    return cache.digest("object", _pipeline(), str(speed_level), name, text)


def _remember(key: bytes, compiled: CompiledObject) -> None:
    _images[key] = compiled
    for oldest in list(_images)[: max(len(_images) - IMAGES, 0)]:
        _images.pop(oldest, None)


@once
def _pipeline() -> bytes:
    """A digest of what an image depends on beside its text: the processor, LLVM, and what this module makes of them."""
    own = Path(__file__)
    source = own.read_bytes() if own.is_file() else b""
    known = map(str, (host().triple, host().cpu, host().features, host().llvm_version))
    return cache.digest(*known, llvmlite_version, source)


def link_object(
    compiled: CompiledObject,
    text: str,
    name: str,
    imports: Mapping[str, int] | None = None,
    *,
    speed_level: SpeedLevel = 3,
    beside: Sequence[CompiledObject] = (),
) -> Library:
    """Load an object image, fresh or from a cache, with others `beside` it, which it may need. `text` is what it was
    compiled from, kept to show."""
    return _inside_llvm(lambda: _link((compiled, *beside), text, name, imports or {}, speed_level))


def _compile(text: str, name: str, speed_level: SpeedLevel) -> CompiledObject:
    start = time.thread_time()
    with _optimized(text, name, speed_level) as (module, machine):
        if threading.get_ident() in _behind and ending():
            raise AbandonedError
        image = machine.emit_object(module)
        values = [*module.functions, *module.global_variables]
        symbols = tuple(v.name for v in values if not v.is_declaration and v.linkage is llvm.Linkage.external)
        needs = tuple(v.name for v in values if v.is_declaration and not v.name.startswith("llvm."))
    return CompiledObject(image, symbols, needs, time.thread_time() - start)


def _link(
    objects: Sequence[CompiledObject], text: str, name: str, imports: Mapping[str, int], speed_level: SpeedLevel
) -> Library:
    start = time.thread_time()
    builder, symbols = llvm.JITLibraryBuilder(), [symbol for one in objects for symbol in one.symbols]
    for one in objects:
        builder.add_object_img(one.image)
    builder.add_current_process()
    for symbol, address in imports.items():
        builder.import_symbol(symbol, address)
    for symbol in symbols:
        builder.export_symbol(symbol)
    engine = _Engine.next()
    try:
        tracker = builder.link(engine.lljit, f"{name}.{next(_numbers)}")
    except RuntimeError as error:
        unbound = ", ".join(s for one in objects for s in one.needs if s not in imports and s not in symbols)
        raise RuntimeError(f"linking {name!r} failed; not in imports are: {unbound}\n{error}") from error
    engine.loaded += 1
    addresses = {symbol: int(tracker[symbol]) for symbol in symbols}
    life = np.empty(0)
    library = Library(name, text, speed_level, objects[0], time.thread_time() - start, addresses, life)
    weakref.finalize(life, _discard, engine, tracker).atexit = False
    return library


def _inside_llvm(work: Callable[[], T]) -> T:
    """The result of work that calls LLVM: of one thread at a time, which is not the main thread."""

    def locked() -> T:
        _begin()
        try:
            _unload()
            return work()
        finally:
            _lock.release()

    return aside(locked)


def _begin() -> None:
    """Takes the lock, in the background after all others that want it."""
    me = threading.get_ident()
    if me in _behind:
        while _waiting:
            time.sleep(0.0005)
        _lock.acquire()
        return
    _waiting.append(me)
    try:
        _lock.acquire()
    finally:
        _waiting.remove(me)


class AbandonedError(Exception):
    """Python ends: what was compiled in the background is not needed any more."""


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
    return _lock


class _Engine:
    """An ORC LLJIT, with how many libraries it has linked, and how many of them are still loaded."""

    __slots__ = ("linked", "lljit", "loaded")
    current: _Engine | None = None

    def __init__(self) -> None:
        with _target_machine(3) as machine:
            self.lljit = llvm.create_lljit_compiler(machine, suppress_errors=True)
        self.linked = self.loaded = 0

    @staticmethod
    def next() -> _Engine:
        """The engine for one more library."""
        engine = _Engine.current
        if engine is None or engine.linked == LINKS:
            _Engine.current = _Engine()
            if engine is not None:
                engine.close_unused()
            engine = _Engine.current
        engine.linked += 1
        return engine

    def close_unused(self) -> None:
        """Disposes of an engine that links no more, once none of its libraries is loaded."""
        if self.loaded == 0 and self is not _Engine.current:
            self.lljit.close()


def _discard(engine: _Engine, tracker: Any, ending: Callable[[], bool] = sys.is_finalizing) -> None:
    """Unloads a library, at once or when the thread that is inside of LLVM comes back: the garbage collector calls this
    anywhere, where waiting for a lock could be for ever. When Python ends, modules may be gone already: nothing is
    unloaded, by LLVM's wrappers neither."""
    if ending():
        tracker.detach()
        engine.lljit.detach()
        return
    _unused.append((engine, tracker))
    if _lock.acquire(blocking=False):
        try:
            _unload()
        finally:
            _lock.release()


def _unload() -> None:
    while _unused:
        try:
            engine, tracker = _unused.popleft()
        except IndexError:  # the garbage collector came between, and called this
            return
        tracker.close()
        engine.loaded -= 1
        engine.close_unused()


def _target_machine(speed_level: SpeedLevel) -> Any:
    target = llvm.Target.from_triple(host().triple)
    return target.create_target_machine(cpu=host().cpu, features=host().features, opt=speed_level, jit=True)


@contextmanager
def _optimized(text: str, name: str, speed_level: SpeedLevel) -> Iterator[tuple[Any, Any]]:
    """The module after the passes, in a context of its own, with the machine it was optimised for."""
    with _target_machine(speed_level) as machine, llvm.create_context() as context:
        try:
            module = llvm.parse_assembly(text, context)
        except RuntimeError as error:
            raise RuntimeError(f"LLVM refuses {name!r}: {error}") from error
        with module:
            with machine.target_data as layout:
                module.name, module.triple, module.data_layout = name, host().triple, str(layout)
            try:
                module.verify()
            except RuntimeError as error:
                raise RuntimeError(f"LLVM refuses {name!r}: {error}") from error
            _run_passes(module, machine, speed_level)
            yield module, machine


def _run_passes(module: Any, machine: Any, speed_level: SpeedLevel) -> None:
    """LLVM's own pipeline for the level, without its unroller and its vectoriser of straight code; for level 1, which
    programs have that only call others, SROA alone."""
    with llvm.create_pipeline_tuning_options(speed_level) as tuning:
        tuning.loop_vectorization = tuning.loop_interleaving = speed_level >= 2
        tuning.loop_unrolling = False  # interleaving does what it could do here; it costs up to a third of compile time
        tuning.slp_vectorization = False
        with llvm.create_pass_builder(machine, tuning) as builder, _passes(builder, speed_level) as manager:
            manager.run(module, builder)
            if type(manager)._dispose is ffi.ObjectRef._dispose and hasattr(NewPassManager, "_dispose"):
                # llvmlite 0.50 frees no pass manager (70 to 200 KiB): the wrong one of two bases comes first
                NewPassManager._dispose(manager)
                manager.detach()


def _passes(builder: Any, speed_level: SpeedLevel) -> Any:
    if speed_level != 1:
        return builder.getModulePassManager()
    manager = llvm.create_new_module_pass_manager()
    manager.add_sroa_pass()
    return manager


def before_fork() -> None:
    """Waits until no thread is inside of LLVM, ours or (Numba's) through llvmlite alone."""
    _lock.acquire()
    if _llvmlite_lock is not None:
        _llvmlite_lock.__enter__()


def after_fork() -> None:
    """In the parent and in the child (tracebuf/stages.py calls both)."""
    if _llvmlite_lock is not None:
        _llvmlite_lock.__exit__(None, None, None)
    _lock.release()
