"""`tracebuf.pick`: one of several arrays of one form, by its number. `x` in `for x in arrays`, in a loop that is traced
once.

MLIR counterpart: `arith.select`, of more than two. Native code keeps a table of the arrays, which it writes before the
loop that the op stands in (backend/llvm/emit.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

from tracebuf.errors import InternalError
from tracebuf.ir.core import Alias, Facts, Interpreter, Op, Rewriter, Use, Value, no_effects
from tracebuf.ir.types import INDEX, MemRefType, ShapedType, TensorType, Type, strides_in_order
from tracebuf.location import UNKNOWN, Location


class Pick(Op):
    """`tracebuf.pick`: see the module. Neither reads nor writes.

    operands: the number (index, from 0), the arrays (tensors or memrefs, at least one, of one element type and rank,
    and of the result's sizes); results: 1, the buffer of one of them.
    """

    __slots__ = ()
    name = "tracebuf.pick"
    takes, gives = "index, any*", "any"
    levels = frozenset({"tensor", "memref"})
    effects = no_effects

    @classmethod
    def of(cls, number: Value, arrays: Sequence[Value], type_: Type, loc: Location = UNKNOWN) -> Pick:
        return cls([number, *arrays], [type_], loc)

    @property
    def arrays(self) -> list[Value]:
        return self.operands[1:]

    def verify(self) -> None:
        of = self.result.type
        if not self.arrays or self.operand(0).type is not INDEX or not isinstance(of, ShapedType):
            raise InternalError(f"{self.name}: there is no array, or no number")
        for v in self.arrays:
            t = v.type
            if type(t) is not type(of) or not isinstance(t, ShapedType) or (t.rank, t.element) != (of.rank, of.element):
                raise InternalError(f"{self.name}: {t} is not {of}")

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        return [args[1 + args[0]]]

    def bufferizes_to_memory_read(self, use: Use, facts: Facts) -> bool:
        return False

    def bufferizes_to_memory_write(self, use: Use, facts: Facts) -> bool:
        return False

    def aliasing_values(self, use: Use) -> list[Alias]:
        return [Alias(self.result, definite=len(self.uses) == 2)] if use.index else []

    def bufferize(self, rewriter: Rewriter) -> None:
        arrays = [rewriter.buffer(use) for use in self.uses[1:]]
        type_ = common_type(self.result.tensor_type, [v.memref_type for v in arrays])
        made = rewriter.add(Pick.of(rewriter.value(self.operand(0)), arrays, type_, self.loc))
        rewriter.replace(self.result, made.result)


def common_type(of: TensorType, types: Sequence[MemRefType]) -> MemRefType:
    """The buffer type of one of several arrays of one form: what their layouts have in common."""
    for order in permutations(range(of.rank)) if of.rank <= 3 else [tuple(range(of.rank))]:
        if all(t.offset == 0 and t.strides == strides_in_order(t.shape, order) for t in types):
            return MemRefType(of.shape, of.element, strides_in_order(of.shape, order))
    alike = [s if all(t.strides[k] == s for t in types) else None for k, s in enumerate(types[0].strides)]
    return MemRefType(of.shape, of.element, tuple(alike), None)
