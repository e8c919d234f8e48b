"""`tracebuf.recast`: an array's memory as elements of another type. a.real, a.imag, a.view(dtype).

Complex numbers are pairs of floats, with an axis of two more at the end, of which a slice is the real or the imaginary
part; pairs are complex numbers again; and types of one size are each other's bits. Each recast has an inverse, so a
store through the view is a store into the recast tensor, recast back. MLIR counterpart: `tensor.bitcast`, where sizes
are equal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tracebuf.errors import InternalError
from tracebuf.ir.core import Form, Interpreter, Op, Value
from tracebuf.ir.dims import Dim
from tracebuf.ir.ndarray import recast
from tracebuf.ir.types import ScalarType, TensorType, is_unnamed
from tracebuf.location import UNKNOWN, Location
from tracebuf.ops.arrays.tensor import Regrouping
from tracebuf.ops.memory import memref


class Recast(Regrouping):
    """`tracebuf.recast`: see the module.

    operands: source tensor; results: 1 tensor of the new element type (complex to float adds a last axis of 2, float to
    complex drops it), aliases source.
    """

    __slots__ = ()
    name = "tracebuf.recast"
    levels = frozenset({"tensor"})

    @classmethod
    def of(cls, source: Value, element: ScalarType, loc: Location = UNKNOWN) -> Recast:
        known = source.tensor_type
        shape: tuple[Dim, ...] = memref.recast_shape(known.shape, known.element, element)
        return cls([source], [TensorType(shape, element)], loc, {})

    @classmethod
    def from_form(cls, form: Form) -> Op:
        form.expect(operands=1, results=1)
        return cls.rebuilt(form.operands, form.result_types, form.loc, dict(form.attrs))

    def to_form(self) -> Form:
        return self.form_with({})

    def verify(self) -> None:
        before, after = self.source.tensor_type, self.result.tensor_type
        shape = memref.recast_shape(before.shape, before.element, after.element)
        if len(shape) != len(after.shape) or any(
            a != b and not (is_unnamed(a) or is_unnamed(b)) for a, b in zip(shape, after.shape)
        ):  # fmt: skip
            raise InternalError(f"{self.name}: {before} as {after}")

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        array, element = args[0], self.result.tensor_type.element
        if element.is_complex and not self.source.tensor_type.element.is_complex and array.ndim:
            array = array if array.strides[-1] == array.itemsize or not array.size else np.ascontiguousarray(array)
        return [recast(array, element.dtype)]
