"""Matrix products: `@`, np.matmul, np.dot, np.inner, np.outer, np.vdot, and np.linalg.norm.

The product is computed into a fill of zeros (`contract`); the pass optimize/tensors/accumulate_products decides whether
`c += a @ b` accumulates in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy._core import _exceptions

from tracebuf.frontends.numpy.arrays.axes import axis_of
from tracebuf.frontends.numpy.arrays.new_arrays import as_array, as_operand, copy_of, filled, only, strong
from tracebuf.frontends.numpy.arrays.reshape import is_dense, ravelled_values, size_message
from tracebuf.frontends.numpy.functions.host import linalg as host_linalg
from tracebuf.frontends.numpy.functions.reductions.reduce import NO_VALUE, Fold, power, reduce
from tracebuf.frontends.numpy.numbers.bodies import Body
from tracebuf.frontends.numpy.numbers.generics import convert_to, input_of
from tracebuf.frontends.numpy.numbers.operands import Operand, out_of
from tracebuf.frontends.numpy.numbers.ufuncs import elementwise
from tracebuf.frontends.numpy.numbers.weak_ints import check_weak_int
from tracebuf.frontends.numpy.record.broadcasting import broadcast, shape_text
from tracebuf.frontends.numpy.record.raises import Raises
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.registry import traces
from tracebuf.frontends.numpy.record.values import ArrayRef, NpScalar, Scalar, axis_order
from tracebuf.ir.core import Block, Value
from tracebuf.ir.dims import Dim
from tracebuf.ir.types import C64, C128, F16, F32, F64, ScalarType, scalar_type
from tracebuf.ops.arrays import linalg


def matmul(r: Recorder, a: Operand, b: Operand, spelling: str, into: ArrayRef | None = None) -> ArrayRef | Scalar:
    """`a @ b` or np.dot, of floats, integers and bools. `into`: their `out=`. ValueError for shapes that do not fit."""
    if not isinstance(a, ArrayRef) or not isinstance(b, ArrayRef) or not a.ndim or not b.ndim:
        for x, y in ((a, b), (b, a)):
            if isinstance(y, ArrayRef) and spelling != "dot":
                check_weak_int(r, x, y.dtype)
        which = int(isinstance(a, ArrayRef) and a.ndim > 0)
        r.fail(
            "ValueError",
            f"matmul: Input operand {which} does not have enough dimensions (has 0, "
            "gufunc core with signature "
            "(n?,k),(k,m?)->(n?,m?) requires 1)",
        )
    require_aligned(r, a, b, spelling)
    wanted = scalar_type(np.result_type(a.dtype, b.dtype))
    element = F32 if wanted is F16 else wanted  # NumPy adds the products of halves in float32 too
    if a.ndim <= 2 and b.ndim <= 2:
        shape = (*a.shape[:-1], *b.shape[1:])
        value = contract(r, as_element(r, a, element), as_element(r, b, element), zeros(r, element, shape))
        result = ArrayRef(r.new_storage(element, shape, range(len(shape)), value))
    else:
        a, b = (x if x.element is wanted else copy_of(r, x, wanted, range(x.ndim)) for x in (a, b))  # as NumPy does
        result = (dots if spelling == "dot" else stacked)(r, a, b, element)
    result = result if element is wanted else copy_of(r, result, wanted, result.storage.order)
    if into is not None:
        return put(r, result, into, spelling)
    return result if result.ndim else NpScalar(r.load(result, ()), wanted)


def require_aligned(r: Recorder, a: ArrayRef, b: ArrayRef, spelling: str) -> None:
    """Raises ValueError unless the axes that are summed over have equal sizes."""
    axis = max(b.ndim - 2, 0)
    inner_a, inner_b = a.shape[-1], b.shape[axis]
    text, values = shape_text([a.shape, b.shape])
    if spelling == "dot":
        first, second = text.split(" ")
        message = f"shapes {first} and {second} not aligned: {{}} (dim {a.ndim - 1}) != {{}} (dim {axis})"
        r.require_equal(inner_a, inner_b, "ValueError", message, [*values, inner_a, inner_b])
        return
    message = "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature"
    message += " (n?,k),(k,m?)->(n?,m?) (size {} is different from {})"
    r.require_equal(inner_a, inner_b, "ValueError", message, [inner_b, inner_a])


def zeros(r: Recorder, element: ScalarType, shape: Sequence[Dim], order: Sequence[int] | None = None) -> Value:
    """A fresh tensor of zeros."""
    start = r.constant(element.dtype.type(0).item(), element)
    return r.emit(linalg.Fill.of(start, r.empty(element, shape, order)))


def contract(r: Recorder, a: Value, b: Value, out: Value) -> Value:
    """out + a @ b, as one op."""
    return r.emit(linalg.Contraction.of(a, b, out))


def fill_with_zeros(r: Recorder, target: ArrayRef) -> None:
    """target[...] = 0; right before a product into the target, native code leaves it to the product."""
    zero = r.constant(target.element.dtype.type(0).item(), target.element)
    r.store(target, r.emit(linalg.Fill.of(zero, r.read(target))))


def stacked(r: Recorder, a: ArrayRef, b: ArrayRef, element: ScalarType) -> ArrayRef:
    """np.matmul of stacks of matrices, one after another; their leading axes broadcast, and keep their K-order."""
    first, second = a.shape[:-2], b.shape[:-2]
    batch = broadcast(r, [first, second])
    core = (*a.shape[-2:-1], *b.shape[max(b.ndim - 1, 1) :])
    axes = [(x, [None] * (len(batch) - n) + list(range(n))) for x, n in ((a, len(first)), (b, len(second)))]
    order = (*axis_order(axes, len(batch)), *range(len(batch), len(batch) + len(core)))
    shape = (*batch, *core)
    result = filled(r, shape, element, None, order)
    for x in (a, b):
        for size, wanted in zip(reversed(x.shape[:-2]), reversed(batch)):
            if size != 1 and not r.facts.equal(size, wanted):
                reason = "a product of stacks of which one may be repeated, depending on its size"
                raise r.refuse(reason, "loop over the leading axis")

    def one(places: Sequence[Dim]) -> None:
        parts = []
        for x in (a, b):
            mine = places[len(batch) - max(x.ndim - 2, 0) :]
            where = {axis: 0 if x.shape[axis] == 1 else i for axis, i in enumerate(mine)}
            parts.append(as_element(r, x.at(where), element))
        target = result.at(dict(enumerate(places)))
        fill_with_zeros(r, target)
        r.store(target, contract(r, parts[0], parts[1], r.read(target)))

    r.for_all(batch, one)
    return result


def dots(r: Recorder, a: ArrayRef, b: ArrayRef, element: ScalarType) -> ArrayRef:
    """np.dot of arrays of more than two axes: the last axis of `a` with the last but one of `b`, for all pairs of the
    others."""
    lead = (a.shape[:-2], b.shape[:-2])
    shape = (*a.shape[:-1], *b.shape[:-2], *b.shape[max(b.ndim - 1, 1) :])
    result = filled(r, shape, element, None)

    def one(places: Sequence[Dim]) -> None:
        left, right = dict(enumerate(places[: len(lead[0])])), dict(enumerate(places[len(lead[0]) :]))
        parts = [as_element(r, x.at(where), element) for x, where in ((a, left), (b, right))]
        target = result.at({**left, **{a.ndim - 1 + axis: i for axis, i in right.items()}})
        fill_with_zeros(r, target)
        r.store(target, contract(r, parts[0], parts[1], r.read(target)))

    r.for_all([*lead[0], *lead[1]], one)
    return result


def put(r: Recorder, result: ArrayRef, into: ArrayRef, spelling: str) -> ArrayRef:
    """Stores a product into `out=`: np.matmul casts as ufuncs do, np.dot requires the result's dtype."""
    if spelling != "dot":
        r.check_writable(into)
    same = into.dtype == result.dtype and into.ndim == result.ndim
    if spelling == "dot" and not (same and is_dense(r, into, range(into.ndim))):
        text = "(must have the right type, number of dimensions, and be a C-Array)"
        raise Raises(ValueError(f"output array is not acceptable {text}"))
    if not np.can_cast(result.dtype, into.dtype, "same_kind"):
        raise Raises(_exceptions._UFuncOutputCastingError(np.matmul, "same_kind", result.dtype, into.dtype, 2))
    if into.ndim > result.ndim:
        raise r.refuse("an `out` of more axes than the product", "out[...] = a @ b")
    text, values = shape_text([into.shape, result.shape])
    if into.ndim < result.ndim:
        raise Raises(ValueError("matmul: Output operand 0 does not have enough dimensions"))
    for x, y in zip(into.shape, result.shape):
        r.require_equal(x, y, "ValueError", f"matmul: Output operand 0 has a mismatch: shapes {text}", values)
    r.store(into, convert_to(r, result, into.element, into.shape))
    return into


