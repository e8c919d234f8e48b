"""min and max of ints that are min and max of others: from a number of them on, the run time computes them."""

from __future__ import annotations

import numpy as np

from tests.support.agreement import agree
from tracebuf.testing.ladder import climb


def cheapest(cost):
    n, m = len(cost), len(cost[0])
    best = [[0] * m for _ in range(n)]
    for i in range(n):
        for j in range(m):
            if i == 0 and j == 0:
                best[i][j] = cost[0][0]
            elif i == 0:
                best[i][j] = best[i][j - 1] + cost[i][j]
            elif j == 0:
                best[i][j] = best[i - 1][j] + cost[i][j]
            else:
                best[i][j] = min(best[i - 1][j], best[i][j - 1]) + cost[i][j]
    return best[n - 1][m - 1]


def chained(v):
    low = high = v[0]
    for k in range(1, len(v)):
        low, high = min(low, high - v[k]), max(high, low + v[k])
    return low, high, max(*v, low), min(v)


def test_a_table_of_costs() -> None:
    agree(cheapest, np.random.default_rng(0).integers(0, 9, (4, 4)).tolist())


def test_in_a_chain() -> None:
    v = np.random.default_rng(1).integers(-9, 9, 12).tolist()
    climb(chained, (v,))
    climb(chained, ([*v[:3], 2**62, *v[3:]],))
