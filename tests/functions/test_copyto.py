"""np.copyto: a store into an array, by name, by view, under a mask (rules C1, N1, S8)."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.agreement import agree, refused
from tests.support.arrays import floats
from tests.support.forms import UNUSUAL, expression
from tests.support.params import slow_but
from tracebuf.testing.ladder import climb


def c1_carried_by_copyto(a, n):
    old, before = np.zeros_like(a), np.zeros_like(a)
    for _i in range(n):
        np.copyto(before, old)
        np.copyto(old, a)
        a[1:] += old[:-1] - before[1:]
    return old, before


@pytest.mark.slow
def test_copyto_stores_in_place() -> None:
    """Rules C1, S8: np.copyto is a store into an array that already is; a name, a view or a literal as the source."""

    def views(d, s):
        np.copyto(d[1:], d[:-1])
        np.copyto(dst=d[:1], src=[7])
        np.copyto(d, s, where=d > 2)

    climb(c1_carried_by_copyto, (floats(5), 3), again=[(floats(7), 1)])
    climb(views, (floats(6), floats(1)), again=[(floats(4), floats(1))])


SOURCES = (True, 3, 300, -1, 1.5, np.int64(300), np.uint8(3), np.float32(2.5), np.bool_(True), np.full(3, 7), floats())


@pytest.mark.parametrize("dtype", slow_but(("uint8",), ["bool", "int8", "uint8", "int64", "float32"]))
@pytest.mark.slow
def test_copyto_converts_within_a_kind(dtype: str) -> None:
    """Rules C1, N1: TypeError beyond the kind, OverflowError for Python's ints; NumPy's numbers wrap."""

    def store(d, s):
        np.copyto(d, s)

    for source in SOURCES:
        agree(store, np.zeros(3, dtype), source)
    agree(store, np.zeros(3, dtype), np.zeros((2, 3), dtype))


@pytest.mark.slow
def test_copyto_with_a_mask() -> None:
    """Rule C1: a mask may be broadcast into the array, and not beyond it; a number is none (found by fuzzing)."""

    def store(d, s, m):
        np.copyto(d, s, where=m)

    some = np.array([True, False, True])
    for mask in (some, some[None], np.array([1, 0, 1]), some[:1], some[:2], False):
        for target in (np.zeros(3), np.zeros((2, 3)), np.zeros(1)):
            agree(store, target, floats(3) if target.size > 1 else floats(1), mask)
    refused(store, np.zeros(3), floats(3), 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "np.copyto(fixed, 1e9)",
    ],
)
def test_c1_calls_that_once_differed(text: str) -> None:
    """Found by calls that `tracebuf.testing.functions` drew."""
    expression(text, UNUSUAL)


def test_copyto_by_a_rule() -> None:
    """Rule C1: `casting=`."""

    def store(d, s):
        np.copyto(d, s, casting="unsafe")

    def by_the_default(d, s):
        np.copyto(d, s, casting="safe")

    agree(store, np.zeros(3, np.int8), np.array([1.5, -2.0, 3.9]))
    agree(by_the_default, np.zeros(3, np.int8), np.ones(3))


def test_copyto_of_a_read_only_array_to_itself() -> None:
    """NumPy sees that there is nothing to do before it asks whether the array may be written to."""

    def f(a, n):
        v = np.broadcast_to(a, (3, 4))
        for _ in range(n):
            np.copyto(v, v[::-1])
        return v

    for n in (0, 4):
        climb(f, (np.arange(4.0), n))

    def others(a, n):
        v = np.broadcast_to(a, (3, 4))
        for _ in range(n):
            np.copyto(v, v[:, ::-1])
        return v

    climb(others, (np.arange(4.0), 0), again=[(np.arange(4.0), 2)])


def onto_itself(a, m):
    found = np.argwhere(a)
    np.copyto(found, found, where=m)
    np.copyto(a, a[:], where=m)
    return a, found


def test_an_array_copied_onto_itself_asks_for_no_mask_that_fits() -> None:
    agree(onto_itself, np.arange(6.0).reshape(2, 3), np.ones((5, 4)) > 0)
    agree(onto_itself, np.zeros(3), np.ones(3) > 0)
