"""Statistics of series and samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.programs.registry import program

if TYPE_CHECKING:
    import jax.numpy as jnp


# -- mean and spread of a moving window, by running sums
def rolling(x, width):
    sums = np.cumsum(np.concatenate(([0.0], x)))
    squares = np.cumsum(np.concatenate(([0.0], x * x)))
    mean = (sums[width:] - sums[:-width]) / width
    var = (squares[width:] - squares[:-width]) / width - mean * mean
    return mean, np.sqrt(np.maximum(var, 0.0))


def series(n):
    return np.random.default_rng(0).random(n), 8 if n < 100 else 50


def rolling_loops(x, width):
    n = len(x) - width + 1
    mean, std = np.empty(n), np.empty(n)
    s = q = 0.0
    for i in range(len(x)):
        s += x[i]
        q += x[i] * x[i]
        if i >= width:
            s -= x[i - width]
            q -= x[i - width] * x[i - width]
        if i >= width - 1:
            k = i - width + 1
            mean[k] = s / width
            std[k] = np.sqrt(max(q / width - mean[k] * mean[k], 0.0))
    return mean, std


def rolling_jax(x, width):
    sums = jnp.cumsum(jnp.concatenate([jnp.zeros(1), x]))
    squares = jnp.cumsum(jnp.concatenate([jnp.zeros(1), x * x]))
    mean = (sums[width:] - sums[:-width]) / width
    var = (squares[width:] - squares[:-width]) / width - mean * mean
    return mean, jnp.sqrt(jnp.maximum(var, 0.0))


program(rolling, series, (10_000, 2_000_000), loops=rolling_loops, pythran=True, jax=rolling_jax, tolerance=1e-7)


# -- bootstrap: means of samples by given indices
def bootstrap(data, indices):
    means = data[indices].mean(axis=1)
    return means.mean(), means.std(), np.percentile(means, [2.5, 97.5])


def bootstrap_init(n):
    r = np.random.default_rng(0)
    return r.random(n), r.integers(0, n, (200 if n > 100 else 8, n))


def bootstrap_loops(data, indices):
    k, n = indices.shape
    means = np.empty(k)
    for i in range(k):
        s = 0.0
        for j in range(n):
            s += data[indices[i, j]]
        means[i] = s / n
    return means.mean(), means.std(), np.percentile(means, np.array([2.5, 97.5]))


def bootstrap_jax(data, indices):
    means = data[indices].mean(axis=1)
    return means.mean(), means.std(), jnp.percentile(means, jnp.array([2.5, 97.5]))


program(
    bootstrap, bootstrap_init, (200, 10_000), loops=bootstrap_loops, jax=bootstrap_jax,
    reason="each index is checked; the means are swept over for each statistic",
)  # fmt: skip


# -- a histogram with weights, in bins of one width
def weighted_histogram(x, weights, bins):
    return np.histogram(x, bins, range=(0.0, 1.0), weights=weights)[0]


def weighted(n):
    return *np.random.default_rng(0).random((2, n)), 32


def weighted_histogram_loops(x, weights, bins):
    edges = np.linspace(0.0, 1.0, bins + 1)
    out = np.zeros(bins)
    for k in range(len(x)):
        i = min(int(x[k] * bins), bins - 1)
        if x[k] < edges[i]:
            i -= 1
        elif i < bins - 1 and x[k] >= edges[i + 1]:
            i += 1
        out[i] += weights[k]
    return out


def weighted_histogram_jax(x, weights, bins):
    return jnp.histogram(x, bins, range=(0.0, 1.0), weights=weights)[0]


program(
    weighted_histogram, weighted, (10_000, 1_000_000), loops=weighted_histogram_loops, jax=weighted_histogram_jax,
    reason="the extremes are looked for twice, and each place is computed without branches",
)  # fmt: skip


# -- means and spreads of groups
def group_means(x, groups, count):
    n = np.bincount(groups, minlength=count)
    mean = np.bincount(groups, weights=x, minlength=count) / n
    away = x - mean[groups]
    return mean, np.sqrt(np.bincount(groups, weights=away * away, minlength=count) / n)


def grouped(n):
    r = np.random.default_rng(0)
    count = 4 if n < 100 else 50
    return r.random(n), np.concatenate([np.arange(count), r.integers(0, count, n - count)]), count


def group_means_loops(x, groups, count):
    n, mean, var = np.zeros(count), np.zeros(count), np.zeros(count)
    for i in range(len(x)):
        n[groups[i]] += 1
        mean[groups[i]] += x[i]
    for k in range(count):
        mean[k] /= n[k]
    for i in range(len(x)):
        d = x[i] - mean[groups[i]]
        var[groups[i]] += d * d
    return mean, np.sqrt(var / n)


def group_means_jax(x, groups, count):
    n = jnp.bincount(groups, length=count)
    mean = jnp.bincount(groups, weights=x, length=count) / n
    away = x - mean[groups]
    return mean, jnp.sqrt(jnp.bincount(groups, weights=away * away, length=count) / n)


program(
    group_means, grouped, (10_000, 1_000_000), loops=group_means_loops, jax=group_means_jax,
    reason="each bincount looks for the largest number first; the loops know the number of groups",
)  # fmt: skip


# -- standard scores of columns, outliers cut off
def standard_scores(x, limit):
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    return np.clip(z, -limit, limit), (np.abs(z) > limit).sum()


def table(n):
    return np.random.default_rng(0).standard_normal((n, 16)), 2.0


def standard_scores_loops(x, limit):
    n, m = x.shape
    mean, var = np.zeros(m), np.zeros(m)
    for i in range(n):
        for j in range(m):
            mean[j] += x[i, j]
    for j in range(m):
        mean[j] /= n
    for i in range(n):
        for j in range(m):
            var[j] += (x[i, j] - mean[j]) ** 2
    std = np.sqrt(var / n)
    out, count = np.empty_like(x), 0
    for i in range(n):
        for j in range(m):
            z = (x[i, j] - mean[j]) / std[j]
            count += abs(z) > limit
            out[i, j] = min(max(z, -limit), limit)
    return out, count


program(
    standard_scores, table, (500, 300_000), loops=standard_scores_loops, jax=standard_scores,
    reason="the means are computed twice, as std does; the scores are stored for two sweeps more",
)  # fmt: skip
