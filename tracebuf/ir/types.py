"""Types: scalars, tensors and memrefs. MLIR counterpart: builtin types, `strided` layouts.

A dimension is an int, or an `Expr` over the function's size symbols, so that equal sizes compare equal; printed as MLIR
text an Expr is `?`. Which SSA value holds a symbol is the function's business (`Func.symbols`).
A memref's strides are ints or Exprs in elements, or None where only the run time knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from tracebuf.ir.dims import Dim, Expr, mul


@dataclass(frozen=True, slots=True)
class ScalarType:
    """An element type: `i1` (bool), `i8` to `i64`, `ui8` to `ui64`, `f16`, `f32`, `f64`, or `index` (sizes and loop
    variables). Printed as MLIR's, whose integers have no sign: there the ops have it, and so they have here.
    """

    name: str

    def __str__(self) -> str:
        return self.name.removeprefix("u")

    @property
    def dtype(self) -> np.dtype:
        return _DTYPES[self.name]

    @property
    def is_float(self) -> bool:
        return self.name[0] == "f"

    @property
    def is_integer(self) -> bool:
        """An integer that NumPy has: neither bool nor index."""
        return not self.is_float and self.name not in ("i1", "index")

    @property
    def is_unsigned(self) -> bool:
        """Extended with zeros: bool too."""
        return self.name[0] == "u" or self.name == "i1"

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def bits(self) -> int:
        return 1 if self.name == "i1" else 8 * self.itemsize

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the largest value of an integer type."""
        return (0, 2**self.bits - 1) if self.is_unsigned else (-(2 ** (self.bits - 1)), 2 ** (self.bits - 1) - 1)


I1, I8, I16, I32, I64 = (ScalarType(f"i{n}") for n in (1, 8, 16, 32, 64))
UI8, UI16, UI32, UI64 = (ScalarType(f"ui{n}") for n in (8, 16, 32, 64))
F16, F32, F64, INDEX = (ScalarType(n) for n in ("f16", "f32", "f64", "index"))
ELEMENTS = {
    np.dtype(np.bool_): I1, np.dtype(np.int8): I8, np.dtype(np.int16): I16, np.dtype(np.int32): I32,
    np.dtype(np.int64): I64, np.dtype(np.uint8): UI8, np.dtype(np.uint16): UI16, np.dtype(np.uint32): UI32,
    np.dtype(np.uint64): UI64, np.dtype(np.float16): F16, np.dtype(np.float32): F32, np.dtype(np.float64): F64,
}  # fmt: skip
"""The element type of each supported dtype."""
_DTYPES = {element.name: dtype for dtype, element in ELEMENTS.items()} | {"index": np.dtype(np.int64)}
SUPPORTED_DTYPES = tuple(ELEMENTS)
CHARS = frozenset(dtype.char for dtype in ELEMENTS)
"""Of equal dtypes NumPy may have two that it keeps apart in results: of 64 bits, on Linux, longlong beside int64."""
SUPPORTED = "bool, int8 to int64, uint8 to uint64, float16, float32 and float64"
"""The same in words."""


@lru_cache(maxsize=64)
def scalar_type(dtype: np.dtype) -> ScalarType:
    """The element type of a supported NumPy dtype; KeyError for any other."""
    return ELEMENTS[dtype]


@dataclass(frozen=True)
class ShapedType:
    """What tensors and memrefs share."""

    shape: tuple[Dim, ...]
    element: ScalarType

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def byte_size(self) -> Dim:
        """The bytes of its elements."""
        size: Dim = self.element.itemsize
        for d in self.shape:
            size = mul(size, d)
        return size

    def _shape_text(self) -> str:
        return "".join(f"{'?' if isinstance(d, Expr) else d}x" for d in self.shape)


@dataclass(frozen=True)
class TensorType(ShapedType):
    """A value: immutable elements. MLIR: `tensor<?x4xf64>`."""

    def __str__(self) -> str:
        return f"tensor<{self._shape_text()}{self.element}>"


@dataclass(frozen=True)
class MemRefType(ShapedType):
    """A buffer: a base pointer, an offset, sizes and strides (in elements). MLIR: `memref<?x?xf64, strided<[?, 1],
    offset: ?>>`."""

    strides: tuple[Dim | None, ...] = ()
    offset: Dim | None = 0

    @cached_property
    def is_identity(self) -> bool:
        return self.offset == 0 and self.strides == row_major(self.shape)

    def __str__(self) -> str:
        head = f"memref<{self._shape_text()}{self.element}"
        if self.is_identity:
            return head + ">"
        strides = ", ".join(str(s) if isinstance(s, int) else "?" for s in self.strides)
        offset = "" if self.offset == 0 else f", offset: {self.offset if isinstance(self.offset, int) else '?'}"
        return f"{head}, strided<[{strides}]{offset}>>"


Type = ScalarType | TensorType | MemRefType


def strides_in_order(shape: Sequence[Dim], order: Sequence[int]) -> tuple[Dim, ...]:
    """Strides (elements) of a dense buffer whose axes lie in `order`, outermost first."""
    strides: list[Dim] = [1] * len(shape)
    step: Dim = 1
    for axis in reversed(order):
        strides[axis] = step
        step = mul(step, shape[axis])
    return tuple(strides)


def row_major(shape: Sequence[Dim]) -> tuple[Dim, ...]:
    """Strides of a C-contiguous buffer."""
    return strides_in_order(shape, range(len(shape)))
