"""Iterators: what goes over something once, as late as Python does (rules F1, F2): loops over them are loops, and what
may have given out some of its items is refused."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused
from tests.support.params import one_in
from tracebuf import bufferize

A = np.arange(6.0) + 1
NAMES = {"itertools": itertools, "functools": functools, "operator": operator, "math": math}

FOUND = [
    "list(map(lambda x: x + 1, (a, n)))", "sum(map(lambda x: x * 2, a))", "list(map(np.add, a[:2], (1, 2, 3)))",
    "list(filter(lambda x: x > 1, (1, 2, 3)))", "list(filter(None, (0, 1, 2)))", "tuple(reversed((a, n)))",
    "[x + y for x, y in zip(a, a[1:])]", "list(zip((1, 2), (3, 4), strict=True))",
    "list(zip((1, 2), (3, 4, 5), strict=True))", "list(enumerate((a, n), 1))", "list(zip())",
    "next(iter((a, n)))", "next(i for i in (1, 2, 3) if i > 1) * a", "next(iter(()), 7) * a",
    "sum(x * x for x in a)", "max(x * 2 for x in a), min(abs(x) for x in a)",
    "any(x > 3 for x in a), all(x > 3 for x in a)", "sum(a[i] * a[i] for i in range(n) if i != 1)",
    "sum(x * y for x in a[:2] for y in a[:3])", "[*(x + 1 for x in a[:3])]", "tuple(x for x in (1, 2))",
    "tuple(range(n)), list(range(3))", "len([x for x in a])", "len(zip((1, 2)))", "(x for x in a)[0]", "zip(a, a)[0]",
    "list(itertools.product((1, 2), (a, n)))", "list(itertools.product(range(2), repeat=2))",
    "list(itertools.combinations((a, n, 2), 2))", "list(itertools.permutations(range(3), 2))",
    "list(itertools.chain((1, a), [n]))", "list(itertools.pairwise((1, a, n)))", "list(itertools.islice(a, 1, 3))",
    "list(itertools.accumulate((1, a, n)))", "list(itertools.accumulate((a, n), operator.mul, initial=2))",
    "list(itertools.zip_longest((1, 2), (a,), fillvalue=0))", "list(itertools.repeat(a, 2))",
    "list(itertools.starmap(np.add, ((a, 1), (a, n))))", "list(itertools.takewhile(lambda x: x < 3, (1, 2, 3, 1)))",
    "list(itertools.dropwhile(lambda x: x < 3, (1, 2, 3, 1)))", "list(itertools.filterfalse(lambda x: x < 3, (1, 3)))",
    "list(itertools.combinations_with_replacement((a, n), 2))", "math.prod((n, a)), math.prod([2.0, n], start=3)",
    "functools.reduce(lambda x, y: x * y, (a, a, n))", "functools.reduce(operator.add, (a[i] for i in range(3)), 0.0)",
    "functools.reduce(np.minimum, a)", "functools.reduce(lambda x, y: x, ())", "list(zip(1, a))", "list(map(abs, 2))",
    "','.join(str(k) for k in (1, 2)) == '1,2'", "sorted(x for x in (3, 1, 2))", "reversed(zip(a, a))",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:'generator' object is not subscriptable:SyntaxWarning")
@pytest.mark.parametrize("text", one_in(16, FOUND))
def test_expressions(text: str) -> None:
    agree(program(f"def f(a, n):\n    return {text}", **NAMES), A, 3)


LOOPS = {
    "zip": "for x, y in zip(a, a[1:]):\n    s += x * y",
    "enumerate": "for i, x in enumerate(a, n):\n    s += i * x",
    "map": "for x in map(lambda v: v * n, a):\n    s += x",
    "generator": "for x in (v * n for v in a):\n    s += x",
    "generator of a range": "for x in (a[i] for i in range(len(a) - 1, 0, -2)):\n    s = s * 2 + x",
    "nested": "for i, x in enumerate(map(np.sqrt, reversed(a))):\n    s += x * i",
    "product": "for i, j in itertools.product(range(len(a)), range(n)):\n    s = s * 1.5 + a[i] * j",
    "product of arrays": "for x, (i, y) in itertools.product(a, enumerate(a)):\n    s = s / 2 + x * y + i",
    "ndindex": "for i, j in np.ndindex(2, n):\n    s = s * 2 + a[i + j]",
    "ndindex of a shape": "for i in np.ndindex(a.shape):\n    s = s * 2 + a[i]",
    "ndindex of nothing": "for i in np.ndindex(()):\n    s = s * 2 + len(i)",
    "ndenumerate": "for (i,), x in np.ndenumerate(a):\n    s = s * 2 + x * i",
    "starmap": "for x in itertools.starmap(np.multiply, zip(a, a[1:])):\n    s = s * 2 + x",
    "repeat": "for x in itertools.repeat(a[0], n):\n    s = s * 2 + x",
    "break": "for i, x in enumerate(a):\n    if x > 2:\n        break\n    s += i",
    "the rest": "it = iter((1, 2, 3))\ns = next(it)\nfor x in it:\n    s = s * 2 + x",
    "a list of it": "z = list(zip(a[:2], (1, 2)))\nfor x, y in z:\n    s += x\nfor x, y in z:\n    s += y",
}


@pytest.mark.parametrize("name", one_in(12, LOOPS))
def test_loops(name: str) -> None:
    body = LOOPS[name].replace("\n", "\n    ")
    f = bufferize(verify=True)(program(f"def f(a, n):\n    s = 0.0\n    {body}\n    return s", **NAMES))
    for a in (A, A[:2], A[:1], A[:0], A[::-2]):
        agree(f, a, 3)


@pytest.mark.slow
def test_two_axes() -> None:
    f = bufferize(verify=True)(
        program(
            """
            def f(a):
                b = np.zeros_like(a)
                for i, j in np.ndindex(a.shape):
                    b[i, j] = a[j % a.shape[0], i % a.shape[1]] + i - j
                for (i, j), x in np.ndenumerate(a):
                    b[i, j] += x * i * j
                return b
            """
        )
    )
    for shape in ((3, 4), (1, 5), (5, 1), (0, 3), (3, 0), (7, 2)):
        agree(f, np.random.default_rng(0).random(shape))


def test_long_generators_are_loops() -> None:
    f = bufferize(lambda a: [*(v * 2 for v in a)][0])
    agree(f, A)
    g = bufferize(program("def f(a):\n    s = 0.0\n    for x in (v * 2 for v in a):\n        s += x\n    return s"))
    agree(g, np.arange(1000.0))
    agree(g, np.arange(100.0))
    assert len(g.specializations()) == 1


@pytest.mark.slow
def test_as_late_as_python() -> None:
    agree(program("def f(a):\n    g = (a[i] for i in range(3))\n    a += 1\n    return sum(g)"), A)
    agree(program("def f(a):\n    k = 1\n    g = (a * k for i in range(2))\n    k = 5\n    return list(g)"), A)
    agree(program("def f(a):\n    z = zip(a, a)\n    a += 1\n    return [x + y for x, y in z]"), A)
    agree(program("def f(a):\n    m = map(lambda x: x[0], [a, a])\n    a += 1\n    return list(m)"), A)
    agree(program("def f(a):\n    g = (b[0] for b in a.nothing)\n    return a"), A)
    agree(program("def f(a):\n    g = (b.nothing for b in a)\n    return a"), A)


TAKEN_FROM: dict[str, str] = {
    "in a loop": "g = iter((1, 2, 3))\nfor x in a:\n    for y in g:\n        x += y\nreturn x",
    "next in a loop": "g = iter((1, 2, 3))\ns = 0.0\nfor x in a[:3]:\n    s += next(g)\nreturn s",
    "too many": "g = iter((1, 2, 3))\ns = 0.0\nfor x in a:\n    s += next(g)\nreturn s",
    "next in a branch": "g = iter((1, 2, 3))\ns = 0.0\nif a[0] > 0:\n    s += next(g)\nreturn s + next(g)",
    "in a branch": "g = iter((1, 2, 3))\ns = 0.0\nif a[0] > 0:\n    s += sum(g)\nreturn s + sum(g)",
    "map": "g = map(abs, (1, 2, 3))\ns = 0.0\nif a[0] > 0:\n    s += next(g)\nreturn s + next(g)",
    "after any": "g = (x > 1 for x in a)\nreturn any(g), sum(g)",
    "after next of what depends on data": "g = (x for x in a if x > 1)\nreturn next(g, 0), sum(g)",
    "after a loop that may break": "g = iter(a)\nfor x in g:\n    if x > 1:\n        break\nreturn sum(g)",
}


@pytest.mark.parametrize("name", one_in(4, TAKEN_FROM))
def test_in_loops_and_branches_around_which_they_were_made(name: str) -> None:
    agree(program("def f(a):\n    " + TAKEN_FROM[name].replace("\n", "\n    ")), A)


TWICE: dict[str, str] = {
    "in a loop": "g = iter((a, a * 2))\nfor x in a:\n    for y in g:\n        x += y.sum()\nreturn x",
    "next in a branch": "g, s = iter((a, a * 2)), 0.0\nif a[0] > 0:\n    s = next(g)\nreturn s + next(g)",
    "after any of numbers": "g = (x > 1 for x in [a[0], a[1]])\nreturn any(g), sum(g)",
}


@pytest.mark.parametrize("name", TWICE)
def test_what_may_have_given_out_items_is_refused(name: str) -> None:
    error = refused(program("def f(a):\n    " + TWICE[name].replace("\n", "\n    ")), A)
    assert "before" in error.reason or "traced once" in error.reason


SHARED = {
    "a generator, twice": "g = (i for i in range(3))\nreturn sum(g), sum(g), list(g)",
    "a zip, twice": "g = zip(a, a)\nb = [x for x, y in g]\nreturn b, [x for x, y in g]",
    "enumerate, twice": "g = enumerate((1, 2))\nreturn list(g), list(g)",
    "map, twice": "g = map(np.sin, (a, a))\nreturn list(g), list(g)",
    "a long loop, twice": "g = map(abs, range(20))\nfor x in g:\n    a += x\nfor x in g:\n    a += 99\nreturn a",
    "zip leaves the second one's rest": "g = iter([a, 2, 3])\nreturn list(zip([1], g)), list(g)",
    "zip takes one of the first too many": "g = iter([a, 2, 3])\nreturn list(zip(g, [1])), list(g)",
    "pairs of one iterator": "g = iter([1, 2, 3, 4, 5])\nreturn list(zip(g, g)), list(g), a",
    "the body takes items": "g, s = iter([1, 2, 3, 4]), []\nfor x in g:\n    s.append((x, next(g)))\nreturn s, a",
    "a comprehension's too": "g = iter([1, 2, 3, 4])\nreturn [(x, next(g)) for x in g], a",
    "what a break leaves": "g = iter([1, 2, 3])\nfor x in g:\n    if x == 2:\n        break\nreturn list(g), a",
    "what next leaves": "g = iter(a)\nx, s = next(g), 0\nfor y in g:\n    s = s * 2 + y\nreturn x, s",
    "next of none": "g = iter([a])\nnext(g)\nreturn next(g)",
    "next of none, caught": "try:\n    return next(iter(()))\nexcept StopIteration:\n    return a",
    "next computes one": "g = ((k := x) for x in (1, 2, 3))\nnext(g)\nreturn k * a",
    "next, and then": "g = map(np.sum, [a, a])\nx = next(g)\na += 1\nreturn x, next(g), next(g, None)",
    "inside a function": "g = iter([1, 2])\ndef h():\n    return next(g)\nreturn h(), h(), a",
    "any stops before the rest": "g = (x > 1 for x in [1, 2, 3])\nreturn any(g), list(g), a",
    "all stops before the rest": "g = map(float, [1, 0, 2])\nreturn all(g), list(g), a",
    "sum leaves nothing": "g = (x for x in a if x > 0)\nreturn sum(g), list(g)",
    "any stops": "g = iter([1, 2, 3])\nreturn any(x > 1 for x in g), list(g), a",
    "islice takes its own": "g = iter([1, 2, 3, a])\nreturn list(itertools.islice(g, 2)), list(g)",
    "a comprehension has the name": "k = 5\ng = (x * k for x in a)\nreturn [k for k in (1, 2)], next(g)",
}


@pytest.mark.parametrize("name", one_in(20, SHARED))
def test_what_is_left_of_an_iterator(name: str) -> None:
    """Consuming an iterator took all of its items; what else it had given, or would give, was refused or wrong."""
    body = SHARED[name].replace("\n", "\n    ")
    eager = program(f"def f(a):\n    {body}", **NAMES)
    f = bufferize(verify=True)(eager)
    try:
        want = eager(A.copy())
    except StopIteration:
        with pytest.raises(StopIteration):
            f(A.copy())
        return
    del want
    for a in (A, A[:2]):
        agree(f, a)


LATE = {
    "map": "for x in map(np.sum, [a, b]):\n    b += x\n    s += x",
    "map, a break": "for x in map(np.sum, [a, b]):\n    if x > 6:\n        break\n    b += x\n    s += x",
    "map of what the body counts": "for x in map(lambda v: v * s, [a, b, a]):\n    s = s + 1\ns = s + x",
    "filter": "for x in filter(lambda v: v > 1, k):\n    k[3] = 0\n    s += x * a",
    "takewhile": "for x in itertools.takewhile(lambda v: v < 4, k):\n    k[2] = 9\n    s += x * a",
    "dropwhile": "for x in itertools.dropwhile(lambda v: v < 3, k):\n    k[3] = 9\n    s += x * a",
    "chain": "for x in itertools.chain(k, k):\n    k[1] = 9\n    s += x * a",
    "accumulate": "for x in itertools.accumulate(k):\n    k[2] = 9\n    s += x * a",
    "pairwise": "for x, y in itertools.pairwise(k):\n    k[2] = 9\n    s += x * y * a",
    "islice": "for x in itertools.islice(k, 1, 3):\n    k[2] = 9\n    s += x * a",
    "zip_longest": "for x, y in itertools.zip_longest(k, [1], fillvalue=b):\n    k[2] = 9\n    s += x * y",
    "product, which takes all at once": "for x, y in itertools.product(k, k):\n    k[2] = 9\n    s += x * y * a",
    "product of arrays, changed": "for x, y in itertools.product(a, a):\n    a[0] += 1\n    s = s * 0.5 + x * y",
    "product, changed before": "p = itertools.product(a, range(2))\na += 1\nfor x, y in p:\n    s = s / 2 + x * y",
    "product of a list and an array": "p = itertools.product(k, a)\na += 1\nfor x, y in p:\n    s = s / 2 + x * y",
    "zip whose lengths differ, left": "for x, y in zip([a], zip(k, [1], strict=True)):\n    s = x + y[0]",
    "zip whose lengths differ": "for x, y in zip(map(len, [a, b]), [1], strict=True):\n    s = x\n    break",
    "a generator": "for x in (y.sum() for y in [a, b]):\n    b += x\n    s += x",
    "a generator with a test": "for x in (y for y in k if y != 9):\n    k[1] = 9\n    s += x * a",
    "a generator's names": "n = 1\nfor x in (y * n for y in [a, b, a]):\n    n += 1\n    s = s + x",
    "a generator of generators": "for x in (y * z for y in k for z in (n for n in k)):\n    k[1] = 9\n    s += x * a",
    "zip of an array and a list": "for x, y in zip(a, [1, 2, 3]):\n    a += 1\n    s += x * y",
    "zip of a list and an array": "for x, y in zip([1, 2, 3], a):\n    a += 1\n    s += x * y",
    "zip of a map": "for x, y in zip(map(np.sum, [a, b]), k):\n    b += x\n    s += x * y",
    "enumerate of a map": "for n, x in enumerate(map(np.sum, [a, b])):\n    b += x\n    s += x * n",
    "a dict whose keys come": "d = {'k': a}\nfor x in map(len, d):\n    d['z'] = a\n    s += x",
    "a dict, before the first": "d = {'k': a}\ng = iter(d)\nd['z'] = a\ns = list(g)",
    "a comprehension": "p = [a]\ns = [p.append(b) for x in p if len(p) < 3], p",
    "what a comprehension's items take": "s = [k.pop() for x in k], k, a",
    "sum of what changes": "def f(x):\n    b[0] += 1\n    return b\ns = sum(map(f, [a, b]))",
    "any of what changes": "def f(x):\n    b[0] += x\n    return b[0] > 3\ns = any(map(f, [a[0], a[1], a[2]])), b",
    "all of what changes": "def f(x):\n    b[0] += x\n    return b[0] > 3\ns = all(f(x) for x in [a[0], a[1]]), b",
    "tests in turn": "s = [x for x in (0, 1, 2) if x if 2 % x == 0], a",
}


@pytest.mark.parametrize("name", one_in(28, LATE))
def test_items_are_computed_as_their_turn_comes(name: str) -> None:
    """All items were computed before the first iteration, from what the body changes."""
    body = LATE[name].replace("\n", "\n    ")
    f = program(f"def f(a, b):\n    k, s = [1, 2, 3, 4], 0\n    {body}\n    return s, a, b", **NAMES)
    for a in (np.arange(3.0) + 1, np.arange(3.0) - 1):
        agree(f, a, np.array([5.0, 2.0, 7.0]))


ENDLESS = [
    "list(itertools.islice(itertools.count(n, 2), 3)), a", "list(itertools.islice(itertools.cycle([a, n]), 5))",
    "list(zip(itertools.count(1), [a, n]))", "list(map(pow, [a, a], itertools.repeat(2)))",
    "[x * k for x, k in zip(a, itertools.count())]", "sum(x * k for k, x in zip(itertools.count(1), a))",
    "list(itertools.compress([a, n], [1, 0]))", "list(itertools.chain.from_iterable([[a], (n,)]))",
    "next(k for k in itertools.count() if k * k > n) * a", "sum(filter(lambda x: x > 2, a))",
    "sum(a.flat), max(a.flat), any(a.flat), list(a.flat)[1], math.prod(a[:5].flat)", "max(a, default=n)",
    "sum(a, n), sum(a, a), max(range(len(a)), key=lambda i: -a[i]), min([a[0], a[1]], default=2)",
    "next(filter(lambda x: x > 2, a), -1.0)", "sum(itertools.chain(a, a[1:]))", "any(map(lambda x: x > 3, a))",
]  # fmt: skip


@pytest.mark.parametrize("text", one_in(16, ENDLESS))
def test_endless_ones_and_folds_of_iterators(text: str) -> None:
    f = bufferize(verify=True)(program(f"def f(a, n):\n    return {text}", **NAMES))
    for a in (A, A[::-1] * 20):
        agree(f, a, 3, ulp=4)


WRONG = [
    "max(range(0))", "max(range(n - 3, 0))", "min(range(n))", "dict(i=a, node=n)", "list(itertools.starmap(f, [1]))",
    "list(itertools.takewhile(None, [1]))", "list(map(None, [a]))", "functools.reduce(f)",
    "functools.reduce(f, [a], a, 3)", "functools.reduce(f, 3)", "getattr(a)", "hasattr(a)", "callable()",
    "math.prod()", "math.prod([n], 2)", "next()", "next([a])", "next(iter([a]), 1, 2)", "sum()", "sum([a], a, n)",
    "any()", "any([], [])", "any(3)", "zip(3)", "list(itertools.chain(3))", "list(zip([1, 2], [3], strict=True)), a",
    "list(itertools.islice([a], -1))", "[].append()", "{}.get()", "[].pop(1, 2)", "abs()", "divmod(n)", "round()",
    "len()", "iter(3)", "operator.add(a)", "operator.neg(a, n)", "list(filter(3, [1]))", "[1, 2].index(1, 2, 3, 4)",
]  # fmt: skip


@pytest.mark.parametrize("text", one_in(40, WRONG))
def test_f3_calls_that_python_does_not_take(text: str) -> None:
    """Some gave a NameError, an InternalError, an answer, or a TypeError that names a handler of the tracer's."""
    f = program(f"def f(a, n):\n    f = lambda x: x\n    return {text}", **NAMES)
    agree(f, A, 3)


