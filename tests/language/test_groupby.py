"""itertools.groupby: runs of equal items of arrays, lists and generators."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused
from tests.support.params import one_in
from tracebuf.testing.ladder import climb

X = np.random.default_rng(1).random(10)


def runs_of_a_list(x):
    out = []
    for k, g in groupby([1 if v > 0.5 else 0 for v in x]):
        out.append((k, len(list(g))))
    return out


def runs_of_an_array(x):
    runs = []
    for above, group in groupby(x > 0.5):
        runs.append((bool(above), sum(1 for _ in group)))
    return runs


def signs(x):
    labels = np.sign(x - 0.5)
    return [(k, len(list(g))) for k, g in groupby(labels)]


def sums_by_key(x):
    data = sorted((int(v * 3), float(v)) for v in x)
    return [(k, sum(t[1] for t in g)) for k, g in groupby(data, key=lambda t: t[0])]


def means(x):
    out = []
    for k, g in groupby(sorted(x), key=lambda v: int(v * 4)):
        items = list(g)
        out.append((k, len(items), sum(items) / len(items)))
    return out


def of_a_generator(x):
    return [sum(1 for _ in g) for k, g in groupby(int(v * 2) for v in x)]


def longest(x):
    best = 0
    for k, g in groupby(x > 0.5):
        n = len(list(g))
        if k and n > best:
            best = n
    return best


def into_a_dict(x):
    out = {}
    for k, g in groupby(sorted(int(v * 3) for v in x)):
        out[k] = len(list(g))
    return out


def first_of_each(x):
    found = []
    for k, g in groupby(np.diff(x) > 0):
        found.append((k, next(g)))
    return found


def first_group(x):
    it = groupby(x > 0.5)
    k, g = next(it)
    return k, len(list(g))


def without_repeats(x):
    return [k for k, _ in groupby(int(v * 3) for v in x)]


def coded(x):
    return [(int(k), len(list(g))) for k, g in groupby((x > 0.5).astype(int).tolist())]


PROGRAMS = [
    runs_of_an_array, signs, sums_by_key, means, of_a_generator, longest, into_a_dict, first_of_each,
    first_group, without_repeats, coded, runs_of_a_list,
]  # fmt: skip


@pytest.mark.parametrize("f", one_in(6, PROGRAMS))
@pytest.mark.cases(4)
def test_programs(f: Any) -> None:
    climb(f, (X,))
    for x in (X[::-1].copy(), X[:3], np.sort(X)):
        agree(f, x)


@pytest.mark.slow
def test_what_is_gone_through_once() -> None:
    agree(program("def f(x):\n    return [(list(g), list(g)) for k, g in groupby(x > 0.5)]", groupby=groupby), X)
    agree(program("def f(x):\n    return [k for k, g in groupby(x[:0])], list(groupby([]))", groupby=groupby), X)


REFUSED = [
    "for k, g in groupby(x, key=lambda t: t > 0.5):\n        x[9] = 0.7",
    "for k, g in groupby(x, key=lambda t: print(t)):\n        pass",
    "x[3] = np.nan\n    for k, g in groupby(x):\n        pass",
    "q = [v for v in x if v > 0.1]\n    for k, g in groupby(q):\n        q.append(k)",
]


@pytest.mark.parametrize("text", one_in(3, REFUSED))
def test_what_is_refused(text: str) -> None:
    """Items that change meanwhile, keys that may have effects, NaNs."""
    refused(program(f"def f(x):\n    {text}\n    return x", groupby=groupby), X)
