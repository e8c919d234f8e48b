"""Lists of the caller's whose items the run time picks or changes: they are growing lists while the function runs, and
the caller's list has its items afterwards."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree
from tests.support.params import one_in

K = np.array([1, 0, 2, 1])
TABLE = [3, 5, 8, 13]


def searched(items, target):
    low, high = 0, len(items) - 1
    while low <= high:
        middle = (low + high) // 2
        if items[middle] == target:
            return middle
        if items[middle] < target:
            low = middle + 1
        else:
            high = middle - 1
    return -1


def inserted(a):
    for i in range(1, len(a)):
        key, j = a[i], i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key
    return a


def best_part(items):
    best = now = items[0]
    start = end = s = 0
    for i in range(1, len(items)):
        if items[i] > now + items[i]:
            now, s = items[i], i
        else:
            now += items[i]
        if now > best:
            best, start, end = now, s, i
    return best, items[start : end + 1]


def means(data, width):
    out = []
    for i in range(len(data) - width + 1):
        out.append(sum(data[i : i + width]) / width)
    return out, reduce(lambda a, b: a + b, out, 0)


def grown(a, k):
    for i in k:
        if i > 0:
            a.append(a[i] * 2)
    b = a
    b[k[0]] = 9
    return b, len(a), a is b


def twice(a, k):
    def change(p, q):
        p[k[1]] = 7
        return q[k[1]], p is q

    return change(a, a), a


def ints_and_floats(a, k):
    found = [a[j] for j in k]
    a[k[0]] = 4
    return found, a[k[1] :]


def from_outside(k):
    return [TABLE[j] for j in k], TABLE[k[0] : k[2]]


def beyond(a, k):
    return a[k[0] + 9]


def popped(a, k):
    while len(a) > 1:
        a.pop(k[0] % len(a))
    a.insert(0, 10)


def texts(a, k):
    return [a[j] for j in k], f"{a[k[0]]:>4}", f"{a[k[1]]!r}"


PROGRAMS = [(searched, [1, 3, 5, 9, 12], 9), (searched, [1.5, 2.5], 2.0), (searched, [], 2), (inserted, [5, 2, 9, 1]),
            (inserted, [3.5, -1.0]), (inserted, []), (best_part, [-2, 1, -3, 4, -1, 2]), (means, [1.5, 2, 4.0, 8], 2),
            (means, [1, 2], 3), (grown, [3, 1, 2], K), (grown, [1.5, 2.5], K[:2]), (twice, [3, 1, 2], K),
            (ints_and_floats, [3, 2.5, 2], K), (from_outside, K), (beyond, [1, 2, 3], K), (popped, [3, 1, 2], K),
            (texts, ["x", "y", "z"], K), (inserted, [np.float32(2), np.float32(1)])]  # fmt: skip


@pytest.mark.parametrize("case", one_in(5, PROGRAMS), ids=lambda c: c[0].__name__)
@pytest.mark.cases(4)
def test_programs(case: Any) -> None:
    f, *args = case
    agree(f, *args)


def test_the_callers_list_is_changed_and_returned() -> None:
    f = tracebuf.bufferize(inserted)
    for given in ([3, 1, 2], [9, 8, 7], [1, 2, 3]):
        assert f(given) is given
        assert given == sorted(given)