LACKING = [
    "abs()", "functools.reduce(operator.add)", "getattr(a)", "[].append()", "{}.get()", "divmod(1)", "math.prod()",
    "len()", "max()", "isinstance(1)", "round()", "operator.add(1)", "next()", "sum()", "any()", "hasattr(a)", "pow(1)",
    "sorted()", "callable()", "[].pop(1, 2)", "math.sqrt()", "reversed(zip(a, a))", "len(a)()", "iter(3)", "map()",
]  # fmt: skip


@pytest.mark.parametrize("text", one_in(13, LACKING))
def test_f3_python_says_what_a_call_lacks(text: str) -> None:
    """On a path that the run time takes, where the program itself raises: some named a handler of the tracer's."""
    f = program(f"def f(a):\n    if a[0] > 0:\n        return {text}\n    return a", **NAMES)
    with pytest.raises(TypeError) as said:
        f(A)
    with pytest.raises(TypeError) as found:
        bufferize(f)(A)
    assert str(said.value) in str(found.value)


def test_what_numpy_makes_of_iterators_is_refused() -> None:
    for text in ("np.sum(x for x in a)", "np.array(zip(a, a))", "np.stack(map(np.sin, [a, a]))"):
        error = refused(program(f"def f(a):\n    return {text}"), A)
        assert "iterator" in error.reason, text


