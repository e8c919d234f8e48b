"""Unstructured control flow: blocks that branch to blocks. MLIR counterpart: the cf dialect and
ControlFlow/BufferizableOpInterfaceImpl.cpp. Programs read from MLIR text have it; the NumPy front end makes none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from tracebuf.errors import InternalError
from tracebuf.ir.attributes import segments, string
from tracebuf.ir.core import (
    Alias,
    Block,
    Effect,
    Effects,
    Facts,
    Form,
    Interpreter,
    Op,
    Relation,
    Rewriter,
    Use,
    Value,
    no_effects,
)
from tracebuf.ir.types import TENSORS, same_type
from tracebuf.location import UNKNOWN, Location


class BranchOp(Op):
    """What branches share: operands become the arguments of a successor."""

    __slots__ = ()
    gives = ""
    terminator = True
    effects = no_effects
    n_targets: ClassVar[int] = 1

    def verify(self) -> None:
        if len(self.successors) != self.n_targets:
            raise InternalError(f"{self.name}: {self.n_targets} successors, not {len(self.successors)}")
        wanted = [a.type for b in self.successors for a in b.args]
        passed = self.operands[self.n_targets - 1 :]
        if len(passed) != len(wanted) or not all(same_type(v.type, t) for v, t in zip(passed, wanted)):
            raise InternalError(f"{self.name}: what is passed does not fit the arguments of the successors")

    def target(self, use: Use) -> Value | None:
        """The argument of a successor that an operand becomes."""
        raise NotImplementedError

    def taken(self, values: list[Any]) -> tuple[Block, list[Any]]:
        """Where control goes with these operand values, and the arguments there."""
        raise NotImplementedError

    def bufferizes_to_memory_read(self, use: Use, facts: Facts) -> bool:
        return False

    def bufferizes_to_memory_write(self, use: Use, facts: Facts) -> bool:
        return False

    def aliasing_values(self, use: Use) -> list[Alias]:
        target = self.target(use)
        return [] if target is None else [Alias(target, Relation.EQUIVALENT, definite=False)]

    def bufferize(self, rewriter: Rewriter) -> None:
        targets = [rewriter.successor(b) for b in self.successors]
        types = [a.type for b in targets for a in b.args]
        uses = self.uses[len(self.uses) - len(types) :]
        passed = [
            rewriter.tensor(u) if isinstance(t, TENSORS) else rewriter.cast(u, t)
            for u, t in zip(uses, types, strict=True)
        ]
        first = [rewriter.value(u.value) for u in self.uses[: len(self.uses) - len(types)]]
        rewriter.add(self.rebuilt([*first, *passed], [], self.loc, dict(self.attrs), successors=targets))


class Branch(BranchOp):
    """`cf.br`: goes to one block. operands: the arguments of the successor; results: none; successors: 1."""

    __slots__ = ()
    name = "cf.br"

    @classmethod
    def of(cls, target: Block, args: Sequence[Value], loc: Location = UNKNOWN) -> Branch:
        return cls(args, [], loc, successors=[target])

    def target(self, use: Use) -> Value | None:
        return self.successors[0].args[use.index]

    def taken(self, values: list[Any]) -> tuple[Block, list[Any]]:
        return self.successors[0], values


class Assert(Op):
    """`cf.assert`: ends the program where the condition is false. operands: condition (i1); results: none; attrs: msg
    (the text)."""

    __slots__ = ()
    name = "cf.assert"
    takes, gives = "i1", ""

    @classmethod
    def of(cls, condition: Value, text: str, loc: Location = UNKNOWN) -> Assert:
        return cls([condition], [], loc, {"msg": string(text, inherent=True)})

    @property
    def may_raise(self) -> bool:
        return True

    def effects(self) -> Effects:
        """It may stop the program: as if it wrote something."""
        return ((Effect.WRITE, None),)

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        if not args[0]:
            raise AssertionError(self.attrs["msg"].value)
        return []


class CondBranch(BranchOp):
    """`cf.cond_br`: goes to one of two blocks. operands: condition (i1), the arguments of the first successor, those of
    the second; results: none; attrs: n_then (how many go to the first); successors: 2."""

    __slots__ = ()
    name, n_targets = "cf.cond_br", 2
    takes = "i1, any*"

    @classmethod
    def of(
        cls, condition: Value, then: Block, then_args: Sequence[Value], orelse: Block, else_args: Sequence[Value],
        loc: Location = UNKNOWN,
    ) -> CondBranch:  # fmt: skip
        attrs = {"n_then": len(then_args)}
        return cls([condition, *then_args, *else_args], [], loc, attrs, successors=[then, orelse])

    def verify(self) -> None:
        super().verify()
        if self.n_then != len(self.successors[0].args):
            raise InternalError(f"{self.name}: {self.n_then} values for the first block, not for all of its arguments")

    @property
    def n_then(self) -> int:
        n: int = self.attrs["n_then"]
        return n

    def target(self, use: Use) -> Value | None:
        if use.index == 0:
            return None
        at = use.index - 1
        return self.successors[0].args[at] if at < self.n_then else self.successors[1].args[at - self.n_then]

    def taken(self, values: list[Any]) -> tuple[Block, list[Any]]:
        condition, *rest = values
        return (self.successors[0], rest[: self.n_then]) if condition else (self.successors[1], rest[self.n_then :])

    @classmethod
    def from_form(cls, form: Form) -> Op:
        _, then, _ = form.segments(3)
        made = super().from_form(form)
        made.attrs["n_then"] = len(then)
        return made

    def to_form(self) -> Form:
        form = self.form_with({})
        form.attrs["operandSegmentSizes"] = segments(1, self.n_then, len(self.uses) - 1 - self.n_then)
        return form
