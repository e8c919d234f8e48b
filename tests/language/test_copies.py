"""copy.copy and copy.deepcopy, against eager NumPy."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, refused
from tests.support.params import slow_but


def of_arrays(a, n):
    b, c = copy.copy(a.T), copy.deepcopy(a)
    b[0] = 5
    c[1] += a[0]
    return a, b, c, copy.deepcopy(n), copy.copy(n)


def of_containers(a, n):
    row = a[0]
    held = [row, row, (row, n), {"k": a, 2: [n]}, "text", None]
    deep, flat = copy.deepcopy(held), copy.copy(held)
    deep[0][0] = 7
    deep[3]["k"][1] = 8
    flat[0][1] = 9
    flat.append(1)
    pair = (1, "x")
    return held, deep, flat, copy.deepcopy(pair) is pair, copy.copy(pair) is pair, deep[0] is deep[1]


def test_copies() -> None:
    for f in (of_arrays, of_containers):
        agree(f, np.arange(6.0).reshape(2, 3), 2)


def test_a_copy_in_a_loop() -> None:
    def f(a, n):
        best = copy.deepcopy(a)
        for k in range(n):
            a[k] = a[k - 1] + 1
            if a.sum() > best.sum():
                best = copy.deepcopy(a)
        return best

    agree(f, np.arange(6.0), 3)


def test_deepcopy_of_other_objects_is_refused() -> None:
    assert "copy.deepcopy of a" in refused(lambda a: copy.deepcopy(lambda: a), np.ones(2)).reason


def test_a_deep_copy_of_lists_one_of_which_the_run_time_replaces() -> None:
    """It was an error of ours."""

    def f(a: Any) -> Any:
        b = copy.deepcopy(a)
        k = 1 if b[1][0] > b[0][0] else 0
        b[k] = [1.0, 2.0]
        return a, b

    agree(f, [[2.0, 9.0], [7.0, 5.0]])

    def g(a: Any) -> Any:
        b = copy.deepcopy(a)
        b[0].append(a[1][0] * 2)
        return b, {"k": copy.deepcopy({"v": b})}

    agree(g, [[2.0, 9.0], [7.0]])


def largest_first(a: Any) -> Any:
    b = copy.deepcopy(a)
    for i in range(len(b) - 1):
        k = i
        for j in range(i + 1, len(b)):
            if abs(b[j][i]) > abs(b[k][i]):
                k = j
        if k != i:
            b[i], b[k] = b[k].copy(), b[i].copy()
    return a, b


def exchanged(a: Any) -> Any:
    b = copy.deepcopy(a)
    k = int(b[0][0])
    b[k], b[0] = b[0], b[k]
    b[0].append(3.5)
    b[k][0] = 1.0
    return a, b


def grown(a: Any) -> Any:
    b = copy.deepcopy(a)
    for row in b:
        while len(row) < 4:
            row.append(row[-1] * 2)
    return a, b


def one_list_twice(a: Any) -> Any:
    b = copy.deepcopy([a, a])
    b[0][0][0] = 5.0
    b[int(b[0][-1][0]) % 2][0] = [1.0]
    return a, b


QUICK = (largest_first, one_list_twice)


@pytest.mark.parametrize("f", slow_but(QUICK[:1], (*QUICK, exchanged, grown)))
@pytest.mark.slow
def test_deep_copies_of_lists_of_lists(f: Any) -> None:
    for a in ([[2.0, 9.0, 4.0], [0.0, 5.0, 3.0], [1.0, 1.0, 8.0]], [[1.0], [0.0]], [[0.0, 1.0]]):
        agree(f, a)
