"""Reductions (sum, max, min, mean) and matrix products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.recorder import Recorder
from tracebuf.frontends.numpy.ufuncs import Body, Operand, build, input_of, scalar_value, shape_text
from tracebuf.frontends.numpy.values import ArrayRef, NpScalar, PyInt, Scalar, stand_in
from tracebuf.ir.core import Block, Value
from tracebuf.ir.dims import Dim, mul, sub
from tracebuf.ir.types import F32, F64, I1, I64, ScalarType, scalar_type
from tracebuf.ops import arith, linalg

_LOWEST: dict[ScalarType, Any] = {F64: float("-inf"), F32: float("-inf"), I64: -(2**63), I1: False}
_HIGHEST: dict[ScalarType, Any] = {F64: float("inf"), F32: float("inf"), I64: 2**63 - 1, I1: True}
_COMBINE: dict[str, dict[str, type[arith.BinaryOp]]] = {
    "sum": {"f": arith.AddF, "i": arith.AddI},
    "max": {"f": arith.MaximumF, "i": arith.MaxSI, "b": arith.OrI},
    "min": {"f": arith.MinimumF, "i": arith.MinSI, "b": arith.AndI},
}


def axes_of(r: Recorder, axis: Any, ndim: int) -> tuple[int, ...]:
    """The reduced axes, normalised; AxisError as NumPy's."""
    if axis is None:
        return tuple(range(ndim))
    items = axis if isinstance(axis, tuple) else (axis,)
    found = []
    for item in items:
        i = r.static_int(item.expr, "the axis") if isinstance(item, PyInt) else item
        if isinstance(i, bool) or not isinstance(i, (int, np.integer)):
            kind = type(stand_in(i)) if isinstance(i, Scalar) else type(i)
            raise TypeError(f"'{kind.__name__}' object cannot be interpreted as an integer")
        if not -ndim <= i < ndim:
            raise np.exceptions.AxisError(int(i), ndim)
        found.append(int(i) % ndim)
    if len(set(found)) != len(found):
        raise ValueError("duplicate value in 'axis'")
    return tuple(found)


def reduce(r: Recorder, kind: str, ref: ArrayRef, axis: Any = None, keepdims: bool = False) -> ArrayRef | Scalar:
    """sum, max, min or mean of an array over axes; a NumPy scalar where no axis is left."""
    if not isinstance(keepdims, (bool, np.bool_, int)):
        raise UnsupportedError("keepdims is not known at trace time", location=r.loc, instead="use True or False")
    axes = axes_of(r, axis, ref.ndim)
    if kind == "mean":
        return mean(r, ref, axes, bool(keepdims))
    element = I64 if kind == "sum" and ref.element is I1 else ref.element
    if kind in ("max", "min"):
        check_not_empty(r, kind, ref, axes)
    return fold_axes(r, kind, ref, axes, bool(keepdims), element)


def check_not_empty(r: Recorder, kind: str, ref: ArrayRef, axes: Sequence[int]) -> None:
    """max and min over an axis of size 0 raise, even where the result is empty too (rule Z4)."""
    name = "maximum" if kind == "max" else "minimum"
    message = f"zero-size array to reduction operation {name} which has no identity"
    for axis in axes:
        r.require_nonneg(sub(ref.shape[axis], 1), "ValueError", message)


def fold_axes(
    r: Recorder, kind: str, ref: ArrayRef, axes: Sequence[int], keepdims: bool, element: ScalarType
) -> ArrayRef | Scalar:
    """The reduction as fill + linalg.generic."""
    kept = [a for a in range(ref.ndim) if a not in axes]
    initial = 0 if kind == "sum" else (_LOWEST if kind == "max" else _HIGHEST)[element]
    full_shape = tuple(1 if a in axes else n for a, n in enumerate(ref.shape))
    shape = full_shape if keepdims else tuple(ref.shape[a] for a in kept)
    by_rank = sorted(range(ref.ndim), key=lambda a: (-1 if (k := ref.stride_rank(a)) is None else k, a))
    order = tuple(by_rank) if keepdims else tuple(kept.index(a) for a in by_rank if a in kept)
    order = order if len(order) == len(shape) else tuple(range(len(shape)))
    init = r.constant(float(initial) if element.is_float else initial, element)
    out = r.add(linalg.Fill.of(init, r.empty(element, shape, order), r.loc)).result
    results: tuple[int | None, ...] = (
        tuple(None if a in axes else a for a in range(ref.ndim)) if keepdims else tuple(kept)
    )
    block = Block([ref.element, element])
    body = Body(block, r.loc)
    combine = _COMBINE[kind]["f" if element.is_float else "b" if element is I1 else "i"]
    block.append(
        linalg.Yield.of([body.add(combine.of(block.args[1], body.cast(block.args[0], element), r.loc))], r.loc)
    )
    maps = [linalg.identity_map(ref.ndim), linalg.AffineMap(ref.ndim, results)]
    iterators = ["reduction" if a in axes else "parallel" for a in range(ref.ndim)]
    value = r.add(linalg.Generic.of([r.read(ref)], [out], maps, iterators, block, r.loc)).result
    result = ArrayRef(r.new_storage(element, shape, order, value))
    return result if shape else NpScalar(r.load(result, ()), element)


