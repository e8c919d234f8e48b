"""Lists whose length only the run time knows: what is appended in loops that are traced once, stacks, queues, lists
that are indexed by counters and data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree

X = np.random.default_rng(3).normal(size=40)
INTS = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4])


# -- what is appended
def doubled(x):
    out = []
    for v in x:
        out.append(v * 2)
    return np.array(out)


def returned(x):
    out = []
    for v in x:
        out.append(v * 2)
    return out


def positive(x):
    out, places = [], []
    for k, v in enumerate(x):
        if v > 0:
            out.append(v)
            places.append(k)
    return np.array(out), places, len(out)


def several(x):
    out = []
    for v in x:
        out.append(v)
        out += [v + 1, v * v]
        out.extend((v - 1,))
    return np.asarray(out)


def floats(x):
    out = []
    for v in x:
        out.append(float(v))
    return out, np.array(out)


def ints(x):
    out = []
    for k in range(len(x)):
        out.append(k * k)
    return out


def bools(x):
    out = []
    for k in range(len(x)):
        out.append(x[k] > 0)
    return out, np.array(out, dtype=bool)


def complexes(x):
    out = []
    for v in x:
        out.append(complex(v, 1.0))
    return out


def mixed(x):
    out = [0.0]
    for v in x:
        out.append(out[-1] + v)
    return out, np.array(out)


def nested(x):
    out = []
    for k in range(len(x)):
        for j in range(k):
            if x[j] < x[k]:
                out.append(j + k)
    return out, sum(out), len(out)


def collatz(n):
    out = []
    while n != 1:
        out.append(n)
        n = n // 2 if n % 2 == 0 else 3 * n + 1
    out.append(n)
    return out


def euler(y, dt, n):
    t = 0.0
    ts, ys = [t], [y]
    for _ in range(n):
        y = y - dt * y
        t = t + dt
        ts.append(t)
        ys.append(y)
    return np.array(ts), np.array(ys)


def folded(x):
    out = []
    for v in x:
        if v > -1:
            out.append(v)
    folds = sum(out), min(out), max(out), any(out), all(out), np.sum(out), np.mean(out)
    return folds, out[0], out[-1], out[2], out[1:5]


def iterated(x):
    out = []
    for v in x:
        if v > 0:
            out.append(v)
    total = 0.0
    for v in out:
        total += v
    for k in range(len(out)):
        total += out[k] * k
    for k, v in enumerate(out):
        total += k * v
    return total


def stacked(x):
    a, b = [], []
    for v in x:
        a.append(v)
        b.append(v * v)
    return np.array([a, b]), np.column_stack((a, b)), np.concatenate([a, b]), np.vstack([a, b])


def alias(x):
    out = []
    other = out
    for v in x:
        out.append(v)
    other.append(1.0 * x[0])
    copied = list(out)
    copied.append(x[0])
    return out, other, len(copied), out is other


def inner(x, out):
    for v in x:
        if v > 0:
            out.append(v)


def called(x):
    out = []
    inner(x, out)
    inner(-x, out)
    return np.array(out)


APPENDED = (doubled, returned, positive, several, floats, ints, bools, complexes, mixed, nested, folded, iterated,
            stacked, alias, called)  # fmt: skip


@pytest.mark.parametrize("f", APPENDED)
def test_appended(f: Any) -> None:
    agree(f, X)


def test_appended_by_numbers() -> None:
    agree(collatz, 27)
    agree(euler, 1.0, 0.1, 30)
    agree(euler, np.float64(1.0), 0.1, 30)
    agree(doubled, X[:0])
    agree(returned, X[:0])
    agree(doubled, X.astype(np.float32))


# -- stacks and queues
def depth_first(children, root):
    stack, order = [root], []
    while stack:
        k = stack.pop()
        order.append(k)
        for c in children[k]:
            if c >= 0:
                stack.append(int(c))
    return np.array(order), order


def breadth_first(children):
    queue, order = [0], []
    while len(queue) > 0:
        k = queue.pop(0)
        order.append(k)
        for j in range(children.shape[1]):
            if children[k, j] >= 0:
                queue.append(children[k, j].item())
    return order


def too_often(x):
    stack = []
    for v in x:
        stack.append(v)
    total = 0.0
    for _ in range(len(x) + 1):
        total += stack.pop()
    return total


def past(x):
    out = []
    for v in x:
        if v > 0:
            out.append(v)
    return out[len(x)]


def stored_past(x):
    out = []
    for v in x:
        if v > 0:
            out.append(v)
    out[-len(x) - 1] = 0.0
    return out


# -- lists that are made outside of the loop
def counted(digits):
    counts = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    for d in digits:
        counts[d] += 1
    return counts, max(counts)


def table(x):
    squares = [0.5, 1.5, 2.5]
    total = 0.0
    for k in range(len(x)):
        total += squares[k % 3] * x[k]
        squares[(k + 1) % 3] = total
    return total, squares


def sieve(n):
    prime = [True] * 30
    for k in range(2, n):
        if prime[k]:
            for j in range(k * k, n, k):
                prime[j] = False
    return prime


TREE = np.array([[1, 2], [3, 4], [5, -1], [-1, -1], [6, -1], [-1, -1], [-1, -1]])


def test_stacks_and_queues() -> None:
    agree(depth_first, TREE, 0)
    agree(breadth_first, TREE)
    for f in (too_often, past, stored_past):
        assert isinstance(agree(f, X), IndexError)


def test_made_outside() -> None:
    agree(counted, INTS)
    agree(table, X)
    agree(sieve, 30)
    agree(sieve, 12)
