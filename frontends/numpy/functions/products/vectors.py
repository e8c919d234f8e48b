"""Products of vectors in arrays: np.vecdot, np.matvec, np.vecmat, np.cross, np.kron; np.linalg's names for products."""

from __future__ import annotations

from collections.abc import Sequence
from operator import methodcaller
from typing import Any

import numpy as np
from numpy._core import _exceptions

from tracebuf.frontends.numpy.arrays.axes import axis_of
from tracebuf.frontends.numpy.arrays.new_arrays import as_array, as_operand, copy_of, k_order, strong
from tracebuf.frontends.numpy.arrays.reshape import reshaped, whole_number
from tracebuf.frontends.numpy.arrays.shapes import diagonal, moveaxis
from tracebuf.frontends.numpy.functions.products.contractions import (
    Labelled,
    contract_pair,
    fitted,
    label_sizes,
    sum_of_products,
)
from tracebuf.frontends.numpy.functions.products.matmul import matmul, outer, put
from tracebuf.frontends.numpy.functions.reductions.aggregates import trace
from tracebuf.frontends.numpy.functions.reductions.reduce import deliver
from tracebuf.frontends.numpy.numbers.bodies import Body
from tracebuf.frontends.numpy.numbers.generics import build
from tracebuf.frontends.numpy.numbers.operands import Casting, supported, weak_type
from tracebuf.frontends.numpy.numbers.rules import apply_rule
from tracebuf.frontends.numpy.numbers.ufuncs import elementwise
from tracebuf.frontends.numpy.numbers.weak_ints import check_weak_int
from tracebuf.frontends.numpy.record.broadcasting import broadcast
from tracebuf.frontends.numpy.record.raises import Raises
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.registry import traces
from tracebuf.frontends.numpy.record.values import ArrayRef, Scalar, axis_order
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, mul

# -- generalised ufuncs of vectors

CORES: dict[np.ufunc, tuple[str, str, str]] = {
    np.vecdot: ("n", "n", ""), np.matvec: ("mn", "n", "m"), np.vecmat: ("n", "nm", "m")
}  # fmt: skip
"""By ufunc: the core axes (the last ones) of both operands and of the result."""


def check_cores(ufunc: np.ufunc, refs: Sequence[ArrayRef]) -> None:
    """Raises ValueError unless the operands have their core axes."""
    for k, (x, core) in enumerate(zip(refs, CORES[ufunc])):
        if x.ndim < len(core):
            text = f"Input operand {k} does not have enough dimensions (has {x.ndim}, requires {len(core)})"
            raise Raises(ValueError(f"{ufunc.__name__}: {text}"))


def by_cores(r: Recorder, ufunc: np.ufunc, a: Any, b: Any, into: ArrayRef | None = None) -> ArrayRef | Scalar:
    """A product over the core axes; the axes in front of them broadcast, and keep their K-order."""
    refs, cores = [as_array(r, a), as_array(r, b)], CORES[ufunc]
    check_cores(ufunc, refs)
    element = supported(np.result_type(refs[0].dtype, refs[1].dtype), f"np.{ufunc.__name__}", r.loc)
    if refs[0].element.is_complex and ufunc is not np.matvec:
        refs[0] = as_array(r, elementwise(r, np.conjugate, [refs[0]]))
    n = [x.shape[len(x.shape) - len(core) + core.index("n")] for x, core in zip(refs, cores)]
    mismatch = f"{ufunc.__name__}: Input operand 1 has a mismatch in its core dimension 0 (size {{}} is not {{}})"
    r.require_equal(n[1], n[0], "ValueError", mismatch, [n[1], n[0]])
    front = [x.ndim - len(core) for x, core in zip(refs, cores)]
    batch = [chr(ord("0") + k) for k in range(max(front))]
    parts = [Labelled(x, (*batch[len(batch) - f :], *core)) for x, core, f in zip(refs, cores, front)]
    sizes = label_sizes(r, parts)
    axes = [(x, [None] * (len(batch) - f) + list(range(f))) for x, f in zip(refs, front)]
    order = (*axis_order(axes, len(batch)), *range(len(batch), len(batch) + len(cores[2])))
    first, second = (fitted(r, x, sizes) for x in parts)
    out = [*batch, *cores[2]]
    made = contract_pair(r, first, second, out, sizes, element, order)
    made = made or sum_of_products(r, [first, second], out, sizes, element, order)
    return deliver(r, made, None, ufunc.__name__) if into is None else put(r, made, into, "matmul")


