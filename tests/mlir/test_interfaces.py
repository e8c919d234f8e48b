"""Which ops take part in deallocation is told by what their classes state, not by their names: the documents'
`custom.*` ops, whose classes are made here, allocate, free, branch and pass buffers through regions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tracebuf import mlir
from tracebuf.errors import UnsupportedError
from tracebuf.ir.core import Block, Effect, Effects, Flow, Interpreter, Op, Use, Value, no_effects
from tracebuf.ir.func import Module
from tracebuf.ir.print_generic import print_generic
from tracebuf.ops.control.cf import BranchOp
from tracebuf.ops.control.func import Terminator
from tracebuf.passes import PASSES

TEXT = """
"func.func"() <{function_type = (i1, memref<2xf64>) -> memref<2xf64>, sym_name = "f"}> ({
^bb0(%c: i1, %a: memref<2xf64>):
  %0 = "custom.alloc"() : () -> memref<2xf64>
  %1 = "custom.choose"(%c, %0) ({
  ^bb0(%x: memref<2xf64>):
    "custom.yield"(%x) : (memref<2xf64>) -> ()
  }, {
  ^bb0(%y: memref<2xf64>):
    %2 = "custom.alloc"() : () -> memref<2xf64>
    "custom.yield"(%2) : (memref<2xf64>) -> ()
  }) : (i1, memref<2xf64>) -> memref<2xf64>
  "memref.copy"(%a, %1) : (memref<2xf64>, memref<2xf64>) -> ()
  "func.return"(%1) : (memref<2xf64>) -> ()
}) : () -> ()
"""
FREED = """
"func.func"() <{function_type = (memref<2xf64>) -> (), sym_name = "f"}> ({
^bb0(%a: memref<2xf64>):
  "custom.free"(%a) : (memref<2xf64>) -> ()
  "func.return"() : () -> ()
}) : () -> ()
"""
BRANCHES = """
"func.func"() <{function_type = (i1, memref<2xf64>) -> (), sym_name = "f"}> ({
^bb0(%c: i1, %out: memref<2xf64>):
  %a = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<2xf64>
  "memref.copy"(%out, %a) : (memref<2xf64>, memref<2xf64>) -> ()
  "cf.cond_br"(%c)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
^bb1:
  "custom.br"(%a)[^bb3] : (memref<2xf64>) -> ()
^bb2:
  %b = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<2xf64>
  "memref.copy"(%a, %b) : (memref<2xf64>, memref<2xf64>) -> ()
  "custom.br"(%b)[^bb3] : (memref<2xf64>) -> ()
^bb3(%x: memref<2xf64>):
  "memref.copy"(%x, %out) : (memref<2xf64>, memref<2xf64>) -> ()
  "func.return"() : () -> ()
}) : () -> ()
"""
PIPELINE, OLDER = "buffer-deallocation-pipeline", "buffer-deallocation"


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    """The classes, for the time of a test."""
    before = dict(Op.registry)

    class Alloc(Op):
        __slots__ = ()
        name = "custom.alloc"
        takes, gives = "", "memref"

        def effects(self) -> Effects:
            return ((Effect.ALLOCATE, self.result),)

    class Free(Op):
        __slots__ = ()
        name = "custom.free"
        takes, gives = "memref", ""

        def effects(self) -> Effects:
            return ((Effect.FREE, self.operand(0)),)

    class Yield(Terminator):
        __slots__ = ()
        name = "custom.yield"

    class Goto(BranchOp):
        __slots__ = ()
        name = "custom.br"

        def target(self, use: Use) -> Value:
            return self.successors[0].args[use.index]

        def taken(self, values: list[Any]) -> tuple[Block, list[Any]]:
            return self.successors[0], values

    class Choose(Op):
        __slots__ = ()
        name = "custom.choose"
        takes = "i1, any*"
        region_ends = ("custom.yield", "custom.yield")
        effects = no_effects

        def flows(self) -> list[Flow]:
            ends = [r.block.terminator for r in self.regions]
            found = [Flow(None, r, self.uses[1:], r.block.args) for r in self.regions]
            return [*found, *(Flow(end, None, end.uses, self.results) for end in ends)]

        def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
            return interpreter.run_block(self.regions[0 if args[0] else 1].block, args[1:])

    yield
    Op.registry.clear()
    Op.registry.update(before)


def through(text: str, *names: str) -> Module:
    module = mlir.read(text)
    for name in names:
        module = PASSES[name].run(module, "", "mlir")
    return module


@pytest.mark.parametrize("name", [PIPELINE, OLDER])
def test_regions_and_allocations_of_any_op(name: str) -> None:
    """One of two buffers is returned, and the other one is freed."""
    text = print_generic(through(TEXT, name))
    assert '"memref.dealloc"' in text and '"custom.choose"' in text
    assert mlir.read(text).func("f").result_types


def test_ownership_goes_through_their_regions() -> None:
    text = print_generic(through(TEXT, "ownership-based-buffer-deallocation"))
    assert text.count('"bufferization.dealloc"') == 3
    (choose,) = (op for op in mlir.read(text).func("f").walk() if op.name == "custom.choose")
    assert [str(r.type) for r in choose.results] == ["memref<2xf64>", "i1"]


def test_frees_of_any_op_are_seen() -> None:
    with pytest.raises(UnsupportedError, match="memory free side-effect on MemRef value not supported!"):
        through(FREED, "ownership-based-buffer-deallocation")


@pytest.mark.parametrize("name", [PIPELINE, OLDER])
@pytest.mark.parametrize("flag", [True, False])
def test_branches_of_any_op(name: str, flag: bool) -> None:
    """They were taken for the end of the function."""
    out = np.ones(2)
    mlir.interpret(through(BRANCHES, name), "f", [np.bool_(flag), out])
    assert (out == 1).all()


def test_an_op_that_states_nothing_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="ops with unknown memory side effects are not supported"):
        through(FREED.replace("custom.free", "custom.other"), PIPELINE)


def test_they_run() -> None:
    """With ops of MLIR's in place of the allocations, which the interpreter does not know."""
    text = TEXT.replace('"custom.alloc"()', '"memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}>')
    for name in (PIPELINE, OLDER):
        for flag in (True, False):
            found = mlir.interpret(through(text, name), "f", [np.bool_(flag), np.ones(2)])
            assert (found.results[0] == 1).all()
