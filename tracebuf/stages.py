"""The stages a call goes through, each a frozen object with `as_text()`: Traced -> Bufferized -> Compiled.

Counterpart: JAX's stages (jax.stages).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING

from tracebuf import pipeline
from tracebuf.ir.func import Func
from tracebuf.ir.printer import print_func
from tracebuf.options import Options

if TYPE_CHECKING:
    from tracebuf.backend.runtime.kernel import Kernel
    from tracebuf.frontends.numpy.interpreter.trace import Call, Traced


def trace(function: FunctionType, call: Call) -> Traced:
    """The tensor program of one call, as recorded."""
    from tracebuf.frontends.numpy.interpreter.trace import trace as run

    return run(function, call)


@dataclass(frozen=True)
class Bufferized:
    """The memref program that is compiled."""

    func: Func

    def as_text(self) -> str:
        return print_func(self.func)

    def compile(self, name: str) -> Kernel:
        """Native code (LLVM) and how it is called."""
        from tracebuf.backend.runtime.kernel import Kernel

        return Kernel(self.func, name if name.isidentifier() and name.isascii() else "kernel")


def bufferized(traced: Traced, options: Options, observe: pipeline.Observer | None = None) -> Bufferized:
    """Runs the passes on a traced program (its tensor program is optimised in place)."""
    pipeline.optimize_tensors(traced.func, options, observe)
    return Bufferized(pipeline.to_memref(traced.func, options, observe))


ALIASES = {"tensor": "canonicalize-again", "memref": "assign-storage"}


@dataclass(frozen=True)
class Lowered:
    """The program of one call at every stage. `as_text(stage)`: "tensor", "memref", "llvm", "loops" (the loop
    nests), "traced", "certificate" (under `strategy="optimal"`), or the name of a pass
    (`stages` lists them in order)."""

    texts: Mapping[str, str]

    @property
    def stages(self) -> tuple[str, ...]:
        return tuple(self.texts)

    def as_text(self, stage: str = "memref") -> str:
        """The program after a stage; ValueError for an unknown one."""
        name = ALIASES.get(stage, stage)
        if name not in self.texts:
            raise ValueError(f"no stage {stage!r}; there are tensor, memref, {', '.join(self.texts)}")
        return self.texts[name]

    def __str__(self) -> str:
        return self.as_text("memref")


def lowered(traced: Traced, options: Options) -> Lowered:
    """All texts of one call's program."""
    texts = {"traced": print_func(traced.func)}

    def observe(name: str, func: Func) -> None:
        texts[name] = print_func(func)

    program = bufferized(traced, options, observe)
    kernel = program.compile(traced.func.name)
    texts["loops"] = "\n".join(str(p) for p in kernel.plans)
    texts["llvm"] = kernel.text
    if "certificate" in program.func.attrs:
        texts["certificate"] = program.func.attrs["certificate"].as_text()
    return Lowered(texts)
