"""Numerical programs as people write them, with a known needless or necessary allocation or copy, for
tests/tools/test_story_programs.py.

`# A` marks the line that allocates or copies, `# W` the write, `# R` the read that still wants the old value.
"""

from __future__ import annotations

import numpy as np

from tracebuf import bufferize

# fmt: off


@bufferize
def leapfrog(q, p, dt):
    old = q.copy()  # A
    q += dt * p  # W
    p -= dt * old  # R


@bufferize
def momentum(w, g, v, rate):
    previous = v.copy()  # A
    v *= 0.9  # W
    v -= rate * g
    w += 1.9 * v - 0.9 * previous  # R


@bufferize
def heat(u, steps):
    for _ in range(steps):
        new = u.copy()  # A
        new[1:-1] = u[1:-1] + 0.1 * (u[:-2] - 2 * u[1:-1] + u[2:])
        u = new
    return u


@bufferize
def heat_and_more(u, steps):
    for _ in range(steps):
        new = u.copy()  # A
        new[1:-1] = u[1:-1] + 0.1 * (u[:-2] - 2 * u[1:-1] + u[2:])
        u = new
    u += 1
    return u


@bufferize
def heat_from_a_copy(u0, steps):
    u = u0.copy()
    for _ in range(steps):
        new = np.empty_like(u)  # A
        new[0] = u[0]
        new[-1] = u[-1]
        new[1:-1] = u[1:-1] + 0.1 * (u[:-2] - 2 * u[1:-1] + u[2:])
        u = new
    return u


