"""Iterators from which `next` and loops take items here and there: in loops and branches around which they were made,
and where data tell which items there are."""

from __future__ import annotations

import itertools
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused
from tests.support.params import one_in
from tracebuf.testing.ladder import climb

X = np.random.default_rng(1).random(10)


def best_with_a_look_ahead(x):
    it = iter(x)
    first = next(it)
    best = first
    for v in it:
        if v > best:
            best = v
            nxt = next(it, None)
            if nxt is not None and nxt > best:
                best = nxt
    return best


def keys_and_values(x):
    # parse pairs: key value key value
    it = iter([int(v * 10) for v in x])
    d = {}
    for k in it:
        v = next(it)
        d[k] = v
    return d


def while_there_are(x):
    g = (i for i, v in enumerate(x) if v > 0.5)
    out = []
    while True:
        i = next(g, None)
        if i is None:
            break
        out.append(i)
    return out


def merged(x):
    xs = sorted(v for v in x if v > 0.2)
    ys = sorted(v for v in x if v < 0.8)
    a, b = iter(xs), iter(ys)
    va, vb = next(a, None), next(b, None)
    out = []
    while va is not None and vb is not None:
        if va <= vb:
            out.append(va)
            va = next(a, None)
        else:
            out.append(vb)
            vb = next(b, None)
    return out


def numbered(x):
    ids = itertools.count()
    names = [-1] * len(x)
    for i in range(len(x)):
        if x[i] > 0.4:
            names[i] = next(ids)
    return names, next(ids)


def until_it_stops(x):
    it = iter(x)
    total = 0.0
    try:
        while True:
            total += next(it)
    except StopIteration:
        pass
    return total


def first_and_rest(x):
    g = (v * 2 for v in x if v > 0.4)
    a = next(g)
    rest = list(g)
    return a, rest, next(g, -1.0)


def in_turns(x):
    turn = itertools.cycle([0, 1, 2])
    load = np.zeros(3)
    for v in x:
        if v > 0.3:
            load[next(turn)] += v
    return load


def colours(x):
    colors = itertools.cycle("rgb")
    return [next(colors) for v in x]


def pairs_of_a_loop(x):
    it = iter(x)
    out = []
    for a in it:
        b = next(it)
        out.append(a * b)
    return out


def two_peaks(x):
    peaks = (i for i in range(1, len(x) - 1) if x[i - 1] < x[i] > x[i + 1])
    first = next(peaks, -1)
    second = next(peaks, -1)
    return second - first


def by_path(x):
    it = iter(range(5))
    for v in x:
        if v > .5:
            k = next(it)
        else:
            k = 9
    return k, sum(it)


def left_and_counted(x):
    it = iter(x)
    for v in it:
        if v > .9:
            break
    else:
        return -1.0, 0
    return v, sum(1 for _ in it)


def changed_meanwhile(x):
    it = iter(x)
    x[3] = 100.0
    a = next(it)
    for _ in range(2):
        a += next(it)
    x[4] = 7.0
    return a, list(it), it is it


def handed_on(x):
    def nxt(g):
        return next(g)
    g = (v for v in x if v > 0.2)
    s = nxt(g)
    for _ in range(2):
        s -= nxt(g)
    return s


def first_two(x):
    g = (v for v in x if v > 0.3)
    first = next(g)
    second = next(g)
    return first, second


def of_a_list(x):
    xs = [v for v in x if v > 0.3]
    it = iter(xs)
    first = next(it)
    s = 0.0
    for v in it:
        s += v - first
    return s


def accumulated(x):
    xs = [float(v) for v in x if v > 0.3]
    return list(accumulate(xs, max)), list(itertools.accumulate(xs))


def differences(x):
    xs = [float(v) for v in x if v > 0.3]
    return [b - a for a, b in pairwise(xs)]


def between_peaks(x):
    peaks = [i for i in range(1, len(x) - 1) if x[i] > x[i-1] and x[i] > x[i+1]]
    return [b - a for a, b in pairwise(peaks)], [b - a for a, b in zip(peaks, peaks[1:])]


def with_default(x):
    g = (i for i, v in enumerate(x) if v > 0.5)
    first = next(g, -1)
    second = next(g, -1)
    return first, second


PROGRAMS = [
    best_with_a_look_ahead, keys_and_values, while_there_are, merged, numbered, until_it_stops, first_and_rest,
    in_turns, colours, pairs_of_a_loop, two_peaks, by_path, left_and_counted, changed_meanwhile, handed_on, first_two,
    of_a_list, accumulated, differences, between_peaks, with_default,
]  # fmt: skip


@pytest.mark.parametrize("f", one_in(5, PROGRAMS))
@pytest.mark.cases(4)
def test_programs(f: Any) -> None:
    climb(f, (X,), again=[(X[::-1].copy(),)])
    agree(f, X[:4])
    agree(f, X[:8] * 0.25)


REFUSED = [
    "g = (v for v in x if v > 0.5)\n    a = next(g)\n    return a, [(p, q) for p, q in zip(g, g)]",
    "it = iter(x)\n    for v in x:\n        if v > 0.5:\n            next(it)\n    return it",
    "it = iter(x)\n    for v in x:\n        if v > 0.5:\n            next(it)\n    return 0.5 in it",
    "it = iter(x)\n    for v in x:\n        if v > 0.5:\n            next(it)\n    return f'{it}'",
    "it = iter(x)\n    for v in x:\n        if v > 0.5:\n            next(it)\n    a, b = it\n    return a",
    "q = [v for v in x if v > 0.1]\n    it = iter(q)\n    a = next(it)\n    q.append(a)\n    return a, list(it)",
    "q = [v for v in x if v > 0.1]\n    it = iter(q)\n    a = next(it)\n    q.append(a)\n    return a, next(it, None)",
    "q = [1]\n    it = iter(q)\n    a = next(it)\n    for v in x:\n        if v > 0.5:\n            q.append(2)\n"
    "    return a, next(it, None)",
]


@pytest.mark.parametrize("text", one_in(8, REFUSED))
def test_what_is_refused(text: str) -> None:
    """Other functions of such iterators; lists that grow while their items are taken."""
    refused(program(f"def f(x):\n    {text}"), X)
