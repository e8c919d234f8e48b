"""A matrix that is made for one product with a vector is made and multiplied a few rows at a time (lower/rows.py)."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from tests.support.agreement import agree, program
from tests.support.params import slow_but
from tracebuf import bufferize
from tracebuf.backend.runtime.blas import blas_address
from tracebuf.lower.rows import STEP
from tracebuf.testing.ladder import climb

BY_ROWS = {
    "a number": "return c * a @ x", "two": "return c * a @ x + 2 * b @ x", "a sum": "return (a + b) @ x",
    "columns": "return (a * x) @ x", "rows": "return a * y[:, None] @ x", "an exponential": "return np.exp(-a) @ x",
    "added": "y += c * a @ x", "subtracted": "y -= c * a @ x", "parts": "return c * a[::2, 1:] @ x[1:]",
    "in a loop": "for k in range(3):\n        y += (a * k) @ x\n    return y",
    "another type": "return (a > 0.5) * 1.0 @ x", "then into what it reads": "x[: len(y)] = c * a @ x",
}  # fmt: skip
WHOLE = {
    "two readers": "m = c * a\n    return m @ x, m[0]", "into what it reads": "a[0, :len(y)] += c * a @ x[:]",
    "a store between": "m = c * a\n    a[0] = 0\n    return m @ x", "columns first": "return c * a.T @ y",
    "a row each": "return x @ (c * a.T)", "a check between": "y[::2] = c * a[::2] @ x",
}  # fmt: skip


def arrays(m: int, n: int, dtype: str = "d") -> tuple[np.ndarray, ...]:
    r = np.random.default_rng(m + n)
    return tuple((r.random(shape) - 0.25).astype(dtype) for shape in ((m, n), (m, n), (n,), (m,)))


@contextmanager
def threads(count: int) -> Iterator[None]:
    """OpenBLAS's threads."""
    try:
        get = ctypes.CFUNCTYPE(ctypes.c_int)(blas_address("threads"))
        put = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_int64))(blas_address("openblas_set_num_threads"))
    except LookupError:
        pytest.skip("NumPy's BLAS is another one")
    before = get()
    put(ctypes.c_int64(count))
    try:
        yield
    finally:
        put(ctypes.c_int64(before))


@pytest.mark.parametrize("name", [*BY_ROWS, *WHOLE])
@pytest.mark.cases(3)
def test_c2_rows_are_numpys_to_the_bit(name: str) -> None:
    """Below, at and beyond one block, two and three, the last of which is as long as nearly two."""
    f = bufferize(program(f"def f(a, b, x, y, c):\n    {(BY_ROWS | WHOLE)[name]}"))
    with threads(1):
        for m in (4, STEP - 1, STEP, STEP + 1, 2 * STEP - 1, 2 * STEP, 3 * STEP + 5):
            agree(f, *arrays(m, 1500), 1.5)
        agree(f, *arrays(300, 300), -0.1)
    assert ("blas_threads" in f.lower(*arrays(40, 50), 1.5).as_text("llvm")) == (name in BY_ROWS)


@pytest.mark.parametrize("dtype", slow_but("f", "dFD"))
def test_rows_of_other_types(dtype: str) -> None:
    f = bufferize(program("def f(a, x, c): return c * a @ x"))
    a, _, x, _ = arrays(131, 1300, dtype)
    with threads(1):
        agree(f, a, x, 2)
        agree(f, a[::-2, 1:], x[1:], 2)


def test_several_threads_share_the_product_of_the_whole_matrix() -> None:
    """As NumPy's do: where they cut it depends on its size, and so do a few bits."""
    f = bufferize(program("def f(a, x, c): return c * a @ x"))
    a, _, x, _ = arrays(1003, 517)
    for count in (2, 1, 3):
        with threads(count):
            agree(f, a, x, 1.5)


def test_without_elements() -> None:
    f = bufferize(program("def f(a, x, c): return c * a @ x"))
    for m, n in ((0, 5), (5, 0), (0, 0), (1, 1), (1, 40)):
        agree(f, np.ones((m, n)), np.ones(n), 1.5)


def test_on_every_rung() -> None:
    a, b, x, y = arrays(40, 1100)
    climb(program("def f(a, b, x, y, c):\n    y += c * a @ x\n    return (a - b) @ x"), (a, b, x, y, 0.5))
