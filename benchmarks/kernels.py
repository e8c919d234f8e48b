"""What the benchmarks compare: each job as plain NumPy, as NumPy with `out=` by hand, and as explicit loops for Numba.

`tracebuf` compiles the plain form; the others are what a user would have to write instead. Numba's loops must not
reorder sums (its default), except where `FAST` says so. What this is not: a survey of compilers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
FAST = {"reassoc", "nsz", "contract"}
"""Numba's flags where a loop is a sum: without `reassoc` it is not vectorised."""


# -- one step of the 2-D wave equation (examples/wave.py)
def wave(u: Array, v: Array, c: float) -> None:
    v[1:-1, 1:-1] += c * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])
    u += v


def wave_out(u: Array, v: Array, c: float, s: Array, t: Array) -> None:
    np.add(u[:-2, 1:-1], u[2:, 1:-1], out=s)
    np.add(s, u[1:-1, :-2], out=s)
    np.add(s, u[1:-1, 2:], out=s)
    np.multiply(4, u[1:-1, 1:-1], out=t)
    np.subtract(s, t, out=s)
    np.multiply(c, s, out=s)
    np.add(v[1:-1, 1:-1], s, out=v[1:-1, 1:-1])
    np.add(u, v, out=u)


def wave_loops(u: Array, v: Array, c: float) -> None:
    n, m = u.shape
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            v[i, j] += c * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4 * u[i, j])
    for i in range(n):
        for j in range(m):
            u[i, j] += v[i, j]


def wave_traffic(u: Array, v: Array) -> None:
    """The arrays that a step must read and write, and nothing else: 2 reads and 1 write, twice."""
    np.add(u, v, out=v)
    np.add(u, v, out=u)


# -- a chain of six operations
def chain(a: Array, b: Array, c: Array, d: Array) -> None:
    d[:] = ((a * b + c) * 2.0 - a) / (b + 1.5)


def chain_out(a: Array, b: Array, c: Array, d: Array, t: Array) -> None:
    np.multiply(a, b, out=d)
    np.add(d, c, out=d)
    np.multiply(d, 2.0, out=d)
    np.subtract(d, a, out=d)
    np.add(b, 1.5, out=t)
    np.divide(d, t, out=d)


def chain_loops(a: Array, b: Array, c: Array, d: Array) -> None:
    for i in range(a.shape[0]):
        d[i] = ((a[i] * b[i] + c[i]) * 2.0 - a[i]) / (b[i] + 1.5)


# -- sums
def total(a: Array) -> Any:
    return np.sum(a)


def total_loops(a: Array) -> Any:
    s = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s += a[i, j]
    return s


def columns(a: Array, out: Array) -> None:
    out[:] = np.sum(a, axis=0)


def columns_loops(a: Array, out: Array) -> None:
    out[:] = 0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[j] += a[i, j]


def distance(a: Array, b: Array) -> Any:
    return np.sqrt(np.sum((a - b) ** 2))


def distance_loops(a: Array, b: Array) -> Any:
    s = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s += (a[i, j] - b[i, j]) ** 2
    return np.sqrt(s)


# -- transcendental functions
def bell(a: Array, b: Array, d: Array) -> None:
    d[:] = b * np.exp(-0.5 * a * a) + 1


def bell_out(a: Array, b: Array, d: Array) -> None:
    np.multiply(a, -0.5, out=d)
    np.multiply(d, a, out=d)
    np.exp(d, out=d)
    np.multiply(d, b, out=d)
    np.add(d, 1, out=d)


def bell_loops(a: Array, b: Array, d: Array) -> None:
    for i in range(a.shape[0]):
        d[i] = b[i] * np.exp(-0.5 * a[i] * a[i]) + 1


# -- a result in memory of its own
def fresh(a: Array) -> Array:
    return a + 1


def fresh_out(a: Array, out: Array) -> Array:
    return np.add(a, 1, out=out)


def fresh_loops(a: Array) -> Array:
    out = np.empty_like(a)
    for i in range(a.shape[0]):
        out[i] = a[i] + 1
    return out


# -- the call alone
def small(a: Array, b: Array, c: Array, d: Array) -> None:
    d[:] = a * b + c


def small_loops(a: Array, b: Array, c: Array, d: Array) -> None:
    for i in range(a.shape[0]):
        d[i] = a[i] * b[i] + c[i]


# -- masks and gathers
def gather(a: Array, i: Array, w: Array) -> Any:
    return (a[i] * w).sum()


def gather_loops(a: Array, i: Array, w: Array) -> Any:
    s = 0.0
    for k in range(i.shape[0]):
        s += a[i[k]] * w[k]
    return s


def compress(a: Array, i: Array, w: Array) -> Array:
    return a[w > 0.5]


def compress_loops(a: Array, i: Array, w: Array) -> Array:
    n = 0
    for k in range(w.shape[0]):
        n += w[k] > 0.5
    out = np.empty(n)
    n = 0
    for k in range(w.shape[0]):
        if w[k] > 0.5:
            out[n] = a[k]
            n += 1
    return out


def masked(a: Array, i: Array, w: Array) -> None:
    a[w > 0.5] *= 0.5


def masked_loops(a: Array, i: Array, w: Array) -> None:
    for k in range(w.shape[0]):
        if w[k] > 0.5:
            a[k] *= 0.5


def deposit(a: Array, i: Array, w: Array) -> None:
    np.add.at(a, i, w)


def deposit_loops(a: Array, i: Array, w: Array) -> None:
    for k in range(i.shape[0]):
        a[i[k]] += w[k]


# -- complex numbers
def iterate(z: Array, c: Array) -> None:
    z[:] = z * z + c


def iterate_loops(z: Array, c: Array) -> None:
    for k in range(z.shape[0]):
        z[k] = z[k] * z[k] + c[k]


def numba_jit(function: Callable[..., Any], fast: bool = False) -> Callable[..., Any] | None:
    """The function compiled by Numba, None where Numba is missing."""
    try:
        import numba
    except ImportError:
        return None
    jitted: Callable[..., Any] = numba.njit(fastmath=FAST if fast else False)(function)
    return jitted
