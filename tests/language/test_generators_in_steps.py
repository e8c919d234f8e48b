"""Generator functions from which `next` takes items here and there: in straight lines, loops and branches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused
from tests.support.params import one_in
from tracebuf.testing.ladder import climb

X = np.random.default_rng(1).random(10)


def each(x):
    for v in x:  # noqa: UP028
        yield v


def halves(x):
    for v in x:
        if v > 0.5:
            yield v / 2


def fib():
    a, b = 0, 1
    while True:
        yield a
        a, b = b, a + b


def lcg(seed):
    while True:
        seed = (1103515245 * seed + 12345) % 2**31
        yield seed / 2**31


def three(x):
    yield x[0]
    yield x[1] * 2
    yield x[2]


def running(x):
    s = 0.0
    n = 0
    for v in x:
        s += v
        n += 1
        yield s / n


def two(x):
    for i, v in enumerate(x):
        if v > 0.8:
            yield i
        elif v < 0.2:
            yield -i
            x[i] = 0.5


def early_return(x):
    for v in x:
        if v > 0.9:
            return
        yield v


def zip2(x, y):
    for a, b in zip(x, y):
        yield a - b


def raising(x):
    for v in x:
        if v > 0.9:
            raise ValueError("big")
        yield v


def newton(a):
    t = a
    while True:
        t = (t + a / t) / 2
        yield t


def one_and_the_sum(x):
    g = each(x)
    a = next(g)
    return a + sum(g)


def one_and_the_rest(x):
    g = halves(x)
    a = next(g, 0.0)
    return a, list(g)


def in_a_comprehension(x):
    g = fib()
    return [next(g) for _ in range(10)]


def while_small(x):
    g = fib()
    out = []
    a = next(g)
    while a < 50:
        out.append(a)
        a = next(g)
    return out


def drawn(x):
    r = lcg(42)
    hits = 0
    for v in x:
        if next(r) < v:
            hits += 1
    return hits


def written_out(x):
    g = three(x)
    a = next(g)
    b = next(g)
    c = next(g)
    return a, b, c, next(g, None)


def greatest_mean(x):
    g = running(x)
    m = next(g)
    for _ in x[1:]:
        m = max(m, next(g))
    return m


def places_and_stores(x):
    g = two(x)
    a = next(g, None)
    b = next(g, None)
    return a, b, x


def until_it_returns(x):
    g = early_return(x)
    s = 0.0
    while True:
        v = next(g, None)
        if v is None:
            break
        s += v
    return s


def side_by_side(x):
    g = zip2(x, x[::-1])
    return next(g), next(g)


def two_at_once(x):
    g, h = fib(), each(x)
    s = 0.0
    for _ in range(4):
        s += next(g) * next(h)
    return s


def closure_with_a_count(x):
    def count():
        k = 0
        while True:
            k += 1
            yield k
    ids = count()
    names = {}
    for v in x:
        c = int(v * 3)
        if c not in names:
            names[c] = next(ids)
    return names


def seen_in_its_turn(x):
    g = each(x)
    a = next(g)
    x[1] = 50.0
    return a, next(g)


def caught(x):
    try:
        g = each(x[:1])
        b = next(g) + next(g)
    except StopIteration:
        b = -1.0
    return b


def ended_by_an_exception(x):
    g = raising(x)
    out = []
    try:
        while True:
            out.append(next(g))
    except ValueError:
        pass
    return out, next(g, -1.0)


def newtons(x):
    g = newton(x[0] + 1)
    old = next(g)
    for _ in range(20):
        new = next(g)
        if abs(new - old) < 1e-12:
            break
        old = new
    return new


def newtons_while(x):
    g = newton(x[0] + 1)
    old = next(g)
    new = next(g)
    while abs(new - old) > 1e-9:
        old, new = new, next(g)
    return new


def defaults_in_a_loop(x):
    g = halves(x)
    t = 0.0
    for _ in range(3):
        t += next(g, 0.0)
    return t


PROGRAMS = [
    one_and_the_sum, one_and_the_rest, in_a_comprehension, while_small, drawn, written_out, greatest_mean,
    places_and_stores, until_it_returns, side_by_side, two_at_once, closure_with_a_count, seen_in_its_turn, caught,
    ended_by_an_exception, newtons, newtons_while, defaults_in_a_loop,
]  # fmt: skip


@pytest.mark.parametrize("f", one_in(5, PROGRAMS))
@pytest.mark.cases(4)
def test_programs(f: Any) -> None:
    climb(f, (X,))
    for x in (X[::-1].copy(), X[:4] * 0.8, np.sort(X)):
        agree(f, x)


MADE = """
def each(x):
    for v in x:
        yield v

def sized(q):
    n = len(q)
    while n > 0:
        yield n
        n -= 1

def products(x):
    for v in x:
        for w in x:
            yield v * w

def scaled(x):
    m = x.max()
    for v in x:
        yield v / m

def logged(x):
    print("begin")
    for v in x:
        yield v

def of_another(x):
    it = iter(x)
    while True:
        yield next(it)

def f(x):
    {}
"""
REFUSED = [
    "q = [1, 2]\n    g = sized(q)\n    q.append(3)\n    return next(g), next(g)",
    "q = [1.0, 2.0]\n    g = each(q)\n    q.append(x[0])\n    return next(g), next(g), next(g)",
    "g = products(x)\n    return next(g), next(g)",
    "g = scaled(x)\n    a = next(g)\n    x[:] = 1\n    return a, next(g)",
    "g = logged(x)\n    return next(g), next(g)",
    "g = of_another(x[:1])\n    return next(g), next(g)",
    "g = each(x)\n    s = 0.0\n    for a in g:\n        s += a * next(g)\n    return s",
    "g = each(x)\n    a = next(g)\n    return a, [p + q for p, q in zip(g, g)]",
    "k = 1\n    def tens():\n        a = k\n        while True:\n            yield a\n            a += 10\n"
    "    g = tens()\n    k = 2\n    return next(g), next(g)",
]


@pytest.mark.parametrize("text", one_in(3, REFUSED))
def test_what_is_refused(text: str) -> None:
    """What runs before the first item would run too soon; several loops; `next` within a loop over the generator."""
    refused(program(MADE.format(text)), X)
