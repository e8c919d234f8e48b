"""Calls of functions that are only declared, for which Python callables are given, as host calls.

The callable gets arrays and numbers; its results are copied into new buffers. Where a result has a size that only the
callable knows, it is called first, for the numbers and sizes, and gives its arrays to a second host call. MLIR has no
counterpart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np

from tracebuf.ir.core import Op, Value
from tracebuf.ir.func import Func
from tracebuf.ir.types import INDEX, MemRefType, ScalarType, Type, same_type
from tracebuf.ops.arrays.host import HostCall
from tracebuf.ops.control.func import Call
from tracebuf.ops.memory import memref
from tracebuf.ops.scalars import arith
from tracebuf.running.host import HostFunction

Given = Mapping[str, Callable[..., Any]]


def lower_given(func: Func, given: Given, *, frees: bool) -> None:
    """Replaces each call of a function that is given; `frees`: what the host calls need beside the results is freed."""
    for op in [o for o in func.walk() if isinstance(o, Call) and o.callee in given]:
        _lower(op, given[op.callee], frees)


def _lower(op: Call, function: Callable[..., Any], frees: bool) -> None:
    block, types = op.block, [r.type for r in op.results]
    assert block is not None
    made: list[Op] = []
    called = _Called(op.callee, function, types)
    measured = [k for k, t in enumerate(types) if isinstance(t, MemRefType) and not _fixed(t)]
    buffers: dict[int, Value] = {}
    scratch: list[Value] = []
    ins = list(op.operands)

    def new(shape: tuple[Any, ...], element: ScalarType, sizes: Sequence[Any]) -> Value:
        made.append(memref.Alloc.of(shape, element, sizes, tuple(range(len(shape))), "", op.loc))
        return made[-1].result

    def index(value: int) -> Value:
        made.append(arith.Constant.of(value, INDEX, op.loc))
        return made[-1].result

    if measured:
        n = 1 + sum(t.rank for t in (types[k] for k in measured) if isinstance(t, MemRefType))
        told = new((n,), INDEX, [n])
        scratch.append(told)
        made.append(HostCall.of(called.function(called.measure), ins, [told], [0], op.loc))
        words: list[Value] = []
        for k in range(n):
            made.append(memref.Load.of(told, [index(k)], op.loc))
            words.append(made[-1].result)
        ins = [words[0]]
        rest = iter(words[1:])
    for k, type_ in enumerate(types):
        if isinstance(type_, MemRefType):
            sizes = [next(rest) for _ in type_.shape] if k in measured else list(type_.shape)
            buffers[k] = new(
                type_.shape, type_.element, [n if isinstance(n, int) else s for n, s in zip(type_.shape, sizes)]
            )
        else:
            assert isinstance(type_, ScalarType)
            buffers[k] = new((), type_, [])
            scratch.append(buffers[k])
    run = called.hand_over if measured else called.run
    made.append(HostCall.of(called.function(run), ins, list(buffers.values()), range(len(buffers)), op.loc))
    for k, result in enumerate(op.results):
        value = buffers[k]
        if isinstance(result.type, ScalarType):
            made.append(memref.Load.of(value, [], op.loc))
            value = made[-1].result
        elif not same_type(value.type, result.type):
            made.append(memref.Cast.of(value, result.type, op.loc))
            value = made[-1].result
        result.replace_all_uses(value)
    if frees:
        made += [memref.Dealloc.of(value, op.loc) for value in scratch]
    at = block.op_index(op)
    op.drop_uses()
    block.replace_ops([*block.ops[:at], *made, *block.ops[at + 1 :]])


def _fixed(type_: MemRefType) -> bool:
    return all(isinstance(n, int) for n in type_.shape)


class _Called:
    """A callable whose results are checked and put where they are asked for."""

    def __init__(self, name: str, call: Callable[..., Any], types: Sequence[Type]) -> None:
        self.name, self.call, self.types = name, call, types
        self.waiting: dict[int, list[np.ndarray]] = {}
        self.numbers = count()

    def function(self, run: Callable[[Sequence[Any], Sequence[np.ndarray]], None]) -> HostFunction:
        return HostFunction(self.name, run, may_keep=True)

    def results(self, ins: Sequence[Any]) -> list[np.ndarray]:
        """What the callable gives, as arrays; TypeError where it does not fit the declaration."""
        found = self.call(*ins)
        given = list(found) if isinstance(found, tuple | list) else [found] if self.types else []
        if len(given) != len(self.types):
            raise TypeError(f"@{self.name} is declared with {len(self.types)} results, not {len(given)}")
        return [self.fitting(g, t) for g, t in zip(given, self.types)]

    def fitting(self, result: Any, type_: Type) -> np.ndarray:
        element = type_.element if isinstance(type_, MemRefType) else type_
        assert isinstance(element, ScalarType)
        shape = type_.shape if isinstance(type_, MemRefType) else ()
        array = np.asarray(result) if isinstance(type_, MemRefType) else np.asarray(result, element.dtype)
        sizes = array.ndim == len(shape) and all(not isinstance(n, int) or n == m for n, m in zip(shape, array.shape))
        if not sizes or array.dtype != element.dtype:
            raise TypeError(f"@{self.name} is declared to return {type_}, not {array.dtype} of shape {array.shape}")
        return array

    def run(self, ins: Sequence[Any], outs: Sequence[np.ndarray]) -> None:
        for out, result in zip(outs, self.results(ins)):
            out[...] = result

    def measure(self, ins: Sequence[Any], outs: Sequence[np.ndarray]) -> None:
        """Keeps the results, and tells their number and the sizes of those whose sizes are not declared."""
        results, number = self.results(ins), next(self.numbers)
        sizes = [n for r, t in zip(results, self.types) if isinstance(t, MemRefType) and not _fixed(t) for n in r.shape]
        self.waiting[number] = results
        outs[0][...] = [number, *sizes]

    def hand_over(self, ins: Sequence[Any], outs: Sequence[np.ndarray]) -> None:
        for out, result in zip(outs, self.waiting.pop(int(ins[0]))):
            out[...] = result