def inplace_matmul(r: Recorder, a: ArrayRef, b: Any) -> ArrayRef:
    """`a @= b`: np.matmul into `a`."""
    if not isinstance(b, ArrayRef) or a.ndim < 1 or b.ndim < 2:
        text = "inplace matrix multiplication requires the first operand to have at least one and the second at"
        raise Raises(ValueError(f"{text} least two dimensions."))
    r.check_writable(a)
    matmul(r, a, b, "matmul", a)
    return a


@traces(np.dot, method="dot")
def dot(r: Recorder, a: Any, b: Any, out: Any = None) -> Any:
    """np.dot: products of vectors and matrices, or with a number."""
    a, b, into = as_operand(r, a), as_operand(r, b), out_of(r, out)
    if all(isinstance(x, ArrayRef) and x.ndim for x in (a, b)):
        made = matmul(r, a, b, "dot", into)
        return r.number(into) if into is not None and not into.ndim else made
    only(r, "np.dot of a number", out=(out, None))
    product = elementwise(r, np.multiply, [strong(r, a), strong(r, b)])
    if not isinstance(product, ArrayRef) or product.element not in (F32, F64, C64, C128):
        return product
    product = elementwise(r, np.add, [product, 0.0])  # BLAS adds to zeros: no product is -0.0
    assert isinstance(product, ArrayRef)
    if product.storage.order == tuple(range(product.ndim)):
        return product
    if product.ndim > 2:
        raise r.refuse("np.dot of a number and a stack of matrices", "a * b")
    return copy_of(r, product, product.element, range(product.ndim))  # BLAS gives C order, `*` keeps the order of axes