GENERALISED = (np.matmul, *CORES)
"""The generalised ufuncs that are traced."""


def generalised(
    r: Recorder, ufunc: np.ufunc, operands: Sequence[Any], into: ArrayRef | None = None,
    wanted: np.dtype | None = None, casting: Casting = "same_kind",
) -> ArrayRef | Scalar:  # fmt: skip
    """A call of a generalised ufunc; `into` is its `out=`, `wanted` its `dtype=`."""
    check_weak_ints(r, operands)
    a, b = (converted(r, ufunc, x, k, wanted, casting) for k, x in enumerate(operands))
    return matmul(r, a, b, "matmul", into) if ufunc is np.matmul else by_cores(r, ufunc, a, b, into)


def check_weak_ints(r: Recorder, operands: Sequence[Any]) -> None:
    """Raises OverflowError for a Python int that does not fit the dtype of the other operand, though it has too few
    axes."""
    for x, other in zip(operands, [weak_type(x) for x in reversed(operands)]):
        if isinstance(other, np.dtype):
            check_weak_int(r, x, other)


def converted(r: Recorder, ufunc: np.ufunc, x: Any, k: int, wanted: np.dtype | None, casting: Casting) -> Any:
    """Operand k in the dtype of the loop; TypeError as NumPy's where it may not be cast."""
    if wanted is None or not isinstance(x, ArrayRef) or x.dtype == wanted:
        return x
    if not np.can_cast(x.dtype, wanted, casting):
        raise Raises(_exceptions._UFuncInputCastingError(ufunc, casting, x.dtype, wanted, k))
    return copy_of(r, x, supported(wanted, f"np.{ufunc.__name__}", r.loc), k_order(x))


# -- np.cross


@traces(np.cross)
def cross(r: Recorder, a: Any, b: Any, axisa: Any = -1, axisb: Any = -1, axisc: Any = -1, axis: Any = None) -> ArrayRef:
    """np.cross of vectors of 3 numbers, or of 2, whose third counts as 0; two vectors of 2 give the third component
    alone."""
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = as_array(r, a), as_array(r, b)
    if not x.ndim or not y.ndim:
        raise Raises(ValueError("At least one array has zero dimension"))
    x, y = (moveaxis(r, v, axis_of(r, k, v.ndim, bools=True), -1) for v, k in ((x, axisa), (y, axisb)))
    lengths = [vector_length(r, v) for v in (x, y)]
    shape = broadcast(r, [x.shape[:-1], y.shape[:-1]])
    element = supported(np.promote_types(x.dtype, y.dtype), "np.cross", r.loc)
    if element.dtype == np.bool_:
        raise Raises(TypeError("numpy boolean subtract, the `-` operator, is not supported"))
    whole = (*shape, 3) if 3 in lengths else shape
    target = axis_of(r, axisc, len(whole), bools=True) if 3 in lengths else 0
    result = ArrayRef(r.new_storage(element, whole, range(len(whole)), r.empty(element, whole)))
    parts = [[component(v, k) if k < n else None for k in range(3)] for v, n in zip((x, y), lengths)]
    for k in range(3) if 3 in lengths else (2,):
        i, j = (k + 1) % 3, (k + 2) % 3
        into = component(result, k) if 3 in lengths else result
        difference(r, (parts[0][i], parts[1][j]), (parts[0][j], parts[1][i]), into)
    return moveaxis(r, result, -1, target) if 3 in lengths else result


def vector_length(r: Recorder, v: ArrayRef) -> int:
    """The number of components, 2 or 3; ValueError for others."""
    for n in (3, 2):
        known = r.ask_equal(v.shape[-1], n)
        if known is None:
            raise r.refuse("np.cross of vectors whose length is only known at run time", "pass arrays of 3 columns in")
        if known:
            return n
    raise Raises(ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)"))


def component(v: ArrayRef, k: int) -> ArrayRef:
    """Component k of vectors, as a view."""
    axis = v.ndim - 1
    return v.derive(methodcaller("narrow", axis, k, 1, 1)).derive(methodcaller("drop", axis))


