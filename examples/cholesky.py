"""Cholesky factorization by slices, in place: row by row, and in blocks whose updates are matrix products.

    python examples/cholesky.py [--size N] [--block B]

The first form is the textbook's: divide a row, then subtract its outer product from what is left. Eager NumPy makes
that product as an array in every step; the compiled loop subtracts it straight from the sub-view. The second form
leaves most of the work to BLAS (OPENBLAS_NUM_THREADS=1 keeps it on one core). `np.linalg.cholesky` judges both.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np

import tracebuf

Array = np.ndarray[Any, np.dtype[np.float64]]


def factor(a: Array) -> None:
    """The upper triangle of `a` becomes its factor u, for which u.T @ u is a; below is left what comes."""
    for k in range(a.shape[0]):
        a[k, k:] /= np.sqrt(a[k, k])
        row = a[k, k + 1 :]
        a[k + 1 :, k + 1 :] -= row[:, None] * row


def factor_blocks(a: Array, block: int) -> None:
    """The same, `block` rows at a time."""
    n = a.shape[0]
    for first in range(0, n, block):
        last = min(first + block, n)
        corner = a[first:last, first:last]
        right = a[first:last, last:]
        factor(corner)
        for k in range(last - first):
            right[k] -= corner[:k, k] @ right[:k]
            right[k] /= corner[k, k]
        a[last:, last:] -= right.T @ right


cholesky = tracebuf.bufferize(factor)
cholesky_blocks = tracebuf.bufferize(factor_blocks)


def positive_definite(size: int) -> Array:
    """A random symmetric positive definite matrix."""
    root = np.random.default_rng(0).standard_normal((size, size))
    return root @ root.T + size * np.eye(size)


def show(f: Any, matrix: Array, *args: int) -> None:
    """Checks one form against np.linalg.cholesky and prints what it costs."""
    ours = matrix.copy()
    f(ours, *args)
    np.testing.assert_allclose(np.triu(ours).T, np.linalg.cholesky(matrix), rtol=1e-9, atol=1e-9)
    print(f"{tracebuf.measure(f, matrix, *args, repeat=2)}\n")
    print(f"{f.explain(matrix, *args)}\n")


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the example; AssertionError where the result is not np.linalg.cholesky's."""
    parser = argparse.ArgumentParser(description="Cholesky factorization")
    parser.add_argument("--size", type=int, default=800, help="rows of the matrix")
    parser.add_argument("--block", type=int, default=64, help="rows in a block")
    options = parser.parse_args(argv)
    matrix = positive_definite(options.size)
    print(f"{options.size} x {options.size} float64; results agree with np.linalg.cholesky\n")
    show(cholesky, matrix)
    show(cholesky_blocks, matrix, options.block)


if __name__ == "__main__":
    main()
