"""Conditional values (record/cond): each end once, narrowed by what is known, shared where nothing changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree
from tracebuf import bufferize
from tracebuf.frontends.numpy.record.cond import Cond, alike, conditions, count_paths, ends, narrow
from tracebuf.ir.core import Block, Value
from tracebuf.ir.types import I1


def flags(n: int) -> list[Value]:
    block = Block([I1] * n)
    return block.args


def test_each_end_is_met_once_however_many_ways_lead_to_it() -> None:
    a: Any = "a"
    b: Any = "b"
    for flag in (tests := flags(60)):  # two names that exchange what they hold, 60 times
        a, b = Cond(flag, a, b), Cond(flag, b, a)
    assert ends(a) == ["a", "b"] and ends("c") == ["c"]
    assert len(list(conditions(a))) == 2 * len(tests) - 1


def test_a_value_is_narrowed_by_what_is_known() -> None:
    p, q, r = flags(3)
    inner = Cond(q, "b", "c")
    x = Cond(p, "a", inner)
    assert narrow(x, p, 0) == "a" and narrow(x, p, 1) is inner
    assert ends(narrow(x, q, 1)) == ["a", "c"]
    assert narrow(x, r, 0) is x and narrow("a", p, 0) == "a"


def test_paths_are_those_on_which_values_differ() -> None:
    p, q = flags(2)
    x, y = Cond(p, "a", "b"), Cond(q, "c", "d")
    assert [count_paths(values, 9) for values in (["a"], [x, x], [x, y], [Cond(p, x, y)])] == [1, 2, 4, 3]
    assert count_paths([Cond(flag, "a", "b") for flag in flags(40)], 16) > 16


def test_values_are_alike_where_they_are_on_each_path() -> None:
    p, q = flags(2)
    x = Cond(p, [1], [2])
    assert alike(x, Cond(p, [1], [2]), lambda a, b: bool(a == b))
    assert not alike(x, Cond(q, [1], [2]), lambda a, b: bool(a == b))
    assert not alike(x, [1], lambda a, b: bool(a == b))


def test_a_choice_that_does_not_change_stays_itself() -> None:
    p, q = flags(2)
    x: Cond[str] = Cond(p, "a", "b")
    assert x.map(lambda arm: arm) is x and x.like(p, "a", "b") is x
    assert x.map(str.upper).arms == ("A", "B") and x.like(q, "a", "b").condition is q


def test_a_loop_carries_no_number_of_before_it() -> None:
    """What the body binds to a number known before the loop, or to a constant, is that after it."""

    def f(a: np.ndarray, n: int, x: float) -> Any:
        for k in range(n):
            a[k] = k
            y, z = x, np.float32(3)
        return y, z

    agree(f, np.zeros(5), 4, 2.5)
    text = bufferize(f).lower(np.zeros(5), 4, 2.5).as_text("traced")
    assert "-> (tensor<?xf64>) {" in text


def picked(a: np.ndarray, x: float) -> Any:
    """Of one type or another."""
    if a[0] > x:
        return a * 2.0
    return a.astype(np.complex64) if a[1] > x else None


@pytest.mark.slow
def test_what_a_call_gives_may_be_of_several_types_within_an_expression() -> None:
    def f(a: np.ndarray, x: float) -> Any:
        big = np.abs(picked(a, x)).max() + 1
        y = 1 - picked(a, x) * a
        a[:] += picked(a, x).real
        first = picked(a, x)[0]
        return big, y, -picked(a, x), first == picked(a, x)[1], np.add(picked(a, x), 1, dtype=complex).sum()

    def g(a: np.ndarray, x: float) -> Any:
        made = picked(a, x).dtype.kind
        return made, picked(a, x) is None, np.where(picked(a, x) == 0, 1.0, a), (lambda b: b.imag)(picked(a, x))

    for h in (f, g):
        for a in (np.arange(4.0), np.array([3.0, 1.0]), np.array([1.0, 4.0, 2.0])):
            for x in (-2.5, 2.5):
                if a[0] > x or a[1] > x:
                    agree(h, a, x)


def test_a_choice_of_a_loops_last_iteration() -> None:
    """The conditions of a value are carried only where the loop made them."""

    def f(a: np.ndarray, p: bool, n: int) -> Any:
        early = a[0] > 0
        for k in range(n):
            late = a[k] > 1
            x = a if early else None
            y = a.T if late else 2.0
        return x is None, y, late

    for first in (-1.0, 1.0, 2.0):
        agree(f, np.array([first, 3.0, first]), True, 3)


def by_parts(d, at):
    at = np.unique(at)
    parts = [slice(a, b) for a, b in zip(at, at[1:])]
    index, total = [slice(None), slice(None)], 0.0
    out = np.zeros((2, len(parts)))
    for i, part in enumerate(parts):
        index[-1] = part
        total += d[index[0], index[1]].sum()
        out[:, i] = d[tuple(index)].mean(axis=-1)
        d[0, part] += 1
        d[1, part] = i
    return total, out, d


@pytest.mark.slow
def test_slices_of_a_list_in_an_index_that_is_made_part_by_part() -> None:
    """Python's TypeError was raised for a step that is None."""
    agree(by_parts, np.arange(24.0).reshape(2, 12), np.array([0, 3, 7, 12]))


def by_path(d, k):
    index = (slice(None), slice(1, 2 if d[0, 0] > k else None), 0 if d[0, 1] > k else slice(None, None, 2))
    found = d[index[:2]].sum(), d[index[1], index[2]].sum()
    d[index[0], index[1]] = 7
    d[index[1], 0] += 2
    d[1, index[2]] = -1
    d[0, index[2]] *= 3
    return found, d


@pytest.mark.slow
def test_parts_of_an_index_that_differ_by_the_path() -> None:
    for k in (-1, 0.5, 9):
        agree(by_path, np.arange(24.0).reshape(2, 12), k)
