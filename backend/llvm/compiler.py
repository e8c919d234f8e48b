"""LLVM, by llvmlite: from IR as text to object images, and from images to callable code where `objects` cannot do it.

`compile_image` runs LLVM's own pipeline on the text; `link` loads an image into an ORC LLJIT of this process. `jit`
loads this module when something is to be compiled (that takes 30 ms or more), and calls it on a thread that holds
`objects.locked.lock`. Counterpart: MLIR's `ExecutionEngine` over `LLJITBuilder`.

Rules that hold here, each learnt from a crash or a wrong number:

- ORC, never MCJIT: a second object in one MCJIT engine computed NaN.
- Each engine has its own `TargetMachine`; sharing one aborts. All modules of a level share one, which keeps what it
  found of the processor: a fifth of the time of a small module.
- `llvmlite.binding.add_symbol` is not seen by ORC.
- ORC never forgets an unloaded library (its name, and 9 KiB): the names are numbered, and an engine that has linked
  `LINKS` libraries gets no more; it is disposed of with the last of them.
- LLVM's objects are closed by hand, a module before its context. The garbage collector closes those that an exception
  keeps alive in any order, and a module that outlives its context ends the process.
- The text need not name a target: triple and data layout are set here, before any pass runs.

Does not optimise by itself. Loops and their metadata are what the writer of the text chose. Loop vectorisation and
interleaving are on, SLP is off (no gain was measured, and it costs time). No floating-point flag is set here.
"""

from __future__ import annotations

import itertools
import re
import sys
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache as once
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import __version__ as llvmlite_version
from llvmlite.binding import ffi
from llvmlite.binding.newpassmanagers import NewPassManager

from tracebuf.backend.objects.image import CompiledObject, Placed, SpeedLevel
from tracebuf.backend.objects.locked import lock
from tracebuf.frozen import frozen

__all__ = ["Host", "compile_image", "host", "link", "optimized", "unload"]

LINKS = 16
"""How many libraries one engine links; a new one takes a millisecond."""

_numbers = itertools.count()
_unused: deque[tuple[_Engine, Any]] = deque()
"""Engine and tracker of each library that is to be unloaded."""


@frozen()
class Host:
    """What the machine code is for."""

    triple: str
    cpu: str
    features: str
    llvm_version: tuple[int, int, int]
    llvmlite_version: str


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
        llvmlite_version=llvmlite_version,
    )


def compile_image(
    text: str, name: str, speed_level: SpeedLevel, check: Callable[[], None] = lambda: None
) -> CompiledObject:
    """An object image of IR text; `check` is called before the code generator. Raises RuntimeError when LLVM refuses
    the text."""
    start = time.thread_time()
    with optimized(text, name, speed_level) as (module, machine):
        check()
        image = machine.emit_object(module)
        values = [*module.functions, *module.global_variables]
        symbols = tuple(v.name for v in values if not v.is_declaration and v.linkage is llvm.Linkage.external)
        needs = tuple(v.name for v in values if v.is_declaration and not v.name.startswith("llvm."))
    return CompiledObject(image, symbols, needs, time.thread_time() - start)


def link(compiled: CompiledObject, name: str, imports: Mapping[str, int]) -> Placed:
    """Loads an object image. Raises RuntimeError when a symbol is not found."""
    builder = llvm.JITLibraryBuilder().add_object_img(compiled.image).add_current_process()
    for symbol, address in imports.items():
        builder.import_symbol(symbol, address)
    for symbol in compiled.symbols:
        builder.export_symbol(symbol)
    engine = _Engine.next()
    try:
        tracker = builder.link(engine.lljit, f"{name}.{next(_numbers)}")
    except RuntimeError as error:
        unbound = ", ".join(s for s in compiled.needs if s not in imports)
        raise RuntimeError(f"linking {name!r} failed; not in imports are: {unbound}\n{error}") from error
    engine.loaded += 1
    addresses = {symbol: int(tracker[symbol]) for symbol in compiled.symbols}
    life = np.empty(0)
    weakref.finalize(life, _discard, engine, tracker).atexit = False
    return Placed(addresses, life)


