"""Stores to places in the middle of an axis that is cut, to borders of what is read around the end, and to what a mask
selects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.dask.test_distribute import agree, small_tiles  # noqa: F401
from tests.support.params import one_in
from tests.support.perturb import check_cut
from tracebuf import bufferize
from tracebuf.dask import tiles
from tracebuf.errors import UnsupportedError

da = pytest.importorskip("dask.array")
pytest.importorskip("dask")

from tracebuf.dask import distribute  # noqa: E402

pytestmark = [pytest.mark.usefixtures("one_thread")]


def held_ends(x):
    for _ in range(3):
        x = x + 0.1 * (np.roll(x, 1) + np.roll(x, -1) - 2 * x)
        x[0] = 0.0
        x[-1] = 1.0
    return x


def held_sides(u):
    for _ in range(2):
        u = u + 0.1 * (np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4 * u)
        u[0, :] = 0.0
        u[-1, :] = 1.0
        u[:, 0] = u[:, 1]
    return u


def turned(x):
    i = np.arange(len(x))
    return np.roll(x * i, 1), np.roll(x, 2) * i + np.where(i < 5, 0, np.roll(x, -1)), (np.roll(x, 1) * i).max()


def source_in_the_middle(x):
    for t in range(3):
        x[1:-1] += 0.2 * (x[2:] - 2 * x[1:-1] + x[:-2])
        x[len(x) // 2] += np.sin(0.1 * t)
    return x


def several_sources(x):
    for t in range(3):
        x[1:-1] += 0.2 * (x[2:] - 2 * x[1:-1] + x[:-2])
        x[25] += np.sin(0.1 * t)
        x[30] = 0.5 * x[30] * x[31]


def point_and_row(u):
    for t in range(3):
        u[1:-1, 1:-1] += 0.2 * (u[2:, 1:-1] - 2 * u[1:-1, 1:-1] + u[:-2, 1:-1])
        u[15, 12] += 0.1 * t
        u[14, :] = 0.3


def begun_with_boxes(u):
    n, m = u.shape
    v = np.zeros_like(u)
    v[n // 4 : n // 2, m // 4 : m // 2] = 1.0
    v[12:20, 3:9] = 2.0
    return v + u, v.max(axis=0)


def inner_rows(u):
    v = u.copy()
    v[10:20, 1:-1] = -1.0
    return v


def hole(u):
    for _ in range(2):
        u[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
        u[12:15, 10:14] = 1.0


def row_of_another(u):
    u[15] = u[3] * 2
    u[:, 12] += u[:, 2]
    return u


def selected(x):
    y = np.cos(x)
    m = (x > 0.4) & (y < 0.9)
    y[m] = x[m]
    x[m] = np.sqrt(x[m]) * 2 + y[m]
    x[~m] = 0
    return y, x.max()


def filled_in(x):
    for _ in range(3):
        m = x < 0.3
        p = np.pad(x, 1, mode="edge")
        a = 0.5 * (p[2:] + p[:-2])
        x[m] = a[m]
    return x


def selected_inside(u):
    v = u[1:-1]
    w, m = u[2:] * 2, v > 0.5
    v[m] = w[m]
    u[u[:, 0] > 0.8] = -1.0
    return v


def mirrored(x):
    x[x < 0.5] = -x[x < 0.5] * 2
    x[x > 0.9] = 1.8 - x[x > 0.9]
    return x


def mirrored_in_both(u):
    a, b = u > 0.3, np.abs(u - 1) < 0.5
    u[a & b] = np.sqrt(u[a & b])
    return u


def bounced(x):
    for _ in range(2):
        x[1:-1] += 0.4 * (x[2:] - x[:-2])
        x[x > 0.9] = 1.8 - x[x > 0.9]
    return x


FUNCTIONS = {
    f.__name__: f
    for f in (
        held_ends, held_sides, turned, source_in_the_middle, several_sources, point_and_row, begun_with_boxes,
        inner_rows, hole, row_of_another, selected, filled_in, selected_inside, mirrored, bounced,
        mirrored_in_both,
    )
}  # fmt: skip


def given(f: Callable[..., Any]) -> np.ndarray:
    return np.random.default_rng(2).random((30, 27) if f.__code__.co_varnames[0] == "u" else 50)


@pytest.mark.parametrize("name", one_in(8, FUNCTIONS))
@pytest.mark.cases(2)
def test_stores_in_chunks(name: str, recwarn: pytest.WarningsRecorder) -> None:
    f = FUNCTIONS[name]
    for chunks in (13, 8):
        agree(f, [given(f)], chunks=chunks)
    distribute(bufferize(f))(da.from_array(given(f), chunks=8))
    assert not recwarn.list


@pytest.mark.parametrize("f", [held_ends, source_in_the_middle])
def test_stores_in_tiles(
    f: Callable[..., Any], small_tiles: list[int], monkeypatch: pytest.MonkeyPatch  # noqa: F811
) -> None:
    monkeypatch.setattr(tiles, "BYTES", 40)
    agree(f, [given(f)], chunks=25)


def test_cuts_of_what_a_mask_selects() -> None:
    check_cut(bufferize(filled_in), [given(filled_in)], rims=False)  # few are filled from three places away
    found = check_cut(bufferize(selected_inside), [given(selected_inside)])
    assert [str(a) for a in found.arguments["u"]] == ["halo (0, 1)", "reduced by maximum, by place"]


def of_positive(x):
    y = x - 0.6
    m = y > 0
    return y[m].sum(), y[m].mean(), (y[m] * x[m] * 2).max(), y[~m].min(), len(y[m]), y[m].std()


def of_inner_rows(u):
    v = u[1:-1] - u[:-2]
    return v[v > 0].sum(), np.sqrt(v[v > 0.1]).sum(), (v[v > 0] > 0.2).sum()


def of_numbers(x):
    k = (x * 100).astype(np.int16)
    return k[k > 30].sum(), k[k > 50].min(), np.bitwise_xor.reduce(k[k > 20]), x - x[k > 40].mean()


def of_none(x):
    return x[x > 100].sum(), x[x > 100].max(initial=-1.0)


@pytest.mark.parametrize(
    "f", [of_none, *(pytest.param(f, marks=pytest.mark.slow) for f in (of_positive, of_inner_rows, of_numbers))]
)
def test_what_is_reduced_of_what_a_mask_selects(f: Callable[..., Any], recwarn: pytest.WarningsRecorder) -> None:
    x = np.random.default_rng(5).random((13, 9) if f is of_inner_rows else 41)
    agree(f, [x], close=True, chunks=8 if x.ndim == 1 else 4)
    assert not recwarn.list


def largest_of_none(x):
    return x[x > 100].max()


def of_other_numbers(x):
    x[x > 0.5] = x[x > 0.7]


@pytest.mark.parametrize(("f", "said"), [(largest_of_none, "zero-size array"), (of_other_numbers, "cannot assign")])
def test_what_is_raised_for_what_a_mask_selects(f: Callable[..., Any], said: str) -> None:
    x = da.from_array(np.random.default_rng(5).random(41), chunks=8)
    with pytest.raises((ValueError, UnsupportedError), match=f"{said}|takes whole arrays"):
        result = distribute(bufferize(f))(x)
        (x if result is None else result).compute()
