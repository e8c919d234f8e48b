"""Indices that are compared block by block before their elements are used (`_by_checked_blocks` of
backend/llvm/loops.py): values, errors and what is stored are as where each is checked in its turn."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree
from tests.support.params import slow_but

SIZE = 40


def picked(a, i, w):
    return a[i]


def weighted(a, i, w):
    return (a[i] * w).sum()


def best(a, i, w):
    return np.max(a[i] + w)


def twice(a, i, w):
    return a[i, i - 1] * w


def deposited(a, i, w):
    np.add.at(a, i, w)
    return a


def stored(a, i, w):
    a[i] = w
    return a


def rows(a, i, w):
    return a[i.reshape(-1, 2)].sum(axis=1)


FUNCTIONS: list[Callable[..., Any]] = [picked, weighted, best, deposited, stored, rows]


def arguments(n: int, dtype: str = "q") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r = np.random.default_rng(n)
    return np.floor(r.random(SIZE) * 64), r.integers(0, SIZE, n).astype(dtype), np.floor(r.random(n) * 64)


@pytest.mark.parametrize("f", slow_but([weighted, deposited], FUNCTIONS))
def test_blocks_with_and_without_other_indices(f: Callable[..., Any]) -> None:
    """The second block has an index that counts from the end, the third one that is out of bounds."""
    g = tracebuf.bufferize(f)
    a, i, w = arguments(1600)
    agree(g, a, i, w)
    for place in (0, 511, 512, 1599):
        for index in (-1, SIZE, -SIZE - 1):
            other = i.copy()
            other[place] = index
            found = agree(g, a, other, w)
            assert isinstance(found, IndexError) != (-SIZE <= index < SIZE), (place, index)


@pytest.mark.parametrize("f", slow_but([picked], FUNCTIONS))
def test_sizes_dtypes_and_strides(f: Callable[..., Any]) -> None:
    g = tracebuf.bufferize(f)
    for n in (0, 2, 16, 512, 514, 1100):
        a, i, w = arguments(n)
        agree(g, a, i, w)
        agree(g, a, i - SIZE, w)
        agree(g, a, i[::-1], w)
    for dtype in "bBhiQ":
        agree(g, *arguments(600, dtype))


def test_two_indices_of_one_element() -> None:
    g, (_, i, w) = tracebuf.bufferize(twice), arguments(700)
    a = np.arange(SIZE * SIZE, dtype=float).reshape(SIZE, SIZE)
    agree(g, a, i, w)
    i[650] = SIZE
    assert isinstance(agree(g, a, i, w), IndexError)


def test_in_bounds_nothing_is_checked_in_the_loop() -> None:
    """What was loaded is the index: it is not compared with the size, nor with 0, before the element is loaded."""
    direct = re.compile(r"(%v\d+) = load i64, ptr .*\n  %v\d+ = getelementptr inbounds double, ptr %p\d+, i64 \1\n")
    for f in (picked, deposited):
        assert direct.search(tracebuf.bufferize(f).lower(*arguments(600)).as_text("llvm")), f


def test_indices_that_are_stored_to_are_checked_in_turn() -> None:
    """Each step reads what the one before has stored."""

    def shifted(a, n):
        np.add.at(a, a[:n], 1)
        return a

    def of_itself(a, n):
        a[a[:n]] = n
        return a

    for f in (shifted, of_itself):
        a = np.random.default_rng(0).integers(0, 600, 600)
        agree(tracebuf.bufferize(f), a, 600)
        agree(tracebuf.bufferize(f), np.arange(600), 600)


def test_some_elements_are_stored_under_a_condition() -> None:
    """An index out of bounds that is not used raises nothing."""

    def counted(a, i, n):
        for k in range(n):
            if i[k] < len(a):
                a[i[k]] += 1
        return a

    a, i, _ = arguments(1200)
    agree(tracebuf.bufferize(counted), a, i * 2, 1200)


def test_no_more_memory() -> None:
    taken = tracebuf.measure(tracebuf.bufferize(weighted), *arguments(5000), repeat=1).native
    assert taken.allocations == 0


def counted(image, table):
    counts = np.bincount(image.ravel(), minlength=256)
    return counts, np.zeros(256)[image], table[image], counts.cumsum()[image[0]]


def few(image, table):
    return np.bincount(image.ravel(), minlength=255), np.zeros(255)[image]


@pytest.mark.slow
def test_bytes_are_within_a_table_of_256() -> None:
    """Of a histogram of bytes the size is known, and of a table that the function makes no index is checked."""
    r = np.random.default_rng(0)
    image, table = r.integers(0, 256, (40, 50)).astype(np.uint8), r.random(256)
    f = tracebuf.bufferize(counted)
    text = f.lower(image, table).as_text("fuse")
    assert text.count("tracebuf.checked_index") == 1 and "maxui" not in text  # of an argument
    agree(f, image, table)
    assert isinstance(agree(f, image, table[:255]), IndexError)
    agree(f, image[:0, :0].reshape(1, 0), table)
    for low in (0, 200):
        agree(tracebuf.bufferize(few), r.integers(low, 255, (5, 6)).astype(np.uint8), table)
    assert isinstance(agree(tracebuf.bufferize(few), np.full((2, 2), 255, np.uint8), table), IndexError)
    for dtype in (np.uint16, np.int8, np.int64):
        agree(f, r.integers(0, 100, (5, 6)).astype(dtype), table)
    agree(tracebuf.bufferize(lambda a, w: np.bincount(a, w, 300)), image[0], r.random(50))
