"""Iterators that are asked from several places: within loops over them, after an exception has left such a loop, and
after their end. Each gives eager's items in eager's order, or is refused; found by programs drawn at random."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused
from tests.support.params import one_in

LEFT_BY_A_RAISE = """
def f(a, n):
    g = {}
    t = 0.0
    try:
        for z in g:
            t += 1
            if a[0] > t:
                raise ValueError
    except ValueError:
        for z in g:
            t += 10
    return t
"""
"""Of an iterator: whether it has its place where an exception has left a loop over it."""
PROGRAMS = {
    "a generator expression sees what the loop over it binds": """
def f(a, n):
    s = 1.0
    t = 0.0
    for z in (s for y in range(n)):
        s = s + 1.0
        t = t + z
    return t
""",
    "a lambda of map sees it": """
def f(a, n):
    t = 0.0
    for z in map(lambda y: a[0], range(n)):
        a = a * 2
        t = t + z
    return t
""",
    "beside another in zip": """
def f(a, n):
    s = 1.0
    def h(x): return s * x
    for z, q in zip(a, map(h, a)):
        s = s + 1.0
    return q
""",
    "within a generator": """
def gen(m, s):
    for z in map(lambda x: s, range(m)):
        s = s + 1.0
        yield z
def f(a, n):
    return sum(gen(n, 1.0))
""",
    "left by a raise": """
def f(a, n):
    g = iter(a)
    try:
        for z in g:
            if z > 0:
                raise ValueError
    except ValueError:
        return sum(g)
    return 0.0
""",
    "left by what an item does": """
def f(a, n):
    g = iter(a)
    t = 0.0
    try:
        for z in g:
            t += 1 / int(z - 1)
    except ZeroDivisionError:
        return list(g)
    return t
""",
    "left by an index": """
def f(a, n):
    g = iter(a)
    t = 0.0
    try:
        for z in g:
            t += a[int(z) + 1]
    except IndexError:
        t += 100
    for z in g:
        t += z
    return t
""",
    "a sum that raises": """
def f(a, n):
    g = iter(a)
    t = 0.0
    try:
        t = sum(1 / int(z - 1) for z in g)
    except ZeroDivisionError:
        t += sum(g)
    return t
""",
    "within a call": """
def use(g, a):
    t = 0.0
    for z in g:
        t += z
        if t > a[-1]: raise ValueError
    return t
def f(a, n):
    g = iter(a)
    t = 0.0
    try:
        t = use(g, a)
    except ValueError:
        t += sum(g)
    return t
""",
    "read at the end": """
def f(a, n):
    g = iter(a)
    t = 0.0
    try:
        for z in g:
            t += z
            if t > 3: raise ValueError
    except ValueError:
        t += 1
    finally:
        t += sum(g)
    return t
""",
    "next in a while": """
def f(a, n):
    g = iter((1.0, 2.0, 3.0))
    t = 0.0
    try:
        while True:
            t += next(g)
            if t > a[0]: raise ValueError
    except ValueError:
        t += sum(g)
    except StopIteration:
        t += 100
    return t
""",
    "next twice": """
def f(a, n):
    g = iter((1.0, 2.0, 3.0))
    t = 0.0
    try:
        t += next(g)
        if t < a[0]: raise ValueError
        t += next(g)
    except ValueError:
        t += sum(g)
    return t + sum(g)
""",
    "next to the end": """
def f(a, n):
    g = (z * 2 for z in a if z > 1)
    t = 0.0
    while True:
        try:
            t += next(g)
        except StopIteration:
            break
    return t
""",
    "next of two loops": """
def f(a, n):
    g = ((y, z) for y in range(2) for z in (1, 2))
    p = next(g, 0)
    return p, next(g, 0)
""",
    "next of two loops, then the rest": """
def f(a, n):
    g = (y for x in a for y in (x, 10.0))
    p = next(g, 0.0)
    return p, sum(list(g))
""",
    "next of a loop in a loop": """
def f(a, n):
    g = (z * y for y in a for z in range(n))
    return next(g, 0), next(g, 0)
""",
    "left by a raise: iter(range(n))": LEFT_BY_A_RAISE.format("iter(range(n))"),
    "left by a raise: reversed(a)": LEFT_BY_A_RAISE.format("reversed(a)"),
    "left by a raise: enumerate(a)": LEFT_BY_A_RAISE.format("enumerate(a)"),
    "left by a raise: zip(a, a)": LEFT_BY_A_RAISE.format("zip(a, a)"),
    "left by a raise: iter((1.,a[0],3.))": LEFT_BY_A_RAISE.format("iter((1.,a[0],3.))"),
}
"""Functions `f(a, n)`, by what they show."""
REFUSED = {
    "a loop within a loop over the same generator": """
def gen(n):
    for i in range(n):
        yield i
def f(a, n):
    g = gen(n)
    t = 0
    for z in g:
        for z2 in g:
            t = t * 2 + z2
    return t
""",
    "sum within it": """
def gen(n):
    for i in range(n):
        yield i
def f(a, n):
    g = gen(n)
    t = 1
    for z in g:
        t = t * 2 + sum(g)
    return t
""",
    "under another name": """
def gen(n):
    for i in range(n):
        yield i
def f(a, n):
    g = gen(n)
    h = g
    t = 1
    for z in g:
        for z in h:
            t = t * 2 + z
    return t
""",
    "within another generator": """
