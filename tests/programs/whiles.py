"""Loops that end when the data says so."""

import math

import numpy as np

from .registry import program


@program(lambda random, n: (random.random(n) * 10, 1e-12))
def newton_square_roots(values, tol):
    roots = np.empty_like(values)
    for i in range(len(values)):
        x = values[i] if values[i] > 1 else 1.0
        while abs(x * x - values[i]) > tol * max(1.0, values[i]):
            x = 0.5 * (x + values[i] / x)
        roots[i] = x
    return roots


@program(lambda random, n: (0.0, float(n), np.array([-3.0, 0.5, 0.25, 0.01]), 1e-10))
def bisection(lo, hi, coefficients, tol):
    def f(x):
        total = 0.0
        for c in coefficients[::-1]:
            total = total * x + c
        return total

    flo = f(lo)
    steps = 0
    while hi - lo > tol:
        mid = (lo + hi) / 2
        fmid = f(mid)
        if fmid == 0:
            return mid, steps
        if (fmid > 0) == (flo > 0):
            lo, flo = mid, fmid
        else:
            hi = mid
        steps += 1
    return (lo + hi) / 2, steps


@program(lambda random, n: (n,))
def collatz(limit):
    lengths = np.zeros(limit, dtype=np.int64)
    for start in range(1, limit):
        k = start
        count = 0
        while k != 1:
            if k % 2 == 0:
                k //= 2
            else:
                k = 3 * k + 1
            count += 1
        lengths[start] = count
    return lengths, lengths.argmax()


@program(lambda random, n: (random.integers(1, 1000, n), random.integers(1, 1000, n)))
def gcd_table(a, b):
    out = np.zeros((len(a), len(b)), dtype=a.dtype)
    for i in range(len(a)):
        for j in range(len(b)):
            x, y = a[i], b[j]
            while y:
                x, y = y, x % y
            out[i, j] = x
    return out


@program(lambda random, n: (random.random((n, n)) + n * np.eye(n), random.random(n), 1e-9))
def conjugate_gradient_normal(a, b, tol):
    a = (a + a.T) / 2
    x = np.zeros_like(b)
    r = b - a @ x
    p = r.copy()
    rs = r @ r
    iterations = 0
    while np.sqrt(rs) > tol and iterations < 10 * len(b):
        ap = a @ p
        alpha = rs / (p @ ap)
        x += alpha * p
        r -= alpha * ap
        new = r @ r
        p = r + (new / rs) * p
        rs = new
        iterations += 1
    return x


@program(lambda random, n: (n, n + 2, 20))
def mandelbrot(height, width, limit):
    counts = np.zeros((height, width), dtype=np.int32)
    for i in range(height):
        for j in range(width):
            cx = -2.0 + 3.0 * j / (width - 1)
            cy = -1.5 + 3.0 * i / (height - 1)
            x = y = 0.0
            k = 0
            while k < limit and x * x + y * y <= 4.0:
                x, y = x * x - y * y + cx, 2 * x * y + cy
                k += 1
            counts[i, j] = k
    return counts


@program(lambda random, n: (np.sort(random.random(3 * n)), random.random(n)))
def binary_search(table, keys):
    where = np.empty(len(keys), dtype=np.int64)
    for i, key in enumerate(keys):
        lo, hi = 0, len(table)
        while lo < hi:
            mid = (lo + hi) // 2
            if table[mid] < key:
                lo = mid + 1
            else:
                hi = mid
        where[i] = lo
    return where


@program(lambda random, n: (random.integers(-50, 50, 2 * n),))
def insertion_sort(a):
    for i in range(1, len(a)):
        key = a[i]
        j = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key
    return a


@program(lambda random, n: (random.integers(0, 2, 4 * n, dtype=np.uint8),))
def run_lengths(bits):
    values = np.empty_like(bits)
    lengths = np.zeros(len(bits), dtype=np.int64)
    runs = 0
    i = 0
    while i < len(bits):
        j = i
        while j < len(bits) and bits[j] == bits[i]:
            j += 1
        values[runs] = bits[i]
        lengths[runs] = j - i
        runs += 1
        i = j
    return values[:runs], lengths[:runs]


@program(lambda random, n: (random.random(n), 0.7))
def bracket_and_golden_section(c, x0):
    ratio = (math.sqrt(5) - 1) / 2

    def cost(x):
        return np.sum((x - c) ** 2)

    lo, hi = x0 - 1.0, x0
    while cost(hi + 0.5) < cost(hi):
        lo, hi = hi, hi + 0.5
    hi += 0.5
    while hi - lo > 1e-6:
        a = hi - ratio * (hi - lo)
        b = lo + ratio * (hi - lo)
        if cost(a) < cost(b):
            hi = b
        else:
            lo = a
    return round((lo + hi) / 2, 4)


@program(lambda random, n: (random.integers(0, 1000, 2 * n), 0))
def quickselect(a, k):
    k = k or len(a) // 2
    lo, hi = 0, len(a) - 1
    while lo < hi:
        pivot = a[(lo + hi) // 2]
        i, j = lo, hi
        while i <= j:
            while a[i] < pivot:
                i += 1
            while a[j] > pivot:
                j -= 1
            if i <= j:
                a[i], a[j] = a[j], a[i]
                i += 1
                j -= 1
        if k <= j:
            hi = j
        elif k >= i:
            lo = i
        else:
            break
    return a[k]


@program(lambda random, n: (random.random((4 * n, 2)), random.random((3, 2))))
def k_means(points, centres):
    assigned = np.full(len(points), -1)
    moved = True
    rounds = 0
    while moved:
        moved = False
        for i in range(len(points)):
            nearest = np.argmin(((centres - points[i]) ** 2).sum(axis=1))
            if nearest != assigned[i]:
                assigned[i] = nearest
                moved = True
        for k in range(len(centres)):
            total = np.zeros(2)
            count = 0
            for i in range(len(points)):
                if assigned[i] == k:
                    total += points[i]
                    count += 1
            if count:
                centres[k] = total / count
        rounds += 1
    return assigned, rounds
