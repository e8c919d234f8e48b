"""Formulas of np.cross, np.kron and np.cov (numpy/_core/numeric.py, numpy/lib)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from tracebuf.frontends.numpy.record.registry import formula

# -- np.cross


@formula(np.cross)
def cross(a: Any, b: Any, axisa: Any = -1, axisb: Any = -1, axisc: Any = -1, axis: Any = None) -> Any:
    """Of vectors of 3 numbers, or of 2, whose third counts as 0; two vectors of 2 give the third component alone."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = np.asarray(a), np.asarray(b)
    if a.ndim < 1 or b.ndim < 1:
        raise ValueError("At least one array has zero dimension")
    a = np.moveaxis(a, normalize_axis_index(axisa, a.ndim, "axisa"), -1)
    b = np.moveaxis(b, normalize_axis_index(axisb, b.ndim, "axisb"), -1)
    x, y = components(a), components(b)
    shape, dtype = np.broadcast_shapes(a.shape[:-1], b.shape[:-1]), np.promote_types(a.dtype, b.dtype)
    if x[2] is None and y[2] is None:
        alone = np.empty(shape, dtype)
        alone[...] = x[0] * y[1] - x[1] * y[0]
        return alone
    axisc = normalize_axis_index(axisc, len(shape) + 1)
    made = np.empty((*shape, 3), dtype)
    for k in range(3):
        made[..., k] = difference(x[k - 2], y[k - 1], x[k - 1], y[k - 2])
    return np.moveaxis(made, -1, axisc)


def components(v: Any) -> Any:
    """The three components of vectors; None for the third of two."""
    if v.shape[-1] == 3:
        return [v[..., 0], v[..., 1], v[..., 2]]
    if v.shape[-1] == 2:
        return [v[..., 0], v[..., 1], None]
    raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")


def difference(p: Any, q: Any, s: Any, t: Any) -> Any:
    """p * q - s * t; a product with None is left out."""
    if s is None or t is None:
        return p * q
    return -(s * t) if p is None or q is None else p * q - s * t


# -- np.kron


@formula(np.kron)
def kron(a: Any, b: Any) -> Any:
    a, b = np.asarray(a), np.asarray(b)
    if b.ndim == 0:
        return np.multiply(a, b)
    n = max(a.ndim, b.ndim)
    a, b = a[(None,) * (n - a.ndim) + (...,)], b[(None,) * (n - b.ndim) + (...,)]
    shape = [p * q for p, q in zip(a.shape, b.shape)]
    return np.multiply(a[(slice(None), None) * n], b[(None, slice(None)) * n]).reshape(shape)


# -- np.cov


@formula(np.cov)
def cov(
    m: Any, y: Any = None, rowvar: Any = True, bias: Any = False, ddof: Any = None, fweights: Any = None,
    aweights: Any = None, *, dtype: Any = None,
) -> Any:  # fmt: skip
    if ddof is None:
        ddof = 1 if bias == 0 else 0
    elif ddof != int(ddof):
        raise ValueError("ddof must be integer")
    m = np.asarray(m)
    if m.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    if y is not None:
        y = np.asarray(y)
        if y.ndim > 2:
            raise ValueError("y has more than 2 dimensions")
    if dtype is None:
        dtype = np.result_type(m, np.float64) if y is None else np.result_type(m, y, np.float64)
    x = rows(m, dtype, not rowvar and m.ndim != 1)
    if x.shape[0] == 0:
        return np.empty((0, 0))
    if y is not None:
        x = np.concatenate((x, rows(y, dtype, not rowvar and (y.ndim < 2 or y.shape[0] != 1))), axis=0)
    w = None if fweights is None else weights_of(x, fweights, "fweights")
    if aweights is not None:
        alone = weights_of(x, aweights, "aweights")
        w = alone if w is None else w * alone
    if w is None:
        count, mean = np.float64(x.shape[1]) - ddof, np.mean(x, 1)
    else:
        total = np.sum(w)
        mean = np.sum(x * w, 1) / total
        lost = ddof if aweights is None or ddof == 0 else ddof * np.sum(w * np.asarray(aweights)) / total
        count = total - lost
    centre = mean[:, None]
    if not np.can_cast(np.result_type(x.dtype, centre.dtype), x.dtype, "same_kind"):
        raise TypeError(f"Cannot cast ufunc 'subtract' output to {x.dtype!r} with casting rule 'same_kind'")
    x = np.subtract(x, centre).astype(x.dtype, copy=False)
    product = np.dot(x, (x if w is None else x * w).T.conj())
    product *= np.true_divide(1, np.float64(0.0 if count <= 0 else count))
    return product.squeeze()


def rows(x: Any, dtype: Any, turned: Any) -> Any:
    """Observations with a variable in each row; `turned`: it is in each column of a matrix."""
    x = x if x.dtype == np.dtype(dtype) else np.array(x, dtype, order="C")
    if x.ndim < 2:
        return x[(None,) * (2 - x.ndim) + (...,)]
    return x.T if turned else x


def weights_of(x: Any, given: Any, name: str) -> Any:
    """The weights of observations in float64, checked."""
    w = np.asarray(given, dtype=float)
    if name == "fweights" and not np.all(w == np.rint(w)):
        raise TypeError("fweights must be integer")
    if w.ndim > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if w.ndim < 1:
        raise IndexError("tuple index out of range")
    if w.shape[0] != x.shape[1]:
        raise RuntimeError(f"incompatible numbers of samples and {name}")
    if np.any(w < 0):
        raise ValueError(f"{name} cannot be negative")
    return w
