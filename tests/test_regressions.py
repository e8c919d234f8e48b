"""Bugs that were found by fuzzing, each as the smallest program that showed it, climbed by the whole ladder."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tracebuf.testing.ladder import climb

Array = np.ndarray[Any, np.dtype[Any]]


def floats(*shape: int) -> Array:
    return np.arange(float(np.prod(shape, dtype=int))).reshape(shape) - 3


def test_sum_over_an_axis_of_size_zero() -> None:
    """The reference of linalg.generic transposed a reduction that did not happen."""

    def program(a):
        return a[:, 2:].sum(axis=1), a[:0].sum(axis=0, keepdims=True)

    climb(program, (floats(7, 1),), again=[(floats(4, 5),)])


def test_a_loop_that_is_folded_away_takes_its_symbol_along() -> None:
    """fold-memref dropped an empty loop; the function still named its induction variable."""

    def program(b):
        for _i in range(1):
            b[:] = 1
        b[:] = 1

    climb(program, (floats(4),))


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30, -2.5])
def test_a_float_scalar_stored_into_ints(value: float) -> None:
    """NumPy's floats raise like Python's where they have no int; a 0-d array does not."""

    def element(a, b):
        b[1] = a[0]

    def slices(a, b):
        b[1:] = a[0]
        b[...] = a[1] * 1

    def array(a, b):
        b[1:] = a[:1].sum()
        b[0] = a[0, ...]

    for program in (element, slices, array):
        climb(program, (np.array([value, 2.0]), np.zeros(3, np.int64)))


def test_strides_of_an_argument_whose_sizes_are_guarded_equal() -> None:
    """The strides kept a symbol that the sizes no longer spelled."""

    def program(a, b):
        return a <= b

    climb(program, (floats(4, 3), floats(3)), again=[(floats(3, 3), floats(3))])
