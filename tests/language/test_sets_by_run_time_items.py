"""Sets whose items only the run time knows: in CPython's order, by each way to make and change one."""

from __future__ import annotations

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program, refused
from tests.support.params import some
from tracebuf.testing.ladder import climb

DIGITS = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 35, 8, 97, -1, -2, 1 << 40, 32, 64, 96, 33, 40])
OTHERS = np.array([3, 8, 40, 72, 104, 1, 7, -2])
EDGES = np.array([2**61 - 1, 2**61 - 2, 2**61, 2**62, -(2**61) + 1, -(2**61), -(2**62), 2**63 - 1, -(2**63), -1, -2, 0])
IN_PLACE = [
    "s |= t", "s &= t", "s -= t", "s ^= t", "s.update(t)", "s.update(b.tolist(), [5, 500])",
    "s.difference_update(t, [4])",
    "s.difference_update(b.tolist())", "s.intersection_update(t)", "s.intersection_update(b.tolist())",
    "s.symmetric_difference_update(t)", "s.symmetric_difference_update(b.tolist())", "s.clear()\n    s.update(t)",
    "s = s.copy()", "s.update(dict.fromkeys(b.tolist()))", "s.symmetric_difference_update(dict.fromkeys(b.tolist()))",
    "s -= s", "s ^= s", "s &= s", "s |= s", "s |= {300, 1}", "s -= {1, 97}", "s &= {1, 98, 3}",
]  # fmt: skip
MADE = [
    "s | t", "s & t", "s - t", "s ^ t", "t - s", "t & s", "s.union(t, [1000])", "s.union(b.tolist())",
    "s.difference(t)",
    "s.difference(b.tolist())", "s.difference(t, [1])", "s.intersection(t)", "s.intersection(b.tolist(), [1, 3])",
    "s.symmetric_difference(t)", "s.symmetric_difference(b.tolist())", "set(s)", "s.copy()", "s | s", "s & s", "s - s",
    "set(dict.fromkeys(b.tolist()))", "s.union(dict.fromkeys(b.tolist()))", "s.difference(dict.fromkeys(b.tolist()))",
    "s.intersection(dict.fromkeys(b.tolist()))", "s ^ s", "s ^ t ^ {5, 6}", "(s - t) ^ (t - s)",
    "set().union(t)", "set().union(b.tolist(), t)", "s.union()",
    "{1, 98, 300} | t", "{3, 8} - t", "t - {3, 8}", "{40, 107, 9} & t", "{1, 5, 34, 67} ^ t", "set(range(40)) - t",
]  # fmt: skip


PAIRS = ((DIGITS, OTHERS), (OTHERS, DIGITS), (DIGITS[:3], DIGITS[5:7]), (np.arange(30) * 8, DIGITS))


def same_order(text: str, *pairs: tuple[np.ndarray, np.ndarray]) -> None:
    """A program that makes a list of what it finds in sets of ints."""
    f = program(f"def f(a, b):\n    s = set(a.tolist())\n    t = set(b.tolist())\n{text}\n    return found")
    for pair in pairs:
        agree(f, *pair)


def goes_on(name: str) -> str:
    """What is seen of a set."""
    return f"""
    found = list({name})
    for x in range(7, 48, 8):
        {name}.add(x)
    found.append(len({name}))
    for x in {name}:
        found.append(x)
    found.append({name}.pop())
    {name}.discard(15)
    {name}.add(55)
    found.extend({name})"""


@pytest.mark.slow
@pytest.mark.parametrize("text", IN_PLACE)
def test_a_set_that_is_changed_has_the_order_of_cpythons(text: str) -> None:
    same_order(f"    {text}\n{goes_on('s')}", *PAIRS)


@pytest.mark.slow
@pytest.mark.parametrize("text", MADE)
def test_a_set_that_is_made_of_others_has_the_order_of_cpythons(text: str) -> None:
    same_order(f"    u = {text}\n{goes_on('u')}", *PAIRS)


