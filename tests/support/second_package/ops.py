"""The package's op classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracebuf.extend import (
    AffineMap,
    Alias,
    Attr,
    Block,
    BodyYield,
    Builder,
    DestinationOp,
    Facts,
    Form,
    Interpreter,
    Location,
    Op,
    Relation,
    Rewriter,
    ShapedType,
    Slice,
    Spec,
    TensorType,
    Type,
    Use,
    Value,
    arith,
    identity_map,
    memref,
    no_effects,
)


class Lerp(DestinationOp):
    """`second.lerp`: out = x + w * (y - x), element by element; operands x, y, w (a scalar), out."""

    __slots__ = ()
    name = "second.lerp"

    @classmethod
    def of(cls, x: Value, y: Value, w: Value, out: Value, loc: Location) -> Lerp:
        return cls([x, y, w, out], [out.type], loc, {"n_ins": 3})

    def reads_out(self, use: Use) -> bool:
        return False

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        x, y, w, out = args
        return [np.asarray(x + w * (y - x), out.dtype)]

    def spec(self, types: Sequence[Type]) -> Spec:
        out = types[3]
        assert isinstance(out, ShapedType)
        body = Block([out.element] * 4)
        x, y, w, _ = body.args
        b = Builder(body, self.loc)
        step = b.add(arith.SubF.of(y, x, self.loc))
        part = b.add(arith.MulF.of(w, step.result, self.loc))
        b.add(BodyYield.of([b.add(arith.AddF.of(x, part.result, self.loc)).result], self.loc))
        each = identity_map(out.rank)
        maps = (each, each, AffineMap(out.rank, ()), each)
        return Spec(self.name, tuple(types), maps, ("parallel",) * out.rank, 3, body)


class Ranked(DestinationOp):
    """`second.ranked`: the elements of a vector in order; operands x, out. Its loops are NumPy's."""

    __slots__ = ()
    name = "second.ranked"

    @classmethod
    def of(cls, x: Value, out: Value, loc: Location) -> Ranked:
        return cls([x, out], [out.type], loc, {"n_ins": 1})

    def reads_out(self, use: Use) -> bool:
        return False

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        return [np.sort(args[0])]


class Evens(Op):
    """`second.evens`: every second element of a vector, in the vector's memory. Attr `static_size`."""

    __slots__ = ()
    name = "second.evens"
    effects = no_effects
    levels = frozenset({"tensor"})

    @classmethod
    def of(cls, x: Value, size: int, loc: Location) -> Evens:
        return cls([x], [TensorType((size,), x.tensor_type.element)], loc, {"static_size": size})

    @classmethod
    def from_form(cls, form: Form) -> Op:
        size: int = form.take("static_size")
        return cls.of(form.operands[0], size, form.loc)

    def to_form(self) -> Form:
        return self.form_with({"static_size": Attr(f"{self.attrs['static_size']} : i64", self.attrs["static_size"])})

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        return [args[0][: 2 * self.attrs["static_size"] : 2].view()]

    def bufferizes_to_memory_read(self, use: Use, facts: Facts) -> bool:
        return False

    def bufferizes_to_memory_write(self, use: Use, facts: Facts) -> bool:
        return False

    def aliasing_values(self, use: Use) -> list[Alias]:
        return [Alias(self.result, Relation.UNKNOWN)]

    def bufferize(self, rewriter: Rewriter) -> None:
        part = Slice((0,), (self.attrs["static_size"],), (2,), (0,))
        view = memref.Subview.of(rewriter.buffer(self.uses[0]), part, self.result.tensor_type.shape, self.loc)
        rewriter.replace(self.result, rewriter.add(view).result)
