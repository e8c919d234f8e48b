"""What formulas and loops leave to NumPy itself, and functions of known numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree
from tracebuf.testing.ladder import climb

X = np.linspace(0.0, 2.0, 12).reshape(3, 4)
INTS = np.array([3, 1, 4, 1, 5, 9, 2, 6])


def interpolated(x, fp):
    xp = np.array([0.0, 1.0, 2.0])
    return np.interp(x, xp, fp), np.interp(x, xp, fp, left=1j, period=None), np.interp(0.5, xp, fp)


def members(x, y):
    unique = np.isin(x, y, assume_unique=True, invert=True)
    return np.isin(x, y, kind="table"), unique, np.isin(x[:2], [1, 2], kind="table")


def bessel(x, n):
    return np.i0(x), np.kaiser(12, 14.0) * n, np.kaiser(n, 5.0)


def texts(n):
    return np.binary_repr(n), np.binary_repr(7, width=n), np.base_repr(n, 3), np.mintypecode(["d", "f"])


def shapes(x, s):
    return np.zeros(s), np.ones(np.array(x.shape)), np.empty(np.array(x.shape) * 2).shape, np.full(s[::-1], 2)


def paths(a, b):
    return np.einsum_path("ij,jk->ik", a, b), np.einsum_path("ij,jk,kl", a, b, a, optimize="optimal")[0]


def by_places(a, b, places):
    return np.einsum(a, places, b, [1, 2], [0, 2]), np.einsum(a, [0, Ellipsis], [Ellipsis])


def ranges(x):
    n = len(x)
    return (
        np.arange(1j, 5), np.arange(5 + 0j) * x.sum(), np.arange(3), np.arange(n, dtype=np.complex64),
        np.arange(0.1, n, 0.3, dtype=complex), np.arange(n, 0, -1, "F"),
    )  # fmt: skip


@pytest.mark.parametrize(("f", "args"), [
    (interpolated, (X, np.array([1j, 2, 3 - 1j]))), (members, (INTS, INTS[2:5])), (bessel, (X, 6)), (texts, (11,)),
    (shapes, (X, np.array([2, 3]))), (paths, (X, X.T.copy())), (ranges, (X,)),
    (by_places, (X, X.T.copy(), [0, 1])),
], ids=lambda x: getattr(x, "__name__", ""))  # fmt: skip
@pytest.mark.cases(12)
def test_as_eager(f: Any, args: tuple[Any, ...]) -> None:
    agree(f, *args, ulp=8)
    if f not in (texts, paths):
        climb(f, args, tolerance=1e-12)


def test_errors() -> None:
    for f, args in (
        (lambda x, s: np.zeros(s), (X, np.array([2, -3]))), (lambda x, s: np.zeros(s), (X, np.array([2.0, 3.0]))),
        (lambda x, s: np.isin(x, s, kind="table"), (X, INTS)), (lambda x, s: np.isin(x, s, kind="tree"), (X, INTS)),
        (lambda x, s: np.interp(x, s, s[:2] * 1j), (X, INTS)), (lambda x, s: np.binary_repr(1.5), (X, INTS)),
    ):  # fmt: skip
        with pytest.raises(Exception) as eager:
            f(*args)
        with pytest.raises(type(eager.value)):
            tracebuf.bufferize(f)(*args)
