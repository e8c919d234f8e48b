"""What follows from the decisions, whoever made them: which values are one buffer, what loops may hand on, which copies
must hold contents. Computed once, when it is first asked for; the decisions must be complete by then.

`Analysis` is what the rewrite works with. One-Shot and copy-before-write derive from it; `chosen.analysis_of` makes one
of any object that answers `is_in_place`, and refuses decisions that would change what the program computes. MLIR
counterpart: AnalysisState, whose subclasses answer more than one question.
"""

from __future__ import annotations

from collections.abc import Iterable

from tracebuf.analysis.one_shot.aliases import Classes
from tracebuf.analysis.one_shot.base import Conflict
from tracebuf.analysis.one_shot.dataflow import Dataflow
from tracebuf.analysis.one_shot.order import post_order
from tracebuf.analysis.one_shot.storages import Handing, Storages
from tracebuf.ir.core import Op, Relation, Use, Value
from tracebuf.ops.control import scf


class Analysis:
    """The decisions for one function with what follows from them. A subclass answers `is_in_place`; its answers are
    taken as they are."""

    __slots__ = ("_classes", "_kept", "flow", "rotates", "storages")
    to_the_letter = False
    """Whether the rewrite makes what MLIR's makes where that is for nothing: a store of a buffer onto itself, a copy to
    regroup what was regrouped to its shape."""

    def __init__(self, flow: Dataflow, storages: Storages | None = None, *, rotates: bool = True) -> None:
        """`rotates`: results of loops may share the buffers of other initial values than their own (rule S9), which the
        decisions have allowed for."""
        self.flow, self.rotates = flow, rotates
        self.storages = Storages(flow) if storages is None else storages
        self._classes: Classes | None = None
        self._kept: set[Use] | None = None

    def is_in_place(self, use: Use) -> bool:
        """Whether the op may use the operand's own buffer."""
        raise NotImplementedError

    def writes(self, use: Use) -> bool:
        """Whether the op may store to the operand's buffer, where that is in place."""
        return self.flow.writes(use)

    def conflict(self, use: Use) -> Conflict | None:
        """Why the operand is not in place; None where it is."""
        return None if self.is_in_place(use) else Conflict("chosen", use)

    def conflicts(self, use: Use) -> tuple[Conflict, ...]:
        """All the reasons why the operand is not in place; none where it is."""
        conflict = self.conflict(use)
        return () if conflict is None else (conflict,)

    def read_only_met(self, use: Use) -> list[Value]:
        """The read-only buffers that a store to the operand may reach, if that is why it is not in place."""
        return [c.read_only for c in self.conflicts(use) if c.read_only is not None]

    def in_place(self) -> list[Use]:
        """The operands that are in place, in the order of decisions where that is known."""
        return [u for op in self.flow.func.walk() for u in op.tensor_uses() if self.is_in_place(u)]

    def out_of_place(self) -> list[Use]:
        """The operands that are not in place, in the order in which they were decided, if there was one."""
        return [u for op in self.flow.func.walk() for u in op.tensor_uses() if not self.is_in_place(u)]

    def equivalent(self, a: Value, b: Value) -> bool:
        """Whether both values certainly are the same elements of one buffer."""
        if self._classes is None:
            self._find_equivalences()
        assert self._classes is not None
        return self._classes.find(a) is self._classes.find(b)

    are_equivalent = equivalent

    @property
    def as_mlir(self) -> bool:
        return self.flow.as_mlir

    def is_value_read(self, value: Value) -> bool:
        """Whether some use of the value, followed through aliases, reads its contents."""
        return self.flow.is_value_read(value)

    def hands_on(self, use: Use) -> bool:
        """Whether a yielded value of a loop may stay in its buffer, although that is not the carried value's."""
        if self._kept is None:
            handing = Handing(self.flow, self.is_in_place, self.equivalent, self.storages, rotates=self.rotates)
            self._kept = handing.kept(self.ops())
        return use in self._kept

    def needs_contents(self, use: Use) -> bool:
        """Whether a new buffer in place of the operand's must begin with its contents: they are defined, and read by
        the op or through its result (MLIR: not canOmitTensorCopy; behaviour 10).
        """
        return bool(self.flow.definitions(use.value)) and self.flow.passes_read(use)

    def ops(self) -> Iterable[Op]:
        """The ops of the function, from inner ones to outer ones."""
        return post_order(self.flow.func)

    # -- equivalence
    def _find_equivalences(self) -> None:
        """From inner ops to outer ones (MLIR behaviour 5)."""
        self._classes = Classes()
        for op in self.ops():
            for result in op.results:
                if result.is_tensor:
                    self._relate(op, result, self._classes)

    def _relate(self, op: Op, result: Value, classes: Classes) -> None:
        sources = self.flow.aliasing_uses(result)
        if isinstance(op, scf.Loop):
            if sources and self.is_in_place(sources[0][0]) and op.keeps(result.index, self.equivalent):
                classes.union(sources[0][0].value, result)
            return
        equal = [(use, definite) for use, relation, definite in sources if relation is Relation.EQUIVALENT]
        kept = [(use, definite) for use, definite in equal if self.is_in_place(use)]
        for use, definite in kept:
            if definite:
                classes.union(use.value, result)
                return
        if kept and len(kept) == len(sources) and not op.bufferizes_to_allocation(result):
            first = kept[0][0].value
            if all(self.equivalent(use.value, first) for use, _ in kept):
                classes.union(first, result)
