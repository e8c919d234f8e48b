"""Deques: queues, and the last items of a stream."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program
from tracebuf.errors import UnsupportedError
from tracebuf.testing.ladder import climb

X = np.random.default_rng(3).normal(size=40)


def breadth_first(children, root):
    queue, order, level = deque([(root, 0)]), [], []
    while queue:
        k, depth = queue.popleft()
        order.append(k)
        level.append(depth)
        for c in children[k]:
            if c >= 0:
                queue.append((int(c), depth + 1))
    return order, np.array(level)


def moving_average(x, n):
    last, means, full = deque(maxlen=n), [], 0
    for v in x:
        last.append(v)
        means.append(sum(last) / len(last))
        if len(last) == n:
            full += 1
    return np.array(means), full, list(last), last[0], max(last)


def both_ends(x, n):
    q = deque()
    for k in range(len(x)):
        if x[k] > 0:
            q.append(k)
        else:
            q.appendleft(-k)
        if len(q) > n:
            q.pop()
    total = 0
    for v in q:
        total += v
    return sorted(q), total, isinstance(q, list), len(q), 3 in q, np.array(list(q))


def turned(x, n):
    q, last = deque(), deque(maxlen=4)
    for k in range(len(x)):
        q.append((k, x[k]))
        last.append(x[k])
        last.rotate()
    q.rotate(n)
    p = q.copy()
    p.reverse()
    p.rotate(-2 * n)
    q.append((n, x[0]))
    kept = last.copy()
    kept.append(x[1])
    none = deque()
    none.rotate(n)
    return [k for k, v in p], [v for k, v in q], len(p), len(q), len(kept), list(kept), list(last), len(none)


def josephus(n, k):
    circle = deque()
    for j in range(n):
        circle.append(j)
    gone = []
    while circle:
        circle.rotate(-k)
        gone.append(circle.popleft())
    return gone


def never_filled(x, n):
    q = deque()
    while q:
        x[0] = q.popleft()
    return len(q), x


def popped_too_often(x, n):
    q = deque()
    for v in x:
        q.append(v)
    while True:
        x[0] = q.popleft()


def window_of_arrays(x, n):
    last = deque(maxlen=3)
    for k in range(len(x)):
        last.append(x[:4] * k)
    return np.mean(list(last), axis=0), last[-1]


TREE = np.array([[1, 2], [3, 4], [5, -1], [-1, -1], [6, -1], [-1, -1], [-1, -1]])


@pytest.mark.slow
def test_a_queue() -> None:
    agree(breadth_first, TREE, 0)


@pytest.mark.slow
def test_deques() -> None:
    for n in (3, 7):
        agree(moving_average, X, n)
        agree(both_ends, X, n)
    agree(never_filled, X, 3)
    for n in (0, 3, -7, 95):
        agree(turned, X, n)
    agree(turned, X[:2], 1)
    agree(josephus, 7, 3)
    agree(window_of_arrays, X, 3)
    assert isinstance(agree(popped_too_often, X, 3), IndexError)


REFUSED = {
    "a deque is returned": "return q",
    "an operator on a deque": "return len(q + q)",
    "a deque changes in a loop over it": "for v in q:\n    if v > 1:\n        q.append(0.0)\n        break\nreturn 1",
    "changes in a loop": "for v in q:\n    q.rotate(1)\nreturn 1",
    "a deque changes in a loop": "for v in q:\n    q.append(q.popleft())\nreturn 1",
    "of a deque with a maxlen": "p = deque(maxlen=3)\nfor v in x:\n    p.appendleft(v)\nreturn p[0]",
}


@pytest.mark.parametrize("reason", REFUSED)
def test_refused(reason: str) -> None:
    lines = ["q = deque()", "for v in x:", "    q.append(v)", *REFUSED[reason].splitlines()]
    f = program("def f(x):\n" + "\n".join("    " + line for line in lines), deque=deque)
    with pytest.raises(UnsupportedError, match=reason):
        tracebuf.bufferize(f)(X)


@pytest.mark.slow
def test_of_what_data_select() -> None:
    def queue(x):
        q = deque(i for i in range(len(x)) if x[i] > 0.5)
        out = []
        while q:
            out.append(q.popleft())
        return out

    def bounded(x):
        q = deque((v for v in x if v > 0.3), maxlen=2)
        q.append(x[0])
        return list(q)

    def pairs(x):
        q = deque((i, v) for i, v in enumerate(x) if v > 0.5)
        s = 0.0
        while q:
            i, v = q.pop()
            s += i * v
            if i > 1:
                q.append((0, v))
        return s

    x = np.random.default_rng(1).random(6)
    for f in (queue, bounded, pairs):
        climb(f, (x,), again=[(x[::-1].copy(),), (x * 0.1,)])
