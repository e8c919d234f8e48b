"""Texts that are one or another by the path, or items of lists, as keys of dicts and sets, in heaps, searched and in
order: known texts are numbers, which compare as they do."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, refused
from tests.support.params import one_in, slow_but
from tracebuf.errors import UnsupportedError
from tracebuf.testing.ladder import climb

X = np.random.default_rng(0).normal(size=9)
K = np.array([0, 2, 1, 1, 0, 2, 1])


def counted(x):
    labels = []
    for v in x:
        labels.append("neg" if v < 0 else "pos")
    c = Counter(labels)
    found = c["neg"], c["none"], dict(c), c.most_common(1), labels.count("neg"), "neg" in labels, "q" in labels
    return labels, found, sorted(labels), max(c, key=c.get) if len(x) else None


def sums_by_kind(x):
    sums, many = defaultdict(float), defaultdict(int)
    for v in x:
        kind = "low" if v < -0.5 else "mid" if v < 0.5 else "high"
        sums[kind] += v
        many[kind] += 1
    return {k: sums[k] / many[k] for k in sorted(sums)}, list(sums), len(many), "mid" in sums


def heap_of_names(k):
    names, heap, out = ["zoe", "al", "bob"], [], []
    for j in k:
        heapq.heappush(heap, (int(j) // 2, names[j]))
    while heap:
        out.append(heapq.heappop(heap))
    return out


def seen(k):
    names, found, order = ["zoe", "al", "bob"], set(), []
    for j in k:
        name = names[j]
        if name not in found:
            found.add(name)
            order.append(name)
    return order, len(found), "al" in found, sorted(found), order.index("zoe")


def grown_by_text(k):
    names, d = ["zoe", "al", "bob"], {}
    for j in k:
        name = names[j]
        d[name] = d.get(name, 0) + 1
    return d, max(d, key=d.get), sorted(d.items()), sum(d.values()), d["al"]


def in_tuples(k):
    d = {}
    for i, j in enumerate(k):
        key = ("lo" if j < 1 else "hi", int(j))
        if key not in d:
            d[key] = []
        d[key].append(i)
    return d


def grouped(k):
    d = defaultdict(list)
    for j in k:
        d["lo" if j < 1 else "hi"].append(j)
    return d, {a: np.mean(b) for a, b in d.items()}


def walked(k):
    names = ["sunny", "rainy", "cloudy"]
    path = [names[0]]
    for j in k:
        path.append(names[j])
    return path, path.count("rainy"), path.index("sunny"), path[0] == "sunny", path[-1]


def with_numbers(k):
    out = []
    for j in k:
        out.append(f"n{j}" if j else "zero")
    return out, "zero" in out, out.count("n1"), "n2" in out


def known_dict(x):
    kind = "a" if x[0] > 0.5 else "b"
    d = {"a": 1, "c": 2, "b": 3}
    d[kind] += 2
    s, t = {"a", "c"}, {kind, "zz"}
    del d["a" if x[1] > 0.2 else "b"]
    return d, kind in s, len(t), "a" in t, kind in ("a", "z")


def new_key(x):
    d = {"a": 1}
    d["a" if x[0] > 0.5 else "b"] = 5
    return d


def key_in_a_branch(x):
    out, other = {"n": len(x)}, {"sum": x.sum()}
    if x[0] > 0.5:
        out["big"] = 3
        other["max"] = x.max()
    return out, "big" in out, out.get("big"), len(out), other, other["sum"]


def no_such_text(k):
    names, d = ["zoe", "al"], {}
    for j in k:
        d[names[j % 2]] = j
    return d["bob"]


PROGRAMS = [(counted, X), (known_dict, X), (walked, K), (sums_by_kind, X), (heap_of_names, K), (seen, K), (new_key, X),
            (grown_by_text, K), (in_tuples, K), (grouped, K), (with_numbers, K), (key_in_a_branch, X)]  # fmt: skip


@pytest.mark.parametrize("case", one_in(12, PROGRAMS), ids=lambda c: c[0].__name__)
@pytest.mark.slow
def test_programs(case: Any) -> None:
    f, x = case
    climb(f, (x,), again=[(-x if x is X else x[::-1],), (x[:5],)])


def test_errors() -> None:
    agree(no_such_text, K)


def distinct(xs):
    seen, out = set(), []
    for x in xs:
        if x not in seen:
            seen.add(x)
            out.append(x)
    return out, len(seen), sorted(seen), 2.5 in seen, 1 in seen


def rounded(x):
    bins = {}
    for v in x:
        b = round(float(v), 1)
        bins[b] = bins.get(b, 0) + 1
    return sorted(bins.items()), bins, bins.get(0.3), -0.2 in bins, Counter(bins.values())


def pairs_with_floats(x):
    d = {}
    for k in range(len(x) - 1):
        d[(x[k], k % 3)] = x[k + 1]
    for k in range(0, len(x), 2):
        if (x[k], k % 3) in d:
            del d[(x[k], k % 3)]
    return d


def summed(x):
    return sum(set(x))


@pytest.mark.slow
def test_floats_as_keys() -> None:
    climb(rounded, (X,))
    agree(distinct, [1.5, 2.5, 1.5, -0.0, 0.0, 1.0])
    with pytest.raises(UnsupportedError, match="a NaN as a key"):
        tracebuf.bufferize(distinct)([1.5, np.nan])
    agree(summed, X)


@pytest.mark.slow
def test_floats_in_keys() -> None:
    climb(pairs_with_floats, (X.round(1),), again=[(X[:1],)])


def by_number(k):
    d, many = {}, {}
    for j in np.unique(k):
        d[f"station {j}"] = k[k == j].sum()
    for j in k:
        key = "n" + str(j)
        many[key] = many.get(key, 0) + 1
    return d, many, "n1" in many, many["n2"], "n7" in many, list(many), sum(many.values())


def named_or_numbered(k):
    names, d = {0: "zoe", 1: "al"}, {"total": 0}
    for j in k:
        key = names.get(int(j), f"no {j:03d}")
        d[key] = d.get(key, 0) + 1
        d["total"] += 1
    return d, d["no 002"], "no 2" in d, "al" in d, d["zoe"]


def numbered_lists(k):
    d, seen = defaultdict(list), set()
    for i, j in enumerate(k):
        d[f"{j}: "].append(i)
        seen.add((f"x{j}", i % 2))
    e = dict(d)
    del e["1: "]
    return d, e, len(seen), "3: " in e


NUMBERED = (by_number, numbered_lists, named_or_numbered)


@pytest.mark.parametrize("f", slow_but(NUMBERED[:1], NUMBERED))
@pytest.mark.slow
def test_texts_of_a_number_as_keys(f: Any) -> None:
    for k in (K, K[:4], K * 40 + 1):
        agree(f, k)


def by_place(k):
    seen, board = set(), {}
    for i, j in enumerate(k):
        key = f"{i % 3}-{j}"
        if key in board:
            board[key] += 1
        else:
            board[key] = 1
        if (name := f"{j}_{-i:03d}!") not in seen:
            seen.add(name)
    return board, len(seen), "0--1" in board, "1-1" in board, "2_-05!" in seen, "1_-02!" in seen, len(k)


def cells(k):
    grid = {"none": 0}
    for i, j in enumerate(k):
        for t in range(len(k)):
            grid[f"{i},{j},{t}"] = i * t
        grid[str(i) + ":" + str(j)] = 0.5
        grid[f"{j}"] = i
    total = 0
    for i, j in enumerate(k):
        total += grid[f"{i},{j},{i}"] + grid[f"{i}:{j}"]
    return grid, total, "0,0,1" in grid, "0,0,9223372036854775808" in grid, "none" in grid


@pytest.mark.slow
@pytest.mark.parametrize("f", [by_place, cells])
def test_texts_of_several_ints_as_keys_on_every_rung(f: Any) -> None:
    climb(f, (K,), again=[(-K,), (K[:5],)])


@pytest.mark.slow
def test_texts_of_several_ints_as_keys() -> None:
    agree(by_place, K)


def ambiguous(k):
    d = {"n1": 0}
    for j in k:
        d[f"n{j}"] = j
    return d


def of_two_numbers(k):
    d = {}
    for j in k:
        d[f"{j}{j + 1}"] = j
    return d


def of_floats(x):
    return {f"{v:.1f}": v for v in x}


@pytest.mark.parametrize("f", [ambiguous, of_two_numbers, of_floats])
def test_texts_that_may_be_equal_are_no_keys(f: Any) -> None:
    assert "keys are a text" in refused(f, K / 2 if f is of_floats else K).reason


def array_in_a_branch(x):
    d = {"all": x}
    if x[0] > 0.5:
        d["max"] = x.max()
    return d


def test_refused() -> None:
    with pytest.raises(UnsupportedError, match="which keys a dict has"):
        tracebuf.bufferize(array_in_a_branch)(X)
