"""`Body`, into which the scalar ops of an elementwise computation go, and NumPy's conversions between element types."""

from __future__ import annotations

from tracebuf.ir.core import Block, Op, Value
from tracebuf.ir.types import F16, F32, I1, I32, I64, INDEX, UI32, UI64, ScalarType
from tracebuf.location import UNKNOWN, Location
from tracebuf.ops.arrays import linalg
from tracebuf.ops.scalars import arith, casts
from tracebuf.ops.scalars.complex import Create, Im, Re, constant


class Body:
    """The place of the scalar ops of an elementwise body: a block and a location."""

    __slots__ = ("block", "loc")
    block: Block
    loc: Location

    def __init__(self, block: Block, loc: Location) -> None:
        self.block, self.loc = block, loc

    def add(self, op: Op) -> Value:
        """Appends an op, at the body's location if it was made without one; its single result."""
        if op.loc is UNKNOWN:
            op.loc = self.loc
        self.block.append(op)
        return op.result

    def constant(self, value: bool | int | float | complex, element: ScalarType) -> Value:
        return self.add(constant(value, element, self.loc))

    def index(self, dim: int) -> Value:
        """The loop index along a dimension, as int64 data."""
        return self.add(arith.IndexCast.of(self.add(linalg.Index.of(dim)), I64))

    def cast(self, value: Value, to: ScalarType) -> Value:
        """NumPy's conversion between supported element types."""
        source = value.type
        assert isinstance(source, ScalarType)
        if source is to:
            return value
        if source.is_complex or to.is_complex:
            return cast_complex(self, value, to)
        if to is I1:
            if source.is_float:
                return self.add(arith.CmpF.of("une", value, self.constant(0.0, source)))
            return self.add(arith.CmpI.of("ne", value, self.constant(0, source)))
        for op, step in cast_steps(source, to):
            value = self.add(op.of(value, step))
        return value


def cast_steps(source: ScalarType, to: ScalarType) -> list[tuple[type[arith.CastOp], ScalarType]]:
    """The casts that make up NumPy's conversion to another number type, as C does it on x86 (rule N4): float16 converts
    through float32, a float to a small integer through a larger one."""
    if source.is_float and to.is_float:
        return [(casts.ExtF if to.bits > source.bits else casts.TruncF, to)]
    if F16 in (source, to):
        return [*cast_steps(source, F32), *cast_steps(F32, to)]
    if to.is_float:
        return [(casts.UIToFP if source.is_unsigned else casts.SIToFP, to)]
    if source.is_float:
        if to in (I32, I64, UI64):
            return [(casts.FPToUI if to is UI64 else casts.FPToSI, to)]
        return [(casts.FPToSI, I64 if to is UI32 else I32), (casts.TruncI, to)]
    if to.bits > source.bits:
        return [(casts.ExtUI if source.is_unsigned else casts.ExtSI, to)]
    if INDEX in (source, to):
        return [(arith.IndexCast, to)]
    return [(casts.TruncI if to.bits < source.bits else casts.Bitcast, to)]


def cast_complex(b: Body, value: Value, to: ScalarType) -> Value:
    """NumPy's conversion from or to a complex type: a real number gets the imaginary part 0, a complex one loses its
    imaginary part; as a bool it is True if either part is nonzero."""
    source = value.type
    assert isinstance(source, ScalarType)
    if not source.is_complex:
        re = b.cast(value, to.component)
        return b.add(Create.of(re, b.constant(0.0, to.component)))
    re = real(b, value)
    if to is I1:
        return b.add(arith.OrI.of(b.cast(re, I1), b.cast(imaginary(b, value), I1)))
    if not to.is_complex:
        return b.cast(re, to)
    im = b.cast(imaginary(b, value), to.component)
    return b.add(Create.of(b.cast(re, to.component), im))


def real(b: Body, value: Value) -> Value:
    """The real part of a complex number."""
    return b.add(Re.of(value))


def imaginary(b: Body, value: Value) -> Value:
    """The imaginary part of a complex number."""
    return b.add(Im.of(value))
