"""Dicts by run-time keys whose values are arrays, or lists of arrays; factories of defaultdict (rules S1, S3)."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, refused
from tracebuf.testing.ladder import climb

X = np.random.default_rng(0).random((12, 3))
Y = np.random.default_rng(1).integers(0, 3, 12)


def of_classes(x, y):
    found = {}
    for c in np.unique(y):
        rows = x[y == c]
        found[int(c)] = (rows.mean(axis=0), rows.var(axis=0) + 1, len(rows) / len(x))
    total, last = 0.0, -1
    for c, (mean, spread, share) in found.items():
        total += mean[0] / spread[1] * share
        last = c
    return total, last, len(found), 7 in found, found


def sums(x, y):
    found = {}
    for row, k in zip(x, y):
        if k not in found:
            found[k] = np.zeros(x.shape[1])
        found[k] = found[k] + row
    found.pop(y[0])
    best = max(found, key=lambda k: found[k].sum()) if found else -1
    return found, best, len(found)


def groups(x, y):
    rows, numbered = defaultdict(list), {}
    for i, (row, k) in enumerate(zip(x, y)):
        rows[int(k)].append(row * 2)
        numbered.setdefault(int(k), []).append((i, row.copy()))
    means = {k: np.mean(v, axis=0) for k, v in sorted(rows.items())}
    return means, [(k, len(v), v[0][0]) for k, v in sorted(numbered.items(), reverse=True)], len(rows)


def factories(x, y):
    least, pairs = defaultdict(lambda: float("inf")), defaultdict(lambda: [0, 0.0])
    arrays = defaultdict(lambda: np.ones(2))
    for row, k in zip(x, y):
        if row[0] < least[k]:
            least[k] = row[0]
        pairs[k][0] += 1
        pairs[k][1] += row[1]
        arrays[k] = arrays[k] * row[:2]
    return dict(least), {k: b / a for k, (a, b) in pairs.items()}, len(arrays), sorted(least.items())


@pytest.mark.slow
def test_a_dict_of_arrays() -> None:
    agree(of_classes, X, Y)


@pytest.mark.slow
@pytest.mark.parametrize("f", [of_classes, sums, groups, factories], ids=lambda f: f.__name__)
def test_values_that_are_arrays(f) -> None:
    climb(f, (X, Y), again=[(X[:5], Y[:5]), (X[:1], Y[:1])])


def made(n):
    print("made", n)
    return n


def said(y):
    d = defaultdict(lambda: made(len(d)))
    return [d[k] for k in y], d[5]


@pytest.mark.slow
def test_factories_are_called_for_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    want = said(Y)
    text = capsys.readouterr().out
    assert tracebuf.bufferize(said)(Y) == want
    assert capsys.readouterr().out == text


def kept_twice(x, y):
    z, found = x[0] * 2, {}
    for k in y:
        found[k] = z
    return found


def changed_after(x, y):
    z, found = np.zeros(3), {}
    for row, k in zip(x, y):
        found[k] = z
        z += row
    return found[int(y[0])].sum()


def kept_on_paths(x, y):
    found = {}
    for row, k in zip(x, y):
        z = row * 2
        if row[0] > 0.5:
            found[k] = z
        if row[1] > 0.5:
            found[k + 10] = z
    return found


def kept_on_one_path(x, y):
    found = {}
    for row, k in zip(x, y):
        z = row * 2
        if row[0] > 0.5:
            found[k] = z
        else:
            found[k + 10] = z
    return found


def is_argument(x, y):
    found = {}
    for row, k in zip(x, y):
        found[k] = row
    return found


def returned_with_its_factory(y):
    d = defaultdict(lambda: 2.0)
    for k in y:
        d[k] += 1
    return d


@pytest.mark.slow
def test_arrays_that_others_hold_too() -> None:
    for f in (kept_twice, changed_after, kept_on_paths, is_argument):
        assert "of a list of run-time length" in refused(f, X, Y).reason
    agree(kept_on_one_path, X, Y)
    assert "factory" in refused(returned_with_its_factory, Y).reason


def mean_of_none(x, y):
    rows = defaultdict(list)
    for row, k in zip(x, y):
        rows[k].append(row * 2)
    rows[77]
    return {k: np.mean(v, axis=0) for k, v in rows.items()}


@pytest.mark.slow
def test_lists_that_are_taken_to_have_items() -> None:
    assert "the array of an empty list" in refused(mean_of_none, X, Y).reason


def centres(x, k):
    c = x[:k].copy()
    for _ in range(3):
        near = [[] for _ in range(k)]
        for row in x:
            near[int(np.argmin([np.linalg.norm(row - p) for p in c]))].append(row)
        c = np.array([np.mean(rows, axis=0) if rows else c[i] for i, rows in enumerate(near)])
    return c, [len(rows) for rows in near]


@pytest.mark.slow
def test_means_of_lists_that_may_be_empty() -> None:
    agree(centres, X, 3)
    agree(centres, np.repeat(X[:1], 4, axis=0), 3)


def stored_where_all_is_caught(v, w):
    k, notes = 1, []
    found = {0: w * 2}
    try:
        for k, x in enumerate(v):
            k = len(found)
            found[k % 3] = w * x
    finally:
        notes.append(len(found))
    return found.get(k % 4, w) * 2, found, notes


def appended_where_all_is_caught(v, w):
    rows, notes = [], []
    try:
        for x in v:
            if x > 0.5:
                rows.append(w * x)
    finally:
        notes.append(len(rows))
    return rows, notes


@pytest.mark.parametrize("n", [0, 1, 7, 40])
@pytest.mark.cases(4)
def test_an_exception_may_be_caught_in_the_middle_of_a_change(n: int) -> None:
    """Memory for an item may be missing, which `finally` sees: the container then has what it had before."""
    v = np.random.default_rng(n).random(n)
    for f in (stored_where_all_is_caught, appended_where_all_is_caught):
        agree(f, v, np.arange(9.0))


def best_of(x, ks):
    fits = {k: (np.full(k, x[0]), x.sum() * k) for k in ks}
    best = min(fits, key=lambda k: abs(fits[k][1] - 20))
    return fits[best][0] * 2, best


def one_of_two(x, ks):
    found = {1: np.full(2, x[0]), 2: np.full(3, x[1])}
    return found[1 + int(x[0]) % 2] + 1


@pytest.mark.slow
def test_arrays_of_several_lengths_by_a_key_of_the_run_time() -> None:
    """A KeyError of ours: nothing noted that values of a dict, looked at together, are of any length."""
    for x in (np.arange(4.0), np.arange(4.0) + 1):
        for f in (best_of, one_of_two):
            agree(f, x, [1, 2, 3])
