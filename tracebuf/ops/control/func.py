"""func.return and func.call, and what terminators share. MLIR counterpart: the func dialect and
Bufferization/FuncBufferizableOpInterfaceImpl.cpp."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from tracebuf.ir.attributes import inherent
from tracebuf.ir.core import Alias, Facts, Form, FormError, Op, Relation, Rewriter, Use, Value
from tracebuf.ir.types import Type
from tracebuf.location import UNKNOWN, Location


class Terminator(Op):
    """Ends a block by passing values on; what it passes on is used in place."""

    __slots__ = ()
    terminator = True

    @classmethod
    def of(cls, values: Sequence[Value], loc: Location = UNKNOWN) -> Self:
        return cls(values, [], loc)

    @classmethod
    def from_form(cls, form: Form) -> Op:
        form.expect(results=0, regions=0)
        return super().from_form(form)

    def bufferizes_to_memory_write(self, use: Use, facts: Facts) -> bool:
        return False

    def must_bufferize_in_place(self, use: Use) -> bool:
        return True

    def aliasing_values(self, use: Use) -> list[Alias]:
        return []


def check_blocks(form: Form, *terminators: str) -> None:
    """FormError unless there is one region of one block for each of these ops that end it."""
    form.expect(regions=len(terminators))
    for region, name in zip(form.regions, terminators):
        if len(region.blocks) != 1 or not region.block.ops or region.block.terminator.name != name:
            raise FormError(f"{form.name}: a region is one block that ends with {name}")


class Return(Terminator):
    """`func.return`: the results. Tensors are read here and always in place."""

    __slots__ = ()
    name = "func.return"

    def bufferize(self, rewriter: Rewriter) -> None:
        values = [rewriter.buffer(u) if u.value.is_tensor else rewriter.value(u.value) for u in self.uses]
        rewriter.add(Return.of(values, self.loc))


@dataclass(frozen=True, slots=True)
class Summary:
    """What callers must know of an analysed function, by the numbers of its arguments and results (MLIR:
    FuncAnalysisState)."""

    reads: frozenset[int]
    writes: frozenset[int]
    aliases: Mapping[int, tuple[int, ...]]
    """The results that may share an argument's buffer."""
    equivalent: Mapping[int, int]
    """The argument that a result's buffer certainly is."""
    as_mlir: bool = False
    """Whether, as to MLIR 22, each argument that may share such a result's buffer, and no other, is that argument."""
    read_only: frozenset[int] = frozenset()
    """The results that may be a buffer of the callee's that nobody may store to: a constant."""


class Call(Op):
    """`func.call`: attr `callee` is the function's name. The module's analysis puts its `summary` here before the
    caller is analysed; without one, as in recursion, the callee may do anything (behaviours 41, 43).
    """

    __slots__ = ()
    name = "func.call"

    @classmethod
    def of(cls, callee: str, args: Sequence[Value], results: Sequence[Type], loc: Location = UNKNOWN) -> Call:
        return cls(args, results, loc, {"callee": callee})

    @property
    def callee(self) -> str:
        name: str = self.attrs["callee"]
        return name

    @property
    def summary(self) -> Summary | None:
        found: Summary | None = self.attrs.get("summary")
        return found

    @classmethod
    def from_form(cls, form: Form) -> Op:
        callee = form.take("callee", kind=str).removeprefix("@")
        made = super().from_form(form)
        made.attrs["callee"] = callee
        return made

    def to_form(self) -> Form:
        form = self.form_with({})
        form.attrs["callee"] = inherent(f"@{self.callee}")
        return form

    def is_writable(self, value: Value) -> bool:
        """MLIR 22 takes it that every result is, and may store into a constant."""
        return self.summary is None or value.index not in self.summary.read_only

    def bufferizes_to_memory_read(self, use: Use, facts: Facts) -> bool:
        return self.summary is None or use.index in self.summary.reads

    def bufferizes_to_memory_write(self, use: Use, facts: Facts) -> bool:
        return self.summary is None or use.index in self.summary.writes

    def aliasing_values(self, use: Use) -> list[Alias]:
        if self.summary is None:
            return super().aliasing_values(use)
        near = self.summary.aliases.get(use.index, ())
        known = self.summary.equivalent.get(near[0]) if len(near) == 1 else None
        same = known == use.index or (known is not None and self.summary.as_mlir)
        relation = Relation.EQUIVALENT if same else Relation.UNKNOWN
        return [Alias(self.results[k], relation, definite=same) for k in near]

    def bufferize(self, rewriter: Rewriter) -> None:
        args, types = rewriter.call(self.callee, self.uses, self.loc)
        made = rewriter.add(Call.of(self.callee, args, types, self.loc))
        for old, new in zip(self.results, made.results, strict=True):
            rewriter.replace(old, new) if old.is_tensor else rewriter.set_value(old, new)