class _Engine:
    """An ORC LLJIT, with how many libraries it has linked, and how many of them are still loaded."""

    __slots__ = ("linked", "lljit", "loaded")
    current: _Engine | None = None

    def __init__(self) -> None:
        with _new_target_machine(3) as machine:
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
    if lock.acquire(blocking=False):
        try:
            unload()
        finally:
            lock.release()


def unload() -> None:
    while _unused:
        try:
            engine, tracker = _unused.popleft()
        except IndexError:  # the garbage collector came between, and called this
            return
        tracker.close()
        engine.loaded -= 1
        engine.close_unused()


@once
def _target_machine(speed_level: SpeedLevel) -> Any:
    return _new_target_machine(speed_level)


def _new_target_machine(speed_level: SpeedLevel) -> Any:
    target = llvm.Target.from_triple(host().triple)
    return target.create_target_machine(cpu=host().cpu, features=host().features, opt=speed_level, jit=True)


@contextmanager
def optimized(text: str, name: str, speed_level: SpeedLevel) -> Iterator[tuple[Any, Any]]:
    """The module after the passes, in a context of its own, with the machine it was optimised for."""
    machine = _target_machine(speed_level)
    with llvm.create_context() as context:
        try:
            module = llvm.parse_assembly(text if speed_level else with_selects_of_bits(text), context)
        except RuntimeError as error:
            raise RuntimeError(f"LLVM refuses {name!r}: {error}") from error
        with module:
            with machine.target_data as layout:
                module.name, module.triple, module.data_layout = name, host().triple, str(layout)
            try:
                module.verify()
            except RuntimeError as error:
                raise RuntimeError(f"LLVM refuses {name!r}: {error}") from error
            if speed_level or "alwaysinline" in text:  # at level 0 there is nothing else to do
                _run_passes(module, speed_level)
            yield module, machine


_FLOAT_SELECT = re.compile(
    r"^(\s*)(%[\w.]+) = select i1 (%[\w.]+), (double|float) ([^\s,]+), \4 ([^\s,]+)$", re.MULTILINE
)
_BITS = {"double": "i64", "float": "i32"}


def with_selects_of_bits(text: str) -> str:
    """A program whose selects choose between the bits of floats.

    What LLVM 22.1 selects instructions with at level 0 (FastISel) makes of a select between floats, after a comparison,
    a `vblendvpd`, and of a load that only this uses its operand: which reads 16 bytes, beyond the end of an array.
    """

    def bits(match: re.Match[str]) -> str:
        space, name, condition, type_, a, b = match.groups()
        bit = _BITS[type_]
        return (
            f"{space}{name}.a = bitcast {type_} {a} to {bit}\n{space}{name}.b = bitcast {type_} {b} to {bit}\n"
            f"{space}{name}.bits = select i1 {condition}, {bit} {name}.a, {bit} {name}.b\n"
            f"{space}{name} = bitcast {bit} {name}.bits to {type_}"
        )

    return _FLOAT_SELECT.sub(bits, text)


def _run_passes(module: Any, speed_level: SpeedLevel) -> None:
    """LLVM's own pipeline for the level, without its unroller and its vectoriser of straight code; for level 1, which
    programs have that only call others, SROA alone."""
    builder = _pass_builder(speed_level)
    with _passes(builder, speed_level) as manager:
        manager.run(module, builder)
        if type(manager)._dispose is ffi.ObjectRef._dispose and hasattr(NewPassManager, "_dispose"):
            # llvmlite 0.50 frees no pass manager (70 to 200 KiB): the wrong one of two bases comes first
            NewPassManager._dispose(manager)
            manager.detach()


@once
def _pass_builder(speed_level: SpeedLevel) -> Any:
    """One for all modules: llvmlite 0.50 frees what it makes for each (1.5 KiB) with none."""
    tuning = llvm.create_pipeline_tuning_options(speed_level)
    tuning.loop_vectorization = tuning.loop_interleaving = speed_level >= 2
    tuning.loop_unrolling = False  # interleaving does what it could do here; it costs up to a third of compile time
    tuning.slp_vectorization = False
    return llvm.create_pass_builder(_target_machine(speed_level), tuning)


def _passes(builder: Any, speed_level: SpeedLevel) -> Any:
    if speed_level != 1:
        return builder.getModulePassManager()
    manager = llvm.create_new_module_pass_manager()
    manager.add_sroa_pass()
    return manager
