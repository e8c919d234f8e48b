"""Dicts, Counters and sets whose keys only the run time knows: ints of arrays and lists, and tuples of them."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program, refused
from tests.support.params import one_in, slow_but, some
from tracebuf.errors import UnsupportedError

DIGITS = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4])
WIDE = np.random.default_rng(3).integers(-(10**9), 10**9, 300) * 4096
MANY = np.random.default_rng(3).integers(0, 200, 1000)
NAMES = {"Counter": Counter, "defaultdict": defaultdict}


def counted(a):
    counts = {}
    for x in a:
        counts[x] = counts.get(x, 0) + 1
    return counts


def counted_by_if(a):
    counts = {}
    for x in a:
        if x in counts:
            counts[x] += 1
        else:
            counts[x] = 1
    return counts, len(counts), sorted(counts), sum(counts.values()), max(counts.values()), 3 in counts


def seen_before(a):
    seen, twice = set(), []
    for x in a:
        if x in seen:
            twice.append(x)
        seen.add(x)
    return twice, len(seen), seen, sorted(seen)


def window(a):
    inside, most = set(), 0
    for k in range(len(a)):
        inside.add(int(a[k]))
        if k >= 3:
            inside.discard(int(a[k - 3]))
        most = max(most, len(inside))
    return most, sorted(inside), inside, sum(inside), max(inside)


def by_counter(a):
    c = Counter(a.tolist())
    return c, c[3], c[99], len(c), max(c, key=c.get), c.get(5), c.get(77, -1)


def by_defaultdict(a):
    d, halves = defaultdict(int), defaultdict(float)
    for k in a:
        d[k] += 1
        halves[k] += 0.5
    return dict(d), len(d), d[77], len(d), d, halves, sorted(halves.items(), key=lambda item: (-item[1], item[0]))


def collatz(a):
    memo, longest = {1: 1}, 0
    for n in range(1, len(a)):
        k, steps = n, 0
        while k not in memo:
            k = k // 2 if k % 2 == 0 else 3 * k + 1
            steps += 1
        memo[n] = steps + memo[k]
        longest = max(longest, memo[n])
    return longest, memo


def loops(a):
    counts = counted(a)
    best, most, total = -1, 0, 0
    for k, v in counts.items():
        if v > most:
            best, most = k, v
    for k in counts:
        total += k
    for i, k in enumerate(counts.keys()):
        total += i * counts[k]
    few = [k for k in counts if counts[k] == 1]
    return best, most, total, few, list(counts), list(counts.values()), list(reversed(counts))


def ordered(a):
    counts = counted(a)
    most = max(counts, key=counts.get), max(counts.items(), key=lambda item: item[1]), min(counts)
    return most, sorted(counts.items()), sorted(counts, key=lambda k: -counts[k]), np.array(list(counts.values()))


def two_sum(a, total):
    seen = {}
    for i, x in enumerate(a):
        if total - x in seen:
            return seen[total - x], i
        seen[x] = i
    return -1, -1


def removed(a):
    d, gone = {}, []
    for k in range(len(a)):
        d[int(a[k])] = k
    for x in (3, 5, 77):
        if x in d:
            del d[x]
            gone += [d.pop(9, -1), len(d)]
    for k in list(d):
        if d[k] > 15:
            gone.append(d.pop(k))
    kept = d.copy()
    while d:
        d.pop(max(d))
    kept[1000] = 5
    return kept, gone, d, list(kept)


def pairs(a):
    walk, first, x, y = set(), {}, 0, 0
    for k, v in enumerate(a):
        walk.add((x, y))
        first.setdefault((x, int(v)), (k, v / 2))
        x, y = (x + 1, y) if v % 3 == 0 else (x, y - 2) if v % 5 == 0 else (x - 1, y)
    total = 0
    for (p, q), (k, half) in first.items():
        total += p * q + k * half
    return len(walk), (0, 0) in walk, walk, first, total, first[0, 3][1]


def kinds(a):
    truths, mixed, means = {}, {}, {}
    for i, x in enumerate(a):
        truths[x > 3] = x
        mixed[x] = i
        mixed[i] = -i
        means[x] = means.get(x, 0) + x / 2
    return truths, mixed, means, True in mixed, mixed[True]


def made_in_a_loop(a):
    found = []
    for i in range(len(a)):
        seen = set()
        for j in range(i):
            seen.add(a[j])
        found.append(len(seen))
    return found


def nothing(a):
    s, d, c = set(), {}, Counter()
    for x in a:
        if x in s or x in c:
            return 5
    return len(s), s, c, c[4], sorted(s), list(c), d, sum(c.values())


def helper(counts, x):
    if counts.get(x) is None:
        counts[x] = 0
    counts[x] += 2


def handed_on(a):
    counts = {}
    same = counts
    for x in a:
        helper(counts, x)
    return same, same is counts, len(same)


def comprehended(a):
    ranks = {v: i for i, v in enumerate(sorted(set(a)))}
    counts = counted(a)
    shares, often = {k: v / len(a) for k, v in counts.items()}, {k: v for k, v in counts.items() if v > 1}
    more = {x % 3 for x in a}, len({v // 2 for v in a}), dict(zip(a, a * 2))
    return [ranks[x] for x in a], ranks, shares, often, more


def by_operators(a):
    s, t, u = set(a[: len(a) // 2]), set(a[len(a) // 2 :]), {0}
    for x in a:
        u.add(int(x) + 1)
    both = s.union(t), s.intersection(t), s.issubset(t), s <= t, s >= s, s < s, s.isdisjoint(t), s == t, s != t
    u.update([3, 100])
    v = u
    v |= {50}
    return s & t, s | t, s - t, s ^ t, both, u, v is u, u - {0, 1}, u == {0, 1}


def in_place(a):
    d, e = {}, {}
    for i, x in enumerate(a):
        d[x] = i + 0.5
        e[x + 1] = 2.0
    total = sum(d.values())
    for k in d:
        d[k] /= total
    for k, v in d.items():
        d[k] = v * 2
        if v > 0.1:
            break
    d.update(e)
    last = d.popitem()
    return d, last, counted(a) == counted(a[::-1])


def of_counters(a):
    c, d = Counter(a), Counter()
    d.update(a[:3])
    d.update(c)
    alike = Counter(a) == Counter(a[::-1]), Counter(a) == Counter(a[1:])
    return c.most_common(2), c.most_common(), d, c.total(), alike, c.most_common(-1)


def tried(a):
    d, failed = {}, 0
    for x in a:
        try:
            d[x] += 1
        except KeyError:
            d[x] = 1
            failed += 1
    return d, failed


def grown_in_a_loop(a):
    d = counted(a)
    for k in d:
        d[k + 1] = 2
    return d


def missing(a):
    d = {}
    for x in a:
        d[x] = 1
    return d[1000]


def breadth_first(a):
    graph, seen, queue, order = defaultdict(list), {0}, deque([0]), []
    for u in range(len(a)):
        graph[u].append(u + 1)
        graph[int(a[u])].append(u)
    while queue:
        u = queue.popleft()
        order.append(u)
        for v in graph[u]:
            if v not in seen:
                seen.add(v)
                queue.append(v)
    return order


def grouped(a):
    groups, halves, none = defaultdict(list), defaultdict(list), 0
    for i, x in enumerate(a):
        groups[x].append(i)
        halves[x] += [i * 0.5, x * 0.25]
        halves[x].append(0.0)
    means = {k: sum(v) / len(v) for k, v in halves.items()}
    kept = groups[3]
    kept.append(100)
    groups[3].append(200)
    if groups[99]:
        none = 1
    if not groups[98] and groups[3]:
        none += 2
    used = sum(kept), list(groups[3]), kept[-1], max(kept), 100 in kept, groups[97] == []
    sizes = [len(v) for v in groups.values()], len(groups), 3 in groups, sorted(groups), bool(halves)
    return groups, means, none, used, sizes, halves


FUNCTIONS = [
    counted_by_if, seen_before, by_counter, loops, ordered, removed, pairs, window, by_defaultdict, collatz,
    kinds, made_in_a_loop, nothing, handed_on, tried, by_operators, in_place, of_counters, comprehended,
    breadth_first, grouped,
]  # fmt: skip


@pytest.mark.slow
def test_counts() -> None:
    for a in (DIGITS, WIDE, MANY, DIGITS[:0], DIGITS.astype(np.int32), DIGITS.tolist()):
        agree(counted, a)


@pytest.mark.parametrize("f", one_in(45, FUNCTIONS))
@pytest.mark.slow
def test_uses(f: Any) -> None:
    agree(f, DIGITS)
    agree(f, DIGITS[:1])


@pytest.mark.slow
@pytest.mark.parametrize("f", [counted_by_if, seen_before, window, loops, removed, by_counter])
def test_many(f: Any) -> None:
    agree(f, MANY)
    agree(f, WIDE)


@pytest.mark.slow
def test_returned_early_or_missing() -> None:
    for total in (15, 100):
        agree(two_sum, DIGITS, total)
    assert agree(missing, DIGITS).args == (1000,)
    assert isinstance(agree(grown_in_a_loop, DIGITS), RuntimeError)
    agree(grown_in_a_loop, DIGITS[:0])


REFUSED = {
    "whose keys are np.float32": "d[np.float32(x / 2)] = 1",
    "a str as a key": "d[x] = 1\nx = d['x']",
    "a dict changes in a loop over it": "d[x] = 1\nfor i, k in enumerate(d):\n    d[k + 1] = 1",
    "taken out of a dict in a loop over it": "d[x] = 1\nfor k in d:\n    del d[k]\n    break",
    "no certain order": "s.add('a' if x > 2 else 'b')\nfor k in s:\n    x = k",
    "function of NumPy's of a dict": "d[x] = 1\nnp.array(d.values())",
    "uint64": "s.add(np.uint64(x))",
}


@pytest.mark.parametrize("reason", REFUSED)
def test_refused(reason: str) -> None:
    text = "def f(a):\n    d, s = {}, set()\n    for x in a:\n"
    f = program(text + "\n".join("        " + line for line in REFUSED[reason].splitlines()), **NAMES)
    with pytest.raises(UnsupportedError, match=reason):
        tracebuf.bufferize(f)(DIGITS)


@pytest.mark.slow
def test_keys_of_another_type_are_in_none() -> None:
    def f(a):
        d, s = {}, set()
        for x in a:
            d[x] = 1
            s.add((x, 1))
            if "x" in d or (x, 1) in d or x in s or (x, 1, 2) in s or (x, "a") in s or d.get("x") is not None:
                return d, -1
        return d, len(s), d.get((1, 2), 7)

    agree(f, DIGITS)


@pytest.mark.slow
def test_lists_that_grow_in_a_loop_over_them() -> None:
    """Such a list is gone through as it was: where it grows meanwhile, that is refused when the program runs."""
    text = """def f(x):
    d, out = defaultdict(list), []
    for v in x:
        d[v].append(v)
    for {}:
        if v < {}:
            d[{}].append(v + 1)
        out.append(v)
    return out, len(d)
