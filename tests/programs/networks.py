"""Layers of neural networks: convolution, pooling, normalisation, softmax, recurrence."""

import numpy as np

from .registry import program


@program(lambda random, n: (random.random((2, 3, n, n)), random.random((4, 3, 3, 3)) - 0.5, random.random(4)))
def conv2d_by_loops(x, w, b):
    batch, _, h, width = x.shape
    filters, _, kh, kw = w.shape
    out = np.zeros((batch, filters, h - kh + 1, width - kw + 1))
    for i in range(batch):
        for f in range(filters):
            for r in range(out.shape[2]):
                for c in range(out.shape[3]):
                    out[i, f, r, c] = np.sum(x[i, :, r : r + kh, c : c + kw] * w[f]) + b[f]
    return out


@program(lambda random, n: (random.random((2, n, n, 3), dtype=np.float32), random.random((3, 3, 3, 4), np.float32), 1))
def conv2d_by_slices(x, w, pad):
    batch, h, width, channels = x.shape
    padded = np.zeros((batch, h + 2 * pad, width + 2 * pad, channels), dtype=x.dtype)
    padded[:, pad : pad + h, pad : pad + width] = x
    out = np.zeros((batch, h, width, w.shape[3]), dtype=x.dtype)
    for i in range(w.shape[0]):
        for j in range(w.shape[1]):
            out += padded[:, i : i + h, j : j + width, :] @ w[i, j]
    return np.maximum(out, 0)


@program(lambda random, n: (random.random((n, 5)), random.random(5), random.random(5), np.zeros(5), np.ones(5)))
def batch_norm(x, gamma, beta, running_mean, running_var):
    mean = x.mean(axis=0)
    var = x.var(axis=0)
    running_mean *= 0.9
    running_mean += 0.1 * mean
    running_var[:] = 0.9 * running_var + 0.1 * var
    return gamma * (x - mean) / np.sqrt(var + 1e-5) + beta


@program(lambda random, n: (random.random((n, 6)) - 0.5, random.integers(0, 6, n)))
def cross_entropy(logits, labels):
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_probs = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    loss = 0.0
    grad = np.exp(log_probs)
    for i, label in enumerate(labels):
        loss -= log_probs[i, label]
        grad[i, label] -= 1
    grad /= len(labels)
    return loss / len(labels), grad


@program(
    lambda random, n: (
        random.random((n, 4)),
        random.random((n, 2)),
        random.random((4, 5)) - 0.5,
        np.zeros(5),
        random.random((5, 2)) - 0.5,
        np.zeros(2),
        0.1,
        3,
    )
)
def train_mlp(x, y, w1, b1, w2, b2, rate, epochs):
    losses = np.zeros(epochs)
    for epoch in range(epochs):
        hidden = np.tanh(x @ w1 + b1)
        prediction = hidden @ w2 + b2
        error = prediction - y
        losses[epoch] = (error**2).mean()
        grad = 2 * error / error.size
        gw2 = hidden.T @ grad
        gb2 = grad.sum(axis=0)
        gh = (grad @ w2.T) * (1 - hidden**2)
        w1 -= rate * (x.T @ gh)
        b1 -= rate * gh.sum(axis=0)
        w2 -= rate * gw2
        b2 -= rate * gb2
    return losses


@program(
    lambda random, n: (
        random.random((n, 2, 3)),
        random.random((3, 16)) - 0.5,
        random.random((4, 16)) - 0.5,
        random.random(16),
    )
)
def lstm(x, wx, wh, b):
    def sigmoid(z):
        return 1 / (1 + np.exp(-z))

    steps, batch, _ = x.shape
    size = wh.shape[0]
    h = np.zeros((batch, size))
    c = np.zeros((batch, size))
    out = np.empty((steps, batch, size))
    for t in range(steps):
        gates = x[t] @ wx + h @ wh + b
        i = sigmoid(gates[:, :size])
        f = sigmoid(gates[:, size : 2 * size])
        g = np.tanh(gates[:, 2 * size : 3 * size])
        o = sigmoid(gates[:, 3 * size :])
        c = f * c + i * g
        h = o * np.tanh(c)
        out[t] = h
    return out, h, c


@program(lambda random, n: (random.random((2, n, 4)), *(random.random((4, 4)) for _ in range(3))))
def self_attention(x, wq, wk, wv):
    out = np.empty_like(x)
    for b in range(x.shape[0]):
        q, k, v = x[b] @ wq, x[b] @ wk, x[b] @ wv
        scores = q @ k.T / np.sqrt(q.shape[-1])
        for i in range(scores.shape[0]):
            scores[i, i + 1 :] = -np.inf
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1)[:, None]
        out[b] = scores @ v
    return out


@program(lambda random, n: (random.random((2, 3, 2 * n, 2 * n)),))
def pool_by_reshape(x):
    b, c, h, w = x.shape
    tiles = x.reshape(b, c, h // 2, 2, w // 2, 2)
    return tiles.max(axis=(3, 5)), tiles.mean(axis=(3, 5))


@program(lambda random, n: (random.random((2, n, n, 3)), random.random((6, 3)), random.random(6)))
def layer_norm_and_dense(images, w, b):
    flat = images.reshape(-1, images.shape[-1])
    mu = flat.mean(axis=-1, keepdims=True)
    sigma = flat.std(axis=-1, keepdims=True)
    normal = (flat - mu) / (sigma + 1e-6)
    y = normal @ w.T + b
    y = np.where(y > 0, y, 0.01 * y)
    return y.reshape(images.shape[0], images.shape[1], images.shape[2], -1)


@program(lambda random, n: (random.random((n, 3)), random.random((3, 3)), random.random((3, 3)), np.zeros(3)))
def elman_rnn_backward(x, wx, wh, b):
    steps = x.shape[0]
    states = np.zeros((steps + 1, 3))
    for t in range(steps):
        states[t + 1] = np.tanh(wx @ x[t] + wh @ states[t] + b)
    gx, gh = np.zeros_like(wx), np.zeros_like(wh)
    delta = states[-1]
    for t in range(steps - 1, -1, -1):
        delta = delta * (1 - states[t + 1] ** 2)
        gx += np.outer(delta, x[t])
        gh += np.outer(delta, states[t])
        delta = wh.T @ delta
    return gx, gh, delta
