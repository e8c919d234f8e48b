"""`c += a @ b` computes the product straight into the slice (optimize/accumulate.py)."""

from __future__ import annotations

import numpy as np
import pytest

import tracebuf


def whole(c, a, b):
    c += a @ b


def block(c, a, b):
    c[1:, :-1] += a @ b


def blocks(c, a, b, n):
    for i in range(0, c.shape[0], n):
        for k in range(0, a.shape[1], n):
            c[i : i + n] += a[i : i + n, k : k + n] @ b[k : k + n]


def product_first(c, a, b):
    c[...] = a @ b + c


def from_itself(c, a, b):
    c += c @ b


def used_twice(c, a, b):
    p = a @ b
    c += p
    a[...] = p


CASES = [
    (whole, (5, 5), 0),
    (block, (6, 6), 0),
    (product_first, (5, 5), 0),
    (from_itself, (5, 5), 1),
    (used_twice, (5, 5), 1),
]


@pytest.mark.parametrize(("function", "shape", "allocations"), CASES)
def test_products_accumulate_in_place(function, shape, allocations) -> None:
    rng = np.random.default_rng(0)
    c, a, b = rng.random(shape), rng.random((5, 5)), rng.random((5, 5))
    expected = [x.copy() for x in (c, a, b)]
    f = tracebuf.bufferize(verify=True)(function)
    _, counters = f.call_counted(c, a, b)
    function(*expected)
    for got, want in zip((c, a, b), expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13)
    assert (counters.allocations, counters.copies) == (allocations, 0)


def test_blocks_of_clamped_length() -> None:
    f = tracebuf.bufferize(verify=True)(blocks)
    for size in (7, 10):
        rng = np.random.default_rng(size)
        c, a, b = rng.random((size, size)), rng.random((size, size)), rng.random((size, size))
        expected = c.copy()
        _, counters = f.call_counted(c, a, b, 3)
        blocks(expected, a, b, 3)
        np.testing.assert_allclose(c, expected, rtol=1e-13)
        assert (counters.allocations, counters.copies) == (0, 0)
    assert len(f.specializations()) == 1
