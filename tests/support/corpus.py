"""Programs as people write them: stencils, factorizations, solvers, statistics, images. Each in plain NumPy slices.

Most are the kernels of PolyBench or a textbook, in the spelling that NumPy users give them. `PROGRAMS` has each with a
function that makes its arguments from a generator and a size. Who reads this: tests/programs/test_corpus.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Arguments = Callable[[Callable[..., np.ndarray], int], tuple[Any, ...]]
PROGRAMS: dict[str, tuple[Callable[..., Any], Arguments]] = {}


def program(arguments: Arguments) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function with what it is called with: `arguments(random, n)`."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[function.__name__] = (function, arguments)
        return function

    return register


def dominant(random: Callable[..., np.ndarray], n: int) -> np.ndarray:
    """A symmetric positive definite matrix."""
    a = random(n, n)
    return a + a.T + 2 * n * np.eye(n)


# -- stencils


@program(lambda random, n: (random(n, n + 1), random(n, n + 1), 3))
def jacobi(a, b, steps):
    for _ in range(1, steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])


@program(lambda random, n: (random(n, n + 1, n + 2), random(n, n + 1, n + 2), 2))
def heat(a, b, steps):
    for _ in range(steps):
        inner = a[1:-1, 1:-1, 1:-1]
        b[1:-1, 1:-1, 1:-1] = inner + 0.125 * (
            (a[2:, 1:-1, 1:-1] - 2.0 * inner + a[:-2, 1:-1, 1:-1])
            + (a[1:-1, 2:, 1:-1] - 2.0 * inner + a[1:-1, :-2, 1:-1])
            + (a[1:-1, 1:-1, 2:] - 2.0 * inner + a[1:-1, 1:-1, :-2])
        )
        a[:] = b


@program(lambda random, n: (random(n, n + 1), random(n, n + 1), random(n, n + 1), random(3)))
def fdtd(ex, ey, hz, source):
    for t in range(source.shape[0]):
        ey[0, :] = source[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


@program(lambda random, n: (random(n, n), 2))
def alternating_directions(u, steps):
    n = u.shape[0]
    v, p, q = np.empty(u.shape, dtype=u.dtype), np.empty_like(u), np.empty_like(u)
    a, b = -0.5 * n * n / steps, 1.0 + n * n / steps
    for _ in range(steps):
        v[0, 1 : n - 1] = 1.0
        p[1 : n - 1, 0] = 0.0
        q[1 : n - 1, 0] = v[0, 1 : n - 1]
        for j in range(1, n - 1):
            p[1 : n - 1, j] = -a / (a * p[1 : n - 1, j - 1] + b)
            right = -a * u[j, 0 : n - 2] + (1.0 + 2.0 * a) * u[j, 1 : n - 1] - a * u[j, 2:n] - a * q[1 : n - 1, j - 1]
            q[1 : n - 1, j] = right / (a * p[1 : n - 1, j - 1] + b)
        v[n - 1, 1 : n - 1] = 1.0
        for j in range(n - 2, 0, -1):
            v[j, 1 : n - 1] = p[1 : n - 1, j] * v[j + 1, 1 : n - 1] + q[1 : n - 1, j]
        u[1:-1, 1:-1] = v[1:-1, 1:-1].T


@program(lambda random, n: (random(n, n), 2))
def seidel(a, steps):
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            a[i, 1:-1] += a[i - 1, :-2] + a[i - 1, 1:-1] + a[i - 1, 2:] + a[i, 2:] + a[i + 1, :-2] + a[i + 1, 1:-1]
            for j in range(1, a.shape[1] - 1):
                a[i, j] += a[i, j - 1]
                a[i, j] /= 9.0


@program(lambda random, n: (random(n, n), random(n, n), 0.1, 3))
def pressure(p, u, dx, rounds):
    b = np.zeros_like(p)
    b[1:-1, 1:-1] = (u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx) - ((u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * dx)) ** 2
    old = np.empty_like(p)
    for _ in range(rounds):
        old[:] = p
        p[1:-1, 1:-1] = (old[1:-1, 2:] + old[1:-1, :-2] + old[2:, 1:-1] + old[:-2, 1:-1]) / 4 - dx**2 * b[1:-1, 1:-1]
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[-1, :] = 0
    return p


@program(lambda random, n: (random(n, n), 3))
def relax_on_a_copy(p, rounds):
    for _ in range(rounds):
        old = p.copy()
        p[1:-1, 1:-1] = (old[1:-1, 2:] + old[1:-1, :-2] + old[2:, 1:-1] + old[:-2, 1:-1]) / 4
        p[:, -1] = p[:, -2]
    return p


@program(lambda random, n: (random(n + 4, n + 5, 3), random(n + 4, n + 5, 3)))
def horizontal_diffusion(field, coefficient):
    i, j = field.shape[0] - 4, field.shape[1] - 4
    out = np.zeros((i, j, field.shape[2]))
    laplace = 4.0 * field[1 : i + 3, 1 : j + 3, :] - (
        field[2 : i + 4, 1 : j + 3, :]
        + field[: i + 2, 1 : j + 3, :]
        + field[1 : i + 3, 2:, :]
        + field[1 : i + 3, : j + 2]
    )
    step = laplace[1:, 1 : j + 1, :] - laplace[:-1, 1 : j + 1, :]
    flux_x = np.where(step * (field[2 : i + 3, 2 : j + 2, :] - field[1 : i + 2, 2 : j + 2, :]) > 0, 0, step)
    step = laplace[1 : i + 1, 1:, :] - laplace[1 : i + 1, :-1, :]
    flux_y = np.where(step * (field[2 : i + 2, 2 : j + 3, :] - field[2 : i + 2, 1 : j + 2, :]) > 0, 0, step)
    change = flux_x[1:, :, :] - flux_x[:-1, :, :] + flux_y[:, 1:, :] - flux_y[:, :-1, :]
    out[:, :, :] = field[2 : i + 2, 2 : j + 2, :] - coefficient[2 : i + 2, 2 : j + 2, :] * change
    return out


@program(lambda random, n: (random(n, n + 2) > 0.5, 3))
def life(board, steps):
    g = np.zeros((board.shape[0] + 2, board.shape[1] + 2), dtype=np.int64)
    g[1:-1, 1:-1] = board
    for _ in range(steps):
        rows = g[:-2] + g[1:-1] + g[2:]
        around = rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:] - g[1:-1, 1:-1]
        g[1:-1, 1:-1] = (around == 3) | ((g[1:-1, 1:-1] == 1) & (around == 2))
    return g[1:-1, 1:-1]


# -- matrices


@program(lambda random, n: (dominant(random, n),))
def lu(a):
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, a.shape[0]):
            a[i, j] -= a[i, :i] @ a[:i, j]


@program(lambda random, n: (dominant(random, n), random(n), random(n)))
def solve_by_lu(a, b, x):
    n = a.shape[0]
    y = np.zeros_like(b)
    for k in range(n):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= a[k + 1 :, k, None] * a[k, k + 1 :]
    for i in range(n):
        y[i] = b[i] - a[i, :i] @ y[:i]
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return x, y


@program(lambda random, n: (dominant(random, n),))
def cholesky_by_dots(a):
    a[0, 0] = np.sqrt(a[0, 0])
    for i in range(1, a.shape[0]):
        for j in range(i):
            a[i, j] -= np.dot(a[i, :j], a[j, :j])
            a[i, j] /= a[j, j]
        a[i, i] -= np.dot(a[i, :i], a[i, :i])
        a[i, i] = np.sqrt(a[i, i])


@program(lambda random, n: (random(n + 3, n),))
def gram_schmidt(a):
    q = np.zeros_like(a)
    r = np.zeros((a.shape[1], a.shape[1]), dtype=a.dtype)
    for k in range(a.shape[1]):
        r[k, k] = np.sqrt(np.dot(a[:, k], a[:, k]))
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, a.shape[1]):
            r[k, j] = np.dot(q[:, k], a[:, j])
            a[:, j] -= q[:, k] * r[k, j]
    return q, r


@program(lambda random, n: (random(n),))
def durbin(r):
    y = np.empty_like(r)
    alpha, beta = -r[0], 1.0
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(r[:k][::-1], y[:k])) / beta
        y[:k] += alpha * y[:k][::-1]
        y[k] = alpha
    return y


@program(lambda random, n: (1.5, 1.2, random(n, n + 1), random(n + 1, n + 2), random(n, n + 2)))
def gemm(alpha, beta, a, b, c):
    c[:] = alpha * a @ b + beta * c


@program(lambda random, n: (1.5, 1.2, random(n, n), *(random(n) for _ in range(6))))
def gemver(alpha, beta, a, u, v, w, x, y, z):
    a += u[:, None] * v
    x += beta * y @ a + z
    w += alpha * a @ x


@program(lambda random, n: (1.5, 0.5, random(n, n), random(n, n - 2)))
def syrk(alpha, beta, c, a):
    for i in range(a.shape[0]):
        c[i, : i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, : i + 1] += alpha * a[i, k] * a[: i + 1, k]


@program(lambda random, n: (1.5, random(n, n), random(n, n - 1)))
def trmm(alpha, a, b):
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += np.dot(a[i + 1 :, i], b[i + 1 :, j])
    b *= alpha


@program(lambda random, n: (random(n, n + 2), random(n), random(n + 2)))
def bicg(a, r, p):
    return r @ a, a @ p, (a @ p) @ a


@program(lambda random, n: (dominant(random, n), random(n), random(n)))
def conjugate_gradients(a, b, x):
    r = b - a @ x
    p = r.copy()
    old = r @ r
    for _ in range(5):
        ap = a @ p
        alpha = old / (p @ ap)
        x += alpha * p
        r -= alpha * ap
        new = r @ r
        p[:] = r + new / old * p
        old = new
    return x, old


@program(lambda random, n: (random(n, n), random(n)))
def power_iteration(a, x):
    for _ in range(5):
        x[:] = a @ x
        x /= np.sqrt(np.dot(x, x))
    return x @ (a @ x)


@program(lambda random, n: (random(n, n),))
def shortest_paths(path):
    for k in range(path.shape[0]):
        path[:] = np.minimum(path[:], path[:, k][:, None] + path[k, :])


@program(lambda random, n: (random(n, n),))
def transpose_in_place(a):
    for i in range(a.shape[0]):
        for j in range(i + 1, a.shape[0]):
            a[i, j], a[j, i] = a[j, i], a[i, j]
    a += a.T
    return a


# -- one dimension: recurrences, sorting, quadrature


@program(lambda random, n: (random(n), 0.5))
def tridiagonal(u, a):
    n = len(u)
    c, d = np.empty(n), np.empty(n)
    c[0], d[0] = -a / (1 + 2 * a), u[0] / (1 + 2 * a)
    for i in range(1, n):
        m = 1 + 2 * a + a * c[i - 1]
        c[i] = -a / m
        d[i] = (u[i] + a * d[i - 1]) / m
    u[n - 1] = d[n - 1]
    for i in range(n - 2, -1, -1):
        u[i] = d[i] - c[i] * u[i + 1]
    return u


@program(lambda random, n: (random(n), 2))
def recursive_filter(x, k):
    y = np.zeros_like(x)
    for i in range(k, x.shape[0]):
        y[i] = 0.5 * x[i] + 0.3 * y[i - 1] - 0.1 * y[i - k]
    return y


@program(lambda random, n: (random(n),))
def bubble_sort(a):
    n = len(a)
    for i in range(n):
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
    return a


@program(lambda random, n: (random(n),))
def haar(x):
    n = x.shape[0] // 2 * 2
    return np.sqrt(0.5) * (x[:n:2] + x[1:n:2]), (x[:n:2] - x[1:n:2]) * np.sqrt(0.5)


@program(lambda random, n: (random(n),))
def trapezoids(y):
    return np.sum((y[1:] + y[:-1]) / 2) * 0.1


@program(lambda random, n: (random(n), random(n), 0.1, 4))
def runge_kutta(x, v, dt, steps):
    def force(x):
        return -np.sin(x)

    for _ in range(steps):
        k1 = force(x)
        k2 = force(x + 0.5 * dt * v)
        k3 = force(x + 0.5 * dt * v + 0.25 * dt * dt * k1)
        x += dt * v + dt * dt / 6 * (k1 + k2 + k3)
        v += dt / 6 * (k1 + 4 * k2 + k3)
    return x.sum(), v


@program(lambda random, n: (random(n), random(n), random(n), random(n), 0.1, 2))
def bodies(x, y, vx, vy, dt, steps):
    for _ in range(steps):
        dx, dy = x[None, :] - x[:, None], y[None, :] - y[:, None]
        inverse = (dx * dx + dy * dy + 0.01) ** -1.5
        vx += dt * np.sum(dx * inverse, axis=1)
        vy += dt * np.sum(dy * inverse, axis=1)
        x += dt * vx
        y += dt * vy


# -- statistics, learning, images


@program(lambda random, n: (random(n + 2, n),))
def correlation(data):
    mean = np.mean(data, axis=0)
    deviation = np.sqrt(np.mean((data - mean) ** 2, axis=0))
    deviation = np.where(deviation <= 0.1, 1.0, deviation)
    data -= mean
    data /= np.sqrt(float(data.shape[0])) * deviation
    result = np.zeros((data.shape[1], data.shape[1]))
    for i in range(data.shape[1] - 1):
        result[i, i] = 1.0
        result[i + 1 :, i] = result[i, i + 1 :] = data[:, i] @ data[:, i + 1 :]
    result[-1, -1] = 1.0
    return result


@program(lambda random, n: (random(n, n + 1),))
def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


@program(lambda random, n: (random(3, n), random(n, n + 1), random(n + 1), random(n + 1, 4), random(4)))
def perceptron(x, w1, b1, w2, b2):
    hidden = np.maximum(x @ w1 + b1, 0)
    return softmax(hidden @ w2 + b2)


@program(lambda random, n: (random(n + 3, n), random(n + 3), random(n), 0.1, 3))
def logistic_regression(x, y, w, rate, rounds):
    for _ in range(rounds):
        p = 1 / (1 + np.exp(-(x @ w)))
        w -= rate * (x.T @ (p - y)) / x.shape[0]
    return w


@program(lambda random, n: (random(2, n, n + 1, 3), random(2, 2, 3, 4)))
def convolution(image, weights):
    k = weights.shape[0]
    h, w = image.shape[1] - k + 1, image.shape[2] - k + 1
    out = np.empty((image.shape[0], h, w, weights.shape[3]))
    for i in range(h):
        for j in range(w):
            out[:, i, j, :] = np.sum(image[:, i : i + k, j : j + k, :, None] * weights[None], axis=(1, 2, 3))
    return out


@program(lambda random, n: (random(n, 3), random(4, 3)))
def distances(points, centres):
    d = np.sum((points[:, None, :] - centres[None, :, :]) ** 2, axis=-1)
    return d, d.min(axis=1), np.sqrt(d).mean()


@program(lambda random, n: tuple(random(n) + 0.1 for _ in range(4)))
def black_scholes(price, strike, time, volatility):
    d1 = (np.log(price / strike) + (0.02 + volatility**2 / 2) * time) / (volatility * np.sqrt(time))
    d2 = d1 - volatility * np.sqrt(time)
    n1, n2 = 0.5 * (1 + np.tanh(0.79788 * d1)), 0.5 * (1 + np.tanh(0.79788 * d2))
    return price * n1 - strike * np.exp(-0.02 * time) * n2


@program(lambda random, n: (random(n, n + 1, 3),))
def grey_and_edges(image):
    grey = 0.299 * image[..., 0] + 0.587 * image[:, :, 1] + 0.114 * image[..., 2]
    down, right = grey[2:] - grey[:-2], grey[:, 2:] - grey[:, :-2]
    return grey, np.sqrt((down[:, :-2] + 2 * down[:, 1:-1]) ** 2 + (right[:-2] + 2 * right[1:-1]) ** 2)
