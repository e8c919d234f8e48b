"""Generator functions of the user's, called while tracing: loops over them, and what takes all their items (rules C1,
F1, S8)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program, refused
from tests.support.params import one_in
from tracebuf.testing.ladder import climb

GENERATORS = """
def squares(a):
    for i in range(len(a)):
        yield a[i] * a[i]

def windows(a, n):
    for i in range(0, len(a) - n + 1, n):
        yield a[i:i + n]

def three(a):
    yield a
    yield a * 2
    yield a[::-1]

def chained(a):
    yield from squares(a)
    yield 3.5
    yield from [a[0], a[1]]
    yield from a

def pairs(n):
    for i in range(n):
        for j in range(i + 1, n):
            yield i, j

def larger(a, limit=1):
    for x in a:
        if x > limit:
            yield x
    return None

def halving(x):
    while x > 0.1:
        yield x
        x = x / 2

def doubled(items):
    for x in items:
        yield 2 * x

class Bag:
    def __init__(self, held):
        self.held = held

    def __iter__(self):
        for x in self.held:
            yield x

def fibonacci():
    a, b = 0, 1
    while True:
        yield a
        a, b = b, a + b

def in_tens(a):
    for x in a:
        for k in range(3):
            yield 10 * x + k
        else:
            yield -x
    a[0] = 99

def used(a):
    x = yield a
    yield x

def protected(a):
    with np.errstate(divide="ignore"):
        yield a

"""
TRACED = {
    "a sum": "s = 0.0\nfor x in squares(a):\n    s += x\nreturn s",
    "views that are changed": """
out, k = np.zeros(2), 0
for w in windows(a, 2):
    out[k] = w.sum()
    w *= 2
    k += 1
return out, a
""",
    "arrays": "t = 0\nfor x in three(a):\n    x = x + 1\n    t = t + x\nreturn t",
    "lists of arrays": "return list(three(a)), tuple(three(a)), [x + 1 for x in three(a) if x[0] is not None]",
    "numbers": "return sum(squares(a)), list(squares(a)), np.array(list(squares(a))), max(squares(a)), min(squares(a))",
    "np.fromiter": "return np.fromiter(squares(a), float), np.fromiter(larger(a), dtype='f4'), sorted(larger(a))",
    "two loops and continue": """
n, m = 0, np.zeros((len(a), len(a)))
for i, j in pairs(len(a)):
    if a[i] > a[j]:
        continue
    m[i, j] = a[i] * a[j]
    n += 1
return m, n
""",
    "a list in its body": "s = []\nfor x in larger(a):\n    s.append(x)\nreturn s",
    "a while loop": "c = 0\nfor x in halving(a[0]):\n    c += 1\nreturn c",
    "unpacking": "x, y, z = three(a)\nreturn z, y, x",
    "an object": "s = 0.0\nfor x in Bag(a):\n    s = s + x\nreturn s",
    "generators of generators": """
s, n = 0.0, 0
for x in chained(a):
    s += x
    n += 1
for y in doubled(doubled(squares(a))):
    s += y
return s, n, sum(chained(a))
""",
    "inside of a loop": "s = 0.0\nfor i in range(3):\n    for x in squares(a):\n        s += x * i\nreturn s",
    "in branches": """
s = 0.0
if a[0] > 1:
    for x in squares(a):
        if x > 2:
            s += x
else:
    for x in three(a):
        s -= x.sum()
return s
""",
    "a function inside": """
def gen(n):
    for i in range(n):
        yield a[i] + i
best = -1.0
for x in gen(3):
    best = max(best, x)
return best
""",
    "None at first": """
best = None
for x in squares(a):
    if best is None or x > best:
        best = x
return best
""",
    "what it yields after a change": "for x in squares(a):\n    a[2] += x\nreturn a",
    "an error": "for x in squares(a):\n    if x > 20:\n        raise ValueError('big')\nreturn a",
    "its target afterwards": "x, s = 5.0, 0.0\nfor x in squares(a):\n    y = x + 1\n    s += y\nreturn s, x",
    "break": "s, k = 0.0, 0\nfor x in squares(a):\n    s += x\n    if s > 8: break\n    k += 1\nreturn s, k, a",
    "break of an array": "for x in three(a):\n    if x[0] > 3: break\n    a[1] += x[2]\nreturn a",
    "break of what has no end": "s = 0\nfor x in fibonacci():\n    if x > a[0] * 30: break\n    s += x\nreturn s",
    "break out of several loops": "n = 0\nfor x in in_tens(a):\n    if x > 50: break\n    n += 1\nreturn n, a",
    "break out of generators of generators": """
s = 0.0
for x in doubled(doubled(squares(a))):
    if x > 20: break
    s += x
