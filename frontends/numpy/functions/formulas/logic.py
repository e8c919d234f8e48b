"""Formulas of comparisons of whole arrays, replaced values and polynomials (numpy/_core/numeric.py, numpy/lib)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracebuf.frontends.numpy.functions.formulas.primitives import (
    check_writable,
    dtype_of,
    is_array,
    known_least_dtype,
    least_of_64_bits,
    refuse,
)
from tracebuf.frontends.numpy.functions.host.left_to_numpy import isin_by_numpy
from tracebuf.frontends.numpy.record.registry import formula

# -- comparisons


def as_number_or_array(x: Any) -> Any:
    """An argument as an array; Python's numbers stay as they are, so that they stay weak."""
    return x if isinstance(x, (int, float, complex)) else np.asanyarray(x)


@formula(np.isclose)
def isclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: Any = False) -> Any:
    x, y, atol, rtol = [as_number_or_array(v) for v in (a, b, atol, rtol)]
    if isinstance(y, int):
        y = float(y)
    elif is_array(y):
        y = np.asanyarray(y, dtype=np.result_type(y.dtype, 1.0))
    near = np.less_equal(abs(x - y), atol + rtol * abs(y)) & np.isfinite(y) | np.equal(x, y)
    return near | np.isnan(x) & np.isnan(y) if equal_nan else near


@formula(np.array_equal)
def array_equal(a1: Any, a2: Any, equal_nan: Any = False) -> Any:
    a, b = np.asarray(a1), np.asarray(a2)
    if a.ndim != b.ndim or a.shape != b.shape:
        return False
    same = a == b
    if equal_nan and a.dtype.kind in "fc" and b.dtype.kind in "fc":
        same = same | np.isnan(a) & np.isnan(b)
    return bool(np.all(same))


@formula(np.array_equiv)
def array_equiv(a1: Any, a2: Any) -> Any:
    a, b = np.asarray(a1), np.asarray(a2)
    for m, n in zip(a.shape[::-1], b.shape[::-1]):
        if m != n and m != 1 and n != 1:
            return False
    return bool(np.all(a == b))


@formula(np.min_scalar_type)
def min_scalar_type(a: Any, /) -> Any:
    known = known_least_dtype(a)
    if known is not None:
        return known
    x = a[()] if is_array(a) else a
    if dtype_of(x).kind == "f":
        if -65000 < x < 65000 or not np.isfinite(x):
            return np.dtype(np.float16)
        if dtype_of(x) == np.float32 or -3.4e38 < x < 3.4e38:
            return np.dtype(np.float32)
        return np.dtype(np.float64)
    if x >= 0:
        if x <= 255:
            return np.dtype(np.uint8)
        if x <= 65535:
            return np.dtype(np.uint16)
        return np.dtype(np.uint32) if x <= 4294967295 else least_of_64_bits(x)
    if x >= -128:
        return np.dtype(np.int8)
    if x >= -32768:
        return np.dtype(np.int16)
    return np.dtype(np.int32) if x >= -2147483648 else np.dtype(np.int64)


MOST_TESTED = 16
"""The most integers that np.isin compares one by one, and a quarter of the most other numbers; more are sorted, or put
into a table."""


@formula(np.isin)
def isin(
    element: Any, test_elements: Any, assume_unique: Any = False, invert: Any = False, *, kind: Any = None
) -> Any:
    if assume_unique or kind == "table":
        return isin_by_numpy(element, test_elements, assume_unique, invert, kind=kind)
    x, items = np.asarray(element), np.ravel(test_elements)
    if kind not in (None, "sort", "table"):
        raise ValueError(f"Invalid kind: '{kind}'. Please use None, 'sort' or 'table'.")
    found = np.empty(x.shape, bool)
    common = np.result_type(x, items)
    if items.size > MOST_TESTED and kind is None and common.kind in "iub":
        table_or_sorted(x, items, invert, np.dtype(np.uint8) if common.kind == "b" else common, found)
    elif items.size > 4 * MOST_TESTED and common.kind != "c":
        among = np.sort(items)
        held = among[np.minimum(np.searchsorted(among, x), items.size - 1)]
        found[...] = held != x if invert else held == x
    else:
        found[...] = invert
        for k in range(items.size):
            if invert:
                found &= x != items[k]
            else:
                found |= x == items[k]
    return found


