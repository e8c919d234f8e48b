"""heapq in Python, as CPython's, for a heap whose items are in columns: traced like the user's code.

`columns` are all columns; `keys` are those of the numbers by which items are ordered, one after another. Comparisons
are heapq's, in its order, so that the items are where they are in Python's list at each moment.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tracebuf.frontends.numpy.functions.formulas.primitives import check_ordered


def is_before(held: Any, keys: Any, k: int) -> Any:
    """Whether an item (its numbers) is less than item k."""
    if len(keys) == 1:
        return held[0] < keys[0][k]
    before, equal = np.False_, np.True_
    for x, column in zip(held, keys):
        y = column[k]
        check_ordered(x, before | ~equal | (x < y) | (x > y) | (x == y))
        before = before | (equal & (x < y))
        equal = equal & (x == y)
    return before


def sift_down(columns: Any, keys: Any, first: int, k: int) -> None:
    """heapq._siftdown(heap, first, k): moves item k towards the root."""
    item = [column[k] for column in columns]
    held = [key[k] for key in keys]
    while k > first:
        parent = (k - 1) >> 1
        if not is_before(held, keys, parent):
            break
        for column in columns:
            column[k] = column[parent]
        k = parent
    for column, x in zip(columns, item):
        column[k] = x


def sift_up(columns: Any, keys: Any, first: int, n: int) -> None:
    """heapq._siftup(heap, first): moves item `first` of n to a leaf, and up from there."""
    item = [column[first] for column in columns]
    k, child = first, 2 * first + 1
    while child < n:
        if child + 1 < n:
            if not is_before([key[child] for key in keys], keys, child + 1):
                child = child + 1
        for column in columns:
            column[k] = column[child]
        k = child
        child = 2 * k + 1
    for column, x in zip(columns, item):
        column[k] = x
    sift_down(columns, keys, first, k)


def place_of_root(n: int) -> int:
    """The place of the least of n items."""
    if n == 0:
        raise IndexError("index out of range")
    return 0


def without_root(columns: Any, keys: Any, n: int) -> None:
    """heapq.heappop(heap)."""
    if n > 1:
        for column in columns:
            column[0] = column[n - 1]
        sift_up(columns, keys, 0, n - 1)


def with_root(columns: Any, keys: Any, n: int, item: Any) -> None:
    """heapq.heapreplace(heap, item)."""
    for column, x in zip(columns, item):
        column[0] = x
    sift_up(columns, keys, 0, n)


def heapified(columns: Any, keys: Any, n: int) -> None:
    """heapq.heapify(heap)."""
    for k in range(n // 2 - 1, -1, -1):
        sift_up(columns, keys, k, n)


def pushed_through(columns: Any, keys: Any, n: int) -> None:
    """heapq.heappushpop(heap, item), where the item is number n: swapped with the root, if that is less."""
    if n > 0:
        if is_before([key[0] for key in keys], keys, n):
            for column in columns:
                x = column[0]
                column[0] = column[n]
                column[n] = x
            sift_up(columns, keys, 0, n)