for x in chained(a):
    if x == 3.5: break
    s += x
    for k in range(5):
        if k > 1: break
return s
""",
    "enumerate": "out = np.zeros(9)\nfor i, x in enumerate(squares(a), 2):\n    out[i] = x\nreturn out",
    "enumerate and break": """
k = 0
for i, x in enumerate(fibonacci()):
    if i > a[0] + 4: break
    k = x
return k
""",
    "next": "g = larger(a)\nreturn next(g), next(fibonacci()), next((v for v in a if v > 9), 0.0)",
    "next or a default": """
out, k = np.zeros(3), 0
for t in (1.5, 4.0, 50.0):
    out[k] = next(larger(a, t), -1.0)
    k += 1
best = next(larger(a, 4.0), None)
return out, -1.0 if best is None else best * 2, next(pairs(len(a)), (-1, -1))
""",
    "next of what has no items": "return next(larger(a, 50.0))",
    "next of what has no items, caught": """
try:
    return next(larger(a, 4.0))
except StopIteration:
    return -1.0
""",
    "next of views, with effects": "x = next(windows(a, 2))\nx *= 2\nreturn x, a",
    "expressions over what a generator gives": """
s = sum(x * 2 for x in squares(a) if x > 1) + max(x for x in larger(a)) + len(list(y + 1 for y in halving(a[0])))
for z in (x - 1 for x in three(a)):
    a = a + z
    if a[0] > 9:
        break
return s, a, any(x > 20 for x in squares(a)), all(x > 0 for x in squares(a)), tuple(-x for x in larger(a, 3))
""",
    "expressions that see names as they are later": """
k = 1.0
g = (x * k for x in squares(a))
k = a[1]
h = (x * k for x in a)
s = sum(g)
for x in h:
    k += 1
    s += x
for x, y in zip(map(lambda x: x * k, a), (i * s for i in range(len(a)))):
    s, k = s + x * y, k + 1
return s
""",
    "the items of an outer loop within expressions": """
s = 0.0
for x in squares(a):
    s += sum(x - y for y in a) + max(x * y for y in larger(a, 0))
return s
""",
    "any leaves what is left": """
def talking(a):
    for x in a:
        a[0] += 1
        yield x

return any(talking(a)), all(x < 2 for x in talking(a)), a
""",
    "zip": """
s = a * 0
for x, y in zip(squares(a), a):
    s[0] += x * y
for y, x in zip(a[:2], larger(a, -5)):
    s[1] += x - y
for k, x in zip(range(9), halving(a[0])):
    s[2] += k * x
return s, [x + y for x, y in zip(three(a), [1, 2.0])]
""",
    "zip does not ask for more than it needs": """
def talking(a, n):
    for i in range(n):
        a[0] += 1
        yield i

s = 0.0
for x, y in zip(talking(a, 3), a[:1]):
    s += x + y
for y, x in zip(a[:2], talking(a, 9)):
    s += x * y
return s, a
""",
    "loops over generators within one another": """
s = t = 0.0
for x in squares(a):
    for y in squares(a):
        s += x * y
        if y > 20:
            break
        t += 1
    for i, j in pairs(3):
        for y in larger(a, i):
            s -= y * j
    t += sum([x * y for y in squares(a)]) + sum(x - y for y in larger(a, 0))
    if s > 900:
        break
return s, t
""",
    "a list that grows in loops over generators": """
t, u, seen = 0.0, 1.0, []
for k in range(int(a[1])):
    for x in (y * 2 for y in squares(a)):
        for z in windows(a, 2):
            u = z[0]
            seen.append(t * 0.5)
        t += u
return t, u, len(seen)
""",
    "a generator that calls itself": """
def down(n):
    if n > 0:
        yield n
        for z in down(n - 1):
            yield z

s = 0.0
for x in down(3):
    for y in down(x):
        s += a[x] * y
return s
""",
    "comprehensions": "return [x * 2 for x in squares(a)], [i + j for i, j in pairs(4) if i > 0]",
}  # fmt: skip
REFUSED = {
    "for x in three(a):\n    if x[0] > 1: return x\nreturn a": "`return`",
    "g = in_tens(a)\nreturn sum(g), sum(g)": "used twice",
    "g = in_tens(a)\nif a[0] > 1:\n    return sum(g)\nreturn 0.0": "in another branch",
    "for x in squares(a):\n    last = x\nreturn last": "`last` may not be bound",
    "s = 0.0\ndef show(): return s\nfor x in squares(a):\n    s += x\n    a[0] = show()\nreturn s": "inside reads",
    "g = in_tens(a)\nreturn next(g), next(g)": "used twice", "return dict(enumerate(three(a)))": "generator",
    "return list(used(a))": "whose value is used", "return list(protected(a))": "in a `try` or `with`",
    """
