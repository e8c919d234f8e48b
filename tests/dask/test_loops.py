"""Loops along an axis that is cut: a chunk counts from its own beginning, so a counter that is more than the place of
what is taken and stored (a condition, a size, a factor, a place of another axis) makes the axis whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.dask.test_distribute import agree
from tests.support.params import one_in
from tracebuf import bufferize
from tracebuf.errors import UnsupportedError

pytest.importorskip("dask")


pytestmark = [pytest.mark.usefixtures("one_thread")]


def by_turns(x):
    y = np.zeros_like(x)
    for i in range(len(x)):
        if i % 2 == 0:
            y[i] = x[i]
        else:
            y[i] = -x[i]
    return y


def but_the_first(x):
    for i in range(len(x)):
        if i < 3:
            x[i] = 0.0


def one_of_them(x):
    y = x.copy()
    for i in range(len(x)):
        if i == 20:
            y[i] = 5.0
    return y


def number_of_it(x):
    y = np.zeros_like(x)
    for i, v in enumerate(x):
        y[i] = v * i
    return y


def so_often(x):
    y = x.copy()
    for i in range(len(x)):
        for _ in range(min(i, 4)):
            y[i] += 1.0
    return y


def out_of_a_table(x):
    y, table = np.zeros_like(x), np.arange(7.0)
    for i in range(len(x)):
        y[i] = x[i] * table[i % 7]
    return y


def half_of_them(x):
    y = x.copy()
    for i in range(len(x) // 2):
        y[i] = 2 * x[i]
    return y


def below(u):
    for i in range(u.shape[0]):
        u[i, :i] = 0.0


def on_the_diagonal(u):
    y = np.zeros(u.shape[0])
    for i in range(u.shape[0]):
        y[i] = u[i, i]
        u[i, i] = 1.0
    return y


def sums_to_it(u):
    y = np.zeros(u.shape[0])
    for i in range(u.shape[0]):
        y[i] = u[i, :i].sum() + np.ones(i + 1).sum()
    return y


def where_equal(u):
    for i in range(u.shape[0]):
        for j in range(u.shape[1]):
            if i == j:
                u[i, j] = 0.0


def as_far_as_both(u):
    for i in range(min(u.shape[0], u.shape[1])):
        u[i, 0] = 1.0


COUNTING = {
    f.__name__: f
    for f in (
        by_turns, but_the_first, one_of_them, number_of_it, so_often, out_of_a_table, half_of_them, below,
        on_the_diagonal, sums_to_it, where_equal, as_far_as_both,
    )
}  # fmt: skip


def given(f: Callable[..., Any]) -> np.ndarray:
    return np.random.default_rng(2).random((20, 25) if f.__code__.co_varnames[0] == "u" else 40)


@pytest.mark.filterwarnings("ignore::tracebuf.errors.TracebufWarning")
@pytest.mark.parametrize("name", one_in(2, COUNTING))
def test_a_counter_that_is_more_than_a_place(name: str) -> None:
    f = COUNTING[name]
    x = given(f)
    for chunks in (9,) if x.ndim == 1 else ((9, -1), (-1, 7), (9, 7)):
        try:
            agree(f, [given(f)], close=True, chunks=chunks)
        except UnsupportedError as refusal:
            assert refusal.reason
    try:
        axis = bufferize(f).cut(x).arguments[f.__code__.co_varnames[0]][0]
    except UnsupportedError as refusal:
        assert "cannot be cut along any axis" in refusal.reason
    else:
        assert axis.kind == "whole", axis


def near_ones(x):
    y = np.zeros_like(x)
    for i in range(1, len(x) - 1):
        y[i] = x[i - 1] + x[i + 1] if x[i] > 0.5 else 0.0
    return y


def row_by_row(u):
    v = np.zeros_like(u)
    for i in range(u.shape[0]):
        r = u[i] - u[i].mean()
        v[i] = r / r.max()
    return v


def in_colours(x):
    for t in range(3):
        for c in range(2):
            if c == t % 2:
                x[1:-1] = 0.5 * (x[2:] + x[:-2])


@pytest.mark.parametrize("f", [near_ones, row_by_row, in_colours])
@pytest.mark.cases(3)
def test_a_counter_that_is_a_place(f: Callable[..., Any], recwarn: pytest.WarningsRecorder) -> None:
    agree(f, [given(f)], close=True, chunks=9 if given(f).ndim == 1 else (9, -1))
    assert not recwarn.list


@pytest.mark.slow
def test_loops_in_loops_with_borders() -> None:
    """They were followed iteration by iteration, the inner one anew in each of the outer one: for minutes."""

    def pressure(p, b):
        for _ in range(6):
            b[1:-1, 1:-1] = p[2:, 1:-1] - p[:-2, 1:-1]
            for _ in range(12):
                p[1:-1, 1:-1] = 0.5 * (p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2]) - b[1:-1, 1:-1]
                p[:, -1] = p[:, -2]
                p[0] = p[1]
                p[-1] = 0.0
        return p, b

    p, b = np.random.default_rng(0).standard_normal((2, 12, 40))
    with pytest.raises(UnsupportedError, match="it is read in more than 32 parts"):
        bufferize(pressure).cut(p, b)
