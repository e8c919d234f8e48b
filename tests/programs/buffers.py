"""Two and three buffers that change their roles."""

import numpy as np

from .registry import program


@program(lambda random, n: (random.random(n), 5))
def smooth_with_two_buffers(x, rounds):
    src, dst = x.copy(), np.empty_like(x)
    for _ in range(rounds):
        dst[0], dst[-1] = src[0], src[-1]
        dst[1:-1] = (src[:-2] + src[1:-1] + src[2:]) / 3
        src, dst = dst, src
    return src


@program(lambda random, n: (random.random((n, n)), random.random((n, n)), 5))
def swapped_arguments(u, v, steps):
    for _ in range(steps):
        v[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] - 2 * u[1:-1, 1:-1])
        u, v = v, u
    return u


@program(lambda random, n: (random.random(n), random.random(n), np.zeros(n), 4))
def leapfrog_three_arguments(old, now, new, steps):
    for _ in range(steps):
        new[1:-1] = 2 * now[1:-1] - old[1:-1] + 0.2 * (now[2:] - 2 * now[1:-1] + now[:-2])
        old, now, new = now, new, old


@program(lambda random, n: (np.zeros((2, n)), random.random(n), 4))
def parity_index(buffers, start, steps):
    buffers[0] = start
    for t in range(steps):
        a, b = buffers[t % 2], buffers[(t + 1) % 2]
        b[1:-1] = 0.5 * (a[2:] + a[:-2])
        b[0] = b[-1] = t
    return buffers[steps % 2]


@program(lambda random, n: (random.random(n), random.random(n) * 0.1, 0.05, 6))
def velocity_verlet(x, v, dt, steps):
    acc = -x
    trajectory = np.empty((steps, x.size))
    for k in range(steps):
        x += v * dt + 0.5 * acc * dt**2
        fresh = -x
        v += 0.5 * (acc + fresh) * dt
        acc = fresh
        trajectory[k] = x
    return trajectory, 0.5 * (v @ v + x @ x)


@program(lambda random, n: (random.integers(0, 100, 2 * n),))
def merge_sort_bottom_up(a):
    n = len(a)
    b = np.empty_like(a)
    width = 1
    while width < n:
        for lo in range(0, n, 2 * width):
            mid, hi = min(lo + width, n), min(lo + 2 * width, n)
            i, j = lo, mid
            for k in range(lo, hi):
                if i < mid and (j >= hi or a[i] <= a[j]):
                    b[k] = a[i]
                    i += 1
                else:
                    b[k] = a[j]
                    j += 1
        a, b = b, a
        width *= 2
    return a


@program(lambda random, n: (random.random((n, n)), random.random(n), 1e-8, 50))
def power_iteration_with_swap(a, x, tol, limit):
    y = np.zeros_like(x)
    value = 0.0
    for it in range(limit):
        np.dot(a, x, out=y)
        y /= np.sqrt(y @ y)
        before, value = value, y @ a @ y
        x, y = y, x
        if abs(value - before) < tol:
            break
    else:
        return value, x, -1
    return value, x, it


@program(lambda random, n: (random.random(n), 4))
def adams_bashforth(y, steps):
    def slope(z):
        return -z * (1 + z)

    f0 = slope(y)
    y = y + 0.1 * f0
    f1 = slope(y)
    y = y + 0.1 * (1.5 * f1 - 0.5 * f0)
    for _ in range(steps):
        f2 = slope(y)
        y = y + 0.1 / 12 * (23 * f2 - 16 * f1 + 5 * f0)
        f0, f1 = f1, f2
    return y


@program(lambda random, n: (3 * n,))
def fibonacci_words(n):
    a, b = 0, 1
    out = np.zeros(n, dtype=np.int64)
    for i in range(n):
        out[i] = a
        a, b = b, a + b
    return out, a
