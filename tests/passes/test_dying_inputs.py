"""Results that take the buffer of an operand that nobody needs any more: a test a rule, arrays counted by running."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree
from tracebuf import bufferize

N, M = 12, 13


def matrix() -> np.ndarray:
    return np.random.default_rng(0).random((N, M))


def arrays_made(function: Callable[..., Any], *args: Any) -> int:
    """How many arrays of the first argument's size a call makes at once; the answer is eager's."""
    f = bufferize(verify=True)(function)
    agree(f, *args, ulp=16)
    native = tracebuf.measure(f, *args, repeat=1).native
    assert native.copies == 0
    return native.peak_bytes // args[0].nbytes


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def chain(x):
    e = np.exp(x)
    e = e / e.sum()
    e = np.sin(e - e.max())
    return e * (1 / e.sum())


def inside_a_loop(x, n):
    s = 0.0
    for i in range(n):
        e = np.exp(x * i)
        e = e / e.sum()
        s += e.max()
    return s


def scan(x):
    return np.cumsum(x) * 0.01


def reshaped(x):
    return np.exp(x).reshape(-1) * 2


@pytest.mark.parametrize("function", [softmax, chain, scan, reshaped])
def test_the_last_use_gives_its_buffer(function: Callable[..., Any]) -> None:
    assert arrays_made(function, matrix()) == 1


def test_what_is_repeated_gives_its_buffer() -> None:
    """It has another shape while it is made."""
    assert arrays_made(lambda x: np.repeat(x, 2) * 2, matrix()) == 2


@pytest.mark.slow
def test_buffers_of_an_iteration_are_reused_in_it() -> None:
    assert arrays_made(inside_a_loop, matrix(), 3) == 1


def test_means_divide_where_they_were_summed() -> None:
    def centre(x):
        x -= x.mean(axis=0)

    f = bufferize(centre)
    assert tracebuf.measure(f, matrix(), repeat=1).native.allocations == 1


@pytest.mark.slow
def test_is_unused_afterwards() -> None:
    def both(x):
        e = np.exp(x)
        return e / e.sum(), e

    def a_view(x):
        e = np.exp(x)
        s = e.sum()
        row = e[1:]
        return e / s, row.max()

    def stored_through(x):
        e = np.exp(x)
        q = e / e.sum()
        e[0] = 7
        return q, e.max()

    def under_another_shape(x):
        e = np.exp(x)
        q = e.reshape(-1) * 2
        return q, e.max()

    for function in (both, a_view, stored_through, under_another_shape):
        assert arrays_made(function, matrix()) == 2


@pytest.mark.slow
def test_is_unused_by_the_next_iteration() -> None:
    def outside(x, n):
        e = np.exp(x)
        s = 0.0
        for i in range(n):
            q = e / (e.sum() + i)
            s += (q * q.max()).sum()
        return s

    assert arrays_made(outside, matrix(), 3) == 2


@pytest.mark.slow
def test_is_read_where_it_is_written() -> None:
    def mirrored(x):
        e = np.exp(x)
        return e[::-1] / e.sum()

    def with_its_rows(x):
        e = np.exp(x)
        return e / e.sum() + e[:1]

    for function in (mirrored, with_its_rows):
        assert arrays_made(function, matrix()) == 2


def test_arguments_are_not_taken() -> None:
    def divide(x):
        return x / x.sum()

    def divide_stored(x):
        x += 1
        return x / x.sum()

    for function in (divide, divide_stored):
        assert arrays_made(function, matrix()) == 1


@pytest.mark.slow
def test_is_alike() -> None:
    def other_dtype(x):
        e = np.exp(x)
        return e > e.mean()

    def other_order(x):
        e = np.exp(x)
        return (e.T / e.sum()).T + 0 * x

    def smaller(x):
        e = np.exp(x[:1])
        return x / e.max() * e

    def other_order_reshaped(x):
        e = np.exp(x.T)
        return e.T.reshape(-1) / e.sum(), np.exp(x).reshape(2, 6, -1).transpose(1, 0, 2) * 2

    for function in (other_dtype, other_order, smaller, other_order_reshaped):
        arrays_made(function, matrix())
