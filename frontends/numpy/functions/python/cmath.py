"""Python's `complex()` and `cmath`, and parts of complex numbers, on traced numbers.

Functions are Python's own algorithms, called back part by part (`tracebuf.libm`), for they differ from the C library's
and from NumPy's; their exceptions are raised by checks in place.
"""

from __future__ import annotations

import cmath
from collections.abc import Callable
from typing import Any

from tracebuf.frontends.numpy.functions.python.math import traced_form
from tracebuf.frontends.numpy.numbers.operands import as_number
from tracebuf.frontends.numpy.numbers.python_complex import by_python, made_of, magnitude, parts_of
from tracebuf.frontends.numpy.numbers.python_ints import bool_as_int
from tracebuf.frontends.numpy.record.conditions import both, either
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.registry import Handler, traces
from tracebuf.frontends.numpy.record.scalar_checks import check_origin, is_finite, is_infinite, is_nan
from tracebuf.frontends.numpy.record.values import NpScalar, PyBool, PyComplex, PyFloat
from tracebuf.ir.core import Value
from tracebuf.ir.types import F64
from tracebuf.ops.scalars import arith
from tracebuf.ops.scalars import complex as complex_op
from tracebuf.ops.scalars.libm import Libm
from tracebuf.running.python_functions import COMPLEX


@traces(number="conjugate")
@traces(number="conj")
def conjugate(r: Recorder, x: Any) -> Any:
    """x.conjugate() of a number; a real number gives itself."""
    if isinstance(x, PyComplex):
        return PyComplex(r.emit(complex_op.Conj.of(x.value)))
    if isinstance(x, NpScalar) and x.element.is_complex:
        check_origin(r, x)
        return NpScalar(r.emit(complex_op.Conj.of(x.value)), x.element)
    return bool_as_int(r, x)


def to_complex(r: Recorder, real: Any = 0, imag: Any = None) -> PyComplex:
    """complex(a), and complex(a, b), which is a + b * 1j."""
    (a, b) = parts_of(r, as_number(r, real))
    if imag is None:
        return PyComplex(made_of(r, (a, b)))
    c, d = parts_of(r, as_number(r, imag))
    if is_complex(real) or is_complex(imag):
        a = r.emit(arith.SubF.of(a, d)) if is_complex(imag) else a
        b = r.emit(arith.AddF.of(c, b)) if is_complex(real) else c
        return PyComplex(made_of(r, (a, b)))
    return PyComplex(made_of(r, (a, c)))


def is_complex(x: Any) -> bool:
    if isinstance(x, (PyComplex, complex)):
        return True
    return isinstance(x, NpScalar) and x.element.is_complex


def by_name(name: str) -> Handler:
    """The body of a function that is called back by its name."""
    return lambda r, z: PyComplex(by_python(r, name, [*parts_of(r, as_number(r, z))]))


def phase(r: Recorder, z: Any) -> PyFloat:
    re, im = parts_of(r, as_number(r, z))
    return PyFloat(r.emit(Libm.of("atan2", [im, re], F64)))


def polar(r: Recorder, z: Any) -> tuple[PyFloat, PyFloat]:
    size = magnitude(r, PyComplex(made_of(r, parts_of(r, as_number(r, z)))))
    assert isinstance(size, PyFloat)
    return size, phase(r, z)


def log(r: Recorder, z: Any, base: Any = None) -> PyComplex:
    args = [v for x in ((z,) if base is None else (z, base)) for v in parts_of(r, as_number(r, x))]
    return PyComplex(by_python(r, "log", args))


def test(condition: Callable[[Recorder, Value], Value], together: Callable[..., Value]) -> Handler:
    """The body of a test of both parts, combined by `together`."""
    return lambda r, z: PyBool(together(r, *(condition(r, v) for v in parts_of(r, as_number(r, z)))))


BODIES: dict[Callable[..., Any], Handler] = {
    **{getattr(cmath, name): by_name(name) for name in COMPLEX if hasattr(cmath, name)},
    cmath.log: log, cmath.phase: phase, cmath.polar: polar, complex: to_complex,
    cmath.isnan: test(is_nan, either), cmath.isinf: test(is_infinite, either), cmath.isfinite: test(is_finite, both),
}  # fmt: skip
"""By function: `body(r, *args)`, for traced arguments."""
for function, body in BODIES.items():
    traces(function)(traced_form(function, body))
