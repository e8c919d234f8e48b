"""Keys that only the run time knows, looked for in dicts of the caller's or from outside, and in sets of tuples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program, refused
from tests.support.params import one_in
from tracebuf.testing.ladder import climb

X = np.random.default_rng(1).random((3, 5))
EDGES = np.array([[0, 1], [2, 3], [1, 2], [3, 4]])
WEIGHTS = {(0, 1): 1.0, (2, 3): 2.0}


def summed(x, d):
    t = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if (i, j) in d:
                t += d[i, j] * x[i, j]
            elif (j, i) in d:
                t += d[(j, i)]
    return t


def walked(x, walls):
    pos = (0, 0)
    moves = [(0, 1), (1, 0), (0, -1), (-1, 0)]
    for k in range(8):
        di, dj = moves[int(x[k % 3, k % 5] * 4)]
        new = (pos[0] + di, pos[1] + dj)
        if new in walls or not (0 <= new[0] < 3 and 0 <= new[1] < 5):
            continue
        pos = new
    return pos


def until_terminal(x, terminals):
    s = int(x[0].argmax())
    for _ in range(5):
        if s in terminals:
            return s, terminals[s]
        s += 1
    return s, 0.0


def counted(x, counts):
    for v in x.ravel():
        k = int(v * 4)
        counts[k] = counts.get(k, 0) + 1
    return len(counts), counts


def known_only(x, counts):
    for v in x.ravel():
        k = int(v * 4)
        if k in counts:
            counts[k] += 1
    return counts


def views(x, d):
    k = int(x.sum())
    return d.get(k), [d[i] for i in d], sorted(d.items()), list(d), max(d.values())


def by_name(x, rates):
    s = "up" if x[0, 0] > 0.5 else "down"
    return x * rates[s]


def caught(x, d):
    try:
        return d[int(x[0].argmax())]
    except KeyError:
        return -1.0


def remembered(x, memo):
    def double(n):
        if n in memo:
            return memo[n]
        memo[n] = n * 2
        return memo[n]

    return double(int(x[0].argmax())), double(3), memo


def of_other_types(x, d):
    i, j = int(x[0].argmax()), int(x[1].argmax())
    return (i, j) in d, j in d, (i, j, 0) in d, d.get(j, -1)


def from_outside(x, e):
    return sum(WEIGHTS.get((int(u), int(v)), 0.0) for u, v in e), [(u, v) in WEIGHTS for u, v in e]


def in_a_set(x, e):
    seen = {(0, 1), (1, 2)}
    return [(int(u), int(v)) in seen or (int(v), int(u)) in seen for u, v in e], (e[0, 0], 1) in seen


def in_a_large_set(x, e):
    seen = {(i, i + 1) for i in range(30)}
    n = 0
    for u, v in e:
        n += (int(v), int(u)) not in seen
    return n


def in_a_mixed_set(x, e):
    known = {(0, "a"), 3, "b", (2, "a"), (1.0, 2), None}
    return [(int(u), "a") in known for u, _ in e], (e[2, 0], 2) in known, (e[0, 0], "b") in known


D = {(0, 1): 1.0, (2, 3): 2.5, (4, 2): 0.5}
PROGRAMS = [
    (walked, (X, {(0, 1): 1, (1, 0): 1}), []),
    (until_terminal, (X, {4: 1.0, 0: -1.0}), [(X, {9: 2.0})]), (counted, (X, {1: 2}), [(X, {}), (X, {7: 1, 3: 2})]),
    (known_only, (X, {1: 2, 0: 0}), []), (views, (X, {1: 2, 3: 4}), [(X, {6: 1, 9: 4})]),
    (by_name, (X, {"up": 2.0, "down": 0.5}), []), (caught, (X, {0: 1.0, 4: 2.0}), [(X, {9: 1.0})]),
    (remembered, (X, {0: 1}), []), (of_other_types, (X, D), [(X, {(0, 1): 1})]),
    (in_a_set, (X, EDGES), [(X, EDGES[::-1].copy())]),
    (in_a_large_set, (X, EDGES), []), (in_a_mixed_set, (X, EDGES), [(X, EDGES[1:].copy())]),
    (summed, (X, D), [(X, {(1, 1): 3})]),
]  # fmt: skip


@pytest.mark.parametrize("f, args, again", one_in(6, PROGRAMS, rows=True), ids=lambda x: getattr(x, "__name__", ""))
@pytest.mark.cases(6)
def test_keys_that_only_the_run_time_knows(f: Any, args: Any, again: Any) -> None:
    climb(f, args)
    for values in (args, *again):
        agree(f, *values)


@pytest.mark.slow
def test_one_program_serves_other_values_of_the_dict() -> None:
    f = tracebuf.bufferize(summed)
    for scale in (1.0, 2.0, -3.0):
        d = {k: v * scale for k, v in D.items()}
        assert f(X, d) == summed(X, d)
    assert len(f.specializations()) == 1


@pytest.mark.slow
def test_a_dict_that_changes_outside_is_seen() -> None:
    agree(from_outside, X, EDGES)
    f = program("def f(i): return (int(i[0]), 1) in W, W.get((int(i[0]), 1), 0.0)", W=(w := {(0, 1): 1.0}))
    g = tracebuf.bufferize(f)
    i = np.array([2])
    assert g(i) == (False, 0.0)
    w[2, 1] = 5.0
    assert g(i) == f(i) == (True, 5.0)
    w[2, 1] = 6.0
    assert g(i) == f(i) == (True, 6.0)


REFUSED = {
    "d[int(x[0, 0])]": {0: 1.0, 1: "a"}, "int(x[0, 0]) in d": {0: np.ones(3), 1: [1]}, "(x, 1) in {(1, 2)}": {},
    "(x[0, 0], 1) in {(float('nan'), 1)}": {},
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused_still(text: str) -> None:
    """Values of unlike types; arrays in keys; NaNs."""
    refused(program(f"def f(x, d): return {text}"), X, REFUSED[text])
