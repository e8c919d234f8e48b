"""Structured control flow: scf.for, scf.if, scf.yield. MLIR counterpart: the scf dialect and
SCF/BufferizableOpInterfaceImpl.cpp."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracebuf.errors import InternalError
from tracebuf.ir.core import Alias, Block, Facts, Op, Region, Relation, Use, Value
from tracebuf.ir.location import Location
from tracebuf.ir.protocols import Interpreter, Rewriter
from tracebuf.ir.types import INDEX, MemRefType, Type
from tracebuf.ops import arith, memref
from tracebuf.ops.func import Terminator


class Yield(Terminator):
    """`scf.yield`: the results of a branch, or the next iteration's values."""

    __slots__ = ()
    name = "scf.yield"

    def aliasing_values(self, use: Use) -> list[Alias]:
        parent = self.parent_op
        return [Alias(parent.results[use.index], definite=False)] if isinstance(parent, If) else []


class For(Op):
    """`scf.for`: operands lower, upper, step, then the initial values; the body's arguments are the index and the
    carried values.

    The initial tensor is written (the loop may store to what it carries) and read if the body reads its argument, or
    if the result is read and there may be no iteration (MLIR forgets the latter); a carried argument is a buffer of its
    own and always writable (MLIR behaviours 14, 20, 36).
    """

    __slots__ = ()
    name = "scf.for"
    repetitive = True

    @classmethod
    def of(cls, bounds: Sequence[Value], inits: Sequence[Value], body: Block, loc: Location) -> For:
        return cls([*bounds, *inits], [v.type for v in inits], loc, {}, [Region(body)])

    @property
    def body(self) -> Block:
        return self.regions[0].block

    def carried(self, use: Use) -> Value:
        """The body's argument for an initial value."""
        return self.body.args[use.index - 2]

    def yielded(self, use: Use) -> Use:
        return self.body.terminator.uses[use.index - 3]

    def drop_carried(self, index: int) -> None:
        """Removes a carried value; its argument and its result must be unused."""
        _drop_operand(self.body.terminator, index)
        _drop_operand(self, 3 + index)
        self.body.drop_arg(1 + index)
        _drop_result(self, index)

    def verify(self) -> None:
        types = [r.type for r in self.results]
        if self.body.args[0].type is not INDEX or len(self.body.args) != len(types) + 1:
            raise InternalError("scf.for: body arguments do not fit")
        if len(self.body.terminator.uses) != len(types) or len(self.uses) != len(types) + 3:
            raise InternalError("scf.for: carried values differ in number")

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        lower, upper, step, *values = args
        for i in range(lower, upper, step):
            values = interpreter.run_block(self.body, [i, *values])
        return list(values)

    @property
    def surely_runs(self) -> bool:
        """Whether there is at least one iteration, as constants tell."""
        lower, upper = (b.defining_op for b in self.operands[:2])
        if not isinstance(lower, arith.Constant) or not isinstance(upper, arith.Constant):
            return False
        return bool(lower.attrs["value"] < upper.attrs["value"])

    def bufferizes_to_memory_read(self, use: Use, facts: Facts) -> bool:
        if facts.is_value_read(self.carried(use)):
            return True
        return not self.surely_runs and facts.is_value_read(self.results[use.index - 3])

    def aliasing_values(self, use: Use) -> list[Alias]:
        if use.index < 3:
            return []
        same = self.yielded(use).value is self.carried(use)
        return [Alias(self.results[use.index - 3], Relation.EQUIVALENT if same else Relation.UNKNOWN)]

    def bufferize(self, rewriter: Rewriter) -> None:
        inits: list[Value] = []
        types: list[Type] = []
        args: list[Value | None] = [None]
        carried: list[Use] = []
        fixed: list[tuple[Value, Value]] = []
        for use in self.uses[3:]:
            if not use.value.is_tensor:
                carried.append(use)
                inits.append(rewriter.value(use.value))
                types.append(use.value.type)
                continue
            buffer = rewriter.buffer(use)
            if rewriter.equivalent(self.yielded(use).value, self.carried(use)):
                rewriter.replace(self.carried(use), buffer)
                fixed.append((self.results[use.index - 3], buffer))
            else:
                carried.append(use)
                type_ = forget_layout(buffer.memref_type)
                types.append(type_)
                inits.append(rewriter.add(memref.Cast.of(buffer, type_, self.loc)).result)
        args += [self.carried(use) for use in carried]
        body = rewriter.block(
            self.body, [INDEX, *types], [self.body.args[0], *args[1:]], [self.yielded(u) for u in carried]
        )
        new = rewriter.add(For.of([rewriter.value(u.value) for u in self.uses[:3]], inits, body, self.loc))
        for use, result in zip(carried, new.results, strict=True):
            old = self.results[use.index - 3]
            rewriter.replace(old, result) if old.is_tensor else rewriter.set_value(old, result)
        for old, buffer in fixed:
            rewriter.replace(old, buffer)


class If(Op):
    """`scf.if`: two regions; each result is one of the two yields (a maybe-alias of both, MLIR behaviour 35)."""

    __slots__ = ()
    name = "scf.if"

    @classmethod
    def of(cls, condition: Value, types: Sequence[Type], then: Block, orelse: Block, loc: Location) -> If:
        return cls([condition], types, loc, {}, [Region(then), Region(orelse)])

    @property
    def branches(self) -> tuple[Block, Block]:
        return self.regions[0].block, self.regions[1].block

    def drop_result(self, index: int) -> None:
        """Removes a result, which must be unused."""
        for block in self.branches:
            _drop_operand(block.terminator, index)
        _drop_result(self, index)

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        return interpreter.run_block(self.branches[0 if args[0] else 1], [])

    def aliasing_uses(self, value: Value) -> list[tuple[Use, Relation, bool]]:
        return [(b.terminator.uses[value.index], Relation.EQUIVALENT, False) for b in self.branches]

    def bufferize(self, rewriter: Rewriter) -> None:
        rewriter.branches(self)


def _drop_operand(op: Op, index: int) -> None:
    use = op.uses.pop(index)
    del use.value.uses[use]
    for i, u in enumerate(op.uses):
        u.index = i


def _drop_result(op: Op, index: int) -> None:
    if op.results.pop(index).uses:
        raise InternalError(f"{op.name}: result {index} is removed while in use")
    for i, r in enumerate(op.results):
        r.index = i


def forget_layout(type_: MemRefType) -> MemRefType:
    """The same type with strides and offset that only the run time knows."""
    return MemRefType(type_.shape, type_.element, (None,) * type_.rank, None)
