"""`a[1:]` and `a[:-1]` have one size, also of arrays whose size a loop changes: what is computed of both is one nest
(`rest_of` of frontends/numpy/arrays/indexing.py)."""

from __future__ import annotations

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree
from tracebuf.testing.ladder import climb


def means(v, n):
    for _ in range(n):
        v = 0.5 * v[1:] + 0.25 * v[:-1]
    return v


def pairs(v, w, n):
    """Two arrays that shrink side by side, as prices and values of a tree do."""
    for _ in range(n):
        v = v[1:] / 2.0
        w = np.maximum(0.5 * (w[1:] + w[:-1]), 3.0 - v)
    return v, w


def by_k(v, k, n):
    for _ in range(n):
        v = v[k:] - v[: len(v) - k]
    return v


@pytest.mark.parametrize("n", [0, 1, 3, 5, 8])
def test_sizes_down_to_nothing(n: int) -> None:
    """Where nothing is left to take away, the array stays empty, as eager's does."""
    v = np.random.default_rng(n).random(5)
    agree(means, v, n)
    agree(pairs, v, v[::-1].copy(), n)
    if n < 6:
        agree(means, np.arange(2.0), n)
    for k in (0, 1, 2):
        agree(by_k, np.arange(9.0), k, n)


def test_other_sizes_are_refused_as_ever() -> None:
    def apart(v, n):
        for _ in range(n):
            v = v[2:] + v[:-1]
        return v

    assert isinstance(agree(apart, np.arange(6.0), 2), ValueError)
    agree(apart, np.arange(2.0), 1)  # an empty array and one of one element


def test_on_every_rung() -> None:
    v = np.random.default_rng(1).random(7)
    climb(pairs, [v, v + 1, 4])


@pytest.mark.slow
def test_one_nest_for_each_array() -> None:
    """They were compared in each step, and each operation had a nest and an array of its own."""
    v = np.random.default_rng(2).random(200)
    text = tracebuf.bufferize(pairs).lower(v, v, 100).as_text("fuse")
    loop = text[text.index("scf.for") :]
    assert loop.count("linalg.generic") == 2 and "could not be broadcast" not in loop
    taken = tracebuf.measure(tracebuf.bufferize(pairs), v, v, 100, repeat=1)
    assert taken.native.allocations < 0.5 * taken.eager.allocations
    assert taken.native.peak_bytes <= taken.eager.peak_bytes
