"""MLIR programs as something to call: read, analysed, bufferized, compiled.

    module = tracebuf.mlir.read(text)                # generic form: mlir-opt -mlir-print-op-generic
    f = tracebuf.mlir.program(module, "f")           # or with options=OneShotOptions(...)
    f(a, b)                                          # native; f.on_values(a, b) and f.on_memory(a, b) interpret

Tensors are arrays, scalars NumPy or Python numbers. As with `bufferize-function-boundaries`, an array argument that the
program does not mark `bufferization.writable = false` may be overwritten, and a result may be an argument's memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from tracebuf import pipeline
from tracebuf.errors import TracebufError, UnsupportedError
from tracebuf.frontends.mlir import ReadError, generic, read, read_all
from tracebuf.interpret import memref, tensor
from tracebuf.ir.func import Func, Module
from tracebuf.ir.types import ScalarType, TensorType
from tracebuf.ops.scalars.arith import convert
from tracebuf.optimize.mlir.generalize import generalize
from tracebuf.optimize.mlir.inline_calls import inline_calls
from tracebuf.options import OneShotOptions

if TYPE_CHECKING:
    from tracebuf.backend.runtime.kernel import Counters, Kernel

__all__ = ["Program", "ReadError", "generic", "program", "read", "read_all"]

DEFAULT = OneShotOptions(bufferize_function_boundaries=True, allow_return_allocs_from_loops=True, compat=None)


@dataclass(frozen=True)
class Program:
    """One function of a module. `tensors` is the function on values, `buffers` on memory, both without calls."""

    name: str
    tensors: Func
    buffers: Func

    @cached_property
    def kernel(self) -> Kernel:
        from tracebuf.backend.runtime.kernel import Kernel

        return Kernel(self.buffers, self.name)

    def __call__(self, *args: Any) -> list[Any]:
        """Runs natively; the results in order. Raises TypeError or ValueError for arguments that do not fit."""
        return self.kernel.run(self._checked(args))

    def counted(self, *args: Any) -> tuple[list[Any], Counters]:
        """The results, and what the native run allocated and copied."""
        return self.kernel.run_counted(self._checked(args))

    def on_values(self, *args: Any) -> list[Any]:
        """Runs the tensor program on values: no argument is changed."""
        return tensor.run(self.tensors, self._checked(args)).results

    def on_memory(self, *args: Any) -> memref.Result:
        """The run on memory that notices every misuse, with its counts of allocations and copies."""
        return memref.run(self.buffers, self._checked(args))

    def _checked(self, args: Sequence[Any]) -> list[Any]:
        """The arguments as the function's types say; arrays that overlap are refused (MLIR behaviour 45)."""
        if len(args) != len(self.tensors.args):
            raise TypeError(f"{self.name} takes {len(self.tensors.args)} arguments, not {len(args)}")
        found = [_argument(a, v.type, k) for k, (a, v) in enumerate(zip(args, self.tensors.args))]
        for a, b in combinations([x for x in found if isinstance(x, np.ndarray)], 2):
            if np.may_share_memory(a, b) and np.shares_memory(a, b):
                raise ValueError(f"{self.name}: two arguments share memory")
        return found


def _argument(arg: Any, type_: Any, place: int) -> Any:
    if isinstance(type_, ScalarType):
        return convert(arg, type_)
    if not isinstance(type_, TensorType) or not isinstance(arg, np.ndarray):
        raise TypeError(f"argument {place} is {type_}, not a {type(arg).__name__}")
    if arg.dtype != type_.element.dtype:
        raise TypeError(f"argument {place} is {type_}, not an array of {arg.dtype}")
    if arg.ndim != type_.rank or any(isinstance(n, int) and n != m for n, m in zip(type_.shape, arg.shape)):
        raise ValueError(f"argument {place} is {type_}, not an array of shape {arg.shape}")
    return arg


def program(module: Module, name: str = "", options: OneShotOptions = DEFAULT) -> Program:
    """The function of that name (the last one, without a name), decided under `options`. Raises KeyError for an unknown
    name, UnsupportedError for what can be analysed but not run (external functions, recursion), DecisionError where
    MLIR decides what would change the results."""
    if not options.bufferize_function_boundaries:
        raise TracebufError("a program is run with bufferize_function_boundaries")
    name = name or module.funcs[-1].name
    for arg in module.func(name).args:
        if not isinstance(arg.type, ScalarType | TensorType):
            raise UnsupportedError(f"{name}: an argument of type {arg.type} cannot be given")
    buffers = pipeline.function_to_run(pipeline.module_to_run(module, options, name), name)
    tensors = inline_calls(module, name)
    generalize(tensors)
    return Program(name, tensors, buffers)