def consume(items: Any) -> Any:
    total = 0.0
    for x in items:
        total += x
    return total


def test_handed_to_functions() -> None:
    agree(lambda a: consume(x * 2 for x in a), A)
    agree(lambda a: consume(map(np.sqrt, a)) + consume(reversed(a)), A)


FOLDED = [
    "sum(x for x in a if x > 2)", "sum(1 for x in a if x > n)", "sum(a[i] * a[i] for i in range(len(a)))",
    "sum((x * n for x in a), n), sum((x for x in a), start=1)", "any(x > 3 for x in a), all(x > 0 for x in a)",
    "max(abs(x - 3) for x in a)", "min(abs(x - 3) for x in a if x > 2)", "max((x for x in a if x > n), default=-1.0)",
    "max((x for x in a), default=None)", "next((i for i in range(len(a)) if a[i] > 2), -1)",
    "sum(map(np.sqrt, a)), sum(x * y for x, y in zip(a, a[1:])), max(map(abs, a[:2] + 1), default=0)",
    "sum(range(n)), max(range(2, n + 5)), sum(range(1000)), any(range(n))", "sum(float(x) for x in a)",
    "functools.reduce(lambda s, x: s * 0.5 + float(x), a, 0.0), functools.reduce(operator.add, (1 for y in a), 2)",
    "sum(a[i] * a[j] for i in range(len(a)) for j in range(i) if a[j] > 1 if a[i] > 2)", "sum('x' for x in a)",
    "[sum(x * k for x in a) for k in range(2)]", "sum(x > 2 for x in a), max(int(x) for x in a if x < 4)",
    "next((x for x in a if x > 2), None)", "sum(x for x in a if x > 1) if len(a) else n",
]  # fmt: skip