@traces(np.linalg.norm)
def norm(r: Recorder, x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    """np.linalg.norm of all elements, or of vectors along an axis: `ord` None, 2, 1 or infinite, or "fro" of a matrix;
    other norms are host calls."""
    ref = as_array(r, x)
    ref = ref if ref.element.component.is_float else copy_of(r, ref, F64, range(ref.ndim))
    frobenius = ord in ("fro", "f") and (ref.ndim if axis is None else len(axis) if isinstance(axis, tuple) else 0) == 2
    if axis is None and (ord is None or frobenius or (ord == 2 and ref.ndim == 1)):
        squares = squares_of(r, ref)
        if ref.ndim == 1 and not keepdims and not ref.element.is_complex:
            return elementwise(r, np.sqrt, [matmul(r, ref, ref, "dot")])
        return elementwise(r, np.sqrt, [reduce(r, np.add, squares, Fold(keepdims=keepdims))])
    if axis is None and ref.ndim == 2 and not keepdims and type(ord) in (int, float) and ord in (2, -2):
        values = as_array(r, host_linalg.SINGULAR_VALUES(r, ref))
        return reduce(r, np.maximum if ord == 2 else np.minimum, values, Fold(initial=0 if ord == 2 else NO_VALUE))
    if axis is None and ref.ndim == 1:
        axis = 0
    if isinstance(axis, tuple) and len(axis) == 1:
        (axis,) = axis
    pair = isinstance(axis, tuple) and len(axis) == 2 and (ord is None or frobenius)
    if pair or isinstance(axis, int):
        for k in axis if isinstance(axis, tuple) else (axis,):
            axis_of(r, k, ref.ndim, bools=True)
    if not pair and (not isinstance(axis, int) or ord not in (None, 2, 1, np.inf, -np.inf)):
        return host_linalg.NORM(r, x, ord, axis, keepdims)
    if ord in (1, np.inf, -np.inf):
        size = as_array(r, elementwise(r, np.absolute, [ref]))
        ufunc = {1: np.add, np.inf: np.maximum, -np.inf: np.minimum}[ord]
        start = 0 if ord == np.inf else NO_VALUE
        return reduce(r, ufunc, size, Fold(axis, keepdims=keepdims, initial=start))
    squares = squares_of(r, ref)
    return elementwise(r, np.sqrt, [reduce(r, np.add, squares, Fold(axis, keepdims=keepdims))])


def squares_of(r: Recorder, ref: ArrayRef) -> ArrayRef:
    """The squared magnitudes of the elements."""
    return as_array(r, power(r, ref) if ref.element.is_complex else elementwise(r, np.multiply, [ref, ref]))


def as_element(r: Recorder, ref: ArrayRef, element: ScalarType) -> Value:
    """The array in an element type, converted if it has another."""
    if ref.element is element:
        return r.read(ref)
    block = Block()
    value, map_ = input_of(r, ref, element, ref.shape)
    arg = block.add_arg(ref.element)
    block.add_arg(element)
    body = Body(block, r.loc)
    block.append(linalg.Yield.of([body.cast(arg, element)], r.loc))
    maps = [map_, linalg.identity_map(ref.ndim)]
    return r.emit(linalg.Generic.of([value], [r.empty(element, ref.shape)], maps, ["parallel"] * ref.ndim, block))


@traces(np.inner)
def inner(r: Recorder, a: Any, b: Any) -> Any:
    """np.inner: the last axis of `a` with the last of `b`."""
    a, b = as_operand(r, a), as_operand(r, b)
    if not all(isinstance(x, ArrayRef) and x.ndim for x in (a, b)):
        return dot(r, a, b)
    axes = (*range(b.ndim - 2), b.ndim - 1, b.ndim - 2)
    return matmul(r, a, b if b.ndim == 1 else b.derive(lambda view: view.transpose(axes)), "dot")


@traces(np.outer)
def outer(r: Recorder, a: Any, b: Any, out: Any = None) -> Any:
    """np.outer: the products of each element of `a` with each of `b`."""
    vectors = [ravelled_values(r, x) for x in (a, b)]
    return elementwise(r, np.multiply, [vectors[0].derive(lambda view: view.new_axis(1)), vectors[1]], out_of(r, out))


@traces(np.vdot)
def vdot(r: Recorder, a: Any, b: Any) -> Any:
    """np.vdot: the sum of the products of all elements, in C order, those of `a` conjugated."""
    x, y = ravelled_values(r, a), ravelled_values(r, b)
    r.require_equal(y.shape[0], x.shape[0], "ValueError", *size_message(y.shape[0], x.shape))
    wanted = scalar_type(np.result_type(x.dtype, y.dtype))
    if not wanted.is_complex:
        return matmul(r, x, y, "dot")
    first, second = (as_element(r, v, wanted) for v in (x, y))
    total = r.emit(linalg.Contraction.of(first, second, zeros(r, wanted, ()), conjugated=True))
    return NpScalar(r.load(ArrayRef(r.new_storage(wanted, (), (), total)), ()), wanted)
