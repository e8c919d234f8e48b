"""Lists that a name gives to another in a loop, by the path, and begins anew: `best = run` and `run = []`; and lists
that a generator yields and begins anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree
from tracebuf.testing.ladder import climb

X = np.array([0.5, 1, -1, 2, 3, 4, -2, -1, 1, 1, -3, 5])


def longest_run(x):
    best, run = [], []
    for v in x:
        if v > 0:
            run.append(v)
        else:
            if len(run) > len(best):
                best = run
            run = []
    if len(run) > len(best):
        best = run
    return best, len(best)


def longest_run_of_pairs(x):
    best, run = [], []
    for k, v in enumerate(x):
        if v > 0:
            run.append((k, v))
            continue
        if len(run) > len(best):
            best = run
            best.append((k, -1.0))
        run = []
    return [k for k, _ in best], sum(v for _, v in best)


def last_two(x):
    before, now, out = [], [], 0.0
    for v in x:
        if v < 0:
            before = now
            now = []
        now.append(v)
        out += len(before) * v
    return before, now, out


def named_again(x):
    out, batch = 0.0, []
    for v in x:
        batch.append(v)
        if len(batch) == 4:
            whole = batch
            out += max(whole)
            batch = []
    return out, batch


def batches(items: Any, n: int) -> Iterator[Any]:
    batch = []
    for item in items:
        batch.append(item)
        if len(batch) == n:
            yield batch
            batch = []
    if batch:
        yield batch


def sums_of_batches(x):
    return [sum(b) for b in batches(x, 5)]


def loop_over_batches(x):
    out = 0.0
    for b in batches(x, 5):
        out = out * 2 + max(b) * len(b)
    return out


def batches_that_are_kept(x):
    kept = []
    for b in batches(x, 4):
        kept.append(b)
    return [len(b) for b in kept], sum(sum(b) for b in kept)


@pytest.mark.slow
@pytest.mark.parametrize(
    "f", [longest_run, longest_run_of_pairs, last_two, named_again, sums_of_batches, loop_over_batches,
          batches_that_are_kept],
)  # fmt: skip
def test_lists_that_are_given_on_and_begun_anew(f: Callable[..., Any]) -> None:
    climb(f, (X,), again=[(X[:1],), (-X,), (abs(X),), (X[:0],)])


def test_the_longest_run() -> None:
    agree(longest_run, X)


def read_on(x):
    best, run = [], []
    for v in x:
        run.append(v)
        if v < 0:
            best = run
        if v > 4:
            run = []
    return best, run, best is run


def kept_elsewhere(x):
    best, run, all_runs = [], [], []
    for v in x:
        run.append(v)
        if v < 0:
            all_runs.append(run)
            best = run
            run = []
    best.append(7.0)
    return [len(r) for r in all_runs], best


def asked_which(x):
    best, run = [], []
    first = best
    for v in x:
        run.append(v)
        if v < 0:
            best = run
            run = []
    return best is first, len(best)


def changed_afterwards(x):
    best, run = [], []
    for v in x:
        run.append(v)
        if v < 0:
            best = run
            run.append(9.0)
            run = []
    return best


@pytest.mark.slow
@pytest.mark.parametrize("f", [read_on, kept_elsewhere, asked_which, changed_afterwards])
def test_lists_that_something_else_holds_are_refused_or_right(f: Callable[..., Any]) -> None:
    """Where the items alone are given on, each of these would be wrong."""
    g = tracebuf.bufferize(fallback="error")(f)
    for x in (X, -X, abs(X)):
        try:
            found = g(x.copy())
        except tracebuf.UnsupportedError:
            continue
        assert found == f(x.copy())
