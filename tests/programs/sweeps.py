"""Sweeps along an axis, forwards and backwards: Thomas' algorithm, alternating directions, recursive filters."""

import math

import numpy as np

from .registry import program


@program(lambda random, n: (random.random(n - 1), random.random(n) + 3, random.random(n - 1), random.random(n)))
def thomas(a, b, c, d):
    n = len(d)
    cp, dp = c.copy(), d.copy()
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i - 1] * cp[i - 1]
        if i < n - 1:
            cp[i] = c[i] / m
        dp[i] = (d[i] - a[i - 1] * dp[i - 1]) / m
    x = np.zeros(n)
    x[-1] = dp[-1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return x


@program(lambda random, n: (*(random.random((n, 3, 4)) + k for k in (0, 3, 0)), random.random((n, 3, 4))))
def tridiagonal_columns(lower, diagonal, upper, rhs):
    k = rhs.shape[0]
    for i in range(1, k):
        w = lower[i] / diagonal[i - 1]
        diagonal[i] -= w * upper[i - 1]
        rhs[i] -= w * rhs[i - 1]
    rhs[-1] /= diagonal[-1]
    for i in reversed(range(k - 1)):
        rhs[i] = (rhs[i] - upper[i] * rhs[i + 1]) / diagonal[i]
    return rhs


@program(lambda random, n: (random.random((n, n)), 0.3, 2))
def adi_heat(u, r, steps):
    n = u.shape[0]
    gamma = np.zeros(n)
    beta = 1 + 2 * r
    for _ in range(steps):
        for axis in range(2):
            v = u if axis == 0 else u.T
            gamma[0] = 0.0
            for j in range(1, n - 1):
                m = beta + r * gamma[j - 1]
                gamma[j] = -r / m
                v[j, 1:-1] = (v[j, 1:-1] + r * v[j - 1, 1:-1]) / m
            for j in range(n - 2, 0, -1):
                v[j, 1:-1] -= gamma[j] * v[j + 1, 1:-1]
    return u


@program(lambda random, n: (random.random((n, n + 2)), 0.25))
def deriche(img, alpha):
    k = (1.0 - math.exp(-alpha)) ** 2 / (1.0 + 2.0 * alpha * math.exp(-alpha) - math.exp(2.0 * alpha))
    a1 = a5 = k
    a2 = a6 = k * math.exp(-alpha) * (alpha - 1.0)
    a3 = a7 = k * math.exp(-alpha) * (alpha + 1.0)
    a4 = a8 = -k * math.exp(-2.0 * alpha)
    b1 = 2.0 ** (-alpha)
    b2 = -math.exp(-2.0 * alpha)
    y1 = np.empty_like(img)
    y1[:, 0] = a1 * img[:, 0]
    y1[:, 1] = a1 * img[:, 1] + a2 * img[:, 0] + b1 * y1[:, 0]
    for j in range(2, img.shape[1]):
        y1[:, j] = a1 * img[:, j] + a2 * img[:, j - 1] + b1 * y1[:, j - 1] + b2 * y1[:, j - 2]
    y2 = np.empty_like(img)
    y2[:, -1] = 0.0
    y2[:, -2] = a3 * img[:, -1]
    for j in range(img.shape[1] - 3, -1, -1):
        y2[:, j] = a3 * img[:, j + 1] + a4 * img[:, j + 2] + b1 * y2[:, j + 1] + b2 * y2[:, j + 2]
    out = y1 + y2
    y1[0, :] = a5 * out[0, :]
    y1[1, :] = a5 * out[1, :] + a6 * out[0, :] + b1 * y1[0, :]
    for i in range(2, img.shape[0]):
        y1[i, :] = a5 * out[i, :] + a6 * out[i - 1, :] + b1 * y1[i - 1, :] + b2 * y1[i - 2, :]
    y2[-1, :] = 0.0
    y2[-2, :] = a7 * out[-1, :]
    for i in range(img.shape[0] - 3, -1, -1):
        y2[i, :] = a7 * out[i + 1, :] + a8 * out[i + 2, :] + b1 * y2[i + 1, :] + b2 * y2[i + 2, :]
    return y1 + y2


@program(lambda random, n: (random.random((3, 2 * n)), 0.2))
def zero_phase_smoothing(x, alpha):
    y = np.empty_like(x)
    for row in range(x.shape[0]):
        state = x[row, 0]
        for i in range(x.shape[1]):
            state += alpha * (x[row, i] - state)
            y[row, i] = state
        state = y[row, -1]
        for i in range(x.shape[1])[::-1]:
            state += alpha * (y[row, i] - state)
            y[row, i] = state
    return y


@program(lambda random, n: (np.array([0.2, 0.3, 0.2]), np.array([1.0, -0.5, 0.25]), random.random(2 * n)))
def lfilter(b, a, x):
    order = len(b)
    z = np.zeros(order)
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = b[0] * x[i] + z[0]
        for k in range(1, order):
            z[k - 1] = b[k] * x[i] + z[k] - a[k] * y[i]
    return y, z


@program(lambda random, n: (random.random((n, n + 1, n + 2)), 0.1, 2))
def sweeps_along_each_axis(u, c, rounds):
    for _ in range(rounds):
        for axis in (0, 1, 2):
            v = np.moveaxis(u, axis, 0)
            for k in range(1, v.shape[0]):
                v[k] += c * v[k - 1]
            for k in range(v.shape[0] - 2, -1, -1):
                v[k] += c * v[k + 1]
    return u


@program(lambda random, n: (random.random((n, 3)), random.random((n, 3)) + 0.5, random.random(3)))
def vertical_integral(rate, height, surface):
    levels = rate.shape[0]
    pressure = np.zeros((levels + 1, rate.shape[1]))
    pressure[levels] = surface
    for k in range(levels - 1, -1, -1):
        pressure[k] = pressure[k + 1] + rate[k] * height[k]
        np.maximum(pressure[k], 0.25, out=pressure[k])
    weights = pressure[1:] - pressure[:-1]
    return np.sum(weights * height, axis=0) / weights.sum(axis=0)


@program(lambda random, n: (random.random((n, n + 1)) > 0.7,))
def distance_transform(mask):
    far = mask.shape[0] + mask.shape[1]
    d = np.where(mask, 0, far)
    rows, cols = d.shape
    for i in range(rows):
        for j in range(cols):
            if i > 0:
                d[i, j] = min(d[i, j], d[i - 1, j] + 1)
            if j > 0:
                d[i, j] = min(d[i, j], d[i, j - 1] + 1)
    for i in range(rows - 1, -1, -1):
        for j in range(cols - 1, -1, -1):
            if i < rows - 1 and d[i + 1, j] + 1 < d[i, j]:
                d[i, j] = d[i + 1, j] + 1
            if j < cols - 1 and d[i, j + 1] + 1 < d[i, j]:
                d[i, j] = d[i, j + 1] + 1
    return d
