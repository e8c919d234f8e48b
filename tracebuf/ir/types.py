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
    """An element type: `i1` (bool), `i64`, `f32`, `f64`, or `index` (sizes and loop variables)."""

    name: str

    def __str__(self) -> str:
        return self.name

    @property
    def dtype(self) -> np.dtype:
        return _DTYPES[self.name]

    @property
    def is_float(self) -> bool:
        return self.name in ("f32", "f64")

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize


I1, I64, F32, F64, INDEX = (ScalarType(n) for n in ("i1", "i64", "f32", "f64", "index"))
_DTYPES = {
    "i1": np.dtype(np.bool_), "i64": np.dtype(np.int64), "f32": np.dtype(np.float32), "f64": np.dtype(np.float64),
    "index": np.dtype(np.int64),
}  # fmt: skip
SUPPORTED_DTYPES = (np.dtype(np.bool_), np.dtype(np.int64), np.dtype(np.float32), np.dtype(np.float64))


@lru_cache(maxsize=64)
def scalar_type(dtype: np.dtype) -> ScalarType:
    """The element type of a supported NumPy dtype; KeyError for any other."""
    return {np.dtype(np.bool_): I1, np.dtype(np.int64): I64, np.dtype(np.float32): F32, np.dtype(np.float64): F64}[
        dtype
    ]


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
