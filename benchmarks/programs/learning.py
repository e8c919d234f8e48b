"""Layers and steps of machine learning; networks in single precision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.programs.registry import program

if TYPE_CHECKING:
    import jax
    import jax.numpy as jnp
    from jax import lax


def normal(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape)


def single(seed, *shape):
    return normal(seed, *shape).astype(np.float32)


# -- normalised rows
def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def softmax_loops(x):
    out = np.empty_like(x)
    n, m = x.shape
    for i in range(n):
        most = x[i, 0]
        for j in range(m):
            most = max(most, x[i, j])
        s = np.float32(0)
        for j in range(m):
            out[i, j] = np.exp(x[i, j] - most)
            s += out[i, j]
        for j in range(m):
            out[i, j] /= s
    return out


program(
    softmax, lambda n: (single(0, n, n),), (100, 2000), loops=softmax_loops, jax=softmax, tolerance=1e-5,
    reason="np.exp to NumPy's bits; JAX's is a polynomial in vectors",
)  # fmt: skip


def layer_norm(x, scale, shift):
    mean = x.mean(axis=-1, keepdims=True)
    var = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(var + 1e-5) * scale + shift


def layer_norm_init(n):
    return single(0, n, n), single(1, n), single(2, n)


def layer_norm_loops(x, scale, shift):
    out = np.empty_like(x)
    n, m = x.shape
    for i in range(n):
        mean = np.float32(0)
        for j in range(m):
            mean += x[i, j]
        mean /= np.float32(m)
        var = np.float32(0)
        for j in range(m):
            var += (x[i, j] - mean) ** 2
        scaled = np.float32(1) / np.sqrt(var / np.float32(m) + np.float32(1e-5))
        for j in range(m):
            out[i, j] = (x[i, j] - mean) * scaled * scale[j] + shift[j]
    return out


program(
    layer_norm, layer_norm_init, (100, 2000), loops=layer_norm_loops, jax=layer_norm, tolerance=1e-4,
    reason="three sweeps over each row; what one made, the next one reads out of the cache",
)  # fmt: skip


# -- convolution: a window at a time
def conv2d(x, kernels, bias):
    k = kernels.shape[0]
    n, h, w = x.shape[0], x.shape[1] - k + 1, x.shape[2] - k + 1
    out = np.empty((n, h, w, kernels.shape[3]), np.float32)
    for i in range(h):
        for j in range(w):
            window = x[:, i : i + k, j : j + k, :, None]
            out[:, i, j, :] = np.sum(window * kernels[None], axis=(1, 2, 3))
    return np.maximum(out + bias, 0)


def conv2d_init(n):
    return single(0, 4, n, n, 3), single(1, 3, 3, 3, 8), single(2, 8)


def conv2d_loops(x, kernels, bias):
    k, _, ci, co = kernels.shape
    n, h, w = x.shape[0], x.shape[1] - k + 1, x.shape[2] - k + 1
    out = np.empty((n, h, w, co), np.float32)
    for b in range(n):
        for i in range(h):
            for j in range(w):
                for o in range(co):
                    out[b, i, j, o] = bias[o]
                for di in range(k):
                    for dj in range(k):
                        for c in range(ci):
                            v = x[b, i + di, j + dj, c]
                            for o in range(co):
                                out[b, i, j, o] += v * kernels[di, dj, c, o]
                for o in range(co):
                    out[b, i, j, o] = max(out[b, i, j, o], np.float32(0))
    return out


def conv2d_jax(x, kernels, bias):
    out = lax.conv_general_dilated(x, kernels, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return jnp.maximum(out + bias, 0)


program(conv2d, conv2d_init, (24, 160), tiny=7, loops=conv2d_loops, jax=conv2d_jax, tolerance=1e-4)


# -- one step of k-means
def kmeans_step(points, centres):
    d = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
    nearest = d.argmin(axis=1)
    counts = np.bincount(nearest, minlength=len(centres))
    new = np.zeros_like(centres)
    np.add.at(new, nearest, points)
    return new / np.maximum(counts, 1)[:, None], nearest


def kmeans_step_init(n):
    return normal(0, n, 4), normal(1, 8, 4)


def kmeans_step_loops(points, centres):
    n, f = points.shape
    k = len(centres)
    nearest, counts, new = np.empty(n, np.int64), np.zeros(k), np.zeros((k, f))
    for i in range(n):
        best, place = np.inf, 0
        for c in range(k):
            d = 0.0
            for j in range(f):
                d += (points[i, j] - centres[c, j]) ** 2
            if d < best:
                best, place = d, c
        nearest[i] = place
        counts[place] += 1
        for j in range(f):
            new[place, j] += points[i, j]
    for c in range(k):
        for j in range(f):
            new[c, j] /= max(counts[c], 1.0)
    return new, nearest


def kmeans_step_jax(points, centres):
    d = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
    nearest = d.argmin(axis=1)
    counts = jnp.bincount(nearest, length=len(centres))
    return jnp.zeros_like(centres).at[nearest].add(points) / jnp.maximum(counts, 1)[:, None], nearest


program(
    kmeans_step, kmeans_step_init, (500, 200_000), loops=kmeans_step_loops, jax=kmeans_step_jax, rounding=1e-4,
    reason="the distances are stored for argmin, whose indices are checked and looked up twice",
)  # fmt: skip


# -- one step of gradient descent for a logistic regression
def logistic_step(X, y, w, rate):
    p = 1.0 / (1.0 + np.exp(-(X @ w)))
    loss = -np.mean(y * np.log(p + 1e-12) + (1 - y) * np.log(1 - p + 1e-12))
    w -= rate * (X.T @ (p - y) / len(y) + 0.01 * w)
    return loss


def logistic_step_init(n):
    return normal(0, n, 32), (normal(1, n) > 0).astype(float), 0.1 * normal(2, 32), 0.1


def logistic_step_loops(X, y, w, rate):
    n, m = X.shape
    slope, loss = np.zeros(m), 0.0
    for i in range(n):
        s = 0.0
        for j in range(m):
            s += X[i, j] * w[j]
        p = 1.0 / (1.0 + np.exp(-s))
        loss -= y[i] * np.log(p + 1e-12) + (1 - y[i]) * np.log(1 - p + 1e-12)
        for j in range(m):
            slope[j] += X[i, j] * (p - y[i])
    for j in range(m):
        w[j] -= rate * (slope[j] / n + 0.01 * w[j])
    return loss / n


def logistic_step_jax(X, y, w, rate):
    p = 1.0 / (1.0 + np.exp(-(X @ w)))
    loss = -np.mean(y * np.log(p + 1e-12) + (1 - y) * np.log(1 - p + 1e-12))
    return loss, w - rate * (X.T @ (p - y) / len(y) + 0.01 * w)


program(
    logistic_step, logistic_step_init, (500, 200_000), stores="w", loops=logistic_step_loops, jax=logistic_step_jax,
    reason="each of two products is BLAS's, to the bit, and reads the matrix from memory",
)  # fmt: skip


# -- a perceptron of three layers
def mlp(x, w1, b1, w2, b2, w3, b3):
    h = np.maximum(x @ w1 + b1, 0)
    h = np.maximum(h @ w2 + b2, 0)
    out = h @ w3 + b3
    e = np.exp(out - out.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def mlp_init(n):
    m, a, b = 4 * n, 2 * n, n
    layers = ((m, a), (a,), (a, b), (b,), (b, 10), (10,))
    return single(0, 16 if n < 100 else 256, m), *(single(k, *s) / np.float32(np.sqrt(n)) for k, s in enumerate(layers))


program(mlp, mlp_init, (20, 400), tiny=4, jax=mlp, tolerance=1e-3)


# -- distances between all rows of two sets
def pairwise_distances(x, y):
    d2 = (x**2).sum(axis=1)[:, None] + (y**2).sum(axis=1)[None, :] - 2 * x @ y.T
    return np.sqrt(np.maximum(d2, 0))


def pairwise_distances_init(n):
    return normal(0, n, 16), normal(1, n, 16)


def pairwise_distances_loops(x, y):
    out = np.empty((len(x), len(y)))
    for i in range(len(x)):
        for j in range(len(y)):
            s = 0.0
            for k in range(x.shape[1]):
                s += (x[i, k] - y[j, k]) ** 2
            out[i, j] = np.sqrt(s)
    return out


program(
    pairwise_distances, pairwise_distances_init, (80, 1500), loops=pairwise_distances_loops, jax=pairwise_distances,
)  # fmt: skip


# -- a recurrent layer
def rnn(x, wx, wh, b):
    h = np.zeros((x.shape[1], wh.shape[0]))
    states = np.empty((x.shape[0], *h.shape))
    for t in range(x.shape[0]):
        h = np.tanh(x[t] @ wx + h @ wh + b)
        states[t] = h
    return states


def rnn_init(n):
    return normal(0, 20, 8, n), 0.1 * normal(1, n, n), 0.1 * normal(2, n, n), normal(3, n)


def rnn_jax(x, wx, wh, b):
    def step(h, v):
        h = jnp.tanh(v @ wx + h @ wh + b)
        return h, h

    return lax.scan(step, jnp.zeros((x.shape[1], wh.shape[0])), x)[1]


program(
    rnn, rnn_init, (24, 600), jax=rnn_jax,
    reason="np.tanh to NumPy's bits",
)  # fmt: skip


# -- attention of one head
def attention(q, k, v):
    scores = q @ k.T / np.sqrt(np.float32(q.shape[1]))
    scores -= scores.max(axis=1, keepdims=True)
    weights = np.exp(scores)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights @ v


def attention_jax(q, k, v):
    return jax.nn.softmax(q @ k.T / jnp.sqrt(jnp.float32(q.shape[1])), axis=1) @ v


program(
    attention, lambda n: (single(0, n, 32), single(1, n, 32), single(2, n, 32)), (64, 1500), jax=attention_jax,
    tolerance=1e-4,
    reason="np.exp to NumPy's bits; JAX's is a polynomial in vectors",
)  # fmt: skip
