"""Arrays of constant sizes with which a loop begins, and that it never reads: not one for each iteration around it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracebuf


def in_two_loops(a: Any, b: Any) -> Any:
    for _ in range(5):
        for _ in range(2):
            t = a.copy()
    return t


def in_three_loops(a: Any, b: Any) -> Any:
    for _ in range(5):
        for _ in range(2):
            for _ in range(2):
                t = a.copy()
    return t


def used_in_the_outer_loop(a: Any, b: Any) -> None:
    for _ in range(5):
        for j in range(2):
            t = a.copy()
            t[0] = j
        b += t


def of_two_loops_in_one(a: Any, b: Any) -> Any:
    for _ in range(5):
        for j in range(2):
            t = a.copy()
            t[0] = j
        for _ in range(2):
            u = a.copy()
    return t, u


@pytest.mark.parametrize(
    ("f", "more"), [(in_two_loops, 1), (in_three_loops, 1), (used_in_the_outer_loop, 0), (of_two_loops_in_one, 2)]
)
def test_f1_a_loop_in_a_loop_makes_no_stand_in_each_time(f: Callable[..., Any], more: int) -> None:
    """16 allocations for eager's 10, with an array of one element: one more for each iteration of the outer loop."""
    g, args, again = tracebuf.bufferize(verify=True)(f), (np.ones(1), np.full(1, 7.0)), (np.ones(1), np.full(1, 7.0))
    seen = tracebuf.measure(g, *args, repeat=1)
    assert seen.native.allocations <= seen.eager.allocations + more
    assert seen.native.peak_bytes <= seen.eager.peak_bytes
    np.testing.assert_equal((g(*args), args), (f(*again), again))


def test_a_flag_that_is_true_in_all_loops_is_folded() -> None:
    """Each loop carried, with its array, that it owns it."""
    g = tracebuf.bufferize(in_three_loops)
    assert "i1" not in g.lower(np.ones(1), np.ones(1)).as_text("memref")
