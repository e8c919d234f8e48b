"""Ops of MLIR's test dialect that the documents' programs use: an op whose regions' arguments and results are buffers,
and a copy that is no memref.copy. MLIR counterpart: mlir/test/lib/Dialect/Test."""

from __future__ import annotations

from typing import Any

from tracebuf.errors import InternalError
from tracebuf.ir.core import Effect, Effects, Flow, Interpreter, Op, Use, no_effects
from tracebuf.ops.control.func import Terminator


class RegionIfYield(Terminator):
    """`test.region_if_yield`: ends a region of test.region_if. operands: the arguments of the last region, or the
    results; results: none."""

    __slots__ = ()
    name, bufferizable = "test.region_if_yield", False


class RegionIf(Op):
    """`test.region_if`: one of two regions, then the third. operands: the arguments of the first two; results: what the
    third yields; regions: then, else, join. Nothing says which of the two runs: it is the first."""

    __slots__ = ()
    name, bufferizable = "test.region_if", False
    region_ends = ("test.region_if_yield",) * 3
    effects = no_effects

    def verify(self) -> None:
        for flow in self.flows():
            if [str(u.value.type) for u in flow.passed] != [str(v.type) for v in flow.received]:
                raise InternalError("test.region_if: what is passed on does not fit what receives it")

    def flows(self) -> list[Flow]:
        then, orelse, join = self.regions
        found = [Flow(None, r, self.uses, r.block.args) for r in (then, orelse)]
        found += [Flow(r.block.terminator, join, r.block.terminator.uses, join.block.args) for r in (then, orelse)]
        end: Op = join.block.terminator
        uses: list[Use] = end.uses
        return [*found, Flow(end, None, uses, self.results)]

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        then, _, join = self.regions
        return interpreter.run_block(join.block, interpreter.run_block(then.block, args))


class TestCopy(Op):
    """`test.copy`: one memref's elements into another. operands: source, target (memrefs); results: none."""

    __slots__ = ()
    name, bufferizable = "test.copy", False
    takes, gives = "memrefs, memrefs", ""

    def effects(self) -> Effects:
        return ((Effect.READ, self.operand(0)), (Effect.WRITE, self.operand(1)))
