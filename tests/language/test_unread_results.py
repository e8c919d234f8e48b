"""What a call gives that is a statement is read by nothing: it may be of one type or another, or None, by the path."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.params import one_in
from tracebuf.testing.ladder import climb


def put(a, x):
    if x > 0:
        a[0] = x
        return
    return x


def put_in_a_loop(a, xs):
    for x in xs:
        if x > 2:
            return a
        a[1] += x
    return None


class Store:
    def __init__(self, a):
        self.a = a

    def put(self, x):
        if x > 1:
            self.a[2] = x
            return self
        return False


def of_a_function(a, x):
    put(a, x[0])
    put(a, put(x, 3.0) or x[1])
    return a


def of_a_loop(a, x):
    put_in_a_loop(a, x)
    return a


def of_a_method(a, x):
    s = Store(a)
    for y in x:
        s.put(y)
    return a


def of_a_nested_function(a, x):
    def inner(y):
        if y > 0:
            return 1, a
        a[1] = y

    inner(x[0])
    inner(x[1])
    return a


def read_elsewhere(a, x):
    put(a, x[0])
    sorted([3, 1, 2], key=lambda k: (put(a, x[1]) is None, k))
    return a, put(a, x[1] + 9.0)


def raises(a, x):
    def inner(y):
        if y > 1:
            return np.array([1, 2]) + y
        raise ValueError("small")

    try:
        inner(x[0])
    except ValueError:
        a[0] = 7.0
    return a


PROGRAMS = [of_a_function, of_a_loop, of_a_method, of_a_nested_function, read_elsewhere, raises]


@pytest.mark.parametrize("x", one_in(3, [[1.0, -1.0], [-2.0, 3.0], [2.5, 0.0]]))
@pytest.mark.parametrize("f", PROGRAMS)
def test_it_may_be_anything(f: Any, x: list[float]) -> None:
    climb(f, (np.zeros(3), np.array(x)))


def test_what_is_read_raises_as_eager_does() -> None:
    def read(a, x):
        y = put(a, x[0])
        return y + 1.0

    for x in (1.0, -1.0):
        climb(read, (np.zeros(3), np.array([x])))


def of_floats(x, c):
    return np.array([float(x[0]) if c[0] > 0 else 0, 1.0])


def of_rows(x, c, n):
    t = n if c[1] > 2 else x[1]
    return np.asarray([[float(x[0]) if c[0] > 0 else True, t], (1.0, 2)])


@pytest.mark.parametrize("c", [[1.0, 1.0], [0.0, 3.0]])
def test_an_item_that_is_an_int_or_a_float_in_an_array_of_floats(c: list[float]) -> None:
    x = np.array([0.5, 2.5])
    climb(of_floats, (x, np.array(c)))
    climb(of_rows, (x, np.array(c), 3))
