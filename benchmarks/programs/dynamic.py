"""Dynamic programming: tables filled element by element, from elements before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.programs.registry import C, program

if TYPE_CHECKING:
    import jax.numpy as jnp
    from jax import lax


# -- Nussinov: the most pairs of bases in a folded strand
def nussinov(seq):
    n = len(seq)
    table = np.zeros((n, n), np.int64)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            table[i, j] = max(table[i, j], table[i, j - 1])
            if i + 1 < n:
                table[i, j] = max(table[i, j], table[i + 1, j])
                pair = 1 if seq[i] + seq[j] == 3 and i < j - 1 else 0
                table[i, j] = max(table[i, j], table[i + 1, j - 1] + pair)
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])
    return table


def bases(n):
    return (np.random.default_rng(0).integers(0, 4, n),)


def nussinov_jax(seq):
    n = len(seq)
    places = jnp.arange(n)

    def element(j, row, i, table):
        pair = (seq[i] + seq[j] == 3) & (i < j - 1)
        best = jnp.maximum(row[j - 1], jnp.maximum(table[i + 1, j], table[i + 1, j - 1] + pair))
        below = jnp.roll(table[:, j], -1)
        split = jnp.where((places > i) & (places < j), row + below, 0).max()
        return row.at[j].set(jnp.maximum(best, split))

    def line(t, table):
        i = n - 2 - t
        row = lax.fori_loop(i + 1, n, lambda j, row: element(j, row, i, table), table[i])
        return table.at[i].set(row)

    return lax.fori_loop(0, n - 1, line, jnp.zeros((n, n), jnp.int64))


NUSSINOV_C = """
#define MOST(x) do { long y = (x); if (y > best) best = y; } while (0)
void nussinov(const long *seq, long n, long *restrict t) {
  for (long i = n - 2; i >= 0; i--)
    for (long j = i + 1; j < n; j++) {
      long best = t[i * n + j];
      MOST(t[i * n + j - 1]);
      MOST(t[(i + 1) * n + j]);
      MOST(t[(i + 1) * n + j - 1] + (seq[i] + seq[j] == 3 && i < j - 1));
      for (long k = i + 1; k < j; k++) MOST(t[i * n + k] + t[(k + 1) * n + j]);
      t[i * n + j] = best;
    }
}
"""
program(
    nussinov, bases, (40, 180), loops=nussinov, jax=nussinov_jax, pythran=True,
    c=C(NUSSINOV_C, lambda seq: np.zeros((len(seq),) * 2, np.int64)),
)  # fmt: skip


# -- all shortest paths
def floyd_warshall(d):
    for k in range(d.shape[0]):
        d[:] = np.minimum(d, d[:, k, None] + d[None, k, :])


def distances(n):
    return (np.random.default_rng(0).integers(1, 1000, (n, n)),)


def floyd_warshall_loops(d):
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            to = d[i, k]
            for j in range(n):
                d[i, j] = min(d[i, j], to + d[k, j])


def floyd_warshall_jax(d):
    return lax.fori_loop(0, len(d), lambda k, d: jnp.minimum(d, d[:, k, None] + d[k]), d)


FLOYD_C = """
void floyd_warshall(long *d, long n, long m) {
  for (long k = 0; k < n; k++)
    for (long i = 0; i < n; i++) {
      long to = d[i * n + k];
      for (long j = 0; j < n; j++) {
        long x = to + d[k * n + j];
        d[i * n + j] = x < d[i * n + j] ? x : d[i * n + j];
      }
    }
}
"""
program(
    floyd_warshall, distances, (60, 400), stores="d", loops=floyd_warshall_loops, pythran=True, jax=floyd_warshall_jax,
    c=C(FLOYD_C),
)  # fmt: skip


# -- two sequences
def lcs(a, b):
    """The length of the longest common subsequence."""
    table = np.zeros((len(a) + 1, len(b) + 1), np.int64)
    for i in range(len(a)):
        for j in range(len(b)):
            if a[i] == b[j]:
                table[i + 1, j + 1] = table[i, j] + 1
            else:
                table[i + 1, j + 1] = max(table[i, j + 1], table[i + 1, j])
    return table[-1, -1]


def strands(n):
    return tuple(np.random.default_rng(0).integers(0, 4, (2, n)))


def lcs_jax(a, b):
    def row(above, x):
        def element(left, three):
            corner, up, y = three
            new = jnp.where(x == y, corner + 1, jnp.maximum(up, left))
            return new, new

        return jnp.concatenate([jnp.zeros(1, int), lax.scan(element, 0, (above[:-1], above[1:], b))[1]]), None

    return lax.scan(row, jnp.zeros(len(b) + 1, int), a)[0][-1]


LCS_C = """
#include <stdlib.h>
long lcs(const long *a, long n, const long *b, long m) {
  long *t = calloc((n + 1) * (m + 1), sizeof(long)), w = m + 1;
  for (long i = 0; i < n; i++)
    for (long j = 0; j < m; j++) {
      long up = t[i * w + j + 1], left = t[(i + 1) * w + j];
      t[(i + 1) * w + j + 1] = a[i] == b[j] ? t[i * w + j] + 1 : up > left ? up : left;
    }
  long found = t[n * w + m];
  free(t);
  return found;
}
"""
program(
    lcs, strands, (100, 700), loops=lcs, jax=lcs_jax, pythran=True, c=C(LCS_C, returns="long"),
    reason="a branch that is no select; elements go through memory",
)  # fmt: skip


def edit_distance(a, b):
    """Levenshtein's distance by two rows."""
    before = np.arange(len(b) + 1)
    for i in range(len(a)):
        row = np.empty_like(before)
        row[0] = i + 1
        for j in range(len(b)):
            change = before[j] + (a[i] != b[j])
            row[j + 1] = min(change, before[j + 1] + 1, row[j] + 1)
        before = row
    return before[-1]


