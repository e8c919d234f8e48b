"""Ops of a body on an operand that it sees as a whole: a[i, j] at indices that are data.

An input of `linalg.generic` whose map is `whole` has a block argument of its own shaped type. `Element` reads one of
its elements; `CheckedIndex` normalises an index that may be negative or out of bounds, and raises as eager does, after
the loops. Printed as MLIR, the argument is the operand itself, which MLIR's bodies may use from outside. MLIR
counterpart: tensor.extract in linalg.generic, the form in which it fuses gathers (tensor.gather has no slices and no
fusion).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracebuf.errors import InternalError, note_location
from tracebuf.ir.core import Op, Use, Value
from tracebuf.ir.types import INDEX, ShapedType
from tracebuf.location import UNKNOWN, Location
from tracebuf.ops.scalars import arith


class Element(arith.ScalarOp):
    """`tracebuf.element` in a body: one element of an operand that the body sees as a whole; the indices are within
    bounds. MLIR: `tensor.extract` (of a buffer `memref.load`).

    operands: source (tensor or memref), an index for each axis; results: 1 scalar of the element type.
    """

    __slots__ = ()
    name = "tracebuf.element"
    takes, gives = "shaped, scalar*", "scalar"

    @classmethod
    def of(cls, source: Value, indices: Sequence[Value], loc: Location = UNKNOWN) -> Element:
        assert isinstance(source.type, ShapedType)
        return cls([source, *indices], [source.type.element], loc)

    def compute(self, args: Sequence[Any]) -> Any:
        source, indices = args[0], args[1:]
        for i, n in zip(indices, source.shape, strict=True):
            if np.any((np.asarray(i) < 0) | (np.asarray(i) >= n)):
                raise InternalError(f"{self.name}: an index out of bounds for an axis of size {n}")
        return arith.convert(source[tuple(indices)], self.element)


class CheckedIndex(arith.ScalarOp):
    """`tracebuf.checked_index`: an index that may be negative, normalised; IndexError where it is out of bounds. A loop
    over such ops goes on to its end, in bounds, and raises then.

    operands: index, size of the axis (index); results: 1 index; attrs: axis (for the message).
    """

    __slots__ = ()
    name = "tracebuf.checked_index"
    takes, gives = "scalar, scalar", "index"

    @classmethod
    def of(cls, index: Value, size: Value, axis: int, loc: Location = UNKNOWN) -> CheckedIndex:
        return cls([index, size], [INDEX], loc, {"axis": axis})

    @property
    def may_raise(self) -> bool:
        return True

    @property
    def message(self) -> str:
        return f"an index is out of bounds for axis {self.attrs['axis']} with size {{}}"

    def compute(self, args: Sequence[Any]) -> Any:
        index, size = args
        wrapped = np.where(np.asarray(index) < 0, np.asarray(index) + size, index)
        if np.any((wrapped < 0) | (wrapped >= size)):
            raise note_location(IndexError(self.message.format(size)), self.loc)
        return arith.convert(wrapped if isinstance(index, np.ndarray) else wrapped[()], INDEX)


class SortedPlace(arith.ScalarOp):
    """`tracebuf.sorted_place`: np.searchsorted, by bisection: the index before equal elements, or after them; NaN is
    larger than every number.

    operands: vector (tensor or memref of rank 1), value (scalar); results: 1 index; attrs: right (after equal
    elements), rising (values mostly rise from one to the next, so that places next to the last one are tried first).
    """

    __slots__ = ()
    name = "tracebuf.sorted_place"
    takes, gives = "shaped, scalar", "index"

    @classmethod
    def of(
        cls, vector: Value, value: Value, right: bool, rising: bool = False, loc: Location = UNKNOWN
    ) -> SortedPlace:
        return cls([vector, value], [INDEX], loc, {"right": right, **({"rising": True} if rising else {})})

    def compute(self, args: Sequence[Any]) -> Any:
        found = np.searchsorted(args[0], args[1], "right" if self.attrs["right"] else "left")
        return arith.convert(found, INDEX)


def check_whole(op: Op, use: Use, arg: Value) -> None:
    """InternalError unless the body's argument has the rank and element type of this whole operand."""
    given, held = use.value.type, arg.type
    if isinstance(given, ShapedType) and isinstance(held, ShapedType):
        if given.rank == held.rank and given.element is held.element:
            return
    raise InternalError(f"{op.name}: operand {use.index} ({given}) is not at hand as {held}")
