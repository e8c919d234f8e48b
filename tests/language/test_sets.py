"""Sets of what is known while tracing, which nothing changes (rule F2)."""

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused
from tests.support.params import one_in, slow_but
from tracebuf import bufferize

A = np.array([1.0, 2.0, 3.0])
TAKEN = [
    "a * (n in {1, 2, 3})", "a if 'a' in {'a', 'b'} else -a", "n in {1, 2} | {5}", "{1, 2} < {1, 2, 5}",
    "{1, 2} == {2, 1}, {1} != {2}, frozenset((1, 2)) == {1, 2}", "sorted({3, 1, 2}), sorted({'b', 'a'})",
    "a * len(set([1, 2, 2])), bool(set()), bool({0})", "isinstance({1}, set), type({1}) is set",
    "n in {[1], 2}", "a[0] in {1.0, 2.0}, a.sum() in set(range(5))", "{1, True, 1.0} == {1}, a.shape[0] in {3}",
    "len({1, 2} & {2}), len({1, 2} - {2}), len({1, 2} ^ {2})", "n not in set((2, 3))",
    "n in ({1, 2} if n > 2 else {2, 3})", "a.dtype in {np.dtype('f8')}", "{1} + {2}", "{1}.nothing",
    "{i % 2 for i in range(5)} == {0, 1}, len({i for i in (1, 2) if i > n}), {k: {k} for k in range(2)}[1] == {1}",
    "list(set(range(3)) - {0}), tuple({3, 1}), [k for k in {5, 4}], sum({1, 2}), max({2, 1}), [*{7, 0}]",
    "len(set(x for x in [1, 2, 2])), sorted(frozenset(c for w in ['ab', 'bc'] for c in w))",
    "{a.sum(), 1}, {x for x in a}, {x / x for x in a}, len({a.sum() / 6, 1})",
    "sum({8, 2}), max({-1, 2}), sorted({1, 9}, key=abs), {1}.union({2}) == {1}, [k for k in {24, 3, -9, 100}]",
    "'-'.join({'a'}), [m.sum(a) for m in {np}]",
    "a.sum(tuple({0})), list({1: 2, 0: 3}.keys() - {1}) if n > 9 else sorted({1, 0}, key=abs)",
]  # fmt: skip
REFUSED = {
    "{1, 2}": "cannot be returned", "{np.float32(a.sum()), 1}": "run time only", "f'{ {1, 9} }'": "no certain order",
    "list(frozenset(('a', 'b')))": "no certain order",
    "[x for x in {1.0, 2}]": "iterating", "[*{True, 2}]": "iterating", "'-'.join({'a', 'b'})": "iterating",
    "{x * 1j for x in a}": "run time only",
}  # fmt: skip


@pytest.mark.parametrize("text", slow_but(TAKEN[:-4], TAKEN))
def test_sets(text):
    f = program(f"def f(a, n):\n    return {text}")
    for n in (1, 2, 4):
        agree(f, A, n)


@pytest.mark.parametrize("text", REFUSED)
def test_what_depends_on_their_order_or_changes_them_is_refused(text):
    assert REFUSED[text] in str(refused(program(f"def f(a, n):\n    return {text}"), A, 2))


@pytest.mark.slow
def test_a_set_that_changes_in_place_is_one_set():
    """`d["s"] |= {2}` changes the set that `s` is too."""
    for text in ("t |= {2}", "d['s'] |= {2}", "t.add(2)", "t.discard(1)", "t -= {1}", "t &= {2}", "t.pop()"):
        f = program(f"def f(a):\n    s = t = {{1}}\n    d = {{'s': s}}\n    {text}\n    return a * len(s)")
        agree(f, A)


def test_sets_of_paths_and_loops():
    def f(a, n):
        s = {1, 2}
        for k in range(n):
            if k in s:
                a = a + 1
        return a

    for n in (0, 1, 5):
        agree(f, A, n)


def test_a_set_is_handed_to_a_function_of_the_users():
    def among(k, wanted):
        return k in wanted

    f = program("def f(a, n):\n    return a * among(n, {1, 2})", among=among)
    for n in (1, 3):
        agree(f, A, n)


@pytest.mark.slow
def test_a_set_of_an_int_of_the_call_changes() -> None:
    f = program("def f(a, k):\n    s = {1, 2, 4}\n    s |= {k + 1}\n    t = {k}\n    t.add(5)\n"
                "    return a * (3 in s), a * (5 in t)")  # fmt: skip
    for k in (2, 7):
        agree(f, A, k)


def test_sets_of_shapes():
    """Guards tell whether shapes are equal; sizes of those that are not become part of the key."""

    def f(*arrays):
        shapes = {a.shape for a in arrays}
        if len(shapes) > 2:
            raise ValueError("shapes")
        whole = np.broadcast_shapes(*shapes) if len(shapes) != 1 else arrays[0].shape
        return np.broadcast_to(arrays[0], whole) + arrays[-1], whole in shapes, [*shapes]

    g = bufferize(f)
    for n in (3, 5, 7):
        m = np.arange(2.0 * n).reshape(2, n)
        agree(g, m, m + 1)
        agree(g, m, m[0])
        agree(g, m[:1], m, m[:, :1])
    assert len(g.specializations()) == 1 + 3
    agree(g, np.ones((100, 30)), np.ones((1, 30)))


OF_SHAPES = [
    "(2, 3) in s, a.shape in s, (3,) in s, 3 in s, [1] in s",
    "len(s | {(2, 3)}), len(s - {(2, 3)}), len(s & {b.shape})",
    "s == {(2, 3)}, {(2, 3)} == s, s != {(3, 5)}, s == {b.shape}", "[{a.shape: 1}[k] for k in s], [s][0] == t, bool(s)",
    "sorted(s), list(s), next(iter(s)), tuple(s), max(s), [*s], len(s), not s, isinstance(s, set)",
    "frozenset([a.shape, b.shape]) == {(2, 3)}, {frozenset([a.shape]): 1}[frozenset([(2, 3)])]", "{s: 1}",
]  # fmt: skip
OF_ONE_RANK = [
    "s.add((1, 2)) or len(s), s.pop() and len(s)", "s == t, s <= t, s.issubset(t), set(s) == t, s is t, len(set(s))",
    "f'{s}', str(s)",
]  # fmt: skip


@pytest.mark.parametrize("text", one_in(3, [*OF_SHAPES, *OF_ONE_RANK]))
def test_what_is_asked_of_a_set_of_shapes(text):
    """For more than its length and its item, sizes become part of the key."""
    f = program(f"def f(a, b):\n    s, t = ({{x.shape for x in y}} for y in ((a, b), (b, a)))\n    return {text}")
    a = np.arange(6.0).reshape(2, 3)
    agree(f, a, a + 1)
    agree(f, a.T.copy(), a.T + 1)
    if text not in OF_ONE_RANK:
        agree(f, a, a[0])


def test_items_that_are_sets_of_shapes_are_not_compared():
    f = program("def f(a):\n    return ({x.shape for x in (a, a)}, 1) == ({a.shape}, 1)")
    refused(bufferize(f), A)
