"""`.real`, `.imag` and `.view(dtype)`: parts of complex arrays and other element types, as views of the same memory.

`a.real` and `a.imag` of a complex array store through (rule S5); of a real one they are the array itself and read-only
zeros. Also functions of the two parts: np.real, np.conj.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import methodcaller
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.indexing import store_view
from tracebuf.frontends.numpy.arrays.new_arrays import as_array, element_of, filled, k_order, only
from tracebuf.frontends.numpy.arrays.reshape import c_or_fortran, is_dense, sure
from tracebuf.frontends.numpy.numbers.bodies import Body
from tracebuf.frontends.numpy.numbers.generics import build
from tracebuf.frontends.numpy.numbers.operands import Operand, is_operand, weak_type
from tracebuf.frontends.numpy.numbers.python_complex import part_of
from tracebuf.frontends.numpy.numbers.python_ints import bool_as_int
from tracebuf.frontends.numpy.numbers.ufuncs import elementwise
from tracebuf.frontends.numpy.record.raises import Raises
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.registry import traces
from tracebuf.frontends.numpy.record.values import ArrayRef, NpScalar, Scalar, View, in_turn, is_traced, stand_in
from tracebuf.ir.core import Value
from tracebuf.ir.dims import floordiv, mod, mul
from tracebuf.ir.types import ScalarType, scalar_type
from tracebuf.ops.scalars.complex import Create


def part(r: Recorder, a: ArrayRef, name: str) -> ArrayRef:
    """a.real or a.imag, by its name."""
    element = a.element
    if element.is_complex:
        place = 0 if name == "real" else 1
        steps: list[Callable[[View], View]] = [
            methodcaller("recast", element, element.component),
            lambda view: view.narrow(len(view.sizes) - 1, place, 1, 1),
            lambda view: view.drop(len(view.sizes) - 1),
        ]
        return a.derive(in_turn(steps))
    if name == "real":
        return a
    zeros = filled(r, a.shape, element, 0, c_or_fortran(r, a))
    return zeros.derive(lambda view: view, read_only=True)


def set_part(r: Recorder, a: ArrayRef, name: str, value: Operand) -> None:
    """a.real = value or a.imag = value, by its name."""
    if name == "imag" and not a.element.is_complex:
        raise Raises(TypeError("array does not have imaginary part to set"))
    if isinstance(value, ArrayRef) and value.element.is_complex:
        value = part(r, value, "real")  # as the cast would, but perhaps what is there anyway: `a.real = a`
    store_view(r, part(r, a, name), as_array(r, value))  # of which NumPy makes an array first


@traces(np.real, of="real")
@traces(np.imag, of="imag")
def part_function(name: str, r: Recorder, val: Any) -> Any:
    """np.real or np.imag: the attribute of any value that has it."""
    if isinstance(val, ArrayRef) or not is_operand(val):
        return part(r, as_array(r, val), name)
    if not is_traced(val):
        return getattr(val, name)
    if is_complex(val):
        return part_of(r, val, name)
    return bool_as_int(r, val) if name == "real" else no_imaginary_part(r, val)


def no_imaginary_part(r: Recorder, x: Scalar) -> Any:
    """x.imag of a real number: the 0 of its type."""
    zero: Any = stand_in(x).imag
    if isinstance(x, NpScalar) and x.maybe_python:
        return NpScalar(r.constant(zero.item(), x.element), x.element, x.python)
    return zero


def is_complex(x: Any) -> bool:
    """Whether an array or a number has a complex type, or any item of a list has."""
    if isinstance(x, list | tuple):
        return any(map(is_complex, x))
    kind = weak_type(x)
    return kind is complex or (isinstance(kind, np.dtype) and kind.kind == "c")


def on_parts(r: Recorder, a: Any, function: Callable[[Any], Any]) -> Any:
    """Applies a function of reals to the real and to the imaginary parts; the result is in K-order."""
    parts = [function(part_function(name, r, a)) for name in ("real", "imag")]
    element = scalar_type(np.dtype(weak_type(a)))

    def compute(body: Body, args: list[Value]) -> Value:
        return body.add(Create.of(args[0], args[1]))

    into = filled(r, a.shape, element, None, k_order(a)) if isinstance(a, ArrayRef) and a.ndim else None
    return build(r, compute, parts, [element.component] * 2, element, into)


@traces(method="conj")
@traces(method="conjugate")
def conj(r: Recorder, a: ArrayRef, *args: Any) -> Any:
    """a.conj(); a real array gives itself."""
    only(r, "conj", out=(args, ()))
    return elementwise(r, np.conjugate, [a]) if a.element.is_complex else a


OWN = object()
"""In the place of a dtype: that of the array."""


@traces(method="view")
def view_as(r: Recorder, a: ArrayRef, dtype: Any = OWN, *rest: Any, **named: Any) -> ArrayRef:
    """a.view(dtype): the same memory as elements of another type; None is float64."""
    if rest or named or (isinstance(dtype, type) and issubclass(dtype, np.ndarray)):
        raise r.refuse("a view as another class", "a.view(dtype)")
    if dtype is OWN:
        return a.derive(lambda view: view)
    element, source = element_of(r, float if dtype is None else dtype), a.element
    if element is source:
        return a.derive(lambda view: view)
    if element.itemsize == source.itemsize:
        return a.derive(methodcaller("recast", source, element))
    return resized(r, a, source, element)


def resized(r: Recorder, a: ArrayRef, source: ScalarType, element: ScalarType) -> ArrayRef:
    """A view of complex numbers as floats, two for each along the last axis, or of floats as complex numbers."""
    if not a.ndim:
        raise Raises(ValueError("Changing the dtype of a 0d array is only supported if the itemsize is unchanged"))
    last, n = a.ndim - 1, a.shape[-1]
    before = [(axis,) for axis in range(last)]
    together = (*before, (last, last + 1)), (*before, (last,))
    if source.is_complex and element is source.component and unit_steps(r, a):
        shape = (*a.shape[:-1], mul(n, 2))
        return a.derive(in_turn([methodcaller("recast", source, element), methodcaller("regrouped", shape, *together)]))
    if source.is_complex and element.itemsize == source.component.itemsize and element is not source.component:
        return resized(r, a, source, source.component).derive(methodcaller("recast", source.component, element))
    if element.is_complex and source is element.component and is_dense(r, a, range(a.ndim)):
        if r.ask_equal(mod(n, 2), 0):
            shape = (*a.shape[:-1], floordiv(n, 2), 2)
            pairs = methodcaller("regrouped", shape, *together[::-1])
            return a.derive(in_turn([pairs, methodcaller("recast", source, element)]))
    raise r.refuse(
        f"a view of {source.dtype} as {element.dtype}, which has another size",
        "a view of equal size, .real and .imag, or a copy: a.astype(dtype)",
    )


def unit_steps(r: Recorder, a: ArrayRef) -> bool:
    """Whether the last axis has unit stride; ValueError, as NumPy's, where it has not."""
    if a.shape[-1] == 1 or a.strides[-1] == 1:
        return True
    if not sure(r, r.ask_strides(a.strides[-1], 1)):
        raise Raises(ValueError("To change to a dtype of a different size, the last axis must be contiguous"))
    return True