def difference(r: Recorder, first: Any, second: Any, into: ArrayRef) -> None:
    """Stores first[0] * first[1] - second[0] * second[1] into `into`; a product with None is left out."""
    terms = [pair for pair in (first, second) if None not in pair]
    negative, element = terms == [second], into.element
    loop = (element.dtype,) * 3

    def compute(body: Body, args: list[Value]) -> Value:
        values = [body.cast(v, element) for v in args]
        products = [apply_rule(np.multiply, body, values[k : k + 2], loop) for k in range(0, len(values), 2)]
        if len(products) == 2:
            return apply_rule(np.subtract, body, products, loop)
        return apply_rule(np.negative, body, products, loop[:2]) if negative else products[0]

    operands = [x for pair in terms for x in pair]
    build(r, compute, operands, [element] * len(operands), element, into)


@traces(np.linalg.cross)
def cross_of_three(r: Recorder, x1: Any, x2: Any, *, axis: Any = -1) -> ArrayRef:
    """np.linalg.cross."""
    refs = [as_array(r, x) for x in (x1, x2)]
    axis = r.static_int(whole_number(r, axis), "the axis")
    if any(not -x.ndim <= axis < x.ndim for x in refs):
        raise Raises(IndexError("tuple index out of range"))
    for x in refs:
        if r.ask_equal(x.shape[axis], 3) is not True:
            raise Raises(ValueError("Both input arrays must be (arrays of) 3-dimensional vectors"))
    return cross(r, x1, x2, axis=axis)


# -- np.kron


@traces(np.kron)
def kron(r: Recorder, a: Any, b: Any) -> Any:
    """np.kron: the products of each element of `a` with each of `b`, in blocks."""
    x, y = as_array(r, strong(r, a)), as_array(r, strong(r, b))
    if not y.ndim:
        return elementwise(r, np.multiply, [x, y])
    n = max(x.ndim, y.ndim)
    x, y = widened(x, n - x.ndim), widened(y, n - y.ndim)
    shape: list[Dim] = [mul(p, q) for p, q in zip(x.shape, y.shape)]
    for k in range(n):
        x, y = x.derive(methodcaller("new_axis", 2 * k + 1)), y.derive(methodcaller("new_axis", 2 * k))
    product = elementwise(r, np.multiply, [x, y])
    assert isinstance(product, ArrayRef)
    return reshaped(r, product, tuple(r.facts.canon(s) for s in shape))


def widened(ref: ArrayRef, count: int) -> ArrayRef:
    """The array with axes of size 1 in front."""
    for _ in range(count):
        ref = ref.derive(methodcaller("new_axis", 0))
    return ref


# -- np.linalg's names


@traces(np.linalg.outer)
def outer_of_vectors(r: Recorder, x1: Any, x2: Any) -> Any:
    """np.linalg.outer."""
    if any(as_array(r, x).ndim != 1 for x in (x1, x2)):
        raise Raises(ValueError("Input arrays must be one-dimensional"))
    return outer(r, x1, x2)


@traces(np.linalg.vecdot)
def vecdot_along(r: Recorder, x1: Any, x2: Any, *, axis: Any = -1) -> ArrayRef | Scalar:
    """np.linalg.vecdot."""
    check_weak_ints(r, [as_operand(r, x) for x in (x1, x2)])
    refs = [as_array(r, x) for x in (x1, x2)]
    check_cores(np.vecdot, refs)
    return by_cores(r, np.vecdot, *(moveaxis(r, x, axis_of(r, axis, x.ndim), -1) for x in refs))


@traces(np.linalg.matmul)
def matmul_of_two(r: Recorder, x1: Any, x2: Any, /) -> Any:
    return generalised(r, np.matmul, [x1, x2])


@traces(np.linalg.trace)
def trace_of_last(r: Recorder, x: Any, /, *, offset: Any = 0, dtype: Any = None) -> Any:
    return trace(r, x, offset, -2, -1, dtype)


@traces(np.linalg.diagonal)
def diagonal_of_last(r: Recorder, x: Any, /, *, offset: Any = 0) -> ArrayRef:
    return diagonal(r, x, offset, -2, -1)
