"""Sparse matrices and graphs as arrays: rows by pointers, entries by coordinates, ranks, shortest paths."""

import numpy as np

from .registry import program


def csr(random, n, width=4):
    counts = random.integers(1, width, n)
    pointers = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    return pointers, random.integers(0, n, pointers[-1]), random.random(pointers[-1])


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


@program(lambda random, n: (random.random((n, n)),))
def min_plus_square(a):
    result = a.copy()
    steps = 1
    while steps < a.shape[0]:
        result = (result[:, :, None] + result[None, :, :]).min(axis=1)
        steps *= 2
    return result


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