def mean(r: Recorder, ref: ArrayRef, axes: Sequence[int], keepdims: bool) -> ArrayRef | Scalar:
    """np.mean: integers and bools in float64, floats in their own type; the sum divided by the count."""
    element = ref.element if ref.element.is_float else F64
    total = fold_axes(r, "sum", ref, axes, keepdims, element)
    count: Dim = 1
    for a in axes:
        count = mul(count, ref.shape[a])
    divisor = scalar_value(r, PyInt(count), element)

    def divide(body: Body, args: list[Value]) -> Value:
        return body.add(arith.DivF.of(args[0], args[1], body.loc))

    return build(r, divide, [total, NpScalar(divisor, element)], [element, element], element)


def matmul(r: Recorder, a: Operand, b: Operand, spelling: str) -> ArrayRef | Scalar:
    """`a @ b` and np.dot for vectors and matrices; integers and bools too."""
    if not isinstance(a, ArrayRef) or not isinstance(b, ArrayRef) or not a.ndim or not b.ndim:
        which = int(isinstance(a, ArrayRef) and a.ndim > 0)
        r.fail(
            "ValueError",
            f"matmul: Input operand {which} does not have enough dimensions (has 0, "
            "gufunc core with signature "
            "(n?,k),(k,m?)->(n?,m?) requires 1)",
        )
    if a.ndim > 2 or b.ndim > 2:
        raise UnsupportedError(
            "products of stacks of matrices are not supported yet", location=r.loc, instead="loop over the leading axis"
        )
    inner_a, inner_b = a.shape[-1], b.shape[0]
    text, values = shape_text([a.shape, b.shape])
    if spelling == "dot":
        first, second = text.split(" ")
        message = f"shapes {first} and {second} not aligned: {{}} (dim {a.ndim - 1}) != {{}} (dim 0)"
        r.require_equal(inner_a, inner_b, "ValueError", message, [*values, inner_a, inner_b])
    else:
        message = (
            "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
            "(n?,k),(k,m?)->(n?,m?) "
            "(size {} is different from {})"
        )
        r.require_equal(inner_a, inner_b, "ValueError", message, [inner_b, inner_a])
    element = _product_type(a.element, b.element)
    va, vb = (_as_element(r, x, element) for x in (a, b))
    shape = (*a.shape[:-1], *b.shape[1:])
    zero = r.constant(0.0 if element.is_float else False if element is I1 else 0, element)
    out = r.add(linalg.Fill.of(zero, r.empty(element, shape), r.loc)).result
    value = r.add(linalg.Contraction.of(va, vb, out, r.loc)).result
    result = ArrayRef(r.new_storage(element, shape, range(len(shape)), value))
    return result if shape else NpScalar(r.load(result, ()), element)


def _product_type(a: ScalarType, b: ScalarType) -> ScalarType:
    return scalar_type(np.result_type(a.dtype, b.dtype))


def _as_element(r: Recorder, ref: ArrayRef, element: ScalarType) -> Value:
    if ref.element is element:
        return r.read(ref)
    block = Block()
    value, map_ = input_of(r, ref, element, ref.shape)
    arg = block.add_arg(ref.element)
    block.add_arg(element)
    body = Body(block, r.loc)
    block.append(linalg.Yield.of([body.cast(arg, element)], r.loc))
    maps = [map_, linalg.identity_map(ref.ndim)]
    return r.add(
        linalg.Generic.of([value], [r.empty(element, ref.shape)], maps, ["parallel"] * ref.ndim, block, r.loc)
    ).result
