"""Stores through `a.flat`: of one element, of slices, of all; whatever the array's layout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, refused
from tests.support.params import one_in


def diagonal(c, x):
    c.flat[:: c.shape[0] + 1] += x
    return c


def in_turn(c, x):
    c.flat[1:-2:2] = [1, 2, 3]
    c.T.flat[:3] = x
    return c


def whole(c, x):
    c.flat = x
    d = np.zeros((3, 2))
    d.flat = np.arange(4)
    return c, d


def elements(c, x):
    c.flat[0] = x
    c.flat[-1] += 2
    for i in range(c.size):
        c.flat[i] += i
    return c.flat[c.size // 2]


def of_views(c, x):
    c.flat[...] = np.arange(3.0) * x
    c[1:].flat[::2] = 7
    c[:, 1:].flat[::-2] = [1.5, 2]
    return c


def of_itself(c, x):
    c.flat[::2] = c.copy()
    c.flat[1:] = np.zeros(0)
    return c


def out_of_bounds(c, x):
    c.flat[40] = 1
    return c


def at_places(c, x):
    k = np.array([0, 3, 0, -1])
    c.flat[k] = x
    c.flat[k[:2]] += 5
    c.flat[[1, 2]] = [7, 8]
    c.T.flat[np.array([[1, 2], [-2, -1]])] = np.arange(3.0)
    c.flat[np.where(c.ravel() > 4)[0]] = -1
    return c, c.flat[k], c.flat[[0, 1]]


def beyond(c, x):
    c.flat[np.array([0, 40])] = x
    return c


LAYOUTS = {
    "square": np.arange(9.0).reshape(3, 3),
    "int": np.arange(12, dtype=np.int32).reshape(3, 4),
    "float32": np.zeros((2, 5), np.float32),
    "one": np.ones((1, 1)),
    "transposed": np.zeros((4, 3)).T,
    "strided": np.zeros((4, 6))[::2, ::3],
}


@pytest.mark.parametrize("layout", one_in(3, LAYOUTS))
@pytest.mark.parametrize(
    "f", [diagonal, in_turn, whole, elements, of_views, of_itself, out_of_bounds, at_places, beyond]
)
@pytest.mark.cases(3)
def test_stores(f: Callable[..., Any], layout: str) -> None:
    agree(f, LAYOUTS[layout], 2.5)


def test_what_numpy_reads_while_it_stores_is_refused() -> None:
    def f(a):
        a.flat[1:] = a[:-1]
        return a

    refused(f, np.arange(5.0))


def test_a_value_that_does_not_fit() -> None:
    def f(a):
        a.flat[::2] = 300
        return a

    agree(f, np.zeros(4, np.uint8))


def compared(c, x):
    return np.all(c.flat == c.flat[0]), c.flat > x, 1 <= c.T.flat, c.flat == c.T.flat, c.ravel() >= c.flat


@pytest.mark.slow
def test_a_flat_iterator_is_compared_as_an_array() -> None:
    agree(compared, np.arange(6.0).reshape(2, 3), 2)
    agree(compared, np.ones((3, 3), int)[::2], 2)
