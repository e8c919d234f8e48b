"""np.cov and np.corrcoef: the product of centred observations with themselves (numpy/lib/_function_base_impl.py)."""

from __future__ import annotations

from operator import methodcaller
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.indexing import as_int
from tracebuf.frontends.numpy.arrays.new_arrays import as_array, copy_of, element_of
from tracebuf.frontends.numpy.arrays.reshape import reversed_axes
from tracebuf.frontends.numpy.arrays.shapes import diagonal, squeeze
from tracebuf.frontends.numpy.functions.joining.stacking import concatenate
from tracebuf.frontends.numpy.functions.products.matmul import matmul
from tracebuf.frontends.numpy.functions.reductions.reduce import Fold, mean, reduce
from tracebuf.frontends.numpy.numbers.bodies import Body
from tracebuf.frontends.numpy.numbers.generics import build
from tracebuf.frontends.numpy.numbers.operands import scalar_value
from tracebuf.frontends.numpy.numbers.rules import apply_rule
from tracebuf.frontends.numpy.numbers.ufuncs import check_output, elementwise
from tracebuf.frontends.numpy.record.raises import Raises, ask
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.registry import traces
from tracebuf.frontends.numpy.record.scalar_checks import compare_floats
from tracebuf.frontends.numpy.record.values import ArrayRef, NpScalar, PyInt
from tracebuf.ir.core import Value
from tracebuf.ir.types import F64, I1
from tracebuf.ops.scalars import arith, complex


@traces(np.cov)
def cov(
    r: Recorder, m: Any, y: Any = None, rowvar: Any = True, bias: Any = False, ddof: Any = None, fweights: Any = None,
    aweights: Any = None, *, dtype: Any = None,
) -> ArrayRef:  # fmt: skip
    """np.cov: variables are rows, or columns with `rowvar=False`."""
    if any(isinstance(x, (NpScalar, ArrayRef)) for x in (rowvar, bias)):
        raise r.refuse("a flag that is not known at trace time", "use True or False")
    degrees = degrees_of(r, bias, ddof)
    x = observations(r, m, y, rowvar, dtype)
    if r.ask_equal(x.shape[0], 0):
        return empty_result(r)
    w = weights_of(r, x, fweights, aweights)
    check_output(np.subtract, x, F64.dtype if x.element.is_integer or x.element is I1 else x.dtype, "same_kind")
    if w is None:
        count: Any = elementwise(r, np.subtract, [NpScalar(scalar_value(r, PyInt(x.shape[1]), F64), F64), degrees])
        centre = as_array(r, mean(r, x, Fold(1)))
    else:
        total = reduce(r, np.add, w)
        weighted = as_array(r, elementwise(r, np.multiply, [x, w]))
        centre = as_array(r, elementwise(r, np.true_divide, [reduce(r, np.add, weighted, Fold(1)), total]))
        lost: Any = degrees
        if aweights is not None and degrees != 0:
            squares = as_array(r, elementwise(r, np.multiply, [w, as_array(r, aweights)]))
            lost = elementwise(r, np.multiply, [reduce(r, np.add, squares), degrees])
            lost = elementwise(r, np.true_divide, [lost, total])
        count = elementwise(r, np.subtract, [total, lost])
    column = centre.derive(methodcaller("new_axis", 1))
    check_output(np.subtract, x, np.result_type(x.dtype, column.dtype), "same_kind")  # NumPy subtracts in place
    x = as_array(r, elementwise(r, np.subtract, [x, column]))
    other = x if w is None else as_array(r, elementwise(r, np.multiply, [x, w]))
    if other.element.is_complex:
        other = as_array(r, elementwise(r, np.conjugate, [other]))
    product = as_array(r, matmul(r, x, reversed_axes(other), "dot"))
    elementwise(r, np.multiply, [product, one_by(r, as_float(r, count))], product)
    return squeeze(r, product)


def degrees_of(r: Recorder, bias: Any, ddof: Any) -> int | PyInt:
    """The number that is subtracted from the observations: the degrees of freedom lost."""
    if ddof is None:
        return 1 if bias == 0 else 0
    if isinstance(ddof, (int, float, np.generic)):
        if ddof != ask(int, ddof):
            raise Raises(ValueError("ddof must be integer"))
        return int(ddof)
    found = as_int(r, ddof)
    if found is None:
        raise r.refuse("a `ddof` that is no int", "use an int")
    return PyInt(found)