"""
    for over in some(2, ("v in d[x[0]]", "_, v in enumerate(d[x[0]])")):
        f = program(text.format(over, 5, "x[0]"), defaultdict=defaultdict)
        with pytest.raises(UnsupportedError, match="gets items in a loop over it"):
            tracebuf.bufferize(f)(np.array([1, 2]))
    for added in some(2, ((5, "v + 7"), (0, "x[0]"))):
        agree(program(text.format("v in d[x[0]]", *added), defaultdict=defaultdict), np.array([1, 2, 1]))


def least_recently_used(keys, most):
    kept, hits = OrderedDict(), 0
    for k in keys.tolist():
        if k in kept:
            hits += 1
            kept.move_to_end(k)
        else:
            kept[k] = 2 * k
            if len(kept) > most:
                kept.popitem(last=False)
    return hits, kept


def both_ends(keys, most):
    kept = OrderedDict((k, n) for n, k in enumerate(keys.tolist()))
    return kept.popitem(last=False), kept.popitem(), len(kept), list(kept.items())


def moves_what_is_missing(keys, most):
    kept = OrderedDict()
    for k in keys.tolist():
        kept[k] = 1
    kept.move_to_end(77)
    return kept


@pytest.mark.parametrize("f", [both_ends, least_recently_used])
@pytest.mark.parametrize("keys", one_in(3, [[3, 1, 2, 5, 3, 1, 2], [4, 4, 1], []]))
@pytest.mark.cases(4)
def test_ordered_dicts(f: Any, keys: list[int]) -> None:
    agree(f, np.array(keys, int), 2)


@pytest.mark.slow
def test_a_key_that_is_missing_is_not_moved() -> None:
    assert isinstance(agree(moves_what_is_missing, DIGITS, 2), KeyError)


@pytest.mark.slow
def test_an_ordered_dict_that_is_returned_is_a_sound_one() -> None:
    _, kept = tracebuf.bufferize(least_recently_used)(DIGITS, 3)
    assert type(kept) is OrderedDict
    kept.move_to_end(next(iter(kept)))
    assert list(reversed(kept)) == list(kept)[::-1] and len(kept) == 3


def groups_in_order(keys, values):
    groups = defaultdict(list)
    for k, v in zip(keys.tolist(), values):
        groups[k].append(v)
    out = []
    for k, members in sorted(groups.items()):
        out.append((k, max(members)))
    return {k: sum(v) / len(v) for k, v in sorted(groups.items())}, out


@pytest.mark.slow
@pytest.mark.parametrize("keys", [[3, 1, 2, 3, 1], []])
def test_the_lists_of_a_defaultdict_in_the_order_of_their_keys(keys: list[int]) -> None:
    agree(groups_in_order, np.array(keys, int), np.arange(float(len(keys))))


@pytest.mark.slow
def test_what_a_comprehension_binds_is_not_what_a_loop_before_it_bound() -> None:
    """The loop's `k` and `x` are dead after it: they need no value on the path without items."""

    def program(v):
        d = {}
        for x in v:
            k = int(x) % 3
            if k in d:
                d[k] += x
            else:
                d[k] = x
        t = 0.0
        for k, x in d.items():
            t += k * x
        return t, {k: x + 1 for k, x in d.items()}

    agree(program, np.arange(7.0))
    agree(program, np.arange(0.0))


