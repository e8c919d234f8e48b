"""Formulas of np.linalg.matrix_power, multi_dot, eig and eigvals (numpy/linalg/_linalg.py), np.roots and np.poly,
np.correlate and np.convolve."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracebuf.frontends.numpy.functions.formulas.primitives import (
    bits_of,
    complex_eigenvalues,
    complex_eigenvectors,
    is_array,
    matrix_power_by_numpy,
    multi_dot_by_numpy,
)
from tracebuf.frontends.numpy.functions.host.left_to_numpy import poly_by_numpy, roots_by_numpy
from tracebuf.frontends.numpy.functions.products.convolutions import at_least_as_long, convolved, correlated, vector
from tracebuf.frontends.numpy.record.registry import formula

MOST = 8
"""The bits of exponents whose products are written out."""


@formula(np.linalg.matrix_power)
def matrix_power(a: Any, n: Any) -> Any:
    a, bits = np.asarray(a), bits_of(n)
    if not 0 < len(bits) <= MOST or a.ndim < 2:
        return matrix_power_by_numpy(a, n)
    if a.shape[-1] != a.shape[-2]:
        return matrix_power_by_numpy(a, n)  # which raises
    if n == 3:
        return (a @ a) @ a
    square, result = a, None
    for k, bit in enumerate(bits):
        if k > 0:
            square = square @ square
        if bit:
            result = square if result is None else result @ square
    return result


@formula(np.linalg.multi_dot)
def multi_dot(arrays: Any, *, out: Any = None) -> Any:
    if is_array(arrays) or not 2 <= len(arrays) <= 3:
        return multi_dot_by_numpy(arrays, out=out)
    if len(arrays) == 2:
        return np.dot(arrays[0], arrays[1], out=out)
    first, second, third = np.asarray(arrays[0]), np.asarray(arrays[1]), np.asarray(arrays[2])
    if second.ndim != 2 or not (1 <= first.ndim <= 2 and 1 <= third.ndim <= 2):
        return multi_dot_by_numpy(arrays, out=out)  # which raises
    a = np.atleast_2d(first)
    c = third if third.ndim == 2 else np.atleast_2d(third).T
    (rows, inner), (outer, columns) = a.shape, c.shape
    if rows * outer * (inner + columns) < inner * columns * (rows + outer):
        result = np.dot(np.dot(a, second), c, out=out)
    else:
        result = np.dot(a, np.dot(second, c), out=out)
    if first.ndim == 1 and third.ndim == 1:
        return result[0, 0]
    return result.ravel() if first.ndim == 1 or third.ndim == 1 else result


# Eigenvalues of a real matrix are real or complex, depending on its elements: two arrays, by the path. Real ones are
# a view of the complex numbers that LAPACK gives, as in NumPy. Single precision is rounded at the end, after that.


@formula(np.linalg.eigvals)
def eigvals(a: Any) -> Any:
    a = np.asarray(a)
    if a.dtype.kind == "c":
        return complex_eigenvalues(a)
    if a.dtype == np.float32:
        w = complex_eigenvalues(a.astype(np.float64))
        return w.real.astype(np.float32) if np.all(w.imag == 0) else w.astype(np.complex64)
    w = complex_eigenvalues(a)
    return w.real if np.all(w.imag == 0) else w


@formula(np.linalg.eig)
def eig(a: Any) -> Any:
    a = np.asarray(a)
    if a.dtype.kind == "c":
        return complex_eigenvectors(a)
    if a.dtype == np.float32:
        found = complex_eigenvectors(a.astype(np.float64))
        w, v = found
        if np.all(w.imag == 0):
            w, v = w.real.astype(np.float32), v.real.astype(np.float32)
        else:
            w, v = w.astype(np.complex64), v.astype(np.complex64)
    else:
        found = complex_eigenvectors(a)
        w, v = found
        if np.all(w.imag == 0):
            w, v = w.real, v.real
    return found._replace(eigenvalues=w, eigenvectors=v)


@formula(np.roots)
def roots(p: Any) -> Any:
    p = np.atleast_1d(p)
    w, kind = roots_by_numpy(p)
    if kind == 0:
        return w.real.copy()
    if p.dtype != np.float32 and p.dtype != np.complex64:
        return w
    return w.real.astype(np.float32) if kind == 1 else w.astype(np.complex64)


@formula(np.poly)
def poly(seq_of_zeros: Any) -> Any:
    if np.ndim(seq_of_zeros) == 0:
        raise TypeError("dispatcher for __array_function__ did not return an iterable")
    zeros = np.atleast_1d(seq_of_zeros)
    if zeros.ndim == 1 and zeros.shape[0] == 0:
        return 1.0
    w, kind = poly_by_numpy(zeros)
    if zeros.dtype == np.float32 or zeros.dtype == np.complex64:
        return w.real.astype(np.float32) if kind == 1 else w.astype(np.complex64)
    return w.real.copy() if kind == 1 else w


@formula(np.correlate)
def correlate(a: Any, v: Any, mode: Any = "valid") -> Any:
    """The sums of a[n + k] times the conjugate of v[n]."""
    first, second = vector(a), vector(v)
    if np.iscomplexobj(second):
        second = np.conjugate(second)
    longer = at_least_as_long(first, second)
    if longer is None:  # the arms know
        longer = len(first) >= len(second)
    if longer:
        return correlated(first, second, mode, False)
    return correlated(second, first, mode, True)


@formula(np.convolve)
def convolve(a: Any, v: Any, mode: Any = "full") -> Any:
    first, second = vector(a, "a", True), vector(v, "v", True)
    longer = at_least_as_long(first, second)
    if longer is None:
        longer = len(first) >= len(second)
    if longer:
        return convolved(first, second, mode)
    return convolved(second, first, mode)
