"""Types: scalars, tensors and memrefs. MLIR counterpart: builtin types, `strided` layouts.

A dimension is an int, or an `Expr` over the function's size symbols, so that equal sizes compare equal; printed as MLIR
text an Expr is `?`. Which SSA value holds a symbol is the function's business (`Func.symbols`).
A memref's strides are ints or Exprs in elements, or None where only the run time knows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from tracebuf.frozen import cached_property, frozen
from tracebuf.ir.dims import Dim, Expr, Sym, mul, substitute, symbols


@frozen()
class ScalarType:
    """An element type: `i1` (bool), `i8` to `i64`, `ui8` to `ui64`, `f16`, `f32`, `f64`, `complex<f32>`,
    `complex<f64>`, or `index` (sizes and loop variables). Printed as MLIR's signless integers: signedness is a property
    of the ops, as in MLIR.

    What MLIR text has beside these (`bf16`, `complex<i32>`, `none`, `!dialect.type`) is a name only: no `dtype`. Its
    `ui8`, which is another type than `i8` there, is `exact`.
    """

    name: str
    exact: bool = False

    def __str__(self) -> str:
        return self.name.removeprefix("u") if self.name in _DTYPES and not self.exact else self.name

    @property
    def dtype(self) -> np.dtype:
        return _DTYPES[self.name]

    @property
    def is_float(self) -> bool:
        return self.name in ("f16", "f32", "f64")

    @property
    def is_complex(self) -> bool:
        return self.name in ("complex<f32>", "complex<f64>")

    @property
    def component(self) -> ScalarType:
        """The type of a complex type's real and imaginary part; any other type itself."""
        return (F32 if self.name == "complex<f32>" else F64) if self.is_complex else self

    @property
    def is_integer(self) -> bool:
        """Whether it is one of NumPy's integers: neither bool nor index."""
        return not self.is_float and not self.is_complex and self.name not in ("i1", "index")

    @property
    def is_unsigned(self) -> bool:
        """Whether it is extended with zeros: unsigned integers and bool."""
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
C64, C128 = (ScalarType(n) for n in ("complex<f32>", "complex<f64>"))
ELEMENTS = {
    np.dtype(np.bool_): I1, np.dtype(np.int8): I8, np.dtype(np.int16): I16, np.dtype(np.int32): I32,
    np.dtype(np.int64): I64, np.dtype(np.uint8): UI8, np.dtype(np.uint16): UI16, np.dtype(np.uint32): UI32,
    np.dtype(np.uint64): UI64, np.dtype(np.float16): F16, np.dtype(np.float32): F32, np.dtype(np.float64): F64,
    np.dtype(np.complex64): C64, np.dtype(np.complex128): C128,
}  # fmt: skip
"""The element type of each supported dtype."""
_DTYPES = {element.name: dtype for dtype, element in ELEMENTS.items()} | {"index": np.dtype(np.int64)}
SUPPORTED_DTYPES = tuple(ELEMENTS)
CHARS = frozenset(dtype.char for dtype in ELEMENTS)
"""The dtype characters of `ELEMENTS`. Equal dtypes may have two characters, which NumPy tells apart in results: on
Linux longlong beside int64."""
SUPPORTED = "bool, int8 to int64, uint8 to uint64, float16, float32, float64, complex64 and complex128"
"""The supported dtypes in words, for messages."""


@lru_cache(maxsize=64)
def scalar_type(dtype: np.dtype) -> ScalarType:
    """The element type of a supported NumPy dtype; KeyError for any other."""
    return ELEMENTS[dtype]


@frozen(slots=False)
class ShapedType:
    """What tensors and memrefs share: shape and element type."""

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


@frozen(slots=False)
class TensorType(ShapedType):
    """A value with immutable elements. MLIR: `tensor<?x4xf64>`; `encoding` is an attribute, verbatim."""

    encoding: str = ""

    def __str__(self) -> str:
        return f"tensor<{self._shape_text()}{self.element}{_more(self.encoding)}>"


@frozen(slots=False)
class VectorType:
    """A value in registers. MLIR: `vector<4x[8]xf32>`; `scalable` names the dimensions in brackets."""

    shape: tuple[int, ...]
    element: ScalarType
    scalable: tuple[int, ...] = ()

    def __str__(self) -> str:
        sizes = (f"[{n}]x" if d in self.scalable else f"{n}x" for d, n in enumerate(self.shape))
        return f"vector<{''.join(sizes)}{self.element}>"


@frozen(slots=False)
class UnrankedTensorType:
    """A tensor of any rank. MLIR: `tensor<*xf64>`."""

    element: ScalarType

    def __str__(self) -> str:
        return f"tensor<*x{self.element}>"


@frozen(slots=False)
class UnrankedMemRefType:
    """A buffer of any rank. MLIR: `memref<*xf64>`."""

    element: ScalarType
    memory_space: str = ""

    def __str__(self) -> str:
        return f"memref<*x{self.element}{_more(self.memory_space)}>"


@frozen(slots=False)
class MemRefType(ShapedType):
    """A buffer: a base pointer, an offset, sizes and strides (in elements). MLIR: `memref<?x?xf64, strided<[?, 1],
    offset: ?>>`; `layout` is a map that strides cannot say, verbatim, and `memory_space` an attribute."""

    strides: tuple[Dim | None, ...] = ()
    offset: Dim | None = 0
    memory_space: str = ""
    layout: str = ""

    @cached_property
    def is_identity(self) -> bool:
        return self.offset == 0 and self.strides == row_major(self.shape) and not self.layout

    def __str__(self) -> str:
        head, space = f"memref<{self._shape_text()}{self.element}", _more(self.memory_space)
        if self.layout or self.is_identity:
            return f"{head}{_more(self.layout)}{space}>"
        strides = ", ".join(str(s) if isinstance(s, int) else "?" for s in self.strides)
        offset = "" if self.offset == 0 else f", offset: {self.offset if isinstance(self.offset, int) else '?'}"
        return f"{head}, strided<[{strides}]{offset}>{space}>"


def _more(text: str) -> str:
    return f", {text}" if text else ""


Type = ScalarType | VectorType | TensorType | UnrankedTensorType | MemRefType | UnrankedMemRefType
TENSORS = (TensorType, UnrankedTensorType)
"""The types of values that bufferization turns into buffers."""


def unnamed() -> Expr:
    """A size that only the run time knows and no value stands for: a `?` of MLIR text. Equal to no other size."""
    return Sym("?", "unnamed", lo=0).expr


def is_unnamed(e: Dim) -> bool:
    """Whether a size depends on one that no value stands for."""
    return any(s.kind == "unnamed" for s in symbols(e))


def with_symbols(type_: Type, new: Callable[[Sym], Sym]) -> Type:
    """The type in other size symbols; one that stands for a constant stays."""

    def own(size: Dim) -> Dim:
        found = [s for s in symbols(size) if s.lo is None or s.lo != s.hi]
        return substitute(size, {s: new(s).expr for s in found}) if found else size

    if not isinstance(type_, TensorType | MemRefType):
        return type_
    shape = tuple(map(own, type_.shape))
    if isinstance(type_, TensorType):
        return replace(type_, shape=shape)
    strides = tuple(None if s is None else own(s) for s in type_.strides)
    return replace(type_, shape=shape, strides=strides, offset=None if type_.offset is None else own(type_.offset))


def same_type(a: Type, b: Type) -> bool:
    """Whether both are one type to MLIR, which does not tell one `?` from another."""
    return a is b or a == b or str(a) == str(b)


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
