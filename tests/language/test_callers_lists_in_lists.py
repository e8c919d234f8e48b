"""Lists in lists of the caller's, whose rows and numbers the run time picks or changes: they are the caller's own."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program, refused
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


def islands(grid):
    n, m = len(grid), len(grid[0])
    seen, count = [[False] * m for _ in range(n)], 0
    for a in range(n):
        for b in range(m):
            if grid[a][b] == 1 and not seen[a][b]:
                count += 1
                todo = [(a, b)]
                while todo:
                    i, j = todo.pop()
                    seen[i][j] = True
                    for di, dj in ((0, 1), (1, 0), (0, -1), (-1, 0)):
                        x, y = i + di, j + dj
                        if 0 <= x < n and 0 <= y < m and grid[x][y] == 1 and not seen[x][y]:
                            todo.append((x, y))
    return count


def product(a, b):
    n, m, p = len(a), len(b), len(b[0])
    c = [[0.0] * p for _ in range(n)]
    for i in range(n):
        for j in range(p):
            for k in range(m):
                c[i][j] += a[i][k] * b[k][j]
    return c


def shortest(d):
    n = len(d)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                d[i][j] = min(d[i][j], d[i][k] + d[k][j])
    return d


def spanning(g):
    n = len(g)
    key, done, total = [1e9] * n, [False] * n, 0.0
    key[0] = 0.0
    for _ in range(n):
        u = -1
        for v in range(n):
            if not done[v] and (u < 0 or key[v] < key[u]):
                u = v
        done[u] = True
        total += key[u]
        for v in range(n):
            if not done[v] and g[u][v] < key[v]:
                key[v] = g[u][v]
    return total


def cheapest(cost):
    n, m = len(cost), len(cost[0])
    best = [[0.0] * m for _ in range(n)]
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


def rows_read(table, s):
    i, j = s[0], s[1]
    total = sum(table[i]) + max(table[j]) + len(table[i])
    products = [x * y for x, y in zip(table[i], table[j])]
    return total, list(table[j]), products, sorted(table[i], reverse=True), table[i][-1]


SQUARE = [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.5, 0.2, 0.3]]
PROGRAMS: list[tuple[Any, tuple[Any, ...]]] = [
    (read_by_data, (TABLE, S)),
    (read_by_two, (TABLE, S)),
    (row_by_data, (TABLE, S)),
    (number_of_known_rows, (TABLE, S)),
    (numbers_changed, (TABLE, S)),
    (row_grows, (TABLE, S)),
    (named_row_changed, (TABLE, S)),
    (reached, (GRID, (0, 0))),
    (one_row_twice, ([TABLE[0], TABLE[1], TABLE[0]], S)),
    (rows_read, (TABLE, S)),
    (nearest, (TABLE,)),
    (islands, ([[1, 0, 1], [0, 1, 1], [1, 0, 0]],)),
    (viterbi, ([0, 2, 1], [0.5, 0.3, 0.2], SQUARE, SQUARE)),
    (shortest, (SQUARE,)),
    (spanning, (TABLE,)),
    (cheapest, (TABLE,)),
    (tour, (TABLE, [2, 0, 1])),
    (product, (TABLE, TABLE)),
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


def ten(seed: int) -> list[list[float]]:
    return np.random.default_rng(seed).random((10, 10)).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("f", [product, shortest, spanning, cheapest, nearest])
def test_tables_of_a_hundred_numbers(f: Any) -> None:
    """They are read by the counters of loops, which are not unrolled."""
    agree(f, *([ten(0)] * (2 if f is product else 1)))


def test_a_table_of_more_rows_than_are_picked_by_the_path() -> None:
    agree(read_by_data, np.arange(200.0).reshape(40, 5).tolist(), np.array([39, 2, -40]))


@pytest.mark.parametrize("change", ["table[0][1] = 9.0", "table.append([0.5, 0.5])", "table[0].append(1.0)",
                                    "table.reverse()", "table[1] = table[0]", "del table[0]"])  # fmt: skip
def test_what_changes_is_read_as_it_is_then(change: str) -> None:
    lines = f"    t = table[s[0]][s[1]]\n    {change}\n    return t, table[s[1]][0], len(table), table[0]"
    f = program(f"def f(table, s):\n{lines}")
    agree(f, copy.deepcopy(TABLE), np.array([1, 0]))


def test_lists_from_outside() -> None:
    table = copy.deepcopy(TABLE)

    def read(s):
        return table[s[0]][s[1]] + table[s[1]][0]

    f = tracebuf.bufferize(read)
    assert f(S[:2]) == read(S[:2])
    table[2][0] = 20.0
    assert f(S[:2]) == read(S[:2])
    table[0] = [4.0, 4.0, 4.0]
    assert f(S[:2]) == read(S[:2])


def test_ints_of_more_than_64_bits() -> None:
    agree(read_by_two, [[1, 2], [3, 2**62]], np.array([0, 1, 1]))
    f = tracebuf.bufferize(read_by_two)
    for big in (4, 2**70):
        try:
            assert f([[1, 2], [3, big]], np.array([0, 1, 1])) == read_by_two([[1, 2], [3, big]], np.array([0, 1, 1]))
        except tracebuf.UnsupportedError:
            assert big == 2**70


def test_a_text_of_a_number_beside_a_list_that_is_read_as_an_array() -> None:
    """The arrays that are made of lists and buffers are others each time that they are fetched."""

    def of_list(table, s):
        return f"{table[s[0]][s[1]]}"

    def of_buffer(b, s):
        return str(np.frombuffer(b, dtype=np.uint8)[s[0]] * 1.5)

    agree(of_list, copy.deepcopy(TABLE), S)
    agree(of_buffer, bytearray(b"abc"), S)


def test_the_smallest_of_lists_of_run_time_length_is_refused() -> None:
    def smallest(s):
        a, b = [], []
        for x in s:
            a.append(x)
            b.append(x + 1)
        return min([b, a])

    assert "whose length is only known at run time" in refused(smallest, np.arange(3.0)).reason


def test_rows_that_are_unlike_are_refused() -> None:
    assert "index of a" in refused(read_by_data, [[1.0, 2.0], (1.0, 2.0), [3.0, 4.0]], S).reason
