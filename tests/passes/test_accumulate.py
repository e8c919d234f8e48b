"""`c += a @ b` and `c -= a @ b` compute the product straight into the slice
(optimize/tensors/accumulate_products.py)."""

from __future__ import annotations

import numpy as np
import pytest

import tracebuf
from tests.support.params import one_in
from tracebuf.testing.ladder import climb


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


def minus(c, a, b):
    c -= a @ b


def minus_column(c, a, b):
    c[:, 0] -= a @ b[:, 1]


def minus_row_of_columns(c, a, b):
    c[0, ::-1] -= a[0] @ b.T


def product_minus(c, a, b):
    c[...] = a @ b - c


def other_rows(c, a, b):
    c[2:] -= c[:2].T[:3] @ c[:2]


def same_rows(c, a, b):
    c[1:] -= c[:-1] @ b


def earlier_rows(c, a, b):
    for k in range(c.shape[0]):
        c[k] -= c[:k, k] @ c[:k]


def stored_to_meanwhile(c, a, b):
    p = c[:2] @ b
    c[0] = 1
    c[2:4] -= p


CASES = [
    (minus, (5, 5), 0),
    (minus_column, (5, 5), 0),
    (minus_row_of_columns, (5, 5), 0),
    (product_minus, (5, 5), 1),
    (other_rows, (5, 5), 0),
    (same_rows, (5, 5), 1),
    (earlier_rows, (5, 5), 0),
    (stored_to_meanwhile, (5, 5), 1),
    (whole, (5, 5), 0),
    (block, (6, 6), 0),
    (product_first, (5, 5), 0),
    (from_itself, (5, 5), 1),
    (used_twice, (5, 5), 1),
]


@pytest.mark.parametrize(("function", "shape", "allocations"), one_in(8, CASES, rows=True))
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


@pytest.mark.slow
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


def factor(a, block):
    n = a.shape[0]
    for first in range(0, n, block):
        last = min(first + block, n)
        right = a[first:last, last:]
        for k in range(first, last):
            a[k, k:] /= np.sqrt(a[k, k])
            a[k + 1 : last, k + 1 :] -= a[k, k + 1 : last, None] * a[k, k + 1 :]
        a[last:, last:] -= right.T @ right


@pytest.mark.slow
@pytest.mark.parametrize("order", ["C", "F"])
def test_blocks_of_one_matrix(order) -> None:
    """The rows above are known to be others, though the matrix is square by a guard and the last block is clamped."""
    f = tracebuf.bufferize(verify=True)(factor)
    for size in (7, 9):
        root = np.random.default_rng(size).random((size, size))
        a = np.array(root @ root.T + size * np.eye(size), order=order)
        expected = np.linalg.cholesky(a)
        _, counters = f.call_counted(a, 3)
        np.testing.assert_allclose(np.triu(a).T, expected, rtol=1e-12)
        assert (counters.allocations, counters.copies) == (0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("function", [minus, minus_column, minus_row_of_columns, other_rows, earlier_rows])
def test_every_rung_subtracts(function) -> None:
    rng = np.random.default_rng(1)
    args = tuple(rng.random((5, 5)) for _ in range(3))
    odd = tuple(np.repeat(x, 2, axis=1)[:, ::2] for x in args)  # strides that BLAS cannot take: copies
    for values in (args, odd, tuple(map(np.asfortranarray, args))):
        climb(function, values, tolerance=1e-13)
