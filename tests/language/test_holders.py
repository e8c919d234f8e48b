"""What holds values and is no container (a slice, range, bound method, partial, function with defaults, flat iterator),
bound by path and in loops, against eager NumPy (rules S8, S10)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, refused

Program = Callable[..., Any]


def slices_by_path(a, k):
    s = slice(k, k + 1) if a[0] > 1 else slice(k - 1, k + 1)
    t = np.s_[k - 1 :, None] if a[1] > 1 else np.s_[:k, None]
    a[s] += 1
    return a[s], a[t], isinstance(s, slice), isinstance(s, tuple), type(s) is slice


def slices_in_loops(a, k):
    s = slice(0, k)
    for j in range(k):
        t = slice(j, j + 2)
        a[t] *= 2
        s = slice(j, k) if a[j] > 1 else s
    places = [slice(j, j + k) for j in range(2)]
    return a[t] + s.start, a[places[0]] - a[places[1]]


def slices_of_what_was_found(a, k):
    found = np.argwhere(a)
    if found.size == 0:
        start = stop = np.zeros(1, dtype=np.intp)
    else:
        start, stop = found.min(axis=0), found.max(axis=0) + 1
    index = tuple(slice(start[axis], stop[axis]) for axis in range(a.ndim))
    return a[index], a[index[0]].sum() + k


def ranges_by_path(a, k):
    if a[0] > 1:
        turns = range(k)
    else:
        turns = range(1, k + 3)
    total = 0
    for j in turns:
        total += j
    return total


def ranges_in_loops(a, k):
    for j in range(k + 1):
        turns = range(j, j + 2)
    return sum(turns) + a[0]


def bound_methods_by_path(a, k):
    if a[0] > 1:
        x = a * 1.0
        total = x.sum
    else:
        x = a * 2.0
        total = x.sum
    x[0] = 9
    mean = a.mean if a[1] > k else (a + k).mean
    return total() + x.sum(), mean()


def bound_methods_of_what_loops_replace(a, k):
    x = a * 1.0
    total = x.sum
    while x[0] < 30:
        x = x + total() + k
    return x, total()


def partials_by_path(a, k):
    if a[0] > 1:
        x = a * 1.0
        f = partial(np.add, x)
    else:
        x = a * 2.0
        f = partial(np.add, x)
    x[0] = 9
    return f(k), x


def partials_in_loops(a, k):
    for j in range(k):
        f = partial(np.multiply, j + 0.5)
        g = lambda x, j=j: x + j  # noqa: E731
    return f(a), g(a)


def flat_iterators_by_path(a, k):
    if a[0] > 1:
        flat = a.flat
    else:
        flat = (a + k).flat
    return flat[1]


@pytest.mark.parametrize("first", [0.0, 2.0])
@pytest.mark.parametrize(
    "f",
    [
        slices_by_path, slices_in_loops, slices_of_what_was_found, ranges_by_path, ranges_in_loops,
        bound_methods_by_path, bound_methods_of_what_loops_replace, partials_by_path, partials_in_loops,
        flat_iterators_by_path,
    ],
)  # fmt: skip
def test_what_holds_values(f: Program, first: float) -> None:
    agree(f, np.array([first, first, 5.0, 0.0]), 2)


def zip_by_path(a, k):
    pairs = zip(a, a + k) if a[0] > 1 else zip(a, a - k)
    return sum(x * y for x, y in pairs)


def iterator_by_path(a, k):
    if a[0] > 1:
        it = iter(a)
    else:
        it = iter(a + k)
    return next(it) + next(it)


@pytest.mark.parametrize("f", [zip_by_path, iterator_by_path])
def test_an_iterator_made_on_a_path_is_refused_after_it(f: Program) -> None:
    assert "made on a path, or in an iteration, that has ended" in refused(f, np.ones(4), 2).reason


def slice_returned(a, k):
    return slice(k, k + 2)


def test_a_slice_cannot_be_returned() -> None:
    assert "a slice cannot be returned" in refused(slice_returned, np.ones(4), 2).reason
