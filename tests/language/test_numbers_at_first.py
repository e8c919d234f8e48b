"""Names that are a number before a loop, and an array from some iteration on that the path decides: where they are no
array yet they are still that number (rules S8, S10)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, refused
from tracebuf.testing.ladder import climb


def bisected(beta, target, n):
    """As t-SNE finds the precision of each point."""
    for i in range(n):
        low, high = -np.inf, np.inf
        tries, h = 0, np.log(beta[i] + 1.0)
        while np.abs(h - target) > 1e-5 and tries < 50:
            if h < target:
                low = beta[i].copy()
                if high == np.inf or high == -np.inf:
                    beta[i] = beta[i] * 2.0
                else:
                    beta[i] = (beta[i] + high) / 2.0
            else:
                high = beta[i].copy()
                if low == np.inf or low == -np.inf:
                    beta[i] = beta[i] / 2.0
                else:
                    beta[i] = (beta[i] + low) / 2.0
            h = np.log(beta[i] + 1.0)
            tries += 1
    return beta, low, high


def last(a, n):
    x = 0
    for i in range(n):
        if a[i] > 0:
            x = a * 2
        a[i] += 1
    return x


def of_a_part(a, n):
    x = 0
    for i in range(n):
        if a[i] > 0:
            x = a[i:] * 2
        a[i] += 1
    return x


def momentum(a, n):
    v = 0.0
    for i in range(n):
        if a[0] > i:
            v = 0.5 * v + a
    return v, a + v


def within(a, n):
    v, s = 1.0, np.zeros_like(a)
    for i in range(n):
        for j in range(i):
            if a[j] > a[i]:
                v = a - a[j]
            s += v
    return s, v


def left(a, n):
    v = -1.0
    for i in range(n):
        if a[i] > 1:
            v = a.copy()
            break
    return v


def as_long_as(a, n):
    v, k = 0, 0
    while k < n and a[0] < 10:
        if k % 2:
            v = a * k
        a += v
        k += 1
    return v, a


def of_another_dtype(a, n):
    v = 0
    for i in range(n):
        if a[i] > 0:
            v = (a * i).astype(np.float32)
    return v * a


def asked(a, n):
    v = 0
    for i in range(n):
        if np.ndim(v) == 0 and a[i] > 0:
            v = a + i
        if np.size(v) > 1:
            a[0] += v[1]
    return np.ndim(v), np.shape(v), v, a


def in_a_tuple(a, n):
    best = (np.inf, 0)
    for i in range(n):
        if a[i] < best[0]:
            best = (a[i], a * i)
    return best


def given(a, n):
    v = a.sum()
    for i in range(n):
        if a[i] > 0:
            v = a * i
    return v + a


def set_again(a, n):
    v = 0
    for i in range(n):
        v = a * 2 if a[i] > 0 else 1
    return a + v


FUNCTIONS = [last, of_a_part, momentum, within, left, as_long_as, of_another_dtype, asked, in_a_tuple, given, set_again]
VECTORS = [np.array([0.5, -1.5, 3.0, 0.0, 2.0]), -np.ones(5), np.array([-1.0, -1.0, 2.0, 0.5, -3.0])]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_s8_a_number_before_a_loop(f: Callable[..., Any]) -> None:
    for a in VECTORS:
        for n in (5, 0, 2):
            agree(f, a, n)


def test_s8_bounds_that_are_infinite_at_first() -> None:
    """Such loops were refused, in t-SNE and in line searches."""
    for target in (0.3, 2.5):
        agree(bisected, np.ones((3, 1)), target, 3)


@pytest.mark.slow
@pytest.mark.parametrize("f", FUNCTIONS)
def test_s8_a_number_before_a_loop_on_every_rung(f: Callable[..., Any]) -> None:
    for a in VECTORS:
        climb(f, (a, 4))


@pytest.mark.slow
def test_s8_bounds_that_are_infinite_at_first_on_every_rung() -> None:
    climb(bisected, (np.ones((3, 1)), 2.5, 3))
    climb(bisected, (np.ones((2, 1)), 0.3, 2))


def exchanged(a, n):
    u, v = 0.0, 0.0
    for i in range(n):
        if a[i] > 0:
            u, v = v, a * i
    return u + a, v + a


@pytest.mark.slow
def test_numbers_that_are_exchanged_with_arrays_are_refused() -> None:
    refused(exchanged, VECTORS[0], 5)
