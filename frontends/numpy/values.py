"""What names hold while a function is traced: storages and references to them, and traced scalars.

An array is a `Storage` (identity and, in the recorder, a current SSA value); a name holds an `ArrayRef`, one object per
Python array object: a storage and an affine `View` of it whose parameters are fixed (rules S1, S2). Scalars know
whether
they are Python's (weak) or NumPy's (strong), see NEP 50.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, add, mul
from tracebuf.ir.types import ScalarType


class Storage:
    """One array's memory: element type, shape, axes outermost first; `arg` is the argument's index if it is the
    caller's.

    `writable` is False for a read-only argument (rule B2); `repeated` are an argument's axes of stride 0; `stored`
    becomes True with the first store.
    """

    __slots__ = ("arg", "element", "name", "order", "repeated", "shape", "stored", "writable")

    def __init__(
        self, element: ScalarType, shape: Sequence[Dim], order: Sequence[int], arg: int | None = None, name: str = ""
    ) -> None:
        self.element, self.shape, self.order, self.arg, self.name = element, tuple(shape), tuple(order), arg, name
        self.writable, self.stored = True, False
        self.repeated: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class View:
    """Offset and stride per base dimension; per view dimension its base dimension (None: a new axis) and size."""

    offsets: tuple[Dim, ...]
    strides: tuple[int, ...]
    dims: tuple[int | None, ...]
    sizes: tuple[Dim, ...]

    def is_whole(self, shape: tuple[Dim, ...]) -> bool:
        n = len(shape)
        return (
            self.dims == tuple(range(n))
            and self.sizes == shape
            and self.offsets == (0,) * n
            and self.strides == (1,) * n
        )

    def transpose(self, axes: Sequence[int]) -> View:
        """The axes in another order; those of size 1 keep theirs among themselves, which changes no element's place."""
        ones = [k for k, a in enumerate(axes) if self.sizes[a] == 1 and self.dims[a] is not None]
        order = list(axes)
        for k, a in zip(ones, sorted(axes[k] for k in ones)):
            order[k] = a
        return replace(self, dims=tuple(self.dims[a] for a in order), sizes=tuple(self.sizes[a] for a in axes))

    def narrow(self, axis: int, start: Dim, step: int, size: Dim) -> View:
        """The view dimension `axis` restricted to start, start + step ... (size of them)."""
        d = self.dims[axis]
        sizes = (*self.sizes[:axis], size, *self.sizes[axis + 1 :])
        if d is None:
            return replace(self, sizes=sizes)
        offsets = (*self.offsets[:d], add(self.offsets[d], mul(self.strides[d], start)), *self.offsets[d + 1 :])
        strides = (*self.strides[:d], self.strides[d] * step, *self.strides[d + 1 :])
        return View(offsets, strides, self.dims, sizes)

    def drop(self, axis: int) -> View:
        """The view without dimension `axis` (its size is 1)."""
        d = self.dims[axis]
        strides = self.strides if d is None else (*self.strides[:d], 1, *self.strides[d + 1 :])
        return View(
            self.offsets, strides, self.dims[:axis] + self.dims[axis + 1 :], self.sizes[:axis] + self.sizes[axis + 1 :]
        )

    def new_axis(self, axis: int) -> View:
        return replace(
            self, dims=(*self.dims[:axis], None, *self.dims[axis:]), sizes=(*self.sizes[:axis], 1, *self.sizes[axis:])
        )


def whole(shape: tuple[Dim, ...]) -> View:
    """The view that is all of a storage."""
    n = len(shape)
    return View((0,) * n, (1,) * n, tuple(range(n)), shape)


class ArrayRef:
    """A reference: what a name bound to an array holds. Identity is the Python object's identity."""

    __slots__ = ("storage", "view")

    def __init__(self, storage: Storage, view: View | None = None) -> None:
        self.storage, self.view = storage, view if view is not None else whole(storage.shape)

    def derive(self, step: Callable[[View], View]) -> ArrayRef:
        """Another array object: a view of this one. `step` looks at nothing but the view it is given."""
        return ArrayRef(self.storage, step(self.view))

    @property
    def shape(self) -> tuple[Dim, ...]:
        return self.view.sizes

    @property
    def ndim(self) -> int:
        return len(self.view.dims)

    @property
    def element(self) -> ScalarType:
        return self.storage.element

    @property
    def dtype(self) -> np.dtype:
        return self.storage.element.dtype

    @property
    def is_whole(self) -> bool:
        return self.view.is_whole(self.storage.shape)

    def same(self, other: ArrayRef) -> bool:
        return self is other or (self.storage is other.storage and self.view == other.view)

    def stride_rank(self, axis: int) -> int | None:
        """How far out the axis lies in memory (0 is outermost); None where its stride does not matter (size 1, new
        axis)."""
        d = self.view.dims[axis]
        placeless = d is None or self.view.sizes[axis] == 1 or d in self.storage.repeated
        return None if d is None or placeless else self.storage.order.index(d)


class Scalar:
    """A traced scalar."""

    __slots__ = ()


class PyInt(Scalar):
    """A Python int known as an expression over sizes, integer arguments and loop variables."""

    __slots__ = ("expr",)

    def __init__(self, expr: Dim) -> None:
        self.expr = expr


class PyFloat(Scalar):
    """A Python float: an f64 value, weak."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


class PyBool(Scalar):
    """A Python bool: an i1 value. `nonneg`, where known, is an expression that is >= 0 exactly if it is True."""

    __slots__ = ("nonneg", "value")

    def __init__(self, value: Value, nonneg: Dim | None = None) -> None:
        self.value, self.nonneg = value, nonneg


class NpScalar(Scalar):
    """A NumPy scalar (np.float64 ...): strong. `maybe_python`: at run time eager might have a Python number
    here (a loop does not run, or max picks it), so it may only be used where both agree."""

    __slots__ = ("element", "maybe_python", "value")

    def __init__(self, value: Value, element: ScalarType, maybe_python: bool = False) -> None:
        self.value, self.element, self.maybe_python = value, element, maybe_python


Traced = ArrayRef | Scalar


def is_traced(value: object) -> bool:
    return isinstance(value, (ArrayRef, Scalar))


def stand_in(x: Scalar) -> bool | int | float | np.generic:
    """A number of the type that a traced scalar has in Python."""
    if isinstance(x, NpScalar):
        zero: np.generic = x.element.dtype.type(0)
        return zero
    return 0 if isinstance(x, PyInt) else 0.0 if isinstance(x, PyFloat) else False


def axis_order(operands: Sequence[tuple[ArrayRef, Sequence[int | None]]], ndim: int) -> tuple[int, ...]:
    """The axes of a fresh result, outermost first (rule S6: K-order, as nditer's npyiter_find_best_axis_ordering
    sorts them).

    Each operand comes with the operand axis at each result axis (None: broadcast there).
    """
    ranks = [[None if a is None else ref.stride_rank(a) for a in axes] for ref, axes in operands]
    perm: list[int] = []  # innermost first
    for axis in reversed(range(ndim)):
        place = len(perm)
        for i in reversed(range(len(perm))):
            ambiguous, swap = True, False
            for rank in ranks:
                r0, r1 = rank[axis], rank[perm[i]]
                if r0 is not None and r1 is not None:
                    if r1 >= r0:  # the other lies further in: the C order stands
                        swap = False
                    elif ambiguous:
                        swap = True
                    ambiguous = False
            if not ambiguous:
                if not swap:
                    break
                place = i
        perm.insert(place, axis)
    return tuple(reversed(perm))
