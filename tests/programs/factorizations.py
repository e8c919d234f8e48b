"""Triangular solvers and factorizations, with slices as long as the loop says."""

import numpy as np

from .registry import program


def positive(random, n):
    a = random.random((n, n))
    return a @ a.T + n * np.eye(n)


@program(lambda random, n: (positive(random, n),))
def lu_partial_pivoting(a):
    n = a.shape[0]
    piv = np.arange(n)
    for k in range(n - 1):
        p = k + np.argmax(np.abs(a[k:, k]))
        if p != k:
            row = a[k].copy()
            a[k] = a[p]
            a[p] = row
            piv[k], piv[p] = piv[p], piv[k]
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a, piv


@program(lambda random, n: (random.random((n, n + 1)) + 0.1,))
def gauss_jordan(m):
    rows = m.shape[0]
    for col in range(rows):
        best = col
        for r in range(col + 1, rows):
            if abs(m[r, col]) > abs(m[best, col]):
                best = r
        if best != col:
            for j in range(m.shape[1]):
                m[col, j], m[best, j] = m[best, j], m[col, j]
        m[col] /= m[col, col]
        for r in range(rows):
            if r == col:
                continue
            m[r] -= m[r, col] * m[col]
    return m[:, -1]


@program(lambda random, n: (positive(random, n),))
def cholesky_banachiewicz(a):
    n = len(a)
    low = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = 0.0
            for k in range(j):
                s += low[i, k] * low[j, k]
            if i == j:
                low[i, j] = np.sqrt(a[i, i] - s)
            else:
                low[i, j] = (a[i, j] - s) / low[j, j]
    return low


@program(lambda random, n: (positive(random, n),))
def cholesky_right_looking(a):
    n = a.shape[0]
    for k in range(n):
        a[k, k] = a[k, k] ** 0.5
        a[k + 1 :, k] /= a[k, k]
        for j in range(k + 1, n):
            a[j:, j] -= a[j:, k] * a[j, k]
    for i in range(n):
        a[i, i + 1 :] = 0
    return a


@program(lambda random, n: (positive(random, n),))
def ldl(a):
    n = a.shape[0]
    low = np.eye(n)
    d = np.zeros(n)
    for j in range(n):
        d[j] = a[j, j] - np.sum(low[j, :j] ** 2 * d[:j])
        for i in range(j + 1, n):
            low[i, j] = (a[i, j] - (low[i, :j] * low[j, :j]) @ d[:j]) / d[j]
    return low, d


@program(lambda random, n: (random.random((n + 2, n)),))
def qr_modified_gram_schmidt(a):
    m, n = a.shape
    q = a.copy()
    r = np.zeros((n, n))
    for i in range(n):
        r[i, i] = np.linalg.norm(q[:, i])
        q[:, i] /= r[i, i]
        r[i, i + 1 :] = q[:, i] @ q[:, i + 1 :]
        q[:, i + 1 :] -= q[:, i : i + 1] * r[i, i + 1 :]
    return q, r


@program(lambda random, n: (random.random((n + 2, n)),))
def qr_householder(a):
    m, n = a.shape
    r = a.copy()
    q = np.eye(m)
    for k in range(n):
        x = r[k:, k]
        v = x.copy()
        norm = np.sqrt((x * x).sum())
        v[0] += norm if v[0] >= 0 else -norm
        v /= np.sqrt(v @ v)
        r[k:, k:] -= 2 * np.outer(v, v @ r[k:, k:])
        q[:, k:] -= 2 * np.outer(q[:, k:] @ v, v)
    return q, r


@program(lambda random, n: (random.random((n, n)),))
def qr_givens(a):
    n = a.shape[0]
    for j in range(n):
        for i in range(n - 1, j, -1):
            x, y = a[i - 1, j], a[i, j]
            h = np.hypot(x, y)
            if h == 0:
                continue
            c, s = x / h, y / h
            upper = c * a[i - 1, j:] + s * a[i, j:]
            a[i, j:] = -s * a[i - 1, j:] + c * a[i, j:]
            a[i - 1, j:] = upper
    return a


@program(lambda random, n: (np.tril(positive(random, n)), random.random(n)))
def trisolv(low, b):
    x = np.zeros_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - np.dot(low[i, :i], x[:i])) / low[i, i]
    return x


@program(lambda random, n: (np.triu(positive(random, n)), random.random((n, 3))))
def back_substitution_many(u, b):
    n = u.shape[0]
    for i in reversed(range(n)):
        b[i] -= u[i, i + 1 :] @ b[i + 1 :]
        b[i] /= u[i, i]
    return b


@program(lambda random, n: (positive(random, n), random.random(n)))
def ludcmp(a, b):
    n = a.shape[0]
    x, y = np.zeros(n), np.zeros(n)
    for i in range(n):
        for j in range(i):
            w = a[i, j]
            for k in range(j):
                w -= a[i, k] * a[k, j]
            a[i, j] = w / a[j, j]
        for j in range(i, n):
            w = a[i, j]
            for k in range(i):
                w -= a[i, k] * a[k, j]
            a[i, j] = w
    for i in range(n):
        w = b[i]
        for j in range(i):
            w -= a[i, j] * y[j]
        y[i] = w
    for i in range(n - 1, -1, -1):
        w = y[i]
        for j in range(i + 1, n):
            w -= a[i, j] * x[j]
        x[i] = w / a[i, i]
    return x


@program(lambda random, n: (0.5 ** np.arange(1.0, n + 1), random.random(n)))
def levinson(r, y):
    n = r.shape[0]
    f = np.zeros(n)
    x = np.zeros(n)
    err = 1.0
    x[0] = y[0]
    for k in range(1, n):
        mu = -(r[k - 1] + np.dot(r[: k - 1][::-1], f[: k - 1])) / err
        f[: k - 1] += mu * f[: k - 1][::-1]
        f[k - 1] = mu
        err *= 1 - mu * mu
        beta = (y[k] - np.dot(r[:k][::-1], x[:k])) / err
        x[:k] += beta * f[:k][::-1]
        x[k] = beta
    return x, err


@program(lambda random, n: (positive(random, n), 40))
def jacobi_eigenvalues(a, limit):
    n = a.shape[0]
    rotations = 0
    while rotations < limit:
        p, q, largest = 0, 1, 0.0
        for i in range(n - 1):
            for j in range(i + 1, n):
                if abs(a[i, j]) > largest:
                    p, q, largest = i, j, abs(a[i, j])
        if largest < 1e-10:
            break
        theta = (a[q, q] - a[p, p]) / (2 * a[p, q])
        t = np.sign(theta) / (abs(theta) + np.sqrt(theta * theta + 1)) if theta != 0 else 1.0
        c = 1 / np.sqrt(t * t + 1)
        s = t * c
        ap, aq = a[:, p].copy(), a[:, q].copy()
        a[:, p] = c * ap - s * aq
        a[:, q] = s * ap + c * aq
        ap, aq = a[p, :].copy(), a[q, :].copy()
        a[p, :] = c * ap - s * aq
        a[q, :] = s * ap + c * aq
        rotations += 1
    return np.diagonal(a).copy(), rotations