y = 0
try:
    for x in three(a):
        y = y + 1
        if y == 2:
            raise ValueError
except ValueError:
    y += 10
return y
""": "`y` is bound in a loop over a generator, within a `try`",
    "k = 1.0\nfor x in (y * k for y in squares(a)):\n    k += x\nreturn k": "`k`, which a function inside reads",
    "def down(n):\n    if n > 0:\n        yield n\n        yield from down(n - 1)\nreturn sum(down(int(a[0])))":
        "calls itself to a depth",
    "return squares(a)": "a generator cannot be returned", "return a if squares(a) else -a": "generator",
}  # fmt: skip


def made(body: str) -> Any:
    text = f"{GENERATORS}def f(a):\n" + "".join(f"    {line}\n" for line in body.strip().splitlines())
    return program(text).__globals__["f"]


@pytest.mark.parametrize("name", one_in(3, TRACED))
@pytest.mark.cases(3)
def test_generator_functions(name: str) -> None:
    f = tracebuf.bufferize(verify=True)(made(TRACED[name]))
    for a in ([2.0, 1.0, 5.0, 3.0], [1.0, 7.0, 2.0, 0.5]):
        agree(f, np.array(a))


@pytest.mark.parametrize(
    "body",
    [
        "g = squares(a)\nreturn sum(g), sum(g)", "g = squares(a)\nreturn next(g), next(g)",
        "g = squares(a)\nif a[0] > 1:\n    return sum(g)\nreturn 0.0",
    ],
)  # fmt: skip
def test_generators_of_one_loop_are_used_twice(body: str) -> None:
    for a in ([2.0, 1.0, 5.0, 3.0], [1.0, 7.0, 2.0, 0.5]):
        agree(made(body), np.array(a))


@pytest.mark.parametrize("body", REFUSED)
def test_generators_that_are_refused(body: str) -> None:
    assert REFUSED[body] in refused(made(body), np.array([2.0, 1.0, 5.0])).reason


def test_what_a_generator_does_is_done_in_its_turn(capsys: pytest.CaptureFixture[str]) -> None:
    f = program("""
        def talking(a):
            print("begin", a[0])
            yield a[0]
            print("between", a[0])
            yield a[0] * 2
            print("end")

        def f(a):
            g = talking(a)
            print("made")
            for x in g:
                print("body", x)
                a[0] += 10
            return a
        """).__globals__["f"]
    f(np.array([1.0, 2.0]))
    wanted = capsys.readouterr().out
    g = tracebuf.bufferize(f)
    for _ in range(2):
        g(np.array([1.0, 2.0]))
        assert capsys.readouterr().out == wanted


@pytest.mark.parametrize("made", ["{{v * 2 for v in {}}}", "{{v: v + 1 for v in {}}}"])
@pytest.mark.slow
def test_sets_and_dicts_of_a_generator_whose_items_the_run_time_knows(made: str) -> None:
    """It was an InternalError; of a list of the items they are made."""
    given = """
        def gen(n):
            for j in range(n):
                yield j % 7

        def f(n):
            return len({})
    """
    assert "a comprehension of a" in refused(program(given.format(made.format("gen(n)"))), 255).reason
    for n in (255, 3, 0):
        agree(program(given.format(made.format("list(gen(n))"))), n)


UNLIKE = """
def gives(v):
    for i in range(3):
        if v[i] > 0:
            yield 0.5
        else:
            yield 1
"""


@pytest.mark.parametrize(
    "value",
    [
        "sum(gives(v)), 1 + sum(gives(v), 2)", "max(gives(v)), min(gives(v))", "sum(x for x in gives(v))",
        "tuple(gives(v))", "max(v[0], 0.5 if v[1] > 0 else 1), sum([0.5 if v[0] > 0 else 1, v[1], v.sum()])",
        "min((0.5 if v[0] > 0 else 1, 2)), sum((v if v[0] > 0 else 1) for i in range(2))",
    ],
)  # fmt: skip
def test_items_whose_types_the_path_decides(value: str) -> None:
    """What stands for such an item while tracing was added to a number: TypeError."""
    f = program(f"{UNLIKE}\ndef f(v):\n    return {value}").__globals__["f"]
    for v in ([1.0, -2.0, 3.0], [-1.0, -1.0, 2.0]):
        climb(f, (np.array(v),), quick=True)


def test_an_order_of_items_whose_types_the_path_decides_is_refused() -> None:
    f = program(f"{UNLIKE}\ndef f(v):\n    return sorted(gives(v))").__globals__["f"]
    assert "a float or an int" in refused(f, np.array([1.0, -2.0, 3.0])).reason