@pytest.mark.slow
def test_sets_into_which_nothing_is_put() -> None:
    for text in some(4, ("t - s", "t | s", "s & t", "t ^ s")):
        same_order(f"    u = {text}\n{goes_on('u')}", (DIGITS[:3], DIGITS[:0]))


def searched(adjacent, start):
    """Breadth first, by a frontier that is a set."""
    n = adjacent.shape[0]
    level, order = -np.ones(n, int), []
    level[start] = 0
    frontier, visited, k = {start}, {start}, 0
    while frontier:
        k, following = k + 1, set()
        for u in frontier:
            order.append(u)
            for v in range(n):
                if adjacent[u, v] and v not in visited:
                    visited.add(v)
                    following.add(v)
                    level[v] = k
        frontier = following
    return level, order, sorted(visited)


def components(adjacent):
    left, sizes = set(range(len(adjacent))), []
    while left:
        stack, size = [left.pop()], 0
        while stack:
            u = stack.pop()
            size += 1
            for v in range(len(adjacent)):
                if adjacent[u, v] and v in left:
                    left.remove(v)
                    stack.append(v)
        sizes.append(size)
    return sizes


def nearest_first(distances):
    left, order = set(range(len(distances))), []
    while left:
        u = min(left, key=lambda k: distances[k])
        left.remove(u)
        order.append(u)
    return order


def means(labels, x):
    found, by_label = [], {}
    for c in set(labels.tolist()):
        found.append(x[labels == c].mean())
        by_label[c] = x[labels == c].sum()
    return found, by_label


def consumed(a):
    s = set(a.tolist())
    pairs = {v: k for k, v in enumerate(s)}
    total = 0
    for x in s:
        total = total * 3 % 1000003 + x % 11
    kept = []
    kept += s
    of_all = sum(x % 5 for x in s), {x % 9 for x in s}, [x % 7 for x in s], np.array(list(s))
    return list(s), tuple(s), pairs, total, kept, of_all


def of_pairs(a):
    s, total = set(), 0
    for k in range(len(a) - 1):
        s.add((int(a[k]), int(a[k + 1])))
    for i, j in s:
        total = total * 3 % 1000003 + i % 100 - j % 100
    return total, len(s), sorted(s), list(s)


def of_numpys(a):
    s = set(a)
    found = []
    for x in s:
        found.append(x)
    return found, sum(s), max(s), min(s)


def of_floats(x):
    s = set(x.tolist())
    return list(s), sum(s)


def written_out(a):
    s, d, few = set(a.tolist()), {}, []
    for x in a.tolist():
        d[x] = 1
        if x > 3:
            few.append(x)
    return [*s], (*s,), [*d], list({*few}), (*few,), next(iter(s)), next(iter(d), 5)


def sieved(n):
    left, p = set(range(2, n)), 2
    while p * p < n:
        left -= set(range(p * p, n, p))
        p += 1
    return sorted(left), set.union(left, left) == left, sorted(set.intersection(left, {2, 3, 4}))


def of_frozensets(a):
    s, keep = set(a.tolist()), frozenset((1, 3, 5))
    return sorted(s & keep), len(s | keep), sorted(s - keep)


