"""Items of tuples by an index that only the run time knows: of a table where they are alike, else by the path."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused
from tests.support.params import one_in
from tracebuf.testing.ladder import climb

Point = namedtuple("Point", "x y")
STEPS = ((1, 1), (0, 1), (1, 0))


@pytest.mark.parametrize("k", [[1], [0, 2], [-3, 1], [7], [-4]])
@pytest.mark.parametrize(
    "text",
    one_in(3, [
        "(3, 4, 5)[k[0]]", "STEPS[k[0]]", "(1, 2.5, True)[k[0]]", "('a', 'bc', 'a')[k[0]]", "(None, 1, 2)[k[0]]",
        "(k.sum(), 2.0, k[0])[-k[0]]", "(Point(1, 2.5), Point(3, 4.0), Point(0, 1.0))[k[0]].y",
        "[STEPS[i] for i in k]", "((1, (2.5, 'x')), (3, (4.5, 'y')), (5, (6.5, 'z')))[k[0]]", "(1, 2)[k[0] + 5]",
        "(k, k * 2, k[::-1])[k[0]]", "((1, 2), (3,), ())[k[0]]", "(np.float32(1), np.float32(2), np.float32(3))[k[0]]",
        "sum([(10, 20, 30)[i] for i in k])",
    ]),
)  # fmt: skip
def test_items(text: str, k: list[int]) -> None:
    """IndexErrors too are Python's, with its words."""
    climb(program(f"def f(k): return {text}", STEPS=STEPS, Point=Point), (np.array(k),))


@pytest.mark.slow
def test_steps_of_an_alignment() -> None:
    def path(cost: Any, steps: Any = STEPS) -> Any:
        n, m = cost.shape
        total, back = np.full((n + 1, m + 1), np.inf), np.zeros((n, m), np.int8)
        total[0, 0] = 0
        for i in range(1, n + 1):
            for j in range(1, m + 1):
                best, arg = np.inf, -1
                for k, (a, b) in enumerate(steps):
                    if total[i - a, j - b] < best:
                        best, arg = total[i - a, j - b], k
                total[i, j], back[i - 1, j - 1] = cost[i - 1, j - 1] + best, arg
        found = [(n - 1, m - 1)]
        while found[-1] != (0, 0):
            i, j = found[-1]
            a, b = steps[back[i, j]]
            found.append((i - a, j - b))
        return found[::-1]

    for shape in ((3, 4), (1, 3), (4, 4)):
        agree(path, np.random.default_rng(1).random(shape))


def test_many_items_that_are_not_alike_are_refused() -> None:
    refused(program("def f(a, k): return tuple(a[i:] for i in range(9))[k[0]]"), np.arange(12.0), np.array([1]))