def observations(r: Recorder, m: Any, y: Any, rowvar: Any, dtype: Any) -> ArrayRef:
    """The variables in rows, those of `y` after those of `m`."""
    refs = [as_array(r, x) for x in ((m,) if y is None else (m, y))]
    for name, ref in zip("my", refs):
        if ref.ndim > 2:
            raise Raises(ValueError(f"{name} has more than 2 dimensions"))
    wanted = np.result_type(*(x.dtype for x in refs), np.float64) if dtype is None else dtype
    element = element_of(r, wanted)
    turned = [not rowvar, not rowvar and not (refs[-1].ndim == 2 and r.ask_equal(refs[-1].shape[0], 1))]
    same = [x if x.element is element else copy_of(r, x, element, range(x.ndim)) for x in refs]
    rows = [as_rows(x, turn) for x, turn in zip(same, turned)]
    return rows[0] if y is None else as_array(r, concatenate(r, rows, 0))


def as_rows(ref: ArrayRef, transpose: bool) -> ArrayRef:
    """Variables in rows: a vector is one variable; a matrix is transposed (`transpose`) where its variables are
    columns."""
    if ref.ndim == 2:
        return reversed_axes(ref) if transpose else ref
    while ref.ndim < 2:
        ref = ref.derive(methodcaller("new_axis", 0))
    return ref


def weights_of(r: Recorder, x: ArrayRef, fweights: Any, aweights: Any) -> ArrayRef | None:
    """The product of the given weights, in float64, checked as NumPy checks them."""
    found: ArrayRef | None = None
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is None:
            continue
        w = as_array(r, given)
        w = w if w.element is F64 else copy_of(r, w, F64, range(w.ndim))
        if name == "fweights":
            whole = elementwise(r, np.equal, [w, elementwise(r, np.rint, [w])])
            require_all(r, as_array(r, whole), "TypeError", "fweights must be integer")
        if w.ndim > 1:
            r.fail(RuntimeError, f"cannot handle multidimensional {name}")
        if not w.ndim:
            raise Raises(IndexError("tuple index out of range"))
        message = f"incompatible numbers of samples and {name}"
        r.require_equal(w.shape[0], x.shape[1], RuntimeError, message)
        fine = elementwise(r, np.logical_not, [elementwise(r, np.less, [w, 0])])
        require_all(r, as_array(r, fine), "ValueError", f"{name} cannot be negative")
        found = w if found is None else as_array(r, elementwise(r, np.multiply, [found, w]))
    return found


def require_all(r: Recorder, truth: ArrayRef, exception: Any, message: str) -> None:
    found = reduce(r, np.logical_and, truth, Fold(dtype=np.bool_))
    assert isinstance(found, NpScalar)
    r.check(found.value, exception, message)


def as_float(r: Recorder, x: Any) -> Value:
    return scalar_value(r, x, F64)


def one_by(r: Recorder, count: Value) -> NpScalar:
    """1 / count; infinity where there are no degrees of freedom."""
    body = Body(r.frame.block, r.loc)
    quotient = body.add(arith.DivF.of(body.constant(1.0, F64), count))
    none = compare_floats(r, "ole", count, 0.0)
    return NpScalar(body.add(arith.Select.of(none, body.constant(float("inf"), F64), quotient)), F64)


def empty_result(r: Recorder) -> ArrayRef:
    """np.array([]).reshape(0, 0)."""
    return ArrayRef(r.new_storage(F64, (0, 0), (0, 1), r.empty(F64, (0, 0))))


@traces(np.corrcoef)
def corrcoef(r: Recorder, x: Any, y: Any = None, rowvar: Any = True, *, dtype: Any = None) -> Any:
    """np.corrcoef: the covariances divided by the standard deviations, clipped to [-1, 1]."""
    c = cov(r, x, y, rowvar, dtype=dtype)
    if c.ndim < 2:
        return elementwise(r, np.true_divide, [c, c])
    element, part = c.element, c.element.component

    def root(body: Body, args: list[Value]) -> Value:
        (x,) = args
        x = body.add(complex.Re.of(x)) if element.is_complex else x
        return apply_rule(np.sqrt, body, [x], (part.dtype,) * 2)

    def within(body: Body, x: Value) -> Value:
        x = apply_rule(np.maximum, body, [x, body.constant(-1.0, part)], (part.dtype,) * 3)
        return apply_rule(np.minimum, body, [x, body.constant(1.0, part)], (part.dtype,) * 3)

    def scaled(body: Body, args: list[Value]) -> Value:
        value = args[0]
        for s in args[1:]:
            value = apply_rule(np.true_divide, body, [value, body.cast(s, element)], (element.dtype,) * 3)
        if not element.is_complex:
            return within(body, value)
        parts = [within(body, body.add(cls.of(value))) for cls in (complex.Re, complex.Im)]
        return body.add(complex.Create.of(parts[0], parts[1]))

    spread = as_array(r, build(r, root, [diagonal(r, c)], [element], part))
    return build(r, scaled, [c, spread.derive(methodcaller("new_axis", 1)), spread], [element, part, part], element, c)
