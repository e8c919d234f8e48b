"""Code that chooses a library of arrays, as SciPy's does with its copy of array_api_compat."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy._lib import array_api_extra as xpx
from scipy._lib._array_api import xp_promote
from scipy._lib.array_api_compat import array_namespace, is_numpy_namespace
from scipy.stats._stats_py import SignificanceResult

from tests.support.agreement import agree, refused

M = np.arange(12.0).reshape(3, 4)


def test_the_namespace_of_arrays() -> None:
    def f(a: Any, b: Any) -> Any:
        xp = array_namespace(a, b, 1.0, None)
        own = array_namespace(a, use_compat=False)
        return xp.cumulative_sum(a, axis=0), xp.concat([a, b]), own is np, is_numpy_namespace(xp)

    agree(f, M, M[:2])


def test_promoted_arrays() -> None:
    def f(a: Any, b: Any) -> Any:
        xp = array_namespace(a)
        return xp_promote(a, b, broadcast=True, force_floating=True, xp=xp)

    for b in (M + 1, M[0], np.arange(4), 2):
        agree(f, M, b)


def test_no_namespace() -> None:
    def f(n: Any) -> Any:
        return array_namespace(n)

    agree(f, 3)


def test_updates_of_parts() -> None:
    """xpx.at(...): an object of a class of SciPy's that is written in Python."""

    def f(a: Any) -> Any:
        b = xpx.at(a, a > 5.0).set(0.5, copy=True)
        return xpx.at(b, 0).add(1.0), xpx.at(a * 1)[1:].multiply(2.0), b

    agree(f, M)


def test_results_of_scipys_with_further_attributes() -> None:
    def f(a: Any) -> Any:
        found = SignificanceResult(a.sum(), pvalue=a.max())
        found.level = a.min()  # type: ignore[attr-defined]
        return found, found.statistic, found.level  # type: ignore[attr-defined]

    agree(f, M)


class Point(NamedTuple):
    x: Any
    y: Any


class Named(Point):
    """Objects of it have a `__dict__`."""


class Initialised(Point):
    def __init__(self, x: Any, y: Any) -> None:
        self.sum = x + y


def test_named_tuples_with_further_attributes() -> None:
    def f(a: Any) -> Any:
        p = Named(a, 2)
        p.label = a.sum()  # type: ignore[attr-defined]
        return p, p.label * p.y  # type: ignore[attr-defined]

    def fails(a: Any) -> Any:
        Point(a, 2).label = 3  # type: ignore[attr-defined]

    agree(f, M)
    agree(fails, M)
    refused(lambda a: Initialised(a, 2).sum, M)