R = np.random.default_rng(5)
GRAPH = R.random((24, 24)) < 0.08
FLOATS = np.array([0.5, -0.0, 1e300, 1e-310, 5e-324, np.inf, -np.inf, -1.0, 2.0**61, -0.1, 3.0, 1e18, -1e18, 7.25, 0.1])
PROGRAMS = [
    (searched, (GRAPH | GRAPH.T, 3)), (components, (GRAPH | GRAPH.T,)), (nearest_first, (R.random(12),)),
    (means, (R.integers(-3, 9, 30) * 8, R.random(30))), (consumed, (DIGITS,)), (of_pairs, (DIGITS,)),
    (of_numpys, (DIGITS,)), (of_floats, (FLOATS,)), (consumed, (EDGES % 2**31,)), (of_numpys, (EDGES[1:7],)),
    (written_out, (DIGITS,)), (sieved, (40,)), (of_frozensets, (DIGITS,)),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("f, args", PROGRAMS)
def test_programs(f, args) -> None:
    climb(f, args)


@pytest.mark.slow
def test_hashes_at_the_edges() -> None:
    """Ints whose hashes are not themselves, and floats of all magnitudes, in tables of several sizes."""
    f, g = (tracebuf.bufferize(program("def f(a):\n    return list(set(a.tolist()))")) for _ in range(2))
    r = np.random.default_rng(1)
    for n in (3, 10, 40, 200):
        for _ in range(25):
            ints = np.concatenate([r.choice(EDGES, n), r.integers(-9, 9, n) + r.choice(EDGES[1:6], n)])
            ints = np.concatenate([ints, r.integers(-99, 99, n)])
            agree(f, r.permutation(ints))
            floats = r.standard_normal(n) * 10.0 ** r.integers(-320, 300, n)
            agree(g, np.concatenate([floats, r.integers(-9, 99, n) * 0.5, np.float64(ints)]))


def history(codes, values):
    """What is seen of two sets after each of many changes."""
    s, t, found = set(), set(), []
    for c, v in zip(codes.tolist(), values.tolist()):
        if c < 4:
            s.add(v)
        elif c < 7:
            t.add(v)
        elif c == 7:
            s.discard(v)
        elif c == 8:
            if s:
                found.append(s.pop())
        elif c == 9:
            s |= t
        elif c == 10:
            t -= s
        elif c == 11:
            t ^= s
        elif c == 12:
            s &= t
        else:
            s.clear()
        if c % 3 == 0:
            found.extend(s)
            found.extend(t)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [8, 400])
def test_histories(seeds: int) -> None:
    """Random changes, of small ints and of such as are in each other's way."""
    f = tracebuf.bufferize(history)
    for seed in range(seeds):
        r = np.random.default_rng(seed)
        n, wide = int(r.integers(1, 600)), int(r.choice([6, 40, 400, 2**40]))
        weights = np.array([4, 4, 4, 4, 4, 4, 4, 3, 3, 1, 1, 1, 0.5, 0.2])
        codes = r.choice(14, n, p=weights / weights.sum())
        agree(f, codes, r.integers(-wide, wide, n) * r.choice([1, 8, 32]))


@pytest.mark.slow
def test_what_has_no_certain_order() -> None:
    refused_by = {
        "s = {'a', 'b'}\n    s.add('c')\n    return [x for x in s]": "no certain order",
        "s = {1, 9, 17}\n    s.add(int(a[0]))\n    return [x for x in s]": "no certain order",
        "s = set(a.tolist())\n    it = iter(s)\n    s.add(999)\n    for x in it:\n        a[0] = x": "changes after",
        "s = dict.fromkeys(a.tolist())\n    z = zip(s, b)\n    s[7] = None\n    return [*z]": "changes after",
        "s = set(a.tolist())\n    for x in s:\n        s.discard(x)": "taken out of a set in a loop over it",
        "return frozenset((1, 2)) & set(a.tolist())": "a frozenset of what only the run time knows",
        "s = set(a.tolist())\n    t = set(b.tolist())\n    u = s if a[0] > 2 else t\n    s |= u": "",
    }
    for text, reason in some(3, refused_by.items()):
        assert reason in str(refused(program(f"def f(a, b):\n    {text}"), DIGITS, OTHERS))


@pytest.mark.slow
def test_items_that_are_added_in_a_loop_over_a_set() -> None:
    for last in ("", "\n        break"):
        text = f"def f(a, v):\n    s = set(a.tolist())\n    for x in s:\n        s.add(v){last}\n    return len(s)"
        for v in (3, 333):
            agree(program(text), DIGITS, v)


@pytest.mark.slow
def test_the_first_of_nothing() -> None:
    f = program("def f(a):\n    s = set()\n    for x in a.tolist():\n        if x > 99:\n            s.add(x)\n"
                "    return next(iter(s))")  # fmt: skip
    agree(f, OTHERS)
    agree(f, OTHERS[:2])