def edit_distance_jax(a, b):
    def row(before, x):
        def element(left, three):
            corner, up, y = three
            new = jnp.minimum(corner + (x != y), jnp.minimum(up, left) + 1)
            return new, new

        return jnp.append(before[0] + 1, lax.scan(element, before[0] + 1, (before[:-1], before[1:], b))[1]), None

    return lax.scan(row, jnp.arange(len(b) + 1), a)[0][-1]


program(edit_distance, strands, (100, 600), loops=edit_distance, pythran=True, jax=edit_distance_jax)


# -- knapsack: one row, updated backwards by a slice
def knapsack(values, weights, capacity):
    best = np.zeros(capacity + 1)
    for i in range(len(values)):
        w = weights[i]
        best[w:] = np.maximum(best[w:], best[: capacity + 1 - w] + values[i])
    return best[-1]


def knapsack_init(n):
    r = np.random.default_rng(0)
    return r.random(n), r.integers(1, 20, n), 50 * n


def knapsack_loops(values, weights, capacity):
    best = np.zeros(capacity + 1)
    for i in range(len(values)):
        w, value = weights[i], values[i]
        for j in range(capacity, w - 1, -1):
            best[j] = max(best[j], best[j - w] + value)
    return best[-1]


def knapsack_jax(values, weights, capacity):
    places = jnp.arange(capacity + 1)

    def item(i, best):
        taken = best[jnp.maximum(places - weights[i], 0)] + values[i]
        return jnp.where(places >= weights[i], jnp.maximum(best, taken), best)

    return lax.fori_loop(0, len(values), item, jnp.zeros(capacity + 1))[-1]


program(
    knapsack, knapsack_init, (40, 1000), loops=knapsack_loops, pythran=True, jax=knapsack_jax,
    reason="the store overlaps what it reads: a full temporary, and sizes that are compared in each step",
)  # fmt: skip
