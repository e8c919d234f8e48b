"""Functions with a known needless or necessary allocation or copy, for tests/tools/test_stories.py.

`# A` marks the line that allocates or copies, `# W` the write, `# R` the read that still wants the old value.
"""

from __future__ import annotations

import functools

import numpy as np

from tracebuf import bufferize

# fmt: off


@bufferize
def saved_for_later(u, v):
    w = u.copy()  # A
    u *= 2  # W
    v += w  # R


@bufferize
def saved_before_a_loop(u, v, rounds):
    w = u.copy()
    u *= 2
    v += w
    for _ in range(rounds):
        u[1:-1] = (u[:-2] + u[2:] + v[1:-1]) / 3


@bufferize
def before_and_after(u):
    old = u.copy()  # A
    u += 1
    return old


@bufferize
def smoothed(u):
    u[1:-1] = (u[:-2] + u[1:-1] + u[2:]) / 3  # A W R


@bufferize
def fresh(u):
    return u * 2 + 1  # A


@bufferize
def gathered_then_cleared(u, idx):
    g = u[idx]  # A
    u[idx] = 0  # W
    return g.sum()  # R


@bufferize
def exchanged(u, i, j):
    t = u[i].copy()  # A
    u[i] = u[j]  # W
    u[j] = t  # R


@bufferize
def copied_twice(u):
    x = np.array(u)  # A
    y = x.copy()
    y += x
    return y


@bufferize
def masked_rows(u, n):
    out = np.zeros(n)
    for k in range(n):
        w = u.copy()  # A
        w[k] = 0
        out[k] = w.sum()
    return out


@bufferize
def normalised_rows(a):
    for k in range(len(a)):
        row = a[k].copy()  # A
        a[k] = row / row.sum()


@bufferize
def normalised_copies(a):
    for k in range(len(a)):
        row = np.array(a[k])  # A
        a[k] = row - row.max()


@bufferize
def reversed_in_place(u):
    u[:] = u[::-1]  # A W R


@bufferize
def product_in_place(a, x):
    x[:] = a @ x  # A W R


@bufferize
def summed_late(u, v):
    a = u + v[::-1]  # A
    v += 1  # W
    b = np.cumsum(a)  # R
    return b.sum(), v.sum()


@bufferize
def softmax(u):
    e = np.exp(u - u.max())  # A
    return e / e.sum()


@bufferize
def rotated(u, v, w):
    t = u.copy()  # A
    u[:] = v
    v[:] = w
    w[:] = t  # R


@bufferize
def steps(u, v):
    before = u.copy()  # A
    u += np.cumsum(v)  # W
    return np.abs(u - before).max()  # R


@bufferize
def sorted_ends(u):
    s = np.sort(u)  # A
    return s[0] + s[-1]


@bufferize
def running(u):
    d = np.cumsum(u - u.mean())  # A
    return d.max() - d.min()


@bufferize
def grown(u):
    return np.concatenate([u, u[:1]])  # A


@bufferize
def transposed(u):
    w = u.T.copy()  # A
    w *= 2
    return w


@bufferize
def kept_argument(u):
    v = u.copy()  # A
    v[0] = 1
    return v


@bufferize
def both_halves(u, v):
    t = u * v  # A
    u[:] = 0  # W
    v -= t.sum()  # R


@bufferize
def difference_kept(u, v):
    d = u - v  # A
    u += 3  # W
    v *= d  # R
    return v.sum()


@bufferize
def stepped(u, n):
    for _ in range(n):
        u[1:] = u[1:] - u[:-1] * 0.5  # A W R


@bufferize
def energy(u, v):
    old = u.copy()  # A
    u += v  # W
    return (old * old).sum()  # R


@bufferize
def swapped(u, v):
    t = u.copy()  # A
    u[:] = v
    v[:] = t  # R


@bufferize
def nothing_left(u, v):
    v += 2 * u
    return v.sum()


@bufferize
def solved(a, b):
    x = np.linalg.solve(a, b)  # A
    return x + b


@bufferize
def defensive(u, v):
    w = u.copy()
    return (w * v).sum()


@bufferize
def scaled_rows(a, s):
    for k in range(len(a)):
        t = a[k].copy()  # A
        t /= np.abs(t).max()
        s[k] = t.sum()


@bufferize
def lagged(u, n):
    for _ in range(n):
        last = u[0] + np.cumsum(u)  # A
        u[:] = last[::-1]


@bufferize
def two_parts(u, n):
    a = u[:n].copy()  # A
    u[:n] = 2  # W
    b = u[n:] + 1
    return a.sum() + b.max()  # R


@bufferize
def several_lines(u, v):
    w = u.copy()  # A
    np.multiply(
        u,
        2,
        out=u,  # W is above
    )
    v += w


@bufferize
def asserted_between(u, v):
    w = u.copy()  # A
    u *= 2  # W
    assert v[0] >= 0
    v += w  # R


@bufferize
def kept_in_a_list(u):
    out = []
    for _ in range(2):
        old = u.copy()
        u += 1
        out.append(old)
    return out[1].sum()


class Solver:
    def __init__(self, k):
        self.k = k

    @bufferize
    def step(self, u, v):
        w = u.copy()
        u *= self.k
        v += w


@bufferize
def on_one_line(u, v):
    w = u.copy(); u *= 2; v += w  # A W R  # noqa: E702


LONG = "def added(u, v):\n    w = u.copy()\n    u *= 2\n    v += w" + "".join(f" + {k}.5" for k in range(400)) + "\n"


@bufferize
def behind_a_head(u, v, k):
    for _ in range(k): w = u.copy(); u *= 2; v += w  # A W R  # noqa: E701, E702


@bufferize
def moved_together(u, v):
    w = u.copy()  # A
    u *= 2  # W
    t = w * 3  # R
    v += t


@bufferize
def written_then_read(u, v):
    w = u.copy()  # A
    u *= 2
    v *= w
    v += w


@bufferize
def summed_each_time(u, rounds):
    for _ in range(rounds):
        w = np.cumsum(u)  # A
        u += w / w[-1]


@bufferize
def multiplied_each_time(a, x, n):
    for _ in range(n):
        y = a @ x  # A
        x[:] = y / np.abs(y).max()


@bufferize
def smoothed_often(u, rounds):
    for _ in range(rounds):
        u[1:-1] = (u[:-2] + u[1:-1] + u[2:]) / 3  # A W R


@bufferize
def doubly_buffered(u0, rounds):
    u = u0.copy()
    for _ in range(rounds):
        new = u.copy()  # A
        new[1:-1] = (u[:-2] + u[2:]) / 2
        u = new
    return u


@bufferize
def written_in_a_branch(u, v):
    w = u.copy()  # A
    if v[0] > 0:
        u *= 2  # W
    v += w  # R


@bufferize
def written_in_a_branch_of_a_loop(u, v, n):
    w = u.copy()  # A
    for k in range(n):
        if v[k] > 0:
            u += v[k]
    v += w  # R


def passed_on(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        return f(*args, **kwargs)
    return inner


@bufferize
@passed_on
def wrapped(u, v):
    d = u - v
    return np.sqrt((d * d).mean())


@bufferize
def mostly_one(u):
    s = u.max() + u.min()
    return (u - s) * 2
