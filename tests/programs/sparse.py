"""Sparse matrices and graphs as arrays: rows by pointers, entries by coordinates, ranks, shortest paths."""

import numpy as np

from .registry import program


def csr(random, n, width=4):
    counts = random.integers(1, width, n)
    pointers = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    return pointers, random.integers(0, n, pointers[-1]), random.random(pointers[-1])


@program(lambda random, n: (*csr(random, n), random.random(n)))
def csr_matvec_by_gathers(indptr, indices, data, x):
    y = np.zeros(len(indptr) - 1)
    for i in range(len(y)):
        row = slice(indptr[i], indptr[i + 1])
        y[i] = data[row] @ x[indices[row]]
    return y


@program(lambda random, n: (*csr(random, n), random.random(n)))
def csr_matvec_by_reduceat(indptr, indices, data, x):
    return np.add.reduceat(data * x[indices], indptr[:-1])


@program(lambda random, n: (random.integers(0, n, 3 * n), random.integers(0, n, 3 * n), random.random(3 * n), n))
def coo_to_dense_and_sums(rows, cols, values, n):
    dense = np.zeros((n, n))
    np.add.at(dense, (rows, cols), values)
    by_row = np.bincount(rows, weights=values, minlength=n)
    return dense, by_row, np.bincount(cols, minlength=n)


@program(lambda random, n: (*csr(random, n), random.random(n), 1e-10))
def csr_jacobi(indptr, indices, data, b, tol):
    n = len(b)
    x = np.zeros(n)
    for sweep in range(50):
        new = np.empty(n)
        for i in range(n):
            total = 0.0
            for k in range(indptr[i], indptr[i + 1]):
                total += data[k] * x[indices[k]]
            new[i] = (b[i] - 0.1 * total) / 2.0
        change = np.abs(new - x).max()
        x = new
        if change < tol:
            break
    return x, sweep


@program(lambda random, n: ((random.random((n, n)) < 0.3).astype(float), 0.85))
def page_rank(links, damping):
    n = links.shape[0]
    out = links.sum(axis=1)
    dangling = out == 0
    out[dangling] = 1.0
    rank = np.full(n, 1.0 / n)
    for _ in range(30):
        lost = rank[dangling].sum()
        rank = (1 - damping) / n + damping * (links.T @ (rank / out) + lost / n)
    return rank, rank.argmax()


@program(lambda random, n: (random.integers(0, n, 4 * n), random.integers(0, n, 4 * n), n))
def page_rank_by_edges(source, target, n):
    degree = np.bincount(source, minlength=n)
    rank = np.ones(n) / n
    for _ in range(20):
        share = rank / np.maximum(degree, 1)
        rank = 0.15 / n + 0.85 * np.bincount(target, weights=share[source], minlength=n)
    return rank


@program(lambda random, n: (np.where(random.random((n, n)) < 0.5, random.random((n, n)), np.inf), 0))
def dijkstra_dense(weights, source):
    n = weights.shape[0]
    dist = np.full(n, np.inf)
    done = np.zeros(n, dtype=bool)
    previous = np.full(n, -1)
    dist[source] = 0.0
    for _ in range(n):
        u = np.argmin(np.where(done, np.inf, dist))
        if dist[u] == np.inf:
            break
        done[u] = True
        through = dist[u] + weights[u]
        better = through < dist
        dist[better] = through[better]
        previous[better] = u
    return dist, previous


@program(lambda random, n: (random.random((n, n)) * 10,))
def floyd_warshall_by_outer(dist):
    np.fill_diagonal(dist, 0.0)
    for k in range(dist.shape[0]):
        np.minimum(dist, np.add.outer(dist[:, k], dist[k]), out=dist)
    return dist.max()


@program(lambda random, n: (random.random((n, n)),))
def min_plus_square(a):
    result = a.copy()
    steps = 1
    while steps < a.shape[0]:
        result = (result[:, :, None] + result[None, :, :]).min(axis=1)
        steps *= 2
    return result


@program(lambda random, n: (random.integers(0, n, 3 * n), random.integers(0, n, 3 * n), random.random(3 * n), n))
def bellman_ford_by_edges(a, b, cost, n):
    dist = np.full(n, np.inf)
    dist[0] = 0.0
    for _ in range(n - 1):
        old = dist.copy()
        np.minimum.at(dist, b, dist[a] + cost)
        if np.array_equal(old, dist):
            break
    return dist, np.isfinite(dist)


@program(lambda random, n: (random.random((n, n)) < 0.25, 0))
def breadth_first_by_frontiers(adjacent, start):
    level = np.full(adjacent.shape[0], -1)
    level[start] = 0
    frontier = level == 0
    depth = 0
    while frontier.any():
        depth += 1
        frontier = adjacent[frontier].any(axis=0) & (level < 0)
        level[frontier] = depth
    return level


@program(lambda random, n: (random.random((3, 3)), random.random((3, 5)), random.integers(0, 5, n), np.ones(3) / 3))
def forward_backward(transition, emission, observed, start):
    transition = transition / transition.sum(axis=1, keepdims=True)
    emission = emission / emission.sum(axis=1, keepdims=True)
    steps = len(observed)
    alpha = np.zeros((steps, 3))
    beta = np.ones((steps, 3))
    scale = np.zeros(steps)
    alpha[0] = start * emission[:, observed[0]]
    scale[0] = alpha[0].sum()
    alpha[0] /= scale[0]
    for t in range(1, steps):
        alpha[t] = (alpha[t - 1] @ transition) * emission[:, observed[t]]
        scale[t] = alpha[t].sum()
        alpha[t] /= scale[t]
    for t in range(steps - 2, -1, -1):
        beta[t] = transition @ (emission[:, observed[t + 1]] * beta[t + 1]) / scale[t + 1]
    return alpha * beta, np.log(scale).sum()
