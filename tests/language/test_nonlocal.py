"""Names that functions inside of a traced function bind: `nonlocal` (rules C1, F1, S8)."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused

BODIES = {
    "a sum in a loop": """
    total = 0.0
    def add(x):
        nonlocal total
        total += x
    for i in range(len(a)):
        if a[i] > 1:
            add(a[i])
    return total
    """,
    "calls that are counted": """
    count = 0
    def root(x):
        nonlocal count
        count += 1
        return x * x - a[0]
    low, high = 0.0, 10.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        if root(middle) > 0:
            high = middle
        else:
            low = middle
    return low, count
    """,
    "an array": """
    state = a.copy()
    def step(dt):
        nonlocal state
        state = state + dt * a
    for _ in range(3):
        step(0.5)
    return state
    """,
    "the best so far": """
    best, where = -np.inf, -1
    def see(i):
        nonlocal best, where
        if a[i] > best:
            best = a[i]
            where = i
    for i in range(len(a)):
        see(i)
    return best, where
    """,
    "a parameter": """
    def scaled():
        nonlocal a
        a = a * 2
        return a
    return scaled() + scaled(), a
    """,
    "counters of their own": """
    def counter():
        n = 0
        def more(by=1):
            nonlocal n
            n += by
            return n
        return more
    first, second = counter(), counter()
    return first(), first(3), second(), a * first()
    """,
    "two functions inside": """
    x = 1
    def outer():
        def inner():
            nonlocal x
            x = x + 1
        inner()
        inner()
    outer()
    return [x for _ in range(2)], x, (lambda: x + 1)()
    """,
    "bound after the function": """
    def more():
        nonlocal t
        t = t + 1
    t = a * 2
    more()
    return t
    """,
    "one of two arrays": """
    t = a
    def pick(k):
        nonlocal t
        t = a[::-1] if a[k] > 1 else a * 2
    pick(0)
    t[0] = 100
    pick(1)
    t[1] = 7
    return t, a
    """,
    "None at first": """
    before = None
    def step(x):
        nonlocal before
        d = 0.0 if before is None else x - before
        before = x
        return d
    return sum(step(a[i]) for i in range(len(a))), before
    """,
    "names of comprehensions and parameters": """
    k = 5
    ks = [k for k in range(3)]
    f = lambda k: k + 1
    def g(x, k=k):
        return x + k
    def h():
        nonlocal k
        k += 1
    h()
    return k, ks, f(1), g(1), [x * k for x in range(k)]
    """,
    "unpacked, and in a `with`": """
    x, (y, z) = 1, (2, 3)
    def g():
        nonlocal x, y
        x, y = y, x
        for z in range(3):
            x += z
    g()
    with np.errstate(divide="ignore"):
        y += 1
    return x, y, z
    """,
    "not bound": """
    def g():
        nonlocal t
        t = t + 1
    if len(a) > 100:
        t = 0
    g()
    return t
    """,
}


@pytest.mark.parametrize("name", BODIES)
def test_nonlocal(name: str) -> None:
    f = program(f"def f(a):\n    {BODIES[name].strip()}")
    agree(f, np.array([2.0, 1.0, 5.0, 3.0]))
    agree(f, np.array([1.0, 7.0, 2.0], np.float32))


def test_nonlocal_forms_that_are_refused() -> None:
    for text in ("(t := t + a[0])", "del t"):
        f = program(f"""
            def f(a):
                t = 0.0
                def g():
                    nonlocal t
                    {text}
                g()
                return t
            """)
        assert "`nonlocal`" in refused(f, np.ones(2)).reason
