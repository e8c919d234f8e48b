"""Items of lists of the caller's by an index that only the run time knows: they are the caller's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, refused
from tracebuf.testing.ladder import climb

COST = np.array([1.0, 2.0, 0.5, 1.5])


def arrays(count: int = 4) -> list[np.ndarray]:
    return [np.array([1.0 * k, 2, 3]) for k in range(count)]


@dataclass
class Particle:
    x: np.ndarray
    v: float


def particles() -> list[Particle]:
    return [Particle(np.array([k * 1.0, 2]), 3.0 - k) for k in range(4)]


def returned(xs, cost):
    best = xs[np.argmin(cost)]
    return best, best is xs[2]


def read_in_an_order(xs, cost):
    s = 0.0
    for k in np.argsort(cost):
        s = s * 2 + (xs[k] * cost[k]).sum()
    return s


def stored_to(xs, cost):
    k = int(np.argmin(cost))
    xs[k][0] = 7
    xs[k] *= 2
    return xs[0] + xs[2]


def sorted_by_cost(xs, cost):
    return [xs[i] for i in sorted(range(len(xs)), key=lambda i: cost[i])]


def replaced(xs, cost):
    for c in cost[:2]:
        xs[int(c)] = xs[int(c)] * 2
    xs[np.argmax(cost)] = cost[:3]
    return xs


def exchanged(xs, cost):
    i, j = int(cost[0]), int(cost[1])
    xs[i], xs[j] = xs[j], xs[i]
    return xs[0], xs[1]


def counted_from_the_end(xs, cost):
    return xs[-int(cost[1])].sum()


def other_shapes(xs, cost):
    xs[int(cost[0])] = np.zeros(int(cost[1]))
    return [len(x) for x in xs]


@pytest.mark.slow
@pytest.mark.parametrize(
    "f", [returned, read_in_an_order, stored_to, sorted_by_cost, replaced, exchanged, counted_from_the_end,
          other_shapes],
)  # fmt: skip
@pytest.mark.parametrize("count", [4, 12])
def test_arrays_by_an_index_of_data(f: Callable[..., Any], count: int) -> None:
    cost = np.resize(COST, count)
    climb(f, (arrays(count), cost), again=[(arrays(count), cost[::-1].copy()), (arrays(count), cost + 1)])


def test_it_is_the_callers_array() -> None:
    agree(stored_to, arrays(), COST)


def of_objects(ps, cost):
    k = int(np.argmin(cost))
    return ps[k].x * ps[k].v


def objects_changed(ps, cost):
    k = int(np.argmin(cost))
    ps[k].v = 3.5
    ps[k].x += 1
    ps[int(cost[0])].v *= 2
    return ps[2].x, ps[2].v, ps[1].v


@pytest.mark.slow
@pytest.mark.parametrize("f", [of_objects, objects_changed])
def test_objects_by_an_index_of_data(f: Callable[..., Any]) -> None:
    bufferized = tracebuf.bufferize(f)
    for cost in (COST, COST[::-1].copy(), COST - 0.5):
        agree(bufferized, particles(), cost)


def test_no_such_item() -> None:
    f = tracebuf.bufferize(lambda xs, k: xs[int(k[0])] * 2)
    assert f(arrays(), np.array([1.0])).tolist() == [2, 4, 6]
    with pytest.raises(IndexError, match="list index out of range"):
        f(arrays(), np.array([4.0]))


def test_arrays_of_other_ranks_are_refused() -> None:
    xs = [np.ones(3), np.ones((2, 2))]
    assert "index of a" in refused(lambda xs, k: xs[int(k[0])] * 2, xs, np.array([1.0])).reason