def gen(n):
    for i in range(n):
        yield i
def wrap(g):
    for z in g:
        yield z + 1
        for y in g:
            yield y * 10
def f(a, n):
    t = 1
    for z in wrap(gen(n)):
        t = t * 2 + z
    return t
""",
    "by two generators": """
def gen(n):
    for i in range(n):
        yield i
def wrap(g):
    for z in g:
        yield z + 1
def f(a, n):
    t = 1
    g = gen(n)
    for z in wrap(g):
        for y in wrap(g):
            t = t * 2 + z + y
    return t
""",
    "an expression that raises": """
def f(a, n):
    g = (1 / int(z - 1) for z in a)
    t = 0.0
    try:
        t = sum(g)
    except ZeroDivisionError:
        t += len(list(g))
    return t
""",
    "an expression whose next raises": """
def f(a, n):
    g = (1 / int(z - 1) for z in a)
    t = 0.0
    try:
        t = next(g)
        t += next(g)
    except ZeroDivisionError:
        t += len(list(g))
    return t
""",
    "its next in a while": """
def f(a, n):
    g = (1 / int(z - 2) for z in a)
    t = 0.0
    try:
        while t < 100:
            t += next(g)
    except (ZeroDivisionError, StopIteration):
        t += len(list(g))
    return t
""",
    "a map that raises": """
def f(a, n):
    g = map(lambda z: 1 / int(z - 1), a)
    t = 0.0
    try:
        t = sum(g)
    except ZeroDivisionError:
        t += len(list(g))
    return t
""",
    "an item more for zip": """
def f(a, n):
    s = 0.0
    def bump(x):
        nonlocal s
        s += 1.0
        return x
    for z, q in zip((bump(y) for y in a), range(n)):
        pass
    return s
""",
    "zip asked again": """
def f(a, n):
    g = iter(a)
    h = zip(g, (1, 2))
    t = list(h)
    u = list(h)
    return list(g)
""",
    "zip in a loop, asked again": """
def f(a, n):
    g = iter(a)
    h = zip(g, (1, 2))
    t = list(h)
    for z in h: pass
    return list(g)
""",
    "zip of expressions asked again": """
def f(a, n):
    g = (x for x in a[:2] for y in a)
    h = zip(g, a)
    t = list(h)
    u = list(h)
    return list(g)
""",
    "a comprehension within a loop over the same generator": """
def gen(q):
    for x in q:
        yield x
def f(a, n):
    g = gen(a)
    t = 0.0
    for w in g:
        t = t + sum([x for x in g])
    return t
""",
    "left by a raise: map(lambda z: z*2, a)": LEFT_BY_A_RAISE.format("map(lambda z: z*2, a)"),
    "left by a raise: (z for z in a)": LEFT_BY_A_RAISE.format("(z for z in a)"),
    "left by a raise: iter([1.,2.,3.])": LEFT_BY_A_RAISE.format("iter([1.,2.,3.])"),
    "left by a raise: (z for z in (1.,2.,5.))": LEFT_BY_A_RAISE.format("(z for z in (1.,2.,5.))"),
    "left by a raise: map(lambda z: z*2, [1.,2.,3.])": LEFT_BY_A_RAISE.format("map(lambda z: z*2, [1.,2.,3.])"),
    "left by a raise: zip([1.,2.],[3.,4.])": LEFT_BY_A_RAISE.format("zip([1.,2.],[3.,4.])"),
}
"""Those of which it is not known how many items are left."""


@pytest.mark.parametrize("name", one_in(4, PROGRAMS))
def test_items_come_in_eagers_order(name: str) -> None:
    f = program(PROGRAMS[name])
    agree(f, np.array([3.0, 1.0, 2.0, 5.0]), 3)
    agree(f, np.array([0.0, 4.0]), 2)


@pytest.mark.parametrize("name", one_in(6, REFUSED))
def test_iterators_whose_items_left_are_not_known_are_refused(name: str) -> None:
    assert "list(...)" in str(refused(program(REFUSED[name]), np.array([3.0, 1.0, 2.0, 5.0]), 3))


def test_an_unbound_name_of_a_function_around() -> None:
    """Python raises NameError there, not UnboundLocalError."""
    f = program("""
def f(a, n):
    def h():
        return y
    for i in range(n):
        if a[0] > 10:
            y = 1.0
    return h()
    """)
    agree(f, np.array([3.0]), 2)
    agree(f, np.array([30.0]), 2)


ITERATOR = """
class Even:
    def __init__(self, n):
        self.n, self.i = n, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.i >= self.n:
            raise StopIteration
        self.i += 1
        return self.i * 2
"""


@pytest.mark.parametrize(
    "body",
    [
        "g = iter(Even(n))\nreturn next(g) + next(g)", "g = Even(1)\nreturn next(g, 5) + next(g, 7)",
        "g, s = Even(n), 0\nwhile True:\n    x = next(g, None)\n    if x is None:\n        break\n"
        "    s += x * 10 + next(g, -1)\nreturn s",
        "g, s = Even(n), 0\ntry:\n    while True:\n        s += next(g)\nexcept StopIteration:\n    return s",
    ],
)  # fmt: skip
@pytest.mark.cases(2)
def test_next_of_the_users_own_iterators(body: str) -> None:
    f = program(f"{ITERATOR}\ndef f(n):\n    " + body.replace("\n", "\n    "))
    for n in (3, 2):
        agree(f, n)
