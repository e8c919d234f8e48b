"""Runs functions of modules at any level, tensors, buffers or both, as they stand: no pass between the text and the
interpreter, but calls, which are inlined. So what a pass makes is compared with what it was given by what they do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any
from unittest.mock import patch

import numpy as np

from tracebuf import module_pipeline, opt
from tracebuf.bufferize.globals import bring_constants
from tracebuf.errors import InternalError, TracebufError
from tracebuf.frontends.mlir import read
from tracebuf.interpret import Runner, memory, memref
from tracebuf.interpret.memory import Memory, MemoryFault, MemRef
from tracebuf.ir.core import Block, Interpreter, Op, is_buffer
from tracebuf.ir.func import Func, Module
from tracebuf.ir.types import INDEX, MemRefType, ScalarType, TensorType, Type
from tracebuf.ops.arrays import bufferization, tensor
from tracebuf.ops.arrays.linalg import Generic
from tracebuf.ops.scalars.arith import Constant, ScalarOp, Select
from tracebuf.optimize.mlir.generalize import generalize
from tracebuf.optimize.mlir.inline_calls import called_from, inline_calls
from tracebuf.passes import PASSES, one_shot_options


class CannotRun(Exception):
    """The program, or what it does with these arguments, has no meaning to compare."""


@dataclass
class Outcome:
    """What a run shows: results; whether the function has buffers only; then what those among the arguments hold, and
    which of the arguments' and results' buffers share memory."""

    results: list[Any]
    on_buffers: bool
    buffers: list[np.ndarray | None]
    shared: list[tuple[int, int]]

    def tells_the_same(self, other: Outcome) -> bool:
        """Whether the results are equal, and, where the function has had buffers only, these and what shares memory
        (where tensors become buffers, they may be overwritten)."""
        if not equal(self.results, other.results):
            return False
        return not self.on_buffers or (equal(self.buffers, other.buffers) and self.shared == other.shared)


def equal(a: Sequence[Any], b: Sequence[Any]) -> bool:
    """Bit for bit, dtypes and shapes included; NaNs are equal."""
    pairs = list(zip(a, b, strict=True)) if len(a) == len(b) else [(0, 1)]
    return all(
        (x is None and y is None)
        or (np.shape(x) == np.shape(y) and np.asarray(x).dtype == np.asarray(y).dtype
            and np.asarray(x).tobytes() == np.asarray(y).tobytes())
        or np.array_equal(x, y, equal_nan=np.asarray(x).dtype.kind in "fc")
        for x, y in pairs
    )  # fmt: skip


def public(module: Module) -> list[str]:
    """The functions that others may call."""
    found = [f for f in module.funcs if not f.external]
    return [f.name for f in found if getattr(f.attrs.get("sym_visibility"), "value", "") != "private"]


def arguments(func: Func, seed: int = 0) -> list[Any]:
    """Arguments of the function's types: small numbers, so that indices are mostly within bounds."""
    rng = np.random.default_rng(seed)
    return [_argument(value.type, rng) for value in func.args]


def _argument(type_: Type, rng: np.random.Generator) -> Any:
    if type_ is INDEX:
        return int(rng.integers(0, 3))
    if isinstance(type_, ScalarType):
        return np.asarray(rng.integers(0, 4)).astype(type_.dtype)[()]
    if not isinstance(type_, TensorType | MemRefType):
        raise CannotRun(f"an argument of type {type_}")
    shape = tuple(n if isinstance(n, int) else 4 for n in type_.shape)
    return rng.integers(0, 5, shape).astype(type_.element.dtype)


def run(module: Module, name: str, args: Sequence[Any]) -> Outcome:
    """Interprets a function; CannotRun where that is not possible, MemoryFault for misuse of memory."""
    for f in called_from(module, name):
        for op in f.walk():
            scalar = isinstance(op, ScalarOp) and not isinstance(op, Constant | Select)
            if op.name not in Op.registry or (scalar and not isinstance(op.result.type, ScalarType)):
                raise CannotRun(op.name)
    given = [np.array(a) if isinstance(a, np.ndarray) else a for a in args]
    try:
        func = inline_calls(module, name)
        bring_constants(func, module)
        generalize(func)
        with (
            patch.object(Runner, "run_block", limited()),
            patch.object(Memory, "allocate", allocated),
            patch.object(Generic, "_evaluate_one_by_one", one_by_one()),
        ):
            found = memref.run(func, given, may_leak=True, tensors=True)
    except MemoryFault:
        raise
    except (TracebufError, CannotRun, IndexError, ValueError, ZeroDivisionError) as e:
        raise CannotRun(str(e)) from e
    buffers = [a if is_buffer(v) else None for v, a in zip(func.args, given)]
    returned = [r if isinstance(t, MemRefType) else None for r, t in zip(found.results, func.result_types)]
    near = [(i, a) for i, a in enumerate([*buffers, *returned]) if a is not None]
    shared = [(i, j) for (i, a), (j, b) in combinations(near, 2) if np.shares_memory(a, b)]
    on_buffers = not any(v.is_tensor for v in func.values())
    return Outcome([np.array(r) for r in found.results], on_buffers, buffers, shared)