@bufferize
def laplace(grid, steps):
    u = grid.copy()
    for _ in range(steps):
        new = np.zeros_like(u)  # A
        new[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u = new
    return u


@bufferize
def power_iteration(a, x, most):
    for _ in range(most):
        y = a @ x  # A
        size = np.abs(y).max()
        if size < 1e-9:
            break
        x[:] = y / size
    return x.sum()


@bufferize
def relaxed_until(u, most):
    for k in range(most):
        u[1:-1] = (u[:-2] + u[1:-1] + u[2:]) / 3  # A W R
        if u.max() < 0.5:
            return k
    return most


@bufferize
def drained(u, rate):
    rounds = 0
    while rounds < 20:
        flow = np.cumsum(u)  # A
        if flow[-1] < 1:
            return rounds
        u -= rate * flow / flow[-1]
        rounds += 1
    return -1


@bufferize
def red_black(a):
    red = a[::2].copy()
    black = a[1::2].copy()  # A
    red += 0.5 * black
    black -= 0.5 * red
    a[::2] = red
    a[1::2] = black


@bufferize
def filtered_columns(a, rounds):
    for k in range(rounds):
        column = a[:, 1::2].copy()  # A
        column += a[:, :-1:2] * k
        a[:, 1::2] = column


@bufferize
def centred(x):
    y = x - x.mean()  # A
    return y / np.sqrt((y * y).mean())


@bufferize
def rank_one(a, u, v):
    before = a.copy()  # A
    a += np.outer(u, v)  # W
    return np.abs(a - before).max()  # R


@bufferize
def pivoted(a, i, j):
    row = a[i].copy()  # A
    a[i] = a[j]
    a[j] = row  # R


@bufferize
def horner(x, c):
    y = np.zeros_like(x)  # A
    for k in range(len(c)):
        y = y * x + c[k]
    return y


@bufferize
def prefix_in_place(u):
    u[1:] = u[1:] + u[:-1]  # A W R


@bufferize
def mirrored(image):
    image[:] = image[:, ::-1]  # A W R


@bufferize
def shifted(u):
    u[1:] = u[:-1]
    u[:1] = 0


@bufferize
def normal_equations(a, b):
    m = a.T @ a  # A
    r = a.T @ b
    return m @ r


@bufferize
def clipped(u, low):
    saved = np.array(u)  # A
    np.maximum(u, low, out=u)  # W
    return (u - saved).sum()  # R


@bufferize
def totals(u, v):
    t = u.copy()  # A
    u[:] = 0  # W
    v += t  # R
    return v.sum()


@bufferize
def windows(u, n):
    best = 0.0
    for k in range(n):
        part = np.cumsum(u) * (k + 1)  # A
        best = max(best, part.max())
    return best


@bufferize
def jackknife(u):
    out = np.empty(len(u))  # A
    for k in range(len(u)):
        rest = u.copy()
        rest[k] = 0
        out[k] = rest.sum()
    return out


@bufferize
def scaled_copy(u, out):
    t = u * 3  # A
    u += 1  # W
    np.subtract(t, u, out=out)  # R
    return t.max()


@bufferize
def early(u, v):
    t = u.copy()  # A
    if u[0] < 0:
        return 0.0
    u *= 2  # W
    v += t  # R
    return v.sum()


@bufferize
def histogram(u, edges):
    counts = np.zeros(len(edges))  # A
    for k in range(len(edges)):
        counts[k] = (u < edges[k]).sum()
    return counts


@bufferize
def gram_schmidt(a):
    for k in range(len(a)):
        row = a[k].copy()  # A
        for j in range(k):
            row -= (a[j] * a[k]).sum() * a[j]
        a[k] = row / np.sqrt((row * row).sum() + 1)


@bufferize
def softened(u, v, n):
    for _ in range(n):
        e = np.exp(u - u.max())  # A
        e = e / e.sum()
        v += e
    return v


@bufferize
def sorted_then_used(u, v):
    s = np.sort(u)  # A
    u[:] = 0
    v += s


@bufferize
def masked(u):
    kept = u.copy()  # A
    u[u < 0.5] = 0  # W
    return kept - u  # R


@bufferize
def complex_step(z, c):
    before = z.copy()  # A
    z *= z  # W
    z += c
    return np.abs(z - before).max()  # R


@bufferize
def mixed_precision(u, v):
    low = u.astype(np.float32)  # A
    u *= 2  # W
    v += low  # R


class Oscillator:
    def __init__(self, x, p):
        self.x = x
        self.p = p

    @bufferize
    def kick(self, dt):
        old = self.x.copy()  # A
        self.x += dt * self.p  # W
        self.p -= dt * old  # R


@bufferize
def two_loops(u, n):
    for _ in range(n):
        d = u[1:] - u[:-1]
        u[1:] -= 0.1 * d  # A W R
    for _ in range(n):
        s = np.cumsum(u)
        u += 0.01 * s
    return u


@bufferize
def triangle(u, n):
    total = np.zeros(n)
    for k in range(n):
        for j in range(k):
            w = np.cumsum(u)  # A
            if w[-1] > 2 + j:
                break
            total[k] += w[-1]
    return total


@bufferize
def life(board, n):
    for _ in range(n):
        count = np.zeros_like(board)  # A
        count[1:-1] = board[:-2] + board[2:]
        board[:] = np.where(count > 1, 1, 0)  # R
    return board.sum()


@bufferize
def outer_updates(a, n):
    for k in range(n):
        column = a[:, k].copy()  # A
        row = a[k].copy()
        a -= 0.1 * np.outer(column, row)  # W R


@bufferize
def common_subsequence(a, b):
    previous = np.zeros(len(b) + 1)
    for i in range(len(a)):
        current = np.zeros(len(b) + 1)  # A
        for j in range(len(b)):
            current[j + 1] = previous[j] + 1 if a[i] == b[j] else max(previous[j + 1], current[j])
        previous = current
    return previous[-1]


@bufferize(donate_optional="v")
def already_donated(u, v):
    d = np.cumsum(u)  # A
    return d[::-1] + np.cumsum(v).max()


@bufferize
def rotated(u, n):
    for _ in range(n):
        first = u[0].copy()  # A
        u[0] = u[-1]
        u[-1] = first
    return u


@bufferize
def edges_swapped(u, n):
    for _ in range(n):
        row = u[0, 1:-1].copy()  # A
        u[0, 1:-1] = u[1, 1:-1]
        u[1, 1:-1] = row
    return u


@bufferize
def smoothed(u, n):
    v = u * 2
    for _ in range(n):
        v = np.roll(v, 1) + v  # A
    return v


@bufferize
def powers_of(a, x, n):
    for _ in range(n):
        x = a @ x  # A
    return x


@bufferize
def matrix_power(a, n):
    result = np.eye(len(a))
    for _ in range(n):
        result = result @ a  # A
    return result


@bufferize
def by_doubling(x):
    n = 1
    total = 0.0
    while n < len(x):
        w = x[:n] * 2  # A
        total += (w * w).sum() + w.max()
        n *= 2
    return total


@bufferize
def halves_of_rows(m):
    total = 0.0
    for i in range(1, len(m)):
        part = m[:i] - m[0]  # A
        total += np.sort(part, axis=0)[0].sum() + part.sum()
    return total


@bufferize
def as_long_as_it_counts(x, n):
    i, total = 0, 0.0
    while i < n:
        w = np.zeros(i + 1)  # A
        w[-1] = x
        total += np.cumsum(w).max()
        i += 1
    return total


@bufferize
def symmetric(a):
    a += a.T  # A


@bufferize
def until_it_stays(a, x, tol):
    k, error = 0, 1.0
    y = x.copy()
    while k < 20 and error > tol:
        new = a @ y  # A
        error = np.abs(new - y).sum()
        y = new
        k += 1
    return y


@bufferize
def added_behind(x, k, n):
    for _ in range(n):
        x[k:] += x[: len(x) - k]  # A


@bufferize
def late(x, n):
    for _ in range(n):
        before = x.copy()
        x *= 0.5
        x += np.sqrt(before - x)
        x -= before
    return before.mean()


@bufferize
def stationary(p, x, n):
    for _ in range(n):
        new = x @ p  # A
        x = new / new.sum()
    return x


@bufferize
def normalised_twice(x, n):
    for _ in range(n):
        y = np.roll(x, 1) + x  # A
        y = y / np.sqrt((y * y).sum() + 1)
        x = y
    return x


@bufferize
def ramps(n):
    total = 0.0
    for i in range(1, n):
        w = np.zeros(i)  # A
        w[::2] = 1.0
        total += np.cumsum(w)[-1]
    return total


@bufferize
def heads(x):
    best = 0.0
    for i in range(len(x)):
        head = x[: i + 1].copy()  # A
        head -= head.mean()
        best = max(best, (head * head).sum())
    return best


@bufferize
def tails(x, n):
    best = 0.0
    for i in range(n):
        tail = np.cumsum(x[i:])  # A
        if len(x) > n:
            best = max(best, tail[-1])
    return best


@bufferize
def reset(x, at):
    total = np.cumsum(x)  # A
    x[:] = 0  # W
    x[at] = 1
    return total.max() - total.min()  # R


@bufferize
def rows_reversed(m):
    for i in range(len(m)):
        m[i] = m[i, ::-1].copy()  # A W R


@bufferize
def folded(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        part = x[: len(x) - i].copy()  # A
        part += part[::-1]
        out[i] = part.sum()
    return out


@bufferize
def rows_smoothed(m):
    for i in range(len(m)):
        m[i] = np.roll(m[i], 1) + m[i]  # A


@bufferize
def sums_along(m, n):
    for _ in range(n):
        m[:-1] = np.cumsum(m, axis=-1)[1:]
