"""Functions to cut, in users' style, each with the arguments of a small call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Case = tuple[Callable[..., Any], tuple[Any, ...]]


def arrays(*shapes: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(7)
    return tuple(rng.random(s) + 0.1 for s in shapes)


# -- element by element


def chain(a, b):
    return np.exp(-a) * b + a / (1 + b)


def scaled(a, k):
    return a * k + 1


def clipped(x):
    return np.clip(x, 0.2, 0.8), np.where(x > 0.5, x, -x)


def rows_and_columns(x, row, column):
    return x * row + column[:, None]


def in_place(a, b):
    a += b
    a *= 2


def outer(x, y):
    return x[:, None] * y[None, :]


def transposed(x):
    return x.T * 2


def by_flag(x, p):
    if p > 0:
        return x + 1
    return x * 2


def halves(x, n):
    for _ in range(n):
        x = x / 2
    return x


def by_hand(x):
    y = np.empty_like(x)
    for i in range(len(x)):
        y[i] = x[i] * 2 + 1
    return y


def swapped(x):
    return np.swapaxes(x, 0, 2) + 1


def complex_parts(z):
    return z.real**2 + z.imag**2


def kept(x):
    y = x.copy()
    y[2:-3] = 0
    return y


# -- reduced


def total(a):
    return a.sum()


def columns(a):
    return a.sum(axis=0)


def rows_mean(a):
    return a.mean(axis=1)


def largest(a, b):
    return (a - b).max(), (a * b).min()


def standard(x):
    return (x - x.mean()) / x.std()


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def product(a, b):
    return a @ b


def matvec(a, x):
    return a @ x + 1


def gram(a):
    return np.einsum("ij,ij->i", a, a)


def any_above(x):
    return (x > 0.9).any(), (x > 0).all()


def counted(x):
    return np.count_nonzero(x > 0.5)


def norm(x):
    return np.sqrt((x * x).sum())


def rows_less_means(x):
    for i in range(x.shape[0]):
        x[i] -= x[i].mean()


# -- stencils


def second_difference(a):
    return a[2:] - 2 * a[1:-1] + a[:-2]


def difference(a):
    return a[1:] - a[:-1]


def shifted(a):
    return a[3:] * 2, a[:-2] + 1


def np_diff(a):
    return np.diff(a, axis=0)


def laplace(u):
    out = np.zeros_like(u)
    out[1:-1, 1:-1] = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
    return out


def wave(u, v, dt):
    lap = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
    v[1:-1, 1:-1] += dt * lap
    u += dt * v
    return u.max()


def twice(a):
    b = a[1:-1] + a[2:] - a[:-2]
    return b[1:-1] * b[2:] - b[:-2]


def upwind(q, c):
    q[1:] = q[1:] - c * (q[1:] - q[:-1])


def wide(a):
    return (a[4:] + a[:-4]) * a[2:-2] + a[3:-1]


def one_sided(a):
    b = np.zeros_like(a)
    b[:-3] = a[3:]
    return b


def two_kinds(u, c):
    out = u.copy()
    out[1:-1] = c[1:-1] * (u[2:] - u[:-2])
    return out


def staggered(u, p):
    u[1:-1] -= p[1:] - p[:-1]


def blurred(img):
    out = img.copy()
    out[1:-1] = (img[:-2] + img[1:-1] + img[2:]) / 3
    final = out.copy()
    final[:, 1:-1] = (out[:, :-2] + out[:, 1:-1] + out[:, 2:]) / 3
    return final


def padded(x):
    y = np.pad(x, 1, mode="edge")
    return y[2:] + y[:-2] - 2 * x


def padded_2d(x):
    y = np.pad(x, 2)
    return y[4:, 2:-2] + y[:-4, 2:-2] + y[2:-2, 4:] + y[2:-2, :-4]


def by_loop(x):
    y = np.zeros_like(x)
    for i in range(1, len(x) - 1):
        y[i] = x[i - 1] + x[i + 1] - 2 * x[i]
    return y


def by_loops(x):
    y = np.zeros_like(x)
    for i in range(2, x.shape[0] - 2):
        for j in range(1, x.shape[1] - 1):
            y[i, j] = x[i - 2, j] * x[i, j + 1] - x[i + 2, j - 1]
    return y


def rolled(u):
    return np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 2, 1) - 4 * u


def rolled_1d(u):
    return u - np.roll(u, 3)


def windows(x):
    return np.lib.stride_tricks.sliding_window_view(x, 5).sum(axis=-1)


def gradient(x):
    return np.gradient(x)


def volume(u):
    out = np.zeros_like(u)
    out[1:-1, 1:-1, 1:-1] = (
        u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1] + u[1:-1, :-2, 1:-1] + u[1:-1, 1:-1, 2:]
        + u[1:-1, 1:-1, :-2] - 6 * u[1:-1, 1:-1, 1:-1]
    )  # fmt: skip
    return out


def stencil_total(u):
    return ((u[1:] - u[:-1]) ** 2).sum()


def smooth_rows(u):
    for i in range(u.shape[0]):
        u[i, 1:-1] = (u[i, 2:] + u[i, :-2]) / 2


# -- steps


def heat(u, T):
    for _ in range(T):
        u[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])


def wave_steps(u, v, dt, T):
    for _ in range(T):
        v[1:-1] += dt * (u[2:] - 2 * u[1:-1] + u[:-2])
        u += dt * v


def insulated(u, T):
    for _ in range(T):
        u[1:-1] = (u[2:] + u[:-2]) / 2
        u[0] = u[1]
        u[-1] = u[-2]


def driven(u, T):
    for t in range(T):
        u[1:-1] += 0.1 * (u[2:] - u[1:-1]) + np.sin(0.1 * t)


def turning(u, T):
    for _ in range(T):
        u[:] = (np.roll(u, 2, 0) + np.roll(u, -1, 0)) / 2


def two_loops(u, T):
    for _ in range(T):
        u[1:-1] = (u[2:] + u[:-2]) / 2
    for _ in range(T):
        u[:] = u * 0.9
    return u[1:] - u[:-1]


def three_times(u):
    for _ in range(3):
        u[2:] = u[2:] - u[:-2] / 2


def by_speed(u, T):
    t = 0.0
    for _ in range(T):
        dt = 0.2 / np.abs(u).max()
        u[1:-1] += dt * (u[2:] - 2 * u[1:-1] + u[:-2])
        t += dt
    return t


def conjugate(b, T):
    x, r = np.zeros_like(b), b.copy()
    p, rs = r.copy(), (r * r).sum()
    for _ in range(T):
        q = 2.1 * p
        q[1:] -= p[:-1]
        q[:-1] -= p[1:]
        step = rs / (p * q).sum()
        x += step * p
        r -= step * q
        new = (r * r).sum()
        p = r + new / rs * p
        rs = new
    return x


# -- rows by themselves


def sorted_rows(x):
    return np.sort(x, axis=1) + 1, x + 1


def sorted_columns(x):
    x.sort(axis=0)
    return x[:, 1:] - x[:, :-1]


def medians(x):
    return np.median(x, axis=-1) * 2


def best_of_rows(x, y):
    return np.argmax(x, axis=1), np.argsort(y - x, axis=1)


# -- what is not cut


def squared(a, x):
    return a @ (a @ x)


def with_outer(x):
    return x[:, None] * x[None, :], x + 1


def running(x):
    return np.cumsum(x, axis=0)


def backwards(x, y):
    return x[::-1] + y


def with_its_transpose(x, y):
    return x + x.T, y * 2


def recurrence(x, y):
    for i in range(1, len(x)):
        x[i] += x[i - 1] * 0.5
    return y + 1


def numbered(x):
    return x * np.arange(len(x)), x + 1


def gathered(x, i):
    return x[i] * 2


# -- ints of the call, paddings, constants


def exchanged(a, b, T):
    for _ in range(T):
        b[1:-1] = a[1:-1] + 0.1 * (a[2:] - 2 * a[1:-1] + a[:-2])
        a, b = b, a
    return a


def fields(e, hx, hy, T):
    for _ in range(T):
        hx[:, :-1] -= 0.1 * (e[:, 1:] - e[:, :-1])
        hy[:-1] += 0.1 * (e[1:] - e[:-1])
        e[1:, 1:] += 0.1 * (hy[1:, 1:] - hy[:-1, 1:] - hx[1:, 1:] + hx[1:, :-1])


def to_and_fro(u, T):
    for t in range(T):
        if t % 2 == 0:
            u[1:] += 0.1 * u[:-1]
        else:
            u[:-1] -= 0.1 * u[1:]
    return u


def lagged(x, n):
    return x[n:] - x[:-n]


def lagged_in_place(x, n):
    out = np.zeros_like(x)
    out[n:] = x[n:] - x[:-n]
    return out


def edged(u):
    p = np.pad(u, 1, mode="edge")
    return p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * u


def reflected(u):
    p = np.pad(u, 2, mode="reflect")
    return p[4:, 2:-2] + 2 * p[:-4, 2:-2] - p[2:-2, 1:-3]


def mirrored(u):
    p = np.pad(u, ((0, 0), (2, 2)), mode="symmetric")
    return p[:, 4:] + 2 * p[:, :-4]


def mirrored_border(u):
    v = u * 2
    v[:2] = v[3:1:-1]
    v[-1] = v[-2]
    return v


def constants(u):
    return np.full(u.shape, -1.0), u + 1, np.zeros(u.shape[0], np.int32)


def largest_above(u):
    return np.max(u, axis=0, where=u > 0.3, initial=0.2), np.minimum.reduce(u, axis=1, initial=0.5)


def begun(u):
    return u.sum(axis=0, initial=3.0), np.prod(u, axis=1, initial=2.0), u.prod(axis=0), np.sum(u > 0.5, initial=4)


def ranked(u):
    c = u + u.mean(axis=0)
    return np.sort(c, axis=1), c.argmax(axis=1), np.median(c, axis=1), (c.argmin(axis=1) * 1.0).sum()


def rolled_both(u):
    return np.roll(u, (1, -2), axis=(0, 1)) - np.roll(u, 1, axis=(0, 1)) + np.roll(u, (0, 1), axis=(0, 1))


(_x, _y), (_u, _v), (_w,) = arrays((13,), (13,)), arrays((11, 14), (11, 14)), arrays((7, 8, 9))
CASES: dict[str, Case] = {
    f.__name__: (f, args)
    for f, args in (
        (chain, (_u, _v)), (scaled, (_u, 3.0)), (clipped, (_u,)), (rows_and_columns, (_u, *arrays((14,), (11,)))),
        (in_place, (_u, _v)), (outer, arrays((9,), (12,))), (transposed, (_u,)), (by_flag, (_u, 1.0)),
        (halves, (_u, 3)), (by_hand, (_x,)), (swapped, (_w,)), (complex_parts, (_u + 1j * _v,)), (kept, (_x,)),
        (total, (_u,)),
        (columns, (_u,)), (rows_mean, (_u,)), (largest, (_u, _v)), (standard, (_u,)), (softmax, (_u,)),
        (product, arrays((9, 10), (10, 11))), (matvec, arrays((9, 10), (10,))), (gram, (_u,)), (any_above, (_u,)),
        (counted, (_u,)), (norm, (_x,)), (rows_less_means, (_u,)), (second_difference, (_x,)), (difference, (_x,)),
        (shifted, (_x,)), (np_diff, (_u,)), (laplace, (_u,)), (wave, (_u, _v, 0.1)), (twice, (_x,)),
        (upwind, (_x, 0.3)), (wide, (_x,)),
        (one_sided, (_x,)), (two_kinds, (_x, _y)), (staggered, arrays((14,), (13,))), (blurred, (_u,)), (padded, (_x,)),
        (padded_2d, (_u,)), (by_loop, (_x,)), (by_loops, (_u,)), (rolled, (_u,)), (rolled_1d, (_x,)), (windows, (_x,)),
        (gradient, (_x,)), (volume, (_w,)), (stencil_total, (_u,)), (smooth_rows, (_u,)), (heat, (_u, 3)),
        (wave_steps, (_x, _y, 0.1, 3)), (insulated, (_x, 3)), (driven, (_x, 3)), (turning, (_x, 2)),
        (two_loops, (_x, 3)), (three_times, (_x,)),
        (by_speed, (_x, 3)), (conjugate, (_x, 3)), (squared, (*arrays((9, 9)), *arrays((9,)))), (with_outer, (_x,)),
        (sorted_rows, (_u,)), (sorted_columns, (_u,)),
        (medians, (_u,)), (best_of_rows, (_u, _v)), (running, (_u,)), (backwards, (_x, _y)),
        (with_its_transpose, (*arrays((9, 9)), _u)), (recurrence, (_x, _y)), (numbered, (_x,)),
        (gathered, (_x, np.array([3, 0, 5, 7]))),
        (exchanged, (_x, _y, 3)), (fields, (*arrays((11, 12), (11, 12), (11, 12)), 3)), (to_and_fro, (_x, 5)),
        (lagged, (_x, 3)), (lagged_in_place, (_x, 3)), (edged, (_u,)), (reflected, (_u,)), (mirrored, (_u,)),
        (mirrored_border, (_u,)), (constants, (_u,)), (largest_above, (_u,)), (begun, (_u,)),
        (rolled_both, (_u,)), (ranked, (_u,)),
    )
}  # fmt: skip
