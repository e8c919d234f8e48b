"""func.return and func.call, and what terminators share. MLIR counterpart: the func dialect and
Bufferization/FuncBufferizableOpInterfaceImpl.cpp."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

from tracebuf.frozen import frozen
from tracebuf.ir.attributes import inherent
from tracebuf.ir.core import Alias, Facts, Form, FormError, Op, Relation, Rewriter, Use, Value, no_effects
from tracebuf.ir.types import Type
from tracebuf.location import UNKNOWN, Location
from tracebuf.ops.memory.memref import forget_layout


class Terminator(Op):
    """Ends a block and passes its operands on, which are used in place."""

    __slots__ = ()
    gives = ""
    terminator = True
    effects = no_effects

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
    """FormError unless there is one region for each of these terminators, each of one block that ends with it."""
    form.expect(regions=len(terminators))
    for region, name in zip(form.regions, terminators):
        if len(region.blocks) != 1 or not region.block.ops or region.block.terminator.name != name:
            raise FormError(f"{form.name}: a region is one block that ends with {name}")


class Return(Terminator):
    """`func.return`. operands: the function's results (tensors, memrefs or scalars), where tensors are read and always
    in place; results: none."""

    __slots__ = ()
    name = "func.return"

    def bufferize(self, rewriter: Rewriter) -> None:
        values = [rewriter.buffer(u) if u.value.is_tensor else rewriter.value(u.value) for u in self.uses]
        rewriter.add(Return.of(values, self.loc))


@frozen()
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
    """The results that may be a buffer of the callee's that must not be stored to: a constant."""


class Call(Op):
    """`func.call`.

    operands: the callee's arguments (tensors, memrefs or scalars); results: the callee's results; attrs: callee (its
    name), summary (set by the module's analysis before the caller is analysed). Without a summary, as in recursion, the
    callee may do anything (MLIR behaviours 41, 43).
    """

    __slots__ = ()
    name = "func.call"

    def effects(self) -> None:
        """The callee may do anything."""
        return None

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
        """False for results that may be a constant. MLIR 22 assumes that every result is writable, and may store into a
        constant."""
        return self.summary is None or value.index not in self.summary.read_only

    def bufferizes_to_memory_read(self, use: Use, facts: Facts) -> bool:
        return self.summary is None or use.index in self.summary.reads

    def bufferizes_to_memory_write(self, use: Use, facts: Facts) -> bool:
        return self.summary is None or use.index in self.summary.writes

    def aliasing_values(self, use: Use) -> list[Alias]:
        if self.summary is None:
            return super().aliasing_values(use)
        results = self.summary.aliases.get(use.index, ())
        argument = self.summary.equivalent.get(results[0]) if len(results) == 1 else None
        is_argument = argument == use.index or (argument is not None and self.summary.as_mlir)
        relation = Relation.EQUIVALENT if is_argument else Relation.UNKNOWN
        return [Alias(self.results[k], relation, definite=is_argument) for k in results]

    def bufferize(self, rewriter: Rewriter) -> None:
        args, types = rewriter.call(self.callee, self.uses, self.loc)
        made = rewriter.add(Call.of(self.callee, args, types, self.loc))
        for old, new in zip(self.results, made.results, strict=True):
            rewriter.replace(old, new) if old.is_tensor else rewriter.set_value(old, new)


class TracedCall(Call):
    """`tracebuf.call`: a call of a traced function, which stores to some of its arrays in place.

    operands: the callee's arguments; results: for each operand of `written`, in order, the tensor as it is after the
    call, then what it returns: scalars and new arrays; on buffers that alone, and the caller owns the arrays. attrs:
    callee, written (the numbers of the tensors that the callee stores to; every tensor may be read).
    """

    __slots__ = ()
    name = "tracebuf.call"
    levels = frozenset({"tensor", "memref"})
    from_form, to_form = Op.from_form, Op.to_form

    @classmethod
    def writing(
        cls,
        callee: str,
        args: Sequence[Value],
        results: Sequence[Type],
        written: Sequence[int],
        loc: Location = UNKNOWN,
    ) -> TracedCall:
        """A call that stores to these arguments; `results` are the types of all results."""
        return cls(args, results, loc, {"callee": callee, "written": tuple(written)})

    @property
    def may_raise(self) -> bool:
        return True

    def is_writable(self, value: Value) -> bool:
        return True

    def bufferizes_to_allocation(self, value: Value) -> bool:
        return value.index >= len(self.attrs["written"])

    def bufferizes_to_memory_read(self, use: Use, facts: Facts) -> bool:
        return True

    def bufferizes_to_memory_write(self, use: Use, facts: Facts) -> bool:
        return use.index in self.attrs["written"]

    def aliasing_values(self, use: Use) -> list[Alias]:
        written: tuple[int, ...] = self.attrs["written"]
        return [Alias(self.results[written.index(use.index)])] if use.index in written else []

    def bufferize(self, rewriter: Rewriter) -> None:
        args = [rewriter.buffer(u) if u.value.is_tensor else rewriter.value(u.value) for u in self.uses]
        written: tuple[int, ...] = self.attrs["written"]
        own = self.results[len(written) :]
        types = [forget_layout(v.tensor_type) if v.is_tensor else v.type for v in own]
        made = rewriter.add(TracedCall.writing(self.callee, args, types, (), self.loc))
        for k, result in zip(written, self.results):
            rewriter.replace(result, args[k])
        for old, new in zip(own, made.results, strict=True):
            rewriter.replace(old, new) if old.is_tensor else rewriter.set_value(old, new)
