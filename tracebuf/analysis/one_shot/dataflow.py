"""What follows from the ops' own facts, before any decision: reads, writes, aliases, definitions, reverse chains.

All of it depends on the program alone, so every answer is kept. MLIR counterpart: AnalysisState (`isValueRead`,
`findDefinitions`, `findValueInReverseUseDefChain`, `bufferizesToMemoryWrite(Value)`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tracebuf.analysis.one_shot.order import Order
from tracebuf.ir import types
from tracebuf.ir.attributes import Attr
from tracebuf.ir.core import Alias, Block, Op, Relation, Use, Value
from tracebuf.ir.func import Func
from tracebuf.ops.arrays import tensor
from tracebuf.ops.control.func import Call


def every_op(op: Op) -> bool:
    return True


class Dataflow:
    """The facts of one function's tensor operands and values.

    Ops that are not `allowed` (MLIR: dialect-filter) are taken as unknown. `owns_arguments`: the arguments' buffers may
    be stored to unless marked otherwise (behaviour 19). `as_mlir`: ops state their facts as MLIR 22 does.
    """

    __slots__ = (
        "_aliased", "_aliases", "_allowed", "_defining", "_definitions", "_order", "_owns_arguments", "_reads",
        "_read_values", "_writes", "as_mlir", "func",
    )  # fmt: skip

    def __init__(
        self,
        func: Func,
        allowed: Callable[[Op], bool] = every_op,
        *,
        owns_arguments: bool = True,
        as_mlir: bool = False,
    ) -> None:
        self.func, self.as_mlir = func, as_mlir
        self._allowed, self._owns_arguments = allowed, owns_arguments
        self._order: Order | None = None
        self._reads: dict[Use, bool] = {}
        self._writes: dict[Use, bool] = {}
        self._aliases: dict[Use, list[Alias]] = {}
        self._aliased: dict[Value, list[tuple[Use, Relation, bool]]] = {}
        self._read_values: dict[Value, bool] = {}
        self._definitions: dict[Value, tuple[Value, ...]] = {}
        self._defining: dict[Value, bool] = {}

    @property
    def order(self) -> Order:
        """Where the function's ops stand, once that is asked."""
        if self._order is None:
            self._order = Order(self.func, as_mlir=self.as_mlir, allowed=self._allowed)
        return self._order

    def mlirs(self) -> Dataflow:
        """The dataflow of this function with facts as MLIR 22 states them."""
        return Dataflow(self.func, self._allowed, owns_arguments=self._owns_arguments, as_mlir=True)

    def is_known(self, op: Op) -> bool:
        """Whether the op states facts of its own (MLIR: dynCastBufferizableOp)."""
        return op.bufferizable and self._allowed(op)

    # -- facts of operands
    def reads(self, use: Use) -> bool:
        if (known := self._reads.get(use)) is None:
            op = use.op
            known = self._reads[use] = not self.is_known(op) or op.bufferizes_to_memory_read(use, self)
        return known

    def writes(self, use: Use) -> bool:
        if (known := self._writes.get(use)) is None:
            op = use.op
            known = self._writes[use] = not self.is_known(op) or op.bufferizes_to_memory_write(use, self)
        return known

    def aliasing_values(self, use: Use) -> list[Alias]:
        if (known := self._aliases.get(use)) is None:
            op = use.op
            known = op.aliasing_values(use) if self.is_known(op) else Op.aliasing_values(op, use)
            self._aliases[use] = known
        return known

    def passes_read(self, use: Use) -> bool:
        """Whether the operand counts as a read of its buffer: the op reads it, or does not write it and the result is
        read.
        """
        if self.reads(use):
            return True
        return not self.writes(use) and any(self.is_value_read(a.value) for a in self.aliasing_values(use))

    def are_equivalent(self, a: Value, b: Value) -> bool:
        """While deciding, only a value and itself (MLIR behaviour 6)."""
        return a is b

    # -- facts of values
    def is_value_read(self, value: Value) -> bool:
        if (known := self._read_values.get(value)) is None:
            known = self._read_values[value] = self._is_value_read(value)
        return known

    def _is_value_read(self, value: Value) -> bool:
        work, seen = [value], {value}
        while work:
            current = work.pop()
            if current is not value and (known := self._read_values.get(current)) is not None:
                if known:
                    return True
                continue
            for use in current.uses:
                if self.reads(use):
                    return True
                if not self.writes(use):
                    fresh = [a.value for a in self.aliasing_values(use) if a.value not in seen]
                    seen.update(fresh)
                    work += fresh
        return False

    def aliasing_uses(self, value: Value) -> list[tuple[Use, Relation, bool]]:
        """The operands whose buffer the value may share. None where the op is unknown; a block's argument starts a
        buffer of its own, unless branches go to the block."""
        if (known := self._aliased.get(value)) is None:
            known = self._aliased[value] = self._aliasing_uses(value)
        return known

    def _aliasing_uses(self, value: Value) -> list[tuple[Use, Relation, bool]]:
        op = value.owner
        if isinstance(op, Block):
            if self.as_mlir and op.region.op is None and not self._owns_arguments:
                return []  # MLIR 22 looks at a function's blocks only where it looks at functions
            if op is op.region.block:
                return []  # no branch goes to the first block
            return [
                (use, alias.relation, alias.definite)
                for branch in self.order.branches.get(op, ()) for use in branch.tensor_uses()
                for alias in self.aliasing_values(use) if alias.value is value
            ]  # fmt: skip
        return op.aliasing_uses(value) if self.is_known(op) else []

    def is_writable(self, value: Value) -> bool:
        """False for arguments marked so, and where the op says so."""
        owner = value.owner
        if owner is self.func.block:
            marked = self.func.arg_attrs[value.index].get("bufferization.writable", True)
            return self._owns_arguments and bool(marked.value if isinstance(marked, Attr) else marked)
        op = owner if isinstance(owner, Op) else owner.parent_op
        if op is None:
            return self._owns_arguments or not self.as_mlir
        if self.as_mlir and isinstance(op, Call):
            return self.is_known(op)
        return self.is_known(op) and op.is_writable(value)

    def defines(self, value: Value) -> bool:
        """Whether the value's contents come into being here: a write, a block's argument, a result without a source."""
        if (known := self._defining.get(value)) is None:  # asked anew, it would take exponential time in nested regions
            known = self._defining[value] = self._defines(value)
        return known

    def _defines(self, value: Value) -> bool:
        owner = value.owner
        if isinstance(owner, Block):
            return True
        if not self.is_known(owner):
            return True
        sources = owner.aliasing_uses(value)
        if not sources:
            return owner.defines_contents(value)
        if any(self.writes(use) for use, _, _ in sources):
            return True
        if not owner.regions:
            return False
        return any(self._written_inside(use, owner) for use, _, _ in sources)

    def _written_inside(self, use: Use, op: Op) -> bool:
        def inside(value: Value) -> bool:
            owner = value.owner if isinstance(value.owner, Op) else value.owner.parent_op
            return owner is not None and self.order.contains(op, owner)

        ends = self.chain(use, lambda v: not inside(v) or self.defines(v), leaves=False)
        return any(inside(v) for v in ends)

    def definitions(self, value: Value) -> tuple[Value, ...]:
        """The most recent writes that the value's contents may come from, in MLIR's order: from the last operand on;
        none for an undefined value (MLIR behaviour 22)."""
        path: list[Value] = []
        current = value
        while (found := self._definitions.get(current)) is None:
            if self.defines(current):
                found = self._definitions[current] = (current,)
                break
            sources = [use.value for use, _, _ in self.aliasing_uses(current)]
            path.append(current)
            if len(sources) != 1:
                found = tuple(dict.fromkeys(d for v in reversed(sources) for d in self.definitions(v)))
                break
            current = sources[0]
        for v in path:
            self._definitions[v] = found
        return found

    def chain(
        self,
        use: Use,
        stop: Callable[[Value], bool],
        *,
        leaves: bool,
        equivalent: bool = False,
        same_type: bool = False,
    ) -> Iterator[Value]:
        """Backwards from the operand's value to the values where `stop` holds; with `leaves`, also where a chain ends
        otherwise.

        `equivalent` follows only operands that share the whole buffer, `same_type` only operands of equal type, and
        casts.
        """
        work, seen = [use.value], {use.value}
        while work:
            value = work.pop()
            if stop(value):
                yield value
                continue
            sources = self.aliasing_uses(value)
            if not sources and leaves:
                yield value
            for source, relation, _ in sources:
                followed = not equivalent or relation is Relation.EQUIVALENT
                if same_type and not isinstance(value.owner, tensor.Cast):
                    followed = followed and types.same_type(source.value.type, value.type)
                if not followed and leaves:
                    yield value
                elif followed and source.value not in seen:
                    seen.add(source.value)
                    work.append(source.value)