@pytest.mark.parametrize("text", one_in(20, FOLDED))
def test_folds_of_what_depends_on_data_are_loops(text: str) -> None:
    f = bufferize(verify=True)(program(f"def f(a, n):\n    return {text}", **NAMES))
    for a in (A, A[:1], A[:0], A[::-1] * 20, np.tile(A, 200), A.astype(int), A.astype(np.float32)):
        agree(f, a, 3, ulp=4)


@pytest.mark.slow
def test_folds_in_loops_and_of_rows() -> None:
    rows = np.arange(12.0).reshape(3, 4)
    agree(program("def f(a):\n    return sum(row * 2 for row in a), sum(row.sum() for row in a if row[0] > 1)"), rows)
    text = "s = total = x = 0.0\n    for k in range(n):\n        s += sum(x * k for x in a if x > k)"
    f = bufferize(program(f"def f(a, n):\n    {text}\n    return s, total, x"))
    agree(f, A, 4)
    agree(f, np.tile(A, 300), 4)
    assert len(f.specializations()) == 1


def test_extremes_of_what_turns_out_to_be_empty() -> None:
    """NameError was raised: the loop's own names were looked up among the user's."""
    space = {"ValueError": None, "without_items": 1, "best": 2, "lt": 3}
    for text in ("max(x for x in a)", "min(map(abs, a))", "max(range(n, n))", "min(x for x in a if x > n)"):
        f = bufferize(verify=True)(program(f"def f(a, n):\n    return {text}", **space))
        for a in (A, A[:0], A[:2]):
            agree(f, a, 3)


