"""Chains of elementwise operations, sums, masks and gathers: what any NumPy code is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.programs.registry import C, program

if TYPE_CHECKING:
    import jax.numpy as jnp
    import numexpr as ne


def vectors(n):
    return tuple(np.random.default_rng(0).random((3, n)))


def matrices(n):
    return tuple(np.random.default_rng(0).random((2, n, n)))


def picks(n):
    r = np.random.default_rng(0)
    return r.random(n), r.integers(0, n, n), r.random(n)


# -- a chain of six operations
def chain(a, b, c):
    return ((a * b + c) * 2.0 - a) / (b + 1.5)


def chain_loops(a, b, c):
    d = np.empty_like(a)
    for i in range(a.shape[0]):
        d[i] = ((a[i] * b[i] + c[i]) * 2.0 - a[i]) / (b[i] + 1.5)
    return d


def chain_ne(a, b, c):
    return ne.evaluate("((a * b + c) * 2.0 - a) / (b + 1.5)")


CHAIN_C = """
void chain(const double *a, long n, const double *b, long nb, const double *c, long nc, double *restrict d) {
  for (long i = 0; i < n; i++) d[i] = ((a[i] * b[i] + c[i]) * 2.0 - a[i]) / (b[i] + 1.5);
}
"""
program(
    chain, vectors, (10_000, 4_000_000), loops=chain_loops, jax=chain, numexpr=chain_ne, pythran=True,
    c=C(CHAIN_C, lambda a, b, c: np.empty_like(a)),
)  # fmt: skip


# -- an exponential
def bell(a, b, c):
    return b * np.exp(-0.5 * a * a) + c


def bell_loops(a, b, c):
    d = np.empty_like(a)
    for i in range(a.shape[0]):
        d[i] = b[i] * np.exp(-0.5 * a[i] * a[i]) + c[i]
    return d


def bell_ne(a, b, c):
    return ne.evaluate("b * exp(-0.5 * a * a) + c")


program(
    bell, vectors, (10_000, 2_000_000), loops=bell_loops, jax=bell, numexpr=bell_ne, pythran=True,
    reason="np.exp to NumPy's bits",
)  # fmt: skip


# -- one operation with a new result
def fresh(a, b, c):
    return a + 1


def fresh_loops(a, b, c):
    d = np.empty_like(a)
    for i in range(a.shape[0]):
        d[i] = a[i] + 1
    return d


program(fresh, vectors, (10_000, 4_000_000), loops=fresh_loops, jax=fresh)


# -- sums
def total(a, b):
    return np.sum(a)


def total_loops(a, b):
    s = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s += a[i, j]
    return s


program(total, matrices, (100, 3000), loops=total_loops, jax=total)


def columns(a, b):
    return a.sum(axis=0)


def columns_loops(a, b):
    s = np.zeros(a.shape[1])
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s[j] += a[i, j]
    return s


program(columns, matrices, (100, 3000), loops=columns_loops, jax=columns)


def distance(a, b):
    return np.sqrt(np.sum((a - b) ** 2))


def distance_loops(a, b):
    s = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s += (a[i, j] - b[i, j]) ** 2
    return np.sqrt(s)


def distance_ne(a, b):
    return np.sqrt(ne.evaluate("sum((a - b) ** 2)"))


program(
    distance, matrices, (100, 2000), loops=distance_loops, pythran=True, jax=distance, numexpr=distance_ne,
)  # fmt: skip


def farthest(a, b):
    """The place of the largest difference."""
    d = np.abs(a - b)
    return d.argmax(), d.max()


def farthest_loops(a, b):
    most, place = -1.0, 0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            d = abs(a[i, j] - b[i, j])
            if d > most:
                most, place = d, i * a.shape[1] + j
    return place, most


program(
    farthest, matrices, (100, 2000), loops=farthest_loops, jax=farthest,
    reason="argmax is a host call, for which the differences are stored",
)  # fmt: skip


# -- masks and gathers
def gather(a, i, w):
    return (a[i] * w).sum()


def gather_loops(a, i, w):
    s = 0.0
    for k in range(i.shape[0]):
        s += a[i[k]] * w[k]
    return s


program(
    gather, picks, (10_000, 2_000_000), loops=gather_loops, jax=gather,
    reason="indices are compared block by block, a sweep more, before their elements are read",
)  # fmt: skip


def compress(a, i, w):
    return a[w > 0.5]


def compress_loops(a, i, w):
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


program(compress, picks, (10_000, 2_000_000), loops=compress_loops)


def masked_mean(a, i, w):
    chosen = a[w > 0.5]
    return chosen.mean(), chosen.max()


def masked_mean_loops(a, i, w):
    n, s, most = 0, 0.0, -np.inf
    for k in range(w.shape[0]):
        if w[k] > 0.5:
            n += 1
            s += a[k]
            most = max(most, a[k])
    return s / n, most


def masked_mean_jax(a, i, w):
    mask = w > 0.5
    return jnp.where(mask, a, 0).sum() / mask.sum(), jnp.where(mask, a, -jnp.inf).max()


program(
    masked_mean, picks, (10_000, 2_000_000), loops=masked_mean_loops, jax=masked_mean_jax,
    reason="the mask's elements are counted and copied before they are reduced",
)  # fmt: skip


def deposit(a, i, w):
    np.add.at(a, i, w)


def deposit_loops(a, i, w):
    for k in range(i.shape[0]):
        a[i[k]] += w[k]


def deposit_jax(a, i, w):
    return a.at[i].add(w)


program(
    deposit, picks, (10_000, 2_000_000), stores="a", loops=deposit_loops, jax=deposit_jax,
    reason="indices are compared block by block, a sweep more, before their elements are stored to",
)  # fmt: skip


# -- complex numbers
def orbit(z, c):
    for _ in range(4):
        z = z * z + c
    return np.abs(z)


def orbit_init(n):
    return tuple(np.random.default_rng(0).random((2, n)) * (0.15 + 0.15j))


def orbit_loops(z, c):
    out = np.empty(z.shape[0])
    for k in range(z.shape[0]):
        w = z[k]
        for _ in range(4):
            w = w * w + c[k]
        out[k] = abs(w)
    return out


program(
    orbit, orbit_init, (5_000, 1_000_000), loops=orbit_loops, pythran=True, jax=orbit,
    reason="each step is a sweep of its own; np.abs of complex numbers is NumPy's hypot, to the bit",
)  # fmt: skip
