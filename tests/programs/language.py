"""Ordinary Python around arrays: early returns, jumps, closures, unpacking, `out=`, math."""

import math

import numpy as np

from .registry import program

WEIGHTS = np.array([0.25, 0.5, 0.25])
GRAVITY = 9.81


@program(lambda random, n: (random.random(n), 0.8))
def first_above(x, threshold):
    for i in range(len(x)):
        if x[i] > threshold:
            return i, x[i]
    return -1, np.nan


@program(lambda random, n: (3 * n,))
def primes_with_else(limit):
    found = np.zeros(limit, dtype=np.int64)
    count = 0
    for n in range(2, limit):
        for d in range(2, n):
            if d * d > n:
                found[count] = n
                count += 1
                break
            if n % d == 0:
                break
        else:
            found[count] = n
            count += 1
    return found[:count]


@program(lambda random, n: (random.random((n, 3)) - 0.5,))
def sum_of_clean_rows(rows):
    total = np.zeros(3)
    skipped = 0
    for row in rows:
        if row.min() < -0.45:
            skipped += 1
            continue
        if row.sum() > 1.4:
            break
        total += row
    return total, skipped


@program(lambda random, n: (random.random(n),))
def captured_weights(x):
    def smooth(y):
        return WEIGHTS[0] * y[:-2] + WEIGHTS[1] * y[1:-1] + WEIGHTS[2] * y[2:]

    inner = smooth(x)
    return inner, np.convolve(x, WEIGHTS, "valid") if len(x) < 0 else inner.sum()


def make_filter(kernel):
    def apply(x, y):
        k = kernel.shape[0]
        for i in range(x.shape[0] - k + 1):
            y[i] = x[i : i + k] @ kernel
        return y

    return apply


closure_over_kernel = program(lambda random, n: (random.random(n), np.zeros(n)))(
    make_filter(np.array([1.0, -2.0, 1.0]))
)


@program(lambda random, n: (random.random(n), np.empty(n), np.empty(n)))
def with_out_buffers(x, tmp, out):
    np.multiply(x, 2, out=tmp)
    np.sin(tmp, out=out)
    np.add(out, tmp, out=out)
    np.subtract(out, out.mean(), out)
    np.divide(1.0, out, out=tmp, where=out > 0)
    return np.sqrt(np.abs(out, out=out), out=out)


@program(lambda random, n: (math.pi / 5, 20.0, n, 0.05))
def projectile(angle, speed, n, dt):
    path = np.zeros((n, 2))
    vx, vy = speed * math.cos(angle), speed * math.sin(angle)
    x = y = 0.0
    for k in range(n):
        path[k] = x, y
        drag = 0.01 * math.hypot(vx, vy)
        vx -= dt * drag * vx
        vy -= dt * (GRAVITY + drag * vy)
        x += dt * vx
        y += dt * vy
        if y < 0:
            break
    return path, math.degrees(math.atan2(vy, vx)), math.floor(x)


@program(lambda random, n: (random.random((n, 4)),))
def reshape_and_store(a):
    flat = a.reshape(-1)
    flat[::3] = 0
    pairs = a.reshape(a.shape[0], 2, 2)
    pairs[:, 0, :] += pairs[:, 1, ::-1]
    return flat.sum(), pairs.transpose(0, 2, 1).copy().ravel()


@program(lambda random, n: (random.random((n, n)), random.random((n, n)), "max"))
def dispatch_on_a_string(a, b, how="sum"):
    if how == "sum":
        return a + b
    elif how == "max":
        return np.maximum(a, b)
    raise ValueError(f"unknown {how}")


@program(lambda random, n: (random.random(n), random.random(n), random.random(n)))
def zipped_and_enumerated(x, y, w):
    sx = sy = sxx = sxy = s = 0.0
    for k, (a, b, c) in enumerate(zip(x, y, w), start=1):
        s += c
        sx += c * a
        sy += c * b
        sxx += c * a * a
        sxy += k * c * a * b / k
    slope = (s * sxy - sx * sy) / (s * sxx - sx * sx)
    return slope, (sy - slope * sx) / s


@program(lambda random, n: (random.random((n, n)),))
def several_results_of_helpers(m):
    def split(a):
        k = a.shape[0] // 2
        return a[:k], a[k:]

    def energy(part, power=2):
        return (np.abs(part) ** power).sum()

    top, bottom = split(m)
    top *= 2
    parts = [energy(p) for p in (top, bottom)]
    scale = sum(parts)
    bottom[...] = bottom / scale if scale > 1 else bottom
    return parts, {0: "small", 1: "large"}[int(scale > 1)]


@program(lambda random, n: (random.random(n) - 0.5, 3))
def horner_with_clamp(x, degree):
    low, high = -0.4, 0.4
    y = np.ones_like(x)
    for k in range(degree, 0, -1):
        y = 1 + x * y / k
    n = x.size
    for i in range(n):
        y[i] = y[i] if low < x[i] < high else (low if x[i] <= low else high)
    return y, (x < 0).sum(), any(v > 1.3 for v in (y[0], y[-1]))


@program(lambda random, n: (random.random((n, n)), random.integers(0, 2, n) > 0))
def validate_then_work(a, keep):
    assert a.ndim == 2, "a matrix"
    if a.shape[0] != a.shape[1]:
        raise ValueError("square matrices only")
    if not keep.any():
        return None
    trace = 0.0
    for i in range(a.shape[0]):
        if not keep[i]:
            continue
        trace += a[i, i]
    if trace == 0:
        raise ZeroDivisionError("no trace")
    return a / trace


@program(lambda random, n: (random.random(n), 2))
def default_and_keyword_arguments(x, order, scale=1.0, offset=None):
    def difference(v, times=1):
        for _ in range(times):
            v = v[1:] - v[:-1]
        return v

    y = difference(x, times=2) * scale
    if offset is not None:
        y += offset
    return y, np.diff(x, n=order)
