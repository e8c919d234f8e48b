"""Ranges as operands beside arrays and as arguments of NumPy's functions: the array that NumPy makes of one."""

from __future__ import annotations

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree
from tracebuf.errors import UnsupportedError


def beside(a):
    n = len(a)
    sums = a + range(n), range(n) - a, a * range(n, 3 * n, 2), a / range(1, n + 1), range(2 * n, n, -1) + a
    return *sums, a < range(n), range(n) == a


def arguments(a, n):
    found = np.array(range(n)), np.asarray(range(n)), np.sum(range(n)), np.cumsum(range(n)), np.add(range(n), 1)
    return *found, np.delete(a, range(n)), a[range(n)], a[np.ix_(range(n))], np.insert(a, range(n), 2)


def known(a):
    return a[:3] + range(3), a[:0] + range(0), np.array(range(2, 8, 3))


def of_data(x):
    n = int(x.sum())
    return np.array(range(n)), np.ones(n) + range(n)


@pytest.mark.slow
def test_ranges_beside_arrays() -> None:
    for a in (np.arange(5), np.arange(5.0), np.arange(5, dtype=np.float32), np.arange(5) > 2, np.zeros(0, int)):
        agree(beside, a)
    agree(known, np.arange(6))
    agree(beside, np.arange(5, dtype=np.int8)[::2])


@pytest.mark.slow
def test_arrays_of_empty_ranges_are_of_float64() -> None:
    """They were of int64."""
    for n in (3, 1, 0):
        agree(arguments, np.arange(6.0), n)


def test_an_empty_range_of_data() -> None:
    g = tracebuf.bufferize(of_data)
    agree(g, np.ones(3))
    with pytest.raises(UnsupportedError, match="a range that is empty"):
        g(np.zeros(3))


def test_arrays_of_ranges_of_the_caller() -> None:
    """Of an empty one, which is a constant, they were of int64; one of very many numbers took the memory."""
    g = tracebuf.bufferize(lambda r: (np.array(r), np.asarray(r), np.array(r, np.int8)))
    for r in (range(0), range(2, 2), range(3), range(5, 0, -2)):
        agree(g, r)
    with pytest.raises(UnsupportedError, match="a range of 1099511627776 numbers"):
        g(range(2**40))