_ALLOCATE = Memory.allocate
_ONE_BY_ONE = Generic._evaluate_one_by_one


def one_by_one() -> Callable[..., list[Any]]:
    """`Generic._evaluate_one_by_one` for programs that may take long: CannotRun after so many elements."""
    done = 0

    def evaluate(op: Generic, interpreter: Interpreter, args: list[Any], shape: tuple[int, ...]) -> list[Any]:
        nonlocal done
        done += int(np.prod(shape))
        if done > 500:
            raise CannotRun("it takes too long")
        return _ONE_BY_ONE(op, interpreter, args, shape)

    return evaluate


def allocated(held: Memory, *words: Any) -> MemRef:
    """A new buffer that counts as written: whether anything depends on what was never written is asked by running the
    program with other contents, for an op may read it in vain."""
    made = _ALLOCATE(held, *words)
    made.write(made.array.copy(), True)
    return made


def limited() -> Callable[..., list[Any]]:
    """`Runner.run_block` for programs that may not end: CannotRun after some hundred blocks."""
    original, left = Runner.run_block, iter(range(200))

    def run_block(self: Runner, block: Block, args: Sequence[Any]) -> list[Any]:
        if next(left, None) is None:
            raise CannotRun("it may not end")
        return original(self, block, args)

    return run_block


@cache
def outcomes(text: str, seed: int = 0) -> list[tuple[str, list[Any], Outcome]]:
    """Each public function of a module in generic form that can be run, with arguments for it and what it does; none
    that depends on what was never written."""
    module, runs = read(text), []
    for name in public(module):
        try:
            args = arguments(module.func(name), seed)
            found = run(module, name, args)
            with ExitStack() as others:
                for module_with_it in (tensor, bufferization, memory):
                    others.enter_context(patch.object(module_with_it, "poison", other_poison))
                defined = found.tells_the_same(run(module, name, args))
        except (CannotRun, MemoryFault):
            continue
        if defined:
            runs.append((name, args, found))
    return runs


def other_poison(dtype: np.dtype) -> Any:
    """Other elements than those that the interpreters put where nothing is defined."""
    return np.ones((), dtype)[()]


def different(text: str, flags: Sequence[str], seed: int = 0) -> list[str]:
    """What the functions of a module do otherwise after the passes of `python -m tracebuf opt`: an empty list where
    nothing. A module that the passes refuse is no difference."""
    command = opt.parse(["-", *flags, "-mlir-print-op-generic"])
    try:
        after = opt.run(command, text, "<text>")
    except InternalError:
        raise
    except TracebufError:
        return []
    found = compare(text, after, seed)
    return [] if found and mlir_is_wrong(text, command) else found


def mlir_is_wrong(text: str, command: opt.Command) -> bool:
    """Whether MLIR's own decisions change what the program does: these we repeat, and refuse to run."""
    module = read(text)
    for name, words in command.passes:
        if name == "one-shot-bufferize" and command.compat == "mlir":
            options = one_shot_options(words, command.compat)
            for func in public(module):
                try:
                    module_pipeline.module_to_run(module, options, func)
                except TracebufError:
                    return True
        elif name == "one-shot-bufferize":
            return False
        else:
            module = PASSES[name].run(module, words, command.compat)
    return False


def compare(before: str, after: str, seed: int = 0) -> list[str]:
    """What the functions of a module do otherwise than those of another, both in generic form."""
    done, found = read(after), []
    for name, args, first in outcomes(before, seed):
        try:
            second = run(done, name, args)
        except (CannotRun, MemoryFault) as e:
            found.append(f"{name}{args}: {type(e).__name__}: {e}")
            continue
        if not first.tells_the_same(second):
            found.append(f"{name}{args}: {first} became {second}")
    return found


