"""Bounds of slices that are written `x or None`: -0 is no bound."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree
from tests.support.params import one_in


def without_ends(v, k):
    return v[:-k or None] * 2, v[k or None :], v[k - 4 or None :], v[::-1][: k - 4 or None]


def downwards(v, k):
    return v[: k - 4 or None : -1], v[k - 4 or None :: -1], v[k or None :: -2]


def in_a_loop(v, k):
    t = 0.0
    for j in range(k):
        t += v[j : -j or None].sum() + v[-j or None :].sum() + v[::-1][-j or None :].sum()
    return t


def stored_to(v, k):
    a = v[:, None] * v
    t = 0.0
    for j in range(k):
        t += a[j : j - 3 or None, : -j or None].sum()
        a[j - 1 or None :, -j or None] += 1
        a[: -j or None, 0] = -t
    return t, a


def windows(v, k):
    """Of one size, whatever the run time says."""
    a = v[:, None] * v
    best = 0
    for w in range(1, k):
        x = sum(a[i : i - w + 1 or None, j : j - w + 1 or None] for i in range(w) for j in range(w))
        best = max(best, x.max())
    return best


def of_data(v, k):
    t = []
    for j in range(k):
        n = int(v[j]) - 2
        t.append(v[n or None :].sum())
        t.append(v[: n or None].sum())
        t.append(v[: n or None : -1].sum())
        t.append(v[: int(v[j]) - 3 or None].sum())
    return t


def of_lists(v, k):
    items = list(v)
    return items[: -k or None], items[k - 4 or None :]


def of_numpys_ints(v, k):
    return v[: np.int64(k) - 4 or None], v[(k > 2) or None :]


@pytest.mark.parametrize("k", one_in(2, [0, 3, 4, 6]))
@pytest.mark.parametrize(
    "f", [without_ends, downwards, in_a_loop, stored_to, windows, of_data, of_lists, of_numpys_ints]
)
@pytest.mark.cases(3)
def test_no_bound_where_it_is_zero(f: Any, k: int) -> None:
    agree(f, np.arange(7.0), k)
