"""What depends on where an element is (`np.arange`, `np.tril`, `np.argmax`), in chunks: each knows where it begins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.dask.test_distribute import agree, small_tiles  # noqa: F401
from tests.support.params import slow_but
from tracebuf import bufferize
from tracebuf.dask import tiles
from tracebuf.errors import UnsupportedError

da = pytest.importorskip("dask.array")
pytest.importorskip("dask")

from tracebuf.dask import distribute  # noqa: E402

pytestmark = [pytest.mark.usefixtures("one_thread")]


def centre(x):
    return (x * np.arange(len(x))).sum() / x.sum()


def centres(u):
    i, j = np.meshgrid(np.arange(u.shape[0]), np.arange(u.shape[1]), indexing="ij")
    return (u * i).sum() / u.sum(), (u * j).sum(axis=1), np.hypot(i - 3, j - 4) * u


def below_diagonal(u):
    return np.tril(u).sum(), np.triu(u, 2)


def largest_of_ramp(x):
    return (x * np.linspace(0, 1, x.shape[0])).max()


def numbered(x):
    i = np.arange(len(x))
    y = x * i
    return y[2:] - y[:-2], (i[1:-1] * x[2:]).sum(), i


def framed(u):
    i, j = np.arange(u.shape[0])[:, None], np.arange(u.shape[1])[None, :]
    return np.where((i > 2) & (i < u.shape[0] - 3) & (j % 2 == 0), u, 0)


def driven_by_place(x):
    r = np.linspace(0, 1, len(x))
    for k in range(4):
        x[1:-1] += 0.1 * (x[2:] - x[:-2]) * r[1:-1] + np.exp(-((r[1:-1] - 0.1 * k) ** 2))


def of_two_lengths(x):
    u = np.pad(x, (0, 1))
    u[1:-1] -= (x[1:] - x[:-1]) * np.arange(1, len(x))
    return u * np.arange(len(u)), (u[1:] * np.arange(len(x))).sum()


def firsts(u):
    v = u.copy()
    v[20:25, 3:9] = 2.0
    return v.argmax(), np.argmin(v, axis=0), np.argmax(v, axis=1), np.argmax(v > 1.5, axis=0), (v > 1.5).argmax()


def first_not_a_number(x):
    y = np.where((x > 0.2) & (x < 0.25), np.nan, x)
    whole = (x * 9).astype(np.int32)
    return np.argmax(y), np.argmin(y), whole.argmax(), np.argmin(whole.astype(np.uint8)), np.argmax(x.astype("f2"))


ROWS, LINES = np.random.default_rng(0).random((30, 17)), np.random.default_rng(1).random(50)
FUNCTIONS = [
    centre, centres, below_diagonal, largest_of_ramp, numbered, framed, driven_by_place, of_two_lengths, firsts,
    first_not_a_number,
]  # fmt: skip


def given(f: Callable[..., Any]) -> Any:
    return (ROWS if f.__code__.co_varnames[0] == "u" else LINES).copy()


@pytest.mark.filterwarnings("ignore::tracebuf.errors.TracebufWarning")
@pytest.mark.parametrize("chunks", slow_but([8], [11, 8]))
@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.cases(5)
def test_what_depends_on_the_place(f: Callable[..., Any], chunks: int) -> None:
    agree(f, [given(f)], close=True, chunks=chunks)


@pytest.mark.parametrize("f", [centre, numbered, framed, firsts, first_not_a_number])
@pytest.mark.cases(3)
def test_no_axis_becomes_one_chunk(f: Callable[..., Any], recwarn: pytest.WarningsRecorder) -> None:
    x = given(f)
    distribute(bufferize(f))(da.from_array(x, chunks=7))
    assert not recwarn.list


@pytest.mark.parametrize("f", [driven_by_place, numbered, centre])
def test_tiles_know_where_they_begin(
    f: Callable[..., Any], small_tiles: list[int], monkeypatch: pytest.MonkeyPatch  # noqa: F811
) -> None:
    monkeypatch.setattr(tiles, "BYTES", 40)
    agree(f, [given(f)], close=True, chunks=25)


def turned(x):
    return np.roll(x * np.arange(len(x)), 1)


def by_its_step(x):
    t = np.linspace(0, 1, len(x))
    return (x[1:] - x[:-1]) / (t[1] - t[0]) + t[1:]


def half(x):
    return x * np.ones(len(x) // 2).sum()


def last(x):
    return x * np.cumsum(np.full(len(x), 0.5))[-1]


def held(x):
    h = np.zeros(len(x))
    h[-3:] = 1
    return x[1:] * h.sum()


@pytest.mark.parametrize("f", [by_its_step, half, last, held, turned])
@pytest.mark.cases(2)
def test_what_is_taken_out_of_an_array_of_no_argument(f: Callable[..., Any]) -> None:
    """That of a chunk is another one, and around the end it has other places: it is the whole array's, or refused."""
    try:
        agree(f, [given(f)], close=True)
    except UnsupportedError as refusal:
        assert refusal.reason


def every_second(x):
    y = np.zeros_like(x)
    for i in range(0, len(x), 2):
        y[i] = x[i] * 2
    return y


def counted(x):
    y, c = np.zeros_like(x), 0.0
    for i in range(len(x)):
        y[i] = x[i] * c
        c += 1.0
    return y


def by_turns(x):
    y, odd = np.zeros_like(x), False
    for i in range(len(x)):
        y[i] = x[i] if odd else -x[i]
        odd = not odd
    return y


def as_often_as_long(x):
    y = x.copy()
    for _ in range(len(x)):
        y *= 0.9
    return y


@pytest.mark.parametrize("f", [every_second, counted, by_turns, as_often_as_long])
def test_loops_along_an_axis_that_count(f: Callable[..., Any]) -> None:
    """A chunk has other iterations than the array."""
    try:
        agree(f, [given(f)], chunks=9)
    except UnsupportedError as refusal:
        assert refusal.reason