def table_or_sorted(x: Any, items: Any, invert: Any, common: Any, found: Any) -> None:
    """np.isin of integers: by a table where the test elements are as near to each other as NumPy asks for one. A
    difference, modulo 2**bits, is beyond the largest one exactly where the element is outside their range."""
    bits = common.itemsize
    unsigned = np.uint8 if bits == 1 else np.uint16 if bits == 2 else np.uint32 if bits == 4 else np.uint64
    low = items.min().astype(common).astype(unsigned)
    span = (items.max().astype(common).astype(unsigned) - low).astype(np.uint64)
    if span <= 6 * (x.size + items.size):
        beyond = span + np.uint64(1)
        n = int(beyond.astype(np.int64)) + 1
        table = np.ones(n, bool) if invert else np.zeros(n, bool)
        table[(items.astype(common).astype(unsigned) - low).astype(np.int64)] = not invert
        away = (x.astype(common).astype(unsigned) - low).astype(np.uint64)
        found[...] = table[np.minimum(away, beyond).astype(np.int64)]
    else:
        among = np.sort(items)
        held = among[np.minimum(np.searchsorted(among, x), items.size - 1)]
        found[...] = held != x if invert else held == x


# -- values replaced and chosen


@formula(np.nan_to_num)
def nan_to_num(x: Any, copy: Any = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    x = np.asanyarray(x)
    out = np.empty_like(x) if copy else x
    if x.dtype.kind in "fc":
        check_writable(out)
    if x.dtype.kind == "f":
        out[...] = finite(x, nan, posinf, neginf)
    elif x.dtype.kind == "c":
        out.real = finite(x.real, nan, posinf, neginf)
        out.imag = finite(x.imag, nan, posinf, neginf)
    elif copy:
        out[...] = x
    return out if out.ndim else out[()]


def finite(x: Any, nan: Any, posinf: Any, neginf: Any) -> Any:
    """The elements, with numbers in place of NaN and the infinities."""
    for x_for in (nan, posinf, neginf):
        if x_for is not None and np.iscomplexobj(x_for):
            raise TypeError(f"Cannot cast a complex number to {x.dtype} according to the rule 'same_kind'")
    high = np.finfo(x.dtype).max if posinf is None else posinf
    low = np.finfo(x.dtype).min if neginf is None else neginf
    return np.where(np.isnan(x), nan, np.where(x == np.inf, high, np.where(x == -np.inf, low, x)))


@formula(np.piecewise)
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any) -> Any:
    x = np.asanyarray(x)
    if np.isscalar(condlist) or (x.ndim != 0 and not isinstance(condlist[0], (list, np.ndarray))):
        condlist = [condlist]
    conditions = [np.asarray(c, dtype=bool) for c in condlist]
    if any(c.ndim != conditions[0].ndim or c.shape != conditions[0].shape for c in conditions):
        raise ValueError("setting an array element with a sequence.")
    n, functions = len(conditions), funclist
    if n == len(functions) - 1:
        some = conditions[0]
        for c in conditions[1:]:
            some = some | c
        conditions = [*conditions, ~some]
    elif n != len(functions):
        raise ValueError(f"with {n} condition(s), either {n} or {n + 1} functions are expected")
    made = np.zeros_like(x)
    for condition, f in zip(conditions, functions):
        if condition.ndim == 0 and callable(f):
            if condition:
                made[None][...] = f(x[None], *args)
        else:
            made[condition] = f(x[condition], *args) if callable(f) else f
    return made


# -- polynomials


def vector_of(p: Any) -> Any:
    """The coefficients of a polynomial as a vector."""
    p = np.asarray(p)
    if p.ndim > 1:
        refuse("coefficients of a polynomial that are no vector", "loop over the polynomials")
    return p


@formula(np.polyint)
def polyint(p: Any, m: Any = 1, k: Any = None) -> Any:
    m = int(m)
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    k = np.zeros(m) if k is None else np.atleast_1d(k)
    if m > 1 and len(k) == 1:
        k = k[0] * np.ones(m)
    if len(k) < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    p = vector_of(p)
    for i in range(m):
        p = np.concatenate((p / np.arange(len(p), 0, -1), k[i : i + 1]))
    return p


@formula(np.polyadd)
def polyadd(a1: Any, a2: Any) -> Any:
    a, b = padded(np.atleast_1d(a1), np.atleast_1d(a2))
    return a + b


@formula(np.polysub)
def polysub(a1: Any, a2: Any) -> Any:
    a, b = padded(np.atleast_1d(a1), np.atleast_1d(a2))
    return a - b


def padded(a: Any, b: Any) -> Any:
    """Two polynomials with zeros in front of the shorter one."""
    m, n = len(a), len(b)
    if m == n:
        return a, b
    if m < n:
        return np.concatenate((np.zeros(n - m, a.dtype), a)), b
    return a, np.concatenate((np.zeros(m - n, b.dtype), b))
