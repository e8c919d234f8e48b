"""`x ** 2` of numbers, which NumPy and Python compute by the C library's pow (backend/llvm/texts/squares.py)."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree
from tests.support.params import amount
from tracebuf.backend.llvm.texts import squares


def squared(x):
    """Each number by itself, as NumPy's scalars; as Python's floats."""
    out, total = np.empty_like(x), 0.0
    for i in range(len(x)):
        out[i] = x[i] ** 2
        total += float(x[i]) ** 2.0
    return out, total


def near_ties(count: int, seed: int) -> np.ndarray:
    """Numbers whose squares lie nearly half-way between two numbers, where pow rounds some in the wrong way."""
    x, found = np.random.default_rng(seed).uniform(1, 2**0.5, 64 * count), []
    for v in x.tolist():
        n = int(v * 2**52)
        if abs(n * n % 2**52 - 2**51) < 2**45:
            found.append(v)
    return np.array(found)


def test_bits_are_pows() -> None:
    r, f = np.random.default_rng(0), tracebuf.bufferize(squared)
    x = r.uniform(-2, 2, amount(4_000, 400_000))
    agree(f, x)
    agree(f, x * 2.0 ** r.integers(-45, 45, len(x)))
    agree(f, 2.0 ** np.arange(-40, 40))
    ties = near_ties(amount(500, 40_000), 1)
    assert len(ties) > 20
    agree(f, ties)
    agree(f, np.nextafter(2.0 ** np.arange(-40, 40), 0))


def test_the_bound_holds() -> None:
    """pow is the rounded product wherever the product is not nearly half-way, with a margin."""
    if not squares.known():
        pytest.skip("another C library")
    x = np.random.default_rng(2).uniform(-3, 3, amount(3_000, 300_000))
    for v in (x * 2.0 ** np.random.default_rng(3).integers(-30, 30, len(x))).tolist():
        n, d = v.as_integer_ratio()
        square = v * v
        m, e = square.as_integer_ratio()
        rest = abs(n * n * e - m * d * d) / (d * d * e)
        assert math.pow(v, 2.0) == square or rest > 0.485 * math.ulp(square)


def test_odd_numbers_are_pows() -> None:
    """What is not finite, very large or small, and zeros."""
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, 1e-160, 1e-308, 1e154, -1e153, 1.3e-10, 2.0**32, 2.0**33])
    with np.errstate(all="ignore"):
        got, want = tracebuf.bufferize(only_squares)(x), only_squares(x)
    assert got.tobytes() == want.tobytes()


def only_squares(x):
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = x[i] ** 2
    return out


def test_pow_is_hardly_called() -> None:
    text = tracebuf.bufferize(only_squares).lower(np.ones(3)).as_text("llvm")
    assert (f"call double @{squares.NAME}(" in text) == squares.known()
    assert squares.NAME not in tracebuf.bufferize(lambda x: x**3.0).lower(1.5).as_text("llvm")
    assert squares.NAME not in tracebuf.bufferize(lambda x: 2.0**x).lower(1.5).as_text("llvm")
