"""Programs of physics, statistics and linear algebra, with a known needless or necessary allocation or copy, for
tests/tools/test_story_programs.py; marked as those of story_programs.py."""

from __future__ import annotations

import numpy as np

from tracebuf import bufferize

# fmt: off


@bufferize
def leapfrog_steps(x, v, dt, n):
    a = -x * (1 + x * x)  # A
    for _ in range(n):
        x += v * dt + 0.5 * a * dt * dt
        a_new = -x * (1 + x * x)
        v += 0.5 * (a + a_new) * dt
        a = a_new
    return x, v


@bufferize
def copied_and_summed(x, y):
    t = x.copy()  # A
    x += y  # W
    return np.dot(t, y), x.sum()  # R


@bufferize
def rows_exchanged(a, p):
    for k in range(len(p)):
        j = p[k]
        t = a[k].copy()  # A
        a[k] = a[j]  # W
        a[j] = t  # R


@bufferize
def rolling_mean(x, w):
    c = np.cumsum(x)  # A
    out = c[w:] - c[:-w]  # R
    return out / w


@bufferize
def drawdown(prices):
    top = np.maximum.accumulate(prices)  # A
    drop = (top - prices) / top  # R
    return drop.max()


@bufferize
def sobel(img):
    gx = img[:, 2:] - img[:, :-2]  # A
    sx = gx[:-2] + 2 * gx[1:-1] + gx[2:]  # R
    gy = img[2:] - img[:-2]
    sy = gy[:, :-2] + 2 * gy[:, 1:-1] + gy[:, 2:]
    return np.hypot(sx, sy)


@bufferize
def kmeans_step(x, centres, rounds):
    for _ in range(rounds):
        d = np.abs(x[:, None] - centres[None, :])
        labels = d.argmin(axis=1)
        for k in range(len(centres)):
            mask = labels == k  # A
            centres[k] = (x * mask).sum() / max(mask.sum(), 1)
    return centres


@bufferize
def orthogonalized(a):
    q = a.copy()
    for j in range(a.shape[1]):
        v = a[:, j].copy()  # A
        for i in range(j):
            v -= (q[:, i] @ a[:, j]) * q[:, i]
        q[:, j] = v / np.sqrt(v @ v)
    return q


@bufferize
def gauss(a):
    n = len(a)
    for i in range(n):
        row = a[i] / a[i, i]  # A
        a[i] = row
        for j in range(i + 1, n):
            a[j] -= a[j, i] * row
    return a


@bufferize
def descent(a, x, y, rate, n):
    for _ in range(n):
        r = y - a @ x  # A
        x += rate * (a.T @ r)
    return x


@bufferize
def velocity_verlet(x, v, a, dt):
    x += v * dt + 0.5 * a * dt * dt
    a_new = -x * np.abs(x)  # A
    v += 0.5 * (a + a_new) * dt
    a[:] = a_new


@bufferize
def kick_drift(x, v, dt, n):
    a = -np.sin(x)
    for _ in range(n):
        v += 0.5 * dt * a
        x += dt * v
        a = -np.sin(x)  # A
        v += 0.5 * dt * a
    return x.sum() + v.sum()


@bufferize
def adams_bashforth(y, dt, n):
    old = -y * y
    for _ in range(n):
        new = -y * y  # A
        y += dt * (1.5 * new - 0.5 * old)
        old = new
    return y


@bufferize
def total_variation(u, lam, n):
    for _ in range(n):
        g = np.diff(u)  # A
        g = g / (np.abs(g) + 1e-3)
        u[1:-1] += lam * (g[1:] - g[:-1])
    return u


@bufferize
def conjugate_gradient(a, b, n):
    x = np.zeros_like(b)
    r = b.copy()
    p = r.copy()  # A
    rs = r @ r
    for _ in range(n):
        ap = a @ p
        alpha = rs / (p @ ap + 1e-30)
        x += alpha * p
        r -= alpha * ap
        new = r @ r
        p = r + (new / (rs + 1e-30)) * p
        rs = new
    return x


@bufferize
def whiten(x):
    centred = x - x.mean(axis=0)  # A
    scale = centred.std(axis=0) + 1e-12
    return centred / scale


@bufferize
def clip_gradient(g, most):
    before = g.copy()  # A
    np.clip(g, -most, most, out=g)  # W
    return (before != g).sum()  # R


@bufferize
def shift_register(buf, x):
    for k in range(len(x)):
        tail = buf[:-1].copy()  # A
        buf[1:] = tail
        buf[0] = x[k]
    return buf.sum()


@bufferize
def permute_rows(a, p):
    old = a.copy()  # A
    for k in range(len(p)):
        a[k] = old[p[k]]
    return a


@bufferize
def lu(a):
    n = len(a)
    for k in range(n):
        a[k + 1:, k] /= a[k, k]
        row = a[k, k + 1:].copy()  # A
        col = a[k + 1:, k].copy()
        a[k + 1:, k + 1:] -= np.outer(col, row)
    return a


@bufferize
def softmax_rows(z):
    m = z.max(axis=1, keepdims=True)
    e = np.exp(z - m)  # A
    return e / e.sum(axis=1, keepdims=True)


@bufferize
def rotate_phase(z, w):
    old = z.copy()  # A
    z *= w  # W
    return (old.conj() @ z).real  # R


