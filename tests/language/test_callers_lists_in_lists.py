"""Lists in lists of the caller's, whose rows and numbers the run time picks or changes: they are the caller's own."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import refused
from tests.support.params import one_in
from tracebuf.testing.ladder import climb

TABLE = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]
GRID = [[0, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0], [1, 1, 0, 1]]
S = np.array([2, 0, 1, 2])


def read_by_data(table, s):
    t = 0.0
    for i in s:
        t += table[i][1]
    return t


def read_by_two(table, s):
    best = 0.0
    for i in range(len(s) - 1):
        best = max(best, table[s[i]][s[i + 1]])
    return best


def row_by_data(table, s):
    row = table[int(s[0])]
    return row[1] + row[0], len(row), sum(row), row == table[2]


def number_of_known_rows(table, s):
    t = 0.0
    for row in table:
        t += row[s[1]]
    return t, table[0][1], [max(r) for r in table], [r[::-1] for r in table], table[1] + [1.0]


def numbers_changed(table, s):
    for i in s:
        table[i][1] += 1.0
        table[0][i] = 2.5
    return table


def row_grows(table, s):
    row = table[int(s[0])]
    row.append(7.0)
    table[1].pop()
    return len(row), len(table[1])


def named_row_changed(table, s):
    row = table[1]
    row[int(s[0])] = 5.0
    return table[1][2], table[int(s[3])][0]


def one_row_twice(table, s):
    table[int(s[0])][1] = 0.5
    return table[0][1], table[2][1]


def reached(grid, start):
    n, m = len(grid), len(grid[0])
    seen = [[False] * m for _ in range(n)]
    todo, count = [start], 0
    while todo:
        i, j = todo.pop()
        if seen[i][j] or grid[i][j] == 1:
            continue
        seen[i][j] = True
        count += 1
        for di, dj in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            a, b = i + di, j + dj
            if 0 <= a < n and 0 <= b < m:
                todo.append((a, b))
    return count


def tour(distances, order):
    t = 0.0
    for a, b in zip(order, order[1:]):
        t += distances[a][b]
    return t


def nearest(distances):
    left = set(range(1, len(distances)))
    at, t = 0, 0.0
    while left:
        k = min(left, key=lambda j: distances[at][j])
        t += distances[at][k]
        left.remove(k)
        at = k
    return t


def viterbi(seen, start, steps, emits):
    n = len(start)
    best = [[start[s] * emits[s][seen[0]] for s in range(n)]]
    for t in range(1, len(seen)):
        row = []
        for s in range(n):
            top = -1.0
            for p in range(n):
                top = max(top, best[t - 1][p] * steps[p][s] * emits[s][seen[t]])
            row.append(top)
        best.append(row)
    return max(best[-1])


SQUARE = [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.5, 0.2, 0.3]]
PROGRAMS: list[tuple[Any, tuple[Any, ...]]] = [
    (read_by_data, (TABLE, S)),
    (read_by_two, (TABLE, S)),
    (row_by_data, (TABLE, S)),
    (number_of_known_rows, (TABLE, S)),
    (numbers_changed, (TABLE, S)),
    (row_grows, (TABLE, S)),
    (named_row_changed, (TABLE, S)),
    (one_row_twice, ([TABLE[0], TABLE[1], TABLE[0]], S)),
    (reached, (GRID, (0, 0))),
    (tour, (TABLE, [2, 0, 1])),
    (nearest, (TABLE,)),
    (viterbi, ([0, 2, 1], [0.5, 0.3, 0.2], SQUARE, SQUARE)),
]


@pytest.mark.parametrize(("f", "args"), one_in(4, PROGRAMS, rows=True))
def test_the_run_time_picks_rows_and_numbers(f: Any, args: tuple[Any, ...]) -> None:
    climb(f, args)


def test_rows_are_the_callers_own() -> None:
    def picked(table, s):
        row = table[int(s[0])]
        return row, row is table[1], [row, table[0]]

    f, table = tracebuf.bufferize(picked), copy.deepcopy(TABLE)
    row, same, both = f.call_counted(table, np.array([1]))[0]
    assert row is table[1] and same and both[0] is table[1] and both[1] is table[0] and table == TABLE


def test_a_row_out_of_range_is_an_index_error() -> None:
    f = tracebuf.bufferize(read_by_data)
    f(copy.deepcopy(TABLE), S)
    with pytest.raises(IndexError, match="list index out of range"):
        f(copy.deepcopy(TABLE), np.array([3]))


def test_an_array_of_either_type_is_stored_to() -> None:
    def stored(x, y, c):
        (x if c[0] > 0 else y)[1] = 3
        (x if c[0] > 0 else y)[0] += 3
        return x, y

    for c in (1.0, -1.0):
        climb(stored, (np.arange(3.0), np.arange(3), np.array([c])))


def test_rows_that_are_unlike_are_refused() -> None:
    assert "index of a" in refused(read_by_data, [[1.0, 2.0], (1.0, 2.0), [3.0, 4.0]], S).reason