LIMITS = {"image": 1.0, np.uint8: 2.0, (1, 2): 3.0}


def test_a_key_of_another_type_than_all_keys() -> None:
    def f(a, limits):
        low = a.min()
        if limits in LIMITS or (low, low, 1) in LIMITS or low in LIMITS:
            return LIMITS[limits]
        return limits[0] + low, LIMITS.get((low, 1, 2), low)

    agree(f, np.arange(3.0), (0.0, 1.5, 2.5))
    agree(f, np.arange(3.0), "image")

    def g(a):
        return (a[0], 2) in LIMITS

    refused(g, np.ones(2))


@pytest.mark.slow
def test_a_dict_of_a_defaultdict_of_lists() -> None:
    """Python's TypeError was raised, where eager raises nothing."""

    def f(keys):
        d = defaultdict(list)
        for i, k in enumerate(keys):
            d[int(k)].append(i)
        e = dict(d)
        e[0].append(7)
        return d, e, sorted(set(d))

    for keys in some(2, ([0, 1, 0], [0])):
        agree(f, np.array(keys))


def by_key(keys):
    d = defaultdict(list)
    for i, k in enumerate(keys):
        d[int(k)].append(i)
    return d


USES_OF_LISTS = {
    "in order": "sorted(d.items())",
    "pairs": "[(k, x) for k, x in sorted(d.items())]",
    "list": "list(d.items()), list(d.values())",
    "dict": "dict(sorted(d.items()))",
    "longest": "max(d.values(), key=len)",
    "longest item": "max(d.items(), key=lambda item: len(item[1]))",
    "arrays": "{k: np.array(x) for k, x in d.items()}",
    "sort": "[x.sort() for x in d.values()], d",
    "class": "isinstance(d, dict), isinstance(d, list)",
    "some": "{k: x for k, x in d.items() if len(x) > 1}",
}


@pytest.mark.parametrize("use", slow_but(("in order",), USES_OF_LISTS))
@pytest.mark.slow
def test_the_lists_of_a_defaultdict_as_other_lists(use: str) -> None:
    text = f"def f(keys):\n    d = by_key(keys)\n    return {USES_OF_LISTS[use]}"
    f = tracebuf.bufferize(program(text, by_key=by_key, np=np))
    for keys in ([3, 1, 2, 1, 0, 3, 2], [2, 2]):
        agree(f, np.array(keys))


@pytest.mark.slow
def test_dicts_from_keys() -> None:
    def f(x):
        names = ["a", "b", "c"]
        sums = dict.fromkeys(names, 0.0)
        for i, v in enumerate(x):
            sums[names[i % 3]] += v
        rest = dict.fromkeys("ab"), list(dict.fromkeys([3, 1, 3])), dict.fromkeys(np.unique(x.astype(int)), 0)
        return sums, max(sums, key=sums.get), rest

    agree(f, np.array([1.5, 2, 1.25, 7, 2]))