@bufferize
def digits(x):
    left = x.copy()  # A
    s = np.zeros_like(x)
    while left.max() > 0:
        s += left % 10
        left //= 10
    return s


@bufferize
def newton_until(x, tol):
    for k in range(50):
        step = (x * x - 2) / (2 * x)  # A
        x -= step
        if np.abs(step).max() < tol:
            return k
    return -1


@bufferize
def fixed_point(x, tol):
    change = 1.0
    rounds = 0
    while change > tol and rounds < 30:
        old = x.copy()  # A
        x[:] = np.cos(x)  # W
        change = np.abs(x - old).max()  # R
        rounds += 1
    return rounds


@bufferize
def sor(u, f, omega, n):
    for _ in range(n):
        old = u.copy()  # A
        for i in range(1, len(u) - 1):
            u[i] = (1 - omega) * u[i] + omega * 0.5 * (u[i - 1] + u[i + 1] - f[i])
        if np.abs(u - old).max() < 1e-9:
            break
    return u


@bufferize
def add_noise_then_restore(u, noise):
    saved = u.copy()  # A
    u += noise  # W
    score = np.tanh(u).sum()
    u[:] = saved  # R
    return score


@bufferize
def swap_halves(u):
    h = len(u) // 2
    left = u[:h].copy()  # A
    u[:h] = u[h:2 * h]  # W
    u[h:2 * h] = left  # R


@bufferize
def wave_1d(u, v, c, n):
    for _ in range(n):
        lap = np.zeros_like(u)  # A
        lap[1:-1] = u[:-2] - 2 * u[1:-1] + u[2:]
        v += c * lap
        u += v
    return u.max()


@bufferize
def wave_three(u_prev, u, c, n):
    for _ in range(n):
        u_next = 2 * u - u_prev  # A
        u_next[1:-1] += c * (u[2:] - 2 * u[1:-1] + u[:-2])
        u_prev = u
        u = u_next
    return u


@bufferize
def quantize(u, levels):
    q = np.floor(u * levels).astype(np.int64)  # A
    err = u - q / levels
    u[:] = q / levels
    return np.abs(err).max()


@bufferize
def segment_sums(x, starts):
    c = np.cumsum(x)  # A
    return c[starts[1:] - 1] - c[starts[:-1]]  # R


@bufferize
def early_exit(u, v, limit):
    w = u * v  # A
    if w.sum() > limit:
        return w
    u += w
    return u


@bufferize
def residual_history(a, b, x, n):
    hist = np.zeros(n)
    for k in range(n):
        r = b - a @ x  # A
        hist[k] = np.sqrt(r @ r)
        x += 0.01 * r
    return hist


@bufferize
def blur_rows(img, n):
    for _ in range(n):
        tmp = img.copy()  # A
        img[1:-1] = (tmp[:-2] + tmp[1:-1] + tmp[2:]) / 3
    return img


@bufferize
def entropy(p):
    q = p.copy()  # A
    q /= q.sum()
    return -(q * np.log(q + 1e-300)).sum()


@bufferize
def relaxed_while(u0, tol):
    u = u0.copy()
    err = 1.0
    while err > tol:
        new = u.copy()  # A
        new[1:-1] = 0.5 * (u[:-2] + u[2:])
        err = np.abs(new - u).max()
        u = new
    return u


@bufferize
def stat_then_update(x, y):
    t = x.copy()  # A
    x *= 2  # W
    y += 1
    s = t.mean()  # R
    m = t.max()
    return s * m + x.sum()


@bufferize
def zscore_inplace(x):
    mean = x.mean()
    d = x - mean  # A
    s = np.sqrt((d * d).mean())  # R
    x[:] = d / (s + 1e-12)


@bufferize
def rows3way(a, i, j, k):
    t = a[i].copy()  # A
    a[i] = a[j]  # W
    a[j] = a[k]
    a[k] = t  # R


@bufferize
def swap_cols(a, i, j):
    tmp = a[:, i].copy()  # A
    a[:, i] = a[:, j]  # W
    a[:, j] = tmp  # R


@bufferize
def eliminated(a, b):
    n = len(b)
    for k in range(n):
        row = a[k].copy()  # A
        for i in range(k + 1, n):
            f = a[i, k] / row[k]
            a[i] -= f * row
            b[i] -= f * b[k]
    return b


@bufferize
def richardson(a, b, x, w, n):
    for _ in range(n):
        x += w * (b - a @ x)  # A W R
    return x


@bufferize
def roll_shift(u, n):
    for _ in range(n):
        w = np.roll(u, 1)  # A
        u[:] = 0.5 * (u + w)  # R
    return u


@bufferize
def logistic(x, y, w, rate, n):
    for _ in range(n):
        p = 1 / (1 + np.exp(-(x @ w)))
        w -= rate * (x.T @ (p - y)) / len(y)  # A
    return w


@bufferize
def rms_filter(x, w):
    sq = x * x
    c = np.cumsum(sq)  # A
    m = (c[w:] - c[:-w]) / w  # R
    return np.sqrt(m)


@bufferize
def cumulative_returns(p):
    rtn = p[1:] / p[:-1] - 1
    acc = np.cumprod(1 + rtn)  # A
    peak = np.maximum.accumulate(acc)  # R
    return (acc / peak - 1).min()
