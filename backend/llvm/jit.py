"""From LLVM IR as text to callable machine code, in this process.

Two steps, so that an object cache can stand between them: `compile_object` runs LLVM's own pipeline on the text and
gives an object image, a plain value; `link_object` loads an image into the process's one ORC LLJIT and gives a
`Library`. `compile_module` is both. Counterpart: MLIR's `ExecutionEngine` over `LLJITBuilder`.

Rules that hold here, each learnt from a crash or a wrong number:

- ORC, never MCJIT: a second object in one MCJIT engine computed NaN.
- Every use has its own `TargetMachine`; sharing one with an engine aborts.
- Addresses never stand in the text, for an image must mean the same in another process. What the code calls is an
  external symbol that `imports` binds; `llvmlite.binding.add_symbol` is not seen by ORC.
- ORC never forgets the name of an unloaded library, so the names are numbered.
- The text need not name a target: triple and data layout are set here, before any pass runs.

Does not optimise by itself. Loops and their metadata are what the writer of the text chose. Loop vectorisation and
interleaving are on, SLP is off (no gain was measured, and it costs time). No floating-point flag is set here.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import llvmlite.binding as llvm

__all__ = ["CompiledObject", "Library", "compile_module", "compile_object", "host", "link_object"]

SpeedLevel = Literal[0, 1, 2, 3]

_lock = threading.Lock()
_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class Host:
    """What the machine code is for: part of an object cache's key, together with `llvm_version`."""

    triple: str
    cpu: str
    features: str
    llvm_version: tuple[int, int, int]


@cache
def host() -> Host:
    """The processor this process runs on, as LLVM names it."""
    with _lock:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
    return Host(
        triple=llvm.get_process_triple(),
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        llvm_version=llvm.llvm_version_info,
    )


@dataclass(frozen=True, slots=True)
class CompiledObject:
    """An object image: relocatable, free of addresses, good for any process on the same `host()`."""

    image: bytes
    symbols: tuple[str, ...]
    """The functions and variables it defines for others."""
    needs: tuple[str, ...]
    """The functions and variables it declares and does not define."""
    cpu_seconds: float
    """CPU time of the compiling thread."""


@dataclass(frozen=True, eq=False)
class Library:
    """Machine code in memory. The code lives as long as this object: the holder of an address must hold the library."""

    name: str
    text: str
    speed_level: SpeedLevel
    object: CompiledObject
    link_seconds: float
    """CPU time of linking."""
    tracker: Any
    """llvmlite's `ResourceTracker`: unloads the code when collected."""

    @property
    def cpu_seconds(self) -> float:
        """CPU time from text to callable code, of the thread that compiled."""
        return self.object.cpu_seconds + self.link_seconds

    def address(self, symbol: str) -> int:
        """Address of a function or variable the text defines with external linkage. Raises KeyError for others."""
        if symbol not in self.object.symbols:
            raise KeyError(f"{symbol!r} is not defined by {self.name!r}; defined are: {', '.join(self.object.symbols)}")
        return int(self.tracker[symbol])

    def optimized_ir(self) -> str:
        """The IR after LLVM's passes. Compiled again at each call, with the same result."""
        return str(_optimized(self.text, self.name, self.speed_level)[0])

    def assembly(self) -> str:
        """The machine code as assembly text. Compiled again at each call, with the same result."""
        module, machine = _optimized(self.text, self.name, self.speed_level)
        return str(machine.emit_assembly(module))

    def pin(self) -> Library:
        """Never unload, for code whose address is held by something that outlives this object. Returns itself."""
        self.tracker.detach()
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


def compile_object(text: str, name: str, *, speed_level: SpeedLevel = 3) -> CompiledObject:
    """Compile IR text to an object image. Raises RuntimeError when LLVM refuses the text."""
    start = time.thread_time()
    module, machine = _optimized(text, name, speed_level)
    image = machine.emit_object(module)
    values = [*module.functions, *module.global_variables]
    symbols = tuple(v.name for v in values if not v.is_declaration and v.linkage is llvm.Linkage.external)
    needs = tuple(v.name for v in values if v.is_declaration and not v.name.startswith("llvm."))
    return CompiledObject(image, symbols, needs, time.thread_time() - start)


def link_object(
    compiled: CompiledObject,
    text: str,
    name: str,
    imports: Mapping[str, int] | None = None,
    *,
    speed_level: SpeedLevel = 3,
) -> Library:
    """Load an object image, fresh or from a cache. `text` is what it was compiled from, kept to show."""
    start = time.thread_time()
    builder = llvm.JITLibraryBuilder().add_object_img(compiled.image).add_current_process()
    for symbol, address in (imports or {}).items():
        builder.import_symbol(symbol, address)
    for symbol in compiled.symbols:
        builder.export_symbol(symbol)
    try:
        tracker = builder.link(_engine(), f"{name}.{next(_numbers)}")
    except RuntimeError as error:
        unbound = ", ".join(s for s in compiled.needs if s not in (imports or {}))
        raise RuntimeError(f"linking {name!r} failed; not in imports are: {unbound}\n{error}") from error
    return Library(name, text, speed_level, compiled, time.thread_time() - start, tracker)


def _engine() -> Any:
    """The process's LLJIT, made at first use."""
    host()
    with _lock:
        return _engine_once()


@cache
def _engine_once() -> Any:
    return llvm.create_lljit_compiler(_target_machine(3), suppress_errors=True)


def _target_machine(speed_level: SpeedLevel) -> Any:
    target = llvm.Target.from_triple(host().triple)
    return target.create_target_machine(cpu=host().cpu, features=host().features, opt=speed_level, jit=True)


def _optimized(text: str, name: str, speed_level: SpeedLevel) -> tuple[Any, Any]:
    """The module after the passes, in a context of its own, with the machine it was optimised for."""
    machine = _target_machine(speed_level)
    try:
        module = llvm.parse_assembly(text, llvm.create_context())
        module.name = name
        module.triple, module.data_layout = host().triple, str(machine.target_data)
        module.verify()
    except RuntimeError as error:
        raise RuntimeError(f"LLVM refuses {name!r}: {error}") from error
    tuning = llvm.create_pipeline_tuning_options(speed_level)
    tuning.loop_vectorization = tuning.loop_interleaving = speed_level >= 2
    tuning.loop_unrolling = False  # interleaving does what it could do here; it costs up to a third of compile time
    tuning.slp_vectorization = False
    passes = llvm.create_pass_builder(machine, tuning)
    passes.getModulePassManager().run(module, passes)
    return module, machine
