"""What is read at one place of an axis that is cut, and what the function itself makes of a few places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.dask.test_distribute import agree
from tests.support.params import one_in
from tests.support.perturb import check_cut
from tracebuf import bufferize

da = pytest.importorskip("dask.array")
pytest.importorskip("dask")

from tracebuf.dask import distribute  # noqa: E402

pytestmark = [pytest.mark.usefixtures("one_thread")]


def periodic_ghosts(x):
    for _ in range(3):
        x[0] = x[-2]
        x[-1] = x[1]
        x[1:-1] = x[1:-1] - 0.3 * (x[1:-1] - x[:-2])


def periodic_rows(u):
    for _ in range(2):
        u[0, :] = u[-2, :]
        u[-1, :] = u[1, :]
        u[:, 0] = u[:, -2]
        u[:, -1] = u[:, 1]
        u[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])


def periodic_by_hand(x):
    for _ in range(3):
        v = np.empty_like(x)
        v[1:-1] = x[2:] - x[:-2]
        v[0] = x[1] - x[-1]
        v[-1] = x[0] - x[-2]
        x = x + 0.1 * v
    return x


def probed(x):
    heard = np.zeros(4)
    for t in range(4):
        x[1:-1] += 0.2 * (x[2:] - 2 * x[1:-1] + x[:-2])
        heard[t] = x[17]
    return heard


def probed_along(x):
    heard = np.zeros(4)
    for t in range(4):
        heard[t] = x[9 * t + 2]
        x[1:-1] += 0.2 * (x[2:] - 2 * x[1:-1] + x[:-2])
        x[3 * t] += 1
    return heard


def by_its_step(x):
    t = np.linspace(0, 1, len(x))
    dt = t[1] - t[0]
    return np.gradient(x, dt), (x[1:] - x[:-1]) / dt + t[1:]


def less_first_row(u):
    return u - u[0], u - u[-1:], u[5], u / u[:, -1:]


def without_trend(x):
    n = len(x)
    return x - x[0] - (x[-1] - x[0]) / (n - 1) * np.arange(n)


def few(x):
    return x[:3] * 2, x[-3:], x * x[5:8].sum(), x[len(x) // 2] * x, x[10:2:-3]


def wrapped(u):
    p = np.pad(u, ((2, 2), (1, 1)), mode="wrap")
    return p[4:, 1:-1] - p[:-4, 1:-1] + p[2:-2, 2:]


def tapered(x):
    y, ramp = x.copy(), np.arange(5) / 5
    y[:5] *= ramp
    y[-5:] *= ramp[::-1]
    return y


def absorbed(x):
    s = np.zeros(x.shape[0])
    s[-6:] = np.linspace(0, 1, 6)
    for _ in range(3):
        x[1:-1] += 0.2 * (x[2:] - 2 * x[1:-1] + x[:-2])
        x -= 0.1 * s * x


def whole_numbers(x):
    i, m = (x * 90).astype(np.int16), x > 0.5
    return i - i[0], i[-1], m ^ m[0], i[3] < i


def turned_at_the_end(x):
    y = x * 2
    for _ in range(3):
        y = x + np.roll(y, -2)
        x[-1] = y[-1]
    return x


FUNCTIONS = {
    f.__name__: f
    for f in (
        periodic_ghosts, periodic_rows, periodic_by_hand, probed, by_its_step, less_first_row, without_trend, few,
        wrapped, tapered, absorbed, whole_numbers, probed_along,
    )
}  # fmt: skip


def given(f: Callable[..., Any]) -> np.ndarray:
    shape = (30, 17) if f.__code__.co_varnames[0] == "u" else (50,)
    return np.random.default_rng(2).random(shape)


@pytest.mark.parametrize("name", one_in(7, FUNCTIONS))
@pytest.mark.slow
def test_what_is_at_one_place(name: str, recwarn: pytest.WarningsRecorder) -> None:
    f = FUNCTIONS[name]
    for chunks in (13, 8):
        agree(f, [given(f)], close=f in (few,), chunks=chunks)
    distribute(bufferize(f))(da.from_array(given(f), chunks=8))
    assert not recwarn.list


def test_a_place_behind_the_end_of_what_is_rolled_is_at_the_beginning() -> None:
    """It was said to be two places behind the last one."""

    def once(x, y):
        z = np.roll(y, -2)
        x[-1] = z[-1]
        return z[1:-1]

    x = np.random.default_rng(2).random(30)
    check_cut(bufferize(once), [x, x * 2])
    check_cut(bufferize(turned_at_the_end), [x])