def test_extremes_by_a_key() -> None:
    agree(program("def f(a):\n    return max((x for x in a), key=abs)"), -A)


def test_generators_in_comprehensions() -> None:
    agree(program("def f(a):\n    return [list(x * k for x in a[:2]) for k in range(2)]"), A)
    agree(program("def f(a):\n    return [sum(x for x in g) for g in [[a[0], a[1]], [a[2]]]]"), A)
    error = refused(program("def f(a):\n    return [list(g) for g in [(x * k for x in a[:2]) for k in range(2)]]"), A)
    assert "leaves the comprehension" in error.reason


@pytest.mark.parametrize(
    "text",
    ["map(n)", "filter(None)", "zip(a, strikt=True)", "enumerate()", "reversed()", "np.ndindex(a, a[:2])",
     "np.ndenumerate(a, arr={})", "itertools.repeat()", "itertools.islice(a)"],
)  # fmt: skip
def test_f3_a_call_that_makes_no_iterator_raises(text: str) -> None:
    """What Python raises where the iterator is made, though nothing iterates over it."""
    f = program(f"def f(a, n):\n    for _ in {text}:\n        a = a + 1\n    return a", itertools=itertools)
    assert agree(f, np.arange(3.0), 2) is not None


LIVE = {
    "an item is replaced": "for x in p:\n    p[1] = x + a",
    "with a count": "for i, x in enumerate(p):\n    if a[0] > 5:\n        break\n    p[1] = a + i",
    "on data": "for x in p:\n    if x[0] > 0:\n        p[1], p[2] = p[2], p[1]",
    "an item goes": "x = 0\nfor y, z in zip(p, p[::-1]):\n    p.pop()\n    x = x + y - z",
    "an item goes, backwards": "x = 0\nfor y in reversed(p):\n    p.pop(0)\n    x = x + y",
    "items come": "x = 0\nfor y in p:\n    x = x + y\n    if len(p) < 6:\n        p.append(a)",
    "a value of a dict": "d = {'k': a, 'j': p[0]}\nfor k, x in d.items():\n    d['j'] = a * 2",
    "a key comes": "d = {'k': a}\nfor x in d:\n    d['z'] = a * 2",
    "a key goes": "d = {'k': a}\nx = 1\ntry:\n    for v in d:\n        d.clear()\nexcept RuntimeError:\n    x = 2",
}


@pytest.mark.parametrize("name", one_in(10, LIVE))
@pytest.mark.slow
def test_loops_meet_what_their_body_changes(name: str) -> None:
    """A loop over a list or dict took its items before the first iteration."""
    body = LIVE[name].replace("\n", "\n    ")
    f = program(f"def f(p, a):\n    {body}\n    return x, p")
    for a in (A, A - 9):
        agree(f, [a + 1, -a, a * 3], a)


def test_a_loop_over_a_dict_whose_keys_change_is_refused() -> None:
    assert (
        "keys of a dict"
        in refused(
            program("def f(a):\n    d = {'k': a, 'j': a}\n    for x in d:\n        d['z'] = d.pop('j')\n    return d"),
            A,
        ).reason
    )


class Rows:
    def __init__(self, x):
        self.x = x

    def __iter__(self):
        return iter(self.x)


class NoRows(Rows):
    def __iter__(self):
        return self.x


def of_objects(a, b):
    total = 0.0
    for row in Rows(a):
        total += row.sum()
    first, second = Rows([a, b])
    return total, [row + 1 for row in Rows((a, b))], first is a, second, (*Rows([b, 1]),)


def test_f1_objects_are_iterated_over_by_their_iter():
    """`for x in obj` was refused where `for x in iter(obj)` was traced."""
    agree(of_objects, np.ones((2, 3)), np.zeros((2, 3)))
    assert isinstance(agree(lambda a: [x + 1 for x in NoRows([a])], np.ones(2)), TypeError)


@pytest.mark.parametrize("items, names", one_in(8, [
    ("k", "v"), ("enumerate(k)", "_, v"), ("zip(a, k)", "_, v"), ("k[::-1]", "v"), ("reversed(k)", "v"),
    ("k.flat", "v"), ("(2 * x for x in k)", "v"), ("map(abs, k)", "v"), ("(k, k + 1)", "(v, *_)"),
], rows=True))  # fmt: skip
@pytest.mark.slow
def test_s8_what_a_loop_iterates_over_is_not_exchanged_for_its_names(items: str, names: str) -> None:
    """Only names counted: the arrays that two of them exchange were carried by value, and the loop read from the first
    one what was stored to the other."""
    f = program(f"""
    def f(a):
        k = a + 0
        y = 1 + k
        for {names} in {items}:
            y, k = k, y
            k[k > 1.5] = 1
        return v
    """)
    for n in (3, 4, 5):
        agree(f, np.array([3, 2, 2, 5, 7][:n]))
